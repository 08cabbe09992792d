// Public functions on shapes and subscripts. Each applies several operations.
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "calque/call_site.h"
#include "calque/functions.h"
#include "calque/transforms.h"
#include "frontend/core/Apply.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Shape.h"
#include "frontend/core/TensorImpl.h"
#include "frontend/core/Trace.h"
#include "frontend/gradients/Tape.h"
#include "frontend/operations/ArrayCalls.h"
#include "frontend/operations/Concatenation.h"
#include "schema/TypeRules.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace calque {

using detail::dimensionOf;
using detail::typeOf;
using schema::OpId;

namespace {

bool differ(const Size &a, const Size &b) { return a.is_known() && b.is_known() && a != b; }

} // namespace

Tensor size(const Operand &x, std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "size");
  Tensor value = x.toTensor();
  schema::Attribute attribute = axis;
  return detail::apply(OpId::SizeOf, {&value, 1}, {&attribute, 1}, where);
}

Tensor size(const Operand &x) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "size");
  return Operand(x.toTensor().size(), where).toTensor(DType::Int64);
}

Tensor stack(const std::vector<Tensor> &tensors, std::int64_t axis, SourceLocation where) {
  where = detail::userLine(where);
  CallSite library(where, "stack");
  if (tensors.empty())
    throw ValueError("stack: needs at least one tensor", where);
  const Tensor &first = tensors[0];
  const Shape shape = first.shape();
  std::vector<Tensor> expanded;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Shape other = tensors[i].shape();
    if (tensors[i].dtype() != first.dtype())
      throw DTypeError(absl::StrCat("stack: tensor ", i, " is ", typeOf(tensors[i]), " and tensor 0 ", typeOf(first),
                                    "; there is no implicit conversion, use cast"),
                       where);
    if (!std::equal(shape.begin(), shape.end(), other.begin(), other.end(),
                    [](const Size &a, const Size &b) { return !differ(a, b); }))
      throw ShapeError(absl::StrCat("stack: tensor ", i, " is ", typeOf(tensors[i]), " and tensor 0 ", typeOf(first),
                                    "; their shapes must be equal"),
                       where);
    expanded.push_back(expand_dims(Operand(tensors[i], where), {axis}));
  }
  return detail::concatenated(std::move(expanded), axis, where);
}

Tensor detail::concatenated(std::vector<Tensor> parts, std::int64_t axis, SourceLocation where) {
  constexpr std::size_t kMost = 64;
  while (parts.size() > kMost && !currentTrace() && eagerTapesActive()) {
    std::vector<Tensor> blocks;
    for (auto from = parts.begin(); from != parts.end();) {
      const auto to = from + std::min<std::ptrdiff_t>(kMost, parts.end() - from);
      blocks.push_back(concat({from, to}, axis, where));
      from = to;
    }
    parts = std::move(blocks);
  }
  return concat(parts, axis, where);
}

std::vector<Tensor> detail::splitEvenly(const Operand &x, std::int64_t parts, std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "split");
  Tensor value = x.toTensor();
  Shape shape = value.shape();
  const std::size_t dimension = dimensionOf(axis, value.rank(), "split", where);
  if (parts < 1)
    throw ValueError(absl::StrCat("split: the number of parts is at least 1, unlike ", parts), where);
  const Size whole = shape[dimension];
  if (!whole.is_known()) { // the call computes the size of a part
    shape[dimension] = parts;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dimension) + 1, -1);
    return unstack(Operand(reshape(Operand(value, where), shape), where), static_cast<std::int64_t>(dimension));
  }
  if (whole % parts != 0)
    throw ValueError(absl::StrCat("split: ", typeOf(value), " has no ", parts, " parts of one size along axis ", axis,
                                  "; a list of sizes makes others"),
                     where);
  return split(Operand(value, where), std::vector<std::int64_t>(static_cast<std::size_t>(parts), whole / parts), axis);
}

