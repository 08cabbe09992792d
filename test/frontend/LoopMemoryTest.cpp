// Loops whose gradients would keep more than a limit, and get checkpoints by themselves.
#include "calque/calque.h"
#include "frontend/compiled/CompilationCount.h"
#include "test/Sanitizer.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <fstream>
#include <set>
#include <sys/resource.h>

using namespace calque;
using namespace calque::testing;
using detail::compilationCount;

namespace {

const bool isLimited = !isSanitized(); // a sanitizer takes addresses as it likes

constexpr std::size_t kLimit = std::size_t(1) << 20, kMuch = std::size_t(1) << 40;

class LoopMemory : public ::testing::Test {
protected:
  void SetUp() override {
    before = set_warning_handler([this](const Warning &warning) { warnings.push_back(warning); });
  }
  void TearDown() override {
    set_loop_memory(0);
    set_warning_handler(before);
  }
  // Another limit than before, some 1 MiB: of a line, one limit is warned of once in a process.
  void setLimit() {
    static std::size_t more = 0;
    set_loop_memory(limit = kLimit + 16 * more++);
  }
  std::size_t limit = 0;
  WarningHandler before;
  std::vector<Warning> warnings;
};

void expectClose(const Tensor &found, const Tensor &expected) {
  ASSERT_EQ(found.shape(), expected.shape());
  for (std::size_t i = 0; i < valuesOf(expected).size(); ++i)
    EXPECT_NEAR(valuesOf(found)[i], valuesOf(expected)[i], 1e-12 * (1 + std::abs(valuesOf(expected)[i]))) << i;
}

Tensor start(std::int64_t size = 100) { return sin(iota({size}, DType::Float64)); }

// y = 0.99 sin(y) + 0.01 x for n iterations, by each kind of loop.
Tensor byForRange(const Tensor &x, const Tensor &n) {
  return for_range(0, n, x, [&](const Tensor &, const Tensor &y) { return 0.99 * sin(y) + 0.01 * x; });
}
Tensor byWhileLoop(const Tensor &x, const Tensor &n) {
  return std::get<1>(
      while_loop([&](const Tensor &i, const Tensor &) { return i < n; },
                 [&](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, 0.99 * sin(y) + 0.01 * x); },
                 std::tuple(scalar(0), x)));
}
Tensor byRange(const Tensor &x, const Tensor &n) {
  Tensor y = x;
  for (Tensor i : range(0, n))
    y = 0.99 * sin(y) + 0.01 * x;
  return y;
}
Tensor byWhile(const Tensor &x, const Tensor &n) {
  Tensor y = x, i = scalar(0);
  while (i < n) {
    y = 0.99 * sin(y) + 0.01 * x;
    i = i + 1;
  }
  return y;
}

template <typename Loop> auto gradientOf(Loop loop) {
  return function([=](const Tensor &x, const Tensor &n) {
    return value_and_grad([&](const Tensor &from) { return sum(square(loop(from, n))); })(x);
  });
}

// Runs something with no more than so many bytes of further addresses.
template <typename F> void withMemory(std::size_t bytes, F &&run) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit less = before;
  less.rlim_cur = pages * 4096 + bytes;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &less), 0);
  run();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}

} // namespace

