// Scales that are powers of two, by which products are exact. They are given by their exponents, int32.
#ifndef CALQUE_SOLVERS_LINEAR_SCALE_H
#define CALQUE_SOLVERS_LINEAR_SCALE_H

#include "calque/functions.h"

namespace calque::solvers::internal {

// The largest magnitude, or 0 of no elements.
Tensor largestOrZero(const Tensor &x);
// The exponent of the power next above a magnitude, and 0 for 0, infinity and NaN. Both the power and its inverse are
// normal numbers. A constant.
Tensor exponentOf(const Tensor &magnitude);
// 2^exponent.
Tensor power(const Tensor &exponent, DType dtype);

} // namespace calque::solvers::internal
#endif
