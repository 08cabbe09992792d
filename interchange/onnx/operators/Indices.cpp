// Elements at places that tensors name, and places of elements.
#include "onnx/Support.h"

#include <algorithm>
#include <numeric>

namespace calque::onnx {

namespace {

using detail::Place;

Results gathered(const Call &call) {
  const Value &x = call.value(0), &indices = call.value(1);
  const std::int64_t axis = call.axis(call.integer("axis", 0), x.rank());
  if (x.hasElements() && x.rank() == 1 && indices.isKnown() && indices.rank() <= 1) {
    const auto elements = *x.elements();
    Value::Elements made;
    for (std::int64_t i : hostIntegers(indices.tensor())) {
      const auto size = static_cast<std::int64_t>(elements.size());
      if (i < -size || i >= size)
        call.refuse("index " + std::to_string(i) + " is out of range for " + std::to_string(size) + " elements");
      made.push_back(elements[static_cast<std::size_t>(i < 0 ? i + size : i)]);
    }
    return Value::ofElements(made, indices.rank() == 0, x.dtype(), take(x.tensor(), indices.tensor(), 0));
  }
  if (indices.isKnown()) {
    const std::vector<std::int64_t> places = hostIntegers(indices.tensor());
    if (std::ranges::all_of(places, [](std::int64_t i) { return i >= 0; }))
      return gather(call.tensor(0), indices.tensor(), axis);
  }
  return take(call.tensor(0), call.tensor(1), axis);
}

// The coordinates of each element of a tensor of indices along `axis`: those of the element itself along other axes.
std::vector<Place> coordinates(const Tensor &indices, std::int64_t axis) {
  std::vector<Place> places;
  const Shape shape = indices.shape();
  for (std::int64_t i = 0; i < indices.rank(); ++i)
    places.push_back(i == axis ? Place(indices) : Place(iota(shape, DType::Int64, i)));
  return places;
}

Results gatherElements(const Call &call) {
  const Tensor x = call.tensor(0), indices = cast(call.tensor(1), DType::Int64);
  if (x.rank() != indices.rank())
    call.refuse("the indices have rank " + std::to_string(indices.rank()) + ", the data " + std::to_string(x.rank()));
  return At(x, coordinates(indices, call.axis(call.integer("axis", 0), x.rank()))).get();
}

// The places that the last dimension of the indices has, after those of `batch` dimensions that both share.
std::vector<Place> places(const Call &call, const Tensor &x, const Tensor &indices, std::int64_t batch) {
  const std::int64_t rank = indices.rank(),
                     count = rank == 0 ? 0 : std::int64_t(indices.shape()[static_cast<std::size_t>(rank - 1)]);
  if (count < 1 || batch + count > x.rank())
    call.refuse("indices of shape " + indices.shape().str() + " don't fit data of shape " + x.shape().str());
  Shape shape = indices.shape();
  shape.pop_back();
  std::vector<Place> all;
  for (std::int64_t i = 0; i < batch; ++i)
    all.emplace_back(iota(shape, DType::Int64, i));
  for (const Tensor &each : split(indices, std::vector<std::int64_t>(static_cast<std::size_t>(count), 1), rank - 1))
    all.emplace_back(squeeze(each, rank - 1));
  return all;
}

Results gatherNd(const Call &call) {
  const Tensor x = call.tensor(0), indices = call.tensor(1);
  return At(x, places(call, x, indices, call.integer("batch_dims", 0))).get();
}

Tensor write(const Call &call, const Tensor &x, const std::vector<Place> &where, const Tensor &updates) {
  const std::string reduction = call.text("reduction", "none");
  const At at(x, where);
  if (reduction == "none")
    return at.set(updates);
  if (reduction == "add")
    return at.add(updates);
  if (reduction == "mul")
    return at.multiply(updates);
  if (reduction == "max")
    return at.max(updates);
  if (reduction == "min")
    return at.min(updates);
  call.refuse("attribute 'reduction' is '" + reduction + "'");
}

Results scatterElements(const Call &call) {
  const Tensor x = call.tensor(0), indices = cast(call.tensor(1), DType::Int64);
  if (x.rank() != indices.rank())
    call.refuse("the indices have rank " + std::to_string(indices.rank()) + ", the data " + std::to_string(x.rank()));
  return write(call, x, coordinates(indices, call.axis(call.integer("axis", 0), x.rank())), call.tensor(2));
}
Results scatterNd(const Call &call) {
  const Tensor x = call.tensor(0), indices = call.tensor(1);
  return write(call, x, places(call, x, indices, 0), call.tensor(2));
}

Results oneHot(const Call &call) {
  const Tensor given = call.tensor(0);
  const Tensor indices = cast(given, DType::Int64);
  const std::vector<double> depths = call.numbers(1);
  if (depths.size() != 1)
    call.refuse("the depth has " + std::to_string(depths.size()) + " elements, expected one");
  const auto depth = static_cast<std::int64_t>(depths[0]);
  const Tensor values = call.tensor(2);
  const std::int64_t axis = call.axis(call.integer("axis", -1), given.rank() + 1);
  const Tensor hot = one_hot(where(indices < 0, indices + depth, indices), depth, DType::Bool);
  const std::vector<Tensor> offOn = split(values, {1, 1});
  return moveaxis(where(hot, reshape(offOn[1], {}), reshape(offOn[0], {})), -1, axis);
}

constexpr const char *kCounted = "and the number of results depends on them";

Results compressed(const Call &call) {
  call.requireKnown(1, kCounted);
  const Tensor x = call.tensor(0);
  const std::vector<std::int64_t> chosen = hostIntegers(call.tensor(1));
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i])
      places.push_back(static_cast<std::int64_t>(i));
  if (!call.hasAttribute("axis"))
    return pick(ravel(x), places, 0);
  return pick(x, places, call.axis(call.integer("axis"), x.rank()));
}

