// Tests runtime/ThreadPool.h and calque_rt_parallel_for: the cut, who runs the pieces, and the number of threads.
#include "runtime/ThreadPool.h"

#include "AllocationCounter.h"
#include "test/Sanitizer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace calque::runtime;

namespace {

class ThreadPoolTest : public testing::TestWithParam<int> {
protected:
  void TearDown() override { setThreadCount(0); }
};

// Runs on 1, 2 and more threads than there are CPUs.
class ThreadPoolOnAnyCount : public ThreadPoolTest {
protected:
  void SetUp() override { setThreadCount(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolOnAnyCount, testing::Values(1, 2, 7),
                         [](const auto &info) { return std::to_string(info.param); });

TEST_P(ThreadPoolOnAnyCount, RunsEveryIndexExactlyOnce) {
  for (int64_t count : {0, 1, 2, 3, 7, 64, 1000, 1001, 4099})
    for (int64_t grain : {-1, 0, 1, 2, 3, 64, 999, 1000, 5000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
      std::atomic<int64_t> pieces{0}, misfits{0};
      parallelFor(count, grain, [&](int64_t begin, int64_t end) {
        ++pieces;
        int64_t step = grain < 1 ? 1 : grain;
        misfits += begin % step != 0 || end != std::min(begin + step, count) || begin >= end;
        for (int64_t i = begin; i < end; ++i)
          ++visits[static_cast<size_t>(i)];
      });
      ASSERT_EQ(pieces, pieceCount(count, grain)) << count << " by " << grain;
      ASSERT_EQ(misfits, 0) << count << " by " << grain;
      for (auto &visit : visits)
        ASSERT_EQ(visit, 1) << count << " by " << grain;
    }
}

#if defined(__x86_64__)
// Each thread must find the caller's mode, also one that has served a loop of another mode before. Pieces wait for each
// other, so that all threads take part.
TEST_P(ThreadPoolOnAnyCount, ThreadsTakeTheModeOfTheCaller) {
  const unsigned before = __builtin_ia32_stmxcsr();
  constexpr unsigned FlushToZero = 0x8000, DenormalsAreZeros = 0x40, RoundUp = 0x4000, AllModes = 0xe040;
  for (unsigned mode : {0u, FlushToZero | DenormalsAreZeros, 0u, RoundUp, FlushToZero}) {
    __builtin_ia32_ldmxcsr((before & ~AllModes) | mode);
    std::vector<unsigned> seen(size_t(GetParam()), ~0u);
    std::atomic<int> inside{0};
    parallelFor(GetParam(), 1, [&](int64_t begin, int64_t) {
      ++inside;
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
      while (inside < GetParam() && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
      seen[size_t(begin)] = __builtin_ia32_stmxcsr() & AllModes;
    });
    __builtin_ia32_ldmxcsr(before);
    EXPECT_EQ(seen, std::vector<unsigned>(size_t(GetParam()), mode));
  }
}
#endif

TEST_P(ThreadPoolOnAnyCount, NegativeCountRunsNothing) {
  parallelFor(-5, 1, [](int64_t, int64_t) { FAIL(); });
}

TEST_P(ThreadPoolOnAnyCount, CutDoesNotOverflow) {
  std::atomic<int64_t> covered{0};
  constexpr int64_t Grain = INT64_MAX / 2 - 1;
  parallelFor(INT64_MAX, Grain, [&](int64_t begin, int64_t end) { covered += end - begin; });
  EXPECT_EQ(covered, INT64_MAX);
}

TEST_P(ThreadPoolOnAnyCount, NestedLoopsRunEveryIndexOnce) {
  std::vector<std::atomic<int>> visits(31 * 17 * 5);
  parallelFor(31, 1, [&](int64_t i, int64_t) {
    parallelFor(17, 2, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        parallelFor(5, 1, [&](int64_t k, int64_t) { ++visits[static_cast<size_t>((i * 17 + j) * 5 + k)]; });
    });
  });
  for (auto &visit : visits)
    ASSERT_EQ(visit, 1);
}

TEST_P(ThreadPoolOnAnyCount, ManyShortLoopsFollowEachOther) {
  int64_t total = 0;
  for (int turn = 0; turn < 20000; ++turn) {
    int64_t partial[4] = {};
    parallelFor(4, 1, [&](int64_t piece, int64_t) { partial[piece] = piece + turn; });
    for (int64_t value : partial)
      total += value;
  }
  EXPECT_EQ(total, int64_t(20000) * 6 + 4 * (int64_t(19999) * 20000 / 2));
}

TEST_P(ThreadPoolOnAnyCount, LoopsWakeThreadsThatFellAsleep) {
  for (int turn = 0; turn < 20; ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1)); // longer than threads stay awake
    std::atomic<int> pieces{0};
    parallelFor(5, 1, [&](int64_t, int64_t) {
      ++pieces;
      std::this_thread::sleep_for(std::chrono::microseconds(300)); // and so the caller falls asleep, too
    });
    ASSERT_EQ(pieces, 5);
  }
}

TEST_P(ThreadPoolOnAnyCount, CallsDoNotAllocate) {
  auto loop = [] { parallelFor(100, 3, [](int64_t, int64_t) {}); };
  loop(); // starts the threads
  size_t before = calque::test::allocationCount();
  for (int turn = 0; turn < 1000; ++turn)
    loop();
  EXPECT_EQ(calque::test::allocationCount(), before);
}

TEST_P(ThreadPoolOnAnyCount, ConcurrentCallersEachGetTheirOwnLoop) {
  std::vector<std::thread> callers;
  std::atomic<int> mistakes{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int turn = 0; turn < 500; ++turn) {
        std::vector<int> values(257);
        parallelFor(257, 10, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i)
            values[static_cast<size_t>(i)] += int(i) * caller + turn;
        });
        for (int i = 0; i < 257; ++i)
          mistakes += values[static_cast<size_t>(i)] != i * caller + turn;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(mistakes, 0);
}

TEST_F(ThreadPoolTest, SecondCallerProgressesWhileThePoolIsBusy) {
  setThreadCount(2);
  std::atomic<bool> firstIsIn{false}, secondIsDone{false};
  std::thread second([&] {
    firstIsIn.wait(false);
    auto self = std::this_thread::get_id();
    parallelFor(10, 1, [&](int64_t, int64_t) { EXPECT_EQ(std::this_thread::get_id(), self); });
    secondIsDone = true;
    secondIsDone.notify_all();
  });
  parallelFor(2, 1, [&](int64_t, int64_t) { // ends only when the second caller's loop has ended
    firstIsIn = true;
    firstIsIn.notify_all();
    secondIsDone.wait(false);
  });
  second.join();
}

TEST_F(ThreadPoolTest, TwoThreadsWorkAtTheSameTime) {
  setThreadCount(2);
  for (int turn = 0; turn < 3; ++turn) {
    std::atomic<int> inside{0};
    parallelFor(2, 1, [&](int64_t, int64_t) { // each piece waits for the other
      ++inside;
      inside.notify_all();
      for (int seen = inside; seen < 2; seen = inside)
        inside.wait(seen);
    });
    EXPECT_EQ(inside, 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(10)); // the next turn finds the other thread asleep
  }
}

TEST_F(ThreadPoolTest, OneThreadOrOnePieceStaysOnTheCaller) {
  auto self = std::this_thread::get_id();
  auto staysHere = [&](int64_t begin, int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), self) << begin << " to " << end;
  };
  setThreadCount(2);
  for (int turn = 0; turn < 100; ++turn)
    parallelFor(1000, 1000, staysHere);
  setThreadCount(1);
  for (int turn = 0; turn < 100; ++turn)
    parallelFor(1000, 1, staysHere);
}

