// The inverse of a small dense matrix.
#ifndef CALQUE_SOLVERS_LINEAR_INVERSE_H
#define CALQUE_SOLVERS_LINEAR_INVERSE_H

#include "calque/tensor.h"

namespace calque::solvers::detail {

// The inverse of a matrix [n, n] of known size, by the elimination of Gauss and Jordan with partial pivoting. Infinite
// or NaN for a singular matrix. Derivatives are those of the inverse and not of the elimination.
//
// An implicit method solves with one matrix several times in each step. A product with the inverse is one operation,
// whereas a solution by triangular factors takes 2n operations one after the other.
Tensor inverse(const Tensor &a);

} // namespace calque::solvers::detail
#endif
