// Counts and groups of calque/arrays/statistics.h.
#include "calque/arrays/making.h"
#include "calque/arrays/sets.h"
#include "calque/arrays/statistics.h"

#include "absl/strings/str_cat.h"
#include "calque/assertions.h"
#include "frontend/core/Apply.h"
#include "frontend/operations/ArrayCalls.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace calque {

using detail::ArrayCall;
using detail::typeOf;

namespace {

// The largest of integers plus 1, or 0 of none, if it is known now.
std::optional<std::int64_t> knownEnd(const Tensor &numbers) {
  return detail::foldKnown(numbers, 0, [](std::int64_t end, std::int64_t number) { return std::max(end, number + 1); });
}

void requireIntegers(const Tensor &x, const ArrayCall &call) {
  if (!is_integer(x.dtype()))
    throw DTypeError(absl::StrCat(call.function, ": counts and groups by integers, not ", typeOf(x)), call.where);
}

} // namespace

//===-- Counts ----------------------------------------------------------------------------------===//

// The sums of terms at places. Sums of floats are of float64, as NumPy's: a sum of float32 would not go beyond 2^24 by
// ones.
static Tensor sumsOf(const Tensor &terms, const Tensor &places, const Shape &shape) {
  const DType wide = is_floating(terms.dtype())  ? DType::Float64
                     : is_complex(terms.dtype()) ? DType::Complex128
                                                 : terms.dtype();
  return cast(scatter_add(zeros(shape, wide), places, cast(terms, wide)), terms.dtype());
}

Tensor bincount(const Operand &x, BincountOptions options) {
  ArrayCall call(x, "bincount");
  const Tensor given = x.toTensor();
  requireIntegers(given, call);
  if (given.rank() != 1)
    throw ShapeError(absl::StrCat("bincount: takes a vector, not ", typeOf(given)), call.where);
  const Tensor numbers = detail::asInt64(given, call.where);
  std::optional<std::int64_t> length = options.length;
  if (!length) {
    length = knownEnd(given);
    if (!length)
      throw StateError("bincount: the largest number is known at the call only; give the size of the result as "
                       "{.length = ...}",
                       call.where);
    length = std::max(*length, options.minlength);
  }
  if (*length < 0 || options.minlength < 0)
    throw ValueError(absl::StrCat("bincount: the length must not be negative: ", std::min(*length, options.minlength)),
                     call.where);
  assert_true(all(numbers >= 0), "bincount: a number is negative");
  const Tensor weights = options.weights ? *options.weights : ones_like(numbers);
  // One more place takes what is left out.
  const Tensor counts = sumsOf(weights, minimum(numbers, *length), {*length + 1});
  return detail::rowsAlong(counts, 0, 0, *length);
}

namespace {

// The bins between edges.
struct Bins {
  Bins(const Tensor &edges, bool areEqual, const ArrayCall &call) : edges(edges), areEqual(areEqual) {
    const Size size = edges.shape()[0];
    if (!size.is_known())
      throw StateError(absl::StrCat(call.function, ": the number of edges must be known while tracing"), call.where);
    count = size - 1;
    first = detail::rowsAlong(edges, 0, 0, count);
    next = detail::rowsAlong(edges, 0, 1, count + 1);
    if (!areEqual)
      assert_true(all(first <= next), absl::StrCat(call.function, ": the edges must increase"));
  }

  // The bin of each number, and `count` for those in none: NaN and what is outside. The last edge belongs to the last
  // bin.
  Tensor of(const Tensor &x) const {
    const Tensor low = edges[0], high = edges[count];
    Tensor bin;
    if (areEqual) {
      // The quotient is rounded, so that it may be one off. The edges decide.
      const Tensor inside = where(logical_and(x >= low, x <= high), x, low);
      bin = minimum(cast((inside - low) / (high - low) * count, DType::Int64), count - 1);
      bin = bin - cast(inside < gather(first, bin), DType::Int64);
      bin = bin + cast(logical_and(inside >= gather(next, bin), bin < count - 1), DType::Int64);
    } else {
      bin = where(x == high, count - 1, searchsorted(edges, x, "right") - 1);
    }
    return where(logical_and(x >= low, x <= high), bin, count);
  }
  // The widths of the bins in the type that counts are divided in.
  Tensor widths() const {
    const DType wide = info_of(edges.dtype()).accumulator;
    return cast(next, wide) - cast(first, wide);
  }

