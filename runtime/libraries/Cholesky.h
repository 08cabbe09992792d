// The Cholesky factor of large matrices.
#ifndef CALQUE_RUNTIME_LIBRARIES_CHOLESKY_H
#define CALQUE_RUNTIME_LIBRARIES_CHOLESKY_H

#include "runtime/libraries/Triangles.h"

namespace calque::runtime {

// The lower triangle of A, which L overwrites, by blocks of columns: those behind a block are tiles, which are
// independent. The next block is factored while others are still worked on. A row-major lower triangle is LAPACK's
// upper one.
template <typename T> class BlockedCholesky {
public:
  BlockedCholesky(const Lapack<T> &lapack, T *a, int64_t n)
      : lapack(lapack), a(a), n(n), block(n <= kSmall || n >= kLarge ? 128 : 64), stride(lapackInt(n)),
        columns(block * block) {}

  // The size of the first leading minor that is not positive, or 0.
  int64_t run() {
    for (int64_t k = 0; k < n && failed == 0; k += block) {
      if (k == 0)
        factor(k);
      if (failed == 0 && k + block < n)
        subtract(k, k + block);
    }
    return failed;
  }

private:
  static constexpr int64_t kSmall = 128, kLarge = 1024;
  int64_t widthAt(int64_t k) const { return std::min(block, n - k); }

  // The block at k, whose rows below the diagonal are a solution. OpenBLAS factors a lower triangle in columns in two
  // thirds of the time that it takes for an upper one.
  void factor(int64_t k) {
    const LapackInt width = lapackInt(widthAt(k)), rows = lapackInt(n - k - width);
    T *own = a + k * n + k;
    LapackInt info = 0;
    transposeBlock(own, n, columns.get(), width, width, width);
    lapack.potrf("L", &width, columns.get(), &width, &info, 1);
    transposeBlock(columns.get(), width, own, n, width, width);
    // Not all libraries notice a NaN.
    for (int64_t i = 0; i < width && info == 0; ++i)
      if (!(realPart(own[i * n + i]) > 0))
        info = lapackInt(i + 1);
    if (info != 0) {
      failed = k + info;
      return;
    }
    const T one = 1;
    if (rows > 0)
      lapack.trsm("L", "U", kAdjoint<T>, "N", &width, &rows, &one, own, &stride, own + width * n, &stride, 1, 1, 1, 1);
  }

  // What the block at k takes from the elements behind it: of the next block, which is then factored, and of the lower
  // triangle of tiles behind that.
  void subtract(int64_t k, int64_t next) {
    const int64_t ahead = next + widthAt(next), tile = n - ahead < kLarge ? 128 : 256,
                  rows = (n - ahead + tile - 1) / tile;
    auto endOf = [&](int64_t first) { return std::min(n, first + tile); };
    parallelFor(1 + rows * (rows + 1) / 2, 1, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        if (at == 0) {
          subtract(k, next, n, next, ahead);
          factor(next);
          continue;
        }
        int64_t row = 0, column = at - 1;
        while (column > row)
          column -= ++row;
        row = ahead + row * tile;
        column = ahead + column * tile;
        subtract(k, row, endOf(row), column, endOf(column));
      }
    });
  }
  void subtract(int64_t k, int64_t row, int64_t lastRow, int64_t column, int64_t lastColumn) {
    const LapackInt width = lapackInt(widthAt(k)), columns = lapackInt(lastColumn - column),
                    rows = lapackInt(lastRow - row);
    const T one = 1, minusOne = -1;
    lapack.gemm(kAdjoint<T>, "N", &columns, &rows, &width, &minusOne, a + column * n + k, &stride, a + row * n + k,
                &stride, &one, a + row * n + column, &stride, 1, 1);
  }

  const Lapack<T> &lapack;
  T *const a;
  const int64_t n, block;
  const LapackInt stride;
  const Scratch<T> columns; // a block
  int64_t failed = 0;
};

// L of one matrix, with zeros above its diagonal.
template <typename T> int64_t largeCholesky(const Lapack<T> &lapack, const T *a, T *l, int64_t n) {
  const int64_t rows = std::max<int64_t>(1, (1 << 15) / n);
  parallelFor(n, rows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::copy_n(a + i * n, i + 1, l + i * n);
  });
  const int64_t failed = BlockedCholesky<T>(lapack, l, n).run();
  parallelFor(n, rows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::fill(l + i * n + i + 1, l + (i + 1) * n, T(0));
  });
  return failed;
}

} // namespace calque::runtime
#endif
