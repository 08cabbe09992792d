// QR factors by reflections: a part of SmallMatricesCode.h.
namespace calque::runtime {
namespace {

// x := x - factor v (v^T x) for rows from `from` on and columns from `first` on.
template <typename V>
CALQUE_SMALL void reflect(V *x, const V *v, V factor, V *row, int64_t m, int64_t width, int64_t from, int64_t first) {
  for (int64_t c = first; c < width; ++c)
    row[c] = V{};
  for (int64_t i = from; i < m; ++i)
    for (int64_t c = first; c < width; ++c)
      row[c] += v[i] * x[i * width + c];
  for (int64_t i = from; i < m; ++i) {
    const V scaled = factor * v[i];
    for (int64_t c = first; c < width; ++c)
      x[i * width + c] -= scaled * row[c];
  }
}

// Golub and Van Loan, section 5.2.1. A column with nothing below its diagonal is left as it is, with its sign.
template <typename V>
void qr(const ElementOf<V> *a, ElementOf<V> *q, ElementOf<V> *r, int64_t m, int64_t n, int64_t columns, int64_t count,
        ElementOf<V> *scratch) {
  const int64_t both = m < n ? m : n;
  const V one = splat<V>(1);
  V *work = reinterpret_cast<V *>(scratch), *left = work + m * n, *reflections = left + m * columns;
  V *factors = reflections + both * m, *row = factors + both;
  load(work, a, m * n, count);
  ElementOf<V> back[LanesOf<V>::count];
  scaleLanes(work, m * n, back); // a product with a reflection would leave the range where R does not, and so would Q
  for (int64_t j = 0; j < both; ++j) {
    V largest{}, sum{};
    for (int64_t i = j; i < m; ++i) {
      const V size = magnitude(work[i * n + j]);
      largest = size <= largest ? largest : size; // NaN is one
    }
    const V divisor = largest == V{} ? one : largest;
    for (int64_t i = j + 1; i < m; ++i) {
      const V part = work[i * n + j] / divisor;
      sum += part * part;
    }
    const V head = work[j * n + j], scaled = head / divisor, norm = squareRoot(scaled * scaled + sum);
    const V beta = scaled > V{} ? -norm : norm;
    V *own = reflections + j * m;
    for (int64_t i = 0; i <= j; ++i)
      own[i] = i == j ? one : V{};
    for (int64_t i = j + 1; i < m; ++i)
      own[i] = sum == V{} ? V{} : work[i * n + j] / divisor / (scaled - beta);
    factors[j] = sum == V{} ? V{} : (beta - scaled) / beta;
    work[j * n + j] = sum == V{} ? head : beta * divisor;
    reflect(work, own, factors[j], row, m, n, j, j + 1);
  }
  for (int64_t e = 0; e < m * columns; ++e)
    left[e] = e / columns == e % columns ? one : V{};
  for (int64_t j = both; j-- > 0;)
    reflect(left, reflections + j * m, factors[j], row, m, columns, j, j);
  store(q, left, m * columns, count);
  for (int64_t i = 0; i < columns; ++i)
    for (int64_t c = 0; c < i && c < n; ++c)
      work[i * n + c] = V{};
  for (int64_t k = 0; k < count; ++k)
    for (int64_t e = 0; back[k] != 1 && e < columns * n; ++e)
      laneOf(work, e, k) *= back[k];
  store(r, work, columns * n, count);
}

} // namespace
} // namespace calque::runtime
