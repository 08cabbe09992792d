// Nonlinear least squares: the parameters x for which the sum of squares of residuals r(x), or of a robust loss of
// them, is smallest.
//
//   Tensor t = ..., y = ...; // measurements
//   auto residuals = [&](const Tensor &p) { return p[0] * exp(-p[1] * t) - y; };
//   auto fit = solvers::least_squares(residuals, tensor<double>({1.0, 1.0}));
//   auto robust = solvers::least_squares(residuals, fit.x, {.loss = solvers::RobustLoss::SoftL1, .f_scale = 0.1});
//   Tensor deviations = sqrt(gather_nd(solvers::covariance(residuals, fit.x), ...)); // the diagonal
//
// Names and meanings of options are those of scipy.optimize.least_squares. See roots.h for derivatives and errors. Here
// the equation is that the gradient of the cost is 0. Derivatives of parameters at a bound are 0. `cost` and `residual`
// have derivatives, too.
#ifndef CALQUE_SOLVERS_LEAST_SQUARES_H
#define CALQUE_SOLVERS_LEAST_SQUARES_H

#include "calque/solvers/roots.h"

namespace calque::solvers {

// The loss rho(z) of a residual r, with z = (r / f_scale)^2. The cost is the sum of f_scale^2 rho(z) / 2. The formulas
// are those of SciPy, and that of Tukey's biweight is Ceres'. All have rho(0) = 0 and rho'(0) = 1.
enum class RobustLoss : std::uint8_t {
  Linear, // z
  Huber,  // z up to 1, then 2 sqrt(z) - 1
  SoftL1, // 2 (sqrt(1 + z) - 1)
  Cauchy, // log(1 + z)
  Arctan, // arctan(z)
  Tukey,  // (1 - (1 - z)^3) / 3 up to 1, then 1/3
};

struct LeastSquaresOptions {
  // Converged when an iteration decreases the cost by at most ftol times the cost, when it changes x by at most
  // xtol (xtol + |x|), or when no element of the gradient, projected on the bounds, is larger than gtol. Default: the
  // root of epsilon of the element type, 1.5e-8 for float64.
  std::optional<double> ftol = {};
  std::optional<double> xtol = {};
  std::optional<double> gtol = {};
  std::int64_t max_iterations = 1000;
  RobustLoss loss = RobustLoss::Linear;
  double f_scale = 1; // residuals beyond it count as outliers
  // Bounds of the parameters, of the shape of x0 or broadcast to it. x0 is moved into them.
  std::optional<Tensor> lower = {};
  std::optional<Tensor> upper = {};
  Differentiation jacobian = Differentiation::Automatic;
  bool require_convergence = true;
};

struct LeastSquaresResult {
  Tensor x;           // of the shape of x0
  Tensor residual;    // r(x)
  Tensor cost;        // scalar: half of the sum of squares, or of losses
  Tensor gradient;    // of the cost by x, without derivatives
  Tensor iterations;  // int64 scalar: the number of steps that were tried
  Tensor evaluations; // int64 scalar: the number of Jacobians
  Tensor converged;   // bool scalar
};

// The parameters of least cost near x0 by the method of Levenberg and Marquardt. The damping is that of Ceres (Madsen,
// Nielsen and Tingleff: Methods for Non-Linear Least Squares Problems, 2004, 3.2), in which each parameter is scaled by
// the largest norm that its column of the Jacobian has had, as in MINPACK (More: The Levenberg-Marquardt algorithm,
// 1978). Steps come from QR factorisations, so that the condition of the Jacobian is not squared. A robust loss
// rescales residuals and Jacobian by Triggs' formula (Triggs et al.: Bundle Adjustment, 1999). Parameters at a bound
// that the gradient pushes outwards are held; other steps are projected on the bounds. ShapeError for fewer residuals
// than parameters, and for bounds that don't broadcast to x0. AssertionError at the call for a lower bound above the
// upper one.
CALQUE_API LeastSquaresResult least_squares(const std::function<Tensor(const Tensor &)> &residuals, const Operand &x0,
                                            const LeastSquaresOptions &options = {});

// The same by the method of Gauss and Newton: no damping, and steps are halved until the cost decreases. It needs a
// Jacobian of full rank and a good x0.
CALQUE_API LeastSquaresResult gauss_newton(const std::function<Tensor(const Tensor &)> &residuals, const Operand &x0,
                                           const LeastSquaresOptions &options = {});

// The covariance [n, n] of the n estimated parameters x: s^2 (J^T J)^-1, where s^2 is the sum of squares of the m
// residuals over m - n. This is pcov of scipy.optimize.curve_fit. The residuals count as independent, with equal
// variances. ShapeError unless m is larger than n. It has no derivatives.
CALQUE_API Tensor covariance(const std::function<Tensor(const Tensor &)> &residuals, const Operand &x);

// rho(z) of a loss, elementwise.
CALQUE_API Tensor robust_loss(RobustLoss loss, const Operand &z);

} // namespace calque::solvers
#endif
