// The Cholesky factor of symmetric matrices, and solutions by triangular ones.
#include "runtime/libraries/Cholesky.h"

using namespace calque::runtime;

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_cholesky(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notPositive = call.site(), missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor given = call.tensor(2), result = call.tensor(2);
  const int64_t n = given.sizes[0], elements = n * n;
  dispatchFloat(given.dtype, [&]<typename T>(std::type_identity<T>) {
    const T *a = given.as<T>();
    T *l = result.as<T>();
    FirstFailure failure(examples, n);
    if (n <= kMostSmall) {
      const bool inLanes = n <= kMostInLanes;
      const auto &kernels = smallKernels().of<T>();
      forGroups<T>(examples, inLanes, elements + n, n * elements / 3 + elements,
                   [&](int64_t first, int64_t count, T *scratch) {
                     int64_t failed[kLanes<T>];
                     (inLanes ? kernels.inLanes : kernels.single)
                         .cholesky(a + first * elements, l + first * elements, n, count, scratch, failed);
                     for (int64_t k = 0; k < count; ++k)
                       if (failed[k])
                         failure.note(first + k, failed[k]);
                   });
    } else if (const Lapack<T> *lapack = requireLapack<T>(frame, missing, n, kMostSmall)) {
      OneThread oneThread;
      parallelFor(examples, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k)
          if (const int64_t failed = largeCholesky(*lapack, a + k * elements, l + k * elements, n))
            failure.note(k, failed);
      });
    }
    failure.report(frame, notPositive);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_triangular_solve(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t missing = call.site();
  const int64_t examples = call.number();
  const KernelTensor matrix = call.tensor(2), right = call.tensor(2), result = call.tensor(2);
  const bool lower = call.number() != 0, transposed = call.number() != 0, unit = call.number() != 0;
  const TriangleForm form{lower, transposed, unit};
  const int64_t n = matrix.sizes[0], columns = right.sizes[1], elements = n * n, rows = n * columns;
  dispatchFloat(matrix.dtype, [&]<typename T>(std::type_identity<T>) {
    const T *a = matrix.as<T>(), *b = right.as<T>();
    T *x = result.as<T>();
    if (n <= kMostSmall) {
      const bool inLanes = n <= kMostInLanes && columns <= kMostInLanes;
      const auto &kernels = smallKernels().of<T>();
      forGroups<T>(examples, inLanes, elements + rows, n * rows + rows, [&](int64_t first, int64_t count, T *scratch) {
        (inLanes ? kernels.inLanes : kernels.single)
            .triangularSolve(a + first * elements, b + first * rows, x + first * rows, n, columns, form, count,
                             scratch);
      });
    } else if (const Lapack<T> *lapack = requireLapack<T>(frame, missing, n, kMostSmall)) {
      OneThread oneThread;
      parallelFor(examples, 1, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          std::copy_n(b + k * rows, rows, x + k * rows);
          largeTriangularSolve(*lapack, a + k * elements, x + k * rows, n, columns, form);
        }
      });
    }
  });
}
