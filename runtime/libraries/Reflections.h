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
      r[i * n + j] = j < i ? T(0) : work[i * n + j];
}

// A row-major matrix is LAPACK's transposed one, whose LQ factors are those of the QR factors, transposed.
template <typename T>
void largeQr(const Lapack<T> &lapack, const T *a, T *q, T *r, int64_t m, int64_t n, int64_t columns) {
  const LapackInt rows = lapackInt(n), width = lapackInt(m), count = std::min(rows, width), own = lapackInt(columns);
  Scratch<T> work(m * n), tau(count);
  std::copy_n(a, m * n, work.get());
  LapackInt info = 0, query = -1;
  T best[2] = {};
  lapack.gelqf(&rows, &width, work.get(), &rows, tau.get(), best, &query, &info);
  lapack.orglq(&own, &width, &count, q, &own, tau.get(), best + 1, &query, &info);
  const auto size = static_cast<LapackInt>(std::max({realPart(best[0]), realPart(best[1]), RealOf<T>(1)}));
  Scratch<T> space(size);
  lapack.gelqf(&rows, &width, work.get(), &rows, tau.get(), space.get(), &size, &info);
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t j = 0; j < n; ++j)
      r[i * n + j] = j < i ? T(0) : work[i * n + j];
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < columns; ++j)
      q[i * columns + j] = j < count ? work[i * n + j] : T(0);
  lapack.orglq(&own, &width, &count, q, &own, tau.get(), space.get(), &size, &info);
}

} // namespace calque::runtime
#endif
