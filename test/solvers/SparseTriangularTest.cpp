// Triangular sparse matrices, and preconditioners made of them. Values are those of SciPy 1.17.1, which linear.py
// prints, and those of dense matrices.
#include "calque/arrays.h"
#include "calque/linalg.h"
#include "calque/sparse.h"

#include "test/solvers/Testing.h"

namespace calque::testing {
namespace {

// linear.py's matrix, as in SparseTest.cpp.
sparse::Csr general(DType dtype = DType::Float64) {
  const std::vector<double> values{3, 0.5, -1, 4, 0.5, -1, 5, 0.5, -1, 3, 0.5, -1, 4, 0.5, -1, 5};
  return sparse::csr(makeTensor(dtype, values, {16}), {0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5},
                     {0, 2, 5, 8, 11, 14, 16}, {6, 6});
}
// A full pattern of n^2 / 3 places and the diagonal, which is large.
sparse::Csr scattered(std::int64_t n) {
  sparse::Coo c;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if (i == j || (i * 7 + j * 5) % 3 == 0) {
        c.rows.push_back(i);
        c.columns.push_back(j);
        values.push_back(i == j ? 3 + 0.1 * static_cast<double>(i) : std::sin(static_cast<double>(i * n + j)));
      }
  c.shape = {n, n};
  c.values = tensor(values);
  return sparse::csr(c);
}
// The negative second differences on a grid [m, m].
sparse::Csr grid(std::int64_t m) {
  sparse::Coo c;
  std::vector<double> values;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < m; ++j)
      for (auto [di, dj] : {std::pair(0, 0), {-1, 0}, {1, 0}, {0, -1}, {0, 1}})
        if (i + di >= 0 && i + di < m && j + dj >= 0 && j + dj < m) {
          c.rows.push_back(i * m + j);
          c.columns.push_back((i + di) * m + j + dj);
          values.push_back(di == 0 && dj == 0 ? 4 : -1);
        }
  c.shape = {m * m, m * m};
  c.values = tensor(values);
  return sparse::csr(c);
}
Tensor ramp(DType dtype = DType::Float64) { return cast(iota({6}, DType::Int64) + 1, dtype); }
Tensor waves(const Shape &shape) {
  std::int64_t count = 1;
  for (const Size &size : shape)
    count *= std::int64_t(size);
  return reshape(sin(iota({count}, DType::Float64) + 1), shape);
}

} // namespace

TEST(SparseTriangular, SolutionsHaveTheValuesOfSciPy) {
  const std::vector<double> expected{0.333333333333333, 0.583333333333333, 0.716666666666667,
                                     1.57222222222222,  1.64305555555556,  1.52861111111111};
  auto solve = [](const sparse::Csr &a, const Tensor &b) { return sparse::triangular_solve(a, b); };
  expectNear(eagerAndCompiled(solve, general(), ramp()), expected, 1e-13);
  expectNear(eagerAndCompiled(solve, general(DType::Float32), ramp(DType::Float32)), expected, 1e-6);
}

TEST(SparseTriangular, SolutionsAreThoseOfDenseMatrices) {
  const std::int64_t n = 17;
  const sparse::Csr a = scattered(n);
  for (bool lower : {true, false})
    for (bool transpose : {true, false})
      for (bool unit : {true, false}) {
        SCOPED_TRACE(std::to_string(lower) + std::to_string(transpose) + std::to_string(unit));
        const sparse::TriangularSolveOptions options{.lower = lower, .transpose = transpose, .unit_diagonal = unit};
        // Of the same values: derivatives are by those of the pattern.
        auto sparseLoss = [&](const Tensor &v, const Tensor &b) {
          return sum(sin(sparse::triangular_solve(sparse::Csr(0.3 * v, a.pattern()), b, options)));
        };
        auto denseLoss = [&](const Tensor &v, const Tensor &b) {
          return sum(sin(linalg::triangular_solve(sparse::Csr(0.3 * v, a.pattern()).to_dense(), b,
                                                  {.lower = lower, .transpose = transpose, .unit_diagonal = unit})));
        };
        for (const Tensor &b : {waves({n}), waves({n, 3})}) {
          expectNear(sparse::triangular_solve(a, b, options),
                     valuesOf(linalg::triangular_solve(
                         a.to_dense(), b, {.lower = lower, .transpose = transpose, .unit_diagonal = unit})),
                     1e-11);
          auto all = [&](const auto &f) {
            return [&](const Tensor &v, const Tensor &right) {
              auto byV = [&](const Tensor &u) { return f(u, right); };
              auto byB = [&](const Tensor &u) { return f(v, u); };
              return std::tuple(grad(byV)(v), grad(byB)(right), jvp(byV, v, v).second, hvp(byV)(v, v));
            };
          };
          const auto found = function(all(sparseLoss))(a.values(), b), exact = function(all(denseLoss))(a.values(), b);
          expectNear(std::get<0>(found), valuesOf(std::get<0>(exact)), 1e-9);
          expectNear(std::get<1>(found), valuesOf(std::get<1>(exact)), 1e-9);
          expectNear(std::get<2>(found), valuesOf(std::get<2>(exact)), 1e-9);
          expectNear(std::get<3>(found), valuesOf(std::get<3>(exact)), 1e-8);
        }
      }
}

