// Banded systems.
#include "runtime/libraries/Banded.h"

using namespace calque::runtime;

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_banded_solve(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t singular = call.site();
  const int64_t examples = call.number();
  const KernelTensor band = call.tensor(2), right = call.tensor(2), result = call.tensor(2);
  const int64_t lower = call.number(), upper = call.number();
  const bool transposed = call.number() != 0;
  const int64_t rows = band.sizes[0], n = band.sizes[1], columns = right.sizes[1], size = n * columns;
  dispatchFloat(band.dtype, [&]<typename T>(std::type_identity<T>) {
    FirstFailure failure(examples, n);
    parallelFor(examples, pieceOf(n * rows * (lower + columns + 1)), [&](int64_t begin, int64_t end) {
      BandedFactors<T> factors(n, lower, upper);
      for (int64_t k = begin; k < end; ++k) {
        const T *own = band.as<T>() + k * rows * n;
        if (const int64_t failed = factors.factor([own](int64_t e) { return own[e]; }, upper)) {
          failure.note(k, failed);
          continue;
        }
        T *x = result.as<T>() + k * size;
        std::copy_n(right.as<T>() + k * size, size, x);
        factors.solve(x, columns, transposed);
      }
    });
    failure.report(frame, singular);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_positive_banded_solve(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notPositive = call.site();
  const int64_t examples = call.number();
  const KernelTensor band = call.tensor(2), right = call.tensor(2), result = call.tensor(2);
  const int64_t lower = call.number(), upper = call.number(), others = lower + upper;
  const int64_t rows = band.sizes[0], n = band.sizes[1], columns = right.sizes[1], size = n * columns;
  dispatchFloat(band.dtype, [&]<typename T>(std::type_identity<T>) {
    FirstFailure failure(examples, n);
    parallelFor(examples, pieceOf(n * rows * (others + columns + 1)), [&](int64_t begin, int64_t end) {
      BandedCholesky<T> factors(n, others);
      for (int64_t k = begin; k < end; ++k) {
        const T *own = band.as<T>() + k * rows * n;
        // Of a band above the diagonal, the element [i, j] is that of [j, i].
        const int64_t failed = factors.factor(
            [&](int64_t i, int64_t j) { return upper > 0 ? own[(upper + j - i) * n + i] : own[(i - j) * n + j]; });
        if (failed) {
          failure.note(k, failed);
          continue;
        }
        T *x = result.as<T>() + k * size;
        std::copy_n(right.as<T>() + k * size, size, x);
        factors.solve(x, columns);
      }
    });
    failure.report(frame, notPositive);
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_banded_product(const int64_t *words) {
  KernelCall call(words);
  const int64_t examples = call.number();
  const KernelTensor band = call.tensor(2), factor = call.tensor(2), result = call.tensor(2);
  const int64_t lower = call.number(), upper = call.number();
  const bool transposed = call.number() != 0;
  const int64_t rows = band.sizes[0], n = band.sizes[1], columns = factor.sizes[1], size = n * columns;
  dispatchFloat(band.dtype, [&]<typename T>(std::type_identity<T>) {
    parallelFor(examples, pieceOf(rows * size), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const T *own = band.as<T>() + k * rows * n, *x = factor.as<T>() + k * size;
        T *y = result.as<T>() + k * size;
        std::fill_n(y, size, T(0));
        for (int64_t j = 0; j < n; ++j) {
          const Range range = rowsOf(j, n, lower, upper);
          for (int64_t i = range.begin; i < range.end; ++i) {
            const T element = own[(upper + i - j) * n + j];
            const int64_t to = transposed ? j : i, from = transposed ? i : j;
            for (int64_t c = 0; c < columns; ++c)
              y[to * columns + c] += element * x[from * columns + c];
          }
        }
      }
    });
  });
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_band_of_product(const int64_t *words) {
  KernelCall call(words);
  const int64_t examples = call.number();
  const KernelTensor left = call.tensor(2), right = call.tensor(2), result = call.tensor(2);
  const int64_t lower = call.number(), upper = call.number();
  const int64_t n = left.sizes[0], columns = left.sizes[1], rows = result.sizes[0], size = n * columns;
  dispatchFloat(left.dtype, [&]<typename T>(std::type_identity<T>) {
    parallelFor(examples, pieceOf(rows * size), [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const T *a = left.as<T>() + k * size, *b = right.as<T>() + k * size;
        T *own = result.as<T>() + k * rows * n;
        std::fill_n(own, rows * n, T(0));
        for (int64_t j = 0; j < n; ++j) {
          const Range range = rowsOf(j, n, lower, upper);
          for (int64_t i = range.begin; i < range.end; ++i) {
            T sum = 0;
            for (int64_t c = 0; c < columns; ++c)
              sum += a[i * columns + c] * b[j * columns + c];
            own[(upper + i - j) * n + j] = sum;
          }
        }
      }
    });
  });
}
