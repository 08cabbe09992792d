#include "test/fuzz/Kernels.h"

#include <array>

namespace calque::fuzz {

namespace {

struct Uncertain {
  Real value, bound;
  DType dtype;
};

// How far f(x) moves while each operand moves within its bound: at the corners, which is exact to first order; where a
// bound is so large that this means nothing, it is unknown unless the operand makes no difference at all. With `signs`
// zeros of two signs differ.
Real deviation(const std::function<Real(const Real *)> &f, std::span<const Uncertain> x, Real at, bool signs) {
  std::vector<std::vector<Real>> points;
  bool any = false, wide = false;
  for (const Uncertain &operand : x) {
    points.push_back({operand.value});
    if (operand.bound == 0)
      continue;
    any = true;
    if (operand.dtype == DType::Bool) {
      points.back() = {0, 1};
    } else if (operand.bound > std::max<Real>(1, std::fabs(operand.value)) / 4 || std::isnan(operand.value)) {
      wide = true;
      points.back() = {operand.value, 0, 1, -1, 0.5L, -2.5L, 7};
      if (is_floating(operand.dtype))
        points.back().insert(points.back().end(), {kUnknown, -kUnknown, std::numeric_limits<Real>::quiet_NaN()});
      else
        points.back().insert(points.back().end(), {largestOf(operand.dtype), leastOf(operand.dtype)});
    } else {
      points.back() = {operand.value - operand.bound, operand.value + operand.bound};
      if (std::fabs(operand.value) <= operand.bound)
        points.back().push_back(0);
    }
  }
  if (!any)
    return 0;
  Real most = 0;
  std::vector<std::size_t> index(x.size());
  std::array<Real, 8> corner{};
  for (bool more = true; more;) {
    for (std::size_t i = 0; i < x.size(); ++i)
      corner[i] = points[i][index[i]];
    Real moved = f(corner.data());
    most = std::max(
        most, signs && moved == 0 && at == 0 && std::signbit(moved) != std::signbit(at) ? kTiny : distance(moved, at));
    more = false;
    for (std::size_t i = 0; i < x.size() && !more; ++i) {
      more = ++index[i] < points[i].size();
      if (!more)
        index[i] = 0;
    }
  }
  return wide && most > kTiny ? kUnknown : most * 1.01L;
}

} // namespace

void elementwiseBy(const Call &call, const std::function<Real(const Real *)> &f, int roundings, int ulp,
                   double digitsFrom) {
  std::vector<Broadcast> places;
  for (const Array *operand : call.x)
    places.emplace_back(operand->type.dims, call.shape());
  DType dtype = call.dtype();
  std::vector<Uncertain> x(call.x.size());
  for (std::int64_t i = 0; i < call.count(); ++i) {
    std::array<Real, 8> values{};
    bool exactOperands = true, sameOperands = true;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const Num &operand = call.in(k, places[k](i));
      values[k] = operand.value;
      exactOperands &= operand.off == 0;
      sameOperands &= operand.apart == 0;
    }
    Real value = f(values.data());
    if (is_integer(dtype))
      value = std::trunc(value);
    Real off = 0, apart = 0;
    auto deviate = [&](Real Num::*bound) {
      for (std::size_t k = 0; k < x.size(); ++k) {
        const Num &operand = call.in(k, places[k](i));
        x[k] = {operand.value, operand.*bound, call[k].type.dtype};
      }
      return deviation(f, x, value, bound == &Num::apart && is_floating(dtype));
    };
    if (call.machine && !exactOperands)
      off = deviate(&Num::off);
    if (call.machine && !sameOperands)
      apart = deviate(&Num::apart);
    Real own = 0;
    if (is_floating(dtype) && std::isfinite(value)) {
      // That several roundings give a number of the type may be an accident of the last one; of few digits it is none.
      bool isExact = roundTo(roundings > 1 ? DType::Float32 : dtype, value) == value;
      if (roundings < 0) {
        // The limits are those of float32. float64 is the C library's, whose manual gives up to 4 for some functions.
        const Real magnitude = std::max(std::fabs(value), dtype == DType::Float64 ? static_cast<Real>(digitsFrom) : 0);
        own = (dtype == DType::Float64 ? std::max(ulp, 4) : ulp) * epsilonOf(dtype) * magnitude;
      } else if (roundings > 0 &&
                 !(call.machine && (isExact || (roundings == 1 && dtype == DType::Float32)) && exactOperands))
        own = roundings * epsilonOf(dtype) * std::fabs(value);
      // Numbers that are too small for all digits of a half are common.
      if (is_half(dtype) && roundings != 0 && value != 0 && std::fabs(value) < 4 * leastNormalOf(dtype))
        own += leastPositiveOf(dtype);
      // The references don't promise the sign of a zero.
      if (value == 0)
        own = std::max(own, kTiny);
      own +=
          roundings != 0 && std::fabs(value) < 1e-30L && value != 0 ? (dtype == DType::Float64 ? 1e-307L : 1e-37L) : 0;
    }
    call.out(i) = seal(call, value, off, apart, own, 0);
  }
}

