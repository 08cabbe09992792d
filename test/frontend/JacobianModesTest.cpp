// Jacobians in functions: by forward mode where the source has fewer elements than the target, else by reverse mode.
#include "calque/calque.h"
#include "test/Tensors.h"
#include "test/frontend/Testing.h"

using namespace calque;
using namespace calque::testing;

namespace {

std::size_t count(const std::string &text, const std::string &part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

void expectClose(const Tensor &found, const Tensor &expected, double tolerance = 1e-11) {
  ASSERT_EQ(found.shape(), expected.shape());
  for (std::size_t i = 0; i < valuesOf(expected).size(); ++i)
    EXPECT_NEAR(valuesOf(found)[i], valuesOf(expected)[i], tolerance * (1 + std::abs(valuesOf(expected)[i]))) << i;
}

Tensor numbers(const Shape &shape, double first) {
  std::int64_t size = 1;
  for (const Size &each : shape)
    size *= std::int64_t(each);
  return reshape(sin(iota({size}, DType::Float64) * 0.7 + first), shape);
}

// A path of 12 steps in [4, 2]-dimensional space, that x of some size directs.
Tensor path(const Tensor &x) {
  const Tensor weights = numbers({4, 2}, 0.3);
  return for_range(0, 12, numbers({4, 2}, 1), [&](const Tensor &, const Tensor &y) {
    return tanh(y * 0.8 + weights * sum(x) * 0.1) + 0.05 * mean(square(x)) * cos(y);
  });
}

// The Jacobian by central differences: [result..., argument...].
template <typename F> Tensor byDifferences(F f, const Tensor &x) {
  const double step = 1e-6;
  const std::vector<double> values = valuesOf(x);
  std::vector<Tensor> columns;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<double> up = values, down = values;
    up[i] += step;
    down[i] -= step;
    const Shape shape = x.shape();
    columns.push_back((f(reshape(tensor(up), shape)) - f(reshape(tensor(down), shape))) / (2 * step));
  }
  const Tensor stacked = stack(columns, f(x).shape().size());
  Shape all = f(x).shape();
  for (const Size &size : x.shape())
    all.push_back(size);
  return reshape(stacked, all);
}

} // namespace

TEST(JacobianModes, GiveTheSame) {
  for (const Shape &shape : {Shape{}, Shape{1}, Shape{3}, Shape{2, 2}, Shape{8}, Shape{3, 4}}) {
    const Tensor x = numbers(shape, 2), eager = jacobian(path)(x);
    SCOPED_TRACE(x.size());
    Tensor compiled = function(jacobian(path))(x);
    expectClose(compiled, eager);
    expectClose(compiled, byDifferences(path, x), 1e-7);
    auto byTape = function([](const Tensor &at) {
      GradientTape tape;
      tape.watch(at);
      return tape.jacobian(path(at), at).value();
    });
    expectClose(byTape(x), eager);
  }
}

// Forward mode keeps nothing of the iterations.
TEST(JacobianModes, AreChosenBySizes) {
  auto stacks = [](const Shape &shape) {
    return count(function(jacobian(path)).ir("simplified", numbers(shape, 2)), "stack_push");
  };
  EXPECT_EQ(stacks({7}), 0u);
  EXPECT_GT(stacks({8}), 0u);
  EXPECT_GT(stacks({9}), 0u);
}

TEST(JacobianModes, AreDifferentiatedAndMapped) {
  const Tensor x = numbers({3}, 2), xs = numbers({5, 3}, 2);
  auto second = function([](const Tensor &at) { return jacobian(jacobian(path))(at); });
  expectClose(second(x), byDifferences([](const Tensor &at) { return jacobian(path)(at); }, x), 1e-6);
  auto sizes = function(
      [](const Tensor &at) { return grad([](const Tensor &y) { return sum(square(jacobian(path)(y))); })(at); });
  expectClose(sizes(x), byDifferences([](const Tensor &at) { return sum(square(jacobian(path)(at))); }, x), 1e-6);
  const Tensor mapped = function([](const Tensor &all) { return vmap(jacobian(path))(all); })(xs);
  for (int i = 0; i < 5; ++i)
    expectClose(gather(mapped, i), jacobian(path)(gather(xs, i)));
}

// Where the two modes are not the same, the tape's is taken.
TEST(JacobianModes, KeepWhatTheTapeMeans) {
  const Tensor x = numbers({2}, 1);
  // The user's derivative is one of cotangents.
  auto halved = custom_gradient([](const Tensor &at) {
    return std::pair(concat({sin(at), cos(at)}), [](const Tensor &g) { return g.rows(0, 2) * 0.5; });
  });
  const Tensor byUser = function([&](const Tensor &at) { return jacobian(halved)(at); })(x);
  expectClose(byUser, tensor<double>({0.5, 0, 0, 0.5, 0, 0, 0, 0}, {4, 2}));
  // What the tape does not see is no path.
  auto paused = function([](const Tensor &at) {
    GradientTape tape;
    tape.watch(at);
    Tensor hidden = at * 3.0;
    {
      auto stop = tape.stop_recording();
      hidden = square(at);
    }
    Tensor y = concat({hidden * at, at, at});
    return tape.jacobian(y, at).value();
  });
  const std::vector<double> at = valuesOf(x);
  expectClose(paused(x), tensor<double>({at[0] * at[0], 0, 0, at[1] * at[1], 1, 0, 0, 1, 1, 0, 0, 1}, {6, 2}));
  // A branch on the source.
  auto branch = [](const Tensor &at) {
    return cond(sum(at) > 0, [&] { return concat({at, square(at)}); }, [&] { return concat({sin(at), at}); });
  };
  expectClose(function(jacobian(branch))(x), jacobian(branch)(x));
  expectClose(function(jacobian(branch))(-x), jacobian(branch)(-x));
}

// In C++ loops and branches on tensors, too: what a Jacobian keeps for each iteration is nothing.
TEST(JacobianModes, AreChosenInNativeLoops) {
  auto flow = [](const Tensor &x) {
    Tensor y = x, sums = zeros({4, 2, 3}, DType::Float64), i = scalar<std::int64_t>(0);
    while (i < 5) {
      sums = sums + jacobian(path)(y);
      if (sum(sums) > 0.3)
        y = y + 0.1 * sum(sums);
      else
        y = y - 0.2 * sum(square(jacobian(path)(y)));
      i = i + 1;
    }
    for (Tensor row : numbers({3, 3}, 0.4))
      sums = sums * 0.5 + jacobian(path)(row * y);
    return sums;
  };
  const Tensor x = numbers({3}, 2), eager = flow(x);
  auto compiled = function(flow);
  expectClose(compiled(x), eager);
  EXPECT_EQ(count(compiled.ir("simplified", x), "stack_push"), 0u);
  // As a part of what is differentiated.
  auto size = [&](const Tensor &at) { return sum(square(flow(at))); };
  expectClose(function(grad(size))(x), byDifferences(size, x), 1e-6);
}

// The source of fewer elements by C++ branches and loops.
TEST(JacobianModes, GoThroughNativeLoops) {
  auto f = [](const Tensor &x) {
    Tensor y = numbers({6}, 1);
    for (Tensor row : numbers({9, 6}, 0.2)) {
      y = tanh(y + row * sum(x));
      if (sum(y) > 1)
        y = y * 0.9 + 0.01 * sum(square(x));
    }
    return y;
  };
  const Tensor x = numbers({2}, 1), eager = jacobian(f)(x);
  expectClose(function(jacobian(f))(x), eager);
  expectClose(jacobian(function(f))(x), eager);
}
