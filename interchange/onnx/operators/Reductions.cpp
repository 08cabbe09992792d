// Sums, extrema and the like along axes, and what orders elements.
#include "onnx/Support.h"

#include <cmath>
#include <limits>

namespace calque::onnx {

namespace {

struct Axes {
  std::vector<std::int64_t> list; // empty: the tensor itself
  bool isIdentity = false;
  bool keepdims = true;
};

// Axes were an attribute before they were an input. `version` is the first in which they are an input.
Axes axesOf(const Call &call, std::int64_t version) {
  Axes axes;
  axes.keepdims = call.flag("keepdims", true);
  const bool noop = call.flag("noop_with_empty_axes", false);
  const std::int64_t rank = call.value(0).rank();
  if (call.version() < version) {
    if (call.size() > 1)
      call.refuse("axes are an attribute in operator set " + std::to_string(call.version()));
    axes.list = call.integers("axes");
  } else if (call.has(1)) {
    axes.list = call.integers(1);
  }
  axes.list = call.axes(axes.list, rank);
  axes.isIdentity = axes.list.empty() && (noop || rank == 0);
  if (axes.list.empty() && !axes.isIdentity)
    for (std::int64_t i = 0; i < rank; ++i)
      axes.list.push_back(i);
  return axes;
}

bool isEmptyAlong(const Tensor &x, const Axes &axes) {
  const Shape shape = x.shape();
  for (std::int64_t axis : axes.list) {
    const Size &size = shape[static_cast<std::size_t>(axis)];
    if (size.is_known() && size == 0)
      return true;
  }
  return false;
}
Shape reducedShape(const Tensor &x, const Axes &axes) {
  const Shape given = x.shape();
  Shape shape;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool isReduced = std::ranges::find(axes.list, static_cast<std::int64_t>(i)) != axes.list.end();
    if (!isReduced)
      shape.push_back(given[i]);
    else if (axes.keepdims)
      shape.push_back(1);
  }
  return shape;
}

template <typename F> Results reduce(const Call &call, const F &f, std::int64_t version = 18) {
  const Tensor x = call.tensor(0);
  return f(x, axesOf(call, version));
}

Results reduceSum(const Call &call) {
  return reduce(
      call, [](const Tensor &x, const Axes &axes) { return axes.isIdentity ? x : sumOf(x, axes.list, axes.keepdims); },
      13);
}
Results reduceMean(const Call &call) {
  return reduce(call, [&](const Tensor &x, const Axes &axes) -> Tensor {
    if (axes.isIdentity)
      return x;
    if (is_floating(x.dtype()))
      return mean(x, axes.list, axes.keepdims);
    // Of integers the mean truncates.
    Tensor count = ofIntegers({1}, {});
    for (std::int64_t axis : axes.list)
      count = count * size(x, axis);
    return cast(sum(cast(x, DType::Int64), axes.list, axes.keepdims) / count, x.dtype());
  });
}
Results reduceProd(const Call &call) {
  return reduce(call, [](const Tensor &x, const Axes &axes) {
    return axes.isIdentity ? x : back(prod(x, axes.list, axes.keepdims), x.dtype());
  });
}

// The least or largest number of a type, which is what the extremum of no elements is.
Tensor extremeOf(DType dtype, bool largest) {
  if (is_floating(dtype))
    return scalarOf(largest ? HUGE_VAL : -HUGE_VAL, dtype);
  auto of = [&]<typename T>(T) {
    return scalar<T>(largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min());
  };
  switch (dtype) {
  case DType::Int8:
    return of(std::int8_t());
  case DType::Int16:
    return of(std::int16_t());
  case DType::Int32:
    return of(std::int32_t());
  case DType::UInt8:
    return of(std::uint8_t());
  case DType::UInt16:
    return of(std::uint16_t());
  case DType::UInt32:
    return of(std::uint32_t());
  case DType::UInt64:
    return of(std::uint64_t());
  default:
    return of(std::int64_t());
  }
}

template <bool Largest> Results reduceExtreme(const Call &call) {
  return reduce(call, [](const Tensor &x, const Axes &axes) -> Tensor {
    if (axes.isIdentity)
      return x;
    if (x.dtype() == DType::Bool)
      return Largest ? any(x, axes.list, axes.keepdims) : all(x, axes.list, axes.keepdims);
    if (isEmptyAlong(x, axes))
      return broadcast_to(extremeOf(x.dtype(), !Largest), reducedShape(x, axes));
    return Largest ? calque::max(Operand(x), AxisList(axes.list), axes.keepdims)
                   : calque::min(Operand(x), AxisList(axes.list), axes.keepdims);
  });
}

Results reduceL1(const Call &call) {
  return reduce(call, [](const Tensor &x, const Axes &axes) {
    return axes.isIdentity ? abs(x) : sumOf(abs(x), axes.list, axes.keepdims);
  });
}
Results reduceL2(const Call &call) {
  return reduce(call, [](const Tensor &x, const Axes &axes) {
    if (axes.isIdentity)
      return abs(x);
    const Tensor squares = sum(square(is_floating(x.dtype()) ? x : cast(x, DType::Float64)), axes.list, axes.keepdims);
    return back(sqrt(squares), x.dtype());
  });
}
Results reduceSumSquare(const Call &call) {
  return reduce(call, [](const Tensor &x, const Axes &axes) {
    return axes.isIdentity ? square(x) : sumOf(square(x), axes.list, axes.keepdims);
  });
}
Results reduceLogSum(const Call &call) {
  return reduce(call, [](const Tensor &x, const Axes &axes) {
    return axes.isIdentity ? log(x) : log(sumOf(x, axes.list, axes.keepdims));
  });
}
Results reduceLogSumExp(const Call &call) {
  return reduce(call, [](const Tensor &x, const Axes &axes) -> Tensor {
    if (axes.isIdentity)
      return x;
    if (isEmptyAlong(x, axes))
      return broadcast_to(scalarOf(-HUGE_VAL, x.dtype()), reducedShape(x, axes));
    return logsumexp(x, axes.list, axes.keepdims);
  });
}

template <bool Largest> Results argument(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = call.axis(call.integer("axis", 0), x.rank());
  const bool keepdims = call.flag("keepdims", true), last = call.flag("select_last_index", false);
  const Tensor from = last ? reverse(x, axis) : x;
  Tensor found = Largest ? argmax(from, axis) : argmin(from, axis);
  if (last)
    found = size(x, axis) - 1 - found;
  return keepdims ? expand_dims(found, axis) : found;
}

// Before version 13, the axes from `axis` on were one.
template <typename F> Results alongAxis(const Call &call, const F &f) {
  const Tensor x = call.tensor(0);
  if (call.version() >= 13)
    return f(x, call.axis(call.integer("axis", -1), x.rank()));
  const std::int64_t axis = call.axis(call.integer("axis", 1), x.rank());
  const Shape shape = x.shape();
  std::int64_t columns = 1;
  for (std::size_t i = static_cast<std::size_t>(axis); i < shape.size(); ++i)
    columns *= shape[i];
  return reshape(f(reshape(x, {-1, columns}), 1), shape);
}
Results softmaxOf(const Call &call) {
  return alongAxis(call, [](const Tensor &x, std::int64_t axis) { return softmax(x, axis); });
}
Results logSoftmaxOf(const Call &call) {
  return alongAxis(call, [](const Tensor &x, std::int64_t axis) { return log_softmax(x, axis); });
}
Results hardmax(const Call &call) {
  return alongAxis(call, [](const Tensor &x, std::int64_t axis) {
    const Tensor hot = one_hot(argmax(x, axis), x.shape()[static_cast<std::size_t>(axis)], x.dtype());
    return moveaxis(hot, -1, axis);
  });
}

template <Tensor (*F)(const Operand &, std::int64_t, bool, bool)> Results cumulative(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t axis = call.axis(call.integer(1), x.rank());
  return back(F(x, axis, call.flag("exclusive", false), call.flag("reverse", false)), x.dtype());
}

Results topK(const Call &call) {
  const Tensor x = call.tensor(0);
  const std::int64_t k = call.version() < 10 ? call.integer("k") : call.integer(1);
  const std::int64_t axis = call.axis(call.integer("axis", -1), x.rank());
  call.ignore({"sorted"}); // sorted elements are in one of the orders that an unsorted result may have
  if (call.flag("largest", true)) {
    const TopK top = top_k(x, k, axis);
    return {top.values, top.indices};
  }
  const Tensor indices = sliceAlong(argsort(x, axis), axis, 0, k);
  return {take_along_axis(x, indices, axis), indices};
}

constexpr Operator kTable[] = {
    {"ArgMax", {1, 11, 12, 13}, 1, 1, 0, argument<true>},
    {"ArgMin", {1, 11, 12, 13}, 1, 1, 0, argument<false>},
    {"CumProd", {26}, 2, 2, 0b10, cumulative<cumprod>},
    {"CumSum", {11, 14}, 2, 2, 0b10, cumulative<cumsum>},
    {"Hardmax", {1, 11, 13}, 1, 1, 0, hardmax},
    {"LogSoftmax", {1, 11, 13}, 1, 1, 0, logSoftmaxOf},
    {"ReduceL1", {1, 11, 13, 18}, 1, 2, 0b10, reduceL1},
    {"ReduceL2", {1, 11, 13, 18}, 1, 2, 0b10, reduceL2},
    {"ReduceLogSum", {1, 11, 13, 18}, 1, 2, 0b10, reduceLogSum},
    {"ReduceLogSumExp", {1, 11, 13, 18}, 1, 2, 0b10, reduceLogSumExp},
    {"ReduceMax", {1, 11, 12, 13, 18, 20}, 1, 2, 0b10, reduceExtreme<true>},
    {"ReduceMean", {1, 11, 13, 18}, 1, 2, 0b10, reduceMean},
    {"ReduceMin", {1, 11, 12, 13, 18, 20}, 1, 2, 0b10, reduceExtreme<false>},
    {"ReduceProd", {1, 11, 13, 18}, 1, 2, 0b10, reduceProd},
    {"ReduceSum", {1, 11, 13}, 1, 2, 0b10, reduceSum},
    {"ReduceSumSquare", {1, 11, 13, 18}, 1, 2, 0b10, reduceSumSquare},
    {"Softmax", {1, 11, 13}, 1, 1, 0, softmaxOf},
    {"TopK", {1, 10, 11, 24}, 1, 2, 0b10, topK},
};

} // namespace

Table reductionOperators() { return kTable; }

} // namespace calque::onnx
