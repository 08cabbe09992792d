// What programs cost the interpreter.
#ifndef CALQUE_TEST_FUZZ_COST_H
#define CALQUE_TEST_FUZZ_COST_H

#include "test/fuzz/Program.h"

namespace calque::fuzz {

// Loops that are drawn have no more iterations.
constexpr int kMostIterations = 4;

// What it takes to interpret steps once without rounding.
double costOf(const Program &program, int begin, int end);
// How deep derivatives are within derivatives.
std::size_t orderOf(const Program &program, int begin, int end);

} // namespace calque::fuzz
#endif
