// Solutions by large triangular matrices, of which several kernels are made.
#ifndef CALQUE_RUNTIME_LIBRARIES_TRIANGLES_H
#define CALQUE_RUNTIME_LIBRARIES_TRIANGLES_H

#include "runtime/libraries/Batches.h"

namespace calque::runtime {

// X of op(A) X = B in place of B. Of this row-major system, LAPACK sees X^T op(A)^T = B^T, of which pieces are
// independent.
template <typename T>
void largeTriangularSolve(const Lapack<T> &lapack, const T *a, T *x, int64_t n, int64_t columns, TriangleForm form) {
  constexpr int64_t kPiece = 256;
  const LapackInt size = lapackInt(n), stride = lapackInt(columns);
  const T one = 1;
  parallelFor((columns + kPiece - 1) / kPiece, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const LapackInt width = lapackInt(std::min(kPiece, columns - piece * kPiece));
      lapack.trsm("R", form.lower ? "U" : "L", form.transposed ? "T" : "N", form.unit ? "U" : "N", &width, &size, &one,
                  a, &size, x + piece * kPiece, &stride, 1, 1, 1, 1);
    }
  });
}

} // namespace calque::runtime
#endif
