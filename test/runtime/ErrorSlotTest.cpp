// Tests calque_rt_fail, by which the first failed check owns the slot, and calque_rt_assert, which fails so.
#include "runtime/Assertions.h"
#include "runtime/Print.h"
#include "runtime/abi.h"

#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace {

int64_t word(const void *address) { return reinterpret_cast<int64_t>(address); }

TEST(ErrorSlotTest, AnAssertionFailsAtTheFirstThatDoesNotHold) {
  const unsigned char elements[] = {1, 1, 0, 1, 0};
  for (int64_t count : {0, 1, 2}) {
    CalqueCallFrame frame{};
    const int64_t words[] = {word(&frame), 3, count, word(elements)};
    calque_rt_assert(words);
    EXPECT_EQ(frame.error.failed, 0) << count;
  }
  for (int64_t count : {3, 5}) {
    CalqueCallFrame frame{};
    frame.first_site = 10;
    const int64_t words[] = {word(&frame), 3, count, word(elements)};
    calque_rt_assert(words);
    EXPECT_EQ(frame.error.failed, 1);
    EXPECT_EQ(frame.error.site, 13);
    EXPECT_EQ(frame.error.values[0], 2);
    EXPECT_EQ(frame.error.values[1], 2);
  }
}

TEST(ErrorSlotTest, AnAssertionTellsTheHostWhichElementsFail) {
  const unsigned char holds[] = {1, 0, 1, 1, 1, 0};
  const double x[] = {0.5, 1, 2, 3, 4, 5};
  const int64_t y[] = {10, 20, 30}; // broadcast along the rows
  calque::runtime::HostCallbacks host{nullptr};
  CalqueCallFrame frame{};
  frame.host = &host;
  const int64_t words[] = {word(&frame), 3, 2, 2, word(holds), 2, 3, 4, word(x), 2, 3, 2, word(y), 1, 3};
  calque_rt_assert_elements(words);
  EXPECT_EQ(frame.error.failed, 1);
  EXPECT_EQ(frame.error.site, 3);
  EXPECT_EQ(host.failedElements, "; 2 of 6 elements fail: 1.0 and 20 at [0,1], 5.0 and 30 at [1,2]");
  // Those of the first failure are kept; no host hears of them, and nothing fails of no elements.
  const unsigned char none[] = {0};
  const int64_t second[] = {word(&frame), 4, 1, 0, word(none), 1};
  calque_rt_assert_elements(second);
  EXPECT_EQ(frame.error.site, 3);
  EXPECT_NE(host.failedElements.find("2 of 6"), std::string::npos);
  CalqueCallFrame alone{};
  const int64_t unheard[] = {word(&alone), 4, 1, 0, word(none), 1}, empty[] = {word(&alone), 4, 2, 0, word(none), 3, 0};
  calque_rt_assert_elements(empty);
  EXPECT_EQ(alone.error.failed, 0);
  calque_rt_assert_elements(unheard);
  EXPECT_EQ(alone.error.failed, 1);
}

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
