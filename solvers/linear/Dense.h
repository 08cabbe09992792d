// Dense linear algebra for the solvers' small systems, on public operations.
//
// Matrices are [n, n] of float32 or float64, with known sizes. A singular matrix gives infinities or NaN, which the
// solvers' tests of convergence refuse. None of these functions is differentiable at a useful cost: the solvers take
// derivatives of solutions by the implicit function theorem.
#ifndef CALQUE_SOLVERS_LINEAR_DENSE_H
#define CALQUE_SOLVERS_LINEAR_DENSE_H

#include "calque/functions.h"

namespace calque::solvers::internal {

// x in a x = b, by Gauss-Jordan elimination with partial pivoting (Golub and Van Loan, Matrix Computations, 4th ed.,
// 3.4). b is [n] or [n, k].
Tensor solve(const Tensor &a, const Tensor &b);
Tensor inverse(const Tensor &a);

// The R and Q^T b of a QR factorisation by Householder reflections (Golub and Van Loan, 5.2.2). The matrix [m, n], with
// m >= n, is given by its columns, [n, m]: loops along a column then read memory in order. b is [m], r is [n, n] and
// upper triangular, qtb is [n].
struct Triangular {
  Tensor r, qtb;
};
Triangular triangularise(const Tensor &columns, const Tensor &b);
// x in r x = b, for an upper triangular r.
Tensor backSubstitute(const Tensor &r, const Tensor &b);

} // namespace calque::solvers::internal
#endif
