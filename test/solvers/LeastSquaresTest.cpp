// Least squares. Certified values are those of NIST's Statistical Reference Datasets
// (https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml); the program nist.cpp fits all sets. Other values are
// closed forms, or those of scipy.optimize.least_squares 1.17.
#include "calque/solvers/least_squares.h"

#include "test/solvers/Testing.h"

namespace calque::testing {
namespace {

using solvers::RobustLoss;

const std::vector<double> misraX = {77.6,  114.9, 141.1, 190.8, 239.9, 289.0, 332.8,
                                    378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0},
                          misraY = {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02,
                                    44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78};

Tensor misra(const Tensor &p, const Tensor &y) { return p[0] * (1 - exp(-p[1] * cast(tensor(misraX), y.dtype()))) - y; }

struct Certified {
  const char *name;
  std::vector<double> x, y;
  std::vector<std::vector<double>> starts;
  std::vector<double> parameters, deviations;
  double sumOfSquares;
  std::function<Tensor(const Tensor &p, const Tensor &x)> model;
};

const std::vector<Certified> sets = {
    {"Misra1a",
     misraX,
     misraY,
     {{500, 0.0001}, {250, 0.0005}},
     {2.3894212918e+02, 5.5015643181e-04},
     {2.7070075241e+00, 7.2668688436e-06},
     1.2455138894e-01,
     [](const Tensor &p, const Tensor &x) { return p[0] * (1 - exp(-p[1] * x)); }},
    {"MGH09", // Kowalik and Osborne's function: higher level of difficulty
     {4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625},
     {0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246},
     {{25, 39, 41.5, 39}, {0.25, 0.39, 0.415, 0.39}},
     {1.9280693458e-01, 1.9128232873e-01, 1.2305650693e-01, 1.3606233068e-01},
     {1.1435312227e-02, 1.9633220911e-01, 8.0842031232e-02, 9.0025542308e-02},
     3.0750560385e-04,
     [](const Tensor &p, const Tensor &x) { return p[0] * (x * x + x * p[1]) / (x * x + x * p[2] + p[3]); }},
    {"MGH10", // Meyer's function: higher level of difficulty. From the first start, 2,000 steps do not get to the
              // minimum.
     {50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110, 115, 120, 125},
     {34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872},
     {{0.02, 4000, 250}},
     {5.6096364710e-03, 6.1813463463e+03, 3.4522363462e+02},
     {1.5687892471e-04, 2.3309021107e+01, 7.8486103508e-01},
     8.7945855171e+01,
     [](const Tensor &p, const Tensor &x) { return p[0] * exp(p[1] / (x + p[2])); }},
    {"BoxBOD", // higher level of difficulty
     {1, 2, 3, 5, 7, 10},
     {109, 149, 149, 191, 213, 224},
     {{100, 0.75}},
     {2.1380940889e+02, 5.4723748542e-01},
     {1.2354515176e+01, 1.0455993237e-01},
     1.1680088766e+03,
     [](const Tensor &p, const Tensor &x) { return p[0] * (1 - exp(-p[1] * x)); }},
    {"Rat42",
     {9, 14, 21, 28, 42, 57, 63, 70, 79},
     {8.93, 10.8, 18.59, 22.33, 39.35, 56.11, 61.73, 64.62, 67.08},
     {{100, 1, 0.1}, {75, 2.5, 0.07}},
     {7.2462237576e+01, 2.6180768402e+00, 6.7359200066e-02},
     {1.7340283401e+00, 8.8295217536e-02, 3.4465663377e-03},
     8.0565229338e+00,
     [](const Tensor &p, const Tensor &x) { return p[0] / (1 + exp(p[1] - p[2] * x)); }},
};

TEST(LeastSquares, HasNistsCertifiedValues) {
  for (const Certified &set : sets) {
    SCOPED_TRACE(set.name);
    const Tensor x = tensor(set.x), y = tensor(set.y);
    auto residuals = [&](const Tensor &p) { return set.model(p, x) - y; };
    auto solve = function([&](const Tensor &p0) {
      auto r = solvers::least_squares(residuals, p0, {.ftol = 0, .xtol = 1e-11, .gtol = 0, .max_iterations = 500});
      return std::tuple(r.x, r.cost, solvers::covariance(residuals, r.x));
    });
    for (const auto &start : set.starts) {
      auto [p, cost, covariance] = solve(tensor(start));
      std::vector<double> values = valuesOf(p), all = valuesOf(covariance);
      for (std::size_t i = 0, n = set.parameters.size(); i < n; ++i) {
        EXPECT_NEAR(values[i] / set.parameters[i], 1, 1e-7);
        EXPECT_NEAR(std::sqrt(all[i * n + i]) / set.deviations[i], 1, 1e-6);
      }
      EXPECT_NEAR(2 * cost.item<double>() / set.sumOfSquares, 1, 1e-9);
    }
  }
}

TEST(LeastSquares, RunsEagerlyAndInBothPrecisions) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const double tolerance = dtype == DType::Float32 ? 1e-3 : 1e-6;
    Tensor y = makeTensor(dtype, misraY, {14}), p0 = makeTensor(dtype, std::vector<double>{250, 0.0005}, {2});
    for (auto solver : {solvers::least_squares, solvers::gauss_newton})
      for (const Tensor &p :
           {solver([&](const Tensor &p) { return misra(p, y); }, p0, {}).x, function([&](const Tensor &p0) {
              return solver([&](const Tensor &p) { return misra(p, y); }, p0, {}).x;
            })(p0)}) {
        EXPECT_NEAR(valuesOf(p)[0] / 238.94212918, 1, tolerance);
        EXPECT_NEAR(valuesOf(p)[1] / 5.5015643181e-04, 1, tolerance);
      }
  }
}

