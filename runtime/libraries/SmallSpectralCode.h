// Eigenvalues and singular values by rotations: a part of SmallMatricesCode.h. A lane that has converged is not rotated
// any more, so that its result does not depend on the others.
namespace calque::runtime {
namespace {

constexpr int kMostSweeps = 60;

template <typename T> constexpr T kEpsilon = sizeof(T) == sizeof(float) ? T(1.1920929e-07) : T(2.220446049250313e-16);

template <typename V> CALQUE_SMALL bool anyLane(V x) {
  for (int64_t k = 0; k < LanesOf<V>::count; ++k)
    if (laneOf(&x, 0, k) != 0)
      return true;
  return false;
}

// NaN in the lanes in which an element is infinite or NaN, else 0.
template <typename V> CALQUE_SMALL V poisonOf(const V *x, int64_t size) {
  V sum{};
  for (int64_t e = 0; e < size; ++e)
    sum += x[e] * splat<V>(0);
  return sum;
}

// The cosine and sine of the rotation that makes the symmetric matrix [p, off; off, q] diagonal, and the tangent (Golub
// and Van Loan, section 8.5.2); of lanes that are not rotated those of no rotation.
template <typename V> struct Rotation {
  V c, s, t;
};
template <typename V> CALQUE_SMALL Rotation<V> rotationOf(V p, V q, V off, V isRotated) {
  const V one = splat<V>(1), half = isRotated != V{} ? off : one;
  const V theta = (q - p) / (half + half);
  const V root = squareRoot(theta * theta + one), size = magnitude(theta) + root;
  V t = theta < V{} ? -one / size : one / size;
  t = isRotated != V{} ? t : V{};
  const V c = one / squareRoot(t * t + one);
  return {c, t * c, t};
}

// Exchanges what rotates two elements.
template <typename V> CALQUE_SMALL void rotate(V &x, V &y, const Rotation<V> &r) {
  const V before = x;
  x = r.c * before - r.s * y;
  y = r.s * before + r.c * y;
}

// The order in which numbers grow or shrink; equal ones keep theirs.
template <typename T> CALQUE_SMALL void orderOf(const T *numbers, int64_t *order, int64_t n, bool descending) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = i;
    for (; at > 0 && (descending ? numbers[order[at - 1]] < numbers[i] : numbers[order[at - 1]] > numbers[i]); --at)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

// A = Q^T diag(w) Q by Jacobi's rotations (Golub and Van Loan, algorithm 8.5.3), on the upper triangle. The results
// have ascending eigenvalues and the eigenvectors as columns.
template <typename V>
void eigh(const ElementOf<V> *a, ElementOf<V> *values, ElementOf<V> *vectors, int64_t n, int64_t count,
          ElementOf<V> *scratch, int64_t *failed) {
  using T = ElementOf<V>;
  constexpr int64_t lanes = LanesOf<V>::count;
  V *m = reinterpret_cast<V *>(scratch), *q = m + n * n;
  load(m, a, n * n, count);
  V poison{};
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      const V own = m[j * n + i] = m[i * n + j]; // the lower triangle is the one that is given
      poison += own * splat<V>(0);
    }
  T back[lanes];
  const V largest = scaleLanes(m, n * n, back);
  for (int64_t e = 0; e < n * n; ++e)
    q[e] = splat<V>(e / n == e % n ? T(1) : T(0));
  const V least = largest * splat<V>(kEpsilon<T> / 4);
  bool isRotated = true;
  V rotated{}; // in the last sweep
  int sweep = 0;
  for (; isRotated && sweep < kMostSweeps; ++sweep) {
    isRotated = false;
    rotated = V{};
    for (int64_t i = 0; i + 1 < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) {
        const V off = m[i * n + j];
        const V rotates = magnitude(off) > least ? splat<V>(1) : V{};
        if (!anyLane(rotates))
          continue;
        isRotated = true;
        rotated += rotates;
        V &p = m[i * n + i], &r = m[j * n + j];
        const Rotation<V> rotation = rotationOf(p, r, off, rotates);
        p -= rotation.t * off;
        r += rotation.t * off;
        m[i * n + j] = rotates != V{} ? V{} : off;
        for (int64_t k = 0; k < i; ++k)
          rotate(m[k * n + i], m[k * n + j], rotation);
        for (int64_t k = i + 1; k < j; ++k)
          rotate(m[i * n + k], m[k * n + j], rotation);
        for (int64_t k = j + 1; k < n; ++k)
          rotate(m[i * n + k], m[j * n + k], rotation);
        for (int64_t k = 0; k < n; ++k)
          rotate(q[i * n + k], q[j * n + k], rotation);
      }
  }
  for (int64_t k = 0; k < lanes; ++k)
    failed[k] = sweep == kMostSweeps && laneOf(&rotated, 0, k) != 0;
  for (int64_t k = 0; k < count; ++k) {
    T diagonal[kMostSmallRows];
    int64_t order[kMostSmallRows];
    const T own = laneOf(&poison, 0, k);
    for (int64_t i = 0; i < n; ++i)
      diagonal[i] = laneOf(m, i * n + i, k);
    orderOf(diagonal, order, n, false);
    for (int64_t j = 0; j < n; ++j) {
      values[k * n + j] = diagonal[order[j]] * back[k] + own;
      for (int64_t i = 0; i < n; ++i)
        vectors[k * n * n + i * n + j] = laneOf(q, order[j] * n + i, k) + own;
    }
  }
}

// The rows of a matrix from `known` on are made orthogonal to those before them and to each other, and of length 1. A
// row that depends on others becomes a unit vector's part. Twice is enough (Parlett, The symmetric eigenvalue
// problem, 6.9).
template <typename T> CALQUE_SMALL void completeRows(T *rows, int64_t known, int64_t count, int64_t length) {
  int64_t unit = 0;
  for (int64_t j = known; j < count;) {
    T *row = rows + j * length;
    T norm = 0;
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t i = 0; i < j; ++i) {
        T dot = 0;
        for (int64_t e = 0; e < length; ++e)
          dot += rows[i * length + e] * row[e];
        for (int64_t e = 0; e < length; ++e)
          row[e] -= dot * rows[i * length + e];
      }
      T sum = 0;
      for (int64_t e = 0; e < length; ++e)
        sum += row[e] * row[e];
      norm = squareRoot(sum);
      if (!(norm > T(0.1)))
        break;
      for (int64_t e = 0; e < length; ++e)
        row[e] /= norm;
    }
    if (norm > T(0.1)) {
      ++j;
      continue;
    }
    if (unit == length)
      return; // of NaN alone
    for (int64_t e = 0; e < length; ++e)
      row[e] = e == unit;
    ++unit;
  }
}

