// What the functions of calque/fft.h share.
#ifndef CALQUE_FRONTEND_OPERATIONS_FOURIERCALLS_H
#define CALQUE_FRONTEND_OPERATIONS_FOURIERCALLS_H

#include "frontend/operations/ArrayCalls.h"

namespace calque::detail {

// A call of such a function.
struct TransformCall : ArrayCall {
  using ArrayCall::ArrayCall;

  // Complex numbers, of which real ones are some. DTypeError for others.
  Tensor complexOf(const Tensor &x) const;
  // Real numbers that can be transformed. DTypeError for others.
  Tensor realOf(const Tensor &x) const;
  // ValueError for a length below 1.
  void checkLength(std::int64_t n) const;
  // The size along an axis. StateError for an unknown one.
  std::int64_t knownSize(const Tensor &x, std::int64_t axis) const;
  // Cut or filled up with zeros to a length along an axis. Without one the size must not be 0.
  Tensor resized(const Tensor &x, std::int64_t axis, std::optional<std::int64_t> n) const;
  // The dimensions to which axes refer; no axes mean all.
  std::vector<std::int64_t> axesOrAll(const AxisList &list, const Tensor &x) const;
  Tensor axisLast(const Tensor &x, std::int64_t axis) const;
  Tensor axisBack(const Tensor &x, std::int64_t axis) const;
  // Numbers, rounded to a float type; without one the default type.
  Tensor constant(const std::vector<double> &values, std::optional<DType> dtype) const;
  // The numbers at(0), ..., at(n - 1). MemoryError at once if there is no memory for so many.
  Tensor constant(std::int64_t n, std::optional<DType> dtype, const std::function<double(std::int64_t)> &at) const;
};

} // namespace calque::detail
#endif
