// Newton's method with conjugate gradients: along lines, and in a trust region.
#include "absl/strings/str_cat.h"
#include "calque/transforms.h"
#include "minimize/Descent.h"

namespace calque::solvers {

using internal::Bounds;
using internal::dot;
using internal::epsilonOf;
using internal::fail;
using internal::FlatObjective;
using internal::largest;
using internal::Point;

namespace {

// The iteration of conjugate gradients for H z = -g.
struct Inner {
  Tensor z, residual, direction; // residual is H z + g
  Tensor squares;                // of the residual
  Tensor isEnded;                // bool
};

// Runs the iteration until the residual is below the forcing term, or `stop` ends it. `stop` gets the iteration, H
// times its direction and the curvature, and returns whether the iteration ends there and its last z and residual.
struct Stop {
  Tensor isStop, z, residual;
};
template <typename StopAt>
Inner conjugate(const FlatObjective &f, const Tensor &x, const Tensor &gradient, std::int64_t limit,
                const StopAt &stop) {
  const Tensor norm = sqrt(dot(gradient, gradient));
  // The forcing term makes Newton's method converge superlinearly: Nocedal and Wright, (7.3).
  const Tensor goal = square(minimum(0.5, sqrt(norm)) * norm);
  auto product = [&](const Tensor &v) { return hvp([&](const Tensor &at) { return f.valueAt(at); })(x, v); };
  auto iterate = [&](const Inner &i) {
    Tensor image = product(i.direction), curvature = dot(i.direction, image);
    Tensor alpha = i.squares / curvature;
    Tensor z = i.z + alpha * i.direction, residual = i.residual + alpha * image;
    Stop end = stop(i, image, curvature, z);
    Tensor squares = dot(residual, residual);
    return Inner{where(end.isStop, end.z, z), where(end.isStop, end.residual, residual),
                 (squares / i.squares) * i.direction - residual, squares, end.isStop | (squares <= goal)};
  };
  Inner first{zeros(gradient.shape(), gradient.dtype()), gradient, -gradient, dot(gradient, gradient),
              zeros({}, DType::Bool)};
  return while_loop([](const Inner &i) { return !i.isEnded; }, iterate, first, {.maximum_iterations = limit});
}

} // namespace

MinimizeResult newton_cg(const Objective &objective, const Operand &x0, const NewtonCgOptions &options) {
  CallSite site(x0.where(), "newton_cg");
  const Tensor start = stop_gradient(x0.toTensor());
  const FlatObjective f("newton_cg", objective, start);
  const std::int64_t limit = options.max_inner_iterations.value_or(2 * f.size());
  internal::requireCount("newton_cg", "max_inner_iterations", limit);
  auto directionOf = [&](const Tensor &, const Point &p, const Tensor &gradient, const Tensor &) {
    // At a direction of negative curvature the iteration ends where it is, or goes down the gradient from its
    // beginning.
    auto stop = [&](const Inner &i, const Tensor &, const Tensor &curvature, const Tensor &) {
      Tensor isBad = !(curvature > epsilonOf(f.dtype()) * dot(i.direction, i.direction));
      return Stop{isBad, where(all(i.z == 0), i.direction, i.z), i.residual};
    };
    return conjugate(f, p.x, gradient, limit, stop).z;
  };
  const Tensor nothing = zeros({}, f.dtype()); // Newton's method has no memory
  auto learn = [](const Tensor &memory, const internal::Lesson &) { return memory; };
  return internal::descend(f, Bounds("newton_cg", {}, {}, f.function()), f.function().flat(start), nothing, directionOf,
                           learn,
                           {internal::tolerancesOf(f, options.gtol, {}, options.max_iterations), options.max_iterations,
                            options.require_convergence, 0.9, true});
}

MinimizeResult trust_region(const Objective &objective, const Operand &x0, const TrustRegionOptions &options) {
  CallSite site(x0.where(), "trust_region");
  const Tensor start = stop_gradient(x0.toTensor());
  const FlatObjective f("trust_region", objective, start);
  const auto tolerances = internal::tolerancesOf(f, options.gtol, {}, options.max_iterations);
  internal::requirePositive("trust_region", "initial_radius", options.initial_radius);
  internal::requirePositive("trust_region", "max_radius", options.max_radius);
  if (options.initial_radius > options.max_radius)
    fail<ValueError>(absl::StrCat("trust_region: initial_radius ", Number(options.initial_radius).str(),
                                  " is above max_radius ", Number(options.max_radius).str()));

  struct Progress {
    Tensor radius, iterations, isDone, hasFailed;
  };
  using State = std::pair<Point, Progress>;
  auto iterate = [&](const State &state) {
    const auto &[p, progress] = state;
    const Tensor radius = progress.radius;
    auto stop = [&](const Inner &i, const Tensor &image, const Tensor &curvature, const Tensor &z) {
      Tensor isOutside = (!(curvature > 0)) | (dot(z, z) >= square(radius));
      // The positive root of |z + t direction| = radius.
      Tensor a = dot(i.direction, i.direction), b = dot(i.z, i.direction), c = dot(i.z, i.z) - square(radius);
      Tensor discriminant = sqrt(maximum(square(b) - a * c, 0));
      Tensor t = where(b > 0, -c / (b + discriminant), (discriminant - b) / a);
      return Stop{isOutside, i.z + t * i.direction, i.residual + t * image};
    };
    Inner inner = conjugate(f, p.x, p.gradient, 2 * f.size(), stop);
    Tensor promised = -0.5 * dot(inner.z, p.gradient + inner.residual); // as H z is residual - gradient
    Point trial = f.at(p.x + inner.z);
    Tensor ratio = (p.value - trial.value) / promised, length = sqrt(dot(inner.z, inner.z));
    // Where the decrease is below the rounding of f, the gradient shows whether the step is good.
    Tensor isRounding = promised <= tolerances.value * maximum(abs(p.value), 1);
    Tensor isFlatter = dot(trial.gradient, trial.gradient) < dot(p.gradient, p.gradient);
    Tensor isAccepted = where(isRounding, isFlatter, (ratio > 0.15) & (promised > 0)) & all(isfinite(trial.gradient));
    Tensor next =
        where(!(ratio >= 0.25), 0.25 * length,
              where((ratio > 0.75) & (length > 0.99 * radius), minimum(2 * radius, options.max_radius), radius));
    next = where(isRounding, radius, next);
    Point reached = internal::chosen(isAccepted, trial, p);
    Tensor isStationary = largest(reached.gradient) <= tolerances.gradient;
    // A step that promises less than rounding and is not accepted says that no further one helps, and not why: it may
    // be short because the region has shrunk at a kink.
    Tensor isExhausted = isRounding & !isAccepted;
    return State(reached, Progress{next, progress.iterations + 1, isStationary,
                                   isExhausted | !(next > epsilonOf(f.dtype()) * (1 + largest(p.x)) * 1e-3)});
  };
  Point first = f.at(f.function().flat(start));
  Progress begin{full({}, options.initial_radius, f.dtype()), scalar<std::int64_t>(0),
                 largest(first.gradient) <= tolerances.gradient, !isfinite(first.value)};
  auto [last, progress] =
      while_loop([](const State &s) { return !(s.second.isDone | s.second.hasFailed); }, iterate, State(first, begin),
                 {.maximum_iterations = options.max_iterations, .checkpoint = true});
  return internal::minimizeResult(f, last, progress.iterations, progress.iterations + 1, progress.isDone, Tensor(),
                                  tolerances.gradient, options.max_iterations, options.require_convergence);
}

} // namespace calque::solvers
