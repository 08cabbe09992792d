// The function that is minimised, as a function of a vector, with its gradient.
#ifndef CALQUE_SOLVERS_MINIMIZE_OBJECTIVE_H
#define CALQUE_SOLVERS_MINIMIZE_OBJECTIVE_H

#include "calque/solvers/minimize.h"
#include "implicit/Function.h"

namespace calque::solvers::internal {

struct Point {
  Tensor x, value, gradient; // vectors and a scalar
};

// Point a where the condition, a scalar, holds, else b.
inline Point chosen(const Tensor &condition, const Point &a, const Point &b) {
  return {where(condition, a.x, b.x), where(condition, a.value, b.value), where(condition, a.gradient, b.gradient)};
}

class FlatObjective {
public:
  FlatObjective(const char *what, const Objective &f, const Tensor &x0) : what_(what), f_(what, f, x0) {}

  const char *what() const { return what_; }
  const FlatFunction &function() const { return f_; }
  std::int64_t size() const { return f_.size(); }
  DType dtype() const { return f_.dtype(); }

  // f as a scalar. ShapeError for a result of more than one element.
  Tensor valueAt(const Tensor &x) const;
  Point at(const Tensor &x) const;
  Map map() const {
    return [*this](const Tensor &x) { return valueAt(x); };
  }

private:
  const char *what_;
  FlatFunction f_;
};

// The tolerances of all methods that use gradients.
struct Tolerances {
  double gradient, value;
};
Tolerances tolerancesOf(const FlatObjective &f, std::optional<double> gtol, std::optional<double> ftol,
                        std::int64_t max_iterations);

// The result of a call at the last point of its iteration. `isFree` is bool, or undefined without bounds.
MinimizeResult minimizeResult(const FlatObjective &f, const Point &last, const Tensor &iterations,
                              const Tensor &evaluations, const Tensor &isDone, const Tensor &isFree, double gtol,
                              std::int64_t max_iterations, bool isRequired);

} // namespace calque::solvers::internal
#endif
