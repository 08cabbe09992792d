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
  const Size n = x.shape().back(); // may be unknown
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

// The parts, in which all ways of running are compared.
inline std::vector<Tensor> partsOf(const std::vector<Tensor> &all) {
  std::vector<Tensor> results;
  for (const Tensor &x : all)
    if (is_complex(x.dtype())) {
      results.push_back(real(x));
      results.push_back(imag(x));
    } else {
      results.push_back(x);
    }
  return results;
}
// f of complex tensors in all ways, and its results as they are eagerly.
inline std::vector<Tensor> allWays(const ManyBody &f, const std::vector<Tensor> &inputs) {
  (void)everyWay([f](const std::vector<Tensor> &x) { return partsOf(f(x)); }, inputs);
  return f(inputs);
}

inline void expectNumbers(const Tensor &x, const std::vector<Complex> &expected, double tolerance = 1e-13) {
  const std::vector<double> re = valuesOf<double>(real(x)), im = valuesOf<double>(imag(x));
  ASSERT_EQ(re.size(), expected.size());
  for (std::size_t i = 0; i < re.size(); ++i)
    EXPECT_LE(std::abs(Complex(re[i], im[i]) - expected[i]), tolerance * (1 + std::abs(expected[i]))) << i;
}
//===-- Derivatives by parts ---------------------------------------------------------------------===//

// A function of the parts of matrices, whose derivatives are those by each part.
inline Body ofParts(const std::function<Tensor(const std::vector<Tensor> &)> &f) {
  return [f](const std::vector<Tensor> &x) {
    std::vector<Tensor> whole;
    for (std::size_t i = 0; i + 1 < x.size(); i += 2)
      whole.push_back(complex(x[i], x[i + 1]));
    const Tensor y = f(whole);
    return is_complex(y.dtype()) ? concat({real(y), imag(y)}, -1) : y;
  };
}
inline std::vector<Tensor> drawn(std::mt19937 &random, std::initializer_list<Shape> shapes) {
  std::vector<Tensor> all;
  for (const Shape &shape : shapes)
    for (int part = 0; part < 2; ++part)
      all.push_back(randomTensor(random, shape, -1, 1));
  return all;
}

} // namespace calque::testing
#endif
