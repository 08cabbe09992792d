// Robust losses, and how they scale residuals and Jacobians.
#ifndef CALQUE_SOLVERS_LEAST_SQUARES_LOSSES_H
#define CALQUE_SOLVERS_LEAST_SQUARES_LOSSES_H

#include "calque/functions.h"
#include "calque/solvers/least_squares.h"

namespace calque::solvers::internal {

// Half of the sum of the losses of residuals.
Tensor costOf(RobustLoss loss, double scale, const Tensor &residuals);

// Factors for the rows of the Jacobian and for the residuals. Gauss and Newton's step for the scaled problem is that
// for the cost.
struct RobustScales {
  Tensor ofJacobian, ofResiduals;
};
RobustScales scalesOf(RobustLoss loss, double scale, const Tensor &residuals);

} // namespace calque::solvers::internal
#endif
