#include "linear/Inverse.h"
#include "Testing.h"

using namespace calque;
using namespace calque::testing;
using calque::solvers::detail::inverse;

namespace {

// Zeros on the diagonal, so that each column needs a pivot from another row.
Tensor withoutDiagonal(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  return randomTensor(random, {n, n}) * (1 - eye(n, DType::Float64));
}
double residual(const Tensor &a, const Tensor &x) {
  const std::int64_t n = a.shape()[0];
  return cast(max(abs(matmul(a, x) - eye(n, a.dtype()))), DType::Float64).item<double>();
}

} // namespace

// In registers, by columns, and by blocks of one and of several sizes.
TEST(Inverse, OfAllSizes) {
  for (std::int64_t n : {2, 3, 5, 6, 20, 70}) {
    SCOPED_TRACE(n);
    const Tensor a = withoutDiagonal(n, 7);
    const Tensor x = function(inverse)(a);
    EXPECT_LT(residual(a, x), 1e-11 * (1 + max(abs(x)).item<double>()));
    if (n < 10) {
      expectNear(inverse(a), valuesOf(x), 1e-12);
    }
    EXPECT_LT(residual(cast(a, DType::Float32), function(inverse)(cast(a, DType::Float32))),
              1e-3 * (1 + max(abs(x)).item<double>()));
  }
  EXPECT_EQ(inverse(tensor<double>({{4}})).item<double>(), 0.25);
}

// The pivots of a whole block lie in other blocks.
TEST(Inverse, OfAMatrixWithABlockOfZeros) {
  std::mt19937 random(9);
  const Tensor a = randomTensor(random, {90, 90}) * (1 - pad(ones({40, 40}, DType::Float64), {0, 0}, {50, 50}));
  const Tensor x = function(inverse)(a);
  EXPECT_LT(residual(a, x), 1e-11 * (1 + max(abs(x)).item<double>()));
}

TEST(Inverse, OfASingularMatrixIsNotFinite) {
  for (std::int64_t n : {3, 8, 70}) {
    const Tensor x = function(inverse)(ones({n, n}, DType::Float64));
    EXPECT_FALSE(all(isfinite(x)).item<bool>()) << n;
  }
}

TEST(Inverse, DerivativesAndVmap) {
  const Tensor a = withoutDiagonal(4, 3);
  expectDerivatives([](const std::vector<Tensor> &x) { return inverse(x[0]); }, {a}, 2);
  const Tensor all = function(vmap(inverse))(stack({a, 2 * a, transpose(a)}));
  expectNear(all[1], valuesOf(0.5 * inverse(a)), 1e-12);
  expectNear(all[2], valuesOf(transpose(inverse(a))), 1e-12);
  const Tensor large = withoutDiagonal(70, 5);
  const Tensor slope = function(grad([](const Tensor &x) { return sum(inverse(x)); }))(large);
  const Tensor column = sum(transpose(inverse(large)), 1), row = sum(inverse(large), 1);
  // d sum(X) = -sum(X dA X)
  expectNear(slope, valuesOf(-expand_dims(column, 1) * row), 1e-6);
}
