// Eigenvalues of large symmetric matrices, by a tridiagonal one.
#ifndef CALQUE_RUNTIME_LIBRARIES_TRIDIAGONAL_H
#define CALQUE_RUNTIME_LIBRARIES_TRIDIAGONAL_H

#include "runtime/libraries/Reflections.h"

#include <atomic>
#include <numeric>

namespace calque::runtime {

// A = Q T Q^T by reflections, in blocks of columns (Dongarra, Sorensen and Hammarling 1989), of a row-major matrix
// whose lower triangle is read and overwritten. Each column takes a product of what is left of the matrix and a vector:
// tiles of it are summed up in parts, whose number does not depend on the threads. What a block of columns makes of the
// rest are products of tiles.
template <typename T> class Tridiagonal {
public:
  Tridiagonal(const Lapack<T> &lapack, T *a, int64_t n, T *diagonal, T *beside)
      : reflections(n, 1, n - 1), lapack(lapack), a(a), n(n), diagonal(diagonal), beside(beside),
        stride(columnStride<T>(n)), tau(n), parts(kParts * stride), small(2 * kWidth) {
    const Scratch<T> columns(stride * kWidth), other(stride * kWidth);
    for (int64_t k = 0; k < n - 1; k += kWidth) {
      const int64_t width = std::min(kWidth, n - 1 - k);
      reduce(k, width, columns.get(), other.get());
      subtract(k, width, other.get());
    }
    diagonal[n - 1] = a[n * n - 1];
    parallelFor(reflections.blocks(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; ++at)
        finishBlock(lapack, reflections.block(at), tau.get() + reflections.block(at).first - 1);
    });
  }

  const Reflections<T> reflections; // that Q is the product of

private:
  static constexpr int64_t kParts = 4, kTile = 256, kWidth = 32;

  // The columns from k on, and W of A - V W^T - W V^T behind them. Columns of V and W have all rows.
  void reduce(int64_t k, int64_t width, T *columns, T *w) {
    const LapackInt own = lapackInt(stride), step = 1;
    const T one = 1, minusOne = -1, zero = 0, *v = reflections.column(k);
    transposeBlock(a + k * n + k, n, columns + k, stride, n - k, width);
    for (int64_t j = 0; j < width; ++j) {
      const int64_t i = k + j, left = n - i - 1;
      T *column = columns + j * stride + i, *reflection = reflections.column(i), *product = w + j * stride + i + 1;
      const LapackInt before = lapackInt(j), rows = lapackInt(left), length = lapackInt(left + 1);
      if (j > 0) {
        lapack.gemv("N", &length, &before, &minusOne, v + i, &own, w + i, &own, &one, column, &step, 1);
        lapack.gemv("N", &length, &before, &minusOne, w + i, &own, v + i, &own, &one, column, &step, 1);
      }
      diagonal[i] = column[0];
      T work[kWidth];
      const LapackInt words = kWidth;
      LapackInt info = 0;
      lapack.geqrf(&rows, &step, column + 1, &rows, tau.get() + i, work, &words, &info);
      beside[i] = column[1];
      std::fill(reflection + reflections.firstOf(i), reflection + i + 1, T(0));
      reflection[i + 1] = 1;
      std::copy_n(column + 2, left - 1, reflection + i + 2);
      // Of rows from i + 1 on.
      const T *x = reflection + i + 1;
      T *ofW = small.get(), *ofV = ofW + kWidth;
      multiply(i + 1, x, [&] {
        if (j > 0) {
          lapack.gemv("T", &rows, &before, &one, w + i + 1, &own, x, &step, &zero, ofW, &step, 1);
          lapack.gemv("T", &rows, &before, &one, v + i + 1, &own, x, &step, &zero, ofV, &step, 1);
        }
      });
      for (int64_t row = 0; row < left; ++row) {
        T sum = parts[row];
        for (int64_t part = 1; part < kParts; ++part)
          sum += parts[part * stride + row];
        product[row] = sum;
      }
      if (j > 0) {
        lapack.gemv("N", &rows, &before, &minusOne, v + i + 1, &own, ofW, &step, &one, product, &step, 1);
        lapack.gemv("N", &rows, &before, &minusOne, w + i + 1, &own, ofV, &step, &one, product, &step, 1);
      }
      T dot = 0;
      for (int64_t row = 0; row < left; ++row) {
        product[row] *= tau[i];
        dot += product[row] * x[row];
      }
      const T factor = T(0.5) * tau[i] * dot;
      for (int64_t row = 0; row < left; ++row)
        product[row] -= factor * x[row];
    }
  }

