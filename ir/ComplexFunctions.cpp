// Elementwise functions of complex numbers by functions of their parts, with the special values of C99's annex G where
// a part is infinite or zero. Real derivatives are taken of what is built here: so nothing that is chosen by `where`
// has a quotient of zeros, or an infinity, in the part that is not chosen, where finite numbers are given.
#include "ir/ElementType.h"
#include "ir/GradientRule.h"
#include "ir/Parts.h"

#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;

namespace calque::ir {

namespace {

// Real numbers with the operators of C++.
class Reals {
public:
  Reals(OpBuilder &builder, Location location, Value like) : rule(builder, location, like) {}

  struct Real {
    Reals *of = nullptr;
    Value value;
    friend Real operator+(Real a, Real b) { return a.of->make<AddOp>(a, b); }
    friend Real operator-(Real a, Real b) { return a.of->make<SubOp>(a, b); }
    friend Real operator*(Real a, Real b) { return a.of->make<MulOp>(a, b); }
    friend Real operator/(Real a, Real b) { return a.of->make<DivOp>(a, b); }
    friend Real operator-(Real a) { return a.of->make<NegOp>(a); }
    friend Real operator+(Real a, double b) { return a + a.of->number(b); }
    friend Real operator+(double a, Real b) { return b.of->number(a) + b; }
    friend Real operator-(Real a, double b) { return a - a.of->number(b); }
    friend Real operator-(double a, Real b) { return b.of->number(a) - b; }
    friend Real operator*(double a, Real b) { return b.of->number(a) * b; }
    friend Real operator*(Real a, double b) { return a * a.of->number(b); }
    friend Real operator/(double a, Real b) { return b.of->number(a) / b; }
    friend Real operator/(Real a, double b) { return a / a.of->number(b); }
    // Truth values.
    friend Real operator==(Real a, double b) { return a.of->make<EqualOp>(a, a.of->number(b)); }
    friend Real operator>=(Real a, Real b) { return a.of->make<GreaterEqualOp>(a, b); }
    friend Real operator>=(Real a, double b) { return a >= a.of->number(b); }
    friend Real operator<(Real a, double b) { return a.of->make<LessOp>(a, a.of->number(b)); }
    friend Real operator>(Real a, double b) { return a.of->make<GreaterOp>(a, a.of->number(b)); }
    friend Real operator&&(Real a, Real b) { return a.of->make<LogicalAndOp>(a, b); }
    friend Real operator||(Real a, Real b) { return a.of->make<LogicalOrOp>(a, b); }
    friend Real operator!(Real a) { return a.of->make<LogicalNotOp>(a); }
  };

  Real real(Value value) { return {this, value}; }
  Real number(double value) { return {this, rule.constant(value)}; }
  template <typename Op, typename... Args> Real make(Args... args) { return {this, rule.create<Op>(args.value...)}; }

  Real where(Real condition, Real a, Real b) { return make<SelectOp>(condition, a, b); }
  Real where(Real condition, Real a, double b) { return where(condition, a, number(b)); }
  Real where(Real condition, double a, Real b) { return where(condition, number(a), b); }
  Real where(Real condition, double a, double b) { return where(condition, number(a), number(b)); }
  Real isInfinite(Real a) { return make<IsInfOp>(a); }
  Real isFinite(Real a) { return make<IsFiniteOp>(a); }

  // 1 or -1, of zeros by their sign. It has the derivative 0. So a.signOf() * a is the magnitude of a with a derivative
  // at 0, where that of abs is 0: the one of the side on which the sign says that a is.
  Real signOf(Real a) { return make<CopySignOp>(number(1.0), a); }