  Tensor edges, first, next;
  const bool areEqual;
  std::int64_t count = 0;
};

Tensor valuesOf(const Tensor &x) { return reshape(stop_gradient(x), {-1}); }
// What each element counts.
Tensor weightsOf(const std::optional<Tensor> &weights, const Tensor &places) {
  return weights ? reshape(*weights, {-1}) : ones_like(places);
}

Histogram histogramOf(const Tensor &x, const Bins &bins, const HistogramOptions &options) {
  const Tensor bin = bins.of(valuesOf(x));
  Tensor counts = detail::rowsAlong(sumsOf(weightsOf(options.weights, bin), bin, {bins.count + 1}), 0, 0, bins.count);
  if (options.density) {
    counts = cast(counts, info_of(bins.edges.dtype()).accumulator);
    counts = cast(counts / sum(counts) / bins.widths(), bins.edges.dtype());
  }
  return {counts, bins.edges};
}

Histogram2d histogramOf2d(const Tensor &x, const Tensor &y, const Bins &ofX, const Bins &ofY,
                          const Histogram2dOptions &options, const ArrayCall &call) {
  if (x.dtype() != y.dtype())
    throw DTypeError(absl::StrCat("histogram2d: takes tensors of one type, not ", typeOf(x), " and ", typeOf(y),
                                  "; there is no implicit conversion, use cast"),
                     call.where);
  const Shape first = x.shape(), second = y.shape();
  bool fits = first.size() == second.size();
  for (std::size_t i = 0; fits && i < first.size(); ++i)
    fits = !first[i].is_known() || !second[i].is_known() || std::int64_t(first[i]) == std::int64_t(second[i]);
  if (!fits)
    throw ShapeError(absl::StrCat("histogram2d: x and y must have one shape, not ", typeOf(x), " and ", typeOf(y)),
                     call.where);
  const Tensor row = ofX.of(valuesOf(x)), column = ofY.of(valuesOf(y));
  const Tensor place =
      where(logical_and(row < ofX.count, column < ofY.count), row * ofY.count + column, ofX.count * ofY.count);
  const std::int64_t count = ofX.count * ofY.count;
  Tensor counts = detail::rowsAlong(sumsOf(weightsOf(options.weights, place), place, {count + 1}), 0, 0, count);
  counts = reshape(counts, {ofX.count, ofY.count});
  if (options.density) {
    counts = cast(counts, info_of(x.dtype()).accumulator);
    counts = cast(counts / sum(counts) / (expand_dims(ofX.widths(), {1}) * ofY.widths()), x.dtype());
  }
  return {counts, ofX.edges, ofY.edges};
}

Bins binsOf(const Tensor &edges, const ArrayCall &call) {
  if (edges.rank() != 1)
    throw ShapeError(absl::StrCat(call.function, ": the edges must be a vector, not ", typeOf(edges)), call.where);
  if (edges.shape()[0].is_known() && edges.shape()[0] < 2)
    throw ValueError(absl::StrCat(call.function, ": there must be two edges at least"), call.where);
  return Bins(edges, false, call);
}
Bins binsOf(std::int64_t count, std::pair<double, double> range, DType dtype, const ArrayCall &call) {
  const auto [low, high] = range;
  if (!(low < high) || !std::isfinite(high - low) || count < 1)
    throw ValueError(absl::StrCat(call.function, ": there are no ", count, " bins from ", low, " to ", high),
                     call.where);
  return Bins(linspace(low, high, count + 1, {.dtype = dtype}), is_floating(dtype) && !is_half(dtype), call);
}

} // namespace

Histogram histogram(const Operand &x, const Tensor &edges, HistogramOptions options) {
  ArrayCall call(x, "histogram");
  const auto [value, bins] = detail::paired(x, edges);
  if (options.range)
    throw ValueError("histogram: edges have a range of their own", call.where);
  return histogramOf(value, binsOf(bins, call), options);
}

