// Minima of functions. The expected values are closed forms, or known minima of the problems' papers; the program
// mgh.cpp runs more of them.
#include "calque/solvers/minimize.h"
#include "calque/solvers/parameters.h"

#include "test/solvers/Testing.h"

namespace calque::testing {
namespace {

using solvers::MinimizeResult;
using Solver = std::function<MinimizeResult(const solvers::Objective &, const Tensor &)>;

// All methods, with tolerances that an element type allows.
std::vector<std::pair<const char *, Solver>> solversOf(DType dtype) {
  const double gtol = dtype == DType::Float32 ? 1e-3 : 1e-9;
  return {
      {"lbfgs", [=](const auto &f, const Tensor &x0) { return solvers::lbfgs(f, x0, {.gtol = gtol, .ftol = 0}); }},
      {"bfgs", [=](const auto &f, const Tensor &x0) { return solvers::bfgs(f, x0, {.gtol = gtol, .ftol = 0}); }},
      {"newton_cg", [=](const auto &f, const Tensor &x0) { return solvers::newton_cg(f, x0, {.gtol = gtol}); }},
      {"trust_region", [=](const auto &f, const Tensor &x0) { return solvers::trust_region(f, x0, {.gtol = gtol}); }},
      {"nelder_mead", [=](const auto &f, const Tensor &x0) { return solvers::nelder_mead(f, x0); }},
  };
}

// The chained function of Rosenbrock: its minimum is 0 at ones.
Tensor rosenbrock(const Tensor &x) {
  const std::int64_t n = x.size();
  Tensor a = slice(x, {0}, {n - 1}), b = slice(x, {1}, {n});
  return sum(100 * square(b - a * a) + square(1 - a));
}
Tensor startOf(std::int64_t n, DType dtype) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; ++i)
    x.push_back(i % 2 ? 1 : -1.2);
  return makeTensor(dtype, x, {n});
}
// A convex function with a minimum at exp(-a) in each element, for which sum(exp(a) x - log(x)) is smallest.
auto convex(const Tensor &a) {
  return [&a](const Tensor &x) { return sum(exp(a) * x - log(x)); };
}

TEST(Minimize, FindsTheEndOfRosenbrocksValley) {
  for (DType dtype : {DType::Float32, DType::Float64})
    for (const auto &[name, solver] : solversOf(dtype)) {
      SCOPED_TRACE(std::string(name) + " " + name_of(dtype));
      const double tolerance = dtype == DType::Float32 ? 5e-3 : 1e-6;
      auto solve = [&, &solver = solver](const Tensor &x0) { return solver(rosenbrock, x0); };
      for (const MinimizeResult &r : {solve(startOf(2, dtype)), function(solve)(startOf(2, dtype))}) {
        EXPECT_TRUE(r.converged.item<bool>());
        expectNear(r.x, {1, 1}, tolerance);
        expectNear(r.value, {0}, tolerance);
        expectNear(r.value, valuesOf(rosenbrock(r.x)), 1e-6);
        EXPECT_GT(r.evaluations.item<std::int64_t>(), r.iterations.item<std::int64_t>());
      }
    }
}

TEST(Minimize, TakesPointsOfAnyShape) {
  for (const auto &[name, solver] : solversOf(DType::Float64)) {
    SCOPED_TRACE(name);
    auto r = function([&, &solver = solver](const Tensor &x0) {
      return solver([](const Tensor &x) { return square(x - 3) + 2; }, x0);
    })(scalar<double>(-7.0)); // rank 0
    expectNear(r.x, {3}, 1e-7);
    EXPECT_EQ(r.gradient.rank(), 0);
    EXPECT_NEAR(r.value.item<double>(), 2, 1e-12);
    Tensor a = makeTensor(DType::Float64, std::vector<double>{0.1, -0.2, 0.3, 0.4, 0, -1}, {3, 2});
    auto matrix = solver(convex(a), ones({3, 2}, DType::Float64));
    EXPECT_EQ(matrix.x.shape(), Shape({3, 2}));
    expectNear(matrix.x, valuesOf(exp(-a)), 1e-6);
  }
}

