// Spread, statistics without NaN, and comparisons of calque/arrays/statistics.h.
#include "calque/arrays/making.h"
#include "calque/arrays/moving.h"
#include "calque/arrays/products.h"
#include "calque/arrays/statistics.h"

#include "absl/strings/str_cat.h"
#include "calque/assertions.h"
#include "frontend/operations/ArrayCalls.h"

#include <algorithm>
#include <limits>

namespace calque {

using detail::ArrayCall;
using detail::typeOf;

namespace {

// The type in which numbers of elements are computed: that of sums, so that a count is exact.
DType typeOfCounts(const Tensor &x) { return info_of(x.dtype()).accumulator; }

// The number of elements over which axes are reduced.
Tensor countAlong(const Tensor &x, const AxisList &axes, const ArrayCall &call) {
  const Shape shape = x.shape();
  const DType dtype = typeOfCounts(x);
  if (axes.numbers().empty())
    return Operand(x.size()).toTensor(dtype);
  Tensor count = ones({}, dtype);
  for (std::int64_t axis : call.axes(axes, x))
    count = count * Operand(shape[static_cast<std::size_t>(axis)]).toTensor(dtype);
  return count;
}

Tensor squaredMagnitude(const Tensor &x) {
  return is_complex(x.dtype()) ? square(real(x)) + square(imag(x)) : square(x);
}

Tensor variance(const Tensor &x, const AxisList &axes, const VarOptions &options, const ArrayCall &call) {
  const Tensor terms = squaredMagnitude(x - mean(x, axes, true));
  const Tensor squares = mean(terms, axes, options.keepdims);
  if (options.ddof == 0)
    return squares;
  const Tensor count = countAlong(terms, axes, call);
  return squares * cast(count / maximum(count - options.ddof, 0), squares.dtype());
}

} // namespace

//===-- Spread ----------------------------------------------------------------------------------===//

Tensor var(const Operand &x, AxisList axes, VarOptions options) {
  ArrayCall call(x, "var");
  return detail::inFull(detail::floatsOrComplexOf(x, call),
                        [&](const Tensor &value) { return variance(value, axes, options, call); });
}

Tensor stddev(const Operand &x, AxisList axes, VarOptions options) {
  ArrayCall call(x, "stddev");
  return detail::inFull(detail::floatsOrComplexOf(x, call),
                        [&](const Tensor &value) { return sqrt(variance(value, axes, options, call)); });
}

Tensor ptp(const Operand &x, AxisList axes, bool keepdims) {
  ArrayCall call(x, "ptp");
  return max(x, axes, keepdims) - min(x, axes, keepdims);
}

Tensor average(const Operand &x, const Operand &given, AxisList axes, bool keepdims) {
  ArrayCall call(x, "average");
  auto [value, weights] = detail::paired(x, given);
  if (weights.rank() != value.rank()) {
    if (weights.rank() != 1 || axes.numbers().size() != 1)
      throw ShapeError(absl::StrCat("average: the weights ", typeOf(weights), " must have the shape of ", typeOf(value),
                                    ", or be a vector along one axis"),
                       call.where);
    std::vector<std::int64_t> others;
    for (std::int64_t axis = 0; axis < value.rank(); ++axis)
      if (axis != call.axis(axes.numbers()[0], value))
        others.push_back(axis);
    weights = expand_dims(weights, others);
  }
  weights = broadcast_to(weights, value.shape());
  return detail::inFull(value, [&](const Tensor &x) {
    const Tensor w = cast(weights, x.dtype());
    return sum(x * w, axes, keepdims) / sum(w, axes, keepdims);
  });
}

namespace {
// Samples of variables as rows.
struct Samples {
  Samples(const Tensor &x, bool rowvar, const ArrayCall &call) {
    if (x.rank() > 2)
      throw ShapeError(
          absl::StrCat(call.function, ": takes samples of variables, [m,n], or of one, [n], not ", typeOf(x)),
          call.where);
    rows = x.rank() < 2 ? reshape(x, {1, -1}) : rowvar ? x : transpose(x);
    isOne = x.rank() < 2 || detail::isKnownTo(rows.shape()[0], 1);
  }
  Tensor rows;
  bool isOne = false; // the result is a scalar
};
} // namespace

Tensor cov(const Operand &x, CovOptions options) {
  ArrayCall call(x, "cov");
  return detail::inFull(detail::floatsOrComplexOf(x, call), [&](const Tensor &value) {
    const Samples samples(value, options.rowvar, call);
    const Tensor distance = samples.rows - mean(samples.rows, 1, true);
    const Tensor sums = matmul(distance, conj(distance), {.transpose_b = true});
    const Tensor count = Operand(samples.rows.shape()[1]).toTensor(real_of(value.dtype()));
    const Tensor result = sums / cast(maximum(count - options.ddof, 0), value.dtype());
    return samples.isOne ? reshape(result, {}) : result;
  });
}

Tensor corrcoef(const Operand &x, bool rowvar) {
  ArrayCall call(x, "corrcoef");
  return detail::inFull(detail::floatsOrComplexOf(x, call), [&](const Tensor &value) {
    const DType dtype = value.dtype();
    const Samples samples(value, rowvar, call);
    const Tensor distance = samples.rows - mean(samples.rows, 1, true);
    // By the largest one first: squares of large or small numbers are none.
    const Tensor largest = stop_gradient(max(abs(distance), 1, true));
    const Tensor scaled = distance / cast(where(largest > 0, largest, 1), dtype);
    const Tensor squares = sum(squaredMagnitude(scaled), 1, true), unit = scaled / cast(sqrt(squares), dtype);
    // A variable and itself: exactly 1, or NaN of a constant.
    const Size size = squares.shape()[0];
    const Tensor isSame = detail::indicesAlong(size, 0, 2) == detail::indicesAlong(size, 1, 2);
    const Tensor products = matmul(unit, conj(unit), {.transpose_b = true});
    const Tensor bounded =
        is_complex(dtype) ? complex(clip(real(products), -1, 1), clip(imag(products), -1, 1)) : clip(products, -1, 1);
    const Tensor result = where(isSame, cast(squares / squares, dtype), bounded);
    return samples.isOne ? reshape(result, {}) : result;
  });
}

//===-- Without NaN -----------------------------------------------------------------------------===//

namespace {

// Elements without NaN, and how many there are in each slice.
struct Valid {
  Tensor isNone, count;

