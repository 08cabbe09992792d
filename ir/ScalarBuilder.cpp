#include "ir/ScalarBuilder.h"
#include "ir/ElementType.h"
#include "ir/Opaque.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace calque::ir {

namespace {
bool isFloatScalar(Value value) { return isa<FloatType>(value.getType()); }

template <typename FloatOp, typename IntOp> Value either(ScalarBuilder &b, Value x, Value y) {
  if (isFloatScalar(x))
    return FloatOp::create(b.builder, b.location, x, y);
  return IntOp::create(b.builder, b.location, x, y);
}

Value compare(ScalarBuilder &b, arith::CmpFPredicate floats, arith::CmpIPredicate signedInts,
              arith::CmpIPredicate unsignedInts, Value x, Value y) {
  if (isFloatScalar(x))
    return arith::CmpFOp::create(b.builder, b.location, floats, x, y);
  const bool hasNoSign = b.takesUnsigned || ElementType(x).isBool();
  return arith::CmpIOp::create(b.builder, b.location, hasNoSign ? unsignedInts : signedInts, x, y);
}
} // namespace

Value ScalarBuilder::constant(schema::Scalar value, Type type) {
  return arith::ConstantOp::create(builder, location, elementAttr(value, type));
}

Value ScalarBuilder::add(Value a, Value b) { return either<arith::AddFOp, arith::AddIOp>(*this, a, b); }
Value ScalarBuilder::sub(Value a, Value b) { return either<arith::SubFOp, arith::SubIOp>(*this, a, b); }
Value ScalarBuilder::mul(Value a, Value b) { return either<arith::MulFOp, arith::MulIOp>(*this, a, b); }

Value ScalarBuilder::div(Value a, Value b) {
  if (isFloatScalar(a))
    return arith::DivFOp::create(builder, location, a, b);
  // The processor traps on a zero divisor and on smallest / -1, so the divisor is replaced in both cases.
  Value zero = constant(0, a), one = constant(1, a);
  if (takesUnsigned) {
    Value isByZero = equal(b, zero), other = select(isByZero, one, b);
    return select(isByZero, zero, arith::DivUIOp::create(builder, location, a, other));
  }
  Value minusOne = constant(-1, a);
  Value isZero = equal(b, zero), isMinusOne = equal(b, minusOne);
  Value divisor = select(logicalOr(isZero, isMinusOne), one, b);
  Value quotient = arith::DivSIOp::create(builder, location, a, divisor);
  return select(isZero, zero, select(isMinusOne, sub(zero, a), quotient));
}

Value ScalarBuilder::fmod(Value a, Value b) {
  if (isFloatScalar(a))
    return arith::RemFOp::create(builder, location, a, b);
  Value zero = constant(0, a), one = constant(1, a);
  if (takesUnsigned)
    return arith::RemUIOp::create(builder, location, a, select(equal(b, zero), one, b));
  Value minusOne = constant(-1, a), isZero = equal(b, zero), isMinusOne = equal(b, minusOne);
  // By 1 nothing is left, nor by -1.
  return arith::RemSIOp::create(builder, location, a, select(logicalOr(isZero, isMinusOne), one, b));
}

// Whether a remainder is not 0 and has another sign than the divisor, so that rounding down leaves more.
static Value isOnOtherSide(ScalarBuilder &s, Value remainder, Value divisor) {
  Value zero = s.constant(0, remainder);
  Value isLeft = s.notEqual(remainder, zero), isBelow = s.less(remainder, zero), isDivisorBelow = s.less(divisor, zero);
  return s.logicalAnd(isLeft, s.logicalXor(isBelow, isDivisorBelow));
}

Value ScalarBuilder::mod(Value a, Value b) {
  Value remainder = fmod(a, b), zero = constant(0, a);
  Value otherSide = isOnOtherSide(*this, remainder, b), moved = add(remainder, b);
  Value result = select(otherSide, moved, remainder);
  if (!isFloatScalar(a))
    return result;
  Value signedZero = math::CopySignOp::create(builder, location, zero, b), isZero = equal(remainder, zero);
  return select(isZero, signedZero, result);
}

