// Complex matrices in lanes: a part of SmallMatricesCode.h. The algorithms are those of real ones; see there for their
// sources. Parts are apart in memory and beside each other in lanes.
namespace calque::runtime {
namespace {

template <typename V> struct Complex {
  V re, im;
};
template <typename V> CALQUE_SMALL Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename V> CALQUE_SMALL Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename V> CALQUE_SMALL Complex<V> operator*(Complex<V> a, Complex<V> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <typename V> CALQUE_SMALL Complex<V> operator*(Complex<V> a, V b) { return {a.re * b, a.im * b}; }
template <typename V> CALQUE_SMALL Complex<V> conjugate(Complex<V> a) { return {a.re, -a.im}; }
template <typename V> CALQUE_SMALL V squareOf(Complex<V> a) { return a.re * a.re + a.im * a.im; }
template <typename V> CALQUE_SMALL V largerPart(Complex<V> a) {
  const V re = magnitude(a.re), im = magnitude(a.im);
  return re > im ? re : im;
}
// By the larger part, as squares may leave the range.
template <typename V> CALQUE_SMALL V magnitude(Complex<V> a) {
  const V larger = largerPart(a), divisor = larger == V{} ? splat<V>(1) : larger;
  return larger * squareRoot(squareOf(Complex<V>{a.re / divisor, a.im / divisor}));
}
template <typename V> CALQUE_SMALL Complex<V> inverseOf(Complex<V> a) {
  const V larger = largerPart(a);
  const Complex<V> scaled{a.re / larger, a.im / larger};
  const V length = squareOf(scaled);
  return {scaled.re / length / larger, -scaled.im / length / larger};
}

template <typename V>
CALQUE_SMALL void loadParts(Complex<V> *to, PartsOf<const ElementOf<V>> from, int64_t size, int64_t count) {
  load<V, 2>(&to->re, from.re, size, count);
  load<V, 2>(&to->im, from.im, size, count);
}
template <typename V>
CALQUE_SMALL void storeParts(PartsOf<ElementOf<V>> to, Complex<V> *from, int64_t size, int64_t count) {
  store<V, 2>(to.re, &from->re, size, count);
  store<V, 2>(to.im, &from->im, size, count);
}

//===-- Cholesky and triangles ------------------------------------------------------------------===//

template <typename V>
void complexCholesky(PartsOf<const ElementOf<V>> a, PartsOf<ElementOf<V>> l, int64_t n, int64_t count,
                     ElementOf<V> *scratch, int64_t *failed) {
  using T = ElementOf<V>;
  constexpr int64_t lanes = LanesOf<V>::count;
  auto *m = reinterpret_cast<Complex<V> *>(scratch), *column = m + n * n;
  loadParts(m, a, n * n, count);
  for (int64_t k = 0; k < lanes; ++k)
    failed[k] = 0;
  for (int64_t j = 0; j < n; ++j) {
    V pivot = m[j * n + j].re;
    for (int64_t k = 0; k < lanes; ++k) {
      T &own = laneOf(&pivot, 0, k);
      if (own > 0)
        continue;
      failed[k] = failed[k] ? failed[k] : j + 1;
      own = 1;
    }
    const V root = squareRoot(pivot), inverse = splat<V>(1) / root;
    m[j * n + j] = {root, V{}};
    for (int64_t i = j + 1; i < n; ++i) {
      m[i * n + j] = m[i * n + j] * inverse;
      column[i] = conjugate(m[i * n + j]);
    }
    for (int64_t i = j + 1; i < n; ++i) {
      const Complex<V> factor = m[i * n + j];
      Complex<V> *row = m + i * n;
      for (int64_t c = j + 1; c <= i; ++c)
        row[c] = row[c] - factor * column[c];
    }
    for (int64_t c = j + 1; c < n; ++c)
      m[j * n + c] = {V{}, V{}};
  }
  storeParts(l, m, n * n, count);
}

template <typename V>
CALQUE_SMALL void solveTriangle(const Complex<V> *a, Complex<V> *x, int64_t n, int64_t columns, TriangleForm form) {
  const bool forward = form.lower != form.transposed;
  const int64_t rowStep = form.transposed ? 1 : n, columnStep = form.transposed ? n : 1;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    Complex<V> *row = x + i * columns;
    const int64_t begin = forward ? 0 : i + 1, end = forward ? i : n;
    for (int64_t j = begin; j < end; ++j) {
      const Complex<V> own = a[i * rowStep + j * columnStep], factor = form.transposed ? conjugate(own) : own;
      const Complex<V> *other = x + j * columns;
      for (int64_t c = 0; c < columns; ++c)
        row[c] = row[c] - factor * other[c];
    }
    if (!form.unit) {
      const Complex<V> own = inverseOf(a[i * n + i]), inverse = form.transposed ? conjugate(own) : own;
      for (int64_t c = 0; c < columns; ++c)
        row[c] = row[c] * inverse;
    }
  }
}

template <typename V>
void complexTriangularSolve(PartsOf<const ElementOf<V>> a, PartsOf<const ElementOf<V>> b, PartsOf<ElementOf<V>> x,
                            int64_t n, int64_t columns, TriangleForm form, int64_t count, ElementOf<V> *scratch) {
  auto *m = reinterpret_cast<Complex<V> *>(scratch), *rows = m + n * n;
  loadParts(m, a, n * n, count);
  loadParts(rows, b, n * columns, count);
  solveTriangle(m, rows, n, columns, form);
  storeParts(x, rows, n * columns, count);
}

//===-- LU --------------------------------------------------------------------------------------===//

template <typename V>
void complexLuFactor(PartsOf<const ElementOf<V>> a, PartsOf<ElementOf<V>> lu, int64_t *order, int64_t n, int64_t count,
                     ElementOf<V> *scratch) {
  using T = ElementOf<V>;
  constexpr int64_t lanes = LanesOf<V>::count;
  int64_t places[kMostSmallRows * lanes];
  auto *m = reinterpret_cast<Complex<V> *>(scratch);
  loadParts(m, a, n * n, count);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < lanes; ++k)
      places[i * lanes + k] = i;
  for (int64_t j = 0; j < n; ++j) {
    V best = magnitude(m[j * n + j].re) + magnitude(m[j * n + j].im), at = splat<V>(static_cast<T>(j));
    for (int64_t i = j + 1; i < n; ++i) {
      const V other = magnitude(m[i * n + j].re) + magnitude(m[i * n + j].im);
      at = other > best ? splat<V>(static_cast<T>(i)) : at;
      best = other > best ? other : best;
    }
    for (int64_t k = 0; k < lanes; ++k) {
      const auto pivot = static_cast<int64_t>(laneOf(&at, 0, k));
      if (pivot == j)
        continue;
      for (int64_t c = 0; c < n; ++c) {
        exchange(laneOf(&m[j * n + c].re, 0, k), laneOf(&m[pivot * n + c].re, 0, k));
        exchange(laneOf(&m[j * n + c].im, 0, k), laneOf(&m[pivot * n + c].im, 0, k));
      }
      exchange(places[j * lanes + k], places[pivot * lanes + k]);
    }
    Complex<V> pivot = m[j * n + j];
    pivot.re = largerPart(pivot) == V{} ? splat<V>(1) : pivot.re;
    const Complex<V> inverse = inverseOf(pivot);
    for (int64_t i = j + 1; i < n; ++i) {
      const Complex<V> ratio = m[i * n + j] * inverse;
      m[i * n + j] = ratio;
      for (int64_t c = j + 1; c < n; ++c)
        m[i * n + c] = m[i * n + c] - ratio * m[j * n + c];
    }
  }
  storeParts(lu, m, n * n, count);
  storeOrder(order, places, n, lanes, count);
}

template <typename V>
void complexLuSolve(PartsOf<const ElementOf<V>> lu, const int64_t *order, PartsOf<const ElementOf<V>> b,
                    PartsOf<ElementOf<V>> x, int64_t n, int64_t columns, bool adjoint, int64_t count,
                    ElementOf<V> *scratch, int64_t *failed) {
  auto *m = reinterpret_cast<Complex<V> *>(scratch), *rows = m + n * n;
  loadParts(m, lu, n * n, count);
  for (int64_t k = 0; k < LanesOf<V>::count; ++k) {
    failed[k] = 0;
    for (int64_t i = 0; i < n && !failed[k]; ++i)
      failed[k] = laneOf(&m[i * n + i].re, 0, k) == 0 && laneOf(&m[i * n + i].im, 0, k) == 0 ? i + 1 : 0;
    const int64_t example = k < count ? k : 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = (example * n + (adjoint ? i : order[example * n + i])) * columns;
      for (int64_t c = 0; c < columns; ++c) {
        laneOf(&rows[i * columns + c].re, 0, k) = b.re[from + c];
        laneOf(&rows[i * columns + c].im, 0, k) = b.im[from + c];
      }
    }
  }
  const TriangleForm lower{true, adjoint, true}, upper{false, adjoint, false};
  solveTriangle(m, rows, n, columns, adjoint ? upper : lower);
  solveTriangle(m, rows, n, columns, adjoint ? lower : upper);
  for (int64_t k = 0; k < count; ++k)
    for (int64_t i = 0; i < n; ++i) {
      const int64_t to = (k * n + (adjoint ? order[k * n + i] : i)) * columns;
      for (int64_t c = 0; c < columns; ++c) {
        x.re[to + c] = laneOf(&rows[i * columns + c].re, 0, k);
        x.im[to + c] = laneOf(&rows[i * columns + c].im, 0, k);
      }
    }
}