TEST(LeastSquares, OfLinearModelsIsTheirClosedForm) {
  // y = p0 + p1 x through (0, 1), (1, 2), (2, 4): the line 5/6 + 3/2 x, with a sum of squares of 1/6.
  Tensor x = tensor<double>({0, 1, 2}), y = tensor<double>({1, 2, 4});
  for (auto solver : {solvers::least_squares, solvers::gauss_newton}) {
    auto r = solver([&](const Tensor &p) { return p[0] + p[1] * x - y; }, tensor<double>({0, 0}), {});
    expectNear(r.x, {5.0 / 6, 1.5}, 1e-9);
    EXPECT_NEAR(r.cost.item<double>(), 1.0 / 12, 1e-15);
    expectNear(r.residual, {-1.0 / 6, 1.0 / 3, -1.0 / 6}, 1e-9);
    expectNear(r.gradient, {0, 0}, 1e-8);
  }
  // A scalar parameter and residuals of any shape: the mean.
  auto mean = solvers::least_squares([&](const Tensor &p) { return reshape(y, {3, 1}) - p; }, scalar<double>(0.0));
  expectNear(mean.x, {7.0 / 3}, 1e-8);
  EXPECT_EQ(mean.x.rank(), 0);
  EXPECT_EQ(mean.residual.shape(), Shape({3, 1}));
}