  // The product of the matrix from row and column `first` on with a vector, in parts. Beside that, `beside()`.
  template <typename Beside> void multiply(int64_t first, const T *x, Beside &&besides) {
    const int64_t begin = first / kTile, tiles = (n + kTile - 1) / kTile - begin, pairs = tiles * (tiles + 1) / 2;
    const LapackInt size = lapackInt(n), step = 1;
    const T one = 1;
    auto startOf = [&](int64_t tile) { return std::max(first, (begin + tile) * kTile); };
    auto countOf = [&](int64_t tile) { return lapackInt(std::min(n, (begin + tile + 1) * kTile) - startOf(tile)); };
    auto part = [&](int64_t at) {
      T *y = parts.get() + at * stride;
      std::fill_n(y, n - first, T(0));
      const int64_t from = pairs * at / kParts, to = pairs * (at + 1) / kParts;
      int64_t row = 0, column = from; // of the lower triangle of tiles
      while (column > row)
        column -= ++row;
      for (int64_t pair = from; pair < to; ++pair) {
        const LapackInt rows = countOf(row), columns = countOf(column);
        const T *tile = a + startOf(row) * n + startOf(column);
        const int64_t i = startOf(row) - first, j = startOf(column) - first;
        if (row == column) {
          lapack.symv("U", &rows, &one, tile, &size, x + i, &step, &one, y + i, &step, 1);
        } else {
          lapack.gemv("T", &columns, &rows, &one, tile, &size, x + j, &step, &one, y + i, &step, 1);
          lapack.gemv("N", &columns, &rows, &one, tile, &size, x + i, &step, &one, y + j, &step, 1);
        }
        if (++column > row) {
          ++row;
          column = 0;
        }
      }
    };
    parallelFor(kParts + 1, 1, [&](int64_t start, int64_t end) {
      for (int64_t at = start; at < end; ++at)
        if (at == kParts)
          besides();
        else
          part(at);
    });
  }

  // A - V W^T - W V^T behind columns.
  void subtract(int64_t k, int64_t width, const T *w) {
    constexpr int64_t kRows = 256;
    const int64_t first = k + width, tiles = (n - first + kRows - 1) / kRows;
    const LapackInt size = lapackInt(n), own = lapackInt(stride), inner = lapackInt(width);
    const T one = 1, minusOne = -1, *v = reflections.column(k);
    parallelFor(tiles * (tiles + 1) / 2, 1, [&](int64_t begin, int64_t end) {
      for (int64_t pair = begin; pair < end; ++pair) {
        int64_t row = 0, column = pair;
        while (column > row)
          column -= ++row;
        const int64_t i = first + row * kRows, j = first + column * kRows;
        const LapackInt rows = lapackInt(std::min(kRows, n - i)), columns = lapackInt(std::min(kRows, n - j));
        T *tile = a + i * n + j;
        lapack.gemm("N", "T", &columns, &rows, &inner, &minusOne, w + j, &own, v + i, &own, &one, tile, &size, 1, 1);
        lapack.gemm("N", "T", &columns, &rows, &inner, &minusOne, v + j, &own, w + i, &own, &one, tile, &size, 1, 1);
      }
    });
  }

  const Lapack<T> &lapack;
  T *const a;
  const int64_t n;
  T *const diagonal, *const beside;
  const int64_t stride;
  const Scratch<T> tau, parts, small;
};

