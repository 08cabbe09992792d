// What methods of descent share: a direction, a search along it, and the end.
#ifndef CALQUE_SOLVERS_MINIMIZE_DESCENT_H
#define CALQUE_SOLVERS_MINIMIZE_DESCENT_H

#include "calque/control_flow.h"
#include "minimize/LineSearch.h"

namespace calque::solvers::internal {

struct DescentOptions {
  Tolerances tolerances;
  std::int64_t max_iterations;
  bool require_convergence;
  double curvature = 0.9;      // of the line search
  bool hasNewtonSteps = false; // also the first step is as long as the direction
};

struct DescentProgress {
  Tensor steps; // since the memory is empty
  Tensor iterations, evaluations;
  Tensor isDone, hasFailed;
};

// What a step tells of the Hessian.
struct Lesson {
  Tensor step, change;       // of the gradient
  Tensor steps;              // how many steps the memory has
  Tensor isLearnt, isForgot; // bool: whether the memory takes the step, or becomes empty
};

// Minimises f from a point. `Memory` is a structure of tensors, in which a method keeps what it knows of the Hessian;
// `empty` knows nothing. `directionOf(memory, point, gradient, isFree)` returns a direction for a gradient, which is
// 0 for parameters that are held, and `learn(memory, lesson)` the memory after a step. It updates arrays by elements,
// where a branch would copy them.
template <typename Memory, typename DirectionOf, typename Learn>
MinimizeResult descend(const FlatObjective &f, const Bounds &bounds, const Tensor &x0, const Memory &empty,
                       const DirectionOf &directionOf, const Learn &learn, const DescentOptions &options) {
  using State = std::tuple<Point, Memory, DescentProgress>;
  auto isStationary = [&](const Point &p) {
    return isfinite(p.value) & (largest(bounds.projectedGradient(p.x, p.gradient)) <= options.tolerances.gradient);
  };
  auto iterate = [&](const Point &p, const Memory &memory, const DescentProgress &progress) {
    Tensor isFree = bounds.freeAt(p.x, p.gradient), gradient = bounds.whereFree(isFree, p.gradient);
    Tensor direction = bounds.whereFree(isFree, directionOf(memory, p, gradient, isFree));
    Tensor slope = dot(direction, gradient), isDescent = slope < 0;
    direction = where(isDescent, direction, -gradient);
    slope = where(isDescent, slope, -dot(gradient, gradient));
    Tensor first = ones({}, f.dtype());
    if (!options.hasNewtonSteps)
      first = where(progress.steps == 0, minimum(1, rsqrt(dot(gradient, gradient))), 1);
    Searched s = bounds.isThere() ? searchProjected(f, bounds, p, direction, first)
                                  : searchWolfe(f, p, direction, slope, first, options.curvature);
    Tensor moved = s.point.x - p.x, change = s.point.gradient - p.gradient;
    // Where the slope overflows, the search compares infinities, and a step of 0 looks like a good one.
    Tensor isFinite = isfinite(slope) & isfinite(p.value) & all(isfinite(direction));
    s.isFound = s.isFound & isFinite & any(moved != 0);
    // Where the curvature is not positive, the step would spoil the memory.
    Tensor isLearnt = s.isFound & (dot(moved, change) > epsilonOf(f.dtype()) * dot(change, change));
    Memory next = learn(memory, Lesson{moved, change, progress.steps, isLearnt, !s.isFound});
    Tensor magnitude =
        where(s.isFound, maximum(maximum(abs(p.value), abs(s.point.value)), 1), maximum(abs(p.value), 1));
    const double ftol = options.tolerances.value;
    Tensor stalls = s.isFound & (ftol > 0 ? p.value - s.point.value <= ftol * magnitude : zeros({}, DType::Bool));
    // No step decreases f, and the gradient promises no more than rounding.
    Tensor isExhausted = (!s.isFound) & isFinite & (-slope * first <= ftol * magnitude);
    Point reached = chosen(s.isFound, s.point, p);
    return State(reached, next,
                 DescentProgress{where(s.isFound, progress.steps + cast(isLearnt, DType::Int64), 0),
                                 progress.iterations + 1, progress.evaluations + s.evaluations,
                                 isStationary(reached) | stalls | isExhausted, (!s.isFound) & (progress.steps == 0)});
  };
  Point begin = f.at(bounds.project(x0));
  Tensor no = zeros({}, DType::Bool);
  DescentProgress first{scalar<std::int64_t>(0), scalar<std::int64_t>(0), scalar<std::int64_t>(1), isStationary(begin),
                        !isfinite(begin.value)};
  auto [last, memory, progress] = while_loop(
      [](const Point &, const Memory &, const DescentProgress &p) { return !(p.isDone | p.hasFailed); }, iterate,
      State(begin, empty, first), {.maximum_iterations = options.max_iterations, .checkpoint = true});
  return minimizeResult(f, last, progress.iterations, progress.evaluations, progress.isDone,
                        bounds.freeAt(last.x, last.gradient), options.tolerances.gradient, options.max_iterations,
                        options.require_convergence);
}

} // namespace calque::solvers::internal
#endif
