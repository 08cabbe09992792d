#include "Testing.h"

#include <cmath>
#include <numbers>

using namespace calque;
using namespace calque::solvers;
using namespace calque::testing;

namespace {
Tensor number(double x) { return scalar<double>(x); }
const double pi = std::numbers::pi;
} // namespace

// Abramowitz, Stegun: Handbook of mathematical functions, table 25.4.
TEST(GaussLegendre, PublishedNodesAndWeights) {
  const GaussRule three = gauss_legendre(3, DType::Float64);
  expectNear(three.nodes, {-0.774596669241483, 0, 0.774596669241483}, 1e-15);
  expectNear(three.weights, {0.555555555555556, 0.888888888888889, 0.555555555555556}, 1e-15);
  const GaussRule ten = gauss_legendre(10, DType::Float64);
  EXPECT_NEAR(valuesOf(ten.nodes)[9], 0.973906528517172, 1e-15);
  EXPECT_NEAR(valuesOf(ten.weights)[9], 0.066671344308688, 1e-15);
  EXPECT_EQ(gauss_legendre(2).nodes.dtype(), DType::Float32);
}

TEST(GaussLegendre, IsExactForPolynomials) {
  for (std::int64_t n : {1, 2, 7, 64, 501}) {
    const GaussRule rule = gauss_legendre(n, DType::Float64);
    for (std::int64_t degree : {std::int64_t(0), 2 * n - 2, 2 * n - 1}) {
      double total = 0;
      for (std::int64_t i = 0; i < n; ++i)
        total += valuesOf(rule.weights)[static_cast<std::size_t>(i)] *
                 std::pow(valuesOf(rule.nodes)[static_cast<std::size_t>(i)], degree);
      EXPECT_NEAR(total, degree % 2 ? 0 : 2.0 / static_cast<double>(degree + 1), 1e-14) << n << " " << degree;
    }
  }
}

TEST(FixedQuad, Polynomials) {
  auto cubic = [](const Tensor &x) { return x * x * x - 2 * x + 1; };
  auto f = [&](const Tensor &a, const Tensor &b) { return fixed_quad(cubic, a, b, {.order = 2}); };
  EXPECT_NEAR(eagerAndCompiled(f, number(1), number(3)).item<double>(), 20 - 8 + 2, 1e-13);
  EXPECT_NEAR(fixed_quad(cubic, 3, 1, {.order = 2, .dtype = DType::Float64}).item<double>(), -14, 1e-13);
  EXPECT_NEAR(fixed_quad(cubic, 1.0f, 3.0f, {.order = 2}).item<float>(), 14, 1e-5);
  // Composite: the error of the midpoint rule of exp falls by 4 for twice the panels.
  auto exponential = [](const Tensor &x) { return exp(x); };
  double errors[2];
  for (int i : {0, 1})
    errors[i] = fixed_quad(exponential, number(0), number(1), {.order = 1, .panels = 16 << i}).item<double>() -
                (std::numbers::e - 1);
  EXPECT_NEAR(errors[0] / errors[1], 4, 0.01);
}

TEST(FixedQuad, TensorsAndGradients) {
  auto loss = [](const std::vector<Tensor> &x) {
    return sum(
        fixed_quad([&](const Tensor &t) { return stack({sin(t * x[2]), x[2] * exp(t)}); }, x[0], x[1], {.order = 12}) *
        tensor<double>({1, 3}));
  };
  expectGradients(loss, {number(0.2), number(1.5), number(0.7)});
}

TEST(Quad, ClosedForms) {
  struct Case {
    const char *name;
    std::function<Tensor(const Tensor &)> f;
    double a, b, expected;
  };
  const std::vector<Case> cases = {
      {"sin", [](const Tensor &x) { return sin(x); }, 0, pi, 2},
      {"a peak", [](const Tensor &x) { return 1 / (1e-4 + (x - 0.3) * (x - 0.3)); }, 0, 1,
       100 * (std::atan(70.0) + std::atan(30.0))},
      {"an edge", [](const Tensor &x) { return abs(x - 1.0 / 3); }, 0, 1, (1.0 / 9 + 4.0 / 9) / 2},
      {"a logarithm", [](const Tensor &x) { return log(x); }, 0, 1, -1},
      {"a root", [](const Tensor &x) { return sqrt(x); }, 0, 1, 2.0 / 3},
      {"backward", [](const Tensor &x) { return x * x; }, 2, 0, -8.0 / 3},
      {"nothing", [](const Tensor &x) { return x; }, 1, 1, 0},
      {"to infinity", [](const Tensor &x) { return exp(-x); }, 1, kInfinity, std::exp(-1)},
      {"from -infinity", [](const Tensor &x) { return exp(x); }, -kInfinity, 0.5, std::exp(0.5)},
      {"the line", [](const Tensor &x) { return exp(-x * x); }, -kInfinity, kInfinity, std::sqrt(pi)},
      {"the line backward", [](const Tensor &x) { return 1 / (1 + x * x); }, kInfinity, -kInfinity, -pi},
      {"from infinity", [](const Tensor &x) { return 1 / (x * x); }, kInfinity, 2, -0.5},
  };
  for (const Case &c : cases)
    for (QuadRule rule : {QuadRule::GaussKronrod15, QuadRule::GaussKronrod21}) {
      SCOPED_TRACE(c.name);
      auto run = function([&]() {
        const QuadResult result =
            quad(c.f, c.a, c.b, {.rtol = 1e-9, .atol = 1e-11, .rule = rule, .dtype = DType::Float64});
        return std::tuple(result.value, result.error, result.converged);
      });
      auto [value, error, converged] = run();
      EXPECT_NEAR(value.item<double>(), c.expected, 1e-9 * (1 + std::fabs(c.expected)));
      EXPECT_LE(std::fabs(value.item<double>() - c.expected), error.item<double>() + 1e-14);
      EXPECT_TRUE(converged.item<bool>());
    }
}

