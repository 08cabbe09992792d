// Derivatives of solutions by the implicit function theorem.
#ifndef CALQUE_SOLVERS_IMPLICIT_IMPLICIT_H
#define CALQUE_SOLVERS_IMPLICIT_IMPLICIT_H

#include "implicit/Function.h"

namespace calque::solvers::internal {

// How often the inverse of a system can be differentiated by its right-hand side. Second derivatives in forward mode
// transpose a pullback twice for each order.
constexpr int kInverseOrders = 4;

// Returns x, where equations(x) = 0, with derivatives with respect to all that `equations` captures. The iteration that
// has found x is not differentiated, and nothing of it is kept.
//
// The derivatives are those of two steps x - J^-1 equations(x), where J is constant. The first step gives first
// derivatives, the second one second derivatives. Each step is a custom gradient whose value is x itself. So a program
// without derivatives computes nothing of all this. `solveTransposed(c)` returns J^-T c; it must be differentiable with
// respect to c.
Tensor withImplicitDerivatives(const Tensor &x, const Map &equations, const Map &solveTransposed);

// Returns `value`, with the derivatives of `source`, which is equal to it but for rounding.
Tensor withDerivativesOf(const Tensor &value, const Tensor &source);

// The same for a root of a system of n equations in n unknowns, both vectors. J is computed and inverted.
Tensor rootOf(const Map &equations, const Tensor &x, Differentiation mode);
// The same for a fixed point, which may have many unknowns: these take products with J.
Tensor fixedPointOf(const Map &equations, const Tensor &x);
// The same where equation i has only unknown i.
Tensor elementwiseRootOf(const Map &equations, const Tensor &x);
// The same where `gradient` is the gradient of a cost at its minimum. `isFree` is bool, or undefined if all elements
// are free: the others are at a bound, and their derivatives are 0. Few unknowns take the Hessian's inverse, and many
// ones the method of conjugate gradients.
Tensor minimumOf(const Map &cost, const Tensor &x, const Tensor &isFree);

// The cost at its minimum x, of which `solution` is the same with derivatives. To first order a minimum does not move
// the cost, so that this derivative is finite also in reverse mode at a singular Hessian, where that of the solution is
// not.
Tensor valueOfMinimum(const Map &cost, const Tensor &x, const Tensor &solution);

} // namespace calque::solvers::internal
#endif
