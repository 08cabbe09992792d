// The entry of the solver of initial value problems: checks, and the choice of the loop.
#include "Ode.h"
#include "calque/user_calls.h"

#include <cmath>

namespace calque::solvers::detail {

namespace {

bool hasErrorEstimate(OdeMethod method) {
  return method != OdeMethod::Euler && method != OdeMethod::Midpoint && method != OdeMethod::RungeKutta4;
}

// Whether a tensor of shape `from` broadcasts to shape `to`.
bool broadcastsTo(const Shape &from, const Shape &to) {
  if (from.size() > to.size())
    return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Size &size = from[from.size() - 1 - i], &target = to[to.size() - 1 - i];
    if (size != 1 && size != target)
      return false;
  }
  return true;
}

// ValueError for a number, and AssertionError at the call for a tensor.
void checkPositive(const char *name, const OptionalValue &value, bool mayBeZero = false) {
  if (!value)
    return;
  if (!value.number()) {
    const Tensor given = stop_gradient((*value).toTensor());
    const Tensor x = is_floating(given.dtype()) ? given : cast(given, DType::Float64);
    assert_true(all(isfinite(x) & (mayBeZero ? x >= 0 : x > 0)), std::string("odeint: .") + name + " is finite and " +
                                                                     (mayBeZero ? "not negative" : "above 0") +
                                                                     ", and the tensor given has another element");
    return;
  }
  const double x = *value.number();
  if (!std::isfinite(x) || x < 0 || (x == 0 && !mayBeZero))
    fail<ValueError>(std::string("odeint: .") + name + " = " + Number(x).str() + "; it is finite and " +
                     (mayBeZero ? "not negative" : "above 0"));
}

} // namespace

void checkState(const char *function, const State &y0) {
  if (y0.empty())
    fail<ValueError>(std::string(function) + ": the state has no tensors");
  for (const Tensor &x : y0) {
    if (!is_floating(x.dtype()))
      fail<DTypeError>(std::string(function) + ": the state is float32 or float64, and this one has a tensor of " +
                       describe(x));
    if (x.dtype() != y0[0].dtype())
      fail<DTypeError>(std::string(function) + ": the tensors of a state have one element type, and these are " +
                       describe(y0[0]) + " and " + describe(x));
  }
}

Times checkTimes(const char *function, const Operand &given, DType dtype) {
  const Tensor ts = given.toTensor(dtype);
  if (ts.dtype() != dtype)
    fail<DTypeError>(std::string(function) + ": the times are " + describe(ts) + ", and the state is " +
                     name_of(dtype) + ": both have one element type");
  if (ts.rank() != 1)
    fail<ShapeError>(std::string(function) + ": the times are " + describe(ts) +
                     "; they are a vector that begins with the initial time");
  const Size size = ts.shape()[0];
  if (size.is_known() && size < 2)
    fail<ShapeError>(std::string(function) + ": the times are " + describe(ts) +
                     "; there are at least two, the initial time and another one");
  const Tensor first = reshape(slice(ts, {0}, {1}), {}), last = reshape(split(ts, {-1, 1})[1], {});
  const Tensor direction = stop_gradient(where(last >= first, 1, number(-1, dtype)));
  const Tensor changes = (split(ts, {1, -1})[1] - split(ts, {-1, 1})[0]) * direction;
  assert_true(all(changes > 0), std::string(function) + ": the times neither increase nor decrease throughout");
  return {ts, first, last, direction};
}

OdeFunction checkedFunction(const char *function, const OdeFunction &f, const State &y0) {
  return [function, f, y0](const Tensor &t, const State &y) {
    State made = call_user([&] { return f(t, y); });
    if (made.size() != y0.size())
      fail<ShapeError>(std::string(function) + ": the right-hand side returned " + std::to_string(made.size()) +
                       " tensors for a state of " + std::to_string(y0.size()));
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (made[i].dtype() != y0[i].dtype())
        fail<DTypeError>(std::string(function) + ": the right-hand side returned " + describe(made[i]) +
                         " for a state that is " + describe(y0[i]));
      if (!made[i].shape().is_compatible_with(y0[i].shape()))
        fail<ShapeError>(std::string(function) + ": the right-hand side returned " + describe(made[i]) +
                         " for a state that is " + describe(y0[i]) + ": the derivative has the state's shape");
    }
    return made;
  };
}

Problem makeProblem(const OdeFunction &f, const State &y0, const OdeOptions &options) {
  const DType dtype = y0[0].dtype();
  const bool isWide = dtype == DType::Float64;
  auto tolerance = [&](const char *name, const OptionalValue &value, double byDefault) {
    const Tensor x = value ? (*value).toTensor(dtype) : number(byDefault, dtype);
    if (x.dtype() != dtype)
      fail<DTypeError>(std::string("odeint: .") + name + " is " + describe(x) + ", and the state is " + name_of(dtype));
    if (x.rank() > 0)
      for (const Tensor &y : y0)
        if (x.shape().is_known() && y.shape().is_known() && !broadcastsTo(x.shape(), y.shape()))
          fail<ShapeError>(std::string("odeint: .") + name + " is " + describe(x) +
                           ", which does not broadcast to the state's tensor of " + describe(y));
    return stop_gradient(x);
  };
  return {f, dtype, tolerance("rtol", options.rtol, isWide ? 1e-6 : 1e-4),
          tolerance("atol", options.atol, isWide ? 1e-9 : 1e-6), y0.size()};
}