TEST(LeastSquares, HasDerivativesOfTheEstimate) {
  // The residuals of the fit are not small, so that the second derivatives of the model count.
  const Tensor y = tensor(misraY) + tensor<double>({1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1});
  const Tensor p0 = tensor<double>({250, 0.0005});
  auto fit = [&](const Tensor &y) {
    return solvers::least_squares([&](const Tensor &p) { return misra(p, y); }, p0,
                                  {.ftol = 0, .xtol = 1e-13, .gtol = 0})
        .x;
  };
  auto cost = [&](const Tensor &y) {
    return solvers::least_squares([&](const Tensor &p) { return misra(p, y); }, p0).cost;
  };
  Tensor slopes = function(jacobian(fit))(y), ofCost = function(grad(cost))(y);
  auto compiled = function(fit);
  auto compiledCost = function(cost);
  auto first = [&](const Tensor &y) { return fit(y)[0]; };
  auto gradient = function(grad(first));
  Tensor direction = one_hot(scalar(3), 14, DType::Float64);
  Tensor second = function(hvp(first))(y, direction);
  const double h = 1e-2;
  std::vector<double> ofFirst, ofSecond, costs;
  for (int i = 0; i < 14; ++i) {
    Tensor step = h * one_hot(scalar(i), 14, DType::Float64);
    std::vector<double> change = valuesOf((compiled(y + step) - compiled(y - step)) / (2 * h));
    ofFirst.push_back(change[0]);
    ofSecond.push_back(change[1] * 1e5);
    costs.push_back((compiledCost(y + step).item<double>() - compiledCost(y - step).item<double>()) / (2 * h));
  }
  expectNear(slopes[0], ofFirst, 1e-5);
  expectNear(slopes[1] * 1e5, ofSecond, 1e-5);
  expectNear(ofCost, costs, 1e-6);
  expectNear(second, valuesOf((gradient(y + 1e-3 * direction) - gradient(y - 1e-3 * direction)) / 2e-3), 1e-5);
  expectNear(jvp(fit, y, direction).second[0], {ofFirst[3]}, 1e-5); // forward mode
}

TEST(LeastSquares, OfExamplesHaveIterationsOfTheirOwn) {
  Tensor y = tensor(misraY), factors = tensor<double>({1, 0.5, 2});
  auto fit = [&](const Tensor &factor) {
    return solvers::least_squares([&](const Tensor &p) { return misra(p, factor * y); }, tensor<double>({250, 0.0005}));
  };
  auto together = function(vmap(fit))(factors);
  for (int i = 0; i < 3; ++i) {
    auto alone = fit(factors[i]);
    EXPECT_EQ(together.iterations[i].item<std::int64_t>(), alone.iterations.item<std::int64_t>());
    expectNear(together.x[i], valuesOf(alone.x), 1e-8);
  }
}

TEST(RobustLosses, HaveTheirFormulas) {
  const std::vector<double> z = {0, 0.01, 0.4, 0.9, 1, 2, 2.4, 2.5, 30, 1e8};
  auto expect = [&](RobustLoss loss, auto formula, double tolerance) {
    std::vector<double> expected;
    for (double each : z)
      expected.push_back(formula(each));
    expectNear(solvers::robust_loss(loss, tensor(z)), expected, tolerance);
  };
  expect(RobustLoss::Linear, [](double z) { return z; }, 0);
  expect(RobustLoss::Huber, [](double z) { return z <= 1 ? z : 2 * std::sqrt(z) - 1; }, 1e-15);
  expect(RobustLoss::SoftL1, [](double z) { return 2 * (std::sqrt(1 + z) - 1); }, 1e-15);
  expect(RobustLoss::Cauchy, [](double z) { return std::log1p(z); }, 1e-15);
  expect(RobustLoss::Arctan, [](double z) { return std::atan(z); }, 1e-15);
  expect(RobustLoss::Tukey, [](double z) { return (1 - std::pow(1 - std::min(z, 1.0), 3)) / 3; }, 1e-15);
  for (auto loss : {RobustLoss::Huber, RobustLoss::SoftL1, RobustLoss::Cauchy, RobustLoss::Arctan, RobustLoss::Tukey})
    check_gradients([=](const std::vector<Tensor> &in) { return sum(solvers::robust_loss(loss, in[0])); },
                    {tensor<double>({0.2, 0.8, 1.7, 2.9})});
}

