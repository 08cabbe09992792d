// Sparse matrices of a fixed pattern. Values are those of SciPy 1.17.1, which linear.py prints.
#include "calque/sparse.h"
#include "calque/arrays.h"
#include "calque/linalg.h"

#include "test/solvers/Testing.h"

#include <random>

namespace calque::testing {
namespace {

// linear.py's matrix: 3, 4, 5, 3, 4, 5 on the diagonal, 0.5 above and -1 below.
sparse::Csr general(DType dtype = DType::Float64) {
  const std::vector<double> values{3, 0.5, -1, 4, 0.5, -1, 5, 0.5, -1, 3, 0.5, -1, 4, 0.5, -1, 5};
  return sparse::csr(makeTensor(dtype, values, {16}), {0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5},
                     {0, 2, 5, 8, 11, 14, 16}, {6, 6});
}
Tensor ramp(DType dtype = DType::Float64) { return cast(iota({6}, DType::Int64) + 1, dtype); }

// Rows of lengths 0 to 40, in no order, of a matrix [m, n].
sparse::Csr ragged(std::int64_t m, std::int64_t n) {
  std::mt19937 random(3);
  sparse::Coo c;
  std::vector<double> values;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t k = static_cast<std::int64_t>(random() % (i % 5 == 0 ? 41 : 4)); k > 0; --k) {
      c.rows.push_back(i);
      c.columns.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(n)));
      values.push_back(static_cast<double>(random() % 100) / 50 - 1);
    }
  c.shape = {m, n};
  c.values = tensor(values);
  return sparse::csr(c);
}
Tensor waves(std::int64_t n) { return sin(cast(iota({n}, DType::Int64), DType::Float64)); }

} // namespace

TEST(Sparse, ProductsHaveTheValuesOfSciPy) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const sparse::Csr a = general(dtype);
    expectNear(eagerAndCompiled([](const sparse::Csr &m, const Tensor &x) { return m(x); }, a, ramp(dtype)),
               {4, 8.5, 15, 11.5, 19, 25}, 1e-6);
    expectNear(
        eagerAndCompiled([](const sparse::Csr &m, const Tensor &x) { return m.transposed()(x); }, a, ramp(dtype)),
        {1, 5.5, 12, 8.5, 16, 32.5}, 1e-6);
  }
  const sparse::Csr a = general();
  expectNear(a.diagonal(), {3, 4, 5, 3, 4, 5}, 0);
  EXPECT_EQ(a.pattern().indptr(), (std::vector<std::int64_t>{0, 2, 5, 8, 11, 14, 16}));
}

TEST(Sparse, ProductsAreThoseOfDenseMatrices) {
  for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>(60, 45), {1, 1}, {7, 90}, {0, 3}, {3, 0}}) {
    SCOPED_TRACE(m);
    const sparse::Csr a = n > 0 ? ragged(m, n) : sparse::csr({zeros({0}, DType::Float64), {}, {}, {m, n}});
    const Tensor dense = a.to_dense(), x = waves(n), xs = reshape(waves(3 * n), {n, 3}), y = waves(m);
    EXPECT_EQ(dense.shape(), Shape({m, n}));
    auto all = [](const sparse::Csr &s, const Tensor &x, const Tensor &xs, const Tensor &y) {
      return std::tuple(s(x), s(xs), s.transposed()(y));
    };
    auto [ax, axs, aty] = eagerAndCompiled(all, a, x, xs, y);
    expectNear(ax, valuesOf(sum(dense * x, {1})), 1e-13);
    expectNear(axs, valuesOf(matmul(dense, xs)), 1e-13);
    expectNear(aty, valuesOf(sum(transpose(dense) * y, {1})), 1e-13);
    expectNear(sparse::from_dense(dense, a.pattern()).values(), valuesOf(a.values()), 0);
    const sparse::Coo c = sparse::to_coo(a);
    expectNear(sparse::csr(c).to_dense(), valuesOf(dense), 0);
  }
}

