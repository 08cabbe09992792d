// Banded systems, against whole matrices, and values of SciPy (linalg_complex_reference.py).
#include "test/operations/Linalg.h"

using namespace calque;
using namespace calque::testing;

namespace {

// The whole matrix of a band: element [i, j] is band[upper + i - j, j].
Matrix wholeOf(const Tensor &band, std::int64_t index, std::int64_t lower, std::int64_t upper) {
  const Matrix rows(band, index);
  const std::int64_t n = rows.columns;
  Matrix whole(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if (i - j <= lower && j - i <= upper)
        whole.at(i, j) = rows.at(upper + i - j, j);
  return whole;
}
// What is outside of the matrix becomes NaN, which is not read.
Tensor withNan(const Tensor &band, std::int64_t upper) {
  const std::int64_t rows = band.shape()[band.shape().size() - 2], n = band.shape().back();
  const Tensor i = iota({rows, n}, DType::Int64, 0) + iota({rows, n}, DType::Int64, 1) - upper;
  return where((i < 0) | (i >= n), std::numeric_limits<double>::quiet_NaN(), band);
}

// The diagonal of a band that has this row of it.
Tensor dominant(const Tensor &band, std::int64_t row, double diagonal) {
  const Size rows = band.shape()[band.shape().size() - 2];
  return band + diagonal * cast(iota(Shape{rows, 1}, DType::Int64, 0) == row, band.dtype());
}

const Tensor kBand = tensor<double>({{0, 0, -1, 2, 0.5}, {0, 2, 1, 1, 3}, {5, 4, -6, 5, 2}, {1, 2, 0.25, 1, 0}});
const Tensor kPositive = tensor<double>({{0, 0, 0.5, -1, 1}, {0, -1, 2, 0.25, 1}, {4, 5, 6, 7, 8}});

struct Diagonals {
  std::int64_t lower, upper;
};
const std::vector<Diagonals> kDiagonals = {{0, 0}, {1, 1}, {2, 0}, {0, 3}, {2, 1}, {1, 4}};

void expectValues(const Tensor &x, const std::vector<double> &expected) {
  const std::vector<double> found = x.to_vector<double>();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-13 * (1 + std::fabs(expected[i]))) << i;
}

} // namespace

TEST(LinalgBanded, SolvesHaveSmallResiduals) {
  std::mt19937 random(1);
  for (auto [lower, upper] : kDiagonals)
    forBatches({0, 1, 2, 3, 5, 33, 200},
               [&, lower = lower, upper = upper](DType dtype, std::int64_t n, const Shape &batch) {
                 // Rows are exchanged, as no diagonal is dominant, but where no row can be: there solutions would grow
                 // without bounds.
                 Tensor band = randomMatrices(random, dtype, with(batch, {lower + upper + 1, n}));
                 band = withNan(lower > 0 && upper > 0 ? band : dominant(band, upper, 4), upper);
                 Tensor b = randomMatrices(random, dtype, with(batch, {n, 3}));
                 Tensor x = everyWay(
                     [=](const std::vector<Tensor> &x) {
                       return std::vector<Tensor>{linalg::solve_banded(lower, upper, x[0], x[1])};
                     },
                     {band, b})[0];
                 for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
                   const Matrix a = wholeOf(band, k, lower, upper), solved(x, k), right(b, k);
                   expectSmall(right - a * solved, a.norm() * solved.norm(), n, dtype, "B - A X");
                 }
               });
}

