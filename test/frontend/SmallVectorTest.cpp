#include "calque/small_vector.h"

#include "Testing.h"

using namespace calque;
using calque::detail::SmallVector;

namespace {
using Counted = std::shared_ptr<int>;

template <typename T, std::size_t N> std::vector<T> elementsOf(const SmallVector<T, N> &list) {
  return {list.begin(), list.end()};
}
} // namespace

TEST(SmallVector, HoldsWhatIsPushed) {
  SmallVector<int, 3> list;
  std::vector<int> expected;
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(elementsOf(list), expected);
    list.push_back(i);
    expected.push_back(i);
  }
  EXPECT_EQ(elementsOf(list), expected);
  EXPECT_EQ(list.size(), 8u);
  EXPECT_EQ(list[7], 7);
}

TEST(SmallVector, IsInPlaceWhileItIsSmall) {
  SmallVector<int, 3> list(3);
  auto inPlace = [&] {
    auto *first = reinterpret_cast<const char *>(list.data()), *self = reinterpret_cast<const char *>(&list);
    return first >= self && first < self + sizeof(list);
  };
  EXPECT_TRUE(inPlace());
  list.push_back(1);
  EXPECT_FALSE(inPlace());
  list.resize(2);
  EXPECT_TRUE(inPlace());
}

TEST(SmallVector, AddsEmptyElementsAndDropsOthers) {
  for (std::size_t from : {0, 1, 2, 3, 5})
    for (std::size_t to : {0, 1, 2, 3, 5, 7}) {
      SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
      std::vector<Counted> values;
      SmallVector<Counted, 2> list;
      for (std::size_t i = 0; i < from; ++i) {
        values.push_back(std::make_shared<int>(i));
        list.push_back(values.back());
      }
      list.resize(to);
      ASSERT_EQ(list.size(), to);
      for (std::size_t i = 0; i < to; ++i)
        EXPECT_EQ(list[i], i < from ? values[i] : nullptr);
      for (std::size_t i = to; i < from; ++i)
        EXPECT_EQ(values[i].use_count(), 1) << i;
      list.resize(from);
      for (std::size_t i = to; i < from; ++i)
        EXPECT_EQ(list[i], nullptr);
    }
}
