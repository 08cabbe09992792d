// Roots and fixed points, and the linear algebra below them. The expected values are closed forms, or those of a plain
// iteration in C++.
#include "calque/solvers/roots.h"
#include "calque/saved_functions.h"

#include "test/solvers/Testing.h"

namespace calque::testing {
namespace {

using solvers::Differentiation;

Tensor numbers(DType dtype, const std::vector<double> &values) {
  return makeTensor(dtype, values, {Size(values.size())});
}

// x^3 = a, by each of the solvers.
std::vector<std::pair<const char *, std::function<Tensor(const Tensor &)>>> cubeRoots() {
  auto equation = [](const Tensor &a) { return [&a](const Tensor &x) { return x * x * x - a; }; };
  auto low = [](const Tensor &a) { return zeros(a.shape(), a.dtype()); };
  auto high = [](const Tensor &a) { return full(a.shape(), 4, a.dtype()); };
  return {
      {"bisect", [=](const Tensor &a) { return solvers::bisect(equation(a), low(a), high(a)).x; }},
      {"brent", [=](const Tensor &a) { return solvers::brent(equation(a), low(a), high(a)).x; }},
      {"newton", [=](const Tensor &a) { return solvers::newton(equation(a), ones(a.shape(), a.dtype())).x; }},
      {"broyden", [=](const Tensor &a) { return solvers::broyden(equation(a), ones(a.shape(), a.dtype())).x; }},
      {"fixed_point",
       [=](const Tensor &a) {
         auto map = [&](const Tensor &x) { return (2 * x + a / (x * x)) / 3; };
         return solvers::fixed_point(map, ones(a.shape(), a.dtype())).x;
       }},
  };
}

TEST(Roots, AreFoundEagerlyAndCompiledInBothPrecisions) {
  for (const auto &[name, root] : cubeRoots())
    for (DType dtype : {DType::Float32, DType::Float64}) {
      SCOPED_TRACE(std::string(name) + " " + name_of(dtype));
      const double tolerance = dtype == DType::Float32 ? 5e-6 : 1e-11;
      expectNear(eagerAndCompiled(root, full({}, 8, dtype)), {2}, tolerance); // rank 0
      expectNear(root(numbers(dtype, {1, 8, 27})), {1, 2, 3}, tolerance);
    }
}

TEST(Roots, HaveDerivativesOfTheirEquationInBothModes) {
  // d/da a^(1/3) = a^(-2/3) / 3, and its derivative -2/9 a^(-5/3).
  const Tensor a = scalar<double>(8.0);
  const double slope = 1.0 / 12, curvature = -2.0 / 9 / 32;
  for (const auto &[name, root] : cubeRoots()) {
    SCOPED_TRACE(name);
    expectNear(grad(root)(a), {slope}, 1e-9);
    expectNear(jvp(root, a, scalar<double>(1.0)).second, {slope}, 1e-9);
    expectNear(function(grad(grad(root)))(a), {curvature}, 1e-8);                             // reverse over reverse
    expectNear(function(hessian(root))(a), {curvature}, 1e-8);                                // forward over reverse
    auto forward = [&](const Tensor &x) { return jvp(root, x, scalar<double>(1.0)).second; }; // reverse over forward
    expectNear(function(grad(forward))(a), {curvature}, 1e-8);
    GradientTape tape; // with respect to what the lambda captures
    tape.watch(a);
    expectNear(tape.gradient(root(a), a).value(), {slope}, 1e-9);
  }
}

TEST(Roots, OfExamplesHaveIterationsOfTheirOwn) {
  const Tensor as = numbers(DType::Float64, {1, 8, 27, 40});
  for (const auto &[name, root] : cubeRoots()) {
    SCOPED_TRACE(name);
    Tensor together = function(vmap(root))(as), slopes = function(vmap(grad(root)))(as);
    for (int i = 0; i < 4; ++i) {
      expectNear(together[i], valuesOf(root(as[i])), 1e-12);
      expectNear(slopes[i], valuesOf(grad(root)(as[i])), 1e-10);
    }
  }
  auto counted = [](const Tensor &a) {
    return solvers::newton([&](const Tensor &x) { return x * x - a; }, ones({}, DType::Float64)).iterations;
  };
  std::vector<std::int64_t> each = vmap(counted)(as).to_vector<std::int64_t>();
  EXPECT_LT(each[0], each[3]);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(each[static_cast<std::size_t>(i)], counted(as[i]).item<std::int64_t>());
}

TEST(Roots, KeepNothingOfTheIteration) {
  // Reverse mode through a loop would push values of each iteration on a stack.
  auto root = [](const Tensor &a) {
    return solvers::newton([&](const Tensor &x) { return x * x * x - a; }, scalar<double>(1e9), {.max_iterations = 100})
        .x;
  };
  auto loop = [](const Tensor &a) {
    return for_range(0, 20, scalar<double>(1.0),
                     [&](const Tensor &, const Tensor &x) { return x - (x * x * x - a) / (3 * x * x); });
  };
  const Tensor a = scalar<double>(8.0);
  EXPECT_CONTAINS(function(grad(loop)).ir("differentiated", a), "_push");
  auto gradient = function(grad(root));
  expectNear(gradient(a), {1.0 / 12}, 1e-12);
  EXPECT_EQ(gradient.ir("differentiated", a).find("_push"), std::string::npos);
}

TEST(Roots, RefuseThirdDerivatives) {
  auto root = [](const Tensor &a) {
    return solvers::newton([&](const Tensor &x) { return x * x - a; }, scalar<double>(1.0)).x;
  };
  const Tensor a = scalar<double>(4.0), one = scalar<double>(1.0);
  const std::string message = "a solver's solution has first and second derivatives, and a third one is taken";
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { function(grad(grad(grad(root))))(a); }), message);
  auto second = [&](const Tensor &a) { return hessian(root)(a); };
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { jvp(second, a, one); }), message);
  EXPECT_TRUE(std::isnan(grad(second)(a).item<double>()));
}

