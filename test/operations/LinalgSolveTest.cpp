// Linear algebra by LU factors: solutions, inverses, determinants, powers and exponentials. Residuals are computed in
// long double, and have the bound of LAPACK's own tests.
#include "calque/arrays.h"
#include "test/operations/Linalg.h"

#include <functional>

using namespace calque;
using namespace calque::testing;

namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

// The determinant by cofactors, and the transposed matrix of these.
Real determinantOf(const Matrix &a) {
  if (a.rows == 0)
    return 1;
  Real sum = 0;
  for (std::int64_t j = 0; j < a.rows; ++j) {
    Matrix minor(a.rows - 1, a.rows - 1);
    for (std::int64_t i = 1; i < a.rows; ++i)
      for (std::int64_t c = 0; c + 1 < a.rows; ++c)
        minor.at(i - 1, c) = a.at(i, c < j ? c : c + 1);
    sum += (j % 2 ? -1 : 1) * a.at(0, j) * determinantOf(minor);
  }
  return sum;
}

// A matrix whose last row is the sum of the others.
Tensor singularOf(std::mt19937 &random, DType dtype, std::int64_t n) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < n * n; ++i)
    values.push_back(static_cast<double>(static_cast<int>(random() % 9)) - 4);
  for (std::int64_t j = 0; j < n; ++j) {
    values[static_cast<std::size_t>((n - 1) * n + j)] = 0;
    for (std::int64_t i = 0; i + 1 < n; ++i)
      values[static_cast<std::size_t>((n - 1) * n + j)] += values[static_cast<std::size_t>(i * n + j)];
  }
  return makeTensor(dtype, values, {n, n});
}

} // namespace

TEST(LinalgSolve, FactorsHaveSmallResiduals) {
  std::mt19937 random(1);
  forBatches(kMatrixSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = randomMatrices(random, dtype, with(batch, {n, n}));
    std::vector<Tensor> parts = everyWay(
        [](const std::vector<Tensor> &x) {
          auto [p, l, u] = linalg::lu(x[0]);
          auto [factors, order] = linalg::lu_factor(x[0]);
          return std::vector<Tensor>{p, l, u, factors, order};
        },
        {a});
    for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
      const Matrix given(a, k), p(parts[0], k), l(parts[1], k), u(parts[2], k), factors(parts[3], k);
      expectSmall(given - p * (l * u), given.norm(), n, dtype, "A - P L U");
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          EXPECT_LE(std::fabs(l.at(i, j)), 1);
          EXPECT_EQ(l.at(i, j), i == j ? 1 : i > j ? factors.at(i, j) : 0);
          EXPECT_EQ(u.at(i, j), i <= j ? factors.at(i, j) : 0);
        }
    }
  });
}

TEST(LinalgSolve, SolutionsAndInversesHaveSmallResiduals) {
  std::mt19937 random(2);
  forBatches(kMatrixSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = randomMatrices(random, dtype, with(batch, {n, n})) + 2 * eye(n, dtype),
           b = randomMatrices(random, dtype, with(batch, {n, 3}));
    std::vector<Tensor> x = everyWay(
        [](const std::vector<Tensor> &in) {
          auto factors = linalg::lu_factor(in[0]);
          return std::vector<Tensor>{linalg::solve(in[0], in[1]), linalg::inv(in[0]), linalg::lu_solve(factors, in[1]),
                                     linalg::lu_solve(factors, in[1], {.transpose = true})};
        },
        {a, b});
    for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
      const Matrix given(a, k), right(b, k), solved(x[0], k), inverse(x[1], k), again(x[2], k), turned(x[3], k);
      expectSmall(right - given * solved, given.norm() * solved.norm(), n, dtype, "B - A X");
      expectSmall(right - given * again, given.norm() * again.norm(), n, dtype, "B - A X of factors");
      expectSmall(right - given.transposed() * turned, given.transposed().norm() * turned.norm(), n, dtype,
                  "B - A^T X");
      expectSmall(Matrix::identity(n) - given * inverse, given.norm() * inverse.norm(), n, dtype, "1 - A A^-1");
    }
  });
}