TEST(Sparse, ProductsHaveDerivativesOfAnyOrder) {
  const sparse::Csr a = ragged(20, 15);
  const sparse::Pattern p = a.pattern();
  const Tensor x = waves(15);
  auto loss = [&](const Tensor &v, const Tensor &at) { return sum(sin(sparse::Csr(v, p)(at))); };
  auto dense = [&](const Tensor &v, const Tensor &at) { return sum(sin(sum(sparse::Csr(v, p).to_dense() * at, {1}))); };
  for (std::int64_t argument : {0, 1})
    expectNear(function(grad(loss, {.argnums = {argument}}))(a.values(), x)[0],
               valuesOf(grad(dense, {.argnums = {argument}})(a.values(), x)[0]), 1e-12);
  // Third order, in mixed modes.
  auto third = [&](auto f) {
    return [f](const Tensor &v, const Tensor &at) {
      auto second = [&](const Tensor &u) { return sum(square(hvp([&](const Tensor &w) { return f(u, w); })(at, at))); };
      return grad(second)(v);
    };
  };
  expectNear(function(third(loss))(a.values(), x), valuesOf(function(third(dense))(a.values(), x)), 1e-10);
  // Examples of vmap have values of their own.
  const Tensor many = stack({a.values(), 2 * a.values()});
  auto each = [&](const Tensor &v) { return sparse::Csr(v, p)(x); };
  expectNear(function(vmap(each))(many)[1], valuesOf(2 * a(x)), 1e-12);
}

TEST(Sparse, SumsAndMultiples) {
  const sparse::Csr a = ragged(12, 9), b = ragged(12, 9) * 2.0,
                    c = sparse::Csr(waves(9), sparse::Pattern::banded(9, 0, 0));
  expectNear((a + b).to_dense(), valuesOf(3 * a.to_dense()), 1e-14);
  const sparse::Csr square = general(), diagonal = sparse::Csr(ramp(), sparse::Pattern::banded(6, 0, 0));
  expectNear((square - diagonal * 2.0).to_dense(),
             valuesOf(square.to_dense() - 2 * linalg::inv(linalg::inv(diagonal.to_dense()))), 1e-13);
  expectNear(square.scale_rows(ramp()).to_dense(), valuesOf(square.to_dense() * expand_dims(ramp(), {1})), 0);
  expectNear((3.0 * square).scale_columns(ramp()).to_dense(), valuesOf(3 * square.to_dense() * ramp()), 0);
  EXPECT_EQ(sparse::Pattern::of(square.to_dense()).indices(), square.pattern().indices());
}

TEST(Sparse, MisuseOfOperatorsIsRefusedWithTheUsersLine) {
  const sparse::Csr a = ragged(12, 9), c = sparse::Csr(waves(9), sparse::Pattern::banded(9, 0, 0)),
                    narrow(cast(a.values(), DType::Float32), a.pattern());
  EXPECT_MISUSE(ShapeError, a + c, "Csr +: takes two matrices of one shape, and these are [12,9] and [9,9]");
  EXPECT_MISUSE(ShapeError, c - a, "Csr -: takes two matrices of one shape, and these are [9,9] and [12,9]");
  EXPECT_MISUSE(ShapeError, a + 2 * c * 3, "Csr +: takes two matrices of one shape");
  EXPECT_MISUSE(ShapeError, a * waves(2), "Csr *: a matrix is multiplied by a scalar, not float64[2]");
  EXPECT_MISUSE(ShapeError, waves(2) * a, "Csr *: a matrix is multiplied by a scalar, not float64[2]");
  const sparse::Csr other(cast(c.values(), DType::Float32), c.pattern());
  EXPECT_MISUSE(DTypeError, c + other,
                "Csr +: the values are float64[9] and float32[9]; they must have one element type");
  EXPECT_MISUSE(DTypeError, other - c, "Csr -: the values are float32[9] and float64[9]; they must have one");
  EXPECT_MISUSE(DTypeError, narrow * scalar<double>(2), "and the factor float64[]; they must have one element type");
  EXPECT_MISUSE(DTypeError, narrow.scale_rows(waves(12)), "and the factors float64[12]; they must have one element");
}

