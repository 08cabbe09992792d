// Loops that end for each example of a map. Calls for single examples are the reference.
#include "test/frontend/Testing.h"
#include "test/native/SmallLoops.h"

using namespace calque;
using namespace calque::testing;

namespace {

Tensor points(int count, double from, double step) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i)
    values.push_back(from + step * i);
  return tensor(values);
}

// A function of two numbers, mapped over examples, beside single calls.
template <typename F> void expectExamples(F f, const Tensor &a, const Tensor &b) {
  auto mapped = function([f](const Tensor &x, const Tensor &y) { return vmap(f)(x, y); });
  const std::vector<double> made = valuesOf(mapped(a, b));
  ASSERT_EQ(made.size(), static_cast<std::size_t>(a.size()));
  for (std::int64_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(made[static_cast<std::size_t>(i)], valuesOf(f(a[i], b[i]))[0], 1e-12) << "example " << i;
}

Tensor escape(const Tensor &a, const Tensor &b) {
  Tensor x = zeros({}, DType::Float64), y = zeros({}, DType::Float64), n = scalar<std::int64_t>(0);
  while (n < 30 && x * x + y * y < 4.0) {
    Tensor next = x * x - y * y + a;
    y = 2.0 * x * y + b;
    x = next;
    n = n + 1;
  }
  return n;
}

Tensor root(const Tensor &a, const Tensor &start) {
  Tensor x = start;
  while (abs(x * x - a) > 1e-10)
    x = 0.5 * (x + a / x);
  return x;
}

} // namespace

TEST(ExampleLoops, EndForEachExample) {
  expectExamples(escape, points(37, -2, 0.1), points(37, -1.1, 0.06));
  expectExamples(root, points(21, 0.5, 1.5), points(21, 1, 0.3));
}

TEST(ExampleLoops, ThatNeverBeginOrHaveNoExamples) {
  // Some examples, and then all, are through before the loop.
  expectExamples(root, points(5, 4, 0), points(5, 1, 0.5));
  expectExamples(root, points(3, 4, 0), points(3, 2, 0));
  expectExamples(root, points(1, 2, 0), points(1, 2, 0));
  auto mapped = function([](const Tensor &x, const Tensor &y) { return vmap(root)(x, y); });
  EXPECT_EQ(mapped(zeros({0}, DType::Float64), zeros({0}, DType::Float64)).size(), 0);
}

TEST(ExampleLoops, Integers) {
  auto collatz = [](const Tensor &n, const Tensor &) {
    Tensor x = n, steps = scalar<std::int64_t>(0);
    while (x > 1) {
      x = where(mod(x, 2) == 0, x / 2, 3 * x + 1);
      steps = steps + 1;
    }
    return steps;
  };
  const Tensor n = iota({40}, DType::Int64) + 1;
  auto mapped = function([&](const Tensor &x) { return vmap(collatz)(x, x); });
  const std::vector<double> made = valuesOf(mapped(n));
  for (std::int64_t i = 1; i <= 40; ++i) {
    std::int64_t x = i, steps = 0;
    for (; x > 1; ++steps)
      x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    EXPECT_EQ(made[static_cast<std::size_t>(i - 1)], static_cast<double>(steps)) << i;
  }
}

TEST(ExampleLoops, ValuesThatAllExamplesShare) {
  auto mapped = function([](const Tensor &x, const Tensor &limit) {
    return vmap([&](const Tensor &y) {
      Tensor z = y, n = scalar<std::int64_t>(0);
      while (z < limit) {
        z = 1.5 * z + 0.25;
        n = n + 1;
      }
      return std::pair(z, n);
    })(x);
  });
  const Tensor x = points(9, 0, 1), limit = scalar<double>(20);
  auto [last, count] = mapped(x, limit);
  const std::vector<double> lasts = valuesOf(last), counts = valuesOf(count);
  for (int i = 0; i < 9; ++i) {
    double z = i, n = 0;
    for (; z < 20; ++n)
      z = 1.5 * z + 0.25;
    EXPECT_NEAR(lasts[static_cast<std::size_t>(i)], z, 1e-12);
    EXPECT_EQ(counts[static_cast<std::size_t>(i)], n);
  }
}

TEST(ExampleLoops, Gradients) {
  auto loss = [](const Tensor &a) { return sum(sin(vmap(root)(a, ones({4}, DType::Float64)))); };
  const Tensor a = points(4, 0.7, 1.3);
  const std::vector<double> gradient = valuesOf(function(grad(loss))(a)), numbers = valuesOf(a);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    EXPECT_NEAR(gradient[i], std::cos(std::sqrt(numbers[i])) / (2 * std::sqrt(numbers[i])), 1e-8);
}
