// Orthogonal factors: QR, eigenvalues of symmetric matrices, singular values, pseudo-inverses.
#include "runtime/libraries/Bidiagonal.h"
#include "runtime/libraries/Tridiagonal.h"

#include <cmath>
#include <optional>

using namespace calque::runtime;

namespace {

// Up to this size, eigenvalues and singular values are found by rotations in lanes. LAPACK's ways take fewer
// operations.
constexpr int64_t kMostRotated = kMostInLanes;

template <typename T> bool isFinite(const T *x, int64_t count) {
  T sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += x[i] * 0;
  return sum == 0;
}
template <typename T> void fillNan(T *x, int64_t count) { std::fill_n(x, count, std::numeric_limits<T>::quiet_NaN()); }

//===-- Eigenvalues -----------------------------------------------------------------------------===//

// From this size on, a matrix is shared by threads.
constexpr int64_t kLeastInTiles = 200;

// False: it does not converge.
template <typename T> bool largeEigh(const Lapack<T> &lapack, const T *a, T *values, T *vectors, int64_t n) {
  const LapackInt size = lapackInt(n);
  const bool inTiles = n >= kLeastInTiles;
  Scratch<T> turned(n * n);
  bool finite = true;
  for (int64_t i = 0; i < n; ++i) {
    if (inTiles)
      std::copy_n(a + i * n, n, turned.get() + i * n);
    for (int64_t j = 0; j < n && !inTiles; ++j)
      turned[i * n + j] = j <= i ? a[i * n + j] : a[j * n + i];
    finite = finite && isFinite(a + i * n, i + 1);
  }
  if (!finite) {
    fillNan(values, n);
    fillNan(vectors, n * n);
    return true;
  }
  if (inTiles)
    return tridiagonalEigh(lapack, turned.get(), values, vectors, n);
  LapackInt info = 0, query = -1, bestInts = 0;
  T best = 0;
  lapack.syevd("V", "U", &size, turned.get(), &size, values, &best, &query, &bestInts, &query, &info, 1, 1);
  // The optimal size is rounded as a float.
  const auto words = static_cast<LapackInt>(std::max<int64_t>(static_cast<int64_t>(best), 1 + 6 * n + 2 * n * n)),
             ints = std::max<LapackInt>(bestInts, lapackInt(3 + 5 * n));
  Scratch<T> space(words);
  Scratch<LapackInt> intSpace(ints);
  lapack.syevd("V", "U", &size, turned.get(), &size, values, space.get(), &words, intSpace.get(), &ints, &info, 1, 1);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      vectors[i * n + j] = turned[j * n + i];
  return info == 0;
}

//===-- Singular values -------------------------------------------------------------------------===//

// In tiles, of which m >= n rows are those of R, whose U is multiplied by Q.
template <typename T>
bool tallSvd(const Lapack<T> &lapack, const T *a, T *u, T *s, T *vh, int64_t m, int64_t n, bool full) {
  Scratch<T> square(n * n);
  if (m == n) {
    copyLarge(a, square.get(), n * n);
    return bidiagonalSvd(lapack, square.get(), u, s, vh, n);
  }
  const int64_t left = full ? m : n;
  const Scratch<T> q(m * left), r(left * n), inner(n * n);
  largeQr(lapack, a, q.get(), r.get(), m, n, left);
  std::copy_n(r.get(), n * n, square.get());
  if (!bidiagonalSvd(lapack, square.get(), inner.get(), s, vh, n))
    return false;
  constexpr int64_t kTile = 128;
  parallelFor((m + kTile - 1) / kTile, 1, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t first = tile * kTile, count = std::min(kTile, m - first);
      const LapackInt columns = lapackInt(n), rows = lapackInt(count), stride = lapackInt(left);
      const T one = 1, zero = 0, *own = q.get() + first * left;
      lapack.gemm("N", "N", &columns, &rows, &columns, &one, inner.get(), &columns, own, &stride, &zero,
                  u + first * left, &stride, 1, 1);
      for (int64_t i = 0; i < count; ++i)
        std::copy(own + i * left + n, own + (i + 1) * left, u + (first + i) * left + n);
    }
  });
  return true;
}
template <typename T>
bool svdInTiles(const Lapack<T> &lapack, const T *a, T *u, T *s, T *vh, int64_t m, int64_t n, bool full) {
  if (m >= n)
    return tallSvd(lapack, a, u, s, vh, m, n, full);
  // A^T = V diag(s) U^T
  const int64_t right = full ? n : m;
  const Scratch<T> turned(n * m), v(n * right), uh(m * m);
  transposeBlock(a, n, turned.get(), m, m, n);
  if (!tallSvd(lapack, turned.get(), v.get(), s, uh.get(), n, m, full))
    return false;
  transposeBlock(uh.get(), m, u, m, m, m);
  transposeBlock(v.get(), right, vh, n, n, right);
  return true;
}