TEST(SparseTriangular, SolutionsAreMapped) {
  const sparse::Csr a = general();
  const Tensor rights = waves({4, 6}), many = stack({a.values(), 2 * a.values()});
  const Tensor found = function(vmap([&](const Tensor &b) { return sparse::triangular_solve(a, b); }))(rights);
  for (std::int64_t i = 0; i < 4; ++i)
    expectNear(found[i], valuesOf(sparse::triangular_solve(a, rights[i])), 1e-14);
  const Tensor other = function(
      vmap([&](const Tensor &v) { return sparse::triangular_solve(sparse::Csr(v, a.pattern()), ramp()); }))(many);
  expectNear(other[1], valuesOf(0.5 * sparse::triangular_solve(a, ramp())), 1e-14);
  expectNear(sparse::triangular_solve(a, zeros({6, 0}, DType::Float64)), {}, 0);
}

TEST(SparseTriangular, SolutionsOfNoExamples) {
  const sparse::Csr a = general();
  const Tensor none = zeros({0, 16}, DType::Float64), rights = zeros({0, 6}, DType::Float64),
               columns = zeros({0, 6, 3}, DType::Float64);
  auto both = [&](const Tensor &v, const Tensor &b) {
    return sparse::triangular_solve(sparse::Csr(v, a.pattern()), b);
  };
  auto factored = [&](const Tensor &v) { return sparse::incomplete_lu(sparse::Csr(v, a.pattern()))(ramp()); };
  auto rooted = [&](const Tensor &v) { return sparse::incomplete_cholesky(sparse::Csr(v, a.pattern()))(ramp()); };
  EXPECT_EQ(function(vmap([&](const Tensor &b) { return both(a.values(), b); }))(rights).shape(), Shape({0, 6}));
  EXPECT_EQ(function(vmap([&](const Tensor &b) { return both(a.values(), b); }))(columns).shape(), Shape({0, 6, 3}));
  EXPECT_EQ(function(vmap(both))(none, rights).shape(), Shape({0, 6}));
  EXPECT_EQ(function(vmap(both))(none, columns).shape(), Shape({0, 6, 3}));
  EXPECT_EQ(function(vmap([&](const Tensor &v) { return both(v, ramp()); }))(none).shape(), Shape({0, 6}));
  EXPECT_EQ(function(vmap(factored))(none).shape(), Shape({0, 6}));
  EXPECT_EQ(function(vmap(rooted))(none).shape(), Shape({0, 6}));
  EXPECT_EQ(vmap(both)(none, rights).shape(), Shape({0, 6}));
  auto slope = [&](const Tensor &v) {
    return grad([&](const Tensor &u) { return sum(factored(u) + both(u, ramp())); })(v);
  };
  EXPECT_EQ(function(vmap(slope))(none).shape(), Shape({0, 16}));
}

TEST(IncompleteFactors, AreExactWithoutFill) {
  const sparse::Csr a = general(), symmetric = (a + a.transposed()) * 0.5;
  const Tensor b = ramp();
  expectNear(sparse::incomplete_lu(a)(b), valuesOf(linalg::solve(a.to_dense(), b)), 1e-14);
  expectNear(sparse::incomplete_cholesky(symmetric)(b), valuesOf(linalg::solve(symmetric.to_dense(), b)), 1e-14);
  expectNear(sparse::incomplete_cholesky((general(DType::Float32) + general(DType::Float32).transposed()) *
                                         0.5)(ramp(DType::Float32)),
             valuesOf(linalg::solve(symmetric.to_dense(), b)), 1e-5);
}

