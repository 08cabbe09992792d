// Linear algebra by triangles: Cholesky factors and solutions. Residuals are computed in long double, and have the
// bound of LAPACK's own tests.
#include "test/operations/Linalg.h"

using namespace calque;
using namespace calque::testing;

namespace {

// A triangle of a matrix, maybe with a diagonal of ones.
Matrix triangleOf(const Matrix &x, bool lower, bool unit) {
  Matrix result = x;
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.columns; ++j)
      if (i == j && unit)
        result.at(i, j) = 1;
      else if (lower ? j > i : j < i)
        result.at(i, j) = 0;
  return result;
}

// Well-conditioned as a lower and as an upper triangle.
Tensor triangular(std::mt19937 &random, DType dtype, const Shape &batch, std::int64_t n) {
  Tensor x = randomMatrices(random, dtype, with(batch, {n, n}));
  return x * (1.0 / static_cast<double>(std::max<std::int64_t>(n, 1))) + 2 * eye(n, dtype);
}

const double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

} // namespace

TEST(Linalg, CholeskyHasSmallResiduals) {
  std::mt19937 random(1);
  forBatches(kMatrixSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = positive(randomMatrices(random, dtype, with(batch, {n, n})));
    // The upper triangle is not read.
    Tensor garbage = where(iota({n, n}, DType::Int64, 0) < iota({n, n}, DType::Int64, 1), kNan, a);
    Tensor l = everyWay([](const auto &x) { return std::vector<Tensor>{linalg::cholesky(x[0])}; }, {garbage})[0];
    ASSERT_EQ(l.shape(), a.shape());
    for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
      const Matrix given(a, k), factor(l, k);
      expectSmall(factor - triangleOf(factor, true, false), 0, n, dtype, "above the diagonal");
      expectSmall(given - factor * factor.transposed(), given.norm(), n, dtype, "A - L L^T");
    }
    expectSameBits(linalg::cholesky(garbage, {.upper = true}), transpose(l, [&] {
                     std::vector<std::int64_t> order(l.shape().size());
                     for (std::size_t i = 0; i < order.size(); ++i)
                       order[i] = static_cast<std::int64_t>(i);
                     std::swap(order[order.size() - 2], order.back());
                     return order;
                   }()));
  });
}

TEST(Linalg, AMatrixHasTheSameBitsInAnyBatch) {
  std::mt19937 random(2);
  for (DType dtype : kFloats)
    for (std::int64_t n : {3, 16, 20, 40}) {
      Tensor x = positive(randomMatrices(random, dtype, {19, n, n})), b = randomMatrices(random, dtype, {19, n, 3});
      Tensor l = linalg::cholesky(x), solved = linalg::triangular_solve(l, b);
      for (std::int64_t k : {0, 7, 18}) {
        Tensor one = linalg::cholesky(exampleAt(x, k));
        expectSameBits(one, exampleAt(l, k));
        expectSameBits(linalg::triangular_solve(one, exampleAt(b, k)), exampleAt(solved, k));
      }
    }
}

TEST(Linalg, TheResultIsTheSameOnAnyNumberOfThreads) {
  std::mt19937 random(3);
  Tensor a = positive(randomMatrices(random, DType::Float64, {400, 400})),
         b = randomMatrices(random, DType::Float64, {400, 130}),
         many = positive(randomMatrices(random, DType::Float64, {900, 5, 5})),
         pair = randomMatrices(random, DType::Float64, {2, 400, 400}), general = exampleAt(pair, 1);
  const int before = num_threads();
  std::vector<Tensor> results[2];
  for (int threads : {1, 2}) {
    set_num_threads(threads);
    Tensor l = linalg::cholesky(a);
    const linalg::LuFactors factors = linalg::lu_factor(general);
    const auto [q, r] = linalg::qr(general);
    const auto [values, vectors] = linalg::eigh(a);
    const auto [u, s, vh] = linalg::svd(general);
    results[threads - 1] = {l,
                            linalg::triangular_solve(l, b),
                            linalg::cholesky(many),
                            factors.factors,
                            factors.order,
                            linalg::lu_solve(factors, b),
                            linalg::solve(general, ones({400}, DType::Float64)),
                            linalg::inv(general),
                            q,
                            r,
                            values,
                            vectors,
                            u,
                            s,
                            vh};
    // Nor on what else is in a batch, whose matrices are worked on by one thread each.
    const auto [batchQ, batchR] = linalg::qr(pair);
    expectSameBits(exampleAt(batchQ, 1), q);
    expectSameBits(exampleAt(batchR, 1), r);
    expectSameBits(exampleAt(linalg::inv(pair), 1), linalg::inv(general));
    expectSameBits(exampleAt(linalg::eigh(stack({general, a})).vectors, 1), vectors);
    expectSameBits(exampleAt(linalg::svd(pair).u, 1), u);
  }
  set_num_threads(before);
  for (std::size_t i = 0; i < results[0].size(); ++i)
    expectSameBits(results[0][i], results[1][i]);
}

