// The search for a step along a direction of descent.
#ifndef CALQUE_SOLVERS_MINIMIZE_LINESEARCH_H
#define CALQUE_SOLVERS_MINIMIZE_LINESEARCH_H

#include "implicit/Bounds.h"
#include "minimize/Objective.h"

namespace calque::solvers::internal {

struct Searched {
  Point point;
  Tensor evaluations; // int64
  Tensor isFound;     // bool: whether the point is better, as far as rounding lets see it
};

// A point that satisfies the strong Wolfe conditions with 1e-4 and `curvature`, by the method of More and Thuente. If
// f is infinite or NaN at a point, the search goes on before it. `slope` is that of f along the direction, below 0.
Searched searchWolfe(const FlatObjective &f, const Point &from, const Tensor &direction, const Tensor &slope,
                     const Tensor &firstStep, double curvature);

// A point on the projection of the line on the bounds at which f has decreased by 1e-4 of what its gradient promises,
// by halving the step.
Searched searchProjected(const FlatObjective &f, const Bounds &bounds, const Point &from, const Tensor &direction,
                         const Tensor &firstStep);

} // namespace calque::solvers::internal
#endif