TEST(RobustLosses, AreSciPysMinima) {
  std::vector<double> y = misraY;
  y[3] += 5; // an outlier
  // scipy.optimize.least_squares(..., loss=..., f_scale=0.1, x_scale='jac'), with tolerances of 1e-12.
  const std::vector<std::tuple<RobustLoss, double, double>> expected = {
      {RobustLoss::Linear, 207.441590, 11.92781177235276},
      {RobustLoss::Huber, 238.365182, 0.5607188287706381},
      {RobustLoss::SoftL1, 237.938001, 0.5469534451523231},
      {RobustLoss::Cauchy, 232.482377, 0.07580050453290559},
      {RobustLoss::Arctan, 228.628360, 0.033638666576950416}};
  for (auto [loss, first, cost] : expected) {
    SCOPED_TRACE(static_cast<int>(loss));
    auto r = function([&, loss = loss](const Tensor &p0) {
      return solvers::least_squares([&](const Tensor &p) { return misra(p, tensor(y)); }, p0,
                                    {.loss = loss, .f_scale = 0.1});
    })(tensor<double>({250, 0.0005}));
    EXPECT_NEAR(r.x[0].item<double>() / first, 1, 1e-4);
    EXPECT_NEAR(r.cost.item<double>() / cost, 1, 1e-7);
  }
  // Tukey's loss forgets the outlier: the fit is that without it.
  const Tensor kept = tensor({0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}), p0 = tensor<double>({238, 0.00055});
  const solvers::LeastSquaresOptions tukey = {.loss = RobustLoss::Tukey};
  auto all = solvers::least_squares([&](const Tensor &p) { return misra(p, tensor(y)); }, p0, tukey);
  auto clean = solvers::least_squares([&](const Tensor &p) { return gather(misra(p, tensor(y)), kept); }, p0, tukey);
  expectNear(all.x, valuesOf(clean.x), 1e-6);
  EXPECT_NEAR(all.cost.item<double>(), clean.cost.item<double>() + 1.0 / 6, 1e-9);
}

TEST(LeastSquares, StaysWithinBounds) {
  Tensor y = tensor(misraY);
  auto residuals = [&](const Tensor &p) { return misra(p, y); };
  // scipy.optimize.least_squares with the same bounds: p0 = 220.78..., at a lower bound of p1 of 0.0006.
  auto r = function([&](const Tensor &p0) {
    return solvers::least_squares(residuals, p0,
                                  {.lower = tensor<double>({0, 0.0006}), .upper = scalar<double>(300.0)});
  })(tensor<double>({250, 0.0005}));
  EXPECT_EQ(r.x[1].item<double>(), 0.0006);
  // With p1 held, the model is linear in p0.
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < misraX.size(); ++i) {
    double basis = 1 - std::exp(-0.0006 * misraX[i]);
    products += basis * misraY[i];
    squares += basis * basis;
  }
  EXPECT_NEAR(r.x[0].item<double>(), products / squares, 1e-7);
  // The held parameter has no derivative, and the free one that of the linear model.
  auto first = [&](const Tensor &bound) {
    return solvers::least_squares(residuals, tensor<double>({250, 0.0008}),
                                  {.lower = stack({scalar<double>(0.0), bound})})
        .x;
  };
  expectNear(jacobian(first)(scalar<double>(0.0006)), {0, 0}, 0);
  auto scaled = [&](const Tensor &factor) {
    return solvers::least_squares([&](const Tensor &p) { return misra(p, factor * y); }, tensor<double>({250, 0.0008}),
                                  {.lower = tensor<double>({0, 0.0006})})
        .x;
  };
  expectNear(jacobian(scaled)(scalar<double>(1.0)), {products / squares, 0}, 1e-8);
  auto gauss = solvers::gauss_newton(residuals, tensor<double>({250, 0.0008}), {.lower = tensor<double>({0, 0.0006})});
  EXPECT_NEAR(gauss.x[0].item<double>(), products / squares, 1e-7);
}

// The full step from 1.45 leads further away, and half of it to -0.05. The constant residual makes all changes small.
TEST(GaussNewton, AHalvedStepIsNoConvergence) {
  auto residuals = [](const Tensor &x) {
    return stack({solvers::robust_loss(solvers::RobustLoss::Arctan, x), 0 * x + 1e4});
  };
  auto r = function([&](const Tensor &x0) { return solvers::gauss_newton(residuals, x0); })(scalar<double>(1.45));
  EXPECT_TRUE(r.converged.item<bool>());
  EXPECT_NEAR(r.x.item<double>(), 0, 1e-3);
}

