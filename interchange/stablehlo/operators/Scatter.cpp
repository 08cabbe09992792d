// Updates at places that a tensor names, combined by any body with what is there.
#include "stablehlo/Support.h"

#include "calque/control_flow.h"

#include <algorithm>

namespace calque::stablehlo {

namespace {

bool contains(const Numbers &list, std::int64_t x) { return std::ranges::find(list, x) != list.end(); }

// Each update after the other, by a loop.
std::vector<Tensor> oneByOne(const Call &call, const Region &body, const std::vector<Tensor> &xs, const Tensor &places,
                             const std::vector<Tensor> &updates) {
  const std::size_t rank = static_cast<std::size_t>(xs[0].rank());
  return for_range(0, size(places, 0), xs, [&](const Tensor &i, const std::vector<Tensor> &at) {
    const Tensor place = squeeze(gather(places, expand_dims(i, {0})), {0});
    std::vector<Operand> from{place}, read{i};
    for (std::size_t k = 1; k < rank; ++k) {
      from.emplace_back(0);
      read.emplace_back(0);
    }
    Numbers one(xs[0].shape());
    one[0] = 1;
    std::vector<Tensor> both;
    for (const Tensor &each : at)
      both.push_back(dynamic_slice(each, from, one));
    for (const Tensor &each : updates)
      both.push_back(dynamic_slice(each, read, one));
    const std::vector<Tensor> made = call.lift(body, both);
    std::vector<Tensor> next;
    for (std::size_t k = 0; k < at.size(); ++k)
      next.push_back(dynamic_update_slice(at[k], made[k], from));
    return next;
  });
}

struct Scatter {
  const Call &call;
  std::size_t count;
  Numbers window, inserted, batching, indicesBatching, map;
  std::vector<Tensor> xs, updates;
  Tensor indices;
  std::int64_t rank, batchRank;

  explicit Scatter(const Call &of) : call(of), count((of.size() - 1) / 2) {
    if (call.size() % 2 == 0)
      call.refuse(std::to_string(call.size()) + " operands, expected tensors, indices and as many updates");
    xs = call.tensors(0, count);
    updates = call.tensors(count + 1);
    indices = call.tensor(count);
    constexpr const char *kName = "scatter_dimension_numbers";
    window = call.field(kName, "update_window_dims");
    inserted = call.field(kName, "inserted_window_dims");
    batching = call.field(kName, "input_batching_dims");
    indicesBatching = call.field(kName, "scatter_indices_batching_dims");
    map = call.field(kName, "scatter_dims_to_operand_dims");
    const std::int64_t vector = call.field(kName, "index_vector_dim", 0), indicesRank = indices.rank();
    rank = xs[0].rank();
    if (vector < 0 || vector > indicesRank)
      call.refuse("index_vector_dim is " + std::to_string(vector) + " for indices of rank " +
                  std::to_string(indicesRank));
    if (!is_integer(indices.dtype()))
      call.refuse("indices of the type " + std::string(name_of(indices.dtype())));
    indices =
        as(vector == indicesRank ? expand_dims(indices, {indicesRank}) : moveaxis(indices, vector, indicesRank - 1),
           DType::Int64);
    batchRank = indices.rank() - 1;
    for (const Numbers *each : {&inserted, &batching, &map})
      call.requireAxes(*each, rank, "its dimension numbers");
    call.requireAxes(indicesBatching, indicesRank, "scatter_indices_batching_dims");
    call.requireAxes(window, updates[0].rank(), "update_window_dims");
    if (batching.size() != indicesBatching.size())
      call.refuse("the operand and the indices have different numbers of batching dimensions");
    for (std::int64_t &each : indicesBatching)
      each -= each > vector;
    if (indices.shape()[static_cast<std::size_t>(batchRank)] != static_cast<std::int64_t>(map.size()))
      call.refuse("index vectors have " + indices.shape()[static_cast<std::size_t>(batchRank)].str() +
                  " numbers, and scatter_dims_to_operand_dims " + std::to_string(map.size()));
    if (static_cast<std::int64_t>(window.size() + inserted.size() + batching.size()) != rank ||
        updates[0].rank() != batchRank + static_cast<std::int64_t>(window.size()))
      call.refuse("updates of rank " + std::to_string(updates[0].rank()) + " don't fit " +
                  std::to_string(window.size()) + " window dimensions of a tensor of rank " + std::to_string(rank));
    for (const Tensor &each : xs)
      if (each.shape().is_known() && xs[0].shape().is_known() && Numbers(each.shape()) != Numbers(xs[0].shape()))
        call.refuse("operands of the shapes " + xs[0].shape().str() + " and " + each.shape().str());
  }