TEST(Sparse, MatricesAreLinearOperators) {
  const sparse::Csr a = general();
  const Tensor b = ramp(), dense = a.to_dense();
  const std::vector<double> expected = valuesOf(linalg::solve(dense, b));
  auto loss = [&](const sparse::Csr &m) {
    return sum(sin(solvers::gmres(m, b, {.rtol = 1e-13, .preconditioner = solvers::jacobi(m.diagonal())}).x));
  };
  expectNear(solvers::bicgstab(a, b, {.rtol = 1e-13}).x, expected, 1e-12);
  auto exact = [&](const Tensor &m) { return sum(sin(linalg::solve(m, b))); };
  auto slopes = function(
      [&](const Tensor &v) { return grad([&](const Tensor &u) { return loss(sparse::Csr(u, a.pattern())); })(v); });
  expectNear(slopes(a.values()), valuesOf(sparse::from_dense(grad(exact)(dense), a.pattern()).values()), 1e-10);
}

TEST(Sparse, DirectSolutionsHaveTheValuesOfSciPyAndDerivatives) {
  const sparse::Csr a = general();
  const Tensor b = ramp();
  try {
    sparse::solve(a, b);
  } catch (const StateError &error) {
    EXPECT_CONTAINS(std::string(error.what()), "sparse::solve: this library was built without Eigen (libeigen3-dev)");
    GTEST_SKIP() << error.what();
  }
  const std::vector<double> expected{0.251383422602314, 0.491699464386115, 0.569171130115704,
                                     1.29168762761519,  1.38821649454029,  1.47764329890806};
  auto solve = [](const sparse::Csr &m, const Tensor &v) { return sparse::solve(m, v); };
  expectNear(eagerAndCompiled(solve, a, b), expected, 1e-13);
  expectNear(sparse::solve(general(DType::Float32), ramp(DType::Float32)), expected, 1e-5);
  expectNear(
      sparse::solve(a.transposed(), b),
      {0.548871067972657, 0.646613203917971, 0.860888349658213, 1.62774835025005, 1.31368922557926, 1.06863107744207},
      1e-13);
  const Tensor columns = stack({b, 2 * b}, 1);
  expectNear(sparse::solve(a, columns), valuesOf(linalg::solve(a.to_dense(), columns)), 1e-13);
  const sparse::Csr symmetric = (a + a.transposed()) * 0.5;
  expectNear(sparse::solve(symmetric, b, {.symmetric = true}), valuesOf(linalg::solve(symmetric.to_dense(), b)), 1e-13);
  auto loss = [&](const Tensor &v) { return sum(sin(sparse::solve(sparse::Csr(v, a.pattern()), b))); };
  auto exact = [&](const Tensor &v) { return sum(sin(linalg::solve(sparse::Csr(v, a.pattern()).to_dense(), b))); };
  expectNear(function(grad(loss))(a.values()), valuesOf(grad(exact)(a.values())), 1e-12);
  expectNear(function(hessian(loss))(a.values()), valuesOf(function(hessian(exact))(a.values())), 1e-10);
  auto ofExample = [&](const Tensor &v) { return sparse::solve(sparse::Csr(v, a.pattern()), b); };
  EXPECT_EQ(function(vmap(ofExample))(zeros({0, 16}, DType::Float64)).shape(), Shape({0, 6}));
  EXPECT_FAILURE_OF(ValueError, sparse::solve(a * 0.0, b), "sparse::solve: the matrix is singular");
  EXPECT_FAILURE_OF(ValueError, function([&](const Tensor &b) { return sparse::solve(a * 0.0, b); })(b),
                    "sparse::solve: the matrix is singular");
  EXPECT_MISUSE(ValueError, sparse::solve(a, b, {.symmetric = true}),
                "sparse::solve: the matrix is not symmetric, as .symmetric says that it is");
  EXPECT_MISUSE(DTypeError, sparse::solve(a, ramp(DType::Float32)),
                "sparse::solve: the values are float64[16] and b is");
  EXPECT_MISUSE(ShapeError, sparse::solve(a, ones({5}, DType::Float64)), "sparse::solve: the matrix is [6,6] and b");
}

