// Makes a failing program smaller.
#ifndef CALQUE_TEST_FUZZ_SHRINKER_H
#define CALQUE_TEST_FUZZ_SHRINKER_H

#include "test/fuzz/Program.h"

#include <functional>

namespace calque::fuzz {

// The smallest program found of which `fails` holds, which it does of `program`, in at most so many questions.
Program shrink(const Program &program, const std::function<bool(const Program &)> &fails, int mostQuestions);

} // namespace calque::fuzz
#endif