// A = U diag(s) V^T is, of LAPACK's transposed matrix, V diag(s) U^T: what it calls U is V^T in row-major order. False:
// it does not converge.
template <typename T>
bool largeSvd(const Lapack<T> &lapack, const T *a, T *u, T *s, T *vh, int64_t m, int64_t n, bool full) {
  const int64_t both = std::min(m, n), left = full ? m : both, right = full ? n : both;
  if (!isFinite(a, m * n)) {
    fillNan(u, m * left);
    fillNan(s, both);
    fillNan(vh, right * n);
    return true;
  }
  if (both >= kLeastInTiles)
    return svdInTiles(lapack, a, u, s, vh, m, n, full);
  const LapackInt rows = lapackInt(n), columns = lapackInt(m), stride = lapackInt(left);
  Scratch<T> work(m * n);
  std::copy_n(a, m * n, work.get());
  Scratch<LapackInt> ints(8 * both);
  LapackInt info = 0, query = -1;
  T best = 0;
  lapack.gesdd(full ? "A" : "S", &rows, &columns, work.get(), &rows, s, vh, &rows, u, &stride, &best, &query,
               ints.get(), &info, 1);
  const int64_t least = 4 * both * both + 7 * both + std::max(m, n); // what the documentation asks for
  const auto size = static_cast<LapackInt>(std::max<int64_t>(static_cast<int64_t>(best) + 64, least));
  Scratch<T> space(size);
  lapack.gesdd(full ? "A" : "S", &rows, &columns, work.get(), &rows, s, vh, &rows, u, &stride, space.get(), &size,
               ints.get(), &info, 1);
  return info == 0;
}

struct SvdShape {
  int64_t m, n;
  bool full;
  int64_t both() const { return std::min(m, n); }
  int64_t left() const { return full ? m : both(); }
  int64_t right() const { return full ? n : both(); }
};

