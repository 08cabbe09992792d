// Sizes of windows, and of padding and cropping around images.
#ifndef CALQUE_LAYERS_EXTENT_H
#define CALQUE_LAYERS_EXTENT_H

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace calque::layers {

// A size along each of `rank` dimensions. A single number is the size along all of them.
template <std::size_t rank> struct Extents {
  std::array<std::int64_t, rank> sizes;
  Extents(std::int64_t all) { sizes.fill(all); }
  Extents(std::int64_t height, std::int64_t width)
    requires(rank == 2)
      : sizes{height, width} {}
  Extents(std::int64_t depth, std::int64_t height, std::int64_t width)
    requires(rank == 3)
      : sizes{depth, height, width} {}
};
// Height and width.
using Extent = Extents<2>;

// The number of elements that are added or cut before and behind each of `rank` dimensions: one number for all, a
// number for each dimension, or a pair (before, behind) for each.
template <std::size_t rank> struct Borders {
  using Pair = std::pair<std::int64_t, std::int64_t>;
  std::array<Pair, rank> pairs;
  Borders(std::int64_t all) { pairs.fill({all, all}); }
  Borders(std::int64_t height, std::int64_t width)
    requires(rank == 2)
      : pairs{Pair(height, height), Pair(width, width)} {}
  Borders(Pair height, Pair width)
    requires(rank == 2)
      : pairs{height, width} {}
  Borders(std::int64_t depth, std::int64_t height, std::int64_t width)
    requires(rank == 3)
      : pairs{Pair(depth, depth), Pair(height, height), Pair(width, width)} {}
  Borders(Pair depth, Pair height, Pair width)
    requires(rank == 3)
      : pairs{depth, height, width} {}
};
using Border = Borders<2>;

} // namespace calque::layers
#endif