TEST(Minimize, HasDerivativesInBothModes) {
  const Tensor a = tensor<double>({0.3, -0.5});
  for (const auto &[name, solver] : solversOf(DType::Float64)) {
    SCOPED_TRACE(name);
    auto solve = [&, &solver = solver](const Tensor &a) { return solver(convex(a), ones({2}, DType::Float64)); };
    auto x = [&](const Tensor &a) { return sum(solve(a).x); };
    std::vector<double> e = valuesOf(exp(-a));
    expectNear(grad(x)(a), {-e[0], -e[1]}, 1e-6); // x = exp(-a)
    expectNear(function(grad(x))(a), {-e[0], -e[1]}, 1e-6);
    expectNear(jvp(x, a, tensor<double>({1, 0})).second, {-e[0]}, 1e-6);
    if (name != std::string("lbfgs") && name != std::string("nelder_mead"))
      continue; // the others take the same derivatives
    expectNear(function(hessian(x))(a), {e[0], 0, 0, e[1]}, 1e-6);
    expectNear(function(grad([&](const Tensor &a) { return sum(grad(x)(a)); }))(a), {e[0], e[1]}, 1e-6);
    // The value is 2 + sum(a): its derivatives are 1 and 0.
    auto value = [&](const Tensor &a) { return solve(a).value; };
    expectNear(function(grad(value))(a), {1, 1}, 1e-6);
    expectNear(function(hessian(value))(a), {0, 0, 0, 0}, 1e-6);
  }
}

TEST(Minimize, OfManyParametersHasDerivativesByConjugateGradients) {
  const std::int64_t n = 100; // a chain of springs, pulled at its end: H x = b
  auto solve = [&](const Tensor &pull) {
    auto energy = [&](const Tensor &x) {
      Tensor length = x - pad(slice(x, {0}, {n - 1}), {1}, {0});
      return 0.5 * sum(square(length)) + 0.25 * sum(square(square(length))) - pull * gather(x, scalar(n - 1));
    };
    return solvers::lbfgs(energy, zeros({n}, DType::Float64), {.gtol = 1e-11, .ftol = 0}).x;
  };
  // Each length d has d + d^3 = pull, so the end is at n d. At d = 1: pull 2, dd/dpull = 1 / (1 + 3 d^2) = 1/4, and
  // d^2d/dpull^2 = -6 d / (1 + 3 d^2)^3 = -6/64.
  auto end = [&](const Tensor &pull) { return solve(pull)[n - 1]; };
  const Tensor pull = scalar<double>(2.0);
  EXPECT_NEAR(function(end)(pull).item<double>(), n, 1e-6);
  EXPECT_NEAR(function(grad(end))(pull).item<double>(), n / 4.0, 1e-5);
  EXPECT_NEAR(jvp(end, pull, scalar<double>(1.0)).second.item<double>(), n / 4.0, 1e-5);
  EXPECT_NEAR(function(hessian(end))(pull).item<double>(), n * -6 / 64.0, 1e-4);
  EXPECT_NEAR(function(grad(grad(end)))(pull).item<double>(), n * -6 / 64.0, 1e-4);
  // Squares of the cotangent would vanish or overflow.
  for (const double size : {1e-200, 1e200}) {
    const double slope = function(grad([&](const Tensor &p) { return size * end(p); }))(pull).item<double>();
    EXPECT_NEAR(slope / size, n / 4.0, 1e-5);
  }
}

// To first order the minimum does not move the value, so that nothing is divided by the Hessian of 0.
TEST(Minimize, ValuesHaveGradientsWhereTheHessianIsSingular) {
  for (const auto &[name, solver] : solversOf(DType::Float64)) {
    SCOPED_TRACE(name);
    auto flat = [&, &solver = solver](const Tensor &a) {
      return solver([&](const Tensor &x) { return square(square(x - a)) + 3 * a; }, a).value;
    };
    auto valley = [&, &solver = solver](const Tensor &a) {
      return solver([&](const Tensor &x) { return square(sum(x) - a) + sin(a); }, stack({a, 0 * a})).value;
    };
    const Tensor a = scalar<double>(0.5);
    EXPECT_NEAR(function(grad(flat))(a).item<double>(), 3, 1e-9);
    EXPECT_NEAR(grad(flat)(a).item<double>(), 3, 1e-9);
    EXPECT_NEAR(function(grad(valley))(a).item<double>(), std::cos(0.5), 1e-4);
  }
}

// f = x^2 / 2 - x sin(a) has the minimum x = sin(a) and the value -sin(a)^2 / 2.
TEST(Minimize, ValuesHaveSecondDerivatives) {
  auto value = [](const Tensor &a) {
    return solvers::bfgs([&](const Tensor &x) { return 0.5 * square(x) - x * sin(a); }, 0 * a).value;
  };
  const Tensor a = scalar<double>(0.7);
  EXPECT_NEAR(function(grad(value))(a).item<double>(), -0.5 * std::sin(1.4), 1e-9);
  for (const Tensor &second : {function(hessian(value))(a), function(grad(grad(value)))(a)})
    EXPECT_NEAR(second.item<double>(), -std::cos(1.4), 1e-9);
}

