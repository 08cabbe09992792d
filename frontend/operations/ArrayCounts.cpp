// Counts and groups of calque/arrays/statistics.h.
#include "calque/arrays/making.h"
#include "calque/arrays/sets.h"
#include "calque/arrays/statistics.h"

#include "absl/strings/str_cat.h"
#include "calque/assertions.h"
#include "frontend/core/Apply.h"
#include "frontend/operations/ArrayCalls.h"

#include <algorithm>
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

Histogram histogramOf(const Tensor &x, const Tensor &edges, const HistogramOptions &options, const ArrayCall &call) {
  const Size size = edges.shape()[0];
  if (!size.is_known())
    throw StateError("histogram: the number of edges must be known while tracing", call.where);
  const std::int64_t bins = size - 1;
  const Tensor values = reshape(stop_gradient(x), {-1});
  const Tensor first = detail::rowsAlong(edges, 0, 0, bins), next = detail::rowsAlong(edges, 0, 1, bins + 1);
  assert_true(all(first <= next), "histogram: the edges must increase");
  // The last edge belongs to the last bin. NaN counts as larger than all edges.
  const Tensor last = edges[bins];
  const Tensor bin = where(values == last, bins - 1, searchsorted(edges, values, "right") - 1);
  const Tensor isCounted = logical_and(bin >= 0, bin < bins);
  Tensor weights = options.weights ? reshape(*options.weights, {-1}) : ones_like(bin);
  Tensor counts = detail::rowsAlong(sumsOf(weights, where(isCounted, bin, bins), {bins + 1}), 0, 0, bins);
  if (options.density) {
    const DType wide = info_of(edges.dtype()).accumulator;
    counts = cast(counts, wide);
    counts = cast(counts / sum(counts) / (cast(next, wide) - cast(first, wide)), edges.dtype());
  }
  return {counts, edges};
}

} // namespace

Histogram histogram(const Operand &x, const Tensor &edges, HistogramOptions options) {
  ArrayCall call(x, "histogram");
  const auto [value, bins] = detail::paired(x, edges);
  if (bins.rank() != 1)
    throw ShapeError(absl::StrCat("histogram: the edges must be a vector, not ", typeOf(bins)), call.where);
  if (options.range)
    throw ValueError("histogram: edges have a range of their own", call.where);
  if (bins.shape()[0].is_known() && bins.shape()[0] < 2)
    throw ValueError("histogram: there must be two edges at least", call.where);
  return histogramOf(value, bins, options, call);
}

Histogram histogram(const Operand &x, std::int64_t bins, HistogramOptions options) {
  ArrayCall call(x, "histogram");
  const Tensor value = x.toTensor();
  if (!options.range) {
    const Histogram found = histogram(value, bins);
    return options.weights || options.density ? histogramOf(value, found.edges, options, call) : found;
  }
  const auto [low, high] = *options.range;
  if (!(low < high) || bins < 1)
    throw ValueError(absl::StrCat("histogram: there are no ", bins, " bins from ", low, " to ", high), call.where);
  return histogramOf(value, linspace(low, high, bins + 1, {.dtype = value.dtype()}), options, call);
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
