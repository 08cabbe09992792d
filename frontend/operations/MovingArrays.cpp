// Functions of calque/arrays/moving.h.
#include "calque/arrays/making.h"
#include "calque/arrays/moving.h"

#include "absl/strings/str_cat.h"
#include "calque/assertions.h"
#include "frontend/core/Apply.h"
#include "frontend/operations/ArrayCalls.h"

#include <algorithm>
#include <numeric>

namespace calque {

using detail::ArrayCall;
using detail::indicesAlong;
using detail::typeOf;

//===-- Roll ------------------------------------------------------------------------------------===//

namespace {

Tensor rolledAlong(const Tensor &x, const Tensor &shift, std::int64_t axis) {
  const Size size = x.shape()[static_cast<std::size_t>(axis)];
  const Tensor count = maximum(Operand(size).toTensor(DType::Int64), 1);
  // int64 does not have all numbers of uint64.
  const Tensor by = shift.dtype() == DType::UInt64 ? cast(mod(shift, cast(count, DType::UInt64)), DType::Int64)
                                                   : mod(cast(shift, DType::Int64), count);
  return gather(x, mod(iota({size}, DType::Int64) - by, count), axis);
}

Tensor rolledAlong(const Tensor &x, std::int64_t shift, std::int64_t axis) {
  const Size size = x.shape()[static_cast<std::size_t>(axis)];
  if (!size.is_known())
    return rolledAlong(x, scalar(shift), axis);
  const std::int64_t by = size == 0 ? 0 : ((shift % size) + size) % size;
  if (by == 0)
    return x;
  std::vector<Tensor> parts = split(x, {size - by, by}, axis);
  return concat({parts[1], parts[0]}, axis);
}

[[noreturn]] void refuseShifts(std::size_t shifts, std::size_t axes, const ArrayCall &call) {
  throw ValueError(absl::StrCat("roll: there must be one shift, or one for each of the ", axes, " axes, not ", shifts),
                   call.where);
}

// Rolls x, or without axes the vector of all elements. `rolled` rolls a tensor along the axis with that number.
template <typename Rolled>
Tensor rollAxes(const Tensor &x, const AxisList &axes, const ArrayCall &call, Rolled rolled) {
  if (axes.numbers().empty())
    return reshape(rolled(reshape(x, {-1}), 0, 0), x.shape());
  Tensor result = x;
  for (std::size_t i = 0; i < axes.numbers().size(); ++i)
    result = rolled(result, i, call.axis(axes.numbers()[i], x));
  return result;
}

} // namespace

Tensor roll(const Operand &x, const AxisList &shifts, const AxisList &axes) {
  ArrayCall call(x, "roll");
  const std::vector<std::int64_t> &numbers = shifts.numbers();
  const std::size_t count = std::max<std::size_t>(axes.numbers().size(), 1);
  if (numbers.size() != 1 && numbers.size() != count)
    refuseShifts(numbers.size(), count, call);
  return rollAxes(x.toTensor(), axes, call, [&](const Tensor &x, std::size_t i, std::int64_t axis) {
    return rolledAlong(x, numbers[numbers.size() == 1 ? 0 : i], axis);
  });
}

Tensor detail::rollBy(const Operand &x, const Operand &shift, const AxisList &axes) {
  ArrayCall call(x, "roll");
  const Tensor numbers = shift.toTensor();
  if (!is_integer(numbers.dtype()))
    throw DTypeError(absl::StrCat("roll: a shift is an integer, not ", typeOf(numbers)), call.where);
  if (numbers.rank() > 1)
    throw ShapeError(absl::StrCat("roll: the shifts are a scalar or a vector, not ", typeOf(numbers)), call.where);
  const std::size_t count = std::max<std::size_t>(axes.numbers().size(), 1);
  if (numbers.rank() == 1) {
    const Size size = numbers.shape()[0];
    if (!size.is_known())
      throw StateError("roll: the number of shifts must be known while tracing", call.where);
    if (size != count)
      refuseShifts(static_cast<std::size_t>(std::int64_t(size)), count, call);
  }
  return rollAxes(x.toTensor(), axes, call, [&](const Tensor &x, std::size_t i, std::int64_t axis) {
    return rolledAlong(x, numbers.rank() == 0 ? numbers : numbers[i], axis);
  });
}

//===-- Axes ------------------------------------------------------------------------------------===//

Tensor moveaxis(const Operand &x, const AxisList &source, const AxisList &destination) {
  ArrayCall call(x, "moveaxis");
  const Tensor value = x.toTensor();
  const std::vector<std::int64_t> from = call.axes(source, value), to = call.axes(destination, value);
  if (from.size() != to.size())
    throw ValueError(absl::StrCat("moveaxis: there are ", from.size(), " axes and ", to.size(), " places for them"),
                     call.where);
  std::vector<std::int64_t> order(static_cast<std::size_t>(value.rank()), -1);
  for (std::size_t i = 0; i < from.size(); ++i)
    order[static_cast<std::size_t>(to[i])] = from[i];
  std::int64_t next = 0;
  for (std::int64_t &axis : order)
    if (axis < 0) {
      while (std::find(from.begin(), from.end(), next) != from.end())
        ++next;
      axis = next++;
    }
  return std::is_sorted(order.begin(), order.end()) ? value : transpose(value, order);
}

Tensor swapaxes(const Operand &x, std::int64_t axis1, std::int64_t axis2) {
  ArrayCall call(x, "swapaxes");
  const Tensor value = x.toTensor();
  std::vector<std::int64_t> order(static_cast<std::size_t>(value.rank()));
  std::iota(order.begin(), order.end(), 0);
  const std::size_t first = call.dimension(axis1, value), second = call.dimension(axis2, value);
  if (first == second)
    return value;
  std::swap(order[first], order[second]);
  return transpose(value, order);
}

Tensor rot90(const Operand &x, std::int64_t k, const AxisList &list) {
  ArrayCall call(x, "rot90");
  const Tensor value = x.toTensor();
  const std::vector<std::int64_t> axes = call.axes(list, value);
  if (axes.size() != 2)
    throw ValueError(absl::StrCat("rot90: a plane has two axes, not ", axes.size()), call.where);
  switch (((k % 4) + 4) % 4) {
  case 1:
    return swapaxes(reverse(value, axes[1]), axes[0], axes[1]);
  case 2:
    return reverse(value, axes);
  case 3:
    return reverse(swapaxes(value, axes[0], axes[1]), axes[1]);
  default:
    return value;
  }
}

Tensor ravel(const Operand &x) {
  ArrayCall call(x, "ravel");
  return reshape(x, {-1});
}

//===-- Repeat ----------------------------------------------------------------------------------===//

namespace {

// The sum of the counts of all entries, if it is known now.
std::optional<std::int64_t> knownTotal(const Tensor &counts, const Size &size) {
  const std::optional<std::int64_t> total =
      detail::foldKnown(counts, 0, [](std::int64_t sum, std::int64_t count) { return sum + count; });
  if (!total || counts.size() != 1)
    return total;
  return size.is_known() ? std::optional(*total * std::int64_t(size))
                         : std::nullopt; // one number is that of each entry
}

// Repeats each entry as often as its count says.
Tensor repeatedBy(const Tensor &x, const Tensor &given, std::int64_t axis, std::optional<std::int64_t> total,
                  const ArrayCall &call) {
  if (given.rank() > 1)
    throw ShapeError(absl::StrCat("repeat: the numbers are a scalar or a vector, not ", typeOf(given)), call.where);
  const Size size = x.shape()[static_cast<std::size_t>(axis)];
  const Tensor counts = broadcast_to(detail::asInt64(given, call.where), {size});
  assert_true(greater_equal(counts, 0), "repeat: a number of repeats is negative");
  if (!total) {
    total = knownTotal(given, size);
    if (!total)
      throw StateError("repeat: the sum of the numbers of repeats is known at the call only; give the size of the "
                       "result as total_repeat_length",
                       call.where);
  } else if (*total < 0) {
    throw ValueError(absl::StrCat("repeat: total_repeat_length must not be negative: ", *total), call.where);
  }
  // Entry i is in the places from the end of the entry before it. So the entry in a place is the number of ends that
  // are not behind the place. Ends behind the result are counted in a place of their own.
  const Tensor ends = minimum(cumsum(counts), *total);
  const Tensor marks = scatter_add(zeros({*total + 1}, DType::Int64), ends, ones_like(ends));
  const Tensor entry = cumsum(detail::rowsAlong(marks, 0, 0, *total));
  return gather(x, minimum(entry, Operand(size).toTensor(DType::Int64) - 1), axis);
}

} // namespace

Tensor repeat(const Operand &x, const Operand &repeats, std::optional<std::int64_t> axisOrAll,
              std::optional<std::int64_t> total) {
  ArrayCall call(x, "repeat");
  Tensor value = x.toTensor();
  if (!axisOrAll)
    value = reshape(value, {-1});
  const std::int64_t axis = call.axis(axisOrAll.value_or(0), value);
  const Tensor given = repeats.toTensor();
  if (!is_integer(given.dtype()))
    throw DTypeError(absl::StrCat("repeat: a number of repeats is an integer, not ", typeOf(given)), call.where);
  if (!repeats.isHostNumber() || total)
    return repeatedBy(value, given, axis, total, call);
  const std::int64_t count = repeats.toTensor(DType::Int64).item<std::int64_t>();
  if (count < 0)
    throw ValueError(absl::StrCat("repeat: the number of repeats must not be negative: ", count), call.where);
  Shape shape = value.shape();
  shape.insert(shape.begin() + axis + 1, count);
  return detail::mergeDims(broadcast_to(expand_dims(value, axis + 1), shape), axis);
}

//===-- Diagonals -------------------------------------------------------------------------------===//

namespace {

// Whether an element of the last two axes is on diagonal k, or at most that far to the right.
Tensor isOnDiagonal(const Tensor &x, std::int64_t k) {
  const Shape shape = x.shape();
  const std::size_t rank = shape.size();
  return indicesAlong(shape[rank - 2], 0, 2) + k == indicesAlong(shape[rank - 1], 1, 2);
}
Tensor isUpToDiagonal(const Tensor &x, std::int64_t k) {
  const Shape shape = x.shape();
  const std::size_t rank = shape.size();
  return indicesAlong(shape[rank - 2], 0, 2) + k >= indicesAlong(shape[rank - 1], 1, 2);
}

// x with two axes as the last ones.
Tensor withAxesLast(const Tensor &x, std::int64_t axis1, std::int64_t axis2, const ArrayCall &call) {
  return moveaxis(x, call.axes({axis1, axis2}, x), {-2, -1});
}

// The elements of diagonal k along the last two axes, if their sizes are known.
std::optional<Tensor> elementsOfDiagonal(const Tensor &x, std::int64_t k) {
  const Shape shape = x.shape();
  const std::size_t rank = shape.size();
  const Size rows = shape[rank - 2], columns = shape[rank - 1];
  if (!rows.is_known() || !columns.is_known())
    return std::nullopt;
  const std::int64_t n = rows, m = columns;
  const std::int64_t count = std::max<std::int64_t>(0, k >= 0 ? std::min(n, std::max<std::int64_t>(m - k, 0))
                                                              : std::min(m, std::max<std::int64_t>(n + k, 0)));
  const std::int64_t start = count == 0 ? 0 : k >= 0 ? k : -k * m, stride = m + 1;
  const std::int64_t limit = count == 0 ? start : start + (count - 1) * stride + 1;
  // The rows one after the other have an element of the diagonal every m + 1 elements.
  Shape flat = shape;
  flat.pop_back();
  flat.back() = n * m;
  const Tensor elements = reshape(x, flat);
  if (!flat.is_known())
    return gather(elements, iota({count}, DType::Int64) * stride + start, -1);
  std::vector<std::int64_t> starts(flat.size(), 0), limits = flat, strides(flat.size(), 1);
  starts.back() = start;
  limits.back() = limit;
  strides.back() = stride;
  return slice(elements, starts, limits, strides);
}

Tensor requireMatrices(const Operand &x, const ArrayCall &call) {
  Tensor value = x.toTensor();
  if (value.rank() < 2)
    throw ShapeError(absl::StrCat(call.function, ": takes matrices, of rank 2 or more, not ", typeOf(value)),
                     call.where);
  return value;
}

} // namespace

Tensor diag(const Operand &x, std::int64_t k) {
  ArrayCall call(x, "diag");
  Tensor value = x.toTensor();
  if (value.rank() == 2)
    return diagonal(value, k);
  if (value.rank() != 1)
    throw ShapeError(absl::StrCat("diag: takes a vector or a matrix, not ", typeOf(value)), call.where);
  // The vector stands in all columns, or in all rows, of a matrix that has place for the diagonal.
  const Tensor padded = k > 0 ? pad(value, {k}, {0}) : k < 0 ? pad(value, {-k}, {0}) : value;
  const Size size = padded.shape()[0];
  return where(isOnDiagonal(zeros({size, size}, DType::Bool), k), expand_dims(padded, k >= 0 ? 0 : 1), Number());
}

Tensor diagonal(const Operand &x, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
  ArrayCall call(x, "diagonal");
  const Tensor value = x.toTensor();
  const Tensor matrices = withAxesLast(value, axis1, axis2, call);
  if (std::optional<Tensor> elements = elementsOfDiagonal(matrices, offset))
    return *elements;
  // The main diagonal of a square matrix has as many elements as rows.
  const Size rows = matrices.shape()[static_cast<std::size_t>(matrices.rank() - 2)], columns = matrices.shape().back();
  if (offset != 0 || rows.is_known() || columns.is_known())
    throw StateError(absl::StrCat(call.function, ": the sizes of axes ", axis1, " and ", axis2, " of ", typeOf(value),
                                  " must be known while tracing, but for main diagonals of square matrices"),
                     call.where);
  const Tensor number = size(matrices, -1);
  assert_true(size(matrices, -2) == number, "diagonal: a matrix whose sizes are unknown while tracing is not square");
  return gather(detail::mergeDims(matrices, matrices.rank() - 2), indicesAlong(rows, 0, 1) * (number + 1), -1);
}

Tensor trace(const Operand &x, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
  ArrayCall call(x, "trace");
  const Tensor value = withAxesLast(x.toTensor(), axis1, axis2, call);
  if (std::optional<Tensor> elements = elementsOfDiagonal(value, offset))
    return sum(*elements, -1);
  return sum(where(isOnDiagonal(value, offset), value, Number()), {-2, -1});
}

Tensor tril(const Operand &x, std::int64_t k) {
  ArrayCall call(x, "tril");
  const Tensor value = requireMatrices(x, call);
  return where(isUpToDiagonal(value, k), value, Number());
}

Tensor triu(const Operand &x, std::int64_t k) {
  ArrayCall call(x, "triu");
  const Tensor value = requireMatrices(x, call);
  return where(isUpToDiagonal(value, k - 1), Number(), value);
}

} // namespace calque
