#include "Testing.h"

#include <cmath>

using namespace calque;
using namespace calque::solvers;
using namespace calque::testing;

namespace {

// One of each kind.
const std::vector<OdeMethod> kKinds = {OdeMethod::Midpoint,       OdeMethod::RungeKutta4, OdeMethod::DormandPrince5,
                                       OdeMethod::DormandPrince8, OdeMethod::Rodas5P,     OdeMethod::Bdf};

OdeOptions optionsOf(OdeMethod method, Adjoint adjoint = Adjoint::Steps) {
  if (method == OdeMethod::Euler || method == OdeMethod::Midpoint || method == OdeMethod::RungeKutta4)
    return {.method = method, .steps = 5, .adjoint = adjoint};
  // So tight that the step sizes, which are constants to the gradient, do not matter to central differences.
  return {.method = method, .rtol = 1e-9, .atol = 1e-11, .adjoint = adjoint};
}

// Volterra's prey and predators, with p for the rates.
Tensor hunt(const Tensor &y, const Tensor &p) {
  return stack({p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]});
}
const std::vector<double> kRates = {1.1, 0.4, 0.1, 0.4};

// A weighted sum of the states at the times, of {y0, times, rates}.
Body lossOf(const OdeOptions &options) {
  return [options](const std::vector<Tensor> &x) {
    auto f = [&](const Tensor &t, const Tensor &y) { return hunt(y, x[2]) * (1 + 0.1 * sin(t)); };
    const Tensor y = odeint(f, x[0], x[1], options).y;
    return sum(y * tensor<double>({{1, 2}, {0.5, -1}, {1, 1}, {-2, 3}}));
  };
}
std::vector<Tensor> inputs() { return {tensor<double>({2, 1}), tensor<double>({0, 0.4, 1.1, 1.5}), tensor(kRates)}; }

} // namespace

TEST(OdeintGradients, ByStateTimesAndCaptures) {
  for (OdeMethod method : kKinds) {
    SCOPED_TRACE(static_cast<int>(method));
    const bool eagerly = method == OdeMethod::RungeKutta4 || method == OdeMethod::DormandPrince5;
    (eagerly ? expectGradients : expectCompiledGradients)(lossOf(optionsOf(method)), inputs());
  }
}

TEST(OdeintGradients, ForwardMode) {
  for (OdeMethod method : kKinds) {
    SCOPED_TRACE(static_cast<int>(method));
    const Body loss = lossOf(optionsOf(method));
    expectTangents([loss](const std::vector<Tensor> &x) { return std::vector<Tensor>{loss(x)}; }, inputs(), false);
  }
}

TEST(OdeintGradients, CheckpointsGiveTheSame) {
  for (OdeMethod method : {OdeMethod::RungeKutta4, OdeMethod::DormandPrince5}) {
    SCOPED_TRACE(static_cast<int>(method));
    auto gradientsBy = [&](Adjoint adjoint) {
      const Body loss = lossOf(optionsOf(method, adjoint));
      return function([loss](const Tensor &y, const Tensor &ts, const Tensor &p) {
        return gradients(loss, {y, ts, p});
      })(inputs()[0], inputs()[1], inputs()[2]);
    };
    const std::vector<Tensor> steps = gradientsBy(Adjoint::Steps), checkpointed = gradientsBy(Adjoint::Checkpointed);
    for (std::size_t i = 0; i < steps.size(); ++i)
      expectNear(checkpointed[i], valuesOf(steps[i]), 1e-13);
  }
}

