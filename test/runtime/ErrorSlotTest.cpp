// Tests calque_rt_fail: the first failed check owns the slot.
#include "runtime/abi.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

TEST(ErrorSlotTest, NotesTheFailure) {
  CalqueCallFrame frame{};
  calque_rt_fail(&frame, 7, -3, 10);
  EXPECT_EQ(frame.error.failed, 1);
  EXPECT_EQ(frame.error.site, 7);
  EXPECT_EQ(frame.error.values[0], -3);
  EXPECT_EQ(frame.error.values[1], 10);
}

TEST(ErrorSlotTest, KeepsTheFirstFailure) {
  CalqueCallFrame frame{};
  calque_rt_fail(&frame, 7, -3, 10);
  calque_rt_fail(&frame, 8, 20, 30);
  EXPECT_EQ(frame.error.failed, 1);
  EXPECT_EQ(frame.error.site, 7);
  EXPECT_EQ(frame.error.values[0], -3);
  EXPECT_EQ(frame.error.values[1], 10);
}

TEST(ErrorSlotTest, OneOfManyThreadsWinsWhole) {
  for (int turn = 0; turn < 200; ++turn) {
    CalqueCallFrame frame{};
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (int id = 1; id <= 8; ++id)
      threads.emplace_back([&, id] {
        go.wait(false);
        calque_rt_fail(&frame, id, id * 10, id * 100);
      });
    go = true;
    go.notify_all();
    for (std::thread &thread : threads)
      thread.join();
    ASSERT_EQ(frame.error.failed, 1);
    ASSERT_GE(frame.error.site, 1);
    ASSERT_LE(frame.error.site, 8);
    ASSERT_EQ(frame.error.values[0], frame.error.site * 10);
    ASSERT_EQ(frame.error.values[1], frame.error.site * 100);
  }
}

} // namespace
