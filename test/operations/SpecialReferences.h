// What the operations of ir/Special.td compute, as in References.h: by series, recurrences and asymptotic series in
// long double, none of which the code under test uses in this way.
#ifndef CALQUE_TEST_OPERATIONS_SPECIALREFERENCES_H
#define CALQUE_TEST_OPERATIONS_SPECIALREFERENCES_H

#include "test/operations/References.h"

#include <array>

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

//===-- Functions of several numbers --------------------------------------------------------------===//

// Points and weights of Gauss and Legendre of order 24 on [-1, 1], by Newton's iteration.
struct GaussRule {
  std::array<Real, 24> points, weights;
  GaussRule() {
    constexpr int n = 24;
    for (int i = 0; i < n; ++i) {
      Real x = std::cos(kPi * (i + 0.75L) / (n + 0.5L)), slope = 1;
      for (int step = 0; step < 8; ++step) {
        Real previous = 1, value = x;
        for (int k = 2; k <= n; ++k) {
          const Real next = ((2 * k - 1) * x * value - (k - 1) * previous) / k;
          previous = value;
          value = next;
        }
        slope = n * (x * value - previous) / (x * x - 1);
        x -= value / slope;
      }
      points[static_cast<std::size_t>(i)] = x;
      weights[static_cast<std::size_t>(i)] = 2 / ((1 - x * x) * slope * slope);
    }
  }
  static const GaussRule &get() {
    static const GaussRule rule;
    return rule;
  }
  template <typename F> Real integral(Real low, Real high, int panels, F f) const {
    Real sum = 0;
    const Real half = (high - low) / panels / 2;
    for (int panel = 0; panel < panels; ++panel) {
      const Real middle = low + (2 * panel + 1) * half;
      for (std::size_t i = 0; i < points.size(); ++i)
        sum += weights[i] * f(middle + half * points[i]);
    }
    return sum * half;
  }
};

// The integral from 0 to `high` of a function that changes most near 0.
template <typename F> Real graded(Real high, F f) {
  Real sum = GaussRule::get().integral(0, std::min<Real>(high, 4), 4, f);
  for (Real low = 4; low < high; low *= 2)
    sum += GaussRule::get().integral(low, std::min(2 * low, high), 6, f);
  return sum;
}

