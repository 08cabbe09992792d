#include "minimize/Objective.h"

#include "absl/strings/str_cat.h"
#include "calque/transforms.h"
#include "implicit/Implicit.h"

#include <cmath>

namespace calque::solvers::internal {

Tensor FlatObjective::valueAt(const Tensor &x) const {
  Tensor y = f_.valueOf(x);
  if (!y.size().is_known() || y.size() != 1)
    fail<ShapeError>(absl::StrCat(what_, ": the function returns ", describe(y), " for x of ", name_of(f_.dtype()),
                                  f_.shape().str(),
                                  ", and must return a scalar: its sum or mean, or take least_squares"));
  return reshape(y, {});
}

Point FlatObjective::at(const Tensor &x) const {
  auto [value, gradient] = value_and_grad([&](const Tensor &at) { return valueAt(at); })(x);
  return {x, value, gradient};
}

Tolerances tolerancesOf(const FlatObjective &f, std::optional<double> gtol, std::optional<double> ftol,
                        std::int64_t max_iterations) {
  const double epsilon = epsilonOf(f.dtype());
  Tolerances tolerances{gtol.value_or(std::cbrt(epsilon)), ftol.value_or(10 * epsilon)};
  requireNotNegative(f.what(), "gtol", tolerances.gradient);
  requireNotNegative(f.what(), "ftol", tolerances.value);
  requireCount(f.what(), "max_iterations", max_iterations);
  return tolerances;
}

MinimizeResult minimizeResult(const FlatObjective &f, const Point &last, const Tensor &iterations,
                              const Tensor &evaluations, const Tensor &isDone, const Tensor &isFree, double gtol,
                              std::int64_t max_iterations, bool isRequired) {
  Tensor converged = checkedConvergence(isDone, isRequired,
                                        {f.what(), max_iterations, "the gradient is above gtol or f is not finite",
                                         largest(last.gradient), gtol,
                                         "start nearer to the minimum, allow more iterations, or tolerate more"});
  Tensor solution = minimumOf(f.map(), last.x, isFree.defined() ? stop_gradient(isFree) : isFree);
  return {f.function().shaped(solution),
          withDerivativesOf(last.value, valueOfMinimum(f.map(), last.x, solution)),
          f.function().shaped(stop_gradient(last.gradient)),
          stop_gradient(iterations),
          stop_gradient(evaluations),
          converged};
}

} // namespace calque::solvers::internal
