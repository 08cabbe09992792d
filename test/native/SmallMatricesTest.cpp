// Linear algebra and other operations of a library's kernel in loops on small values: unrolled for a few rows, or
// called from within the kernel. Eager calls are the reference.
#include "calque/arrays.h"
#include "calque/linalg.h"
#include "test/frontend/Testing.h"
#include "test/native/SmallLoops.h"

using namespace calque;
using namespace calque::testing;

namespace {

// A matrix with a large diagonal, so that steps of a loop keep it regular.
Tensor matrix(int n, int batch = 0, double diagonal = 3) {
  const Shape shape = batch ? Shape{batch, n, n} : Shape{n, n};
  std::vector<double> values;
  for (int k = 0; k < std::max(batch, 1); ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        values.push_back(std::sin(1.7 * (i * n + j) + k) + (i == j ? diagonal + 0.2 * i : 0));
  return tensor(values, shape);
}

// A loop that repeats a step of matrices and adds up what it gives.
template <typename Step> auto loopOf(Step step) {
  return [=](const Tensor &start) {
    Tensor x = start, total = 0.0 * start;
    for (Tensor i : range(3)) {
      Tensor made = step(x);
      total = total + made;
      x = x + 0.1 * sin(made);
    }
    return total;
  };
}

template <typename Step> void expectLoop(Step step, const Tensor &x, bool isKernel = true) {
  SCOPED_TRACE(x.shape().str());
  auto loop = loopOf(step);
  expectKernel(loop, x, 1e-12, isKernel);
  expectGradient([=](const Tensor &y) { return sum(sin(loop(y))); }, x);
}

template <typename Step> void expectMatrices(Step step) {
  for (int n : {1, 2, 4})
    expectKernel(loopOf(step), matrix(n));
  expectLoop(step, matrix(3));
  expectLoop(step, matrix(2, 2));
}

Tensor definite(const Tensor &x) { return matmul(x, x, {.transpose_b = true}) + eye(x.shape().back(), DType::Float64); }

// A number for each matrix, times the matrix.
Tensor scaled(const Tensor &numbers, const Tensor &x) { return expand_dims(numbers, {-1, -2}) * x; }

template <typename F> std::string errorOf(F f, const Tensor &x) {
  try {
    function(f)(x);
  } catch (const LinAlgError &error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST(SmallMatrices, Cholesky) {
  expectMatrices([](const Tensor &x) { return linalg::cholesky(definite(x)); });
  expectKernel(loopOf([](const Tensor &x) { return linalg::cholesky(definite(x), {.upper = true}); }), matrix(3));
}

TEST(SmallMatrices, Triangles) {
  for (bool lower : {false, true})
    for (bool transposed : {false, true})
      for (bool unit : {false, true})
        for (bool left : {false, true})
          expectKernel(loopOf([=](const Tensor &x) {
                         return linalg::triangular_solve(x, sin(x), {lower, transposed, unit, left});
                       }),
                       matrix(3));
  expectMatrices([](const Tensor &x) { return linalg::triangular_solve(x, cos(x)); });
}

TEST(SmallMatrices, Solutions) {
  expectMatrices([](const Tensor &x) { return linalg::solve(x, sin(x)); });
  expectMatrices([](const Tensor &x) { return linalg::inv(x); });
  for (bool transposed : {false, true})
    expectLoop(
        [=](const Tensor &x) { return linalg::lu_solve(linalg::lu_factor(x), cos(x), {.transpose = transposed}); },
        matrix(4));
  // A vector on the right.
  expectKernel(
      [](const Tensor &a) {
        Tensor x = ones({4}, DType::Float64);
        for (Tensor i : range(5))
          x = linalg::solve(a, x);
        return x;
      },
      matrix(4));
}

TEST(SmallMatrices, RowsAreExchanged) {
  // Zeros on the diagonal, of which each column has another pivot.
  for (int n = 2; n <= 5; ++n) {
    std::vector<double> values(static_cast<std::size_t>(n * n), 0.0);
    for (int i = 0; i < n; ++i)
      values[static_cast<std::size_t>(i * n + (i + 1) % n)] = i + 1;
    const Tensor a = tensor(values, {n, n});
    expectKernel(loopOf([](const Tensor &x) { return linalg::inv(x); }), a);
    expectKernel(loopOf([](const Tensor &x) { return scaled(linalg::det(x), x); }), a);
  }
}

TEST(SmallMatrices, Determinants) {
  expectMatrices([](const Tensor &x) { return scaled(linalg::det(0.3 * x), x); });
  expectMatrices([](const Tensor &x) { return scaled(linalg::slogdet(x).logarithm, x); });
  // Parts of the product leave the range of float64, the determinant does not.
  auto loop = [](const Tensor &a) {
    Tensor total = zeros({}, DType::Float64);
    for (Tensor i : range(3))
      total = total + linalg::det(a);
    return total;
  };
  EXPECT_EQ(function(loop)(tensor<double>({1e200, 0, 0, 0, 1e200, 0, 0, 0, 1e-200}, {3, 3})).item<double>(), 3e200);
  EXPECT_DOUBLE_EQ(function(loop)(tensor<double>({1e-200, 0, 0, 0, 1e-200, 0, 0, 0, 1e200}, {3, 3})).item<double>(),
                   3e-200);
  EXPECT_EQ(function(loop)(zeros({3, 3}, DType::Float64)).item<double>(), 0);
  // Of a batch, one leaves it.
  auto ofMany = [](const Tensor &a) {
    Tensor total = zeros({3}, DType::Float64);
    for (Tensor i : range(3))
      total = total + linalg::det(a);
    return total;
  };
  expectKernel(ofMany, tensor<double>({2, 1, 1, 3, 1e-300, 0, 0, 1e300, 1, 2, 3, 4}, {3, 2, 2}));
}

TEST(SmallMatrices, Called) {
  expectMatrices([](const Tensor &x) {
    auto [values, vectors] = linalg::eigh(definite(x));
    return matmul(vectors * sin(expand_dims(values, {-2})), vectors, {.transpose_b = true});
  });
  expectMatrices([](const Tensor &x) {
    auto [q, r] = linalg::qr(x);
    return q + sin(r);
  });
  expectLoop([](const Tensor &x) { return linalg::expm(0.1 * x); }, matrix(4));
}

TEST(SmallMatrices, Float32) {
  auto loop = [](const Tensor &start) {
    Tensor x = start;
    for (Tensor i : range(3))
      x = x + linalg::solve(x, linalg::cholesky(matmul(x, x, {.transpose_b = true}))) * linalg::det(x);
    return x;
  };
  expectKernel(loop, cast(matrix(3), DType::Float32), 2e-5);
}

TEST(SmallMatrices, Failures) {
  auto indefinite = [](const Tensor &a) {
    Tensor total = a;
    for (Tensor i : range(5))
      total = total + linalg::cholesky(a - 0.3 * cast(i, DType::Float64) * eye(2, DType::Float64));
    return total;
  };
  const Tensor one = eye(2, DType::Float64);
  EXPECT_NE(
      errorOf(indefinite, one).find("the matrix is not positive definite: its leading minor 1 of 2 is not positive"),
      std::string::npos)
      << errorOf(indefinite, one);
  EXPECT_NE(errorOf(indefinite, one).find("SmallMatricesTest.cpp:"), std::string::npos) << errorOf(indefinite, one);
  auto singular = [](const Tensor &a) {
    Tensor total = a;
    for (Tensor i : range(5))
      total = total + linalg::solve(a * (2.0 - cast(i, DType::Float64)), a);
    return total;
  };
  EXPECT_NE(errorOf(singular, one).find("the matrix is singular: its pivot 1 of 2 is 0"), std::string::npos)
      << errorOf(singular, one);
  auto inverse = [](const Tensor &a) {
    Tensor total = a;
    for (Tensor i : range(5))
      total = total + linalg::inv(a * (4.0 - cast(i, DType::Float64)));
    return total;
  };
  EXPECT_NE(errorOf(inverse, one).find("the matrix is singular: its pivot 1 of 2 is 0"), std::string::npos)
      << errorOf(inverse, one);
  // What a branch does not reach does not fail.
  auto guarded = [](const Tensor &a) {
    Tensor total = a;
    for (Tensor i : range(5))
      if (i < 2)
        total = total + linalg::inv(a * (2.0 - cast(i, DType::Float64)));
    return total;
  };
  expectKernel(guarded, one);
}

//===-- Rows of values --------------------------------------------------------------------------===//

TEST(SmallRows, SortsAndPlaces) {
  expectLoop([](const Tensor &x) { return sort(x); }, matrix(3, 0, 0));
  expectLoop([](const Tensor &x) { return x / (1.0 + square(median(x))); }, matrix(3, 0, 0));
  expectLoop([](const Tensor &x) { return x * cast(expand_dims(argmax(x, 1), {1}), DType::Float64); }, matrix(4));
  expectLoop([](const Tensor &x) { return x * cast(argmin(x, 0), DType::Float64); }, matrix(4));
  expectLoop([](const Tensor &x) { return take_along_axis(x, argsort(x), 1); }, matrix(4));
  auto ofNaN = [](const Tensor &x) {
    Tensor places = argmax(x, 0);
    for (Tensor i : range(3))
      places = places + argmax(x + cast(i, DType::Float64), 0) + argmin(x, 0);
    return places;
  };
  const double nan = std::nan("");
  expectKernel(ofNaN, tensor<double>({1, nan, 3, nan, 5, 5, 5, 5, 7}, {3, 3}));
}

TEST(SmallRows, Cumulative) {
  for (bool exclusive : {false, true})
    for (bool reverse : {false, true})
      for (int axis : {0, 1})
        expectKernel(loopOf([=](const Tensor &x) {
                       return cumsum(x, axis, exclusive, reverse) + cumprod(0.5 * x, axis, exclusive, reverse);
                     }),
                     matrix(3));
  expectLoop([](const Tensor &x) { return cumsum(x, 1, true) + cumprod(0.5 * x, 0, false, true); }, matrix(3));
  auto ofIntegers = [](const Tensor &x) {
    Tensor total = x;
    for (Tensor i : range(3))
      total = total + cumsum(total) + cumprod(total);
    return total;
  };
  expectKernel(ofIntegers, tensor<std::int32_t>({3, 100000, -7, 2000000000}));
}

TEST(SmallRows, RandomNumbers) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    auto walk = [dtype](const Tensor &start) {
      Tensor x = start;
      for (Tensor i : range(4))
        x = x + random::normal({3}, {.dtype = dtype}) + random::uniform({3}, {.dtype = dtype});
      return x;
    };
    auto compiled = function(walk);
    const Tensor start = zeros({3}, dtype);
    EXPECT_TRUE(isOneKernel(compiled, start));
    set_seed(7);
    const std::vector<double> eager = valuesOf(walk(start));
    set_seed(7);
    const std::vector<double> made = valuesOf(compiled(start));
    for (std::size_t i = 0; i < eager.size(); ++i)
      EXPECT_NEAR(made[i], eager[i], dtype == DType::Float32 ? 1e-5 : 1e-13);
  }
}
