#include "test/fuzz/Kernels.h"

#include <algorithm>
#include <numeric>

namespace calque::fuzz {

namespace {

void sameElements(const Call &call) {
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = call.in(0, i);
  if (!call.machine)
    for (Num &element : call.result.elements)
      element.off = element.apart = 0;
}

void broadcast(const Call &call) {
  Broadcast place(call.shape(0), call.shape());
  pick(call, 0, [&](const Shape &index) { return place(ravel(index, call.shape())); });
}

void transpose(const Call &call) {
  std::size_t rank = call.shape().size();
  pick(call, 0, [&](const Shape &index) {
    Shape from(rank);
    for (std::size_t i = 0; i < rank; ++i)
      from[call.ints(0).empty() ? rank - 1 - i : static_cast<std::size_t>(normal(call.ints(0)[i], rank))] = index[i];
    return ravel(from, call.shape(0));
  });
}

void concat(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape().size());
  for (std::int64_t i = 0; i < call.count(); ++i) {
    Shape index = unravel(i, call.shape());
    std::size_t tensor = 0;
    while (index[axis] >= call.shape(tensor)[axis])
      index[axis] -= call.shape(tensor++)[axis];
    call.out(i) = call.in(tensor, ravel(index, call.shape(tensor)));
    if (!call.machine)
      call.out(i).off = call.out(i).apart = 0;
  }
}

void concatPart(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape().size()), start = 0;
  for (std::int64_t i = 0; i < call.attribute<std::int64_t>(1); ++i)
    start += call.shape(static_cast<std::size_t>(i) + 1)[axis];
  pick(call, 0, [&](Shape index) {
    index[axis] += start;
    return ravel(index, call.shape(0));
  });
}

void split(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(1), call.shape().size()), start = 0;
  for (std::size_t r = 0; r < call.index; ++r)
    start += call.step.types[r].dims[axis];
  pick(call, 0, [&](Shape index) {
    index[axis] += start;
    return ravel(index, call.shape(0));
  });
}

void reverse(const Call &call) {
  std::vector<bool> isTurned(call.shape().size(), call.ints(0).empty());
  for (std::int64_t axis : call.ints(0))
    isTurned[normal(axis, isTurned.size())] = true;
  pick(call, 0, [&](Shape index) {
    for (std::size_t i = 0; i < index.size(); ++i)
      index[i] = isTurned[i] ? call.shape()[i] - 1 - index[i] : index[i];
    return ravel(index, call.shape());
  });
}

void sliceAt(const Call &call, const Ints &starts, const Ints &strides) {
  pick(call, 0, [&](Shape index) {
    for (std::size_t i = 0; i < index.size(); ++i)
      index[i] = starts[i] + index[i] * (strides.empty() ? 1 : strides[i]);
    return ravel(index, call.shape(0));
  });
}
void slice(const Call &call) { sliceAt(call, call.ints(0), call.ints(2)); }
void sliceLike(const Call &call) { sliceAt(call, call.ints(0), call.ints(1)); }

void put(const Call &call, const Ints &starts, const Ints &strides) {
  for (std::int64_t i = 0; i < productOf(call.shape(0)); ++i) {
    Shape index = unravel(i, call.shape(0));
    for (std::size_t d = 0; d < index.size(); ++d)
      index[d] = starts[d] + index[d] * (strides.empty() ? 1 : strides[d]);
    Num &out = call.out(ravel(index, call.shape()));
    out = call.in(0, i);
    if (!call.machine)
      out.off = out.apart = 0;
  }
}
void slicePut(const Call &call) { put(call, call.ints(0), call.ints(1)); }
void pad(const Call &call) {
  for (Num &element : call.result.elements)
    element.value = roundTo(call.dtype(), call.attribute<schema::Scalar>(2).as<Real>());
  put(call, call.ints(0), {});
}

//===-- Indices ---------------------------------------------------------------------------------===//

// An index as int64, which is what code compares: the largest one for what is beyond.
std::int64_t wholeOf(const Num &index) {
  return index.value >= 0x1p63L ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(index.value);
}

// Fails for the first index that is not within the axis.
void checkIndices(const Call &call, std::size_t operand, std::int64_t size) {
  for (const Num &index : call[operand].elements) {
    if (index.off > 0 || index.apart > 0)
      throw Undecided("an index is not known exactly");
    if (index.value < 0 || index.value >= static_cast<Real>(size))
      throw Failure{"IndexError", std::string(schema::schemaOf(call.step.op).inMessages) + ": index " +
                                      std::to_string(wholeOf(index)) + " is out of range [0, " + std::to_string(size) +
                                      ")"};
  }
}

