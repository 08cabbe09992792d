// Operations that make tensors and move their elements.
#include "onnx/export/Emit.h"

#include <algorithm>
#include <numeric>

namespace calque::onnx {

namespace {

Names constant(Emit &e) {
  const auto &value = e.attribute<ProgramConstant>("value");
  const DType dtype = *value.type.dtype;
  if (!value.is_splat || value.type.sizes.empty())
    return {e.making.constant(dtype, value.type.sizes, value.bytes, "constant")};
  return {e.expand(e.making.constant(dtype, {}, value.bytes, "number"), Emit::known(value.type.sizes))};
}

Names iotaOf(Emit &e, const Dims &dims) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  const std::int64_t axis = e.axis("axis", rank);
  std::string x = e.cast(e.range(dims[static_cast<std::size_t>(axis)]), DType::Int64, *e.result().dtype);
  if (rank == 1)
    return {x};
  Ints behind;
  for (std::int64_t i = axis + 1; i < rank; ++i)
    behind.push_back(i - axis);
  if (!behind.empty())
    x = e.node("Unsqueeze", {x, e.ints(behind)});
  return {e.expand(x, dims)};
}

Names sizeOfDimension(Emit &e) {
  return {e.sizeOf(e.dims(0)[static_cast<std::size_t>(e.axis("axis", e.rank()))], true)};
}

Names reshape(Emit &e) {
  // A size that follows from the others may be one that only the call knows.
  Ints sizes = e.list("shape");
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == -1 && e.result().sizes[i] != kUnknownSize)
      sizes[i] = e.result().sizes[i];
  return {e.reshape(e.in(), sizes)};
}

Names mergeDims(Emit &e) {
  const auto axis = static_cast<std::size_t>(e.axis("axis", e.rank()));
  Dims dims = e.dims(0);
  const std::int64_t merged = e.result().sizes[axis];
  dims[axis] = {merged == kUnknownSize ? -1 : merged};
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  return {e.reshape(e.in(), dims)};
}

Names splitDim(Emit &e) {
  const auto axis = static_cast<std::size_t>(e.axis("axis", e.rank()));
  Dims dims = e.dims(0);
  const Dims like = e.dims(1);
  dims[axis] = like[static_cast<std::size_t>(e.axis("first", e.rank(1)))];
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
              like[static_cast<std::size_t>(e.axis("second", e.rank(1)))]);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (e.result().sizes[i] != kUnknownSize)
      dims[i] = {e.result().sizes[i]};
  return {e.reshape(e.in(), dims)};
}

Names transpose(Emit &e) {
  Ints permutation = e.axes("permutation", e.rank());
  if (permutation.empty())
    for (std::int64_t i = e.rank() - 1; i >= 0; --i)
      permutation.push_back(i);
  return {e.transpose(e.in(), permutation)};
}

// Parts of dimensions; those that are whole are left out.
std::string slice(Emit &e, const std::string &x, const Ints &starts, const Dims &ends, const Ints &axes,
                  const Ints &steps) {
  if (axes.empty())
    return x;
  return e.node("Slice", {x, e.ints(starts), e.shape(ends), e.ints(axes), e.ints(steps)});
}

Names reverse(Emit &e) {
  const Ints axes = e.axes("axes", e.rank(), true);
  const std::size_t n = axes.size();
  return {slice(e, e.in(), Ints(n, -1), Emit::known(Ints(n, std::numeric_limits<std::int64_t>::min() + 1)), axes,
                Ints(n, -1))};
}

Names concat(Emit &e) { return {e.node("Concat", e.operands(), {attribute("axis", e.axis("axis", e.rank()))})}; }

// The sizes of the tensors of a concatenation along its axis.
Names parts(Emit &e, std::int64_t axis) {
  Dims sizes;
  for (std::size_t i = 1; i < e.size(); ++i)
    sizes.push_back(e.dims(i)[static_cast<std::size_t>(axis)]);
  return e.nodes("Split", {e.in(), e.shape(sizes)}, sizes.size(), {attribute("axis", axis)});
}
Names concatPart(Emit &e) { return {parts(e, e.axis("axis", e.rank()))[static_cast<std::size_t>(e.integer("index"))]}; }

Names split(Emit &e) {
  const std::int64_t axis = e.axis("axis", e.rank());
  Ints sizes = e.list("sizes");
  const auto rest = std::ranges::find(sizes, -1);
  if (rest == sizes.end() || e.size(0, axis) != kUnknownSize) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      sizes[i] = e.result(i).sizes[static_cast<std::size_t>(axis)];
    return e.nodes("Split", {e.in(), e.ints(sizes)}, sizes.size(), {attribute("axis", axis)});
  }
  const std::int64_t others = std::accumulate(sizes.begin(), sizes.end(), std::int64_t(1));
  const std::string left =
      e.node("Sub", {e.sizeOf(e.dims(0)[static_cast<std::size_t>(axis)], false), e.ints({others})});
  Names list;
  for (std::int64_t size : sizes)
    list.push_back(size == -1 ? left : e.ints({size}));
  const std::string vector = list.size() == 1 ? list[0] : e.node("Concat", list, {attribute("axis", 0)});
  return e.nodes("Split", {e.in(), vector}, sizes.size(), {attribute("axis", axis)});
}

Names sliceOf(Emit &e) {
  const Ints &starts = e.list("starts"), &limits = e.list("limits"), &strides = e.list("strides");
  Ints first, axes, steps;
  Dims ends;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t step = strides.empty() ? 1 : strides[i];
    if (starts[i] == 0 && step == 1 && limits[i] == e.type().sizes[i])
      continue;
    first.push_back(starts[i]);
    ends.push_back({limits[i]});
    axes.push_back(static_cast<std::int64_t>(i));
    steps.push_back(step);
  }
  return {slice(e, e.in(), first, ends, axes, steps)};
}