TEST(Roots, OfSavedFunctionsAreDifferentiable) {
  auto root = function([](const Tensor &a) {
    return solvers::newton([&](const Tensor &x) { return x * x * x - a; }, scalar<double>(1.0)).x;
  });
  const Tensor a = scalar<double>(8.0);
  root(a);
  const std::string path = ::testing::TempDir() + "calque-solvers-root.calque";
  save_functions(path, {{"root", root}});
  auto loaded = load_functions(path).function<Tensor(const Tensor &)>("root");
  std::remove(path.c_str());
  expectNear(loaded(a), {2}, 1e-14);
  expectNear(grad(loaded)(a), {1.0 / 12}, 1e-14);
}

// Broyden's tridiagonal system, problem 30 of More, Garbow and Hillstrom.
Tensor tridiagonal(const Tensor &x) {
  const std::int64_t n = x.size();
  Tensor before = pad(slice(x, {0}, {n - 1}), {1}, {0}), after = pad(slice(x, {1}, {n}), {0}, {1});
  return (3 - 2 * x) * x - before - 2 * after + 1;
}

TEST(Newton, SolvesSystemsOfAnySize) {
  for (std::int64_t n : {2, 3, 5, 7, 24})
    for (auto mode : {Differentiation::Forward, Differentiation::Reverse}) {
      SCOPED_TRACE(n);
      auto r = function([&](const Tensor &x0) { return solvers::newton(tridiagonal, x0, {.jacobian = mode}); })(
          full({n}, -1, DType::Float64));
      EXPECT_TRUE(r.converged.item<bool>());
      expectNear(tridiagonal(r.x), std::vector<double>(static_cast<std::size_t>(n), 0), 1e-13);
      expectNear(r.residual, valuesOf(tridiagonal(r.x)), 1e-14);
      EXPECT_LE(r.iterations.item<std::int64_t>(), 7);
    }
}

