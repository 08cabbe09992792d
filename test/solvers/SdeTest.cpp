#include "Testing.h"

#include <cmath>

using namespace calque;
using namespace calque::solvers;
using namespace calque::testing;

namespace {

constexpr double kRate = 0.7, kVolatility = 0.8;
Tensor drift(const Tensor &, const Tensor &y) { return kRate * y; }
Tensor spread(const Tensor &, const Tensor &y) { return kVolatility * y; }

// Increments over [0, 1] of `steps` steps for many paths, from 2^10 fine ones, so that all step sizes see one noise.
constexpr std::int64_t kFine = 1024, kPaths = 400;
Tensor noiseOf(std::int64_t steps) {
  static const Tensor fine = random::stateless_normal({kFine, kPaths}, random::state(3, 0), {.dtype = DType::Float64}) *
                             std::sqrt(1.0 / kFine);
  return reshape(sum(reshape(fine, {steps, kFine / steps, kPaths}), 1), {1, steps, kPaths});
}
const Tensor &unitTimes() {
  static const Tensor times = tensor<double>({0, 1});
  return times;
}

// The mean error of the paths at 1 against the exact solution of geometric Brownian motion, in Ito's or Stratonovich's
// sense.
double strongError(SdeMethod method, std::int64_t steps) {
  const Tensor noise = noiseOf(steps), total = sum(reshape(noise, {steps, kPaths}), 0);
  const double correction = method == SdeMethod::Heun ? 0 : 0.5 * kVolatility * kVolatility;
  const Tensor exact = exp(kRate - correction + kVolatility * total);
  auto solve = function([&](const Tensor &w) {
    return sdeint_along(drift, spread, ones({kPaths}, DType::Float64), unitTimes(), w,
                        {.method = method, .steps = steps})
        .y[1];
  });
  return mean(abs(solve(noise) - exact)).item<double>();
}

} // namespace

TEST(Sdeint, StrongOrders) {
  auto order = [](SdeMethod method) { return std::log2(strongError(method, 16) / strongError(method, 256)) / 4; };
  EXPECT_NEAR(order(SdeMethod::EulerMaruyama), 0.5, 0.1);
  EXPECT_NEAR(order(SdeMethod::Milstein), 1, 0.1);
  EXPECT_NEAR(order(SdeMethod::Heun), 1, 0.1);
}

// One step by hand: y = 2, t from 1 to 1.5, dW = 0.3.
TEST(Sdeint, StepsByHand) {
  auto f = [](const Tensor &t, const Tensor &y) { return t - y; };
  auto g = [](const Tensor &t, const Tensor &y) { return y * y * t; };
  const Tensor times = tensor<double>({1, 1.5}), noise = tensor<double>({{0.3}});
  auto last = [&](SdeMethod method) {
    return sdeint_along(f, g, scalar<double>(2), times, noise, {.method = method}).y[1].item<double>();
  };
  const double euler = 2 + (1 - 2) * 0.5 + 4 * 0.3;
  EXPECT_NEAR(last(SdeMethod::EulerMaruyama), euler, 1e-15);
  EXPECT_NEAR(last(SdeMethod::Milstein), euler + 0.5 * 4 * 4 * (0.09 - 0.5), 1e-14);
  const double slope = 1.5 - euler, diffusion = euler * euler * 1.5;
  EXPECT_NEAR(last(SdeMethod::Heun), 2 + 0.25 * (-1 + slope) + 0.15 * (4 + diffusion), 1e-14);
}