TEST(Linalg, CholeskyRefusesWhatIsNotPositiveDefinite) {
  for (DType dtype : kFloats)
    for (std::int64_t n : {1, 3, 16, 31, 32, 40, 200}) {
      std::mt19937 random(4);
      Tensor a = positive(randomMatrices(random, dtype, {n, n}));
      const std::int64_t bad = n - n / 3 - 1;
      for (double value : {-1.0, 0.0, kNan, -kInfinity}) {
        if (value == 0 && n > 1)
          continue; // a zero of the diagonal is subtracted from, which makes it negative
        Tensor diagonal = iota({n, n}, DType::Int64, 0) * n + iota({n, n}, DType::Int64, 1) == bad * (n + 1);
        Tensor singular = where(diagonal, value, a);
        std::vector<Tensor> batch(11, a);
        batch[6] = batch[9] = singular;
        const std::string text =
            "cholesky: matrix 6 of the batch, counted from 0, is not positive definite: its leading minor " +
            std::to_string(bad + 1) + " of " + std::to_string(n) + " is not positive";
        Tensor stackedUp = stack(batch);
        EXPECT_MESSAGE(LinAlgError, text, linalg::cholesky(stackedUp));
        EXPECT_MESSAGE(LinAlgError, text, function([](const Tensor &x) { return linalg::cholesky(x); })(stackedUp));
        EXPECT_MESSAGE(LinAlgError, text, vmap([](const Tensor &x) { return linalg::cholesky(x); })(stackedUp));
        EXPECT_MESSAGE(LinAlgError, "LinalgTest.cpp", linalg::cholesky(stackedUp));
      }
    }
  // Of the branches of examples, those that are not taken don't fail.
  auto guarded = vmap([](const Tensor &x) {
    return cond(
        x > 0, [&] { return linalg::cholesky(reshape(x, {1, 1})); }, [&] { return zeros({1, 1}, DType::Float64); });
  });
  EXPECT_EQ(valuesOf(guarded(tensor<double>({4, -1, 9}))), (std::vector<double>{2, 0, 3}));
}

TEST(Linalg, CholeskyAtTheEdgesOfTheRange) {
  for (double scale : {1e-300, 5e-324 * 1024, 1e300}) {
    Tensor a = tensor<double>({4, 2, 2, 5}, {2, 2}) * scale, l = linalg::cholesky(a);
    const double root = std::sqrt(4 * scale);
    EXPECT_NEAR(valuesOf(l)[0] / root, 1, 1e-15);
    EXPECT_NEAR(valuesOf(l)[2] / root, 0.5, 1e-15);
    EXPECT_NEAR(valuesOf(l)[3] / root, 1, 1e-15);
  }
  // Infinities give what arithmetic gives.
  Tensor l = linalg::cholesky(tensor<double>({kInfinity, 0, 0, 1}, {2, 2}));
  EXPECT_EQ(valuesOf(l)[0], kInfinity);
  EXPECT_EQ(linalg::cholesky(zeros({0, 3, 3})).shape(), (Shape{0, 3, 3}));
  EXPECT_EQ(linalg::cholesky(zeros({2, 0, 0})).shape(), (Shape{2, 0, 0}));
}