// Of n blocks [[p, 1], [1, q]] on the diagonal, whose factors without exchanged rows begin with p.
sparse::Csr blocksOf(const std::vector<std::array<double, 2>> &blocks, DType dtype = DType::Float64) {
  sparse::Coo c;
  std::vector<double> values;
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(blocks.size()); ++k)
    for (std::int64_t i : {0, 1})
      for (std::int64_t j : {0, 1}) {
        c.rows.push_back(2 * k + i);
        c.columns.push_back(2 * k + j);
        values.push_back(i != j ? 1 : blocks[static_cast<std::size_t>(k)][static_cast<std::size_t>(i)]);
      }
  c.shape = {2 * static_cast<std::int64_t>(blocks.size()), 2 * static_cast<std::int64_t>(blocks.size())};
  c.values = makeTensor(dtype, values, {static_cast<std::int64_t>(values.size())});
  return sparse::csr(c);
}

TEST(Sparse, SmallPivotsAreNoticed) {
  const Tensor b = tensor<double>({1, 2});
  try {
    sparse::solve(blocksOf({{2, 3}}), b);
  } catch (const StateError &error) {
    GTEST_SKIP() << error.what();
  }
  // [[p, 1], [1, p]] x = b.
  for (DType dtype : {DType::Float32, DType::Float64})
    for (double p : {1e-3, 1e-8, 1e-12, 1e-18, 1e-30, -1e-5, -1e-10}) {
      SCOPED_TRACE(p);
      const double d = p * p - 1, tolerance = dtype == DType::Float32 ? 1e-4 : 1e-12;
      const std::vector<double> expected{(p * 1 - 2) / d, (p * 2 - 1) / d};
      const sparse::Csr a = blocksOf({{p, p}}, dtype);
      const Tensor right = cast(b, dtype);
      expectNear(sparse::solve(a, right), expected, tolerance);
      try {
        expectNear(sparse::solve(a, right, {.symmetric = true}), expected, tolerance);
      } catch (const ValueError &error) {
        EXPECT_CONTAINS(error.what(),
                        "sparse::solve: a pivot of the factors L D L^T is too small for a solution; leave out");
        EXPECT_LT(std::fabs(p), dtype == DType::Float32 ? 1e-4 : 1e-10);
      }
    }
  // A right-hand side over its rows, of numbers that no factor brings into the range together.
  const Tensor elements = diag(tensor<double>({1e-300, 1}));
  const sparse::Csr diagonal = sparse::from_dense(elements, sparse::Pattern::of(elements));
  expectNear(1 / sparse::solve(diagonal, tensor<double>({1e300, 1})), {0, 1}, 1e-14);
  EXPECT_FAILURE_OF(ValueError, sparse::solve(diagonal, tensor<double>({1e300, 1e-300})),
                    "sparse::solve: numbers of the right-hand side, over the largest ones in their rows of the matrix, "
                    "are too far apart for the element type");
  // The equations of a minimum with constraints, [[d, B], [B^T, 0]]: what is found is right, and else it is refused.
  std::mt19937 random(7);
  for (double d : {1.0, 1e-4, 1e-9, 1e-14, 0.0}) {
    SCOPED_TRACE(d);
    std::vector<double> all(900);
    for (std::size_t i = 0; i < 30; ++i)
      for (std::size_t j = 0; j < 30; ++j)
        if (i < 20 && (j == i || (j >= 20 && (i + j) % 3 == 0)))
          all[30 * i + j] = all[30 * j + i] = i == j ? d : static_cast<double>(random() % 1000) / 500 - 1;
    const Tensor dense = tensor<double>(all, {30, 30}) + 1e-3 * eye(30, DType::Float64), right = waves(30);
    const sparse::Csr a = sparse::from_dense(dense, sparse::Pattern::of(dense));
    const std::vector<double> expected = valuesOf(linalg::solve(dense, right));
    double largest = 0;
    for (double each : expected)
      largest = std::max(largest, std::fabs(each));
    expectNear(sparse::solve(a, right), expected, 1e-9 * largest);
    try {
      expectNear(sparse::solve(a, right, {.symmetric = true}), expected, 1e-9 * largest);
    } catch (const ValueError &error) {
      EXPECT_CONTAINS(error.what(), "sparse::solve: ");
    }
  }
  // What is not finite, and the ends of the range.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (bool symmetric : {false, true}) {
    const Tensor none =
        sparse::solve(blocksOf({{2, 3}, {nan, 4}}), ones({4}, DType::Float64), {.symmetric = symmetric});
    EXPECT_TRUE(all(isnan(none)).item<bool>());
    for (double scale : {0x1p-1070, 1e-300, 1e300, 0x1p1021}) { // the first one makes subnormal numbers
      const sparse::Csr a = blocksOf({{2, 3}}) * scale;
      expectNear(sparse::solve(a, a(tensor<double>({1, 2})), {.symmetric = symmetric}), {1, 2}, 1e-12);
    }
    const Tensor tiny = sparse::solve(blocksOf({{2, 3}}), tensor<double>({4e-320, 7e-320}), {.symmetric = symmetric});
    expectNear(tiny * 1e300, {1e-20, 2e-20}, 1e-22);
    // Unknowns and equations in units far from each other: D a D y = D b, of which a D y = b.
    const double far = 0x1p500;
    const sparse::Csr units(tensor<double>({2 * far * far, 1, 1, 3 / far / far}), blocksOf({{2, 3}}).pattern());
    expectNear(sparse::solve(units, tensor<double>({4 * far, 7 / far}), {.symmetric = symmetric}) *
                   tensor<double>({far, 1 / far}),
               {1, 2}, 1e-12);
  }
  const sparse::Csr small = blocksOf({{2, 3}}, DType::Float32) * 0x1p-147;
  expectNear(sparse::solve(small, small(tensor<float>({1, 2}))), {1, 2}, 1e-6);
}

