// The coefficients of explicit Runge-Kutta methods.
#ifndef CALQUE_SOLVERS_ODE_TABLEAUS_H
#define CALQUE_SOLVERS_ODE_TABLEAUS_H

#include <array>
#include <vector>

namespace calque::solvers::detail {

struct Tableau {
  std::vector<double> c;              // the stages' times
  std::vector<std::vector<double>> a; // a row for each stage, and one for the end of the step
  // Weights of the error. They have one more entry than there are stages: the derivative at the end of the step, which
  // is the first stage of the next one. Empty without an error estimate.
  std::vector<double> error = {};
  // For each stage and the derivative at the end, the coefficients of theta, theta^2, ... in its weight.
  std::vector<std::vector<double>> interpolant = {};
};

extern const Tableau kEuler, kMidpoint, kRungeKutta4, kBogackiShampine3, kDormandPrince5, kTsitouras5, kDormandPrince8,
    kDormandPrince8More;
extern const std::array<double, 13> kDormandPrince8Error3, kDormandPrince8Error5;

} // namespace calque::solvers::detail
#endif
