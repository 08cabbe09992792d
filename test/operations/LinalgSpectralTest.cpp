// Linear algebra by orthogonal factors: QR, eigenvalues, singular values, and what follows from them. Residuals are
// computed in long double, and have the bound of LAPACK's own tests.
#include "calque/arrays/moving.h"
#include "test/operations/Linalg.h"

using namespace calque;
using namespace calque::testing;

namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

struct Sizes {
  std::int64_t m, n;
};
const std::vector<Sizes> kShapes = {{0, 0},   {0, 3},   {3, 0},   {1, 1},   {1, 4},    {5, 1},   {3, 3},
                                    {7, 4},   {4, 7},   {16, 16}, {16, 5},  {5, 16},   {17, 3},  {3, 17},
                                    {31, 32}, {33, 20}, {20, 33}, {64, 64}, {100, 40}, {40, 100}};

// Runs a test for both types and two batches.
template <typename Test> void forShapes(Test &&test) {
  for (DType dtype : kFloats)
    for (auto [m, n] : kShapes)
      for (const Shape &batch : {Shape{}, Shape{2, 9}}) {
        if (std::max(m, n) > 33 && !batch.empty())
          continue;
        SCOPED_TRACE(std::string(name_of(dtype)) + " [" + std::to_string(m) + "," + std::to_string(n) + "], batch " +
                     batch.str());
        test(dtype, m, n, batch);
      }
}

void expectOrthonormal(const Matrix &columns, DType dtype, const char *what) {
  expectSmall(Matrix::identity(columns.columns) - columns.transposed() * columns, 1,
              std::max(columns.rows, columns.columns), dtype, what);
}

Matrix diagonalOf(const Tensor &values, std::int64_t index, std::int64_t rows, std::int64_t columns) {
  const std::vector<Real> all = valuesOf<Real>(values);
  Matrix result(rows, columns);
  const std::int64_t count = std::min(rows, columns);
  for (std::int64_t i = 0; i < count; ++i)
    result.at(i, i) = all[static_cast<std::size_t>(index * count + i)];
  return result;
}

Tensor symmetric(const Tensor &x) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < x.rank(); ++i)
    order.push_back(i);
  std::swap(order[order.size() - 2], order.back());
  return (x + transpose(x, order)) * 0.5;
}

} // namespace

TEST(LinalgSpectral, QrHasSmallResiduals) {
  std::mt19937 random(1);
  forShapes([&](DType dtype, std::int64_t m, std::int64_t n, const Shape &batch) {
    Tensor a = randomMatrices(random, dtype, with(batch, {m, n}));
    for (bool complete : {false, true}) {
      ManyBody f = [=](const std::vector<Tensor> &x) {
        auto [q, r] = linalg::qr(x[0], {.complete = complete});
        return std::vector<Tensor>{q, r};
      };
      // Of a wide matrix, the last columns of R are a product, whose bits depend on how it is compiled.
      std::vector<std::vector<Tensor>> found{f({a})};
      if (m < n)
        found.push_back(function<std::vector<Tensor>(const std::vector<Tensor> &)>(f)({a}));
      else
        found = {everyWay(f, {a})};
      const std::int64_t columns = complete ? m : std::min(m, n);
      for (const std::vector<Tensor> &parts : found) {
        ASSERT_EQ(parts[0].shape(), with(batch, {m, columns}));
        ASSERT_EQ(parts[1].shape(), with(batch, {columns, n}));
        for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
          const Matrix given(a, k), q(parts[0], k), r(parts[1], k);
          expectSmall(given - q * r, given.norm(), std::max(m, n), dtype, "A - Q R");
          expectOrthonormal(q, dtype, "1 - Q^T Q");
          for (std::int64_t i = 0; i < columns; ++i)
            for (std::int64_t j = 0; j < std::min(i, n); ++j)
              EXPECT_EQ(r.at(i, j), 0);
        }
      }
    }
  });
}

TEST(LinalgSpectral, EigenvaluesHaveSmallResiduals) {
  std::mt19937 random(2);
  forBatches(kMatrixSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = symmetric(randomMatrices(random, dtype, with(batch, {n, n})));
    Tensor garbage = where(iota({n, n}, DType::Int64, 0) < iota({n, n}, DType::Int64, 1), kNan, a);
    std::vector<Tensor> parts = everyWay(
        [](const std::vector<Tensor> &x) {
          auto [values, vectors] = linalg::eigh(x[0]);
          return std::vector<Tensor>{values, vectors, linalg::eigvalsh(x[0])};
        },
        {garbage});
    expectSameBits(parts[0], parts[2]);
    for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
      const Matrix given(a, k), v(parts[1], k), w = diagonalOf(parts[0], k, n, n);
      expectSmall(given * v - v * w, given.norm(), n, dtype, "A V - V w");
      expectOrthonormal(v, dtype, "1 - V^T V");
      for (std::int64_t i = 1; i < n; ++i)
        EXPECT_LE(w.at(i - 1, i - 1), w.at(i, i));
    }
  });
}

