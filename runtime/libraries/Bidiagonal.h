// Singular values of large matrices, by a bidiagonal one.
#ifndef CALQUE_RUNTIME_LIBRARIES_BIDIAGONAL_H
#define CALQUE_RUNTIME_LIBRARIES_BIDIAGONAL_H

#include "runtime/libraries/Reflections.h"

namespace calque::runtime {

// A = Q B P^T by reflections from the left and from the right, in blocks of columns and rows (Dongarra, Sorensen and
// Hammarling 1989), of a square row-major matrix, which is overwritten. B has a diagonal and what is beside it, above.
// Each column takes two products of what is left of the matrix and a vector, on threads: how a sum is divided does not
// depend on their number. What a block makes of the rest are products of tiles.
template <typename T> class Bidiagonal {
public:
  Bidiagonal(const Lapack<T> &lapack, T *a, int64_t n, T *diagonal, T *beside)
      : left(n, 0, n), right(n, 1, n - 1), lapack(lapack), a(a), n(n), diagonal(diagonal), beside(beside),
        stride(columnStride<T>(n)), tauLeft(n), tauRight(n), parts(kParts * stride), small(kWidth) {
    const Scratch<T> x(stride * kWidth), y(stride * kWidth), columns(stride * kWidth);
    for (int64_t k = 0; k < n; k += kWidth) {
      const int64_t width = std::min(kWidth, n - k);
      transposeBlock(a + k * n + k, n, columns.get() + k, stride, n - k, width);
      for (int64_t j = 0; j < width; ++j)
        reduce(k, j, columns.get() + j * stride + k + j, x.get(), y.get());
      subtract(k, width, x.get(), y.get());
    }
    const int64_t lefts = left.blocks();
    parallelFor(lefts + right.blocks(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at)
        if (at < lefts)
          finishBlock(lapack, left.block(at), tauLeft.get() + left.block(at).first);
        else
          finishBlock(lapack, right.block(at - lefts), tauRight.get() + right.block(at - lefts).first - 1);
    });
  }

  const Reflections<T> left, right; // that Q and P are the products of

private:
  static constexpr int64_t kParts = 4, kWidth = 32;
  static constexpr LapackInt kStep = 1;

  // Makes a reflection of a column, of which the first element is left, and writes it to `to`.
  T reflectionOf(T *column, int64_t rows, T *tau, T *to) {
    const LapackInt size = lapackInt(rows), words = kWidth;
    LapackInt info = 0;
    T work[kWidth];
    lapack.geqrf(&size, &kStep, column, &size, tau, work, &words, &info);
    to[0] = 1;
    std::copy_n(column + 1, rows - 1, to + 1);
    return column[0];
  }

  // vector -= matrix factors, and matrix^T vector, of columns that are `stride` apart.
  void subtractFrom(T *vector, const T *matrix, int64_t rows, int64_t columns, const T *factors, int64_t factorStep) {
    const LapackInt size = lapackInt(rows), count = lapackInt(columns), own = lapackInt(stride),
                    step = lapackInt(factorStep);
    const T one = 1, minusOne = -1;
    if (columns > 0 && rows > 0)
      lapack.gemv("N", &size, &count, &minusOne, matrix, &own, factors, &step, &one, vector, &kStep, 1);
  }
  const T *productsWith(const T *vector, const T *matrix, int64_t rows, int64_t columns) {
    const LapackInt size = lapackInt(rows), count = lapackInt(columns), own = lapackInt(stride);
    const T one = 1, zero = 0;
    if (columns > 0)
      lapack.gemv("T", &size, &count, &one, matrix, &own, vector, &kStep, &zero, small.get(), &kStep, 1);
    return small.get();
  }

  // Column and row i = k + j, and the columns j of Y and X, of A - V Y^T - X U^T, where V and U are the reflections
  // from k on. All columns have all rows.
  void reduce(int64_t k, int64_t j, T *column, T *x, T *y) {
    const int64_t i = k + j, rows = n - i, others = n - i - 1;
    const T *v = left.column(k), *u = right.column(k);
    subtractFrom(column, v + i, rows, j, y + i, stride);
    subtractFrom(column, x + i, rows, j, u + i, stride);
    T *ownV = left.column(i);
    std::fill(ownV + left.firstOf(i), ownV + i, T(0));
    diagonal[i] = reflectionOf(column, rows, tauLeft.get() + i, ownV + i);
    if (others == 0)
      return;

    T *ownY = y + j * stride + i + 1;
    multiplyTransposed(i, ownV + i, ownY);
    subtractFrom(ownY, y + i + 1, others, j, productsWith(ownV + i, v + i, rows, j), 1);
    subtractFrom(ownY, u + i + 1, others, j, productsWith(ownV + i, x + i, rows, j), 1);
    for (int64_t c = 0; c < others; ++c)
      ownY[c] *= tauLeft[i];

    T *row = a + i * n + i + 1;
    subtractFrom(row, y + i + 1, others, j + 1, v + i, stride);
    subtractFrom(row, u + i + 1, others, j, x + i, stride);
    T *ownU = right.column(i);
    std::fill(ownU + right.firstOf(i), ownU + i + 1, T(0));
    beside[i] = reflectionOf(row, others, tauRight.get() + i, ownU + i + 1);

    T *ownX = x + j * stride + i + 1;
    multiply(i + 1, ownU + i + 1, ownX);
    subtractFrom(ownX, v + i + 1, others, j + 1, productsWith(ownU + i + 1, y + i + 1, others, j + 1), 1);
    subtractFrom(ownX, x + i + 1, others, j, productsWith(ownU + i + 1, u + i + 1, others, j), 1);
    for (int64_t r = 0; r < others; ++r)
      ownX[r] *= tauRight[i];
  }

