// The Cholesky factor of symmetric matrices, and solutions by triangular ones.
#include "runtime/libraries/Batches.h"
#include "runtime/libraries/Triangles.h"

using namespace calque::runtime;

namespace {

//===-- Cholesky --------------------------------------------------------------------------------===//

// The lower triangle of A, which L overwrites, by blocks of columns: those behind a block are tiles, which are
// independent. A row-major lower triangle is LAPACK's upper one. Returns the size of the first leading minor that is
// not positive, or 0.
template <typename T> int64_t blockedCholesky(const Lapack<T> &lapack, T *a, int64_t n) {
  constexpr int64_t kBlock = 128;
  const LapackInt stride = lapackInt(n);
  const T one = 1, minusOne = -1;
  for (int64_t k = 0; k < n; k += kBlock) {
    const int64_t width = std::min(kBlock, n - k), next = k + width;
    const LapackInt columns = lapackInt(width);
    LapackInt info = 0;
    lapack.potrf("U", &columns, a + k * n + k, &stride, &info, 1);
    // Not all libraries notice a NaN.
    for (int64_t i = k; i < next && info == 0; ++i)
      if (!(a[i * n + i] > 0))
        info = lapackInt(i - k + 1);
    if (info != 0)
      return k + info;
    const int64_t tiles = (n - next + kBlock - 1) / kBlock;
    auto rowsOf = [&](int64_t tile) { return lapackInt(std::min(kBlock, n - next - tile * kBlock)); };
    auto rowOf = [&](int64_t tile) { return next + tile * kBlock; };
    parallelFor(tiles, 1, [&](int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end; ++tile) {
        const LapackInt rows = rowsOf(tile);
        lapack.trsm("L", "U", "T", "N", &columns, &rows, &one, a + k * n + k, &stride, a + rowOf(tile) * n + k, &stride,
                    1, 1, 1, 1);
      }
    });
    parallelFor(tiles * (tiles + 1) / 2, 1, [&](int64_t begin, int64_t end) {
      for (int64_t pair = begin; pair < end; ++pair) {
        int64_t row = 0, column = pair; // of the lower triangle of tiles
        while (column > row)
          column -= ++row;
        const LapackInt rows = rowsOf(row), others = rowsOf(column);
        lapack.gemm("T", "N", &others, &rows, &columns, &minusOne, a + rowOf(column) * n + k, &stride,
                    a + rowOf(row) * n + k, &stride, &one, a + rowOf(row) * n + rowOf(column), &stride, 1, 1);
      }
    });
  }
  return 0;
}

// L of one matrix, with zeros above its diagonal.
template <typename T> int64_t largeCholesky(const Lapack<T> &lapack, const T *a, T *l, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    std::copy_n(a + i * n, i + 1, l + i * n);
  const int64_t failed = blockedCholesky(lapack, l, n);
  for (int64_t i = 0; i < n; ++i)
    std::fill(l + i * n + i + 1, l + (i + 1) * n, T(0));
  return failed;
}

} // namespace

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
    FirstFailure failure;
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