TEST(LinalgSpectral, SingularValuesHaveSmallResiduals) {
  std::mt19937 random(3);
  forShapes([&](DType dtype, std::int64_t m, std::int64_t n, const Shape &batch) {
    const std::int64_t both = std::min(m, n);
    Tensor any = randomMatrices(random, dtype, with(batch, {m, n}));
    // Of rank 1, where most singular values are rounding.
    Tensor low =
        matmul(randomMatrices(random, dtype, with(batch, {m, 1})), randomMatrices(random, dtype, with(batch, {1, n})));
    for (const Tensor &a : {any, low, zeros(any.shape(), dtype)})
      for (bool full : {false, true}) {
        std::vector<Tensor> parts = everyWay(
            [=](const std::vector<Tensor> &x) {
              auto [u, s, vh] = linalg::svd(x[0], {.full_matrices = full});
              return std::vector<Tensor>{u, s, vh};
            },
            {a});
        const std::int64_t left = full ? m : both, right = full ? n : both;
        ASSERT_EQ(parts[0].shape(), with(batch, {m, left}));
        ASSERT_EQ(parts[1].shape(), with(batch, {both}));
        ASSERT_EQ(parts[2].shape(), with(batch, {right, n}));
        for (std::int64_t k = 0; k < sizeOf(batch); k += 5) {
          const Matrix given(a, k), u(parts[0], k), vh(parts[2], k);
          Matrix s(left, right);
          const Matrix diagonal = diagonalOf(parts[1], k, both, both);
          for (std::int64_t i = 0; i < both; ++i) {
            s.at(i, i) = diagonal.at(i, i);
            EXPECT_GE(s.at(i, i), 0);
            if (i > 0) {
              EXPECT_GE(s.at(i - 1, i - 1), s.at(i, i));
            }
          }
          expectSmall(given - u * (s * vh), given.norm(), std::max(m, n), dtype, "A - U s V^T");
          expectOrthonormal(u, dtype, "1 - U^T U");
          expectOrthonormal(vh.transposed(), dtype, "1 - V^T V");
        }
      }
  });
}

// In tiles: square ones by a bidiagonal matrix, and others by the triangle of their QR factors. Also at the ends of the
// range, and of a low rank.
TEST(LinalgSpectral, SingularValuesOfLargeMatrices) {
  std::mt19937 random(29);
  for (DType dtype : kFloats)
    for (auto [m, n] : std::vector<Sizes>{{200, 200}, {257, 257}, {330, 210}, {201, 340}}) {
      SCOPED_TRACE(std::string(name_of(dtype)) + " " + std::to_string(m) + " x " + std::to_string(n));
      const bool isFloat = dtype == DType::Float32;
      const std::int64_t both = std::min(m, n), other = std::max(m, n);
      const double tolerance = 50 * (isFloat ? 0x1p-23 : 0x1p-52);
      const Tensor any = randomMatrices(random, dtype, {m, n}),
                   low = matmul(randomMatrices(random, dtype, {m, 3}), randomMatrices(random, dtype, {3, n}));
      const double first = isFloat ? 0x1p-110 : 0x1p-900;
      for (const Tensor &a : {any, low, zeros({m, n}, dtype), any * first, any * (1 / first)})
        for (bool full : {false, true}) {
          auto [u, s, vh] = linalg::svd(a, {.full_matrices = full});
          ASSERT_EQ(u.shape(), (Shape{m, full ? m : both}));
          ASSERT_EQ(vh.shape(), (Shape{full ? n : both, n}));
          const std::vector<double> values = valuesOf(s);
          EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()) && values.back() >= 0);
          auto largest = [](const Tensor &x) { return valuesOf(max(abs(x)))[0]; };
          const Tensor back = matmul(slice(u, {0, 0}, {m, both}) * s, slice(vh, {0, 0}, {both, n}));
          EXPECT_LE(largest(back - a), tolerance * values[0]);
          EXPECT_LE(largest(matmul(transpose(u), u) - eye(full ? m : both, dtype)), tolerance);
          EXPECT_LE(largest(matmul(vh, transpose(vh)) - eye(full ? n : both, dtype)), tolerance);
        }
      const std::vector<double> values = valuesOf(linalg::svdvals(any));
      double squares = 0;
      for (double value : values)
        squares += value * value;
      EXPECT_NEAR(squares, valuesOf(sum(square(cast(any, DType::Float64))))[0], tolerance * squares);
      EXPECT_NEAR(valuesOf(linalg::svdvals(any * first))[0], values[0] * first, tolerance * values[0] * first);
      EXPECT_LE(valuesOf(linalg::svdvals(low))[3], tolerance * static_cast<double>(other));
      const Tensor inverse = linalg::pinv(any);
      EXPECT_LE(valuesOf(max(abs(matmul(matmul(any, inverse), any) - any)))[0], 100 * tolerance);
    }
}