TEST(Newton, PivotsWhereADiagonalIsZero) {
  for (std::int64_t n : {2, 4, 6}) { // x reversed is 1, 2, ...: the Jacobian has zeros on its diagonal
    auto f = [&](const Tensor &x) { return reverse(x) - cast(iota({n}, DType::Int64) + 1, DType::Float64); };
    std::vector<double> expected;
    for (std::int64_t i = n; i >= 1; --i)
      expected.push_back(static_cast<double>(i));
    expectNear(eagerAndCompiled([&](const Tensor &x0) { return solvers::newton(f, x0).x; }, zeros({n}, DType::Float64)),
               expected, 1e-14);
  }
}

TEST(Newton, ShortensStepsThatWouldDiverge) {
  // Full steps for arctan(x) diverge from 1.5 on: Dennis and Schnabel, example 2.4. Here 3 x / sqrt(1 + x^2).
  auto f = [](const Tensor &x) { return 3 * x * rsqrt(1 + x * x); };
  const Tensor x0 = scalar<double>(1.5);
  expectNear(eagerAndCompiled([&](const Tensor &x) { return solvers::newton(f, x).x; }, x0), {0}, 1e-9);
  EXPECT_FALSE(solvers::newton(f, x0, {.line_search = false, .require_convergence = false}).converged.item<bool>());
  // And where f is not finite at a full step.
  expectNear(solvers::newton([](const Tensor &x) { return log(x); }, scalar<double>(4.0)).x, {1}, 1e-12);
}

TEST(Newton, TakesPointsOfAnyShape) {
  Tensor a = makeTensor(DType::Float64, std::vector<double>{4, 9, 16, 25, 36, 49}, {2, 3});
  auto r = eagerAndCompiled(
      [&](const Tensor &x0) { return solvers::newton([&](const Tensor &x) { return x * x - a; }, x0); },
      full({2, 3}, 3, DType::Float64));
  EXPECT_EQ(r.x.shape(), Shape({2, 3}));
  expectNear(r.x, {2, 3, 4, 5, 6, 7}, 1e-12);
}

TEST(Newton, HasDerivativesOfSystems) {
  // x + y = a, x y = b: x, y = (a -+ sqrt(a^2 - 4 b)) / 2. With a = 5, b = 6: dx/da = (1 - 5) / 2, dx/db = 1.
  auto solve = [](const Tensor &p) {
    auto f = [&](const Tensor &v) { return stack({v[0] + v[1] - p[0], v[0] * v[1] - p[1]}); };
    return solvers::newton(f, tensor<double>({1, 4})).x;
  };
  const Tensor p = tensor<double>({5, 6});
  expectNear(jacobian(solve)(p), {-2, 1, 3, -1}, 1e-12);
  expectNear(function(jacobian(solve))(p), {-2, 1, 3, -1}, 1e-12);
  // Second derivatives against differences of the first ones.
  auto first = [&](const Tensor &q) { return solve(q)[0]; };
  Tensor second = function(hessian(first))(p);
  const double h = 1e-5;
  for (int i : {0, 1}) {
    std::vector<double> up{5, 6}, down{5, 6};
    up[static_cast<std::size_t>(i)] += h;
    down[static_cast<std::size_t>(i)] -= h;
    expectNear(second[i], valuesOf((grad(first)(tensor(up)) - grad(first)(tensor(down))) / (2 * h)), 1e-7);
  }
}

TEST(Brackets, FindAllElementsAtOnceWithScalarsBeside) {
  // cos(x) = a x for several a; the expected values are those of scipy.optimize.brentq.
  Tensor a = tensor<double>({0.5, 1, 2, 7});
  for (auto solver : {solvers::bisect, solvers::brent}) {
    auto r = eagerAndCompiled(
        [&](const Tensor &top) {
          return solver([&](const Tensor &x) { return cos(x) - a * x; }, zeros({4}, DType::Float64), top, {});
        },
        scalar<double>(1.5));
    expectNear(r.x, {1.0298665293222589, 0.7390851332151607, 0.45018361129487355, 0.14143076140757285}, 1e-14);
    EXPECT_EQ(r.converged.to_vector<bool>(), (std::vector<bool>{true, true, true, true}));
  }
}