// The whole number for which a = number * b + remainder, from one that is hardly off.
static Value exactQuotient(ScalarBuilder &s, Value a, Value remainder, Value b, Value quotient) {
  Value number = s.round(quotient), half = s.constant(0.5, b), one = s.constant(1, b);
  Value product = math::FmaOp::create(s.builder, s.location, s.neg(number), b, a), rest = s.sub(product, remainder);
  Value isOff = s.less(s.mul(s.abs(b), half), s.abs(rest)), isExact = s.less(s.abs(number), s.constant(0x1p53, b));
  Value isUp = s.equal(s.less(rest, s.constant(0, b)), s.less(b, s.constant(0, b)));
  Value next = s.select(isUp, s.add(number, one), s.sub(number, one));
  return s.select(s.logicalAnd(isOff, isExact), next, number);
}

Value ScalarBuilder::floorDivide(Value a, Value b) {
  if (!isFloatScalar(a)) {
    Value quotient = div(a, b), product = mul(quotient, b), remainder = sub(a, product), one = constant(1, a);
    Value otherSide = isOnOtherSide(*this, remainder, b);
    return select(otherSide, sub(quotient, one), quotient);
  }
  // Without the remainder a is a multiple of b, whose quotient is off from a whole number by rounding alone, and in
  // float64 by less than that of two numbers of float32. Of two numbers of float64 it may be another whole number,
  // beside the right one. To divide first and then to round down gives 10 for 1 and 0.1, of which nine fit.
  Type wide = builder.getF64Type();
  Value remainder = fmod(a, b), wideA = castTo(a, wide), wideB = castTo(b, wide);
  Value whole = sub(wideA, castTo(remainder, wide)), quotient = div(whole, wideB), one = constant(1, quotient);
  Value otherSide = isOnOtherSide(*this, remainder, b);
  if (a.getType().isF64())
    quotient = exactQuotient(*this, a, remainder, b, quotient);
  Value rounded = round(select(otherSide, sub(quotient, one), quotient)), nearest = castTo(rounded, a.getType());
  Value ratio = div(a, b), zero = constant(0, a), isZero = equal(nearest, zero);
  Value signedZero = math::CopySignOp::create(builder, location, zero, ratio), isByZero = equal(b, zero);
  return select(isByZero, ratio, select(isZero, signedZero, nearest));
}

Value ScalarBuilder::neg(Value x) {
  if (isFloatScalar(x))
    return arith::NegFOp::create(builder, location, x);
  return sub(constant(0, x), x);
}

Value ScalarBuilder::abs(Value x) {
  if (isFloatScalar(x))
    return math::AbsFOp::create(builder, location, x);
  Value isNegative = less(x, constant(0, x));
  return select(isNegative, neg(x), x);
}

static Value opaque(ScalarBuilder &b, Value x) { return makeOpaque(b.builder, b.location, x); }

// By squares: a factor for each bit of the exponent. A negative power is the quotient of 1, truncated as all of
// integers.
static Value integerPower(ScalarBuilder &s, Value a, Value b) {
  Value zero = s.constant(0, a), one = s.constant(1, a), result = one, square = a;
  const unsigned bits = ElementType(a).bits();
  for (unsigned i = 0; i + !s.takesUnsigned < bits; ++i) {
    Value bit = s.constant(static_cast<int64_t>(uint64_t(1) << i), a);
    Value isSet = s.notEqual(arith::AndIOp::create(s.builder, s.location, b, bit), zero);
    Value factor = s.select(isSet, square, one);
    result = s.mul(result, factor);
    square = s.mul(square, square);
  }
  Value isOdd = s.notEqual(arith::AndIOp::create(s.builder, s.location, b, one), zero), minusOne = s.constant(-1, a);
  Value ofMinusOne = s.select(isOdd, minusOne, one), isMinusOne = s.equal(a, minusOne), isOne = s.equal(a, one);
  Value ofOthers = s.select(isMinusOne, ofMinusOne, zero), quotient = s.select(isOne, one, ofOthers);
  Value isNegative = s.less(b, zero);
  return s.select(isNegative, quotient, result);
}

