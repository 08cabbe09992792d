#include "linear/Krylov.h"

#include "calque/control_flow.h"
#include "implicit/Function.h"

namespace calque::solvers::internal {

Tensor conjugateGradients(const std::function<Tensor(const Tensor &)> &product, const Tensor &b) {
  const double tolerance = 10 * epsilonOf(b.dtype());
  const Tensor goal = dot(b, b) * (tolerance * tolerance);
  auto goesOn = [&](const Tensor &, const Tensor &, const Tensor &, const Tensor &squares) { return squares > goal; };
  auto iterate = [&](const Tensor &x, const Tensor &r, const Tensor &p, const Tensor &squares) {
    Tensor ap = product(p);
    Tensor alpha = squares / dot(p, ap);
    Tensor residual = r - alpha * ap;
    Tensor next = dot(residual, residual);
    return std::tuple(x + alpha * p, residual, residual + (next / squares) * p, next);
  };
  auto [x, r, p, squares] = while_loop(goesOn, iterate, std::tuple(zeros(b.shape(), b.dtype()), b, b, dot(b, b)),
                                       {.maximum_iterations = 10 * std::int64_t(b.size())});
  return x;
}

} // namespace calque::solvers::internal