// The eigenvalues and vectors of a tridiagonal matrix by those of two halves and what joins them (Cuppen 1981, Gu and
// Eisenstat 1995). LAPACK solves small parts, which are independent, and finds what of a joined matrix is solved
// already. Roots of the others' equation, and their vectors, are independent again.
template <typename T> class JoinedHalves {
public:
  // Of column-major vectors [n, n].
  JoinedHalves(const Lapack<T> &lapack, T *diagonal, T *beside, T *vectors, int64_t n)
      : lapack(lapack), diagonal(diagonal), beside(beside), vectors(vectors), n(n), stride(lapackInt(n)), order(n) {}

  // False: it does not converge.
  bool run() {
    int levels = 0;
    while (n >> (levels + 1) >= kLeast)
      ++levels;
    const int64_t leaves = int64_t(1) << levels;
    auto startOf = [&](int64_t at, int64_t count) { return n * at / count; };
    for (int64_t leaf = 1; leaf < leaves; ++leaf) {
      const int64_t cut = startOf(leaf, leaves);
      diagonal[cut - 1] -= std::fabs(beside[cut - 1]);
      diagonal[cut] -= std::fabs(beside[cut - 1]);
    }
    std::atomic<bool> converges = true;
    parallelFor(leaves, 1, [&](int64_t begin, int64_t end) {
      for (int64_t leaf = begin; leaf < end; ++leaf)
        if (!solveLeaf(startOf(leaf, leaves), startOf(leaf + 1, leaves)))
          converges = false;
    });
    for (int64_t count = leaves / 2; count > 0 && converges; count /= 2)
      for (int64_t at = 0; at < count && converges; ++at)
        if (!join(startOf(2 * at, 2 * count), startOf(2 * at + 1, 2 * count), startOf(at + 1, count)))
          converges = false;
    return converges;
  }

  // Which column has the k-th value, from 1 on.
  const LapackInt *columns() const { return order.get(); }

private:
  static constexpr int64_t kLeast = 128;

  bool solveLeaf(int64_t first, int64_t last) {
    const int64_t size = last - first;
    const LapackInt own = lapackInt(size), words = lapackInt(1 + 4 * size + size * size),
                    ints = lapackInt(3 + 5 * size);
    const Scratch<T> space(words);
    const Scratch<LapackInt> intSpace(ints);
    LapackInt info = 0;
    for (int64_t j = first; j < last; ++j)
      std::fill_n(vectors + j * n, n, T(0));
    lapack.stedc("I", &own, diagonal + first, beside + first, vectors + first * n + first, &stride, space.get(), &words,
                 intSpace.get(), &ints, &info, 1);
    std::iota(order.get() + first, order.get() + last, LapackInt(1));
    return info == 0;
  }

  bool join(int64_t first, int64_t cut, int64_t last) {
    const int64_t size = last - first;
    const LapackInt own = lapackInt(size), head = lapackInt(cut - first);
    T *d = diagonal + first, *q = vectors + first * n + first, rho = beside[cut - 1];
    const Scratch<T> z(size), poles(size), weights(size), parts(size * size);
    const Scratch<LapackInt> ints(4 * size);
    LapackInt *places = ints.get(), *sorted = places + size, *free = sorted + size, *kinds = free + size;
    for (int64_t j = 0; j < size; ++j)
      z[j] = q[j * n + (j < head ? head - 1 : head)];
    LapackInt left = 0, info = 0;
    lapack.laed2(&left, &own, &head, d, q, &stride, order.get() + first, &rho, z.get(), poles.get(), weights.get(),
                 parts.get(), places, sorted, free, kinds, &info);
    if (info != 0 || (left > 0 && !solveEquation(left, own, head, d, q, rho, poles.get(), weights.get(), parts.get(),
                                                 sorted, kinds)))
      return false;
    LapackInt *mine = order.get() + first;
    std::iota(mine, mine + size, LapackInt(1));
    std::stable_sort(mine, mine + size, [&](LapackInt a, LapackInt b) { return d[a - 1] < d[b - 1]; });
    return true;
  }

  // The values and vectors of diag(poles) + rho weights weights^T, times the vectors of the halves, which `parts` has:
  // those with upper elements alone, with both, and with lower ones alone.
  bool solveEquation(LapackInt count, int64_t size, int64_t head, T *d, T *q, T rho, const T *poles, const T *weights,
                     const T *parts, const LapackInt *sorted, const LapackInt *kinds) {
    constexpr int64_t kColumns = 64;
    std::atomic<bool> converges = true;
    parallelFor(count, kColumns / 4, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        const LapackInt number = lapackInt(j + 1);
        LapackInt info = 0;
        lapack.laed4(&count, &number, poles, weights, q + j * n, &rho, d + j, &info);
        if (info != 0)
          converges = false;
      }
    });
    if (!converges)
      return false;
    // Weights of which the found values are exact ones, so that vectors are orthogonal.
    const Scratch<T> exact(count);
    if (count > 2)
      parallelFor(count, kColumns, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          exact[i] = q[i * n + i];
        for (int64_t j = 0; j < count; ++j)
          for (int64_t i = begin; i < end; ++i)
            exact[i] *= i == j ? T(1) : q[j * n + i] / (poles[i] - poles[j]);
        for (int64_t i = begin; i < end; ++i)
          exact[i] = std::copysign(std::sqrt(-exact[i]), weights[i]);
      });
    const LapackInt upper = kinds[0] + kinds[1], lower = kinds[1] + kinds[2], below = lapackInt(size - head),
                    above = lapackInt(head);
    parallelFor(count, kColumns, [&](int64_t begin, int64_t end) {
      const LapackInt own = lapackInt(end - begin);
      const Scratch<T> memory(count * (own + 1));
      T *turned = memory.get(), *vector = turned + count * own;
      for (int64_t j = begin; j < end; ++j) {
        T *to = turned + (j - begin) * count, *from = q + j * n, sum = 0;
        for (int64_t i = 0; i < count; ++i) {
          vector[i] = count > 2 ? exact[i] / from[i] : from[i];
          sum += vector[i] * vector[i];
        }
        const T norm = count > 2 ? std::sqrt(sum) : T(1);
        for (int64_t i = 0; i < count; ++i)
          to[i] = vector[sorted[i] - 1] / norm;
      }
      const T one = 1, zero = 0;
      auto multiply = [&](LapackInt rows, LapackInt inner, const T *part, const T *factor, T *to) {
        for (int64_t j = 0; j < own && inner == 0; ++j)
          std::fill_n(to + j * n, rows, T(0));
        if (inner > 0)
          lapack.gemm("N", "N", &rows, &own, &inner, &one, part, &rows, factor, &count, &zero, to, &stride, 1, 1);
      };
      multiply(below, lower, parts + int64_t(above) * upper, turned + kinds[0], q + begin * n + head);
      multiply(above, upper, parts, turned, q + begin * n);
    });
    return true;
  }

  const Lapack<T> &lapack;
  T *const diagonal, *const beside, *const vectors;
  const int64_t n;
  const LapackInt stride;
  const Scratch<LapackInt> order;
};