TEST(Minimize, OfExamplesHasIterationsOfTheirOwn) {
  const Tensor as = makeTensor(DType::Float64, std::vector<double>{0.3, -0.5, 1, 2, -1, 0}, {3, 2});
  for (const auto &[name, solver] : solversOf(DType::Float64)) {
    SCOPED_TRACE(name);
    auto solve = [&, &solver = solver](const Tensor &a) { return solver(convex(a), full({2}, 0.4, DType::Float64)); };
    auto together = function(vmap(solve))(as);
    for (int i = 0; i < 3; ++i) {
      auto alone = solve(as[i]);
      expectNear(together.x[i], valuesOf(alone.x), 1e-7);
      EXPECT_NEAR(static_cast<double>(together.iterations[i].item<std::int64_t>()),
                  static_cast<double>(alone.iterations.item<std::int64_t>()), 3);
    }
    Tensor slopes = function(vmap(grad([&](const Tensor &a) { return sum(solve(a).x); })))(as);
    expectNear(slopes, valuesOf(-exp(-as)), 1e-5);
  }
}

TEST(Lbfgs, FindsTheMinimumOfAThousandParameters) {
  auto r = function([](const Tensor &x0) { return solvers::lbfgs(rosenbrock, x0, {.gtol = 1e-6}); })(
      startOf(1000, DType::Float64));
  EXPECT_LT(max(abs(r.x - 1), AxisList()).item<double>(), 1e-6);
  EXPECT_LT(r.value.item<double>(), 1e-12);
  // scipy.optimize.minimize(method='L-BFGS-B') takes 5,817 evaluations.
  EXPECT_LT(r.evaluations.item<std::int64_t>(), 6400);
}

TEST(Lbfgs, StaysWithinBounds) {
  // The minimum of a quadratic within bounds: x is clipped, as the Hessian is diagonal.
  Tensor goal = tensor<double>({-3, 0.5, 7, 2}), weights = tensor<double>({1, 10, 100, 3});
  auto f = [&](const Tensor &x) { return sum(weights * square(x - goal)); };
  auto solve = [&](const Tensor &x0) {
    return solvers::lbfgs(f, x0, {.gtol = 1e-9, .lower = scalar<double>(-1.0), .upper = tensor<double>({1, 1, 5, 5})});
  };
  for (const MinimizeResult &r : {solve(zeros({4}, DType::Float64)), function(solve)(full({4}, 9, DType::Float64))})
    expectNear(r.x, {-1, 0.5, 5, 2}, 1e-9);
  // Rosenbrock's function with x0 <= 0.5: the minimum is at (0.5, 0.25).
  auto valley = [](const Tensor &bound) {
    return solvers::lbfgs(rosenbrock, tensor<double>({-1.2, 1}),
                          {.gtol = 1e-8, .upper = stack({bound, scalar<double>(10.0)})})
        .x;
  };
  expectNear(function(valley)(scalar<double>(0.5)), {0.5, 0.25}, 1e-7);
  // Derivatives of the free parameters: sum of (x - a)^2 in [0, 1].
  auto inside = [](const Tensor &a) {
    return solvers::lbfgs([&](const Tensor &x) { return sum(square(x - a)); }, full({3}, 0.5, DType::Float64),
                          {.lower = scalar<double>(0.0), .upper = scalar<double>(1.0)})
        .x;
  };
  expectNear(function(jacobian(inside))(tensor<double>({-1, 0.3, 2})), {0, 0, 0, 0, 1, 0, 0, 0, 0}, 1e-9);
}

TEST(Minimize, GoesOnBeforePointsWhereTheFunctionIsNotFinite) {
  // The first steps leave the domain x < 2 of the logarithm. The minimum is where 1000 = 5 / (2 - x).
  auto f = [](const Tensor &x) { return -1000 * x - 5 * log(2 - x); };
  for (const auto &[name, solver] : solversOf(DType::Float64)) {
    SCOPED_TRACE(name);
    EXPECT_NEAR(solver(f, scalar<double>(0.0)).x.item<double>(), 1.995, 1e-6);
  }
}

