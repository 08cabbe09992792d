// Places in tensors of known sizes.
#ifndef CALQUE_SOLVERS_SPARSE_PLACES_H
#define CALQUE_SOLVERS_SPARSE_PLACES_H

#include "calque/program.h"

#include <cstdint>
#include <functional>
#include <numeric>
#include <string_view>
#include <vector>

namespace calque::sparse::detail {

using Sizes = std::vector<std::int64_t>;

inline std::int64_t countOf(const Sizes &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t(1), std::multiplies<>());
}
inline Sizes stridesOf(const Sizes &sizes) {
  Sizes strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}
// Calls f(number, index) for each element, in order.
template <typename F> void forEach(const Sizes &sizes, const F &f) {
  Sizes index(sizes.size());
  const std::int64_t count = countOf(sizes);
  for (std::int64_t i = 0; i < count; ++i) {
    f(i, index);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (++index[d] < sizes[d])
        break;
      index[d] = 0;
    }
  }
}
inline std::int64_t placeOf(const Sizes &index, const Sizes &strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t(0));
}
// The element of an operand that broadcasting brings to an index of the result.
inline Sizes broadcastStrides(const Sizes &from, const Sizes &to) {
  const Sizes strides = stridesOf(from);
  Sizes made(to.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    made[to.size() - from.size() + i] = from[i] == 1 ? 0 : strides[i];
  return made;
}
inline std::int64_t axisOf(const ProgramOperation &op, std::size_t rank) {
  const auto axis = op.attribute<std::int64_t>("axis");
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}
inline Sizes list(const ProgramOperation &op, std::string_view name) {
  return op.attribute<std::vector<std::int64_t>>(name);
}
inline Sizes axesOf(const ProgramOperation &op, std::string_view name, std::size_t rank) {
  Sizes axes = list(op, name);
  if (axes.empty())
    for (std::size_t i = 0; i < rank; ++i)
      axes.push_back(static_cast<std::int64_t>(i));
  for (std::int64_t &axis : axes)
    axis += axis < 0 ? static_cast<std::int64_t>(rank) : 0;
  return axes;
}

} // namespace calque::sparse::detail
#endif