TEST(LinalgSpectral, WhatIsNotFiniteGivesNan) {
  for (DType dtype : kFloats)
    for (std::int64_t n : {1, 3, 16, 17, 40})
      for (double value : {kNan, kInfinity, -kInfinity}) {
        SCOPED_TRACE(std::to_string(n) + " with " + std::to_string(value));
        Tensor bad =
            where(iota({n, n}, DType::Int64, 0) * n + iota({n, n}, DType::Int64, 1) == n * n - 1, value, eye(n, dtype));
        Tensor batch = stack({eye(n, dtype), bad, eye(n, dtype)});
        auto [w, v] = linalg::eigh(batch);
        auto [u, s, vh] = linalg::svd(batch);
        for (const Tensor &x : {w, v, u, s, vh}) {
          for (double found : valuesOf(exampleAt(x, 1)))
            EXPECT_TRUE(std::isnan(found));
          for (std::int64_t k : {0, 2})
            for (double found : valuesOf(exampleAt(x, k)))
              EXPECT_TRUE(std::isfinite(found));
        }
        for (double found : valuesOf(exampleAt(linalg::pinv(batch), 1)))
          EXPECT_TRUE(std::isnan(found));
        (void)linalg::qr(batch);
      }
}

TEST(LinalgSpectral, TheRangeOfNumbersIsUsed) {
  for (double scale : {1e-300, 1e-310, 1e300}) {
    SCOPED_TRACE(scale);
    Tensor a = tensor<double>({3, 0, 4, 5}, {2, 2}) * scale; // singular values 3 sqrt(5), sqrt(5)
    std::vector<double> s = valuesOf(linalg::svdvals(a)),
                        w = valuesOf(linalg::eigvalsh(tensor<double>({2, 1, 1, 2}, {2, 2}) * scale));
    const double tolerance = scale < 1e-305 ? 1e-12 : 1e-14;
    EXPECT_NEAR(s[0] / scale, 3 * std::sqrt(5.0), 20 * tolerance);
    EXPECT_NEAR(s[1] / scale, std::sqrt(5.0), 20 * tolerance);
    EXPECT_NEAR(w[0] / scale, 1, 4 * tolerance);
    EXPECT_NEAR(w[1] / scale, 3, 4 * tolerance);
    EXPECT_NEAR(linalg::vector_norm(tensor<double>({3, 4}) * scale).item<double>() / scale, 5, 20 * tolerance);
    auto [q, r] = linalg::qr(a);
    EXPECT_NEAR(std::fabs(valuesOf(r)[0]) / scale, 5, 20 * tolerance);
  }
}

// A power of 2 changes exponents alone, as long as the type has all digits. Of subnormal numbers the digits that they
// have count, and vectors have all of theirs.
TEST(LinalgSpectral, PowersOfTwoScaleValuesAndNotVectors) {
  for (std::int64_t n : {2, 3, 16})
    for (DType dtype : kFloats) {
      std::mt19937 random(23);
      std::vector<double> whole = valuesOf(2 * round(8 * randomMatrices(random, DType::Float64, {n, n})));
      const bool isFloat = dtype == DType::Float32;
      for (bool isComplex : {false, true})
        for (int exponent :
             isFloat ? std::vector<int>{-149, -140, -126, 60, 116} : std::vector<int>{-1074, -1060, -1022, 500, 1012}) {
          SCOPED_TRACE(std::string(name_of(dtype)) + (isComplex ? ", complex, " : ", ") + std::to_string(n) +
                       ", exponent " + std::to_string(exponent));
          const Tensor real = cast(tensor(whole, {n, n}), dtype), turned = transpose(real);
          const double least = isFloat ? 0x1p-149 : 0x1p-1074;
          const double first = std::ldexp(1.0, exponent / 2), second = std::ldexp(1.0, exponent - exponent / 2);
          auto scaled = [&](const Tensor &x) { return cast(cast(x, DType::Float64) * first * second, dtype); };
          auto made = [&](const Tensor &re, const Tensor &im, bool isScaled) {
            const Tensor a = isScaled ? scaled(re) : re, b = isScaled ? scaled(im) : im;
            return isComplex ? complex(a, b) : a;
          };
          auto expectValues = [&](const Tensor &found, const Tensor &expected) {
            const std::vector<double> all = valuesOf(found), wanted = valuesOf(expected);
            for (std::size_t i = 0; i < all.size(); ++i) {
              const double value = wanted[i] * first * second;
              EXPECT_NEAR(all[i], value, std::max(least, 50 * (isFloat ? 0x1p-23 : 0x1p-52) * std::fabs(value)));
            }
          };
          auto expectSame = [&](const Tensor &found, const Tensor &expected) {
            const Tensor apart = abs(found - expected);
            EXPECT_LT(valuesOf(max(apart))[0], isFloat ? 2e-4 : 1e-12);
          };
          const Tensor plain = made(real, turned * 0.5, false), small = made(real, turned * 0.5, true);
          const auto expected = linalg::svd(plain), found = linalg::svd(small);
          expectValues(found.s, expected.s);
          expectSame(found.u, expected.u);
          expectSame(found.vh, expected.vh);
          const Tensor symmetric = real + turned, skew = real - turned;
          const auto pairs = linalg::eigh(made(symmetric, skew, false)),
                     tiny = linalg::eigh(made(symmetric, skew, true));
          expectValues(tiny.values, pairs.values);
          expectSame(tiny.vectors, pairs.vectors);
        }
    }
  const Tensor a = tensor<double>({1, 2, 3, -1}, {2, 2}), s = linalg::svdvals(a);
  for (double scale : {1e-318, 1e-316, 1e-300, 1e300, 5e307}) {
    EXPECT_NEAR(valuesOf(linalg::svdvals(a * scale) / scale)[0], valuesOf(s)[0], 1e-5);
    EXPECT_NEAR(valuesOf(linalg::matrix_norm(a * scale, linalg::MatrixNorm::Two) / scale)[0], valuesOf(s)[0], 1e-5);
  }
  EXPECT_NEAR(valuesOf(linalg::svdvals(cast(a * 1e-42, DType::Float32)) / 1e-42)[1], valuesOf(s)[1], 2e-3);
}

