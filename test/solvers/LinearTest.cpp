// Iterations for linear systems and least squares, and solvers of the user. Values are those of SciPy 1.17.1, which
// linear.py prints; derivatives are compared with those of linalg::solve and with differences.
#include "calque/arrays.h"
#include "calque/linalg.h"

#include "test/solvers/Testing.h"

namespace calque::testing {
namespace {

using solvers::LinearResult;

// A tridiagonal matrix [n, n]: 3, 4, 5, 3, ... on the diagonal less the shift, -1 below, and `above`.
Tensor tridiagonal(std::int64_t n, double above, double shift = 0, DType dtype = DType::Float64) {
  std::vector<double> values(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      values[static_cast<std::size_t>(i * n + j)] =
          i == j ? 3.0 + static_cast<double>(i % 3) - shift : (j == i + 1 ? above : (j == i - 1 ? -1 : 0));
  return makeTensor(dtype, values, {n, n});
}
Tensor ramp(std::int64_t n, DType dtype = DType::Float64) { return cast(iota({n}, DType::Int64) + 1, dtype); }

using Solve = std::function<LinearResult<>(const Tensor &a, const Tensor &b, double rtol)>;
struct Case {
  const char *name;
  double above, shift;
  Solve solve;
  std::vector<double> expected;
};
std::vector<Case> cases() {
  using namespace solvers;
  const std::vector<double> definite{0.664128256513026, 0.992384769539078, 1.30541082164329,
                                     2.53466933867735,  2.29859719438878,  1.65971943887776};
  const std::vector<double> indefinite{0.2, -1, -3.2, -8.4, -0.8, 2.6};
  const std::vector<double> general{0.251383422602314, 0.491699464386116, 0.569171130115704,
                                    1.29168762761519,  1.38821649454029,  1.47764329890806};
  return {
      {"cg", -1, 0, [](auto &a, auto &b, double rtol) { return cg(a, b, {.rtol = rtol}); }, definite},
      {"cg, preconditioned", -1, 0,
       [](auto &a, auto &b, double rtol) { return cg(a, b, {.rtol = rtol, .preconditioner = jacobi(a)}); }, definite},
      {"minres", -1, 3, [](auto &a, auto &b, double rtol) { return minres(a, b, {.rtol = rtol}); }, indefinite},
      {"minres, preconditioned", -1, 3,
       [](auto &a, auto &b, double rtol) {
         return minres(a, b, {.rtol = rtol, .preconditioner = jacobi(1 + ramp(6, b.dtype()))});
       },
       indefinite},
      {"bicgstab", 0.5, 0, [](auto &a, auto &b, double rtol) { return bicgstab(a, b, {.rtol = rtol}); }, general},
      {"bicgstab, preconditioned", 0.5, 0,
       [](auto &a, auto &b, double rtol) { return bicgstab(a, b, {.rtol = rtol, .preconditioner = jacobi(a)}); },
       general},
      {"gmres", 0.5, 0, [](auto &a, auto &b, double rtol) { return gmres(a, b, {.rtol = rtol}); }, general},
      {"gmres, restarted and preconditioned", 0.5, 0,
       [](auto &a, auto &b, double rtol) {
         return gmres(a, b,
                      {.rtol = rtol, .restart = 3, .preconditioner = linalg::inv(tridiagonal(6, 0, 0, b.dtype()))});
       },
       general},
      {"lsqr", 0.5, 0, [](auto &a, auto &b, double rtol) { return lsqr(a, b, {.atol = rtol, .btol = rtol}); }, general},
  };
}
} // namespace

TEST(LinearSystems, HaveTheSolutionsOfSciPyEagerlyAndCompiledInBothPrecisions) {
  for (const Case &c : cases())
    for (DType dtype : {DType::Float32, DType::Float64}) {
      SCOPED_TRACE(std::string(c.name) + " " + name_of(dtype));
      const double rtol = dtype == DType::Float32 ? 1e-6 : 1e-14;
      auto r = eagerAndCompiled(
          [&](const Tensor &a, const Tensor &b) {
            auto found = c.solve(a, b, rtol);
            return std::pair(found.x, found.converged);
          },
          tridiagonal(6, c.above, c.shift, dtype), ramp(6, dtype));
      expectNear(r.first, c.expected, dtype == DType::Float32 ? 1e-4 : 1e-12);
      EXPECT_TRUE(r.second.item<bool>());
    }
}

TEST(LinearSystems, HaveDerivativesOfTheSolutionToSecondOrder) {
  const Tensor b = ramp(6);
  using F = std::function<Tensor(const Tensor &, const Tensor &)>;
  const F exact = [](const Tensor &a, const Tensor &b) { return sum(sin(linalg::solve(a, b))); };
  // The derivatives of a loss as one vector.
  auto derivatives = [](const F &f) {
    return [f](const Tensor &a, const Tensor &b) {
      auto byB = [&](const Tensor &v) { return grad([&](const Tensor &x) { return f(a, x); })(v); };
      auto byA = [&](const Tensor &m) { return grad([&](const Tensor &x) { return f(x, b); })(m); };
      Tensor mixed =
          grad([&](const Tensor &v) { return sum(square(grad([&](const Tensor &m) { return f(m, v); })(a))); })(b);
      Tensor forward = jvp([&](const Tensor &m) { return f(m, b); }, a, a).second;
      return concat({byB(b), reshape(byA(a), {-1}), mixed, reshape(forward, {1}),
                     reshape(hvp([&](const Tensor &m) { return f(m, b); })(a, a), {-1})});
    };
  };
  for (const Case &c : cases()) {
    SCOPED_TRACE(c.name);
    const Tensor a = tridiagonal(6, c.above, c.shift == 0 ? 0 : 2.5);
    const F loss = [&](const Tensor &m, const Tensor &v) {
      // A symmetric method is given a symmetric matrix whatever it is differentiated by.
      return sum(sin(c.solve(c.above == -1 ? (m + transpose(m)) / 2 : m, v, 1e-13).x));
    };
    const F reference = [&](const Tensor &m, const Tensor &v) {
      return exact(c.above == -1 ? (m + transpose(m)) / 2 : m, v);
    };
    expectNear(function(derivatives(loss))(a, b), valuesOf(function(derivatives(reference))(a, b)), 2e-8);
  }
}

// The first residual of a direction's second derivative is exactly 0, where an iteration has no derivative.
TEST(LinearSystems, HaveSecondDerivativesInForwardMode) {
  const Tensor a = tensor<double>({4, 1, 1, 5}, {2, 2}), b = tensor<double>({1, 2});
  const Tensor da = tensor<double>({1, 0.5, 0.5, 2}, {2, 2}), db = tensor<double>({0.2, 0.1}),
               zero = zeros({}, DType::Float64);
  // x(t) = (A + t A')^-1 (b + t b'), and x'' = -2 A^-1 A' x'.
  const Tensor x = linalg::solve(a, b), x1 = linalg::solve(a, db - matmul(da, x));
  const std::vector<double> expected = valuesOf(-2 * linalg::solve(a, matmul(da, x1)));
  using Solution = std::function<Tensor(const Tensor &, const Tensor &)>;
  const std::pair<const char *, Solution> solutions[] = {
      {"cg", [](auto &m, auto &v) { return solvers::cg(m, v, {.rtol = 1e-14}).x; }},
      {"minres", [](auto &m, auto &v) { return solvers::minres(m, v, {.rtol = 1e-14}).x; }},
      {"bicgstab", [](auto &m, auto &v) { return solvers::bicgstab(m, v, {.rtol = 1e-14}).x; }},
      {"gmres", [](auto &m, auto &v) { return solvers::gmres(m, v, {.rtol = 1e-14}).x; }},
      {"lsqr", [](auto &m, auto &v) { return solvers::lsqr(m, v, {.atol = 1e-14, .btol = 1e-14}).x; }},
  };
  for (const auto &[name, solution] : solutions) {
    SCOPED_TRACE(name);
    auto moved = [&, &solution = solution](const Tensor &t) { return solution(a + t * da, b + t * db); };
    const Tensor one = ones({}, DType::Float64);
    auto slope = [&](const Tensor &t) { return jvp(moved, t, one).second; };
    expectNear(jvp(slope, zero, one).second, expected, 1e-10);
    // Reverse over forward and forward over reverse, of the first element.
    auto first = [&](const Tensor &t) { return moved(t)[0]; };
    expectNear(grad(grad(first))(zero), {expected[0]}, 1e-10);
    expectNear(jvp(grad(first), zero, one).second, {expected[0]}, 1e-10);
    expectNear(grad([&](const Tensor &t) { return slope(t)[0]; })(zero), {expected[0]}, 1e-10);
  }
}

TEST(LinearSystems, KeepNothingOfTheIteration) {
  auto solution = [](const Tensor &a) { return solvers::cg(a, ones({6}, DType::Float64)).x; };
  const Tensor a = tridiagonal(6, -1);
  auto gradient = function(grad([&](const Tensor &m) { return sum(square(solution(m))); }));
  EXPECT_TRUE(all(isfinite(gradient(a))).item<bool>());
  EXPECT_EQ(gradient.ir("differentiated", a).find("_push"), std::string::npos);
}

TEST(LinearSystems, OfManyRightHandSidesHaveIterationsOfTheirOwn) {
  const Tensor a = tridiagonal(6, 0.5), b = ramp(6), columns = stack({b, 0 * b, gather(a, 0, 1)}, 1);
  for (const Case &c : cases()) {
    if (c.above != 0.5 || std::string(c.name) == "lsqr" || std::string(c.name).find(',') != std::string::npos)
      continue;
    SCOPED_TRACE(c.name);
    auto r = function([&](const Tensor &m, const Tensor &v) {
      auto found = c.solve(m, v, 1e-12);
      return std::tuple(found.x, found.iterations, found.residual);
    })(a, columns);
    expectNear(matmul(a, std::get<0>(r)), valuesOf(columns), 1e-11);
    const std::vector<std::int64_t> iterations = std::get<1>(r).to_vector<std::int64_t>();
    EXPECT_EQ(iterations.size(), 3U);
    EXPECT_GT(iterations[0], 2);
    EXPECT_EQ(iterations[1], 0);
    auto loss = [&](const Tensor &m) { return sum(sin(c.solve(m, columns, 1e-13).x)); };
    auto exact = [&](const Tensor &m) { return sum(sin(linalg::solve(m, columns))); };
    expectNear(function(grad(loss))(a), valuesOf(grad(exact)(a)), 1e-9);
  }
  // And under vmap, whose examples have matrices of their own.
  const Tensor matrices = stack({a, 2 * a, a + eye(6, DType::Float64)});
  auto solveOne = [](const Tensor &m, const Tensor &v) { return solvers::gmres(m, v, {.rtol = 1e-12}).x; };
  const Tensor together = function(vmap(solveOne, {.in_axes = {0, std::nullopt}}))(matrices, b);
  expectNear(together, valuesOf(linalg::solve(matrices, broadcast_to(expand_dims(b, {1}), {3, 6, 1}))), 1e-10);
}

TEST(LinearSystems, OfUnknownSizes) {
  auto all = [](const Tensor &a, const Tensor &b) {
    using namespace solvers;
    auto each = [&](const Tensor &v) {
      return cg(a, v, {.rtol = 1e-12}).x + minres(a, v, {.rtol = 1e-12}).x + bicgstab(a, v, {.rtol = 1e-12}).x +
             gmres(a, v, {.rtol = 1e-12}).x + lsqr(a, v, {.atol = 1e-12, .btol = 1e-12}).x;
    };
    return grad([&](const Tensor &v) { return sum(square(each(v))); })(b);
  };
  auto f =
      function(all, {.input_signature = {TensorSpec<double>({kDynamic, kDynamic}), TensorSpec<double>({kDynamic})}});
  for (std::int64_t n : {1, 6, 30}) {
    const Tensor a = tridiagonal(n, -1), b = ramp(n);
    expectNear(f(a, b), valuesOf(50 * linalg::solve(a, linalg::solve(a, b))), 1e-8);
  }
  EXPECT_EQ(f.trace_count(), 1);
}

TEST(LinearSystems, TakeFunctionsOfStructuresAndOfAnyShape) {
  struct Pair {
    Tensor u, v;
  };
  auto coupled = [](const Pair &p) { return Pair{3 * p.u + sum(p.v), 4 * p.v + sum(p.u)}; };
  const Pair b{tensor<double>({1, 2}), tensor<double>({{3}, {4}, {5}})};
  for (bool preconditioned : {false, true}) {
    solvers::KrylovOptions<Pair> options{.rtol = 1e-13};
    if (preconditioned)
      options.preconditioner = [](const Pair &p) { return Pair{p.u / 3, p.v / 4}; };
    const Pair x = solvers::cg(coupled, b, options).x, image = coupled(x);
    expectNear(image.u, {1, 2}, 1e-12);
    expectNear(image.v, {3, 4, 5}, 1e-12);
    EXPECT_EQ(x.v.shape(), Shape({3, 1}));
  }
  // A matrix as the unknown: A X + X A = B, Lyapunov's equation.
  const Tensor a = tridiagonal(4, -1), right = matmul(a, a);
  auto lyapunov = [&](const Tensor &x) { return matmul(a, x) + matmul(x, a); };
  expectNear(solvers::gmres(lyapunov, right, {.rtol = 1e-13}).x, valuesOf(a / 2), 1e-11);
}

TEST(LinearSystems, ConvergeInExactlyZeroOrOneIterations) {
  const Tensor one = tensor<double>({{4}}), b = tensor<double>({2});
  for (const Case &c : cases()) {
    if (std::string(c.name).find(',') != std::string::npos)
      continue;
    SCOPED_TRACE(c.name);
    auto r = c.solve(one, b, 1e-12);
    EXPECT_EQ(r.x.item<double>(), 0.5);
    EXPECT_LE(r.iterations.item<std::int64_t>(), 1);
    auto none = c.solve(one, 0 * b, 1e-12);
    EXPECT_EQ(none.x.item<double>(), 0);
    EXPECT_EQ(none.iterations.item<std::int64_t>(), 0);
    EXPECT_TRUE(none.converged.item<bool>());
    // No elements: nothing to do.
    EXPECT_EQ(c.solve(zeros({0, 0}, DType::Float64), zeros({0}, DType::Float64), 1e-12).x.shape(), Shape({0}));
  }
  const Tensor a = tridiagonal(6, -1), start = linalg::solve(a, ramp(6));
  EXPECT_EQ(solvers::cg(a, ramp(6), {.x0 = start}).iterations.item<std::int64_t>(), 0);
  // The solution for b = 0 is 0, wherever the iteration begins.
  expectNear(solvers::cg(a, zeros({6}, DType::Float64), {.x0 = start}).x, std::vector<double>(6, 0), 0);
}

TEST(LinearSystems, OfNumbersWhoseSquaresVanishOrOverflow) {
  for (const Case &c : cases())
    for (DType dtype : {DType::Float32, DType::Float64}) {
      const bool isSingle = dtype == DType::Float32;
      const double far = isSingle ? 1e25 : 1e160, farther = isSingle ? 1e30 : 1e250, rtol = isSingle ? 1e-6 : 1e-13;
      auto scaled = [&](const Tensor &x, double size) { return x * cast(scalar<double>(size), dtype); };
      auto of = [&](const auto &solution, double sizeA, double sizeB) {
        return solution(scaled(tridiagonal(6, c.above, c.shift, dtype), sizeA), scaled(ramp(6, dtype), sizeB),
                        cast(scalar<double>(sizeB / sizeA), dtype));
      };
      auto values = [&](const Tensor &a, const Tensor &b, const Tensor &size) { return c.solve(a, b, rtol).x / size; };
      // And derivatives of a loss near to 1 by factors of A and b, in both modes.
      auto compiled = function([&](const Tensor &a, const Tensor &b, const Tensor &size) {
        auto loss = [&](const Tensor &factors) { return sum(sin(values(factors[0] * a, factors[1] * b, size))); };
        const Tensor one = ones({2}, dtype);
        return concat({values(a, b, size), grad(loss)(one), reshape(jvp(loss, one, 2 * one).second, {1})});
      });
      const std::vector<double> expected = isSingle ? c.expected : valuesOf(of(compiled, 1, 1));
      for (const auto &[sizeA, sizeB] :
           {std::pair(1.0, 1 / farther), std::pair(1.0, farther), std::pair(1 / far, 1 / far), std::pair(far, far),
            std::pair(1 / far, 1.0), std::pair(far, 1.0), std::pair(1 / far, 1 / farther)}) {
        SCOPED_TRACE(std::string(c.name) + " " + name_of(dtype) + " " + std::to_string(std::log10(sizeA)) + " " +
                     std::to_string(std::log10(sizeB)));
        if (isSingle)
          expectNear(of(values, sizeA, sizeB), expected, 1e-4);
        else
          expectNear(of(compiled, sizeA, sizeB), expected, 1e-8);
      }
    }
  // Examples of vmap have scales of their own. A start far from the solution is scaled, too.
  const Tensor sizes = tensor<double>({1e-160, 1, 1e160}), a = tridiagonal(6, 0.5), b = ramp(6);
  auto solutions = [&](const Tensor &size) {
    return solvers::gmres(size * a, b, {.rtol = 1e-13, .x0 = ones({6}, DType::Float64) / size}).x * size;
  };
  const Tensor together = function(vmap(solutions))(sizes);
  for (std::int64_t i = 0; i < 3; ++i)
    expectNear(together[i], valuesOf(linalg::solve(a, b)), 1e-12);
}

// x -> A x + c is no linear function. Whether an iteration gets to A x + c = b depends on how it scales; it tells.
TEST(LinearSystems, OfFunctionsWithAConstantAreNotTakenForConverged) {
  const Tensor ones6 = ones({6}, DType::Float64);
  for (const Case &c : cases()) {
    if (std::string(c.name).find(',') != std::string::npos)
      continue;
    using namespace solvers;
    const Tensor a = tridiagonal(6, c.above, c.shift);
    auto affine = [&](const Tensor &x) { return matmul(a, x) + 3; };
    auto solve = [&](const Tensor &b, bool isRequired) {
      const std::string name = c.name;
      const KrylovOptions<> options{.rtol = 1e-8, .require_convergence = isRequired};
      if (name == "lsqr")
        return lsqr(affine, b, {.x0 = ones6, .require_convergence = isRequired});
      return name == "cg"       ? cg(affine, b, options)
             : name == "minres" ? minres(affine, b, options)
             : name == "gmres"  ? gmres(affine, b, {.rtol = 1e-8, .require_convergence = isRequired})
                                : bicgstab(affine, b, options);
    };
    auto compiled = function([&](const Tensor &b) {
      const auto r = solve(b, false);
      return std::tuple(r.x, r.residual, r.converged,
                        jvp([&](const Tensor &v) { return solve(v, false).x; }, b, b).second);
    });
    int refused = 0;
    for (int power = -4; power <= 8; ++power) {
      SCOPED_TRACE(std::string(c.name) + " " + std::to_string(power));
      const Tensor b = ramp(6) * std::pow(2.0, power);
      const auto [x, residual, converged, moved] = compiled(b);
      const double norm = sqrt(sum(square(b))).item<double>(), left = sqrt(sum(square(b - affine(x)))).item<double>();
      EXPECT_NEAR(residual.item<double>(), left, 1e-9 * (norm + left));
      if (converged.item<bool>())
        EXPECT_LE(left, 1e-5 * norm);
      else
        ++refused;
      const Tensor exact = linalg::solve(a, b);
      EXPECT_TRUE(all(isnan(moved) | (abs(moved - exact) <= 1e-5 * max(abs(exact), AxisList()))).item<bool>());
    }
    EXPECT_GT(refused, 8) << c.name;
    EXPECT_CONTAINS(errorOf<AssertionError>([&] { solve(7 * ramp(6), true); }),
                    std::string(c.name) + ": no convergence in");
  }
}

TEST(LinearSystems, ThatDoNotConvergeAreErrorsOrSaySo) {
  const Tensor a = tridiagonal(6, 0.5), b = ramp(6), singular = ones({6, 6}, DType::Float64);
  EXPECT_FAILURE_OF(AssertionError, solvers::gmres(a, b, {.rtol = 1e-12, .max_iterations = 2}),
                    "gmres: no convergence in 2 iterations, the norm of b - A x over that of b is above rtol");
  EXPECT_FAILURE_OF(AssertionError, solvers::cg(singular, b), "cg: no convergence in 60 iterations");
  EXPECT_FAILURE_OF(AssertionError, solvers::lsqr(a, b, {.max_iterations = 1}),
                    "lsqr: no convergence in 1 iterations, the norm of b - A x is above its tolerance");
  EXPECT_FAILURE_OF(AssertionError, function([&](const Tensor &b) { return solvers::cg(singular, b).x; })(b),
                    "cg: no convergence in 60 iterations");
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { solvers::cg(singular, b, {.max_iterations = 2}); }), "; it fails for ");
  EXPECT_MISUSE(AssertionError, solvers::cg(tridiagonal(6, -1), b * (0.0 / 0.0 * b)), "cg: no convergence");
  EXPECT_MISUSE(AssertionError, solvers::lsqr(a, b / 0.0), "lsqr: no convergence");
  EXPECT_MISUSE(AssertionError, solvers::cg(tridiagonal(6, -1) * 1e-250, b * 1e250),
                "cg: no convergence"); // x is no number
  for (const Case &c : cases()) {
    if (std::string(c.name).find(',') != std::string::npos || std::string(c.name) == "lsqr")
      continue;
    SCOPED_TRACE(c.name);
    EXPECT_THROW(function([&](const Tensor &m) { return c.solve(m, b, 1e-10).x; })(singular), AssertionError);
    EXPECT_THROW(c.solve(tridiagonal(6, -1), b / 0.0, 1e-10), AssertionError); // infinite, as its tolerance
  }
  auto r = solvers::bicgstab(a, b, {.max_iterations = 1, .require_convergence = false});
  EXPECT_FALSE(r.converged.item<bool>());
  EXPECT_EQ(r.iterations.item<std::int64_t>(), 1);
  expectNear(r.residual, {sqrt(sum(square(b - matmul(a, r.x)))).item<double>()}, 1e-12);
  // A derivative whose system does not converge is NaN.
  auto loss = [&](const Tensor &m) {
    return sum(solvers::gmres(m, b, {.rtol = 1e-12, .max_iterations = 2, .require_convergence = false}).x);
  };
  EXPECT_TRUE(all(isnan(grad(loss)(a))).item<bool>());
  // An absolute tolerance is one.
  EXPECT_LT(solvers::cg(tridiagonal(6, -1), b, {.rtol = 0, .atol = 0.5}).iterations.item<std::int64_t>(), 6);
}