Value ScalarBuilder::pow(Value a, Value b) {
  if (!isFloatScalar(a))
    return integerPower(*this, a, b);
  Value base = opaque(*this, a);
  return math::PowFOp::create(builder, location, base, opaque(*this, b));
}
Value ScalarBuilder::exp(Value x) { return math::ExpOp::create(builder, location, opaque(*this, x)); }
Value ScalarBuilder::log(Value x) { return math::LogOp::create(builder, location, opaque(*this, x)); }
Value ScalarBuilder::log1p(Value x) { return math::Log1pOp::create(builder, location, opaque(*this, x)); }
Value ScalarBuilder::expm1(Value x) { return math::ExpM1Op::create(builder, location, opaque(*this, x)); }
Value ScalarBuilder::sqrt(Value x) { return math::SqrtOp::create(builder, location, x); }
Value ScalarBuilder::tanh(Value x) { return math::TanhOp::create(builder, location, opaque(*this, x)); }
Value ScalarBuilder::erf(Value x) { return math::ErfOp::create(builder, location, opaque(*this, x)); }
Value ScalarBuilder::sin(Value x) { return math::SinOp::create(builder, location, opaque(*this, x)); }
Value ScalarBuilder::cos(Value x) { return math::CosOp::create(builder, location, opaque(*this, x)); }
Value ScalarBuilder::tan(Value x) { return math::TanOp::create(builder, location, opaque(*this, x)); }
Value ScalarBuilder::floor(Value x) { return math::FloorOp::create(builder, location, x); }
Value ScalarBuilder::ceil(Value x) { return math::CeilOp::create(builder, location, x); }
Value ScalarBuilder::round(Value x) { return math::RoundEvenOp::create(builder, location, x); }

// ScalarFunctionOp by its name: the dialect's header includes this one's. No pass folds it, so that its operands need
// not be opaque.
static Value functionOf(ScalarBuilder &s, StringRef name, ValueRange operands) {
  OperationState state(s.location, "calque.scalar_function", operands, operands[0].getType());
  state.addAttribute("name", s.builder.getStringAttr(name));
  return s.builder.create(state)->getResult(0);
}
Value ScalarBuilder::function(StringRef name, Value x) { return functionOf(*this, name, x); }
Value ScalarBuilder::function(StringRef name, Value x, Value y) { return functionOf(*this, name, {x, y}); }
Value ScalarBuilder::function(StringRef name, Value x, Value y, Value z) { return functionOf(*this, name, {x, y, z}); }

Value ScalarBuilder::trunc(Value x) { return math::TruncOp::create(builder, location, x); }
Value ScalarBuilder::copySign(Value magnitude, Value sign) {
  return math::CopySignOp::create(builder, location, magnitude, sign);
}

// The neighbours of a number have the neighbours of its bits, which grow with its magnitude. Halves are compared as
// float32, which has all of them: their bits are all that is computed with.
Value ScalarBuilder::nextAfter(Value x, Value y) {
  Type number = x.getType();
  IntegerType bits = ElementType(number).asBits();
  auto bitsOf = [&](Value value) -> Value { return arith::BitcastOp::create(builder, location, bits, value); };
  Value bitsOfX = bitsOf(x), bitsOfY = bitsOf(y);
  if (ElementType(number).isHalf()) {
    x = castTo(x, builder.getF32Type());
    y = castTo(y, builder.getF32Type());
  }
  Value zero = constant(0, x), one = constant(1, bits), minusOne = constant(-1, bits);
  Value isUp = less(x, y), isPositive = less(zero, x), isLarger = equal(isUp, isPositive);
  Value moved = add(bitsOfX, select(isLarger, one, minusOne));
  Value signBit = arith::ConstantOp::create(builder, location, ElementType(bits).extreme(true, false));
  Value smallest = logicalOr(logicalAnd(bitsOfY, signBit), one);
  Value isZero = equal(x, zero), isSame = equal(x, y), isNan = notEqual(x, x), isOtherNan = notEqual(y, y);
  Value next = select(isZero, smallest, moved);
  Value result = select(isNan, bitsOfX, select(logicalOr(isSame, isOtherNan), bitsOfY, next));
  return arith::BitcastOp::create(builder, location, number, result);
}

