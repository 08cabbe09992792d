// Triangular factors of large matrices with exchanged rows, of which several kernels are made.
#ifndef CALQUE_RUNTIME_LIBRARIES_LU_H
#define CALQUE_RUNTIME_LIBRARIES_LU_H

#include "runtime/libraries/Triangles.h"

#include <numeric>

namespace calque::runtime {

// By blocks of columns, of a row-major matrix, which the factors overwrite. LAPACK factors a block in columns of its
// own. What is behind it are tiles, which are independent. The next block is factored while others are still worked on.
template <typename T> class BlockedLu {
public:
  BlockedLu(const Lapack<T> &lapack, T *m, int64_t *order, int64_t n)
      : lapack(lapack), m(m), order(order), n(n), block(n < kLarge ? 64 : 128), stride(columnStride<T>(n)),
        memory(2 * block * stride), pivots(n) {}

  void run() {
    std::iota(order, order + n, int64_t(0));
    factor(0);
    for (int64_t k = 0, next = 0; k < n; k = next) {
      next = k + widthAt(k);
      for (int64_t i = k; i < next; ++i)
        std::swap(order[i], order[k + pivots[i] - 1]);
      if (next == n)
        break;
      solveRows(k, next);
      subtract(k, next, next + widthAt(next));
    }
    // Rows of the blocks change places where later blocks have said so.
    parallelFor((n - 1) / block, 1, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at)
        for (int64_t k = (at + 1) * block; k < n; k += block)
          exchangeRows(k, at * block, (at + 1) * block);
    });
  }

private:
  static constexpr int64_t kLarge = 1024;
  int64_t widthAt(int64_t k) const { return std::min(block, n - k); }
  T *blockAt(int64_t k) const { return memory.get() + k / block % 2 * block * stride; }

  void factor(int64_t k) {
    const LapackInt rows = lapackInt(n - k), columns = lapackInt(widthAt(k)), own = lapackInt(stride);
    LapackInt info = 0; // of a singular matrix: U has a zero
    T *inColumns = blockAt(k), *inRows = m + k * n + k;
    transposeBlock(inRows, n, inColumns, stride, rows, columns);
    lapack.getrf(&rows, &columns, inColumns, &own, pivots.get() + k, &info);
    transposeBlock(inColumns, stride, inRows, n, columns, rows);
  }

  void exchangeRows(int64_t k, int64_t first, int64_t last) {
    for (int64_t i = k; i < k + widthAt(k); ++i)
      if (const int64_t other = k + pivots[i] - 1; other != i)
        std::swap_ranges(m + i * n + first, m + i * n + last, m + other * n + first);
  }

  // The rows of U that belong to the block at k, behind it. LAPACK sees rows as columns.
  void solveRows(int64_t k, int64_t next) {
    constexpr int64_t kTile = 128;
    parallelFor(n - next, kTile, [&](int64_t begin, int64_t end) {
      exchangeRows(k, next + begin, next + end);
      const LapackInt width = lapackInt(widthAt(k)), size = lapackInt(n), columns = lapackInt(end - begin),
                      own = lapackInt(stride);
      const T one = 1;
      lapack.trsm("R", "L", "T", "U", &columns, &width, &one, blockAt(k), &own, m + k * n + next + begin, &size, 1, 1,
                  1, 1);
    });
  }

  // What the block at k takes from the elements behind it: of the next block, which is then factored, and of tiles.
  void subtract(int64_t k, int64_t next, int64_t ahead) {
    const int64_t tile = n - ahead < kLarge ? 256 : 512, tiles = (n - ahead + tile - 1) / tile,
                  rows = (n - next + tile - 1) / tile;
    parallelFor(1 + tiles * rows, 1, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at) {
        if (at == 0) {
          subtract(k, next, n, next, ahead);
          factor(next);
          continue;
        }
        const int64_t row = next + (at - 1) / tiles * tile, column = ahead + (at - 1) % tiles * tile;
        subtract(k, row, std::min(n, row + tile), column, std::min(n, column + tile));
      }
    });
  }
  void subtract(int64_t k, int64_t row, int64_t lastRow, int64_t column, int64_t lastColumn) {
    const LapackInt width = lapackInt(widthAt(k)), size = lapackInt(n), columns = lapackInt(lastColumn - column),
                    rows = lapackInt(lastRow - row), own = lapackInt(stride);
    const T one = 1, minusOne = -1;
    lapack.gemm("N", "T", &columns, &rows, &width, &minusOne, m + k * n + column, &size, blockAt(k) + row - k, &own,
                &one, m + row * n + column, &size, 1, 1);
  }

  const Lapack<T> &lapack;
  T *const m;
  int64_t *const order;
  const int64_t n, block, stride;
  const Scratch<T> memory;         // of this block and the next one
  const Scratch<LapackInt> pivots; // of each block, counted from its first row
};

template <typename T> void largeLu(const Lapack<T> &lapack, const T *a, T *lu, int64_t *order, int64_t n) {
  copyLarge(a, lu, n * n);
  const RealOf<T> back = scaleToRange(lu, n * n);
  BlockedLu<T>(lapack, lu, order, n).run();
  if (back != 1)
    parallelFor(n, 128, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t j = i; j < n; ++j)
          lu[i * n + j] *= back;
    });
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

// The inverse from the factors of A, by tiles of its rows, which are independent: X of X L U = P, so that what U gives
// begins with zeros. A tile is in columns, and blocks of these are products but for the triangle on the diagonal.
template <typename T> void largeInverse(const Lapack<T> &lapack, const T *lu, const int64_t *order, T *x, int64_t n) {
  constexpr int64_t kBlock = 64;
  const int64_t tile = n < 1024 ? 64 : 128;
  parallelFor((n + tile - 1) / tile, 1, [&](int64_t begin, int64_t end) {
    const Scratch<T> memory(tile * n);
    T *columns = memory.get();
    const LapackInt size = lapackInt(n);
    const T one = 1, minusOne = -1;
    for (int64_t at = begin; at < end; ++at) {
      const int64_t first = at * tile;
      const LapackInt rows = lapackInt(std::min(tile, n - first));
      // The columns of a block, from those of others behind it or before it.
      auto solve = [&](int64_t k, int64_t from, int64_t to, const char *triangle, const char *diagonal) {
        const LapackInt width = lapackInt(std::min(kBlock, n - k)), inner = lapackInt(to - from);
        T *own = columns + k * rows;
        if (inner > 0)
          lapack.gemm("N", "T", &rows, &width, &inner, &minusOne, columns + from * rows, &rows, lu + from * n + k,
                      &size, &one, own, &rows, 1, 1);
        lapack.trsm("R", triangle, "T", diagonal, &rows, &width, &one, lu + k * n + k, &size, own, &rows, 1, 1, 1, 1);
      };
      std::fill_n(columns, rows * n, T(0));
      for (int64_t i = 0; i < rows; ++i)
        columns[(first + i) * rows + i] = 1;
      for (int64_t k = first; k < n; k += kBlock)
        solve(k, first, k, "L", "N");
      for (int64_t k = (n - 1) / kBlock * kBlock; k >= 0; k -= kBlock)
        solve(k, std::min(n, k + kBlock), n, "U", "U");
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < n; ++j)
          x[(first + i) * n + order[j]] = columns[j * rows + i];
    }
  });
}

} // namespace calque::runtime
#endif
