// What determinants are made of, beside the factors of Lu.h.
#ifndef CALQUE_RUNTIME_LIBRARIES_ADJUGATE_H
#define CALQUE_RUNTIME_LIBRARIES_ADJUGATE_H

#include "runtime/libraries/Triangles.h"

#include <numeric>
#include <vector>

namespace calque::runtime {

// Whether rows can be taken in an order. That of a file's program may be anything.
inline bool isOrder(const int64_t *order, int64_t n) {
  return std::all_of(order, order + n, [n](int64_t row) { return row >= 0 && row < n; });
}

// Whether an order exchanges an odd number of pairs.
inline bool isOdd(const int64_t *order, int64_t n) {
  std::vector<bool> seen(static_cast<std::size_t>(n));
  bool odd = false;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i; !seen[static_cast<std::size_t>(j)]; j = order[j]) {
      seen[static_cast<std::size_t>(j)] = true;
      odd ^= order[j] != i; // a cycle of length k is k - 1 exchanges
    }
  return odd;
}

// The transposed matrix of cofactors, also of singular matrices. With P A Q = L U, the pivots being the largest
// elements of what is left, adj(A) = det(P) det(Q) Q adj(U) L^-1 P. If U1 are all rows and columns of U but the last
// ones, u the rest of the last column and d its last element, then
//   adj(U) = det(U1) [d U1^-1, -U1^-1 u; 0, 1],
// where only d may be 0, or adj(A) is zero.
template <typename T> void adjugate(const T *a, T *result, int64_t n) {
  if (n == 0)
    return;
  Scratch<T> m(n * n), y(n * n);
  std::vector<int64_t> rows(static_cast<std::size_t>(n)), columns(rows.size());
  std::iota(rows.begin(), rows.end(), int64_t(0));
  std::iota(columns.begin(), columns.end(), int64_t(0));
  std::copy_n(a, n * n, m.get());
  for (int64_t e = 0; e < n * n; ++e)
    if (!std::isfinite(partsSize(a[e]))) {
      std::fill_n(result, n * n, T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
      return;
    }
  bool odd = false;
  for (int64_t j = 0; j + 1 < n; ++j) {
    int64_t row = j, column = j;
    for (int64_t i = j; i < n; ++i)
      for (int64_t c = j; c < n; ++c)
        if (partsSize(m[i * n + c]) > partsSize(m[row * n + column])) {
          row = i;
          column = c;
        }
    if (m[row * n + column] == T(0)) {
      std::fill_n(result, n * n, T(0));
      return;
    }
    if (row != j) {
      std::swap_ranges(m.get() + row * n, m.get() + (row + 1) * n, m.get() + j * n);
      std::swap(rows[static_cast<std::size_t>(row)], rows[static_cast<std::size_t>(j)]);
      odd = !odd;
    }
    if (column != j) {
      for (int64_t i = 0; i < n; ++i)
        std::swap(m[i * n + column], m[i * n + j]);
      std::swap(columns[static_cast<std::size_t>(column)], columns[static_cast<std::size_t>(j)]);
      odd = !odd;
    }
    for (int64_t i = j + 1; i < n; ++i) {
      const T ratio = m[i * n + j] /= m[j * n + j];
      for (int64_t c = j + 1; c < n; ++c)
        m[i * n + c] -= ratio * m[j * n + c];
    }
  }
  // y = L^-1, and then adj(U) / det(U1) times it.
  for (int64_t i = 0; i < n; ++i) {
    T *own = y.get() + i * n;
    std::fill_n(own, n, T(0));
    own[i] = 1;
    for (int64_t j = 0; j < i; ++j)
      for (int64_t c = 0; c <= j; ++c)
        own[c] -= m[i * n + j] * y[j * n + c];
  }
  const T *last = y.get() + (n - 1) * n;
  const T smallest = m[n * n - 1];
  T factor = odd ? -1 : 1;
  for (int64_t i = n - 1; i-- > 0;) {
    T *own = y.get() + i * n;
    for (int64_t c = 0; c < n; ++c)
      own[c] = smallest * own[c] - m[i * n + n - 1] * last[c];
    for (int64_t j = i + 1; j + 1 < n; ++j)
      for (int64_t c = 0; c < n; ++c)
        own[c] -= m[i * n + j] * y[j * n + c];
    for (int64_t c = 0; c < n; ++c)
      own[c] /= m[i * n + i];
    factor *= m[i * n + i];
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t c = 0; c < n; ++c)
      result[columns[static_cast<std::size_t>(i)] * n + rows[static_cast<std::size_t>(c)]] = factor * y[i * n + c];
}

} // namespace calque::runtime
#endif
