// Initial value problems of ordinary differential equations, y' = f(t, y).
//
//   using namespace calque::solvers;
//   auto decay = [&](const Tensor &, const Tensor &y) { return -rate * y; };
//   Tensor times = tensor<double>({0, 0.5, 1});
//   Tensor y = odeint(decay, y0, times).y;                       // [3, ...]: the states at the times
//   y = odeint(decay, y0, times, {.method = OdeMethod::Rodas5P, .rtol = 1e-8}).y;
//   y = odeint(decay, y0, times, {.method = OdeMethod::RungeKutta4, .steps = 100}).y; // 100 steps between two times
//
//   // An event: where a ball meets the floor. The integration ends there.
//   auto floor = [](const Tensor &, const Tensor &state) { return state[0]; };
//   auto fall = odeint_events(ball, state, times, {{.g = floor}});
//   fall.times[0];                                               // [1]
//
// f takes the time, a scalar, and the state. It returns the derivative of the state, with its structure and types. The
// state is a tensor of float32 or float64, or a structure of tensors of one of these types. The time has the same type.
//
// All solvers are loops of the program inside of `function`, where a state of a few elements stays in registers
// (docs/solvers-ode.md). f may capture tensors and variables. Gradients pass to them, to y0 and to the times.
#ifndef CALQUE_SOLVERS_ODE_H
#define CALQUE_SOLVERS_ODE_H

#include "calque/call_site.h"
#include "calque/callable.h"
#include "calque/functions.h"
#include "calque/solvers/values.h"
#include "calque/structure.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace calque::solvers {

// The methods. A pair p(q) takes steps of order p, and estimates their errors by a method of order q. Its step sizes
// follow from the tolerances. The first three methods take steps of a given size.
enum class OdeMethod {
  Euler,            // order 1
  Midpoint,         // order 2
  RungeKutta4,      // order 4, the classical method
  BogackiShampine3, // 3(2). Bogacki, Shampine: A 3(2) pair of Runge-Kutta formulas, 1989
  DormandPrince5,   // 5(4). Dormand, Prince: A family of embedded Runge-Kutta formulae, 1980
  Tsitouras5,       // 5(4). Tsitouras: Runge-Kutta pairs of order 5(4) satisfying only the first column
                    // simplifying assumption, 2011
  DormandPrince8,   // 8(5,3), known as DOP853. Hairer, Norsett, Wanner: Solving ordinary differential equations I,
                    // 1993, II.5
  Rodas5P,          // 5(4), L-stable, for stiff equations: a Rosenbrock method with the Jacobian of f by forward mode.
                    // Steinebach: Construction of Rosenbrock-Wanner method Rodas5P, 2023
  Bdf,              // orders 1 to 5, chosen with the steps, for large stiff equations: backward differentiation in the
                    // form of Shampine, Reichelt: The MATLAB ODE suite, 1997 (NDF), as in SciPy
};

// How reverse mode differentiates a solution.
enum class Adjoint {
  Steps,        // through the steps. It keeps the state at each step
  Checkpointed, // through the steps, of which it keeps about 3 sqrt(n) of n and computes the others again
  Backsolve,    // solves the adjoint equation backward in time. Its memory does not depend on the number of steps. Chen
                // et al.: Neural ordinary differential equations, 2018. Gradients pass to y0, to the times and to the
                // parameters of odeint, but to no capture of f. ValueError without parameters
};

// What became of an integration.
enum class OdeStatus : std::int32_t {
  Success = 0,      // the last time was reached
  Event = 1,        // a terminal event ended it
  TooManySteps = 2, // max_steps attempts did not suffice
  StepTooSmall = 3, // a step below min_step was needed: f is not smooth, not finite, or the tolerance is too small
  NotFinite = 4,    // a time, y0 or f there is NaN or infinite: no step was taken
};
enum class OnFailure {
  Throw,  // AssertionError, at the call
  Report, // the status in the statistics. States at times that were not reached are NaN
};

struct OdeOptions {
  OdeMethod method = OdeMethod::DormandPrince5;
  // A step is accepted if the root mean square of error / (atol + rtol max(|y|, |y_next|)) is at most 1. A tolerance is
  // a number or a tensor that broadcasts to each tensor of the state. Left out, they are 1e-6 and 1e-9 in float64, and
  // 1e-4 and 1e-6 in float32.
  OptionalValue rtol = {}, atol = {};
  OptionalValue first_step = {};   // the first step's size. Left out, it is chosen by the rule of Hairer et al., II.4
  OptionalValue max_step = {};     // steps are not larger
  OptionalValue min_step = {};     // a smaller step is a failure. Left out, it is 10 times the spacing of numbers at t
  std::int64_t steps = 1;          // between two times, of methods without an error estimate
  std::int64_t max_steps = 100000; // accepted and rejected ones
  Adjoint adjoint = Adjoint::Steps;
  // Reverse mode multiplies the derivatives of f at the ends of rejected steps by 0, which is NaN where they are not
  // finite: where f has a root or a logarithm of what a too large step makes negative. With this option it never looks
  // at them. Products of matrices in f are then computed twice in a gradient.
  bool guard_rejected = false;
  OnFailure on_failure = OnFailure::Throw;
};