// As many elements as `like` has: those before start + size * stride.
Names sliceLike(Emit &e) {
  const Ints &starts = e.list("starts"), &strides = e.list("strides");
  Ints axes, first, steps;
  Names ends;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const Dim size = e.dims(1)[i];
    axes.push_back(static_cast<std::int64_t>(i));
    if (size.known != kUnknownSize) {
      ends.push_back(e.ints({starts[i] + size.known * strides[i]}));
      continue;
    }
    std::string end = e.sizeOf(size, false);
    if (strides[i] != 1)
      end = e.node("Mul", {end, e.ints({strides[i]})});
    if (starts[i])
      end = e.node("Add", {end, e.ints({starts[i]})});
    ends.push_back(end);
  }
  if (axes.empty())
    return {e.in()};
  const std::string vector = ends.size() == 1 ? ends[0] : e.node("Concat", ends, {attribute("axis", 0)});
  return {e.node("Slice", {e.in(), e.ints(starts), vector, e.ints(axes), e.ints(strides)})};
}

// With strides of 1 it is a padding. Else each element has zeros behind it first: as a last dimension of its own, which
// is merged again.
Names slicePut(Emit &e) {
  const Ints &starts = e.list("starts"), &strides = e.list("strides");
  const std::string zero = e.number(0.0, e.dtype());
  std::string x = e.in();
  Dims have = e.dims(0);
  const auto rank = static_cast<std::size_t>(e.rank());
  for (std::size_t i = 0; i < rank; ++i) {
    if (strides[i] == 1)
      continue;
    x = e.node("Unsqueeze", {x, e.ints({static_cast<std::int64_t>(i) + 1})});
    Ints amounts(2 * (rank + 1), 0);
    amounts[rank + 1 + i + 1] = strides[i] - 1;
    x = e.node("Pad", {x, e.ints(amounts), zero});
    const bool isKnown = have[i].known != kUnknownSize;
    have[i] = {isKnown ? have[i].known * strides[i] : -1};
    x = e.reshape(x, have);
    if (!isKnown)
      have[i] = {kUnknownSize, x, static_cast<std::int64_t>(i)};
  }
  const Dims whole = e.dims(1);
  Names high;
  for (std::size_t i = 0; i < rank; ++i) {
    if (whole[i].known != kUnknownSize && have[i].known != kUnknownSize) {
      high.push_back(e.ints({whole[i].known - starts[i] - have[i].known}));
      continue;
    }
    const std::string rest = e.node("Sub", {e.sizeOf(whole[i], false), e.sizeOf(have[i], false)});
    high.push_back(starts[i] ? e.node("Sub", {rest, e.ints({starts[i]})}) : rest);
  }
  Names amounts{e.ints(starts)};
  amounts.insert(amounts.end(), high.begin(), high.end());
  if (rank == 0)
    return {x};
  return {e.node("Pad", {x, e.node("Concat", amounts, {attribute("axis", 0)}), zero})};
}

Names pad(Emit &e) {
  Ints amounts = e.list("low");
  amounts.insert(amounts.end(), e.list("high").begin(), e.list("high").end());
  if (amounts.empty())
    return {e.in()};
  return {e.node("Pad", {e.in(), e.ints(amounts), e.number(e.attribute<ProgramNumber>("value"), e.dtype())})};
}

// Complex numbers are pairs along a last dimension, as the operators of ONNX have them.
Names partOfPairs(Emit &e) {
  return {e.node("Gather", {e.in(), e.making.scalar(e.flag("imaginary") ? 1 : 0)}, {attribute("axis", -1)})};
}
Names pairs(Emit &e) {
  const std::string last = e.ints({-1});
  return {e.node("Concat", {e.node("Unsqueeze", {e.in(0), last}), e.node("Unsqueeze", {e.in(1), last})},
                 {attribute("axis", -1)})};
}

Names same(Emit &e) { return {e.in()}; }

constexpr Rule kRules[] = {
    {"constant", constant},
    {"iota", [](Emit &e) { return iotaOf(e, Emit::known(e.list("shape"))); }},
    {"iota_open", [](Emit &e) { return iotaOf(e, e.openDims()); }},
    {"size_of", sizeOfDimension},
    {"reshape", reshape},
    {"reshape_open", [](Emit &e) { return Names{e.reshape(e.in(), e.openDims())}; }},
    {"reshape_like", [](Emit &e) { return Names{e.reshape(e.in(), e.dims(1))}; }},
    {"open_sizes", same},
    {"expand_dims",
     [](Emit &e) {
       const auto rank = static_cast<std::int64_t>(e.result().sizes.size());
       return Names{e.node("Unsqueeze", {e.in(), e.ints(e.axes("axes", rank))})};
     }},
    {"merge_dims", mergeDims},
    {"split_dim", splitDim},
    {"broadcast_to", [](Emit &e) { return Names{e.expand(e.in(), Emit::known(e.list("shape")))}; }},
    {"broadcast_to_open", [](Emit &e) { return Names{e.expand(e.in(), e.openDims())}; }},
    {"broadcast_like", [](Emit &e) { return Names{e.expand(e.in(), e.dims(1))}; }},
    {"transpose", transpose},
    {"reverse", reverse},
    {"concat", concat},
    {"concat_part", concatPart},
    {"split", split},
    {"slice", sliceOf},
    {"slice_like", sliceLike},
    {"slice_put", slicePut},
    {"pad", pad},
    {"part_of_pairs", partOfPairs},
    {"pairs", pairs},
    {"identity", same},
    {"barrier", same},
    {"stop_gradient", same},
};

} // namespace

Rules movementRules() { return kRules; }

} // namespace calque::onnx
