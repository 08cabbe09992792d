// The methods of Levenberg and Marquardt, and of Gauss and Newton.
#include "absl/strings/str_cat.h"
#include "calque/control_flow.h"
#include "calque/transforms.h"
#include "implicit/Bounds.h"
#include "implicit/Implicit.h"
#include "least_squares/Losses.h"
#include "linear/Dense.h"

#include <cmath>

namespace calque::solvers {

using internal::Bounds;
using internal::costOf;
using internal::dot;
using internal::fail;
using internal::FlatFunction;
using internal::largest;
using internal::Map;

namespace {

// A step is accepted when it decreases the cost by this part of what the linear model promises.
constexpr double kDecrease = 1e-4;
constexpr double kFirstRadius = 1e4, kLargestRadius = 1e32, kSmallestRadius = 1e-32;

// The cost near a point x, in the form that steps are computed from.
struct Model {
  Tensor x, residual, cost;
  Tensor r, qtb;   // R and Q^T b of the Jacobian of the free parameters and the residuals, both scaled by the loss
  Tensor gradient; // of the cost
  Tensor scale;    // of each parameter: the largest norm that its column has had
};

struct Progress {
  Tensor radius, divisor; // of the trust region, and by what the next rejected step divides it
  Tensor iterations, evaluations;
  Tensor isDone, hasFailed;
};

enum class Damping { Marquardt, None };

class Problem {
public:
  Problem(const char *what, const Map &residuals, const Tensor &x0, const LeastSquaresOptions &options)
      : what_(what), f_(what, residuals, x0), options_(options), bounds_(what, options.lower, options.upper, f_) {
    const double root = std::sqrt(internal::epsilonOf(x0.dtype()));
    ftol_ = options.ftol.value_or(root);
    xtol_ = options.xtol.value_or(root);
    gtol_ = options.gtol.value_or(root);
    internal::requireNotNegative(what, "ftol", ftol_);
    internal::requireNotNegative(what, "xtol", xtol_);
    internal::requireNotNegative(what, "gtol", gtol_);
    internal::requirePositive(what, "f_scale", options.f_scale);
    internal::requireCount(what, "max_iterations", options.max_iterations);
  }

  LeastSquaresResult solve(const Tensor &x0, Damping damping) const;

private:
  Tensor residualsAt(const Tensor &x) const {
    Tensor y = f_.valueOf(x);
    if (!y.size().is_known() || y.size() < f_.size())
      fail<ShapeError>(absl::StrCat(what_, ": the residuals are ", internal::describe(y), " for parameters of ",
                                    name_of(f_.dtype()), f_.shape().str(),
                                    ", and there must be at least as many residuals as parameters"));
    return reshape(y, {y.size()});
  }
  Tensor costAt(const Tensor &x) const { return costOf(options_.loss, options_.f_scale, residualsAt(x)); }
  Model modelAt(const Tensor &x, const Tensor &residual, const Tensor &cost, const Tensor &scale) const;
  Tensor stepOf(const Model &m, const Progress &p, Damping damping) const;
  std::pair<Model, Progress> iterate(const Model &m, const Progress &p, Damping damping) const;
  Tensor isStationary(const Tensor &x, const Tensor &gradient) const {
    return largest(bounds_.projectedGradient(x, gradient)) <= gtol_;
  }

