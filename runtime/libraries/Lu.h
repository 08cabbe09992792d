// Triangular factors of large matrices with exchanged rows, of which several kernels are made.
#ifndef CALQUE_RUNTIME_LIBRARIES_LU_H
#define CALQUE_RUNTIME_LIBRARIES_LU_H

#include "runtime/libraries/Triangles.h"

#include <numeric>

namespace calque::runtime {

template <typename T> void transposeSquare(const T *from, T *to, int64_t n) {
  constexpr int64_t kTile = 32;
  const int64_t tiles = (n + kTile - 1) / kTile;
  parallelFor(tiles, 4, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile)
      for (int64_t column = 0; column < n; column += kTile)
        for (int64_t i = tile * kTile; i < std::min(n, (tile + 1) * kTile); ++i)
          for (int64_t j = column; j < std::min(n, column + kTile); ++j)
            to[j * n + i] = from[i * n + j];
  });
}

// By blocks of columns: LAPACK factors a block, and tiles of the columns behind it are independent. `m` is in
// column-major order, and the factors overwrite it.
template <typename T> void blockedLu(const Lapack<T> &lapack, T *m, int64_t *order, int64_t n) {
  constexpr int64_t kBlock = 128, kTile = 256;
  const LapackInt stride = lapackInt(n), step = 1;
  const T one = 1, minusOne = -1;
  std::iota(order, order + n, int64_t(0));
  Scratch<LapackInt> pivots(kBlock);
  for (int64_t k = 0; k < n; k += kBlock) {
    const int64_t width = std::min(kBlock, n - k), next = k + width;
    const LapackInt rows = lapackInt(n - k), columns = lapackInt(width), below = lapackInt(n - next), first = 1;
    LapackInt info = 0; // of a singular matrix: U has a zero
    lapack.getrf(&rows, &columns, m + k * n + k, &stride, pivots.get(), &info);
    for (int64_t i = 0; i < width; ++i)
      std::swap(order[k + i], order[k + pivots[i] - 1]);
    // The columns before the block are tiles, too, of which only rows change places.
    const int64_t before = (k + kTile - 1) / kTile, behind = (n - next + kTile - 1) / kTile;
    parallelFor(before + behind, 1, [&](int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end; ++tile) {
        const bool isBefore = tile < before;
        const int64_t start = isBefore ? tile * kTile : next + (tile - before) * kTile;
        const LapackInt own = lapackInt(std::min(kTile, (isBefore ? k : n) - start));
        T *top = m + start * n + k;
        lapack.laswp(&own, top, &stride, &first, &columns, pivots.get(), &step);
        if (isBefore)
          continue;
        lapack.trsm("L", "L", "N", "U", &columns, &own, &one, m + k * n + k, &stride, top, &stride, 1, 1, 1, 1);
        if (below > 0)
          lapack.gemm("N", "N", &below, &own, &columns, &minusOne, m + k * n + next, &stride, top, &stride, &one,
                      top + width, &stride, 1, 1);
      }
    });
  }
}

template <typename T> void largeLu(const Lapack<T> &lapack, const T *a, T *lu, int64_t *order, int64_t n) {
  Scratch<T> turned(n * n);
  transposeSquare(a, turned.get(), n);
  blockedLu(lapack, turned.get(), order, n);
  transposeSquare(turned.get(), lu, n);
}

template <typename T> int64_t firstZero(const T *lu, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    if (lu[i * n + i] == T(0))
      return i + 1;
  return 0;
}

// X of op(A) X = B from the factors of A.
template <typename T>
void largeLuSolve(const Lapack<T> &lapack, const T *lu, const int64_t *order, const T *b, T *x, int64_t n,
                  int64_t columns, bool transposed) {
  const TriangleForm lower{true, transposed, true}, upper{false, transposed, false};
  if (!transposed) {
    for (int64_t i = 0; i < n; ++i)
      std::copy_n(b + order[i] * columns, columns, x + i * columns);
    largeTriangularSolve(lapack, lu, x, n, columns, lower);
    largeTriangularSolve(lapack, lu, x, n, columns, upper);
    return;
  }
  Scratch<T> rows(n * columns);
  std::copy_n(b, n * columns, rows.get());
  largeTriangularSolve(lapack, lu, rows.get(), n, columns, upper);
  largeTriangularSolve(lapack, lu, rows.get(), n, columns, lower);
  for (int64_t i = 0; i < n; ++i)
    std::copy_n(rows.get() + i * columns, columns, x + order[i] * columns);
}

} // namespace calque::runtime
#endif
