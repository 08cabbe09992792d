#include "minimize/LineSearch.h"

#include "calque/control_flow.h"

#include <limits>

namespace calque::solvers::internal {

namespace {

constexpr double kDecrease = 1e-4;
constexpr std::int64_t kEvaluations = 25, kHalvings = 50;

// A step along the line, the value there and the slope.
struct Trial {
  Tensor step, value, slope;
};
Trial where(const Tensor &condition, const Trial &a, const Trial &b) {
  using calque::where;
  return {where(condition, a.step, b.step), where(condition, a.value, b.value), where(condition, a.slope, b.slope)};
}
// The values without the part of the slope that the first condition asks for.
Trial without(const Trial &t, const Tensor &slope) { return {t.step, t.value - t.step * slope, t.slope - slope}; }

// The interval of the search: its better end, its other end, and whether both together hold a minimum.
struct Interval {
  Trial best, other;
  Tensor isBracket;
};

// The minimum of the cubic through two trials, seen from the trial `from`. `sign` is that of its root.
struct Cubic {
  Tensor step, ratio, root;
};
Cubic cubicFrom(const Trial &from, const Trial &to, const Tensor &isNegative) {
  Tensor theta = 3 * (from.value - to.value) / (to.step - from.step) + from.slope + to.slope;
  Tensor scale = maximum(abs(theta), maximum(abs(from.slope), abs(to.slope)));
  scale = calque::where(scale > 0, scale, 1);
  Tensor squared = square(theta / scale) - (from.slope / scale) * (to.slope / scale);
  Tensor root = scale * sqrt(maximum(squared, 0));
  root = calque::where(isNegative, -root, root);
  Tensor ratio = (root - from.slope + theta) / (root - from.slope + root + to.slope);
  return {from.step + ratio * (to.step - from.step), ratio, root};
}

// The next step and interval, from a trial within [lowest, highest]: dcstep of MINPACK-2. The four cases are computed
// together, and each takes the place of the next one where its condition holds.
Tensor nextStep(Interval &interval, const Trial &trial, const Tensor &lowest, const Tensor &highest) {
  using calque::where;
  const Trial best = interval.best, other = interval.other;
  const Tensor isBracket = interval.isBracket;
  Tensor isRight = trial.step > best.step, isHigher = trial.value > best.value;
  Tensor turns = trial.slope * sign(best.slope) < 0, flattens = abs(trial.slope) < abs(best.slope);
  auto distance = [](const Tensor &a, const Tensor &b) { return abs(a - b); };

  // 1: the value is higher. The minimum is between the two.
  Tensor cubic = cubicFrom(best, trial, !isRight).step;
  Tensor chord = (best.value - trial.value) / (trial.step - best.step) + best.slope;
  Tensor quadratic = best.step + best.slope / chord / 2 * (trial.step - best.step);
  Tensor ofHigher =
      where(distance(cubic, best.step) < distance(quadratic, best.step), cubic, cubic + (quadratic - cubic) / 2);
  // 2: the slope has turned. The minimum is between the two.
  Cubic back = cubicFrom(trial, best, isRight);
  Tensor secant = trial.step + trial.slope / (trial.slope - best.slope) * (best.step - trial.step);
  Tensor isFarther = distance(back.step, trial.step) > distance(secant, trial.step);
  Tensor ofTurn = where(isFarther, back.step, secant);
  // 3: the slope is flatter. The cubic may have no minimum in this direction.
  Tensor end = where(isRight, highest, lowest);
  Tensor ahead = where((back.ratio < 0) & (back.root != 0), back.step, end);
  Tensor isNearer = distance(ahead, trial.step) < distance(secant, trial.step);
  Tensor limit = trial.step + 0.66 * (other.step - trial.step);
  Tensor within = where(isNearer, ahead, secant);
  within = where(isRight, minimum(limit, within), maximum(limit, within));
  Tensor beyond = clip(where(isNearer, secant, ahead), lowest, highest);
  Tensor ofFlatter = where(isBracket, within, beyond);
  // 4: the slope is as steep.
  Tensor toOther = cubicFrom(trial, other, trial.step > other.step).step;
  Tensor ofSteep = where(isBracket, toOther, end);

  interval.other = where(isHigher, trial, where(turns, best, other));
  interval.best = where(isHigher, best, trial);
  interval.isBracket = isBracket | isHigher | turns;
  return where(isHigher, ofHigher, where(turns, ofTurn, where(flattens, ofFlatter, ofSteep)));
}

// The limits of the next step. At `infinite`, f is not finite; it is infinity as long as no such step is known.
struct Limits {
  Tensor lowest, highest, infinite;
};

struct Search {
  Interval interval;
  Trial trial; // the newest one
  Limits limits;
  Tensor width, widthBefore;     // of the bracket, now and an iteration earlier
  Tensor isSecondStage, isEnded; // bool
};

} // namespace

Searched searchWolfe(const FlatObjective &f, const Point &from, const Tensor &direction, const Tensor &slope,
                     const Tensor &firstStep, double curvature) {
  using calque::where;
  using Loop = std::tuple<std::pair<Search, Tensor>, Point>; // with the number of evaluations
  const DType dtype = f.dtype();
  const double epsilon = epsilonOf(dtype);
  const Tensor zero = zeros({}, dtype), no = zeros({}, DType::Bool), asked = kDecrease * slope;
  auto isEnough = [&](const Trial &t) { return t.value <= from.value + t.step * asked; };
  auto tried = [&](const Tensor &step, Point &point) {
    point = f.at(from.x + step * direction);
    return Trial{step, point.value, dot(point.gradient, direction)};
  };
  // Near a minimum, the decrease is below the rounding of f. There the slope alone shows that a trial is good: the
  // approximate Wolfe conditions of Hager and Zhang (A new conjugate gradient method with guaranteed descent and an
  // efficient line search, 2005).
  const Tensor rounding = 10 * epsilon * abs(from.value);
  auto isGood = [&](const Trial &t) {
    Tensor isFlat = abs(t.slope) <= -curvature * slope;
    Tensor isApproximate = (t.value <= from.value + rounding) & (t.slope <= -0.8 * slope);
    return isFlat & (isEnough(t) | isApproximate);
  };
  // Whether the newest trial ends the search: it is good, or the interval is down to rounding.
  auto isEnd = [&](const Search &s) {
    const Trial &t = s.trial;
    Tensor isExhausted =
        s.interval.isBracket & ((t.step <= s.limits.lowest) | (t.step >= s.limits.highest) |
                                (s.limits.highest - s.limits.lowest <= 4 * epsilon * s.limits.highest));
    return isfinite(t.value) & (isGood(t) | isExhausted);
  };

  auto iterate = [&](const std::pair<Search, Tensor> &counted, const Point &) {
    Search s = counted.first;
    const Trial t = s.trial;
    Tensor isFinite = isfinite(t.value) & isfinite(t.slope);
    s.isSecondStage = s.isSecondStage | (isEnough(t) & (t.slope >= 0));
    Tensor isModified = (!s.isSecondStage) & (t.value <= s.interval.best.value) & !isEnough(t);
    auto modified = [&](const Trial &x) { return where(isModified, without(x, asked), x); };
    Interval next{modified(s.interval.best), modified(s.interval.other), s.interval.isBracket};
    Tensor step = nextStep(next, modified(t), s.limits.lowest, s.limits.highest);
    auto restored = [&](const Trial &x) { return where(isModified, without(x, -asked), x); };
    next.best = restored(next.best);
    next.other = restored(next.other);
    // A bracket that shrinks too slowly is halved.
    Tensor length = abs(next.other.step - next.best.step);
    Tensor isSlow = next.isBracket & (length >= 0.66 * s.widthBefore);
    step = where(isSlow, next.best.step + 0.5 * (next.other.step - next.best.step), step);
    s.widthBefore = where(next.isBracket, s.width, s.widthBefore);
    s.width = where(next.isBracket, length, s.width);
    Tensor low = where(next.isBracket, minimum(next.best.step, next.other.step), step + 1.1 * (step - next.best.step));
    Tensor high = where(next.isBracket, maximum(next.best.step, next.other.step), step + 4 * (step - next.best.step));
    // After a trial that is not finite, nothing but the step changes.
    s.limits.infinite = where(isFinite, s.limits.infinite, minimum(s.limits.infinite, t.step));
    step = where(isFinite, minimum(step, 0.5 * (next.best.step + s.limits.infinite)),
                 0.9 * s.interval.best.step + 0.1 * t.step);
    s.interval = {where(isFinite, next.best, s.interval.best), where(isFinite, next.other, s.interval.other),
                  where(isFinite, next.isBracket, s.interval.isBracket)};
    s.limits.lowest = where(isFinite, low, s.limits.lowest);
    s.limits.highest = where(isFinite, high, s.limits.highest);
    Tensor isRounding = s.interval.isBracket & ((step <= s.limits.lowest) | (step >= s.limits.highest) |
                                                (s.limits.highest - s.limits.lowest <= 4 * epsilon * s.limits.highest));
    step = where(isFinite & isRounding, s.interval.best.step, step);
    Point point;
    s.trial = tried(step, point);
    s.isEnded = isEnd(s);
    return Loop({s, counted.second + 1}, point);
  };

  Point point;
  const Trial start{zero, from.value, slope}, first = tried(firstStep, point);
  const double infinity = std::numeric_limits<double>::infinity();
  Search begin{.interval = {start, start, no},
               .trial = first,
               .limits = {zero, 5 * firstStep, full({}, infinity, dtype)},
               .width = full({}, infinity, dtype),
               .widthBefore = full({}, infinity, dtype),
               .isSecondStage = no,
               .isEnded = no};
  begin.isEnded = isEnd(begin);
  auto [counted, last] =
      while_loop([](const std::pair<Search, Tensor> &c, const Point &) { return !c.first.isEnded; }, iterate,
                 Loop({begin, scalar<std::int64_t>(1)}, point), {.maximum_iterations = kEvaluations});
  Tensor isFound = (last.value < from.value) | isGood(counted.first.trial);
  return {last, counted.second, isFound & isfinite(last.value) & all(isfinite(last.gradient))};
}

Searched searchProjected(const FlatObjective &f, const Bounds &bounds, const Point &from, const Tensor &direction,
                         const Tensor &firstStep) {
  auto at = [&](const Tensor &step) { return f.at(bounds.project(from.x + step * direction)); };
  const Tensor rounding = 10 * epsilonOf(f.dtype()) * abs(from.value);
  auto isEnough = [&](const Point &p) {
    Tensor moved = p.x - from.x, slope = dot(from.gradient, moved);
    // Where rounding hides the decrease, the slope shows it, as in searchWolfe.
    Tensor isApproximate = (p.value <= from.value + rounding) & (dot(p.gradient, moved) <= -0.8 * slope) & (slope < 0);
    return ((p.value <= from.value + kDecrease * slope) | isApproximate) & all(isfinite(p.gradient));
  };
  using Loop = std::tuple<Tensor, Tensor, Point>;
  auto [step, evaluations, last] =
      while_loop([&](const Tensor &, const Tensor &, const Point &p) { return !isEnough(p); },
                 [&](const Tensor &length, const Tensor &count, const Point &) {
                   return Loop(0.5 * length, count + 1, at(0.5 * length));
                 },
                 Loop(firstStep, scalar<std::int64_t>(1), at(firstStep)), {.maximum_iterations = kHalvings});
  return {last, evaluations, isEnough(last) & any(last.x != from.x)};
}

} // namespace calque::solvers::internal