TEST(LinalgSpectral, Derivatives) {
  std::mt19937 random(4);
  for (auto [m, n] : std::vector<Sizes>{{1, 1}, {3, 3}, {4, 2}}) {
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    Tensor a = distinctTensor(random, {m, n});
    auto squares = [](const Tensor &x) { return x * x; };
    expectMatrixDerivatives([=](const std::vector<Tensor> &in) { return linalg::qr(in[0]).r; }, {a});
    expectDerivatives([=](const std::vector<Tensor> &in) { return linalg::qr(in[0]).q; }, {a}, 2);
    expectMatrixDerivatives([=](const std::vector<Tensor> &in) { return linalg::svd(in[0]).s; }, {a});
    expectDerivatives([=](const std::vector<Tensor> &in) { return squares(linalg::svd(in[0]).u); }, {a}, 2);
    expectDerivatives([=](const std::vector<Tensor> &in) { return squares(linalg::svd(in[0]).vh); }, {a}, 2);
    expectMatrixDerivatives([=](const std::vector<Tensor> &in) { return linalg::pinv(in[0]); }, {a});
    Tensor b = randomTensor(random, {m});
    expectDerivatives([=](const std::vector<Tensor> &in) { return linalg::lstsq(in[0], in[1]); }, {a, b}, 2);
    Tensor wide = transpose(a);
    expectDerivatives([=](const std::vector<Tensor> &in) { return linalg::qr(in[0]).r; }, {wide}, 2);
    expectDerivatives([=](const std::vector<Tensor> &in) { return squares(linalg::svd(in[0]).u); }, {wide}, 2);
    expectDerivatives([=](const std::vector<Tensor> &in) { return squares(linalg::svd(in[0]).vh); }, {wide}, 2);
    expectDerivatives([=](const std::vector<Tensor> &in) { return linalg::pinv(in[0]); }, {wide}, 2);
    if (m == n) {
      expectMatrixDerivatives([=](const std::vector<Tensor> &in) { return linalg::eigh(symmetric(in[0])).values; },
                              {a});
      expectDerivatives([=](const std::vector<Tensor> &in) { return squares(linalg::eigh(symmetric(in[0])).vectors); },
                        {a}, 2);
    }
  }
  // A size for LAPACK: the gradient of the sum of the squares of singular values is twice the matrix.
  Tensor a = randomTensor(random, {40, 20});
  std::vector<double> g = valuesOf(gradients(
                          [](const std::vector<Tensor> &in) { return sum(square(linalg::svdvals(in[0]))); }, {a})[0]),
                      expected = valuesOf(a);
  for (std::size_t i = 0; i < g.size(); ++i)
    EXPECT_NEAR(g[i], 2 * expected[i], 1e-11);
}

TEST(LinalgSpectral, FullFactorsOfManyExamplesAreThoseOfEach) {
  std::mt19937 random(8);
  for (auto [m, n] : std::vector<Sizes>{{4, 2}, {2, 4}, {20, 18}}) {
    Tensor a = randomTensor(random, {m, n});
    ManyBody factors = [](const std::vector<Tensor> &in) {
      auto [q, r] = linalg::qr(in[0], {.complete = true});
      auto [u, s, vh] = linalg::svd(in[0], {.full_matrices = true});
      return std::vector<Tensor>{q, r, u, s, vh};
    };
    expectBatched({{factors, {a}, true}});
  }
}

