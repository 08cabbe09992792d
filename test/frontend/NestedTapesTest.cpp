// Tapes that see the gradients of other tapes, in functions that have computed much before.
#include "Testing.h"

#include <cmath>

using namespace calque;
using namespace calque::testing;

namespace {

using Body = std::function<std::vector<Tensor>(const Tensor &w, const Tensor &x)>;

// Runs a test's body eagerly and in a function.
void inBothModes(const Body &body, const Tensor &w, const Tensor &x, const std::vector<std::vector<double>> &expected) {
  auto f = function(body);
  for (bool isCompiled : {false, true}) {
    SCOPED_TRACE(isCompiled ? "compiled" : "eager");
    std::vector<Tensor> results = isCompiled ? f(w, x) : f.eager(w, x);
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE("result " + std::to_string(i));
      std::vector<double> values = valuesOf(results[i]);
      ASSERT_EQ(values.size(), expected[i].size());
      for (std::size_t e = 0; e < values.size(); ++e)
        EXPECT_NEAR(values[e], expected[i][e], 1e-12 * (1 + std::fabs(expected[i][e])));
    }
  }
}

// The second derivative of sum(w y^3): 6 w y.
Tensor secondDerivative(const Tensor &w, const Tensor &y) {
  GradientTape outer;
  outer.watch(y);
  GradientTape inner;
  inner.watch(y);
  Tensor cubes = sum(w * y * y * y);
  return outer.gradient(sum(inner.gradient(cubes, y).value()), y).value();
}

} // namespace

// What earlier iterations have computed is nothing to the tapes of a later one: asked about paths, it took minutes.
TEST(NestedTapes, OfAnUnrolledLoopLookAtTheirOwnIteration) {
  const int n = 600;
  auto factor = [&](double w) { return std::pow(0.99 + 0.006 * w, n); };
  inBothModes(
      [&](const Tensor &w, const Tensor &x) {
        Tensor y = x;
        for (int i = 0; i < n; ++i)
          y = y * 0.99 + secondDerivative(w, y) * 0.001;
        return std::vector<Tensor>{y};
      },
      tensor<double>({1, 2}), tensor<double>({3, 4}), {{3 * factor(1), 4 * factor(2)}});
}

// In a function, an inner gradient is followed through what its own tape saw, before the outer one began.
TEST(NestedTapes, FollowAGradientToWhatWasComputedBeforeTheOuterOne) {
  auto f = function([](const Tensor &w, const Tensor &x) {
    GradientTape inner;
    inner.watch(x);
    Tensor v = x * w, y = v * v; // w^2 x^2
    GradientTape outer({.persistent = true});
    outer.watch(x);
    Tensor g = inner.gradient(y, x).value(), other = w * 5; // 2 w^2 x
    return std::tuple(outer.gradient(g, x).value(), outer.gradient(g * other, x).value(),
                      outer.gradient(other, x).has_value());
  });
  auto [second, times, hasPath] = f(scalar(2.0), scalar(3.0));
  expectValues(second, {8});
  expectValues(times, {80});
  EXPECT_FALSE(hasPath);
}

TEST(NestedTapes, OfExamplesLookAtTheirOwnIteration) {
  auto after = [](double w, double x) { // two steps of y -> y/2 + 6 w y
    return x * (0.5 + 6 * w) * (0.5 + 6 * w);
  };
  const std::vector<double> expected = {after(1, 3), after(2, 4), after(-1, 5)};
  const Tensor w = tensor<double>({1, 2, -1}), x = tensor<double>({3, 4, 5});
  inBothModes(
      [](const Tensor &w, const Tensor &x) {
        return std::vector<Tensor>{vmap([](const Tensor &w, const Tensor &x) {
          Tensor y = x;
          for (int i = 0; i < 2; ++i)
            y = y * 0.5 + secondDerivative(w, y);
          return y;
        })(w, x)};
      },
      w, x, {expected});
  inBothModes(
      [](const Tensor &w, const Tensor &x) {
        Tensor y = x;
        for (int i = 0; i < 2; ++i) {
          GradientTape tape;
          tape.watch(y);
          Tensor first = vmap([](const Tensor &w, const Tensor &y) {
            GradientTape inner;
            inner.watch(y);
            Tensor cube = w * y * y * y;
            return inner.gradient(cube, y).value();
          })(w, y);
          y = y * 0.5 + tape.gradient(sum(first), y).value();
        }
        return std::vector<Tensor>{y};
      },
      w, x, {expected});
}

