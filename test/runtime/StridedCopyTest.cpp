#include "runtime/StridedCopy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

using namespace calque::runtime;

namespace {

// One element after the other.
void copyPlainly(std::byte *to, const std::byte *from, size_t bytes, std::span<const int64_t> sizes,
                 std::span<const int64_t> fromStrides, std::span<const int64_t> toStrides) {
  if (sizes.empty()) {
    std::memcpy(to, from, bytes);
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    copyPlainly(to + i * toStrides[0] * int64_t(bytes), from + i * fromStrides[0] * int64_t(bytes), bytes,
                sizes.subspan(1), fromStrides.subspan(1), toStrides.subspan(1));
}

} // namespace

// Boxes of every kind: cut out, turned, reversed, repeated, spread, of up to five dimensions, in buffers of their exact
// size.
TEST(StridedCopy, IsWhatOneElementAfterTheOtherGives) {
  std::mt19937 random(1);
  auto below = [&](int64_t bound) { return int64_t(random() % uint64_t(bound)); };
  for (int round = 0; round < 2000; ++round) {
    size_t bytes = std::vector<size_t>{1, 2, 4, 8, 16}[size_t(below(5))], rank = size_t(below(6));
    std::vector<int64_t> sizes(rank), from(rank), to(rank);
    std::vector<size_t> order(rank), turned(rank);
    std::iota(order.begin(), order.end(), 0);
    turned = order;
    std::shuffle(order.begin(), order.end(), random);
    if (below(2))
      std::shuffle(turned.begin(), turned.end(), random);
    for (int64_t &size : sizes)
      size = below(20) == 0 ? 0 : 1 + below(rank < 3 ? 70 : 6);
    auto lay = [&](const std::vector<size_t> &inOrder, std::vector<int64_t> &strides, bool mayRepeat) {
      int64_t extent = 1;
      for (size_t i : inOrder) {
        strides[i] = mayRepeat && below(4) == 0 ? 0 : extent * (1 + below(2) * below(3));
        extent = std::max(extent, strides[i] * std::max<int64_t>(sizes[i], 1));
      }
      return extent;
    };
    int64_t fromExtent = lay(order, from, true), toExtent = lay(turned, to, false);
    std::vector<std::byte> source(size_t(fromExtent) * bytes), result(size_t(toExtent) * bytes), expected(result);
    for (std::byte &byte : source)
      byte = std::byte(random());
    // Some dimensions are read backwards, from their last element.
    int64_t first = 0;
    for (size_t i = 0; i < rank; ++i)
      if (below(5) == 0 && sizes[i] > 0) {
        first += (sizes[i] - 1) * from[i];
        from[i] *= -1;
      }
    const std::byte *begin = source.data() + first * int64_t(bytes);
    copyStrided(result.data(), begin, bytes, sizes, from, to);
    copyPlainly(expected.data(), begin, bytes, sizes, from, to);
    ASSERT_EQ(result, expected) << "round " << round;
  }
}

TEST(StridedCopy, Adds) {
  auto check = []<typename T>(T) {
    // A transposed part, columns in steps, one of them backwards, rows that are adjacent, one element, and none.
    struct Box {
      std::vector<int64_t> sizes, from, to;
      int64_t begin;
    };
    for (const Box &box :
         {Box{{3, 4}, {1, 3}, {20, 1}, 0}, Box{{4, 3}, {5, -1}, {10, 2}, 2}, Box{{3, 4}, {4, 1}, {4, 1}, 0},
          Box{{}, {}, {}, 0}, Box{{2, 1, 3}, {3, 0, 1}, {7, 70, 2}, 0}, Box{{3, 0}, {1, 1}, {1, 1}, 0}}) {
      std::vector<T> source(24), result(80), expected;
      for (size_t i = 0; i < source.size(); ++i)
        source[i] = T(i) + T(0.25);
      for (size_t i = 0; i < result.size(); ++i)
        result[i] = T(100 * i);
      expected = result;
      auto add = [&](auto &self, size_t axis, int64_t from, int64_t to) -> void {
        if (axis == box.sizes.size())
          expected[size_t(to)] += source[size_t(from)];
        else
          for (int64_t i = 0; i < box.sizes[axis]; ++i)
            self(self, axis + 1, from + i * box.from[axis], to + i * box.to[axis]);
      };
      add(add, 0, box.begin, 0);
      addStrided(result.data(), static_cast<const T *>(source.data() + box.begin), box.sizes, box.from, box.to);
      EXPECT_EQ(result, expected);
    }
  };
  check(float());
  check(double());
}

TEST(StridedCopy, OfLargeBoxesIsSharedOut) {
  constexpr int64_t Rows = 700, Columns = 900;
  std::vector<float> matrix(Rows * Columns), turned(Rows * Columns);
  std::iota(matrix.begin(), matrix.end(), 0.0f);
  const int64_t sizes[] = {Columns, Rows}, from[] = {1, Columns}, to[] = {Rows, 1};
  copyStrided(turned.data(), matrix.data(), sizeof(float), sizes, from, to);
  for (int64_t i = 0; i < Rows; ++i)
    for (int64_t j = 0; j < Columns; ++j)
      ASSERT_EQ(turned[size_t(j * Rows + i)], matrix[size_t(i * Columns + j)]);
}

TEST(StridedCopy, Fills) {
  std::vector<double> values(1000);
  double seven = 7;
  fillElements(values.data(), &seven, sizeof(double), 999);
  EXPECT_EQ(values[998], 7);
  EXPECT_EQ(values[999], 0);
}
