// Unitary factors of complex matrices: QR, eigenvalues, singular values, pseudo-inverses.
#include "runtime/libraries/ComplexMatrices.h"
#include "runtime/libraries/Reflections.h"

#include <bit>

using namespace calque::runtime;

namespace {

// As for real matrices.
constexpr int64_t kMostRotated = kMostInLanes;
constexpr int64_t kOperations = 4;

template <typename T> constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

//===-- Eigenvalues -----------------------------------------------------------------------------===//

// LAPACK's matrix is the transposed one, which is the conjugate one, and so are its vectors. False: it does not
// converge.
template <typename T>
bool largeEigh(const Lapack<std::complex<T>> &lapack, PartsOf<const T> a, T *values, PartsOf<T> vectors, int64_t n) {
  const LapackInt size = lapackInt(n);
  Scratch<std::complex<T>> turned(n * n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = std::max(i, j) * n + std::min(i, j);
      const T im = i == j ? T(0) : j < i ? a.im[at] : -a.im[at];
      turned[i * n + j] = {a.re[at], im};
    }
  bool isFinite = true;
  for (int64_t e = 0; e < n * n; ++e)
    isFinite &= std::isfinite(partsSize(turned[e]));
  if (!isFinite) {
    std::fill_n(values, n, kNaN<T>);
    fillParts(vectors, n * n, kNaN<T>);
    return true;
  }
  LapackInt info = 0, query = -1, bestInts = 0;
  std::complex<T> best = 0;
  T bestReals = 0;
  lapack.heevd("V", "U", &size, turned.get(), &size, values, &best, &query, &bestReals, &query, &bestInts, &query,
               &info, 1, 1);
  // Optimal sizes are rounded as floats.
  const auto words = static_cast<LapackInt>(std::max<int64_t>(static_cast<int64_t>(best.real()), 2 * n + n * n)),
             reals = static_cast<LapackInt>(std::max<int64_t>(static_cast<int64_t>(bestReals), 1 + 5 * n + 2 * n * n)),
             ints = std::max<LapackInt>(bestInts, lapackInt(3 + 5 * n));
  Scratch<std::complex<T>> space(words);
  Scratch<T> realSpace(reals);
  Scratch<LapackInt> intSpace(ints);
  lapack.heevd("V", "U", &size, turned.get(), &size, values, space.get(), &words, realSpace.get(), &reals,
               intSpace.get(), &ints, &info, 1, 1);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      vectors.re[i * n + j] = turned[j * n + i].real();
      vectors.im[i * n + j] = -turned[j * n + i].imag();
    }
  return info == 0;
}

//===-- Singular values -------------------------------------------------------------------------===//

template <typename T> struct SvdPlaces {
  PartsOf<T> u;
  T *s;
  PartsOf<T> vh;
};
struct SvdShape {
  int64_t m, n;
  bool full;
  int64_t both() const { return std::min(m, n); }
  int64_t left() const { return full ? m : both(); }
  int64_t right() const { return full ? n : both(); }
};

// A = U diag(s) V^H is, of LAPACK's transposed matrix, conj(V) diag(s) U^T: what it calls U is V^H in row-major order,
// and its V^H is U. False: it does not converge.
template <typename T>
bool largeSvd(const Lapack<std::complex<T>> &lapack, PartsOf<const T> a, SvdPlaces<T> to, SvdShape shape) {
  const int64_t m = shape.m, n = shape.n, both = shape.both(), left = shape.left(), right = shape.right();
  if (!areFinite(a, m * n)) {
    fillParts(to.u, m * left, kNaN<T>);
    std::fill_n(to.s, both, kNaN<T>);
    fillParts(to.vh, right * n, kNaN<T>);
    return true;
  }
  const LapackInt rows = lapackInt(n), columns = lapackInt(m), stride = lapackInt(left);
  const Joined<T> work(a, m * n);
  Scratch<std::complex<T>> u(m * left), vh(right * n);
  Scratch<LapackInt> ints(8 * both);
  const int64_t large = std::max(m, n);
  Scratch<T> reals(both * std::max(5 * both + 7, 2 * large + 2 * both + 1) + 7 * both);
  LapackInt info = 0, query = -1;
  std::complex<T> best = 0;
  const char *job = shape.full ? "A" : "S";
  lapack.gesdd(job, &rows, &columns, work.get(), &rows, to.s, vh.get(), &rows, u.get(), &stride, &best, &query,
               reals.get(), ints.get(), &info, 1);
  const int64_t least = both * both + 3 * both + large; // what the documentation asks for, and more
  const auto size =
      static_cast<LapackInt>(std::max<int64_t>(static_cast<int64_t>(best.real()) + 64, 2 * least + both * both));
  Scratch<std::complex<T>> space(size);
  lapack.gesdd(job, &rows, &columns, work.get(), &rows, to.s, vh.get(), &rows, u.get(), &stride, space.get(), &size,
               reals.get(), ints.get(), &info, 1);
  apart(u.get(), to.u, m * left);
  apart(vh.get(), to.vh, right * n);
  return info == 0;
}