Value ScalarBuilder::sign(Value x) {
  Value zero = constant(0, x);
  // NaN and zero are neither below nor above zero, and are returned as they are.
  Value isNegative = less(x, zero), minusOne = constant(-1, x), isPositive = less(zero, x), one = constant(1, x);
  return select(isNegative, minusOne, select(isPositive, one, x));
}

Value ScalarBuilder::maximum(Value a, Value b) {
  return takesUnsigned ? either<arith::MaximumFOp, arith::MaxUIOp>(*this, a, b)
                       : either<arith::MaximumFOp, arith::MaxSIOp>(*this, a, b);
}
Value ScalarBuilder::minimum(Value a, Value b) {
  return takesUnsigned ? either<arith::MinimumFOp, arith::MinUIOp>(*this, a, b)
                       : either<arith::MinimumFOp, arith::MinSIOp>(*this, a, b);
}

Value ScalarBuilder::equal(Value a, Value b) {
  return compare(*this, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, arith::CmpIPredicate::eq, a, b);
}
Value ScalarBuilder::notEqual(Value a, Value b) {
  return compare(*this, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne, arith::CmpIPredicate::ne, a, b);
}
Value ScalarBuilder::less(Value a, Value b) {
  return compare(*this, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, arith::CmpIPredicate::ult, a, b);
}
Value ScalarBuilder::lessEqual(Value a, Value b) {
  return compare(*this, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle, arith::CmpIPredicate::ule, a, b);
}

Value ScalarBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, location, condition, a, b);
}
Value ScalarBuilder::logicalAnd(Value a, Value b) { return arith::AndIOp::create(builder, location, a, b); }
Value ScalarBuilder::logicalOr(Value a, Value b) { return arith::OrIOp::create(builder, location, a, b); }
Value ScalarBuilder::logicalXor(Value a, Value b) { return arith::XOrIOp::create(builder, location, a, b); }
Value ScalarBuilder::logicalNot(Value x) { return logicalXor(x, constant(1, x)); }

// Of a float that is wider than float32 or an integer, rounded once.
static Value roundedToHalf(ScalarBuilder &s, Value x, FloatType half) {
  if (isFloatScalar(x))
    return arith::TruncFOp::create(s.builder, s.location, half, x);
  // float32 has all integers of 16 bits, float64 those of 32. Of wider ones that float64 does not have the lowest bits
  // become one that says whether any of them is set: no rounding to a half sees more of them.
  const unsigned bits = ElementType(x).bits();
  if (bits == 64) {
    Value low = s.constant(0xfff, x), zero = s.constant(0, x), sticky = s.constant(0x1000, x);
    Value rest = arith::AndIOp::create(s.builder, s.location, x, low);
    Value upper = arith::XOrIOp::create(s.builder, s.location, x, rest), isAny = s.notEqual(rest, zero);
    Value rounded = arith::OrIOp::create(s.builder, s.location, upper, s.select(isAny, sticky, zero));
    Value bound = s.constant(int64_t(1) << 52, x), least = s.constant(-(int64_t(1) << 52), x);
    Value isSmall = s.less(x, bound);
    if (!s.takesUnsigned)
      isSmall = s.logicalAnd(isSmall, s.less(least, x));
    x = s.select(isSmall, x, rounded);
  }
  Value wide = s.castTo(x, bits <= 16 ? Type(s.builder.getF32Type()) : Type(s.builder.getF64Type()));
  return arith::TruncFOp::create(s.builder, s.location, half, wide);
}

