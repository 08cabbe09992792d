// Slices at places that a tensor names.
#include "stablehlo/Support.h"

#include <algorithm>

namespace calque::stablehlo {

namespace {

// The size of slices in a dimension that is taken whole, where only the call knows it.
constexpr std::int64_t kWhole = -1;

bool contains(const Numbers &list, std::int64_t x) { return std::ranges::find(list, x) != list.end(); }

// Axes of a tensor by what they stand for: an axis of the indices, or a dimension of the operand.
struct Label {
  bool isBatch;
  std::int64_t number;
  bool operator==(const Label &) const = default;
};

struct Gather {
  const Call &call;
  Tensor x, starts; // the index vectors are the last dimension of starts
  Numbers offsetDims, collapsed, batching, startsBatching, map, sizes;
  std::int64_t rank, batchRank;

  Gather(const Call &of, Numbers sliceSizes)
      : call(of), x(of.tensor(0)), starts(of.tensor(1)), sizes(std::move(sliceSizes)) {
    constexpr const char *kName = "dimension_numbers";
    offsetDims = call.field(kName, "offset_dims");
    collapsed = call.field(kName, "collapsed_slice_dims");
    batching = call.field(kName, "operand_batching_dims");
    startsBatching = call.field(kName, "start_indices_batching_dims");
    map = call.field(kName, "start_index_map");
    const std::int64_t vector = call.field(kName, "index_vector_dim", 0);
    rank = x.rank();
    const std::int64_t startsRank = starts.rank();
    if (vector < 0 || vector > startsRank)
      call.refuse("index_vector_dim is " + std::to_string(vector) + " for indices of rank " +
                  std::to_string(startsRank));
    if (!is_integer(starts.dtype()))
      call.refuse("indices of the type " + std::string(name_of(starts.dtype())));
    starts = as(vector == startsRank ? expand_dims(starts, {startsRank}) : moveaxis(starts, vector, startsRank - 1),
                DType::Int64);
    batchRank = starts.rank() - 1;
    call.requireCount(sizes, rank, "slice_sizes");
    for (const Numbers *each : {&collapsed, &batching, &map})
      call.requireAxes(*each, rank, "its dimension numbers");
    call.requireAxes(startsBatching, startsRank, "start_indices_batching_dims");
    if (batching.size() != startsBatching.size())
      call.refuse("the operand and the indices have different numbers of batching dimensions");
    for (std::int64_t &each : startsBatching)
      each -= each > vector;
    const Size last = starts.shape()[static_cast<std::size_t>(batchRank)];
    if (last != static_cast<std::int64_t>(map.size()))
      call.refuse("index vectors have " + last.str() + " numbers, and start_index_map " + std::to_string(map.size()));
    call.requireAxes(offsetDims, batchRank + rank - static_cast<std::int64_t>(collapsed.size() + batching.size()),
                     "offset_dims");
  }

  bool isKept(std::int64_t d) const { return !contains(collapsed, d) && !contains(batching, d); }

  Tensor run() {
    // Dimensions that a start moves along. The others are taken whole, or cut from their beginning.
    Numbers indexed, wide;
    const Shape shape = x.shape();
    Numbers from(static_cast<std::size_t>(rank), 0), to, ones(static_cast<std::size_t>(rank), 1);
    bool isCut = false;
    for (std::int64_t d = 0; d < rank; ++d) {
      const Size &size = shape[static_cast<std::size_t>(d)];
      const std::int64_t part = sizes[static_cast<std::size_t>(d)];
      const bool isOpen = part == kWhole && !size.is_known();
      if ((part < 0 && !isOpen) || (size.is_known() && part > size))
        call.refuse("slices have the size " + std::to_string(part) + " in dimension " + std::to_string(d) + " of " +
                    size.str());
      const bool isWhole = isOpen || (size.is_known() && size == part);
      if (isOpen && !isKept(d))
        call.refuse("dimension " + std::to_string(d) + " is left out, and slices take all of it");
      if (!isKept(d) && part > 1)
        call.refuse("dimension " + std::to_string(d) + " is left out, and slices have the size " +
                    std::to_string(part) + " there");
      if (contains(batching, d) || (contains(map, d) && !isWhole)) {
        indexed.push_back(d);
        if (part != 1 && !contains(batching, d))
          wide.push_back(d);
        to.push_back(size.is_known() ? std::int64_t(size) : 0);
        isCut = isCut || false;
      } else {
        to.push_back(size.is_known() ? part : 0);
        isCut = isCut || (size.is_known() && !isWhole);
      }
    }
    if (isCut)
      x = slice(x, from, to, {});
    Shape batch = starts.shape();
    batch.pop_back();
    std::vector<Label> labels;
    Tensor y;
    if (indexed.empty()) {
      Shape all = batch;
      for (const Size &each : x.shape())
        all.push_back(each);
      y = broadcast_to(x, all);
      for (std::int64_t i = 0; i < batchRank; ++i)
        labels.push_back({true, i});
      for (std::int64_t d = 0; d < rank; ++d)
        labels.push_back({false, d});
    } else {
      y = taken(indexed, wide, batch, labels);
    }
    // Dimensions of size 1 that are left out, and those that the indices have left out.
    Numbers gone;
    std::vector<Label> left;
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (!labels[i].isBatch && !isKept(labels[i].number))
        gone.push_back(static_cast<std::int64_t>(i));
      else
        left.push_back(labels[i]);
    if (!gone.empty())
      y = squeeze(y, gone);
    for (std::int64_t d = 0; d < rank; ++d)
      if (isKept(d) && std::ranges::find(left, Label{false, d}) == left.end()) {
        y = expand_dims(y, {y.rank()});
        left.push_back({false, d});
      }
    Numbers order;
    std::int64_t nextBatch = 0, nextDimension = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(left.size()); ++i) {
      Label wanted{true, nextBatch};
      if (contains(offsetDims, i)) {
        while (nextDimension < rank && !isKept(nextDimension))
          ++nextDimension;
        wanted = {false, nextDimension++};
      } else {
        ++nextBatch;
      }
      const auto found = std::ranges::find(left, wanted);
      if (found == left.end())
        call.refuse("offset_dims don't fit the dimensions of slices");
      order.push_back(found - left.begin());
    }
    return std::ranges::is_sorted(order) ? y : transpose(y, order);
  }

