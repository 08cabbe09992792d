// Functions of complex triangles, of which those of matrices are made by Schur factors:
//   A. Bjorck, S. Hammarling, A Schur method for the square root of a matrix, Linear Algebra Appl. 52/53, 1983;
//   A. H. Al-Mohy, N. J. Higham, Improved inverse scaling and squaring algorithms for the matrix logarithm, SIAM J.
//   Sci. Comput. 34, 2012; N. J. Higham, Functions of matrices, SIAM, 2008, chapter 11.
#ifndef CALQUE_RUNTIME_LIBRARIES_COMPLEXTRIANGLES_H
#define CALQUE_RUNTIME_LIBRARIES_COMPLEXTRIANGLES_H

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace calque::runtime {

// A matrix in row-major order.
class ComplexMatrix {
public:
  using Number = std::complex<double>;
  explicit ComplexMatrix(int64_t n) : n(n), elements(static_cast<std::size_t>(n * n)) {}
  Number &operator()(int64_t i, int64_t j) { return elements[static_cast<std::size_t>(i * n + j)]; }
  Number operator()(int64_t i, int64_t j) const { return elements[static_cast<std::size_t>(i * n + j)]; }
  int64_t n;

private:
  std::vector<Number> elements;
};

// The principal square root.
ComplexMatrix rootOfTriangle(const ComplexMatrix &t);
// The principal logarithm of a triangle whose eigenvalues are not 0.
ComplexMatrix logarithmOfTriangle(const ComplexMatrix &t);

} // namespace calque::runtime
#endif
