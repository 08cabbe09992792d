// What the derivatives of a program are, with bounds, from differences.
//
// What a machine's derivative is off by is estimated by computing with every step's rounding replaced by a random
// multiple of it, fixed for a run, so that the function stays smooth: the spread of the runs' derivatives is what
// rounding can do to them. Kinks and steps too large show as differences that depend on their step, and widen the
// bound.
#ifndef CALQUE_TEST_FUZZ_DERIVATIVES_H
#define CALQUE_TEST_FUZZ_DERIVATIVES_H

#include "test/fuzz/Array.h"

namespace calque::fuzz {

// The results of a tape's gradient, where `values` are those of the steps before it. Undecided.
std::vector<ArrayRef> gradientOf(const Program &program, const std::vector<ArrayRef> &values, int step);
// The tangents of a jvp or the cotangents of a vjp, after the values. Undecided.
std::vector<ArrayRef> derivativesOf(const Program &program, const std::vector<ArrayRef> &values, int step);

} // namespace calque::fuzz
#endif
