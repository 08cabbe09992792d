// Banded systems of complex numbers, whose parts are apart.
#include "runtime/libraries/Banded.h"
#include "runtime/libraries/ComplexMatrices.h"

using namespace calque::runtime;

namespace {

constexpr int64_t kOperations = 4;

// Solves each system with factors of makeFactors(): factor(factors, band) gives 0, or what fails, and solve(factors, x)
// solves in place.
template <typename T, typename Make, typename Factor, typename Solve>
void forSystems(KernelParts band, KernelParts right, KernelParts result, int64_t examples, int64_t others,
                const Make &makeFactors, FirstFailure &failure, Factor &&factor, Solve &&solve) {
  const int64_t rows = band.size(0), n = band.size(1), columns = right.size(1), size = n * columns;
  parallelFor(examples, pieceOf(kOperations * n * rows * (others + columns + 1)), [&](int64_t begin, int64_t end) {
    auto factors = makeFactors();
    Scratch<std::complex<T>> x(size);
    for (int64_t k = begin; k < end; ++k) {
      if (const int64_t failed = factor(factors, partsAt(band.as<const T>(), k * rows * n))) {
        failure.note(k, failed);
        continue;
      }
      join(partsAt(right.as<const T>(), k * size), x.get(), size);
      solve(factors, x.get());
      apart(x.get(), partsAt(result.as<T>(), k * size), size);
    }
  });
}

} // namespace

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_banded_solve_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t singular = call.site();
  const int64_t examples = call.number();
  const KernelParts band(call, 2), right(call, 2), result(call, 2);
  const int64_t lower = call.number(), upper = call.number(), n = band.size(1), columns = right.size(1);
  const bool adjoint = call.number() != 0;
  FirstFailure failure(examples, n);
  dispatchFloat(band.dtype(), [&]<typename T>(std::type_identity<T>) {
    using Number = std::complex<T>;
    forSystems<T>(
        band, right, result, examples, lower, [&] { return BandedFactors<Number>(n, lower, upper); }, failure,
        [&](BandedFactors<Number> &factors, PartsOf<const T> own) {
          return factors.factor([own](int64_t e) { return Number(own.re[e], own.im[e]); }, upper);
        },
        [&](const BandedFactors<Number> &factors, Number *x) { factors.solve(x, columns, adjoint); });
  });
  failure.report(frame, singular);
}

extern "C" CALQUE_LIBRARY_KERNEL void calque_rt_positive_banded_solve_parts(const int64_t *words) {
  KernelCall call(words);
  CalqueCallFrame *frame = call.frame();
  const int32_t notPositive = call.site();
  const int64_t examples = call.number();
  const KernelParts band(call, 2), right(call, 2), result(call, 2);
  const int64_t lower = call.number(), upper = call.number(), n = band.size(1), columns = right.size(1);
  FirstFailure failure(examples, n);
  dispatchFloat(band.dtype(), [&]<typename T>(std::type_identity<T>) {
    using Number = std::complex<T>;
    forSystems<T>(
        band, right, result, examples, lower + upper, [&] { return BandedCholesky<Number>(n, lower + upper); }, failure,
        [&](BandedCholesky<Number> &factors, PartsOf<const T> own) {
          // Of a band above the diagonal, the element [i, j] is the conjugate one of [j, i].
          return factors.factor([&](int64_t i, int64_t j) {
            const int64_t at = upper > 0 ? (upper + j - i) * n + i : (i - j) * n + j;
            const T im = i == j ? T(0) : upper > 0 ? -own.im[at] : own.im[at];
            return Number(own.re[at], im);
          });
        },
        [&](const BandedCholesky<Number> &factors, Number *x) { factors.solve(x, columns); });
  });
  failure.report(frame, notPositive);
}