std::vector<Tensor> unstack(const Operand &x, std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "unstack");
  Tensor value = x.toTensor();
  Shape shape = value.shape();
  std::size_t dimension = dimensionOf(axis, value.rank(), "unstack", where);
  if (!shape[dimension].is_known())
    throw StateError(absl::StrCat("unstack: the size of axis ", axis, " of ", typeOf(value),
                                  " is the number of results, and is not known while tracing"),
                     where);
  std::vector<std::int64_t> ones(static_cast<std::size_t>(std::int64_t(shape[dimension])), 1);
  if (ones.empty())
    return {};
  std::vector<Tensor> parts = split(Operand(value, where), ones, axis);
  for (Tensor &part : parts)
    part = squeeze(Operand(part, where), {axis});
  return parts;
}

Tensor squeeze(const Operand &x, const AxisList &axisList) {
  const std::vector<std::int64_t> &axes = axisList.numbers();
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "squeeze");
  Tensor value = x.toTensor();
  const Shape shape = value.shape();
  std::vector<bool> isLeftOut(shape.size());
  for (std::int64_t axis : axes) {
    std::size_t dimension = dimensionOf(axis, value.rank(), "squeeze", where);
    if (isLeftOut[dimension])
      throw ValueError(absl::StrCat("squeeze: axis ", axis, " is given twice"), where);
    if (differ(shape[dimension], 1))
      throw ShapeError(absl::StrCat("squeeze: axis ", axis, " of ", typeOf(value), " has size ", shape[dimension].str(),
                                    "; only a dimension of size 1 can be left out"),
                       where);
    isLeftOut[dimension] = true;
  }
  for (std::size_t i = 0; axes.empty() && i < shape.size(); ++i) {
    if (!shape[i].is_known())
      throw StateError(absl::StrCat("squeeze: whether dimension ", i, " of ", typeOf(value),
                                    " is 1 is not known while tracing; name the axes"),
                       where);
    isLeftOut[i] = shape[i] == 1;
  }
  Shape kept;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (!isLeftOut[i])
      kept.push_back(shape[i]);
  return reshape(Operand(value, where), kept);
}

Tensor tile(const Operand &x, std::vector<std::int64_t> repeats) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "tile");
  Tensor value = x.toTensor();
  for (std::int64_t count : repeats)
    if (count < 0)
      throw ValueError(absl::StrCat("tile: repeats must not be negative: ", schema::shapeString(repeats)), where);
  // The shorter of the two lists is filled up with ones in front.
  const Shape shape = value.shape();
  const std::size_t rank = std::max(shape.size(), repeats.size());
  repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  std::vector<std::int64_t> counts; // the axes of new dimensions; each comes before the dimension that it repeats
  Shape repeated;
  for (std::size_t i = 0; i < rank; ++i) {
    counts.push_back(static_cast<std::int64_t>(repeated.size()));
    repeated.push_back(repeats[i]);
    if (i >= rank - shape.size())
      repeated.push_back(shape[i - (rank - shape.size())]);
  }
  if (counts.empty())
    return value;
  value = broadcast_to(Operand(expand_dims(Operand(value, where), counts), where), repeated);
  for (std::size_t i = rank - shape.size(); i < rank; ++i) {
    schema::Attribute axis = static_cast<std::int64_t>(i);
    value = detail::apply(OpId::MergeDims, {&value, 1}, {&axis, 1}, where);
  }
  return value;
}

Tensor clip(const Operand &x, const Operand &low, const Operand &high) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "clip");
  // Numbers among the operands get the type of the tensors.
  const Operand *operands[] = {&x, &low, &high};
  std::vector<Tensor> tensors = detail::adoptNumbers(OpId::Maximum, operands);
  Tensor notBelow = maximum(Operand(tensors[0], where), Operand(tensors[1], where));
  return minimum(Operand(notBelow, where), Operand(tensors[2], where));
}