TEST(LinalgBanded, PositiveSolvesHaveSmallResiduals) {
  std::mt19937 random(2);
  for (bool isLower : {false, true})
    for (std::int64_t others : {0, 1, 3})
      forBatches({0, 1, 2, 5, 33}, [&](DType dtype, std::int64_t n, const Shape &batch) {
        const std::int64_t lower = isLower ? others : 0, upper = isLower ? 0 : others;
        Tensor band = dominant(randomMatrices(random, dtype, with(batch, {others + 1, n})), upper,
                               2.0 * static_cast<double>(others) + 1.5);
        band = withNan(band, upper);
        Tensor b = randomMatrices(random, dtype, with(batch, {n, 2}));
        ManyBody solve = [=](const std::vector<Tensor> &x) {
          return std::vector<Tensor>{linalg::solveh_banded(x[0], x[1], {.lower = isLower})};
        };
        const std::vector<Tensor> eager = solve({band, b});
        // The number of diagonals is known.
        auto open = function<std::vector<Tensor>(const std::vector<Tensor> &)>(
            solve, {.input_signature = {TensorSpec<>(dtype,
                                                     [&] {
                                                       Shape shape(band.shape().size(), kDynamic);
                                                       shape[shape.size() - 2] = others + 1;
                                                       return shape;
                                                     }()),
                                        TensorSpec<>(dtype, Shape(b.shape().size(), kDynamic))}});
        expectSameBits(open({band, b})[0], eager[0]);
        for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
          Matrix a = wholeOf(band, k, lower, upper);
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < i; ++j)
              (isLower ? a.at(j, i) : a.at(i, j)) = isLower ? a.at(i, j) : a.at(j, i);
          const Matrix solved(eager[0], k), right(b, k);
          expectSmall(right - a * solved, a.norm() * solved.norm(), n, dtype, "B - A X");
        }
      });
}

TEST(LinalgBanded, HasTheValuesOfSciPy) {
  const Tensor b = tensor<double>({1, 2, 3, 4, 5});
  expectValues(linalg::solve_banded(1, 2, kBand, b),
               {-0.24081266806095, 1.0727517179563786, -0.058559904391992865, -0.9958171496862858, 2.9979085748431427});
  expectValues(linalg::solveh_banded(kPositive, b),
               {0.3530331777857545, 0.5069740013332648, 0.18968258038049338, 0.5612019896415568, 0.5311394287472436});
}

TEST(LinalgBanded, DerivativesAreThoseOfDifferences) {
  std::mt19937 random(3);
  for (auto [lower, upper] : kDiagonals) {
    SCOPED_TRACE(lower * 10 + upper);
    expectMatrixDerivatives(
        [lower = lower, upper = upper](const std::vector<Tensor> &x) {
          return linalg::solve_banded(lower, upper, dominant(x[0], upper, 4), x[1]);
        },
        {randomTensor(random, {lower + upper + 1, 4}, -1, 1), randomTensor(random, {4, 2}, -1, 1)});
  }
  for (bool isLower : {false, true}) {
    const Body solve = [isLower](const std::vector<Tensor> &x) {
      return linalg::solveh_banded(dominant(x[0], isLower ? 0 : 2, 6), x[1], {.lower = isLower});
    };
    const std::vector<Tensor> inputs{randomTensor(random, {3, 4}, -1, 1), randomTensor(random, {4, 2}, -1, 1)};
    expectAllDerivatives(solve, inputs, 2, true);
    expectBatched({batched(solve, inputs, false)});
  }
}

TEST(LinalgBanded, CholeskyFactorsHaveSmallResiduals) {
  std::mt19937 random(5);
  for (bool isLower : {false, true})
    for (std::int64_t others : {0, 1, 3})
      for (std::int64_t n : {1, 2, 5, 33})
        for (const Shape &batch : {Shape{}, Shape{2, 3}}) {
          const std::int64_t lower = isLower ? others : 0, upper = isLower ? 0 : others;
          const double diagonal = 2.0 * static_cast<double>(others) + 1.5;
          const Tensor band = withNan(
              dominant(randomMatrices(random, DType::Float64, with(batch, {others + 1, n})), upper, diagonal), upper);
          const Tensor b = randomMatrices(random, DType::Float64, with(batch, {n, 2}));
          auto factor = function([isLower](const Tensor &x) { return linalg::cholesky_banded(x, {.lower = isLower}); });
          for (const Tensor &found : {linalg::cholesky_banded(band, {.lower = isLower}), factor(band)}) {
            const Tensor x = linalg::cho_solve_banded(found, b, {.lower = isLower});
            for (std::int64_t k = 0; k < sizeOf(batch); ++k) {
              Matrix a = wholeOf(band, k, lower, upper);
              for (std::int64_t i = 0; i < n; ++i)
                for (std::int64_t j = 0; j < i; ++j)
                  (isLower ? a.at(j, i) : a.at(i, j)) = isLower ? a.at(i, j) : a.at(j, i);
              const Matrix own = wholeOf(found, k, lower, upper), l = isLower ? own : own.transposed();
              expectSmall(a - l * l.transposed(), a.norm(), n, DType::Float64, "A - L L^T");
              const Matrix solved(x, k), right(b, k);
              expectSmall(right - a * solved, a.norm() * solved.norm(), n, DType::Float64, "B - A X");
            }
          }
        }
}