// The square of the gradient overflows, so that no step is made. That is no convergence.
TEST(Minimize, AnOverflowIsNoConvergence) {
  auto steep = [](const Tensor &x) { return square(x - 3) * 1e25f; };
  auto falling = [](const Tensor &x) { return -exp(x); };
  auto solve = [](int method, const solvers::Objective &f, const Tensor &x0) {
    return method == 0   ? solvers::lbfgs(f, x0, {.require_convergence = false})
           : method == 1 ? solvers::bfgs(f, x0, {.require_convergence = false})
           : method == 2 ? solvers::newton_cg(f, x0, {.require_convergence = false})
                         : solvers::lbfgs(f, x0, {.lower = 0 * x0, .require_convergence = false});
  };
  for (int method : {0, 1, 2, 3}) {
    auto r = function([&](const Tensor &x0) { return solve(method, steep, x0); })(scalar(1.0f));
    EXPECT_TRUE(!r.converged.item<bool>() || std::fabs(r.x.item<float>() - 3) < 1e-5f) << method;
    for (const Tensor &x0 : {scalar(1.0f), scalar<double>(1.0)})
      EXPECT_FALSE(function([&](const Tensor &x) { return solve(method, falling, x); })(x0).converged.item<bool>())
          << method;
  }
}

TEST(TrustRegion, LeavesASaddle) {
  // The gradient at (0, 0.1) points to the saddle of x^4 - x^2 + y^2 at 0; the minima are at x = +-sqrt(1/2).
  auto f = [](const Tensor &p) { return sum(square(square(p[0])) - square(p[0]) + square(p[1])); };
  auto r = function([&](const Tensor &x0) { return solvers::trust_region(f, x0, {.gtol = 1e-9}); })(
      tensor<double>({1e-3, 0.1}));
  EXPECT_NEAR(std::abs(r.x[0].item<double>()), std::sqrt(0.5), 1e-8);
  auto newton = function([&](const Tensor &x0) { return solvers::newton_cg(f, x0, {.gtol = 1e-9}); })(
      tensor<double>({1e-3, 0.1}));
  EXPECT_NEAR(std::abs(newton.x[0].item<double>()), std::sqrt(0.5), 1e-8);
}

// At a kink the region shrinks to nothing, and the gradient stays as large as it is.
TEST(TrustRegion, DoesNotConvergeAtAKink) {
  auto kink = [](const Tensor &x) { return abs(x - 0.3) + 0.5 * x; };
  auto r = function([&](const Tensor &x0) { return solvers::trust_region(kink, x0, {.require_convergence = false}); })(
      scalar<double>(1.1));
  EXPECT_FALSE(r.converged.item<bool>());
  EXPECT_NEAR(r.x.item<double>(), 0.3, 1e-6);
  EXPECT_LT(r.iterations.item<std::int64_t>(), 500);
}

TEST(NelderMead, NeedsNoDerivatives) {
  auto f = [](const Tensor &x) {
    return host_call([](std::span<const Tensor> in) { return square(in[0][0] - 1) + square(in[0][1] + 2); }, {x},
                     {TensorSpec<double>({})});
  };
  auto solve = [&](const Tensor &x0) { return solvers::nelder_mead(f, x0, {.differentiable = false}); };
  for (const MinimizeResult &r : {solve(tensor<double>({0, 0})), function(solve)(tensor<double>({0, 0}))}) {
    expectNear(r.x, {1, -2}, 1e-6);
    EXPECT_TRUE(std::isnan(r.gradient[0].item<double>()));
  }
}

TEST(Parameters, AreTakenOutOfAStructureAndPutBack) {
  struct Line {
    Tensor slope, offset;
    int degree;
  };
  const Line start{zeros({2, 1}, DType::Float64), scalar<double>(0.0), 1};
  Tensor x = makeTensor(DType::Float64, std::vector<double>{0, 1, 2, 3, 5, 4}, {3, 2}), y = tensor<double>({1, 12, 19});
  auto fit = [&](const Tensor &y) {
    auto loss = [&](const Tensor &v) {
      Line line = solvers::unravel(start, v);
      return sum(square(reshape(matmul(x, line.slope), {3}) + line.offset - y));
    };
    return solvers::unravel(start, solvers::lbfgs(loss, solvers::ravel(start), {.gtol = 1e-10}).x);
  };
  Line line = fit(y); // a plane through three points
  expectNear(matmul(x, line.slope) + line.offset, {1, 12, 19}, 1e-8);
  EXPECT_EQ(line.slope.shape(), Shape({2, 1}));
  EXPECT_EQ(line.degree, 1);
  EXPECT_MISUSE(ShapeError, solvers::unravel(start, zeros({4}, DType::Float64)),
                "unravel: the structure has 3 elements, and the vector is float64[4]");
  EXPECT_MISUSE(DTypeError, solvers::unravel(start, zeros({3})),
                "unravel: the vector is float32[3], and there is float64[2,1]");
  EXPECT_MISUSE(DTypeError, solvers::ravel(std::pair(zeros({2}), zeros({2}, DType::Float64))), "types differ");
  auto open = function([](const Tensor &x) { return solvers::unravel(x, x); },
                       {.input_signature = {TensorSpec<float>({kDynamic})}});
  EXPECT_CONTAINS(errorOf<StateError>([&] { open(ones({2})); }),
                  "unravel: the sizes of the structure must be known while tracing, and there is float32[?]");
  EXPECT_MISUSE(ValueError, solvers::ravel(std::tuple()), "ravel: there are no tensors in the structure");
}