TEST(LinalgSolve, RightHandSidesBroadcast) {
  std::mt19937 random(3);
  Tensor a = randomTensor(random, {5, 4, 4}) + 4 * eye(4, DType::Float64), b = randomTensor(random, {2, 5, 4, 3}),
         one = randomTensor(random, {4, 4}) + 4 * eye(4, DType::Float64), v = randomTensor(random, {4});
  Tensor x = linalg::solve(a, b), y = linalg::solve(one, b), z = linalg::solve(a, v);
  EXPECT_EQ(x.shape(), b.shape());
  EXPECT_EQ(y.shape(), b.shape());
  EXPECT_EQ(z.shape(), (Shape{5, 4}));
  for (std::int64_t k = 0; k < 5; ++k) {
    Tensor right = exampleAt(exampleAt(b, 1), k);
    expectSameBits(exampleAt(exampleAt(x, 1), k), linalg::solve(exampleAt(a, k), right));
    expectSameBits(exampleAt(exampleAt(y, 1), k), linalg::solve(one, right));
    expectSameBits(exampleAt(z, k), linalg::solve(exampleAt(a, k), v));
  }
  EXPECT_EQ(linalg::solve(one, v).shape(), (Shape{4}));
}

TEST(LinalgSolve, SingularMatricesAreRefused) {
  for (DType dtype : kFloats)
    for (std::int64_t n : {1, 2, 3, 16, 20, 40}) {
      std::mt19937 random(4);
      Tensor zero =
          n == 1 ? zeros({1, 1}, dtype)
                 : eye(n, dtype) - where(iota({n, n}, DType::Int64, 0) * n + iota({n, n}, DType::Int64, 1) == n * n - 1,
                                         eye(n, dtype), 0);
      std::vector<Tensor> all(9, eye(n, dtype) * 3);
      all[5] = all[7] = zero;
      Tensor batch = stack(all), b = ones({9, n, 1}, dtype);
      const std::string text = "matrix 5 of the batch, counted from 0, is singular: its pivot " + std::to_string(n) +
                               " of " + std::to_string(n) + " is 0";
      auto solve = function([](const Tensor &x, const Tensor &y) { return linalg::solve(x, y); });
      EXPECT_MESSAGE(LinAlgError, "solve: " + text, linalg::solve(batch, b));
      EXPECT_MESSAGE(LinAlgError, "solve: " + text, solve(batch, b));
      EXPECT_MESSAGE(LinAlgError, "inv: " + text, linalg::inv(batch));
      EXPECT_EQ(valuesOf(linalg::det(batch))[5], 0);
      EXPECT_EQ(valuesOf(linalg::slogdet(batch).sign)[5], 0);
      EXPECT_EQ(valuesOf(linalg::slogdet(batch).logarithm)[5], -kInfinity);
      EXPECT_NEAR(valuesOf(linalg::slogdet(batch).logarithm)[4], static_cast<double>(n) * std::log(3.0), 1e-4);
      // What is not finite neither hangs nor fails.
      for (double value : {kNan, kInfinity, -kInfinity}) {
        Tensor bad = where(iota({n, n}, DType::Int64, 0) == 0, value, eye(n, dtype));
        (void)linalg::solve(bad, ones({n}, dtype));
        EXPECT_TRUE(std::isnan(valuesOf(linalg::det(bad))[0]) || n == 1);
        EXPECT_TRUE(std::isnan(valuesOf(linalg::expm(bad))[0]));
      }
    }
}