static Value floatToInteger(ScalarBuilder &s, Value x, Type type) {
  // The bounds are powers of two, which every float type represents; it can't represent every largest integer.
  const unsigned width = ElementType(type).bits();
  const double bound = std::ldexp(1.0, static_cast<int>(width) - !s.givesUnsigned);
  Value low = s.constant(s.givesUnsigned ? 0 : -bound, x), high = s.constant(bound, x);
  Value notBelow = s.lessEqual(low, x), isBelowHigh = s.less(x, high);
  Value inside = s.logicalAnd(notBelow, isBelowHigh), taken = s.select(inside, x, s.constant(0, x));
  Value converted = s.givesUnsigned ? arith::FPToUIOp::create(s.builder, s.location, type, taken).getResult()
                                    : arith::FPToSIOp::create(s.builder, s.location, type, taken).getResult();
  auto extreme = [&](bool isLeast) -> Value {
    return arith::ConstantOp::create(s.builder, s.location, ElementType(type).extreme(isLeast, s.givesUnsigned));
  };
  Value largest = extreme(false), smallest = extreme(true);
  Value isAbove = s.lessEqual(high, x), isBelow = s.less(x, low);
  return s.select(isAbove, largest, s.select(isBelow, smallest, converted));
}

Value ScalarBuilder::bitNot(Value x) {
  const APInt ones = APInt::getAllOnes(ElementType(x).bits());
  return logicalXor(
      x, arith::ConstantOp::create(builder, location, builder.getIntegerAttr(x.getType(), ones)).getResult());
}

// As an unsigned number a negative count is too large as well. Both results are chosen by that: LLVM leaves open what a
// shift by too large a count gives.
template <typename Shift> static Value shifted(ScalarBuilder &s, Value x, Value count) {
  Value bits = s.constant(static_cast<int64_t>(ElementType(x).bits()), x), zero = s.constant(0, x);
  Value isWithin = arith::CmpIOp::create(s.builder, s.location, arith::CmpIPredicate::ult, count, bits);
  Value bounded = s.select(isWithin, count, zero);
  return s.select(isWithin, Shift::create(s.builder, s.location, x, bounded).getResult(), zero);
}

Value ScalarBuilder::shiftLeft(Value x, Value count) { return shifted<arith::ShLIOp>(*this, x, count); }

// The bits of a negative number are inverted before and behind a shift that lets zeros in. So it follows from
// comparisons alone which numbers are negative.
Value ScalarBuilder::shiftRight(Value x, Value count) {
  Value zero = constant(0, x), isNegative = less(x, zero), inverted = bitNot(x);
  Value moved = shifted<arith::ShRUIOp>(*this, select(isNegative, inverted, x), count), back = bitNot(moved);
  return select(isNegative, back, moved);
}

Value ScalarBuilder::countOnes(Value x) { return math::CtPopOp::create(builder, location, x); }
Value ScalarBuilder::bitLength(Value x) {
  Value bits = constant(static_cast<int64_t>(ElementType(x).bits()), x);
  return sub(bits, math::CountLeadingZerosOp::create(builder, location, x));
}

Value ScalarBuilder::castTo(Value x, Type type) {
  Type from = x.getType();
  if (from == type)
    return x;
  // No arithmetic is done on halves.
  if (ElementType(from).isHalf() && ElementType(type).bits() < 64)
    x = arith::ExtFOp::create(builder, location, builder.getF32Type(), x);
  if (x.getType() == type)
    return x;
  if (ElementType(type).isBool())
    return notEqual(x, constant(0, x));
  const bool isOfUnsigned = takesUnsigned || ElementType(from).isBool();
  if (auto floating = dyn_cast<FloatType>(type)) {
    if (ElementType(type).isHalf())
      return roundedToHalf(*this, x, floating);
    if (!isFloatScalar(x))
      return isOfUnsigned ? arith::UIToFPOp::create(builder, location, type, x).getResult()
                          : arith::SIToFPOp::create(builder, location, type, x).getResult();
    if (cast<FloatType>(x.getType()).getWidth() < floating.getWidth())
      return arith::ExtFOp::create(builder, location, type, x);
    return arith::TruncFOp::create(builder, location, type, x);
  }
  if (isFloatScalar(x))
    return floatToInteger(*this, x, type);
  if (ElementType(from).bits() > ElementType(type).bits())
    return arith::TruncIOp::create(builder, location, type, x);
  return isOfUnsigned ? arith::ExtUIOp::create(builder, location, type, x).getResult()
                      : arith::ExtSIOp::create(builder, location, type, x).getResult();
}

} // namespace calque::ir
