// Operations that make tensors and move their elements.
#include "stablehlo/export/Emit.h"

#include "calque/dtype.h"

#include <algorithm>
#include <numeric>

namespace calque::stablehlo {

namespace {

Values constant(Emit &e) {
  const auto &value = e.attribute<ProgramConstant>("value");
  return {e.constant(value.type, value.bytes, value.is_splat)};
}

Values iotaOf(Emit &e, const Dims &dims) {
  const DType dtype = *e.result().dtype;
  const std::int64_t axis = e.axis("axis", static_cast<std::int64_t>(dims.size()));
  // Halves and bools do not count far.
  const bool isNarrow = is_half(dtype) || dtype == DType::Bool;
  return {e.convert(e.iota(dims, axis, isNarrow ? DType::Int32 : dtype), dtype)};
}

Values sizeOfDimension(Emit &e) {
  return {e.convert(e.sizeOf(e.dims(0)[static_cast<std::size_t>(e.axis("axis", e.rank()))]), DType::Int64)};
}

// The product of the sizes of dimensions, as an int32 scalar.
Written product(Emit &e, const Dims &dims) {
  std::int64_t known = 1;
  Values unknown;
  for (const Dim &dim : dims)
    if (dim.known == kUnknownSize)
      unknown.push_back(e.sizeOf(dim));
    else
      known *= dim.known;
  Written size = e.number(ProgramNumber(known), DType::Int32);
  if (known == 1 && !unknown.empty()) {
    size = unknown[0];
    unknown.erase(unknown.begin());
  }
  for (const Written &each : unknown)
    size = e.same("multiply", {size, each});
  return size;
}

// x with sizes of which one follows from the others, which only the call knows.
Written reshaped(Emit &e, const Written &x, Dims dims, const ProgramType &result) {
  std::ptrdiff_t open = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (result.sizes[i] != kUnknownSize)
      dims[i] = {result.sizes[i]};
    else if (dims[i].known == -1)
      open = static_cast<std::ptrdiff_t>(i);
  }
  if (open < 0)
    return e.reshape(x, dims);
  Dims others = dims;
  others.erase(others.begin() + open);
  // Sizes that both have, and numbers, cancel out.
  Dims left = Emit::dims(x);
  std::int64_t known = 1, otherKnown = 1;
  Dims unknown, otherUnknown;
  for (const Dim &dim : left)
    if (dim.known == kUnknownSize)
      unknown.push_back(dim);
    else
      known *= dim.known;
  for (const Dim &dim : others) {
    const auto same = std::ranges::find_if(
        unknown, [&](const Dim &each) { return each.of.name == dim.of.name && each.axis == dim.axis; });
    if (dim.known != kUnknownSize)
      otherKnown *= dim.known;
    else if (same != unknown.end())
      unknown.erase(same);
    else
      otherUnknown.push_back(dim);
  }
  const bool divides = otherKnown == 0 || known % otherKnown != 0 || !otherUnknown.empty();
  if (!divides && known == otherKnown && unknown.size() == 1) {
    dims[static_cast<std::size_t>(open)] = unknown[0];
    return e.reshape(x, dims);
  }
  Written rest;
  if (divides) {
    unknown.push_back({known});
    otherUnknown.push_back({otherKnown});
    rest = e.same("divide", {product(e, unknown), product(e, otherUnknown)});
  } else {
    unknown.push_back({known / otherKnown});
    rest = product(e, unknown);
  }
  Values parts;
  for (std::size_t i = 0; i < dims.size(); ++i)
    parts.push_back(e.line("reshape", {static_cast<std::ptrdiff_t>(i) == open ? rest : e.sizeOf(dims[i])}, "",
                           {DType::Int32, {1}}));
  const Written shape = parts.size() == 1 ? parts[0]
                                          : e.line("concatenate", parts, ", dim = 0",
                                                   {DType::Int32, {static_cast<std::int64_t>(parts.size())}});
  ProgramType type{x.type.dtype, result.sizes};
  return e.line("dynamic_reshape", {x, shape}, "", type);
}

Values reshape(Emit &e) { return {reshaped(e, e.in(), Emit::known(e.list("shape")), e.result())}; }

// The dimensions of x with new ones of size 1, or without some of its own.
Values expandDims(Emit &e) {
  const auto rank = static_cast<std::int64_t>(e.result().sizes.size());
  const Ints axes = e.axes("axes", rank);
  Dims dims, given = e.dims(0);
  std::size_t next = 0;
  for (std::int64_t i = 0; i < rank; ++i)
    dims.push_back(std::ranges::find(axes, i) != axes.end() ? Dim{1} : given[next++]);
  return {e.reshape(e.in(), dims)};
}

Values mergeDims(Emit &e) {
  const auto axis = static_cast<std::size_t>(e.axis("axis", e.rank()));
  Dims dims = e.dims(0);
  dims[axis] = {-1};
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
  return {reshaped(e, e.in(), dims, e.result())};
}

Values splitDim(Emit &e) {
  const auto axis = static_cast<std::size_t>(e.axis("axis", e.rank()));
  Dims dims = e.dims(0);
  const Dims like = e.dims(1);
  dims[axis] = like[static_cast<std::size_t>(e.axis("first", e.rank(1)))];
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
              like[static_cast<std::size_t>(e.axis("second", e.rank(1)))]);
  return {reshaped(e, e.in(), dims, e.result())};
}

