#include "frontend/operations/ArrayCalls.h"

#include "absl/strings/str_cat.h"
#include "calque/control_flow.h"
#include "frontend/core/Apply.h"

#include <limits>
#include <numeric>
#include <type_traits>

namespace calque::detail {

std::vector<std::int64_t> ArrayCall::axes(const AxisList &list, const Tensor &x) const {
  std::vector<std::int64_t> axes;
  std::vector<bool> isNamed(static_cast<std::size_t>(x.rank()));
  for (std::int64_t number : list.numbers()) {
    const std::size_t at = dimension(number, x);
    if (isNamed[at])
      throw ValueError(absl::StrCat(function, ": axis ", number, " is given twice"), where);
    isNamed[at] = true;
    axes.push_back(static_cast<std::int64_t>(at));
  }
  return axes;
}

void refuseType(const char *function, std::initializer_list<DTypeKind> kinds, const Tensor &x, SourceLocation where) {
  if (is_complex(x.dtype()))
    throw DTypeError(
        absl::StrCat(function, ": takes ", names_of(kinds), ", not ", typeOf(x), "; take real(x), imag(x) or abs(x)"),
        where);
  throw DTypeError(
      absl::StrCat(function, ": takes ", names_of(kinds), ", not ", typeOf(x), "; use cast(x, DType::Float32)"), where);
}

static Tensor numbersOf(const Operand &x, const ArrayCall &call, bool isTaken(DType),
                        std::initializer_list<DTypeKind> kinds) {
  Tensor value = x.toTensor();
  if (!isTaken(value.dtype()))
    refuseType(call.function, kinds, value, call.where);
  return value;
}
Tensor floatsOf(const Operand &x, const ArrayCall &call) { return numbersOf(x, call, is_floating, {DTypeKind::Float}); }
Tensor floatsOrComplexOf(const Operand &x, const ArrayCall &call) {
  return numbersOf(x, call, is_inexact, {DTypeKind::Float, DTypeKind::Complex});
}

Tensor inReverse(const Tensor &x) {
  return dispatch(x.dtype(), [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) // the least number becomes the largest one
      return Number(std::numeric_limits<T>::lowest() + std::numeric_limits<T>::max()) - x;
    else
      return -x;
  });
}

std::optional<std::int64_t> foldKnown(const Tensor &integers, std::int64_t initial,
                                      std::int64_t (*combine)(std::int64_t, std::int64_t)) {
  if (!integers.is_known())
    return std::nullopt;
  std::int64_t result = initial;
  dispatch(integers.dtype(), [&]<typename T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      const T *first = integers.data<T>();
      for (std::int64_t i = 0; i < integers.size(); ++i)
        result = combine(result, static_cast<std::int64_t>(first[i]));
    }
  });
  return result;
}

std::array<Tensor, 2> paired(const Operand &a, const Operand &b) {
  if (a.isNumber() && !b.isNumber())
    return {a.toTensor(b.tensor().dtype()), b.tensor()};
  if (b.isNumber() && !a.isNumber())
    return {a.tensor(), b.toTensor(a.tensor().dtype())};
  return {a.toTensor(), b.toTensor()};
}

Tensor indicesAlong(const Size &size, std::int64_t axis, std::int64_t rank, DType dtype) {
  Shape shape(static_cast<std::size_t>(rank), 1);
  shape[static_cast<std::size_t>(axis)] = size;
  return iota(shape, dtype, axis);
}

Tensor withRank(const Tensor &x, std::int64_t rank) {
  if (x.rank() >= rank)
    return x;
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank - x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return expand_dims(x, axes);
}

Tensor mergeDims(const Tensor &x, std::int64_t axis) {
  schema::Attribute attribute = axis;
  return apply(schema::OpId::MergeDims, {&x, 1}, {&attribute, 1}, SourceLocation::current());
}

Tensor rowsAlong(const Tensor &x, std::int64_t axis, std::int64_t start, std::int64_t end) {
  const Shape shape = x.shape();
  if (!shape.is_known())
    return split(x, {start, end - start, -1}, axis)[1];
  std::vector<std::int64_t> starts(shape.size(), 0), limits = shape;
  starts[static_cast<std::size_t>(axis)] = start;
  limits[static_cast<std::size_t>(axis)] = end;
  return slice(x, std::move(starts), std::move(limits));
}

std::vector<Tensor> scanByDoubling(std::vector<Tensor> entries, std::int64_t axis, const Combine &combine) {
  const Size size = entries[0].shape()[static_cast<std::size_t>(axis)];
  if (size.is_known()) {
    const std::int64_t count = size;
    for (std::int64_t distance = 1; distance < count; distance *= 2) {
      std::vector<Tensor> first, earlier, later;
      for (const Tensor &x : entries) {
        first.push_back(rowsAlong(x, axis, 0, distance));
        earlier.push_back(rowsAlong(x, axis, 0, count - distance));
        later.push_back(rowsAlong(x, axis, distance, count));
      }
      later = combine(earlier, later);
      for (std::size_t i = 0; i < entries.size(); ++i)
        entries[i] = concat({first[i], later[i]}, axis);
    }
    return entries;
  }
  const Tensor count = Operand(size).toTensor(DType::Int64);
  return std::get<1>(while_loop([&](const Tensor &distance, const std::vector<Tensor> &) { return distance < count; },
                                [&](const Tensor &distance, const std::vector<Tensor> &entries) {
                                  const Tensor index = iota({size}, DType::Int64), from = maximum(index - distance, 0);
                                  std::vector<Tensor> earlier;
                                  for (const Tensor &x : entries)
                                    earlier.push_back(gather(x, from, axis));
                                  std::vector<Tensor> combined = combine(earlier, entries);
                                  for (std::size_t i = 0; i < entries.size(); ++i)
                                    combined[i] = where(indicesAlong(size, axis, entries[i].rank()) >= distance,
                                                        combined[i], entries[i]);
                                  return std::tuple(distance * 2, combined);
                                },
                                std::tuple(scalar<std::int64_t>(1), entries)));
}

bool isKnownTo(const Size &size, std::int64_t number) { return size.is_known() && size == number; }

} // namespace calque::detail