TEST(Sdeint, MomentsOfOrnsteinAndUhlenbeck) {
  // dy = -y dt + s dW has the mean y0 exp(-t) and the variance s^2 (1 - exp(-2 t)) / 2.
  const double s = 0.5;
  auto solve = function([&](const Tensor &y0) {
    random::Generator noise(5);
    return sdeint([](const Tensor &, const Tensor &y) { return -y; },
                  [&](const Tensor &, const Tensor &y) { return 0 * y + s; }, y0, tensor<double>({0, 0.5, 2}), noise,
                  {.steps = 40})
        .y;
  });
  const Tensor y = solve(full({20000}, 3, DType::Float64));
  for (int i : {1, 2}) {
    const double t = i == 1 ? 0.5 : 2, average = mean(y[i]).item<double>();
    EXPECT_NEAR(average, 3 * std::exp(-t), 0.02);
    EXPECT_NEAR(mean(square(y[i] - average)).item<double>(), s * s * (1 - std::exp(-2 * t)) / 2, 0.006);
  }
}

TEST(Sdeint, RepeatsBySeed) {
  const Tensor y0 = tensor<double>({1, 2, 3}), times = tensor<double>({0, 1, 2});
  auto byState = [&](const Tensor &state) { return sdeint(drift, spread, y0, times, state, {.steps = 7}).y; };
  const Tensor first = byState(random::state(9, 0));
  expectSameBits(first, byState(random::state(9, 0)));
  expectNear(function(byState)(random::state(9, 0)), valuesOf(first), 1e-13);
  EXPECT_NE(valuesOf(first), valuesOf(byState(random::state(10, 0))));
  random::Generator generator(9);
  const Tensor drawn = sdeint(drift, spread, y0, times, generator, {.steps = 7}).y;
  expectSameBits(first, drawn);
  EXPECT_NE(valuesOf(first), valuesOf(sdeint(drift, spread, y0, times, generator, {.steps = 7}).y));
  // Two tensors of a state have different noise.
  using Pair = std::pair<Tensor, Tensor>;
  auto both = [](const Tensor &, const Pair &s) { return s; };
  const Pair pair = sdeint(both, both, Pair(y0, y0), times, random::state(9, 0)).y;
  EXPECT_NE(valuesOf(pair.first), valuesOf(pair.second));
  // Each of several states of generators has its own paths.
  const Tensor states = stack({random::state(9, 0), random::state(10, 0)});
  const Tensor mapped = function(vmap(byState))(states);
  expectNear(mapped[0], valuesOf(first), 1e-13);
  expectNear(mapped[1], valuesOf(byState(random::state(10, 0))), 1e-13);
}

TEST(Sdeint, GeneralNoise) {
  // Two elements that share three noises, as a matrix; and one step by hand.
  const Tensor matrix = tensor<double>({{1, 2, 0}, {0.5, 0, -1}});
  auto f = [](const Tensor &, const Tensor &y) { return 0 * y; };
  auto g = [&](const Tensor &, const Tensor &y) { return matrix * expand_dims(y, 1); };
  const Tensor y0 = tensor<double>({1, 2}), noise = tensor<double>({{{0.1, 0.2, 0.3}}});
  for (SdeMethod method : {SdeMethod::EulerMaruyama, SdeMethod::Heun}) {
    const Tensor y = sdeint_along(f, g, y0, unitTimes(), noise, {.method = method, .noises = 3}).y[1];
    const double a = 0.5, b = 0.05 - 0.3;
    if (method == SdeMethod::EulerMaruyama)
      expectNear(y, {1 + a, 2 * (1 + b)}, 1e-15);
    else
      expectNear(y, {1 + a + a * a / 2, 2 * (1 + b + b * b / 2)}, 1e-15);
  }
  EXPECT_EQ(sdeint(f, g, y0, tensor<double>({0, 1, 2}), random::state(1, 0), {.steps = 4, .noises = 3}).y.shape(),
            (Shape{3, 2}));
}

