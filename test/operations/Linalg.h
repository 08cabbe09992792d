// What the tests of linear algebra share: random matrices, residuals in long double, all ways to call a function.
#ifndef CALQUE_TEST_OPERATIONS_LINALG_H
#define CALQUE_TEST_OPERATIONS_LINALG_H

#include "calque/linalg.h"
#include "test/Errors.h"
#include "test/operations/Structured.h"

#include <limits>

namespace calque::testing {

// Sizes at the limits of vectors, of the runtime's own kernels and of blocks.
inline const std::vector<std::int64_t> kMatrixSizes = {0, 1, 2, 3, 5, 7, 16, 17, 31, 32, 33, 64, 100, 257};
inline constexpr DType kFloats[] = {DType::Float32, DType::Float64};

// A matrix in long double, in row-major order.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<Real> elements;

  Matrix() = default;
  Matrix(std::int64_t rows, std::int64_t columns)
      : rows(rows), columns(columns), elements(static_cast<std::size_t>(rows * columns)) {}
  // Matrix `index` of a batch.
  explicit Matrix(const Tensor &x, std::int64_t index = 0) {
    const Shape shape = x.shape();
    rows = shape[shape.size() - 2];
    columns = shape[shape.size() - 1];
    std::vector<Real> all = valuesOf<Real>(x);
    auto first = all.begin() + index * rows * columns;
    elements.assign(first, first + rows * columns);
  }

  Real &at(std::int64_t i, std::int64_t j) { return elements[static_cast<std::size_t>(i * columns + j)]; }
  Real at(std::int64_t i, std::int64_t j) const { return elements[static_cast<std::size_t>(i * columns + j)]; }

  Matrix transposed() const {
    Matrix result(columns, rows);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        result.at(j, i) = at(i, j);
    return result;
  }
  Matrix operator*(const Matrix &other) const {
    Matrix result(rows, other.columns);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < columns; ++k)
        for (std::int64_t j = 0; j < other.columns; ++j)
          result.at(i, j) += at(i, k) * other.at(k, j);
    return result;
  }
  Matrix operator-(const Matrix &other) const {
    Matrix result = *this;
    for (std::size_t e = 0; e < elements.size(); ++e)
      result.elements[e] -= other.elements[e];
    return result;
  }
  static Matrix identity(std::int64_t n) {
    Matrix result(n, n);
    for (std::int64_t i = 0; i < n; ++i)
      result.at(i, i) = 1;
    return result;
  }
  // The largest sum of magnitudes of a column.
  Real norm() const {
    Real largest = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      Real sum = 0;
      for (std::int64_t i = 0; i < rows; ++i)
        sum += std::fabs(at(i, j));
      if (!(sum <= largest))
        largest = sum;
    }
    return largest;
  }
};

inline Real epsilonOf(DType dtype) {
  return dtype == DType::Float32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
}

// The ratio of LAPACK's own tests: a residual over n eps and the norm of what it is of. They accept up to 30.
inline constexpr Real kMostRatio = 30;
inline void expectSmall(const Matrix &residual, Real norm, std::int64_t n, DType dtype, const char *what) {
  const Real ratio = residual.norm() / (norm * static_cast<Real>(std::max<std::int64_t>(n, 1)) * epsilonOf(dtype));
  EXPECT_TRUE(residual.elements.empty() || norm == 0 || ratio < kMostRatio) << what << ": " << ratio;
  if (norm == 0) {
    EXPECT_EQ(residual.norm(), 0) << what;
  }
}

inline Tensor randomMatrices(std::mt19937 &random, DType dtype, const Shape &shape) {
  return cast(randomTensor(random, shape, -1, 1), dtype);
}
// x x^T and more of the diagonal: symmetric and positive definite.
inline Tensor positive(const Tensor &x, double diagonal = 1) {
  const Size n = x.shape().back(); // may be unknown
  Tensor isDiagonal = iota(Shape{n, 1}, DType::Int64, 0) == iota(Shape{1, n}, DType::Int64, 1);
  return matmul(x, x, {.transpose_b = true}) + diagonal * cast(isDiagonal, x.dtype());
}

