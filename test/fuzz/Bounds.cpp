#include "test/fuzz/Kernels.h"

#include <bit>

namespace calque::fuzz {

namespace {
bool same(Real a, Real b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// The exponent of the lowest bit of a number that is not zero.
int lowestBit(Real x) {
  int exponent = 0;
  Real mantissa = std::frexp(std::fabs(x), &exponent);
  return exponent - 64 + std::countr_zero(static_cast<std::uint64_t>(std::ldexp(mantissa, 64)));
}
} // namespace

Real distance(Real a, Real b) {
  if (same(a, b))
    return 0;
  Real d = std::fabs(a - b);
  return std::isnan(d) ? kUnknown : d;
}
Real epsilonOf(DType dtype) { // 0 of integers
  return dispatch(real_of(dtype), []<typename T>(std::type_identity<T>) {
    return static_cast<Real>(std::numeric_limits<T>::epsilon());
  });
}
Real leastNormalOf(DType dtype) {
  return dispatch(real_of(dtype),
                  []<typename T>(std::type_identity<T>) { return static_cast<Real>(std::numeric_limits<T>::min()); });
}
Real leastPositiveOf(DType dtype) { return leastNormalOf(dtype) * epsilonOf(dtype); }
Real largestOf(DType dtype) {
  return dispatch(real_of(dtype),
                  []<typename T>(std::type_identity<T>) { return static_cast<Real>(std::numeric_limits<T>::max()); });
}
Real leastOf(DType dtype) {
  return dispatch(real_of(dtype), []<typename T>(std::type_identity<T>) {
    return static_cast<Real>(std::numeric_limits<T>::lowest());
  });
}
Real approximation(DType dtype, Real value) {
  if (is_half(dtype)) // as float32, and rounded
    return approximation(DType::Float32, value) + epsilonOf(dtype) * std::fabs(value) + leastPositiveOf(dtype);
  return dtype == DType::Float32 ? 2e-6L + 1e-6L * std::fabs(value) : 1e-14L + 1e-14L * std::fabs(value);
}

Num seal(const Call &call, Real value, Real off, Real apart, Real own, Real ownApart) {
  DType dtype = call.dtype();
  if (!call.machine)
    return {value, own, 0};
  if (!is_floating(dtype)) {
    const Real own = std::isfinite(off) ? off : 0;
    if (off > 0 && (value + own > largestOf(dtype) || value - own < leastOf(dtype)))
      off = kUnknown;
    if (!(std::fabs(value) < 0x1p64L))
      return {0, kUnknown, apart > 0 ? kUnknown : 0};
    return {roundTo(dtype, value), off, apart};
  }
  Real rounded = roundTo(dtype, value);
  if (!std::isfinite(value))
    return {rounded, off, apart};
  off += own;
  if (apart > 0)
    apart += own + ownApart + epsilonOf(dtype) * std::fabs(value);
  else
    apart = ownApart;
  // Near overflow either may happen.
  if (std::fabs(value) + off >= largestOf(dtype) && (off > 0))
    off = kUnknown;
  if (std::fabs(value) + apart >= largestOf(dtype) && (apart > 0))
    apart = kUnknown;
  return {rounded, off, apart};
}

//===-- Sums ------------------------------------------------------------------------------------===//

namespace {
Real productBound(const Num &a, const Num &b, Real Num::*which) {
  Real x = a.*which, y = b.*which;
  return (x > 0 ? x * (std::fabs(b.value) + y) : 0) + (y > 0 ? y * std::fabs(a.value) : 0) + 0;
}
} // namespace

void Sum::take(Real term, int bit) {
  total += term;
  magnitude += std::fabs(term);
  if (!is_floating(call->dtype()) && std::fabs(term) < 0x1p64L)
    wrapped += static_cast<std::uint64_t>(static_cast<__int128>(term));
  lowest = std::min(lowest, bit);
  ++terms;
}

// The machine's terms may have other bits than these where they are off.
constexpr int kAnyBit = -(1 << 20);

void Sum::add(const Num &a) {
  take(a.value, a.off > kTiny ? kAnyBit : a.value != 0 && std::isfinite(a.value) ? lowestBit(a.value) : INT_MAX);
  off += a.off;
  apart += a.apart;
}
void Sum::add(const Num &a, const Num &b) {
  bool counts = a.value != 0 && b.value != 0 && std::isfinite(a.value) && std::isfinite(b.value);
  Real own = productBound(a, b, &Num::off);
  take(a.value * b.value, own > kTiny ? kAnyBit : counts ? lowestBit(a.value) + lowestBit(b.value) : INT_MAX);
  products = true;
  off += own;
  apart += productBound(a, b, &Num::apart);
}

Num Sum::finish() const {
  DType dtype = call->dtype();
  if (!is_floating(dtype)) {
    // Integers wrap, whatever the order. Of products that are wider than a Real nothing is known.
    bool isKnown = off == 0 && apart == 0 && !products;
    if (!(magnitude < 0x1p63L))
      return {isKnown ? roundTo(dtype, static_cast<Real>(wrapped)) : 0, isKnown ? 0 : kUnknown,
              apart > 0 ? kUnknown : 0};
    return seal(*call, total, off, apart, 0, 0);
  }
  if (!std::isfinite(total))
    return {total, off, apart};
  if (call->machine && magnitude > largestOf(dtype))
    return {total, kUnknown, kUnknown};
  // Halves are added up in float32, and the sum is rounded.
  const DType in = is_half(dtype) ? DType::Float32 : dtype;
  int precision = in == DType::Float32 ? 24 : 53;
  bool exact = lowest == INT_MAX || (lowest > -140 && magnitude <= std::ldexp(Real(1), precision + lowest));
  Real own = exact && call->machine ? 0 : (static_cast<Real>(terms) + 2) * epsilonOf(in) * magnitude;
  if (!exact)
    own += static_cast<Real>(terms) * (in == DType::Float32 ? 0x1p-149L : 0x1p-1074L);
  if (!exact && is_half(dtype))
    own += epsilonOf(dtype) * std::fabs(total) + leastPositiveOf(dtype);
  bool orderMatters = !exact && (terms > 2 || (terms == 2 && products));
  // A sum may begin with +0 or with its first term.
  Real zero = total == 0 ? kTiny : 0;
  return seal(*call, total, off, apart, std::max(own, zero), std::max(orderMatters ? 2 * own : 0, zero));
}

//===-- Functions of several elements -----------------------------------------------------------===//

Num through(const Call &call, const std::vector<Num> &x, const std::function<Real(const std::vector<Real> &)> &f,
            Real ownFactor) {
  std::vector<Real> values;
  for (const Num &element : x)
    values.push_back(element.value);
  Real value = f(values);
  Real own = ownFactor * (is_floating(call.dtype()) && std::isfinite(value) ? approximation(call.dtype(), value) : 0);
  if (value == 0)
    own = std::max(own, kTiny);
  if (!call.machine)
    return {value, own, 0};
  auto deviate = [&](Real Num::*bound) {
    Real total = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      Real b = x[i].*bound;
      if (b == 0)
        continue;
      if (b > std::max<Real>(1, std::fabs(x[i].value)) / 4 || std::isnan(x[i].value))
        return kUnknown;
      Real most = 0;
      for (Real side : {-1, 1}) {
        values[i] = x[i].value + side * b;
        most = std::max(most, distance(f(values), value));
      }
      values[i] = x[i].value;
      total += most * 1.5L;
    }
    return total;
  };
  return seal(call, value, deviate(&Num::off), deviate(&Num::apart), own, 0);
}

Largest firstLargest(const std::vector<Num> &x) {
  Largest result;
  for (std::size_t i = 1; i < x.size(); ++i)
    if (x[result.position].value < x[i].value || (std::isnan(x[i].value) && !std::isnan(x[result.position].value)))
      result.position = i;
  const Num &best = x[result.position];
  for (std::size_t i = 0; i < x.size(); ++i) {
    auto open = [&](Real Num::*bound) {
      return x[i].*bound + best.*bound > 0 &&
             (i == result.position ? !std::isfinite(best.*bound) && x.size() > 1
                                   : !(x[i].value + x[i].*bound < best.value - best.*bound));
    };
    result.offOpen |= open(&Num::off);
    result.apartOpen |= open(&Num::apart);
  }
  return result;
}

Real largestValue(const std::vector<Real> &x) {
  Real best = -kUnknown;
  for (Real value : x)
    if (std::isnan(value))
      return value;
    else
      best = std::max(best, value);
  return best;
}

} // namespace calque::fuzz
