// A few eigenpairs by iterations: beside those of whole matrices by eigh, and of Laplacians, which are known.
#include "calque/arrays.h"
#include "calque/linalg.h"
#include "calque/sparse.h"

#include "test/solvers/Testing.h"

#include <algorithm>
#include <cmath>

namespace calque::testing {
namespace {

using solvers::Eigenpairs;
using solvers::lobpcg;

// Numbers between -1 and 1 that no pattern has.
Tensor scattered(const Shape &shape, double seed, DType dtype = DType::Float64) {
  std::int64_t count = 1;
  for (const Size &size : shape)
    count *= std::int64_t(size);
  Tensor x = sin(square(iota({count}, DType::Float64) + seed) * 12.9898) * 43758.5453;
  return cast(reshape(2 * (x - floor(x)) - 1, shape), dtype);
}
Tensor symmetric(std::int64_t n, double seed, DType dtype = DType::Float64) {
  Tensor a = scattered({n, n}, seed, dtype);
  return (a + transpose(a)) / 2;
}
// Positive definite.
Tensor massOf(std::int64_t n, double seed, DType dtype = DType::Float64) {
  Tensor a = scattered({n, n}, seed, dtype);
  return matmul(a, transpose(a)) / static_cast<double>(n) + eye(n, dtype);
}
// The second difference of a vector with ends at 0.
Tensor laplacian(const Tensor &v) {
  const std::int64_t n = v.shape()[0];
  return 2 * v - pad(slice(v, {0}, {n - 1}), {1}, {0}) - pad(slice(v, {1}, {n}), {0}, {1});
}
double exactValue(std::int64_t n, std::int64_t i) {
  return 4 * std::pow(std::sin(static_cast<double>(i) * std::acos(-1.0) / (2 * (static_cast<double>(n) + 1))), 2);
}
std::tuple<Tensor, Tensor, Tensor> partsOf(const Eigenpairs &e) { return {e.values, e.vectors, e.converged}; }
Tensor residualOf(const Tensor &a, const Tensor &b, const Tensor &values, const Tensor &vectors) {
  return matmul(a, vectors) - matmul(b, vectors) * values;
}
// The values of the pencil, ascending, as of L^-1 A L^-T.
Tensor pencilValues(const Tensor &a, const Tensor &b) {
  const Tensor l = linalg::cholesky(b), half = linalg::triangular_solve(l, a);
  return linalg::eigvalsh(transpose(linalg::triangular_solve(l, transpose(half))));
}

} // namespace

TEST(Lobpcg, FindsTheOutermostValuesOfMatrices) {
  for (DType dtype : {DType::Float32, DType::Float64})
    for (bool largest : {false, true})
      for (bool hasB : {false, true})
        for (std::int64_t k : {1, 3, 8}) {
          SCOPED_TRACE(std::string(name_of(dtype)) + (largest ? " largest " : " smallest ") + (hasB ? "B " : "") +
                       std::to_string(k));
          const std::int64_t n = 50;
          const Tensor a = symmetric(n, 1, dtype), b = hasB ? massOf(n, 2, dtype) : eye(n, dtype);
          const double rtol = dtype == DType::Float32 ? 1e-5 : 1e-10;
          auto find = [&](const Tensor &matrix, const Tensor &mass, const Tensor &x0) {
            solvers::LobpcgOptions options{.largest = largest, .rtol = rtol};
            if (hasB)
              options.b = mass;
            return partsOf(lobpcg(matrix, x0, options));
          };
          auto [values, vectors, converged] = function(find)(a, b, scattered({n, k}, 3, dtype));
          std::vector<double> expected = valuesOf(pencilValues(cast(a, DType::Float64), cast(b, DType::Float64)));
          if (largest)
            std::reverse(expected.begin(), expected.end());
          expected.resize(static_cast<std::size_t>(k));
          expectNear(values, expected, dtype == DType::Float32 ? 2e-5 : 1e-12);
          expectNear(max(abs(residualOf(a, b, values, vectors)), AxisList()), {0},
                     dtype == DType::Float32 ? 1e-4 : 1e-8);
          expectNear(matmul(transpose(vectors), matmul(b, vectors)), valuesOf(eye(k)),
                     dtype == DType::Float32 ? 1e-5 : 1e-13);
          EXPECT_TRUE(all(converged).item<bool>());
        }
}

TEST(Lobpcg, HasTheValuesOfSciPy) { // 1.17.1, which linear.py prints
  const Tensor a = sparse::csr(tensor<double>({3, -1, -1, 4, -1, -1, 5, -1, -1, 3, -1, -1, 4, -1, -1, 5}),
                               {0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5}, {0, 2, 5, 8, 11, 14, 16}, {6, 6})
                       .to_dense();
  auto ends = [](const Tensor &m, const Tensor &x0) {
    return std::pair(lobpcg(m, x0, {.rtol = 1e-12}).values, lobpcg(m, x0, {.largest = false, .rtol = 1e-12}).values);
  };
  auto [largest, smallest] = eagerAndCompiled(ends, a, scattered({6, 2}, 1));
  expectNear(largest, {6.04907082442653, 5.64728198404779}, 1e-13);
  expectNear(smallest, {1.95092917557348, 2.35271801595222}, 1e-13);
}

TEST(Lobpcg, TakesFunctionsSparseMatricesAndPreconditioners) {
  const std::int64_t n = 2000;
  const Tensor x0 = scattered({n, 4}, 1), side = -ones({n}, DType::Float64), middle = 2 * ones({n}, DType::Float64);
  auto precondition = [&](const Tensor &v) { return linalg::solve_tridiagonal(side, middle, side, v); };
  std::vector<double> expected;
  for (std::int64_t i = 1; i <= 4; ++i)
    expected.push_back(exactValue(n, i));
  auto find = [&](const Tensor &x) {
    auto e = lobpcg(laplacian, x, {.preconditioner = precondition, .largest = false, .rtol = 1e-9});
    return std::pair(e.values, e.iterations);
  };
  auto [values, iterations] = function(find)(x0);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(valuesOf(values)[i] / expected[i], 1, 1e-9);
  EXPECT_LT(iterations.item<std::int64_t>(), 20);

  const sparse::Csr matrix = sparse::jacobian([](const Tensor &v) { return laplacian(v); },
                                              sparse::Pattern::banded(60, 1, 1))(zeros({60}, DType::Float64));
  auto [some, vectors, done] = function([](const sparse::Csr &a, const Tensor &x) {
    return partsOf(lobpcg(a, x, {.largest = false, .rtol = 1e-8}));
  })(matrix, scattered({60, 3}, 2));
  expectNear(some, {exactValue(60, 1), exactValue(60, 2), exactValue(60, 3)}, 1e-13);
}

// The square of a grid has pairs of equal values.
TEST(Lobpcg, FindsEqualValuesAndTheGradientOfTheirSum) {
  const std::int64_t m = 9;
  const Tensor line = sparse::jacobian([](const Tensor &v) { return laplacian(v); },
                                       sparse::Pattern::banded(m, 1, 1))(zeros({m}, DType::Float64))
                          .to_dense();
  auto grid = [&](const Tensor &across) {
    return reshape(einsum("ij,kl->ikjl", {line, eye(m, DType::Float64)}) +
                       einsum("ij,kl->ikjl", {eye(m, DType::Float64), across}),
                   {m * m, m * m});
  };
  auto sumOf = [&](const Tensor &a) {
    return sum(lobpcg(a, scattered({m * m, 3}, 5), {.largest = false, .rtol = 1e-11}).values);
  };
  auto exact = [&](const Tensor &a) { return sum(slice(linalg::eigvalsh(a), {0}, {3})); };
  const Tensor a = grid(line);
  expectNear(function(sumOf)(a), valuesOf(exact(a)), 1e-12);
  const Tensor found = function(grad(sumOf))(a), expected = grad(exact)(a);
  expectNear((found + transpose(found)) / 2, valuesOf((expected + transpose(expected)) / 2), 1e-9);
}

TEST(Lobpcg, HasDerivativesOfValuesAndVectorsToSecondOrder) {
  const std::int64_t n = 12, k = 2;
  const Tensor weights = scattered({n, k}, 7);
  // A loss that does not depend on the signs of vectors.
  auto lossOf = [&](const Tensor &values, const Tensor &vectors) {
    return sum(sin(values)) + sum(weights * square(vectors));
  };
  auto loss = [&](const Tensor &p) {
    const Tensor a = reshape(slice(p, {0}, {n * n}), {n, n}), c = reshape(slice(p, {n * n}, {2 * n * n}), {n, n});
    const Tensor b = massOf(n, 2) + 0.1 * (c + transpose(c));
    auto e = lobpcg((a + transpose(a)) / 2, scattered({n, k}, 3), {.b = b, .largest = false, .rtol = 1e-12});
    return lossOf(e.values, e.vectors);
  };
  auto exact = [&](const Tensor &p) {
    const Tensor a = reshape(slice(p, {0}, {n * n}), {n, n}), c = reshape(slice(p, {n * n}, {2 * n * n}), {n, n});
    const Tensor l = linalg::cholesky(massOf(n, 2) + 0.1 * (c + transpose(c)));
    const Tensor half = linalg::triangular_solve(l, (a + transpose(a)) / 2);
    const auto e = linalg::eigh(transpose(linalg::triangular_solve(l, transpose(half))));
    const Tensor x = linalg::triangular_solve(l, slice(e.vectors, {0, 0}, {n, k}), {.transpose = true});
    return lossOf(slice(e.values, {0}, {k}), x);
  };
  const Tensor p = concat({reshape(symmetric(n, 1), {-1}), zeros({n * n}, DType::Float64)});
  const Tensor direction = scattered({2 * n * n}, 9);
  auto derivatives = [&](const auto &f) {
    return [&](const Tensor &at) {
      return concat({grad(f)(at), reshape(jvp(f, at, direction).second, {1}), hvp(f)(at, direction)});
    };
  };
  const Tensor found = function(derivatives(loss))(p), expected = function(derivatives(exact))(p);
  // Gradients of the lower triangle alone, as cholesky has them, are those of symmetric arguments.
  expectNear(found, valuesOf(expected), 1e-7);
  auto eager = grad(loss)(p);
  expectNear(eager, valuesOf(slice(found, {0}, {2 * n * n})), 1e-9);
}

TEST(Lobpcg, KeepsNothingOfTheIteration) {
  auto valueOf = [](const Tensor &scale) {
    auto a = [&](const Tensor &v) { return scale * laplacian(v); };
    return lobpcg(a, scattered({200, 2}, 1), {.largest = false, .rtol = 1e-8}).values[0];
  };
  const Tensor scale = scalar<double>(3);
  auto [value, slope] = function(value_and_grad(valueOf))(scale);
  expectNear(slope, {exactValue(200, 1)}, 1e-10);
  expectNear(value, {3 * exactValue(200, 1)}, 1e-10);
  auto f = function(grad(valueOf));
  EXPECT_EQ(f.ir("differentiated", scale).find("_push"), std::string::npos);
}

TEST(Lobpcg, IsMapped) {
  const Tensor a = stack({symmetric(20, 1), symmetric(20, 2), symmetric(20, 4)});
  auto find = [](const Tensor &m) {
    auto e = lobpcg(m, scattered({20, 2}, 3), {.rtol = 1e-9});
    return std::pair(e.values, e.iterations);
  };
  auto [values, iterations] = function(vmap(find))(a);
  EXPECT_EQ(iterations.shape(), Shape({3}));
  for (std::int64_t i = 0; i < 3; ++i)
    expectNear(values[i], valuesOf(find(a[i]).first), 1e-12);
}

TEST(Lobpcg, TakesPoorStartsAndSmallMatrices) {
  const Tensor a = symmetric(10, 1);
  const std::vector<double> all = valuesOf(linalg::eigvalsh(a));
  for (std::int64_t k = 1; k <= 10; ++k) { // up to all of them
    SCOPED_TRACE(k);
    auto e = lobpcg(a, scattered({10, k}, 3), {.largest = false, .rtol = 1e-9});
    expectNear(e.values, {all.begin(), all.begin() + k}, 1e-12);
  }
  // Vectors that depend on each other, are 0, or of very different lengths.
  const Tensor x = scattered({10, 1}, 3);
  for (const Tensor &start :
       {concat({x, x, 2 * x}, 1), zeros({10, 3}, DType::Float64), concat({x, zeros({10, 2}, DType::Float64)}, 1),
        scattered({10, 3}, 4) * tensor<double>({1e-100, 1, 1e100})}) {
    auto e = lobpcg(a, start, {.largest = false, .rtol = 1e-9});
    expectNear(e.values, {all.begin(), all.begin() + 3}, 1e-12);
  }
  expectNear(lobpcg(tensor<double>({-3}, {1, 1}), ones({1, 1}, DType::Float64)).values, {-3}, 1e-15);
  // An ill-conditioned matrix: the residual's rounding ends the iteration.
  const Tensor q = linalg::qr(scattered({30, 30}, 5)).q, steep = exp(-iota({30}, DType::Float64));
  auto e = lobpcg(matmul(q * steep, transpose(q)), scattered({30, 4}, 1), {.rtol = 1e-14});
  expectNear(e.values, {1, std::exp(-1.0), std::exp(-2.0), std::exp(-3.0)}, 1e-13);
}

// Squares of such numbers overflow or vanish.
TEST(Lobpcg, FindsValuesOfMatricesFarFromOne) {
  const std::int64_t n = 12, k = 2;
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const bool isSingle = dtype == DType::Float32;
    const Tensor a = symmetric(n, 1, dtype), b = massOf(n, 2, dtype), x0 = scattered({n, k}, 3, dtype);
    const Tensor inverse = linalg::inv(matmul(a, a) + eye(n, dtype));
    auto numbers = [&](const std::vector<double> &x) { return cast(tensor<double>(x), dtype); };
    const double rtol = isSingle ? 1e-5 : 1e-11, tolerance = isSingle ? 1e-4 : 1e-9;
    // Values, vectors, and the derivatives of a loss by the factors of both matrices.
    auto find = [&](const Tensor &sizeA, const Tensor &sizeB, const Tensor &sizeX) {
      auto pairs = [&](const Tensor &factors) {
        solvers::LobpcgOptions options{.largest = false, .rtol = rtol};
        options.b = factors[1] * sizeB * b;
        options.preconditioner = inverse / sizeA;
        return lobpcg(factors[0] * (sizeA * a + sizeA * factors[2] * square(a)), x0 * sizeX, options);
      };
      // Numbers near to 1, and independent of signs.
      auto loss = [&](const Tensor &factors) {
        auto e = pairs(factors);
        return sum(sin(e.values * (sizeB / sizeA))) + sum(sin(square(sqrt(sizeB) * e.vectors)));
      };
      const Tensor factors = numbers({1, 1, 0}), direction = numbers({0.5, -1, 0.25});
      auto e = pairs(factors);
      return std::tuple(e.values * (sizeB / sizeA), square(sqrt(sizeB) * e.vectors),
                        e.residuals * (sqrt(sizeB) / sizeA), e.iterations, grad(loss)(factors),
                        jvp(loss, factors, direction).second);
    };
    auto number = [&](double x) { return cast(scalar<double>(x), dtype); };
    auto compiled = function(find);
    const auto expected = compiled(number(1), number(1), number(1));
    const double far = isSingle ? 1e25 : 1e160;
    for (const auto &[sizeA, sizeB] : {std::pair(1 / far, 1.0), std::pair(far, 1.0), std::pair(1.0, 1 / far),
                                       std::pair(far, far), std::pair(1 / far, 1 / far)}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(std::log10(sizeA)) + " " +
                   std::to_string(std::log10(sizeB)));
      for (double sizeX : {1.0, 1 / far, far}) {
        const auto found = compiled(number(sizeA), number(sizeB), number(sizeX));
        expectNear(std::get<0>(found), valuesOf(std::get<0>(expected)), tolerance);
        expectNear(std::get<1>(found), valuesOf(std::get<1>(expected)), 10 * tolerance);
        expectNear(std::get<2>(found), {0, 0}, tolerance);
        EXPECT_LE(std::get<3>(found).item<std::int64_t>(), std::get<3>(expected).item<std::int64_t>() + 2);
        expectNear(std::get<4>(found), valuesOf(std::get<4>(expected)), 100 * tolerance);
        expectNear(std::get<5>(found), valuesOf(std::get<5>(expected)), 100 * tolerance);
      }
      // What one iteration finds is not taken for a solution.
      solvers::LobpcgOptions once{.rtol = rtol, .max_iterations = 1, .require_convergence = false};
      once.b = number(sizeB) * b;
      const auto e = lobpcg(number(sizeA) * a, x0, once);
      EXPECT_FALSE(any(e.converged).item<bool>());
      EXPECT_TRUE(all(e.residuals > 0).item<bool>());
      once.atol = 10 * sizeA / std::sqrt(sizeB); // a tolerance in units of the residual
      EXPECT_TRUE(all(lobpcg(number(sizeA) * a, x0, once).converged).item<bool>());
    }
  }
  // Examples of vmap have scales of their own.
  const Tensor sizes = tensor<double>({1e-160, 1, 1e160}), a = symmetric(n, 1), x0 = scattered({n, k}, 3);
  auto values = [&](const Tensor &size) { return lobpcg(size * a, x0, {.rtol = 1e-11}).values / size; };
  const Tensor together = function(vmap(values))(sizes);
  for (std::int64_t i = 0; i < 3; ++i)
    expectNear(together[i], valuesOf(values(scalar<double>(1))), 1e-11);
}