TEST(Brackets, BrentIsFasterThanBisection) {
  auto f = [](const Tensor &x) { return exp(x) - 5; };
  auto slow = solvers::bisect(f, scalar<double>(0.0), 10), fast = solvers::brent(f, scalar<double>(0.0), 10);
  EXPECT_LE(fast.iterations.item<std::int64_t>(), 14); // scipy.optimize.brentq: 11 iterations
  EXPECT_GE(slow.iterations.item<std::int64_t>(), 48);
  expectNear(fast.x, {std::log(5.0)}, 1e-15);
}

TEST(Brackets, ABoundMayBeTheRoot) {
  auto f = [](const Tensor &x) { return x - 1; };
  for (auto solver : {solvers::bisect, solvers::brent}) {
    expectNear(solver(f, scalar<double>(1.0), 3, {}).x, {1}, 0);
    expectNear(solver(f, scalar<double>(-2.0), 1, {}).x, {1}, 0);
  }
}

TEST(Brackets, MayBeReversed) {
  for (auto solver : {solvers::bisect, solvers::brent})
    expectNear(solver([](const Tensor &x) { return x * x - 2; }, scalar<double>(3.0), 0, {}).x, {std::sqrt(2.0)},
               1e-14);
}

TEST(Brackets, TellWhichElementsHaveNone) {
  Tensor a = tensor<double>({2, -1, 3});
  for (auto solver : {solvers::bisect, solvers::brent}) {
    auto r = function([&](const Tensor &low) {
      return solver([&](const Tensor &x) { return x * x - a; }, low, 5, {.require_convergence = false});
    })(zeros({3}, DType::Float64));
    EXPECT_EQ(r.converged.to_vector<bool>(), (std::vector<bool>{true, false, true}));
    EXPECT_NEAR(valuesOf(r.x)[2], std::sqrt(3.0), 1e-14);
  }
}

TEST(Brackets, NaNIsNoSign) {
  auto f = [](const Tensor &x) {
    return where(x < 0.2, x - 1, where(x > 0.9, x + 1, x * std::numeric_limits<double>::quiet_NaN()));
  };
  auto halved = [&](const Tensor &a) { return solvers::bisect(f, a, a + 1, {.require_convergence = false}); };
  auto brent = [&](const Tensor &a) { return solvers::brent(f, a, a + 1, {.require_convergence = false}); };
  const Tensor a = scalar<double>(0);
  for (const auto &r : {halved(a), function(halved)(a), brent(a), function(brent)(a)})
    EXPECT_FALSE(r.converged.item<bool>());
  EXPECT_MISUSE(AssertionError, solvers::bisect(f, a, 1), "or f is NaN in it");
  EXPECT_MISUSE(AssertionError, solvers::brent(f, a, 1), "or f is NaN in it");
  // The other elements go on.
  auto g = [&](const Tensor &x) { return where(tensor({true, false}), f(x), x - 0.3); };
  auto both = solvers::bisect(g, zeros({2}, DType::Float64), 1, {.require_convergence = false});
  EXPECT_FALSE(both.converged[0].item<bool>());
  EXPECT_TRUE(both.converged[1].item<bool>());
  EXPECT_NEAR(both.x[1].item<double>(), 0.3, 1e-14);
}

// The width of the bracket overflows, and so does the sum of its ends in the second one.
TEST(Brackets, MayBeWiderThanTheNumbersOfTheirType) {
  auto f = [](const Tensor &x) { return x - 3e307; };
  for (double lower : {-1.5e308, 1e300}) {
    const Tensor a = scalar<double>(lower);
    for (const auto &r : {solvers::bisect(f, a, 1.7e308), solvers::brent(f, a, 1.7e308)})
      EXPECT_NEAR(r.x.item<double>() / 3e307, 1, 1e-14);
  }
  auto high = [](const Tensor &x) { return x - 1.2e308; };
  for (const auto &r :
       {solvers::bisect(high, scalar<double>(1e308), 1.7e308), solvers::brent(high, scalar<double>(1e308), 1.7e308)})
    EXPECT_NEAR(r.x.item<double>() / 1.2e308, 1, 1e-14);
}

