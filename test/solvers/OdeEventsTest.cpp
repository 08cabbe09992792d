#include "Testing.h"

#include <cmath>
#include <numbers>

using namespace calque;
using namespace calque::solvers;
using namespace calque::testing;

namespace {

using State = std::pair<Tensor, Tensor>; // height and speed
constexpr double kGravity = 9.81;

State fall(const Tensor &, const State &s) { return State(s.second, 0 * s.second - kGravity); }
Event<State> floorAt(double height) {
  return {.g = [height](const Tensor &, const State &s) { return s.first - height; }, .direction = -1};
}
const OdeOptions kTight = {.rtol = 1e-9, .atol = 1e-11};

// sin and cos as (y, y').
Tensor circle(const Tensor &, const Tensor &y) { return stack({y[1], -y[0]}); }

} // namespace

TEST(OdeintEvents, EndAtATerminalEvent) {
  const double height = 10, speed = 3;
  const double expected = (speed + std::sqrt(speed * speed + 2 * kGravity * height)) / kGravity;
  auto solve = [](const Tensor &h, const Tensor &v) {
    return odeint_events(fall, State(h, v), tensor<double>({0, 1, 2, 4, 8}), {floorAt(0)}, kTight);
  };
  const Tensor h = scalar<double>(height), v = scalar<double>(speed);
  for (const auto &found : {solve(h, v), function(solve)(h, v)}) {
    EXPECT_NEAR(found.t.item<double>(), expected, 1e-12);
    EXPECT_NEAR(found.last.first.item<double>(), 0, 1e-12);
    EXPECT_NEAR(found.last.second.item<double>(), speed - kGravity * expected, 1e-11);
    EXPECT_EQ(found.counts[0].item<std::int64_t>(), 1);
    expectNear(found.times[0], {expected}, 1e-12);
    expectNear(found.states[0].second, {speed - kGravity * expected}, 1e-11);
    EXPECT_EQ(found.statistics.status.item<std::int32_t>(), static_cast<std::int32_t>(OdeStatus::Event));
    const std::vector<double> y = valuesOf(found.y.first);
    EXPECT_NEAR(y[1], height + speed - kGravity / 2, 1e-10);
    EXPECT_FALSE(std::isnan(y[1]));
    EXPECT_TRUE(std::isnan(y[2]) == (expected < 2) && std::isnan(y[3]) && std::isnan(y[4]));
  }
}

// The derivative of the time is that of the closed form, though the time comes from a bisection.
TEST(OdeintEvents, DerivativesOfTheEventsTime) {
  auto when = [](const std::vector<Tensor> &x) {
    const auto found = odeint_events(fall, State(x[0], x[1]), tensor<double>({0, 8}), {floorAt(0)}, kTight);
    return found.times[0][0] + 0.1 * found.last.second;
  };
  const Tensor h = scalar<double>(10), v = scalar<double>(3);
  expectGradients(when, {h, v});
  expectTangents([&](const std::vector<Tensor> &x) { return std::vector<Tensor>{when(x)}; }, {h, v}, true);
  const double root = std::sqrt(9 + 2 * kGravity * 10);
  const Tensor byHeight = grad([&](const Tensor &x) {
    return odeint_events(fall, State(x, v), tensor<double>({0, 8}), {floorAt(0)}, kTight).t;
  })(h);
  EXPECT_NEAR(byHeight.item<double>(), 1 / root, 1e-9);
}

// t = sqrt(2 h / g), t' = 1 / sqrt(2 g h) and t'' = -t' / (2 h). The speed at the floor is -sqrt(2 g h).
TEST(OdeintEvents, SecondDerivativesOfThePlace) {
  auto solve = [](const Tensor &h) {
    return odeint_events(fall, State(h, 0 * h), tensor<double>({0, 8}), {floorAt(0)}, kTight);
  };
  auto time = [&](const Tensor &h) { return solve(h).times[0][0]; };
  auto end = [&](const Tensor &h) { return solve(h).t; };
  auto speed = [&](const Tensor &h) { return solve(h).states[0].second[0]; };
  auto last = [&](const Tensor &h) { return solve(h).last.second; };
  const Tensor h = scalar<double>(2.0), one = scalar<double>(1.0);
  const double slope = 1 / std::sqrt(4 * kGravity), second = -slope / 4;
  for (const auto &f : {std::function<Tensor(const Tensor &)>(time), std::function<Tensor(const Tensor &)>(end)}) {
    EXPECT_NEAR(function(grad(f))(h).item<double>(), slope, 1e-9);
    EXPECT_NEAR(function(grad(grad(f)))(h).item<double>(), second, 1e-9);
    EXPECT_NEAR(function(hessian(f))(h).item<double>(), second, 1e-9);
    EXPECT_NEAR(jvp(f, h, one).second.item<double>(), slope, 1e-9);
  }
  EXPECT_NEAR(grad(grad(time))(h).item<double>(), second, 1e-9);
  EXPECT_NEAR(function(grad(grad(speed)))(h).item<double>(), -kGravity * second, 1e-8);
  EXPECT_NEAR(function(grad(grad(last)))(h).item<double>(), -kGravity * second, 1e-8);
}