TEST(LinearSystems, MisuseIsRefusedWithTheUsersLine) {
  using namespace solvers;
  const Tensor a = tridiagonal(6, 0.5), b = ramp(6);
  EXPECT_MISUSE(ShapeError, cg(a, ramp(5)), "cg: the matrix is float64[6,6], and for b of float64[5] must be [n,n]");
  EXPECT_MISUSE(ShapeError, gmres(slice(a, {0, 0}, {6, 5}), b), "gmres: the matrix is float64[6,5]");
  EXPECT_MISUSE(DTypeError, cg(a, ramp(6, DType::Float32)),
                "cg: the matrix is float64[6,6] and b float32[6]; they must have one element type");
  EXPECT_MISUSE(DTypeError, cg(a, iota({6}, DType::Int64)), "cg: b is float32 or float64, not int64[6]");
  EXPECT_MISUSE(ShapeError, cg(a, b, {.x0 = ramp(5)}), "cg: x0 is float64[5], and must be as b, float64[6]");
  EXPECT_MISUSE(ShapeError, cg(a, b, {.preconditioner = ones({5, 5}, DType::Float64)}),
                "cg: the preconditioner is float64[5,5]");
  auto square = [](const Tensor &v) { return v; };
  EXPECT_MISUSE(ShapeError, cg(square, a, {.preconditioner = a}),
                "cg: the preconditioner of a function of float64[6,6]");
  EXPECT_MISUSE(ShapeError, cg([](const Tensor &v) { return sum(v); }, b),
                "cg: the operator returns float64[] for float64[6], and must return float64[6]");
  EXPECT_MISUSE(StateError, cg(std::function<Tensor(const Tensor &)>(), b),
                "cg: the operator is an empty std::function");
  EXPECT_MISUSE(ValueError, cg(a, b, {.rtol = -1}), "cg: rtol is finite and not negative, unlike -1");
  EXPECT_MISUSE(ValueError, cg(a, b, {.max_iterations = 0}), "cg: max_iterations is at least 1, unlike 0");
  EXPECT_MISUSE(ValueError, gmres(a, b, {.restart = 0}), "gmres: restart is at least 1, unlike 0");
  EXPECT_MISUSE(AssertionError, jacobi(zeros({3, 3})), "jacobi: there is a 0 on the diagonal");
  EXPECT_MISUSE(ShapeError, jacobi(ones({3, 4})), "jacobi: the matrix float32[3,4] is not square");
  EXPECT_MISUSE(ValueError, lsqr(square, b), "lsqr: a function needs x0");
  EXPECT_MISUSE(ShapeError, lsqr(a, ramp(5)), "lsqr: the matrix is float64[6,6] and b float64[5]");
  EXPECT_MISUSE(ShapeError, lsqr(a, b, {.x0 = ramp(5)}), "lsqr: x0 is float64[5], and the matrix float64[6,6]");
  EXPECT_MISUSE(ShapeError, lsqr([](const Tensor &v) { return sum(v); }, b, {.x0 = b}),
                "lsqr: the operator returns float64[] for float64[6], and must return float64[6]");
}

