// Tensors that a lambda makes in its loops. While it is traced its runs make them thousands of times.
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

#include <set>
#include <sys/resource.h>

using namespace calque;
using namespace calque::testing;

namespace {

// The addresses of the elements that a lambda has seen, of all its runs.
std::set<const void *> seen;
std::size_t runs = 0;
const Tensor &see(const Tensor &x) {
  seen.insert(x.data<float>());
  ++runs;
  return x;
}

// How often a lambda that takes a vector of n elements makes a tensor of its own in a loop, and how many different
// elements it is given for it.
template <typename Make> std::pair<std::size_t, std::size_t> madeBy(Make make) {
  seen.clear();
  runs = 0;
  auto f = function([&](const Tensor &a) {
    Tensor x = a;
    for (Tensor i : range(10)) {
      x = sin(see(make()) + x);
      if (sum(x) > 100)
        x = x * 0.5f;
    }
    return x;
  });
  Tensor a = full({100}, 0.5f), expected = a;
  for (int i = 0; i < 10; ++i)
    expected = sin(make() + expected);
  expectSameBits(f(a), expected);
  return {runs, seen.size()};
}

std::int64_t peakOfProcess() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss; // in kB
}

} // namespace

// A few are made before there is anything to share: in the first run, which finds that there are loops.
TEST(MadeConstants, OfEqualElementsAreKeptOnce) {
  const std::vector<float> values(100, 0.25f);
  std::vector<float> others(100);
  for (std::size_t i = 0; i < others.size(); ++i)
    others[i] = static_cast<float>(i) / 100;
  auto expectFew = [](std::pair<std::size_t, std::size_t> made) {
    EXPECT_GT(made.first, 300u);
    EXPECT_LT(made.second, 10u);
  };
  expectFew(madeBy([] { return zeros({100}); }));
  expectFew(madeBy([] { return ones({100}); }));
  expectFew(madeBy([] { return full({100}, 0.25f); }));
  expectFew(madeBy([&] { return tensor(values); }));
  expectFew(madeBy([&] { return tensor(others, {100}); }));
  expectFew(madeBy([&] { return see(tensor(values)), see(full({100}, 0.25f)); })); // equal by bits
  expectFew(madeBy([&] { return see(eye(10)), tensor(others); }));
}

TEST(MadeConstants, TakeNoMemoryForEachRun) {
  auto f = function([](const Tensor &a) {
    Tensor x = a;
    for (Tensor i : range(10))
      x = sin(sum(zeros({724, 724}, DType::Float64) + x, {1}));
    return x;
  });
  Tensor a = full({724}, 0.5, DType::Float64), expected = a;
  for (int i = 0; i < 10; ++i)
    expected = sin(sum(zeros({724, 724}, DType::Float64) + expected, {1}));
  const std::int64_t before = peakOfProcess();
  Tensor x = f(a);
  EXPECT_LT(peakOfProcess() - before, 300'000); // 2 GB with one for each of 500 iterations
  expectSameBits(x, expected);
}

// What a derivative is taken by stays a tensor of its own.
TEST(MadeConstants, AreSourcesEachByItself) {
  auto body = [](const Tensor &a) {
    Tensor total = zeros({}, DType::Float64);
    for (Tensor i : range(6)) {
      Tensor p = full({20}, 0.5, DType::Float64), q = full({20}, 0.5, DType::Float64);
      GradientTape tape({.persistent = true});
      tape.watch(p);
      tape.watch(q);
      Tensor y = sum(a * p * p + 3 * q);
      total = total + sum(tape.gradient(y, p).value()) * 100 + sum(tape.gradient(y, q).value());
      if (total > 1e9)
        break;
    }
    return total;
  };
  Tensor a = scalar<double>(2.0);
  expectSameBits(function(body)(a), body(a));
  EXPECT_DOUBLE_EQ(body(a).item<double>(), 6 * (100 * 20 * 2.0 + 60));
}
