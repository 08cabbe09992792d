// Derivatives by differences of a program itself in long double, unrounded: they share neither rules nor direction with the compiler's.
//
// A tape's view is kept by what is computed anew when a source moves: the steps that it saw, but not what hides where a value came from.
// Second order is differences of differences. A transformation's body is a program of its own, whose values move with its arguments.
//
// What a machine's derivative is off by is estimated by computing with every step's rounding replaced by a random multiple of it, fixed
// for a run, so that the function stays smooth: the spread of the runs' derivatives is what rounding can do to them. Kinks and steps too
// large show as differences that depend on their step, and widen the bound.
#ifndef CALQUE_TEST_FUZZ_DIFFERENCES_H
#define CALQUE_TEST_FUZZ_DIFFERENCES_H

#include "test/fuzz/Array.h"

namespace calque::fuzz {

// The results of a tape's gradient, where `values` are those of the steps before it. Undecided.
std::vector<ArrayRef> gradientOf(const Program &program, const std::vector<ArrayRef> &values, int step);
// The tangents of a jvp or the cotangents of a vjp, after the values. Undecided.
std::vector<ArrayRef> derivativesOf(const Program &program, const std::vector<ArrayRef> &values, int step);

// An example of each operand of a vmap, and the results of all examples as one.
ArrayRef exampleOf(const ArrayRef &operand, std::optional<std::int64_t> axis, std::int64_t example);
ArrayRef stackOf(const std::vector<ArrayRef> &examples, const TensorType &type, std::int64_t axis);

} // namespace calque::fuzz
#endif
