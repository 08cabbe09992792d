#include "Testing.h"

using namespace calque;

TEST(Threads, AreAsManyAsAskedForOrTheDefault) {
  int before = num_threads();
  EXPECT_GE(before, 1);
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  set_num_threads(0);
  EXPECT_GE(num_threads(), 1);
  set_num_threads(before);
}
