// Systems of equations: Newton's and Broyden's methods.
#include "absl/strings/str_cat.h"
#include "calque/control_flow.h"
#include "calque/solvers/roots.h"
#include "implicit/Implicit.h"
#include "linear/Dense.h"

#include <cmath>

namespace calque::solvers {

using internal::dot;
using internal::epsilonOf;
using internal::fail;
using internal::FlatFunction;
using internal::largest;
using internal::Map;

namespace {

// A step is accepted when the sum of squares of the residuals has decreased by this part of what the slope promises.
constexpr double kDecrease = 1e-4;
constexpr std::int64_t kHalvings = 30;

Tensor residualOf(const char *what, const FlatFunction &f, const Tensor &x) {
  Tensor y = f.valueOf(x);
  if (y.size() != f.size())
    fail<ShapeError>(absl::StrCat(what, ": the function returns ", internal::describe(y), " for x of ",
                                  name_of(f.dtype()), f.shape().str(),
                                  ", and a root needs as many equations as unknowns"));
  return f.flat(y);
}

struct Moved {
  Tensor x, residual;
};

// Goes from x along a direction, as far as the sum of squares of the residuals decreases. The parabola through the
// values and the slope at the beginning gives each next length.
Moved searched(const char *what, const FlatFunction &f, const Tensor &x, const Tensor &residual,
               const Tensor &direction, bool isSearched) {
  if (!isSearched)
    return {x + direction, residualOf(what, f, x + direction)};
  const Tensor before = dot(residual, residual);
  auto isTooLong = [&](const Tensor &length, const Tensor &, const Tensor &made) {
    return !(dot(made, made) <= (1 - 2 * kDecrease * length) * before); // also for NaN
  };
  auto shorten = [&](const Tensor &length, const Tensor &, const Tensor &made) {
    Tensor squares = dot(made, made);
    Tensor best = length * length * before / (squares - (1 - 2 * length) * before);
    Tensor next = where(isfinite(squares), clip(best, 0.1 * length, 0.5 * length), 0.1 * length);
    Tensor at = x + next * direction;
    return std::tuple(next, at, residualOf(what, f, at));
  };
  Tensor at = x + direction;
  auto [length, end, made] =
      while_loop(isTooLong, shorten, std::tuple(ones({}, x.dtype()), at, residualOf(what, f, at)),
                 {.maximum_iterations = kHalvings});
  return {end, made};
}

RootResult resultOf(const char *what, const FlatFunction &f, const Tensor &x, const Tensor &residual,
                    const Tensor &iterations, const Tensor &isDone, Differentiation mode, std::int64_t limit,
                    bool isRequired) {
  Tensor converged = stop_gradient(isDone);
  if (isRequired)
    assert_true(converged, absl::StrCat(what, ": no convergence in ", limit,
                                        " iterations; start nearer to the root, allow more iterations, or set "
                                        "require_convergence to false and read `converged`"));
  auto equations = [&](const Tensor &at) { return residualOf(what, f, at); };
  return {f.shaped(internal::rootOf(equations, x, mode)), f.shaped(stop_gradient(residual)), stop_gradient(iterations),
          converged};
}

} // namespace

RootResult newton(const Map &function, const Operand &x0, const NewtonOptions &options) {
  CallSite site(x0.where(), "newton");
  const Tensor start = stop_gradient(x0.toTensor());
  const FlatFunction f("newton", function, start);
  const double xtol = options.xtol.value_or(std::pow(epsilonOf(start.dtype()), 2.0 / 3));
  internal::requirePositive("newton", "xtol", xtol);
  internal::requireNotNegative("newton", "ftol", options.ftol);
  internal::requireCount("newton", "max_iterations", options.max_iterations);

  auto equations = [&](const Tensor &x) { return residualOf("newton", f, x); };
  auto goesOn = [](const Tensor &, const Tensor &, const Tensor &, const Tensor &isDone) { return !isDone; };
  auto iterate = [&](const Tensor &x, const Tensor &residual, const Tensor &count, const Tensor &) {
    Tensor jacobian = internal::jacobianOf(equations, x, f.size(), options.jacobian);
    Tensor direction = -internal::solve(jacobian, residual);
    auto [next, made] = searched("newton", f, x, residual, direction, options.line_search);
    Tensor isSmall = largest(direction) <= xtol * (1 + largest(next));
    return std::tuple(next, made, count + 1, (isSmall & all(isfinite(made))) | (largest(made) <= options.ftol));
  };
  const Tensor x = f.flat(start), residual = stop_gradient(equations(x));
  auto [root, last, count, isDone] =
      while_loop(goesOn, iterate, std::tuple(x, residual, scalar<std::int64_t>(0), largest(residual) <= options.ftol),
                 {.maximum_iterations = options.max_iterations, .checkpoint = true});
  return resultOf("newton", f, root, last, count, isDone, options.jacobian, options.max_iterations,
                  options.require_convergence);
}

RootResult broyden(const Map &function, const Operand &x0, const BroydenOptions &options) {
  CallSite site(x0.where(), "broyden");
  const Tensor start = stop_gradient(x0.toTensor());
  const FlatFunction f("broyden", function, start);
  const double ftol = options.ftol.value_or(std::pow(epsilonOf(start.dtype()), 2.0 / 3));
  internal::requirePositive("broyden", "ftol", ftol);
  internal::requireCount("broyden", "max_iterations", options.max_iterations);

  auto equations = [&](const Tensor &x) { return residualOf("broyden", f, x); };
  auto goesOn = [&](const Tensor &, const Tensor &residual, const Tensor &, const Tensor &) {
    return (!(largest(residual) <= ftol)) & all(isfinite(residual));
  };
  auto iterate = [&](const Tensor &x, const Tensor &residual, const Tensor &inverse, const Tensor &count) {
    auto [next, made] = searched("broyden", f, x, residual, -sum(inverse * residual, {1}), true);
    Tensor moved = next - x, change = made - residual;
    // Sherman and Morrison's formula for the correction of rank one.
    Tensor predicted = sum(inverse * change, {1}), row = sum(inverse * expand_dims(moved, {1}), {0});
    Tensor divisor = dot(moved, predicted);
    Tensor correction = expand_dims((moved - predicted) / where(divisor != 0, divisor, 1), {1}) * row;
    return std::tuple(next, made, where(divisor != 0, inverse + correction, inverse), count + 1);
  };
  const Tensor x = f.flat(start);
  Tensor inverse = internal::inverse(internal::jacobianOf(equations, x, f.size(), options.jacobian));
  auto [root, last, unused, count] =
      while_loop(goesOn, iterate, std::tuple(x, equations(x), inverse, scalar<std::int64_t>(0)),
                 {.maximum_iterations = options.max_iterations, .checkpoint = true});
  return resultOf("broyden", f, root, last, count, largest(last) <= ftol, options.jacobian, options.max_iterations,
                  options.require_convergence);
}

} // namespace calque::solvers