TEST(LinalgSpectral, EqualValuesGiveNoFiniteGradientOfVectors) {
  Tensor one = eye(3, DType::Float64), weights = tensor<double>({1, 2, 3, 4, 5, 6, 7, 8, 10}, {3, 3});
  auto ofVectors = grad([=](const Tensor &x) { return sum(linalg::eigh(x).vectors * weights); });
  auto ofU = grad([=](const Tensor &x) { return sum(linalg::svd(x).u * weights); });
  for (const Tensor &found : {ofVectors(one), ofU(one)}) {
    bool isFinite = true;
    for (double value : valuesOf(found))
      isFinite &= std::isfinite(value);
    EXPECT_FALSE(isFinite);
  }
  // Of values alone there is no such quotient.
  auto ofValues = grad([](const Tensor &x) { return sum(linalg::eigh(x).values) + sum(linalg::svdvals(x)); });
  std::vector<double> found = valuesOf(ofValues(one));
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_NEAR(found[i], i % 4 == 0 ? 2 : 0, 1e-14);
  // Where there is no rule, there is an error.
  Tensor tall = randomMatrices(*std::make_unique<std::mt19937>(1), DType::Float64, {4, 2});
  EXPECT_MESSAGE(Error, "qr", grad([](const Tensor &x) { return sum(linalg::qr(x, {.complete = true}).q); })(tall));
  EXPECT_MESSAGE(Error, "svd",
                 grad([](const Tensor &x) { return sum(linalg::svd(x, {.full_matrices = true}).u); })(tall));
}

// Values that are equal up to rounding: what depends on the space of their vectors alone has a gradient, and what
// depends on the vectors has none that is finite.
TEST(LinalgSpectral, FunctionsOfTheSpaceOfEqualValues) {
  const Tensor q = linalg::qr(tensor<double>({1, 2, 3, 4, 5, 7, 7, 8, 1}, {3, 3})).q;
  const Tensor other = linalg::qr(tensor<double>({2, 0, 1, 1, -3, 1, 0, 1, 1}, {3, 3})).q;
  const Tensor along = tensor<double>({1, 2, 0, 2, -1, 1, 0, 1, 3}, {3, 3});
  const Tensor weights = tensor<double>({1, 0, 2, 0, 3, 1, 2, 1, 0}, {3, 3});
  auto slope = [&](auto f, const Tensor &x) {
    double found = 0;
    for (bool compiled : {false, true}) {
      auto gradient = grad([f](const Tensor &x) { return f(x); });
      found = sum((compiled ? function(gradient)(x) : gradient(x)) * along).template item<double>();
    }
    return found;
  };
  auto difference = [&](auto f, const Tensor &x) {
    return (f(x + 1e-5 * along) - f(x - 1e-5 * along)).template item<double>() / 2e-5;
  };
  auto isFinite = [](const Tensor &x) { return all(isfinite(x)).item<bool>(); };

  const Tensor turned = matmul(q * tensor<double>({1, 1, 3}), transpose(q)), a = (turned + transpose(turned)) / 2;
  auto firstTwo = [](const Tensor &x) { return slice(linalg::eigh(x).vectors, {0, 0}, {3, 2}); };
  auto projector = [&](const Tensor &x) { return sum(weights * matmul(firstTwo(x), transpose(firstTwo(x)))); };
  EXPECT_NEAR(slope(projector, a), difference(projector, a), 1e-7);
  auto one = [&](const Tensor &x) {
    const Tensor v = linalg::eigh(x).vectors;
    return sum(weights * matmul(v, transpose(v)));
  };
  EXPECT_NEAR(slope(one, a), 0, 1e-12);
  auto simple = [&](const Tensor &x) { // of the vector of the value that is 3
    return sum(square(slice(linalg::eigh(x).vectors, {0, 2}, {3, 3})) * tensor<double>({1, 2, 4}, {3, 1}));
  };
  EXPECT_NEAR(slope(simple, a), difference(simple, a), 1e-7);
  EXPECT_NEAR(slope(simple, diag(tensor<double>({1, 1, 3}))), difference(simple, diag(tensor<double>({1, 1, 3}))),
              1e-7);
  EXPECT_FALSE(isFinite(grad([&](const Tensor &x) { return sum(weights * linalg::eigh(x).vectors); })(a)));
  EXPECT_FALSE(isFinite(jvp([&](const Tensor &x) { return linalg::eigh(x).vectors; }, a, along).second));
  // The sum of all values is linear, and its gradient does not say so where it is taken once more.
  EXPECT_FALSE(isFinite(jvp(grad([](const Tensor &x) { return sum(square(linalg::eigvalsh(x))); }), a, along).second));

  const Tensor b = matmul(q * tensor<double>({2, 2, 1}), transpose(other));
  auto unitary = [&](const Tensor &x) { // the factor of a polar decomposition, whose vectors are those of both sides
    auto [u, s, vh] = linalg::svd(x);
    return sum(weights * matmul(u, vh));
  };
  EXPECT_NEAR(slope(unitary, b), difference(unitary, b), 1e-7);
  EXPECT_FALSE(isFinite(grad([&](const Tensor &x) { return sum(weights * linalg::svd(x).u); })(b)));
  auto stretch = [&](const Tensor &x) { return sum(weights * linalg::polar(x).p); };
  EXPECT_NEAR(slope(stretch, b), difference(stretch, b), 1e-7);

  // Of a function of the matrix, by vectors and values, what belongs to equal values is lost, and NaN says so.
  auto function = [&](const Tensor &x) {
    const auto [w, v] = linalg::eigh(x);
    return sum(weights * matmul(v * sin(w), transpose(v)));
  };
  EXPECT_FALSE(isFinite(grad(function)(a)));
  EXPECT_FALSE(isFinite(grad(function)(eye(3, DType::Float64))));
  const Tensor apart = diag(tensor<double>({1, 2, 4}));
  EXPECT_NEAR(slope(function, apart), difference(function, apart), 1e-7);
  EXPECT_FALSE(isFinite(grad([&](const Tensor &x) {
    const auto [u, s, vh] = linalg::svd(x);
    return sum(weights * matmul(u * s, vh));
  })(b)));
}