TEST(NestedTapes, OfALoopInAFunctionWithATapeAround) {
  // y2 = x (1/2 + 6 w)^2: d/dw = 12 x (1/2 + 6 w), d/dx = (1/2 + 6 w)^2.
  inBothModes(
      [](const Tensor &w, const Tensor &x) {
        GradientTape around({.persistent = true});
        around.watch(w);
        around.watch(x);
        Tensor y = x;
        for (int i = 0; i < 2; ++i)
          y = y * 0.5 + secondDerivative(w, y);
        return std::vector<Tensor>{around.gradient(y, w).value(), around.gradient(y, x).value()};
      },
      tensor<double>({1, 2}), tensor<double>({3, 4}), {{12 * 3 * 6.5, 12 * 4 * 12.5}, {6.5 * 6.5, 12.5 * 12.5}});
}

// A tangent depends on the tangents that are given, also where the tape watches nothing of what the function computes.
TEST(NestedTapes, FollowTangentsToTangents) {
  inBothModes(
      [](const Tensor &w, const Tensor &x) {
        Tensor t = x * 2;
        GradientTape tape({.persistent = true});
        tape.watch(t);
        Tensor scale = exp(w);
        auto [value, tangent] = jvp([&](const Tensor &y) { return y * y * scale; }, x, t); // tangent: 2 x t e^w
        Tensor again =
            jvp([&](const Tensor &y) { return jvp([&](const Tensor &z) { return z * z * scale; }, y, t).second; }, x, t)
                .second; // 2 t^2 e^w
        return std::vector<Tensor>{tape.gradient(tangent, t).value(), tape.gradient(again, t).value()};
      },
      tensor<double>({1}), tensor<double>({3}), {{6 * std::exp(1.0)}, {24 * std::exp(1.0)}});
}

// Each function captures what the one before has given, so that there are 2^n ways back to the first.
TEST(NestedTapes, FollowAChainOfTangentsOnce) {
  const int n = 60;
  // y -> x y w: y_n = x^n w^n x, whose derivative in w is n x^(n + 1) w^(n - 1).
  inBothModes(
      [&](const Tensor &w, const Tensor &x) {
        GradientTape tape;
        tape.watch(w);
        Tensor y = x;
        for (int i = 0; i < n; ++i)
          y = jvp([&](const Tensor &z) { return z * y * w; }, x, x).second;
        return std::vector<Tensor>{tape.gradient(y, w).value()};
      },
      tensor<double>({1, 1.01}), tensor<double>({1.02, 0.99}),
      {{n * std::pow(1.02, n + 1), n * std::pow(0.99, n + 1) * std::pow(1.01, n - 1)}});
}

// What is connected to one target is connected to two.
TEST(NestedTapes, MoreTargetsLeaveNoSourceOut) {
  auto body = [](const Tensor &x, const Tensor &other) {
    GradientTape first, second({.persistent = true});
    first.watch(x);
    second.watch(x);
    auto [a, b] = while_loop([](const Tensor &a, const Tensor &) { return sum(a) < 0; },
                             [](const Tensor &a, const Tensor &) { return std::tuple(a, a); }, std::tuple(other, x));
    Tensor g = first.gradient(a, x, UnconnectedGradients::Zero).value();
    return std::pair(second.gradient(a, x).has_value(), second.gradient({g, a}, x).has_value());
  };
  auto [toOne, toTwo] = function(body)(tensor<double>({1}), tensor<double>({2}));
  EXPECT_EQ(toTwo, toOne);
}
