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
  Map product, transposed;
  Tensor b; // less what x0 gives
  double damp, atol, btol;
  Tensor limit;
};

Tensor unitOf(const Tensor &x, const Tensor &norm) { return x / where(norm > 0, norm, 1); }

// The x of the least |A x - b|^2 + damp^2 |x|^2. Paige and Saunders: LSQR, 1982, section 4 and 5; the tests of
// convergence are their rules 1 and 2. The right-hand side is scaled, so that no square overflows or vanishes.
LinearResult<Tensor> lsqrOf(const LeastSquares &p) {
  struct State {
    Tensor x, left, right, direction; // vectors
    std::array<Tensor, 3> bidiagonal; // alpha, rho and phi with bars
    std::array<Tensor, 2> squares;    // of the norm of A, and of what the damping adds to the residual
    Tensor count, isDone;
  };
  const Tensor size = largestOrZero(p.b), scale = where(size > 0, size, 1), b = p.b / scale;
  const DType dtype = b.dtype();
  const double epsilon = epsilonOf(dtype);
  auto goesOn = [&](const State &s) { return (!s.isDone) & (s.count < p.limit); };
  const Tensor norm = normOf(b);
  auto iterate = [&](const State &s) {
    const auto &[alphaBefore, rhoBar, phiBarBefore] = s.bidiagonal;
    Tensor left = p.product(s.right) - alphaBefore * s.left, beta = normOf(left);
    left = unitOf(left, beta);
    Tensor squares = s.squares[0] + alphaBefore * alphaBefore + beta * beta + p.damp * p.damp;
    Tensor right = p.transposed(left) - beta * s.right, alpha = normOf(right);
    right = unitOf(right, alpha);
    Tensor damped = sqrt(rhoBar * rhoBar + p.damp * p.damp);
    Tensor psi = p.damp / damped * phiBarBefore, phiBar = rhoBar / damped * phiBarBefore;
    Tensor rho = sqrt(damped * damped + beta * beta), cosine = damped / rho, sine = beta / rho;
    Tensor phi = cosine * phiBar, nextPhiBar = sine * phiBar;
    Tensor x = s.x + phi / rho * s.direction;
    Tensor squaresOfDamping = s.squares[1] + psi * psi;
    Tensor residual = sqrt(nextPhiBar * nextPhiBar + squaresOfDamping), gradient = alpha * abs(sine * phi);
    Tensor matrix = sqrt(squares);
    Tensor isDone = (residual <= p.btol * norm + p.atol * matrix * normOf(x)) |
                    (gradient <= p.atol * matrix * residual) | (gradient <= epsilon * matrix * norm);
    return State{x,
                 left,
                 right,
                 right - sine * alpha / rho * s.direction,
                 {alpha, -cosine * alpha, nextPhiBar},
                 {squares, squaresOfDamping},
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
                                {zero, zero},
                                scalar<std::int64_t>(0),
                                isDone});
  return {last.x * scale, normOf(p.b - p.product(last.x * scale)), last.count, last.isDone};
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
  x0 = stop_gradient(x0);
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
  LinearResult<Tensor> found = lsqrOf({product, transposed, constant - product(x0), p.damp, p.atol, p.rtol, limit()});
  const IterationLimit text = p.maxIterations        ? IterationLimit(*p.maxIterations)
                              : x0.size().is_known() ? IterationLimit(2 * std::max<std::int64_t>(x0.size(), 1))
                                                     : IterationLimit("2 n");
  found.converged = checkedConvergence(
      found.converged, p.isConvergenceRequired,
      {what, text, "the norm of b - A x is above its tolerance", found.residual, p.rtol, "allow more iterations"});
  const Tensor x = stop_gradient(x0 + found.x);

  // Derivatives: of the normal equations, or those of the vector y of x = x0 + A^T y where A has fewer rows.
  const double damping = p.damp * p.damp;
  const double tolerance = toleranceOfDerivatives(std::min(p.atol, p.rtol));
  auto solverOf = [&](const Map &map) {
    return [map, tolerance](const Tensor &c) {
      System s{map, {}, c, {}, tolerance, zeros({}, c.dtype()), {}, 0};
      LinearResult<Tensor> r = run(LinearMethod::Cg, s);
      return calque::where(r.converged, r.x, std::numeric_limits<double>::quiet_NaN());
    };
  };
  Tensor differentiable;
  if (b.size().is_known() && x0.size().is_known() && b.size() < x0.size()) {
    const Map normal = [&](const Tensor &y) { return product(transposed(y)) + damping * y; };
    const Map solve = solverOf(normal);
    auto equations = [&](const Tensor &y) { return normal(y) - (b - product(x0)); };
    auto solveTransposed = [&](const Tensor &c) { return appliedInverse(solve, solve, c, 2); };
    const Tensor y = stop_gradient(solve(constant - product(x0)));
    differentiable = withDerivativesOf(x, x0 + transposed(withImplicitDerivatives(y, equations, solveTransposed)));
  } else {
    const Map normal = [&](const Tensor &v) { return transposed(product(v)) + damping * v; };
    const Map solve = solverOf(normal);
    auto equations = [&](const Tensor &v) { return transposed(product(v) - b) + damping * (v - x0); };
    auto solveTransposed = [&](const Tensor &c) { return appliedInverse(solve, solve, c, 2); };
    differentiable = withImplicitDerivatives(x, equations, solveTransposed);
  }
  return {differentiable, stop_gradient(found.residual), stop_gradient(found.iterations), found.converged};
}

} // namespace calque::solvers
