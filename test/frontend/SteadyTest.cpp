// What a steady call must not do: take memory, or keep some.
#include "test/runtime/AllocationCounter.h"

#include "Testing.h"
#include "test/Sanitizer.h"

#include <fstream>
#include <unistd.h>

using namespace calque;
using namespace calque::testing;
using calque::test::allocationCount;

namespace {

// How often `call` takes memory, once it has been called some times.
template <typename F> std::size_t allocationsOf(F call, int calls = 1000) {
  for (int i = 0; i < calls / 5; ++i)
    call();
  std::size_t before = allocationCount();
  for (int i = 0; i < calls; ++i)
    call();
  return allocationCount() - before;
}

std::size_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class SteadyCalls : public ::testing::Test {
protected:
  void SetUp() override {
    if (isSanitized())
      GTEST_SKIP() << "sanitizers allocate on their own";
  }
};

} // namespace

TEST_F(SteadyCalls, OfAScalarFunctionAllocateNothing) {
  auto f = function([](const Tensor &x) { return x + 1; });
  Tensor x = scalar(1.0f);
  EXPECT_EQ(allocationsOf([&] { f(x); }), 0u);
}

TEST_F(SteadyCalls, OfSeveralTensorsAllocateNothing) {
  auto f = function(
      [](const Tensor &a, const Tensor &b, const Tensor &c, int n) { return std::pair(matmul(a, b) + c, a * n); });
  Tensor a = ones({8, 8}), b = ones({8, 8}), c = ones({8});
  EXPECT_EQ(allocationsOf([&] { f(a, b, c, 3); }), 0u);
}

TEST_F(SteadyCalls, OfAFunctionWithVariablesAllocateNothing) {
  Variable v(zeros({16})), w(ones({16}));
  auto f = function([&](Variable argument, const Tensor &x) {
    v.assign_add(x * w);
    argument.assign(x);
    return sum(v);
  });
  Tensor x = ones({16});
  EXPECT_EQ(allocationsOf([&] { f(w, x); }), 0u);
}

TEST_F(SteadyCalls, OfUnknownSizesAllocateNothing) {
  auto f = function([](const Tensor &x) { return tanh(x) + sum(x); },
                    {.input_signature = {TensorSpec<float>({kDynamic, 3})}});
  Tensor few = ones({2, 3}), many = ones({7, 3});
  EXPECT_EQ(allocationsOf([&] {
              f(few);
              f(many);
            }),
            0u);
  EXPECT_EQ(f.trace_count(), 1);
}

TEST_F(SteadyCalls, OfRelatedKindsAllocateNothing) {
  auto body = [](const Tensor &x, int n) { return x * n; };
  auto declared = function(body, {.input_signature = {TensorSpec<float>({4})}});
  auto capped = function(body, {.max_traces = 2});
  auto concrete = function(body).get_concrete_function(TensorSpec<float>({4}), 2);
  Tensor x = ones({4});
  EXPECT_EQ(allocationsOf([&] { declared(x, 2); }), 0u);
  EXPECT_EQ(allocationsOf([&] {
              capped(x, 2);
              capped(x, 3);
            }),
            0u);
  EXPECT_EQ(allocationsOf([&] { concrete(x, 2); }), 0u);
  EXPECT_EQ(allocationsOf([&] { concrete(x); }), 0u);
}

TEST_F(SteadyCalls, OfEagerOperationsAllocateNothing) {
  Tensor x = ones({8}), y = ones({8});
  EXPECT_EQ(allocationsOf([&] { x + y; }), 0u);
  EXPECT_EQ(allocationsOf([&] { x * 2 - y / 3.5f; }), 0u);
  Variable v(ones({8}));
  EXPECT_EQ(allocationsOf([&] { v.assign_add(x); }), 0u);
}

TEST_F(SteadyCalls, WhoseResultsDieOnOtherThreadsAllocateNothing) {
  auto f = function([](const Tensor &x) { return x + 1; });
  std::vector<Tensor> results(100);
  Tensor x = scalar(1.0f);
  std::atomic<int> turn{0};
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) {
      if (turn == 1) {
        for (Tensor &result : results)
          result = Tensor();
        turn = 0;
      }
      std::this_thread::yield();
    }
  });
  std::size_t allocations = allocationsOf(
      [&] {
        while (turn != 0)
          std::this_thread::yield();
        for (Tensor &result : results)
          result = f(x);
        turn = 1;
      },
      50);
  done = true;
  other.join();
  EXPECT_EQ(allocations, 0u);
}

TEST_F(SteadyCalls, AMillionLeaveMemoryAsItWas) {
  Variable v(zeros({16}));
  auto f = function([&](const Tensor &x, int n) {
    v.assign_add(x * n);
    return sum(x);
  });
  Tensor x = ones({16});
  auto call = [&](int i) {
    f(x, i % 4);
    if (i % 8 == 0)
      x + x;
  };
  for (int i = 0; i < 1000; ++i)
    call(i);
  std::size_t before = residentBytes();
  for (int i = 0; i < 1'000'000; ++i)
    call(i);
  EXPECT_LT(static_cast<double>(residentBytes()), 1.01 * static_cast<double>(before));
}
