#include "onnx/Support.h"

#include "calque/init_scope.h"

namespace calque::onnx {

Tensor sliceAlong(const Tensor &x, std::int64_t axis, std::int64_t start, std::int64_t end, std::int64_t step) {
  const Shape shape = x.shape();
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  if (start == 0 && end == size && step == 1)
    return x;
  if (shape.is_known()) {
    std::vector<std::int64_t> starts(shape.size(), 0), limits(shape), steps(shape.size(), 1);
    starts[static_cast<std::size_t>(axis)] = start;
    limits[static_cast<std::size_t>(axis)] = std::max(start, end);
    steps[static_cast<std::size_t>(axis)] = step;
    return slice(x, starts, limits, steps);
  }
  std::vector<std::int64_t> places;
  for (std::int64_t i = start; i < end; i += step)
    places.push_back(i);
  if (step == 1)
    return split(x, {start, end - start, size - end}, axis)[1];
  return pick(x, places, axis);
}

Tensor pick(const Tensor &x, const std::vector<std::int64_t> &places, std::int64_t axis) {
  return gather(x, ofIntegers(places), axis);
}

Tensor ofNumbers(const std::vector<double> &numbers, DType dtype, const Shape &shape) {
  InitScope now;
  const Tensor wide = tensor_from_bytes(DType::Float64, std::as_bytes(std::span(numbers)), shape);
  return dtype == DType::Float64 ? wide : cast(wide, dtype);
}
Tensor ofIntegers(const std::vector<std::int64_t> &numbers, const Shape &shape) {
  return tensor_from_bytes(DType::Int64, std::as_bytes(std::span(numbers)), shape);
}
Tensor scalarOf(double number, DType dtype) { return ofNumbers({number}, dtype, {}); }

Tensor atLeast(const Tensor &x, std::int64_t rank) {
  std::vector<std::int64_t> axes;
  for (std::int64_t i = x.rank(); i < rank; ++i)
    axes.push_back(static_cast<std::int64_t>(axes.size()));
  return axes.empty() ? x : expand_dims(x, axes);
}

Tensor perChannel(const Tensor &x, std::int64_t rank) {
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 2; i < rank; ++i)
    axes.push_back(i - 1);
  return axes.empty() ? x : expand_dims(x, axes);
}

Shape broadcastShape(const Shape &a, const Shape &b) {
  Shape shape;
  const std::size_t rank = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t fromA = a.size() + i, fromB = b.size() + i;
    if (fromA < rank)
      shape.push_back(b[fromB - rank]);
    else if (fromB < rank)
      shape.push_back(a[fromA - rank]);
    else {
      const Size &x = a[fromA - rank], &y = b[fromB - rank];
      shape.push_back(x.is_known() && (x == 1 || !y.is_known()) && !(x != 1 && !y.is_known()) ? y
                      : x.is_known() && x != 1 ? x
                                               : (y.is_known() && y != 1 ? y : x));
    }
  }
  return shape;
}

Tensor sumOf(const Tensor &x, const AxisList &axes, bool keepdims) { return back(sum(x, axes, keepdims), x.dtype()); }

} // namespace calque::onnx