TEST(Quad, TensorsFloat32AndManyIntervals) {
  auto f = [](const Tensor &x) { return stack({cos(x), x * x, 0 * x + 1}); };
  auto integral = [&](const Tensor &b) { return quad(f, 0, b).value; };
  expectNear(eagerAndCompiled(integral, number(2)), {std::sin(2), 8.0 / 3, 2}, 1e-10);
  expectNear(eagerAndCompiled(integral, scalar(2.0f)), {std::sin(2), 8.0 / 3, 2}, 1e-5);
  // x^-0.9 needs many halvings at 0.
  auto singular = function([](const Tensor &b) {
    return quad([](const Tensor &x) { return pow(x, -0.9); }, 0, b, {.rtol = 1e-3, .max_intervals = 120}).value;
  });
  EXPECT_NEAR(singular(number(1)).item<double>(), 10, 0.01);
}

// Leibniz: f(b) and -f(a), though f jumps within, and the integral of the derivative by a parameter.
TEST(Quad, Gradients) {
  auto smooth = [](const std::vector<Tensor> &x) {
    return quad([&](const Tensor &t) { return exp(-x[2] * t * t) * (1 + t); }, x[0], x[1], {.rtol = 1e-11}).value;
  };
  const std::vector<Tensor> at = {number(0.3), number(1.7), number(0.8)};
  expectGradients(smooth, at);
  expectTangents([&](const std::vector<Tensor> &x) { return std::vector<Tensor>{smooth(x)}; }, at, false);
  auto jump = [](const Tensor &b) {
    return quad([](const Tensor &t) { return where(t < 1, 2.0, 5 * t); }, 0.0, b, {.rtol = 1e-6, .atol = 1e-6}).value;
  };
  EXPECT_NEAR(function(grad(jump))(number(3)).item<double>(), 15, 1e-12);
  // The second derivative of the integral of t^3 to b is 3 b^2.
  auto cubic = [](const Tensor &b) { return quad([](const Tensor &t) { return t * t * t; }, 0.0, b).value; };
  EXPECT_NEAR(function(hessian(cubic))(number(1.5)).item<double>(), 3 * 1.5 * 1.5, 1e-9);
}

TEST(Quad, GradientsWithInfiniteAndSingularLimits) {
  // The integral of exp(-k t) from a is exp(-k a) / k.
  auto tail = [](const std::vector<Tensor> &x) {
    return quad([&](const Tensor &t) { return exp(-x[1] * t); }, x[0], kInfinity, {.rtol = 1e-11}).value;
  };
  expectGradients(tail, {number(0.5), number(1.3)});
  // That of p / sqrt(t) from 0 to b is 2 p sqrt(b): the gradient by p is finite, though f is not at the limit 0.
  auto root = [](const Tensor &a, const Tensor &p) {
    return quad([&](const Tensor &t) { return p * rsqrt(t); }, a, 4.0, {.rtol = 1e-6, .max_intervals = 60}).value;
  };
  auto both = function(grad(root, {.argnums = {0, 1}}))(number(0), number(3));
  EXPECT_TRUE(std::isnan(both[0].item<double>()));
  EXPECT_NEAR(both[1].item<double>(), 4, 1e-4);
}

TEST(Quad, Vmap) {
  auto integral = [](const Tensor &b) {
    return quad([](const Tensor &t) { return sqrt(t) * cos(5 * t); }, 0.0, b).value;
  };
  const Tensor limits = tensor<double>({0.5, 1, 7});
  const Tensor all = function(vmap(integral))(limits), slopes = function(vmap(grad(integral)))(limits);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(all[i].item<double>(), integral(limits[i]).item<double>(), 1e-12);
    const double b = limits[i].item<double>();
    EXPECT_NEAR(slopes[i].item<double>(), std::sqrt(b) * std::cos(5 * b), 1e-12);
  }
}