TEST(Linalg, TriangularSolveHasSmallResiduals) {
  std::mt19937 random(5);
  forBatches(kMatrixSizes, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = triangular(random, dtype, batch, n);
    for (std::int64_t columns : {std::int64_t(0), std::int64_t(1), std::int64_t(3), std::int64_t(70)}) {
      if (columns == 70 && n > 100)
        continue;
      Tensor b = randomMatrices(random, dtype, with(batch, {n, columns})),
             rows = randomMatrices(random, dtype, with(batch, {columns, n}));
      for (int form = 0; form < 8; ++form) {
        const bool lower = form & 1, transposed = form & 2, unit = form & 4;
        Tensor garbage = where(lower ? iota({n, n}, DType::Int64, 0) < iota({n, n}, DType::Int64, 1)
                                     : iota({n, n}, DType::Int64, 0) > iota({n, n}, DType::Int64, 1),
                               kNan, a);
        linalg::TriangularSolveOptions options{lower, transposed, unit, true}, right{lower, transposed, unit, false};
        std::vector<Tensor> x = everyWay(
            [=](const std::vector<Tensor> &in) {
              return std::vector<Tensor>{linalg::triangular_solve(in[0], in[1], options),
                                         linalg::triangular_solve(in[0], in[2], right)};
            },
            {garbage, b, rows});
        ASSERT_EQ(x[0].shape(), b.shape());
        ASSERT_EQ(x[1].shape(), rows.shape());
        for (std::int64_t k = 0; k < sizeOf(batch); k += 5) {
          const Matrix triangle = triangleOf(Matrix(a, k), lower, unit),
                       op = transposed ? triangle.transposed() : triangle, left(x[0], k), other(x[1], k);
          expectSmall(Matrix(b, k) - op * left, op.norm() * left.norm(), n, dtype, "B - op(A) X");
          expectSmall((Matrix(rows, k) - other * op).transposed(), op.transposed().norm() * other.transposed().norm(),
                      n, dtype, "B - X op(A)");
        }
      }
    }
  });
}

TEST(Linalg, RightHandSidesAreVectorsOrMatrices) {
  std::mt19937 random(6);
  Tensor a = triangular(random, DType::Float64, {}, 4), b = randomTensor(random, {4});
  Tensor column = linalg::triangular_solve(a, reshape(b, {4, 1}));
  expectSameBits(linalg::triangular_solve(a, b), reshape(column, {4}));
  expectSameBits(linalg::triangular_solve(a, b, {.left = false}),
                 reshape(linalg::triangular_solve(a, reshape(b, {1, 4}), {.left = false}), {4}));
  // Batches broadcast.
  Tensor many = randomTensor(random, {5, 4, 2}), matrices = triangular(random, DType::Float64, {5}, 4);
  Tensor both = linalg::triangular_solve(a, many), one = linalg::triangular_solve(matrices, b);
  EXPECT_EQ(both.shape(), (Shape{5, 4, 2}));
  EXPECT_EQ(one.shape(), (Shape{5, 4}));
  for (std::int64_t k = 0; k < 5; ++k) {
    expectSameBits(exampleAt(both, k), linalg::triangular_solve(a, exampleAt(many, k)));
    expectSameBits(exampleAt(one, k), linalg::triangular_solve(exampleAt(matrices, k), b));
  }
  Tensor zero = linalg::triangular_solve(tensor<double>({1, 0, 0, 0}, {2, 2}), tensor<double>({1, 2}));
  EXPECT_EQ(valuesOf(zero), (std::vector<double>{1, kInfinity}));
}

TEST(Linalg, ChoSolveSolves) {
  std::mt19937 random(7);
  forBatches({0, 1, 3, 16, 32, 33, 100}, [&](DType dtype, std::int64_t n, const Shape &batch) {
    Tensor a = positive(randomMatrices(random, dtype, with(batch, {n, n}))),
           b = randomMatrices(random, dtype, with(batch, {n, 2}));
    for (bool upper : {false, true}) {
      Tensor x = everyWay(
          [=](const std::vector<Tensor> &in) {
            return std::vector<Tensor>{
                linalg::cho_solve(linalg::cholesky(in[0], {.upper = upper}), in[1], {.upper = upper})};
          },
          {a, b})[0];
      for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
        const Matrix given(a, k), found(x, k);
        expectSmall(Matrix(b, k) - given * found, given.norm() * found.norm(), n, dtype, "B - A X");
      }
    }
  });
}

