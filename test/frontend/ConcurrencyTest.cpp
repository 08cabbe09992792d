// What several threads may do at once: first calls, calls of all kinds, updates of variables. Run under tsan as well.
#include "Testing.h"

#include <atomic>
#include <barrier>

using namespace calque;
using namespace calque::testing;

namespace {

// Runs body(i) on as many threads, which start together.
template <typename F> void onThreads(int count, F body) {
  std::barrier start(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      body(i);
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace

TEST(Concurrency, AHundredSimultaneousFirstCallsTraceOnce) {
  std::atomic<int> runs{0};
  auto f = function([&](const Tensor &x) {
    ++runs;
    return x * x + 1;
  });
  std::vector<float> results(100);
  onThreads(100, [&](int i) { results[i] = f(scalar(static_cast<float>(i))).item<float>(); });
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(results[i], static_cast<float>(i * i + 1));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(Concurrency, FirstEagerOperationsOfOneKindAgree) {
  std::vector<std::vector<float>> results(16);
  onThreads(16, [&](int i) { results[i] = (full({3}, i) - full({3}, 0.5f)).to_vector<float>(); });
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(results[i], std::vector<float>(3, static_cast<float>(i) - 0.5f));
}

// Two functions and a variable are shared; every call has one of six signatures, and the lambda throws at the first
// traces of one of them, after it has assigned.
TEST(Concurrency, CallsOfManySignaturesSomeOfWhichThrow) {
  struct Fault {};
  constexpr int kThreads = 16, kCalls = 40, kFaults = 5;
  Variable calls(scalar<std::int64_t>(0));
  std::atomic<int> faultsLeft{kFaults}, faults{0}, successes{0};
  auto f = function([&](const Tensor &x, int kind) {
    calls.assign_add(1);
    if (kind == 2 && faultsLeft > 0) {
      --faultsLeft;
      throw Fault();
    }
    return x * kind + 1;
  });
  auto g = function([&](const Tensor &x) { return sum(f(x, 1)) - 1; });
  onThreads(kThreads, [&](int thread) {
    for (int i = 0; i < kCalls; ++i) {
      int kind = (thread + i) % 3, size = 1 + (thread + i) % 2;
      try {
        Tensor y = f(full({size}, static_cast<float>(i)), kind);
        ++successes;
        EXPECT_EQ(y.to_vector<float>(), std::vector<float>(size, static_cast<float>(i * kind + 1)));
        EXPECT_EQ(g(full({1}, static_cast<float>(i))).item<float>(), static_cast<float>(i));
        ++successes;
      } catch (const Fault &) {
        ++faults;
      }
    }
  });
  EXPECT_EQ(faults, kFaults);
  EXPECT_EQ(f.trace_count(), 6);
  EXPECT_EQ(g.trace_count(), 1);
  EXPECT_EQ(calls.value().item<std::int64_t>(), successes)
      << "a call that threw has counted, or one that returned has not";
  expectValues(f(full({1}, 4), 2), {9});
  EXPECT_EQ(f.trace_count(), 6);
}

TEST(Concurrency, UpdatesOfAVariableAreNotLost) {
  constexpr int kThreads = 16, kCalls = 50;
  Variable v(scalar<std::int64_t>(0));
  auto add = function([&](const Tensor &x) { v.assign_add(x); });
  auto addTo = function([](Variable to, const Tensor &x) { to.assign_add(x); });
  onThreads(kThreads, [&](int thread) {
    for (int i = 0; i < kCalls; ++i)
      switch ((thread + i) % 4) {
      case 0:
        add(scalar<std::int64_t>(1));
        break;
      case 1:
        addTo(v, scalar<std::int64_t>(1));
        break;
      case 2:
        v.assign_add(1);
        break;
      default:
        v.assign_sub(-1);
      }
  });
  EXPECT_EQ(v.value().item<std::int64_t>(), kThreads * kCalls);
}

// Each thread takes the same two variables, in either order; a reader sees both before a call or both after it.
// Calls write over the value that readers ask for. What a reader has stays as it was.
TEST(Concurrency, ReadersOfAVariableThatIsWrittenInPlaceSeeWholeValues) {
  constexpr int kCalls = 300;
  constexpr std::int64_t kSize = 5000;
  Variable v(zeros({kSize}));
  auto add = function([&] { v.assign_add(1); });
  std::atomic<bool> done{false};
  onThreads(4, [&](int thread) {
    if (thread == 0) {
      for (int i = 0; i < kCalls; ++i)
        add();
      done = true;
    }
    float last = 0;
    while (!done) {
      Tensor value = v.value();
      std::vector<float> elements = value.to_vector<float>();
      EXPECT_GE(elements[0], last);
      last = elements[0];
      EXPECT_EQ(elements, std::vector<float>(kSize, last));
      EXPECT_EQ(value.to_vector<float>(), elements);
    }
  });
  expectValues(sum(v.value()), {static_cast<float>(kCalls * kSize)});
}

TEST(Concurrency, CallsOnSeveralVariablesAreAtomic) {
  Variable a(scalar<std::int64_t>(500)), b(scalar<std::int64_t>(500));
  auto move = function([](Variable from, Variable to, const Tensor &amount) {
    from.assign_sub(amount);
    to.assign_add(amount);
  });
  auto total = function([&] { return a + b; });
  onThreads(8, [&](int thread) {
    for (int i = 0; i < 50; ++i) {
      if (thread % 2)
        move(a, b, scalar<std::int64_t>(i));
      else
        move(b, a, scalar<std::int64_t>(i));
      EXPECT_EQ(total().item<std::int64_t>(), 1000);
    }
  });
  EXPECT_EQ(a.value().item<std::int64_t>(), 500);
}

TEST(Concurrency, ClearingAFunctionLeavesCallsUnderWayAlone) {
  auto f = function([](const Tensor &x) { return x + 1; });
  onThreads(4, [&](int thread) {
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(f(scalar(static_cast<float>(i))).item<float>(), static_cast<float>(i + 1));
      if (thread == 0)
        f.clear();
    }
  });
}

TEST(Concurrency, EachThreadHasItsOwnTapes) {
  Variable w(scalar(3.0f));
  auto loss = function([&](const Tensor &x) { return x * w * w; });
  onThreads(8, [&](int thread) {
    for (int i = 0; i < 5; ++i) {
      GradientTape tape;
      std::optional<Tensor> gradient = tape.gradient(loss(scalar(static_cast<float>(thread))), w);
      ASSERT_TRUE(gradient);
      EXPECT_EQ(gradient->item<float>(), static_cast<float>(6 * thread));
    }
  });
}

// 16 threads make 10,000 calls each: of one function with a variable, of one whose traces evict each other, of one that
// fails at every tenth call, of a concrete function and of eager operations.
TEST(Concurrency, ManyCallsSomeOfWhichRetraceOrFail) {
  constexpr int kThreads = 16, kCalls = 10'000, kRetraceEvery = 500, kFailEvery = 10;
  Variable calls(scalar<std::int64_t>(0));
  auto count = function([&](const Tensor &x) {
    calls.assign_add(1);
    return x * 2;
  });
  auto evicting = function([](const Tensor &x, int n) { return x + n; }, {.max_traces = 3});
  auto failing = function([&](const Tensor &x) {
    calls.assign_add(1000);
    assert_true(x < 0.0f, "not negative");
  });
  auto concrete =
      function([](const Tensor &x, int n) { return x * n; }).get_concrete_function(TensorSpec<float>({2}), 3);
  WarningHandler before = set_warning_handler([](const Warning &) {});
  std::atomic<std::int64_t> counted{0}, failed{0}, wrong{0};
  onThreads(kThreads, [&](int thread) {
    Tensor x = full({2}, static_cast<float>(thread)), y = scalar(1.0f);
    for (int i = 0; i < kCalls; ++i) {
      float expected = 0;
      Tensor result = x;
      if (i % kFailEvery == 0) {
        try {
          failing(y);
        } catch (const AssertionError &) {
          ++failed;
        }
        expected = static_cast<float>(thread);
      } else if (i % kRetraceEvery == 1) {
        result = evicting(x, (thread + i / kRetraceEvery) % 5);
        expected = static_cast<float>(thread + (thread + i / kRetraceEvery) % 5);
      } else if (i % 3 == 0) {
        result = count(x);
        expected = static_cast<float>(2 * thread);
        ++counted;
      } else if (i % 3 == 1) {
        result = concrete(x);
        expected = static_cast<float>(3 * thread);
      } else {
        result = x + x;
        expected = static_cast<float>(2 * thread);
      }
      wrong += result.data<float>()[1] != expected;
    }
  });
  set_warning_handler(before);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(failed, kThreads * kCalls / kFailEvery);
  EXPECT_EQ(calls.value().item<std::int64_t>(), counted);
  EXPECT_EQ(count.trace_count(), 1);
  EXPECT_GT(evicting.trace_count(), 5) << "nothing was evicted";
}