TEST(Lsqr, HasTheLeastSquaresOfSciPyAndTheirDerivatives) {
  const Tensor a = tridiagonal(6, 0.5), b = ramp(6);
  const Tensor tall = slice(a, {0, 0}, {6, 4}), wide = slice(a, {0, 0}, {4, 6}), four = slice(b, {0}, {4});
  const double least = 1e-14;
  expectNear(solvers::lsqr(tall, b, {.atol = least, .btol = least}).x,
             {0.244720211751035, 0.472376962749894, 0.532519421271224, 0.878287628488835}, 1e-12);
  expectNear(solvers::lsqr(wide, four, {.atol = least, .btol = least}).x,
             {0.251018543490797, 0.493888739055215, 0.550927174539875, 1.47850573271168, 0.230819952809656, 0}, 1e-12);
  expectNear(
      solvers::lsqr(a, b, {.damp = 1.5, .atol = least, .btol = least}).x,
      {0.185804688504679, 0.409351399626496, 0.505457870232158, 1.00293392151699, 1.16625159545237, 1.3272807908042},
      1e-12);
  for (const auto &[matrix, right] : {std::pair(tall, b), std::pair(wide, four)}) {
    auto loss = [](const Tensor &m, const Tensor &v) {
      return sum(sin(solvers::lsqr(m, v, {.atol = 1e-13, .btol = 1e-13}).x));
    };
    auto exact = [](const Tensor &m, const Tensor &v) { return sum(sin(linalg::lstsq(m, v))); };
    for (std::int64_t argument : {0, 1})
      expectNear(function(grad(loss, {.argnums = {argument}}))(matrix, right)[0],
                 valuesOf(function(grad(exact, {.argnums = {argument}}))(matrix, right)[0]), 1e-8);
  }
  // A function between shapes, whose transpose is a derivative.
  auto sums = [](const Tensor &x) { return concat({sum(x, {0}), sum(x, {1})}); };
  const Tensor x = solvers::lsqr(sums, tensor<double>({5, 7, 9, 6, 15}), {.x0 = zeros({2, 3}, DType::Float64)}).x;
  expectNear(sums(x), {5, 7, 9, 6, 15}, 1e-6);
}