// Where in x the element at an index of the slices stands.
std::int64_t gatheredFrom(const Call &call, const Shape &index, std::size_t indices, const Shape &x,
                          std::int64_t axis) {
  std::size_t indexRank = call.shape(indices).size();
  Shape at(index.begin() + axis, index.begin() + axis + static_cast<std::ptrdiff_t>(indexRank)),
      from(index.begin(), index.begin() + axis);
  from.push_back(static_cast<std::int64_t>(call.in(indices, ravel(at, call.shape(indices))).value));
  from.insert(from.end(), index.begin() + axis + static_cast<std::ptrdiff_t>(indexRank), index.end());
  return ravel(from, x);
}

void gather(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape(0).size());
  checkIndices(call, 1, call.shape(0)[axis]);
  pick(call, 0, [&](const Shape &index) { return gatheredFrom(call, index, 1, call.shape(0), axis); });
}

void gatherPut(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape(1).size());
  checkIndices(call, 2, call.shape(1)[axis]);
  std::vector<Sum> sums(static_cast<std::size_t>(call.count()), Sum(call));
  for (std::int64_t i = 0; i < productOf(call.shape(0)); ++i)
    sums[gatheredFrom(call, unravel(i, call.shape(0)), 2, call.shape(), axis)].add(call.in(0, i));
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = sums[i].finish();
}

// Where in x the element at an index of the indices stands.
std::int64_t takenFrom(const Call &call, Shape index, std::size_t indices, const Shape &x, std::int64_t axis) {
  index[axis] = static_cast<std::int64_t>(call.in(indices, ravel(index, call.shape(indices))).value);
  return ravel(index, x);
}

void takeAlongAxis(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape(0).size());
  checkIndices(call, 1, call.shape(0)[axis]);
  pick(call, 0, [&](const Shape &index) { return takenFrom(call, index, 1, call.shape(0), axis); });
}

void putAlongAxis(const Call &call) {
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), call.shape(1).size());
  checkIndices(call, 2, call.shape(1)[axis]);
  std::vector<Sum> sums(static_cast<std::size_t>(call.count()), Sum(call));
  for (std::int64_t i = 0; i < productOf(call.shape(0)); ++i)
    sums[takenFrom(call, unravel(i, call.shape(0)), 2, call.shape(), axis)].add(call.in(0, i));
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = sums[i].finish();
}

//===-- Indices of several dimensions -----------------------------------------------------------===//

// Where in x the slices of each index begin and how many elements each has, in the order of the indices. Fails for the
// first index that is not within its dimension.
struct Slices {
  Slices(const Call &call, const Shape &x) {
    const Shape &shape = call.shape(1);
    const auto named = static_cast<std::size_t>(shape.back());
    each = productOf(Shape(x.begin() + static_cast<std::ptrdiff_t>(named), x.end()));
    std::int64_t count = productOf(Shape(shape.begin(), shape.end() - 1));
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t at = 0;
      for (std::size_t k = 0; k < named; ++k) {
        const Num &index = call.in(1, i * shape.back() + static_cast<std::int64_t>(k));
        if (index.off > 0 || index.apart > 0)
          throw Undecided("an index is not known exactly");
        if (index.value < 0 || index.value >= static_cast<Real>(x[k]))
          throw Failure{"IndexError", std::string(schema::schemaOf(call.step.op).inMessages) + ": index " +
                                          std::to_string(wholeOf(index)) + " is out of range [0, " +
                                          std::to_string(x[k]) + ")"};
        at = at * x[k] + static_cast<std::int64_t>(index.value);
      }
      begins.push_back(at * each);
    }
  }
  std::int64_t size() const { return static_cast<std::int64_t>(begins.size()) * each; }
  // Where in x element i of all slices stands.
  std::int64_t operator[](std::int64_t i) const { return begins[static_cast<std::size_t>(i / each)] + i % each; }

  std::vector<std::int64_t> begins;
  std::int64_t each;
};

Num moved(const Call &call, Num element) {
  if (!call.machine)
    element.off = element.apart = 0;
  return element;
}

void gatherNd(const Call &call) {
  Slices slices(call, call.shape(0));
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = moved(call, call.in(0, slices[i]));
}

void gatherNdLast(const Call &call) {
  Slices slices(call, call.shape(0));
  std::vector<bool> isRead(call[0].elements.size());
  for (std::int64_t i = call.count(); i-- > 0;) {
    auto place = static_cast<std::size_t>(slices[i]);
    call.out(i) = isRead[place] ? Num{} : moved(call, call.in(0, slices[i]));
    isRead[place] = true;
  }
}

void scatterNdSet(const Call &call) {
  Slices slices(call, call.shape());
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = moved(call, call.in(0, i));
  for (std::int64_t i = 0; i < slices.size(); ++i)
    call.out(slices[i]) = moved(call, call.in(2, i));
}

void scatterNdAdd(const Call &call) {
  Slices slices(call, call.shape());
  std::vector<Sum> sums(static_cast<std::size_t>(call.count()), Sum(call));
  for (std::int64_t i = 0; i < call.count(); ++i)
    sums[i].add(call.in(0, i));
  for (std::int64_t i = 0; i < slices.size(); ++i)
    sums[slices[i]].add(call.in(2, i));
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = sums[i].finish();
}