TEST(Minimize, MisuseIsRefusedWithTheUsersLine) {
  const Tensor x = tensor<double>({1, 2});
  auto f = [](const Tensor &x) { return sum(square(x)); };
  auto vector = [](const Tensor &x) { return square(x); };
  auto other = [](const Tensor &x) { return cast(sum(x), DType::Float32); };
  const solvers::Objective empty;
  EXPECT_MISUSE(StateError, solvers::lbfgs(empty, x), "lbfgs: the function is an empty std::function");
  EXPECT_MISUSE(ShapeError, solvers::lbfgs(vector, x),
                "lbfgs: the function returns float64[2] for x of float64[2], and must return a scalar");
  EXPECT_MISUSE(ShapeError, solvers::nelder_mead(vector, x), "nelder_mead: the function returns float64[2]");
  EXPECT_MISUSE(DTypeError, solvers::bfgs(other, x), "bfgs: the function returns float32[] for x of float64[2]");
  EXPECT_MISUSE(DTypeError, solvers::trust_region(f, tensor({1, 2})),
                "trust_region: x0 is float32 or float64, not int32[2]");
  EXPECT_MISUSE(ValueError, solvers::lbfgs(f, x, {.gtol = -1}), "lbfgs: gtol is finite and not negative, unlike -1");
  EXPECT_MISUSE(ValueError, solvers::bfgs(f, x, {.ftol = -1}), "bfgs: ftol is finite and not negative, unlike -1");
  EXPECT_MISUSE(ValueError, solvers::lbfgs(f, x, {.max_iterations = 0}),
                "lbfgs: max_iterations is at least 1, unlike 0");
  EXPECT_MISUSE(ValueError, solvers::lbfgs(f, x, {.memory = 0}), "lbfgs: memory is at least 1, unlike 0");
  EXPECT_MISUSE(ShapeError, solvers::lbfgs(f, x, {.lower = zeros({3}, DType::Float64)}),
                "the lower bound is float64[3]");
  EXPECT_MISUSE(ValueError, solvers::newton_cg(f, x, {.max_inner_iterations = 0}),
                "max_inner_iterations is at least 1");
  EXPECT_MISUSE(ValueError, solvers::trust_region(f, x, {.initial_radius = 0}), "initial_radius is finite and above 0");
  EXPECT_MISUSE(ValueError, solvers::trust_region(f, x, {.initial_radius = 3, .max_radius = 2}),
                "trust_region: initial_radius 3 is above max_radius 2");
  EXPECT_MISUSE(ValueError, solvers::nelder_mead(f, x, {.xtol = 0}), "nelder_mead: xtol is finite and above 0");
  EXPECT_MISUSE(ValueError, solvers::nelder_mead(f, x, {.relative_size = 0}), "the first simplex would be flat");
  auto valley = [](const Tensor &x) { return rosenbrock(x); };
  EXPECT_MISUSE(AssertionError, solvers::lbfgs(valley, x, {.max_iterations = 2}),
                "lbfgs: no convergence in 2 iterations");
  EXPECT_MISUSE(AssertionError, solvers::nelder_mead(valley, x, {.max_iterations = 2}),
                "nelder_mead: no convergence in 2");
  auto unbounded = [](const Tensor &x) { return -sum(x); };
  EXPECT_MISUSE(AssertionError, solvers::trust_region(unbounded, x, {.max_iterations = 9}),
                "trust_region: no convergence in 9");
  EXPECT_MISUSE(AssertionError, solvers::newton_cg([](const Tensor &x) { return sum(log(x - 9)); }, x),
                "the gradient is above gtol or f is not finite");
}

} // namespace
} // namespace calque::testing