  const char *what_;
  FlatFunction f_;
  const LeastSquaresOptions &options_;
  Bounds bounds_;
  double ftol_ = 0, xtol_ = 0, gtol_ = 0;
};

Model Problem::modelAt(const Tensor &x, const Tensor &residual, const Tensor &cost, const Tensor &scale) const {
  auto residuals = [&](const Tensor &at) { return residualsAt(at); };
  Tensor columns = internal::jacobianColumnsOf(residuals, x, residual.size(), options_.jacobian), scaled = residual;
  if (options_.loss != RobustLoss::Linear) {
    auto [ofJacobian, ofResiduals] = internal::scalesOf(options_.loss, options_.f_scale, residual);
    columns = columns * ofJacobian;
    scaled = ofResiduals * residual;
  }
  Tensor gradient = sum(columns * scaled, {1});
  if (Tensor isFree = bounds_.freeAt(x, gradient); isFree.defined())
    columns = where(expand_dims(isFree, {1}), columns, 0);
  auto [r, qtb] = internal::triangularise(columns, scaled);
  return {x, residual, cost, r, qtb, gradient, maximum(scale, sqrt(sum(square(columns), {1})))};
}

Tensor Problem::stepOf(const Model &m, const Progress &p, Damping damping) const {
  if (damping == Damping::None) {
    // A column of zeros belongs to a parameter at a bound, which stays.
    if (!bounds_.isThere())
      return p.radius * internal::backSubstitute(m.r, -m.qtb);
    Tensor unit = eye(f_.size(), f_.dtype()), isHeld = sum(abs(m.r), {0}) == 0;
    return p.radius * internal::backSubstitute(where(expand_dims(isHeld, {1}), unit, m.r), where(isHeld, 0, -m.qtb));
  }
  Tensor scale = where(m.scale > 0, m.scale, 1);
  Tensor rows = eye(f_.size(), f_.dtype()) * (scale * rsqrt(p.radius));
  auto [r, qtb] =
      internal::triangularise(concat({transpose(m.r), rows}, 1), concat({-m.qtb, zeros(m.qtb.shape(), f_.dtype())}));
  return internal::backSubstitute(r, qtb);
}

std::pair<Model, Progress> Problem::iterate(const Model &m, const Progress &p, Damping damping) const {
  const Tensor whole = stepOf(m, p, damping);
  Tensor x = bounds_.project(m.x + whole), step = x - m.x;
  Tensor residual = residualsAt(x), cost = costOf(options_.loss, options_.f_scale, residual);
  Tensor promised = 0.5 * (dot(m.qtb, m.qtb) - sum(square(sum(m.r * step, {1}) + m.qtb)));
  Tensor decrease = m.cost - cost, ratio = decrease / promised;
  Tensor isAccepted = (ratio > kDecrease) & (promised > 0) & isfinite(cost);
  Tensor stalls = (abs(decrease) <= ftol_ * m.cost) & (ratio > 0.25);
  // The bounds may cut a long step to a short one.
  Tensor isSmall = sqrt(dot(whole, whole)) <= xtol_ * (xtol_ + sqrt(dot(m.x, m.x)));
  Model next = cond(isAccepted, [&] { return modelAt(x, residual, cost, m.scale); }, [&] { return m; });
  Tensor radius, divisor;
  if (damping == Damping::Marquardt) {
    Tensor surprise = 2 * ratio - 1;
    Tensor larger = minimum(p.radius / maximum(1.0 / 3, 1 - surprise * surprise * surprise), kLargestRadius);
    radius = where(isAccepted, larger, p.radius / p.divisor);
    divisor = where(isAccepted, 2, 2 * p.divisor);
  } else {
    // A step that was halved changes little, wherever it is.
    const Tensor isFull = p.radius == 1;
    isSmall = isSmall & isFull;
    stalls = stalls & isFull;
    radius = where(isAccepted, 1, 0.5 * p.radius);
    divisor = p.divisor;
  }
  return {next, Progress{radius, divisor, p.iterations + 1, p.evaluations + cast(isAccepted, DType::Int64),
                         (isAccepted & (stalls | isStationary(next.x, next.gradient))) | isSmall,
                         !(radius > kSmallestRadius)}};
}

LeastSquaresResult Problem::solve(const Tensor &x0, Damping damping) const {
  Tensor x = bounds_.project(f_.flat(x0)), residual = stop_gradient(residualsAt(x));
  Model first = modelAt(x, residual, costOf(options_.loss, options_.f_scale, residual), zeros({f_.size()}, f_.dtype()));
  const double radius = damping == Damping::Marquardt ? kFirstRadius : 1;
  Progress begin{
      full({}, radius, f_.dtype()),          full({}, 2, f_.dtype()), scalar<std::int64_t>(0), scalar<std::int64_t>(1),
      isStationary(first.x, first.gradient), !isfinite(first.cost)};
  auto [last, progress] =
      while_loop([](const std::pair<Model, Progress> &s) { return !(s.second.isDone | s.second.hasFailed); },
                 [&](const std::pair<Model, Progress> &s) { return iterate(s.first, s.second, damping); },
                 std::pair(first, begin), {.maximum_iterations = options_.max_iterations, .checkpoint = true});
  Tensor converged = internal::checkedConvergence(progress.isDone, options_.require_convergence,
                                                  {what_, options_.max_iterations,
                                                   "the gradient is above gtol or the cost is not finite",
                                                   largest(bounds_.projectedGradient(last.x, last.gradient)), gtol_,
                                                   "start nearer to the minimum, or allow more iterations"});
  auto cost = [&](const Tensor &at) { return costAt(at); };
  Tensor isFree = bounds_.freeAt(last.x, last.gradient);
  Tensor solution = internal::minimumOf(cost, last.x, isFree.defined() ? stop_gradient(isFree) : isFree);
  Tensor residuals = residualsAt(solution);
  Tensor atMinimum = internal::valueOfMinimum(cost, last.x, solution);
  return {f_.shaped(solution),
          reshape(internal::withDerivativesOf(last.residual, residuals), f_.valueOf(solution).shape()),
          internal::withDerivativesOf(last.cost, atMinimum),
          f_.shaped(stop_gradient(last.gradient)),
          stop_gradient(progress.iterations),
          stop_gradient(progress.evaluations),
          converged};
}

} // namespace

LeastSquaresResult least_squares(const Map &residuals, const Operand &x0, const LeastSquaresOptions &options) {
  CallSite site(x0.where(), "least_squares");
  const Tensor start = stop_gradient(x0.toTensor());
  return Problem("least_squares", residuals, start, options).solve(start, Damping::Marquardt);
}

LeastSquaresResult gauss_newton(const Map &residuals, const Operand &x0, const LeastSquaresOptions &options) {
  CallSite site(x0.where(), "gauss_newton");
  const Tensor start = stop_gradient(x0.toTensor());
  return Problem("gauss_newton", residuals, start, options).solve(start, Damping::None);
}

Tensor covariance(const Map &residuals, const Operand &x) {
  CallSite site(x.where(), "covariance");
  const Tensor at = stop_gradient(x.toTensor());
  const FlatFunction f("covariance", residuals, at);
  const Tensor point = f.flat(at), residual = f(point);
  if (!residual.size().is_known() || residual.size() <= f.size())
    fail<ShapeError>(absl::StrCat("covariance: the residuals are ", internal::describe(residual), " for parameters of ",
                                  name_of(f.dtype()), f.shape().str(),
                                  ", and there must be more residuals than parameters"));
  auto flat = [&](const Tensor &p) { return f(p); };
  Tensor columns = internal::jacobianColumnsOf(flat, point, residual.size(), Differentiation::Automatic);
  // (J^T J)^-1 = R^-1 R^-T.
  Tensor inverted = internal::inverse(internal::triangularise(columns, residual).r);
  Tensor variance = dot(residual, residual) / (std::int64_t(residual.size()) - f.size());
  return stop_gradient(variance * matmul(inverted, inverted, {.transpose_b = true}));
}

} // namespace calque::solvers