//===-- Rotations -------------------------------------------------------------------------------===//

// What makes an element between two rows or columns real: they are rotated as real ones after the second one is
// multiplied by it. 1 in lanes that are not rotated.
template <typename V> CALQUE_SMALL Complex<V> phaseOf(Complex<V> off, V size, V isRotated) {
  const V divisor = isRotated != V{} ? size : splat<V>(1);
  return {isRotated != V{} ? off.re / divisor : splat<V>(1), isRotated != V{} ? off.im / divisor : V{}};
}
template <typename V> CALQUE_SMALL void rotate(Complex<V> &x, Complex<V> &y, const Rotation<V> &r) {
  rotate(x.re, y.re, r);
  rotate(x.im, y.im, r);
}

// A = Q^H diag(w) Q.
template <typename V>
void complexEigh(PartsOf<const ElementOf<V>> a, ElementOf<V> *values, PartsOf<ElementOf<V>> vectors, int64_t n,
                 int64_t count, ElementOf<V> *scratch, int64_t *failed) {
  using T = ElementOf<V>;
  constexpr int64_t lanes = LanesOf<V>::count;
  auto *m = reinterpret_cast<Complex<V> *>(scratch), *q = m + n * n;
  loadParts(m, a, n * n, count);
  V poison{};
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      if (i == j)
        m[i * n + i].im = V{};
      const Complex<V> own = m[i * n + j]; // the lower triangle is the one that is given
      m[j * n + i] = conjugate(own);
      poison += (own.re + own.im) * splat<V>(0);
    }
  T back[lanes];
  const V largest = scaleLanes(&m->re, 2 * n * n, back);
  for (int64_t e = 0; e < n * n; ++e)
    q[e] = {splat<V>(e / n == e % n ? T(1) : T(0)), V{}};
  const V least = largest * splat<V>(kEpsilon<T> / 4);
  bool isRotated = true;
  V rotated{}; // in the last sweep
  int sweep = 0;
  for (; isRotated && sweep < kMostSweeps; ++sweep) {
    isRotated = false;
    rotated = V{};
    for (int64_t i = 0; i + 1 < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) {
        const Complex<V> off = m[i * n + j];
        const V size = magnitude(off), rotates = size > least ? splat<V>(1) : V{};
        if (!anyLane(rotates))
          continue;
        isRotated = true;
        rotated += rotates;
        V &p = m[i * n + i].re, &r = m[j * n + j].re;
        const Complex<V> phase = phaseOf(off, size, rotates), back = conjugate(phase);
        const Rotation<V> rotation = rotationOf(p, r, size, rotates);
        p -= rotation.t * size;
        r += rotation.t * size;
        m[i * n + j] = {rotates != V{} ? V{} : off.re, rotates != V{} ? V{} : off.im};
        for (int64_t k = 0; k < i; ++k) {
          m[k * n + j] = m[k * n + j] * back;
          rotate(m[k * n + i], m[k * n + j], rotation);
        }
        for (int64_t k = i + 1; k < j; ++k) {
          Complex<V> across = conjugate(m[k * n + j] * back);
          rotate(m[i * n + k], across, rotation);
          m[k * n + j] = conjugate(across);
        }
        for (int64_t k = j + 1; k < n; ++k) {
          m[j * n + k] = m[j * n + k] * phase;
          rotate(m[i * n + k], m[j * n + k], rotation);
        }
        for (int64_t k = 0; k < n; ++k) {
          q[j * n + k] = q[j * n + k] * phase;
          rotate(q[i * n + k], q[j * n + k], rotation);
        }
      }
  }
  for (int64_t k = 0; k < lanes; ++k)
    failed[k] = sweep == kMostSweeps && laneOf(&rotated, 0, k) != 0;
  for (int64_t k = 0; k < count; ++k) {
    T diagonal[kMostSmallRows];
    int64_t order[kMostSmallRows];
    const T own = laneOf(&poison, 0, k);
    for (int64_t i = 0; i < n; ++i)
      diagonal[i] = laneOf(&m[i * n + i].re, 0, k);
    orderOf(diagonal, order, n, false);
    for (int64_t j = 0; j < n; ++j) {
      values[k * n + j] = diagonal[order[j]] * back[k] + own;
      for (int64_t i = 0; i < n; ++i) {
        Complex<V> &element = q[order[j] * n + i];
        vectors.re[k * n * n + i * n + j] = laneOf(&element.re, 0, k) + own;
        vectors.im[k * n * n + i * n + j] = own - laneOf(&element.im, 0, k);
      }
    }
  }
}