TEST(LinalgBanded, DerivativesOfCholeskyFactorsAreThoseOfDifferences) {
  std::mt19937 random(6);
  for (bool isLower : {false, true}) {
    const Body factor = [isLower](const std::vector<Tensor> &x) {
      return linalg::cholesky_banded(dominant(x[0], isLower ? 0 : 2, 6), {.lower = isLower});
    };
    const std::vector<Tensor> inputs{randomTensor(random, {3, 4}, -1, 1)};
    expectAllDerivatives(factor, inputs, 2, true);
    expectBatched({batched(factor, inputs, false)});
  }
}

TEST(LinalgBanded, OneBandForManyRightSides) {
  std::mt19937 random(4);
  const Tensor b = randomTensor(random, {3, 5, 2}, -1, 1), x = linalg::solve_banded(1, 2, kBand, b);
  ASSERT_EQ(x.shape(), Shape({3, 5, 2}));
  for (std::int64_t k = 0; k < 3; ++k)
    expectSmall(Matrix(b, k) - wholeOf(kBand, 0, 1, 2) * Matrix(x, k), 10, 5, DType::Float64, "B - A X");
}

TEST(LinalgBanded, Fails) {
  const Tensor b = tensor<double>({1, 2, 3, 4, 5});
  EXPECT_MESSAGE(ShapeError, "solve_banded: a band of 1 diagonals below and 1 above has 3 rows, unlike float64[4,5]",
                 linalg::solve_banded(1, 1, kBand, b));
  EXPECT_MESSAGE(ShapeError, "must have as many rows as the band",
                 linalg::solve_banded(1, 2, kBand, tensor<double>({1, 2})));
  EXPECT_MESSAGE(ValueError, "solve_banded: the numbers of diagonals below and above are 0 or more",
                 linalg::solve_banded(-1, 4, kBand, b));
  EXPECT_MESSAGE(
      LinAlgError, "solve_banded: the matrix is singular: its pivot 3 of 4 is 0",
      (void)linalg::solve_banded(1, 0, tensor<double>({{1, 2, 0, 3}, {1, 1, 0, 0}}), tensor<double>({1, 2, 3, 4}))
          .to_vector<double>());
  EXPECT_MESSAGE(LinAlgError, "solveh_banded: the matrix is not positive definite: its leading minor 2 of 3 is",
                 (void)linalg::solveh_banded(tensor<double>({{0, 2, 0}, {1, 1, 1}}), tensor<double>({1, 2, 3}))
                     .to_vector<double>());
  EXPECT_MESSAGE(LinAlgError, "cholesky_banded: the matrix is not positive definite: its leading minor 2 of 3 is",
                 (void)linalg::cholesky_banded(tensor<double>({{0, 2, 0}, {1, 1, 1}})).to_vector<double>());
  EXPECT_MESSAGE(ShapeError, "solveh_banded: the number of diagonals is 1 or more",
                 linalg::solveh_banded(zeros({0, 3}, DType::Float64), tensor<double>({1, 2, 3})));
  EXPECT_MESSAGE(DTypeError, "floating-point",
                 linalg::solve_banded(1, 2, cast(kBand, DType::Int32), cast(b, DType::Int32)));
}