void scatterNdMax(const Call &call) {
  Slices slices(call, call.shape());
  std::vector<std::vector<Num>> elements(static_cast<std::size_t>(call.count()));
  for (std::int64_t i = 0; i < call.count(); ++i)
    elements[i].push_back(call.in(0, i));
  for (std::int64_t i = 0; i < slices.size(); ++i)
    elements[slices[i]].push_back(call.in(2, i));
  for (std::int64_t i = 0; i < call.count(); ++i)
    call.out(i) = through(call, elements[i], largestValue, 0);
}

// The places of `size` elements in their order. A place is open where its element may change it with another one.
template <typename At> std::vector<Num> orderOf(const Call &call, std::int64_t size, bool descending, At at) {
  auto isLess = [](Real a, Real b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return descending ? isLess(at(b).value, at(a).value) : isLess(at(a).value, at(b).value);
  });
  auto isOpen = [&](std::int64_t k, Real Num::*bound) {
    for (std::int64_t other = 0; other < size; ++other) {
      Real moved = at(order[k]).*bound + at(order[other]).*bound;
      if (other != k && moved > 0 && !(distance(at(order[k]).value, at(order[other]).value) > moved))
        return true;
    }
    return false;
  };
  std::vector<Num> places;
  for (std::int64_t k = 0; k < size; ++k)
    places.push_back({static_cast<Real>(order[k]), call.machine && isOpen(k, &Num::off) ? kUnknown : 0,
                      call.machine && isOpen(k, &Num::apart) ? kUnknown : 0});
  return places;
}

void argSort(const Call &call) {
  const Shape &shape = call.shape();
  std::int64_t axis = normal(call.attribute<std::int64_t>(0), shape.size());
  std::int64_t stride = stridesOf(shape)[axis], size = shape[axis];
  for (std::int64_t first = 0; first < call.count(); ++first) {
    if (first / stride % size != 0)
      continue;
    auto at = [&](std::int64_t k) -> const Num & { return call.in(0, first + k * stride); };
    const std::vector<Num> order = orderOf(call, size, call.attribute<bool>(1), at);
    for (std::int64_t k = 0; k < size; ++k)
      call.out(first + k * stride) = order[k];
  }
}

// As many of the order of each row as the result has.
void topIndices(const Call &call) {
  const Shape &shape = call.shape(), &given = call.shape(0);
  const std::int64_t axis = normal(call.attribute<std::int64_t>(1), shape.size()), stride = stridesOf(given)[axis];
  const bool descending = call.attribute<bool>(2);
  for (std::int64_t outer = 0; outer < call.count() / std::max<std::int64_t>(1, shape[axis] * stride); ++outer)
    for (std::int64_t inner = 0; inner < stride; ++inner) {
      auto at = [&](std::int64_t k) -> const Num & { return call.in(0, (outer * given[axis] + k) * stride + inner); };
      const std::vector<Num> order = orderOf(call, given[axis], descending, at);
      for (std::int64_t k = 0; k < shape[axis]; ++k)
        call.out((outer * shape[axis] + k) * stride + inner) = order[k];
    }
}

void oneHot(const Call &call) {
  std::int64_t depth = call.shape().back();
  for (std::int64_t i = 0; i < call.count(); ++i) {
    const Num &index = call.in(0, i / depth);
    call.out(i) = {static_cast<Real>(index.value == static_cast<Real>(i % depth)), index.off > 0 ? kUnknown : 0,
                   index.apart > 0 ? kUnknown : 0};
  }
}

} // namespace

const KernelTable &movementKernels() {
  static const auto *table = new KernelTable{
      {"reshape", sameElements},
      {"reshape_open", sameElements},
      {"reshape_like", sameElements},
      {"merge_dims", sameElements},
      {"split_dim", sameElements},
      {"expand_dims", sameElements},
      {"stop_gradient", sameElements},
      {"identity", sameElements},
      {"barrier", sameElements},
      {"broadcast_to", broadcast},
      {"broadcast_to_open", broadcast},
      {"broadcast_like", broadcast},
      {"transpose", transpose},
      {"reverse", reverse},
      {"concat", concat},
      {"concat_part", concatPart},
      {"split", split},
      {"slice", slice},
      {"slice_like", sliceLike},
      {"slice_put", slicePut},
      {"pad", pad},
      {"gather", gather},
      {"gather_put", gatherPut},
      {"take_along_axis", takeAlongAxis},
      {"put_along_axis", putAlongAxis},
      {"argsort", argSort},
      {"top_indices", topIndices},
      {"gather_nd", gatherNd},
      {"gather_nd_last", gatherNdLast},
      {"scatter_nd_set", scatterNdSet},
      {"scatter_nd_add", scatterNdAdd},
      {"scatter_nd_max", scatterNdMax},
      {"one_hot", oneHot},
      {"one_hot_open", oneHot},
  };
  return *table;
}

} // namespace calque::fuzz
