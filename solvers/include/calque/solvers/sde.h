// Stochastic differential equations, dy = f(t, y) dt + g(t, y) dW, by steps of a given size.
//
//   using namespace calque::solvers;
//   auto drift = [&](const Tensor &, const Tensor &y) { return rate * y; };
//   auto diffusion = [&](const Tensor &, const Tensor &y) { return volatility * y; };
//   random::Generator noise(7);
//   Tensor paths = sdeint(drift, diffusion, full({1000}, 1), times, noise, {.steps = 50}).y; // [n, 1000]
//   Tensor same = sdeint(drift, diffusion, full({1000}, 1), times, random::state(7, 0), {.steps = 50}).y;
//
// A thousand paths are one state with a thousand elements: each element has a noise of its own. All increments of the
// noise are drawn before the loop, n - 1 times `steps` tensors like the state. So the loop of a small state stays one
// of registers, and reverse mode sees the noise as a constant. The same state of a generator gives the same paths,
// eagerly and compiled.
#ifndef CALQUE_SOLVERS_SDE_H
#define CALQUE_SOLVERS_SDE_H

#include "calque/random.h"
#include "calque/solvers/ode.h"

namespace calque::solvers {

// Kloeden, Platen: Numerical solution of stochastic differential equations, 1992.
enum class SdeMethod {
  EulerMaruyama, // Ito. Strong order 1/2, or 1 for noise that does not depend on the state
  Milstein,      // Ito, for diagonal noise: strong order 1. The derivative of the diffusion is taken by forward mode
  Heun,          // Stratonovich. Strong order 1 for diagonal noise, else 1/2. Deterministic order 2
};

struct SdeOptions {
  SdeMethod method = SdeMethod::EulerMaruyama;
  std::int64_t steps = 1; // between two times
  // 0: diagonal noise. g returns a state, whose element i is multiplied by a noise of its own. Milstein's method
  // further needs that element i of g depends on element i of the state alone.
  // m: general noise. g returns tensors with another axis of size m at the end, and all share m noises.
  std::int64_t noises = 0;
  bool checkpoint = false; // as that of for_range: saves memory in reverse mode
};

template <typename Y> struct SdeSolution {
  Y y; // the states at the times, along a new axis 0
};

namespace detail {
// The increments of the noise for n times: [n - 1, steps, ...] for each tensor of the state, or one [n - 1, steps, m].
CALQUE_API OdeState drawIncrements(const Operand &state, const OdeState &y0, const Operand &ts,
                                   const SdeOptions &options, SourceLocation where);
CALQUE_API OdeState drawIncrements(random::Generator &generator, const OdeState &y0, const Operand &ts,
                                   const SdeOptions &options, SourceLocation where);
CALQUE_API OdeState integrateSde(const OdeFunction &drift, const OdeFunction &diffusion, const OdeState &y0,
                                 const Operand &ts, const OdeState &increments, const SdeOptions &options,
                                 SourceLocation where);

template <typename F, typename G, typename Y, typename Increments>
auto sdeAlong(F &drift, G &diffusion, const Y &y0, const Operand &ts, const SdeOptions &options,
              const SourceLocation &where, Increments increments) {
  calque::detail::requireCallable(drift, "sdeint", where);
  calque::detail::requireCallable(diffusion, "sdeint", where);
  const auto initial = asState(y0, where);
  const OdeState tensors = calque::detail::tensorsIn(initial);
  const OdeState y = integrateSde(odeFunction(drift, initial, where), odeFunction(diffusion, initial, where), tensors,
                                  ts, increments(tensors), options, where);
  return SdeSolution<StateOf<Y>>{calque::detail::withTensors(initial, y)};
}
} // namespace detail

// Solves dy = f(t, y) dt + g(t, y) dW with y = y0 at the first of the times, which are as those of odeint and increase.
// f and g take the time and the state; f returns a state. Gradients pass to y0, to the times and to captures of f and
// g. The noise comes from a generator, whose counter moves on, or from a state of one, int64[2]. Under vmap the states
// of generators may be mapped; paths as elements of one state cost less.
//
// The errors are those of odeint. ShapeError for a diffusion of another shape than `noises` says, and for a number of
// times that is unknown while tracing; ValueError for steps below 1, negative noises, and Milstein's method with
// general noise. AssertionError at the call for times that do not increase.
template <typename F, typename G, typename Y>
auto sdeint(F &&f, G &&g, const Y &y0, const Operand &ts, const Operand &state, SdeOptions options = {}) {
  const SourceLocation where = CallSite::resolve(ts.where());
  return detail::sdeAlong(f, g, y0, ts, options, where, [&](const detail::OdeState &tensors) {
    return detail::drawIncrements(state, tensors, ts, options, where);
  });
}
template <typename F, typename G, typename Y, typename Noise>
  requires std::is_same_v<std::remove_const_t<Noise>, random::Generator>
auto sdeint(F &&f, G &&g, const Y &y0, const Operand &ts, Noise &generator, SdeOptions options = {}) {
  const SourceLocation where = CallSite::resolve(ts.where());
  random::Generator stream = generator; // a copy is the same stream
  return detail::sdeAlong(f, g, y0, ts, options, where, [&](const detail::OdeState &tensors) {
    return detail::drawIncrements(stream, tensors, ts, options, where);
  });
}

// Solves along given increments of the noise, [n - 1, steps] and then the shape of the state, or [n - 1, steps, m] for
// general noise. An increment over a time h has the variance h. The increments of a structure of tensors are such a
// structure; those of general noise are one tensor. ShapeError and DTypeError for increments that do not fit.
template <typename F, typename G, typename Y, typename W>
auto sdeint_along(F &&f, G &&g, const Y &y0, const Operand &ts, const W &increments, SdeOptions options = {}) {
  const SourceLocation where = CallSite::resolve(ts.where());
  return detail::sdeAlong(f, g, y0, ts, options, where,
                          [&](const detail::OdeState &) { return calque::detail::tensorsIn(increments); });
}

} // namespace calque::solvers
#endif
