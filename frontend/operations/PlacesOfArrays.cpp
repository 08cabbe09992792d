// Functions of calque/arrays/places.h, apart from at().
#include "calque/arrays/places.h"

#include "absl/strings/str_cat.h"
#include "calque/arrays/making.h"
#include "frontend/core/Apply.h"
#include "frontend/operations/ArrayCalls.h"

namespace calque {

using detail::ArrayCall;
using detail::typeOf;

//===-- Slices from a place ---------------------------------------------------------------------===//

namespace {

// The indices of a part of x, whose first element is moved into x.
struct Part {
  Tensor indices;               // as gather_nd takes them; undefined if an index of one axis suffices, or none
  std::vector<Tensor> of;       // the indices along the axes that are not whole
  std::vector<std::int64_t> at; // these axes
};

Part partOf(const Tensor &x, const std::vector<Operand> &starts, const Shape &sizes, const ArrayCall &call) {
  const Shape shape = x.shape();
  if (starts.size() != shape.size() || sizes.size() != shape.size())
    throw ValueError(absl::StrCat(call.function, ": there must be a start and a size for each axis of ", typeOf(x),
                                  ", not ", starts.size(), " and ", sizes.size()),
                     call.where);
  Part part;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (sizes[i].is_known() && shape[i].is_known() && sizes[i] > shape[i])
      throw ShapeError(
          absl::StrCat(call.function, ": the size ", sizes[i].str(), " is larger than axis ", i, " of ", typeOf(x)),
          call.where);
    const Tensor start = starts[i].toTensor();
    if (!is_integer(start.dtype()) || start.rank() != 0)
      throw DTypeError(absl::StrCat(call.function, ": a start is an integer scalar, not ", typeOf(start)), call.where);
    const bool isWhole = sizes[i].is_known() && shape[i].is_known()
                             ? sizes[i] == shape[i]
                             : sizes[i].origin() && sizes[i].origin() == shape[i].origin();
    if (isWhole)
      continue;
    const Tensor last = Operand(shape[i]).toTensor(DType::Int64) - Operand(sizes[i]).toTensor(DType::Int64);
    const Tensor first = maximum(minimum(detail::asInt64(start, call.where), last), 0);
    part.of.push_back(first + iota({sizes[i]}, DType::Int64));
    part.at.push_back(static_cast<std::int64_t>(i));
  }
  if (part.at.size() < 2)
    return part;
  // Each index of the first axes, up to the last one that is not whole. The slices of the others are moved as they are.
  const std::int64_t rank = part.at.back() + 1;
  Shape leading(sizes.begin(), sizes.begin() + rank);
  std::vector<Tensor> coordinates;
  std::size_t next = 0;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    Tensor index =
        part.at[next] == axis ? part.of[next++] : iota({sizes[static_cast<std::size_t>(axis)]}, DType::Int64);
    std::vector<std::int64_t> others;
    for (std::int64_t other = 0; other < rank; ++other)
      if (other != axis)
        others.push_back(other);
    coordinates.push_back(broadcast_to(expand_dims(index, others), leading));
  }
  part.indices = stack(coordinates, -1);
  return part;
}

} // namespace

Tensor dynamic_slice(const Operand &x, const std::vector<Operand> &starts, std::vector<std::int64_t> sizes) {
  ArrayCall call(x, "dynamic_slice");
  for (std::int64_t size : sizes)
    if (size < 0)
      throw ValueError(absl::StrCat("dynamic_slice: a size must not be negative: ", size), call.where);
  const Tensor value = x.toTensor();
  const Part part = partOf(value, starts, sizes, call);
  if (part.at.empty())
    return value;
  return part.at.size() == 1 ? gather(value, part.of[0], part.at[0]) : gather_nd(value, part.indices);
}

