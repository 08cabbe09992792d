#include "least_squares/Losses.h"

#include "absl/strings/str_cat.h"
#include "implicit/Function.h"

#include <array>
#include <numbers>

namespace calque::solvers {

namespace internal {
namespace {
[[noreturn]] void noSuchLoss(RobustLoss loss) {
  fail<ValueError>(absl::StrCat("robust_loss: there is no loss with the number ", static_cast<int>(loss)));
}
} // namespace
} // namespace internal

namespace {

// The value of a polynomial whose first coefficient is that of the highest power.
template <std::size_t N> Tensor polynomial(const Tensor &x, const std::array<double, N> &coefficients) {
  Tensor value = coefficients[0] * x + coefficients[1];
  for (std::size_t i = 2; i < N; ++i)
    value = value * x + coefficients[i];
  return value;
}

// The arc tangent of numbers that are not negative: the rational function of Cephes (Moshier: Methods and Programs for
// Mathematical Functions, 1989) on [-0.41, 0.66], to which the other arguments are reduced.
Tensor arctan(const Tensor &x) {
  Tensor isLarge = x > 1 + std::numbers::sqrt2, isMiddle = (!isLarge) & (x > 0.66);
  Tensor reduced = where(isLarge, -1 / where(isLarge, x, 1), where(isMiddle, (x - 1) / (x + 1), x));
  Tensor offset = where(isLarge, std::numbers::pi / 2, where(isMiddle, std::numbers::pi / 4, 0 * x));
  Tensor z = square(where(isfinite(reduced), reduced, 0));
  const std::array<double, 5> above = {-8.750608600031904122785e-1, -1.615753718733365076637e1,
                                       -7.500855792314704667340e1, -1.228866684490136173410e2,
                                       -6.485021904942025371773e1};
  const std::array<double, 6> below = {1,
                                       2.485846490142306297962e1,
                                       1.650270098316988542046e2,
                                       4.328810604912902668951e2,
                                       4.853903996359136964868e2,
                                       1.945506571482613964425e2};
  return offset + (reduced + reduced * (z * polynomial(z, above) / polynomial(z, below)));
}

} // namespace

Tensor robust_loss(RobustLoss loss, const Operand &operand) {
  CallSite site(operand.where(), "robust_loss");
  const Tensor z = operand.toTensor();
  internal::requireFloat("robust_loss", "z", z);
  // Square roots are taken of numbers above 0, because the derivative at 0 is infinite.
  switch (loss) {
  case RobustLoss::Linear:
    return z;
  case RobustLoss::Huber:
    return where(z <= 1, z, 2 * sqrt(maximum(z, 1)) - 1);
  case RobustLoss::SoftL1:
    return 2 * z / (sqrt(1 + z) + 1);
  case RobustLoss::Cauchy:
    return log1p(z);
  case RobustLoss::Arctan:
    return arctan(z);
  case RobustLoss::Tukey: {
    Tensor rest = 1 - minimum(z, 1);
    return (1 - rest * rest * rest) / 3;
  }
  }
  internal::noSuchLoss(loss);
}

namespace internal {

namespace {
// rho'(z) and rho''(z).
std::pair<Tensor, Tensor> slopesOf(RobustLoss loss, const Tensor &z) {
  Tensor t = 1 + z;
  switch (loss) {
  case RobustLoss::Linear:
    return {ones(z.shape(), z.dtype()), zeros(z.shape(), z.dtype())};
  case RobustLoss::Huber: {
    Tensor root = rsqrt(maximum(z, 1));
    return {root, where(z <= 1, 0, -0.5 * root * root * root)};
  }
  case RobustLoss::SoftL1:
    return {rsqrt(t), -0.5 * rsqrt(t) / t};
  case RobustLoss::Cauchy:
    return {1 / t, -1 / square(t)};
  case RobustLoss::Arctan: {
    Tensor slope = 1 / (1 + square(z));
    return {slope, -2 * z * square(slope)};
  }
  case RobustLoss::Tukey: {
    Tensor rest = 1 - minimum(z, 1);
    return {square(rest), -2 * rest};
  }
  }
  noSuchLoss(loss);
}
} // namespace

Tensor costOf(RobustLoss loss, double scale, const Tensor &residuals) {
  if (loss == RobustLoss::Linear)
    return 0.5 * sum(square(residuals));
  return (0.5 * scale * scale) * sum(robust_loss(loss, square(residuals / scale)));
}

RobustScales scalesOf(RobustLoss loss, double scale, const Tensor &residuals) {
  Tensor z = square(residuals / scale);
  auto [slope, curvature] = slopesOf(loss, z);
  // The negative curvature of outliers is left out as far as it would take more than 0.7 of a weight: with all of it,
  // the model would not hold farther than to the next residual.
  Tensor squared = maximum(slope + 2 * z * curvature, 0.3 * slope);
  Tensor isThere = squared > 0; // not beyond Tukey's limit
  squared = where(isThere, squared, 1);
  return {where(isThere, sqrt(squared), 0), where(isThere, slope * rsqrt(squared), 0)};
}

} // namespace internal
} // namespace calque::solvers