TEST(LinalgSolve, Determinants) {
  std::mt19937 random(5);
  for (DType dtype : kFloats)
    for (std::int64_t n : {0, 1, 2, 3, 5, 7}) {
      Tensor a = randomMatrices(random, dtype, {17, n, n});
      std::vector<Tensor> found = everyWay(
          [](const std::vector<Tensor> &x) {
            auto [sign, logarithm] = linalg::slogdet(x[0]);
            return std::vector<Tensor>{linalg::det(x[0]), sign, logarithm};
          },
          {a});
      for (std::int64_t k = 0; k < 17; ++k) {
        const auto i = static_cast<std::size_t>(k);
        const Real expected = determinantOf(Matrix(a, k)), tolerance = 200 * epsilonOf(dtype);
        EXPECT_NEAR(valuesOf<Real>(found[0])[i], expected, tolerance);
        EXPECT_EQ(valuesOf(found[1])[i], expected < 0 ? -1 : 1);
        EXPECT_NEAR(valuesOf<Real>(found[2])[i], std::log(std::fabs(expected)),
                    tolerance * (1 + 1 / std::fabs(expected)));
      }
    }
  // Partial products out of the range.
  Tensor wide = tensor<double>({1e200, 0, 0, 0, 0, 1e200, 0, 0, 0, 0, 1e-200, 0, 0, 0, 0, 1e-200}, {4, 4});
  EXPECT_NEAR(linalg::det(wide).item<double>(), 1, 1e-14);
  EXPECT_EQ(linalg::det(eye(50) * 1e10f).item<float>(), std::numeric_limits<float>::infinity());
  EXPECT_NEAR(linalg::slogdet(eye(50) * 1e10f).logarithm.item<float>(), 50 * std::log(1e10), 1e-2);
  // A permutation of large size.
  Tensor turned = reverse(eye(50, DType::Float64), {0});
  EXPECT_EQ(linalg::det(turned).item<double>(), -1);
}

TEST(LinalgSolve, TheGradientOfADeterminantHasTheCofactorsOfSingularMatrices) {
  auto gradient = grad([](const Tensor &x) { return linalg::det(x); });
  for (std::int64_t n : {1, 2, 3, 5}) {
    std::mt19937 random(6);
    Tensor a = singularOf(random, DType::Float64, n);
    const Matrix found(gradient(a)), given(a);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        Matrix minor(n - 1, n - 1);
        for (std::int64_t r = 0; r + 1 < n; ++r)
          for (std::int64_t c = 0; c + 1 < n; ++c)
            minor.at(r, c) = given.at(r < i ? r : r + 1, c < j ? c : c + 1);
        const Real expected = ((i + j) % 2 ? -1 : 1) * determinantOf(minor);
        EXPECT_NEAR(found.at(i, j), expected, 1e-12 * (1 + std::fabs(expected)));
      }
  }
  // Of two dependent rows, all cofactors are 0.
  EXPECT_EQ(valuesOf(gradient(zeros({3, 3}, DType::Float64))), std::vector<double>(9));
  // Second derivatives divide by the determinant.
  auto second = grad([&](const Tensor &x) { return sum(gradient(x) * tensor<double>({1, 2, 3, 4}, {2, 2})); });
  for (double value : valuesOf(second(tensor<double>({1, 2, 2, 4}, {2, 2}))))
    EXPECT_FALSE(std::isfinite(value));
}

TEST(LinalgSolve, Derivatives) {
  std::mt19937 random(7);
  for (std::int64_t n : {1, 3}) {
    SCOPED_TRACE(n);
    Tensor a = randomTensor(random, {n, n}, -0.3, 0.3) + eye(n, DType::Float64), b = randomTensor(random, {n, 2});
    auto near = [n](const Tensor &x) { return x + 3 * eye(n, DType::Float64); };
    expectMatrixDerivatives([&](const std::vector<Tensor> &in) { return linalg::solve(near(in[0]), in[1]); }, {a, b});
    expectMatrixDerivatives([&](const std::vector<Tensor> &in) { return linalg::inv(near(in[0])); }, {a});
    expectMatrixDerivatives([&](const std::vector<Tensor> &in) { return linalg::det(near(in[0])); }, {a});
    expectMatrixDerivatives([&](const std::vector<Tensor> &in) { return linalg::slogdet(near(in[0])).logarithm; }, {a});
    expectMatrixDerivatives([&](const std::vector<Tensor> &in) { return linalg::lu_factor(near(in[0])).factors; }, {a});
    expectDerivatives(
        [&](const std::vector<Tensor> &in) {
          return linalg::lu_solve(linalg::lu_factor(in[0]), in[1], {.transpose = true});
        },
        {a, b}, 2);
    expectMatrixDerivatives([](const std::vector<Tensor> &in) { return linalg::expm(in[0]); }, {a});
    expectDerivatives([](const std::vector<Tensor> &in) { return linalg::matrix_power(in[0], 5); }, {a}, 2);
    expectDerivatives([](const std::vector<Tensor> &in) { return linalg::matrix_power(in[0], -2); }, {a}, 2);
  }
  // With exchanged rows.
  Tensor a = tensor<double>({0.1, 2, 0.3, 3, 0.2, 1, 1, 1, 4}, {3, 3});
  expectDerivatives([](const std::vector<Tensor> &in) { return linalg::lu_factor(in[0]).factors; }, {a}, 2);
  expectDerivatives([](const std::vector<Tensor> &in) { return linalg::lu(in[0]).l; }, {a}, 1);
  expectDerivatives([](const std::vector<Tensor> &in) { return linalg::det(in[0]); }, {a}, 2);
}