TEST(Lobpcg, EndsWhereThereIsNoResult) {
  const Tensor nan = full({6, 6}, std::numeric_limits<double>::quiet_NaN(), DType::Float64);
  const Tensor x0 = scattered({6, 2}, 1);
  auto e = lobpcg(nan, x0, {.require_convergence = false});
  EXPECT_FALSE(any(e.converged).item<bool>());
  EXPECT_TRUE(all(isnan(e.values)).item<bool>());
  EXPECT_FALSE(any(lobpcg(symmetric(6, 1), nan, {.require_convergence = false}).converged).item<bool>());
  EXPECT_MISUSE(AssertionError, lobpcg(symmetric(6, 1) / 0.0, x0), "the norm of A x - w B x is above its tolerance");
  EXPECT_MISUSE(AssertionError, lobpcg(nan, x0), "the norm of A x - w B x is above its tolerance");
  EXPECT_MISUSE(AssertionError, lobpcg(symmetric(6, 1), x0, {.rtol = 1e-12, .max_iterations = 1}), "lobpcg");
}

TEST(Lobpcg, RefusesWhatDoesNotFit) {
  const Tensor a = symmetric(6, 1), x0 = scattered({6, 2}, 1);
  EXPECT_MISUSE(ShapeError, lobpcg(a, x0[0]), "must have k vectors as columns, [n,k]");
  EXPECT_MISUSE(ValueError, lobpcg(a, transpose(x0)), "the number of eigenpairs is 1 to n");
  EXPECT_MISUSE(ShapeError, lobpcg(a, zeros({6, 0}, DType::Float64)), "which has no elements");
  EXPECT_MISUSE(ShapeError, lobpcg(symmetric(5, 1), x0), "and for x0 of float64[6,2] must be [n,n]");
  EXPECT_MISUSE(DTypeError, lobpcg(symmetric(6, 1, DType::Float32), x0),
                "and x0 float64[6,2]; they must have one element type");
  EXPECT_MISUSE(ShapeError, lobpcg([](const Tensor &v) { return sum(v); }, x0), "and must return that type");
  EXPECT_MISUSE(StateError, lobpcg({}, x0), "the operator is an empty std::function");
  EXPECT_MISUSE(ValueError, lobpcg(a, x0, {.rtol = -1}), "rtol");
}

} // namespace calque::testing