// log(1 + x) - x, which is exact where x is small.
inline Real logRest(Real x) {
  if (std::fabs(x) > 0.1L)
    return std::log1p(x) - x;
  Real sum = 0, power = x;
  for (int k = 2; k < 40; ++k) {
    power *= -x;
    sum += power / k;
  }
  return sum;
}
// exp(x) - 1 - x, likewise.
inline Real expRest(Real x) {
  if (std::fabs(x) > 0.1L)
    return std::expm1(x) - x;
  Real sum = 0, power = x;
  for (int k = 2; k < 20; ++k) {
    power *= x / k;
    sum += power;
  }
  return sum;
}
// lgamma(z) - (z - 1/2) log(z) + z - log(2 pi) / 2 for z >= 30.
inline Real stirlingRest(Real z) {
  const Real u = 1 / (z * z);
  return (1 / 12.0L - u * (1 / 360.0L - u * (1 / 1260.0L - u * (1 / 1680.0L - u * (1 / 1188.0L))))) / z;
}
inline Real logGamma(Real x) {
  int sign = 0;
  return ::lgammal_r(x, &sign);
}
// log of x^a exp(-x) / gamma(a).
inline Real logGammaPower(Real a, Real x) {
  if (a < 30)
    return a * std::log(x) - x - logGamma(a);
  const Real m = (x - a) / a, rest = std::fabs(m) < 0.5L ? a * logRest(m) : a * std::log(x / a) - (x - a);
  return rest + std::log(a / (2 * kPi)) / 2 - stirlingRest(a);
}
// One of P and Q is an integral of the density of log(t) over the tail: of Q where x is above the mode a. The logarithm
// of the integrand is a v - x (exp(v) - 1) more than that at x, for v = log(t / x).
struct GammaTail {
  Real value; // of the tail, relative to the power x^a exp(-x) / gamma(a)
  bool isUpper;
};
inline GammaTail gammaTail(Real a, Real x) {
  const bool isUpper = x > a;
  auto exponent = [&](Real v) { return (a - x) * v - x * expRest(v); };
  // As far as the integrand is 2^-80 of its value at x.
  Real reach = 1;
  const Real side = isUpper ? 1 : -1;
  while (exponent(side * reach) > -56 && reach < 1e30L)
    reach *= 2;
  while (exponent(side * reach / 2) < -56)
    reach /= 2;
  auto f = [&](Real v) { return std::exp(exponent(side * v)); };
  const Real value = graded(reach, f);
  return {value, isUpper};
}
// Q of x below a, for a < 1: the small difference of 1 and P.
inline Real upperGammaOfSmall(Real a, Real x) {
  // lgamma(1 + a), of a series where a is small: -gamma a + zeta(2) a^2 / 2 - ...
  const Real ofNext =
      a < 1e-4L
          ? a * (-0.577215664901532860606512090082402431L +
                 a * (0.822467033424113218236207583323012595L -
                      a * (0.400685634386531428466579387170483L -
                           a * (0.270580808427784547879000924135292L - a * 0.207385551028673985266273097291406L))))
          : ::lgammal(1 + a);
  const Real logarithm = a * std::log(x) - ofNext;
  Real sum = 0, term = 1;
  for (int n = 1; n < 60; ++n) {
    term *= -x / n;
    sum += term / (a + n);
  }
  return -std::expm1(logarithm) - std::exp(logarithm) * a * sum;
}
template <typename T> T gammaIncOf(T givenA, T givenX, bool isUpper) {
  const Real a = givenA, x = givenX;
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (std::isinf(a) && std::isinf(x)))
    return std::numeric_limits<T>::quiet_NaN();
  if (a == 0 || std::isinf(x))
    return isUpper ? 0 : 1;
  if (x == 0 || std::isinf(a))
    return isUpper ? 1 : 0;
  if (a < 1 && x <= 1.5L) {
    const Real upper = upperGammaOfSmall(a, x);
    if (isUpper)
      return static_cast<T>(upper);
    Real sum = 1, term = 1;
    for (int n = 1; n < 80; ++n)
      sum += term *= x / (a + n);
    return static_cast<T>(std::exp(a * std::log(x) - x - ::lgammal(1 + a)) * sum);
  }
  const Real power = logGammaPower(a, x);
  const GammaTail tail = gammaTail(a, x);
  const Real value = power < -12000 ? 0 : std::exp(power) * tail.value;
  return static_cast<T>(tail.isUpper == isUpper ? value : 1 - value);
}
template <typename T> T gammainc_(T a, T x) { return gammaIncOf(a, x, false); }
template <typename T> T gammaincc_(T a, T x) { return gammaIncOf(a, x, true); }
template <typename T> T gamma_density_(T a, T x) {
  return static_cast<T>(std::exp(logGammaPower(a, x)) / static_cast<Real>(x));
}
// By differences of four values of the tail, of the domain of tests.
template <typename F> Real slopeOf(F f, Real at) {
  const Real h = at * 0x1p-10L;
  return (8 * (f(at + h) - f(at - h)) - (f(at + 2 * h) - f(at - 2 * h))) / (12 * h);
}
template <typename T> T gammainc_slope_(T a, T x) {
  return static_cast<T>(slopeOf([x](Real at) { return gammainc_<Real>(at, x); }, a));
}
template <typename T> T gamma_slope_(T a, T x) {
  return static_cast<T>(-gammainc_slope_<Real>(a, x) / gamma_density_<Real>(a, x));
}
template <typename T> T gamma_sample_(T a, T x) { return std::isnan(a) ? a : x; }

