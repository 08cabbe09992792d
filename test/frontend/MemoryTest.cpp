// Memory that can't be had.
#include "test/Sanitizer.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <fstream>
#include <sys/resource.h>

using namespace calque;
using namespace calque::testing;

namespace {

const bool isLimited = !isSanitized(); // a sanitizer takes addresses as it likes

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

constexpr std::int64_t kMany = std::int64_t(1) << 42; // elements

} // namespace

// The gradient of a loop that runs for longer than there is memory for.
TEST(Memory, OfLoopsRunsOut) {
  if (!isLimited)
    GTEST_SKIP();
  Variable calls(scalar(0));
  int line = 0;
  auto gradient = [&](bool checkpoint) {
    return function([&, checkpoint](const Tensor &x, const Tensor &n) {
      calls.assign_add(1);
      return value_and_grad([&](const Tensor &from) {
        line = __LINE__ + 1;
        return for_range(0, n, from, [](const Tensor &, const Tensor &y) { return sin(y); },
                         {.checkpoint = checkpoint});
      })(x);
    });
  };
  Tensor x = full({100}, 0.5), n = scalar(1'000'000);
  auto plain = gradient(false), checkpointed = gradient(true);
  plain(x, scalar(3));
  checkpointed(x, scalar(3));
  std::string message;
  withMemory(std::size_t(48) << 20, [&] { message = errorOf<MemoryError>([&] { plain(x, n); }); });
  EXPECT_CONTAINS(message, ": there is no memory for a gradient after ");
  // The loop variable, and what leads from an entry to the next.
  EXPECT_CONTAINS(message, " iterations, of each of which it keeps 416 bytes, ");
  EXPECT_CONTAINS(message, " in all; with the option checkpoint = true a loop keeps few of them\n  at ");
  EXPECT_CONTAINS(message, "MemoryTest.cpp:" + std::to_string(line));
  EXPECT_EQ(calls.value().item<int>(), 2);
  // The next call is as ever, and the other way takes little.
  plain(x, scalar(3));
  withMemory(std::size_t(48) << 20, [&] { checkpointed(x, scalar(100'000)); });
  EXPECT_EQ(calls.value().item<int>(), 4);
}

TEST(Memory, OfTensorsIsNamed) {
  EXPECT_CONTAINS(errorOf<MemoryError>([] { zeros({kMany}); }),
                  "there is no memory for float32[4398046511104], which has 17592186044416 bytes\n  at ");
  EXPECT_CONTAINS(errorOf<MemoryError>([] { zeros({1 << 21, 1}) + zeros({1, 1 << 21}); }),
                  "add: there is no memory for float32[2097152,2097152], which has 17592186044416 bytes\n  at ");
}

TEST(Memory, OfProgramsIsNamed) {
  Variable calls(scalar(0));
  auto check = [&](auto f, const char *part) {
    auto g = function([&](const Tensor &x) {
      calls.assign_add(1);
      return f(x);
    });
    EXPECT_CONTAINS(errorOf<MemoryError>([&] { g(scalar<double>(0.5)); }), part);
  };
  auto large = [](const Tensor &x) { return sin(broadcast_to(x, {kMany})); };
  auto folded = [&](const Tensor &x) {
    Tensor y = large(x);
    return sum(y * gather(y, cast(x, DType::Int64) + 7));
  };
  check(large, "there is no memory for float64[4398046511104], which has 35184372088832 bytes\n  at ");
  check(folded, "there is no memory for intermediate values, which have 35184372088960 bytes\n  at ");
  check(
      [&](const Tensor &x) { return for_range(0, 30, x, [&](const Tensor &, const Tensor &y) { return folded(y); }); },
      "there is no memory for what a branch, a loop or a kernel computes\n  at ");
  EXPECT_EQ(calls.value().item<int>(), 0);
}

// The panels of a captured matrix are there once, however many traces and functions have products with it.
TEST(Memory, OfCapturedMatricesIsTakenOnceMore) {
  if (!isLimited)
    GTEST_SKIP();
  auto resident = [] {
    std::size_t all = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> all >> pages;
    return pages * 4096;
  };
  Tensor w = ones({4096, 4096}); // 64 MiB
  const std::size_t before = resident();
  auto f = function([=](const Tensor &x) { return matmul(x, w); }),
       g = function([=](const Tensor &x) { return -matmul(x, w); });
  for (std::int64_t rows = 4; rows < 7; ++rows)
    EXPECT_EQ((f(ones({rows, 4096})) + g(ones({rows, 4096}))).to_vector<float>()[17], 0);
  EXPECT_LT(resident() - before, std::size_t(256) << 20);
}
