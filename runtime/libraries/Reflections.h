// QR factors by reflections.
#ifndef CALQUE_RUNTIME_LIBRARIES_REFLECTIONS_H
#define CALQUE_RUNTIME_LIBRARIES_REFLECTIONS_H

#include "runtime/libraries/Triangles.h"

namespace calque::runtime {

// By reflections (Golub and Van Loan, section 5.2.1), of small matrices. Row j of `v` becomes reflection j.
template <typename T> void smallQr(const T *a, T *q, T *r, int64_t m, int64_t n, int64_t columns) {
  const int64_t count = std::min(m, n);
  using Real = RealOf<T>;
  Scratch<T> work(m * n), v(count * m), factors(count), row(std::max(n, columns));
  std::copy_n(a, m * n, work.get());
  const Real back = scaleToRange(work.get(), m * n);
  // Rows from j on, columns from `first` on. R takes the adjoint of what Q consists of.
  auto reflect = [&](T *x, int64_t width, int64_t first, int64_t j, bool isOfR) {
    const T *own = v.get() + j * m;
    std::fill_n(row.get(), width, T(0));
    for (int64_t i = j; i < m; ++i)
      for (int64_t c = first; c < width; ++c)
        row[c] += conjugate(own[i]) * x[i * width + c];
    for (int64_t i = j; i < m; ++i) {
      const T factor = (isOfR ? conjugate(factors[j]) : factors[j]) * own[i];
      for (int64_t c = first; c < width; ++c)
        x[i * width + c] -= factor * row[c];
    }
  };
  for (int64_t j = 0; j < count; ++j) {
    Real largest = 0, sum = 0;
    for (int64_t i = j; i < m; ++i) {
      const Real size = partsSize(work[i * n + j]);
      largest = size <= largest ? largest : size; // NaN is one
    }
    for (int64_t i = j + 1; i < m; ++i) {
      const T part = largest > 0 ? work[i * n + j] / largest : T(0);
      sum += squareOf(part);
    }
    T *own = v.get() + j * m;
    std::fill_n(own, m, T(0));
    own[j] = 1;
    factors[j] = 0;
    const T head = work[j * n + j];
    if (sum == 0 && largest == largest && head == realPart(head)) // nothing is below, and R is real
      continue;
    const T scaled = head / largest;
    const Real norm = std::sqrt(squareOf(scaled) + sum), beta = realPart(scaled) > 0 ? -norm : norm;
    factors[j] = (beta - scaled) / beta;
    for (int64_t i = j + 1; i < m; ++i) {
      own[i] = work[i * n + j] / largest / (scaled - beta);
      work[i * n + j] = 0;
    }
    work[j * n + j] = beta * largest;
    reflect(work.get(), n, j + 1, j, true);
  }
  std::fill_n(q, m * columns, T(0));
  for (int64_t i = 0; i < columns; ++i)
    q[i * columns + i] = 1;
  for (int64_t j = count; j-- > 0;)
    reflect(q, columns, j, j, false);
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t j = 0; j < n; ++j)
      r[i * n + j] = j < i ? T(0) : work[i * n + j] * back;
}

// A block of reflections I - V T V^H (Schreiber and Van Loan 1989), whose columns V are as in LAPACK: below a diagonal
// of ones, and here with zeros above. T is triangular. Of complex numbers there are the conjugates, too.
template <typename T> struct ReflectionBlock {
  int64_t first, width, rows, stride; // the first row, the columns of V, their length, and how far they are apart
  T *v, *vConjugate, *t, *tConjugate; // T has columns of `width` elements
};

// All reflections of a factorisation, in blocks: their memory.
template <typename T> class Reflections {
public:
  // `count` of them, the first one of which begins in row `row`, and all of which end with row m - 1.
  Reflections(int64_t m, int64_t row, int64_t count)
      : m(m), row(row), count(count), width(count < kMedium  ? 32
                                            : count < kLarge ? 64
                                                             : 128),
        stride(columnStride<T>(m)), v(kCopies * stride * count), t(kCopies * width * count) {}

  int64_t blocks() const { return (count + width - 1) / width; }
  ReflectionBlock<T> block(int64_t at) const {
    const int64_t column = at * width, own = std::min(width, count - column), first = row + column;
    T *columns = v.get() + stride * column + first, *factors = t.get() + kCopies * width * column;
    return {first,     own,
            m - first, stride,
            columns,   columns + (kCopies - 1) * stride * count,
            factors,   factors + (kCopies - 1) * own * own};
  }

  // V's column of reflection c, from row 0 of the matrix on, and the row in which its block begins.
  T *column(int64_t c) const { return v.get() + stride * c; }
  int64_t firstOf(int64_t c) const { return row + c / width * width; }

private:
  static constexpr int64_t kCopies = NumberTraits<T>::isComplex ? 2 : 1, kMedium = 256, kLarge = 1024;
  const int64_t m, row, count, width, stride;
  const Scratch<T> v, t; // the columns of V have all m rows, of which those before a block's first one are not there
};