TEST(SparseDerivatives, HaveTheValuesOfDenseOnes) {
  const std::int64_t n = 30;
  auto f = [](const Tensor &x) { // tridiagonal
    const std::int64_t size = x.size();
    Tensor before = pad(slice(x, {0}, {size - 1}), {1}, {0}), after = pad(slice(x, {1}, {size}), {0}, {1});
    return (3 - 2 * x) * x - before * x - 2 * sin(after) + 1;
  };
  const sparse::Pattern tridiagonal = sparse::Pattern::banded(n, 1, 1);
  EXPECT_EQ(sparse::count_colours(tridiagonal), 3);
  const Tensor x = waves(n);
  auto made = [&](const Tensor &at) { return sparse::jacobian(f, tridiagonal)(at).to_dense(); };
  expectNear(eagerAndCompiled(made, x), valuesOf(jacobian(f)(x)), 1e-13);
  auto energy = [&](const Tensor &at) { return sum(square(f(at))); };
  auto curved = [&](const Tensor &at) {
    return sparse::hessian(energy, sparse::Pattern::banded(n, 2, 2))(at).to_dense();
  };
  expectNear(function(curved)(x), valuesOf(function(hessian(energy))(x)), 1e-11);
  // A dense row makes every two columns meet, and takes the rows' colours: one, and reverse mode.
  auto total = [](const Tensor &at) { return reshape(sum(square(at)), {1}); };
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n)), columns;
  for (std::int64_t i = 0; i < n; ++i)
    columns.push_back(i);
  const sparse::Pattern row(1, n, rows, columns);
  EXPECT_EQ(sparse::count_colours(row), n);
  expectNear(function([&](const Tensor &at) { return sparse::jacobian(total, row)(at).values(); })(x), valuesOf(2 * x),
             1e-14);
  // Newton's method with a sparse Jacobian differentiates.
  auto norm = [&](const Tensor &at) { return sum(square(sparse::jacobian(f, tridiagonal)(at).values())); };
  auto dense = [&](const Tensor &at) { return sum(square(jacobian(f)(at))); };
  expectNear(function(grad(norm))(x), valuesOf(function(grad(dense))(x)), 1e-11);
}

