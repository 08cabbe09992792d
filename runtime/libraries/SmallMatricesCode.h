// The code of SmallMatrices.h, which each class of CPUs compiles for itself, to make its table of kernelTable(). It
// includes nothing that has inline functions, because the linker might give those that are compiled here to
// code for all CPUs.
#include "runtime/libraries/SmallMatrices.h"

namespace calque::runtime {
namespace {

//===-- Lanes -----------------------------------------------------------------------------------===//

typedef float FloatLanes __attribute__((vector_size(kLaneBytes)));
typedef double DoubleLanes __attribute__((vector_size(kLaneBytes)));

template <typename V> struct LanesOf {
  using Element = V;
  static constexpr int64_t count = 1;
};
template <> struct LanesOf<FloatLanes> {
  using Element = float;
  static constexpr int64_t count = kLanes<float>;
};
template <> struct LanesOf<DoubleLanes> {
  using Element = double;
  static constexpr int64_t count = kLanes<double>;
};
template <typename V> using ElementOf = typename LanesOf<V>::Element;

#define CALQUE_SMALL static inline __attribute__((always_inline))

CALQUE_SMALL float magnitude(float x) { return __builtin_fabsf(x); }
CALQUE_SMALL double magnitude(double x) { return __builtin_fabs(x); }
template <typename V> CALQUE_SMALL V magnitude(V x) { return x < V{} ? -x : x; }

CALQUE_SMALL float squareRoot(float x) { return __builtin_sqrtf(x); }
CALQUE_SMALL double squareRoot(double x) { return __builtin_sqrt(x); }
template <typename V> CALQUE_SMALL V squareRoot(V x) {
  V root;
  for (int64_t k = 0; k < LanesOf<V>::count; ++k)
    root[k] = squareRoot(x[k]);
  return root;
}

template <typename T> CALQUE_SMALL void exchange(T &a, T &b) {
  const T before = a;
  a = b;
  b = before;
}

// The elements of one lane among vectors.
template <typename V> CALQUE_SMALL ElementOf<V> &laneOf(V *vectors, int64_t element, int64_t lane) {
  return reinterpret_cast<ElementOf<V> *>(vectors)[element * LanesOf<V>::count + lane];
}

// A number in all lanes.
template <typename V> CALQUE_SMALL V splat(ElementOf<V> x) {
  if constexpr (LanesOf<V>::count == 1)
    return x;
  else
    return V{} + x;
}

// Elements of examples, one behind another, into lanes and back. Lanes without an example have those of the first one.
template <typename V> CALQUE_SMALL void load(V *to, const ElementOf<V> *from, int64_t size, int64_t count) {
  for (int64_t k = 0; k < LanesOf<V>::count; ++k) {
    const ElementOf<V> *example = from + (k < count ? k : 0) * size;
    for (int64_t e = 0; e < size; ++e)
      laneOf(to, e, k) = example[e];
  }
}
template <typename V> CALQUE_SMALL void store(ElementOf<V> *to, const V *from, int64_t size, int64_t count) {
  for (int64_t k = 0; k < count; ++k)
    for (int64_t e = 0; e < size; ++e)
      to[k * size + e] = reinterpret_cast<const ElementOf<V> *>(from)[e * LanesOf<V>::count + k];
}

//===-- Cholesky --------------------------------------------------------------------------------===//

// Column by column, each of which is at once subtracted from those behind it (Golub and Van Loan, Matrix Computations,
// 4th ed., algorithm 4.2.2).
template <typename V>
void cholesky(const ElementOf<V> *a, ElementOf<V> *l, int64_t n, int64_t count, ElementOf<V> *scratch,
              int64_t *failed) {
  using T = ElementOf<V>;
  constexpr int64_t lanes = LanesOf<V>::count;
  V *m = reinterpret_cast<V *>(scratch), *column = m + n * n;
  load(m, a, n * n, count);
  for (int64_t k = 0; k < lanes; ++k)
    failed[k] = 0;
  for (int64_t j = 0; j < n; ++j) {
    V pivot = m[j * n + j];
    for (int64_t k = 0; k < lanes; ++k) {
      T &own = laneOf(&pivot, 0, k);
      if (own > 0)
        continue;
      failed[k] = failed[k] ? failed[k] : j + 1;
      own = 1;
    }
    const V root = squareRoot(pivot), inverse = splat<V>(1) / root;
    m[j * n + j] = root;
    for (int64_t i = j + 1; i < n; ++i)
      column[i] = m[i * n + j] = m[i * n + j] * inverse;
    for (int64_t i = j + 1; i < n; ++i) {
      const V factor = column[i];
      V *row = m + i * n;
      for (int64_t c = j + 1; c <= i; ++c)
        row[c] -= factor * column[c];
    }
    for (int64_t c = j + 1; c < n; ++c)
      m[j * n + c] = V{};
  }
  store(l, m, n * n, count);
}

//===-- Triangles -------------------------------------------------------------------------------===//

// X of op(A) X = B in place of B, on rows of X, so that the innermost loop is along a row.
template <typename V> CALQUE_SMALL void solveTriangle(const V *a, V *x, int64_t n, int64_t columns, TriangleForm form) {
  const bool forward = form.lower != form.transposed;
  const int64_t rowStep = form.transposed ? 1 : n, columnStep = form.transposed ? n : 1;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    V *row = x + i * columns;
    const int64_t begin = forward ? 0 : i + 1, end = forward ? i : n;
    for (int64_t j = begin; j < end; ++j) {
      const V factor = a[i * rowStep + j * columnStep];
      const V *other = x + j * columns;
      for (int64_t c = 0; c < columns; ++c)
        row[c] -= factor * other[c];
    }
    if (!form.unit) {
      const V diagonal = a[i * n + i];
      for (int64_t c = 0; c < columns; ++c)
        row[c] /= diagonal;
    }
  }
}

template <typename V>
void triangularSolve(const ElementOf<V> *a, const ElementOf<V> *b, ElementOf<V> *x, int64_t n, int64_t columns,
                     TriangleForm form, int64_t count, ElementOf<V> *scratch) {
  V *m = reinterpret_cast<V *>(scratch), *rows = m + n * n;
  load(m, a, n * n, count);
  load(rows, b, n * columns, count);
  solveTriangle(m, rows, n, columns, form);
  store(x, rows, n * columns, count);
}

} // namespace
} // namespace calque::runtime

