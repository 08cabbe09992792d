// Numbers of vectors.
#ifndef CALQUE_SOLVERS_LINEAR_VECTORS_H
#define CALQUE_SOLVERS_LINEAR_VECTORS_H

#include "calque/functions.h"

#include <limits>

namespace calque::solvers::internal {

// The distance from 1 to the next number of a float type.
inline double epsilonOf(DType dtype) {
  return dtype == DType::Float32 ? double(std::numeric_limits<float>::epsilon())
                                 : std::numeric_limits<double>::epsilon();
}

// The largest magnitude of a vector's elements, as a scalar.
inline Tensor largest(const Tensor &x) { return max(abs(x), AxisList()); }
inline Tensor dot(const Tensor &x, const Tensor &y) { return sum(x * y); }

} // namespace calque::solvers::internal
#endif