// With a damp, or more unknowns than equations, the solution is x0 + A^T (A A^T + damp^2)^-1 (b - A x0).
TEST(Lsqr, HasDerivativesByItsStartAndOfNumbersFarFromOne) {
  struct Form {
    std::int64_t rows, columns;
    double damp;
    DType dtype; // and factors of A and b
    double sizeA, sizeB;
  };
  for (const Form &form :
       {Form{4, 6, 0, DType::Float64, 1e-160, 1e-160}, Form{4, 6, 1.5, DType::Float64, 1e160, 1},
        Form{6, 4, 1.5, DType::Float32, 1e-25, 1e-25}, Form{6, 4, 0, DType::Float64, 1e-160, 1e-160}}) {
    const auto rows = form.rows, columns = form.columns;
    const double damp = form.damp;
    const Tensor a = slice(tridiagonal(6, 0.5), {0, 0}, {rows, columns}), b = slice(ramp(6), {0}, {rows}),
                 x0 = cos(ramp(columns));
    auto exact = [&](const Tensor &m, const Tensor &right, const Tensor &start) {
      const Tensor rest = right - matmul(m, start);
      if (damp == 0 && rows > columns)
        return start + linalg::lstsq(m, rest);
      return start + matmul(linalg::solve(matmul(m, transpose(m)) + damp * damp * eye(rows, DType::Float64), rest), m);
    };
    // The solution, and derivatives of a loss by factors and shifts of all three in both modes; and to second order.
    auto all = [&](const auto &solution, double sizeA, double sizeB, const Tensor &at) {
      const DType dtype = at.dtype();
      auto sized = [&](const Tensor &x, double size) { return cast(x, dtype) * cast(scalar<double>(size), dtype); };
      auto values = [&](const Tensor &p) {
        const double sizeX = sizeB / sizeA;
        return sized(solution(sized(a, sizeA) * p[0], sized(b, sizeB) * p[1],
                              sized(x0, sizeX) * p[2] + sized(sin(iota({columns}, DType::Float64)), sizeX) * p[3]),
                     1 / sizeX);
      };
      auto loss = [&](const Tensor &p) { return sum(sin(values(p))); };
      const Tensor direction = cast(tensor<double>({1, 2, -1, 3}), dtype);
      std::vector<Tensor> parts{values(at), grad(loss)(at), reshape(jvp(loss, at, direction).second, {1})};
      if (sizeA == 1 && damp > 0)
        parts.push_back(hvp(loss)(at, direction));
      return concat(parts);
    };
    const Tensor point = tensor<double>({1, 1, 1, 0});
    const std::vector<double> expected = valuesOf(all(exact, 1, 1, point));
    for (const auto &[dtype, sizeA, sizeB] :
         {std::tuple(DType::Float64, 1.0, 1.0), std::tuple(form.dtype, form.sizeA, form.sizeB)}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(rows) + " " + std::to_string(damp) + " " +
                   std::to_string(std::log10(sizeA)));
      const double tolerance = dtype == DType::Float32 ? 1e-6 : 1e-14, size = sizeA;
      auto found = [&](const Tensor &m, const Tensor &right, const Tensor &start) {
        return solvers::lsqr(m, right, {.damp = damp * size, .atol = tolerance, .btol = tolerance, .x0 = start}).x;
      };
      std::vector<double> some = expected;
      some.resize(sizeA == 1 ? some.size() : static_cast<std::size_t>(columns + 5));
      auto compiled = function([&](const Tensor &at) { return all(found, sizeA, sizeB, at); });
      expectNear(compiled(cast(point, dtype)), some, dtype == DType::Float32 ? 1e-3 : 1e-8);
    }
  }
  // A damp far above the matrix, and examples of vmap.
  const Tensor a = tridiagonal(6, 0.5), b = ramp(6), image = matmul(b, a), sizes = tensor<double>({1e-160, 1, 1e160});
  expectNear(solvers::lsqr(1e-160 * a, b, {.damp = 1}).x * 1e160, valuesOf(image), 1e-12);
  auto solutions = [&](const Tensor &size) {
    auto bySize = [&](const Tensor &v) { return solvers::lsqr(size * a, size * v, {.atol = 1e-14, .btol = 1e-14}).x; };
    return concat({bySize(b), jvp(bySize, b, b).second});
  };
  const Tensor together = function(vmap(solutions))(sizes), x = linalg::solve(a, b);
  for (std::int64_t i = 0; i < 3; ++i)
    expectNear(together[i], valuesOf(concat({x, x})), 1e-9);
  // Gradients by b are A^-T c, whose magnitude is that of the inverse: of matrices and of functions.
  const Tensor c = cos(ramp(6)), adjoint = linalg::solve(transpose(a), c);
  for (const double size : {1e-200, 1e-155, 1e155, 1e200, 1e250}) {
    SCOPED_TRACE(size);
    const Tensor matrix = a * size, right = matmul(matrix, cos(2 * ramp(6)));
    auto byMatrix = [&](const Tensor &v) {
      return sum(c * solvers::lsqr(matrix, v, {.atol = 1e-13, .btol = 1e-13}).x);
    };
    auto product = [&](const Tensor &v) { return matmul(matrix, v); };
    auto byFunction = [&](const Tensor &v) {
      return sum(c * solvers::lsqr(product, v, {.atol = 1e-13, .btol = 1e-13, .x0 = zeros({6}, DType::Float64)}).x);
    };
    expectNear(grad(byMatrix)(right) * size, valuesOf(adjoint), 1e-9);
    expectNear(grad(byFunction)(right) * size, valuesOf(adjoint), 1e-9);
  }
}