TEST(Quad, FailuresAreErrorsOrReported) {
  auto wild = [](const Tensor &x) { return sin(1 / x); };
  EXPECT_MISUSE(AssertionError, quad(wild, number(1e-6), number(1), {.max_intervals = 3}), ".max_intervals = 3");
  EXPECT_MISUSE(AssertionError, quad([](const Tensor &x) { return log(x); }, number(-1), number(1)),
                "not finite at a node");
  EXPECT_MISUSE(AssertionError, quad(wild, number(1), number(1) / 0), "a limit that is a tensor is finite");
  const QuadResult result =
      quad(wild, number(1e-6), number(1), {.max_intervals = 3, .on_failure = OnQuadFailure::Report});
  EXPECT_FALSE(result.converged.item<bool>());
  EXPECT_EQ(result.intervals.item<std::int64_t>(), 3);
  // mpmath: the integral of sin(1 / x) from 0 to 1 is 0.504067061906928.
  EXPECT_GT(result.error.item<double>(), std::fabs(result.value.item<double>() - 0.504067061906928));
}

TEST(Quadrature, RefusesMisuse) {
  auto f = [](const Tensor &x) { return x; };
  EXPECT_MISUSE(ValueError, gauss_legendre(0), "gauss_legendre: the number of nodes is from 1 to 1000, unlike 0");
  EXPECT_MISUSE(DTypeError, gauss_legendre(3, DType::Int32), "gauss_legendre: nodes are float32 or float64, not int32");
  EXPECT_MISUSE(ValueError, fixed_quad(f, 0, 1, {.order = 0}), ".order is from 1 to 1000, unlike 0");
  EXPECT_MISUSE(ValueError, fixed_quad(f, 0, 1, {.panels = 0}), ".panels is at least 1, unlike 0");
  EXPECT_MISUSE(ValueError, fixed_quad(f, 0, kInfinity), "a limit is inf; it is finite");
  EXPECT_MISUSE(DTypeError, quad(f, scalar(0), number(1)), "quad: limits are float32 or float64, not int32");
  EXPECT_MISUSE(DTypeError, quad(f, scalar(0.0f), number(1)),
                "quad: the limits are float32[] and float64[]: they have one element type");
  EXPECT_MISUSE(ShapeError, quad(f, tensor<double>({0, 1}), number(1)), "vmap maps over several");
  EXPECT_MISUSE(DTypeError, quad([](const Tensor &x) { return cast(x, DType::Float32); }, 0, number(1)),
                "the function that is integrated returned float32 for limits of float64: both have one element type");
  EXPECT_MISUSE(ValueError, quad(f, 0, 1, {.rtol = -1}), "quad: .rtol = -1; it is finite and not negative");
  EXPECT_MISUSE(ValueError, quad(f, 0, 1, {.max_intervals = 0}), ".max_intervals = 0");
  EXPECT_MISUSE(ValueError, quad(f, kInfinity, kInfinity), "the same infinity");
  EXPECT_MISUSE(ValueError, quad(f, 0, std::nan("")), "a limit is nan");
  std::function<Tensor(const Tensor &)> none;
  EXPECT_MISUSE(StateError, quad(none, 0, 1), "quad");
  EXPECT_MISUSE(StateError, fixed_quad(none, 0, 1), "fixed_quad");
}

// Samples of x^2 and x^3 at 0, 0.5 ... : Simpson's rule is exact for both, NumPy's trapezoid gives the rest.
TEST(Samples, TrapezoidAndSimpson) {
  const Tensor x = tensor<double>({0, 0.5, 1, 1.5, 2});
  EXPECT_NEAR(trapezoid(x * x, {.dx = 0.5}).item<double>(), 2.75, 1e-15);
  EXPECT_NEAR(trapezoid(x * x, {.x = x}).item<double>(), 2.75, 1e-15);
  EXPECT_NEAR(simpson(x * x * x, {.dx = 0.5}).item<double>(), 4, 1e-15);
  const Tensor even = tensor<double>({0, 1, 4, 9}); // the parabola is exact for an even number, too
  EXPECT_NEAR(simpson(even).item<double>(), 9, 1e-14);
  expectNear(trapezoid(tensor<double>({{1, 2}, {3, 6}, {5, 8}}), {.axis = 0}), {6, 11}, 1e-15);
  expectGradients([](const std::vector<Tensor> &v) { return trapezoid(v[0], {.x = v[1]}) * simpson(v[0]); },
                  {tensor<double>({1, 2, 4, 3}), tensor<double>({0, 1, 1.5, 3})});
  EXPECT_MISUSE(ShapeError, trapezoid(tensor<double>({1})),
                "trapezoid: the samples are float64[1]; along axis -1 there are at least 2, of a known number");
  EXPECT_MISUSE(ShapeError, simpson(tensor<double>({1, 2})), "along axis -1 there are at least 3, of a known number");
  EXPECT_MISUSE(ValueError, trapezoid(x, {.axis = 1}), "trapezoid: the samples are float64[5], which has no axis 1");
  EXPECT_MISUSE(ValueError, trapezoid(x, {.dx = 1, .x = x}), ".dx and .x are both given");
  EXPECT_MISUSE(ShapeError, trapezoid(x, {.x = even}), ".x is float64[4] for 5 samples");
  EXPECT_MISUSE(ValueError, simpson(x, {.x = x}), ".x is for trapezoid");
  EXPECT_MISUSE(DTypeError, trapezoid(tensor({1, 2})), "trapezoid: samples are float32 or float64, not int32");
}