TEST(LinalgSolve, Exponentials) {
  // exp([[0, t], [-t, 0]]) is the rotation by t.
  for (double t : {1e-9, 0.01, 0.2, 0.9, 2.0, 5.0, 40.0}) {
    Tensor a = tensor<double>({0, t, -t, 0}, {2, 2});
    std::vector<double> found = valuesOf(linalg::expm(a));
    EXPECT_NEAR(found[0], std::cos(t), 1e-13);
    EXPECT_NEAR(found[1], std::sin(t), 1e-13);
    EXPECT_NEAR(found[2], -std::sin(t), 1e-13);
    EXPECT_NEAR(valuesOf(linalg::expm(cast(a, DType::Float32)))[0], std::cos(static_cast<float>(t)), 2e-7);
  }
  // exp(A) exp(-A) is 1, for all degrees and sizes.
  std::mt19937 random(8);
  forBatches({0, 1, 2, 3, 5, 16, 31, 33, 64}, [&](DType dtype, std::int64_t n, const Shape &batch) {
    for (double scale : {0.001, 0.05, 0.3, 1.0, 2.0}) {
      Tensor a = randomMatrices(random, dtype, with(batch, {n, n})) *
                 (scale / std::max<double>(1, static_cast<double>(n) / 4));
      std::vector<Tensor> e = everyWay(
          [](const std::vector<Tensor> &x) { return std::vector<Tensor>{linalg::expm(x[0]), linalg::expm(-x[0])}; },
          {a});
      for (std::int64_t k = 0; k < sizeOf(batch); k += 4) {
        const Matrix forward(e[0], k), back(e[1], k);
        expectSmall(Matrix::identity(n) - forward * back, forward.norm() * back.norm(), n, dtype, "1 - exp(A) exp(-A)");
      }
    }
  });
  // A nilpotent matrix has a finite series.
  EXPECT_EQ(valuesOf(linalg::expm(tensor<double>({0, 3, 0, 0}, {2, 2}))), (std::vector<double>{1, 3, 0, 1}));
  EXPECT_EQ(valuesOf(linalg::expm(zeros({2, 2}))), (std::vector<double>{1, 0, 0, 1}));
}

TEST(LinalgSolve, Powers) {
  std::mt19937 random(9);
  Tensor a = randomTensor(random, {3, 4, 4}), p = linalg::matrix_power(a, 0);
  for (std::int64_t k = 0; k < 3; ++k)
    expectSameBits(exampleAt(p, k), eye(4, DType::Float64));
  for (std::int64_t exponent : {1, 2, 3, 7, 8}) {
    Tensor found =
        everyWay([=](const auto &x) { return std::vector<Tensor>{linalg::matrix_power(x[0], exponent)}; }, {a})[0];
    Matrix product = Matrix::identity(4);
    for (std::int64_t i = 0; i < exponent; ++i)
      product = product * Matrix(a, 1);
    expectSmall(product - Matrix(found, 1), std::pow(Matrix(a, 1).norm(), static_cast<Real>(exponent)), 4,
                DType::Float64, "powers");
  }
  const Matrix inverse(linalg::matrix_power(a, -3), 2), cube(linalg::matrix_power(a, 3), 2);
  expectSmall(Matrix::identity(4) - cube * inverse, cube.norm() * inverse.norm(), 4, DType::Float64, "negative powers");
}