TEST(OdeintEvents, ThroughAParameterOfTheEvent) {
  auto when = [](const Tensor &level) {
    const Event<Tensor> event{.g = [&](const Tensor &, const Tensor &y) { return y[0] - level; }};
    return odeint_events(circle, tensor<double>({0, 1}), tensor<double>({0, 3}), {event}, kTight).t;
  };
  EXPECT_NEAR(when(scalar<double>(0.5)).item<double>(), std::numbers::pi / 6, 1e-9);
  // d asin(x) / dx
  EXPECT_NEAR(function(grad(when))(scalar<double>(0.5)).item<double>(), 1 / std::sqrt(0.75), 1e-7);
}

TEST(OdeintEvents, SeveralEventsWithDirections) {
  // sin t is 0 at multiples of pi, rising at even ones; cos t is 0 between them.
  auto first = [](const Tensor &, const Tensor &y) { return y[0]; };
  auto second = [](const Tensor &, const Tensor &y) { return y[1]; };
  auto solve = [&](const Tensor &y0) {
    return odeint_events(circle, y0, tensor<double>({0.5, 14}),
                         {{.g = first, .terminal = false, .capacity = 5},
                          {.g = first, .terminal = false, .direction = 1, .capacity = 5},
                          {.g = second, .terminal = false, .direction = -1, .capacity = 1}},
                         kTight);
  };
  const Tensor y0 = tensor<double>({std::sin(0.5), std::cos(0.5)});
  for (const auto &found : {solve(y0), function(solve)(y0)}) {
    EXPECT_EQ(found.statistics.status.item<std::int32_t>(), static_cast<std::int32_t>(OdeStatus::Success));
    EXPECT_EQ(found.t.item<double>(), 14);
    const double pi = std::numbers::pi;
    EXPECT_EQ(found.counts[0].item<std::int64_t>(), 4);
    const std::vector<double> zeros = valuesOf(found.times[0]), rising = valuesOf(found.times[1]);
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(zeros[static_cast<std::size_t>(i)], (i + 1) * pi, 1e-7);
    EXPECT_TRUE(std::isnan(zeros[4]));
    EXPECT_EQ(found.counts[1].item<std::int64_t>(), 2);
    EXPECT_NEAR(rising[0], 2 * pi, 1e-7);
    EXPECT_NEAR(rising[1], 4 * pi, 1e-7);
    // cos falls at pi / 2 and 5 pi / 2, of which one is kept.
    EXPECT_EQ(found.counts[2].item<std::int64_t>(), 2);
    expectNear(found.times[2], {pi / 2}, 1e-7);
    expectNear(found.states[2], {1, 0}, 1e-7);
  }
}

TEST(OdeintEvents, TheFirstOfTwoTerminalEventsEnds) {
  // Both lie in one step, as the solution is a line.
  auto line = [](const Tensor &, const Tensor &y) { return 0 * y + 1; };
  auto at = [](double level) {
    return Event<Tensor>{.g = [level](const Tensor &, const Tensor &y) { return y - level; }};
  };
  auto mark = at(1.75);
  mark.terminal = false;
  const auto found = odeint_events(line, scalar<double>(0), tensor<double>({0, 1, 2, 3, 1e6}), {at(2.5), at(1.5), mark},
                                   {.first_step = 10});
  EXPECT_NEAR(found.t.item<double>(), 1.5, 1e-14);
  EXPECT_EQ(found.counts[0].item<std::int64_t>(), 0);
  EXPECT_EQ(found.counts[1].item<std::int64_t>(), 1);
  EXPECT_EQ(found.counts[2].item<std::int64_t>(), 0) << "an event after the end";
  const std::vector<double> y = valuesOf(found.y);
  EXPECT_NEAR(y[1], 1, 1e-14);
  EXPECT_TRUE(std::isnan(y[2]));
}

