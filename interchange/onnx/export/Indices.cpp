// Operations with indices. An index that is out of range is an error here, so that what ONNX says of a negative one
// does not matter.
#include "onnx/export/Emit.h"

#include <numeric>

namespace calque::onnx {

namespace {

// The places of dimensions where `axis` comes first, or goes from the first place back to its own.
Ints toFront(std::int64_t rank, std::int64_t axis) {
  Ints permutation(static_cast<std::size_t>(rank));
  std::iota(permutation.begin(), permutation.end(), 0);
  permutation.erase(permutation.begin() + axis);
  permutation.insert(permutation.begin(), axis);
  return permutation;
}
Ints fromFront(std::int64_t rank, std::int64_t axis) {
  Ints permutation(static_cast<std::size_t>(rank - 1));
  std::iota(permutation.begin(), permutation.end(), 1);
  permutation.insert(permutation.begin() + axis, 0);
  return permutation;
}

Names gather(Emit &e) {
  return {e.node("Gather", {e.in(0), e.indices(1)}, {attribute("axis", e.axis("axis", e.rank()))})};
}

Names updateAt(Emit &e) {
  const std::int64_t rank = e.rank(), axis = e.axis("axis", rank);
  const std::string index = e.reshape(e.cast(e.in(1), e.dtype(1), DType::Int64), Ints{1, 1});
  const std::string slice = e.node("Unsqueeze", {e.in(2), e.ints({0})});
  const std::string x = e.transpose(e.in(), toFront(rank, axis));
  return {e.transpose(e.node("ScatterND", {x, index, slice}), fromFront(rank, axis))};
}

// Slices along an axis, added to zeros: the indices have that many dimensions in place of the axis.
Names gatherPut(Emit &e) {
  const std::int64_t rank = e.rank(1), axis = e.axis("axis", rank), indexed = e.rank(2);
  Dims sizes = e.dims(1);
  const Dim first = sizes[static_cast<std::size_t>(axis)];
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin(), first);
  Ints permutation;
  for (std::int64_t i = 0; i < indexed; ++i)
    permutation.push_back(axis + i);
  for (std::int64_t i = 0; i < e.rank(0); ++i)
    if (i < axis || i >= axis + indexed)
      permutation.push_back(i);
  const std::string indices = e.node("Unsqueeze", {e.cast(e.in(2), e.dtype(2), DType::Int64), e.ints({indexed})});
  const std::string sum = e.node("ScatterND", {e.zeros(e.dtype(), sizes), indices, e.transpose(e.in(), permutation)},
                                 {attribute("reduction", "add")});
  return {e.transpose(sum, fromFront(rank, axis))};
}

Names takeAlongAxis(Emit &e) {
  return {e.node("GatherElements", {e.in(0), e.indices(1)}, {attribute("axis", e.axis("axis", e.rank()))})};
}
Names putAlongAxis(Emit &e) {
  return {e.node("ScatterElements", {e.zeros(e.dtype(), e.dims(1)), e.indices(2), e.in()},
                 {attribute("axis", e.axis("axis", e.rank())), attribute("reduction", "add")})};
}

std::string ndIndices(Emit &e) { return e.cast(e.in(1), e.dtype(1), DType::Int64); }
Names gatherNd(Emit &e) { return {e.node("GatherND", {e.in(0), ndIndices(e)})}; }
Names scatterNd(Emit &e, const char *reduction) {
  std::vector<Attribute> attributes;
  if (reduction)
    attributes.push_back(attribute("reduction", reduction));
  return {e.node("ScatterND", {e.in(0), ndIndices(e), e.in(2)}, std::move(attributes))};
}

// By comparison: an index outside gives zeros, and ONNX's OneHot counts negative ones from the end.
Names oneHot(Emit &e, const Dim &depth) {
  const std::string indices = e.node("Unsqueeze", {e.cast(e.in(), e.dtype(), DType::Int64), e.ints({-1})});
  return {e.cast(e.node("Equal", {indices, e.range(depth)}), DType::Bool, *e.result().dtype)};
}

constexpr Rule kRules[] = {
    {"gather", gather},
    {"update_at", updateAt},
    {"gather_put", gatherPut},
    {"take_along_axis", takeAlongAxis},
    {"put_along_axis", putAlongAxis},
    {"gather_nd", gatherNd},
    {"scatter_nd_set", [](Emit &e) { return scatterNd(e, nullptr); }},
    {"scatter_nd_add", [](Emit &e) { return scatterNd(e, "add"); }},
    {"scatter_nd_max", [](Emit &e) { return scatterNd(e, "max"); }},
    {"one_hot", [](Emit &e) { return oneHot(e, {e.integer("depth")}); }},
    {"one_hot_open", [](Emit &e) { return oneHot(e, e.openDims()[0]); }},
};

} // namespace

Rules indexRules() { return kRules; }

} // namespace calque::onnx