// As completeRows of real rows.
template <typename T> CALQUE_SMALL void completeRows(Complex<T> *rows, int64_t known, int64_t count, int64_t length) {
  int64_t unit = 0;
  for (int64_t j = known; j < count;) {
    Complex<T> *row = rows + j * length;
    T norm = 0;
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t i = 0; i < j; ++i) {
        Complex<T> dot{0, 0};
        for (int64_t e = 0; e < length; ++e)
          dot = dot + conjugate(rows[i * length + e]) * row[e];
        for (int64_t e = 0; e < length; ++e)
          row[e] = row[e] - dot * rows[i * length + e];
      }
      T sum = 0;
      for (int64_t e = 0; e < length; ++e)
        sum += squareOf(row[e]);
      norm = squareRoot(sum);
      if (!(norm > T(0.1)))
        break;
      for (int64_t e = 0; e < length; ++e)
        row[e] = {row[e].re / norm, row[e].im / norm};
    }
    if (norm > T(0.1)) {
      ++j;
      continue;
    }
    if (unit == length)
      return; // of NaN alone
    for (int64_t e = 0; e < length; ++e)
      row[e] = {static_cast<T>(e == unit), 0};
    ++unit;
  }
}

// A = U diag(s) V^H of tall matrices, as svd of real ones. Scratch: 2 * (m * n + n * n) for each example, and 2 * m * m
// for one.
template <typename V>
void complexSvd(PartsOf<const ElementOf<V>> a, PartsOf<ElementOf<V>> u, ElementOf<V> *s, PartsOf<ElementOf<V>> vh,
                int64_t m, int64_t n, bool turned, bool full, int64_t count, ElementOf<V> *scratch, int64_t *failed) {
  using T = ElementOf<V>;
  constexpr int64_t lanes = LanesOf<V>::count;
  auto *g = reinterpret_cast<Complex<V> *>(scratch), *w = g + m * n;
  auto *rows = reinterpret_cast<Complex<T> *>(w + n * n);
  T factor[lanes];
  for (int64_t k = 0; k < lanes; ++k) {
    const int64_t first = (k < count ? k : 0) * m * n;
    T largest = 0;
    for (int64_t e = first; e < first + m * n; ++e) {
      const T own = largerPart(Complex<T>{a.re[e], a.im[e]});
      largest = own > largest ? own : largest;
    }
    const Scale<T> scale = scaleOf(largest);
    factor[k] = scale.back;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        const int64_t from = first + (turned ? j * m + i : i * n + j);
        laneOf(&g[j * m + i].re, 0, k) = a.re[from] * scale.first * scale.second;
        laneOf(&g[j * m + i].im, 0, k) = a.im[from] * scale.first * scale.second;
      }
  }
  V poison{};
  for (int64_t e = 0; e < m * n; ++e)
    poison += (g[e].re + g[e].im) * splat<V>(0);
  for (int64_t e = 0; e < n * n; ++e)
    w[e] = {splat<V>(e / n == e % n ? T(1) : T(0)), V{}};
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
        V p{}, q{};
        Complex<V> off{V{}, V{}};
        for (int64_t e = 0; e < m; ++e) {
          p += squareOf(g[i * m + e]);
          q += squareOf(g[j * m + e]);
          off = off + conjugate(g[i * m + e]) * g[j * m + e];
        }
        const V bound = epsilon * squareRoot(p) * squareRoot(q), size = magnitude(off);
        const V rotates = size > (bound > least ? bound : least) ? splat<V>(1) : V{};
        if (!anyLane(rotates))
          continue;
        isRotated = true;
        rotated += rotates;
        const Complex<V> back = conjugate(phaseOf(off, size, rotates));
        const Rotation<V> rotation = rotationOf(p, q, size, rotates);
        for (int64_t e = 0; e < m; ++e) {
          g[j * m + e] = g[j * m + e] * back;
          rotate(g[i * m + e], g[j * m + e], rotation);
        }
        for (int64_t e = 0; e < n; ++e) {
          w[j * n + e] = w[j * n + e] * back;
          rotate(w[i * n + e], w[j * n + e], rotation);
        }
      }
  }
  for (int64_t k = 0; k < lanes; ++k)
    failed[k] = sweep == kMostSweeps && laneOf(&rotated, 0, k) != 0;
  const int64_t columns = full ? m : n;
  auto lane = [](Complex<V> &x, int64_t k) { return Complex<T>{laneOf(&x.re, 0, k), laneOf(&x.im, 0, k)}; };
  for (int64_t k = 0; k < count; ++k) {
    const T own = laneOf(&poison, 0, k);
    T lengths[kMostSmallRows];
    int64_t order[kMostSmallRows];
    for (int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (int64_t e = 0; e < m; ++e)
        sum += squareOf(lane(g[j * m + e], k));
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
      for (int64_t e = 0; e < m; ++e) {
        const Complex<T> element = lane(g[order[j] * m + e], k);
        rows[j * m + e] = {length > 0 ? element.re / length : T(0), length > 0 ? element.im / length : T(0)};
      }
      s[k * n + j] = length * factor[k] + own;
    }
    for (int64_t e = n * m; e < columns * m; ++e)
      rows[e] = {0, 0};
    completeRows(rows, known, columns, m);
    auto put = [own](PartsOf<T> to, int64_t at, Complex<T> x) {
      to.re[at] = x.re + own;
      to.im[at] = x.im + own;
    };
    // A^T = U' s V'^H, so that A = conj(V') s U'^T.
    const int64_t left = turned ? k * n * n : k * m * columns, right = turned ? k * m * columns : k * n * n;
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t e = 0; e < m; ++e)
        put(turned ? vh : u, turned ? right + j * m + e : left + e * columns + j, rows[j * m + e]);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t e = 0; e < n; ++e)
        put(turned ? u : vh, turned ? left + e * n + j : right + j * n + e, conjugate(lane(w[order[j] * n + e], k)));
  }
}

} // namespace
} // namespace calque::runtime