TEST(OdeintEvents, BackwardFloat32AndVmap) {
  const Event<Tensor> zero{.g = [](const Tensor &, const Tensor &y) { return y[0]; }};
  const auto back =
      odeint_events(circle, tensor<double>({std::sin(4.0), std::cos(4.0)}), tensor<double>({4, 0.5}), {zero}, kTight);
  EXPECT_NEAR(back.t.item<double>(), std::numbers::pi, 1e-8);

  const auto single = odeint_events(circle, tensor<float>({1, 0}), tensor<float>({0, 3}), {zero}, {.rtol = 1e-5});
  EXPECT_NEAR(single.t.item<float>(), std::numbers::pi / 2, 1e-3);

  const Tensor heights = tensor<double>({1, 10, 100});
  auto when = [](const Tensor &h) {
    return odeint_events(fall, State(h, 0 * h), tensor<double>({0, 2, 50}), {floorAt(0)}, kTight).t;
  };
  std::vector<double> expected, slopes;
  for (double h : valuesOf(heights)) {
    expected.push_back(std::sqrt(2 * h / kGravity));
    slopes.push_back(1 / std::sqrt(2 * h * kGravity));
  }
  expectNear(function(vmap(when))(heights), expected, 1e-9);
  expectNear(function(vmap(grad(when)))(heights), slopes, 1e-8);
}

TEST(OdeintEvents, AllMethods) {
  const Event<Tensor> zero{.g = [](const Tensor &, const Tensor &y) { return y[0]; }};
  for (OdeMethod method : {OdeMethod::BogackiShampine3, OdeMethod::Tsitouras5, OdeMethod::DormandPrince8,
                           OdeMethod::Rodas5P, OdeMethod::Bdf}) {
    const auto found = odeint_events(circle, tensor<double>({1, 0}), tensor<double>({0, 1, 3}), {zero},
                                     {.method = method, .rtol = 1e-8, .atol = 1e-10});
    EXPECT_NEAR(found.t.item<double>(), std::numbers::pi / 2, 1e-6) << static_cast<int>(method);
    EXPECT_NEAR(found.y[1][0].item<double>(), std::cos(1), 1e-6) << static_cast<int>(method);
  }
}

// 40 oscillators of different amplitudes: more elements than stay in registers, with states at times within steps.
TEST(OdeintEvents, LargeStatesUnderVmap) {
  std::vector<double> sizes;
  for (int i = 1; i <= 40; ++i)
    sizes.push_back(0.1 * i);
  const State start(tensor(sizes), zeros({40}, DType::Float64));
  auto swing = [](const Tensor &, const State &s) { return State(s.second, -s.first); };
  auto solve = [&](const Tensor &scale) {
    const Event<State> zero{.g = [](const Tensor &, const State &s) { return sum(s.first); }};
    const auto found =
        odeint_events(swing, State(scale * start.first, start.second), tensor<double>({0, 0.5, 1, 3}), {zero}, kTight);
    return std::pair(found.t, found.y.first);
  };
  auto [t, y] = function(vmap(solve))(tensor<double>({1, -2}));
  expectNear(t, {std::numbers::pi / 2, std::numbers::pi / 2}, 1e-8);
  for (int example : {0, 1}) {
    const double scale = example ? -2 : 1;
    for (int i : {1, 2})
      EXPECT_NEAR(y[example][i][39].item<double>(), scale * 4 * std::cos(0.5 * i), 1e-7);
    EXPECT_TRUE(std::isnan(y[example][3][0].item<double>()));
  }
  auto loss = [&](const Tensor &scale) { return solve(scale).second[2][9]; };
  EXPECT_NEAR(function(grad(loss))(scalar<double>(1)).item<double>(), std::cos(1), 1e-7);
}

TEST(OdeintEvents, RefusesMisuse) {
  const Tensor y0 = tensor<double>({1, 0}), times = tensor<double>({0, 1});
  const Event<Tensor> zero{.g = [](const Tensor &, const Tensor &y) { return y[0]; }};
  EXPECT_MISUSE(ValueError, odeint_events(circle, y0, times, {zero}, {.method = OdeMethod::Euler}),
                "events need a method");
  EXPECT_MISUSE(ValueError, odeint_events(circle, y0, times, {zero}, {.adjoint = Adjoint::Backsolve}),
                "Events need Steps or Checkpointed");
  Event<Tensor> wrong = zero;
  wrong.direction = 2;
  EXPECT_MISUSE(ValueError, odeint_events(circle, y0, times, {wrong}), "-1, 0 or 1, unlike 2");
  wrong = zero;
  wrong.capacity = 0;
  EXPECT_MISUSE(ValueError, odeint_events(circle, y0, times, {wrong}),
                "the capacity of an event is at least 1, unlike 0");
  wrong = {.g = [](const Tensor &, const Tensor &y) { return y; }};
  EXPECT_MISUSE(ShapeError, odeint_events(circle, y0, times, {wrong}),
                "the function of an event returned float64[2]; it returns a scalar of float64");
  wrong = {.g = {}};
  EXPECT_MISUSE(StateError, odeint_events(circle, y0, times, {wrong}), "odeint_events");
}
