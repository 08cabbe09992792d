// Factors of banded matrices, real and complex: element [i, j] of a matrix is band[upper + i - j, j].
#ifndef CALQUE_RUNTIME_LIBRARIES_BANDED_H
#define CALQUE_RUNTIME_LIBRARIES_BANDED_H

#include "runtime/libraries/Triangles.h"

namespace calque::runtime {

// The rows of one column of a band that are in the matrix.
struct Range {
  int64_t begin, end;
};
inline Range rowsOf(int64_t j, int64_t n, int64_t lower, int64_t upper) {
  return {std::max<int64_t>(0, j - upper), std::min(n, j + lower + 1)};
}

// LU factors by columns with the largest pivot of each, as LAPACK's gbtf2: U has lower + upper diagonals above its own.
// Column j is `lu[j * stride]`, of which the element of row i is at lower + upper + i - j.
template <typename T> class BandedFactors {
public:
  BandedFactors(int64_t n, int64_t lower, int64_t upper)
      : n(n), lower(std::min(lower, std::max<int64_t>(n - 1, 0))), upper(std::min(upper, std::max<int64_t>(n - 1, 0))),
        above(this->lower + this->upper), stride(above + this->lower + 1), lu(n * stride), pivots(n) {}

  // The number of the first pivot that is 0, from 1 on, or 0. element(e) is the one of the band at e.
  template <typename Element> int64_t factor(Element &&element, int64_t givenUpper) {
    for (int64_t e = 0; e < n * stride; ++e)
      lu[e] = T(0);
    for (int64_t j = 0; j < n; ++j) {
      const Range rows = rowsOf(j, n, lower, upper);
      for (int64_t i = rows.begin; i < rows.end; ++i)
        at(i, j) = element((givenUpper + i - j) * n + j);
    }
    int64_t failed = 0;
    for (int64_t j = 0; j < n; ++j) {
      const int64_t end = std::min(n, j + lower + 1), last = std::min(n, j + above + 1);
      int64_t pivot = j;
      for (int64_t i = j + 1; i < end; ++i)
        pivot = partsSize(at(i, j)) > partsSize(at(pivot, j)) ? i : pivot;
      pivots[j] = pivot;
      if (at(pivot, j) == T(0)) {
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

  // Of op(A) X = B in place of B; of complex numbers, op(A) is the adjoint matrix in the place of the transposed one.
  void solve(T *x, int64_t columns, bool transposed) const {
    auto subtract = [&](int64_t to, int64_t from, T factor) {
      for (int64_t c = 0; c < columns; ++c)
        x[to * columns + c] -= factor * x[from * columns + c];
    };
    auto divide = [&](int64_t row, T factor) {
      for (int64_t c = 0; c < columns; ++c)
        x[row * columns + c] /= factor;
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
        divide(j, at(j, j));
        for (int64_t i = std::max<int64_t>(0, j - above); i < j; ++i)
          subtract(i, j, at(i, j));
      }
      return;
    }
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = std::max<int64_t>(0, j - above); i < j; ++i)
        subtract(j, i, conjugate(at(i, j)));
      divide(j, conjugate(at(j, j)));
    }
    for (int64_t j = n; j-- > 0;) {
      for (int64_t i = j + 1; i < std::min(n, j + lower + 1); ++i)
        subtract(j, i, conjugate(at(i, j)));
      exchange(j);
    }
  }

private:
  T &at(int64_t i, int64_t j) const { return lu[j * stride + above + i - j]; }

  const int64_t n, lower, upper, above, stride;
  Scratch<T> lu;
  Scratch<int64_t> pivots;
};

// The Cholesky factor L of a symmetric or Hermitian band, and solutions. Column j is `factor[j * stride]`, from its
// diagonal on.
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
      const RealOf<T> pivot = realPart(at(j, j));
      if (!(pivot > 0))
        return j + 1;
      const RealOf<T> root = std::sqrt(pivot);
      at(j, j) = root;
      for (int64_t i = j + 1; i < end; ++i)
        at(i, j) /= root;
      for (int64_t c = j + 1; c < end; ++c)
        for (int64_t i = c; i < end; ++i)
          at(i, c) -= at(i, j) * conjugate(at(c, j));
    }
    return 0;
  }
  void solve(T *x, int64_t columns) const {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t c = 0; c < columns; ++c)
        x[j * columns + c] /= realPart(at(j, j));
      for (int64_t i = j + 1; i < std::min(n, j + below + 1); ++i)
        for (int64_t c = 0; c < columns; ++c)
          x[i * columns + c] -= at(i, j) * x[j * columns + c];
    }
    for (int64_t j = n; j-- > 0;) {
      for (int64_t i = j + 1; i < std::min(n, j + below + 1); ++i)
        for (int64_t c = 0; c < columns; ++c)
          x[j * columns + c] -= conjugate(at(i, j)) * x[i * columns + c];
      for (int64_t c = 0; c < columns; ++c)
        x[j * columns + c] /= realPart(at(j, j));
    }
  }

private:
  T &at(int64_t i, int64_t j) const { return factors[j * stride + i - j]; }

  const int64_t n, below, stride;
  Scratch<T> factors;
};

} // namespace calque::runtime
#endif