// Messages name a vector as what it is.
TEST(LinalgSolve, MisuseOfVectorsIsRefusedInTheUsersShapes) {
  const Tensor a = eye(3), b = ones({2}), exact = ones({3}, DType::Float64), whole = ones({3}, DType::Int32);
  const linalg::LuFactors factors = linalg::lu_factor(a);
  const Tensor band = ones({1, 3}), c = ones({3}), blocks = ones({4, 2, 2});
  const std::string rows = " must have as many rows as the ", types = ": the operands' types differ: float32[";
  struct Case {
    std::string function;
    std::function<Tensor(const Tensor &)> solve;
    std::string sizes;
  };
  const Case cases[] = {
      {"solve", [&](const Tensor &x) { return linalg::solve(a, x); }, "matrices float32[3,3]"},
      {"triangular_solve", [&](const Tensor &x) { return linalg::triangular_solve(a, x); }, "matrices float32[3,3]"},
      {"triangular_solve", [&](const Tensor &x) { return linalg::triangular_solve(a, x, {.left = false}); },
       "matrices float32[3,3]"},
      {"cho_solve", [&](const Tensor &x) { return linalg::cho_solve(a, x); }, "matrices float32[3,3]"},
      {"lu_solve", [&](const Tensor &x) { return linalg::lu_solve(factors, x); }, "matrices float32[3,3]"},
      {"lstsq", [&](const Tensor &x) { return linalg::lstsq(ones({3, 5}), x); }, "matrices float32[3,5]"},
      {"solve_banded", [&](const Tensor &x) { return linalg::solve_banded(0, 0, band, x); },
       "band float32[1,3] has columns"},
      {"solveh_banded", [&](const Tensor &x) { return linalg::solveh_banded(band, x); },
       "band float32[1,3] has columns"},
      {"cho_solve_banded", [&](const Tensor &x) { return linalg::cho_solve_banded(band, x); },
       "band float32[1,3] has columns"}};
  for (const Case &each : cases) {
    SCOPED_TRACE(each.function);
    EXPECT_MESSAGE(ShapeError, each.function + ": the right-hand sides float32[2]" + rows + each.sizes, each.solve(b));
    EXPECT_MESSAGE(DTypeError, each.function + types, each.solve(exact));
    EXPECT_MESSAGE(DTypeError, "and float64[3]; there is no implicit conversion", each.solve(exact));
    EXPECT_MESSAGE(DTypeError, each.function + ": takes floating-point numbers, not int32[3]", each.solve(whole));
  }
  EXPECT_MESSAGE(ShapeError,
                 "the right-hand sides float32[5,2,4] must have as many columns as the matrices float32[3,3]",
                 linalg::triangular_solve(a, ones({5, 2, 4}), {.left = false}));
  EXPECT_MESSAGE(ShapeError,
                 "solve_toeplitz: takes a column and a row [n], and right-hand sides [n] or [n, k], not "
                 "float32[3], float32[3] and float32[2]",
                 linalg::solve_toeplitz(c, c, b));
  EXPECT_MESSAGE(ShapeError, "solve_toeplitz: takes a column and a row [n]", linalg::solve_toeplitz(c, b, c));
  EXPECT_MESSAGE(DTypeError, "solve_toeplitz: the operands' types differ: float32[3] and float64[3]",
                 linalg::solve_toeplitz(c, c, exact));
  EXPECT_MESSAGE(ShapeError,
                 "solve_tridiagonal: takes diagonals and right-hand sides [n], and [n] or [n, k], not "
                 "float32[3], float32[3], float32[3] and float32[2]",
                 linalg::solve_tridiagonal(c, c, c, b));
  EXPECT_MESSAGE(DTypeError, "solve_tridiagonal: the operands' types differ: float32[3] and float64[3]",
                 linalg::solve_tridiagonal(c, c, c, exact));
  EXPECT_MESSAGE(ShapeError, "float32[4,2,2], float32[4,2,2], float32[4,2,2] and float32[4,3]",
                 linalg::solve_block_tridiagonal(blocks, blocks, blocks, ones({4, 3})));
  EXPECT_MESSAGE(ShapeError, "float32[4,2,2], float32[4,3,3], float32[4,2,2] and float32[4,2]",
                 linalg::solve_block_tridiagonal(blocks, ones({4, 3, 3}), blocks, ones({4, 2})));
  EXPECT_MESSAGE(ShapeError,
                 "solve_discrete_lyapunov: Q is a matrix of the size of A, not float32[2,2] of float32[3,3]",
                 linalg::solve_discrete_lyapunov(a, ones({2, 2})));
  EXPECT_MESSAGE(ShapeError, "solve_continuous_lyapunov: Q is a matrix of the size of A, not float32[3,2] of",
                 linalg::solve_continuous_lyapunov(a, ones({3, 2})));
  EXPECT_MESSAGE(ShapeError,
                 "matvec: the matrix float32[3,3] has as many columns as the vector has elements, unlike "
                 "float32[2]",
                 matvec(a, b));
  EXPECT_MESSAGE(ShapeError,
                 "vecmat: the matrix float32[3,3] has as many rows as the vector has elements, unlike "
                 "float32[2]",
                 vecmat(b, a));
  EXPECT_MESSAGE(DTypeError, "float32[3,3] and float64[3]", matvec(a, exact));
  EXPECT_MESSAGE(DTypeError, "float64[3] and float32[3,3]", vecmat(exact, a));
  // The sizes of a call.
  const auto open = TensorSpec<float>({kDynamic});
  auto called = function([&](const Tensor &x) { return linalg::solve(a, x); }, {.input_signature = {open}});
  const std::string text = errorOf<Error>([&] { (void)called(b).to_vector<float>(); });
  EXPECT_EQ(text.find(",1]"), std::string::npos) << text;
}

