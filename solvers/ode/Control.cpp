// The control of step sizes.
#include "Ode.h"

#include <cmath>

namespace calque::solvers::detail {

namespace {
constexpr double kSafety = 0.9, kLeast = 0.2, kMost = 10;
// Errors below this count as if they were this large, so that logarithms are finite.
constexpr double kLeastSquaredError = 1e-20;
// The previous error counts as at least 1e-4, as in the program of Hairer et al.
constexpr double kLeastSquaredPrevious = 1e-8;
} // namespace

std::vector<Tensor> Controller::begin(DType dtype) const {
  return {number(std::log(kLeastSquaredPrevious), dtype), number(kMost, dtype)};
}

Controller::Decision Controller::decide(const Tensor &squared, std::span<const Tensor> memory) const {
  const Tensor &previous = memory[0], &growth = memory[1];
  const Tensor error = stop_gradient(squared);
  const Tensor accepted = error <= 1;
  const Tensor isFinite = isfinite(error);
  // The logarithm of the squared norm saves the square root, and makes one exponential of two powers.
  const Tensor logarithm = log(maximum(where(isFinite, error, 1), kLeastSquaredError));
  const Tensor bySize = -0.5 * alpha * logarithm + std::log(kSafety);
  Tensor factor = beta == 0 ? exp(bySize) : exp(bySize + where(accepted, 0.5 * beta * previous, 0));
  factor = maximum(minimum(factor, where(accepted, growth, 1)), kLeast);
  factor = where(isFinite, factor, kLeast);
  const Tensor kept = maximum(logarithm, std::log(kLeastSquaredPrevious));
  return {accepted, factor, {where(accepted, kept, previous), where(accepted, kMost, number(1, error.dtype()))}};
}

Tensor firstStep(const Problem &problem, const Tensor &t0, const State &y0, const State &slope, const Tensor &span,
                 int order) {
  const State y = stopped(y0), f0 = stopped(slope);
  const Tensor length = abs(stop_gradient(span)), direction = sign(stop_gradient(span));
  const Tensor d0 = sqrt(squaredNorm(problem, y, y, y)), d1 = sqrt(squaredNorm(problem, f0, y, y));
  Tensor h0 = where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1);
  h0 = minimum(h0, length);
  const Tensor signedStep = h0 * direction;
  State probe, change;
  for (std::size_t i = 0; i < y.size(); ++i)
    probe.push_back(y[i] + signedStep * f0[i]);
  const State f1 = problem.f(stop_gradient(t0) + signedStep, probe);
  for (std::size_t i = 0; i < y.size(); ++i)
    change.push_back(f1[i] - f0[i]);
  const Tensor d2 = sqrt(squaredNorm(problem, change, y, y)) / h0;
  const Tensor largest = maximum(d1, d2);
  Tensor h1 = where(largest <= 1e-15, maximum(1e-6, h0 * 1e-3),
                    exp(log(0.01 / maximum(largest, tiny(problem.dtype))) * (1.0 / order)));
  Tensor h = minimum(minimum(100 * h0, h1), length);
  // f may not be finite at the probe: then the first step is a careful one.
  h = where(isfinite(h), h, minimum(h0, length));
  return stop_gradient(h * direction);
}

} // namespace calque::solvers::detail