Results nonZero(const Call &call) {
  call.requireKnown(0, kCounted);
  const Tensor x = call.tensor(0);
  if (x.rank() == 0)
    call.refuse("its input is a scalar");
  return transpose(argwhere(x));
}

Results uniqueOf(const Call &call) {
  call.requireKnown(0, kCounted);
  Tensor x = call.tensor(0);
  const bool sorted = call.flag("sorted", true);
  const bool hasAxis = call.hasAttribute("axis");
  const std::int64_t axis = hasAxis ? call.axis(call.integer("axis"), x.rank()) : 0;
  if (!hasAxis)
    x = ravel(x);
  // Slices are compared by the numbers of their elements among all different ones, which keep their order.
  const std::int64_t count = x.shape()[static_cast<std::size_t>(axis)];
  const std::int64_t width = count == 0 ? 0 : std::int64_t(x.size()) / count;
  const std::vector<std::int64_t> codes =
      reshape(moveaxis(unique_inverse(x).inverse, axis, 0), {-1}).to_vector<std::int64_t>();
  auto row = [&](std::int64_t i) {
    return std::span(codes).subspan(static_cast<std::size_t>(i * width), static_cast<std::size_t>(width));
  };
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, [&](std::int64_t a, std::int64_t b) { return std::ranges::lexicographical_compare(row(a), row(b)); });
  std::vector<std::int64_t> first, group(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !std::ranges::equal(row(order[i]), row(order[i - 1])))
      first.push_back(order[i]);
    group[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(first.size()) - 1;
  }
  // Without an order of values, that of their first places counts.
  std::vector<std::int64_t> rank(first.size()), place(first.size());
  std::iota(rank.begin(), rank.end(), 0);
  if (!sorted)
    std::ranges::sort(rank, {}, [&](std::int64_t i) { return first[static_cast<std::size_t>(i)]; });
  for (std::size_t i = 0; i < rank.size(); ++i)
    place[static_cast<std::size_t>(rank[i])] = static_cast<std::int64_t>(i);
  std::vector<std::int64_t> indices(first.size()), counts(first.size(), 0), inverse(group.size());
  for (std::size_t i = 0; i < rank.size(); ++i)
    indices[i] = first[static_cast<std::size_t>(rank[i])];
  for (std::size_t i = 0; i < group.size(); ++i) {
    inverse[i] = place[static_cast<std::size_t>(group[i])];
    ++counts[static_cast<std::size_t>(inverse[i])];
  }
  return {pick(x, indices, axis), ofIntegers(indices), ofIntegers(inverse), ofIntegers(counts)};
}

// Writes the update's entries along an axis from a place of each batch on; "circular" goes on at the beginning.
Results tensorScatter(const Call &call) {
  const Tensor cache = call.tensor(0), update = call.tensor(1);
  const std::int64_t axis = call.axis(call.integer("axis", -2), cache.rank());
  const std::string mode = call.text("mode", "linear");
  if (axis == 0 || (mode != "linear" && mode != "circular"))
    call.refuse("axis " + std::to_string(axis) + ", mode '" + mode + "'");
  Tensor at = iota(update.shape(), DType::Int64, axis);
  if (call.has(2)) {
    Tensor from = cast(call.tensor(2), DType::Int64);
    for (std::int64_t i = 1; i < cache.rank(); ++i)
      from = expand_dims(from, {i});
    at = at + from;
  }
  if (mode == "circular")
    at = mod(at, size(cache, axis));
  return At(cache, coordinates(at, axis)).set(update);
}

Results arrayFeatures(const Call &call) { return take(call.tensor(0), ravel(call.tensor(1)), -1); }

constexpr Operator kTable[] = {
    {"ArrayFeatureExtractor", {1}, 2, 2, 0, arrayFeatures, {}, "ai.onnx.ml"},
    {"Compress", {9, 11}, 2, 2, 0b10, compressed},
    {"Gather", {1, 11, 13}, 2, 2, 0, gathered},
    {"GatherElements", {11, 13}, 2, 2, 0, gatherElements},
    {"GatherND", {11, 12, 13}, 2, 2, 0, gatherNd},
    {"NonZero", {9, 13}, 1, 1, 0b1, nonZero},
    {"OneHot", {9, 11}, 3, 3, 0b10, oneHot},
    {"Scatter", {9, 11}, 3, 3, 0, scatterElements},
    {"ScatterElements", {11, 13, 16, 18}, 3, 3, 0, scatterElements},
    {"ScatterND", {11, 13, 16, 18}, 3, 3, 0, scatterNd},
    {"TensorScatter", {24}, 2, 3, 0, tensorScatter},
    {"Unique", {11}, 1, 1, 0b1, uniqueOf},
};

} // namespace

Table indexOperators() { return kTable; }

} // namespace calque::onnx