TEST(LinalgSpectral, LeastSquares) {
  // numpy.linalg.lstsq of NumPy 2.4.6, by hand: the line through (0, 6), (1, 0), (2, 0) is 5 - 3 x.
  Tensor a = tensor<double>({1, 0, 1, 1, 1, 2}, {3, 2}), b = tensor<double>({6, 0, 0});
  std::vector<double> x = valuesOf(linalg::lstsq(a, b));
  EXPECT_NEAR(x[0], 5, 1e-13);
  EXPECT_NEAR(x[1], -3, 1e-13);
  // Of many solutions the shortest: x + y = 2.
  x = valuesOf(linalg::lstsq(tensor<double>({1, 1, 2, 2}, {2, 2}), tensor<double>({2, 4})));
  EXPECT_NEAR(x[0], 1, 1e-13);
  EXPECT_NEAR(x[1], 1, 1e-13);
  std::mt19937 random(5);
  forShapes([&](DType dtype, std::int64_t m, std::int64_t n, const Shape &batch) {
    Tensor any = randomMatrices(random, dtype, with(batch, {m, n}));
    Tensor p = everyWay([](const auto &in) { return std::vector<Tensor>{linalg::pinv(in[0])}; }, {any})[0];
    ASSERT_EQ(p.shape(), with(batch, {n, m}));
    for (std::int64_t k = 0; k < sizeOf(batch); k += 7) { // the conditions of Penrose
      const Matrix x(any, k), y(p, k), xy = x * y, yx = y * x;
      const std::int64_t size = std::max(m, n);
      const Real norm = x.norm() * y.norm();
      expectSmall(x - xy * x, norm * x.norm(), size, dtype, "A - A P A");
      expectSmall(y - yx * y, norm * y.norm(), size, dtype, "P - P A P");
      expectSmall(xy - xy.transposed(), norm * 4, size, dtype, "A P is symmetric");
      expectSmall(yx - yx.transposed(), norm * 4, size, dtype, "P A is symmetric");
    }
  });
}

TEST(LinalgSpectral, Ranks) {
  std::mt19937 random(6);
  for (DType dtype : kFloats)
    for (std::int64_t n : {3, 16, 20, 40}) {
      Tensor x = matmul(randomMatrices(random, dtype, {n, 2}), randomMatrices(random, dtype, {2, n}));
      auto rank = [](const std::vector<Tensor> &in) { return std::vector<Tensor>{linalg::matrix_rank(in[0])}; };
      EXPECT_EQ(valuesOf(everyWay(rank, {x})[0])[0], 2);
      EXPECT_EQ(valuesOf(everyWay(rank, {eye(n, dtype)})[0])[0], static_cast<double>(n));
      EXPECT_EQ(valuesOf(everyWay(rank, {zeros({2, n, n}, dtype)})[0]), (std::vector<double>{0, 0}));
    }
  EXPECT_EQ(valuesOf(linalg::matrix_rank(tensor<double>({1, 0, 0, 0.1}, {2, 2}), {.tolerance = 0.5}))[0], 1);
  EXPECT_EQ(valuesOf(linalg::matrix_rank(zeros({3, 0})))[0], 0);
}