Tensor round(const Operand &x, std::int64_t decimals) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "round");
  const Tensor value = x.toTensor();
  if (is_complex(value.dtype()))
    return complex(round(real(value), decimals), round(imag(value), decimals));
  if (decimals == 0 || !is_floating(value.dtype()))
    return round(Operand(value, where)); // round() refuses other types
  if (is_half(value.dtype()))            // which has no numbers large enough to multiply by
    return cast(round(cast(Operand(value, where), DType::Float32), decimals), value.dtype());
  const std::int64_t largest = value.dtype() == DType::Float32 ? std::numeric_limits<float>::max_exponent10
                                                               : std::numeric_limits<double>::max_exponent10;
  if (decimals < -largest || decimals > largest)
    throw ValueError(absl::StrCat("round: ", decimals, " decimals of ", name_of(value.dtype()), " are not between ",
                                  -largest, " and ", largest),
                     where);
  double power = 0;
  (void)absl::SimpleAtod(absl::StrCat("1e", std::abs(decimals)), &power); // correctly rounded, unlike pow
  if (decimals < 0)
    return round(Operand(value / power, where)) * power;
  const Tensor scaled = value * power;
  return calque::where(isfinite(scaled), round(Operand(scaled, where)) / power, stop_gradient(value));
}

Tensor sort(const Operand &x, std::int64_t axis, bool descending) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "sort");
  Tensor value = x.toTensor(), order = argsort(Operand(value, where), axis, descending);
  return take_along_axis(Operand(value, where), Operand(order, where), axis);
}

TopK top_k(const Operand &x, std::int64_t k, std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "top_k");
  Tensor value = x.toTensor();
  const Shape shape = value.shape();
  std::size_t dimension = dimensionOf(axis, value.rank(), "top_k", where);
  if (k < 0)
    throw ValueError(absl::StrCat("top_k: the number of elements must not be negative: ", k), where);
  if (shape[dimension].is_known() && shape[dimension] < k)
    throw ShapeError(absl::StrCat("top_k: ", schema::counted(static_cast<std::size_t>(k), "element"),
                                  " asked for, and axis ", axis, " of ", typeOf(value), " has ",
                                  shape[dimension].str()),
                     where);
  Tensor indices;
  // Selecting takes code for each size, and eager operations have one for all.
  if (detail::currentTrace() && shape[dimension].is_known()) {
    const schema::Attribute attributes[] = {k, axis, true};
    indices = detail::apply(OpId::TopIndices, {&value, 1}, attributes, where);
  } else { // of an unknown size, the call knows whether there are so many
    Tensor order = argsort(Operand(value, where), axis, true);
    indices = split(Operand(order, where), {k, -1}, axis)[0];
  }
  return {take_along_axis(Operand(value, where), Operand(indices, where), axis), indices};
}

//===-- Histogram -------------------------------------------------------------------------------===//

Histogram histogram(const Operand &x, std::int64_t bins) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, "histogram");
  Tensor all = x.toTensor();
  const DType dtype = all.dtype();
  if (!is_floating(dtype))
    detail::refuseType("histogram", {DTypeKind::Float}, all, where);
  if (bins < 1)
    throw ValueError(absl::StrCat("histogram: the number of bins must be positive, not ", bins), where);
  constexpr std::int64_t kMostBins = std::int64_t(1) << 48; // more than any memory holds
  if (bins > kMostBins)
    throw ValueError(absl::StrCat("histogram: the number of bins must be at most ", kMostBins, ", not ", bins), where);
  // Operators take no line. Here all operations have the call's line.
  auto at = [&](const auto &value) { return Operand(value, where); };
  auto choose = [&](const Tensor &condition, const auto &x, const auto &y) {
    return calque::where(at(condition), at(x), at(y));
  };
  all = reshape(at(stop_gradient(at(all))), {-1});
  assert_true(at(calque::all(at(isfinite(at(all))))), "histogram: x must be finite");
  const double infinity = std::numeric_limits<double>::infinity();
  Tensor low = min(at(concat({all, full({1}, at(infinity), dtype)}, 0, where))),
         high = max(at(concat({all, full({1}, at(-infinity), dtype)}, 0, where)));
  Tensor isNone = greater(at(low), at(high)), isOne = equal(at(low), at(high));
  low = choose(isNone, 0, choose(isOne, low - 0.5, low));
  high = choose(isNone, 1, choose(isOne, high + 0.5, high));
  // If high - low overflows, the computation takes half of both, and counts each edge from the nearer end. Otherwise
  // the edges are those of numpy.linspace, with its roundings.
  Tensor isLong = logical_not(at(isfinite(at(high - low))));
  Tensor scale = cast(at(choose(isLong, 0.5, 1)), dtype);
  Tensor length = high * scale - low * scale, step = length / bins / scale;
  Tensor k = cast(at(iota({bins + 1}, DType::Int64, 0, where)), dtype);
  Tensor isNearLow = logical_or(at(logical_not(at(isLong))), at(less_equal(at(k * 2), at(bins))));
  Tensor edges = choose(isNearLow, k * step + low, high - (bins - k) * step);
  edges = choose(equal(at(k), at(bins)), high, edges);
  Tensor from = slice(at(edges), {0}, {bins}), to = slice(at(edges), {1}, {bins + 1});
  assert_true(at(calque::all(at(less(at(from), at(to))))),
              absl::StrCat("histogram: there are too few numbers between the elements of x for ",
                           schema::counted(static_cast<std::size_t>(bins), "bin")));
  Tensor index = cast(at(floor(at((all * scale - low * scale) / length * bins))), DType::Int64);
  index = clip(at(index), at(0), at(bins - 1));
  // The quotient is rounded, so that the index may be one off. The edges decide.
  Tensor isBelow = less(at(all), at(gather(at(from), at(index)))),
         isBeyond =
             logical_and(at(greater_equal(at(all), at(gather(at(to), at(index))))), at(less(at(index), at(bins - 1))));
  index = index - cast(at(isBelow), DType::Int64) + cast(at(isBeyond), DType::Int64);
  Tensor each = cast(at(equal(at(index), at(index))), DType::Int64);
  return {scatter_add(at(zeros({bins}, DType::Int64, where)), at(index), at(each)), edges};
}

