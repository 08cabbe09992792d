// Tests runtime/Buffer.h: handles, foreign memory, and the pool's reuse, limit and statistics.
#include "runtime/Buffer.h"

#include "AllocationCounter.h"
#include "runtime/abi.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <new>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace calque::runtime;

namespace {

constexpr size_t MiB = size_t(1) << 20;

// Each test begins with nothing cached and ends with the usual limit.
class BufferTest : public testing::Test {
protected:
  void SetUp() override { trimPool(); }
  void TearDown() override {
    setPoolLimit(limit);
    setPoolPeriod(std::chrono::seconds(10));
  }
  size_t limit = poolLimit();
};

bool isAligned(const Buffer &buffer, size_t alignment) {
  return reinterpret_cast<uintptr_t>(buffer.data()) % alignment == 0;
}

TEST_F(BufferTest, EmptyHandleHasNothing) {
  Buffer buffer;
  EXPECT_FALSE(buffer);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.bytes(), 0u);
  EXPECT_EQ(buffer.useCount(), 0u);
  EXPECT_FALSE(buffer.unique());
}

TEST_F(BufferTest, EverySizeIsAlignedAndWritable) {
  std::vector<Buffer> kept;
  for (size_t power = 0; power <= 23; ++power)
    for (size_t base : {size_t(1) << power, (size_t(5) << power) / 4, (size_t(3) << power) / 2})
      for (size_t bytes : {base - 1, base, base + 1}) {
        Buffer buffer = Buffer::allocate(bytes);
        ASSERT_TRUE(buffer);
        ASSERT_NE(buffer.data(), nullptr) << bytes;
        ASSERT_TRUE(isAligned(buffer, CALQUE_BUFFER_ALIGNMENT)) << bytes;
        ASSERT_EQ(buffer.bytes(), bytes);
        if (bytes >= 2 * MiB) {
          ASSERT_TRUE(isAligned(buffer, 2 * MiB)) << bytes;
        }
        std::memset(buffer.data(), int(kept.size() % 251), bytes);
        kept.push_back(std::move(buffer));
      }
  for (size_t i = 0; i < kept.size(); ++i) { // no two overlap
    auto *bytes = static_cast<unsigned char *>(kept[i].data());
    for (size_t at = 0; at < kept[i].bytes(); at += kept[i].bytes() < 4096 ? 1 : 61)
      ASSERT_EQ(bytes[at], i % 251) << "buffer of " << kept[i].bytes() << " bytes at " << at;
  }
}

TEST_F(BufferTest, ZeroBytesAreLegal) {
  Buffer buffer = Buffer::allocate(0);
  EXPECT_TRUE(buffer);
  EXPECT_NE(buffer.data(), nullptr);
  EXPECT_TRUE(isAligned(buffer, CALQUE_BUFFER_ALIGNMENT));
  EXPECT_EQ(buffer.bytes(), 0u);
}

TEST_F(BufferTest, CopiesShareAndMovesHandOver) {
  Buffer first = Buffer::allocate(100);
  EXPECT_TRUE(first.unique());
  Buffer second = first;
  EXPECT_EQ(first.useCount(), 2u);
  EXPECT_EQ(second.data(), first.data());
  Buffer third = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(third.useCount(), 2u);
  second = third;
  EXPECT_EQ(third.useCount(), 2u);
  third = *&third;
  EXPECT_EQ(third.useCount(), 2u);
  second = Buffer();
  EXPECT_TRUE(third.unique());
}

TEST_F(BufferTest, ReusesAReturnedBlock) {
  for (size_t bytes : {size_t(0), size_t(1), size_t(1000), MiB, 3 * MiB}) {
    void *data = Buffer::allocate(bytes).data();
    PoolStatistics before = poolStatistics();
    size_t allocations = calque::test::allocationCount();
    for (int turn = 0; turn < 100; ++turn) {
      Buffer buffer = Buffer::allocate(bytes);
      ASSERT_EQ(buffer.data(), data) << bytes;
    }
    EXPECT_EQ(calque::test::allocationCount(), allocations) << bytes;
    EXPECT_EQ(poolStatistics().systemAllocations, before.systemAllocations) << bytes;
  }
}

TEST_F(BufferTest, ReusesForSizesOfTheSameClass) {
  void *data = Buffer::allocate(1100).data();
  EXPECT_EQ(Buffer::allocate(1280).data(), data);
  EXPECT_NE(Buffer::allocate(1281).data(), data);
}

