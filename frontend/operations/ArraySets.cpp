// Functions of calque/arrays/sets.h.
#include "calque/arrays/sets.h"

#include "absl/strings/str_cat.h"
#include "calque/arrays/making.h"
#include "calque/arrays/moving.h"
#include "calque/assertions.h"
#include "calque/control_flow.h"
#include "frontend/operations/ArrayCalls.h"

#include <algorithm>

namespace calque {

using detail::ArrayCall;
using detail::typeOf;

namespace {

Tensor isNotZero(const Tensor &x) { return x.dtype() == DType::Bool ? x : x != full({}, Number(), x.dtype()); }

// The number of results: the given one, or the number of places where a condition holds.
std::int64_t numberOf(const Tensor &condition, const SizeOptions &options, const ArrayCall &call) {
  if (options.size) {
    if (*options.size < 0)
      throw ValueError(absl::StrCat(call.function, ": the size must not be negative: ", *options.size), call.where);
    return *options.size;
  }
  if (const Tensor count = sum(cast(condition, DType::Int64)); count.is_known())
    return count.item<std::int64_t>();
  throw StateError(
      absl::StrCat(call.function, ": the number of results is known at the call only; give it as {.size = ...}"),
      call.where);
}

// The places where a vector of bools holds, in order, and `fill` where there are fewer. Takes time for both vectors.
Tensor placesOf(const Tensor &condition, std::int64_t size, const Tensor &fill) {
  // Each place goes to its number among those that hold. One more place takes what is left out.
  const Tensor number = cumsum(cast(condition, DType::Int64)) - 1;
  const Tensor to = where(condition, minimum(number, size), size);
  const Tensor places =
      scatter_set(broadcast_to(cast(fill, DType::Int64), {size + 1}), to, iota({condition.shape()[0]}, DType::Int64));
  return detail::rowsAlong(places, 0, 0, size);
}

// x with one more entry along axis 0 if it may be empty at the call: an index is read that nothing takes.
Tensor neverEmpty(const Tensor &x) {
  Shape one = x.shape();
  if (one[0].is_known())
    return x;
  one[0] = 1;
  return concat({x, zeros(one, x.dtype())}, 0);
}

// The entries along axis 0 at places, and `fill` for places that are -1.
Tensor entriesAt(const Tensor &x, const Tensor &places, const Tensor &fill) {
  if (detail::isKnownTo(x.shape()[0], 0)) { // all are -1
    Shape shape = x.shape();
    shape[0] = places.shape()[0];
    return broadcast_to(fill, shape);
  }
  const Tensor entries = gather(neverEmpty(x), maximum(places, 0));
  std::vector<std::int64_t> others;
  for (std::int64_t axis = 1; axis < x.rank(); ++axis)
    others.push_back(axis);
  const Tensor isThere = places >= 0;
  return where(others.empty() ? isThere : expand_dims(isThere, others), entries, fill);
}

Tensor fillFor(const Tensor &x, const SizeOptions &options) {
  return options.fill_value ? Operand(*options.fill_value).toTensor(x.dtype()) : full({}, Number(), x.dtype());
}

// The places of elements that are not zero, in the vector of all elements; -1 where there are fewer.
Tensor flatPlaces(const Tensor &x, const SizeOptions &options, const ArrayCall &call) {
  const Tensor condition = reshape(isNotZero(x), {-1});
  return placesOf(condition, numberOf(condition, options, call), scalar<std::int64_t>(-1));
}

} // namespace

//===-- Elements that fulfil a condition --------------------------------------------------------===//

Tensor count_nonzero(const Operand &x, AxisList axes, bool keepdims) {
  ArrayCall call(x, "count_nonzero");
  return sum(cast(isNotZero(x.toTensor()), DType::Int64), axes, keepdims);
}

std::vector<Tensor> nonzero(const Operand &x, SizeOptions options) {
  ArrayCall call(x, "nonzero");
  const Tensor value = x.toTensor();
  if (value.rank() == 0)
    throw ShapeError(absl::StrCat(call.function, ": a scalar has no places"), call.where);
  const Tensor places = flatPlaces(value, options, call), isThere = places >= 0;
  const Tensor fill = Operand(options.fill_value.value_or(Number(0))).toTensor(DType::Int64);
  const Shape shape = value.shape();
  std::vector<Tensor> indices(shape.size());
  Tensor rest = places;
  for (std::size_t i = shape.size(); i-- > 0;) {
    // An axis of size 0 has no places, and all are -1.
    const Tensor size = maximum(Operand(shape[i]).toTensor(DType::Int64), 1);
    indices[i] = where(isThere, i == 0 ? rest : mod(rest, size), fill);
    rest = floor_divide(rest, size);
  }
  return indices;
}

Tensor flatnonzero(const Operand &x, SizeOptions options) {
  ArrayCall call(x, "flatnonzero");
  const Tensor places = flatPlaces(x.toTensor(), options, call);
  return where(places >= 0, places, Operand(options.fill_value.value_or(Number(0))).toTensor(DType::Int64));
}

Tensor argwhere(const Operand &x, SizeOptions options) {
  ArrayCall call(x, "argwhere");
  return stack(nonzero(x, options), 1);
}

Tensor compress(const Operand &condition, const Operand &x, std::optional<std::int64_t> axisOrAll,
                SizeOptions options) {
  ArrayCall call(x, "compress");
  Tensor value = x.toTensor();
  if (!axisOrAll)
    value = reshape(value, {-1});
  const std::int64_t axis = call.axis(axisOrAll.value_or(0), value);
  const Tensor holds = condition.toTensor();
  if (holds.dtype() != DType::Bool)
    throw DTypeError(absl::StrCat("compress: the condition must be bool, not ", typeOf(holds)), call.where);
  const Size size = value.shape()[static_cast<std::size_t>(axis)];
  if (holds.rank() != 1 || (size.is_known() && holds.shape()[0].is_known() && holds.shape()[0] > size))
    throw ShapeError(absl::StrCat("compress: the condition must be a vector of at most as many elements as axis ", axis,
                                  " of ", typeOf(value), ", not ", typeOf(holds)),
                     call.where);
  const Tensor places = placesOf(holds, numberOf(holds, options, call), scalar<std::int64_t>(-1));
  return moveaxis(entriesAt(moveaxis(value, axis, 0), places, fillFor(value, options)), 0, axis);
}

//===-- Different elements ----------------------------------------------------------------------===//

namespace {

// All elements in order, where each stood, and whether it differs from the one before.
struct Sorted {
  Tensor values, order, isNew;

