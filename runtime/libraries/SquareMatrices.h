// Products and solutions of square matrices of one size, for kernels that are made of them.
#ifndef CALQUE_RUNTIME_LIBRARIES_SQUAREMATRICES_H
#define CALQUE_RUNTIME_LIBRARIES_SQUAREMATRICES_H

#include "runtime/libraries/Lu.h"

#include <optional>

namespace calque::runtime {

// Of float64. A size above kMostSmall needs LAPACK.
class SquareMatrices {
public:
  explicit SquareMatrices(int64_t n) : n(n) {
    if (n > kMostSmall)
      oneThread.emplace();
  }

  void multiply(const double *a, const double *b, double *product) const {
    if (n <= kMostSmall)
      return smallKernels().f64.single.multiply(a, b, product, n);
    // The product of what LAPACK sees as transposed, in pieces of rows.
    constexpr int64_t kPiece = 64;
    const Lapack<double> &lapack = *Lapack<double>::get();
    const LapackInt size = lapackInt(n);
    const double one = 1, zero = 0;
    parallelFor((n + kPiece - 1) / kPiece, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const LapackInt rows = lapackInt(std::min(kPiece, n - piece * kPiece));
        lapack.gemm("N", "N", &size, &rows, &size, &one, b, &size, a + piece * kPiece * n, &size, &zero,
                    product + piece * kPiece * n, &size, 1, 1);
      }
    });
  }

  // X of A X = B in place of B.
  void solve(const double *a, double *b) const {
    Scratch<double> lu(n * n), x(n * n);
    Scratch<int64_t> order(n);
    if (n <= kMostSmall) {
      Scratch<double> scratch(2 * n * n);
      int64_t failed = 0;
      const auto &kernels = smallKernels().f64.single;
      kernels.luFactor(a, lu.get(), order.get(), n, 1, scratch.get());
      kernels.luSolve(lu.get(), order.get(), b, x.get(), n, n, false, 1, scratch.get(), &failed);
    } else {
      const Lapack<double> &lapack = *Lapack<double>::get();
      largeLu(lapack, a, lu.get(), order.get(), n);
      largeLuSolve(lapack, lu.get(), order.get(), b, x.get(), n, n, false);
    }
    std::copy_n(x.get(), n * n, b);
  }

private:
  const int64_t n;
  std::optional<OneThread> oneThread;
};

} // namespace calque::runtime
#endif