TEST(LinalgSpectral, Norms) {
  Tensor v = tensor<double>({3, -4, 0});
  auto norm = [&](double order) { return linalg::vector_norm(v, {}, {.order = order}).item<double>(); };
  EXPECT_EQ(norm(2), 5);
  EXPECT_EQ(norm(1), 7);
  EXPECT_EQ(norm(0), 2);
  EXPECT_EQ(norm(kInfinity), 4);
  EXPECT_EQ(norm(-kInfinity), 0);
  EXPECT_NEAR(norm(3), std::cbrt(27.0 + 64), 1e-14);
  // numpy.linalg.norm of NumPy 2.4.6.
  Tensor a = tensor<double>({1, 2, 3, 4, 5, 6}, {2, 3});
  for (const AxisList &all : {AxisList(), AxisList({0, 1})})
    EXPECT_NEAR(linalg::vector_norm(a, all).item<double>(), 9.539392014169456, 1e-14); // of all elements
  const std::pair<linalg::MatrixNorm, double> expected[] = {{linalg::MatrixNorm::Frobenius, 9.539392014169456},
                                                            {linalg::MatrixNorm::Nuclear, 10.280901636369206},
                                                            {linalg::MatrixNorm::Two, 9.508032000695723},
                                                            {linalg::MatrixNorm::MinusTwo, 0.7728696356734838},
                                                            {linalg::MatrixNorm::One, 9},
                                                            {linalg::MatrixNorm::MinusOne, 5},
                                                            {linalg::MatrixNorm::Infinity, 15},
                                                            {linalg::MatrixNorm::MinusInfinity, 6}};
  for (auto [order, value] : expected) {
    EXPECT_NEAR(linalg::matrix_norm(a, order).item<double>(), value, 1e-13);
    Tensor many =
        everyWay([order = order](const auto &in) { return std::vector<Tensor>{linalg::matrix_norm(in[0], order)}; },
                 {stack({a, a * 2})})[0];
    EXPECT_EQ(many.shape(), (Shape{2}));
    EXPECT_NEAR(valuesOf(many)[1], 2 * value, 1e-13);
  }
  // numpy.linalg.cond of [[1, 2], [3, 4]].
  Tensor square = tensor<double>({1, 2, 3, 4}, {2, 2});
  EXPECT_NEAR(linalg::cond(square).item<double>(), 14.933034373659268, 1e-12);
  EXPECT_NEAR(linalg::cond(square, linalg::MatrixNorm::One).item<double>(), 21, 1e-12);
  EXPECT_NEAR(linalg::cond(square, linalg::MatrixNorm::MinusTwo).item<double>(), 0.06696562634074717, 1e-12);
  EXPECT_EQ(linalg::cond(zeros({2, 2}) + eye(2) * tensor<float>({1, 0})).item<float>(),
            std::numeric_limits<float>::infinity());
  EXPECT_EQ(linalg::vector_norm(ones({2, 8}), {1}, {.keepdims = true}).shape(), (Shape{2, 1}));
  EXPECT_EQ(linalg::vector_norm(zeros({0})).item<float>(), 0);
  EXPECT_EQ(valuesOf(grad([](const Tensor &x) { return linalg::vector_norm(x); })(zeros({2}))),
            (std::vector<double>{0, 0}));
  std::mt19937 random(7);
  Tensor x = distinctTensor(random, {3, 3}) + 0.05;
  expectDerivatives([](const std::vector<Tensor> &in) { return linalg::vector_norm(in[0], {-1}); }, {x}, 2);
  expectDerivatives(
      [](const std::vector<Tensor> &in) { return linalg::matrix_norm(in[0], linalg::MatrixNorm::Nuclear); }, {x}, 2);
  expectDerivatives([](const std::vector<Tensor> &in) { return linalg::cond(in[0], linalg::MatrixNorm::Frobenius); },
                    {x}, 1);
}

TEST(LinalgSpectral, MisuseIsRefused) {
  Tensor wide = ones({2, 3});
  EXPECT_MESSAGE(ShapeError, "eigh: takes square matrices, not float32[2,3]", linalg::eigh(wide));
  EXPECT_MESSAGE(ShapeError, "eigvalsh: takes square matrices, not float32[2,3]", linalg::eigvalsh(wide));
  EXPECT_MESSAGE(ShapeError, "qr: takes matrices, which have rank 2 or more, not float32[3]", linalg::qr(ones({3})));
  EXPECT_MESSAGE(ShapeError, "svd: takes matrices, which have rank 2 or more, not float32[3]", linalg::svd(ones({3})));
  EXPECT_MESSAGE(ShapeError, "svdvals: takes matrices, which have rank 2 or more, not float32[3]",
                 linalg::svdvals(ones({3})));
  EXPECT_MESSAGE(DTypeError, "pinv: takes floating-point numbers, not int64[2,3]",
                 linalg::pinv(ones({2, 3}, DType::Int64)));
  EXPECT_MESSAGE(ValueError, "pinv: the tolerance must not be negative or NaN: -1",
                 linalg::pinv(wide, {.tolerance = -1}));
  EXPECT_MESSAGE(ValueError, "matrix_rank: the tolerance must not be negative or NaN: nan",
                 linalg::matrix_rank(wide, {.tolerance = kNan}));
  EXPECT_MESSAGE(ValueError, "vector_norm: the order must not be NaN", linalg::vector_norm(wide, {}, {.order = kNan}));
  EXPECT_MESSAGE(DTypeError, "vector_norm: takes floating-point numbers, not int32[2]; use cast",
                 linalg::vector_norm(ones({2}, DType::Int32)));
  EXPECT_MESSAGE(ValueError, "matrix_norm: no norm has the number 99",
                 linalg::matrix_norm(wide, static_cast<linalg::MatrixNorm>(99)));
}

