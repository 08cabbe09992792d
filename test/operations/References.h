// What each elementwise operation computes, in long double or double: `<mnemonic>_`. Comparisons and logic give 0 or 1.
#ifndef CALQUE_TEST_OPERATIONS_REFERENCES_H
#define CALQUE_TEST_OPERATIONS_REFERENCES_H

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace calque::reference {

using Real = long double;
template <typename T> using ReferenceIn = std::function<T(const T *)>;
using Reference = ReferenceIn<Real>;

// The function as one of an array of operands.
template <typename T, typename... A> ReferenceIn<T> wrap(T (*f)(A...)) {
  return [f](const T *x) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return f(x[I]...); }(std::index_sequence_for<A...>());
  };
}

template <typename T> T add_(T x, T y) { return x + y; }
template <typename T> T sub_(T x, T y) { return x - y; }
template <typename T> T mul_(T x, T y) { return x * y; }
template <typename T> T neg_(T x) { return -x; }
template <typename T> T abs_(T x) { return std::fabs(x); }
template <typename T> T sign_(T x) { return std::isnan(x) || x == 0 ? x : static_cast<T>(x < 0 ? -1 : 1); }
template <typename T> T div_(T x, T y) { return x / y; }
template <typename T> T fmod_(T x, T y) { return std::fmod(x, y); }
template <typename T> T mod_(T x, T y) {
  T left = std::fmod(x, y);
  return left == 0 ? std::copysign(left, y) : std::signbit(left) != std::signbit(y) ? left + y : left;
}
template <typename T> T floor_divide_(T x, T y) {
  T left = std::fmod(x, y), quotient = std::nearbyint((x - left) / y);
  if (left != 0 && std::signbit(left) != std::signbit(y))
    quotient -= 1;
  return y == 0 ? x / y : quotient == 0 ? std::copysign(quotient, x / y) : quotient;
}
template <typename T> T pow_(T x, T y) { return std::pow(x, y); }
template <typename T> T square_(T x) { return x * x; }
template <typename T> T exp_(T x) { return std::exp(x); }
template <typename T> T expm1_(T x) { return std::expm1(x); }
template <typename T> T log_(T x) { return std::log(x); }
template <typename T> T log1p_(T x) { return std::log1p(x); }
template <typename T> T sqrt_(T x) { return std::sqrt(x); }
template <typename T> T rsqrt_(T x) { return 1 / std::sqrt(x); }
template <typename T> T tanh_(T x) { return std::tanh(x); }
template <typename T> T sigmoid_(T x) { return 1 / (1 + std::exp(-x)); }
template <typename T> T sigmoid_slope_(T x) { return sigmoid_(x) * sigmoid_(-x); }
template <typename T> T softplus_slope_(T x) { return sigmoid_(x); }
template <typename T> T softplus_(T x) { return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x))); }
template <typename T> T erf_(T x) { return std::erf(x); }
template <typename T> T sin_(T x) { return std::sin(x); }
template <typename T> T cos_(T x) { return std::cos(x); }
template <typename T> T tan_(T x) { return std::tan(x); }
template <typename T> T floor_(T x) { return std::floor(x); }
template <typename T> T ceil_(T x) { return std::ceil(x); }
template <typename T> T round_(T x) { return std::nearbyint(x); }
template <typename T> T isnan_(T x) { return std::isnan(x); }
template <typename T> T isfinite_(T x) { return std::isfinite(x); }
template <typename T> T maximum_(T x, T y) {
  return std::isnan(x) || std::isnan(y)         ? std::numeric_limits<T>::quiet_NaN()
         : x < y || (x == y && std::signbit(x)) ? y
                                                : x;
}
template <typename T> T minimum_(T x, T y) {
  return std::isnan(x) || std::isnan(y)         ? std::numeric_limits<T>::quiet_NaN()
         : y < x || (x == y && std::signbit(y)) ? y
                                                : x;
}
template <typename T> T relu_(T x) { return maximum_(x, T(0)); }
template <typename T> T equal_(T x, T y) { return x == y; }
template <typename T> T not_equal_(T x, T y) { return x != y; }
template <typename T> T less_(T x, T y) { return x < y; }
template <typename T> T less_equal_(T x, T y) { return x <= y; }
template <typename T> T greater_(T x, T y) { return x > y; }
template <typename T> T greater_equal_(T x, T y) { return x >= y; }
template <typename T> T logical_and_(T x, T y) { return x != 0 && y != 0; }
template <typename T> T logical_or_(T x, T y) { return x != 0 || y != 0; }
template <typename T> T logical_xor_(T x, T y) { return (x != 0) != (y != 0); }
template <typename T> T logical_not_(T x) { return x == 0; }
template <typename T> T where_(T condition, T x, T y) { return condition != 0 ? x : y; }

