// A few eigenvalues and eigenvectors of a large symmetric matrix, by iterations.
//
//   auto e = solvers::lobpcg(a, random::normal({n, 4}, {.dtype = DType::Float64}), {.largest = false});
//   e.values;  // [4], ascending; descending for the largest ones
//   e.vectors; // [n, 4], as columns
//
// The eigenvalues w and vectors x of A x = w x, or of A x = w B x, with x^T B x = 1. A and B are linear operators as in
// linear.h: matrices [n, n], sparse matrices of <calque/sparse.h>, or linear functions of a vector [n]. A is symmetric,
// B symmetric and positive definite. The element type is float32 or float64, and sizes are known while tracing.
//
// Derivatives. Values and vectors have the derivatives of the equation with respect to all that the matrices are
// computed from and the functions capture, in both modes and to second order. The iteration is not differentiated. The
// first derivatives of values take no solution of a system: they are x^T (dA - w dB) x. Those of vectors solve a system
// with A - w B in the complement of the vectors that are known, by the method of conjugate gradients with the same
// preconditioner: NaN where it does not converge. They divide by gaps between the values: those that depend on vectors
// of equal values are infinite or NaN. A derivative of the sum of equal values is right if all of them are among the k.
// The signs of vectors are not defined. Magnus: On differentiating eigenvalues and eigenvectors, 1985.
#ifndef CALQUE_SOLVERS_EIGENPAIRS_H
#define CALQUE_SOLVERS_EIGENPAIRS_H

#include "calque/solvers/linear.h"

namespace calque::solvers {

struct LobpcgOptions {
  LinearOperator<Tensor> b = {};              // default: the identity
  LinearOperator<Tensor> preconditioner = {}; // approximates the inverse of A, symmetric and positive definite
  bool largest = true;                        // else the smallest values
  // A pair has converged when the norm of A x - w B x is at most the larger one of rtol |A x| and atol, or is rounding:
  // 10 times the epsilon of the type and the largest |w| that was met, times the norm of B x.
  double rtol = 1e-5;
  double atol = 0;
  std::int64_t max_iterations = 1000; // of products with k vectors
  bool require_convergence = true;
};

struct Eigenpairs {
  Tensor values;     // [k], descending if the largest ones are asked for, else ascending
  Tensor vectors;    // [n, k]
  Tensor residuals;  // [k]: the norms of A x - w B x, without derivatives
  Tensor iterations; // int64
  Tensor converged;  // bool [k]
};

// The k largest or smallest eigenvalues and their vectors, from approximate vectors x0 [n, k], such as random ones, by
// the locally optimal block preconditioned conjugate gradients. Knyazev: Toward the optimal preconditioned eigensolver,
// 2001. The basis is kept orthonormal. Duersch, Shao, Yang and Gu: A robust and efficient implementation of LOBPCG,
// 2018. An iteration takes the product of A with k vectors, and the memory is that of some 12 k vectors. Numbers
// without a pattern take the place of vectors of x0 that depend on the others. Take k a little larger than the number
// that you need where values are close to each other. NaN in a matrix is no convergence.
//
// ValueError for k > n and options out of range, ShapeError and DTypeError for operators that do not fit x0.
// AssertionError of the call for pairs that have not converged, unless `require_convergence` is false.
CALQUE_API Eigenpairs lobpcg(const LinearOperator<Tensor> &a, const Operand &x0, const LobpcgOptions &options = {});

} // namespace calque::solvers
#endif