// A sum whose order of additions follows the pieces.
uint32_t bitsOfSum(int threads) {
  setThreadCount(threads);
  constexpr int64_t Count = 100'003, Grain = 1'000;
  std::vector<float> partial(static_cast<size_t>(pieceCount(Count, Grain)));
  parallelFor(Count, Grain, [&](int64_t begin, int64_t end) {
    float sum = 0;
    for (int64_t i = begin; i < end; ++i)
      sum += std::sin(float(i)) * float(i);
    partial[static_cast<size_t>(begin / Grain)] = sum;
  });
  float sum = 0;
  for (float value : partial)
    sum += value;
  uint32_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  return bits;
}

TEST_F(ThreadPoolTest, PiecesAreTheSameOnAnyNumberOfThreads) {
  auto piecesOn = [](int threads) {
    setThreadCount(threads);
    std::vector<int64_t> ends(static_cast<size_t>(pieceCount(10'007, 13)));
    parallelFor(10'007, 13, [&](int64_t begin, int64_t end) { ends[static_cast<size_t>(begin / 13)] = end; });
    return ends;
  };
  EXPECT_EQ(piecesOn(1), piecesOn(2));
  EXPECT_EQ(piecesOn(1), piecesOn(5));
  EXPECT_EQ(bitsOfSum(1), bitsOfSum(2));
  EXPECT_EQ(bitsOfSum(1), bitsOfSum(5));
}

TEST_F(ThreadPoolTest, ThreadCountChangesAtAnyTime) {
  std::atomic<bool> done{false};
  std::thread changer([&] {
    for (int turn = 0; turn < 300; ++turn)
      setThreadCount(turn % 5 + 1);
    done = true;
  });
  for (int turn = 0; !done || turn < 100; ++turn) {
    std::atomic<int64_t> sum{0};
    parallelFor(100, 7, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        sum += i;
      if (begin == 0)
        setThreadCount(turn % 3 + 1); // from within a loop, too
    });
    ASSERT_EQ(sum, 4950);
  }
  changer.join();
}

TEST_F(ThreadPoolTest, AForkedProcessStartsThreadsOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "this sanitizer allows no threads in a forked process";
#endif
  auto sum = [](int threads) {
    setThreadCount(threads);
    std::atomic<int64_t> sum{0};
    parallelFor(1000, 1, [&](int64_t begin, int64_t) { sum += begin; });
    return sum.load();
  };
  ASSERT_EQ(sum(4), 499'500);
  std::fflush(nullptr);
  for (int threads : {4, 2, 6, 1}) { // as many, fewer, more, and none
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      if (sum(threads) != 499'500 || sum(3) != 499'500)
        std::_Exit(1);
      if (calque::testing::isSanitized())
        std::_Exit(0); // Clang's sanitizer looks for leaks in threads that only the other process has
      std::exit(0);    // with static destructors, which end the threads
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << threads;
  }
  EXPECT_EQ(sum(4), 499'500);
}

TEST_F(ThreadPoolTest, DefaultCountComesFromTheEnvironment) {
  auto defaultWith = [](const char *calque, const char *openMp) {
    auto set = [](const char *name, const char *value) { value ? setenv(name, value, 1) : unsetenv(name); };
    std::string names[] = {"CALQUE_NUM_THREADS", "OMP_NUM_THREADS"};
    const char *values[] = {calque, openMp};
    std::pair<bool, std::string> saved[2];
    for (int i = 0; i < 2; ++i) {
      if (const char *old = std::getenv(names[i].c_str()))
        saved[i] = {true, old};
      set(names[i].c_str(), values[i]);
    }
    setThreadCount(0);
    for (int i = 0; i < 2; ++i)
      set(names[i].c_str(), saved[i].first ? saved[i].second.c_str() : nullptr);
    return threadCount();
  };
  EXPECT_EQ(defaultWith("3", "5"), 3);
  EXPECT_EQ(defaultWith(nullptr, "5"), 5);
  EXPECT_EQ(defaultWith(nullptr, "4,2"), 4);
  EXPECT_EQ(defaultWith("zero", "6"), 6);
  EXPECT_EQ(defaultWith("-2", "6"), 6);
  int hardware = static_cast<int>(std::thread::hardware_concurrency());
  EXPECT_EQ(defaultWith(nullptr, nullptr), hardware ? hardware : 1);
  setThreadCount(9);
  EXPECT_EQ(threadCount(), 9);
}

// The whole program runs again for these, so that its exit is what is tested.
class ThreadPoolDeathTest : public ThreadPoolTest {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

struct LoopsAtExit {
  ~LoopsAtExit() {
    if (!enabled)
      return;
    int64_t sum = 0;
    auto self = std::this_thread::get_id();
    parallelFor(10, 1, [&](int64_t begin, int64_t) { sum += std::this_thread::get_id() == self ? begin : 1000; });
    if (sum != 45)
      std::_Exit(3);
  }
  bool enabled = false;
} loopsAtExit; // older than the pool's threads, so it goes after them

TEST_F(ThreadPoolDeathTest, LoopsInStaticDestructorsRunOnTheirCaller) {
  EXPECT_EXIT(
      {
        setThreadCount(2);
        parallelFor(10, 1, [](int64_t, int64_t) {});
        loopsAtExit.enabled = true;
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ThreadPoolDeathTest, ExitWithinAPieceEndsTheProcess) {
  for (int64_t culprit : {0, 1}) // one of them runs on the caller, or both do
    EXPECT_EXIT(
        {
          setThreadCount(2);
          loopsAtExit.enabled = true;
          std::atomic<int> inside{0};
          parallelFor(2, 1, [&](int64_t piece, int64_t) {
            for (++inside; inside < 2;) {
            }
            if (piece == culprit)
              std::exit(5);
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
          });
          std::this_thread::sleep_for(std::chrono::seconds(10)); // exit() is under way on the other thread
        },
        testing::ExitedWithCode(5), "");
}

} // namespace