  Results run() {
    const Shape shape = xs[0].shape(), updateShape = updates[0].shape();
    Numbers sortedWindow = window;
    std::ranges::sort(sortedWindow);
    // Dimensions whose every entry is written, and those where an index says which.
    Numbers indexed, whole, windowOf(static_cast<std::size_t>(rank), -1);
    std::size_t next = 0;
    for (std::int64_t d = 0; d < rank; ++d) {
      const auto k = static_cast<std::size_t>(d);
      const bool isWindow = !contains(inserted, d) && !contains(batching, d);
      if (isWindow)
        windowOf[k] = sortedWindow[next++];
      const bool isWhole = isWindow && !contains(map, d) &&
                           (!shape[k].is_known() || shape[k] == updateShape[static_cast<std::size_t>(windowOf[k])]);
      (isWhole ? whole : indexed).push_back(d);
    }
    for (std::int64_t d : indexed)
      if (!shape[static_cast<std::size_t>(d)].is_known())
        call.refuse("dimension " + std::to_string(d) + " is written to at places, and has an unknown size");
    // The entries of indexed dimensions as one dimension in front.
    Numbers order = indexed, updateOrder;
    order.insert(order.end(), whole.begin(), whole.end());
    Shape rows{Size(1)}, flat{Size(-1)}, places;
    std::int64_t entries = 1;
    for (std::int64_t d : indexed)
      entries *= shape[static_cast<std::size_t>(d)];
    rows[0] = Size(entries);
    for (std::int64_t d : whole) {
      rows.push_back(shape[static_cast<std::size_t>(d)]);
      flat.push_back(updateShape[static_cast<std::size_t>(windowOf[static_cast<std::size_t>(d)])]);
    }
    for (std::int64_t i = 0; i < updates[0].rank(); ++i)
      if (!contains(window, i)) {
        updateOrder.push_back(i);
        places.push_back(updateShape[static_cast<std::size_t>(i)]);
      }
    for (std::int64_t d : indexed)
      if (const std::int64_t axis = windowOf[static_cast<std::size_t>(d)]; axis >= 0) {
        updateOrder.push_back(axis);
        places.push_back(updateShape[static_cast<std::size_t>(axis)]);
      }
    for (std::int64_t d : whole)
      updateOrder.push_back(windowOf[static_cast<std::size_t>(d)]);
    if (places.is_known()) {
      std::int64_t n = 1;
      for (const Size &each : places)
        n *= each;
      flat[0] = Size(n);
    }
    const Tensor at = placesOf(indexed, windowOf, places, entries);
    std::vector<Tensor> before, changes;
    for (const Tensor &x : xs)
      before.push_back(reshape(std::ranges::is_sorted(order) ? x : transpose(x, order), rows));
    for (const Tensor &update : updates)
      changes.push_back(reshape(std::ranges::is_sorted(updateOrder) ? update : transpose(update, updateOrder), flat));
    std::vector<Tensor> made = scatterBy(call, call.region(0), before, at, changes, entries);
    Shape back;
    Numbers inverse(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      back.push_back(shape[static_cast<std::size_t>(order[i])]);
      inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    }
    for (Tensor &each : made) {
      each = reshape(each, back);
      if (!std::ranges::is_sorted(order))
        each = transpose(each, inverse);
    }
    return made;
  }