TEST_F(BufferTest, StatisticsFollowABlock) {
  PoolStatistics before = poolStatistics();
  EXPECT_EQ(before.cachedBytes, 0u);
  {
    Buffer buffer = Buffer::allocate(1281); // of the class of 1536
    PoolStatistics held = poolStatistics();
    EXPECT_EQ(held.liveBytes, before.liveBytes + 1536);
    EXPECT_EQ(held.cachedBytes, 0u);
    EXPECT_EQ(held.systemAllocations, before.systemAllocations + 1);
  }
  PoolStatistics returned = poolStatistics();
  EXPECT_EQ(returned.liveBytes, before.liveBytes);
  EXPECT_EQ(returned.cachedBytes, 1536u);
  trimPool();
  EXPECT_EQ(poolStatistics().cachedBytes, 0u);
  EXPECT_EQ(poolStatistics().systemAllocations, before.systemAllocations + 1);
}

TEST_F(BufferTest, LimitBoundsWhatIsCached) {
  setPoolLimit(4 * MiB);
  {
    std::vector<Buffer> buffers;
    for (int i = 0; i < 10; ++i)
      buffers.push_back(Buffer::allocate(MiB));
  }
  EXPECT_EQ(poolStatistics().cachedBytes, 4 * MiB);
  setPoolLimit(2 * MiB);
  EXPECT_EQ(poolStatistics().cachedBytes, 2 * MiB);
  setPoolLimit(0);
  EXPECT_EQ(poolStatistics().cachedBytes, 0u);
  Buffer::allocate(64);
  EXPECT_EQ(poolStatistics().cachedBytes, 0u);
}

size_t residentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST_F(BufferTest, NoMoreWaitsThanWasLiveAtOnce) {
  for (size_t size = 4; size <= 128; size += 4) // a class for most of them
    Buffer::allocate(size * MiB);
  EXPECT_LE(poolStatistics().cachedBytes, (128 + 64) * MiB);
  EXPECT_GE(poolStatistics().cachedBytes, 128 * MiB);
}

TEST_F(BufferTest, WhatIsNoLongerUsedGoesBackToTheSystem) {
  setPoolPeriod(std::chrono::hours(1)); // none ends while a slow machine fills the blocks and gives them back
  {
    std::vector<Buffer> buffers;
    for (int i = 0; i < 8; ++i) {
      buffers.push_back(Buffer::allocate(32 * MiB));
      std::memset(buffers.back().data(), 1, 32 * MiB);
    }
  }
  size_t resident = residentBytes();
  EXPECT_GE(poolStatistics().cachedBytes, 8 * 32 * MiB);
  setPoolPeriod(std::chrono::milliseconds(20));
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (poolStatistics().cachedBytes > 64 * MiB && std::chrono::steady_clock::now() < end)
    Buffer::allocate(64); // as a program does that goes on with small tensors
  EXPECT_LE(poolStatistics().cachedBytes, 64 * MiB);
  EXPECT_LE(residentBytes() + 150 * MiB, resident);
}

TEST_F(BufferTest, ALoopKeepsWhatItUses) {
  setPoolPeriod(std::chrono::milliseconds(500));
  auto turn = [] {
    std::vector<Buffer> buffers;
    for (size_t size : {200, 100, 50, 30, 10, 1})
      buffers.push_back(Buffer::allocate(size * MiB));
  };
  turn();
  size_t before = poolStatistics().systemAllocations;
  auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1600); // over three periods
  while (std::chrono::steady_clock::now() < end)
    turn();
  EXPECT_EQ(poolStatistics().systemAllocations, before);
}

TEST_F(BufferTest, LimitPrefersTheSizesInUse) {
  setPoolLimit(4 * MiB);
  Buffer::allocate(3 * MiB); // never asked for again
  for (int turn = 0; turn < 2; ++turn) {
    Buffer first = Buffer::allocate(MiB), second = Buffer::allocate(MiB);
  }
  size_t before = poolStatistics().systemAllocations;
  {
    Buffer first = Buffer::allocate(MiB), second = Buffer::allocate(MiB);
  }
  EXPECT_EQ(poolStatistics().systemAllocations, before);
  EXPECT_LE(poolStatistics().cachedBytes, 4 * MiB);
}

TEST_F(BufferTest, LargerThanTheLimitLeavesTheOthersCached) {
  setPoolLimit(MiB);
  Buffer::allocate(1024);
  Buffer::allocate(2 * MiB);
  EXPECT_EQ(poolStatistics().cachedBytes, 1024u);
}

