// Operations with indices. An index that is out of range is an error here, so that what StableHLO makes of it does not
// matter.
#include "stablehlo/export/Emit.h"

#include "calque/calque.h"

#include <algorithm>
#include <numeric>

namespace calque::stablehlo {

namespace {

Ints counted(std::int64_t from, std::int64_t to) {
  Ints numbers;
  for (std::int64_t i = from; i < to; ++i)
    numbers.push_back(i);
  return numbers;
}

// "offset_dims = [0], ..." without what is empty.
std::string fields(std::initializer_list<std::pair<const char *, Ints>> lists, std::int64_t vectorDim) {
  std::string text;
  for (const auto &[name, numbers] : lists)
    if (!numbers.empty())
      text += std::string(name) + " = " + listed(numbers) + ", ";
  return text + "index_vector_dim = " + std::to_string(vectorDim);
}

struct Places {
  // Of slices in the result; dimensions of x without one; which dimension of x an index counts; those of x and of the
  // indices that go together.
  Ints offsets, collapsed, counted, batch = {}, indexBatch = {};
  std::int64_t vectorDim;
};

Written gatherOf(Emit &e, const Written &x, const Written &indices, const Places &at, const Dims &sizes,
                 const ProgramType &result) {
  const std::string numbers = "dimension_numbers = #stablehlo.gather<" +
                              fields({{"offset_dims", at.offsets},
                                      {"collapsed_slice_dims", at.collapsed},
                                      {"operand_batching_dims", at.batch},
                                      {"start_indices_batching_dims", at.indexBatch},
                                      {"start_index_map", at.counted}},
                                     at.vectorDim) +
                              ">, indices_are_sorted = false";
  if (Emit::areKnown(sizes))
    return e.general("gather", {x, indices}, numbers + ", slice_sizes = " + arrayOf(Emit::sizesOf(sizes)), {},
                     {result})[0];
  return e.general("dynamic_gather", {x, indices, e.shape(sizes)}, numbers, {}, {result})[0];
}

Written scatterOf(Emit &e, const Written &x, const Written &indices, const Written &updates, const Places &at,
                  const char *operation) {
  const std::string numbers = "scatter_dimension_numbers = #stablehlo.scatter<" +
                              fields({{"update_window_dims", at.offsets},
                                      {"inserted_window_dims", at.collapsed},
                                      {"input_batching_dims", at.batch},
                                      {"scatter_indices_batching_dims", at.indexBatch},
                                      {"scatter_dims_to_operand_dims", at.counted}},
                                     at.vectorDim) +
                              ">, indices_are_sorted = false, unique_indices = false";
  const ProgramType scalar{x.type.dtype, {}};
  const std::string body = operation ? e.reducer(operation, *scalar.dtype)
                                     : e.region({scalar, scalar}, [](const Values &pair) { return Values{pair[1]}; });
  return e.general("scatter", {x, indices, updates}, numbers, {body}, {x.type})[0];
}

Written zeros(Emit &e, const Written &like, DType dtype) { return e.numberLike(0, dtype, like); }

Places alongAxis(std::int64_t rank, std::int64_t axis, std::int64_t indexed) {
  Places at{{}, {axis}, {axis}, {}, {}, indexed};
  for (std::int64_t i = 0; i < rank - 1 + indexed; ++i)
    if (i < axis || i >= axis + indexed)
      at.offsets.push_back(i);
  return at;
}

Values gather(Emit &e) {
  const std::int64_t axis = e.axis("axis", e.rank());
  Dims sizes = e.dims(0);
  sizes[static_cast<std::size_t>(axis)] = {1};
  return {gatherOf(e, e.in(0), e.in(1), alongAxis(e.rank(), axis, e.rank(1)), sizes, e.result())};
}
// Slices along an axis, added to zeros: the indices have that many dimensions in place of the axis.
Values gatherPut(Emit &e) {
  const std::int64_t axis = e.axis("axis", e.rank(1));
  return {scatterOf(e, zeros(e, e.in(1), e.dtype()), e.in(2), e.in(0), alongAxis(e.rank(1), axis, e.rank(2)), "add")};
}

Values updateAt(Emit &e) {
  const std::int64_t rank = e.rank(), axis = e.axis("axis", rank);
  Dims dims = e.dims(2);
  dims.insert(dims.begin() + axis, {1});
  Values operands{e.in(0), e.reshape(e.in(2), dims)};
  const Written index = e.rank(1) == 0 ? e.in(1) : e.reshape(e.in(1), Ints{});
  const Written zero = e.number(0.0, e.dtype(1));
  for (std::int64_t i = 0; i < rank; ++i)
    operands.push_back(i == axis ? index : zero);
  return {e.line("dynamic_update_slice", operands, "", e.type())};
}

// Each row by itself: all dimensions but the axis go together.
Places inRows(std::int64_t rank, std::int64_t axis) {
  Places at{{}, {axis}, {axis}, counted(0, rank), counted(0, rank), rank};
  at.batch.erase(at.batch.begin() + axis);
  at.indexBatch = at.batch;
  return at;
}
Values takeAlongAxis(Emit &e) {
  const std::int64_t rank = e.rank();
  return {gatherOf(e, e.in(0), e.in(1), inRows(rank, e.axis("axis", rank)),
                   Emit::known(Ints(static_cast<std::size_t>(rank), 1)), e.result())};
}
Values putAlongAxis(Emit &e) {
  const std::int64_t rank = e.rank(1);
  return {scatterOf(e, zeros(e, e.in(1), e.dtype()), e.in(2), e.in(0), inRows(rank, e.axis("axis", rank)), "add")};
}

// Indices of the first dimensions of x, which the last dimension of `indices` has.
Places ofFirst(const Emit &e, std::int64_t resultRank) {
  const std::int64_t depth = e.type(1).sizes.back(), before = e.rank(1) - 1;
  return {counted(before, resultRank), counted(0, depth), counted(0, depth), {}, {}, before};
}
Values gatherNd(Emit &e) {
  Dims sizes = e.dims(0);
  for (std::int64_t i = 0; i < e.type(1).sizes.back(); ++i)
    sizes[static_cast<std::size_t>(i)] = {1};
  const auto rank = static_cast<std::int64_t>(e.result().sizes.size());
  return {gatherOf(e, e.in(0), e.in(1), ofFirst(e, rank), sizes, e.result())};
}
Values scatterNd(Emit &e, const char *operation) {
  return {scatterOf(e, e.in(0), e.in(1), e.in(2), ofFirst(e, e.rank(2)), operation)};
}
// The last one of equal indices: each writes its number to its place, and the one that is found there is the last.
Values gatherNdLast(Emit &e) {
  e.requireKnown(e.type(0));
  e.requireKnown(e.type(1));
  return e.composed("gather_nd_last", e.operands(), [](const std::vector<Tensor> &x) {
    const Shape all = x[0].shape(), indexed = x[1].shape();
    const auto depth = static_cast<std::size_t>(std::int64_t(indexed.back()));
    Shape places, rows;
    std::int64_t count = 1;
    for (std::size_t i = 0; i < depth; ++i)
      places.push_back(all[i]);
    for (std::size_t i = 0; i + 1 < indexed.size(); ++i) {
      rows.push_back(indexed[i]);
      count *= std::int64_t(indexed[i]);
    }
    const Tensor numbers = reshape(iota({count}, DType::Int64), rows);
    const Tensor last = scatter_nd_set(full(places, std::int64_t(-1), DType::Int64), x[1], numbers);
    Tensor isLast = equal(gather_nd(last, x[1]), numbers);
    const Tensor slices = gather_nd(x[0], x[1]);
    while (isLast.rank() < slices.rank())
      isLast = expand_dims(isLast, {-1});
    return std::vector<Tensor>{where(isLast, slices, mul(slices, cast(calque::scalar<double>(0), slices.dtype())))};
  });
}

// An index outside gives zeros.
Values oneHot(Emit &e, const Dim &depth) {
  Dims dims = e.dims(0);
  dims.push_back(depth);
  const DType dtype = e.dtype(), index = dtype == DType::Bool ? DType::Int32 : dtype;
  // The numbers below the depth may be more than the index's type has.
  const bool isSmall = size_of(index) < 4;
  const Written given = isSmall ? e.convert(e.in(), DType::Int32) : e.convert(e.in(), index);
  const Written indices = e.broadcast(given, counted(0, e.rank()), dims);
  const Written isThere = e.compare("EQ", indices, e.iota(dims, e.rank(), *given.type.dtype));
  return {e.convert(isThere, *e.result().dtype)};
}

constexpr Rule kRules[] = {
    {"gather", gather},
    {"update_at", updateAt},
    {"gather_put", gatherPut},
    {"take_along_axis", takeAlongAxis},
    {"put_along_axis", putAlongAxis},
    {"gather_nd", gatherNd},
    {"gather_nd_last", gatherNdLast},
    {"scatter_nd_set", [](Emit &e) { return scatterNd(e, nullptr); }},
    {"scatter_nd_add", [](Emit &e) { return scatterNd(e, "add"); }},
    {"scatter_nd_max", [](Emit &e) { return scatterNd(e, "maximum"); }},
    {"one_hot", [](Emit &e) { return oneHot(e, {e.integer("depth")}); }},
    {"one_hot_open", [](Emit &e) { return oneHot(e, e.openDims()[0]); }},
};

} // namespace

Rules indexRules() { return kRules; }

} // namespace calque::stablehlo
