// Functions that float32 and float64 compute alike, from the functions of their emitters and from polynomials of their
// own: inverse trigonometric functions, hyperbolic functions and their inverses, roots. The errors are in
// docs/accuracy.md.
//
// The class of an emitter derives from this one. It has exp, expm1, log1p, and
//   static constexpr bool kIsDouble;
//   Parts partsOf(Value x); // of a positive number
#ifndef CALQUE_CODEGEN_NATIVE_ELEMENTARYFUNCTIONS_H
#define CALQUE_CODEGEN_NATIVE_ELEMENTARYFUNCTIONS_H

#include "codegen/native/FunctionEmitter.h"
#include "codegen/native/Polynomials.h"

#include <numbers>

namespace calque::codegen {

template <typename Emitter> class ElementaryFunctions : public FunctionEmitter {
public:
  Value atan(Value x) {
    Value magnitude = absolute(x), one = number(1, x);
    return withSignOf(turned(angleBetween(magnitude, one), isGreater(magnitude, 1), {}), x);
  }
  // As C's: of zeros and infinities the angle is that of their signs.
  Value atan2(Value y, Value x) {
    Value above = absolute(y), beside = absolute(x), one = number(1, x);
    Value areInfinite = both(isEqual(above, kInfinity), isEqual(beside, kInfinity));
    Value angle = angleBetween(select(areInfinite, one, above), select(areInfinite, one, beside));
    return withSignOf(turned(angle, isGreater(above, beside), hasSign(x)), y);
  }
  Value asin(Value x) {
    Value magnitude = absolute(x), isFar = isGreater(magnitude, 0.5), arc = arcOf(magnitude, isFar);
    Value far = sub(number(kHalfPi, x), sub(add(arc, arc), kLowHalfPi));
    return withSignOf(select(isFar, far, arc), x);
  }
  Value acos(Value x) {
    Value magnitude = absolute(x), isFar = isGreater(magnitude, 0.5), arc = arcOf(magnitude, isFar);
    Value isNegative = isLess(x, 0), twice = add(arc, arc), zero = number(0, x);
    Value near = sub(number(kHalfPi, x), sub(withSignOf(arc, x), kLowHalfPi));
    Value high = select(isNegative, number(2 * kHalfPi, x), zero);
    Value low = select(isNegative, number(2 * kLowHalfPi, x), zero);
    Value far = add(high, add(low, select(isNegative, neg(twice), twice)));
    return select(isFar, far, near);
  }

  // (e + e / (e + 1)) / 2, where e = exp(x) - 1. Where the power would overflow it is a square of a smaller one.
  Value sinh(Value x) {
    Value magnitude = absolute(x), isLarge = isGreater(magnitude, kLargePower);
    Value e = self().expm1(select(isLarge, mul(magnitude, 0.5), magnitude)), next = add(e, 1);
    Value bounded = select(isLarge, number(0, x), e);
    Value small = mul(add(bounded, div(bounded, next)), 0.5);
    return withSignOf(select(isLarge, mul(mul(next, 0.5), next), small), x);
  }
  Value cosh(Value x) {
    Value magnitude = absolute(x), isLarge = isGreater(magnitude, kLargePower);
    Value e = self().exp(select(isLarge, mul(magnitude, 0.5), magnitude)), half = mul(e, 0.5);
    return select(isLarge, mul(half, e), add(half, div(number(0.5, x), e)));
  }
  // log(1 + x + x^2 / (1 + sqrt(1 + x^2))), and log(2 x) where the square would overflow.
  Value asinh(Value x) {
    Value magnitude = absolute(x), isLarge = isNotLess(magnitude, kLargeSquare);
    Value bounded = select(isLarge, number(1, x), magnitude), square = mul(bounded, bounded);
    Value root = squareRoot(add(square, 1));
    Value sum = add(bounded, div(square, add(root, 1)));
    return withSignOf(logOfNext(isLarge, magnitude, sum), x);
  }
  // log(1 + t + sqrt(t (t + 2))), where t = x - 1, which is exact near 1.
  Value acosh(Value x) {
    // 1 in place of what has no result, and of zeros, which LLVM adds to small vectors: no root is of a negative
    // number.
    Value isLarge = isNotLess(x, kLargeSquare), one = number(1, x);
    Value t = sub(select(isLarge, one, select(isLess(x, 1), one, x)), 1);
    Value sum = add(t, squareRoot(mul(t, add(t, 2))));
    return select(isLess(x, 1), number(kNaN, x), logOfNext(isLarge, x, sum));
  }
  // log(1 + 2 x / (1 - x)) / 2
  Value atanh(Value x) {
    Value magnitude = absolute(x);
    Value ratio = div(add(magnitude, magnitude), sub(number(1, x), magnitude));
    return withSignOf(mul(self().log1p(ratio), 0.5), x);
  }

  // Of 2^(3 n) m, where m is between 1/3 and 3: a polynomial, corrected by Halley's iteration.
  Value cbrt(Value x) {
    Value magnitude = absolute(x), isOrdinary = both(isGreater(magnitude, 0), isLess(magnitude, kInfinity));
    Parts parts = self().partsOf(select(isOrdinary, magnitude, number(1, x)));
    constexpr double kRound = Emitter::kIsDouble ? 0x1.8p52 : 0x1.8p23;
    constexpr int kBias = Emitter::kIsDouble ? 1023 : 127, kDigits = Emitter::kIsDouble ? 52 : 23;
    Value sum = mulAdd(parts.k, 1. / 3, kRound + kBias), third = sub(sum, kRound + kBias);
    Value rest = mulAdd(third, -3, parts.k);
    Value factor = select(isLess(rest, 0), number(0.5, x), select(isGreater(rest, 0), number(2, x), number(1, x)));
    Value m = mul(parts.m, factor), root = polynomial(polynomials::kCbrt, m);
    for (int i = 0; i < (Emitter::kIsDouble ? 2 : 1); ++i) {
      Value square = mul(root, root), error = mulAdd(square, root, neg(m));
      Value slope = mulAdd(add(square, square), root, m);
      root = sub(root, div(mul(root, error), slope));
    }
    Value scaled = mul(root, asNumber(shiftLeft(asBits(sum), kDigits)));
    return select(isOrdinary, withSignOf(scaled, x), x);
  }
  // As C's: infinite if one of the numbers is, even if the other is NaN.
  Value hypot(Value x, Value y) {
    Value wide = absolute(x), high = absolute(y), one = number(1, x), result;
    Value isInfinite = either(isEqual(wide, kInfinity), isEqual(high, kInfinity));
    if constexpr (Emitter::kIsDouble) {
      Value isHigher = isGreater(high, wide);
      Value large = select(isHigher, high, wide), small = select(isHigher, wide, high);
      Value isUsual = both(isGreater(large, 0), isLess(large, kInfinity));
      Value ratio = div(select(isInfinite, one, small), select(isUsual, large, one));
      // Of NaN, which is no larger number, the ratio is NaN.
      result = mul(large, squareRoot(mulAdd(ratio, ratio, 1)));
    } else {
      // In float64, in which no square overflows.
      Value first = widen(wide), second = widen(high);
      result = round(squareRoot(add(mul(first, first), mul(second, second))));
    }
    return select(isInfinite, number(kInfinity, x), result);
  }

  Value sinc(Value x) {
    Turns turns = turnsOf(absolute(x));
    // Behind the last element a constant has lanes of 0, and a quotient by them would raise an exception. So pi x is
    // x (pi - 1) + x, which is rounded once, to the same number.
    Value isZero = isEqual(x, 0), angle = mulAdd(turns.magnitude, number(kPi - 1, x), turns.magnitude);
    Value quotient = div(turns.sine, select(isZero, number(1, x), angle));
    return select(isZero, number(1, x), quotient);
  }
  // (cos(pi x) - sinc(x)) / x, and near 0, where both are equal, x times a polynomial.
  Value sinc_slope(Value x) {
    Turns turns = turnsOf(absolute(x));
    Value isNear = isLess(turns.magnitude, 0.5), square = mul(turns.rest, turns.rest);
    Value near = mul(turns.magnitude, polynomialOf(polynomials::kSincSlope, polynomials::kSincSlope64, square));
    Value cosine = polynomialOf(polynomials::kCosPi, polynomials::kCosPi64, square);
    cosine = select(turns.isOdd, neg(cosine), cosine);
    Value bounded = select(isNear, number(1, x), turns.magnitude);
    Value far = div(sub(cosine, div(turns.sine, mul(bounded, kPi))), bounded);
    return mul(select(isNear, near, far), withSignOf(number(1, x), x));
  }

protected:
  using FunctionEmitter::FunctionEmitter;

  // x = 2^k m, where m is between 2/3 and 3/2.
  struct Parts {
    Value k, m;
  };

private:
  Emitter &self() { return static_cast<Emitter &>(*this); }

  static constexpr double kHalfPi = (Emitter::kIsDouble ? polynomials::kPi64[0] : polynomials::kPi[0]) / 2;
  static constexpr double kLowHalfPi =
      (Emitter::kIsDouble ? polynomials::kPi64[1] : polynomials::kPi[1] + polynomials::kPi[2]) / 2;
  // exp(kLargePower) is finite, and so is exp(x / 2) for all x whose hyperbolic functions are.
  static constexpr double kLargePower = Emitter::kIsDouble ? 700 : 88;
  static constexpr double kPi = Emitter::kIsDouble ? polynomials::kSinPi64[0] : polynomials::kSinPi[0];
  // From here on x^2 + 1 is x^2, and log(1 + x) is log(x).
  static constexpr double kLargeSquare = 0x1p60;

  // One of two polynomials, by the type.
  template <size_t N, size_t M> Value polynomialOf(const double (&single)[N], const double (&wide)[M], Value x) {
    if constexpr (Emitter::kIsDouble)
      return polynomial(wide, x);
    else
      return polynomial(single, x);
  }

  // magnitude = count + rest, where |rest| <= 1/2; the sine is that of pi times the magnitude. 0 where it is an
  // integer.
  struct Turns {
    Value magnitude, rest, isOdd, sine;
  };
  Turns turnsOf(Value magnitude) {
    auto nearest = [&](Value x) { return mlir::math::RoundEvenOp::create(b, location, x).getResult(); };
    Value count = nearest(magnitude), rest = sub(magnitude, count), half = mul(count, 0.5);
    Value isEven = isEqual(nearest(half), half), square = mul(rest, rest);
    Value isOdd = emit<mlir::arith::XOrIOp>(isEven, splat(isEven.getType(), b.getBoolAttr(true)));
    Value sine = mul(rest, polynomialOf(polynomials::kSinPi, polynomials::kSinPi64, square));
    return {magnitude, rest, isOdd, select(isOdd, neg(sine), sine)};
  }
  // The arc tangent of the smaller of two magnitudes divided by the larger one; 0 of zeros.
  Value angleBetween(Value y, Value x) {
    Value isSteep = isGreater(y, x);
    Value large = select(isSteep, y, x), small = select(isSteep, x, y);
    Value t = div(small, select(isEqual(large, 0), number(1, x), large)), square = mul(t, t);
    return mulAdd(mul(polynomialOf(polynomials::kAtan, polynomials::kAtan64, square), square), t, t);
  }
  // The angle from the positive axis, of that to the nearest axis. `isNegative` may be null.
  Value turned(Value angle, Value isSteep, Value isNegative) {
    auto choose = [&](double half) {
      Value straight = number(0, angle);
      if (isNegative)
        straight = select(isNegative, number(2 * half, angle), straight);
      return select(isSteep, number(half, angle), straight);
    };
    Value high = choose(kHalfPi), low = choose(kLowHalfPi);
    Value isBack = isNegative ? emit<mlir::arith::XOrIOp>(isSteep, isNegative) : isSteep;
    return add(high, add(low, select(isBack, neg(angle), angle)));
  }
  // The arc sine of a magnitude up to 1/2; from there on half the arc cosine, which is an arc sine of such a magnitude.
  Value arcOf(Value magnitude, Value isFar) {
    Value half = mul(sub(number(1, magnitude), magnitude), 0.5);
    Value square = select(isFar, half, mul(magnitude, magnitude));
    Value sine = select(isFar, squareRoot(square), magnitude);
    return mulAdd(mul(polynomialOf(polynomials::kAsin, polynomials::kAsin64, square), square), sine, sine);
  }
  // log(1 + next), and log(2 x) where x is large.
  Value logOfNext(Value isLarge, Value x, Value next) {
    Value logarithm = self().log1p(select(isLarge, x, next));
    return select(isLarge, add(logarithm, std::numbers::ln2), logarithm);
  }
};

} // namespace calque::codegen
#endif