// V of reflections that LAPACK has put below the diagonal of a matrix.
template <typename T>
void copyReflections(const T *a, int64_t aStride, int64_t rows, int64_t width, T *v, int64_t stride) {
  for (int64_t j = 0; j < width; ++j) {
    std::fill_n(v + j * stride, j, T(0));
    v[j * stride + j] = 1;
    std::copy_n(a + j * aStride + j + 1, rows - j - 1, v + j * stride + j + 1);
  }
}

// T of the block whose V is there, from the factors of LAPACK's reflections.
template <typename T> void weighReflections(const Lapack<T> &lapack, const ReflectionBlock<T> &block, const T *tau) {
  const LapackInt width = lapackInt(block.width), rows = lapackInt(block.rows), stride = lapackInt(block.stride);
  const T one = 1, zero = 0;
  const Scratch<T> products(block.width * block.width);
  lapack.gemm(kAdjoint<T>, "N", &width, &width, &rows, &one, block.v, &stride, block.v, &stride, &zero, products.get(),
              &width, 1, 1);
  for (int64_t j = 0; j < block.width; ++j) {
    T *column = block.t + j * block.width;
    const T *product = products.get() + j * block.width;
    std::fill_n(column, block.width, T(0));
    for (int64_t c = 0; c < j; ++c)
      for (int64_t i = 0; i <= c; ++i)
        column[i] -= tau[j] * block.t[c * block.width + i] * product[c];
    column[j] = tau[j];
  }
}

// The same of a block of a factorisation, which has conjugates.
template <typename T> void finishBlock(const Lapack<T> &lapack, const ReflectionBlock<T> &block, const T *tau) {
  weighReflections(lapack, block, tau);
  if constexpr (NumberTraits<T>::isComplex) {
    for (int64_t j = 0; j < block.width; ++j)
      std::transform(block.v + j * block.stride, block.v + j * block.stride + block.rows,
                     block.vConjugate + j * block.stride, conjugate<T>);
    std::transform(block.t, block.t + block.width * block.width, block.tConjugate, conjugate<T>);
  }
}

// The block, or its adjoint, times columns of a row-major matrix, in place. LAPACK sees rows as columns.
template <typename T>
void reflectColumns(const Lapack<T> &lapack, const ReflectionBlock<T> &block, bool adjoint, T *x, int64_t row,
                    int64_t columns) {
  const LapackInt width = lapackInt(block.width), rows = lapackInt(block.rows), stride = lapackInt(block.stride),
                  count = lapackInt(columns), size = lapackInt(row);
  const T one = 1, zero = 0, minusOne = -1;
  T *top = x + block.first * row;
  const Scratch<T> products(2 * columns * block.width);
  T *turned = products.get(), *weighted = turned + columns * block.width;
  lapack.gemm("N", "N", &count, &width, &rows, &one, top, &size, block.vConjugate, &stride, &zero, turned, &count, 1,
              1);
  lapack.gemm("N", adjoint ? "N" : "T", &count, &width, &width, &one, turned, &count,
              adjoint ? block.tConjugate : block.t, &width, &zero, weighted, &count, 1, 1);
  lapack.gemm("N", "T", &count, &rows, &width, &minusOne, weighted, &count, block.v, &stride, &one, top, &size, 1, 1);
}

