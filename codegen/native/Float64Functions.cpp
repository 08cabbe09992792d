// Where an error would exceed a unit in the last place, a number is the sum of two: what is rounded away of the first
// is the second. The errors are in docs/accuracy.md.
#include "codegen/native/Float64Functions.h"
#include "codegen/native/Float64Emitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numbers>

using namespace mlir;

namespace calque::codegen {

namespace {

constexpr uint64_t kExponentBits = 0xfff0000000000000; // and the sign
constexpr uint64_t kOne = 0x3ff0000000000000;          // the bits of 1
constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcd;

} // namespace

//===-- Exponentials ----------------------------------------------------------------------------===//

Float64Emitter::Power Float64Emitter::power(Value x, double bias) {
  Value sum = mulAdd(x, std::numbers::log2e, 0x1.8p52 + bias), k = sub(sum, 0x1.8p52 + bias);
  // This difference is exact.
  Value rest = mulAdd(k, -polynomials::kLn2Of64[0], x);
  return {asBits(sum), exactSum(rest, mul(k, -polynomials::kLn2Of64[1]))};
}

Value Float64Emitter::scaled(Value x, Value biased) {
  Value half = mask(shiftLeft(biased, 51), kExponentBits);
  Value otherHalf = subInts(shiftLeft(biased, 52), half);
  return mul(mul(x, asNumber(half)), asNumber(otherHalf));
}

// Beyond the bounds rounding gives 0 and infinity.
Value Float64Emitter::expOfSum(Value x, Value low) {
  Power power = this->power(atMost(atLeast(x, -746), 710), 2 * 1023);
  Sum r = power.r;
  if (low) {
    r = exactSum(power.r.high, low);
    r.low = add(r.low, power.r.low);
  }
  Sum factor = exactSum(number(1, x), r.high);
  return scaled(add(factor.high, add(curve(r.high), add(factor.low, r.low))), power.biased);
}

Value Float64Emitter::exp2(Value x) {
  constexpr double kRound = 0x1.8p52 + 2 * 1023;
  Value bounded = atMost(atLeast(x, -1076), 1025), sum = add(bounded, kRound);
  Value r = sub(bounded, sub(sum, kRound));
  return scaled(mulAdd(polynomial(polynomials::kExp2Of64, r), r, 1), asBits(sum));
}

Value Float64Emitter::expm1(Value x) {
  // Half of 2^k, since k may be 1024.
  Power power = this->power(atMost(atLeast(x, -45), 710), 1022);
  Value scale = asNumber(shiftLeft(power.biased, 52));
  Value part = add(power.r.high, add(curve(power.r.high), power.r.low));
  Value scaled = mul(mulAdd(scale, part, sub(scale, 0.5)), 2);
  return withSignOf(select(isLess(absolute(x), 0.25), part, scaled), x);
}

// e / (e + 2), where e = exp(2x) - 1.
Value Float64Emitter::tanh(Value x) {
  Value bounded = atMost(absolute(x), 20);
  Power power = this->power(add(bounded, bounded), 1023);
  Value scale = asNumber(shiftLeft(power.biased, 52));
  Sum part = exactSum(power.r.high, curve(power.r.high));
  part.low = add(part.low, power.r.low);
  Sum e = exactSum(sub(scale, 1), mul(scale, part.high));
  e.low = mulAdd(scale, part.low, e.low);
  Sum divisor = exactSumOfAny(e.high, number(2, x));
  divisor.low = add(divisor.low, e.low);
  Value inverse = div(number(1, x), divisor.high), quotient = mul(e.high, inverse);
  Value rest = mulAdd(neg(quotient), divisor.high, e.high);
  rest = add(rest, mulAdd(neg(quotient), divisor.low, e.low));
  return withSignOf(mulAdd(rest, inverse, quotient), x);
}

//===-- Logarithms ------------------------------------------------------------------------------===//

Float64Emitter::Normal Float64Emitter::normal(Value x) {
  Value isSubnormal = isLess(x, 0x1p-1022);
  return {select(isSubnormal, mul(x, 0x1p54), x), select(isSubnormal, number(54, x), number(0, x))};
}

Float64Emitter::Split Float64Emitter::split(Value x, Value correction) {
  // Its exponent is that of 2^k: mantissas from that of the root of 1/2 on carry into it.
  Value moved = subInts(asBits(x), integer(kRootOfHalf - kOne, asBits(x)));
  // The exponent as the low bits of a number.
  Value count = emit<arith::ShRUIOp>(moved, integer(52, moved));
  count = asNumber(emit<arith::OrIOp>(count, integer(0x4330000000000000, count)));
  Value k = sub(count, 0x1p52 + 1023);
  return {correction ? sub(k, correction) : k, subInts(mask(moved, kExponentBits), integer(kOne, moved))};
}

// With s = f / (2 + f), log(1 + f) = log((1 + s) / (1 - s)) = f - (h - s (h + R)), where h = f^2 / 2 and R follows 2 s.
Value Float64Emitter::logOfParts(Value k, Value f) {
  Value s = div(f, add(f, 2)), z = mul(s, s);
  Value h = mul(mul(f, 0.5), f);
  Value inner = mulAdd(polynomial(polynomials::kLog64, z), z, h);
  inner = mulAdd(s, inner, mul(k, polynomials::kShortLn2Of64[1]));
  return mulAdd(k, polynomials::kShortLn2Of64[0], sub(f, sub(h, inner)));
}

Float64Emitter::Parts Float64Emitter::partsOf(Value x) {
  Normal normal = this->normal(x);
  Split split = this->split(normal.x, normal.correction);
  return {split.k, asNumber(subInts(asBits(normal.x), split.shift))};
}

Value Float64Emitter::logOfBase(Value x, const double (&factor)[2]) {
  Sum log = exactLog(x), product = exactProduct(log.high, number(factor[0], x));
  product.low = add(product.low, mulAdd(log.high, factor[1], mul(log.low, factor[0])));
  return aboveThePole(x, 0, add(product.high, product.low));
}

Value Float64Emitter::log(Value x) {
  Parts parts = partsOf(x);
  return aboveThePole(x, 0, logOfParts(parts.k, sub(parts.m, 1)));
}

// 1 + x = 2^k (1 + f). The sum is rounded, but f is made of x and 2^-k.
Value Float64Emitter::log1p(Value x) {
  Split split = this->split(add(x, 1));
  Value scaled = asNumber(subInts(asBits(x), split.shift));
  Value fourth = asNumber(subInts(integer(0x4010000000000000, split.shift), split.shift)); // 4 * 2^-k, which is normal
  Value f = add(scaled, mulAdd(fourth, 0.25, -1));
  return aboveThePole(x, -1, withSignOf(logOfParts(split.k, f), x));
}

//===-- The error function ----------------------------------------------------------------------===//

Value Float64Emitter::erf(Value x) {
  Value magnitude = absolute(x), bounded = atMost(magnitude, 6);
  Value near = mulAdd(polynomial(polynomials::kErf64, mul(x, x)), magnitude, magnitude);
  Value q = div(sub(bounded, 4), add(bounded, 4));
  Value rest = mul(polynomial(polynomials::kErfc64, q), exp(neg(mul(bounded, bounded))));
  return withSignOf(select(isLess(magnitude, 1), near, sub(number(1, x), rest)), x);
}

//===-- Sine, cosine, tangent -------------------------------------------------------------------===//

// The first argument for which the parts of pi have not enough bits.
constexpr double kLargeFloat64 = 0x1p20;

// Cody and Waite's reduction: the first difference is exact. Of -0 all numbers are -0.
Float64Emitter::Reduced Float64Emitter::reduce(Value x) {
  constexpr double kRound = 0x1.8p52;
  const double (&pi)[3] = polynomials::kPi64;
  Value sum = mulAdd(x, 2 * std::numbers::inv_pi, kRound), count = sub(sum, kRound);
  Value first = mulAdd(count, -pi[0] / 2, x), high = mulAdd(count, -pi[1] / 2, first);
  Value low = mulAdd(count, -pi[1] / 2, neg(sub(high, first)));
  return {asBits(sum), add(high, mulAdd(count, -pi[2] / 2, low))};
}

template <typename Op> Value Float64Emitter::orOfLarge(Value x, Value result) {
  Value isLarge = isNotLess(absolute(x), kLargeFloat64);
  auto either = scf::IfOp::create(
      b, location, any(isLarge),
      [&](OpBuilder &builder, Location) {
        Float64Emitter inside(builder, location, shape, fma);
        Value ofLibrary = Op::create(builder, location, x);
        scf::YieldOp::create(builder, location, inside.select(isLarge, ofLibrary, result));
      },
      [&](OpBuilder &builder, Location) { scf::YieldOp::create(builder, location, result); });
  return either.getResult(0);
}

// Of an odd count a cosine, negative where the next bit is set.
Value Float64Emitter::sineOf(Value count, Value rest) {
  Value square = mul(rest, rest), isOdd = arith::TruncIOp::create(b, location, like(b.getI1Type()), count);
  Value sum = polynomial(isOdd, polynomials::kCosNear64, polynomials::kSinNear64, square);
  // With a sum the cube of -0 is 0, and -0 stays when a negative multiple of that is added.
  Value cube = mulAdd(rest, square, 0);
  Value result = mulAdd(sum, select(isOdd, square, cube), select(isOdd, number(1, rest), rest));
  return asNumber(emit<arith::XOrIOp>(asBits(result), shiftLeft(mask(count, 2), 62)));
}

Value Float64Emitter::sin(Value x) {
  Reduced reduced = reduce(x);
  return orOfLarge<math::SinOp>(x, sineOf(reduced.count, reduced.rest));
}
// cos(x) = sin(x + pi / 2)
Value Float64Emitter::cos(Value x) {
  Reduced reduced = reduce(x);
  Value next = addInts(reduced.count, integer(1, reduced.count));
  return orOfLarge<math::CosOp>(x, sineOf(next, reduced.rest));
}

// sin / cos, and -cos / sin where the count is odd.
Value Float64Emitter::tan(Value x) {
  Reduced reduced = reduce(x);
  Value r = reduced.rest, square = mul(r, r), sine = this->sine(polynomials::kSinNear64, r, square);
  Value cosine = mulAdd(polynomial(polynomials::kCosNear64, square), square, 1);
  Value isOdd = arith::TruncIOp::create(b, location, like(b.getI1Type()), reduced.count);
  Value above = select(isOdd, neg(cosine), sine);
  return orOfLarge<math::TanOp>(x, div(above, select(isOdd, sine, cosine)));
}

//===-- Powers ----------------------------------------------------------------------------------===//

// The logarithm of a positive number, to some 2^-66 of its size: times the exponent it may be 709.
Float64Emitter::Sum Float64Emitter::exactLog(Value x) {
  Parts parts = partsOf(x);
  Value m = parts.m;
  // s = (m - 1) / (m + 1), z = s^2
  Value above = sub(m, 1);
  Sum below = exactSumOfAny(m, number(1, m)), s, z;
  Value inverse = div(number(1, m), below.high);
  s.high = mul(above, inverse);
  s.low = mul(mulAdd(neg(s.high), below.low, mulAdd(neg(s.high), below.high, above)), inverse);
  z = exactProduct(s.high, s.high);
  z.low = mulAdd(add(s.high, s.high), s.low, z.low);
  // log(m) = 2 s + s z (2/3 + z P(z))
  Sum factor =
      exactSum(number(polynomials::kTwoThirds64[0], m), mul(z.high, polynomial(polynomials::kLogRest64, z.high)));
  factor.low = add(factor.low, polynomials::kTwoThirds64[1]);
  Sum cube = exactProduct(z.high, s.high);
  cube.low = add(cube.low, mulAdd(z.high, s.low, mul(z.low, s.high)));
  Sum curve = exactProduct(cube.high, factor.high);
  curve.low = add(curve.low, mulAdd(cube.high, factor.low, mul(cube.low, factor.high)));
  Sum log = exactSum(add(s.high, s.high), curve.high);
  log.low = add(log.low, add(add(s.low, s.low), curve.low));
  Sum sum = exactSum(mul(parts.k, polynomials::kShortLn2Of64[0]), log.high);
  sum.low = add(sum.low, mulAdd(parts.k, polynomials::kShortLn2Of64[1], log.low));
  return sum;
}

Value Float64Emitter::powOf(Value x, Value y, llvm::function_ref<Sum(Value)> log) {
  // Operands of which no step raises an exception that they don't raise. Beyond 2^64 exponents make no difference.
  Value magnitude = absolute(x), bounded = atMost(atLeast(y, -0x1p64), 0x1p64), one = number(1, x);
  Value isOrdinary = emit<arith::AndIOp>(isGreater(magnitude, 0), isLess(magnitude, kInfinity));
  Sum logarithm = log(select(isOrdinary, magnitude, one)), product{mul(bounded, logarithm.high), {}};
  if (logarithm.low)
    product = exactProduct(bounded, logarithm.high);
  // Of infinity and NaN the same.
  Value ofSpecial = select(isEqual(magnitude, 0), number(-kInfinity, x), select(isOrdinary, one, magnitude));
  Value factor = select(isEqual(y, 0), one, bounded);
  product.high = select(isOrdinary, product.high, mul(factor, ofSpecial));
  if (logarithm.low) {
    // Beyond these bounds results are 0 or infinite.
    Value isBounded = isLess(absolute(product.high), 1000);
    product.low = select(isBounded, mulAdd(bounded, logarithm.low, product.low), number(0, x));
  }
  Value result = expOfSum(product.high, product.low);

  auto isWhole = [&](Value value) { return isEqual(math::FloorOp::create(b, location, value).getResult(), value); };
  Value isInteger = isWhole(y), isEven = isWhole(mul(y, 0.5));
  // Negative where x is and y is odd. Of negative numbers there are no other powers than those of integers.
  Value isNegative = isLess(withSignOf(number(1, x), x), 0);
  Value no = splat(isEven.getType(), b.getBoolAttr(false));
  Value isOdd = select(isEven, no, isInteger);
  result = select(emit<arith::AndIOp>(isNegative, isOdd), neg(result), result);
  Value isUndefined = emit<arith::AndIOp>(isLess(x, 0), select(isInteger, no, isLess(magnitude, kInfinity)));
  result = select(isUndefined, number(kNaN, x), result);
  // Whatever the other operand is, even NaN; and 1 or -1 to an infinite power.
  Value isOne = emit<arith::OrIOp>(isEqual(x, 1), isEqual(y, 0));
  isOne = emit<arith::OrIOp>(isOne, emit<arith::AndIOp>(isEqual(magnitude, 1), isEqual(absolute(y), kInfinity)));
  return select(isOne, one, result);
}

Value Float64Emitter::pow(Value x, Value y) {
  return powOf(x, y, [&](Value magnitude) { return exactLog(magnitude); });
}

Value Float64Emitter::powOfSingle(Value x, Value y) {
  auto widened = [&](Value value) {
    return arith::ExtFOp::create(b, location, like(b.getF64Type()), value).getResult();
  };
  // Numbers of float32 are normal ones of float64.
  Value result = powOf(widened(x), widened(y), [&](Value magnitude) {
    Split split = this->split(magnitude);
    return Sum{logOfParts(split.k, sub(asNumber(subInts(asBits(magnitude), split.shift)), 1)), {}};
  });
  return arith::TruncFOp::create(b, location, x.getType(), result);
}

Value emitFloat64Function(OpBuilder &builder, Operation *op, bool fma) {
  if (op->getNumResults() != 1)
    return {};
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  if (auto power = dyn_cast<math::PowFOp>(op)) {
    Value x = power.getLhs(), y = power.getRhs();
    if (element.isF32())
      return Float64Emitter(builder, op->getLoc(), type, fma, /*roundsOnce=*/false).powOfSingle(x, y);
    return element.isF64() ? Float64Emitter(builder, op->getLoc(), type, fma).pow(x, y) : Value();
  }
  if ((op->getNumOperands() != 1 && !isa<ir::ScalarFunctionOp>(op)) || !element.isF64())
    return {};
  Float64Emitter emitter(builder, op->getLoc(), type, fma);
  return emitNamed(emitter, op);
}

} // namespace calque::codegen