// Scalars: int64, and `status` an int32 that is the value of an OdeStatus.
struct OdeStatistics {
  Tensor accepted, rejected; // steps
  Tensor evaluations;        // of f, also as a part of a Jacobian
  Tensor status;
};

template <typename Y> struct OdeSolution {
  Y y; // the states at the times, along a new axis 0
  OdeStatistics statistics;
};

// An event is where g(t, y) changes its sign along the solution. g returns a scalar of the state's type. The place is
// found on the interpolant of the step, to the precision of its numbers. First and second derivatives of the place are
// those of the implicit function theorem; a third one is an AssertionError of the call. One sign change is found in
// each step. Where g is 0 at the first time, that is no event.
template <typename Y> struct Event {
  std::function<Tensor(const Tensor &t, const Y &y)> g;
  bool terminal = true;      // the integration ends here
  int direction = 0;         // 1: g must increase; -1: g must decrease; 0: either
  std::int64_t capacity = 1; // so many events are kept. All are counted
};

template <typename Y> struct EventSolution {
  Y y;                        // the states at the times, NaN at times after a terminal event
  Tensor t;                   // where the integration ended
  Y last;                     // the state there
  std::vector<Tensor> counts; // how often each event happened, int64 scalars
  std::vector<Tensor> times;  // for each event [capacity], NaN behind the last one
  std::vector<Y> states;      // the states at these times, along a new axis 0
  OdeStatistics statistics;
};

namespace detail {

using OdeState = std::vector<Tensor>;
using OdeFunction = std::function<OdeState(const Tensor &t, const OdeState &y)>;
using OdeFunctionOf = std::function<OdeState(const Tensor &t, const OdeState &y, const OdeState &parameters)>;
struct OdeEvent {
  std::function<Tensor(const Tensor &t, const OdeState &y)> g;
  bool terminal;
  int direction;
  std::int64_t capacity;
};
struct OdeResult {
  OdeState y;
  Tensor t;
  OdeState last;
  std::vector<Tensor> counts, times;
  std::vector<OdeState> states;
  OdeStatistics statistics;
};

CALQUE_API OdeResult integrate(const OdeFunction &f, const OdeState &y0, const Operand &ts,
                               const std::vector<OdeEvent> &events, const OdeOptions &options, SourceLocation where);
struct Parameters : calque::detail::TensorCollector {
  bool haveVariables = false;
  void variable(const Variable &) { haveVariables = true; }
};
CALQUE_API OdeResult integrateWith(const OdeFunctionOf &f, const OdeState &y0, const Operand &ts,
                                   const Parameters &parameters, const OdeOptions &options, SourceLocation where);

// The state that a number or variable is: its tensor.
template <typename Y>
using StateOf = std::conditional_t<std::is_arithmetic_v<Y> || std::is_same_v<Y, Variable>, Tensor, Y>;
template <typename Y> StateOf<Y> asState(const Y &y, const SourceLocation &where) {
  if constexpr (std::is_arithmetic_v<Y> || std::is_same_v<Y, Variable>)
    return Operand(y, where).toTensor();
  else
    return y;
}

// Refuses a right-hand side that does not return the type of the state.
template <typename State, typename Result> struct CheckedDerivativeOf {
  static constexpr bool isSame = std::is_same_v<State, Result>;
  static_assert(isSame, "the right-hand side of a differential equation returns the derivative of the state, of the "
                        "type of the state");
};

template <typename F, typename Y> OdeFunction odeFunction(F &f, const Y &y0, const SourceLocation &where) {
  return [&f, &y0, where](const Tensor &t, const OdeState &y) {
    auto derivative = calque::detail::callAt(where, f, t, calque::detail::withTensors(y0, y));
    if constexpr (CheckedDerivativeOf<Y, decltype(derivative)>::isSame)
      return calque::detail::tensorsIn(derivative);
    else
      return y;
  };
}
} // namespace detail

// Solves y' = f(t, y) with y = y0 at the first of the times, and returns the states at all of them. The times `ts` are
// [n] with n >= 2, and increase, or decrease to integrate backward. Steps do not end at them: states are read from the
// interpolant of the method, of order 3 for BogackiShampine3, 4 for the methods of order 5 and 7 for DormandPrince8.
// The last step ends at the last time.
//
// Gradients are those of the steps that were taken: step sizes are constants, except that the last step ends at the
// last time. Step sizes are chosen as by Hairer, Norsett, Wanner, II.4 and IV.2 (PI control).
//
// ShapeError for times of another rank, fewer than two times, and a derivative of other shapes than the state's;
// DTypeError for a state that is no float, whose tensors differ in type, or whose type is not that of the times;
// ValueError for options out of range. At the call AssertionError for times that are not in order, and for a failure.
template <typename F, typename Y> auto odeint(F &&f, const Y &y0, const Operand &ts, OdeOptions options = {}) {
  const SourceLocation where = CallSite::resolve(ts.where());
  calque::detail::requireCallable(f, "odeint", where);
  const auto initial = detail::asState(y0, where);
  auto result = detail::integrate(detail::odeFunction(f, initial, where), calque::detail::tensorsIn(initial), ts, {},
                                  options, where);
  return OdeSolution<detail::StateOf<Y>>{calque::detail::withTensors(initial, result.y), result.statistics};
}