// The tolerance is of the largest number, which counts as `least` at least.
inline void expectRealNumbers(const std::vector<double> &values, const std::vector<double> &expected,
                              double tolerance = 4e-15, double least = 1) {
  ASSERT_EQ(values.size(), expected.size());
  double largest = least;
  for (double each : expected)
    largest = std::max(largest, std::fabs(each));
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], tolerance * largest) << i;
}
inline void expectRealNumbers(const Tensor &found, const std::vector<double> &expected, double tolerance = 4e-15) {
  expectRealNumbers(valuesOf(found), expected, tolerance);
}

// f of tensors: eagerly, compiled for these sizes, and compiled for any size, which must be the same bits. Returns the
// results.
inline std::vector<Tensor> everyWay(const ManyBody &f, const std::vector<Tensor> &inputs) {
  std::vector<Tensor> eager = f(inputs);
  std::vector<TensorSpec<>> signature;
  for (const Tensor &x : inputs)
    signature.push_back(TensorSpec<>(x.dtype(), Shape(x.shape().size(), kDynamic)));
  auto known = function<std::vector<Tensor>(const std::vector<Tensor> &)>(f);
  auto open = function<std::vector<Tensor>(const std::vector<Tensor> &)>(f, {.input_signature = signature});
  const std::vector<Tensor> found[] = {known(inputs), open(inputs)};
  for (const std::vector<Tensor> &results : found) {
    EXPECT_EQ(results.size(), eager.size());
    for (std::size_t i = 0; i < eager.size(); ++i)
      expectSameBits(results[i], eager[i]);
  }
  return eager;
}

// Runs a test for both types and batches of one matrix and of more than there are lanes.
template <typename Test> void forBatches(const std::vector<std::int64_t> &sizes, Test &&test) {
  for (DType dtype : kFloats)
    for (std::int64_t n : sizes)
      for (const Shape &batch : {Shape{}, Shape{3, 7}}) {
        if (n > 40 && !batch.empty())
          continue;
        SCOPED_TRACE(std::string(name_of(dtype)) + " of size " + std::to_string(n) + ", batch " + batch.str());
        test(dtype, n, batch);
      }
}
inline Shape with(Shape batch, std::initializer_list<Size> sizes) {
  batch.insert(batch.end(), sizes.begin(), sizes.end());
  return batch;
}

// Derivatives with unknown sizes are those with known ones.
inline void expectOpenDerivatives(const Body &f, const std::vector<Tensor> &inputs) {
  SCOPED_TRACE("derivatives with unknown sizes");
  std::vector<TensorSpec<>> signature;
  for (const Tensor &x : inputs)
    signature.push_back(TensorSpec<>(x.dtype(), Shape(x.shape().size(), kDynamic)));
  ManyBody derivatives = [f](const std::vector<Tensor> &x) {
    auto square = [&](const std::vector<Tensor> &y) { return sum(calque::square(f(y))); };
    std::vector<Tensor> results = gradients(square, x);
    results.push_back(jvp(f, x, x).second);
    return results;
  };
  auto open = function<std::vector<Tensor>(const std::vector<Tensor> &)>(derivatives, {.input_signature = signature});
  std::vector<Tensor> found = open(inputs), expected = derivatives(inputs);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    expectAlike(found[i], expected[i], false);
}

// Derivatives to the second order, of many examples, and with unknown sizes.
inline void expectMatrixDerivatives(const Body &f, const std::vector<Tensor> &inputs) {
  expectAllDerivatives(f, inputs, 2, true);
  expectBatched({batched(f, inputs, false)});
  expectOpenDerivatives(f, inputs);
}

// In a process of its own, in which the library is not loaded yet.
template <typename Body> void withLapack(const char *library, Body &&body) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("CALQUE_LAPACK", library, 1);
        body();
        std::exit(::testing::Test::HasFailure());
      },
      ::testing::ExitedWithCode(0), "");
}

#define EXPECT_MESSAGE(Class, part, call)                                                                              \
  EXPECT_NE((errorOf<Class>([&] { call; })).find(part), std::string::npos) << errorOf<Class>([&] { call; })

} // namespace calque::testing
#endif