// As forSvd of real matrices: `places(first, memory)` says where the factors of some examples go, and `done(first,
// count, memory)` is called when they are there; `extra` elements of memory for each example are for both.
template <typename T, typename Places, typename Done>
void forSvd(PartsOf<const T> a, int64_t examples, SvdShape shape, int64_t extra, CalqueCallFrame *frame,
            int32_t notConverged, int32_t missing, Places &&places, Done &&done) {
  const int64_t m = shape.m, n = shape.n, tall = std::max(m, n), both = shape.both(), elements = m * n;
  FirstFailure failure(examples, n);
  if (tall <= kMostRotated) {
    const auto &kernels = smallKernels().of<T>().complexInLanes;
    const int64_t own = 2 * (tall * both + both * both), rows = 2 * tall * tall;
    forGroups<T>(examples, true, own + rows + extra, kOperations * (40 * both * elements + rows),
                 [&](int64_t first, int64_t count, T *scratch) {
                   int64_t failed[kLanes<T>];
                   T *memory = scratch + kLanes<T> * (own + rows);
                   const SvdPlaces<T> to = places(first, memory);
                   kernels.svd(partsAt(a, first * elements), to.u, to.s, to.vh, tall, both, m < n, shape.full, count,
                               scratch, failed);
                   for (int64_t k = 0; k < count; ++k)
                     if (failed[k])
                       failure.note(first + k);
                   done(first, count, memory);
                 });
  } else {
    forLarge<T>(frame, missing, examples, tall, kMostRotated, [&](const auto &lapack, int64_t k) {
      Scratch<T> memory(extra);
      const SvdPlaces<T> to = places(k, memory.get());
      if (both > 0 && !largeSvd(lapack, partsAt(a, k * elements), to, shape))
        failure.note(k);
      if (both == 0 && shape.full) { // identities are unitary
        fillParts(to.u, m * m, T(0));
        fillParts(to.vh, n * n, T(0));
        for (int64_t i = 0; i < tall; ++i)
          (m > 0 ? to.u : to.vh).re[i * tall + i] = 1;
      }
      done(k, 1, memory.get());
    });
  }
  failure.report(frame, notConverged);
}

} // namespace

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_qr_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelParts given(call, 2), left(call, 2), right(call, 2);
  const int64_t m = given.size(0), n = given.size(1), columns = left.size(1);
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    auto each = [&](int64_t k, auto &&factor) {
      const Joined<T> own(partsAt(given.as<const T>(), k * m * n), m * n);
      Scratch<std::complex<T>> q(m * columns), r(columns * n);
      factor(own.get(), q.get(), r.get());
      apart(q.get(), partsAt(left.as<T>(), k * m * columns), m * columns);
      apart(r.get(), partsAt(right.as<T>(), k * columns * n), columns * n);
    };
    if (std::max(m, n) > kMostSmall && n > 0)
      return forLarge<T>(frame, missing, examples, std::max(m, n), kMostSmall, [&](const auto &lapack, int64_t k) {
        each(k, [&](auto *a, auto *q, auto *r) { largeQr(lapack, a, q, r, m, n, columns); });
      });
    parallelFor(examples, pieceOf(4 * kOperations * m * std::max<int64_t>(n, 1) * std::max(n, columns)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t k = begin; k < end; ++k)
                    each(k, [&](auto *a, auto *q, auto *r) { smallQr(a, q, r, m, n, columns); });
                });
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_eigh_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelParts given(call, 2);
  const KernelTensor diagonal = call.tensor(1);
  const KernelParts columns(call, 2);
  const int64_t n = given.size(0), elements = n * n;
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    const PartsOf<const T> a = given.as<const T>();
    T *values = diagonal.as<T>();
    const PartsOf<T> vectors = columns.as<T>();
    FirstFailure failure(examples, n);
    if (n <= kMostRotated) {
      const auto &kernels = smallKernels().of<T>().complexInLanes;
      forGroups<T>(examples, true, 4 * elements, kOperations * 40 * n * elements,
                   [&](int64_t first, int64_t count, T *scratch) {
                     int64_t failed[kLanes<T>];
                     kernels.eigh(partsAt(a, first * elements), values + first * n, partsAt(vectors, first * elements),
                                  n, count, scratch, failed);
                     for (int64_t k = 0; k < count; ++k)
                       if (failed[k])
                         failure.note(first + k);
                   });
    } else {
      forLarge<T>(frame, missing, examples, n, kMostRotated, [&](const auto &lapack, int64_t k) {
        if (!largeEigh(lapack, partsAt(a, k * elements), values + k * n, partsAt(vectors, k * elements), n))
          failure.note(k);
      });
    }
    failure.report(frame, notConverged);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_svd_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelParts given(call, 2), left(call, 2);
  const KernelTensor middle = call.tensor(1);
  const KernelParts right(call, 2);
  const int64_t m = given.size(0), n = given.size(1);
  const SvdShape shape{m, n, left.size(1) != std::min(m, n) || right.size(0) != std::min(m, n)};
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    forSvd<T>(
        given.as<const T>(), examples, shape, 0, frame, notConverged, missing,
        [&](int64_t k, T *) {
          return SvdPlaces<T>{partsAt(left.as<T>(), k * m * shape.left()), middle.as<T>() + k * shape.both(),
                              partsAt(right.as<T>(), k * shape.right() * n)};
        },
        [](int64_t, int64_t, T *) {});
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_pseudo_inverse_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notConverged = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelParts given(call, 2), result(call, 2);
  auto tolerance = std::bit_cast<double>(call.number());
  const SvdShape shape{given.size(0), given.size(1), false};
  const int64_t m = shape.m, n = shape.n, both = shape.both();
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    if (tolerance < 0) // the type's
      tolerance = static_cast<double>(std::max(m, n)) * static_cast<double>(std::numeric_limits<T>::epsilon());
    const int64_t ofU = m * both, ofV = both * n, extra = 2 * ofU + both + 2 * ofV;
    // A group's factors are one behind another, as many as a group may have.
    const int64_t size = std::max(m, n) <= kMostRotated ? kLanes<T> : 1;
    auto placesOf = [&](T *memory) {
      T *s = memory + 2 * size * ofU, *vh = s + size * both;
      return SvdPlaces<T>{{memory, memory + size * ofU}, s, {vh, vh + size * ofV}};
    };
    forSvd<T>(
        given.as<const T>(), examples, shape, extra, frame, notConverged, missing,
        [&](int64_t, T *memory) { return placesOf(memory); },
        [&](int64_t first, int64_t count, T *memory) {
          const SvdPlaces<T> factors = placesOf(memory);
          for (int64_t k = 0; k < count; ++k) {
            const Joined<T> u({factors.u.re + k * ofU, factors.u.im + k * ofU}, ofU),
                vh({factors.vh.re + k * ofV, factors.vh.im + k * ofV}, ofV);
            const T *s = factors.s + k * both;
            // The rows of V^H scaled by the inverses of s, and then V U^H.
            for (int64_t j = 0; j < both; ++j) {
              const T factor = s[j] <= static_cast<T>(tolerance) * s[0] ? T(0) : 1 / s[j];
              for (int64_t i = 0; i < n; ++i)
                vh.get()[j * n + i] *= factor;
            }
            Scratch<std::complex<T>> own(n * m);
            if (size == 1 && both > 0) {
              // LAPACK sees U^T and conj(V), and gets (V U^H)^T = conj(U) V^T.
              const LapackInt rows = lapackInt(m), columns = lapackInt(n), inner = lapackInt(both);
              const std::complex<T> one = 1, zero = 0;
              Lapack<std::complex<T>>::get()->gemm("C", "C", &rows, &columns, &inner, &one, u.get(), &inner, vh.get(),
                                                   &columns, &zero, own.get(), &rows, 1, 1);
            } else {
              std::fill_n(own.get(), n * m, std::complex<T>());
              for (int64_t i = 0; i < n; ++i)
                for (int64_t j = 0; j < m; ++j)
                  for (int64_t c = 0; c < both; ++c)
                    own[i * m + j] += std::conj(u.get()[j * both + c] * vh.get()[c * n + i]);
            }
            apart(own.get(), partsAt(result.as<T>(), (first + k) * n * m), n * m);
          }
        });
  });
}