void checkOptions(const OdeOptions &options) {
  checkPositive("rtol", options.rtol, true);
  checkPositive("atol", options.atol, true);
  if (options.rtol && options.atol && options.rtol.number() == 0.0 && options.atol.number() == 0.0)
    fail<ValueError>("odeint: .rtol and .atol are both 0: no error would be small enough");
  if (options.rtol && options.atol && !(options.rtol.number() && options.atol.number())) {
    auto isZero = [](const OptionalValue &value) { return all((*value).toTensor() == 0); };
    assert_true(!(isZero(options.rtol) & isZero(options.atol)),
                "odeint: .rtol and .atol are both 0: no error would be small enough");
  }
  checkPositive("first_step", options.first_step);
  checkPositive("max_step", options.max_step);
  checkPositive("min_step", options.min_step);
  if (options.steps < 1)
    fail<ValueError>("odeint: .steps = " + std::to_string(options.steps) + "; at least one step is needed");
  if (options.max_steps < 1)
    fail<ValueError>("odeint: .max_steps = " + std::to_string(options.max_steps) + "; at least one step is needed");
  if (hasErrorEstimate(options.method)) {
    if (options.steps != 1)
      fail<ValueError>("odeint: .steps = " + std::to_string(options.steps) +
                       " is for methods of a given step size: Euler, Midpoint and RungeKutta4");
    return;
  }
  auto refuse = [](const char *name, const OptionalValue &value) {
    if (value)
      fail<ValueError>(std::string("odeint: .") + name +
                       " is for methods that choose their steps, and this one takes .steps between two times");
  };
  refuse("rtol", options.rtol);
  refuse("atol", options.atol);
  refuse("first_step", options.first_step);
  refuse("max_step", options.max_step);
  refuse("min_step", options.min_step);
}

OdeResult solve(const char *what, const Problem &problem, const State &y0, const Times &times,
                const std::vector<OdeEvent> &events, const OdeOptions &options) {
  const std::unique_ptr<Method> method = adaptiveMethod(options.method);
  if (!method)
    return integrateFixed(problem, y0, times, options);
  OdeResult result = integrateAdaptively(*method, problem, y0, times, events, options);
  if (options.on_failure == OnFailure::Throw) {
    const Tensor &status = result.statistics.status;
    assert_true(status != static_cast<std::int32_t>(OdeStatus::NotFinite),
                std::string(what) + ": the times, the initial state or its derivative there are not finite");
    assert_true(status != static_cast<std::int32_t>(OdeStatus::TooManySteps),
                std::string(what) +
                    ": the last time was not reached within .max_steps = " + std::to_string(options.max_steps) +
                    " steps. A stiff equation needs OdeMethod::Rodas5P, other ones a larger tolerance or more steps");
    assert_true(status != static_cast<std::int32_t>(OdeStatus::StepTooSmall),
                std::string(what) +
                    ": the step size fell below .min_step, or below what the times resolve. The right-hand side is not "
                    "smooth or not finite there, or the tolerances are too small for " +
                    name_of(problem.dtype));
  }
  return result;
}

OdeResult integrate(const OdeFunction &f, const OdeState &y0, const Operand &ts, const std::vector<OdeEvent> &events,
                    const OdeOptions &options, SourceLocation where) {
  if (options.adjoint == Adjoint::Backsolve) {
    CallSite site(where, "odeint");
    fail<ValueError>("odeint: Adjoint::Backsolve gives gradients to parameters and not to captures: f takes the "
                     "parameters as its third argument, and odeint after the times. Events need Steps or Checkpointed");
  }
  CallSite site(where, "odeint");
  checkState("odeint", y0);
  checkOptions(options);
  const Times times = checkTimes("odeint", ts, y0[0].dtype());
  const Problem problem = makeProblem(checkedFunction("odeint", f, y0), y0, options);
  if (!events.empty() && !hasErrorEstimate(options.method))
    fail<ValueError>("odeint_events: events need a method with an error estimate, such as DormandPrince5");
  std::vector<OdeEvent> checked;
  for (const OdeEvent &event : events) {
    if (event.direction < -1 || event.direction > 1)
      fail<ValueError>("odeint_events: the direction of an event is -1, 0 or 1, unlike " +
                       std::to_string(event.direction));
    if (event.capacity < 1)
      fail<ValueError>("odeint_events: the capacity of an event is at least 1, unlike " +
                       std::to_string(event.capacity));
    auto g = [&event, dtype = problem.dtype](const Tensor &t, const State &y) {
      Tensor value = call_user([&] { return event.g(t, y); });
      if (value.dtype() != dtype || value.rank() != 0)
        fail<ShapeError>("odeint_events: the function of an event returned " + describe(value) +
                         "; it returns a scalar of " + name_of(dtype));
      return value;
    };
    checked.push_back({g, event.terminal, event.direction, event.capacity});
  }
  return solve("odeint", problem, y0, times, checked, options);
}

} // namespace calque::solvers::detail