  // The numbers of entries, in the order of updates; those outside are `entries`.
  Tensor placesOf(const Numbers &indexed, const Numbers &windowOf, const Shape &places, std::int64_t entries) {
    Shape batch = indices.shape();
    batch.pop_back();
    const std::vector<Tensor> columns = split(indices, Numbers(map.size(), 1), batchRank);
    const Shape shape = xs[0].shape();
    std::int64_t wide = 0, next = 0, stride = entries;
    for (std::int64_t d : indexed)
      wide += windowOf[static_cast<std::size_t>(d)] >= 0;
    Tensor linear, isInside;
    for (std::int64_t d : indexed) {
      const auto k = static_cast<std::size_t>(d);
      Tensor index;
      if (const auto found = std::ranges::find(map, d); found != map.end())
        index = squeeze(columns[static_cast<std::size_t>(found - map.begin())], {batchRank});
      else if (const auto of = std::ranges::find(batching, d); of != batching.end())
        index = iota(batch, DType::Int64, indicesBatching[static_cast<std::size_t>(of - batching.begin())]);
      else
        index = ofIntegers({0}, {});
      if (index.rank() != 0)
        for (std::int64_t i = 0; i < wide; ++i)
          index = expand_dims(index, {batchRank + i});
      if (windowOf[k] >= 0) {
        const Size size = places[static_cast<std::size_t>(batchRank + next)];
        Shape along;
        for (std::int64_t i = 0; i < batchRank + wide; ++i)
          along.push_back(i == batchRank + next ? size : Size(1));
        index = index + reshape(iota({size}, DType::Int64), along);
        ++next;
      }
      const std::int64_t size = shape[k];
      stride /= std::max<std::int64_t>(size, 1);
      const Tensor fits = logical_and(index >= 0, index < size);
      linear = linear.defined() ? linear + index * stride : index * stride;
      isInside = isInside.defined() ? logical_and(isInside, fits) : fits;
    }
    if (!linear.defined())
      return ravel(zeros(places, DType::Int64));
    return ravel(broadcast_to(where(isInside, linear, entries), places));
  }
};

Results scattered(const Call &call) { return Scatter(call).run(); }

constexpr Operator kTable[] = {
    {"stablehlo.scatter", 3, kAnyNumber, scattered, Trait::None, 1},
};

} // namespace

std::vector<Tensor> scatterBy(const Call &call, const Region &region, const std::vector<Tensor> &given,
                              const Tensor &places, const std::vector<Tensor> &updates, std::int64_t entries) {
  std::vector<Tensor> xs = given;
  const std::string body = xs.size() == 1 ? bodyOf(region) : "";
  if (entries == 0)
    return xs;
  const bool isInside =
      places.is_known() && std::ranges::all_of(hostIntegers(places), [&](auto i) { return i >= 0 && i < entries; });
  const DType dtype = xs[0].dtype();
  const auto rank = static_cast<std::size_t>(xs[0].rank());
  if (body == "add" && dtype != DType::Bool) {
    // What lies outside adds nothing to the last entry.
    if (isInside)
      return {scatter_add(xs[0], places, updates[0])};
    Shape along{places.shape()[0]};
    for (std::size_t i = 1; i < rank; ++i)
      along.push_back(Size(1));
    const Tensor fits = reshape(places < entries, along);
    return {scatter_add(xs[0], minimum(places, entries - 1), where(fits, updates[0], scalarOf(0, dtype)))};
  }
  // What lies outside is written to one more entry.
  auto rows = [&](const Tensor &x, std::int64_t end) { return split(x, {end, -1}, 0)[0]; };
  if (!isInside)
    for (Tensor &x : xs)
      x = concat({x, rows(x, 1)}, 0);
  auto back = [&](std::vector<Tensor> made) {
    if (!isInside)
      for (Tensor &x : made)
        x = rows(x, entries);
    return made;
  };
  const bool isBool = dtype == DType::Bool;
  const Tensor x = isBool ? cast(xs[0], DType::UInt8) : xs[0];
  const Tensor update = isBool ? cast(updates[0], DType::UInt8) : updates[0];
  const At at(x, {detail::Place(places)});
  auto made = [&](const Tensor &y) { return back({isBool ? not_equal(y, 0) : y}); };
  if (body == "return")
    return made(scatter_set(x, places, update));
  if (body == "multiply" && !isBool)
    return made(at.multiply(update));
  const bool isOrdered = !is_complex(dtype);
  if ((body == "maximum" && isOrdered) || (isBool && (body == "or" || body == "add")))
    return made(at.max(update));
  if ((body == "minimum" && isOrdered) || (isBool && (body == "and" || body == "multiply")))
    return made(at.min(update));
  return back(oneByOne(call, region, xs, places, updates));
}

Table scatterOperators() { return kTable; }

} // namespace calque::stablehlo
