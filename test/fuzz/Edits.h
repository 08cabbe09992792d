// Smaller programs of a program. They may not be well-typed: check() says.
#ifndef CALQUE_TEST_FUZZ_EDITS_H
#define CALQUE_TEST_FUZZ_EDITS_H

#include "test/fuzz/Program.h"

namespace calque::fuzz {

// A value becomes an input that has its elements.
Program withInput(const Program &program, int value, Data data);
// One size of dimensions is another wherever it stands.
Program resized(const Program &program, std::int64_t from, std::int64_t to);

// Of a step that is a transformation: without an argument that its body does not use, without a result that nothing
// uses, and with the steps of one of its programs, by number, in its place. None where that is not possible.
std::optional<Program> withoutArgument(const Program &program, std::size_t step, std::size_t argument);
std::optional<Program> withoutResult(const Program &program, std::size_t step, std::size_t result);
std::optional<Program> inlined(const Program &program, std::size_t step, std::size_t number);

} // namespace calque::fuzz
#endif
