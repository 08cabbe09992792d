// Systems of equations: Newton's and Broyden's methods.
#include "absl/strings/str_cat.h"
#include "calque/control_flow.h"
#include "calque/solvers/roots.h"
#include "implicit/Implicit.h"
#include "linear/Dense.h"

#include <cmath>
#include <limits>

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
// A step that would have to be shorter than this part of a full one ends the iteration.
constexpr double kShortest = 1e-20, kShortestOfBroyden = 0.01;

Tensor residualOf(const char *what, const FlatFunction &f, const Tensor &x) {
  Tensor y = f.valueOf(x);
  if (y.size() != f.size())
    fail<ShapeError>(absl::StrCat(what, ": the function returns ", internal::describe(y), " for x of ",
                                  name_of(f.dtype()), f.shape().str(),
                                  ", and a root needs as many equations as unknowns"));
  return f.flat(y);
}

// The next length of a step that was too long: where the parabola through both sums of squares and the slope at the
// beginning has its minimum.
Tensor shortened(const Tensor &length, const Tensor &before, const Tensor &after) {
  Tensor best = length * length * before / (after - (1 - 2 * length) * before);
  return where(isfinite(after), clip(best, 0.1 * length, 0.5 * length), 0.1 * length);
}

RootResult resultOf(const char *what, const FlatFunction &f, const Tensor &x, const Tensor &residual,
                    const Tensor &iterations, const Tensor &isDone, Differentiation mode, double ftol,
                    std::int64_t limit, bool isRequired) {
  Tensor converged = internal::checkedConvergence(
      isDone, isRequired,
      {what, limit, "or no step decreases the residuals, the largest of which is above ftol", largest(residual), ftol,
       "start nearer to the root, or allow more iterations"});
  auto equations = [&](const Tensor &at) { return residualOf(what, f, at); };
  return {f.shaped(internal::rootOf(equations, x, mode)), f.shaped(stop_gradient(residual)),
          stop_gradient(maximum(iterations, 0)), converged};
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

  // Each iteration tries one step. A step that is refused is shortened by the next iteration, so that under vmap no
  // example waits for the line search of another. Before the first iteration the step is 0, which leads to x0.
  struct State {
    Tensor x, residual; // at the last step that was taken
    Tensor direction, length;
    Tensor count; // of steps
    Tensor isDone;
  };
  auto equations = [&](const Tensor &x) { return residualOf("newton", f, x); };
  auto goesOn = [&](const State &s) {
    return (!s.isDone) & (s.count < options.max_iterations) & (s.length >= kShortest);
  };
  auto iterate = [&](const State &s) {
    Tensor x = s.x + s.length * s.direction, residual = equations(x);
    Tensor squares = dot(residual, residual), before = dot(s.residual, s.residual);
    Tensor isSmall = (s.count >= 0) & (largest(s.direction) <= xtol * (1 + largest(x)));
    Tensor isTaken = ones({}, DType::Bool), length = s.length;
    if (options.line_search) {
      // A small step may not decrease residuals that are rounding alone.
      isTaken = (squares <= (1 - 2 * kDecrease * s.length) * before) | isSmall;
      length = where(isTaken, 1, shortened(s.length, before, squares));
    }
    Tensor direction = cond(
        isTaken,
        [&] { return -internal::solve(internal::jacobianOf(equations, x, f.size(), options.jacobian), residual); },
        [&] { return s.direction; });
    Tensor isDone = (isSmall & all(isfinite(residual))) | (largest(residual) <= options.ftol);
    return State{where(isTaken, x, s.x),
                 where(isTaken, residual, s.residual),
                 direction,
                 length,
                 s.count + cast(isTaken, DType::Int64),
                 isTaken & isDone};
  };
  const DType dtype = f.dtype();
  const Tensor nothing = zeros({f.size()}, dtype),
               worst = full({f.size()}, std::numeric_limits<double>::infinity(), dtype);
  State last = while_loop(
      goesOn, iterate,
      State{f.flat(start), worst, nothing, ones({}, dtype), scalar<std::int64_t>(-1), zeros({}, DType::Bool)},
      {.checkpoint = true});
  return resultOf("newton", f, last.x, last.residual, last.count, last.isDone, options.jacobian, options.ftol,
                  options.max_iterations, options.require_convergence);
}

RootResult broyden(const Map &function, const Operand &x0, const BroydenOptions &options) {
  CallSite site(x0.where(), "broyden");
  const Tensor start = stop_gradient(x0.toTensor());
  const FlatFunction f("broyden", function, start);
  const double ftol = options.ftol.value_or(std::pow(epsilonOf(start.dtype()), 2.0 / 3));
  internal::requirePositive("broyden", "ftol", ftol);
  internal::requireCount("broyden", "max_iterations", options.max_iterations);

  struct State {
    Tensor x, residual; // at the last step that was taken
    Tensor inverse;     // of the Jacobian
    Tensor direction, length;
    Tensor count; // of steps
  };
  auto equations = [&](const Tensor &x) { return residualOf("broyden", f, x); };
  auto goesOn = [&](const State &s) { return (!(largest(s.residual) <= ftol)) & (s.count < options.max_iterations); };
  // As newton's iteration. Here a short step is taken at last, because it corrects the approximation that led there.
  auto iterate = [&](const State &s) {
    Tensor moved = s.length * s.direction, x = s.x + moved, residual = equations(x), change = residual - s.residual;
    Tensor squares = dot(residual, residual), before = dot(s.residual, s.residual);
    Tensor isFinite = isfinite(squares);
    Tensor isTaken = (squares <= (1 - 2 * kDecrease * s.length) * before) |
                     (isFinite & (s.length < kShortestOfBroyden)) | (s.length < kShortest);
    // Sherman and Morrison's formula for the correction of rank one.
    Tensor predicted = sum(s.inverse * change, {1}), row = sum(s.inverse * expand_dims(moved, {1}), {0});
    Tensor divisor = dot(moved, predicted), isKnown = isTaken & isfinite(divisor) & (divisor != 0);
    Tensor correction = expand_dims((moved - predicted) / where(isKnown, divisor, 1), {1}) * row;
    Tensor inverse = where(isKnown, s.inverse + correction, s.inverse);
    return State{where(isTaken, x, s.x),
                 where(isTaken, residual, s.residual),
                 inverse,
                 where(isTaken, -sum(inverse * residual, {1}), s.direction),
                 where(isTaken, 1, shortened(s.length, before, squares)),
                 s.count + cast(isTaken, DType::Int64)};
  };
  const DType dtype = f.dtype();
  const Tensor x = f.flat(start), worst = full({f.size()}, std::numeric_limits<double>::infinity(), dtype);
  Tensor inverse = internal::inverse(internal::jacobianOf(equations, x, f.size(), options.jacobian));
  State last = while_loop(goesOn, iterate,
                          State{x, worst, inverse, zeros({f.size()}, dtype), ones({}, dtype), scalar<std::int64_t>(-1)},
                          {.checkpoint = true});
  return resultOf("broyden", f, last.x, last.residual, last.count, largest(last.residual) <= ftol, options.jacobian,
                  ftol, options.max_iterations, options.require_convergence);
}

} // namespace calque::solvers
