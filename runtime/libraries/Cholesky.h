// The Cholesky factor of large matrices.
#ifndef CALQUE_RUNTIME_LIBRARIES_CHOLESKY_H
#define CALQUE_RUNTIME_LIBRARIES_CHOLESKY_H

#include "runtime/libraries/Triangles.h"

namespace calque::runtime {

// The lower triangle of A, which L overwrites, by blocks of columns: those behind a block are tiles, which are
// independent. A row-major lower triangle is LAPACK's upper one. Returns the size of the first leading minor that is
// not positive, or 0.
template <typename T> int64_t blockedCholesky(const Lapack<T> &lapack, T *a, int64_t n) {
  constexpr int64_t kBlock = 128;
  const LapackInt stride = lapackInt(n);
  const T one = 1, minusOne = -1;
  for (int64_t k = 0; k < n; k += kBlock) {
    const int64_t width = std::min(kBlock, n - k), next = k + width;
    const LapackInt columns = lapackInt(width);
    LapackInt info = 0;
    lapack.potrf("U", &columns, a + k * n + k, &stride, &info, 1);
    // Not all libraries notice a NaN.
    for (int64_t i = k; i < next && info == 0; ++i)
      if (!(realPart(a[i * n + i]) > 0))
        info = lapackInt(i - k + 1);
    if (info != 0)
      return k + info;
    const int64_t tiles = (n - next + kBlock - 1) / kBlock;
    auto rowsOf = [&](int64_t tile) { return lapackInt(std::min(kBlock, n - next - tile * kBlock)); };
    auto rowOf = [&](int64_t tile) { return next + tile * kBlock; };
    parallelFor(tiles, 1, [&](int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end; ++tile) {
        const LapackInt rows = rowsOf(tile);
        lapack.trsm("L", "U", kAdjoint<T>, "N", &columns, &rows, &one, a + k * n + k, &stride, a + rowOf(tile) * n + k,
                    &stride, 1, 1, 1, 1);
      }
    });
    parallelFor(tiles * (tiles + 1) / 2, 1, [&](int64_t begin, int64_t end) {
      for (int64_t pair = begin; pair < end; ++pair) {
        int64_t row = 0, column = pair; // of the lower triangle of tiles
        while (column > row)
          column -= ++row;
        const LapackInt rows = rowsOf(row), others = rowsOf(column);
        lapack.gemm(kAdjoint<T>, "N", &others, &rows, &columns, &minusOne, a + rowOf(column) * n + k, &stride,
                    a + rowOf(row) * n + k, &stride, &one, a + rowOf(row) * n + rowOf(column), &stride, 1, 1);
      }
    });
  }
  return 0;
}

// L of one matrix, with zeros above its diagonal.
template <typename T> int64_t largeCholesky(const Lapack<T> &lapack, const T *a, T *l, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    std::copy_n(a + i * n, i + 1, l + i * n);
  const int64_t failed = blockedCholesky(lapack, l, n);
  for (int64_t i = 0; i < n; ++i)
    std::fill(l + i * n + i + 1, l + (i + 1) * n, T(0));
  return failed;
}

} // namespace calque::runtime
#endif