  // A^T v of the rows from i on and the columns behind i, in parts.
  void multiplyTransposed(int64_t i, const T *v, T *result) {
    const int64_t rows = n - i;
    const LapackInt columns = lapackInt(rows - 1), size = lapackInt(n);
    const T one = 1, zero = 0;
    parallelFor(kParts, 1, [&](int64_t start, int64_t end) {
      for (int64_t part = start; part < end; ++part) {
        const int64_t from = rows * part / kParts, to = rows * (part + 1) / kParts;
        T *own = part == 0 ? result : parts.get() + part * stride;
        const LapackInt count = lapackInt(to - from);
        if (count == 0)
          std::fill_n(own, columns, T(0));
        else
          lapack.gemv("N", &columns, &count, &one, a + (i + from) * n + i + 1, &size, v + from, &kStep, &zero, own,
                      &kStep, 1);
      }
    });
    for (int64_t part = 1; part < kParts; ++part)
      for (int64_t c = 0; c < columns; ++c)
        result[c] += parts[part * stride + c];
  }
  // A u of the rows and columns from `first` on.
  void multiply(int64_t first, const T *u, T *result) {
    const int64_t rows = n - first;
    const LapackInt columns = lapackInt(rows), size = lapackInt(n);
    const T one = 1, zero = 0;
    parallelFor(kParts, 1, [&](int64_t start, int64_t end) {
      for (int64_t part = start; part < end; ++part) {
        const int64_t from = rows * part / kParts, to = rows * (part + 1) / kParts;
        const LapackInt count = lapackInt(to - from);
        if (count > 0)
          lapack.gemv("T", &columns, &count, &one, a + (first + from) * n + first, &size, u, &kStep, &zero,
                      result + from, &kStep, 1);
      }
    });
  }

  // A - V Y^T - X U^T behind a block.
  void subtract(int64_t k, int64_t width, const T *x, const T *y) {
    constexpr int64_t kTile = 256;
    const int64_t first = k + width, tiles = (n - first + kTile - 1) / kTile;
    const LapackInt size = lapackInt(n), own = lapackInt(stride), inner = lapackInt(width);
    const T one = 1, minusOne = -1, *v = left.column(k), *u = right.column(k);
    parallelFor(tiles * tiles, 1, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        const int64_t i = first + at / tiles * kTile, j = first + at % tiles * kTile;
        const LapackInt rows = lapackInt(std::min(kTile, n - i)), columns = lapackInt(std::min(kTile, n - j));
        T *tile = a + i * n + j;
        lapack.gemm("N", "T", &columns, &rows, &inner, &minusOne, y + j, &own, v + i, &own, &one, tile, &size, 1, 1);
        lapack.gemm("N", "T", &columns, &rows, &inner, &minusOne, u + j, &own, x + i, &own, &one, tile, &size, 1, 1);
      }
    });
  }

  const Lapack<T> &lapack;
  T *const a;
  const int64_t n;
  T *const diagonal, *const beside;
  const int64_t stride;
  const Scratch<T> tauLeft, tauRight, parts, small;
};

// The product of reflections and a matrix, of which `fill` writes columns before they are reflected, by tiles of
// columns.
template <typename T, typename Fill>
void reflectAll(const Lapack<T> &lapack, const Reflections<T> &reflections, T *x, int64_t n, Fill &&fill) {
  constexpr int64_t kTile = 128;
  parallelFor((n + kTile - 1) / kTile, 1, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t first = tile * kTile, count = std::min(kTile, n - first);
      fill(first, count);
      for (int64_t at = reflections.blocks(); at-- > 0;)
        reflectColumns(lapack, reflections.block(at), false, x + first, n, count);
    }
  });
}

// A = U diag(s) V^T of a square row-major matrix, which is overwritten. False: it does not converge.
template <typename T> bool bidiagonalSvd(const Lapack<T> &lapack, T *a, T *u, T *s, T *vh, int64_t n) {
  // As LAPACK does, the elements are brought to where squares don't leave the range.
  T largest = 0;
  for (int64_t e = 0; e < n * n; ++e)
    largest = std::max(largest, std::fabs(a[e]));
  const T least = std::sqrt(std::numeric_limits<T>::min()) / std::numeric_limits<T>::epsilon(), most = 1 / least;
  const T scale = largest > 0 && largest < least ? least / largest : largest > most ? most / largest : T(1);
  if (scale != 1)
    for (int64_t e = 0; e < n * n; ++e)
      a[e] *= scale;
  const Scratch<T> beside(n), rows(n * n), columns(n * n), work(3 * n * n + 4 * n);
  const Scratch<LapackInt> ints(8 * n);
  const Bidiagonal<T> bidiagonal(lapack, a, n, s, beside.get());
  const LapackInt size = lapackInt(n);
  LapackInt info = 0;
  lapack.bdsdc("U", "I", &size, s, beside.get(), columns.get(), &size, rows.get(), &size, nullptr, nullptr, work.get(),
               ints.get(), &info, 1, 1);
  if (info != 0)
    return false;
  for (int64_t i = 0; i < n; ++i)
    s[i] /= scale;
  reflectAll(lapack, bidiagonal.left, u, n, [&](int64_t first, int64_t count) {
    transposeBlock(columns.get() + first * n, n, u + first, n, count, n);
  });
  // LAPACK's V^T in columns is V in rows.
  reflectAll(lapack, bidiagonal.right, rows.get(), n, [](int64_t, int64_t) {});
  constexpr int64_t kRows = 64;
  parallelFor((n + kRows - 1) / kRows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece)
      transposeBlock(rows.get() + piece * kRows, n, vh + piece * kRows * n, n, n, std::min(kRows, n - piece * kRows));
  });
  return true;
}

} // namespace calque::runtime
#endif