// The reflections of columns, by halves, of which LAPACK makes small ones: V below the diagonal, and R.
template <typename T>
void reflectionsOf(const Lapack<T> &lapack, T *a, int64_t stride, int64_t rows, int64_t width, T *tau) {
  constexpr int64_t kLeast = 8;
  const LapackInt size = lapackInt(rows), own = lapackInt(stride);
  if (width <= kLeast) {
    T work[kLeast * 64];
    const LapackInt columns = lapackInt(width), words = kLeast * 64;
    LapackInt info = 0;
    return lapack.geqrf(&size, &columns, a, &own, tau, work, &words, &info);
  }
  const int64_t left = width / 2, right = width - left;
  reflectionsOf(lapack, a, stride, rows, left, tau);
  // I - V T^H V^H from the left, on the other half.
  const Scratch<T> memory(stride * left + left * left + 2 * left * right);
  T *v = memory.get(), *t = v + stride * left, *products = t + left * left, *weighted = products + left * right;
  copyReflections(a, stride, rows, left, v, stride);
  T *none = nullptr;
  const ReflectionBlock<T> block{0, left, rows, stride, v, none, t, none};
  weighReflections(lapack, block, tau);
  const LapackInt half = lapackInt(left), others = lapackInt(right);
  const T one = 1, zero = 0, minusOne = -1;
  T *behind = a + left * stride;
  lapack.gemm(kAdjoint<T>, "N", &half, &others, &size, &one, v, &own, behind, &own, &zero, products, &half, 1, 1);
  lapack.gemm(kAdjoint<T>, "N", &half, &others, &half, &one, t, &half, products, &half, &zero, weighted, &half, 1, 1);
  lapack.gemm("N", "N", &size, &others, &half, &minusOne, v, &own, weighted, &half, &one, behind, &own, 1, 1);
  reflectionsOf(lapack, behind + left, stride, rows - left, right, tau + left);
}

// Q and R, by blocks of columns. The columns behind a block are tiles, which are independent: the first one is the next
// block, which is factored while others are still worked on.
template <typename T>
void largeQr(const Lapack<T> &lapack, const T *a, T *q, T *r, int64_t m, int64_t n, int64_t columns) {
  constexpr int64_t kTile = 128;
  const int64_t count = std::min(m, n);
  if (count == 0)
    return;
  const Reflections<T> reflections(m, 0, count);
  const Scratch<T> work(m * n), tau(count);
  copyLarge(a, work.get(), m * n);
  const RealOf<T> back = scaleToRange(work.get(), m * n);
  auto factor = [&](int64_t at) {
    const ReflectionBlock<T> block = reflections.block(at);
    const int64_t k = block.first;
    const Scratch<T> own(block.stride * block.width);
    T *top = work.get() + k * n + k;
    transposeBlock(top, n, own.get(), block.stride, block.rows, block.width);
    reflectionsOf(lapack, own.get(), block.stride, block.rows, block.width, tau.get() + k);
    for (int64_t i = 0; i < block.width; ++i)
      for (int64_t j = i; j < block.width; ++j)
        top[i * n + j] = own[j * block.stride + i];
    copyReflections(own.get(), block.stride, block.rows, block.width, block.v, block.stride);
    finishBlock(lapack, block, tau.get() + k);
  };
  factor(0);
  for (int64_t at = 0; at < reflections.blocks(); ++at) {
    const ReflectionBlock<T> block = reflections.block(at);
    const bool isLast = at + 1 == reflections.blocks();
    const int64_t next = block.first + block.width, ahead = isLast ? next : next + reflections.block(at + 1).width,
                  tiles = (n - ahead + kTile - 1) / kTile;
    parallelFor((isLast ? 0 : 1) + tiles, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        if (piece == 0 && !isLast) {
          reflectColumns(lapack, block, true, work.get() + next, n, ahead - next);
          factor(at + 1);
        } else {
          const int64_t first = ahead + (piece - (isLast ? 0 : 1)) * kTile;
          reflectColumns(lapack, block, true, work.get() + first, n, std::min(kTile, n - first));
        }
      }
    });
  }
  parallelFor(columns, kTile, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::fill_n(r + i * n, std::min(i, n), T(0));
      for (int64_t j = std::min(i, n); j < n; ++j)
        r[i * n + j] = work[i * n + j] * back;
    }
  });
  // The reflections times columns of the identity, of which a block changes none before its own.
  parallelFor((columns + kTile - 1) / kTile, 1, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t first = tile * kTile, width = std::min(kTile, columns - first);
      for (int64_t i = 0; i < m; ++i)
        std::fill_n(q + i * columns + first, width, T(0));
      for (int64_t i = first; i < std::min(m, first + width); ++i)
        q[i * columns + i] = 1;
      for (int64_t at = reflections.blocks(); at-- > 0;)
        if (const ReflectionBlock<T> block = reflections.block(at); block.first < first + width)
          reflectColumns(lapack, block, false, q + first, columns, width);
    }
  });
}

} // namespace calque::runtime
#endif
