// Least squares by the bidiagonalisation of Golub and Kahan.
#include "absl/strings/str_cat.h"
#include "calque/control_flow.h"
#include "calque/transforms.h"
#include "iterative/Iterative.h"

#include <algorithm>
#include <array>
#include <limits>

namespace calque::solvers {

using namespace internal;

namespace {

struct LeastSquares {
  Map product, transposed; // scaled to elements near to 1
  Tensor b;                // less what x0 gives
  Tensor damp;
  double atol, btol;
  Tensor limit;
};
struct Found {
  Tensor x, residual;  // residual: the norm as the recurrence knows it, with what the damping adds
  Tensor norm, matrix; // of b, and of A as far as it is known
  Tensor iterations, isDone;
};

Tensor unitOf(const Tensor &x, const Tensor &norm) { return x / where(norm > 0, norm, 1); }

// The map divided by 2^exponent, half of it before and half of it after, so that the derivatives of both steps stay in
// the range of numbers.
Map balanced(const Map &map, const Tensor &exponent, DType dtype) {
  const Tensor half = floor_divide(exponent, 2);
  return [map, before = power(-half, dtype), after = power(half - exponent, dtype)](const Tensor &x) {
    return map(x * before) * after;
  };
}

// The norm of two numbers, whose squares neither overflow nor vanish.
Tensor hypotenuse(const Tensor &a, const Tensor &b) {
  const Tensor larger = maximum(abs(a), abs(b)), scale = where(larger > 0, larger, 1);
  return larger * sqrt(square(a / scale) + square(b / scale));
}

// The x of the least |A x - b|^2 + damp^2 |x|^2. Paige and Saunders: LSQR, 1982, section 4 and 5; the tests of
// convergence are their rules 1 and 2. The right-hand side is scaled, so that no square overflows or vanishes.
Found lsqrOf(const LeastSquares &p) {
  struct State {
    Tensor x, left, right, direction; // vectors
    std::array<Tensor, 3> bidiagonal; // alpha, rho and phi with bars
    std::array<Tensor, 3> norms;      // of A, of what the damping adds to the residual, and of both
    Tensor count, isDone;
  };
  const DType dtype = p.b.dtype();
  const Tensor exponent = exponentOf(largestOrZero(p.b)), b = p.b * power(-exponent, dtype);
  const double epsilon = epsilonOf(dtype);
  auto goesOn = [&](const State &s) { return (!s.isDone) & (s.count < p.limit); };
  const Tensor norm = normOf(b);
  auto iterate = [&](const State &s) {
    const auto &[alphaBefore, rhoBar, phiBarBefore] = s.bidiagonal;
    Tensor left = p.product(s.right) - alphaBefore * s.left, beta = normOf(left);
    left = unitOf(left, beta);
    Tensor matrix = hypotenuse(hypotenuse(s.norms[0], p.damp), hypotenuse(alphaBefore, beta));
    Tensor right = p.transposed(left) - beta * s.right, alpha = normOf(right);
    right = unitOf(right, alpha);
    Tensor damped = hypotenuse(rhoBar, p.damp);
    Tensor psi = p.damp / damped * phiBarBefore, phiBar = rhoBar / damped * phiBarBefore;
    Tensor rho = hypotenuse(damped, beta), cosine = damped / rho, sine = beta / rho;
    Tensor phi = cosine * phiBar, nextPhiBar = sine * phiBar;
    Tensor x = s.x + phi / rho * s.direction;
    Tensor damping = hypotenuse(s.norms[1], psi);
    Tensor residual = hypotenuse(nextPhiBar, damping), gradient = alpha * abs(sine * phi);
    Tensor isDone = (residual <= p.btol * norm + p.atol * matrix * normOf(x)) |
                    (gradient <= p.atol * matrix * residual) | (gradient <= epsilon * matrix * norm);
    return State{x,
                 left,
                 right,
                 right - sine * alpha / rho * s.direction,
                 {alpha, -cosine * alpha, nextPhiBar},
                 {matrix, damping, residual},
                 s.count + 1,
                 isDone};
  };
  const Tensor left = unitOf(b, norm), toRight = p.transposed(left), alpha = normOf(toRight);
  const Tensor right = unitOf(toRight, alpha), zero = zeros({}, dtype);
  const Tensor isDone = alpha == 0; // A^T b is 0: so is x
  State last = while_loop(goesOn, iterate,
                          State{zeros(right.shape(), dtype),
                                left,
                                right,
                                right,
                                {alpha, alpha, norm},
                                {zero, zero, norm},
                                scalar<std::int64_t>(0),
                                isDone});
  return {ldexp(last.x, exponent),
          ldexp(last.norms[2], exponent),
          ldexp(norm, exponent),
          last.norms[0],
          last.count,
          last.isDone};
}

} // namespace

LinearResult<Tensor> detail::solveLeastSquares(const LinearProblem &p, SourceLocation where) {
  const char *what = "lsqr";
  CallSite site(where, what);
  const Tensor &b = p.b;
  requireFloat(what, "b", b);
  requireNotNegative(what, "damp", p.damp);
  requireNotNegative(what, "atol", p.atol);
  requireNotNegative(what, "btol", p.rtol);
  if (p.maxIterations)
    requireCount(what, "max_iterations", *p.maxIterations);
  Tensor x0;
  if (p.matrix.defined()) {
    auto fits = [](const Size &x, const Size &y) { return !x.is_known() || !y.is_known() || x == y; };
    if (p.matrix.rank() != 2 || b.rank() != 1 || p.matrix.dtype() != b.dtype() ||
        !fits(p.matrix.shape()[0], b.shape()[0]))
      fail<ShapeError>(absl::StrCat("lsqr: the matrix is ", describe(p.matrix), " and b ", describe(b),
                                    "; they must be [m,n] and [m], of one element type"));
    x0 = p.x0 ? *p.x0 : zeros({p.matrix.shape()[1]}, b.dtype());
    if (x0.rank() != 1 || x0.dtype() != b.dtype() || !fits(p.matrix.shape()[1], x0.shape()[0]))
      fail<ShapeError>(
          absl::StrCat("lsqr: x0 is ", describe(x0), ", and the matrix ", describe(p.matrix), " takes another vector"));
  } else {
    requireFunction(what, "the operator", static_cast<bool>(p.product));
    if (!p.x0)
      fail<ValueError>("lsqr: a function needs x0, whose shape is that of its argument");
    x0 = *p.x0;
    requireFloat(what, "x0", x0);
  }
  const Map product = [p, what](const Tensor &x) {
    if (p.matrix.defined())
      return matmul(p.matrix, x);
    Tensor y = callUser(p.product, x);
    if (y.dtype() != p.b.dtype() || y.rank() != p.b.rank() || !y.shape().is_compatible_with(p.b.shape()))
      fail<ShapeError>(absl::StrCat(what, ": the operator returns ", describe(y), " for ", describe(x),
                                    ", and must return ", describe(p.b)));
    return y;
  };
  const Map transposed =
      p.matrix.defined() ? Map([p](const Tensor &v) { return matmul(v, p.matrix); }) : transposedOf(product, x0);

  const Tensor constant = stop_gradient(b);
  auto limit = [&]() -> Tensor {
    if (p.maxIterations)
      return scalar<std::int64_t>(*p.maxIterations);
    return maximum(2 * Operand(x0.size()).toTensor(DType::Int64), 2);
  };
  // With A = 2^a A' and b = 2^b b', the solution is 2^(b - a) x'. A damp above A counts as A.
  const DType dtype = b.dtype();
  const Tensor start = stop_gradient(x0), rest = p.x0 ? constant - product(start) : constant;
  const Tensor image = stop_gradient(product(scatteredNumbers(x0.shape(), dtype)));
  const Tensor exponentA = exponentOf(maximum(largestOrZero(image), full({}, p.damp, dtype)));
  const Tensor exponentB = exponentOf(maximum(largestOrZero(constant), largestOrZero(rest)));
  const Tensor exponentOfX = exponentB - exponentA, damp = ldexp(full({}, p.damp, dtype), -exponentA);
  Map scaled, scaledTransposed;
  if (p.matrix.defined()) {
    const Tensor matrix = ldexp(p.matrix, -exponentA);
    scaled = [matrix](const Tensor &v) { return matmul(matrix, v); };
    scaledTransposed = [matrix](const Tensor &v) { return matmul(v, matrix); };
  } else {
    scaled = balanced(product, exponentA, dtype);
    scaledTransposed = balanced(transposed, exponentA, dtype);
  }
  const Tensor inverseB = power(-exponentB, dtype), scaledRest = rest * inverseB;
  const Found iterated = lsqrOf({scaled, scaledTransposed, scaledRest, damp, p.atol, p.rtol, limit()});
  const Tensor x = stop_gradient(start + ldexp(iterated.x, exponentOfX));
  // The recurrence of residuals drifts from b - A x by rounding, and knows nothing of a constant that the product has.
  const Tensor residual = normOf((constant - product(x)) * inverseB), scaledX = ldexp(x, -exponentOfX);
  const Tensor rounding =
      100 * epsilonOf(dtype) * (normOf(constant * inverseB) + iterated.norm + (1 + iterated.matrix) * normOf(scaledX));
  const Tensor tolerance = p.rtol * iterated.norm + p.atol * iterated.matrix * normOf(iterated.x) + rounding;
  LinearResult<Tensor> found{x, ldexp(residual, exponentB), iterated.iterations,
                             iterated.isDone & (residual <= 2 * iterated.residual + 10 * tolerance) &
                                 isfinite(residual)};
  const IterationLimit text = p.maxIterations        ? IterationLimit(*p.maxIterations)
                              : x0.size().is_known() ? IterationLimit(2 * std::max<std::int64_t>(x0.size(), 1))
                                                     : IterationLimit("2 n");
  found.converged = checkedConvergence(
      found.converged, p.isConvergenceRequired,
      {what, text, "the norm of b - A x is above its tolerance", found.residual, p.rtol, "allow more iterations"});

  // Derivatives: of the normal equations, or those of the vector y of x = x0 + A^T y where A has fewer rows. All are of
  // scaled numbers, whose products do not vanish.
  const Tensor damping = square(damp), scaledB = ldexp(b, -exponentB), scaledX0 = ldexp(x0, -exponentOfX);
  const double leastTolerance = toleranceOfDerivatives(std::min(p.atol, p.rtol));
  const bool isOfUser = !p.matrix.defined();
  auto solverOf = [&](const Map &map) {
    return [&, map](const Tensor &c) {
      System s{map, {}, c, {}, leastTolerance, zeros({}, dtype), {}, 0};
      s.mayHaveConstant = isOfUser;
      s.exponent = zeros({}, DType::Int32);
      LinearResult<Tensor> r = run(LinearMethod::Cg, s);
      return calque::where(r.converged, r.x, std::numeric_limits<double>::quiet_NaN());
    };
  };
  Tensor differentiable;
  if (b.size().is_known() && x0.size().is_known() && b.size() < x0.size()) {
    const Map normal = [&](const Tensor &y) { return scaled(scaledTransposed(y)) + damping * y; };
    const Map solve = solverOf(normal);
    auto equations = [&](const Tensor &y) { return normal(y) - (scaledB - scaled(scaledX0)); };
    auto solveTransposed = [&](const Tensor &c) { return appliedInverse(solve, solve, c); };
    const Tensor y = stop_gradient(solve(scaledRest));
    differentiable = scaledX0 + scaledTransposed(withImplicitDerivatives(y, equations, solveTransposed));
  } else {
    const Map normal = [&](const Tensor &v) { return scaledTransposed(scaled(v)) + damping * v; };
    const Map solve = solverOf(normal);
    auto equations = [&](const Tensor &v) {
      const Tensor gradient = scaledTransposed(scaled(v) - scaledB);
      return p.damp == 0 ? gradient : gradient + damping * (v - scaledX0);
    };
    auto solveTransposed = [&](const Tensor &c) { return appliedInverse(solve, solve, c); };
    differentiable = withImplicitDerivatives(scaledX, equations, solveTransposed);
  }
  return {withDerivativesOf(x, ldexp(differentiable, exponentOfX)), stop_gradient(found.residual),
          stop_gradient(found.iterations), found.converged};
}

} // namespace calque::solvers
