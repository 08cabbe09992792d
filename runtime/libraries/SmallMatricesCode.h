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

// Four elements at any address: vectors that all classes of CPUs shuffle in few instructions.
template <typename T> struct FourOf {
  typedef T Type __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));
};
// rows[i][j] becomes rows[j][i].
template <typename T> CALQUE_SMALL void transposeFour(typename FourOf<T>::Type (&rows)[4]) {
  typedef T Four __attribute__((vector_size(4 * sizeof(T))));
  const Four a = rows[0], b = rows[1], c = rows[2], d = rows[3];
  if constexpr (sizeof(T) == sizeof(float)) { // within halves, then whole halves
    const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), abHigh = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cdHigh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    rows[0] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    rows[1] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    rows[2] = __builtin_shufflevector(abHigh, cdHigh, 0, 1, 4, 5);
    rows[3] = __builtin_shufflevector(abHigh, cdHigh, 2, 3, 6, 7);
  } else {
    const Four even = __builtin_shufflevector(a, b, 0, 4, 2, 6), odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const Four evenOf = __builtin_shufflevector(c, d, 0, 4, 2, 6), oddOf = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    rows[0] = __builtin_shufflevector(even, evenOf, 0, 1, 4, 5);
    rows[1] = __builtin_shufflevector(odd, oddOf, 0, 1, 4, 5);
    rows[2] = __builtin_shufflevector(even, evenOf, 2, 3, 6, 7);
    rows[3] = __builtin_shufflevector(odd, oddOf, 2, 3, 6, 7);
  }
}

// Elements of examples, one behind another, into lanes and back, four elements of four examples at once. Lanes without
// an example have those of the first one. Vectors are `step` apart.
template <typename V, int64_t step = 1>
CALQUE_SMALL void load(V *to, const ElementOf<V> *from, int64_t size, int64_t count) {
  using T = ElementOf<V>;
  constexpr int64_t lanes = LanesOf<V>::count;
  int64_t e = 0;
  if constexpr (lanes % 4 == 0)
    for (; count == lanes && e + 4 <= size; e += 4)
      for (int64_t k = 0; k < lanes; k += 4) {
        typename FourOf<T>::Type rows[4];
        for (int64_t i = 0; i < 4; ++i)
          rows[i] = *reinterpret_cast<const typename FourOf<T>::Type *>(from + (k + i) * size + e);
        transposeFour<T>(rows);
        for (int64_t i = 0; i < 4; ++i)
          *reinterpret_cast<typename FourOf<T>::Type *>(&laneOf(to, (e + i) * step, k)) = rows[i];
      }
  for (; e < size; ++e)
    for (int64_t k = 0; k < lanes; ++k)
      laneOf(to, e * step, k) = from[(k < count ? k : 0) * size + e];
}
template <typename V, int64_t step = 1>
CALQUE_SMALL void store(ElementOf<V> *to, const V *from, int64_t size, int64_t count) {
  using T = ElementOf<V>;
  constexpr int64_t lanes = LanesOf<V>::count;
  const T *elements = reinterpret_cast<const T *>(from);
  int64_t e = 0;
  if constexpr (lanes % 4 == 0)
    for (; count == lanes && e + 4 <= size; e += 4)
      for (int64_t k = 0; k < lanes; k += 4) {
        typename FourOf<T>::Type rows[4];
        for (int64_t i = 0; i < 4; ++i)
          rows[i] = *reinterpret_cast<const typename FourOf<T>::Type *>(elements + (e + i) * step * lanes + k);
        transposeFour<T>(rows);
        for (int64_t i = 0; i < 4; ++i)
          *reinterpret_cast<typename FourOf<T>::Type *>(to + (k + i) * size + e) = rows[i];
      }
  for (; e < size; ++e)
    for (int64_t k = 0; k < count; ++k)
      to[k * size + e] = elements[e * step * lanes + k];
}

//===-- Scales ----------------------------------------------------------------------------------===//

// The power of 2 that brings a finite magnitude between 1 and 2, in two steps, as that of the least numbers is none of
// the type; and its inverse. No power of 2 for 0, infinity and NaN.
template <typename T> struct Scale {
  T first, second, back;
};
template <typename T> CALQUE_SMALL Scale<T> scaleOf(T largest) {
  int exponent = 1;
  if (largest > 0 && largest * 0 == 0)
    (void)__builtin_frexp(static_cast<double>(largest), &exponent);
  --exponent;
  const int half = exponent / 2;
  return {static_cast<T>(__builtin_ldexp(1.0, -half)), static_cast<T>(__builtin_ldexp(1.0, half - exponent)),
          static_cast<T>(__builtin_ldexp(1.0, exponent))};
}

// Within these, neither sums of magnitudes and products with numbers near 1 leave the range, nor does the rounding of
// subnormal numbers count.
template <typename T> constexpr T kLeastUnscaled = static_cast<T>(sizeof(T) == sizeof(float) ? 0x1p-90 : 0x1p-960);
template <typename T> constexpr T kMostUnscaled = static_cast<T>(sizeof(T) == sizeof(float) ? 0x1p+110 : 0x1p+1000);

// Brings the largest magnitude of each lane near to 1, where it is outside of these bounds, and returns it. Results of
// a lane are to be multiplied by its number of `back`.
template <typename V> CALQUE_SMALL V scaleLanes(V *x, int64_t size, ElementOf<V> *back) {
  using T = ElementOf<V>;
  V largest{};
  for (int64_t e = 0; e < size; ++e)
    largest = magnitude(x[e]) > largest ? magnitude(x[e]) : largest;
  for (int64_t k = 0; k < LanesOf<V>::count; ++k) {
    T &own = laneOf(&largest, 0, k);
    back[k] = 1;
    if (own == 0 || own * 0 != 0 || (own >= kLeastUnscaled<T> && own <= kMostUnscaled<T>))
      continue;
    const Scale<T> scale = scaleOf(own);
    for (int64_t e = 0; e < size; ++e)
      laneOf(x, e, k) = laneOf(x, e, k) * scale.first * scale.second;
    own = own * scale.first * scale.second;
    back[k] = scale.back;
  }
  return largest;
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
