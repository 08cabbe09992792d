// Minima of functions.
//
//   auto f = [](const Tensor &x) { return sum(square(x - 1)) + sum(square(square(x))); };
//   auto [x, value, gradient, iterations, evaluations, converged] = solvers::lbfgs(f, zeros({1000}));
//
// | you have                                              | take          |
// |-------------------------------------------------------|---------------|
// | many parameters, with or without bounds               | lbfgs         |
// | up to some hundred parameters                         | bfgs          |
// | a curved valley, and second derivatives are cheap      | trust_region  |
// | the same, and the function is convex                  | newton_cg     |
// | a function without derivatives, of up to 10 parameters | nelder_mead   |
// | a sum of squares                                      | least_squares |
//
// The function takes a tensor of the shape of x0, of known sizes, and returns a scalar. ShapeError for another result.
// See roots.h for derivatives and errors. Here the equation is that the gradient is 0, and df/dx is the Hessian. Up to
// 64 parameters, it is computed and inverted; for more, conjugate gradients solve the system, in the derivative's pass.
// The derivatives of `value` are those of f at the solution.
#ifndef CALQUE_SOLVERS_MINIMIZE_H
#define CALQUE_SOLVERS_MINIMIZE_H

#include "calque/solvers/roots.h"

namespace calque::solvers {

using Objective = std::function<Tensor(const Tensor &)>;

struct MinimizeResult {
  Tensor x;           // of the shape of x0
  Tensor value;       // scalar: f(x)
  Tensor gradient;    // of the shape of x0, without derivatives
  Tensor iterations;  // int64 scalar
  Tensor evaluations; // int64 scalar: of f, mostly together with its gradient
  Tensor converged;   // bool scalar
};

struct LbfgsOptions {
  // Converged when no element of the gradient, projected on the bounds, is larger than gtol, or when an iteration
  // decreases f by at most ftol max(|f|, 1). With ftol = 0 the gradient alone counts. Default: gtol is the cubic root
  // of epsilon of the element type (6e-6 for float64, 5e-3 for float32), ftol is 10 epsilon.
  std::optional<double> gtol = {};
  std::optional<double> ftol = {};
  std::int64_t max_iterations = 15000;
  std::int64_t memory = 10; // the number of earlier steps that approximate the Hessian
  // Bounds of the shape of x0, or broadcast to it. x0 is moved into them.
  std::optional<Tensor> lower = {};
  std::optional<Tensor> upper = {};
  bool require_convergence = true;
};

// The minimum near x0 by the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno. Nocedal and Wright:
// Numerical Optimization, 2nd ed., 2006, algorithm 7.4. The line search of More and Thuente (Line search algorithms
// with guaranteed sufficient decrease, 1994) finds a point that satisfies the strong Wolfe conditions with 1e-4 and
// 0.9. With bounds, steps follow the projection on them, and parameters at a bound that the gradient pushes outwards
// are held (Bertsekas: Projected Newton methods for optimization problems with simple constraints, 1982).
CALQUE_API MinimizeResult lbfgs(const Objective &f, const Operand &x0, const LbfgsOptions &options = {});

struct BfgsOptions {
  std::optional<double> gtol = {}; // these three as those of lbfgs
  std::optional<double> ftol = {};
  std::int64_t max_iterations = 2000;
  bool require_convergence = true;
};
// The same with a dense approximation [n, n] of the inverse Hessian. Nocedal and Wright, algorithm 6.1.
CALQUE_API MinimizeResult bfgs(const Objective &f, const Operand &x0, const BfgsOptions &options = {});

struct NewtonCgOptions {
  std::optional<double> gtol = {}; // as that of lbfgs
  std::int64_t max_iterations = 500;
  // Conjugate gradients solve the Newton equations to min(0.5, sqrt(|gradient|)) of the gradient, in at most this
  // number of iterations. Default: twice the number of parameters.
  std::optional<std::int64_t> max_inner_iterations = {};
  bool require_convergence = true;
};
// The minimum near x0 by Newton's method. Conjugate gradients on products with the Hessian solve its equations
// inexactly, up to a direction of negative curvature; the line search is that of lbfgs. Nocedal and Wright,
// algorithm 7.1.
CALQUE_API MinimizeResult newton_cg(const Objective &f, const Operand &x0, const NewtonCgOptions &options = {});

struct TrustRegionOptions {
  std::optional<double> gtol = {}; // as that of lbfgs
  std::int64_t max_iterations = 500;
  double initial_radius = 1;
  double max_radius = 1000;
  bool require_convergence = true;
};
// The same with a trust region, in which conjugate gradients stop at the boundary. Steihaug: The conjugate gradient
// method and trust regions in large scale optimization, 1983; Nocedal and Wright, algorithms 4.1 and 7.2.
CALQUE_API MinimizeResult trust_region(const Objective &f, const Operand &x0, const TrustRegionOptions &options = {});

struct NelderMeadOptions {
  // Converged when all points of the simplex are within xtol of the best one, and their values within ftol of its
  // value. Default: 1e-8 for float64 and 1e-4 for float32.
  std::optional<double> xtol = {};
  std::optional<double> ftol = {};
  std::int64_t max_iterations = 5000;
  // The distance of the first simplex's points: a part of each element of x0, and a length for elements that are 0.
  double relative_size = 0.05, absolute_size = 0.00025;
  // Whether f has derivatives. If not, the result has none either, and its gradient is NaN.
  bool differentiable = true;
  bool require_convergence = true;
};
// The minimum near x0 from values of f alone. The coefficients depend on the number of parameters: Gao and Han,
// Implementing the Nelder-Mead simplex algorithm with adaptive parameters, 2012. An infinite or undefined value counts
// as worse than all others.
CALQUE_API MinimizeResult nelder_mead(const Objective &f, const Operand &x0, const NelderMeadOptions &options = {});

} // namespace calque::solvers
#endif