TEST(OdeintGradients, BacksolveAgreesWithSteps) {
  auto f = [](const Tensor &t, const Tensor &y, const Tensor &p) { return hunt(y, p) * (1 + 0.1 * sin(t)); };
  for (OdeMethod method : {OdeMethod::RungeKutta4, OdeMethod::DormandPrince5}) {
    SCOPED_TRACE(static_cast<int>(method));
    auto lossBy = [&](Adjoint adjoint) -> Body {
      OdeOptions options = optionsOf(method, adjoint);
      if (method == OdeMethod::RungeKutta4)
        options.steps = 200;
      return [f, options](const std::vector<Tensor> &x) {
        return sum(odeint(f, x[0], x[1], x[2], options).y * tensor<double>({{1, 2}, {0.5, -1}, {1, 1}, {-2, 3}}));
      };
    };
    const std::vector<Tensor> steps = gradients(lossBy(Adjoint::Steps), inputs());
    const Body loss = lossBy(Adjoint::Backsolve);
    const std::vector<Tensor> eager = gradients(loss, inputs());
    const std::vector<Tensor> compiled = function([loss](const Tensor &y, const Tensor &ts, const Tensor &p) {
      return gradients(loss, {y, ts, p});
    })(inputs()[0], inputs()[1], inputs()[2]);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      expectNear(eager[i], valuesOf(steps[i]), 2e-6);
      expectNear(compiled[i], valuesOf(steps[i]), 2e-6);
    }
  }
}

TEST(OdeintGradients, BacksolveTakesStructures) {
  struct Rates {
    Tensor growth;
    std::int64_t unused;
    Tensor decay;
  };
  using Pair = std::pair<Tensor, Tensor>;
  auto f = [](const Tensor &, const Pair &y, const Rates &p) { return Pair(p.growth * y.second, -p.decay * y.first); };
  auto loss = [&](const Pair &y0, const Rates &p, Adjoint adjoint) {
    const Pair y = odeint(f, y0, tensor<double>({0, 1, 2}), p, optionsOf(OdeMethod::DormandPrince5, adjoint)).y;
    return sum(y.first * y.first) + sum(y.second);
  };
  const Pair y0(tensor<double>({1, 2}), tensor<double>({0, 1}));
  const Rates p{scalar<double>(1.5), 3, tensor<double>({0.5, 2})};
  auto byRates = [&](Adjoint adjoint) {
    return grad([&, adjoint](const Rates &x) { return loss(y0, x, adjoint); })(p);
  };
  auto byStates = [&](Adjoint adjoint) {
    return grad([&, adjoint](const Pair &x) { return loss(x, p, adjoint); })(y0);
  };
  const Rates found = byRates(Adjoint::Backsolve), expected = byRates(Adjoint::Steps);
  expectNear(found.growth, valuesOf(expected.growth), 1e-7);
  expectNear(found.decay, valuesOf(expected.decay), 1e-7);
  const Pair start = byStates(Adjoint::Backsolve), same = byStates(Adjoint::Steps);
  expectNear(start.first, valuesOf(same.first), 1e-7);
  expectNear(start.second, valuesOf(same.second), 1e-7);
}

// y' = a y: the gradient by a is t y, eagerly by a tape and in a function that learns.
TEST(OdeintGradients, ByVariables) {
  Variable a(scalar<double>(0.5));
  const Tensor times = tensor<double>({0, 2});
  auto loss = [&] {
    return odeint([&](const Tensor &, const Tensor &y) { return a * y; }, scalar<double>(3), times,
                  {.rtol = 1e-9, .atol = 1e-11})
        .y[1];
  };
  GradientTape tape;
  const Tensor y = loss();
  EXPECT_NEAR(tape.gradient(y, a).value().item<double>(), 2 * 3 * std::exp(1), 1e-6);
  auto learn = function([&](const Tensor &target) {
    GradientTape inner;
    const Tensor error = square(loss() - target);
    a.assign_sub(0.002 * inner.gradient(error, a).value());
    return error;
  });
  for (int i = 0; i < 60; ++i)
    learn(scalar<double>(6));
  EXPECT_NEAR(a.value().item<double>(), std::log(2) / 2, 1e-4);
}

TEST(OdeintGradients, SecondOrder) {
  // y(2) = y0 exp(2 a); its second derivative by a is 4 y.
  auto last = [](const Tensor &a) {
    auto f = [&](const Tensor &, const Tensor &y) { return a * y; };
    return odeint(f, scalar<double>(3), tensor<double>({0, 2}), {.rtol = 1e-10, .atol = 1e-12}).y[1];
  };
  const Tensor second = function(hessian(last))(scalar<double>(0.5));
  EXPECT_NEAR(second.item<double>(), 4 * 3 * std::exp(1), 1e-5);
}