TEST(CustomLinearSolve, CallsTheSolverOfTheUser) {
  const Tensor a = tridiagonal(6, 0.5), b = ramp(6);
  int solves = 0, transposed = 0;
  auto solution = [&](const Tensor &m, const Tensor &v) {
    // The solver may use anything, here a factorisation that is not differentiated.
    const Tensor constant = stop_gradient(m);
    return solvers::custom_linear_solve([&](const Tensor &x) { return matmul(m, x); }, v,
                                        [&](const auto &, const Tensor &right) {
                                          ++solves;
                                          return linalg::solve(constant, right);
                                        },
                                        {.transpose_solve = [&](const auto &, const Tensor &right) {
                                          ++transposed;
                                          return linalg::solve(transpose(constant), right);
                                        }});
  };
  auto loss = [&](const Tensor &m, const Tensor &v) { return sum(sin(solution(m, v))); };
  auto exact = [](const Tensor &m, const Tensor &v) { return sum(sin(linalg::solve(m, v))); };
  expectNear(eagerAndCompiled(solution, a, b), valuesOf(linalg::solve(a, b)), 1e-13);
  EXPECT_GT(solves, 0);
  EXPECT_GT(transposed, 0);
  expectNear(grad(loss)(a, b), valuesOf(grad(exact)(a, b)), 1e-12);
  expectNear(function(hessian([&](const Tensor &v) { return loss(a, v); }))(b),
             valuesOf(hessian([&](const Tensor &v) { return exact(a, v); })(b)), 1e-11);
  auto symmetric = [](const Tensor &v) {
    return solvers::custom_linear_solve([](const Tensor &x) { return 4 * x; }, v,
                                        [](const auto &, const Tensor &right) { return right / 4; },
                                        {.symmetric = true});
  };
  expectNear(grad(symmetric)(b), std::vector<double>(6, 0.25), 1e-14);
}

