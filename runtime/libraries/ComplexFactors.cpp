// Triangular factors of complex matrices, and what follows from them.
#include "runtime/libraries/Adjugate.h"
#include "runtime/libraries/Cholesky.h"
#include "runtime/libraries/ComplexMatrices.h"
#include "runtime/libraries/Lu.h"

using namespace calque::runtime;

namespace {

// How many operations on real numbers one on complex numbers takes, about.
constexpr int64_t kOperations = 4;

// Factors each matrix, and gives body(example, lu, order) its factors, as numbers. Fails at the site where LAPACK is
// missing.
template <typename T, typename Body>
void forFactors(PartsOf<const T> a, int64_t examples, int64_t n, CalqueCallFrame *frame, int32_t missing, Body &&body) {
  const int64_t elements = n * n;
  if (n > kMostSmall)
    return forLarge<T>(frame, missing, examples, n, kMostSmall, [&](const auto &lapack, int64_t k) {
      const Joined<T> own(partsAt(a, k * elements), elements);
      Scratch<std::complex<T>> lu(elements);
      Scratch<int64_t> order(n);
      largeLu(lapack, own.get(), lu.get(), order.get(), n);
      body(k, lu.get(), order.get());
    });
  const bool inLanes = n <= kMostInLanes;
  const auto &kernels = inLanes ? smallKernels().of<T>().complexInLanes : smallKernels().of<T>().complexSingle;
  const int64_t size = inLanes ? kLanes<T> : 1;
  forGroups<T>(examples, inLanes, 6 * elements, kOperations * n * elements + elements,
               [&](int64_t first, int64_t count, T *scratch) {
                 int64_t order[kMostSmall * kLanes<T>];
                 T *memory = scratch + 2 * size * elements;
                 const PartsOf<T> lu{memory, memory + size * elements};
                 auto *numbers = reinterpret_cast<std::complex<T> *>(memory + 2 * size * elements);
                 kernels.luFactor(partsAt(a, first * elements), lu, order, n, count, scratch);
                 for (int64_t k = 0; k < count; ++k) {
                   join<T>({lu.re + k * elements, lu.im + k * elements}, numbers, elements);
                   body(first + k, numbers, order + k * n);
                 }
               });
}

// The product of the diagonal, scaled so that no partial product leaves the range.
template <typename T> std::complex<T> determinantOf(const std::complex<T> *lu, const int64_t *order, int64_t n) {
  std::complex<T> product = isOdd(order, n) ? -1 : 1;
  int64_t power = 0;
  auto scale = [&](std::complex<T> &x) {
    int own = 0;
    const T size = partsSize(x);
    if (!(size > 0) || !std::isfinite(size))
      return;
    (void)std::frexp(size, &own);
    x = {std::ldexp(x.real(), -own), std::ldexp(x.imag(), -own)};
    power += own;
  };
  for (int64_t i = 0; i < n; ++i) {
    std::complex<T> own = lu[i * n + i];
    scale(own);
    product *= own;
    scale(product);
  }
  const auto exponent = static_cast<int>(std::clamp<int64_t>(power, -100000, 100000));
  return {std::ldexp(product.real(), exponent), std::ldexp(product.imag(), exponent)};
}

} // namespace

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_cholesky_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notPositive = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelParts given(call, 2), result(call, 2);
  const int64_t n = given.size(0), elements = n * n;
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    const PartsOf<const T> a = given.as<const T>();
    const PartsOf<T> l = result.as<T>();
    FirstFailure failure(examples, n);
    if (n <= kMostSmall) {
      const bool inLanes = n <= kMostInLanes;
      const auto &kernels = smallKernels().of<T>();
      forGroups<T>(examples, inLanes, 2 * (elements + n), kOperations * (n * elements / 3 + elements),
                   [&](int64_t first, int64_t count, T *scratch) {
                     int64_t failed[kLanes<T>];
                     (inLanes ? kernels.complexInLanes : kernels.complexSingle)
                         .cholesky(partsAt(a, first * elements), partsAt(l, first * elements), n, count, scratch,
                                   failed);
                     for (int64_t k = 0; k < count; ++k)
                       if (failed[k])
                         failure.note(first + k, failed[k]);
                   });
    } else {
      forLarge<T>(frame, missing, examples, n, kMostSmall, [&](const auto &lapack, int64_t k) {
        const Joined<T> own(partsAt(a, k * elements), elements);
        Scratch<std::complex<T>> factor(elements);
        if (const int64_t failed = largeCholesky(lapack, own.get(), factor.get(), n))
          failure.note(k, failed);
        apart(factor.get(), partsAt(l, k * elements), elements);
      });
    }
    failure.report(frame, notPositive);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_triangular_solve_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelParts matrix(call, 2), right(call, 2), result(call, 2);
  const bool lower = call.number() != 0, adjoint = call.number() != 0, unit = call.number() != 0;
  const TriangleForm form{lower, adjoint, unit};
  const int64_t n = matrix.size(0), columns = right.size(1), elements = n * n, rows = n * columns;
  dispatchFloat(matrix.dtype(), [&]<typename T>(std::type_identity<T>) {
    const PartsOf<const T> a = matrix.as<const T>(), b = right.as<const T>();
    const PartsOf<T> x = result.as<T>();
    if (n <= kMostSmall) {
      const bool inLanes = n <= kMostInLanes && columns <= kMostInLanes;
      const auto &kernels = smallKernels().of<T>();
      forGroups<T>(examples, inLanes, 2 * (elements + rows), kOperations * (n * rows + rows),
                   [&](int64_t first, int64_t count, T *scratch) {
                     (inLanes ? kernels.complexInLanes : kernels.complexSingle)
                         .triangularSolve(partsAt(a, first * elements), partsAt(b, first * rows),
                                          partsAt(x, first * rows), n, columns, form, count, scratch);
                   });
    } else {
      forLarge<T>(frame, missing, examples, n, kMostSmall, [&](const auto &lapack, int64_t k) {
        const Joined<T> own(partsAt(a, k * elements), elements), solved(partsAt(b, k * rows), rows);
        largeTriangularSolve(lapack, own.get(), solved.get(), n, columns, form);
        apart(solved.get(), partsAt(x, k * rows), rows);
      });
    }
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_lu_factor_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelParts given(call, 2), factors(call, 2);
  const KernelTensor rows = call.tensor(1);
  const int64_t n = given.size(0), elements = n * n;
  auto *order = rows.as<int64_t>();
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    const PartsOf<const T> a = given.as<const T>();
    const PartsOf<T> lu = factors.as<T>();
    if (n <= kMostSmall) {
      const bool inLanes = n <= kMostInLanes;
      const auto &kernels = smallKernels().of<T>();
      return forGroups<T>(examples, inLanes, 2 * elements, kOperations * (n * elements + elements),
                          [&](int64_t first, int64_t count, T *scratch) {
                            (inLanes ? kernels.complexInLanes : kernels.complexSingle)
                                .luFactor(partsAt(a, first * elements), partsAt(lu, first * elements),
                                          order + first * n, n, count, scratch);
                          });
    }
    forFactors<T>(a, examples, n, frame, missing, [&](int64_t k, const std::complex<T> *own, const int64_t *ownOrder) {
      apart(own, partsAt(lu, k * elements), elements);
      std::copy_n(ownOrder, n, order + k * n);
    });
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_lu_solve_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t singular = call.site(), missing = call.site();
  const int64_t examples = call.number();
  (void)KernelParts(call, 2); // the matrices, which derivatives are with respect to
  const KernelParts factors(call, 2);
  const KernelTensor rows = call.tensor(1);
  const KernelParts right(call, 2), result(call, 2);
  const bool adjoint = call.number() != 0;
  const int64_t n = factors.size(0), columns = right.size(1), elements = n * n, size = n * columns;
  const auto *order = rows.as<int64_t>();
  for (int64_t k = 0; k < examples; ++k)
    if (!isOrder(order + k * n, n))
      return calque_rt_fail(frame, singular, 0, MatrixFailure::which(k, examples));
  dispatchFloat(factors.dtype(), [&]<typename T>(std::type_identity<T>) {
    const PartsOf<const T> lu = factors.as<const T>(), b = right.as<const T>();
    const PartsOf<T> x = result.as<T>();
    FirstFailure failure(examples, n);
    if (n <= kMostSmall) {
      const bool inLanes = n <= kMostInLanes && columns <= kMostInLanes;
      const auto &kernels = smallKernels().of<T>();
      forGroups<T>(examples, inLanes, 2 * (elements + size), kOperations * (2 * n * size + elements),
                   [&](int64_t first, int64_t count, T *scratch) {
                     int64_t failed[kLanes<T>];
                     (inLanes ? kernels.complexInLanes : kernels.complexSingle)
                         .luSolve(partsAt(lu, first * elements), order + first * n, partsAt(b, first * size),
                                  partsAt(x, first * size), n, columns, adjoint, count, scratch, failed);
                     for (int64_t k = 0; k < count; ++k)
                       if (failed[k])
                         failure.note(first + k, failed[k]);
                   });
    } else {
      forLarge<T>(frame, missing, examples, n, kMostSmall, [&](const auto &lapack, int64_t k) {
        const Joined<T> own(partsAt(lu, k * elements), elements), given(partsAt(b, k * size), size);
        if (const int64_t failed = firstZero(own.get(), n))
          return failure.note(k, failed);
        Scratch<std::complex<T>> solved(size);
        largeLuSolve(lapack, own.get(), order + k * n, given.get(), solved.get(), n, columns, adjoint);
        apart(solved.get(), partsAt(x, k * size), size);
      });
    }
    failure.report(frame, singular);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_determinant_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelParts given(call, 2), result(call, 0);
  const int64_t n = given.size(0);
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    const PartsOf<T> determinants = result.as<T>();
    forFactors<T>(given.as<const T>(), examples, n, frame, missing,
                  [&](int64_t k, const std::complex<T> *lu, const int64_t *order) {
                    const std::complex<T> own = determinantOf(lu, order, n);
                    apart(&own, partsAt(determinants, k), 1);
                  });
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_slogdet_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelParts given(call, 2), signs(call, 0);
  const KernelTensor logarithms = call.tensor(0);
  const int64_t n = given.size(0);
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    const PartsOf<T> sign = signs.as<T>();
    T *logarithm = logarithms.as<T>();
    forFactors<T>(given.as<const T>(), examples, n, frame, missing,
                  [&](int64_t k, const std::complex<T> *lu, const int64_t *order) {
                    std::complex<T> ownSign = isOdd(order, n) ? -1 : 1;
                    T sum = 0;
                    for (int64_t i = 0; i < n; ++i) {
                      const std::complex<T> pivot = lu[i * n + i];
                      const T size = std::hypot(pivot.real(), pivot.imag());
                      ownSign *= size == 0 ? std::complex<T>() : pivot / size;
                      sum += std::log(size);
                    }
                    // Many factors of magnitude 1 have one that is near to 1.
                    if (const T size = std::hypot(ownSign.real(), ownSign.imag()); size > 0)
                      ownSign /= size;
                    apart(&ownSign, partsAt(sign, k), 1);
                    logarithm[k] = sum;
                  });
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_adjugate_parts(const int64_t *words) {
  KernelCall call(words);
  const int64_t examples = call.number();
  const KernelParts given(call, 2), result(call, 2);
  const int64_t n = given.size(0), elements = n * n;
  dispatchFloat(given.dtype(), [&]<typename T>(std::type_identity<T>) {
    parallelFor(examples, pieceOf(2 * kOperations * n * elements), [&](int64_t begin, int64_t end) {
      Scratch<std::complex<T>> found(elements);
      for (int64_t k = begin; k < end; ++k) {
        const Joined<T> own(partsAt(given.as<const T>(), k * elements), elements);
        adjugate(own.get(), found.get(), n);
        apart(found.get(), partsAt(result.as<T>(), k * elements), elements);
      }
    });
  });
}