Values transpose(Emit &e) {
  Ints permutation = e.axes("permutation", e.rank());
  if (permutation.empty())
    for (std::int64_t i = e.rank() - 1; i >= 0; --i)
      permutation.push_back(i);
  return {e.transpose(e.in(), permutation)};
}

Values reverse(Emit &e) {
  const Ints axes = e.axes("axes", e.rank(), true);
  if (axes.empty())
    return {e.in()};
  return {e.line("reverse", {e.in()}, ", dims = " + listed(axes), e.type())};
}

Values concat(Emit &e) {
  if (e.size() == 1)
    return {e.in()};
  return {e.line("concatenate", e.operands(), ", dim = " + std::to_string(e.axis("axis", e.rank())), e.result())};
}

// Entries from a place on along an axis. A size of another dimension may be one that only the call knows.
Written part(Emit &e, const Written &x, std::int64_t axis, std::int64_t start, std::int64_t size) {
  const auto k = static_cast<std::size_t>(axis);
  const std::size_t rank = x.type.sizes.size();
  if (Emit::areKnown(Emit::dims(x))) {
    Ints starts(rank, 0), limits = x.type.sizes;
    starts[k] = start;
    limits[k] = start + size;
    return e.slice(x, starts, limits, Ints(rank, 1));
  }
  // A padding by a negative number takes away.
  Ints low(rank, 0), high(rank, 0);
  low[k] = -start;
  high[k] = start + size - x.type.sizes[k];
  return e.pad(x, e.number(0.0, *x.type.dtype), low, high, Ints(rank, 0));
}

void requireAlong(Emit &e, const ProgramType &type, std::int64_t axis) {
  if (type.sizes[static_cast<std::size_t>(axis)] == kUnknownSize)
    e.requireKnown(type);
}

Values concatPart(Emit &e) {
  const std::int64_t axis = e.axis("axis", e.rank());
  std::int64_t start = 0;
  const auto index = static_cast<std::size_t>(e.integer("index")) + 1;
  for (std::size_t i = 1; i <= index; ++i)
    requireAlong(e, e.type(i), axis);
  requireAlong(e, e.type(), axis);
  for (std::size_t i = 1; i < index; ++i)
    start += e.type(i).sizes[static_cast<std::size_t>(axis)];
  return {part(e, e.in(), axis, start, e.type(index).sizes[static_cast<std::size_t>(axis)])};
}

Values split(Emit &e) {
  const std::int64_t axis = e.axis("axis", e.rank());
  requireAlong(e, e.type(), axis);
  Values parts;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < e.op.num_results; ++i) {
    const std::int64_t size = e.result(i).sizes[static_cast<std::size_t>(axis)];
    parts.push_back(part(e, e.in(), axis, start, size));
    start += size;
  }
  return parts;
}

// x[starts:limits:steps] with limits that only the call knows.
Written dynamicSlice(Emit &e, const Written &x, const Ints &starts, const Dims &limits, const Ints &steps,
                     const ProgramType &result) {
  const Written first = e.ints(starts, DType::Int32), step = e.ints(steps, DType::Int32);
  return e.line("real_dynamic_slice", {x, first, e.shape(limits), step}, "", {x.type.dtype, result.sizes});
}

Values slice(Emit &e) {
  const Ints &starts = e.list("starts"), &limits = e.list("limits");
  Ints steps = e.list("strides");
  if (steps.empty())
    steps.assign(starts.size(), 1);
  if (Emit::areKnown(e.dims(0)))
    return {e.slice(e.in(), starts, limits, steps)};
  // What is cut out of a dimension has a limit that is a number.
  return {dynamicSlice(e, e.in(), starts, Emit::known(limits), steps, e.result())};
}

