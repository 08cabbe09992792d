// Kernels for small matrices, made once for each class of CPUs.
//
// Several matrices are worked on at once, one in each lane of vectors: lane k has the elements of example k. All
// examples pass through the same instructions, so that an example's result does not depend on which ones stand beside
// it. A group is as many examples as there are lanes, the last group maybe fewer.
//
// Matrices are dense and in row-major order. `scratch` is aligned to kLaneBytes and has room for the matrices of a
// group, and whatever else a kernel says.
#ifndef CALQUE_RUNTIME_LIBRARIES_SMALLMATRICES_H
#define CALQUE_RUNTIME_LIBRARIES_SMALLMATRICES_H

#include <cstddef>
#include <cstdint>

namespace calque::runtime {

// The bytes of a vector of lanes: those of a cache line.
inline constexpr int64_t kLaneBytes = 64;
// No matrix has more rows or columns.
inline constexpr int64_t kMostSmallRows = 32;
template <typename T> inline constexpr int64_t kLanes = kLaneBytes / static_cast<int64_t>(sizeof(T));

// Which triangle a matrix has, whether it is used transposed, and whether its diagonal counts as ones.
struct TriangleForm {
  bool lower, transposed, unit;
};

template <typename T> struct SmallMatrices {
  // L of A = L L^T, of which only the lower triangle is read. failed[k] is the size of the first leading minor of
  // example k that is not positive, or 0. Scratch: n * n + n for each example.
  void (*cholesky)(const T *a, T *l, int64_t n, int64_t count, T *scratch, int64_t *failed);
  // X of op(A) X = B, where X and B are n x columns. Scratch: n * n + n * columns.
  void (*triangularSolve)(const T *a, const T *b, T *x, int64_t n, int64_t columns, TriangleForm form, int64_t count,
                          T *scratch);
  // The factors of A[order] = L U. Scratch: n * n for each example.
  void (*luFactor)(const T *a, T *lu, int64_t *order, int64_t n, int64_t count, T *scratch);
  // X of op(A) X = B, from the factors. failed[k] is the number of the first pivot of example k that is 0, from 1 on,
  // or 0. Scratch: n * n + n * columns.
  void (*luSolve)(const T *lu, const int64_t *order, const T *b, T *x, int64_t n, int64_t columns, bool transposed,
                  int64_t count, T *scratch, int64_t *failed);
  void (*inverse)(const T *a, T *x, int64_t n, int64_t count, T *scratch, int64_t *failed);
  // Q [m, columns] and R [columns, n]; `columns` is m or the smaller one of m and n. Scratch: m * n + m * columns +
  // min(m, n) * (m + 1) + max(n, columns).
  void (*qr)(const T *a, T *q, T *r, int64_t m, int64_t n, int64_t columns, int64_t count, T *scratch);
  // The eigenvalues of symmetric matrices, of which the lower triangle is read, and the eigenvectors as columns.
  // failed[k]: it does not converge. Scratch: 2 * n * n.
  void (*eigh)(const T *a, T *values, T *vectors, int64_t n, int64_t count, T *scratch, int64_t *failed);
  // A = U diag(s) V^T of matrices with m >= n; see SmallSpectralCode.h.
  void (*svd)(const T *a, T *u, T *s, T *vh, int64_t m, int64_t n, bool turned, bool full, int64_t count, T *scratch,
              int64_t *failed);
  // The product of two matrices [n, n], each one example.
  void (*multiply)(const T *a, const T *b, T *product, int64_t n);
};

// The parts of complex matrices, which are apart.
template <typename T> struct PartsOf {
  T *re, *im;
};

// The same of complex matrices, with twice the scratch. What is transposed there is the adjoint matrix here.
template <typename T> struct SmallComplexMatrices {
  void (*cholesky)(PartsOf<const T> a, PartsOf<T> l, int64_t n, int64_t count, T *scratch, int64_t *failed);
  void (*triangularSolve)(PartsOf<const T> a, PartsOf<const T> b, PartsOf<T> x, int64_t n, int64_t columns,
                          TriangleForm form, int64_t count, T *scratch);
  void (*luFactor)(PartsOf<const T> a, PartsOf<T> lu, int64_t *order, int64_t n, int64_t count, T *scratch);
  void (*luSolve)(PartsOf<const T> lu, const int64_t *order, PartsOf<const T> b, PartsOf<T> x, int64_t n,
                  int64_t columns, bool adjoint, int64_t count, T *scratch, int64_t *failed);
  void (*eigh)(PartsOf<const T> a, T *values, PartsOf<T> vectors, int64_t n, int64_t count, T *scratch,
               int64_t *failed);
  void (*svd)(PartsOf<const T> a, PartsOf<T> u, T *s, PartsOf<T> vh, int64_t m, int64_t n, bool turned, bool full,
              int64_t count, T *scratch, int64_t *failed);
};

// The kernels that have a matrix in each lane, and those for one matrix, whose rows are vectors.
template <typename T> struct SmallKernels {
  SmallMatrices<T> inLanes, single;
  SmallComplexMatrices<T> complexInLanes, complexSingle;
};

// Of each class of CPUs that has some.
struct SmallKernelTable {
  SmallKernels<float> f32;
  SmallKernels<double> f64;
  template <typename T> const SmallKernels<T> &of() const {
    if constexpr (sizeof(T) == sizeof(float))
      return f32;
    else
      return f64;
  }
};
extern const SmallKernelTable kSmallBaseline;
#if defined(__x86_64__)
extern const SmallKernelTable kSmallAvx2, kSmallAvx512;
#endif

} // namespace calque::runtime
#endif