  explicit Sorted(const Tensor &x) {
    const Tensor all = reshape(x, {-1});
    order = argsort(all);
    values = gather(all, order);
    const Size size = values.shape()[0];
    const Tensor before = gather(values, maximum(iota({size}, DType::Int64) - 1, 0));
    Tensor differs = values != before;
    if (is_floating(x.dtype()))
      differs = logical_and(differs, logical_not(logical_and(isnan(values), isnan(before))));
    isNew = logical_or(differs, iota({size}, DType::Int64) == 0);
  }
};

// The values at places, and the fill value, or the smallest element, for places that are -1.
Tensor valuesAt(const Sorted &sorted, const Tensor &places, const SizeOptions &options) {
  if (options.fill_value)
    return entriesAt(sorted.values, places, fillFor(sorted.values, options));
  return entriesAt(sorted.values, maximum(places, 0), fillFor(sorted.values, options));
}

// The values of all elements for which a condition on the sorted ones holds.
Tensor valuesWhere(const Sorted &sorted, const Tensor &condition, const SizeOptions &options, const ArrayCall &call) {
  const Tensor places = placesOf(condition, numberOf(condition, options, call), scalar<std::int64_t>(-1));
  // Without a fill value, the first of the places fills up.
  if (options.fill_value || !options.size || *options.size == 0)
    return valuesAt(sorted, places, options);
  const Tensor first = maximum(detail::rowsAlong(places, 0, 0, 1), 0);
  return entriesAt(sorted.values, where(places >= 0, places, first), fillFor(sorted.values, options));
}

} // namespace

UniqueAll unique_all(const Operand &x, SizeOptions options) {
  ArrayCall call(x, "unique_all");
  const Tensor value = x.toTensor();
  const Sorted sorted(value);
  const std::int64_t size = numberOf(sorted.isNew, options, call);
  const Tensor places = placesOf(sorted.isNew, size, scalar<std::int64_t>(-1));
  const Tensor number = cumsum(cast(sorted.isNew, DType::Int64)) - 1; // of each sorted element's value
  UniqueAll result;
  result.values = valuesAt(sorted, places, options);
  result.indices = entriesAt(sorted.order, places, scalar<std::int64_t>(0));
  result.inverse = reshape(scatter_set(zeros_like(number), sorted.order, number), value.shape());
  result.counts = detail::rowsAlong(
      scatter_add(zeros({size + 1}, DType::Int64), minimum(number, size), ones_like(number)), 0, 0, size);
  return result;
}

UniqueCounts unique_counts(const Operand &x, SizeOptions options) {
  ArrayCall call(x, "unique_counts");
  UniqueAll all = unique_all(x, options);
  return {all.values, all.counts};
}

UniqueInverse unique_inverse(const Operand &x, SizeOptions options) {
  ArrayCall call(x, "unique_inverse");
  UniqueAll all = unique_all(x, options);
  return {all.values, all.inverse};
}

Tensor unique(const Operand &x, SizeOptions options) {
  ArrayCall call(x, "unique");
  const Sorted sorted(x.toTensor());
  return valuesWhere(sorted, sorted.isNew, options, call);
}

//===-- Searches --------------------------------------------------------------------------------===//

namespace {

// Whether x comes before y in the order of argsort, which has NaN as the largest element.
Tensor isBefore(const Tensor &x, const Tensor &y) {
  if (x.dtype() == DType::Bool)
    return logical_and(logical_not(x), y);
  return is_floating(x.dtype()) ? logical_or(x < y, logical_and(isnan(y), logical_not(isnan(x)))) : x < y;
}

// For each element of v, how many of the sorted elements are in front of its place. Each step of the loop halves what
// is left.
Tensor placesIn(const Tensor &sortedOrNot, const Tensor &v, bool isRight) {
  const Tensor sorted = stop_gradient(sortedOrNot), values = stop_gradient(v);
  if (detail::isKnownTo(sorted.shape()[0], 0))
    return zeros_like(values, DType::Int64);
  const Tensor count = Operand(sorted.shape()[0]).toTensor(DType::Int64);
  const Tensor none = zeros_like(values, DType::Int64);
  auto [low, high, left] =
      while_loop([](const Tensor &, const Tensor &, const Tensor &left) { return left > 0; },
                 [&](const Tensor &low, const Tensor &high, const Tensor &left) {
                   const Tensor middle = low + (high - low) / 2;
                   const Tensor found = gather(sorted, minimum(middle, count - 1));
                   const Tensor isFront = isRight ? logical_not(isBefore(values, found)) : isBefore(found, values);
                   const Tensor isOpen = low < high;
                   return std::tuple(where(logical_and(isOpen, isFront), middle + 1, low),
                                     where(logical_and(isOpen, logical_not(isFront)), middle, high), left / 2);
                 },
                 std::tuple(none, none + count, count));
  return low;
}

Tensor requireVector(const Operand &x, const char *what, const ArrayCall &call) {
  Tensor value = x.toTensor();
  if (value.rank() != 1)
    throw ShapeError(absl::StrCat(call.function, ": ", what, " must be a vector, not ", typeOf(value)), call.where);
  return value;
}

void requireOneType(const Tensor &x, const Tensor &y, const ArrayCall &call) {
  if (x.dtype() != y.dtype())
    throw DTypeError(absl::StrCat(call.function, ": takes tensors of one type, not ", typeOf(x), " and ", typeOf(y),
                                  "; there is no implicit conversion, use cast"),
                     call.where);
}

// Whether each element of x is among sorted values.
Tensor isAmong(const Tensor &x, const Tensor &sorted) {
  if (detail::isKnownTo(sorted.shape()[0], 0))
    return zeros_like(x, DType::Bool);
  const Tensor count = Operand(sorted.shape()[0]).toTensor(DType::Int64), place = placesIn(sorted, x, false);
  return logical_and(place < count, gather(neverEmpty(sorted), minimum(place, maximum(count - 1, 0))) == x);
}

} // namespace

Tensor searchsorted(const Operand &sorted, const Operand &v, const std::string &side) {
  ArrayCall call(sorted, "searchsorted");
  if (side != "left" && side != "right")
    throw ValueError(absl::StrCat("searchsorted: the side is 'left' or 'right', not '", side, "'"), call.where);
  const Tensor in = requireVector(sorted, "what is searched", call);
  const Tensor values = v.isNumber() ? v.toTensor(in.dtype()) : v.tensor();
  requireOneType(in, values, call);
  return placesIn(in, values, side == "right");
}

Tensor digitize(const Operand &x, const Operand &bins, bool right) {
  ArrayCall call(x, "digitize");
  const auto [value, edges] = detail::paired(x, bins);
  (void)requireVector(edges, "the bins", call);
  requireOneType(edges, value, call);
  const Tensor before = gather(edges, maximum(iota({edges.shape()[0]}, DType::Int64) - 1, 0));
  assert_true(all(before <= edges), "digitize: the bins must increase");
  return placesIn(edges, value, !right);
}

Tensor isin(const Operand &x, const Operand &values) {
  ArrayCall call(x, "isin");
  const auto [value, in] = detail::paired(x, values);
  requireOneType(value, in, call);
  return isAmong(value, sort(reshape(in, {-1})));
}

Tensor intersect1d(const Operand &a, const Operand &b, SizeOptions options) {
  ArrayCall call(a, "intersect1d");
  const auto [x, y] = detail::paired(a, b);
  requireOneType(x, y, call);
  const Sorted sorted(x);
  return valuesWhere(sorted, logical_and(sorted.isNew, isAmong(sorted.values, sort(reshape(y, {-1})))), options, call);
}

Tensor setdiff1d(const Operand &a, const Operand &b, SizeOptions options) {
  ArrayCall call(a, "setdiff1d");
  const auto [x, y] = detail::paired(a, b);
  requireOneType(x, y, call);
  const Sorted sorted(x);
  return valuesWhere(sorted, logical_and(sorted.isNew, logical_not(isAmong(sorted.values, sort(reshape(y, {-1}))))),
                     options, call);
}

Tensor union1d(const Operand &a, const Operand &b, SizeOptions options) {
  ArrayCall call(a, "union1d");
  const auto [x, y] = detail::paired(a, b);
  requireOneType(x, y, call);
  const Sorted sorted(concat({reshape(x, {-1}), reshape(y, {-1})}));
  return valuesWhere(sorted, sorted.isNew, options, call);
}

} // namespace calque
