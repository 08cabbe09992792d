#include "schema/Moves.h"

#include "schema/TypeRules.h"

#include <algorithm>

namespace calque::schema {

namespace {
// If a tensor has no elements, its other sizes may be any, and their products may wrap. Nothing is moved then.
std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
} // namespace

Placement rowMajor(const Dims &dims) {
  Placement placement{0, Dims(dims.size())};
  std::int64_t stride = 1;
  for (std::size_t i = dims.size(); i-- > 0; stride = times(stride, dims[i]))
    placement.strides[i] = stride;
  return placement;
}

namespace {

using Results = std::span<const TensorType>;

Placement whole(const TensorType &type) { return rowMajor(type.dims); }

// The box of the elements starts, starts + steps, ... in each dimension; an empty list of steps means 1.
Placement part(const TensorType &type, const Ints &starts, const Ints &steps) {
  Placement placement = whole(type);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    placement.offset = plus(placement.offset, times(starts[i], placement.strides[i]));
    placement.strides[i] = times(placement.strides[i], steps.empty() ? 1 : steps[i]);
  }
  return placement;
}

// The box that begins at `start` along an axis, in a concatenation of this type.
Placement partAlong(const TensorType &type, std::int64_t axis, std::int64_t start) {
  Ints starts(type.dims.size());
  starts[axis] = start;
  return part(type, starts, {});
}

std::int64_t axisOf(const OpCall &call, std::size_t attribute, std::int64_t rank) {
  std::int64_t axis = 0;
  normalizeAxis(call.attribute<std::int64_t>(attribute), rank, axis);
  return axis;
}

//===-- Movements -------------------------------------------------------------------------------===//

Movement keepOrder(const OpCall &, Results results) {
  Placement all{0, {1}};
  return {{{0, {results[0].numElements()}, all, all}}, {}};
}

Movement repeat(const OpCall &call, Results results) {
  Placement from = whole(call[0]);
  for (std::size_t i = 0; i < from.strides.size(); ++i)
    if (call[0].dims[i] == 1)
      from.strides[i] = 0;
  from.strides.insert(from.strides.begin(), results[0].dims.size() - from.strides.size(), 0);
  return {{{0, results[0].dims, std::move(from), whole(results[0])}}, {}};
}

Movement permute(const OpCall &call, Results results) {
  Placement of = whole(call[0]), from = of;
  std::int64_t rank = call[0].rank();
  for (std::int64_t i = 0; i < rank; ++i) {
    std::int64_t axis = ints(call, 0).empty() ? rank - 1 - i : ints(call, 0)[i];
    from.strides[i] = of.strides[normalAxis(axis, rank)];
  }
  return {{{0, results[0].dims, std::move(from), whole(results[0])}}, {}};
}

Movement turn(const OpCall &call, Results results) {
  Placement from = whole(call[0]);
  Ints axes;
  normalizeAxes(ints(call, 0), call[0].rank(), true, axes);
  for (std::int64_t axis : axes) {
    from.offset = plus(from.offset, times(call[0].dims[axis] - 1, from.strides[axis]));
    from.strides[axis] = times(from.strides[axis], -1);
  }
  return {{{0, results[0].dims, std::move(from), whole(results[0])}}, {}};
}

Movement join(const OpCall &call, Results results) {
  std::int64_t axis = axisOf(call, 0, results[0].rank()), start = 0;
  Movement movement;
  for (std::size_t k = 0; k < call.operands.size(); ++k) {
    movement.moves.push_back({k, call[k].dims, whole(call[k]), partAlong(results[0], axis, start)});
    start += call[k].dims[axis];
  }
  return movement;
}

Movement takePart(const OpCall &call, Results results) {
  std::int64_t axis = axisOf(call, 0, results[0].rank()), start = 0;
  for (std::int64_t k = 0; k < call.attribute<std::int64_t>(1); ++k)
    start += call[static_cast<std::size_t>(k) + 1].dims[axis];
  return {{{0, results[0].dims, partAlong(call[0], axis, start), whole(results[0])}}, {}};
}

Movement cut(const OpCall &call, Results results) {
  std::int64_t axis = axisOf(call, 1, call[0].rank()), start = 0;
  Movement movement;
  for (std::size_t r = 0; r < results.size(); start += results[r++].dims[axis])
    movement.moves.push_back({0, results[r].dims, partAlong(call[0], axis, start), whole(results[r]), r});
  return movement;
}

Movement take(const OpCall &call, Results results) {
  return {{{0, results[0].dims, part(call[0], ints(call, 0), ints(call, 2)), whole(results[0])}}, {}};
}

Movement takeLike(const OpCall &call, Results results) {
  return {{{0, results[0].dims, part(call[0], ints(call, 0), ints(call, 1)), whole(results[0])}}, {}};
}

Movement put(const OpCall &call, Results results) {
  return {{{0, call[0].dims, whole(call[0]), part(results[0], ints(call, 0), ints(call, 1))}}, Scalar()};
}

Movement surround(const OpCall &call, Results results) {
  return {{{0, call[0].dims, whole(call[0]), part(results[0], ints(call, 0), {})}}, call.attribute<Scalar>(2)};
}

//===-- Positions as indices --------------------------------------------------------------------===//

using IndexedRule = std::optional<Indexed> (*)(const OpCall &call, const TensorType &result);

// The axes along which `part` is smaller than `of`, with the indices of `part` along them.
Indexed along(const TensorType &of, const TensorType &part, const Ints &starts, const Ints &steps) {
  Indexed indexed;
  for (std::int64_t axis = 0; axis < of.rank(); ++axis) {
    if (part.dims[axis] == of.dims[axis])
      continue;
    IndexedAxis one{axis, Ints(part.dims[axis])};
    for (std::int64_t i = 0; i < part.dims[axis]; ++i)
      one.indices[i] = starts[axis] + i * (steps.empty() ? 1 : steps[axis]);
    indexed.axes.push_back(std::move(one));
  }
  return indexed;
}

std::optional<Indexed> taken(const OpCall &call, const TensorType &result) {
  return along(call[0], result, ints(call, 0), ints(call, 2));
}

// Only padding with zeros has an indexed form, because gather_put adds to zeros.
std::optional<Indexed> padded(const OpCall &call, const TensorType &result) {
  if (call.attribute<Scalar>(2).as<bool>() || result.dtype == DType::Bool)
    return std::nullopt;
  Indexed indexed = along(result, call[0], ints(call, 0), {});
  indexed.puts = true;
  return indexed;
}

#include "schema/Moves.cpp.inc"

} // namespace

MoveRule moveRuleOf(OpId op) { return kMoveRules[static_cast<std::size_t>(op)]; }

std::optional<Indexed> indexedForm(const OpCall &call, const TensorType &result) {
  IndexedRule rule = kIndexedRules[static_cast<std::size_t>(call.op)];
  if (!rule || !result.isStatic() ||
      std::any_of(call.operands.begin(), call.operands.end(), [](const TensorType &type) { return !type.isStatic(); }))
    return std::nullopt;
  return rule(call, result);
}

} // namespace calque::schema