Tensor dynamic_update_slice(const Operand &x, const Operand &update, const std::vector<Operand> &starts) {
  ArrayCall call(x, "dynamic_update_slice");
  const auto [value, part] = detail::paired(x, update);
  if (value.dtype() != part.dtype())
    throw DTypeError(absl::StrCat("dynamic_update_slice: the update is ", typeOf(part), ", and x is ", typeOf(value),
                                  "; there is no implicit conversion, use cast"),
                     call.where);
  if (value.rank() != part.rank())
    throw ShapeError(
        absl::StrCat("dynamic_update_slice: the update ", typeOf(part), " must have the rank of ", typeOf(value)),
        call.where);
  const Part places = partOf(value, starts, part.shape(), call);
  if (places.at.empty())
    return part;
  return places.at.size() == 1 ? scatter_set(value, places.of[0], part, places.at[0])
                               : scatter_nd_set(value, places.indices, part);
}

//===-- Taking and choosing ---------------------------------------------------------------------===//

namespace {

// Indices from 0 on, of entries of an axis.
Tensor indicesByMode(const Tensor &given, const Size &size, const std::string &mode, const ArrayCall &call) {
  if (!is_integer(given.dtype()))
    throw DTypeError(absl::StrCat(call.function, ": an index is an integer, not ", typeOf(given)), call.where);
  const Tensor index = detail::asInt64(given, call.where), count = Operand(size).toTensor(DType::Int64);
  if (mode == "raise")
    return where(index < 0, index + count, index);
  if (mode == "wrap") // numbers beyond int64, too
    return given.dtype() == DType::UInt64 ? cast(mod(given, cast(count, DType::UInt64)), DType::Int64)
                                          : mod(index, count);
  if (mode == "clip")
    return maximum(minimum(index, count - 1), 0);
  throw ValueError(absl::StrCat(call.function, ": the mode is 'raise', 'wrap' or 'clip', not '", mode, "'"),
                   call.where);
}

// Tensors of one shape, to which they broadcast.
std::vector<Tensor> broadcastTogether(std::vector<Tensor> tensors) {
  // Of sizes that are unknown while tracing, the operations compare those that meet.
  Tensor all = zeros_like(tensors[0], DType::Bool);
  for (std::size_t i = 1; i < tensors.size(); ++i)
    all = logical_or(all, zeros_like(tensors[i], DType::Bool));
  for (Tensor &x : tensors)
    x = broadcast_to(x, all.shape());
  return tensors;
}

} // namespace

Tensor take(const Operand &x, const Operand &indices, std::optional<std::int64_t> axisOrAll, const std::string &mode) {
  ArrayCall call(x, "take");
  Tensor value = x.toTensor();
  if (!axisOrAll)
    value = reshape(value, {-1});
  const std::int64_t axis = call.axis(axisOrAll.value_or(0), value);
  return gather(value, indicesByMode(indices.toTensor(), value.shape()[static_cast<std::size_t>(axis)], mode, call),
                axis);
}

Tensor choose(const Operand &index, const std::vector<Tensor> &choices, const std::string &mode) {
  ArrayCall call(index, "choose");
  if (choices.empty())
    throw ValueError("choose: there must be at least one choice", call.where);
  std::vector<Tensor> all = choices;
  all.push_back(indicesByMode(index.toTensor(), Size(choices.size()), mode, call));
  all = broadcastTogether(std::move(all));
  const Tensor number = expand_dims(all.back(), 0);
  all.pop_back();
  return squeeze(take_along_axis(stack(all), number, 0), 0);
}

Tensor select(const std::vector<Tensor> &conditions, const std::vector<Tensor> &choices, const Operand &otherwise,
              SourceLocation line) {
  ArrayCall call(line, "select");
  if (conditions.empty() || conditions.size() != choices.size())
    throw ValueError(absl::StrCat("select: there must be a choice for each condition, not ", choices.size(), " for ",
                                  conditions.size()),
                     call.where);
  Tensor result = otherwise.isNumber() ? otherwise.toTensor(choices.back().dtype()) : otherwise.tensor();
  for (std::size_t i = conditions.size(); i-- > 0;)
    result = where(conditions[i], choices[i], result);
  return result;
}

} // namespace calque
