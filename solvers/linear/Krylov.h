// Linear systems whose matrix is known by its products alone.
#ifndef CALQUE_SOLVERS_LINEAR_KRYLOV_H
#define CALQUE_SOLVERS_LINEAR_KRYLOV_H

#include "calque/functions.h"

#include <functional>

namespace calque::solvers::internal {

// x in A x = b for a symmetric positive definite A, by the method of conjugate gradients (Hestenes and Stiefel, 1952).
// `product` returns A v. The iteration ends when the residual is below the rounding of b, or after 10 n iterations.
Tensor conjugateGradients(const std::function<Tensor(const Tensor &)> &product, const Tensor &b);

} // namespace calque::solvers::internal
#endif
