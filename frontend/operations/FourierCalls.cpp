#include "frontend/operations/FourierCalls.h"

#include "absl/strings/str_cat.h"
#include "calque/arrays/making.h"
#include "calque/arrays/moving.h"
#include "frontend/core/TensorImpl.h"

#include <array>
#include <numeric>

namespace calque::detail {

static bool isTransformed(DType dtype) { return dtype == DType::Float32 || dtype == DType::Float64; }

Tensor TransformCall::complexOf(const Tensor &x) const {
  if (is_complex(x.dtype()))
    return x;
  if (!isTransformed(x.dtype()))
    throw DTypeError(absl::StrCat(function, ": takes float32, float64, complex64 and complex128, not ", typeOf(x),
                                  "; use cast(x, DType::Float32)"),
                     where);
  return complex(x, zeros_like(x));
}

Tensor TransformCall::realOf(const Tensor &x) const {
  if (!isTransformed(x.dtype()))
    throw DTypeError(absl::StrCat(function, ": takes float32 and float64, not ", typeOf(x),
                                  is_complex(x.dtype()) ? "; use real(x)" : "; use cast(x, DType::Float32)"),
                     where);
  return x;
}

void TransformCall::checkLength(std::int64_t n) const {
  if (n < 1)
    throw ValueError(absl::StrCat(function, ": the length must be 1 or more, not ", n), where);
}

std::int64_t TransformCall::knownSize(const Tensor &x, std::int64_t axis) const {
  const Size size = x.shape()[static_cast<std::size_t>(axis)];
  if (!size.is_known())
    throw StateError(
        absl::StrCat(function, ": the size along axis ", axis, " must be known while tracing, in ", typeOf(x)), where);
  return size;
}

Tensor TransformCall::resized(const Tensor &x, std::int64_t axis, std::optional<std::int64_t> n) const {
  const Size size = x.shape()[static_cast<std::size_t>(axis)];
  if (!n) {
    if (isKnownTo(size, 0))
      throw ShapeError(
          absl::StrCat(function, ": there is no transform of no numbers, along axis ", axis, " of ", typeOf(x)), where);
    return x;
  }
  checkLength(*n);
  if (isKnownTo(size, *n))
    return x;
  Tensor filled = x;
  if (!size.is_known() || size < *n) {
    std::vector<std::int64_t> low(static_cast<std::size_t>(x.rank()), 0), high = low;
    high[static_cast<std::size_t>(axis)] = size.is_known() ? *n - size : *n;
    filled = pad(x, low, high);
  }
  return size.is_known() && size < *n ? filled : rowsAlong(filled, axis, 0, *n);
}

std::vector<std::int64_t> TransformCall::axesOrAll(const AxisList &list, const Tensor &x) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(x.rank()));
  std::iota(all.begin(), all.end(), std::int64_t(0));
  return list.numbers().empty() ? all : axes(list, x);
}

Tensor TransformCall::axisLast(const Tensor &x, std::int64_t axis) const {
  return axis == x.rank() - 1 ? x : moveaxis(x, axis, -1);
}
Tensor TransformCall::axisBack(const Tensor &x, std::int64_t axis) const {
  return axis == x.rank() - 1 ? x : moveaxis(x, -1, axis);
}

Tensor TransformCall::constant(std::int64_t n, std::optional<DType> dtype,
                               const std::function<double(std::int64_t)> &at) const {
  const DType type = dtype.value_or(default_dtype());
  if (!is_floating(type))
    throw DTypeError(absl::StrCat(function, ": the result is of a float type, not ", name_of(type)), where);
  const DType computed = type == DType::Float64 ? DType::Float64 : DType::Float32;
  checkShape({n}, computed, where);
  const TypeRef made = sharedType(computed, std::array{n});
  runtime::Buffer buffer = allocate(*made, where, absl::StrCat(function, ": "));
  auto fill = [&]<typename T>(T *to) {
    for (std::int64_t j = 0; j < n; ++j)
      to[j] = static_cast<T>(at(j));
  };
  if (computed == DType::Float64)
    fill(static_cast<double *>(buffer.data()));
  else
    fill(static_cast<float *>(buffer.data()));
  const Tensor numbers = makeConstant(made, std::move(buffer), where);
  return type == computed ? numbers : cast(numbers, type);
}

Tensor TransformCall::constant(const std::vector<double> &values, std::optional<DType> dtype) const {
  return constant(static_cast<std::int64_t>(values.size()), dtype,
                  [&](std::int64_t j) { return values[static_cast<std::size_t>(j)]; });
}

} // namespace calque::detail