TEST(CustomLinearSolve, MisuseIsRefusedWithTheUsersLine) {
  using namespace solvers;
  const Tensor b = ramp(3);
  auto same = [](const Tensor &x) { return x; };
  auto solve = [](const auto &, const Tensor &right) { return right; };
  using Solver = std::function<Tensor(const std::function<Tensor(const Tensor &)> &, const Tensor &)>;
  EXPECT_MISUSE(StateError, custom_linear_solve(same, b, Solver()), "custom_linear_solve: the solver is an empty");
  EXPECT_MISUSE(ValueError, custom_linear_solve(same, b, solve, {.transpose_solve = solve, .symmetric = true}),
                "custom_linear_solve: a symmetric system has no transpose_solve");
  EXPECT_MISUSE(ShapeError, custom_linear_solve(same, b, [](const auto &, const Tensor &right) { return sum(right); }),
                "custom_linear_solve: the solver returns float64[] for b of float64[3], and must return its shape");
  EXPECT_MISUSE(ShapeError, custom_root(same, b, [](const auto &, const Tensor &) { return ones({2}); }),
                "custom_root: the solver returns float32[2] for x0 of float64[3], and must return its shape");
  EXPECT_MISUSE(StateError, custom_root(same, b, Solver()), "custom_root: the solver is an empty std::function");
}