TEST_F(BufferTest, ImpossibleSizesThrow) {
  PoolStatistics before = poolStatistics();
  EXPECT_THROW(Buffer::allocate(~size_t(0)), std::bad_alloc);
  EXPECT_THROW(Buffer::allocate((size_t(1) << 46) + 1), std::bad_alloc);
  EXPECT_THROW(Buffer::allocate(size_t(1) << 46), std::bad_alloc); // in range, but more than there is
  EXPECT_EQ(poolStatistics().liveBytes, before.liveBytes);
}

TEST_F(BufferTest, ForeignMemoryIsReleasedOnceByTheLastHandle) {
  int releases = 0;
  float values[3] = {1, 2, 3};
  PoolStatistics before = poolStatistics();
  {
    Buffer outer;
    {
      Buffer buffer = Buffer::foreign(values, sizeof values, [&] { ++releases; });
      EXPECT_EQ(buffer.data(), values);
      EXPECT_EQ(buffer.bytes(), sizeof values);
      EXPECT_EQ(poolStatistics().liveBytes, before.liveBytes);
      outer = buffer;
    }
    EXPECT_EQ(releases, 0);
  }
  EXPECT_EQ(releases, 1);
  EXPECT_EQ(poolStatistics().cachedBytes, before.cachedBytes);
  Buffer::foreign(values, sizeof values, nullptr); // nothing to release
}

TEST_F(BufferTest, LastOfManyThreadsReleasesAndSeesAllWrites) {
  for (int turn = 0; turn < 200; ++turn) {
    int values[8] = {}, sum = 0, releases = 0;
    Buffer shared = Buffer::foreign(values, sizeof values, [&] {
      ++releases;
      for (int value : values)
        sum += value;
    });
    std::vector<std::thread> threads;
    for (int index = 0; index < 8; ++index)
      threads.emplace_back([index, copy = shared] {
        Buffer another = copy;
        static_cast<int *>(another.data())[index] = index;
      });
    shared = Buffer();
    for (std::thread &thread : threads)
      thread.join();
    ASSERT_EQ(releases, 1);
    ASSERT_EQ(sum, 28);
  }
}

TEST_F(BufferTest, ThreadsNeverShareABlock) {
  size_t liveBefore = poolStatistics().liveBytes;
  setPoolLimit(256 * 1024); // so that eviction takes part
  std::vector<std::thread> threads;
  std::atomic<int> mistakes{0};
  for (unsigned id = 1; id <= 8; ++id)
    threads.emplace_back([&, id] {
      uint32_t random = id;
      std::vector<Buffer> held(16);
      for (int turn = 0; turn < 5000; ++turn) {
        random = random * 1664525 + 1013904223;
        Buffer &buffer = held[(random >> 8) % held.size()];
        if (buffer) {
          auto *words = static_cast<uint32_t *>(buffer.data());
          for (size_t i = 0; i < buffer.bytes() / 4; i += 64)
            mistakes += words[i] != (id << 24 | i);
        }
        buffer = Buffer::allocate(size_t(4) << (random >> 16) % 15);
        auto *words = static_cast<uint32_t *>(buffer.data());
        for (size_t i = 0; i < buffer.bytes() / 4; i += 64)
          words[i] = uint32_t(id << 24 | i);
        if (turn % 1000 == 0)
          trimPool();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(mistakes, 0);
  EXPECT_EQ(poolStatistics().liveBytes, liveBefore);
  EXPECT_LE(poolStatistics().cachedBytes, 256u * 1024);
  trimPool();
  EXPECT_EQ(poolStatistics().cachedBytes, 0u);
}

// Dies after every other static object and after the pool's users: the program's exit is the test.
Buffer outlivesEverything = Buffer::allocate(12345);

TEST_F(BufferTest, LivesBeforeMainAndAfter) { EXPECT_EQ(outlivesEverything.bytes(), 12345u); }

#ifdef __SANITIZE_ADDRESS__
using BufferDeathTest = BufferTest;

TEST_F(BufferDeathTest, AddressSanitizerFindsUseOfAReturnedBlock) {
  for (size_t bytes : {size_t(100), 3 * MiB}) {
    auto *data = static_cast<volatile char *>(Buffer::allocate(bytes).data());
    EXPECT_DEATH(data[50] = 1, "use-after-poison");
  }
}

TEST_F(BufferDeathTest, AddressSanitizerFindsWritesPastTheEnd) {
  for (int turn = 0; turn < 2; ++turn) { // fresh and reused
    Buffer buffer = Buffer::allocate(100);
    EXPECT_DEATH(static_cast<volatile char *>(buffer.data())[100] = 1, "use-after-poison");
  }
}
#endif

} // namespace