  bool isDouble() { return ElementType(rule.result).bits() == 64; }

private:
  GradientRule rule;
};

using Real = Reals::Real;

struct Complex {
  Real re, im;
};
Complex operator+(Complex a, double b) { return {a.re + b, a.im}; }
Complex operator-(Complex a, double b) { return {a.re - b, a.im}; }
Complex operator-(double a, Complex b) { return {a - b.re, -b.im}; }
Complex conj(Complex z) { return {z.re, -z.im}; }
Complex times(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
// i times, and -i times, a number.
Complex turned(Complex z) { return {-z.im, z.re}; }
Complex turnedBack(Complex z) { return {z.im, -z.re}; }

// Smith's algorithm (Communications of the ACM 5, 1962, algorithm 116), which neither overflows nor vanishes on the
// way: by the quotient of the divisor's smaller and larger part. Of a divisor 0 the parts are divided by 0, as in
// NumPy.
Complex divided(Reals &r, Complex a, Complex b) {
  Real isReal = r.make<AbsOp>(b.re) >= r.make<AbsOp>(b.im);
  Real larger = r.where(isReal, b.re, b.im), smaller = r.where(isReal, b.im, b.re);
  Real isZero = larger == 0;
  Real quotient = r.where(isZero, 0.0, smaller / r.where(isZero, 1.0, larger));
  Real divisor = larger + smaller * quotient;
  Real re = r.where(isReal, a.re + a.im * quotient, a.re * quotient + a.im);
  Real im = r.where(isReal, a.im - a.re * quotient, a.im * quotient - a.re);
  Real bound = r.isInfinite(larger) && r.isFinite(a.re) && r.isFinite(a.im); // finite by infinite
  return {r.where(bound, 0.0, re / divisor), r.where(bound, 0.0, im / divisor)};
}

// factor * cos(angle) and factor * sin(angle). Of an angle 0 the second is 0, also where the factor is infinite or NaN.
// Without a finite angle a factor 0 gives 0, and an infinite one an infinite first product.
Complex polar(Reals &r, Real cosFactor, Real sinFactor, Real angle) {
  Real cosine = r.make<CosOp>(angle), sine = r.make<SinOp>(angle);
  Real re = r.where(r.isInfinite(cosFactor) && !r.isFinite(angle), cosFactor, cosFactor * cosine);
  Real im = r.where(!r.isFinite(sinFactor) && (angle == 0), angle, sinFactor * sine);
  return {r.where((cosFactor == 0) && !r.isFinite(angle), cosFactor, re),
          r.where((sinFactor == 0) && !r.isFinite(angle), sinFactor, im)};
}

// The power with this angle and a magnitude that is the product of two factors. It may be finite where the magnitude is
// not.
Complex powerOf(Reals &r, Real first, Real second, Real angle) {
  Complex once = polar(r, first, first, angle);
  return {once.re * second, once.im * r.where((once.im == 0) && !r.isFinite(second), 1.0, second)};
}
Complex expOf(Reals &r, Complex z) {
  Real half = r.make<ExpOp>(0.5 * z.re);
  return powerOf(r, half, half, z.im);
}

// Near 1 the logarithm of the magnitude m is that of m^2 = 1 + (x - 1)(x + 1) + y^2, x the larger part.
Real logOfMagnitude(Reals &r, Complex z) {
  Real magnitude = r.make<HypotOp>(z.re, z.im);
  Real isNear = (magnitude > 0.5) && (magnitude < 2);
  Real isReal = r.make<AbsOp>(z.re) >= r.make<AbsOp>(z.im);
  Real larger = r.where(isReal, z.re, z.im), smaller = r.where(isReal, z.im, z.re);
  Real above = r.where(isNear, (larger - 1.0) * (larger + 1.0), 0.0) + r.where(isNear, smaller * smaller, 0.0);
  return r.where(isNear, 0.5 * r.make<Log1pOp>(above), r.make<LogOp>(r.where(isNear, 1.0, magnitude)));
}
Complex logOf(Reals &r, Complex z) { return {logOfMagnitude(r, z), r.make<Atan2Op>(z.im, z.re)}; }

// The root with a real part that is not negative; the cut is along the negative numbers, where the sign of the
// imaginary part's zero says on which side z is. Small numbers are scaled: their halves would lose digits.
Complex sqrtOf(Reals &r, Complex z) {
  Real isSmall = r.make<HypotOp>(z.re, z.im) < (r.isDouble() ? 0x1p-900 : 0x1p-90);
  const double scale = r.isDouble() ? 0x1p200 : 0x1p60, back = r.isDouble() ? 0x1p-100 : 0x1p-30;
  Real scaled = r.where(isSmall, scale, 1.0);
  Real re = z.re * scaled, im = z.im * scaled;
  Real isRight = re >= 0.0, side = r.signOf(im);
  Real t = r.make<SqrtOp>(0.5 * r.where(isRight, re, -re) + r.make<HypotOp>(0.5 * re, 0.5 * im));
  Real isZero = t == 0;
  Real other = 0.5 * im / r.where(isZero, 1.0, t);
  Real unscaled = r.where(isSmall, back, 1.0);
  Real rootRe = r.where(isRight, t, other * side) * unscaled;
  Real rootIm = r.where(isRight, other, t * side) * unscaled;
  // Infinite for all real parts, NaN too.
  Real isVertical = r.isInfinite(z.im);
  return {r.where(isVertical, std::numeric_limits<double>::infinity(), rootRe),
          r.where(isVertical || isZero, z.im, rootIm)};
}

Complex sinhOf(Reals &r, Complex z) { return polar(r, r.make<SinhOp>(z.re), r.make<CoshOp>(z.re), z.im); }
Complex coshOf(Reals &r, Complex z) { return polar(r, r.make<CoshOp>(z.re), r.make<SinhOp>(z.re), z.im); }

// sin(w) / w of w = pi z. Near 0 it is the series, whose derivatives don't cancel as those of the quotient do.
Complex sincOf(Reals &r, Complex z) {
  const double pi = 3.1415926535897931;
  Real isNear = (r.make<AbsOp>(z.re) < 0.25) && (r.make<AbsOp>(z.im) < 0.25);
  Complex near{pi * r.where(isNear, z.re, 0.0), pi * r.where(isNear, z.im, 0.0)}, square = times(near, near);
  Complex series{r.number(1.0), r.number(0.0)};
  // Up to the power 20 of w, which is below 1.12: the next term is less than 1e-21.
  for (double k = 20; k > 0; k -= 2) {
    Complex term = times(square, series);
    series = {1.0 - term.re / (k * (k + 1)), -(term.im / (k * (k + 1)))};
  }
  // The sine of pi x by the distance from the nearest integer, so that it is 0 at integers and has its digits near
  // them.
  Real x = r.where(isNear, 1.0, z.re), y = r.where(isNear, 0.0, z.im);
  Real whole = r.make<RoundOp>(x), parity = whole - 2.0 * r.make<RoundOp>(0.5 * whole);
  Real sign = 1.0 - 2.0 * (parity * parity), angle = pi * (x - whole);
  Complex sine = polar(r, r.make<SinhOp>(pi * y), r.make<CoshOp>(pi * y), angle);
  Complex far = divided(r, {sign * sine.im, sign * sine.re}, {pi * x, pi * y});
  return {r.where(isNear, series.re, far.re), r.where(isNear, series.im, far.im)};
}

// Kahan's (Branch cuts for complex elementary functions, 1987). Where |z.re| is large, the result is near 1 or -1.
Complex tanhOf(Reals &r, Complex z) {
  Real magnitude = r.make<AbsOp>(z.re);
  Real isLarge = magnitude >= (r.isDouble() ? 20.0 : 9.5);
  Real x = r.where(isLarge, 1.0, z.re);
  Real t = r.make<TanOp>(z.im), s = r.make<SinhOp>(x);
  Real beta = 1.0 + t * t, rho = r.make<SqrtOp>(1.0 + s * s);
  Real denominator = 1.0 + beta * s * s;
  // Without a finite imaginary part, a finite real part gives NaN, and an infinite one 1 or -1.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Real turnsOn = r.isFinite(z.im), isLost = r.isFinite(z.re) && !turnsOn;
  Real turns = r.where(turnsOn, r.make<SinOp>(z.im) * r.make<CosOp>(z.im), r.where(isLost, nan, 0.0));
  Real far = 4.0 * turns * r.make<ExpOp>(-2.0 * r.where(isLarge, magnitude, 20.0));
  Real re = r.where((z.re == 0) && !r.isFinite(z.im), z.re, beta * rho * s / denominator);
  Real im = r.where((z.im == 0) && !r.isFinite(z.re), z.im, t / denominator);
  return {r.where(isLarge, r.where(isLost, nan, r.signOf(z.re)), re), r.where(isLarge, far, im)};
}

// The inverse functions as Kahan has them, by the square roots that have their cuts.
Complex asinOf(Reals &r, Complex z) {
  Complex below = sqrtOf(r, 1.0 - z), above = sqrtOf(r, z + 1.0);
  Real isBeyond = r.isInfinite(z.re) && r.isFinite(z.im);
  Real re = r.where(isBeyond, 1.5707963267948966 * r.signOf(z.re), r.make<Atan2Op>(z.re, times(below, above).re));
  return {re, r.make<AsinhOp>(times(conj(below), above).im)};
}
Complex acosOf(Reals &r, Complex z) {
  Complex below = sqrtOf(r, 1.0 - z), above = sqrtOf(r, z + 1.0);
  Real isCorner = r.isInfinite(z.re) && r.isInfinite(z.im);
  Real re = r.where(isCorner, r.make<Atan2Op>(r.make<AbsOp>(z.im), z.re), 2.0 * r.make<Atan2Op>(below.re, above.re));
  return {re, r.make<AsinhOp>(times(conj(above), below).im)};
}
Complex acoshOf(Reals &r, Complex z) {
  Complex below = sqrtOf(r, z - 1.0), above = sqrtOf(r, z + 1.0);
  Real isCorner = r.isInfinite(z.re) && r.isInfinite(z.im);
  Real im = r.where(isCorner, r.make<Atan2Op>(z.im, z.re), 2.0 * r.make<Atan2Op>(below.im, above.re));
  return {r.make<AsinhOp>(times(conj(below), above).re), im};
}
Complex atanhOf(Reals &r, Complex z) {
  // Of the right half, whose mirror image the left one is.
  Real side = r.signOf(z.re);
  Real x = z.re * side;
  // Far from 0 the squares would overflow: 1/z is what is left.
  Real isFar = r.make<HypotOp>(x, z.im) >= (r.isDouble() ? 0x1p500 : 0x1p60);
  Real nearX = r.where(isFar, 0.5, x), nearY = r.where(isFar, 0.5, z.im);
  Real away = 1.0 - nearX, square = away * away + nearY * nearY;
  // Close to 1 the square vanishes.
  Real isClose = square < (r.isDouble() ? 0x1p-900 : 0x1p-90);
  Real closeX = r.where(isClose, nearX, 0.0), closeY = r.where(isClose, nearY, 0.0);
  Real close = 0.5 * (r.make<LogOp>(r.make<HypotOp>(1.0 + closeX, closeY)) -
                      r.make<LogOp>(r.make<HypotOp>(1.0 - closeX, closeY)));
  Real near = 0.25 * r.make<Log1pOp>(4.0 * nearX / r.where(isClose, 1.0, square));
  Real im = 0.5 * r.make<Atan2Op>(2.0 * nearY, away * (1.0 + nearX) - nearY * nearY);
  Complex inverse = divided(r, {r.number(1.0), r.number(0.0)}, {r.where(isFar, x, 1.0), r.where(isFar, z.im, 0.0)});
  Real re = r.where(isFar, inverse.re, r.where(isClose, close, near));
  im = r.where(isFar, 1.5707963267948966 * r.signOf(z.im), im);
  return {re * side, im};
}

// The power 0 is 1 of every number, as in NumPy; the powers of 0 are 0 where the exponent's real part is positive.
Complex powOf(Reals &r, Complex z, Complex w) {
  Real isZero = (z.re == 0) && (z.im == 0), isOne = (w.re == 0) && (w.im == 0);
  Complex base{r.where(isZero, 1.0, z.re), r.where(isZero, 0.0, z.im)};
  Complex power = expOf(r, times(w, logOf(r, base)));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Real vanishes = r.where(w.re > 0.0, 0.0, nan);
  return {r.where(isOne, 1.0, r.where(isZero, vanishes, power.re)),
          r.where(isOne, 0.0, r.where(isZero, vanishes, power.im))};
}

// What an operation on one complex number builds.
template <typename Function>
LogicalResult unary(Operation *op, OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results,
                    Function function) {
  Reals r(builder, op->getLoc(), operands[0].re);
  Complex result = function(r, Complex{r.real(operands[0].re), r.real(operands[0].im)});
  results.append({result.re.value, result.im.value});
  return success();
}
template <typename Function>
LogicalResult binary(Operation *op, OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results,
                     Function function) {
  Reals r(builder, op->getLoc(), operands[0].re);
  Complex result = function(r, Complex{r.real(operands[0].re), r.real(operands[0].im)},
                            Complex{r.real(operands[1].re), r.real(operands[1].im)});
  results.append({result.re.value, result.im.value});
  return success();
}

} // namespace

#define CALQUE_COMPLEX_FUNCTION(Op, arity, ...)                                                                        \
  LogicalResult Op::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {        \
    return arity(getOperation(), builder, operands, results, __VA_ARGS__);                                             \
  }
CALQUE_COMPLEX_FUNCTION(DivOp, binary, divided)
CALQUE_COMPLEX_FUNCTION(PowOp, binary, powOf)
CALQUE_COMPLEX_FUNCTION(ReciprocalOp, unary,
                        [](Reals &r, Complex z) { return divided(r, {r.number(1.0), r.number(0.0)}, z); })
CALQUE_COMPLEX_FUNCTION(SqrtOp, unary, sqrtOf)
CALQUE_COMPLEX_FUNCTION(ExpOp, unary, expOf)
CALQUE_COMPLEX_FUNCTION(Exp2Op, unary, [](Reals &r, Complex z) {
  // One of them with a whole exponent, so that those of whole numbers are exact.
  Real half = r.where(r.isFinite(z.re), r.make<RoundOp>(0.5 * z.re), z.re);
  Real rest = r.where(r.isFinite(z.re), z.re - half, z.re);
  return powerOf(r, r.make<Exp2Op>(rest), r.make<Exp2Op>(half), 0.69314718055994531 * z.im);
})
// exp(x) cos(y) - 1 is expm1(x) cos(y) - 2 sin(y/2)^2.
CALQUE_COMPLEX_FUNCTION(Expm1Op, unary, [](Reals &r, Complex z) {
  Real half = r.make<SinOp>(0.5 * z.im);
  return Complex{r.make<Expm1Op>(z.re) * r.make<CosOp>(z.im) - 2.0 * half * half, expOf(r, z).im};
})
CALQUE_COMPLEX_FUNCTION(LogOp, unary, logOf)
// Near 0 the logarithm of |1 + z| is that of 1 + x (2 + x) + y^2.
CALQUE_COMPLEX_FUNCTION(Log1pOp, unary, [](Reals &r, Complex z) {
  Real isNear = (r.make<AbsOp>(z.re) < 0.25) && (r.make<AbsOp>(z.im) < 0.25);
  Real x = r.where(isNear, z.re, 0.0), y = r.where(isNear, z.im, 0.0);
  Real re = r.where(isNear, 0.5 * r.make<Log1pOp>(x * (2.0 + x) + y * y), logOfMagnitude(r, z + 1.0));
  return Complex{re, r.make<Atan2Op>(z.im, z.re + 1.0)};
})
CALQUE_COMPLEX_FUNCTION(Log2Op, unary, [](Reals &r, Complex z) {
  Complex natural = logOf(r, z);
  return Complex{natural.re * 1.4426950408889634, natural.im * 1.4426950408889634};
})
CALQUE_COMPLEX_FUNCTION(Log10Op, unary, [](Reals &r, Complex z) {
  Complex natural = logOf(r, z);
  return Complex{natural.re * 0.43429448190325182, natural.im * 0.43429448190325182};
})
// The circular functions are the hyperbolic ones of i z, turned back.
CALQUE_COMPLEX_FUNCTION(SinOp, unary, [](Reals &r, Complex z) { return turnedBack(sinhOf(r, turned(z))); })
CALQUE_COMPLEX_FUNCTION(CosOp, unary, [](Reals &r, Complex z) { return coshOf(r, turned(z)); })
CALQUE_COMPLEX_FUNCTION(SincOp, unary, sincOf)
CALQUE_COMPLEX_FUNCTION(TanOp, unary, [](Reals &r, Complex z) { return turnedBack(tanhOf(r, turned(z))); })
CALQUE_COMPLEX_FUNCTION(SinhOp, unary, sinhOf)
CALQUE_COMPLEX_FUNCTION(CoshOp, unary, coshOf)
CALQUE_COMPLEX_FUNCTION(TanhOp, unary, tanhOf)
CALQUE_COMPLEX_FUNCTION(AsinOp, unary, asinOf)
CALQUE_COMPLEX_FUNCTION(AcosOp, unary, acosOf)
CALQUE_COMPLEX_FUNCTION(AtanOp, unary, [](Reals &r, Complex z) { return turnedBack(atanhOf(r, turned(z))); })
CALQUE_COMPLEX_FUNCTION(AsinhOp, unary, [](Reals &r, Complex z) { return turnedBack(asinOf(r, turned(z))); })
CALQUE_COMPLEX_FUNCTION(AcoshOp, unary, acoshOf)
CALQUE_COMPLEX_FUNCTION(AtanhOp, unary, atanhOf)

} // namespace calque::ir
