#include "implicit/Implicit.h"

#include "calque/custom_gradient.h"
#include "calque/transforms.h"
#include "linear/Dense.h"
#include "linear/Krylov.h"

#include <limits>

namespace calque::solvers::internal {

namespace {

// Up to this number of unknowns a Hessian, or the Jacobian of a fixed point, is made and inverted. Beyond it, products
// are cheaper.
constexpr std::int64_t kDenseUnknowns = 64;

Tensor step(const Tensor &x, const Tensor &residual, const Map &solveTransposed) {
  auto moved = custom_gradient([&](const Tensor &at, const Tensor &) {
    return std::pair(at, [&](const Tensor &cotangent) { return std::pair(cotangent, -solveTransposed(cotangent)); });
  });
  return moved(x, residual);
}

// A^-1 b by an iteration, whose derivative by b is that with the transposed product: A is constant. Each order of
// derivatives has a call of its own in the pullback of the one before.
using Iteration = Tensor (*)(const Product &product, const Tensor &b);
Tensor solvedBy(Iteration iteration, const Product &product, const Product &transposed, const Tensor &b, int orders) {
  if (orders == 0)
    return iteration(product, b);
  auto solved = custom_gradient([&](const Tensor &right) {
    return std::pair(iteration(product, right), [&](const Tensor &cotangent) {
      return solvedBy(iteration, transposed, product, cotangent, orders - 1);
    });
  });
  return solved(b);
}

// The number 1 as a function of x, whose derivatives are 0. Its derivative number `orders` is refused by the call
// that takes it.
Tensor oneOf(const Tensor &x, int orders) {
  auto one = custom_gradient([orders](const Tensor &at) {
    return std::pair(ones({}, at.dtype()), [at, orders](const Tensor &cotangent) {
      Tensor none = zeros(at.shape(), at.dtype()) * cotangent;
      if (orders > 1)
        return none * oneOf(at, orders - 1);
      assert_true(zeros({}, DType::Bool),
                  "a solver's solution has first and second derivatives, and a third one is taken");
      // An eager tape leaves out assertions in the derivatives of calls.
      return none + std::numeric_limits<double>::quiet_NaN();
    });
  });
  return one(x);
}
// Returns x, of which derivatives of a higher order than `orders` are refused.
Tensor limited(const Tensor &x, int orders) {
  auto same = custom_gradient([orders](const Tensor &at) {
    return std::pair(at, [at, orders](const Tensor &cotangent) { return cotangent * oneOf(at, orders); });
  });
  return same(x);
}

} // namespace

Tensor withDerivativesOf(const Tensor &value, const Tensor &source) {
  auto replaced = custom_gradient([](const Tensor &given, const Tensor &) {
    return std::pair(given, [](const Tensor &cotangent) {
      return std::pair(zeros(cotangent.shape(), cotangent.dtype()), cotangent);
    });
  });
  return replaced(stop_gradient(value), source);
}

Tensor withImplicitDerivatives(const Tensor &x, const Map &equations, const Map &solveTransposed) {
  Tensor at = stop_gradient(x);
  for (int order = 0; order < 2; ++order)
    at = step(at, equations(at), solveTransposed);
  return limited(at, 2);
}

Tensor rootOf(const Map &equations, const Tensor &x, Differentiation mode) {
  const Tensor at = stop_gradient(x);
  auto solveTransposed = [&](const Tensor &cotangent) {
    Tensor jacobian = jacobianOf(equations, at, x.size(), mode);
    Tensor inverted = stop_gradient(inverse(transpose(jacobian)));
    return sum(inverted * cotangent, {1});
  };
  return withImplicitDerivatives(x, equations, solveTransposed);
}

Tensor fixedPointOf(const Map &equations, const Tensor &x) {
  const Tensor at = stop_gradient(x);
  if (x.size() <= kDenseUnknowns)
    return rootOf(equations, x, Differentiation::Automatic);
  auto product = [&](const Tensor &v) { return jvp(equations, at, v).second; };
  auto transposed = [&](const Tensor &v) { return vjp(equations, at).second(v); };
  auto solveTransposed = [&](const Tensor &cotangent) {
    return solvedBy(stabilisedBiconjugateGradients, transposed, product, cotangent, kInverseOrders);
  };
  return withImplicitDerivatives(x, equations, solveTransposed);
}

Tensor elementwiseRootOf(const Map &equations, const Tensor &x) {
  const Tensor at = stop_gradient(x);
  auto solveTransposed = [&](const Tensor &cotangent) {
    return cotangent / stop_gradient(grad(equations)(at)); // the gradient of the sum
  };
  return withImplicitDerivatives(x, equations, solveTransposed);
}

Tensor minimumOf(const Map &cost, const Tensor &x, const Tensor &isFree) {
  const std::int64_t n = x.size();
  const Tensor at = stop_gradient(x);
  auto free = [&](const Tensor &v) { return isFree.defined() ? where(isFree, v, 0) : v; };
  auto equations = [&](const Tensor &point) { return free(grad(cost)(point)); };
  auto solveAny = [&](const Tensor &cotangent) {
    if (n <= kDenseUnknowns) {
      Tensor matrix = hessian(cost)(at);
      if (isFree.defined()) // a row of the identity for each element at a bound
        matrix = where(expand_dims(isFree, {0}) & expand_dims(isFree, {1}), matrix, eye(n, x.dtype()));
      return sum(stop_gradient(inverse(matrix)) * free(cotangent), {1});
    }
    auto product = [&](const Tensor &v) { return free(hvp(cost)(at, v)); };
    return solvedBy(conjugateGradients, product, product, free(cotangent), kInverseOrders);
  };
  // A cotangent of 0 gives 0 also where the Hessian is singular. The derivative by it is the same as ever.
  auto solve = [&](const Tensor &cotangent) {
    Tensor solved = solveAny(cotangent);
    return withDerivativesOf(where(all(cotangent == 0), 0, solved), solved);
  };
  return withImplicitDerivatives(x, equations, solve);
}

// The second derivative of f(x(a), a) is f_aa + f_ax x', as f_x is 0. The product of two zeros below has the second
// part as its second derivative, and no first one.
Tensor valueOfMinimum(const Map &cost, const Tensor &x, const Tensor &solution) {
  const Tensor at = stop_gradient(x), gradient = grad(cost)(at);
  return cost(at) + 0.5 * dot(solution - at, gradient - stop_gradient(gradient));
}

} // namespace calque::solvers::internal
