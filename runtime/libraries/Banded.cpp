// Banded systems: element [i, j] of a matrix is band[upper + i - j, j].
#include "runtime/libraries/Batches.h"

#include <cmath>

using namespace calque::runtime;

namespace {

// The rows of one column of a band that are in the matrix.
struct Range {
  int64_t begin, end;
};
Range rowsOf(int64_t j, int64_t n, int64_t lower, int64_t upper) {
  return {std::max<int64_t>(0, j - upper), std::min(n, j + lower + 1)};
}

// LU factors by columns with the largest pivot of each, as LAPACK's gbtf2: U has lower + upper diagonals above its own.
// Column j is `lu[j * stride]`, of which the element of row i is at lower + upper + i - j.
template <typename T> class BandedFactors {
public:
  BandedFactors(int64_t n, int64_t lower, int64_t upper)
      : n(n), lower(std::min(lower, std::max<int64_t>(n - 1, 0))), upper(std::min(upper, std::max<int64_t>(n - 1, 0))),
        above(this->lower + this->upper), stride(above + this->lower + 1), lu(n * stride), pivots(n) {}

  // The number of the first pivot that is 0, from 1 on, or 0.
  int64_t factor(const T *band, int64_t givenUpper) {
    for (int64_t e = 0; e < n * stride; ++e)
      lu[e] = 0;
    for (int64_t j = 0; j < n; ++j) {
      const Range rows = rowsOf(j, n, lower, upper);
      for (int64_t i = rows.begin; i < rows.end; ++i)
        at(i, j) = band[(givenUpper + i - j) * n + j];
    }
    int64_t failed = 0;
    for (int64_t j = 0; j < n; ++j) {
      const int64_t end = std::min(n, j + lower + 1), last = std::min(n, j + above + 1);
      int64_t pivot = j;
      for (int64_t i = j + 1; i < end; ++i)
        pivot = std::fabs(at(i, j)) > std::fabs(at(pivot, j)) ? i : pivot;
      pivots[j] = pivot;
      if (at(pivot, j) == 0) {
        failed = failed ? failed : j + 1;
        continue;
      }
      if (pivot != j)
        for (int64_t c = j; c < last; ++c)
          std::swap(at(pivot, c), at(j, c));
      for (int64_t i = j + 1; i < end; ++i)
        at(i, j) /= at(j, j);
      for (int64_t c = j + 1; c < last; ++c) {
        const T factor = at(j, c);
        for (int64_t i = j + 1; i < end; ++i)
          at(i, c) -= at(i, j) * factor;
      }
    }
    return failed;
  }

  // Of op(A) X = B in place of B.
  void solve(T *x, int64_t columns, bool transposed) const {
    auto subtract = [&](int64_t to, int64_t from, T factor) {
      for (int64_t c = 0; c < columns; ++c)
        x[to * columns + c] -= factor * x[from * columns + c];
    };
    auto divide = [&](int64_t row) {
      for (int64_t c = 0; c < columns; ++c)
        x[row * columns + c] /= at(row, row);
    };
    auto exchange = [&](int64_t j) {
      if (pivots[j] != j)
        std::swap_ranges(x + j * columns, x + (j + 1) * columns, x + pivots[j] * columns);
    };
    if (!transposed) {
      for (int64_t j = 0; j < n; ++j) {
        exchange(j);
        for (int64_t i = j + 1; i < std::min(n, j + lower + 1); ++i)
          subtract(i, j, at(i, j));
      }
      for (int64_t j = n; j-- > 0;) {
        divide(j);
        for (int64_t i = std::max<int64_t>(0, j - above); i < j; ++i)
          subtract(i, j, at(i, j));
      }
      return;
    }
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = std::max<int64_t>(0, j - above); i < j; ++i)
        subtract(j, i, at(i, j));
      divide(j);
    }
    for (int64_t j = n; j-- > 0;) {
      for (int64_t i = j + 1; i < std::min(n, j + lower + 1); ++i)
        subtract(j, i, at(i, j));
      exchange(j);
    }
  }

private:
  T &at(int64_t i, int64_t j) const { return lu[j * stride + above + i - j]; }

  const int64_t n, lower, upper, above, stride;
  Scratch<T> lu;
  Scratch<int64_t> pivots;
};

// The Cholesky factor L of a symmetric band, and solutions. Column j is `factor[j * stride]`, from its diagonal on.
template <typename T> class BandedCholesky {
public:
  BandedCholesky(int64_t n, int64_t below)
      : n(n), below(std::min(below, std::max<int64_t>(n - 1, 0))), stride(this->below + 1), factors(n * stride) {}

  // The size of the first leading minor that is not positive, or 0. element(i, j) is that of the matrix, i >= j.
  template <typename Element> int64_t factor(Element &&element) {
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < std::min(n, j + below + 1); ++i)
        at(i, j) = element(i, j);
    for (int64_t j = 0; j < n; ++j) {
      const int64_t end = std::min(n, j + below + 1);
      if (!(at(j, j) > 0))
        return j + 1;
      const T root = std::sqrt(at(j, j));
      at(j, j) = root;
      for (int64_t i = j + 1; i < end; ++i)
        at(i, j) /= root;
      for (int64_t c = j + 1; c < end; ++c)
        for (int64_t i = c; i < end; ++i)
          at(i, c) -= at(i, j) * at(c, j);
    }
    return 0;
  }
  void solve(T *x, int64_t columns) const {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t c = 0; c < columns; ++c)
        x[j * columns + c] /= at(j, j);
      for (int64_t i = j + 1; i < std::min(n, j + below + 1); ++i)
        for (int64_t c = 0; c < columns; ++c)
          x[i * columns + c] -= at(i, j) * x[j * columns + c];
    }
    for (int64_t j = n; j-- > 0;) {
      for (int64_t i = j + 1; i < std::min(n, j + below + 1); ++i)
        for (int64_t c = 0; c < columns; ++c)
          x[j * columns + c] -= at(i, j) * x[i * columns + c];
      for (int64_t c = 0; c < columns; ++c)
        x[j * columns + c] /= at(j, j);
    }
  }