//===-- Scatter ---------------------------------------------------------------------------------===//

namespace {
// Scatters along an axis. The operation writes slices of the first dimension, so another axis is moved there, and moved
// back afterwards.
Tensor scatterAlong(OpId op, const char *function, const Operand &x, const Operand &indices, const Operand &updates,
                    std::int64_t axis) {
  SourceLocation where = detail::userLine(x.where());
  CallSite library(where, function);
  const Operand *operands[] = {&x, &indices, &updates};
  std::vector<Tensor> tensors = detail::adoptNumbers(op, operands);
  if (!is_integer(tensors[1].dtype()))
    throw DTypeError(absl::StrCat(function, ": indices must be integers, not ", typeOf(tensors[1])), where);
  const auto first = static_cast<std::int64_t>(dimensionOf(axis, tensors[0].rank(), function, where));
  // Moves `count` dimensions from one place to another.
  auto moved = [&](const Tensor &value, std::int64_t from, std::int64_t count, std::int64_t to) {
    std::vector<std::int64_t> order, block;
    for (std::int64_t i = 0; i < value.rank(); ++i)
      (i >= from && i < from + count ? block : order).push_back(i);
    order.insert(order.begin() + std::min<std::ptrdiff_t>(to, std::ssize(order)), block.begin(), block.end());
    return from == to || count == 0 ? value : transpose(Operand(value, where), order);
  };
  const std::int64_t indexRank = tensors[1].rank();
  if (tensors[2].rank() != tensors[0].rank() - 1 + indexRank)
    throw ShapeError(absl::StrCat(function, ": the updates ", typeOf(tensors[2]), " must have rank ",
                                  tensors[0].rank() - 1 + indexRank, ", that of gather's result for ",
                                  typeOf(tensors[0]), " and the indices ", typeOf(tensors[1])),
                     where);
  tensors[0] = moved(tensors[0], first, 1, 0);
  tensors[1] = expand_dims(Operand(tensors[1], where), {-1});
  tensors[2] = moved(tensors[2], first, indexRank, 0);
  return moved(detail::apply(op, tensors, {}, where), 0, 1, first);
}
} // namespace

Tensor scatter_set(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis) {
  return scatterAlong(OpId::ScatterNdSet, "scatter_set", x, indices, updates, axis);
}

Tensor scatter_add(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis) {
  return scatterAlong(OpId::ScatterNdAdd, "scatter_add", x, indices, updates, axis);
}

Tensor scatter_max(const Operand &x, const Operand &indices, const Operand &updates, std::int64_t axis) {
  return scatterAlong(OpId::ScatterNdMax, "scatter_max", x, indices, updates, axis);
}

} // namespace calque
