// What the operations of ir/Special.td compute, as in References.h: by series, recurrences and asymptotic series in
// long double, none of which the code under test uses in this way.
#ifndef CALQUE_TEST_OPERATIONS_SPECIALREFERENCES_H
#define CALQUE_TEST_OPERATIONS_SPECIALREFERENCES_H

#include "test/operations/References.h"

namespace calque::reference {

inline constexpr Real kPi = 3.14159265358979323846264338327950288L, kRootOfPi = 1.77245385090551602729816748334114518L;

template <typename T> T erfc_(T x) { return std::erfc(x); }
template <typename T> T erfcx_(T argument) {
  const Real x = argument;
  if (std::isnan(x))
    return argument;
  if (x < 10) {
    Real e = std::exp(x * x);
    return static_cast<T>(x < -120 ? std::numeric_limits<Real>::infinity() : e * std::erfc(x));
  }
  // 1 - 1 / (2 x^2) + 3 / (2 x^2)^2 - ...
  Real sum = 0, term = 1;
  for (int k = 0; k < 60; ++k) {
    sum += term;
    term *= -(2 * k + 1) / (2 * x * x);
  }
  return static_cast<T>(sum / (x * kRootOfPi));
}
template <typename T> T ndtr_(T x) { return static_cast<T>(std::erfc(-static_cast<Real>(x) / std::sqrt(2.0L)) / 2); }
template <typename T> T log_ndtr_(T argument) {
  const Real x = argument, root = std::sqrt(2.0L);
  if (x < -5)
    return static_cast<T>(std::log(erfcx_<Real>(-x / root) / 2) - x * x / 2);
  return static_cast<T>(x > 0 ? std::log1p(-std::erfc(x / root) / 2) : std::log(std::erfc(-x / root) / 2));
}
// The y >= 0 for which erfc(y) is q, by Newton's iteration on the logarithm; q is at most 1.
inline Real inverseErfc(Real q) {
  if (q == 0)
    return std::numeric_limits<Real>::infinity();
  Real y = q > 0.1L ? 0.5L : std::sqrt(-std::log(q)) * 0.9L;
  for (int i = 0; i < 60; ++i) {
    const Real tail = std::erfc(y), slope = -2 / kRootOfPi * std::exp(-y * y) / tail;
    const Real step = (std::log(tail) - std::log(q)) / slope;
    y -= step;
    if (std::fabs(step) < 1e-19L * std::fabs(y))
      break;
  }
  return y;
}
template <typename T> T erfinv_(T argument) {
  const Real x = argument, magnitude = std::fabs(x);
  if (!(magnitude <= 1))
    return std::numeric_limits<T>::quiet_NaN();
  Real y = magnitude * kRootOfPi / 2;
  if (magnitude > 0.5L)
    y = inverseErfc(1 - magnitude);
  else
    for (int i = 0; i < 8; ++i)
      y -= (std::erf(y) - magnitude) * std::exp(y * y) * kRootOfPi / 2;
  return static_cast<T>(std::copysign(y, x));
}
template <typename T> T ndtri_(T argument) {
  const Real p = argument, root = std::sqrt(2.0L);
  if (!(p >= 0 && p <= 1))
    return std::numeric_limits<T>::quiet_NaN();
  if (p > 0.25L && p < 0.75L)
    return static_cast<T>(erfinv_<Real>(2 * p - 1) * root);
  return static_cast<T>(p < 0.5L ? -inverseErfc(2 * p) * root : inverseErfc(2 * (1 - p)) * root);
}

// exp(-x) I(x) of order 0 or 1, of x >= 0.
inline Real scaledBessel(Real x, int order) {
  if (x > 40) {
    Real sum = 0, term = 1;
    for (int k = 0; k < 40; ++k) {
      sum += term;
      term *= -(4 * order * order - static_cast<Real>((2 * k + 1) * (2 * k + 1))) / (8 * (k + 1) * x);
    }
    return sum / std::sqrt(2 * kPi * x);
  }
  Real sum = 0, term = order ? x / 2 : 1;
  for (int k = 1; k < 200; ++k) {
    sum += term;
    term *= x * x / 4 / (static_cast<Real>(k) * (k + order));
  }
  return sum * std::exp(-x);
}
template <typename T> T i0e_(T x) { return static_cast<T>(scaledBessel(std::fabs(static_cast<Real>(x)), 0)); }
template <typename T> T i1e_(T x) {
  return std::copysign(static_cast<T>(scaledBessel(std::fabs(static_cast<Real>(x)), 1)), x);
}
template <typename T> T besselOf(T x, int order) {
  const Real magnitude = std::fabs(static_cast<Real>(x));
  // The square of a root, which does not overflow before the result.
  const Real half = std::exp(std::min(magnitude, 3000.0L) / 2);
  const Real value = scaledBessel(std::min(magnitude, 3000.0L), order) * half * half;
  const Real found = magnitude > 3000 ? std::numeric_limits<Real>::infinity() : value;
  return static_cast<T>(std::isnan(x) ? static_cast<Real>(x)
                        : order       ? std::copysign(found, static_cast<Real>(x))
                                      : found);
}
template <typename T> T i0_(T x) { return besselOf(x, 0); }
template <typename T> T i1_(T x) { return besselOf(x, 1); }

template <typename T> T lgamma_(T x) {
  int sign = 0;
  return static_cast<T>(::lgammal_r(static_cast<Real>(x), &sign));
}
// pi times x less the nearest integer, and that integer's place.
inline Real arcOf(Real x) { return kPi * (x - std::nearbyint(x)); }
template <typename T> T digamma_(T argument) {
  Real x = argument, result = 0;
  if (std::isnan(x) || x == -std::numeric_limits<Real>::infinity())
    return std::numeric_limits<T>::quiet_NaN();
  if (x < 0) {
    if (x == std::nearbyint(x))
      return std::numeric_limits<T>::quiet_NaN();
    result = -kPi / std::tan(arcOf(x));
    x = 1 - x;
  }
  for (; x < 30; x += 1)
    result -= 1 / x;
  const Real u = 1 / (x * x);
  const Real tail =
      u *
      (1 / 12.0L - u * (1 / 120.0L - u * (1 / 252.0L - u * (1 / 240.0L - u * (1 / 132.0L - u * (691 / 32760.0L))))));
  return static_cast<T>(result + std::log(x) - 1 / (2 * x) - tail);
}
template <typename T> T trigamma_(T argument) {
  Real x = argument, result = 0;
  if (x < 0) {
    if (x == std::nearbyint(x))
      return std::isinf(x) ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
    const Real quotient = kPi / std::sin(arcOf(x));
    return static_cast<T>(quotient * quotient - trigamma_<Real>(1 - x));
  }
  for (; x < 30; x += 1)
    result += 1 / (x * x);
  const Real u = 1 / (x * x);
  const Real tail =
      u / x * (1 / 6.0L - u * (1 / 30.0L - u * (1 / 42.0L - u * (1 / 30.0L - u * (5 / 66.0L - u * (691 / 2730.0L))))));
  return static_cast<T>(result + 1 / x + u / 2 + tail);
}
// Derivatives of trigamma, of positive numbers: sums of powers, and the first terms of Euler's and Maclaurin's.
template <typename T> T polygammaOf(T argument, int n, Real factorial) {
  Real x = argument, result = 0;
  for (; x < 60; x += 1)
    result += std::pow(x, static_cast<Real>(-n - 1));
  const Real last = std::pow(x, static_cast<Real>(-n));
  Real tail = last / n + last / x / 2 + (n + 1) * last / (12 * x * x);
  tail -= static_cast<Real>((n + 1) * (n + 2) * (n + 3)) * last / (720 * x * x * x * x);
  return static_cast<T>((n % 2 ? 1 : -1) * factorial * (result + tail));
}
template <typename T> T polygamma2_(T x) { return polygammaOf(x, 2, 2); }
template <typename T> T polygamma3_(T x) { return polygammaOf(x, 3, 6); }

} // namespace calque::reference
#endif