TEST(SparseDerivatives, RefuseAPatternThatLacksAPlace) {
  auto f = [](const Tensor &x) { return x * reverse(x); };
  const Tensor x = waves(6) + 2;
  const sparse::Pattern diagonal = sparse::Pattern::banded(6, 0, 0);
  EXPECT_CONTAINS(errorOf<AssertionError>([&] { sparse::jacobian(f, diagonal)(x); }),
                  "sparse::jacobian: the pattern lacks a place of an element that is not 0");
  EXPECT_CONTAINS(
      errorOf<AssertionError>([&] { sparse::hessian([&](const Tensor &at) { return sum(f(at)); }, diagonal)(x); }),
      "sparse::hessian: the pattern lacks a place of an element that is not 0");
  EXPECT_NO_THROW(sparse::jacobian(f, diagonal, {.check = false})(x));
  EXPECT_MISUSE(ValueError, sparse::hessian([](const Tensor &at) { return sum(at); }, sparse::Pattern::banded(6, 1, 0)),
                "sparse::hessian: the pattern of a Hessian is symmetric, and this one is not");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { sparse::jacobian(f, diagonal)(waves(5)); }),
                  "sparse::jacobian: x is float64[5], and the pattern that of a matrix [6,6]");
  EXPECT_CONTAINS(errorOf<ShapeError>([&] { sparse::jacobian([](const Tensor &at) { return sum(at); }, diagonal)(x); }),
                  "sparse::jacobian: the function returns float64[] for float64[6]");
}

TEST(Sparse, MisuseIsRefusedWithTheUsersLine) {
  using namespace sparse;
  const Tensor two = tensor<double>({1, 2});
  EXPECT_MISUSE(IndexError, Pattern(2, 2, {0, 2}, {0, 0}), "Pattern: place 1 is [2,0], outside of a matrix [2,2]");
  EXPECT_MISUSE(ValueError, Pattern(2, 2, {0, 1}, {0}), "Pattern: there are 2 rows of places and 1 columns");
  EXPECT_MISUSE(ValueError, Pattern(-1, 2, {}, {}), "Pattern: a matrix of -1 rows and 2 columns");
  EXPECT_MISUSE(ValueError, Pattern(std::int64_t(1) << 31, 2, {}, {}), "all three must be below 2^31 - 1");
  EXPECT_MISUSE(ValueError, Pattern::banded(2, -1, 0), "Pattern::banded: -1 diagonals below and 0 above");
  EXPECT_MISUSE(ShapeError, Pattern::of(two), "Pattern::of: takes a matrix, not float64[2]");
  const Pattern p = Pattern::banded(3, 0, 0);
  EXPECT_MISUSE(ShapeError, Csr(two, p), "Csr: the values are float64[2], and the pattern has 3 places");
  EXPECT_MISUSE(DTypeError, Csr(iota({3}, DType::Int64), p), "Csr: the tensor of values is float32 or float64, not");
  const Csr a(ones({3}, DType::Float64), p);
  EXPECT_MISUSE(ShapeError, a(two), "Csr: a matrix [3,3] times x, which must be [n] or [n,k], and is float64[2]");
  EXPECT_MISUSE(DTypeError, a(ones({3})), "Csr: the values are float64[3] and x is float32[3]");
  EXPECT_MISUSE(ShapeError, a.scale_rows(two), "scale_rows: the factors are float64[2], and must be a vector of 3");
  EXPECT_MISUSE(ShapeError, csr({two, {0}, {0}, {1, 1}}), "csr: the values are float64[2], and there are 1 places");
  EXPECT_MISUSE(ValueError, csr(two, {0, 1}, {0, 1}, {2, 2}),
                "csr: indptr has a number for each of 2 rows and one more");
  EXPECT_MISUSE(ShapeError, from_dense(ones({2, 3}), p),
                "from_dense: the matrix is float32[2,3], and the pattern that of");
}

} // namespace calque::testing
