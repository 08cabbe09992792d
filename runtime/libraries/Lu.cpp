// Triangular factors with exchanged rows, and what follows from them: solutions, inverses, determinants.
#include "runtime/libraries/Lu.h"
#include "runtime/libraries/Adjugate.h"

#include <cmath>
#include <numeric>
#include <vector>

using namespace calque::runtime;

namespace {

// Scratch of a small matrix beside its right-hand sides.
int64_t scratchOf(int64_t n, int64_t columns) { return n * n + n * columns; }

//===-- Batches ---------------------------------------------------------------------------------===//

// Factors each matrix, and gives body(example, lu, order) its factors. Fails at the site where LAPACK is missing.
template <typename T, typename Body>
void forFactors(const T *a, int64_t examples, int64_t n, CalqueCallFrame *frame, int32_t missing, Body &&body) {
  const int64_t elements = n * n;
  if (n <= kMostSmall) {
    const bool inLanes = n <= kMostInLanes;
    const auto &kernels = inLanes ? smallKernels().of<T>().inLanes : smallKernels().of<T>().single;
    forGroups<T>(examples, inLanes, scratchOf(n, n), n * elements + elements,
                 [&](int64_t first, int64_t count, T *scratch) {
                   int64_t order[kMostSmall * kLanes<T>];
                   T *lu = scratch + (inLanes ? kLanes<T> : 1) * elements;
                   kernels.luFactor(a + first * elements, lu, order, n, count, scratch);
                   for (int64_t k = 0; k < count; ++k)
                     body(first + k, lu + k * elements, order + k * n);
                 });
  } else if (const Lapack<T> *lapack = requireLapack<T>(frame, missing, n, kMostSmall)) {
    OneThread oneThread;
    parallelFor(examples, 1, [&](int64_t begin, int64_t end) {
      Scratch<T> lu(elements);
      Scratch<int64_t> order(n);
      for (int64_t k = begin; k < end; ++k) {
        largeLu(*lapack, a + k * elements, lu.get(), order.get(), n);
        body(k, static_cast<const T *>(lu.get()), static_cast<const int64_t *>(order.get()));
      }
    });
  }
}

// The product of the diagonal. Powers of 2 are counted apart, so that no partial product leaves the range.
template <typename T> T determinantOf(const T *lu, const int64_t *order, int64_t n) {
  T product = isOdd(order, n) ? -1 : 1;
  int64_t power = 0;
  for (int64_t i = 0; i < n; ++i) {
    int own = 0;
    product *= std::frexp(lu[i * n + i], &own);
    power += own;
    product = std::frexp(product, &own);
    power += own;
  }
  return std::ldexp(product, static_cast<int>(std::clamp<int64_t>(power, -100000, 100000)));
}

} // namespace

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_lu_factor(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), factors = call.tensor(2), rows = call.tensor(1);
  const int64_t n = given.sizes[0], elements = n * n;
  auto *order = rows.as<int64_t>();
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    T *lu = factors.as<T>();
    if (n > kMostSmall) {
      if (const Lapack<T> *lapack = requireLapack<T>(frame, missing, n, kMostSmall)) {
        OneThread oneThread;
        parallelFor(examples, 1, [&](int64_t begin, int64_t end) {
          for (int64_t k = begin; k < end; ++k)
            largeLu(*lapack, given.as<T>() + k * elements, lu + k * elements, order + k * n, n);
        });
      }
      return;
    }
    forFactors(given.as<T>(), examples, n, frame, missing, [&](int64_t k, const T *own, const int64_t *ownOrder) {
      std::copy_n(own, elements, lu + k * elements);
      std::copy_n(ownOrder, n, order + k * n);
    });
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_lu_solve(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t singular = call.site(), missing = call.site();
  const int64_t examples = call.number();
  (void)call.tensor(2); // the matrices, which derivatives are with respect to
  const KernelTensor factors = call.tensor(2), rows = call.tensor(1), right = call.tensor(2), result = call.tensor(2);
  const bool transposed = call.number() != 0;
  const int64_t n = factors.sizes[0], columns = right.sizes[1], elements = n * n, size = n * columns;
  const auto *order = rows.as<int64_t>();
  dispatchFloat(factors.dtype, [&]<typename T>(std::type_identity<T>) {
    const T *lu = factors.as<T>(), *b = right.as<T>();
    T *x = result.as<T>();
    FirstFailure failure(examples, n);
    for (int64_t k = 0; k < examples; ++k)
      if (!isOrder(order + k * n, n))
        return calque_rt_fail(frame, singular, 0, MatrixFailure::which(k, examples));
    if (n <= kMostSmall) {
      const bool inLanes = n <= kMostInLanes && columns <= kMostInLanes;
      const auto &kernels = inLanes ? smallKernels().of<T>().inLanes : smallKernels().of<T>().single;
      forGroups<T>(examples, inLanes, scratchOf(n, columns), 2 * n * size + elements,
                   [&](int64_t first, int64_t count, T *scratch) {
                     int64_t failed[kLanes<T>];
                     kernels.luSolve(lu + first * elements, order + first * n, b + first * size, x + first * size, n,
                                     columns, transposed, count, scratch, failed);
                     for (int64_t k = 0; k < count; ++k)
                       if (failed[k])
                         failure.note(first + k, failed[k]);
                   });
    } else if (const Lapack<T> *lapack = requireLapack<T>(frame, missing, n, kMostSmall)) {
      OneThread oneThread;
      parallelFor(examples, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k)
          if (const int64_t failed = firstZero(lu + k * elements, n))
            failure.note(k, failed);
          else
            largeLuSolve(*lapack, lu + k * elements, order + k * n, b + k * size, x + k * size, n, columns, transposed);
      });
    }
    failure.report(frame, singular);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_matrix_inverse(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t singular = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), result = call.tensor(2);
  const int64_t n = given.sizes[0], elements = n * n;
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    const T *a = given.as<T>();
    T *x = result.as<T>();
    FirstFailure failure(examples, n);
    if (n <= kMostSmall) {
      const bool inLanes = n <= kMostInLanes;
      const auto &kernels = inLanes ? smallKernels().of<T>().inLanes : smallKernels().of<T>().single;
      forGroups<T>(examples, inLanes, scratchOf(n, n), 3 * n * elements, [&](int64_t first, int64_t count, T *scratch) {
        int64_t failed[kLanes<T>];
        kernels.inverse(a + first * elements, x + first * elements, n, count, scratch, failed);
        for (int64_t k = 0; k < count; ++k)
          if (failed[k])
            failure.note(first + k, failed[k]);
      });
    } else {
      forFactors(a, examples, n, frame, missing, [&](int64_t k, const T *lu, const int64_t *order) {
        if (const int64_t failed = firstZero(lu, n))
          return failure.note(k, failed);
        largeInverse(*Lapack<T>::get(), lu, order, x + k * elements, n);
      });
    }
    failure.report(frame, singular);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_determinant(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), result = call.tensor(0);
  const int64_t n = given.sizes[0];
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    T *determinants = result.as<T>();
    forFactors(given.as<T>(), examples, n, frame, missing,
               [&](int64_t k, const T *lu, const int64_t *order) { determinants[k] = determinantOf(lu, order, n); });
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_slogdet(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), signs = call.tensor(0), logarithms = call.tensor(0);
  const int64_t n = given.sizes[0];
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    T *sign = signs.as<T>(), *logarithm = logarithms.as<T>();
    forFactors(given.as<T>(), examples, n, frame, missing, [&](int64_t k, const T *lu, const int64_t *order) {
      T ownSign = isOdd(order, n) ? -1 : 1, sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        const T pivot = lu[i * n + i];
        ownSign *= pivot > 0 ? T(1) : pivot < 0 ? T(-1) : pivot; // 0 or NaN
        sum += std::log(std::fabs(pivot));
      }
      sign[k] = ownSign;
      logarithm[k] = sum;
    });
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_adjugate(const int64_t *words) {
  KernelCall call(words);
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), result = call.tensor(2);
  const int64_t n = given.sizes[0], elements = n * n;
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    parallelFor(examples, pieceOf(2 * n * elements), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k)
        adjugate(given.as<T>() + k * elements, result.as<T>() + k * elements, n);
    });
  });
}