TEST(IncompleteFactors, SaveIterations) {
  const sparse::Csr a = grid(40);
  const Tensor b = ones({1600}, DType::Float64);
  auto solve = [](const sparse::Csr &m, const Tensor &right) {
    const auto plain = solvers::cg(m, right, {.rtol = 1e-8});
    const auto by = solvers::cg(m, right, {.rtol = 1e-8, .preconditioner = sparse::incomplete_cholesky(m)});
    const auto general = solvers::gmres(m, right, {.rtol = 1e-8, .preconditioner = sparse::incomplete_lu(m)});
    return std::tuple(plain.x, by.x, general.x, plain.iterations, by.iterations, general.iterations);
  };
  auto [x, y, z, plain, by, general] = function(solve)(a, b);
  expectNear(y, valuesOf(x), 1e-5);
  expectNear(z, valuesOf(x), 1e-5);
  EXPECT_LT(3 * by.item<std::int64_t>(), 2 * plain.item<std::int64_t>());
  EXPECT_LT(general.item<std::int64_t>(), plain.item<std::int64_t>());
  // The derivatives of the solution are those with any other preconditioner.
  auto slopes = [&](bool isPreconditioned) {
    return function(grad([&a, &b, isPreconditioned](const Tensor &v) {
      const sparse::Csr m(v, a.pattern());
      solvers::GmresOptions<> options{.rtol = 1e-11};
      if (isPreconditioned)
        options.preconditioner = sparse::incomplete_lu(m);
      return sum(square(solvers::gmres(m, b, options).x));
    }))(a.values());
  };
  const Tensor with = slopes(true), without = slopes(false);
  expectNear(max(abs(with - without), AxisList()) / max(abs(without), AxisList()), {0}, 1e-7);
}

// Kershaw's matrix is positive definite, and its incomplete factor would have a negative pivot: The incomplete
// Cholesky-conjugate gradient method, 1978.
TEST(IncompleteFactors, EnlargeTheDiagonalWhereThereAreNone) {
  const Tensor kershaw = tensor<double>({3, -2, 0, 2, -2, 3, -2, 0, 0, -2, 3, -2, 2, 0, -2, 3}, {4, 4});
  const sparse::Csr a = sparse::from_dense(kershaw, sparse::Pattern::of(kershaw));
  const Tensor b = tensor<double>({1, 2, 3, 4});
  const auto r = solvers::cg(a, b, {.rtol = 1e-12, .preconditioner = sparse::incomplete_cholesky(a)});
  expectNear(r.x, valuesOf(linalg::solve(kershaw, b)), 1e-10);
}

TEST(SparseTriangular, MisuseIsRefusedWithTheUsersLine) {
  const sparse::Csr a = general();
  EXPECT_MISUSE(ShapeError, sparse::triangular_solve(a, waves({5})),
                "sparse::triangular_solve: the matrix is [6,6] and b float64[5]; b must be [n] or [n,k]");
  EXPECT_MISUSE(DTypeError, sparse::triangular_solve(a, ramp(DType::Float32)),
                "sparse::triangular_solve: the values are float64[16] and b is float32[6]");
  const sparse::Csr wide = sparse::csr({ones({1}, DType::Float64), {0}, {0}, {1, 2}});
  EXPECT_MISUSE(ShapeError, sparse::triangular_solve(wide, ones({1}, DType::Float64)),
                "sparse::triangular_solve: the matrix is [1,2], and must be square");
  const sparse::Csr hollow = sparse::csr({ones({1}, DType::Float64), {1}, {0}, {2, 2}});
  const Tensor two = ones({2}, DType::Float64);
  EXPECT_MISUSE(ValueError, sparse::triangular_solve(hollow, two),
                "sparse::triangular_solve: the pattern has no place on the diagonal in row 0");
  expectNear(sparse::triangular_solve(hollow, two, {.unit_diagonal = true}), {1, 0}, 0);
  EXPECT_MISUSE(ValueError, sparse::incomplete_cholesky(a * -1.0),
                "incomplete_cholesky: the diagonal has a number that is not positive");
  EXPECT_FAILURE_OF(ValueError, sparse::incomplete_lu(a * 0.0), "incomplete_lu: a pivot is 0, or is not finite");
  // A zero divides as arithmetic does.
  EXPECT_FALSE(any(isfinite(sparse::triangular_solve(a * 0.0, ramp()))).item<bool>());
}

} // namespace calque::testing
