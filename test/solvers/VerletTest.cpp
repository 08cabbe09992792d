#include "Testing.h"

#include <cmath>
#include <numbers>

using namespace calque;
using namespace calque::solvers;
using namespace calque::testing;

namespace {
// Kepler's problem; an ellipse of eccentricity 0.6 and the period 2 pi.
Tensor gravity(const Tensor &, const Tensor &x) { return -x / pow(sum(square(x)), 1.5); }
const std::vector<double> kPosition = {0.4, 0}, kVelocity = {0, 2};

double energy(const Tensor &x, const Tensor &v) {
  return (0.5 * sum(square(v)) - 1 / sqrt(sum(square(x)))).item<double>();
}
} // namespace

TEST(Verlet, HasOrderTwo) {
  double errors[2];
  for (int i : {0, 1}) {
    auto solve = [&](const Tensor &x, const Tensor &v) {
      return verlet(gravity, x, v, tensor<double>({0, 2 * std::numbers::pi}), {.steps = 1000 << i});
    };
    const auto end = function(solve)(tensor(kPosition), tensor(kVelocity));
    errors[i] = std::hypot(valuesOf(end.x[1])[0] - 0.4, valuesOf(end.x[1])[1]);
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.05);
}

TEST(Verlet, EnergyDoesNotDrift) {
  auto solve = function(
      [](const Tensor &x, const Tensor &v, const Tensor &ts) { return verlet(gravity, x, v, ts, {.steps = 200}); });
  std::vector<double> times;
  for (int i = 0; i <= 100; ++i)
    times.push_back(2 * std::numbers::pi * i);
  const auto orbit = solve(tensor(kPosition), tensor(kVelocity), tensor(times));
  const double early = energy(orbit.x[5], orbit.v[5]);
  EXPECT_NEAR(early, energy(tensor(kPosition), tensor(kVelocity)), 5e-3);
  for (int i = 10; i <= 100; i += 10)
    EXPECT_NEAR(energy(orbit.x[i], orbit.v[i]), early, 5e-4) << i;
}

TEST(Verlet, GoesBackToWhereItCameFrom) {
  const Tensor times = tensor<double>({0, 1, 2});
  const auto there = verlet(gravity, tensor(kPosition), tensor(kVelocity), times, {.steps = 50});
  const auto back = verlet(gravity, there.x[2], there.v[2], tensor<double>({2, 1, 0}), {.steps = 50});
  expectNear(back.x[2], kPosition, 1e-12);
  expectNear(back.v[1], valuesOf(there.v[1]), 1e-12);
}

TEST(Verlet, StructuresAndGradients) {
  using Pair = std::pair<Tensor, Tensor>;
  auto loss = [](const std::vector<Tensor> &x) {
    auto springs = [&](const Tensor &t, const Pair &s) {
      return Pair(x[2] * (s.second - s.first), x[2] * (s.first - s.second) - s.second + 0.1 * t);
    };
    const auto end = verlet(springs, Pair(x[0], 2 * x[0]), Pair(x[1], x[1] * x[1]), x[3], {.steps = 4});
    return sum(end.x.first * end.x.second) + sum(end.v.first);
  };
  expectGradients(loss,
                  {tensor<double>({1, 2}), tensor<double>({0.5, -1}), scalar<double>(2), tensor<double>({0, 0.5, 2})});
}

TEST(Verlet, RefusesMisuse) {
  const Tensor x = tensor(kPosition), v = tensor(kVelocity), times = tensor<double>({0, 1});
  EXPECT_MISUSE(ShapeError, verlet(gravity, x, scalar<double>(1), times), "and that of the velocities is float64[]");
  EXPECT_MISUSE(ValueError, verlet(gravity, x, v, times, {.steps = 0}),
                "verlet: .steps = 0; at least one step is needed");
  EXPECT_MISUSE(ValueError, verlet(gravity, x, v, times, {.adjoint = Adjoint::Backsolve}),
                "verlet: .adjoint is Steps or Checkpointed");
  EXPECT_MISUSE(DTypeError, verlet(gravity, tensor({1, 2}), v, times), "verlet: the state is float32 or float64");
  EXPECT_MISUSE(ShapeError, verlet([](const Tensor &, const Tensor &) { return scalar<double>(1); }, x, v, times),
                "verlet: the right-hand side");
}