TEST(FixedPoint, AndersonsAccelerationSavesIterations) {
  auto map = [](const Tensor &x) { return x - 0.15 * tridiagonal(x); };
  auto count = [&](std::int64_t memory) {
    auto r = solvers::fixed_point(map, full({24}, -1, DType::Float64), {.memory = memory});
    expectNear(tridiagonal(r.x), std::vector<double>(24, 0), 1e-9);
    return r.iterations.item<std::int64_t>();
  };
  std::int64_t plain = count(0), accelerated = count(5);
  EXPECT_LT(accelerated, plain * 3 / 4);
}

TEST(FixedPoint, OfManyUnknownsHasDerivativesByProducts) {
  // x = tanh(w x + a) with a matrix that is not symmetric. The derivatives are compared with differences.
  const std::int64_t n = 100;
  Tensor indices = cast(iota({n, n}, DType::Int64, 0) * 7 + iota({n, n}, DType::Int64, 1) * 13, DType::Float64);
  const Tensor w = 0.05 * sin(indices), b = cos(cast(iota({n}, DType::Int64), DType::Float64));
  auto end = [&](const Tensor &a) {
    auto map = [&](const Tensor &x) { return tanh(sum(w * x, {1}) + a * b); };
    return sum(square(solvers::fixed_point(map, zeros({n}, DType::Float64), {.xtol = 1e-12}).x));
  };
  auto compiled = function(end);
  auto slope = function(grad(end));
  const Tensor a = scalar<double>(0.4);
  const double h = 1e-4;
  auto difference = [&](auto &f) {
    return (f(a + h).template item<double>() - f(a - h).template item<double>()) / (2 * h);
  };
  EXPECT_NEAR(slope(a).item<double>(), difference(compiled), 1e-5);
  EXPECT_NEAR(jvp(end, a, scalar<double>(1.0)).second.item<double>(), difference(compiled), 1e-5);
  EXPECT_NEAR(function(hessian(end))(a).item<double>(), difference(slope), 1e-5);
  EXPECT_NEAR(function(grad(grad(end)))(a).item<double>(), difference(slope), 1e-5);
  // Squares of the cotangent would vanish or overflow.
  for (const double size : {1e-200, 1e200}) {
    const double scaled = function(grad([&](const Tensor &at) { return size * end(at); }))(a).item<double>();
    EXPECT_NEAR(scaled / size, difference(compiled), 1e-5);
  }
}

