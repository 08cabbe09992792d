// Triangular factors with exchanged rows: a part of SmallMatricesCode.h.
namespace calque::runtime {
namespace {

// The factors of m in its place, with the largest element of a column as its pivot (Golub and Van Loan, algorithm
// 3.4.1). The rows of the lanes are exchanged one by one. A column of zeros is left as it is.
template <typename V> CALQUE_SMALL void factor(V *m, int64_t n, int64_t *order) {
  constexpr int64_t lanes = LanesOf<V>::count;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < lanes; ++k)
      order[i * lanes + k] = i;
  for (int64_t j = 0; j < n; ++j) {
    V best = magnitude(m[j * n + j]), at = splat<V>(static_cast<ElementOf<V>>(j));
    for (int64_t i = j + 1; i < n; ++i) {
      const V other = magnitude(m[i * n + j]);
      at = other > best ? splat<V>(static_cast<ElementOf<V>>(i)) : at;
      best = other > best ? other : best;
    }
    for (int64_t k = 0; k < lanes; ++k) {
      const auto pivot = static_cast<int64_t>(laneOf(&at, 0, k));
      if (pivot == j)
        continue;
      for (int64_t c = 0; c < n; ++c)
        exchange(laneOf(m, j * n + c, k), laneOf(m, pivot * n + c, k));
      exchange(order[j * lanes + k], order[pivot * lanes + k]);
    }
    const V pivot = m[j * n + j], divisor = pivot == V{} ? splat<V>(1) : pivot;
    for (int64_t i = j + 1; i < n; ++i) {
      const V ratio = m[i * n + j] / divisor;
      m[i * n + j] = ratio;
      for (int64_t c = j + 1; c < n; ++c)
        m[i * n + c] -= ratio * m[j * n + c];
    }
  }
}

// The number of the first zero on the diagonal of each lane, from 1 on, or 0.
template <typename V> CALQUE_SMALL void findSingular(V *m, int64_t n, int64_t *failed) {
  for (int64_t k = 0; k < LanesOf<V>::count; ++k) {
    failed[k] = 0;
    for (int64_t i = 0; i < n && !failed[k]; ++i)
      failed[k] = laneOf(m, i * n + i, k) == 0 ? i + 1 : 0;
  }
}

// One row of lanes to the examples, one behind another, and back.
CALQUE_SMALL void storeOrder(int64_t *to, const int64_t *order, int64_t n, int64_t lanes, int64_t count) {
  for (int64_t k = 0; k < count; ++k)
    for (int64_t i = 0; i < n; ++i)
      to[k * n + i] = order[i * lanes + k];
}

template <typename V>
void luFactor(const ElementOf<V> *a, ElementOf<V> *lu, int64_t *order, int64_t n, int64_t count,
              ElementOf<V> *scratch) {
  int64_t rows[kMostSmallRows * LanesOf<V>::count];
  V *m = reinterpret_cast<V *>(scratch);
  load(m, a, n * n, count);
  factor(m, n, rows);
  store(lu, m, n * n, count);
  storeOrder(order, rows, n, LanesOf<V>::count, count);
}

template <typename V>
void luSolve(const ElementOf<V> *lu, const int64_t *order, const ElementOf<V> *b, ElementOf<V> *x, int64_t n,
             int64_t columns, bool transposed, int64_t count, ElementOf<V> *scratch, int64_t *failed) {
  using T = ElementOf<V>;
  V *m = reinterpret_cast<V *>(scratch), *rows = m + n * n;
  load(m, lu, n * n, count);
  findSingular(m, n, failed);
  for (int64_t k = 0; k < LanesOf<V>::count; ++k) {
    const int64_t example = k < count ? k : 0;
    for (int64_t i = 0; i < n; ++i) {
      const T *from = b + (example * n + (transposed ? i : order[example * n + i])) * columns;
      for (int64_t c = 0; c < columns; ++c)
        laneOf(rows, i * columns + c, k) = from[c];
    }
  }
  const TriangleForm lower{true, transposed, true}, upper{false, transposed, false};
  solveTriangle(m, rows, n, columns, transposed ? upper : lower);
  solveTriangle(m, rows, n, columns, transposed ? lower : upper);
  for (int64_t k = 0; k < count; ++k)
    for (int64_t i = 0; i < n; ++i) {
      T *to = x + (k * n + (transposed ? order[k * n + i] : i)) * columns;
      for (int64_t c = 0; c < columns; ++c)
        to[c] = laneOf(rows, i * columns + c, k);
    }
}

template <typename V>
void inverse(const ElementOf<V> *a, ElementOf<V> *x, int64_t n, int64_t count, ElementOf<V> *scratch, int64_t *failed) {
  constexpr int64_t lanes = LanesOf<V>::count;
  int64_t order[kMostSmallRows * lanes];
  V *m = reinterpret_cast<V *>(scratch), *rows = m + n * n;
  load(m, a, n * n, count);
  factor(m, n, order);
  findSingular(m, n, failed);
  for (int64_t e = 0; e < n * n; ++e)
    rows[e] = V{};
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < lanes; ++k)
      laneOf(rows, i * n + order[i * lanes + k], k) = 1;
  solveTriangle(m, rows, n, n, {true, false, true});
  solveTriangle(m, rows, n, n, {false, false, false});
  store(x, rows, n * n, count);
}

} // namespace
} // namespace calque::runtime
