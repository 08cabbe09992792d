// Elementwise roots in brackets: bisection and Brent's method.
#include "absl/strings/str_cat.h"
#include "calque/control_flow.h"
#include "calque/solvers/roots.h"
#include "implicit/Implicit.h"

namespace calque::solvers {

using internal::callUser;
using internal::epsilonOf;
using internal::fail;
using internal::Map;

namespace {

// The problem of a call: the function, the bounds with a common shape, and what is tolerated.
struct Brackets {
  const char *what;
  Map f;
  Tensor lower = {}, upper = {};     // the bounds
  Tensor atLower = {}, atUpper = {}; // f there
  Tensor bracketed = {};             // whether the signs differ
  double xtol = 0, rtol = 0;

  Tensor valueAt(const Tensor &x) const {
    Tensor y = callUser(f, x);
    if (y.dtype() != x.dtype())
      fail<DTypeError>(absl::StrCat(what, ": the function returns ", internal::describe(y), " for x of ",
                                    internal::describe(x), ", and must return the element type of x"));
    if (y.rank() != x.rank() || !y.shape().is_compatible_with(x.shape()))
      fail<ShapeError>(absl::StrCat(what, ": the function returns ", internal::describe(y), " for x of ",
                                    internal::describe(x), "; an elementwise function returns the shape of x"));
    return y;
  }
};

Brackets bracketsOf(const char *what, const Map &f, const Operand &lower, const Operand &upper,
                    const BracketOptions &options) {
  internal::requireFunction(what, "the function", static_cast<bool>(f));
  const DType dtype = lower.isNumber() ? upper.defaultDType() : lower.defaultDType();
  Brackets problem{.what = what, .f = f};
  problem.lower = stop_gradient(lower.toTensor(dtype));
  problem.upper = stop_gradient(upper.toTensor(dtype));
  internal::requireFloat(what, "the lower bound", problem.lower);
  internal::requireFloat(what, "the upper bound", problem.upper);
  const double epsilon = epsilonOf(dtype);
  problem.xtol = options.xtol.value_or(4 * epsilon);
  problem.rtol = options.rtol.value_or(4 * epsilon);
  internal::requirePositive(what, "xtol", problem.xtol);
  internal::requirePositive(what, "rtol", problem.rtol);
  if (problem.rtol < 4 * epsilon)
    fail<ValueError>(absl::StrCat(what, ": rtol is at least 4 epsilon of ", name_of(dtype), ", ",
                                  Number(4 * epsilon).str(), ", unlike ", Number(problem.rtol).str()));
  internal::requireCount(what, "max_iterations", options.max_iterations);

  Tensor zero = 0 * problem.lower + 0 * problem.upper; // gives both the common shape
  problem.lower = problem.lower + zero;
  problem.upper = problem.upper + zero;
  problem.atLower = stop_gradient(problem.valueAt(problem.lower));
  problem.atUpper = stop_gradient(problem.valueAt(problem.upper));
  problem.bracketed = sign(problem.atLower) * sign(problem.atUpper) <= 0;
  if (options.require_convergence)
    assert_less_equal(sign(problem.atLower) * sign(problem.atUpper), 0,
                      absl::StrCat(what, ": f has different signs at the bounds, and here the product of the signs is "
                                         "1 (or NaN); give a bracket of the root"));
  return problem;
}

// The sum and the difference of the ends may overflow.
Tensor middleOf(const Tensor &low, const Tensor &high) { return 0.5 * low + 0.5 * high; }

RootResult resultOf(const Brackets &problem, const Tensor &x, const Tensor &residual, const Tensor &width,
                    const Tensor &iterations, const Tensor &isDone, const BracketOptions &options) {
  Tensor converged = internal::checkedConvergence(
      isDone & problem.bracketed, options.require_convergence,
      {problem.what, options.max_iterations, "the bracket is larger than xtol + rtol |x|, or f is NaN in it", width,
       problem.xtol, "allow more iterations, or a larger xtol or rtol"});
  auto equations = [&](const Tensor &at) { return problem.valueAt(at); };
  return {internal::elementwiseRootOf(equations, x), stop_gradient(residual), stop_gradient(iterations), converged};
}

} // namespace

RootResult bisect(const Map &f, const Operand &lower, const Operand &upper, const BracketOptions &options) {
  CallSite site(lower.where(), "bisect");
  const Brackets problem = bracketsOf("bisect", f, lower, upper, options);
  // An element whose bracket is small enough does not move any more. Nor does one whose function is NaN in the middle,
  // which then is its lower end.
  auto isOpen = [&](const Tensor &low, const Tensor &high, const Tensor &fLow) {
    Tensor middle = middleOf(low, high);
    return (abs(high - low) > 2 * (problem.xtol + problem.rtol * abs(middle))) & (fLow != 0) & !isnan(fLow);
  };
  auto goesOn = [&](const Tensor &low, const Tensor &high, const Tensor &fLow, const Tensor &) {
    return any(isOpen(low, high, fLow) & problem.bracketed);
  };
  auto iterate = [&](const Tensor &low, const Tensor &high, const Tensor &fLow, const Tensor &count) {
    Tensor open = isOpen(low, high, fLow);
    Tensor middle = middleOf(low, high);
    Tensor fMiddle = problem.valueAt(middle);
    Tensor isRight = open & (sign(fMiddle) != -sign(fLow)); // the root is right of the middle, or there
    return std::tuple(where(isRight, middle, low), where(open & !isRight, middle, high), where(isRight, fMiddle, fLow),
                      where(open, count + 1, count));
  };
  // With a root at the upper bound, the first iteration begins there.
  Tensor atEnd = problem.atUpper == 0;
  auto [low, high, fLow, count] =
      while_loop(goesOn, iterate,
                 std::tuple(where(atEnd, problem.upper, problem.lower), problem.upper,
                            where(atEnd, problem.atUpper, problem.atLower), cast(0 * problem.lower, DType::Int64)),
                 {.maximum_iterations = options.max_iterations, .checkpoint = true});
  Tensor x = where(fLow == 0, low, middleOf(low, high));
  return resultOf(problem, x, problem.valueAt(x), abs(high - low), count, !(isOpen(low, high, fLow) | isnan(fLow)),
                  options);
}

RootResult brent(const Map &f, const Operand &lower, const Operand &upper, const BracketOptions &options) {
  CallSite site(lower.where(), "brent");
  const Brackets problem = bracketsOf("brent", f, lower, upper, options);
  struct State {
    Tensor before, current, other;    // the last point, the best point, and one on the other side of the root
    Tensor fBefore, fCurrent, fOther; // f there
    Tensor stepBefore, step;          // the last two steps
  };
  using Loop = std::pair<State, Tensor>;
  auto toleranceAt = [&](const Tensor &x) { return 0.5 * (problem.xtol + problem.rtol * abs(x)); };
  // Brings the points into Brent's order: the root is between `current` and `other`, and `current` is the better one.
  auto ordered = [](State s) {
    Tensor crosses = sign(s.fBefore) * sign(s.fCurrent) < 0;
    Tensor width = s.current - s.before;
    s.other = where(crosses, s.before, s.other);
    s.fOther = where(crosses, s.fBefore, s.fOther);
    s.stepBefore = where(crosses, width, s.stepBefore);
    s.step = where(crosses, width, s.step);
    Tensor isWorse = abs(s.fOther) < abs(s.fCurrent);
    Tensor current = s.current, fCurrent = s.fCurrent;
    s.before = where(isWorse, current, s.before);
    s.fBefore = where(isWorse, fCurrent, s.fBefore);
    s.current = where(isWorse, s.other, current);
    s.fCurrent = where(isWorse, s.fOther, fCurrent);
    s.other = where(isWorse, current, s.other);
    s.fOther = where(isWorse, fCurrent, s.fOther);
    return s;
  };
  auto isOpen = [&](const State &s) {
    return (s.fCurrent != 0) & !isnan(s.fCurrent) & (abs(0.5 * s.other - 0.5 * s.current) >= toleranceAt(s.current)) &
           problem.bracketed;
  };
  auto goesOn = [&](const State &s, const Tensor &) { return any(isOpen(s)); };
  auto iterate = [&](const State &s, const Tensor &count) {
    Tensor open = isOpen(s), tolerance = toleranceAt(s.current), half = 0.5 * s.other - 0.5 * s.current;
    Tensor isSecant = s.before == s.other;
    // Denominators of elements that do not take the value may be 0; the value is then not used.
    Tensor slopeBefore = (s.fBefore - s.fCurrent) / (s.before - s.current);
    Tensor slopeOther = (s.fOther - s.fCurrent) / (s.other - s.current);
    Tensor secant = -s.fCurrent * (s.current - s.before) / (s.fCurrent - s.fBefore);
    Tensor quadratic = -s.fCurrent * (s.fOther * slopeOther - s.fBefore * slopeBefore) /
                       (slopeOther * slopeBefore * (s.fOther - s.fBefore));
    Tensor guess = where(isSecant, secant, quadratic);
    Tensor isGood = (abs(s.stepBefore) > tolerance) & (abs(s.fCurrent) < abs(s.fBefore)) &
                    (2 * abs(guess) < minimum(abs(s.stepBefore), 3 * abs(half) - tolerance));
    Tensor step = where(isGood, guess, half);
    Tensor move = where(abs(step) > tolerance, step, where(half > 0, tolerance, -tolerance));
    Tensor x = where(open, s.current + move, s.current);
    Tensor fx = where(open, problem.valueAt(x), s.fCurrent);
    State next = ordered({s.current, x, s.other, s.fCurrent, fx, s.fOther, where(isGood, s.step, half), step});
    auto kept = [&](const Tensor &made, const Tensor &old) { return where(open, made, old); };
    return Loop({kept(next.before, s.before), kept(next.current, s.current), kept(next.other, s.other),
                 kept(next.fBefore, s.fBefore), kept(next.fCurrent, s.fCurrent), kept(next.fOther, s.fOther),
                 kept(next.stepBefore, s.stepBefore), kept(next.step, s.step)},
                where(open, count + 1, count));
  };
  Tensor zero = zeros(problem.lower.shape(), problem.lower.dtype());
  State first = ordered(
      {problem.lower, problem.upper, problem.lower, problem.atLower, problem.atUpper, problem.atLower, zero, zero});
  auto applied = [&](auto &body) { return [&](const Loop &loop) { return body(loop.first, loop.second); }; };
  auto [last, count] = while_loop(applied(goesOn), applied(iterate), Loop(first, cast(zero, DType::Int64)),
                                  {.maximum_iterations = options.max_iterations, .checkpoint = true});
  return resultOf(problem, last.current, last.fCurrent, abs(last.other - last.current), count,
                  !(isOpen(last) | isnan(last.fCurrent)), options);
}

} // namespace calque::solvers
