// The simplex method of Nelder and Mead.
#include "calque/control_flow.h"
#include "calque/transforms.h"
#include "minimize/Objective.h"

#include <algorithm>
#include <limits>

namespace calque::solvers {

using internal::fail;
using internal::FlatObjective;

MinimizeResult nelder_mead(const Objective &objective, const Operand &x0, const NelderMeadOptions &options) {
  CallSite site(x0.where(), "nelder_mead");
  const Tensor start = stop_gradient(x0.toTensor());
  const FlatObjective f("nelder_mead", objective, start);
  const double tolerance = f.dtype() == DType::Float64 ? 1e-8 : 1e-4;
  const double xtol = options.xtol.value_or(tolerance), ftol = options.ftol.value_or(tolerance);
  internal::requirePositive("nelder_mead", "xtol", xtol);
  internal::requirePositive("nelder_mead", "ftol", ftol);
  internal::requireCount("nelder_mead", "max_iterations", options.max_iterations);
  if (options.relative_size == 0 || options.absolute_size == 0)
    fail<ValueError>("nelder_mead: relative_size and absolute_size are not 0, because the first simplex would be flat");

  const std::int64_t n = f.size();
  const double dimensions =
      static_cast<double>(std::max<std::int64_t>(n, 2)); // with 1, a simplex would shrink to a point
  const double expansion = 1 + 2 / dimensions, contraction = 0.75 - 0.5 / dimensions, shrinkage = 1 - 1 / dimensions;
  auto valueAt = [&](const Tensor &x) {
    Tensor value = f.valueAt(x);
    return where(isnan(value), std::numeric_limits<double>::infinity(), value);
  };
  struct State {
    Tensor simplex, values; // [n + 1, n] and [n + 1], the best point first
    Tensor iterations, evaluations;
  };
  auto sorted = [](const Tensor &simplex, const Tensor &values, const Tensor &iterations, const Tensor &evaluations) {
    Tensor order = argsort(values);
    return State{gather(simplex, order), gather(values, order), iterations, evaluations};
  };
  auto isDone = [&](const State &s) {
    return (max(abs(s.simplex - gather(s.simplex, scalar(0))), AxisList()) <= xtol) &
           (max(abs(s.values - gather(s.values, scalar(0))), AxisList()) <= ftol);
  };
  const Tensor rows = iota({n + 1}, DType::Int64), rowsDown = iota({n + 1, 1}, DType::Int64);
  auto iterate = [&](const State &s) {
    const Tensor best = gather(s.values, scalar(0)), worst = gather(s.values, scalar(n));
    const Tensor second = gather(s.values, scalar(n - 1)), worstPoint = gather(s.simplex, scalar(n));
    Tensor centroid = sum(where(rowsDown < n, s.simplex, 0), {0}) / static_cast<double>(n);
    Tensor away = centroid - worstPoint, reflected = centroid + away, value = valueAt(reflected);
    // Where the reflected point is neither the best nor among the two worst, it is taken. Else another one is tried.
    Tensor isBest = value < best, isPlain = (!isBest) & (value < second), isOutside = value < worst;
    Tensor factor = where(isBest, expansion, where(isOutside, contraction, -contraction));
    Tensor other = centroid + cast(factor, f.dtype()) * away;
    Tensor otherValue = cond(isPlain, [&] { return value; }, [&] { return valueAt(other); });
    Tensor isOther =
        (!isPlain) & where(isBest, otherValue < value, where(isOutside, otherValue <= value, otherValue < worst));
    Tensor shrinks = (!isPlain) & (!isBest) & !isOther;
    State next{where(rowsDown == n, where(isOther, other, reflected), s.simplex),
               where(rows == n, where(isOther, otherValue, value), s.values), s.iterations + 1,
               s.evaluations + 1 + cast(!isPlain, DType::Int64)};
    next = cond(
        shrinks,
        [&] {
          Tensor bestPoint = gather(s.simplex, scalar(0));
          Tensor smaller = bestPoint + shrinkage * (s.simplex - bestPoint);
          return State{smaller, map_fn(valueAt, smaller), s.iterations + 1, s.evaluations + 2 + n};
        },
        [&] { return next; });
    return sorted(next.simplex, next.values, next.iterations, next.evaluations);
  };
  const Tensor x = f.function().flat(start);
  Tensor sizes = where(x == 0, full({}, options.absolute_size, f.dtype()), options.relative_size * x);
  Tensor simplex = concat({expand_dims(x, {0}), x + eye(n, f.dtype()) * sizes});
  State first = sorted(simplex, map_fn(valueAt, simplex), scalar<std::int64_t>(0), scalar<std::int64_t>(n + 1));
  State last = while_loop([&](const State &s) { return !isDone(s); }, iterate, first,
                          {.maximum_iterations = options.max_iterations, .checkpoint = true});
  const Tensor point = stop_gradient(gather(last.simplex, scalar(0))), value = gather(last.values, scalar(0));
  const Tensor size = max(abs(last.simplex - gather(last.simplex, scalar(0))), AxisList());
  Tensor converged = internal::checkedConvergence(
      isDone(last) & isfinite(value), options.require_convergence,
      {"nelder_mead", options.max_iterations, "the simplex is larger than xtol, or its values differ by more than ftol",
       size, xtol, "start nearer to the minimum, allow more iterations, or tolerate more"});
  if (options.differentiable)
    return internal::minimizeResult(f, {point, value, grad(f.map())(point)}, last.iterations, last.evaluations,
                                    converged, Tensor(), 0, options.max_iterations, false);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {f.function().shaped(point),
          stop_gradient(value),
          full(f.function().shape(), nan, f.dtype()),
          stop_gradient(last.iterations),
          stop_gradient(last.evaluations),
          converged};
}

} // namespace calque::solvers