TEST(Roots, MisuseIsRefusedWithTheUsersLine) {
  auto f = [](const Tensor &x) { return x * x - 2; };
  const Tensor one = scalar<double>(1.0), nine = full({}, 9, DType::Float64), pair = tensor<double>({1, 2});
  const std::function<Tensor(const Tensor &)> empty;
  auto shorter = [](const Tensor &x) { return sum(x); };
  auto other = [](const Tensor &x) { return cast(x, DType::Float32); };

  EXPECT_MISUSE(StateError, solvers::newton(empty, one), "newton: the function is an empty std::function");
  EXPECT_MISUSE(StateError, solvers::brent(empty, one, nine), "brent: the function is an empty std::function");
  EXPECT_MISUSE(DTypeError, solvers::newton(f, tensor({1, 2})), "newton: x0 is float32 or float64, not int32[2]");
  EXPECT_MISUSE(DTypeError, solvers::newton(other, one),
                "newton: the function returns float32[] for x of float64[], and must return the element type of x");
  EXPECT_MISUSE(
      ShapeError, solvers::newton(shorter, pair),
      "newton: the function returns float64[] for x of float64[2], and a root needs as many equations as unknowns");
  EXPECT_MISUSE(ShapeError, solvers::broyden(shorter, pair), "broyden: the function returns float64[]");
  EXPECT_MISUSE(ShapeError, solvers::fixed_point(shorter, pair), "must return the shape of x");
  EXPECT_MISUSE(ShapeError, solvers::brent(shorter, pair, nine), "an elementwise function returns the shape of x");
  EXPECT_MISUSE(DTypeError, solvers::bisect(other, one, nine), "bisect: the function returns float32[]");
  EXPECT_MISUSE(ShapeError, solvers::newton(f, zeros({0}, DType::Float64)),
                "newton: x0 is float64[0], which has no elements");
  EXPECT_MISUSE(ValueError, solvers::newton(f, one, {.xtol = -1}), "newton: xtol is finite and above 0, unlike -1");
  EXPECT_MISUSE(ValueError, solvers::newton(f, one, {.ftol = NAN}), "newton: ftol is finite and not negative");
  EXPECT_MISUSE(ValueError, solvers::newton(f, one, {.max_iterations = 0}),
                "newton: max_iterations is at least 1, unlike 0");
  EXPECT_MISUSE(ValueError, solvers::broyden(f, one, {.ftol = 0}), "broyden: ftol is finite and above 0");
  EXPECT_MISUSE(ValueError, solvers::fixed_point(f, one, {.memory = -1}),
                "fixed_point: memory is not negative, unlike -1");
  EXPECT_MISUSE(ValueError, solvers::brent(f, one, nine, {.rtol = 1e-17}),
                "brent: rtol is at least 4 epsilon of float64");
  EXPECT_MISUSE(ValueError, solvers::bisect(f, one, nine, {.xtol = 0}), "bisect: xtol is finite and above 0");
  EXPECT_MISUSE(AssertionError, solvers::brent(f, scalar<double>(2.0), nine),
                "brent: f has different signs at the bounds");
  EXPECT_MISUSE(AssertionError, solvers::bisect(f, one, nine, {.max_iterations = 5}),
                "bisect: no convergence in 5 iterations");
  auto without = [](const Tensor &x) { return x * x + 1; };
  EXPECT_MISUSE(AssertionError, solvers::newton(without, one), "newton: no convergence in 50 iterations");
  EXPECT_MISUSE(AssertionError, solvers::broyden(without, one), "broyden: no convergence in 200 iterations");
  auto growing = [](const Tensor &x) { return 2 * x + 1; };
  EXPECT_MISUSE(AssertionError, solvers::fixed_point(growing, one, {.memory = 0}), "fixed_point: no convergence");
  auto open = function([&](const Tensor &x) { return solvers::newton(f, x).x; },
                       {.input_signature = {TensorSpec<double>({kDynamic})}});
  EXPECT_CONTAINS(errorOf<StateError>([&] { open(pair); }), "newton: the sizes of x0 must be known while tracing");
}

TEST(Roots, AnErrorInTheUsersFunctionNamesItsOwnLine) {
  const int line = __LINE__ + 1;
  auto f = [](const Tensor &x) { return matmul(x, x); };
  std::string text = errorOf<ShapeError>([&] { solvers::newton(f, scalar<double>(1.0)); });
  EXPECT_CONTAINS(text, std::string(__FILE__) + ":" + std::to_string(line));
}

TEST(Roots, WithoutConvergenceAResultTellsIt) {
  auto compiled = function([](const Tensor &x0) {
    return solvers::newton([](const Tensor &x) { return x * x + 1; }, x0,
                           {.max_iterations = 7, .require_convergence = false});
  });
  auto r = compiled(scalar<double>(1.0));
  EXPECT_FALSE(r.converged.item<bool>());
}

// The idiom of docs/solvers-optimisation.md: x^2 = a has no root below 0, and the steps from 1 end at a slope of 0.
TEST(Roots, OfProblemsMadeSafeHaveFiniteGradients) {
  auto solve = [](const Tensor &a) {
    auto f = [&](const Tensor &x) { return x * x - a; };
    const Tensor fallback = scalar<double>(-1);
    auto tried = solvers::newton(f, scalar<double>(1), {.require_convergence = false});
    auto safe = [&](const Tensor &x) { return where(tried.converged, f(x), x - fallback); };
    return solvers::newton(safe, where(tried.converged, tried.x, fallback)).x;
  };
  const Tensor as = tensor<double>({4, -1, -2});
  expectNear(function(vmap(solve))(as), {2, -1, -1}, 1e-12);
  expectNear(function(vmap(grad(solve)))(as), {0.25, 0, 0}, 1e-12);
}

} // namespace
} // namespace calque::testing