  // The elements at the starts and, of dimensions in `wide`, behind them.
  Tensor taken(const Numbers &indexed, const Numbers &wide, const Shape &batch, std::vector<Label> &labels) {
    const auto width = static_cast<std::int64_t>(wide.size());
    std::vector<Tensor> parts;
    const std::vector<Tensor> columns = split(starts, Numbers(map.size(), 1), batchRank);
    for (std::int64_t d : indexed) {
      const auto k = static_cast<std::size_t>(d);
      Tensor index;
      if (const auto at = std::ranges::find(batching, d); at != batching.end()) {
        index = iota(batch, DType::Int64, startsBatching[static_cast<std::size_t>(at - batching.begin())]);
      } else {
        const auto column = static_cast<std::size_t>(std::ranges::find(map, d) - map.begin());
        index = squeeze(columns[column], {batchRank});
        const Size size = x.shape()[k];
        // Slices that begin outside, or would end there, are moved inside.
        const Tensor last = size.is_known() ? ofIntegers({size - sizes[k]}, {}) : calque::size(x, d) - sizes[k];
        index = minimum(maximum(index, 0), last);
      }
      for (std::int64_t i = 0; i < width; ++i)
        index = expand_dims(index, {batchRank + i});
      if (const auto at = std::ranges::find(wide, d); at != wide.end()) {
        Shape offsets;
        for (std::int64_t i = 0; i < batchRank + width; ++i)
          offsets.push_back(Size(i == batchRank + (at - wide.begin()) ? sizes[k] : 1));
        index = index + reshape(iota({Size(sizes[k])}, DType::Int64), offsets);
      }
      parts.push_back(index);
    }
    Shape all = batch;
    for (std::int64_t d : wide)
      all.push_back(Size(sizes[static_cast<std::size_t>(d)]));
    for (Tensor &each : parts)
      each = broadcast_to(each, all);
    std::vector<Label> places;
    for (std::int64_t i = 0; i < batchRank; ++i)
      places.push_back({true, i});
    for (std::int64_t d : wide)
      places.push_back({false, d});
    if (indexed.size() == 1) {
      for (std::int64_t d = 0; d < rank; ++d) {
        if (d == indexed[0])
          labels.insert(labels.end(), places.begin(), places.end());
        else
          labels.push_back({false, d});
      }
      return gather(x, parts[0], indexed[0]);
    }
    Numbers order = indexed;
    labels = places;
    for (std::int64_t d = 0; d < rank; ++d)
      if (!contains(indexed, d)) {
        order.push_back(d);
        labels.push_back({false, d});
      }
    return gather_nd(std::ranges::is_sorted(order) ? x : transpose(x, order),
                     stack(parts, static_cast<std::int64_t>(all.size())));
  }
};

Results gathered(const Call &call) { return Gather(call, call.integers("slice_sizes")).run(); }
Results dynamicGather(const Call &call) {
  const Shape shape = call.tensor(0).shape(), given = call.sizes(2);
  Numbers sizes;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].is_known() && (i >= shape.size() || shape[i].is_known()))
      call.refuse("slices have a size that only the call knows, in a dimension of known size");
    sizes.push_back(given[i].is_known() ? std::int64_t(given[i]) : kWhole);
  }
  return Gather(call, std::move(sizes)).run();
}

// The entries along a dimension at indices, of a batch that both share.
Results indexSelect(const Call &call) {
  const std::int64_t axis = call.axis(call.integer("dim"), call.rank(0)), batch = call.integer("batch_dims", 0);
  if (batch != 0)
    call.refuse("batch_dims is " + std::to_string(batch) + "; 0 is read");
  return gather(call.tensor(0), call.tensor(1), axis);
}

constexpr Operator kTable[] = {
    {"stablehlo.dynamic_gather", 3, 3, dynamicGather},
    {"stablehlo.gather", 2, 2, gathered},
    {"stablehlo.torch_index_select", 2, 2, indexSelect},
};

} // namespace

Table gatherOperators() { return kTable; }

} // namespace calque::stablehlo
