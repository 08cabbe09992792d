// Functions of calque/arrays/making.h.
#include "calque/arrays/making.h"
#include "calque/arrays/moving.h"

#include "absl/strings/str_cat.h"
#include "frontend/operations/ArrayCalls.h"

#include <algorithm>
#include <cmath>

namespace calque {

using detail::ArrayCall;
using detail::indicesAlong;
using detail::typeOf;

//===-- Of the shape of another -----------------------------------------------------------------===//

Tensor full_like(const Operand &x, const Operand &value, std::optional<DType> dtype) {
  ArrayCall call(x, "full_like");
  const Tensor like = x.toTensor();
  return full(like.shape(), value, dtype.value_or(like.dtype()));
}

Tensor zeros_like(const Operand &x, std::optional<DType> dtype) {
  ArrayCall call(x, "zeros_like");
  const Tensor like = x.toTensor();
  return zeros(like.shape(), dtype.value_or(like.dtype()));
}

Tensor ones_like(const Operand &x, std::optional<DType> dtype) {
  ArrayCall call(x, "ones_like");
  const Tensor like = x.toTensor();
  return ones(like.shape(), dtype.value_or(like.dtype()));
}

//===-- Ranges ----------------------------------------------------------------------------------===//

namespace {

constexpr std::int64_t kMostElements = std::int64_t(1) << 48; // more than any memory holds

Tensor rangeOfIntegers(const Number &start, const Number &stop, const Number &step, DType dtype,
                       const ArrayCall &call) {
  std::int64_t first = 0, end = 0, by = 0;
  start.convert(DType::Int64, &first, call.where);
  stop.convert(DType::Int64, &end, call.where);
  step.convert(DType::Int64, &by, call.where);
  if (by == 0)
    throw ValueError("arange: the step must not be 0", call.where);
  // Differences of unsigned numbers do not overflow.
  const bool isAhead = by > 0 ? first < end : first > end;
  const std::uint64_t distance = by > 0 ? std::uint64_t(end) - std::uint64_t(first)
                                        : std::uint64_t(first) - std::uint64_t(end),
                      stride = by > 0 ? std::uint64_t(by) : -std::uint64_t(by),
                      count = isAhead ? (distance - 1) / stride + 1 : 0;
  if (count > std::uint64_t(kMostElements))
    throw ValueError(absl::StrCat("arange: there are ", count, " elements, more than any memory holds"), call.where);
  if (count > 0) { // both ends must be numbers of the type
    (void)Operand(Number(first)).toTensor(dtype);
    (void)Operand(Number(std::int64_t(std::uint64_t(first) + (count - 1) * std::uint64_t(by)))).toTensor(dtype);
  }
  const Tensor index = iota({Size(std::int64_t(count))}, DType::Int64);
  return cast(first == 0 && by == 1 ? index : index * by + first, dtype);
}

} // namespace

Tensor detail::makeRange(const Literal &from, const Literal &to, const Literal &each, std::optional<DType> given,
                         SourceLocation line) {
  ArrayCall call(line, "arange");
  const Number &start = from.number(), &stop = to.number(), &step = each.number();
  const DType dtype = given ? *given : makeTensor(Literal({from, to, each}), nullptr, nullptr, call.where).dtype();
  if (!start.isFloat() && !stop.isFloat() && !step.isFloat())
    return rangeOfIntegers(start, stop, step, dtype, call);
  if (!is_floating(dtype))
    throw DTypeError(absl::StrCat("arange: floating-point numbers make no range of ", name_of(dtype)), call.where);
  const double first = start.toDouble(), end = stop.toDouble(), by = step.toDouble();
  const double count = std::ceil((end - first) / by);
  if (by == 0)
    throw ValueError("arange: the step must not be 0", call.where);
  if (!std::isfinite(first) || !std::isfinite(end) || !std::isfinite(by))
    throw ValueError(absl::StrCat("arange: there is no range from ", first, " to ", end, " by ", by), call.where);
  if (!(count <= double(kMostElements)))
    throw ValueError(absl::StrCat("arange: there are ", count, " elements, more than any memory holds"), call.where);
  // NumPy multiplies the difference of the first two elements.
  const Tensor index = cast(iota({Size(std::int64_t(std::max(count, 0.0)))}, DType::Int64), DType::Float64);
  return cast(index * ((first + by) - first) + first, dtype);
}

//===-- Numbers between two numbers -------------------------------------------------------------===//

namespace {

// Both ends in the type of the computation: float64 for two C++ numbers, else the type of the tensors.
struct Ends {
  Tensor start, stop;
  DType dtype; // of the result