TEST(Sdeint, Gradients) {
  const Tensor noise = reshape(noiseOf(4).rows(0, 1), {4, kPaths});
  const Tensor increments = reshape(slice(noise, {0, 0}, {4, 6}), {2, 2, 6}); // two intervals of two steps
  for (SdeMethod method : {SdeMethod::EulerMaruyama, SdeMethod::Milstein, SdeMethod::Heun}) {
    SCOPED_TRACE(static_cast<int>(method));
    expectGradients(
        [&](const std::vector<Tensor> &x) {
          auto f = [&](const Tensor &t, const Tensor &y) { return x[1] * y + sin(t); };
          auto g = [&](const Tensor &, const Tensor &y) { return x[2] * tanh(y); };
          const Tensor y = sdeint_along(f, g, x[0], x[3], increments, {.method = method, .steps = 2}).y;
          return mean(square(y[2])) + sum(y[1]);
        },
        {tensor<double>({1, 0.5, 2, -1, 0.2, 3}), scalar<double>(0.4), scalar<double>(0.6),
         tensor<double>({0, 0.4, 1})});
  }
  // Of drawn noise, whose size depends on the times.
  expectGradients(
      [&](const std::vector<Tensor> &x) {
        return sum(sdeint(drift, [&](const Tensor &, const Tensor &y) { return x[0] * y; }, tensor<double>({1, 2}),
                          x[1], random::state(2, 0), {.steps = 3})
                       .y);
      },
      {scalar<double>(0.3), tensor<double>({0, 0.5, 2})});
}

TEST(Sdeint, Float32AndOneKernel) {
  auto last = [](const Tensor &y0) {
    return sdeint([](const Tensor &, const Tensor &y) { return -y; },
                  [](const Tensor &, const Tensor &y) { return 0.1f + 0 * y; }, y0, tensor<float>({0, 1}),
                  random::state(1, 0), {.method = SdeMethod::Milstein, .steps = 200})
        .y[1];
  };
  EXPECT_EQ(function(last)(tensor<float>({1, 2})).dtype(), DType::Float32);
  EXPECT_EQ(function(last).ir("outlined", tensor<float>({1, 2})).find("calque_rt_while"), std::string::npos);
}

TEST(Sdeint, RefusesMisuse) {
  const Tensor y0 = tensor<double>({1, 2}), state = random::state(1, 0);
  auto run = [&](const Tensor &ts, SdeOptions options) { return sdeint(drift, spread, y0, ts, state, options); };
  EXPECT_MISUSE(ValueError, sdeint(drift, spread, y0, unitTimes(), state, {.steps = 0}),
                "sdeint: .steps = 0; at least one step is needed");
  EXPECT_MISUSE(ValueError, sdeint(drift, spread, y0, unitTimes(), state, {.noises = -1}),
                "sdeint: .noises = -1; it is 0 for diagonal noise, or the number of noises");
  EXPECT_MISUSE(ValueError, sdeint(drift, spread, y0, unitTimes(), state, {.method = SdeMethod::Milstein, .noises = 2}),
                "sdeint: Milstein's method is for diagonal noise; take EulerMaruyama or Heun for .noises = 2");
  EXPECT_MISUSE(AssertionError, sdeint(drift, spread, y0, tensor<double>({1, 0}), state),
                "the times of a stochastic equation increase");
  EXPECT_MISUSE(DTypeError, sdeint(drift, spread, tensor({1, 2}), unitTimes(), state), "int32[2]");
  EXPECT_MISUSE(ShapeError, sdeint(drift, spread, y0, unitTimes(), state, {.noises = 3}),
                "returned float64[2] for a state that is float64[2,3]");
  EXPECT_MISUSE(ShapeError, sdeint_along(drift, spread, y0, unitTimes(), tensor<double>({{1}})),
                "float64[1,1], where [1,1,2] is needed");
  EXPECT_MISUSE(DTypeError, sdeint_along(drift, spread, y0, unitTimes(), zeros({1, 1, 2})),
                "sdeint: the increments are float32[1,1,2], and the state is float64");
  EXPECT_MISUSE(ShapeError, sdeint_along(drift, spread, y0, unitTimes(), std::pair(y0, y0)), "in 2 tensors, where 1");
  auto open =
      function([&](const Tensor &ts) { return run(ts, {}).y; }, {.input_signature = {TensorSpec<double>({kDynamic})}});
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { open(unitTimes()); }), "the number of times is known while tracing");
}