TEST(CustomRoot, HasDerivativesOfTheEquation) {
  // x^3 + x = a, by a solver of the host that is not differentiable.
  auto root = [](const Tensor &a) {
    auto equation = [&](const Tensor &x) { return x * x * x + x - a; };
    return solvers::custom_root(equation, zeros(a.shape(), a.dtype()), [&](const auto &, const Tensor &) {
      return for_range(0, 60, ones(a.shape(), a.dtype()), [&](const Tensor &, const Tensor &x) {
        return x - (x * x * x + x - stop_gradient(a)) / (3 * x * x + 1);
      });
    });
  };
  for (std::int64_t n : {2, 100}) { // a matrix, and products
    const Tensor a = 1 + ramp(n) / 10, x = root(a), slope = 1 / (3 * x * x + 1);
    expectNear(x * x * x + x, valuesOf(a), 1e-13);
    expectNear(function(grad(root))(a), valuesOf(slope), 1e-10);
    expectNear(jvp(root, a, ones({n}, DType::Float64)).second, valuesOf(slope), 1e-10);
    expectNear(
        function([&](const Tensor &v) { return grad([&](const Tensor &u) { return sum(grad(root)(u)); })(v); })(a),
        valuesOf(-6 * x * slope * slope * slope), 1e-9);
  }
  auto own = [&](const Tensor &a) {
    auto equation = [&](const Tensor &x) { return x * x - a; };
    return solvers::custom_root(
        equation, ones({}, DType::Float64), [&](const auto &, const Tensor &) { return sqrt(stop_gradient(a)); },
        [](const auto &product, const Tensor &c) { return c / product(ones({}, DType::Float64)); });
  };
  expectNear(grad(own)(scalar<double>(4.0)), {0.25}, 1e-14);
}

} // namespace calque::testing