// As many elements as `like` has: those before start + size * stride.
Values sliceLike(Emit &e) {
  const Ints &starts = e.list("starts"), &steps = e.list("strides");
  e.requireKnown(e.type(1));
  Ints limits;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t size = e.type(1).sizes[i];
    limits.push_back(size == 0 ? starts[i] : starts[i] + (size - 1) * steps[i] + 1);
  }
  if (Emit::areKnown(e.dims(0)))
    return {e.slice(e.in(), starts, limits, steps)};
  return {dynamicSlice(e, e.in(), starts, Emit::known(limits), steps, e.type(1))};
}

Values slicePut(Emit &e) {
  const Ints &starts = e.list("starts"), &steps = e.list("strides");
  e.requireKnown(e.type());
  e.requireKnown(e.type(1));
  Ints high, interior;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t size = e.type().sizes[i];
    interior.push_back(steps[i] - 1);
    high.push_back(e.type(1).sizes[i] - starts[i] - (size == 0 ? 0 : (size - 1) * steps[i] + 1));
  }
  return {e.pad(e.in(), e.number(0.0, e.dtype()), starts, high, interior)};
}

Values pad(Emit &e) {
  const Ints &low = e.list("low"), &high = e.list("high");
  if (low.empty())
    return {e.in()};
  return {e.pad(e.in(), e.number(e.attribute<ProgramNumber>("value"), e.dtype()), low, high, Ints(low.size(), 0))};
}

// Complex numbers are pairs along a last dimension.
Values partOfPairs(Emit &e) {
  const std::int64_t place = e.flag("imaginary") ? 1 : 0;
  Dims dims = e.dims(0);
  dims.pop_back();
  return {e.reshape(part(e, e.in(), e.rank() - 1, place, 1), dims)};
}
Values pairs(Emit &e) {
  Values both;
  for (std::size_t i = 0; i < 2; ++i) {
    Dims dims = e.dims(i);
    dims.push_back({1});
    both.push_back(e.reshape(e.in(i), dims));
  }
  ProgramType type = both[0].type;
  type.sizes.back() = 2;
  return {e.line("concatenate", both, ", dim = " + std::to_string(e.rank()), type)};
}

Values same(Emit &e) { return {e.in()}; }

// An operation of the user's, of which the reader's own, bits as elements of another type, is one of StableHLO's.
Values userOperation(Emit &e) {
  const auto &symbol = e.attribute<std::string>("symbol");
  if (!symbol.starts_with("stablehlo.bitcast["))
    e.refuse("the operation '" + symbol + "' is the program's own, and no module of StableHLO has its code");
  return {e.line("bitcast_convert", {e.in()}, "", e.result())};
}

constexpr Rule kRules[] = {
    {"constant", constant},
    {"iota", [](Emit &e) { return iotaOf(e, Emit::known(e.list("shape"))); }},
    {"iota_open", [](Emit &e) { return iotaOf(e, e.openDims()); }},
    {"size_of", sizeOfDimension},
    {"reshape", reshape},
    {"reshape_open", [](Emit &e) { return Values{reshaped(e, e.in(), e.openDims(), e.result())}; }},
    {"reshape_like", [](Emit &e) { return Values{e.reshape(e.in(), e.dims(1))}; }},
    {"open_sizes", same},
    {"expand_dims", expandDims},
    {"merge_dims", mergeDims},
    {"split_dim", splitDim},
    {"broadcast_to", [](Emit &e) { return Values{e.broadcast(e.in(), Emit::known(e.list("shape")))}; }},
    {"broadcast_to_open", [](Emit &e) { return Values{e.broadcast(e.in(), e.openDims())}; }},
    {"broadcast_like", [](Emit &e) { return Values{e.broadcast(e.in(), e.dims(1))}; }},
    {"transpose", transpose},
    {"reverse", reverse},
    {"concat", concat},
    {"concat_part", concatPart},
    {"split", split},
    {"slice", slice},
    {"slice_like", sliceLike},
    {"slice_put", slicePut},
    {"pad", pad},
    {"part_of_pairs", partOfPairs},
    {"pairs", pairs},
    {"extern", userOperation},
    {"identity", same},
    {"barrier", [](Emit &e) { return Values{e.line("optimization_barrier", {e.in()}, "", e.type())}; }},
    {"stop_gradient", same},
};

} // namespace

Rules movementRules() { return kRules; }

} // namespace calque::stablehlo
