// What each elementwise operation computes, in long double: `<mnemonic>_`. Comparisons and logic give 0 or 1.
#ifndef CALQUE_TEST_OPERATIONS_REFERENCES_H
#define CALQUE_TEST_OPERATIONS_REFERENCES_H

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace calque::reference {

using Real = long double;
using Reference = std::function<Real(const Real *)>;

// The function as one of an array of operands.
template <typename... A> Reference wrap(Real (*f)(A...)) {
  return [f](const Real *x) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return f(x[I]...); }(std::index_sequence_for<A...>());
  };
}

inline Real add_(Real x, Real y) { return x + y; }
inline Real sub_(Real x, Real y) { return x - y; }
inline Real mul_(Real x, Real y) { return x * y; }
inline Real neg_(Real x) { return -x; }
inline Real abs_(Real x) { return std::fabs(x); }
inline Real sign_(Real x) { return std::isnan(x) ? x : static_cast<Real>((x > 0) - (x < 0)); }
inline Real div_(Real x, Real y) { return x / y; }
inline Real pow_(Real x, Real y) { return std::pow(x, y); }
inline Real square_(Real x) { return x * x; }
inline Real exp_(Real x) { return std::exp(x); }
inline Real expm1_(Real x) { return std::expm1(x); }
inline Real log_(Real x) { return std::log(x); }
inline Real log1p_(Real x) { return std::log1p(x); }
inline Real sqrt_(Real x) { return std::sqrt(x); }
inline Real rsqrt_(Real x) { return 1 / std::sqrt(x); }
inline Real tanh_(Real x) { return std::tanh(x); }
inline Real sigmoid_(Real x) { return 1 / (1 + std::exp(-x)); }
inline Real erf_(Real x) { return std::erf(x); }
inline Real sin_(Real x) { return std::sin(x); }
inline Real cos_(Real x) { return std::cos(x); }
inline Real tan_(Real x) { return std::tan(x); }
inline Real floor_(Real x) { return std::floor(x); }
inline Real maximum_(Real x, Real y) {
  return std::isnan(x) || std::isnan(y) ? std::numeric_limits<Real>::quiet_NaN() : x < y ? y : x;
}
inline Real minimum_(Real x, Real y) {
  return std::isnan(x) || std::isnan(y) ? std::numeric_limits<Real>::quiet_NaN() : y < x ? y : x;
}
inline Real relu_(Real x) { return maximum_(x, 0); }
inline Real equal_(Real x, Real y) { return x == y; }
inline Real not_equal_(Real x, Real y) { return x != y; }
inline Real less_(Real x, Real y) { return x < y; }
inline Real less_equal_(Real x, Real y) { return x <= y; }
inline Real greater_(Real x, Real y) { return x > y; }
inline Real greater_equal_(Real x, Real y) { return x >= y; }
inline Real logical_and_(Real x, Real y) { return x != 0 && y != 0; }
inline Real logical_or_(Real x, Real y) { return x != 0 || y != 0; }
inline Real logical_xor_(Real x, Real y) { return (x != 0) != (y != 0); }
inline Real logical_not_(Real x) { return x == 0; }
inline Real where_(Real condition, Real x, Real y) { return condition != 0 ? x : y; }

} // namespace calque::reference
#endif
