#include "linear/Krylov.h"

#include "calque/control_flow.h"
#include "linear/Scale.h"
#include "linear/Vectors.h"

#include <limits>

namespace calque::solvers::internal {

namespace {
// The squares of the residuals that end the iteration, and that its result may have.
struct Goals {
  Tensor exact, sufficient;
};
Goals goalsOf(const Tensor &b) {
  const double epsilon = epsilonOf(b.dtype());
  Tensor squares = dot(b, b);
  return {squares * (100 * epsilon * epsilon), squares * epsilon};
}
std::int64_t limitOf(const Tensor &b) { return 10 * std::int64_t(b.size()) + 100; }
Tensor checked(const Tensor &x, const Tensor &squares, const Goals &goals) {
  return where(squares <= goals.sufficient, x, std::numeric_limits<double>::quiet_NaN());
}
// The solution by an iteration that takes a b of elements near to 1, whose squares neither overflow nor vanish.
template <typename Iteration> Tensor scaled(const Tensor &b, Iteration &&iteration) {
  const Tensor exponent = exponentOf(largestOrZero(b));
  return ldexp(iteration(b * power(-exponent, b.dtype())), exponent);
}

Tensor conjugateGradientsOf(const Product &product, const Tensor &b) {
  const Goals goals = goalsOf(b);
  auto goesOn = [&](const Tensor &, const Tensor &, const Tensor &, const Tensor &squares) {
    return squares > goals.exact;
  };
  auto iterate = [&](const Tensor &x, const Tensor &r, const Tensor &p, const Tensor &squares) {
    Tensor ap = product(p);
    Tensor alpha = squares / dot(p, ap);
    Tensor residual = r - alpha * ap;
    Tensor next = dot(residual, residual);
    return std::tuple(x + alpha * p, residual, residual + (next / squares) * p, next);
  };
  auto [x, r, p, squares] = while_loop(goesOn, iterate, std::tuple(zeros(b.shape(), b.dtype()), b, b, dot(b, b)),
                                       {.maximum_iterations = limitOf(b)});
  return checked(x, squares, goals);
}

Tensor biconjugateGradientsOf(const Product &product, const Tensor &b) {
  struct State {
    Tensor x, residual, direction, image; // image is A times the direction
    Tensor rho, alpha, omega;
  };
  const Goals goals = goalsOf(b);
  auto goesOn = [&](const State &s) { return dot(s.residual, s.residual) > goals.exact; };
  auto iterate = [&](const State &s) { // b is the shadow residual
    Tensor rho = dot(b, s.residual), beta = rho / s.rho * (s.alpha / s.omega);
    Tensor direction = s.residual + beta * (s.direction - s.omega * s.image);
    Tensor image = product(direction), alpha = rho / dot(b, image);
    Tensor half = s.residual - alpha * image, halfImage = product(half), squares = dot(halfImage, halfImage);
    Tensor omega = where(squares > 0, dot(halfImage, half) / where(squares > 0, squares, 1), 0);
    return State{s.x + alpha * direction + omega * half, half - omega * halfImage, direction, image, rho, alpha, omega};
  };
  const Tensor nothing = zeros(b.shape(), b.dtype()), one = ones({}, b.dtype());
  State last = while_loop(goesOn, iterate, State{nothing, b, nothing, nothing, one, one, one},
                          {.maximum_iterations = limitOf(b)});
  return checked(last.x, dot(last.residual, last.residual), goals);
}

} // namespace

Tensor conjugateGradients(const Product &product, const Tensor &b) {
  return scaled(b, [&](const Tensor &right) { return conjugateGradientsOf(product, right); });
}

Tensor stabilisedBiconjugateGradients(const Product &product, const Tensor &b) {
  return scaled(b, [&](const Tensor &right) { return biconjugateGradientsOf(product, right); });
}

} // namespace calque::solvers::internal