private:
  T &at(int64_t i, int64_t j) const { return factors[j * stride + i - j]; }

  const int64_t n, below, stride;
  Scratch<T> factors;
};

} // namespace

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_banded_solve(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t singular = call.site();
  const int64_t examples = call.number();
  const KernelTensor band = call.tensor(2), right = call.tensor(2), result = call.tensor(2);
  const int64_t lower = call.number(), upper = call.number();
  const bool transposed = call.number() != 0;
  const int64_t rows = band.sizes[0], n = band.sizes[1], columns = right.sizes[1], size = n * columns;
  dispatchFloat(band.dtype, [&]<typename T>(std::type_identity<T>) {
    FirstFailure failure;
    parallelFor(examples, pieceOf(n * rows * (lower + columns + 1)), [&](int64_t begin, int64_t end) {
      BandedFactors<T> factors(n, lower, upper);
      for (int64_t k = begin; k < end; ++k) {
        if (const int64_t failed = factors.factor(band.as<T>() + k * rows * n, upper)) {
          failure.note(k, failed);
          continue;
        }
        T *x = result.as<T>() + k * size;
        std::copy_n(right.as<T>() + k * size, size, x);
        factors.solve(x, columns, transposed);
      }
    });
    failure.report(frame, singular);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_positive_banded_solve(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notPositive = call.site();
  const int64_t examples = call.number();
  const KernelTensor band = call.tensor(2), right = call.tensor(2), result = call.tensor(2);
  const int64_t lower = call.number(), upper = call.number(), others = lower + upper;
  const int64_t rows = band.sizes[0], n = band.sizes[1], columns = right.sizes[1], size = n * columns;
  dispatchFloat(band.dtype, [&]<typename T>(std::type_identity<T>) {
    FirstFailure failure;
    parallelFor(examples, pieceOf(n * rows * (others + columns + 1)), [&](int64_t begin, int64_t end) {
      BandedCholesky<T> factors(n, others);
      for (int64_t k = begin; k < end; ++k) {
        const T *own = band.as<T>() + k * rows * n;
        // Of a band above the diagonal, the element [i, j] is that of [j, i].
        const int64_t failed = factors.factor(
            [&](int64_t i, int64_t j) { return upper > 0 ? own[(upper + j - i) * n + i] : own[(i - j) * n + j]; });
        if (failed) {
          failure.note(k, failed);
          continue;
        }
        T *x = result.as<T>() + k * size;
        std::copy_n(right.as<T>() + k * size, size, x);
        factors.solve(x, columns);
      }
    });
    failure.report(frame, notPositive);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_banded_product(const int64_t *words) {
  KernelCall call(words);
  const int64_t examples = call.number();
  const KernelTensor band = call.tensor(2), factor = call.tensor(2), result = call.tensor(2);
  const int64_t lower = call.number(), upper = call.number();
  const bool transposed = call.number() != 0;
  const int64_t rows = band.sizes[0], n = band.sizes[1], columns = factor.sizes[1], size = n * columns;
  dispatchFloat(band.dtype, [&]<typename T>(std::type_identity<T>) {
    parallelFor(examples, pieceOf(rows * size), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const T *own = band.as<T>() + k * rows * n, *x = factor.as<T>() + k * size;
        T *y = result.as<T>() + k * size;
        std::fill_n(y, size, T(0));
        for (int64_t j = 0; j < n; ++j) {
          const Range range = rowsOf(j, n, lower, upper);
          for (int64_t i = range.begin; i < range.end; ++i) {
            const T element = own[(upper + i - j) * n + j];
            const int64_t to = transposed ? j : i, from = transposed ? i : j;
            for (int64_t c = 0; c < columns; ++c)
              y[to * columns + c] += element * x[from * columns + c];
          }
        }
      }
    });
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_band_of_product(const int64_t *words) {
  KernelCall call(words);
  const int64_t examples = call.number();
  const KernelTensor left = call.tensor(2), right = call.tensor(2), result = call.tensor(2);
  const int64_t lower = call.number(), upper = call.number();
  const int64_t n = left.sizes[0], columns = left.sizes[1], rows = result.sizes[0], size = n * columns;
  dispatchFloat(left.dtype, [&]<typename T>(std::type_identity<T>) {
    parallelFor(examples, pieceOf(rows * size), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const T *a = left.as<T>() + k * size, *b = right.as<T>() + k * size;
        T *own = result.as<T>() + k * rows * n;
        std::fill_n(own, rows * n, T(0));
        for (int64_t j = 0; j < n; ++j) {
          const Range range = rowsOf(j, n, lower, upper);
          for (int64_t i = range.begin; i < range.end; ++i) {
            T sum = 0;
            for (int64_t c = 0; c < columns; ++c)
              sum += a[i * columns + c] * b[j * columns + c];
            own[(upper + i - j) * n + j] = sum;
          }
        }
      }
    });
  });
}
