// Operations on each element alone.
#include "stablehlo/Support.h"

#include <cmath>

namespace calque::stablehlo {

namespace {

Results added(const Call &call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  // Sizes keep what is known of them where nothing is added.
  if (x.dtype() == DType::Bool)
    return logical_or(x, y);
  return add(x, y);
}
Results multiplied(const Call &call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  return x.dtype() == DType::Bool ? logical_and(x, y) : mul(x, y);
}
Results divided(const Call &call) { return quotient(call.tensor(0), call.tensor(1)); }
Results remainder(const Call &call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  if (!is_integer(x.dtype()))
    return fmod(x, y);
  if (y.is_known() && y.rank() == 0 && hostIntegers(y)[0] != 0)
    return fmod(x, y);
  const Tensor isZero = equal(y, 0);
  return where(isZero, x, fmod(x, where(isZero, cast(scalarOf(1, DType::Int64), x.dtype()), y)));
}
Results largest(const Call &call) { return larger(call.tensor(0), call.tensor(1)); }
Results smallest(const Call &call) { return smaller(call.tensor(0), call.tensor(1)); }

Results conjunction(const Call &call) { return call.tensor(0) & call.tensor(1); }
Results disjunction(const Call &call) { return call.tensor(0) | call.tensor(1); }
Results exclusion(const Call &call) { return call.tensor(0) ^ call.tensor(1); }
Results negation(const Call &call) { return ~Operand(call.tensor(0)); }

DType unsignedOf(DType dtype) {
  switch (dtype) {
  case DType::Int8:
    return DType::UInt8;
  case DType::Int16:
    return DType::UInt16;
  case DType::Int32:
    return DType::UInt32;
  case DType::Int64:
    return DType::UInt64;
  default:
    return dtype;
  }
}
Results shiftedRight(const Call &call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  const DType plain = unsignedOf(x.dtype());
  return as(right_shift(as(x, plain), as(y, plain)), x.dtype());
}
DType signedOf(DType dtype) {
  switch (dtype) {
  case DType::UInt8:
    return DType::Int8;
  case DType::UInt16:
    return DType::Int16;
  case DType::UInt32:
    return DType::Int32;
  case DType::UInt64:
    return DType::Int64;
  default:
    return dtype;
  }
}
Results shiftedRightWithSign(const Call &call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  const DType plain = signedOf(x.dtype());
  return as(right_shift(as(x, plain), as(y, plain)), x.dtype());
}

Results absolute(const Call &call) {
  const Tensor x = call.tensor(0);
  return is_unsigned(x.dtype()) ? x : abs(x);
}
Results signOf(const Call &call) {
  const Tensor x = call.tensor(0);
  if (is_unsigned(x.dtype()))
    return cast(x > 0, x.dtype());
  if (!is_complex(x.dtype()))
    return is_floating(x.dtype()) ? where(equal(x, 0), x, sign(x)) : sign(x);
  const Tensor size = abs(x), isZero = equal(size, 0);
  return where(isZero, x, x / cast(where(isZero, scalarOf(1, size.dtype()), size), x.dtype()));
}
// Halves are rounded away from zero. What x lacks to a whole number is exact, while x + 0.5 is not.
Results roundedAway(const Call &call) {
  const Tensor x = call.tensor(0), whole = trunc(x);
  const Tensor isUp = abs(x - whole) >= scalarOf(0.5, x.dtype());
  return where(isUp, whole + copysign(scalarOf(1, x.dtype()), x), whole);
}
Results realPart(const Call &call) {
  const Tensor x = call.tensor(0);
  return is_complex(x.dtype()) ? real(x) : x;
}
Results imaginaryPart(const Call &call) {
  const Tensor x = call.tensor(0);
  return is_complex(x.dtype()) ? imag(x) : x * scalarOf(0, x.dtype());
}
// Of complex numbers by their definitions.
Results inverseRoot(const Call &call) {
  const Tensor x = call.tensor(0);
  return is_complex(x.dtype()) ? 1 / sqrt(x) : rsqrt(x);
}
Results logistic(const Call &call) {
  const Tensor x = call.tensor(0);
  return is_complex(x.dtype()) ? 1 / (1 + exp(-x)) : sigmoid(x);
}
Results cubeRoot(const Call &call) {
  const Tensor x = call.tensor(0);
  if (!is_complex(x.dtype()))
    return cbrt(x);
  return where(equal(x, 0), x, exp(log(x) / 3));
}
Results arcTangent(const Call &call) {
  const Tensor y = call.tensor(0), x = call.tensor(1);
  if (!is_complex(x.dtype()))
    return atan2(y, x);
  // -i log((x + i y) / sqrt(x^2 + y^2))
  const complex128 i(0, 1);
  return -(log((x + y * i) / sqrt(x * x + y * y)) * i);
}
Results powered(const Call &call) { return pow(call.tensor(0), call.tensor(1)); }
Results finite(const Call &call) { return isfinite(call.tensor(0)); }
Results leadingZeros(const Call &call) { return as(count_leading_zeros(call.tensor(0)), call.dtype()); }
// The upper half of the bits of a product.
Results highProduct(const Call &call) {
  const Tensor x = call.tensor(0), y = call.tensor(1);
  const DType dtype = x.dtype();
  const auto width = static_cast<std::int64_t>(8 * size_of(dtype));
  if (width < 64) {
    const DType wide = is_unsigned(dtype) ? DType::UInt64 : DType::Int64;
    return cast(right_shift(mul(cast(x, wide), cast(y, wide)), width), dtype);
  }
  // Products of halves of 32 bits, of which the upper ones have the sign.
  const DType plain = DType::UInt64;
  const Tensor low = bitwise_and(x, 0xFFFFFFFF), otherLow = bitwise_and(y, 0xFFFFFFFF);
  const Tensor high = right_shift(x, 32), otherHigh = right_shift(y, 32);
  const Tensor lowest = right_shift(mul(cast(low, plain), cast(otherLow, plain)), 32);
  const Tensor middle = mul(high, otherLow) + cast(lowest, dtype);
  const Tensor rest = mul(low, otherHigh) + bitwise_and(middle, 0xFFFFFFFF);
  return mul(high, otherHigh) + right_shift(middle, 32) + right_shift(rest, 32);
}
Results populated(const Call &call) { return as(popcount(call.tensor(0)), call.dtype()); }
Results leftShifted(const Call &call) { return left_shift(call.tensor(0), call.tensor(1)); }
Results clamped(const Call &call) { return smaller(larger(call.tensor(1), call.tensor(0)), call.tensor(2)); }
Results selected(const Call &call) { return where(call.tensor(0), call.tensor(1), call.tensor(2)); }

Results compared(const Call &call) {
  Tensor x = call.tensor(0), y = call.tensor(1);
  const std::string direction = call.word("comparison_direction", call.word("word0", ""));
  const std::string order = call.word("compare_type", call.word("word1", ""));
  if (order == "TOTALORDER" && is_floating(x.dtype())) {
    x = inTotalOrder(x);
    y = inTotalOrder(y);
  }
  if (direction == "EQ")
    return equal(x, y);
  if (direction == "NE")
    return not_equal(x, y);
  if (x.dtype() == DType::Bool) {
    x = cast(x, DType::UInt8);
    y = cast(y, DType::UInt8);
  }
  const bool isComplex = is_complex(x.dtype());
  if (direction == "LT")
    return isLess(x, y);
  if (direction == "GT")
    return isLess(y, x);
  if (direction == "LE")
    return isComplex ? logical_or(isLess(x, y), equal(x, y)) : less_equal(x, y);
  if (direction == "GE")
    return isComplex ? logical_or(isLess(y, x), equal(x, y)) : greater_equal(x, y);
  call.refuse("the comparison '" + direction + "' is none of EQ, NE, LT, LE, GT and GE");
}

Results converted(const Call &call) {
  const Value &given = call.value(0);
  const DType to = call.dtype();
  if (given.hasElements() && (to == DType::Int32 || to == DType::Int64))
    return Value::ofElements(*given.elements(), given.rank() == 0, to, cast(given.tensor(), to));
  const Tensor x = call.tensor(0);
  if (x.dtype() == to)
    return given;
  if (is_complex(x.dtype()) && !is_complex(to))
    return to == DType::Bool ? not_equal(real(x), 0) : as(real(x), to);
  if (to == DType::Bool)
    return not_equal(x, scalarOf(0, x.dtype()));
  return cast(x, to);
}

// x rounded to so many bits of exponent and mantissa, halves to even.
Results reduced(const Call &call) {
  const Tensor x = call.tensor(0);
  std::int64_t exponent, mantissa;
  if (const std::string format = call.word("format", ""); !format.empty()) {
    const std::size_t middle = format.find('m');
    if (!format.starts_with("e") || middle == std::string::npos || middle > 4 || format.size() > middle + 4 ||
        format.find_first_not_of("0123456789em") != std::string::npos || middle == 1 || format.size() == middle + 1)
      call.refuse("the format '" + format + "' is not of the form e5m10");
    exponent = std::stoll(format.substr(1, middle - 1));
    mantissa = std::stoll(format.substr(middle + 1));
  } else {
    exponent = call.integer("exponent_bits");
    mantissa = call.integer("mantissa_bits");
  }
  if (exponent < 1 || mantissa < 0)
    call.refuse("a format of " + std::to_string(exponent) + " bits of exponent and " + std::to_string(mantissa) +
                " of mantissa");
  struct Format {
    DType dtype, word;
    std::int64_t exponent, mantissa;
  };
  constexpr Format kFormats[] = {{DType::Float32, DType::UInt32, 8, 23},
                                 {DType::Float64, DType::UInt64, 11, 52},
                                 {DType::Float16, DType::UInt16, 5, 10},
                                 {DType::BFloat16, DType::UInt16, 8, 7}};
  for (const Format &each : kFormats) {
    if (each.dtype != x.dtype())
      continue;
    const DType word = each.word;
    auto bitsOf = [&](std::uint64_t bits) {
      return cast(tensor_from_bytes(DType::UInt64, std::as_bytes(std::span(&bits, 1)), {}), word);
    };
    Tensor bits = bitcast(x, word);
    if (mantissa < each.mantissa) {
      // Half of the last place that stays, less one if the result would be odd.
      const std::int64_t gone = each.mantissa - mantissa;
      const std::uint64_t last = std::uint64_t(1) << gone;
      const Tensor isOdd = bitwise_and(right_shift(bits, bitsOf(static_cast<std::uint64_t>(gone))), bitsOf(1));
      bits = bitwise_and(bits + (bitsOf(last / 2 - 1) + isOdd), bitwise_not(bitsOf(last - 1)));
    }
    if (exponent < each.exponent) {
      // Beyond the largest exponent is infinity, and what would be subnormal is 0, both with the sign.
      const std::uint64_t sign = std::uint64_t(1) << (each.exponent + each.mantissa);
      const std::uint64_t bias = (std::uint64_t(1) << (each.exponent - 1)) - 1,
                          narrow = (std::uint64_t(1) << (exponent - 1)) - 1;
      const std::uint64_t infinity = ((std::uint64_t(1) << each.exponent) - 1) << each.mantissa;
      const Tensor signs = bitwise_and(bits, bitsOf(sign));
      const Tensor size = bitwise_and(bits, bitsOf(infinity));
      const Tensor isLarge = size > bitsOf((bias + narrow) << each.mantissa);
      const Tensor isSmall = size <= bitsOf((bias - narrow) << each.mantissa);
      bits = where(isLarge, bitwise_or(signs, bitsOf(infinity)), bits);
      bits = where(isSmall, signs, bits);
    }
    // Without a mantissa there is no NaN.
    const Tensor nan = mantissa == 0 ? copysign(scalarOf(INFINITY, x.dtype()), x) : x;
    return where(isnan(x), nan, bitcast(bits, x.dtype()));
  }
  call.refuse("elements of the type " + std::string(name_of(x.dtype())));
}

// CHLO's, whose operands broadcast as in NumPy.
Results infinite(const Call &call) { return isinf(call.tensor(0)); }
Results infiniteAbove(const Call &call) {
  const Tensor x = call.tensor(0);
  return equal(x, scalarOf(INFINITY, x.dtype()));
}
Results infiniteBelow(const Call &call) {
  const Tensor x = call.tensor(0);
  return equal(x, scalarOf(-INFINITY, x.dtype()));
}
Results conjugate(const Call &call) {
  const Tensor x = call.tensor(0);
  return is_complex(x.dtype()) ? conj(x) : x;
}
// The sum over k of (q + k)^-x: ten terms, and what Euler's and Maclaurin's formula says of the others, with the
// numbers of Bernoulli B_2k / (2 k)! of NIST's handbook, 24.2 and 25.11.
Tensor hurwitz(const Tensor &given, const Tensor &other) {
  const DType dtype = given.dtype();
  const Tensor x = is_half(dtype) ? cast(given, DType::Float32) : given,
               q = is_half(dtype) ? cast(other, DType::Float32) : other;
  constexpr double kCoefficients[] = {1.0 / 12,
                                      -1.0 / 720,
                                      1.0 / 30240,
                                      -1.0 / 1209600,
                                      1.0 / 47900160,
                                      -691.0 / 1307674368000.0,
                                      1.0 / 74724249600.0,
                                      -3617.0 / 10670622842880000.0};
  Tensor total = pow(q, -x);
  for (int k = 1; k < 10; ++k)
    total = total + pow(q + k, -x);
  const Tensor a = q + 10, last = pow(a, -x);
  total = total + last * a / (x - 1) + last / 2;
  Tensor term = last * x / a;
  for (int k = 0; k < 8; ++k) {
    total = total + kCoefficients[k] * term;
    term = term * (x + (2 * k + 1)) * (x + (2 * k + 2)) / square(a);
  }
  const Tensor nan = scalarOf(NAN, x.dtype()), infinity = scalarOf(INFINITY, x.dtype());
  const Tensor isPole = logical_and(q <= 0, equal(q, floor(q)));
  total = where(isPole, infinity, where(logical_and(q <= 0, not_equal(x, floor(x))), nan, total));
  total = where(equal(x, 1), infinity, where(x < 1, nan, total));
  return as(total, dtype);
}
Results zeta(const Call &call) { return hurwitz(call.tensor(0), call.tensor(1)); }

// (-1)^(n + 1) n! zeta(n + 1, x), and digamma for the order 0.
Results polygammaOf(const Call &call) {
  const Tensor n = call.tensor(0), x = call.tensor(1);
  const Tensor sign = where(equal(fmod(n, 2), 0), scalarOf(-1, n.dtype()), scalarOf(1, n.dtype()));
  return where(equal(n, 0), digamma(x), sign * exp(lgamma(n + 1)) * hurwitz(n + 1, x));
}

#define CALQUE_EACH(name, function, count) {name, count, count, function, Trait::Elementwise}
#define CALQUE_SAME(name, function, count, records) {name, count, count, function, Trait::Elementwise, 0, records}

constexpr Operator kTable[] = {
    CALQUE_SAME("chlo.acos", unary<acos>, 1, "acos"),
    CALQUE_SAME("chlo.acosh", unary<acosh>, 1, "acosh"),
    CALQUE_SAME("chlo.asin", unary<asin>, 1, "asin"),
    CALQUE_SAME("chlo.asinh", unary<asinh>, 1, "asinh"),
    CALQUE_SAME("chlo.atan", unary<atan>, 1, "atan"),
    CALQUE_SAME("chlo.atanh", unary<atanh>, 1, "atanh"),
    CALQUE_SAME("chlo.bessel_i1e", unary<i1e>, 1, "i1e"),
    CALQUE_EACH("chlo.broadcast_add", added, 2),
    CALQUE_EACH("chlo.broadcast_and", conjunction, 2),
    CALQUE_EACH("chlo.broadcast_atan2", binary<atan2>, 2),
    CALQUE_EACH("chlo.broadcast_compare", compared, 2),
    CALQUE_EACH("chlo.broadcast_complex", binary<complex>, 2),
    CALQUE_EACH("chlo.broadcast_divide", divided, 2),
    CALQUE_EACH("chlo.broadcast_maximum", largest, 2),
    CALQUE_EACH("chlo.broadcast_minimum", smallest, 2),
    CALQUE_EACH("chlo.broadcast_multiply", multiplied, 2),
    CALQUE_EACH("chlo.broadcast_next_after", binary<nextafter>, 2),
    CALQUE_EACH("chlo.broadcast_or", disjunction, 2),
    CALQUE_EACH("chlo.broadcast_power", powered, 2),
    CALQUE_EACH("chlo.broadcast_remainder", remainder, 2),
    CALQUE_EACH("chlo.broadcast_select", selected, 3),
    CALQUE_EACH("chlo.broadcast_shift_left", leftShifted, 2),
    CALQUE_EACH("chlo.broadcast_shift_right_arithmetic", shiftedRightWithSign, 2),
    CALQUE_EACH("chlo.broadcast_shift_right_logical", shiftedRight, 2),
    CALQUE_EACH("chlo.broadcast_subtract", binary<sub>, 2),
    CALQUE_EACH("chlo.broadcast_xor", exclusion, 2),
    CALQUE_EACH("chlo.conj", conjugate, 1),
    CALQUE_SAME("chlo.cosh", unary<cosh>, 1, "cosh"),
    CALQUE_SAME("chlo.digamma", unary<digamma>, 1, "digamma"),
    CALQUE_SAME("chlo.erf", unary<erf>, 1, "erf"),
    CALQUE_SAME("chlo.erf_inv", unary<erfinv>, 1, "erfinv"),
    CALQUE_SAME("chlo.erfc", unary<erfc>, 1, "erfc"),
    CALQUE_EACH("chlo.is_inf", infinite, 1),
    CALQUE_EACH("chlo.is_neg_inf", infiniteBelow, 1),
    CALQUE_EACH("chlo.is_pos_inf", infiniteAbove, 1),
    CALQUE_SAME("chlo.lgamma", unary<lgamma>, 1, "lgamma"),
    CALQUE_EACH("chlo.mulhi", highProduct, 2),
    CALQUE_SAME("chlo.next_after", binary<nextafter>, 2, "nextafter"),
    CALQUE_EACH("chlo.polygamma", polygammaOf, 2),
    CALQUE_SAME("chlo.sinh", unary<sinh>, 1, "sinh"),
    CALQUE_EACH("chlo.square", unary<square>, 1),
    CALQUE_EACH("chlo.tan", unary<tan>, 1),
    CALQUE_SAME("chlo.zeta", zeta, 2, "zeta"),
    CALQUE_SAME("stablehlo.abs", absolute, 1, "abs"),
    CALQUE_SAME("stablehlo.add", added, 2, "add"),
    CALQUE_SAME("stablehlo.and", conjunction, 2, "bitwise_and logical_and"),
    CALQUE_SAME("stablehlo.atan2", arcTangent, 2, "atan2"),
    CALQUE_SAME("stablehlo.cbrt", cubeRoot, 1, "cbrt"),
    CALQUE_SAME("stablehlo.ceil", unary<ceil>, 1, "ceil"),
    CALQUE_EACH("stablehlo.clamp", clamped, 3),
    CALQUE_EACH("stablehlo.compare", compared, 2),
    CALQUE_EACH("stablehlo.complex", binary<complex>, 2),
    CALQUE_EACH("stablehlo.convert", converted, 1),
    CALQUE_SAME("stablehlo.cosine", unary<cos>, 1, "cos"),
    CALQUE_EACH("stablehlo.count_leading_zeros", leadingZeros, 1),
    CALQUE_SAME("stablehlo.divide", divided, 2, "div"),
    CALQUE_SAME("stablehlo.exponential", unary<exp>, 1, "exp"),
    CALQUE_SAME("stablehlo.exponential_minus_one", unary<expm1>, 1, "expm1"),
    CALQUE_SAME("stablehlo.floor", unary<floor>, 1, "floor"),
    CALQUE_EACH("stablehlo.imag", imaginaryPart, 1),
    CALQUE_SAME("stablehlo.is_finite", finite, 1, "isfinite"),
    CALQUE_SAME("stablehlo.log", unary<log>, 1, "log"),
    CALQUE_SAME("stablehlo.log_plus_one", unary<log1p>, 1, "log1p"),
    CALQUE_SAME("stablehlo.logistic", logistic, 1, "sigmoid"),
    CALQUE_SAME("stablehlo.maximum", largest, 2, "maximum"),
    CALQUE_SAME("stablehlo.minimum", smallest, 2, "minimum"),
    CALQUE_SAME("stablehlo.multiply", multiplied, 2, "mul"),
    CALQUE_SAME("stablehlo.negate", unary<neg>, 1, "neg"),
    CALQUE_SAME("stablehlo.not", negation, 1, "bitwise_not logical_not"),
    CALQUE_SAME("stablehlo.or", disjunction, 2, "bitwise_or logical_or"),
    CALQUE_SAME("stablehlo.popcnt", populated, 1, "popcount"),
    CALQUE_SAME("stablehlo.power", powered, 2, "pow"),
    CALQUE_EACH("stablehlo.real", realPart, 1),
    CALQUE_EACH("stablehlo.reduce_precision", reduced, 1),
    CALQUE_SAME("stablehlo.remainder", remainder, 2, "fmod"),
    CALQUE_EACH("stablehlo.round_nearest_afz", roundedAway, 1),
    CALQUE_SAME("stablehlo.round_nearest_even", unary<round>, 1, "round"),
    CALQUE_SAME("stablehlo.rsqrt", inverseRoot, 1, "rsqrt"),
    CALQUE_SAME("stablehlo.select", selected, 3, "where"),
    CALQUE_SAME("stablehlo.shift_left", leftShifted, 2, "left_shift"),
    CALQUE_SAME("stablehlo.shift_right_arithmetic", shiftedRightWithSign, 2, "right_shift"),
    CALQUE_EACH("stablehlo.shift_right_logical", shiftedRight, 2),
    CALQUE_SAME("stablehlo.sign", signOf, 1, "sign"),
    CALQUE_SAME("stablehlo.sine", unary<sin>, 1, "sin"),
    CALQUE_SAME("stablehlo.sqrt", unary<sqrt>, 1, "sqrt"),
    CALQUE_SAME("stablehlo.subtract", binary<sub>, 2, "sub"),
    CALQUE_SAME("stablehlo.tan", unary<tan>, 1, "tan"),
    CALQUE_SAME("stablehlo.tanh", unary<tanh>, 1, "tanh"),
    CALQUE_SAME("stablehlo.xor", exclusion, 2, "bitwise_xor logical_xor"),
};
#undef CALQUE_EACH
#undef CALQUE_SAME

} // namespace

Table elementwiseOperators() { return kTable; }

} // namespace calque::stablehlo