  Valid(const Tensor &x, const AxisList &axes, bool keepdims)
      : isNone(isnan(x)), count(sum(cast(logical_not(isNone), real_of(x.dtype())), axes, keepdims)) {}
  Tensor with(const Tensor &x, const Number &otherwise) const { return where(isNone, otherwise, x); }
};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

Tensor varianceOfValid(const Tensor &x, const AxisList &axes, const VarOptions &options) {
  const Valid valid(x, axes, true);
  const Tensor average = sum(valid.with(x, 0), axes, true) / cast(valid.count, x.dtype());
  const Tensor squares = sum(squaredMagnitude(valid.with(x - average, 0)), axes, options.keepdims);
  const Tensor count = Valid(x, axes, options.keepdims).count - options.ddof;
  return where(count > 0, squares, kNaN) / count;
}

} // namespace

Tensor nansum(const Operand &x, AxisList axes, bool keepdims) {
  ArrayCall call(x, "nansum");
  const Tensor value = detail::floatsOrComplexOf(x, call);
  return sum(where(isnan(value), 0, value), axes, keepdims);
}

Tensor nanprod(const Operand &x, AxisList axes, bool keepdims) {
  ArrayCall call(x, "nanprod");
  const Tensor value = detail::floatsOrComplexOf(x, call);
  return prod(where(isnan(value), 1, value), axes, keepdims);
}

Tensor nanmax(const Operand &x, AxisList axes, bool keepdims) {
  ArrayCall call(x, "nanmax");
  const Tensor value = detail::floatsOf(x, call);
  const Valid valid(value, axes, keepdims);
  return where(valid.count > 0, max(valid.with(value, -kInfinity), axes, keepdims), kNaN);
}

Tensor nanmin(const Operand &x, AxisList axes, bool keepdims) {
  ArrayCall call(x, "nanmin");
  const Tensor value = detail::floatsOf(x, call);
  const Valid valid(value, axes, keepdims);
  return where(valid.count > 0, min(valid.with(value, kInfinity), axes, keepdims), kNaN);
}

Tensor nanmean(const Operand &x, AxisList axes, bool keepdims) {
  ArrayCall call(x, "nanmean");
  return detail::inFull(detail::floatsOrComplexOf(x, call), [&](const Tensor &value) {
    const Valid valid(value, axes, keepdims);
    return sum(valid.with(value, 0), axes, keepdims) / cast(valid.count, value.dtype());
  });
}

Tensor nanvar(const Operand &x, AxisList axes, VarOptions options) {
  ArrayCall call(x, "nanvar");
  return detail::inFull(detail::floatsOrComplexOf(x, call),
                        [&](const Tensor &value) { return varianceOfValid(value, axes, options); });
}

Tensor nanstd(const Operand &x, AxisList axes, VarOptions options) {
  ArrayCall call(x, "nanstd");
  return detail::inFull(detail::floatsOrComplexOf(x, call),
                        [&](const Tensor &value) { return sqrt(varianceOfValid(value, axes, options)); });
}

//===-- Quantiles -------------------------------------------------------------------------------===//

namespace {

// The slices of x as vectors of the last dimension, and the axes that become one.
Tensor slicesOf(const Tensor &x, const AxisList &list, const ArrayCall &call) {
  const std::vector<std::int64_t> axes = call.axes(list, x);
  if (axes.empty())
    return reshape(x, {-1});
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < axes.size(); ++i)
    places.push_back(static_cast<std::int64_t>(i) - static_cast<std::int64_t>(axes.size()));
  Tensor value = moveaxis(x, axes, places);
  for (std::size_t i = 1; i < axes.size(); ++i)
    value = detail::mergeDims(value, value.rank() - 2);
  return value;
}

Tensor quantilesOf(const Operand &operand, const Operand &given, double scale, const AxisList &axes,
                   const QuantileOptions &options, bool skipsNaN, const ArrayCall &call, bool isMedian = false) {
  const Tensor x = detail::floatsOf(operand, call), slices = slicesOf(x, axes, call);
  const DType dtype = x.dtype();
  if (detail::isKnownTo(slices.shape().back(), 0))
    throw ShapeError(absl::StrCat(call.function, ": there are no elements along the axes of ", typeOf(x)), call.where);
  static constexpr const char *methods[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  if (std::find(std::begin(methods), std::end(methods), options.method) == std::end(methods))
    throw ValueError(absl::StrCat(call.function,
                                  ": the method is 'linear', 'lower', 'higher', 'midpoint' or "
                                  "'nearest', not '",
                                  options.method, "'"),
                     call.where);
  Tensor q = given.isNumber() ? given.toTensor(dtype) : given.tensor();
  if (q.dtype() != dtype)
    throw DTypeError(absl::StrCat(call.function, ": takes tensors of one type, not ", typeOf(x), " and ", typeOf(q),
                                  "; there is no implicit conversion, use cast"),
                     call.where);
  if (given.isHostNumber()) {
    const double number = given.toTensor(DType::Float64).item<double>() / scale;
    if (!(number >= 0 && number <= 1))
      throw ValueError(
          absl::StrCat(call.function, ": there is no quantile ", number * scale, " outside of [0, ", scale, "]"),
          call.where);
  } else {
    assert_true(all(logical_and(q >= 0, q <= scale)),
                absl::StrCat(call.function, ": a quantile is outside of [0, ", scale, "]"));
  }
  const std::int64_t rank = slices.rank();
  const DType wide = typeOfCounts(x);
  const Tensor at = reshape(cast(q, wide) / scale, {-1}); // the last dimension below
  const Tensor sorted = sort(slices, -1);
  const Tensor isNone = isnan(slices);
  const Tensor count =
      skipsNaN ? sum(cast(logical_not(isNone), wide), -1, true) : Operand(slices.shape().back()).toTensor(wide);
  const Tensor place = maximum(at * (count - 1), 0), low = stop_gradient(floor(place));
  const Tensor last = stop_gradient(maximum(count - 1, 0));
  auto element = [&](const Tensor &index) {
    const Tensor number = cast(minimum(stop_gradient(index), last), DType::Int64);
    return skipsNaN ? take_along_axis(sorted, number, -1) : gather(sorted, number, -1);
  };
  const Tensor part = cast(place - low, dtype);
  Tensor result;
  if (options.method == "lower") {
    result = element(low);
  } else if (options.method == "higher") {
    result = element(ceil(place));
  } else if (options.method == "nearest") {
    result = element(round(place));
  } else {
    const Tensor below = element(low), above = element(options.method == "midpoint" ? ceil(place) : low + 1);
    const Tensor step = above - below;
    const Tensor by = options.method == "midpoint" ? where(stop_gradient(part) > 0, full({}, 0.5, dtype), 0) : part;
    // Each end is exact at its side, as in NumPy. Steps between infinities are none, or are not begun.
    result = where(by >= 0.5, above - step * (1 - by), below + step * by);
    const Tensor isBelow = logical_and(logical_not(isfinite(step)), logical_or(by == 0, below == above));
    result = where(isBelow, below, result);
    if (isMedian) // is the mean of the two in the middle, which may be infinite
      result = where(logical_and(by > 0, logical_not(isfinite(step))), below + above, result);
  }
  if (!skipsNaN)
    result = where(any(isNone, -1, true), full({}, kNaN, dtype), result);
  // The quantiles come first, and the reduced axes are left out or have size 1.
  result = moveaxis(result, -1, 0);
  Shape shape = q.shape();
  const Shape slicesShape = slices.shape();
  if (!options.keepdims) {
    shape.insert(shape.end(), slicesShape.begin(), slicesShape.begin() + (rank - 1));
    return reshape(result, shape);
  }
  const Shape whole = x.shape();
  const std::vector<std::int64_t> reduced = call.axes(axes, x);
  for (std::int64_t axis = 0; axis < x.rank(); ++axis)
    shape.push_back(reduced.empty() || std::find(reduced.begin(), reduced.end(), axis) != reduced.end()
                        ? Size(1)
                        : whole[static_cast<std::size_t>(axis)]);
  return reshape(result, shape);
}

} // namespace

Tensor quantile(const Operand &x, const Operand &q, AxisList axes, QuantileOptions options) {
  ArrayCall call(x, "quantile");
  return quantilesOf(x, q, 1, axes, options, false, call);
}

Tensor percentile(const Operand &x, const Operand &q, AxisList axes, QuantileOptions options) {
  ArrayCall call(x, "percentile");
  return quantilesOf(x, q, 100, axes, options, false, call);
}

Tensor median(const Operand &x, AxisList axes, bool keepdims) {
  ArrayCall call(x, "median");
  return quantilesOf(x, 0.5, 1, axes, {.keepdims = keepdims}, false, call, true);
}

Tensor nanquantile(const Operand &x, const Operand &q, AxisList axes, QuantileOptions options) {
  ArrayCall call(x, "nanquantile");
  return quantilesOf(x, q, 1, axes, options, true, call);
}

Tensor nanmedian(const Operand &x, AxisList axes, bool keepdims) {
  ArrayCall call(x, "nanmedian");
  return quantilesOf(x, 0.5, 1, axes, {.keepdims = keepdims}, true, call, true);
}

//===-- Comparisons -----------------------------------------------------------------------------===//

Tensor isclose(const Operand &x, const Operand &y, CloseOptions options) {
  ArrayCall call(x, "isclose");
  auto [a, b] = detail::paired(x, y);
  if (!is_inexact(a.dtype())) {
    a = cast(a, DType::Float64);
    b = cast(b, DType::Float64);
  }
  // The difference of equal infinities is NaN, and is not looked at.
  Tensor isClose = logical_and(abs(a - b) <= options.atol + options.rtol * abs(b), isfinite(b));
  isClose = logical_or(isClose, a == b);
  return options.equal_nan ? logical_or(isClose, logical_and(isnan(a), isnan(b))) : isClose;
}

Tensor allclose(const Operand &x, const Operand &y, CloseOptions options) {
  ArrayCall call(x, "allclose");
  return all(isclose(x, y, options));
}

Tensor array_equal(const Operand &x, const Operand &y, bool equalNaN) {
  ArrayCall call(x, "array_equal");
  const auto [a, b] = detail::paired(x, y);
  const Shape one = a.shape(), other = b.shape();
  if (!one.is_compatible_with(other))
    return scalar(false);
  if (!one.is_known() || !other.is_known())
    throw StateError(
        absl::StrCat("array_equal: the sizes of ", typeOf(a), " and ", typeOf(b), " must be known while tracing"),
        call.where);
  const Tensor isEqual = a == b;
  return all(equalNaN && is_inexact(a.dtype()) ? logical_or(isEqual, logical_and(isnan(a), isnan(b))) : isEqual);
}

} // namespace calque