//===-- ir/Functions.td -------------------------------------------------------------------------===//
template <typename T> T atan_(T x) { return std::atan(x); }
template <typename T> T atan2_(T y, T x) { return std::atan2(y, x); }
template <typename T> T asin_(T x) { return std::asin(x); }
template <typename T> T acos_(T x) { return std::acos(x); }
template <typename T> T sinh_(T x) { return std::sinh(x); }
template <typename T> T cosh_(T x) { return std::cosh(x); }
template <typename T> T asinh_(T x) { return std::asinh(x); }
template <typename T> T acosh_(T x) { return std::acosh(x); }
template <typename T> T atanh_(T x) { return std::atanh(x); }
template <typename T> T log2_(T x) { return std::log2(x); }
template <typename T> T log10_(T x) { return std::log10(x); }
template <typename T> T exp2_(T x) { return std::exp2(x); }
template <typename T> T cbrt_(T x) { return std::cbrt(x); }
template <typename T> T hypot_(T x, T y) { return std::hypot(x, y); }
// sin(pi x) of what the nearest integer leaves of x.
template <typename T> T sinc_(T argument) {
  const T pi = T(3.14159265358979323846264338327950288L), x = std::fabs(argument);
  const T count = std::nearbyint(x), sine = std::sin(pi * (x - count));
  return x == 0 ? 1 : (std::fmod(count, 2) == 0 ? sine : -sine) / (pi * x);
}
template <typename T> T sinc_slope_(T x) {
  const T pi = T(3.14159265358979323846264338327950288L);
  // The next term of the series is below the last digit.
  return std::fabs(x) < T(1e-4) ? -pi * pi * x / 3 * (1 - pi * pi * x * x / 10) : (std::cos(pi * x) - sinc_(x)) / x;
}
template <typename T> T xlogy_(T x, T y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }

//===-- ir/Numbers.td ---------------------------------------------------------------------------===//
template <typename T> T trunc_(T x) { return std::trunc(x); }
template <typename T> T isinf_(T x) { return std::isinf(x); }
template <typename T> T signbit_(T x) { return std::signbit(x); }
template <typename T> T copysign_(T x, T y) { return std::copysign(x, y); }
template <typename T> T nextafter_(T x, T y) { return std::nextafter(x, y); }
template <typename T> T reciprocal_(T x) { return 1 / x; }
template <typename T> T deg2rad_(T x) { return x * (T(3.14159265358979323846264338327950288L) / 180); }
template <typename T> T rad2deg_(T x) { return x * (180 / T(3.14159265358979323846264338327950288L)); }
template <typename T> T heaviside_(T x, T y) { return std::isnan(x) ? x : x < 0 ? 0 : x > 0 ? 1 : y; }

//===-- ir/Bits.td ------------------------------------------------------------------------------===//
// Of integers, which long double has all of.
template <typename T> T bitwise_and_(T x, T y) { return static_cast<std::int64_t>(x) & static_cast<std::int64_t>(y); }
template <typename T> T bitwise_or_(T x, T y) { return static_cast<std::int64_t>(x) | static_cast<std::int64_t>(y); }
template <typename T> T bitwise_xor_(T x, T y) { return static_cast<std::int64_t>(x) ^ static_cast<std::int64_t>(y); }
template <typename T> T bitwise_not_(T x) { return -1 - x; } // of bools its lowest bit
template <typename T> T left_shift_(T x, T y) { return y < 0 ? 0 : std::ldexp(x, static_cast<int>(y)); }
template <typename T> T right_shift_(T x, T y) {
  return std::floor(std::ldexp(x, y < 0 ? -100 : -static_cast<int>(y)));
}
template <typename T> T popcount_(T x) { return std::popcount(static_cast<std::uint64_t>(x)); }
template <typename T> T bit_length_(T x) { return std::bit_width(static_cast<std::uint64_t>(x)); }
template <typename T> T gcd_(T x, T y) { return std::gcd(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y)); }
template <typename T> T lcm_(T x, T y) { return std::lcm(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y)); }

} // namespace calque::reference
#endif
