// What the parts of the solver of initial value problems share: the problem, norms, and the interface of its steps.
//
// A state is a list of tensors, the tensors of the user's structure in order.
#ifndef CALQUE_SOLVERS_ODE_ODE_H
#define CALQUE_SOLVERS_ODE_ODE_H

#include "Common.h"
#include "calque/control_flow.h"
#include "calque/solvers/ode.h"

#include <span>

namespace calque::solvers::detail {

using State = OdeState;

struct Problem {
  OdeFunction f; // checks what the user's function returns
  DType dtype;
  Tensor rtol, atol;
  std::size_t controlled; // the error norm sees the first tensors of the state
};

// y + h (c[0] k[0] + c[1] k[1] + ...). Coefficients that are 0 cost nothing.
State combine(const State &y, const Tensor &h, std::span<const double> coefficients, const std::vector<State> &k);
// c[0] k[0] + c[1] k[1] + ...; the coefficients are not all 0.
State weighted(std::span<const double> coefficients, const std::vector<State> &k);
// The elements of one state where the condition, a scalar, holds, else those of the other.
State choose(const Tensor &condition, const State &x, const State &y);
State stopped(State x);

// The mean of (error / (atol + rtol max(|y|, |next|)))^2 over all elements that are controlled.
Tensor squaredNorm(const Problem &problem, const State &error, const State &y, const State &next);

// What one attempt at a step has made.
struct Attempt {
  Tensor accepted;            // bool
  State y;                    // the end of the step
  Tensor factor;              // the next step's size, divided by that of this one
  Tensor evaluations;         // of f, int64
  std::vector<Tensor> memory; // what the method keeps for the next attempt
  // Makes what the interpolant of the step needs. `wanted` tells whether it will be asked, so that this may be work.
  std::function<std::vector<State>(const Tensor &wanted)> dense;
};

// A method with an error estimate. It computes nothing by itself: its functions are called where a trace is made.
class Method {
public:
  virtual ~Method() = default;
  // The order of the error estimate plus 1: a step h has an error of h to this power.
  virtual int order() const = 0;
  // What the method keeps before the first step, of the signed size h; `slope` is f(t, y).
  virtual std::vector<Tensor> begin(const Problem &problem, const State &y, const State &slope,
                                    const Tensor &h) const = 0;
  // Tries a step from t to `end`, of the signed size h.
  virtual Attempt attempt(const Problem &problem, const Tensor &t, const Tensor &h, const Tensor &end, const State &y,
                          const std::vector<Tensor> &memory) const = 0;
  // Evaluations of f for the interpolant of a step.
  virtual std::int64_t interpolantEvaluations() const { return 0; }
  // The number of states that the interpolant needs.
  virtual std::size_t denseStates() const = 0;
  // The state within a step of size h, where this fraction of it has passed.
  virtual State interpolate(const std::vector<State> &dense, const Tensor &h, const Tensor &fraction) const = 0;
};
// The method of the options; null for one that has no error estimate.
std::unique_ptr<Method> adaptiveMethod(OdeMethod method);

// PI control of step sizes: the next size is that of this step times safety / error^alpha previous^beta, within
// [0.2, 10]. After a rejection a step does not grow. Hairer, Norsett, Wanner, II.4 (4.13) and IV.2 (2.43c).
struct Controller {
  double alpha, beta;
  static Controller of(int order, double beta) { return {1.0 / order - 0.75 * beta, beta}; }
  // {the logarithm of the previous squared error, the limit of growth}.
  std::vector<Tensor> begin(DType dtype) const;
  struct Decision {
    Tensor accepted, factor;
    std::vector<Tensor> memory;
  };
  // `squared` is the squared norm of the error. NaN is rejected.
  Decision decide(const Tensor &squared, std::span<const Tensor> memory) const;
};

// The state as one vector, and back.
Tensor flatten(const State &y);
State unflatten(const Tensor &vector, const State &like);
// The number of elements. ShapeError if it is unknown, as implicit methods make matrices of this size.
std::int64_t elementsOf(const State &y);
// The Jacobian [n, n] of a function of a vector, by forward mode.
Tensor jacobianOf(const std::function<Tensor(const Tensor &y)> &f, const Tensor &y, std::int64_t n);

// The size of the first step. Hairer, Norsett, Wanner, II.4.
Tensor firstStep(const Problem &problem, const Tensor &t0, const State &y0, const State &slope, const Tensor &span,
                 int order);

struct Times {
  Tensor ts;          // [n]
  Tensor first, last; // scalars
  Tensor direction;   // 1 or -1
};

// Integrates by steps whose size follows from the tolerance, or by steps of a given size.
OdeResult integrateAdaptively(const Method &method, const Problem &problem, const State &y0, const Times &times,
                              const std::vector<OdeEvent> &events, const OdeOptions &options);
OdeResult integrateFixed(const Problem &problem, const State &y0, const Times &times, const OdeOptions &options);

// Integrates by the method of the options. A failure is an error that begins with `what`, or a status.
OdeResult solve(const char *what, const Problem &problem, const State &y0, const Times &times,
                const std::vector<OdeEvent> &events, const OdeOptions &options);

// Checks. They throw with the line of the call and the name of the public function.
void checkState(const char *function, const State &y0);
Times checkTimes(const char *function, const Operand &ts, DType dtype);
OdeFunction checkedFunction(const char *function, const OdeFunction &f, const State &y0);
Problem makeProblem(const OdeFunction &f, const State &y0, const OdeOptions &options);
void checkOptions(const OdeOptions &options);

// Puts y0 in front of the states at the other times.
State withFirst(const State &y0, const State &others);

} // namespace calque::solvers::detail
#endif