TEST(OdeintGradients, Vmap) {
  const Tensor rates = tensor<double>({{1.1, 0.4, 0.1, 0.4}, {0.5, 0.5, 0.3, 0.2}, {2, 1, 0.2, 0.3}});
  for (OdeMethod method : {OdeMethod::DormandPrince5, OdeMethod::Rodas5P}) {
    auto loss = [&](const Tensor &p) { return lossOf(optionsOf(method))({inputs()[0], inputs()[1], p}); };
    const Tensor all = function(vmap(grad(loss)))(rates);
    auto one = function(grad(loss));
    for (int i = 0; i < 3; ++i)
      expectNear(all[i], valuesOf(one(rates[i])), 1e-9);
  }
}

// y' = -y (log y + 3): log y is exp(-t) (log y0 + 3) - 3. The first steps are so long that y becomes negative.
TEST(OdeintGradients, GuardRejectedSteps) {
  auto f = [](const Tensor &, const Tensor &y) { return -y * (log(y) + 3); };
  for (OdeMethod method : {OdeMethod::DormandPrince5, OdeMethod::Rodas5P, OdeMethod::Bdf}) {
    SCOPED_TRACE(static_cast<int>(method));
    auto loss = [&](bool guard) {
      return [&, guard](const Tensor &y0) {
        const OdeOptions options{.method = method, .rtol = 1e-7, .first_step = 1.0, .guard_rejected = guard};
        const auto found = odeint(f, y0, tensor<double>({0, 0.5, 1}), options);
        EXPECT_TRUE(!found.y.is_known() || found.statistics.rejected.item<std::int64_t>() > 0);
        return found.y[2] + 2 * found.y[1];
      };
    };
    const Tensor y0 = scalar<double>(0.9);
    const double logarithm = std::log(0.9) + 3;
    auto slopeAt = [&](double t) { return std::exp(std::exp(-t) * logarithm - 3) * std::exp(-t) / 0.9; };
    for (const Tensor &slope : {grad(loss(true))(y0), function(grad(loss(true)))(y0)})
      EXPECT_NEAR(slope.item<double>(), slopeAt(1) + 2 * slopeAt(0.5), 1e-4);
    EXPECT_EQ(loss(true)(y0).item<double>(), loss(false)(y0).item<double>());
  }
  EXPECT_TRUE(std::isnan(grad([&](const Tensor &y0) {
                           return odeint(f, y0, tensor<double>({0, 1}), {.first_step = 1.0}).y[1];
                         })(scalar<double>(0.9))
                             .item<double>()))
      << "the option is needed";
}

TEST(OdeintGradients, Float32) {
  auto last = [](const Tensor &a) {
    auto f = [&](const Tensor &, const Tensor &y) { return a * y; };
    return odeint(f, scalar(3.0f), tensor<float>({0, 1, 2})).y[2];
  };
  EXPECT_NEAR(function(grad(last))(scalar(0.5f)).item<float>(), 2 * 3 * std::exp(1.0), 2e-2);
}

TEST(OdeintGradients, LargeStatesAndMatrices) {
  // y' = A y with 40 elements, against the same steps of a small problem: all columns are alike.
  const Tensor a = tensor<double>({{-0.1, 1}, {-1, -0.2}});
  auto loss = [&](const Tensor &matrix, std::int64_t columns) {
    auto f = [&](const Tensor &, const Tensor &y) { return matmul(matrix, y); };
    const Tensor y0 = broadcast_to(tensor<double>({{1}, {2}}), {2, columns});
    return mean(square(odeint(f, y0, tensor<double>({0, 0.5, 2}), optionsOf(OdeMethod::DormandPrince5)).y));
  };
  const Tensor large = function(grad([&](const Tensor &x) { return loss(x, 40); }))(a);
  expectNear(large, valuesOf(grad([&](const Tensor &x) { return loss(x, 1); })(a)), 1e-10);
}
