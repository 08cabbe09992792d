// Gradients by the adjoint equation, solved backward in time.
//
// With the adjoint a(t) = dL/dy(t), a' = -a^T df/dy, and the gradient by the parameters is the integral of a^T df/dp.
// Chen et al.: Neural ordinary differential equations, 2018, appendix B. Where a state was returned, the solution is
// that state again and its cotangent is added to the adjoint. The error norm sees the solution and the adjoint, and not
// the integral: Kidger et al.: "Hey, that's not an ODE", 2021.
#include "Ode.h"
#include "calque/custom_gradient.h"
#include "calque/transforms.h"

namespace calque::solvers::detail {

namespace {

State append(State x, const State &y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}
State between(const State &x, std::size_t begin, std::size_t end) {
  return State(x.begin() + static_cast<std::ptrdiff_t>(begin), x.begin() + static_cast<std::ptrdiff_t>(end));
}
State zerosLike(const State &x) {
  State result;
  for (const Tensor &each : x)
    result.push_back(zeros(each.shape(), each.dtype()));
  return result;
}
State rowsAt(const State &x, const Tensor &index) {
  State result;
  for (const Tensor &each : x)
    result.push_back(gather(each, index));
  return result;
}
Tensor inner(const State &x, const State &y) {
  Tensor total = sum(x[0] * y[0]);
  for (std::size_t i = 1; i < x.size(); ++i)
    total = total + sum(x[i] * y[i]);
  return total;
}

// What the pullback needs.
struct Adjoined {
  OdeFunctionOf f;
  OdeOptions options;
  State states; // at the times
  Tensor ts;
  State parameters; // of which gradients are asked: those that are floats, in the problem's type or another
  std::vector<std::size_t> places;
  State allParameters;
};

State pullBack(const Adjoined &forward, const State &cotangents) {
  const std::size_t leaves = cotangents.size();
  const DType dtype = forward.ts.dtype();
  auto withParameters = [&](const State &parameters) {
    State all = forward.allParameters;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      all[forward.places[i]] = parameters[i];
    return all;
  };
  // The state is {y..., adjoint..., the integral of the parameters' gradients...}.
  auto derivative = [&](const Tensor &t, const State &state) {
    auto call = [&](const State &given) {
      return forward.f(t, between(given, 0, leaves), withParameters(between(given, leaves, given.size())));
    };
    const auto [slope, pullback] = vjp(call, append(between(state, 0, leaves), forward.parameters));
    State changes = pullback(between(state, leaves, 2 * leaves));
    for (Tensor &x : changes)
      x = -x;
    return append(slope, changes);
  };
  const State firstStates = rowsAt(forward.states, scalar<std::int64_t>(0));
  Problem problem = makeProblem(derivative, firstStates, forward.options);
  problem.controlled = 2 * leaves;

  const Tensor n = size(forward.ts, 0);
  struct Backward {
    State adjoint, gradients;
    Tensor byTimes;
  };
  auto body = [&](const Tensor &j, const Backward &at) {
    const Tensor i = n - 1 - j;
    const State states = rowsAt(forward.states, i), cotangent = rowsAt(cotangents, i);
    State adjoint = at.adjoint;
    for (std::size_t leaf = 0; leaf < leaves; ++leaf)
      adjoint[leaf] = adjoint[leaf] + cotangent[leaf];
    const Tensor begin = gather(forward.ts, i), end = gather(forward.ts, i - 1);
    const State slope = forward.f(begin, states, forward.allParameters);
    const Tensor byTimes = scatter_set(at.byTimes, i, inner(cotangent, slope));
    const Times times{stack({begin, end}), begin, end, stop_gradient(where(end >= begin, 1, number(-1, dtype)))};
    const OdeResult result = solve("the adjoint of odeint", problem, append(append(states, adjoint), at.gradients),
                                   times, {}, forward.options);
    State last;
    for (const Tensor &x : result.y)
      last.push_back(x[1]);
    return Backward{between(last, leaves, 2 * leaves), between(last, 2 * leaves, last.size()), byTimes};
  };
  const Backward initial{zerosLike(firstStates), zerosLike(forward.parameters), zeros(forward.ts.shape(), dtype)};
  const Backward last = for_range(std::int64_t(0), n - 1, initial, body);

  const State slope = forward.f(gather(forward.ts, scalar<std::int64_t>(0)), firstStates, forward.allParameters);
  Tensor byTimes = scatter_add(last.byTimes, scalar<std::int64_t>(0), -inner(last.adjoint, slope));
  State adjoint = last.adjoint;
  const State cotangent = rowsAt(cotangents, scalar<std::int64_t>(0));
  for (std::size_t leaf = 0; leaf < leaves; ++leaf)
    adjoint[leaf] = adjoint[leaf] + cotangent[leaf];
  adjoint.push_back(byTimes);
  return append(adjoint, last.gradients);
}

} // namespace

OdeResult integrateWith(const OdeFunctionOf &f, const OdeState &y0, const Operand &ts, const Parameters &given,
                        const OdeOptions &options, SourceLocation where) {
  const State &parameters = given.tensors;
  if (options.adjoint != Adjoint::Backsolve) {
    auto bound = [&](const Tensor &t, const State &y) { return f(t, y, parameters); };
    return integrate(bound, y0, ts, {}, options, where);
  }
  CallSite site(where, "odeint");
  if (given.haveVariables)
    fail<ValueError>("odeint: with Adjoint::Backsolve a variable among the parameters would get no gradient: pass its "
                     "value, v.value()");
  checkState("odeint", y0);
  checkOptions(options);
  const Times times = checkTimes("odeint", ts, y0[0].dtype());
  auto checked = [f, y0](const Tensor &t, const State &y, const State &p) {
    return checkedFunction(
        "odeint", [&](const Tensor &time, const State &state) { return f(time, state, p); }, y0)(t, y);
  };
  const Problem problem =
      makeProblem([&](const Tensor &t, const State &y) { return checked(t, y, parameters); }, y0, options);
  OdeResult result = solve("odeint", problem, y0, times, {}, options);

  Adjoined forward{checked, options, result.y, times.ts, {}, {}, parameters};
  forward.options.first_step = {};
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (is_floating(parameters[i].dtype())) {
      forward.parameters.push_back(parameters[i]);
      forward.places.push_back(i);
    }
  State inputs = y0;
  inputs.push_back(times.ts);
  result.y = calque::detail::withGradient(
      "odeint", append(inputs, forward.parameters), result.y,
      [&](const State &cotangents) { return pullBack(forward, cotangents); }, where);
  result.last.clear();
  for (const Tensor &x : result.y)
    result.last.push_back(x[-1]);
  return result;
}

} // namespace calque::solvers::detail
