// Steps of a given size: explicit Runge-Kutta methods without an error estimate, and the velocity Verlet method.
#include "Ode.h"
#include "Tableaus.h"

namespace calque::solvers::detail {

namespace {

const Tableau &tableauOf(OdeMethod method) {
  return method == OdeMethod::Euler ? kEuler : method == OdeMethod::Midpoint ? kMidpoint : kRungeKutta4;
}

// A step of size h from t.
using Step = std::function<State(const Tensor &t, const Tensor &h, const State &y)>;

// Takes `steps` equal steps between each two of the times. Returns the states at all times.
State march(const Step &step, const State &y0, const Times &times, std::int64_t steps, bool checkpoint) {
  auto between = [&](const State &y, const Tensor &begin, const Tensor &end) {
    if (steps == 1)
      return step(begin, end - begin, y);
    const Tensor h = (end - begin) * (1.0 / static_cast<double>(steps));
    auto body = [&](const Tensor &i, const State &state) { return step(begin + cast(i, h.dtype()) * h, h, state); };
    return for_range(std::int64_t(0), steps, y, body, {.checkpoint = checkpoint});
  };
  const Size size = times.ts.shape()[0];
  if (size.is_known() && size == 2) {
    State others = between(y0, times.first, times.last);
    for (Tensor &x : others)
      x = expand_dims(x, 0);
    return withFirst(y0, others);
  }
  const std::pair intervals(split(times.ts, {-1, 1})[0], split(times.ts, {1, -1})[1]);
  auto [last, states] = scan(
      [&](const State &y, const std::pair<Tensor, Tensor> &interval) {
        State next = between(y, interval.first, interval.second);
        return std::pair(next, next);
      },
      y0, intervals, {.checkpoint = checkpoint});
  return withFirst(y0, states);
}

} // namespace

OdeResult integrateFixed(const Problem &problem, const State &y0, const Times &times, const OdeOptions &options) {
  const Tableau &tableau = tableauOf(options.method);
  const std::size_t stages = tableau.c.size();
  auto step = [&](const Tensor &t, const Tensor &h, const State &y) {
    std::vector<State> k;
    for (std::size_t i = 0; i < stages; ++i)
      k.push_back(i == 0 ? problem.f(t, y) : problem.f(t + tableau.c[i] * h, combine(y, h, tableau.a[i], k)));
    return combine(y, h, tableau.a[stages], k);
  };
  OdeResult result;
  result.y = march(step, y0, times, options.steps, options.adjoint == Adjoint::Checkpointed);
  const Tensor taken = (size(times.ts, 0) - 1) * options.steps;
  result.statistics = {taken, scalar<std::int64_t>(0), taken * static_cast<std::int64_t>(stages),
                       scalar(static_cast<std::int32_t>(OdeStatus::Success))};
  return result;
}

std::pair<OdeState, OdeState> integrateVerlet(const OdeFunction &acceleration, const OdeState &x0, const OdeState &v0,
                                              const Operand &ts, const VerletOptions &options, SourceLocation where) {
  CallSite site(where, "verlet");
  checkState("verlet", x0);
  checkState("verlet", v0);
  for (std::size_t i = 0; i < x0.size(); ++i)
    if (x0[i].dtype() != v0[i].dtype() || !x0[i].shape().is_compatible_with(v0[i].shape()))
      fail<ShapeError>("verlet: tensor " + std::to_string(i) + " of the positions is " + describe(x0[i]) +
                       ", and that of the velocities is " + describe(v0[i]));
  if (options.steps < 1)
    fail<ValueError>("verlet: .steps = " + std::to_string(options.steps) + "; at least one step is needed");
  if (options.adjoint == Adjoint::Backsolve)
    fail<ValueError>("verlet: .adjoint is Steps or Checkpointed");
  const Times times = checkTimes("verlet", ts, x0[0].dtype());
  const OdeFunction a = checkedFunction("verlet", acceleration, x0);

  // The state is {x..., v..., a(t, x)...}: the acceleration at the end of a step is that at the beginning of the next.
  const std::size_t leaves = x0.size();
  auto part = [leaves](const State &state, std::size_t i) {
    const auto begin = state.begin() + static_cast<std::ptrdiff_t>(i * leaves);
    return State(begin, begin + static_cast<std::ptrdiff_t>(leaves));
  };
  auto step = [&](const Tensor &t, const Tensor &h, const State &state) {
    State x = part(state, 0), v = part(state, 1);
    const State before = part(state, 2);
    const Tensor half = 0.5 * h;
    for (std::size_t i = 0; i < leaves; ++i) {
      v[i] = v[i] + half * before[i];
      x[i] = x[i] + h * v[i];
    }
    const State after = a(t + h, x);
    for (std::size_t i = 0; i < leaves; ++i)
      v[i] = v[i] + half * after[i];
    State next = x;
    next.insert(next.end(), v.begin(), v.end());
    next.insert(next.end(), after.begin(), after.end());
    return next;
  };
  State initial = x0;
  initial.insert(initial.end(), v0.begin(), v0.end());
  for (const Tensor &x : a(times.first, x0))
    initial.push_back(x);
  const State states = march(step, initial, times, options.steps, options.adjoint == Adjoint::Checkpointed);
  return {part(states, 0), part(states, 1)};
}

} // namespace calque::solvers::detail
