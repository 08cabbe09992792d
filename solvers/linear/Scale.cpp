#include "linear/Scale.h"

#include "calque/arrays.h"
#include "calque/transforms.h"

namespace calque::solvers::internal {

Tensor largestOrZero(const Tensor &x) { return max(pad(reshape(abs(x), {-1}), {0}, {1}), AxisList()); }

Tensor exponentOf(const Tensor &magnitude) {
  const std::int32_t least = magnitude.dtype() == DType::Float32 ? -126 : -1022;
  return clip(frexp(stop_gradient(magnitude)).exponent, least, -least);
}

Tensor power(const Tensor &exponent, DType dtype) { return ldexp(ones({}, dtype), exponent); }

} // namespace calque::solvers::internal
