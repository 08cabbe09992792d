// Processes that are forked while other threads trace, compile and compute.
#include "test/frontend/Testing.h"

#include <atomic>
#include <csignal>
#include <future>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace calque;
using namespace calque::testing;

namespace {

// No thread can be started in a forked process under this sanitizer.
#if defined(__SANITIZE_THREAD__)
constexpr bool kMayFork = false;
#else
constexpr bool kMayFork = true;
#endif

// Runs what the child does, which says whether it was right, and gives its exit status: 0. A child that hangs is
// killed.
template <typename F> int statusOfChild(F run) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool isRight = false;
    try {
      isRight = run();
    } catch (const std::exception &error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    std::_Exit(isRight ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// Elements 0, 1, ... of each size.
Tensor upTo(std::int64_t n) { return iota({n}, DType::Float32); }
float sumUpTo(std::int64_t n) { return static_cast<float>(n * (n - 1) / 2); }

// So that no earlier run has left code on the disk.
float unknownNumber() { return 1 + static_cast<float>(std::random_device()() % 1'000'000) / 1'000'000; }

} // namespace

TEST(Fork, LeavesNoTraceOfAnotherThreadHalfDone) {
  if (!kMayFork)
    GTEST_SKIP();
  std::promise<void> isTracing, mayGoOn;
  std::shared_future<void> goOn = mayGoOn.get_future().share();
  std::atomic<bool> waits{false};
  auto f = function([&](const Tensor &x) {
    if (waits.exchange(false)) {
      isTracing.set_value();
      goOn.wait();
    }
    return sum(x) * 2;
  });
  EXPECT_EQ(f(upTo(3)).item<float>(), 6);
  waits = true;
  std::thread tracing([&] { EXPECT_EQ(f(upTo(4)).item<float>(), 12); });
  isTracing.get_future().wait();
  for (std::int64_t n : {3, 4, 5}) // known, the one that is traced, and new
    EXPECT_EQ(statusOfChild([&] { return f(upTo(n)).item<float>() == 2 * sumUpTo(n) && f.trace_count() > 0; }), 0) << n;
  mayGoOn.set_value();
  tracing.join();
  EXPECT_EQ(f(upTo(4)).item<float>(), 12);
}

// A lambda may fork itself, and what its thread owns stays its own.
TEST(Fork, InALambdaLeavesItsTraceToBoth) {
  if (!kMayFork)
    GTEST_SKIP();
  int status = -1;
  auto g = function([](const Tensor &x) { return x + 1; });
  auto f = function([&](const Tensor &x) {
    Tensor y = g(x);
    if (x.shape()[0] == 5)
      status = statusOfChild([&] {
        InitScope scope;
        return sum(g(upTo(7))).item<float>() == sumUpTo(7) + 7;
      });
    return sum(y);
  });
  EXPECT_EQ(f(upTo(5)).item<float>(), 15);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(f(upTo(6)).item<float>(), 21);
}

TEST(Fork, WaitsUntilNothingIsHalfWritten) {
  if (!kMayFork)
    GTEST_SKIP();
  const float number = unknownNumber();
  std::atomic<bool> ends{false};
  std::atomic<std::int64_t> size{2};
  auto shared = function([&](const Tensor &x) { return sum(x * number); }, {.max_traces = 8});
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      while (!ends) {
        const std::int64_t n = size++;
        shared(upTo(n % 100 + 2));
        // A function of its own, which has code of its own, and eager operations of new shapes.
        const float other = number + static_cast<float>(n) + static_cast<float>(i) / 4;
        function([&](const Tensor &x) { return sum(sin(x * other)); })(upTo(n % 3 + 2));
        matmul(ones({n % 50 + 1, 3}), ones({3, 2}));
      }
    });
  for (int turn = 0; turn < 25; ++turn) {
    const std::int64_t n = 200 + turn;
    EXPECT_EQ(statusOfChild([&] {
                const Tensor x = upTo(n);
                const float one = shared(x).item<float>() / sumUpTo(n);
                auto fresh = function([&](const Tensor &x) { return sum(x * x) * (number + 1); });
                const float slope = grad(fresh)(x).to_vector<float>()[2];
                const float large = sum(ones({1 << 20}) * 2).item<float>();
                return std::abs(one - number) < 1e-4 && std::abs(slope - 4 * (number + 1)) < 1e-3 && large == 1 << 21 &&
                       sum(matmul(ones({n, 3}), ones({3, 2}))).item<float>() == static_cast<float>(6 * n);
              }),
              0)
        << turn;
  }
  ends = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_NEAR(shared(upTo(300)).item<float>() / sumUpTo(300), number, 1e-4);
}
