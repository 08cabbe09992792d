// Solutions by large triangular matrices, of which several kernels are made.
#ifndef CALQUE_RUNTIME_LIBRARIES_TRIANGLES_H
#define CALQUE_RUNTIME_LIBRARIES_TRIANGLES_H

#include "runtime/libraries/Batches.h"

#include <cmath>
#include <complex>

namespace calque::runtime {

// Real or complex numbers.
template <typename T> struct NumberTraits {
  using Real = T;
  static constexpr bool isComplex = false;
};
template <typename R> struct NumberTraits<std::complex<R>> {
  using Real = R;
  static constexpr bool isComplex = true;
};
template <typename T> using RealOf = typename NumberTraits<T>::Real;
// What LAPACK calls the adjoint matrix.
template <typename T> inline constexpr LapackText kAdjoint = NumberTraits<T>::isComplex ? "C" : "T";

template <typename T> RealOf<T> realPart(T x) {
  if constexpr (NumberTraits<T>::isComplex)
    return x.real();
  else
    return x;
}
template <typename T> T conjugate(T x) {
  if constexpr (NumberTraits<T>::isComplex)
    return {x.real(), -x.imag()};
  else
    return x;
}
// A size of a number that needs no root: the sum of the magnitudes of its parts.
template <typename T> RealOf<T> partsSize(T x) {
  if constexpr (NumberTraits<T>::isComplex)
    return std::fabs(x.real()) + std::fabs(x.imag());
  else
    return std::fabs(x);
}
// |x|^2
template <typename T> RealOf<T> squareOf(T x) {
  if constexpr (NumberTraits<T>::isComplex)
    return x.real() * x.real() + x.imag() * x.imag();
  else
    return x * x;
}

// X of op(A) X = B in place of B; of complex numbers, op(A) is the adjoint matrix in the place of the transposed one.
// Of this row-major system, LAPACK sees X^T op(A)^T = B^T, of which pieces are independent.
template <typename T>
void largeTriangularSolve(const Lapack<T> &lapack, const T *a, T *x, int64_t n, int64_t columns, TriangleForm form) {
  constexpr int64_t kPiece = 256;
  const LapackInt size = lapackInt(n), stride = lapackInt(columns);
  const T one = 1;
  parallelFor((columns + kPiece - 1) / kPiece, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const LapackInt width = lapackInt(std::min(kPiece, columns - piece * kPiece));
      lapack.trsm("R", form.lower ? "U" : "L", form.transposed ? kAdjoint<T> : "N", form.unit ? "U" : "N", &width,
                  &size, &one, a, &size, x + piece * kPiece, &stride, 1, 1, 1, 1);
    }
  });
}

} // namespace calque::runtime
#endif
