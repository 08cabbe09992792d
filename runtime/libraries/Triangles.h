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

template <typename T> void copyLarge(const T *from, T *to, int64_t count) {
  constexpr int64_t kPiece = 1 << 15;
  parallelFor(count, kPiece, [&](int64_t begin, int64_t end) { std::copy(from + begin, from + end, to + begin); });
}

// Brings the largest magnitude of a matrix near to 1 by a power of 2, if it is near the ends of the range, and returns
// what results are to be multiplied by. A product with a reflection would leave the range where R does not, and so
// would the inverse of a pivot.
template <typename T> RealOf<T> scaleToRange(T *x, int64_t size) {
  using Real = RealOf<T>;
  constexpr int64_t kPiece = 1 << 16;
  auto largestOf = [](const T *from, int64_t count) {
    constexpr int64_t kChains = 8; // that don't wait for each other
    Real each[kChains] = {};
    int64_t e = 0;
    for (; e + kChains <= count; e += kChains)
      for (int64_t c = 0; c < kChains; ++c) {
        const Real own = partsSize(from[e + c]);
        each[c] = own > each[c] ? own : each[c];
      }
    for (; e < count; ++e)
      each[0] = partsSize(from[e]) > each[0] ? partsSize(from[e]) : each[0];
    return *std::max_element(each, each + kChains);
  };
  const int64_t pieces = (size + kPiece - 1) / kPiece;
  Real largest = 0;
  if (pieces <= 1) {
    largest = largestOf(x, size);
  } else {
    const Scratch<Real> each(pieces);
    parallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at)
        each[at] = largestOf(x + at * kPiece, std::min(kPiece, size - at * kPiece));
    });
    largest = *std::max_element(each.get(), each.get() + pieces);
  }
  const Real least = std::numeric_limits<Real>::min() / std::numeric_limits<Real>::epsilon();
  if (largest == 0 || !std::isfinite(largest) || (largest >= least && largest <= std::ldexp(1 / least, -16)))
    return 1;
  const int exponent = std::ilogb(largest), half = exponent / 2;
  const Real first = std::ldexp(Real(1), -half), second = std::ldexp(Real(1), half - exponent);
  for (int64_t e = 0; e < size; ++e)
    x[e] = x[e] * first * second;
  return std::ldexp(Real(1), exponent);
}

// A block of rows to a block of columns: from[i, j] to to[j, i].
template <typename T>
void transposeBlock(const T *from, int64_t fromRow, T *to, int64_t toRow, int64_t rows, int64_t columns) {
  constexpr int64_t kTile = 8;
  for (int64_t row = 0; row < rows; row += kTile)
    for (int64_t column = 0; column < columns; column += kTile)
      for (int64_t j = column; j < std::min(columns, column + kTile); ++j)
        for (int64_t i = row; i < std::min(rows, row + kTile); ++i)
          to[j * toRow + i] = from[i * fromRow + j];
}

// How far columns of `rows` rows are apart: an odd number of cache lines, so that they don't share few places of a
// cache.
template <typename T> int64_t columnStride(int64_t rows) {
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  return ((rows + kLine - 1) / kLine | 1) * kLine;
}

// x of op(A) x = b in place of b, by blocks: what a block adds to the other rows is a product, of which pieces are
// independent. Not for adjoint matrices, of which BLAS has no product without transposing.
template <typename T>
void largeTriangularVector(const Lapack<T> &lapack, const T *a, T *x, int64_t n, TriangleForm form) {
  constexpr int64_t kBlock = 256, kRows = 128;
  const LapackInt stride = lapackInt(n), step = 1;
  const T one = 1, minusOne = -1;
  const bool forward = form.lower != form.transposed;
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  for (int64_t at = 0; at < blocks; ++at) {
    const int64_t k = (forward ? at : blocks - 1 - at) * kBlock, width = std::min(kBlock, n - k);
    const LapackInt size = lapackInt(width);
    lapack.trsv(form.lower ? "U" : "L", form.transposed ? "N" : "T", form.unit ? "U" : "N", &size, a + k * n + k,
                &stride, x + k, &step, 1, 1, 1);
    const int64_t first = forward ? k + width : 0, last = forward ? n : k;
    parallelFor(last - first, kRows, [&](int64_t begin, int64_t end) {
      const LapackInt rows = lapackInt(end - begin);
      const int64_t row = first + begin;
      if (form.transposed)
        lapack.gemv("N", &rows, &size, &minusOne, a + k * n + row, &stride, x + k, &step, &one, x + row, &step, 1);
      else
        lapack.gemv("T", &size, &rows, &minusOne, a + row * n + k, &stride, x + k, &step, &one, x + row, &step, 1);
    });
  }
}

// Whether the inverse of an element of the diagonal may leave the range.
template <typename T> bool hasTinyDiagonal(const T *a, int64_t n) {
  bool isTiny = false;
  for (int64_t i = 0; i < n; ++i)
    isTiny |= partsSize(a[i * n + i]) < 4 * std::numeric_limits<RealOf<T>>::min();
  return isTiny;
}

// A triangle of such small numbers that BLAS, which multiplies by inverses of the diagonal, would leave the range where
// quotients don't: brought near to 1 by a power of 2, as are the right-hand sides.
template <typename T> class TinyTriangle {
public:
  TinyTriangle(const T *a, int64_t n, bool lower) : numbers(n * n) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j)
        numbers[i * n + j] = (lower ? j <= i : j >= i) ? a[i * n + j] : T(0);
    if (const RealOf<T> back = scaleToRange(numbers.get(), n * n); back < 1)
      exponent = std::ilogb(back);
  }
  bool isScaled() const { return exponent != 0; }
  const T *get() const { return numbers.get(); }
  void scale(T *x, int64_t count) const {
    const int half = exponent / 2;
    const RealOf<T> first = std::ldexp(RealOf<T>(1), -half), second = std::ldexp(RealOf<T>(1), half - exponent);
    for (int64_t e = 0; e < count; ++e)
      x[e] = x[e] * first * second;
  }

private:
  const Scratch<T> numbers;
  int exponent = 0;
};

// X of op(A) X = B in place of B; of complex numbers, op(A) is the adjoint matrix in the place of the transposed one.
// Of this row-major system, LAPACK sees X^T op(A)^T = B^T, of which pieces are independent.
template <typename T>
void largeTriangularSolve(const Lapack<T> &lapack, const T *a, T *x, int64_t n, int64_t columns, TriangleForm form) {
  constexpr int64_t kPiece = 256, kMostVectors = 4;
  if (!form.unit && hasTinyDiagonal(a, n))
    if (const TinyTriangle<T> scaled(a, n, form.lower); scaled.isScaled()) {
      scaled.scale(x, n * columns);
      return largeTriangularSolve(lapack, scaled.get(), x, n, columns, form);
    }
  if (columns == 1 && !(NumberTraits<T>::isComplex && form.transposed))
    return largeTriangularVector(lapack, a, x, n, form);
  if (columns <= kMostVectors && !(NumberTraits<T>::isComplex && form.transposed)) {
    Scratch<T> own(n);
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t i = 0; i < n; ++i)
        own[i] = x[i * columns + c];
      largeTriangularVector(lapack, a, own.get(), n, form);
      for (int64_t i = 0; i < n; ++i)
        x[i * columns + c] = own[i];
    }
    return;
  }
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