namespace {

// What is left of columns that depend on others has no angle, and rotations of it would not end.
TEST(LinalgSpectral, MatricesOfLowRankConverge) {
  std::mt19937 random(17);
  auto ofRankOne = [&](std::int64_t m, std::int64_t n) {
    return cast(matmul(randomTensor(random, {20, m, 1}), randomTensor(random, {20, 1, n})), DType::Float32);
  };
  for (std::int64_t n : {2, 3, 5, 9, 12, 16}) {
    SCOPED_TRACE(n);
    EXPECT_EQ(valuesOf(linalg::matrix_rank(ones({n, n})))[0], 1);
    for (std::int64_t m : {n, n + 3 > 16 ? n - 3 : n + 3}) {
      const Tensor zeroOrOne = cast(randomTensor(random, {20, m, n}) > 0.5, DType::Float32);
      for (const Tensor &a : {ofRankOne(m, n), zeroOrOne}) {
        const auto found = linalg::svd(a);
        const Tensor back = matmul(found.u * expand_dims(found.s, {-2}), found.vh);
        EXPECT_LT(valuesOf(max(abs(back - a)))[0], 60 * 0x1p-23 * 4);
      }
    }
  }
  EXPECT_EQ(valuesOf(linalg::cond(zeros({2, 2})))[0], std::numeric_limits<double>::infinity());
  EXPECT_THROW(linalg::matrix_power(ones({2, 3}), 0), ShapeError);
}

} // namespace

TEST(LinalgLibraryDeathTest, LargeMatricesNeedOne) {
  const std::string text =
      "size 33 needs LAPACK, as all of more than 32 do, and neither libopenblas.so.0 nor liblapack.so.3 can be "
      "loaded: install Debian's package libopenblas0-pthread, or name a library in the environment variable "
      "CALQUE_LAPACK";
  for (const char *library : {"none", "/nowhere/liblapack.so"})
    withLapack(library, [&] {
      Tensor large = eye(33), small = eye(32), b = ones({33});
      EXPECT_MESSAGE(LinAlgError, "cholesky: a matrix of " + text, linalg::cholesky(large));
      EXPECT_MESSAGE(LinAlgError, "cholesky: a matrix of " + text,
                     function([](const Tensor &x) { return linalg::cholesky(x); })(large));
      EXPECT_MESSAGE(LinAlgError, "triangular_solve: a matrix of " + text, linalg::triangular_solve(large, b));
      EXPECT_MESSAGE(LinAlgError, "solve: a matrix of " + text, linalg::solve(large, b));
      EXPECT_MESSAGE(LinAlgError, "inv: a matrix of " + text, linalg::inv(large));
      EXPECT_MESSAGE(LinAlgError, "det: a matrix of " + text, linalg::det(large));
      EXPECT_MESSAGE(LinAlgError, "slogdet: a matrix of " + text, linalg::slogdet(large));
      EXPECT_MESSAGE(LinAlgError, "qr: a matrix of " + text, linalg::qr(large));
      EXPECT_MESSAGE(LinAlgError, "expm: a matrix of " + text, linalg::expm(large));
      EXPECT_MESSAGE(LinAlgError, "eigh: a matrix of size 17 needs LAPACK, as all of more than 16 do",
                     linalg::eigh(eye(17)));
      EXPECT_MESSAGE(LinAlgError, "svd: a matrix of size 17 needs LAPACK", linalg::svd(ones({2, 17})));
      EXPECT_MESSAGE(LinAlgError, "pinv: a matrix of size 17 needs LAPACK", linalg::pinv(ones({17, 2})));
      EXPECT_EQ(linalg::det(small).item<float>(), 1);
      (void)linalg::expm(small);
    });
}

TEST(LinalgLibraryDeathTest, IterationsThatDoNotConvergeAreErrors) {
  withLapack(CALQUE_FAILING_LAPACK, [] {
    EXPECT_MESSAGE(LinAlgError, "eigh: the iteration for matrix 0 of the batch, counted from 0, does not converge",
                   linalg::eigh(ones({3, 17, 17})));
    EXPECT_MESSAGE(LinAlgError, "svd: the iteration for the matrix does not converge", linalg::svd(ones({17, 3})));
    EXPECT_MESSAGE(LinAlgError, "svd: the iteration for the matrix does not converge", linalg::svd(ones({220, 230})));
  });
}
