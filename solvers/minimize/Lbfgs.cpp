// The methods of Broyden, Fletcher, Goldfarb and Shanno, with limited memory and with a matrix.
#include "minimize/Descent.h"

namespace calque::solvers {

using internal::Bounds;
using internal::dot;
using internal::FlatObjective;
using internal::Point;

namespace {

// The last steps in a ring: step number i is in slot i mod the size of the ring.
struct Ring {
  Tensor steps, changes; // [memory, n]
  Tensor weights;        // [memory]: 1 / s^T y; 0 for a slot that is not used
  Tensor scale;          // of the Hessian's inverse before the steps
  Tensor count;
};

// What the steps tell of the Hessian of the parameters that are free. Steps that changed nothing in them tell nothing.
Ring ofFree(const Ring &ring, const Tensor &isFree) {
  Tensor steps = where(isFree, ring.steps, 0), changes = where(isFree, ring.changes, 0);
  Tensor products = sum(steps * changes, {1}), squares = sum(square(changes), {1});
  Tensor isKnown = (ring.weights > 0) & (products > internal::epsilonOf(steps.dtype()) * squares);
  const Tensor last = mod(ring.count - 1, std::int64_t(ring.weights.size()));
  Tensor scale = gather(products, last) / gather(squares, last);
  return {steps, changes, where(isKnown, 1 / where(isKnown, products, 1), 0),
          where(gather(isKnown, last), scale, ring.scale), ring.count};
}

} // namespace

MinimizeResult lbfgs(const Objective &objective, const Operand &x0, const LbfgsOptions &options) {
  CallSite site(x0.where(), "lbfgs");
  const Tensor start = stop_gradient(x0.toTensor());
  const FlatObjective f("lbfgs", objective, start);
  const Bounds bounds("lbfgs", options.lower, options.upper, f.function());
  internal::requireCount("lbfgs", "memory", options.memory);
  const std::int64_t memory = options.memory, n = f.size();
  const Tensor slots = iota({memory}, DType::Int64);

  auto directionOf = [&](const Ring &whole, const Point &, const Tensor &gradient, const Tensor &isFree) {
    const Ring ring = isFree.defined() ? ofFree(whole, isFree) : whole;
    auto slotOf = [&](const Tensor &age) { return mod(ring.count - 1 - age, memory); }; // age 0 is the last step
    auto [q, alphas] =
        for_range(0, memory, std::tuple(gradient, zeros({memory}, f.dtype())),
                  [&](const Tensor &age, const Tensor &v, const Tensor &known) {
                    Tensor slot = slotOf(age);
                    Tensor alpha = gather(ring.weights, slot) * dot(gather(ring.steps, slot), v);
                    return std::tuple(v - alpha * gather(ring.changes, slot), where(slots == age, alpha, known));
                  });
    return -for_range(0, memory, ring.scale * q, [&, &alphas = alphas](const Tensor &i, const Tensor &v) {
      Tensor age = memory - 1 - i, slot = slotOf(age);
      Tensor beta = gather(ring.weights, slot) * dot(gather(ring.changes, slot), v);
      return v + (gather(alphas, age) - beta) * gather(ring.steps, slot);
    });
  };
  auto learn = [&](const Ring &ring, const internal::Lesson &l) {
    Tensor slot = mod(ring.count, memory), product = dot(l.step, l.change);
    Tensor isHere = l.isLearnt & (slots == slot), divisor = where(l.isLearnt, product, 1);
    auto written = [&](const Tensor &rows, const Tensor &row) {
      return scatter_set(rows, slot, where(l.isLearnt, row, gather(rows, slot)));
    };
    // A slot without a weight counts as empty.
    return Ring{written(ring.steps, l.step), written(ring.changes, l.change),
                where(l.isForgot, 0, where(isHere, 1 / divisor, ring.weights)),
                where(l.isForgot, 1, where(l.isLearnt, product / dot(l.change, l.change), ring.scale)),
                where(l.isForgot, 0, ring.count + cast(l.isLearnt, DType::Int64))};
  };
  const Tensor none = zeros({memory, n}, f.dtype());
  const Ring empty{none, none, zeros({memory}, f.dtype()), ones({}, f.dtype()), scalar<std::int64_t>(0)};
  return internal::descend(f, bounds, f.function().flat(start), empty, directionOf, learn,
                           {internal::tolerancesOf(f, options.gtol, options.ftol, options.max_iterations),
                            options.max_iterations, options.require_convergence});
}

MinimizeResult bfgs(const Objective &objective, const Operand &x0, const BfgsOptions &options) {
  CallSite site(x0.where(), "bfgs");
  const Tensor start = stop_gradient(x0.toTensor());
  const FlatObjective f("bfgs", objective, start);
  auto directionOf = [](const Tensor &inverse, const Point &, const Tensor &gradient, const Tensor &) {
    return -sum(inverse * gradient, {1});
  };
  const Tensor unit = eye(f.size(), f.dtype());
  auto learn = [&](const Tensor &known, const internal::Lesson &l) {
    Tensor product = where(l.isLearnt, dot(l.step, l.change), 1);
    Tensor inverse = where(l.steps == 0, unit * (product / dot(l.change, l.change)), known);
    Tensor moved = sum(inverse * l.change, {1}), down = expand_dims(l.step, {1});
    Tensor both = expand_dims(moved, {1}) * l.step + down * moved;
    Tensor next = inverse + (1 + dot(l.change, moved) / product) / product * (down * l.step) - both / product;
    return where(l.isForgot, unit, where(l.isLearnt, next, known));
  };
  return internal::descend(f, Bounds("bfgs", {}, {}, f.function()), f.function().flat(start), unit, directionOf, learn,
                           {internal::tolerancesOf(f, options.gtol, options.ftol, options.max_iterations),
                            options.max_iterations, options.require_convergence});
}

} // namespace calque::solvers