  Ends(const Operand &from, const Operand &to, const LinspaceOptions &options, const ArrayCall &call) {
    if (from.isNumber() && to.isNumber()) {
      start = from.toTensor(DType::Float64);
      stop = to.toTensor(DType::Float64);
      dtype = options.dtype.value_or(default_dtype());
    } else {
      auto [a, b] = detail::paired(from, to);
      start = a;
      stop = b;
      dtype = options.dtype.value_or(a.dtype());
      for (const Tensor &end : {start, stop})
        requireFloat(end.dtype(), detail::typeOf(end), call);
      if (is_half(start.dtype())) { // which has few of the numbers of elements
        start = cast(start, DType::Float32);
        stop = cast(stop, DType::Float32);
      }
    }
    requireFloat(dtype, name_of(dtype), call);
  }

private:
  static void requireFloat(DType dtype, const std::string &given, const ArrayCall &call) {
    if (!is_floating(dtype))
      throw DTypeError(absl::StrCat(call.function, ": takes and makes ", names_of({DTypeKind::Float}), ", not ", given),
                       call.where);
  }
};

// The numbers along axis 0, and their index, which has the rank of the result.
struct Between {
  Tensor values, index, last; // last: the index of the number that is `stop`
};

Between between(const Tensor &start, const Tensor &stop, const Size &num, bool endpoint, const ArrayCall &call) {
  if (num.is_known() && num < 0)
    throw ValueError(absl::StrCat(call.function, ": the number of elements must not be negative, unlike ", num.str()),
                     call.where);
  if (num.is_known() && num > kMostElements)
    throw ValueError(absl::StrCat(call.function, ": no memory has place for ", num.str(), " elements"), call.where);
  const DType dtype = start.dtype();
  const Tensor difference = stop - start;
  const std::int64_t rank = difference.rank() + 1;
  const Tensor index = indicesAlong(num, 0, rank, dtype);
  const Tensor count = Operand(num).toTensor(dtype), last = endpoint ? maximum(count - 1, 1) : maximum(count, 1);
  // As in NumPy, a step that underflows is not multiplied.
  const Tensor step = difference / last;
  Tensor values = where(step == 0, index / last * difference, index * step) + start;
  // The distance of two finite numbers may be none.
  const bool isFinite = difference.is_known() && all(isfinite(difference)).item<bool>();
  if (!isFinite) {
    const Tensor isTooLong = logical_and(isinf(difference), logical_and(isfinite(start), isfinite(stop)));
    const Tensor part = index / last;
    values = where(isTooLong, start * (1 - part) + stop * part, values);
  }
  if (endpoint)
    values = where(index == last, stop, values);
  return {values, index, last};
}

} // namespace

Tensor linspace(const Operand &start, const Operand &stop, const Size &num, LinspaceOptions options) {
  ArrayCall call(start, "linspace");
  const Ends ends(start, stop, options, call);
  const Tensor values = cast(between(ends.start, ends.stop, num, options.endpoint, call).values, ends.dtype);
  return moveaxis(values, 0, call.axis(options.axis, values));
}

Tensor logspace(const Operand &start, const Operand &stop, const Size &num, const Operand &base,
                LinspaceOptions options) {
  ArrayCall call(start, "logspace");
  const Ends ends(start, stop, options, call);
  const Tensor powers = between(ends.start, ends.stop, num, options.endpoint, call).values;
  const Tensor values = cast(pow(base, powers), ends.dtype);
  return moveaxis(values, 0, call.axis(options.axis, values));
}

Tensor geomspace(const Operand &start, const Operand &stop, const Size &num, LinspaceOptions options) {
  ArrayCall call(start, "geomspace");
  const Ends ends(start, stop, options, call);
  if (start.isHostNumber() && stop.isHostNumber()) {
    const double first = ends.start.item<double>(), end = ends.stop.item<double>();
    if (first == 0 || end == 0)
      throw ValueError(absl::StrCat("geomspace: the ends ", first, " and ", end, " must not be 0"), call.where);
  }
  const Tensor sign = calque::sign(ends.start);
  const Between logs = between(log(ends.start * sign), log(ends.stop * sign), num, options.endpoint, call);
  Tensor values = exp(logs.values) * sign;
  values = where(logs.index == 0, ends.start, values);
  if (options.endpoint) // of a single number, `last` is an index that it does not have
    values = where(logs.index == logs.last, ends.stop, values);
  values = cast(values, ends.dtype);
  return moveaxis(values, 0, call.axis(options.axis, values));
}

//===-- Grids and masks -------------------------------------------------------------------------===//

std::vector<Tensor> meshgrid(const std::vector<Tensor> &tensors, MeshgridOptions options, SourceLocation line) {
  ArrayCall call(line, "meshgrid");
  if (options.indexing != "xy" && options.indexing != "ij")
    throw ValueError(absl::StrCat("meshgrid: indexing is 'xy' or 'ij', not '", options.indexing, "'"), call.where);
  const std::size_t rank = tensors.size();
  auto axisOf = [&](std::size_t i) { return options.indexing == "xy" && i < 2 && rank >= 2 ? 1 - i : i; };
  Shape all(rank, 1);
  std::vector<Tensor> vectors;
  for (std::size_t i = 0; i < rank; ++i) {
    if (tensors[i].rank() > 1)
      throw ShapeError(absl::StrCat("meshgrid: takes vectors and scalars, and tensor ", i, " is ", typeOf(tensors[i])),
                       call.where);
    vectors.push_back(tensors[i].rank() == 0 ? expand_dims(tensors[i], 0) : tensors[i]);
    all[axisOf(i)] = vectors[i].shape()[0];
  }
  for (std::size_t i = 0; i < rank; ++i) {
    std::vector<std::int64_t> others;
    for (std::size_t axis = 0; axis < rank; ++axis)
      if (axis != axisOf(i))
        others.push_back(static_cast<std::int64_t>(axis));
    vectors[i] = others.empty() ? vectors[i] : expand_dims(vectors[i], others);
    if (!options.sparse)
      vectors[i] = broadcast_to(vectors[i], all);
  }
  return vectors;
}

Tensor eye(const Size &n, const Size &m, std::int64_t k, DType dtype, SourceLocation line) {
  ArrayCall call(line, "eye");
  return cast(indicesAlong(n, 0, 2) + k == indicesAlong(m, 1, 2), dtype);
}

Tensor tri(const Size &n, const Size &m, std::int64_t k, DType dtype, SourceLocation line) {
  ArrayCall call(line, "tri");
  return cast(indicesAlong(n, 0, 2) + k >= indicesAlong(m, 1, 2), dtype);
}

} // namespace calque