// A = U diag(s) V^T of tall matrices [m, n] by rotations of columns (Hestenes; Golub and Van Loan, section 8.6.3): rows
// of g are columns of A, and rows of w those of V. `turned` says that A is given, and U and V are wanted, transposed.
// With `full`, U has m columns, else n. Scratch: m * n + n * n for each example, and m * m for one.
template <typename V>
void svd(const ElementOf<V> *a, ElementOf<V> *u, ElementOf<V> *s, ElementOf<V> *vh, int64_t m, int64_t n, bool turned,
         bool full, int64_t count, ElementOf<V> *scratch, int64_t *failed) {
  using T = ElementOf<V>;
  constexpr int64_t lanes = LanesOf<V>::count;
  V *g = reinterpret_cast<V *>(scratch), *w = g + m * n;
  T *rows = reinterpret_cast<T *>(w + n * n);
  T factor[lanes];
  for (int64_t k = 0; k < lanes; ++k) {
    const T *own = a + (k < count ? k : 0) * m * n;
    T largest = 0;
    for (int64_t e = 0; e < m * n; ++e)
      largest = magnitude(own[e]) > largest ? magnitude(own[e]) : largest;
    // No square leaves the range.
    const Scale<T> scale = scaleOf(largest);
    factor[k] = scale.back;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        laneOf(g, j * m + i, k) = own[turned ? j * m + i : i * n + j] * scale.first * scale.second;
  }
  V poison = poisonOf(g, m * n);
  for (int64_t e = 0; e < n * n; ++e)
    w[e] = splat<V>(e / n == e % n ? T(1) : T(0));
  // A product of columns is rounded by as many units as it has terms. What is left of columns that depend on others are
  // errors of the largest, whose elements are below 2; these have no angle.
  const V epsilon = splat<V>(kEpsilon<T> * static_cast<T>(m));
  const V least = splat<V>(T(16) * static_cast<T>(m) * kEpsilon<T> * kEpsilon<T>);
  bool isRotated = true;
  V rotated{}; // in the last sweep
  int sweep = 0;
  for (; isRotated && sweep < kMostSweeps; ++sweep) {
    isRotated = false;
    rotated = V{};
    for (int64_t i = 0; i + 1 < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) {
        V p{}, q{}, off{};
        for (int64_t e = 0; e < m; ++e) {
          p += g[i * m + e] * g[i * m + e];
          q += g[j * m + e] * g[j * m + e];
          off += g[i * m + e] * g[j * m + e];
        }
        const V bound = epsilon * squareRoot(p) * squareRoot(q);
        const V rotates = magnitude(off) > (bound > least ? bound : least) ? splat<V>(1) : V{};
        if (!anyLane(rotates))
          continue;
        isRotated = true;
        rotated += rotates;
        const Rotation<V> rotation = rotationOf(p, q, off, rotates);
        for (int64_t e = 0; e < m; ++e)
          rotate(g[i * m + e], g[j * m + e], rotation);
        for (int64_t e = 0; e < n; ++e)
          rotate(w[i * n + e], w[j * n + e], rotation);
      }
  }
  for (int64_t k = 0; k < lanes; ++k)
    failed[k] = sweep == kMostSweeps && laneOf(&rotated, 0, k) != 0;
  const int64_t columns = full ? m : n;
  for (int64_t k = 0; k < count; ++k) {
    const T own = laneOf(&poison, 0, k);
    T lengths[kMostSmallRows];
    int64_t order[kMostSmallRows];
    for (int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (int64_t e = 0; e < m; ++e)
        sum += laneOf(g, j * m + e, k) * laneOf(g, j * m + e, k);
      lengths[j] = squareRoot(sum);
    }
    orderOf(lengths, order, n, true);
    // Of columns of lengths x and y the angle is as right as least / (x y). Shorter ones than this are made orthogonal
    // to those before them, which moves A by no more than `least` over the length of the longer one.
    const T shortest = (n > 0 ? lengths[order[0]] : T(0)) * T(2) * squareRoot(kEpsilon<T>);
    int64_t known = 0;
    for (int64_t j = 0; j < n; ++j) {
      const T length = lengths[order[j]];
      known += length > shortest;
      for (int64_t e = 0; e < m; ++e)
        rows[j * m + e] = length > 0 ? laneOf(g, order[j] * m + e, k) / length : T(0);
      s[k * n + j] = length * factor[k] + own;
    }
    for (int64_t e = n * m; e < columns * m; ++e)
      rows[e] = 0;
    completeRows(rows, known, columns, m);
    T *left = u + k * m * columns, *right = vh + k * n * n;
    if (turned) { // A^T = U' s V'^T, so that A = V' s U'^T
      left = u + k * n * n;
      right = vh + k * m * columns;
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t e = 0; e < m; ++e)
          right[j * m + e] = rows[j * m + e] + own;
      for (int64_t j = 0; j < n; ++j)
        for (int64_t e = 0; e < n; ++e)
          left[e * n + j] = laneOf(w, order[j] * n + e, k) + own;
      continue;
    }
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t e = 0; e < m; ++e)
        left[e * columns + j] = rows[j * m + e] + own;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t e = 0; e < n; ++e)
        right[j * n + e] = laneOf(w, order[j] * n + e, k) + own;
  }
}

// The product of two matrices [n, n].
template <typename V> void multiply(const ElementOf<V> *a, const ElementOf<V> *b, ElementOf<V> *product, int64_t n) {
  using T = ElementOf<V>;
  for (int64_t i = 0; i < n; ++i) {
    T *row = product + i * n;
    for (int64_t j = 0; j < n; ++j)
      row[j] = 0;
    for (int64_t k = 0; k < n; ++k) {
      const T factor = a[i * n + k];
      for (int64_t j = 0; j < n; ++j)
        row[j] += factor * b[k * n + j];
    }
  }
}

} // namespace
} // namespace calque::runtime