TEST(Linalg, DerivativesOfTriangles) {
  std::mt19937 random(8);
  for (std::int64_t n : {1, 3}) {
    SCOPED_TRACE(n);
    Tensor x = randomTensor(random, {n, n}, -1, 1), b = randomTensor(random, {n, 2}),
           l = randomTensor(random, {n, n}, 0.5, 1.5);
    // Examples that are made of others' elements are positive definite, too.
    expectMatrixDerivatives([](const std::vector<Tensor> &in) { return linalg::cholesky(positive(in[0], 2)); }, {x});
    for (int form = 0; form < 8; ++form) {
      SCOPED_TRACE(form);
      linalg::TriangularSolveOptions options{(form & 1) != 0, (form & 2) != 0, (form & 4) != 0, true};
      Body solve = [options](const std::vector<Tensor> &in) { return linalg::triangular_solve(in[0], in[1], options); };
      if (form == 3 || form == 4)
        expectMatrixDerivatives(solve, {l, b});
      else
        expectDerivatives(solve, {l, b}, 2);
    }
    expectDerivatives(
        [](const std::vector<Tensor> &in) { return linalg::triangular_solve(in[0], in[1], {.left = false}); },
        {l, transpose(b)}, 2);
  }
  // Batches, and a size for LAPACK.
  Tensor x = randomTensor(random, {2, 3, 3}, -1, 1);
  expectDerivatives([](const std::vector<Tensor> &in) { return linalg::cholesky(positive(in[0], 2)); }, {x}, 2);
  // The gradient is symmetric.
  Tensor a = positive(randomTensor(random, {40, 40}, -1, 1), 5);
  Tensor g = gradients([](const std::vector<Tensor> &in) { return sum(square(linalg::cholesky(in[0]))); }, {a})[0];
  for (std::int64_t i = 0; i < 40; ++i)
    for (std::int64_t j = 0; j < 40; ++j) // the sum of squares is the trace
      EXPECT_NEAR(Matrix(g).at(i, j), i == j, 1e-12);
}

TEST(Linalg, MisuseOfTrianglesIsRefused) {
  Tensor a = eye(3), b = ones({3, 2});
  EXPECT_MESSAGE(ShapeError, "cholesky: takes matrices, which have rank 2 or more, not float32[3]",
                 linalg::cholesky(ones({3})));
  EXPECT_MESSAGE(ShapeError, "cholesky: takes square matrices, not float32[3,2]", linalg::cholesky(b));
  EXPECT_MESSAGE(DTypeError, "cholesky: takes floating-point numbers, not int32[3,3]",
                 linalg::cholesky(ones({3, 3}, DType::Int32)));
  EXPECT_MESSAGE(ShapeError, "triangular_solve: takes matrices, which have rank 2 or more, not float32[3]",
                 linalg::triangular_solve(ones({3}), b));
  EXPECT_MESSAGE(ShapeError, "triangular_solve: takes square matrices, not float32[3,2]",
                 linalg::triangular_solve(b, b));
  EXPECT_MESSAGE(
      ShapeError,
      "triangular_solve: the right-hand sides float32[2,2] must have as many rows as the matrices float32[3,3]",
      linalg::triangular_solve(a, ones({2, 2})));
  EXPECT_MESSAGE(ShapeError, "triangular_solve: the right-hand side is a vector or matrices, not float32[]",
                 linalg::triangular_solve(a, 1.0f));
  EXPECT_MESSAGE(ShapeError, "cho_solve: the batch dimensions of [2,3,3] and [5,3,1] don't broadcast",
                 linalg::cho_solve(ones({2, 3, 3}), ones({5, 3, 1})));
  EXPECT_MESSAGE(DTypeError, "cho_solve: the operands' types differ", linalg::cho_solve(a, cast(b, DType::Float64)));
  // Sizes that the call knows.
  auto open = function([](const Tensor &x) { return linalg::cholesky(x); },
                       {.input_signature = {TensorSpec<float>({kDynamic, kDynamic})}});
  EXPECT_MESSAGE(ShapeError, "cholesky: dimension 1 of argument 0 is 2", open(b));
}