// The eigenvalues of a row-major matrix, of which the lower triangle is read and overwritten, and the eigenvectors as
// columns. False: it does not converge.
template <typename T> bool tridiagonalEigh(const Lapack<T> &lapack, T *a, T *values, T *vectors, int64_t n) {
  constexpr int64_t kTile = 128;
  // As LAPACK does, the elements are brought to where squares don't leave the range.
  T largest = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j)
      largest = std::max(largest, std::fabs(a[i * n + j]));
  const T least = std::sqrt(std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon()), most = 1 / least;
  const T scale = largest > 0 && largest < least ? least / largest : largest > most ? most / largest : T(1);
  if (scale != 1)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j <= i; ++j)
        a[i * n + j] *= scale;
  const Scratch<T> diagonal(n), beside(n), found(n * n);
  const Tridiagonal<T> tridiagonal(lapack, a, n, diagonal.get(), beside.get());
  // As LAPACK does, this matrix has the norm 1.
  T norm = 0;
  for (int64_t i = 0; i < n; ++i)
    norm = std::max({norm, std::fabs(diagonal[i]), i + 1 < n ? std::fabs(beside[i]) : T(0)});
  norm = norm > 0 ? norm : T(1);
  for (int64_t i = 0; i < n; ++i) {
    diagonal[i] /= norm;
    beside[i] = i + 1 < n ? beside[i] / norm : T(0);
  }
  JoinedHalves<T> halves(lapack, diagonal.get(), beside.get(), found.get(), n);
  if (!halves.run())
    return false;
  const LapackInt *columns = halves.columns();
  for (int64_t i = 0; i < n; ++i)
    values[i] = diagonal[columns[i] - 1] * norm / scale;
  parallelFor((n + kTile - 1) / kTile, 1, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t first = tile * kTile, count = std::min(kTile, n - first);
      constexpr int64_t kRows = 64;
      for (int64_t row = 0; row < n; row += kRows)
        for (int64_t j = first; j < first + count; ++j)
          for (int64_t i = row; i < std::min(n, row + kRows); ++i)
            vectors[i * n + j] = found[(columns[j] - 1) * n + i];
      for (int64_t at = tridiagonal.reflections.blocks(); at-- > 0;)
        reflectColumns(lapack, tridiagonal.reflections.block(at), false, vectors + first, n, count);
    }
  });
  return true;
}

} // namespace calque::runtime
#endif