#include "runtime/libraries/SmallLuCode.h"
#include "runtime/libraries/SmallQrCode.h"
#include "runtime/libraries/SmallSpectralCode.h"

// Complex matrices take what the others define.
#include "runtime/libraries/SmallComplexCode.h"

namespace calque::runtime {
namespace {
template <typename V> constexpr SmallMatrices<ElementOf<V>> kernels() {
  return {.cholesky = cholesky<V>,
          .triangularSolve = triangularSolve<V>,
          .luFactor = luFactor<V>,
          .luSolve = luSolve<V>,
          .inverse = inverse<V>,
          .qr = qr<V>,
          .eigh = eigh<V>,
          .svd = svd<V>,
          .multiply = multiply<V>};
}
template <typename V> constexpr SmallComplexMatrices<ElementOf<V>> complexKernels() {
  return {.cholesky = complexCholesky<V>,
          .triangularSolve = complexTriangularSolve<V>,
          .luFactor = complexLuFactor<V>,
          .luSolve = complexLuSolve<V>,
          .eigh = complexEigh<V>,
          .svd = complexSvd<V>};
}
constexpr SmallKernelTable kernelTable() {
  return {.f32 = {kernels<FloatLanes>(), kernels<float>(), complexKernels<FloatLanes>(), complexKernels<float>()},
          .f64 = {kernels<DoubleLanes>(), kernels<double>(), complexKernels<DoubleLanes>(), complexKernels<double>()}};
}
} // namespace

} // namespace calque::runtime
