// Special functions, all in float64: numbers of float32 are widened, take shorter polynomials, and round once. The
// errors are in docs/accuracy.md.
#include "codegen/native/SpecialFunctions.h"
#include "codegen/native/SpecialEmitter.h"

#include "ir/Dialect.h"

#include <numbers>

using namespace mlir;

namespace calque::codegen {

//===-- Error functions and the normal distribution ---------------------------------------------===//

Value SpecialEmitter::expOfSquare(Value x, double scale) {
  // Of float32 the product is exact.
  if (isSingle)
    return exp(mul(mul(x, x), scale));
  Sum square = exactProduct(x, x);
  return expOfSum(mul(square.high, scale), mul(square.low, scale));
}

Value SpecialEmitter::scaledTail(Value x) {
  Value bounded = atMost(x, 0x1p60), q = div(sub(bounded, 4), add(bounded, 4));
  return div(polynomialOf(polynomials::kErfcx, polynomials::kErfcx64, q), add(x, 0.5));
}

Value SpecialEmitter::erfcx(Value x) {
  Value magnitude = absolute(x), tail = scaledTail(magnitude);
  Value reflected = mulAdd(expOfSquare(atMost(magnitude, 30), 1), 2, neg(tail));
  return select(isLess(x, 0), reflected, tail);
}

Value SpecialEmitter::erfc(Value x) {
  Value magnitude = absolute(x);
  Value tail = mul(scaledTail(magnitude), expOfSquare(atMost(magnitude, 30), -1));
  return select(isLess(x, 0), sub(number(2, x), tail), tail);
}

Value SpecialEmitter::tailOf(Value x) {
  Value tail = mul(scaledTail(mul(x, std::numbers::sqrt2 / 2)), 0.5);
  return mul(tail, expOfSquare(atMost(x, 40), -0.5));
}

Value SpecialEmitter::ndtr(Value x) {
  Value tail = tailOf(absolute(x));
  return select(isGreater(x, 0), sub(number(1, x), tail), tail);
}

// Below 0 the logarithm of the tail without its exponential, which would vanish.
Value SpecialEmitter::log_ndtr(Value x) {
  Value magnitude = absolute(x), isAbove = isGreater(x, 0);
  Value scaled = mul(scaledTail(mul(magnitude, std::numbers::sqrt2 / 2)), 0.5);
  Value bounded = atMost(magnitude, 40), tail = mul(scaled, expOfSquare(bounded, -0.5));
  Value below = sub(log(scaled), mul(mul(magnitude, 0.5), magnitude));
  return select(isAbove, log1p(select(isAbove, neg(tail), number(0, x))), below);
}

// Wichura, Algorithm AS 241, Applied Statistics 37 (1988): PPND16.
namespace as241 {
constexpr double kCentral[] = {3.387132872796366608,  133.14166789178437745, 1971.5909503065514427,
                               13731.693765509461125, 45921.953931549871457, 67265.770927008700853,
                               33430.575583588128105, 2509.0809287301226727};
constexpr double kCentralBelow[] = {1,
                                    42.313330701600911252,
                                    687.1870074920579083,
                                    5394.1960214247511077,
                                    21213.794301586595867,
                                    39307.89580009271061,
                                    28729.085735721942674,
                                    5226.495278852854561};
constexpr double kNear[] = {1.42343711074968357734,  4.6303378461565452959,   5.7694972214606914055,
                            3.64784832476320460504,  1.27045825245236838258,  .24178072517745061177,
                            .0227238449892691845833, 7.7454501427834140764e-4};
constexpr double kNearBelow[] = {1,
                                 2.05319162663775882187,
                                 1.6763848301838038494,
                                 .68976733498510000455,
                                 .14810397642748007459,
                                 .0151986665636164571966,
                                 5.475938084995344946e-4,
                                 1.05075007164441684324e-9};
constexpr double kFar[] = {6.6579046435011037772,     5.4637849111641143699,    1.7848265399172913358,
                           .29656057182850489123,     .026532189526576123093,   .0012426609473880784386,
                           2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double kFarBelow[] = {1,
                                .59983220655588793769,
                                .13692988092273580531,
                                .0148753612908506148525,
                                7.868691311456132591e-4,
                                1.8463183175100546818e-5,
                                1.4215117583164458887e-7,
                                2.04426310338993978564e-15};
} // namespace as241

Value SpecialEmitter::quantile(Value isCentral, Value q, Value tail) {
  Value root = squareRoot(neg(log(select(isCentral, number(0.25, q), tail)))), isFar = isGreater(root, 5);
  Value outer = sub(root, select(isFar, number(5, q), number(1.6, q)));
  Value inner = sub(number(0.180625, q), mul(q, q));
  Value far = div(polynomial(isFar, as241::kFar, as241::kNear, outer),
                  polynomial(isFar, as241::kFarBelow, as241::kNearBelow, outer));
  far = select(isEqual(root, kInfinity), root, far);
  return select(isCentral, ratio(as241::kCentral, as241::kCentralBelow, inner), far);
}

Value SpecialEmitter::erfinv(Value x) {
  Value magnitude = absolute(x), isCentral = isLess(magnitude, 0.85), half = mul(magnitude, 0.5);
  Value found = quantile(isCentral, select(isCentral, half, number(0, x)), mul(sub(number(1, x), magnitude), 0.5));
  // The half of the smallest number would be rounded.
  Value central = mul(magnitude, mul(found, std::numbers::sqrt2 / 4));
  Value result = select(isCentral, central, mul(found, std::numbers::sqrt2 / 2));
  return withSignOf(result, x);
}

Value SpecialEmitter::ndtri(Value x) {
  Value q = sub(x, 0.5), isCentral = isLess(absolute(q), 0.425), isAbove = isGreater(x, 0.5);
  Value tail = select(isAbove, sub(number(1, x), x), x);
  Value found = quantile(isCentral, select(isCentral, q, number(0, x)), tail);
  Value outer = select(isAbove, found, neg(found));
  return select(isCentral, mul(found, q), outer);
}

//===-- Bessel functions ------------------------------------------------------------------------===//

Value SpecialEmitter::besselOf(Value x, int order, bool isScaled) {
  Value magnitude = absolute(x), isNear = isLess(magnitude, 8);
  // Beyond this bound the function overflows.
  Value bounded = isScaled ? magnitude : atMost(magnitude, 1500);
  Value inner = select(isNear, magnitude, number(0, x)), outer = select(isNear, number(8, x), bounded);
  Value z = mul(mul(inner, inner), 0.25), t = sub(div(number(16, x), outer), 1), near, far;
  if (order == 0) {
    near = polynomialOf(polynomials::kBesselNear0, polynomials::kBesselNear064, z);
    far = polynomialOf(polynomials::kBesselFar0, polynomials::kBesselFar064, t);
  } else {
    near = mul(mul(inner, 0.5), polynomialOf(polynomials::kBesselNear1, polynomials::kBesselNear164, z));
    far = polynomialOf(polynomials::kBesselFar1, polynomials::kBesselFar164, t);
  }
  far = div(far, squareRoot(outer));
  // One exponential for both: of the near ones where the result is scaled, of the others where it is not.
  Value power = exp(isScaled ? neg(inner) : mul(select(isNear, number(0, x), bounded), 0.5));
  Value result = isScaled ? select(isNear, mul(near, power), far) : select(isNear, near, mul(mul(far, power), power));
  return order == 0 ? result : withSignOf(result, x);
}

//===-- Gamma functions -------------------------------------------------------------------------===//

SpecialEmitter::Arc SpecialEmitter::arcOf(Value magnitude) {
  Value count = math::RoundEvenOp::create(b, location, magnitude), rest = sub(magnitude, count);
  Value square = mul(rest, rest);
  Value sine = mul(rest, polynomial(polynomials::kSinPi64, square));
  return {rest, sine, polynomial(polynomials::kCosPi64, square)};
}

// Between 1/2 and 5/2 a polynomial times (x - 1) (x - 2), which is exact at the zeros. Below it the recurrence
// upwards, above it the recurrence downwards, in which all terms have the same sign, and from 8 on Stirling's series.
// Of negative numbers |gamma(-z)| = pi / (z |sin(pi z)| gamma(z)).
Value SpecialEmitter::lgamma(Value x) {
  Value z = absolute(x), isNegative = hasSign(x), one = number(1, x), zero = number(0, x);
  Value isSmall = isLess(z, 0.5), isLarge = isNotLess(z, 8), y = select(isSmall, add(z, 1), z), product = one;
  y = select(isLarge, number(2, x), y);
  for (int i = 0; i < 6; ++i) {
    Value isAbove = isNotLess(y, 2.5), next = sub(y, 1);
    product = select(isAbove, mul(product, next), product);
    y = select(isAbove, next, y);
  }
  Value isFirst = isLess(y, 1.5), d = sub(y, select(isFirst, one, number(2, x)));
  Value curve = isSingle ? polynomial(isFirst, polynomials::kGammaNear1, polynomials::kGammaNear2, d)
                         : polynomial(isFirst, polynomials::kGammaNear164, polynomials::kGammaNear264, d);
  Value near = mul(mul(sub(y, 1), sub(y, 2)), curve);
  // The logarithm of the small number itself stands for the next gamma function's factor.
  Value logarithm = log(select(isLarge, z, select(isSmall, z, product)));
  Value u = div(one, mul(z, z)), bounded = select(isLarge, u, zero);
  Value series = div(polynomialOf(polynomials::kStirling, polynomials::kStirling64, bounded), z);
  // log(2 pi) / 2 - 1/2
  Value far = mulAdd(sub(z, 0.5), sub(logarithm, 1), add(select(isLarge, series, zero), 0.41893853320467274178));
  Value positive = select(isLarge, far, add(near, select(isSmall, neg(logarithm), logarithm)));
  // Where z is small, its logarithm is left out: it is one of the factor z too.
  Value sine = absolute(arcOf(z).sine), factor = mul(select(isSmall, one, z), sine);
  Value withoutFactor = select(isSmall, near, positive);
  Value reflected = sub(neg(log(mul(factor, std::numbers::inv_pi))), withoutFactor);
  reflected = select(isEqual(sine, 0), number(kInfinity, x), reflected);
  Value result = select(isNegative, reflected, positive);
  return select(isEqual(z, kInfinity), z, result);
}

// The recurrence to the next number from 8 on, and of negative numbers the reflection
// digamma(x) = digamma(1 - x) - pi cot(pi x).
Value SpecialEmitter::digamma(Value x) {
  Value isNegative = isLess(x, 0), w = select(isNegative, sub(number(1, x), x), x), zero = number(0, x);
  Value isShifted = isLess(w, 8), factor = select(isShifted, w, number(1, x));
  // The sum of 1 / (w + k) as one quotient.
  Value above = number(1, x), below = factor;
  for (int k = 1; k < 8; ++k) {
    factor = add(factor, 1);
    above = mulAdd(above, factor, below);
    below = mul(below, factor);
  }
  Value sum = select(isShifted, div(above, below), zero), y = select(isShifted, add(w, 8), w),
        inverse = div(number(1, x), y);
  Value u = mul(inverse, inverse);
  Value tail = mulAdd(u, polynomialOf(polynomials::kDigamma, polynomials::kDigamma64, u), mul(inverse, -0.5));
  Value result = sub(add(log(y), tail), sum);
  Arc arc = arcOf(select(isNegative, neg(x), number(0.25, x)));
  Value cotangent = mul(div(arc.cosine, select(isEqual(arc.sine, 0), number(kNaN, x), arc.sine)), std::numbers::pi);
  return select(isNegative, add(result, cotangent), result);
}

// (-1)^(n + 1) n! times the sum of (x + k)^-(n + 1), of which the first eight terms are added as they are. Of negative
// numbers the derivatives of digamma's reflection.
Value SpecialEmitter::polygammaOf(Value x, int order) {
  Value one = number(1, x), isNegative = isLess(x, 0), w = select(isNegative, sub(one, x), x);
  auto power = [&](Value base) { // the power -(order + 1)
    Value inverse = div(one, base), result = inverse;
    for (int i = 0; i < order; ++i)
      result = mul(result, inverse);
    return result;
  };
  Value isShifted = isLess(w, 8), y = select(isShifted, add(w, 8), w), sum = number(0, x),
        base = select(isShifted, w, one);
  for (int k = 8; k-- > 0;)
    sum = add(sum, power(k ? add(base, k) : base));
  sum = select(isShifted, sum, number(0, x));
  Value inverse = div(one, y), u = mul(inverse, inverse), lead = inverse;
  for (int i = 1; i < order; ++i)
    lead = mul(lead, inverse);
  Value curve = order == 1   ? polynomialOf(polynomials::kPolygamma1, polynomials::kPolygamma164, u)
                : order == 2 ? polynomialOf(polynomials::kPolygamma2, polynomials::kPolygamma264, u)
                             : polynomialOf(polynomials::kPolygamma3, polynomials::kPolygamma364, u);
  Value tail = mul(lead, mulAdd(u, curve, mulAdd(inverse, 0.5, 1.0 / order)));
  const double factorial = order == 3 ? 6 : order, sign = order == 2 ? -1 : 1;
  Value positive = mul(add(sum, tail), sign * factorial);
  // The derivatives of -pi cot(pi x). Sine and cosine are those of -x, whose quotient has another sign.
  Arc arc = arcOf(select(isNegative, neg(x), number(0.25, x)));
  Value inverseSine = div(number(std::numbers::pi, x), arc.sine), square = mul(inverseSine, inverseSine), reflected;
  if (order == 1)
    reflected = sub(square, positive);
  else if (order == 2)
    reflected = add(positive, mul(mul(mul(square, inverseSine), arc.cosine), 2));
  else
    reflected = sub(mul(mul(square, square), mulAdd(mul(arc.cosine, arc.cosine), 4, 2)), positive);
  return select(isNegative, reflected, positive);
}

namespace {
Value emitNamedSpecial(SpecialEmitter &emitter, StringRef name, Value x) {
  struct Function {
    StringLiteral name;
    Value (SpecialEmitter::*emit)(Value);
  };
  static constexpr Function kFunctions[] = {
      {"erfc", &SpecialEmitter::erfc},
      {"erfcx", &SpecialEmitter::erfcx},
      {"ndtr", &SpecialEmitter::ndtr},
      {"log_ndtr", &SpecialEmitter::log_ndtr},
      {"erfinv", &SpecialEmitter::erfinv},
      {"ndtri", &SpecialEmitter::ndtri},
      {"i0", &SpecialEmitter::i0},
      {"i1", &SpecialEmitter::i1},
      {"i0e", &SpecialEmitter::i0e},
      {"i1e", &SpecialEmitter::i1e},
      {"lgamma", &SpecialEmitter::lgamma},
      {"digamma", &SpecialEmitter::digamma},
      {"trigamma", &SpecialEmitter::trigamma},
      {"polygamma2", &SpecialEmitter::polygamma2},
      {"polygamma3", &SpecialEmitter::polygamma3},
  };
  for (const Function &function : kFunctions)
    if (function.name == name)
      return (emitter.*function.emit)(x);
  return {};
}

} // namespace

Value emitSpecialFunction(OpBuilder &builder, Operation *op, bool fma) {
  auto function = dyn_cast<ir::ScalarFunctionOp>(op);
  if (!function || !isa<FloatType>(getElementTypeOrSelf(function.getType())))
    return {};
  Type type = function.getType(), wide = builder.getF64Type();
  if (auto vector = dyn_cast<VectorType>(type))
    wide = vector.clone(wide);
  const bool isSingle = type != wide;
  SmallVector<Value> operands(op->getOperands());
  if (isSingle)
    for (Value &operand : operands)
      operand = arith::ExtFOp::create(builder, op->getLoc(), wide, operand);
  Value result;
  if (operands.size() == 1) {
    SpecialEmitter emitter(builder, op->getLoc(), wide, fma, isSingle);
    result = emitNamedSpecial(emitter, function.getName(), operands[0]);
  }
  if (!result)
    result = emitIncompleteFunction(builder, op->getLoc(), wide, fma, isSingle, function.getName(), operands);
  if (result)
    return isSingle ? arith::TruncFOp::create(builder, op->getLoc(), type, result).getResult() : result;
  if (isSingle)
    for (Value operand : operands)
      operand.getDefiningOp()->erase();
  return {};
}

} // namespace calque::codegen