Histogram histogram(const Operand &x, std::int64_t bins, HistogramOptions options) {
  ArrayCall call(x, "histogram");
  const Tensor value = x.toTensor();
  if (options.range)
    return histogramOf(value, binsOf(bins, *options.range, value.dtype(), call), options);
  const Histogram found = histogram(value, bins);
  return options.weights || options.density ? histogramOf(value, Bins(found.edges, false, call), options) : found;
}

Histogram2d histogram2d(const Operand &x, const Operand &y, const Tensor &x_edges, const Tensor &y_edges,
                        Histogram2dOptions options) {
  ArrayCall call(x, "histogram2d");
  const auto [first, ofX] = detail::paired(x, x_edges);
  const auto [second, ofY] = detail::paired(y, y_edges);
  return histogramOf2d(first, second, binsOf(ofX, call), binsOf(ofY, call), options, call);
}

//===-- Groups ----------------------------------------------------------------------------------===//

namespace {

struct Groups {
  Tensor x, ids;
  std::int64_t count;
  Shape shape; // of the result

  Groups(const Operand &operand, const Operand &given, std::optional<std::int64_t> number, const ArrayCall &call)
      : x(operand.toTensor()), ids(given.toTensor()) {
    requireIntegers(ids, call);
    if (ids.rank() > x.rank())
      throw ShapeError(absl::StrCat(call.function, ": the ids ", typeOf(ids),
                                    " must have the shape of the first axes of ", typeOf(x)),
                       call.where);
    if (!number)
      number = knownEnd(ids);
    if (!number)
      throw StateError(
          absl::StrCat(call.function, ": the largest id is known at the call only; give the number of segments"),
          call.where);
    if (*number < 0)
      throw ValueError(absl::StrCat(call.function, ": the number of segments must not be negative: ", *number),
                       call.where);
    count = *number;
    shape.push_back(count);
    const Shape whole = x.shape();
    shape.insert(shape.end(), whole.begin() + ids.rank(), whole.end());
  }
};

// The least number of a type.
Tensor least(DType dtype) {
  if (is_complex(dtype)) // which has none, as scatter_max says
    return zeros({}, dtype);
  const Number number = dispatch(dtype, []<typename T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>)
      return Number(std::numeric_limits<T>::lowest());
    else
      return Number(-std::numeric_limits<double>::infinity());
  });
  return full({}, number, dtype);
}

Tensor largestOf(const Groups &groups, const Tensor &x) {
  return scatter_max(broadcast_to(least(x.dtype()), groups.shape), groups.ids, x);
}

} // namespace

Tensor segment_sum(const Operand &x, const Operand &ids, std::optional<std::int64_t> number) {
  ArrayCall call(x, "segment_sum");
  const Groups groups(x, ids, number, call);
  return sumsOf(groups.x, groups.ids, groups.shape);
}

Tensor segment_max(const Operand &x, const Operand &ids, std::optional<std::int64_t> number) {
  ArrayCall call(x, "segment_max");
  const Groups groups(x, ids, number, call);
  return largestOf(groups, groups.x);
}

Tensor segment_min(const Operand &x, const Operand &ids, std::optional<std::int64_t> number) {
  ArrayCall call(x, "segment_min");
  const Groups groups(x, ids, number, call);
  return detail::inReverse(largestOf(groups, detail::inReverse(groups.x)));
}

Tensor segment_mean(const Operand &x, const Operand &ids, std::optional<std::int64_t> number) {
  ArrayCall call(x, "segment_mean");
  const Groups groups(detail::floatsOf(x, call), ids, number, call);
  const DType dtype = groups.x.dtype(), wide = info_of(dtype).accumulator;
  const Tensor counts =
      cast(scatter_add(zeros({groups.count}, DType::Int64), groups.ids, ones_like(groups.ids, DType::Int64)), wide);
  std::vector<std::int64_t> others;
  for (std::int64_t axis = 1; axis < static_cast<std::int64_t>(groups.shape.size()); ++axis)
    others.push_back(axis);
  const Tensor sums = scatter_add(zeros(groups.shape, wide), groups.ids, cast(groups.x, wide));
  return cast(sums / (others.empty() ? counts : expand_dims(counts, others)), dtype);
}

} // namespace calque