namespace {

void castTo(const Call &call) {
  DType to = call.dtype();
  elementwiseBy(
      call,
      [to](const Real *x) -> Real {
        if (to == DType::Bool)
          return x[0] != 0;
        if (is_floating(to))
          return x[0];
        if (std::isnan(x[0]))
          return 0;
        // Integers wrap, floats saturate; both are told apart by the caller.
        return std::trunc(x[0]);
      },
      is_floating(to) ? 1 : 0);
  if (!is_integer(to) || !is_floating(call[0].type.dtype))
    return;
  Real high = largestOf(to), low = leastOf(to);
  for (std::int64_t i = 0; i < call.count(); ++i)
    if (Real value = call.in(0, i).value; value >= high || value <= low)
      call.out(i) = {value > 0 ? high : low, call.out(i).off, call.out(i).apart};
}

// A power of integers, which wraps, by as many products as the exponent says, modulo 2^64.
Real integerPower(const Real *x) {
  if (!(std::fabs(x[0]) < 0x1p63L && std::fabs(x[1]) < 0x1p63L))
    return kUnknown;
  auto base = static_cast<std::int64_t>(x[0]), exponent = static_cast<std::int64_t>(x[1]);
  if (exponent < 0)
    return base == 1 || base == -1 ? (exponent % 2 ? base : 1) : 0;
  std::uint64_t result = 1, square = static_cast<std::uint64_t>(base);
  for (; exponent; exponent /= 2, square *= square)
    if (exponent % 2)
      result *= square;
  return static_cast<std::int64_t>(result);
}

void power(const Call &call) {
  const Facts &facts = factsOf(call.step.op);
  if (is_integer(call.dtype()))
    elementwiseBy(call, integerPower, 0);
  else
    elementwiseBy(call, facts.reference, facts.roundings, facts.ulp);
}

} // namespace

void openRemainders(const Call &call) {
  Broadcast lhs(call.shape(0), call.shape()), rhs(call.shape(1), call.shape());
  for (std::int64_t i = 0; i < call.count(); ++i) {
    const Num &x = call.in(0, lhs(i)), &y = call.in(1, rhs(i));
    auto isOpen = [&](Real Num::*bound) {
      Real moved = x.*bound + (y.*bound > 0 ? y.*bound * (std::fabs(x.value / y.value) + 1) : 0);
      return moved > 0 && !(moved < std::fabs(y.value) / 4);
    };
    if (isOpen(&Num::off))
      call.out(i).off = kUnknown;
    if (isOpen(&Num::apart))
      call.out(i).apart = kUnknown;
  }
}

const KernelTable &elementwiseKernels() {
  static const auto *table = new KernelTable{
      {"cast", castTo},
      {"pow", power},
  };
  return *table;
}

} // namespace calque::fuzz
