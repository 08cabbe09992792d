// The functions compute in float32 where fused products and sums keep enough digits. expm1 and the reduction of large
// arguments of sines compute in float64. The errors are in docs/accuracy.md.
#include "codegen/native/Float32Functions.h"
#include "codegen/native/ElementaryFunctions.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numbers>

using namespace mlir;

namespace calque::codegen {

namespace {

class Float32Emitter : public ElementaryFunctions<Float32Emitter> {
public:
  static constexpr bool kIsDouble = false;
  // It does not matter how often float64 is rounded.
  Float32Emitter(OpBuilder &builder, Location location, Type type, bool fma)
      : ElementaryFunctions(builder, location, type, fma, /*roundsOnce=*/false) {}

  Value exp(Value x);
  Value expm1(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value log2(Value x);
  Value log10(Value x);
  Value exp2(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value sin(Value x);
  Value cos(Value x);
  Value tan(Value x);

  Parts partsOf(Value x);

private:
  static bool isWide(Value x) { return ir::ElementType(x).bits() == 64; }

  //===-- Parts of functions ----------------------------------------------------------------------===//

  // exp(x) = 2^k exp(r), where |r| <= log(2) / 2. The low bits of `biased` are k + bias.
  struct Power {
    Value biased, r;
  };
  Power power(Value x, int bias);
  // x * 2^k, where the low bits of `biased` are k + 254. 2^k is a product of two factors: itself it may be no normal
  // number.
  Value scaled(Value x, Value biased);
  // log(m) of a number near 1.
  Value logNearOne(Value m);

  // x = (count - offset) * pi / parts + rest, where |rest| is hardly more than half of pi / parts; `parts` is 1 or 2.
  // The low bits of `count` are those of the number.
  struct Reduced {
    Value count, rest;
  };
  Reduced reduce(Value x, double parts, double offset);
  Reduced reduceLarge(Value x, double parts, double offset);
  // The sine of `rest`, negative where `count` is odd.
  Value alternatingSine(const Reduced &reduced);
};

//===-- Exponentials ----------------------------------------------------------------------------===//

Float32Emitter::Power Float32Emitter::power(Value x, int bias) {
  bool isWide = Float32Emitter::isWide(x);
  double round = (isWide ? 0x1.8p52 : 0x1.8p23) + bias;
  Value sum = mulAdd(x, std::numbers::log2e, round), k = sub(sum, round), r;
  if (isWide)
    r = mulAdd(k, -std::numbers::ln2, x);
  else
    r = mulAdd(k, -polynomials::kLn2[1], mulAdd(k, -polynomials::kLn2[0], x));
  return {asBits(sum), r};
}

Value Float32Emitter::scaled(Value x, Value biased) {
  Value half = mask(shiftLeft(biased, 22), 0xff800000);
  Value otherHalf = subInts(shiftLeft(biased, 23), half);
  return mul(mul(x, asNumber(half)), asNumber(otherHalf));
}

// Beyond the bounds rounding gives 0 and infinity.
Value Float32Emitter::exp(Value x) {
  Power power = this->power(atMost(atLeast(x, -104), 89), 254);
  Value factor = mulAdd(polynomial(polynomials::kExp, power.r), power.r, 1);
  return scaled(mulAdd(factor, power.r, 1), power.biased);
}

Value Float32Emitter::exp2(Value x) {
  Value bounded = atMost(atLeast(x, -151), 129), sum = add(bounded, 0x1.8p23 + 254);
  Value r = sub(bounded, sub(sum, 0x1.8p23 + 254));
  return scaled(mulAdd(polynomial(polynomials::kExp2, r), r, 1), asBits(sum));
}

// In float64 there is nothing to correct.
Value Float32Emitter::expm1(Value x) {
  Power power = this->power(widen(atMost(atLeast(x, -104), 89)), 1023);
  Value scale = asNumber(shiftLeft(power.biased, 52));
  Value part = mul(power.r, polynomial(polynomials::kExpm1, power.r));
  Value result = mulAdd(scale, part, sub(scale, 1));
  return withSignOf(round(result), x);
}

// Near zero x plus a polynomial, far from it 1 - 2 / (exp(2x) + 1).
Value Float32Emitter::tanh(Value x) {
  Value magnitude = absolute(x), square = mul(x, x), bounded = atMost(magnitude, 10);
  Power power = this->power(add(bounded, bounded), 127);
  Value isNear = isLess(magnitude, 1);
  Value sum = polynomial(isNear, polynomials::kTanh, polynomials::kExp, select(isNear, square, power.r));
  Value near = mulAdd(mul(sum, square), magnitude, magnitude);
  Value scale = asNumber(shiftLeft(power.biased, 23));
  Value part = mul(mulAdd(sum, power.r, 1), power.r);
  Value divisor = mulAdd(scale, part, add(scale, 1));
  Value far = sub(number(1, x), div(number(2, x), divisor));
  return withSignOf(select(isNear, near, far), x);
}

//===-- Logarithms ------------------------------------------------------------------------------===//

Float32Emitter::Parts Float32Emitter::partsOf(Value x) {
  Value isSubnormal = isLess(x, 0x1p-126);
  Value normal = select(isSubnormal, mul(x, 0x1p23), x);
  Value correction = select(isSubnormal, number(-23, x), number(0, x));
  // x = 2^k m, where 2/3 <= m < 4/3. The exponent is k * 2^23.
  Value ofNormal = asBits(normal);
  Value exponent = mask(subInts(ofNormal, integer(0x3f2aaaab, ofNormal)), 0xff800000);
  Value k = mulAdd(arith::SIToFPOp::create(b, location, shape, exponent), 0x1p-23, correction);
  return {k, asNumber(subInts(ofNormal, exponent))};
}

Value Float32Emitter::logNearOne(Value m) {
  Value f = sub(m, 1);
  return mulAdd(polynomial(polynomials::kLog, f), mul(f, f), f);
}

Value Float32Emitter::log(Value x) {
  Parts parts = partsOf(x);
  return aboveThePole(x, 0, mulAdd(parts.k, std::numbers::ln2, logNearOne(parts.m)));
}

Value Float32Emitter::log2(Value x) {
  Parts parts = partsOf(x);
  Value logarithm = logNearOne(parts.m), low = mulAdd(logarithm, polynomials::kLog2e[1], parts.k);
  return aboveThePole(x, 0, mulAdd(logarithm, polynomials::kLog2e[0], low));
}

Value Float32Emitter::log10(Value x) {
  Parts parts = partsOf(x);
  Value logarithm = logNearOne(parts.m), low = mul(logarithm, polynomials::kLog10e[1]);
  low = mulAdd(logarithm, polynomials::kLog10e[0], mulAdd(parts.k, polynomials::kLog10Of2[1], low));
  return aboveThePole(x, 0, mulAdd(parts.k, polynomials::kLog10Of2[0], low));
}

Value Float32Emitter::log1p(Value x) {
  // 1 + x = 2^k (1 + f), where 3/4 <= 1 + f < 3/2. The sum is rounded, but f is made of x and 2^-k.
  Value sum = asBits(add(x, 1));
  Value exponent = mask(subInts(sum, integer(0x3f400000, sum)), 0xff800000);
  Value scaled = asNumber(subInts(asBits(x), exponent));
  Value fourth = asNumber(subInts(integer(0x40800000, sum), exponent)); // 4 * 2^-k, which is normal
  Value f = add(scaled, mulAdd(fourth, 0.25, -1));
  Value result = mulAdd(polynomial(polynomials::kLog1p, f), mul(f, f), f);
  Value k = arith::SIToFPOp::create(b, location, shape, exponent);
  result = withSignOf(mulAdd(k, std::numbers::ln2 * 0x1p-23, result), x);
  return aboveThePole(x, -1, result);
}

//===-- The error function ----------------------------------------------------------------------===//

Value Float32Emitter::erf(Value x) {
  Value magnitude = absolute(x);
  Value near = mulAdd(polynomial(polynomials::kErf, mul(x, x)), magnitude, magnitude);
  Value far = sub(number(1, x), polynomial(polynomials::kErfc, sub(atMost(magnitude, 4), 2.5)));
  return withSignOf(select(isLess(magnitude, 1), near, far), x);
}

//===-- Sine, cosine, tangent -------------------------------------------------------------------===//

// The first argument for which the parts of pi have not enough bits.
constexpr double kLargeFloat32 = 0x1p16;

// Cody and Waite's reduction: the first difference is exact, and the others are relative to the rest.
Float32Emitter::Reduced Float32Emitter::reduce(Value x, double parts, double offset) {
  constexpr double kRound = 0x1.8p23;
  double perUnit = parts * std::numbers::inv_pi;
  Value sum = offset != 0 ? add(mulAdd(x, perUnit, offset), kRound) : mulAdd(x, perUnit, kRound);
  Value count = sub(sum, kRound), rest = x;
  if (offset != 0)
    count = sub(count, offset);
  for (double term : polynomials::kPi)
    rest = mulAdd(count, -term / parts, rest);
  Reduced small{asBits(sum), rest};

  Value isLarge = isNotLess(absolute(x), kLargeFloat32);
  auto either = scf::IfOp::create(
      b, location, any(isLarge),
      [&](OpBuilder &builder, Location) {
        Float32Emitter inside(builder, location, shape, fma);
        Reduced large = inside.reduceLarge(inside.widen(x), parts, offset);
        Value counts = inside.select(isLarge, large.count, small.count);
        Value rests = inside.select(isLarge, large.rest, small.rest);
        scf::YieldOp::create(builder, location, ValueRange{counts, rests});
      },
      [&](OpBuilder &builder, Location) {
        scf::YieldOp::create(builder, location, ValueRange{small.count, small.rest});
      });
  return {either.getResult(0), either.getResult(1)};
}

// Payne and Hanek's, in float64: x times those digits of 1 / (2 pi) that whole turns don't swallow.
Float32Emitter::Reduced Float32Emitter::reduceLarge(Value x, double parts, double offset) {
  constexpr double kRound = 0x1.8p52;
  Value magnitude = absolute(x), scale, digits[4];
  double bound = kLargeFloat32;
  for (const polynomials::TurnsOfBand &band : polynomials::kTurns) {
    Value isInBand = scale ? isNotLess(magnitude, bound) : Value();
    auto choose = [&](Value &value, double ofBand) {
      Value inBand = number(ofBand, x);
      value = isInBand ? select(isInBand, inBand, value) : inBand;
    };
    choose(scale, band.scale);
    for (size_t i = 0; i < 4; ++i)
      choose(digits[i], band.digits[i]);
    bound *= 0x1p28;
  }
  Value integral = mul(x, scale), products[4];
  for (size_t i = 0; i < 4; ++i)
    products[i] = mul(integral, digits[i]);
  auto fraction = [&](Value turns) { return sub(turns, sub(add(turns, kRound), kRound)); };
  Value first = fraction(products[0]), second = fraction(products[1]);
  // first + second = high + low, exactly.
  Value high = add(first, second), ofSecond = sub(high, first), ofFirst = sub(high, ofSecond);
  Value low = sub(first, ofFirst), lower = sub(second, ofSecond);
  low = add(add(low, lower), products[3]);

  // From turns to the parts of pi, of which a turn has twice as many.
  high = mul(high, 2 * parts);
  Value sum = add(offset != 0 ? add(high, offset) : high, kRound), count = sub(sum, kRound);
  if (offset != 0)
    count = sub(count, offset);
  Value rest = add(sub(high, count), mul(products[2], 2 * parts));
  rest = add(rest, mul(low, 2 * parts));
  Value counts = arith::TruncIOp::create(b, location, like(b.getI32Type()), asBits(sum));
  return {counts, round(mul(rest, std::numbers::pi / parts))};
}

Value Float32Emitter::alternatingSine(const Reduced &reduced) {
  Value r = reduced.rest;
  // Rounding may lead above 1, where units in the last place are twice as large.
  Value result = atMost(atLeast(sine(polynomials::kSin, r, mul(r, r)), -1), 1);
  return asNumber(emit<arith::XOrIOp>(asBits(result), shiftLeft(reduced.count, 31)));
}

Value Float32Emitter::sin(Value x) { return alternatingSine(reduce(x, 1, 0)); }
// cos(rest + (count - 1/2) * pi) = sin(rest + count * pi)
Value Float32Emitter::cos(Value x) { return alternatingSine(reduce(x, 1, 0.5)); }

// sin / cos, and -cos / sin where the count is odd.
Value Float32Emitter::tan(Value x) {
  Reduced reduced = reduce(x, 2, 0);
  Value r = reduced.rest, square = mul(r, r);
  Value sine = this->sine(polynomials::kSinNear, r, square);
  Value cosine = mulAdd(polynomial(polynomials::kCosNear, square), square, 1);
  Value isOdd = arith::TruncIOp::create(b, location, like(b.getI1Type()), reduced.count);
  Value above = select(isOdd, neg(cosine), sine);
  return div(above, select(isOdd, sine, cosine));
}

} // namespace

Value emitFloat32Function(OpBuilder &builder, Operation *op, bool fma) {
  if (op->getNumResults() != 1 || (op->getNumOperands() != 1 && !isa<ir::ScalarFunctionOp>(op)) ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    return {};
  Float32Emitter emitter(builder, op->getLoc(), op->getResult(0).getType(), fma);
  return emitNamed(emitter, op);
}

} // namespace calque::codegen
