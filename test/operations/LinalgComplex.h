// What the tests of complex matrices share. Residuals are computed in long double on the real matrices [re, -im; im,
// re], whose transposed ones are those of the adjoint matrices.
#ifndef CALQUE_TEST_OPERATIONS_LINALGCOMPLEX_H
#define CALQUE_TEST_OPERATIONS_LINALGCOMPLEX_H

#include "test/operations/Linalg.h"

#include <complex>

namespace calque::testing {

using Complex = std::complex<double>;
struct Sizes {
  std::int64_t m, n;
};

inline Tensor numbers(const Shape &shape, const std::vector<Complex> &all) { return tensor(all, shape); }

inline Tensor adjoint(const Tensor &x) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < x.rank(); ++i)
    order.push_back(i);
  std::swap(order[order.size() - 2], order.back());
  return conj(transpose(x, order));
}

inline Tensor randomComplex(std::mt19937 &random, DType dtype, const Shape &shape) {
  return complex(randomMatrices(random, dtype, shape), randomMatrices(random, dtype, shape));
}

// x x^H and more of the diagonal.
inline Tensor positiveComplex(const Tensor &x, double diagonal = 1) {
  const Size n = real(x).shape().back(); // may be unknown
  Tensor isDiagonal = iota(Shape{n, 1}, DType::Int64, 0) == iota(Shape{1, n}, DType::Int64, 1);
  return matmul(x, adjoint(x)) + diagonal * cast(isDiagonal, x.dtype());
}

inline Tensor hermitian(const Tensor &x) { return (x + adjoint(x)) * 0.5; }

inline Matrix embedded(const Tensor &x, std::int64_t index = 0) {
  if (!is_complex(x.dtype()))
    return Matrix(x, index);
  const Matrix re(real(x), index), im(imag(x), index);
  Matrix all(2 * re.rows, 2 * re.columns);
  for (std::int64_t i = 0; i < re.rows; ++i)
    for (std::int64_t j = 0; j < re.columns; ++j) {
      all.at(i, j) = all.at(i + re.rows, j + re.columns) = re.at(i, j);
      all.at(i + re.rows, j) = im.at(i, j);
      all.at(i, j + re.columns) = -im.at(i, j);
    }
  return all;
}

} // namespace calque::testing
#endif