// Factors each matrix. `places(first, count, memory)` says where the factors of some examples go, and `done(first,
// count, memory)` is called when they are there; `extra` elements of memory for each example are for both. Fails at the
// sites.
template <typename T> struct SvdPlaces {
  T *u, *s, *vh;
};
template <typename T, typename Places, typename Done>
void forSvd(const T *a, int64_t examples, SvdShape shape, int64_t extra, CalqueCallFrame *frame, int32_t notConverged,
            int32_t missing, Places &&places, Done &&done) {
  const int64_t m = shape.m, n = shape.n, tall = std::max(m, n), both = shape.both(), elements = m * n;
  FirstFailure failure(examples, n);
  if (tall <= kMostRotated) {
    const auto &kernels = smallKernels().of<T>().inLanes;
    const int64_t own = tall * both + both * both, rows = tall * tall;
    forGroups<T>(
        examples, true, own + rows + extra, 40 * both * elements + rows, [&](int64_t first, int64_t count, T *scratch) {
          int64_t failed[kLanes<T>];
          T *memory = scratch + kLanes<T> * (own + rows);
          const SvdPlaces<T> to = places(first, memory);
          kernels.svd(a + first * elements, to.u, to.s, to.vh, tall, both, m < n, shape.full, count, scratch, failed);
          for (int64_t k = 0; k < count; ++k)
            if (failed[k])
              failure.note(first + k);
          done(first, count, memory);
        });
  } else if (const Lapack<T> *lapack = requireLapack<T>(frame, missing, tall, kMostRotated)) {
    OneThread oneThread;
    parallelFor(examples, 1, [&](int64_t begin, int64_t end) {
      Scratch<T> memory(extra);
      for (int64_t k = begin; k < end; ++k) {
        const SvdPlaces<T> to = places(k, memory.get());
        if (both > 0 && !largeSvd(*lapack, a + k * elements, to.u, to.s, to.vh, m, n, shape.full))
          failure.note(k);
        if (both == 0 && shape.full) { // identities are orthogonal
          std::fill_n(to.u, m * m, T(0));
          std::fill_n(to.vh, n * n, T(0));
          for (int64_t i = 0; i < tall; ++i)
            (m > 0 ? to.u : to.vh)[i * tall + i] = 1;
        }
        done(k, 1, memory.get());
      }
    });
  }
  failure.report(frame, notConverged);
}

} // namespace

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_qr(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), left = call.tensor(2), right = call.tensor(2);
  const int64_t m = given.sizes[0], n = given.sizes[1], columns = left.sizes[1];
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    const T *a = given.as<T>();
    T *q = left.as<T>(), *r = right.as<T>();
    const int64_t longer = std::max(m, n), both = std::min(m, n);
    if (longer <= kMostSmall) {
      const bool inLanes = longer <= kMostInLanes;
      const auto &kernels = inLanes ? smallKernels().of<T>().inLanes : smallKernels().of<T>().single;
      const int64_t elements = m * n + m * columns + both * (m + 1) + std::max(n, columns);
      return forGroups<T>(examples, inLanes, elements, 4 * m * n * std::max(n, columns),
                          [&](int64_t first, int64_t count, T *scratch) {
                            kernels.qr(a + first * m * n, q + first * m * columns, r + first * columns * n, m, n,
                                       columns, count, scratch);
                          });
    }
    const Lapack<T> *lapack = requireLapack<T>(frame, missing, longer, kMostSmall);
    if (!lapack)
      return;
    OneThread oneThread;
    parallelFor(examples, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k)
        if (T *ownQ = q + k * m * columns, *ownR = r + k * columns * n; n > 0)
          largeQr(*lapack, a + k * m * n, ownQ, ownR, m, n, columns);
        else
          for (int64_t e = 0; e < m * columns; ++e)
            ownQ[e] = e / columns == e % columns ? T(1) : T(0);
    });
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_eigh(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), diagonal = call.tensor(1), columns = call.tensor(2);
  const int64_t n = given.sizes[0], elements = n * n;
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    const T *a = given.as<T>();
    T *values = diagonal.as<T>(), *vectors = columns.as<T>();
    FirstFailure failure(examples, n);
    if (n <= kMostRotated) {
      const auto &kernels = smallKernels().of<T>().inLanes;
      forGroups<T>(examples, true, 2 * elements, 40 * n * elements, [&](int64_t first, int64_t count, T *scratch) {
        int64_t failed[kLanes<T>];
        kernels.eigh(a + first * elements, values + first * n, vectors + first * elements, n, count, scratch, failed);
        for (int64_t k = 0; k < count; ++k)
          if (failed[k])
            failure.note(first + k);
      });
    } else if (const Lapack<T> *lapack = requireLapack<T>(frame, missing, n, kMostRotated)) {
      OneThread oneThread;
      parallelFor(examples, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k)
          if (!largeEigh(*lapack, a + k * elements, values + k * n, vectors + k * elements, n))
            failure.note(k);
      });
    }
    failure.report(frame, notConverged);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_svd(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), left = call.tensor(2), middle = call.tensor(1), right = call.tensor(2);
  const int64_t m = given.sizes[0], n = given.sizes[1];
  const SvdShape shape{m, n, left.sizes[1] != std::min(m, n) || right.sizes[0] != std::min(m, n)};
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    forSvd<T>(
        given.as<T>(), examples, shape, 0, frame, notConverged, missing,
        [&](int64_t k, T *) {
          return SvdPlaces<T>{left.as<T>() + k * m * shape.left(), middle.as<T>() + k * shape.both(),
                              right.as<T>() + k * shape.right() * n};
        },
        [](int64_t, int64_t, T *) {});
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_pseudo_inverse(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), result = call.tensor(2);
  const int64_t bits = call.number();
  double tolerance = 0;
  std::memcpy(&tolerance, &bits, sizeof(tolerance));
  const SvdShape shape{given.sizes[0], given.sizes[1], false};
  const int64_t m = shape.m, n = shape.n, both = shape.both();
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    if (tolerance < 0) // the type's
      tolerance = static_cast<double>(std::max(m, n)) * static_cast<double>(std::numeric_limits<T>::epsilon());
    T *inverses = result.as<T>();
    const int64_t extra = m * both + both + both * n;
    // A group's factors are one behind another: all U, all s, all V^T, as many as a group may have.
    const int64_t size = std::max(m, n) <= kMostRotated ? kLanes<T> : 1;
    forSvd<T>(
        given.as<T>(), examples, shape, extra, frame, notConverged, missing,
        [&](int64_t, T *memory) {
          return SvdPlaces<T>{memory, memory + size * m * both, memory + size * (m * both + both)};
        },
        [&](int64_t first, int64_t count, T *memory) {
          for (int64_t k = 0; k < count; ++k) {
            T *u = memory + k * m * both, *s = memory + size * m * both + k * both,
              *vh = memory + size * (m * both + both) + k * both * n, *own = inverses + (first + k) * n * m;
            // V scaled by the inverses of s, transposed; and then times U^T.
            for (int64_t j = 0; j < both; ++j) {
              const T factor = s[j] <= static_cast<T>(tolerance) * s[0] ? T(0) : 1 / s[j];
              for (int64_t i = 0; i < n; ++i)
                vh[j * n + i] *= factor;
            }
            if (size == 1) {
              const LapackInt rows = lapackInt(m), columns = lapackInt(n), inner = lapackInt(both);
              const T one = 1, zero = 0;
              Lapack<T>::get()->gemm("T", "T", &rows, &columns, &inner, &one, u, &inner, vh, &columns, &zero, own,
                                     &rows, 1, 1);
              continue;
            }
            std::fill_n(own, n * m, T(0));
            for (int64_t i = 0; i < n; ++i)
              for (int64_t j = 0; j < both; ++j)
                for (int64_t c = 0; c < m; ++c)
                  own[i * m + c] += vh[j * n + i] * u[c * both + j];
          }
        });
  });
}