// By Stirling's formula of large numbers.
inline Real logBeta(Real x, Real y) {
  const Real a = std::min(x, y), b = std::max(x, y);
  if (!(x >= 0 && y >= 0) || (a == 0 && std::isinf(b)))
    return std::numeric_limits<Real>::quiet_NaN();
  if (a == 0 || std::isinf(b))
    return a == 0 ? std::numeric_limits<Real>::infinity() : -std::numeric_limits<Real>::infinity();
  if (b < 30)
    return logGamma(a) + (logGamma(b) - logGamma(a + b));
  if (a < 30)
    return logGamma(a) + (0.5L - b) * std::log1p(a / b) - a * std::log(a + b) + a + stirlingRest(b) -
           stirlingRest(a + b);
  return (a - 0.5L) * std::log(a / (a + b)) - b * std::log1p(a / b) - std::log(b) / 2 + std::log(2 * kPi) / 2 +
         stirlingRest(a) + stirlingRest(b) - stirlingRest(a + b);
}
template <typename T> T betaln_(T x, T y) { return static_cast<T>(logBeta(x, y)); }
template <typename T> T beta_(T x, T y) { return static_cast<T>(std::exp(logBeta(x, y))); }
// By integrals of t^(a - 1) (1 - t)^(b - 1) over the smaller tail in v = log(t / (1 - t)), of which the logarithm is
// concave.
inline Real betaTail(Real a, Real b, Real x, Real y) { // from 0 to x, relative to x^a y^b
  auto exponent = [&](Real v) {                        // of v below log(x / y): log(t^a (1 - t)^b) less that at x
    // t = x e / (y + x e), 1 - t = y / (y + x e), where e = exp(-v)
    if (x >= 0.5L && v < 10000)
      return b * v - (a + b) * std::log1p(y * std::expm1(v));
    return -a * v - (a + b) * (x < 0.5L ? std::log1p(x * std::expm1(-v)) : std::log(y + x * std::exp(-v)));
  };
  Real reach = 1;
  while (exponent(reach) > -56 && reach < 1e30L)
    reach *= 2;
  while (exponent(reach / 2) < -56)
    reach /= 2;
  // From v = 64 on the integrand is an exponential.
  const Real end = std::min<Real>(reach, 64), rest = end < reach ? std::exp(exponent(end)) / a : 0;
  return graded(end, [&](Real v) { return std::exp(exponent(v)); }) + rest;
}
inline Real logBetaPower(Real a, Real b, Real x, Real y) {
  if (a < 30 || b < 30)
    return a * (y < x ? std::log1p(-y) : std::log(x)) + b * (x < y ? std::log1p(-x) : std::log(y)) - logBeta(a, b);
  const Real d = x * b - y * a, u = d / a, v = -d / b;
  auto term = [](Real shape, Real ratio, Real part) {
    return std::fabs(ratio) < 0.5L ? shape * logRest(ratio) : shape * (std::log(part) - ratio);
  };
  return term(a, u, x * ((a + b) / a)) + term(b, v, y * ((a + b) / b)) + std::log(a / (2 * kPi) * (b / (a + b))) / 2 +
         stirlingRest(a + b) - stirlingRest(a) - stirlingRest(b);
}
template <typename T> T betainc_(T givenA, T givenB, T givenX) {
  const Real a = givenA, b = givenB, x = givenX, y = 1 - x;
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1) || std::isinf(a) || std::isinf(b))
    return std::numeric_limits<T>::quiet_NaN();
  if (x == 0 || x == 1)
    return x == 0 ? 0 : 1; // without the sign of -0
  const Real power = logBetaPower(a, b, x, y);
  const bool isLower = x * (a + b) <= a;
  const Real tail = isLower ? betaTail(a, b, x, y) : betaTail(b, a, y, x);
  const Real value = power < -12000 ? 0 : std::exp(power) * tail;
  return static_cast<T>(isLower ? value : 1 - value);
}
template <typename T> T beta_density_(T a, T b, T x) {
  const Real y = 1 - static_cast<Real>(x);
  return static_cast<T>(std::exp(logBetaPower(a, b, x, y)) / (x * y));
}
template <typename T> T betainc_slope_a_(T a, T b, T x) {
  return static_cast<T>(slopeOf([b, x](Real at) { return betainc_<Real>(at, b, x); }, a));
}
template <typename T> T betainc_slope_b_(T a, T b, T x) {
  return static_cast<T>(slopeOf([a, x](Real at) { return betainc_<Real>(a, at, x); }, b));
}

// The integral of t^(s - 1) exp(-q t) / (1 - exp(-t)) / gamma(s) over t in log(t), and directly where s is large.
template <typename T> T zeta_(T givenS, T givenQ) {
  const Real s = givenS, q = givenQ, infinity = std::numeric_limits<Real>::infinity();
  if (std::isnan(s) || std::isnan(q) || s < 1)
    return std::numeric_limits<T>::quiet_NaN();
  if (s == 1)
    return static_cast<T>(infinity);
  if (!(q > 0))
    return q == std::floor(q) ? static_cast<T>(infinity) : std::numeric_limits<T>::quiet_NaN();
  if (std::isinf(q))
    return 0;
  if (std::isinf(s))
    return static_cast<T>(q > 1 ? 0 : q == 1 ? 1 : infinity);
  // Terms up to a large number, and the terms of Euler and Maclaurin with few derivatives.
  Real sum = 0, w = q;
  for (int k = 0; k < 4000 && w < 300 + 4 * s; ++k, w += 1) {
    const Real term = std::pow(w, -s);
    sum += term;
    if (term < sum * 1e-22L && s > 3)
      return static_cast<T>(sum);
  }
  const Real power = std::pow(w, -s), r = 1 / (w * w);
  const Real second = s / (12 * w), fourth = s * (s + 1) * (s + 2) / (720 * w) * r;
  const Real sixth = s * (s + 1) * (s + 2) * (s + 3) * (s + 4) / (30240 * w) * r * r;
  const Real eighth = sixth * (s + 5) * (s + 6) * r / 40;
  return static_cast<T>(sum + power * (w / (s - 1) + 0.5L + second - fourth + sixth - eighth));
}
template <typename T> T zeta_slope_(T s, T q) {
  return static_cast<T>(slopeOf([q](Real at) { return zeta_<Real>(1 + at, q); }, static_cast<Real>(s) - 1));
}

template <typename T> T scalb_(T x, T n) {
  return static_cast<T>(
      std::ldexp(static_cast<Real>(x), static_cast<int>(std::clamp<Real>(std::trunc(n), -20000, 20000))));
}
template <typename T> T frexp_mantissa_(T x) {
  int exponent = 0;
  return static_cast<T>(std::frexp(x, &exponent));
}
template <typename T> T frexp_exponent_(T x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return static_cast<T>(std::isfinite(x) ? exponent : 0);
}

} // namespace calque::reference
#endif
