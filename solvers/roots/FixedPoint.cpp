// Fixed points by Anderson's acceleration.
#include "absl/strings/str_cat.h"
#include "calque/control_flow.h"
#include "calque/solvers/roots.h"
#include "implicit/Implicit.h"
#include "linear/Dense.h"

#include <algorithm>
#include <cmath>

namespace calque::solvers {

using internal::fail;
using internal::FlatFunction;
using internal::largest;
using internal::Map;

RootResult fixed_point(const Map &g, const Operand &x0, const FixedPointOptions &options) {
  CallSite site(x0.where(), "fixed_point");
  const Tensor start = stop_gradient(x0.toTensor());
  const FlatFunction map("fixed_point", g, start);
  const double epsilon = internal::epsilonOf(start.dtype());
  const double xtol = options.xtol.value_or(std::pow(epsilon, 2.0 / 3));
  internal::requirePositive("fixed_point", "xtol", xtol);
  internal::requireCount("fixed_point", "max_iterations", options.max_iterations);
  if (options.memory < 0)
    fail<ValueError>(absl::StrCat("fixed_point: memory is not negative, unlike ", options.memory));

  auto residualAt = [&](const Tensor &x) {
    Tensor y = map.valueOf(x);
    if (y.rank() != static_cast<std::int64_t>(map.shape().size()) || !y.shape().is_compatible_with(map.shape()))
      fail<ShapeError>(absl::StrCat("fixed_point: the function returns ", internal::describe(y), " for x of ",
                                    name_of(map.dtype()), map.shape().str(), ", and must return the shape of x"));
    return map.flat(y) - x;
  };
  auto isDone = [&](const Tensor &x, const Tensor &residual) { return largest(residual) <= xtol * (1 + largest(x)); };
  const std::int64_t n = map.size(), memory = std::min(options.memory, n);
  const Tensor slots = iota({std::max<std::int64_t>(memory, 1), 1}, DType::Int64);
  using State = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>; // x, residual, their last changes, iterations
  auto goesOn = [&](const Tensor &x, const Tensor &residual, const Tensor &, const Tensor &, const Tensor &) {
    return (!isDone(x, residual)) & all(isfinite(residual));
  };
  auto iterate = [&](const Tensor &x, const Tensor &residual, const Tensor &xs, const Tensor &residuals,
                     const Tensor &count) {
    Tensor next = x + residual;
    if (memory > 0) {
      // The combination of the last changes whose residual is smallest. A trace of the matrix, far below its rounding
      // error, makes unused slots harmless.
      Tensor gram = matmul(residuals, residuals, {.transpose_b = true});
      Tensor diagonal = sum(square(residuals), {1});
      Tensor ridge =
          eye(memory, x.dtype()) * (10 * epsilon * max(diagonal, AxisList()) + cast(diagonal == 0, x.dtype()));
      Tensor weights = internal::solve(gram + ridge, sum(residuals * residual, {1}));
      next = next - sum(expand_dims(weights, {1}) * (xs + residuals), {0});
    }
    Tensor made = residualAt(next);
    Tensor isSlot = slots == mod(count, static_cast<std::int64_t>(std::max<std::int64_t>(memory, 1)));
    return State(next, made, where(isSlot, next - x, xs), where(isSlot, made - residual, residuals), count + 1);
  };
  const Tensor x = map.flat(start), none = zeros({std::max<std::int64_t>(memory, 1), n}, x.dtype());
  auto [point, residual, xs, residuals, count] =
      while_loop(goesOn, iterate, State(x, residualAt(x), none, none, scalar<std::int64_t>(0)),
                 {.maximum_iterations = options.max_iterations, .checkpoint = true});
  Tensor converged = internal::checkedConvergence(isDone(point, residual), options.require_convergence,
                                                  {"fixed_point", options.max_iterations,
                                                   "the largest element of g(x) - x is above xtol", largest(residual),
                                                   xtol, "start nearer to the fixed point, or allow more iterations"});
  return {map.shaped(internal::fixedPointOf(residualAt, point)), map.shaped(stop_gradient(residual)),
          stop_gradient(count), converged};
}

} // namespace calque::solvers
