// What fixed and adaptive quadrature share.
#ifndef CALQUE_SOLVERS_QUADRATURE_QUADRATURE_H
#define CALQUE_SOLVERS_QUADRATURE_QUADRATURE_H

#include "Common.h"
#include "calque/solvers/quadrature.h"

namespace calque::solvers::detail {

// The limits as scalars of one type. `mayBeInfinite` allows numbers that are infinite.
struct Limits {
  Tensor a, b;
  DType dtype;
};
Limits limitsOf(const char *function, const Operand &a, const Operand &b, DType dtype, bool mayBeInfinite);

// The values of f at all nodes [n], along axis 0.
Tensor valuesAt(const QuadFunction &f, const Tensor &nodes);
// The sum of the values along axis 0 with these weights [n].
Tensor weightedSum(const Tensor &weights, const Tensor &values);

} // namespace calque::solvers::detail
#endif