// Solves as odeint does, and finds events. The errors are those of odeint, and ValueError for a method without an error
// estimate, for Adjoint::Backsolve, for a direction other than -1, 0 and 1 and for a capacity below 1.
template <typename F, typename Y>
auto odeint_events(F &&f, const Y &y0, const Operand &ts,
                   const std::type_identity_t<std::vector<Event<detail::StateOf<Y>>>> &events,
                   OdeOptions options = {}) {
  using State = detail::StateOf<Y>;
  const SourceLocation where = CallSite::resolve(ts.where());
  calque::detail::requireCallable(f, "odeint_events", where);
  const State initial = detail::asState(y0, where);
  std::vector<detail::OdeEvent> found;
  for (const Event<State> &event : events) {
    calque::detail::requireCallable(event.g, "odeint_events", where);
    auto g = [&event, &initial](const Tensor &t, const detail::OdeState &y) {
      return event.g(t, calque::detail::withTensors(initial, y));
    };
    found.push_back({g, event.terminal, event.direction, event.capacity});
  }
  auto result = detail::integrate(detail::odeFunction(f, initial, where), calque::detail::tensorsIn(initial), ts, found,
                                  options, where);
  std::vector<State> states;
  for (const detail::OdeState &state : result.states)
    states.push_back(calque::detail::withTensors(initial, state));
  return EventSolution<State>{calque::detail::withTensors(initial, result.y),
                              result.t,
                              calque::detail::withTensors(initial, result.last),
                              result.counts,
                              result.times,
                              states,
                              result.statistics};
}

// Solves y' = f(t, y, parameters). The parameters are a tensor or a structure of tensors. Adjoint::Backsolve gives
// their gradients, where captures of f would get none. ValueError for a variable in the structure with
// Adjoint::Backsolve, as it would be a capture: pass its value.
template <typename F, typename Y, typename P>
  requires(calque::detail::canCall<F, Tensor, detail::StateOf<Y>, detail::StateOf<P>>())
auto odeint(F &&f, const Y &y0, const Operand &ts, const P &parameters, OdeOptions options = {}) {
  using State = detail::StateOf<Y>;
  const SourceLocation where = CallSite::resolve(ts.where());
  calque::detail::requireCallable(f, "odeint", where);
  const State initial = detail::asState(y0, where);
  const auto given = detail::asState(parameters, where);
  auto derivative = [&](const Tensor &t, const detail::OdeState &y, const detail::OdeState &p) {
    auto made = calque::detail::callAt(where, f, t, calque::detail::withTensors(initial, y),
                                       calque::detail::withTensors(given, p));
    if constexpr (detail::CheckedDerivativeOf<State, decltype(made)>::isSame)
      return calque::detail::tensorsIn(made);
    else
      return y;
  };
  detail::Parameters leaves;
  visit_structure(given, leaves);
  auto result = detail::integrateWith(derivative, calque::detail::tensorsIn(initial), ts, leaves, options, where);
  return OdeSolution<State>{calque::detail::withTensors(initial, result.y), result.statistics};
}

struct VerletOptions {
  std::int64_t steps = 1;           // between two times
  Adjoint adjoint = Adjoint::Steps; // or Checkpointed
};
template <typename X> struct VerletSolution {
  X x, v; // positions and velocities at the times, along a new axis 0
};
namespace detail {
CALQUE_API std::pair<OdeState, OdeState> integrateVerlet(const OdeFunction &acceleration, const OdeState &x0,
                                                         const OdeState &v0, const Operand &ts,
                                                         const VerletOptions &options, SourceLocation where);
} // namespace detail

// Solves x'' = a(t, x) by the velocity Verlet method, which is symplectic and of order 2: the energy of a Hamiltonian
// system does not drift. It is the leapfrog method with positions and velocities at the same times. Hairer, Lubich,
// Wanner: Geometric numerical integration, 2006, I.1.4. x0 and v0 have one structure; the errors are those of odeint.
template <typename A, typename X>
auto verlet(A &&a, const X &x0, const X &v0, const Operand &ts, VerletOptions options = {}) {
  const SourceLocation where = CallSite::resolve(ts.where());
  calque::detail::requireCallable(a, "verlet", where);
  const auto position = detail::asState(x0, where), velocity = detail::asState(v0, where);
  auto [x, v] = detail::integrateVerlet(detail::odeFunction(a, position, where), calque::detail::tensorsIn(position),
                                        calque::detail::tensorsIn(velocity), ts, options, where);
  return VerletSolution<detail::StateOf<X>>{calque::detail::withTensors(position, x),
                                            calque::detail::withTensors(position, v)};
}

} // namespace calque::solvers
#endif