TEST(LinalgSolve, MisuseIsRefused) {
  Tensor a = eye(3), wide = ones({2, 3});
  EXPECT_MESSAGE(ShapeError, "solve: takes square matrices, not float32[2,3]", linalg::solve(wide, ones({2})));
  EXPECT_MESSAGE(ShapeError,
                 "solve: the right-hand sides float32[2] must have as many rows as the matrices float32[3,3]",
                 linalg::solve(a, ones({2})));
  EXPECT_MESSAGE(DTypeError, "solve: the operands' types differ", linalg::solve(a, ones({3}, DType::Float64)));
  EXPECT_MESSAGE(ShapeError, "inv: takes square matrices, not float32[2,3]", linalg::inv(wide));
  EXPECT_MESSAGE(ShapeError, "det: takes square matrices, not float32[2,3]", linalg::det(wide));
  EXPECT_MESSAGE(ShapeError, "slogdet: takes matrices, which have rank 2 or more, not float32[]",
                 linalg::slogdet(scalar(1.0f)));
  EXPECT_MESSAGE(ShapeError, "lu: takes square matrices, not float32[2,3]", linalg::lu(wide));
  EXPECT_MESSAGE(ShapeError, "expm: takes square matrices, not float32[2,3]", linalg::expm(wide));
  EXPECT_MESSAGE(DTypeError, "expm: takes floating-point numbers, not int32[3,3]",
                 linalg::expm(ones({3, 3}, DType::Int32)));
  EXPECT_MESSAGE(
      ShapeError,
      "lu_solve: the order of rows of factors float32[3,3] has one dimension less, and is int64, unlike float32[3]",
      linalg::lu_solve({a, ones({3})}, ones({3})));
  EXPECT_MESSAGE(IndexError, "lu_solve: index 3 is out of range [0, 3)",
                 linalg::lu_solve({a, iota({3}, DType::Int64) + 1}, ones({3})));
  const Tensor twice = tensor<std::int64_t>({0, 2, 2});
  EXPECT_MESSAGE(ValueError, "lu_solve: the order of rows names row 2 twice, and must name each once",
                 linalg::lu_solve({a, twice}, ones({3})));
  EXPECT_MESSAGE(ValueError, "lu_solve: the order of rows names row 2 twice",
                 function([&](const Tensor &b) { return linalg::lu_solve({a, twice}, b); })(ones({3})));
  EXPECT_MESSAGE(AssertionError, "lu_solve: the order of rows does not name each row once",
                 function([&](const Tensor &order) { return linalg::lu_solve({a, order}, ones({3})); })(twice));
  EXPECT_MESSAGE(LinAlgError, "eigh: B: the matrix is not positive definite: its leading minor 1 of 2 is not positive",
                 linalg::eigh(eye(2), -eye(2)));
  EXPECT_MESSAGE(LinAlgError, "eigvalsh: B: the matrix is not positive definite", linalg::eigvalsh(eye(2), -eye(2)));
  EXPECT_MESSAGE(ShapeError, "matrix_power: takes matrices, which have rank 2 or more, not float32[3]",
                 linalg::matrix_power(ones({3}), 2));
}