TEST_F(LoopMemory, GivesACheckpointAtTheLimit) {
  const Tensor x = start(), few = scalar(100), many = scalar(10'000);
  int kind = 0;
  for (auto loop : {byForRange, byWhileLoop, byRange, byWhile}) {
    SCOPED_TRACE(kind++);
    set_loop_memory(kMuch);
    auto [y, g] = gradientOf(loop)(x, many);
    EXPECT_EQ(warnings.size(), 0u);

    setLimit();
    auto f = gradientOf(loop);
    f(x, few);
    EXPECT_EQ(warnings.size(), 0u);
    auto [limitedY, limited] = f(x, many);
    expectClose(limitedY, y);
    expectClose(limited, g);
    ASSERT_EQ(warnings.size(), 1u);
    const std::string &text = warnings[0].message;
    EXPECT_CONTAINS(text, ": a gradient keeps ");
    EXPECT_CONTAINS(
        text, " bytes of the iterations, and would go beyond the limit of " + std::to_string(limit) +
                  "; from now on the loop is compiled with checkpoint = true, which keeps few iterations and computes "
                  "the others again; CALQUE_LOOP_MEMORY and set_loop_memory() set the limit");
    const std::size_t kept = std::stoul(text.substr(text.find("keeps ") + 6));
    EXPECT_LE(kept, limit);
    EXPECT_GE(kept, limit - 2000);
    EXPECT_CONTAINS(std::string(warnings[0].location.file), "LoopMemoryTest.cpp");
    EXPECT_GT(warnings[0].location.line, 0u);

    // Once: later calls run what was made then.
    const std::uint64_t compiled = compilationCount();
    expectClose(f(x, many).second, g);
    f(x, few);
    EXPECT_EQ(compilationCount(), compiled);
    EXPECT_EQ(warnings.size(), 1u);
    warnings.clear();
  }
}

TEST_F(LoopMemory, BoundsWhatACallTakes) {
  if (!isLimited)
    GTEST_SKIP();
  const Tensor x = start();
  for (auto loop : {byForRange, byRange}) {
    setLimit();
    auto f = gradientOf(loop);
    f(x, scalar(10'000)); // compiles
    EXPECT_EQ(warnings.size(), 1u);
    warnings.clear();
    // Without a checkpoint 82 MB.
    withMemory(std::size_t(48) << 20, [&] { f(x, scalar(100'000)); });
    EXPECT_EQ(warnings.size(), 0u);
  }
}

// The call is repeated before anything of it can be seen.
TEST_F(LoopMemory, RepeatsWhatNobodyHasSeen) {
  setLimit();
  Variable calls(scalar(0)), w(start());
  random::Generator generator(7), other(7);
  auto f = function([&](const Tensor &n) {
    calls.assign_add(1);
    const Tensor noise = generator.uniform({}, {.dtype = DType::Float64});
    GradientTape tape;
    Tensor loss = sum(square(byForRange(w + noise, n)));
    w.assign_sub(0.1 * tape.gradient(loss, w).value());
    return noise;
  });
  const Tensor noise = f(scalar(10'000));
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_EQ(calls.value().item<int>(), 1);
  EXPECT_EQ(noise.item<double>(), other.uniform({}, {.dtype = DType::Float64}).item<double>());
  f(scalar(10'000));
  EXPECT_EQ(calls.value().item<int>(), 2);
  EXPECT_EQ(warnings.size(), 1u);
}

// First the loop whose values came to the limit, and where that does not help, those around it.
TEST_F(LoopMemory, GoesFromInnerLoopsToOuterOnes) {
  int outerLine = 0, innerLine = 0;
  auto nested = [&](std::int64_t outer, std::int64_t inner) {
    return [&, outer, inner](const Tensor &x, const Tensor &) {
      Tensor y = x;
      outerLine = __LINE__ + 1;
      for (Tensor i : range(outer)) {
        innerLine = __LINE__ + 1;
        for (Tensor k : range(inner))
          y = 0.99 * sin(y) + 0.01 * x + 0.0 * cast(i + k, DType::Float64);
      }
      return y;
    };
  };
  const Tensor x = start(), none = scalar(0);
  auto linesOf = [&](std::int64_t outer, std::int64_t inner) {
    set_loop_memory(kMuch);
    const Tensor g = gradientOf(nested(outer, inner))(x, none).second;
    setLimit();
    expectClose(gradientOf(nested(outer, inner))(x, none).second, g);
    std::vector<int> lines;
    for (const Warning &warning : warnings)
      lines.push_back(static_cast<int>(warning.location.line));
    warnings.clear();
    return lines;
  };
  std::vector<int> lines = linesOf(20, 4'000);
  EXPECT_EQ(lines, (std::vector<int>{innerLine}));
  lines = linesOf(4'000, 20);
  EXPECT_EQ(lines, (std::vector<int>{outerLine}));
  EXPECT_EQ(linesOf(500, 500), (std::vector<int>{}));
  // The iterations of both are too many.
  lines = linesOf(1'500, 1'500);
  EXPECT_EQ(std::set<int>(lines.begin(), lines.end()), (std::set<int>{innerLine, outerLine}));
}

// The loop around a derivative keeps nothing for it.
TEST_F(LoopMemory, PassesByLoopsAroundTheDerivative) {
  setLimit();
  int line = 0;
  auto train = function([&](const Tensor &x, const Tensor &n) {
    Tensor w = x;
    for (Tensor epoch : range(3)) {
      GradientTape tape;
      tape.watch(w);
      Tensor y = w;
      line = __LINE__ + 1;
      for (Tensor i : range(0, n))
        y = 0.99 * sin(y) + 0.01 * w;
      w = w - 0.1 * tape.gradient(sum(square(y)), w).value();
    }
    return w;
  });
  train(start(), scalar(10'000));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].location.line, static_cast<unsigned>(line));
}

TEST_F(LoopMemory, HoldsUnderVmapAndInGradientsAroundFunctions) {
  set_loop_memory(kMuch);
  const Tensor x = start(), many = scalar(10'000);
  const Tensor g = gradientOf(byForRange)(x, many).second;
  setLimit();
  auto loop = function([](const Tensor &at, const Tensor &n) { return sum(square(byForRange(at, n))); });
  expectClose(grad([&](const Tensor &at) { return loop(at, many); })(x), g);
  EXPECT_EQ(warnings.size(), 1u);
  warnings.clear();
  setLimit();
  auto batched = function([](const Tensor &xs, const Tensor &n) {
    return vmap([&](const Tensor &at) {
      return grad([&](const Tensor &from) { return sum(square(byForRange(from, n))); })(at);
    })(xs);
  });
  const Tensor both = batched(stack({x, x}), many);
  EXPECT_EQ(warnings.size(), 1u);
  expectClose(gather(both, 0), g);
  expectClose(gather(both, 1), g);
}

TEST_F(LoopMemory, IsNotKeptWhereACallCantBeRepeated) {
  set_loop_memory(kMuch);
  const Tensor x = start(), many = scalar(10'000);
  const Tensor g = gradientOf(byForRange)(x, many).second;
  setLimit();
  auto f = function([](const Tensor &at, const Tensor &n) {
    print("begins");
    return grad([&](const Tensor &from) { return sum(square(byForRange(from, n))); })(at);
  });
  ::testing::internal::CaptureStdout();
  expectClose(f(x, many), g);
  expectClose(f(x, many), g);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "begins\nbegins\n");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_CONTAINS(warnings[0].message,
                  "a gradient keeps more than the limit of " + std::to_string(limit) +
                      " bytes of the iterations of a loop, and the call has printed or called the host, so that it "
                      "can't be repeated: checkpoint = true keeps few iterations");
}

// A loop whose variables change their sizes has no checkpoint.
TEST_F(LoopMemory, IsNotKeptWhereThereIsNoCheckpoint) {
  auto f = function([](const Tensor &x, const Tensor &n) {
    return grad([&](const Tensor &from) {
      auto [i, y] = while_loop(
          [&](const Tensor &i, const Tensor &) { return i < n; },
          [](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, concat({y, sum(y, {0}, true) * 0.01})); },
          std::tuple(scalar(0), from), {.shape_invariants = {std::nullopt, Shape{kDynamic}}});
      return sum(sin(y));
    })(x);
  });
  set_loop_memory(kMuch);
  const Tensor g = f(start(), scalar(1000));
  setLimit();
  expectClose(f(start(), scalar(1000)), g);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_CONTAINS(warnings[0].message,
                  "; there is no loop around that can have a checkpoint, and the call goes on beyond it");
  f(start(), scalar(1000));
  EXPECT_EQ(warnings.size(), 1u);
}

// The iterations of a loop with a host call must not be computed again.
TEST_F(LoopMemory, IsNotKeptWhereALoopCallsTheHost) {
  auto f = function([](const Tensor &x, const Tensor &n) {
    return grad([&](const Tensor &from) {
      return sum(for_range(0, n, from, [&](const Tensor &, const Tensor &y) {
        Tensor factor =
            host_call([](const Tensor &at) { return at * 0.5; }, {cast(n, DType::Float64)}, {TensorSpec<double>({})});
        return sin(y) * factor;
      }));
    })(x);
  });
  set_loop_memory(kMuch);
  const Tensor g = f(start(), scalar(3));
  set_loop_memory(100);
  expectClose(f(start(), scalar(3)), g);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_CONTAINS(warnings[0].message, "; the loop can't have a checkpoint, and the call goes on beyond it: ");
}

TEST_F(LoopMemory, IsAQuarterOfTheMachines) {
  set_loop_memory(12345);
  EXPECT_EQ(loop_memory(), 12345u);
  set_loop_memory(0);
  std::size_t all = 0;
  std::string name;
  std::ifstream("/proc/meminfo") >> name >> all;
  ASSERT_EQ(name, "MemTotal:");
  if (std::getenv("CALQUE_LOOP_MEMORY"))
    GTEST_SKIP();
  EXPECT_LE(loop_memory(), all * 1024 / 4); // of the machine, or of the control group
  EXPECT_GT(loop_memory(), std::size_t(1) << 20);
}