TEST(LeastSquares, TheCostHasGradientsWhereTheJacobianIsSingular) {
  auto cost = [](const Tensor &a) {
    auto residuals = [&](const Tensor &x) { return stack({square(x - a), 2 * a}); };
    return solvers::least_squares(residuals, a).cost; // 2 a^2
  };
  const Tensor a = scalar<double>(0.5);
  EXPECT_NEAR(function(grad(cost))(a).item<double>(), 2, 1e-9);
  EXPECT_NEAR(grad(cost)(a).item<double>(), 2, 1e-9);
  // (x - sin(a))^2 / 2 + (x + sin(a))^2 / 2 is sin(a)^2 at its minimum.
  auto regular = [](const Tensor &a) {
    auto residuals = [&](const Tensor &x) { return stack({x - sin(a), x + sin(a)}); };
    return solvers::least_squares(residuals, a).cost;
  };
  EXPECT_NEAR(function(grad(regular))(a).item<double>(), std::sin(1.0), 1e-9);
  EXPECT_NEAR(function(hessian(regular))(a).item<double>(), 2 * std::cos(1.0), 1e-8);
}

TEST(LeastSquares, MisuseIsRefusedWithTheUsersLine) {
  const Tensor y = tensor<double>({1, 2, 4}), p = tensor<double>({0, 0});
  auto line = [&](const Tensor &p) { return p[0] + p[1] * tensor<double>({0, 1, 2}) - y; };
  auto few = [](const Tensor &p) { return p[0]; };
  EXPECT_MISUSE(
      ShapeError, solvers::least_squares(few, p),
      "least_squares: the residuals are float64[] for parameters of float64[2], and there must be at least as many");
  EXPECT_MISUSE(StateError, solvers::least_squares({}, p), "least_squares: the function is an empty std::function");
  EXPECT_MISUSE(DTypeError, solvers::gauss_newton(line, tensor({0, 0})), "gauss_newton: x0 is float32 or float64");
  EXPECT_MISUSE(ValueError, solvers::least_squares(line, p, {.ftol = -1}),
                "least_squares: ftol is finite and not negative");
  EXPECT_MISUSE(ValueError, solvers::least_squares(line, p, {.xtol = -1}),
                "least_squares: xtol is finite and not negative");
  EXPECT_MISUSE(ValueError, solvers::least_squares(line, p, {.gtol = -1}),
                "least_squares: gtol is finite and not negative");
  EXPECT_MISUSE(ValueError, solvers::least_squares(line, p, {.max_iterations = 0}), "max_iterations is at least 1");
  EXPECT_MISUSE(ValueError, solvers::least_squares(line, p, {.f_scale = 0}), "f_scale is finite and above 0, unlike 0");
  EXPECT_MISUSE(ShapeError, solvers::least_squares(line, p, {.lower = y}),
                "the lower bound is float64[3], which does not broadcast to x0 of float64[2]");
  EXPECT_MISUSE(DTypeError, solvers::least_squares(line, p, {.upper = scalar(1.0f)}), "the upper bound is float32[]");
  EXPECT_MISUSE(AssertionError,
                solvers::least_squares(line, p, {.lower = scalar<double>(1.0), .upper = scalar<double>(0.0)}),
                "least_squares: a lower bound is above its upper bound");
  EXPECT_MISUSE(
      AssertionError, solvers::least_squares([](const Tensor &p) { return log(p - 1); }, p),
      "least_squares: no convergence in 1000 iterations, the gradient is above gtol or the cost is not finite");
  EXPECT_MISUSE(ShapeError, solvers::covariance([](const Tensor &p) { return p; }, p),
                "covariance: the residuals are float64[2]");
  EXPECT_MISUSE(ValueError, solvers::robust_loss(static_cast<RobustLoss>(9), y),
                "robust_loss: there is no loss with the number 9");
  EXPECT_MISUSE(DTypeError, solvers::robust_loss(RobustLoss::Huber, tensor({1, 2})),
                "robust_loss: z is float32 or float64");
}

} // namespace
} // namespace calque::testing
