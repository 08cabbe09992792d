// Linear systems whose matrix is known by its products alone.
//
// An iteration ends when the residual is below the rounding of b, or after 10 n + 100 iterations. The result is NaN if
// the residual is then larger than the root of epsilon times b: the matrix is singular, or not as the method needs it.
#ifndef CALQUE_SOLVERS_LINEAR_KRYLOV_H
#define CALQUE_SOLVERS_LINEAR_KRYLOV_H

#include "calque/functions.h"

#include <functional>

namespace calque::solvers::internal {

using Product = std::function<Tensor(const Tensor &)>;

// x in A x = b for a symmetric positive definite A, by the method of conjugate gradients (Hestenes and Stiefel, 1952).
// `product` returns A v.
Tensor conjugateGradients(const Product &product, const Tensor &b);

// x in A x = b for any regular A, by the stabilised method of biconjugate gradients (van der Vorst: Bi-CGSTAB, 1992).
Tensor stabilisedBiconjugateGradients(const Product &product, const Tensor &b);

} // namespace calque::solvers::internal
#endif
