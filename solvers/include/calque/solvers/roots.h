// Roots and fixed points.
//
//   Tensor a = scalar<double>(2.0);
//   auto [x, residual, iterations, converged] = solvers::newton([&](const Tensor &x) { return x * x - a; }, a);
//   Tensor y = solvers::brent([&](const Tensor &x) { return cos(x) - x; }, zeros({3}), ones({3})).x; // three at once
//   auto root = [](const Tensor &a) { return solvers::newton([&](const Tensor &x) { return x * x - a; }, a).x; };
//   grad(root)(a); // 1 / (2 x), by the implicit function theorem
//
// All solvers run eagerly, in functions and under vmap, where each example has its own iteration. The element type is
// that of the initial points, float32 or float64.
//
// Derivatives. A solution x has the derivatives of the equation f(x, a) = 0 with respect to all tensors a that f
// captures: dx/da = -(df/dx)^-1 df/da. They hold in both modes to second order; a third derivative is
// an AssertionError of the call (NaN by an eager tape around a call). The iteration is not differentiated, so
// that the reverse pass keeps nothing of it. No derivative passes to the initial points, to residuals and to numbers of
// iterations. Derivatives are infinite or NaN where df/dx is singular.
//
// Errors. All functions throw StateError for an empty std::function, DTypeError for points that are not float32 or
// float64 and for a function whose result has another element type, and ValueError for options out of range. A solver
// that does not converge is an AssertionError of the call, unless `require_convergence` is false. Then the result says
// which iterations have converged.
#ifndef CALQUE_SOLVERS_ROOTS_H
#define CALQUE_SOLVERS_ROOTS_H

#include "calque/tensor.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace calque::solvers {

// How a Jacobian is computed. Forward mode costs one pass for all unknowns at once, reverse mode one for all equations.
// Automatic: forward mode in a function if there are at least as many equations as unknowns. Eagerly, if there are
// eight times as many: forward mode traces the user's function in each iteration, which then can't read elements.
enum class Differentiation : std::uint8_t { Automatic, Forward, Reverse };

struct RootResult {
  Tensor x;          // the solution, of the shape of the initial point
  Tensor residual;   // f(x), without derivatives
  Tensor iterations; // int64 scalar; of elementwise solvers for each element
  Tensor converged;  // bool scalar; of elementwise solvers for each element
};

//===-- Brackets ------------------------------------------------------------------------------------===//
// f is elementwise: element i of its result depends on element i of its argument alone. Each element has its own
// bracket. The bounds are tensors of one element type that broadcast to each other; the result has their common shape.

struct BracketOptions {
  // An element has converged when its root is known to xtol + rtol |x|. Default: xtol is 4 epsilon of the element type
  // (8.9e-16 for float64), rtol is 4 epsilon.
  std::optional<double> xtol = {};
  std::optional<double> rtol = {};
  std::int64_t max_iterations = 100;
  bool require_convergence = true;
};

// The root of f between two points at which f has different signs, by bisection. Each iteration halves the bracket.
// AssertionError at the call if the signs are equal for an element; without `require_convergence`, that element has not
// converged.
CALQUE_API RootResult bisect(const std::function<Tensor(const Tensor &)> &f, const Operand &lower, const Operand &upper,
                             const BracketOptions &options = {});

// The same by Brent's method: inverse quadratic interpolation and secants, with bisection where these are slow.
// Brent: Algorithms for Minimization without Derivatives, 1973, chapter 4. The result is that of scipy.optimize.brentq.
CALQUE_API RootResult brent(const std::function<Tensor(const Tensor &)> &f, const Operand &lower, const Operand &upper,
                            const BracketOptions &options = {});

//===-- Systems -------------------------------------------------------------------------------------===//
// f returns as many equations as x0 has elements. The shapes may be any, also that of a scalar. Sizes must be known
// while tracing (StateError). ShapeError for another number of equations.

struct NewtonOptions {
  // Converged when the largest element of a full step is at most xtol (1 + the largest element of x). The convergence
  // is quadratic, so the error of x is then about the square. Default: epsilon^(2/3) of the element type, 3.7e-11 for
  // float64.
  std::optional<double> xtol = {};
  // Converged, too, when no residual is larger than ftol.
  double ftol = 0;
  std::int64_t max_iterations = 50;
  // Shortens steps until the sum of squares of the residuals decreases (Dennis and Schnabel: Numerical Methods for
  // Unconstrained Optimization and Nonlinear Equations, 1983, A6.3.1). Without it, all steps are full.
  bool line_search = true;
  Differentiation jacobian = Differentiation::Automatic;
  bool require_convergence = true;
};

// The root of f near x0 by Newton's method. The Jacobian is computed by derivatives of f.
CALQUE_API RootResult newton(const std::function<Tensor(const Tensor &)> &f, const Operand &x0,
                             const NewtonOptions &options = {});

struct BroydenOptions {
  // Converged when no residual is larger than ftol. Default: epsilon^(2/3) of the element type.
  std::optional<double> ftol = {};
  std::int64_t max_iterations = 200;
  Differentiation jacobian = Differentiation::Automatic; // of the first approximation
  bool require_convergence = true;
};

// The same by Broyden's "good" method: one Jacobian at x0, and a correction of rank one to its inverse in each
// iteration. Broyden: A class of methods for solving nonlinear simultaneous equations, 1965. Steps are shortened as
// those of newton.
CALQUE_API RootResult broyden(const std::function<Tensor(const Tensor &)> &f, const Operand &x0,
                              const BroydenOptions &options = {});

struct FixedPointOptions {
  // Converged when the largest element of g(x) - x is at most xtol (1 + the largest element of x). Default:
  // epsilon^(2/3) of the element type.
  std::optional<double> xtol = {};
  std::int64_t max_iterations = 500;
  // The number of earlier iterations that Anderson's acceleration combines. 0: plain iteration.
  std::int64_t memory = 5;
  bool require_convergence = true;
};

// The fixed point x = g(x) near x0, by Anderson's acceleration of the iteration x = g(x). Walker and Ni: Anderson
// acceleration for fixed-point iterations, 2011. The residual is g(x) - x. g returns the shape of x (ShapeError).
CALQUE_API RootResult fixed_point(const std::function<Tensor(const Tensor &)> &g, const Operand &x0,
                                  const FixedPointOptions &options = {});

} // namespace calque::solvers
#endif
