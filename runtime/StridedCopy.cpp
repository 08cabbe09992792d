#include "runtime/StridedCopy.h"

#include "runtime/ThreadPool.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace calque::runtime {
namespace {

struct Dimension {
  int64_t size, from, to; // strides in bytes
};

// The bytes of a piece, which one thread copies. For fewer bytes, waking threads costs more than the copy.
constexpr int64_t PieceBytes = 256 << 10;
// The elements of a tile's side in a transpose: 32 cache lines of either buffer stay in the first cache.
constexpr int64_t Tile = 32;

template <size_t Bytes> void copyRow(char *to, const char *from, Dimension row) {
  if (row.from == Bytes && row.to == Bytes) {
    std::memcpy(to, from, size_t(row.size) * Bytes);
    return;
  }
  for (int64_t i = 0; i < row.size; ++i)
    std::memcpy(to + i * row.to, from + i * row.from, Bytes);
}

// Copies the last two dimensions, in tiles if the inner one has the larger stride in `from`.
template <size_t Bytes> void copyPlane(char *to, const char *from, Dimension outer, Dimension inner) {
  if (inner.from == int64_t(Bytes) || outer.from > inner.from || outer.from == 0) {
    for (int64_t i = 0; i < outer.size; ++i)
      copyRow<Bytes>(to + i * outer.to, from + i * outer.from, inner);
    return;
  }
  for (int64_t i = 0; i < outer.size; i += Tile)
    for (int64_t j = 0; j < inner.size; j += Tile) {
      Dimension rows{std::min(Tile, outer.size - i), outer.from, outer.to};
      Dimension columns{std::min(Tile, inner.size - j), inner.from, inner.to};
      for (int64_t row = 0; row < rows.size; ++row)
        copyRow<Bytes>(to + (i + row) * rows.to + j * columns.to, from + (i + row) * rows.from + j * columns.from,
                       columns);
    }
}

template <size_t Bytes> void copyBox(char *to, const char *from, std::span<const Dimension> box) {
  if (box.size() == 2)
    return copyPlane<Bytes>(to, from, box[0], box[1]);
  for (int64_t i = 0; i < box[0].size; ++i)
    copyBox<Bytes>(to + i * box[0].to, from + i * box[0].from, box.subspan(1));
}

// The box with the fewest dimensions: dimensions of size 1 are dropped, and two are merged if both strides allow it.
std::vector<Dimension> simplified(size_t elementBytes, std::span<const int64_t> sizes,
                                  std::span<const int64_t> fromStrides, std::span<const int64_t> toStrides) {
  std::vector<Dimension> box;
  int64_t bytes = int64_t(elementBytes);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1)
      box.push_back({sizes[i], fromStrides[i] * bytes, toStrides[i] * bytes});
  // In the order of the destination's strides, so that it is written from start to end.
  std::stable_sort(box.begin(), box.end(), [](const Dimension &a, const Dimension &b) { return a.to > b.to; });
  for (size_t i = box.size(); i-- > 1;)
    if (Dimension &outer = box[i - 1], inner = box[i];
        outer.from == inner.from * inner.size && outer.to == inner.to * inner.size) {
      outer = {outer.size * inner.size, inner.from, inner.to};
      box.erase(box.begin() + std::ptrdiff_t(i));
    }
  while (box.size() < 2)
    box.insert(box.begin(), {1, 0, 0});
  // The dimension with the smallest stride in `from` comes next to the innermost one: the two are the sides of a tile.
  auto closest = std::min_element(box.begin(), box.end() - 1, [](const Dimension &a, const Dimension &b) {
    return (a.from == 0 ? INT64_MAX : a.from) < (b.from == 0 ? INT64_MAX : b.from);
  });
  if (box.back().from > closest->from && closest->from != 0)
    std::rotate(closest, closest + 1, box.end() - 1);
  return box;
}

template <size_t Bytes> void copyAll(char *to, const char *from, std::vector<Dimension> box) {
  int64_t bytes = Bytes;
  for (const Dimension &dimension : box)
    bytes *= dimension.size;
  auto widest =
      std::max_element(box.begin(), box.end(), [](const Dimension &a, const Dimension &b) { return a.size < b.size; });
  if (bytes <= PieceBytes)
    return copyBox<Bytes>(to, from, box);
  size_t cut = size_t(widest - box.begin());
  int64_t grain = std::max<int64_t>(1, PieceBytes / (bytes / widest->size));
  parallelFor(widest->size, grain, [&](int64_t begin, int64_t end) {
    std::vector<Dimension> piece = box;
    piece[cut].size = end - begin;
    copyBox<Bytes>(to + begin * box[cut].to, from + begin * box[cut].from, piece);
  });
}

template <typename T> void addBox(char *to, const char *from, std::span<const Dimension> box) {
  const Dimension &outer = box.front();
  if (box.size() > 1) {
    for (int64_t i = 0; i < outer.size; ++i)
      addBox<T>(to + i * outer.to, from + i * outer.from, box.subspan(1));
    return;
  }
  constexpr auto Bytes = int64_t(sizeof(T));
  if (outer.from == Bytes && outer.to == Bytes) { // in vectors
    auto *sum = reinterpret_cast<T *>(to);
    auto *added = reinterpret_cast<const T *>(from);
    for (int64_t i = 0; i < outer.size; ++i)
      sum[i] += added[i];
    return;
  }
  for (int64_t i = 0; i < outer.size; ++i)
    *reinterpret_cast<T *>(to + i * outer.to) += *reinterpret_cast<const T *>(from + i * outer.from);
}

} // namespace

void copyStrided(void *to, const void *from, size_t elementBytes, std::span<const int64_t> sizes,
                 std::span<const int64_t> fromStrides, std::span<const int64_t> toStrides) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
    return;
  std::vector<Dimension> box = simplified(elementBytes, sizes, fromStrides, toStrides);
  auto *out = static_cast<char *>(to);
  auto *in = static_cast<const char *>(from);
  switch (elementBytes) {
  case 1:
    return copyAll<1>(out, in, std::move(box));
  case 2:
    return copyAll<2>(out, in, std::move(box));
  case 4:
    return copyAll<4>(out, in, std::move(box));
  case 8:
    return copyAll<8>(out, in, std::move(box));
  default:
    return copyAll<16>(out, in, std::move(box));
  }
}

template <typename T>
void addStrided(T *to, const T *from, std::span<const int64_t> sizes, std::span<const int64_t> fromStrides,
                std::span<const int64_t> toStrides) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
    return;
  addBox<T>(reinterpret_cast<char *>(to), reinterpret_cast<const char *>(from),
            simplified(sizeof(T), sizes, fromStrides, toStrides));
}
template void addStrided(float *, const float *, std::span<const int64_t>, std::span<const int64_t>,
                         std::span<const int64_t>);
template void addStrided(double *, const double *, std::span<const int64_t>, std::span<const int64_t>,
                         std::span<const int64_t>);

void fillElements(void *to, const void *element, size_t elementBytes, int64_t count) {
  const int64_t sizes[] = {count}, from[] = {0}, strides[] = {1};
  copyStrided(to, element, elementBytes, sizes, from, strides);
}

} // namespace calque::runtime
