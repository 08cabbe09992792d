// Beta functions and incomplete ones, zeta functions, significands and exponents.
#include "codegen/native/IncompleteEmitter.h"

#include <numbers>

using namespace mlir;

namespace calque::codegen {

//===-- Beta functions --------------------------------------------------------------------------===//

// Of large numbers by Stirling's formula. Up to 1024 logarithms are sums of two numbers, so that the exponential of the
// result has its digits; beyond it they are those of quotients, because large logarithms would cancel. The pole at 0 is
// a factor: gamma(z) is gamma(z + 1) / z.
IncompleteEmitter::Beta IncompleteEmitter::betaParts(Value x, Value y) {
  Value one = number(1, x), zero = no(x), isOrdinary = both(isFinitePositive(x), isFinitePositive(y));
  Value isSorted = negated(isGreater(x, y)), a = select(isOrdinary, select(isSorted, x, y), one);
  Value c = select(isOrdinary, select(isSorted, y, x), one);
  Value isOneLarge = isNotLess(c, 8), areLarge = both(isOneLarge, isNotLess(a, 8));
  Value large = select(isOneLarge, c, number(8, c)), small = select(isOneLarge, a, one);
  Value other = select(areLarge, a, number(8, a)), ratio = log1p(div(small, large));
  Sum sum = exactSum(large, small), ofSum = logSum(sum.high);
  ofSum.low = add(ofSum.low, div(sum.low, sum.high));
  Value rests = sub(stirling(large), stirling(sum.high));
  Value bounded = select(areLarge, one, a), ofSmall = lgammaOfNext(bounded);
  Sum middle = addTo(times(neg(small), ofSum), mulAdd(sub(number(0.5, c), large), ratio, small));
  middle = addTo(middle, add(ofSmall, rests));
  // log(2 pi) / 2
  Value constant = add(rests, add(stirling(other), number(0.91893853320467274178, a)));
  Value beyond = mulAdd(sub(other, 0.5), log(div(other, sum.high)), neg(mul(large, ratio)));
  beyond = add(beyond, mulAdd(log(large), -0.5, constant));
  Value isBeyond = isNotLess(large, 1024);
  Sum ofOther = logSum(other), ofLarge = logSum(large);
  auto difference = [&](Sum of) {
    Sum result = exactSumOfAny(of.high, neg(ofSum.high));
    result.low = add(result.low, sub(of.low, ofSum.low));
    return result;
  };
  Sum first = times(sub(other, 0.5), difference(ofOther)), second = times(large, difference(ofLarge));
  Sum far = addTo(first, second.high);
  far.low = add(far.low, second.low);
  far = addTo(far, mulAdd(ofLarge.high, -0.5, mulAdd(ofLarge.low, -0.5, constant)));
  far = {select(isBeyond, beyond, far.high), select(isBeyond, zero, far.low)};
  Value rest = select(isOneLarge, one, c);
  Value near = add(ofSmall, sub(lgammaOfNext(rest), lgammaOfNext(add(bounded, rest))));
  Value factor = select(isOneLarge, div(one, bounded), div(add(div(bounded, rest), 1), bounded));
  return {select(areLarge, one, factor),
          {select(areLarge, far.high, select(isOneLarge, middle.high, near)),
           select(areLarge, far.low, select(isOneLarge, middle.low, zero))}};
}

Value IncompleteEmitter::betaln(Value x, Value y) {
  Beta parts = betaParts(x, y);
  Sum result = addTo(parts.logarithm, log(parts.factor));
  return betaEdges(x, y, add(result.high, result.low), number(-kInfinity, x));
}

Value IncompleteEmitter::beta(Value x, Value y) {
  Beta parts = betaParts(x, y);
  return betaEdges(x, y, mul(expOf(parts.logarithm), parts.factor), no(x));
}

// Infinite at 0, `limit` at infinity, NaN for negative numbers.
Value IncompleteEmitter::betaEdges(Value x, Value y, Value inside, Value limit) {
  Value infinity = number(kInfinity, x), nan = number(kNaN, x);
  Value isZero = either(isEqual(x, 0), isEqual(y, 0)), isLimit = either(isEqual(x, kInfinity), isEqual(y, kInfinity));
  Value isDefined = both(isNotLess(x, 0), isNotLess(y, 0));
  Value edge = select(isZero, select(isLimit, nan, infinity), limit);
  return select(isDefined, select(either(isZero, isLimit), edge, inside), nan);
}

// The exponent is a log(x) + b log(y) - betaln(a, b). Where a and b are large, these would cancel: with p = a / (a + b)
// and q = 1 - p it is a log(x / p) + b log(y / q) there, and Stirling's formula gives the rest.
Value IncompleteEmitter::betaPower(Value a, Value c, Value x, Value y) {
  Value isBeyond = both(both(isNotLess(a, 8), isNotLess(c, 8)), isNotLess(add(a, c), 1024));
  Value half = number(0.5, a), zero = no(a), thousand = number(1024, a);
  Value large = select(isBeyond, a, thousand), other = select(isBeyond, c, thousand), total = add(large, other);
  Value u = select(isBeyond, x, half), v = select(isBeyond, y, half);
  // x (a + b) - a
  Value d = mulAdd(u, other, neg(mul(v, large)));
  auto logOf = [&](Value shape, Value ratio, Value part) { // log(part (a + b) / shape)
    Value isClose = isLess(absolute(ratio), 0.5);
    return select(isClose, log1p(select(isClose, ratio, zero)), log(mul(part, div(total, shape))));
  };
  Value exponent = mulAdd(large, logOf(large, div(d, large), u), mul(other, logOf(other, neg(div(d, other)), v)));
  Value rest = sub(stirling(total), add(stirling(large), stirling(other)));
  // sqrt(a b / (2 pi (a + b)))
  Value scale = mul(log(mul(mul(large, div(other, total)), number(0.5 * std::numbers::inv_pi, a))), 0.5);
  Value beyond = add(exponent, add(rest, scale));

  Sum ofX = logSum(x), exactY = exactSum(number(1, x), neg(x)), ofY = logSum(y);
  ofY.low = add(ofY.low, div(add(exactY.low, sub(exactY.high, y)), y));
  Beta ofBeta = betaParts(select(isBeyond, number(1, a), a), select(isBeyond, number(1, c), c));
  Sum sum = times(a, ofX), second = times(c, ofY);
  sum = addTo(addTo(sum, second.high), neg(ofBeta.logarithm.high));
  sum.low = add(sum.low, sub(second.low, ofBeta.logarithm.low));
  Value isOrdinary = isLess(absolute(sum.high), 1e300);
  sum.low = select(isOrdinary, sum.low, zero);
  Value power = expOf({select(isBeyond, beyond, sum.high), select(isBeyond, zero, sum.low)});
  return div(power, select(isBeyond, number(1, a), ofBeta.factor));
}

Value IncompleteEmitter::beta_density(Value givenA, Value givenB, Value givenX) {
  Value areShapes = both(isFinitePositive(givenA), isFinitePositive(givenB));
  Value isInside = both(areShapes, both(isGreater(givenX, 0), isLess(givenX, 1)));
  Value one = number(1, givenA), half = number(0.5, givenA), zero = no(givenA), infinity = number(kInfinity, givenA);
  Value a = select(isInside, givenA, one), c = select(isInside, givenB, one), x = select(isInside, givenX, half);
  Value y = sub(one, x), inside = div(betaPower(a, c, x, y), mul(x, y));
  auto edge = [&](Value shape, Value other) { // at the end where the power of `shape` is
    return select(isLess(shape, 1), infinity, select(isEqual(shape, 1), other, zero));
  };
  Value ends = select(isEqual(givenX, 0), edge(givenA, givenB), edge(givenB, givenA));
  Value isEdge = both(areShapes, either(isEqual(givenX, 0), isEqual(givenX, 1)));
  return select(isInside, inside, select(isEdge, ends, number(kNaN, givenA)));
}

// The continued fraction of Didonato and Morris (Algorithm 708, ACM Transactions on Mathematical Software 18, 1992) by
// Lentz's method, of the smaller tail. Its steps grow with the root of the larger shape. It takes x and 1 - x, both
// exact.
Value IncompleteEmitter::incompleteBeta(Value givenA, Value givenB, Value givenX, int slopeBy) {
  Value areShapes = both(isFinitePositive(givenA), isFinitePositive(givenB));
  Value isInside = both(areShapes, both(isGreater(givenX, 0), isLess(givenX, 1)));
  Value one = number(1, givenA), zero = no(givenA);
  Value a = select(isInside, givenA, one), c = select(isInside, givenB, one);
  Value x = select(isInside, givenX, number(0.5, givenX)), y = sub(one, x);
  // x > (a + 1) / (a + b + 2), but not of small b, of which the upper tail is not the smaller one.
  Value isAbove = isGreater(mul(x, add(add(a, c), 2)), add(a, 1));
  Value isSwapped = both(isAbove, either(isNotLess(c, 1), isNotLess(x, 0.999)));
  Value p = select(isSwapped, c, a), q = select(isSwapped, a, c);
  Value z = select(isSwapped, y, x), w = select(isSwapped, x, y), sum = add(p, q);
  Value power = betaPower(a, c, x, y), ofP, ofQ;
  if (slopeBy != 0) {
    Value isOfFirst = slopeBy == 1 ? negated(isSwapped) : isSwapped;
    ofP = select(isOfFirst, one, zero);
    ofQ = sub(one, ofP);
  }
  // p w - q z, and the term without m and its derivative.
  Value distance = mulAdd(p, w, neg(mul(q, z))), next = add(p, 1), share = div(p, next);
  Value first = mul(share, add(distance, 1));
  first = select(isEqual(first, 0), number(kTiny, first), first);
  Values state = {first, zero, first};
  Value distanceSlope;
  if (slopeBy != 0) {
    distanceSlope = sub(mul(ofP, w), mul(ofQ, z));
    Value slope = mulAdd(share, distanceSlope, mul(ofP, div(div(add(distance, 1), next), next)));
    state.append({slope, zero, slope});
  }
  const Value least = number(isSingle ? 0x1p-36 : slopeBy ? 0x1p-50 : 0x1p-51, one);
  // Where the power vanishes, so does the tail.
  Value isTail = both(isInside, isGreater(power, 0));
  Values fraction = repeat(isTail, state, 100000, [&](Values &values, Value m) {
    Value twice = add(p, add(m, m)), below = div(one, sub(twice, 1)), above = div(one, add(twice, 1));
    Value before = sub(m, 1), u = add(p, before), v = add(sum, before), r = sub(q, m), k = mul(z, below),
          byM = mul(m, r);
    Value ofU = mul(u, k), ofV = mul(v, k), numerator = mul(mul(ofU, ofV), byM);
    Value rest = add(add(distance, 1), mul(m, add(w, 1))), byP = add(p, m);
    Value term = add(add(m, mul(byM, k)), mul(mul(byP, above), rest));
    Value denominator = awayFromZero(mulAdd(numerator, values[1], term)), quotient = div(numerator, values[0]);
    Value d = div(one, denominator), ratio = awayFromZero(add(term, quotient)), factor = mul(ratio, d);
    Value needsMore = isGreater(absolute(sub(factor, 1)), least);
    if (slopeBy != 0) {
      // u and v grow with p, v and r with q.
      Value ofNumerator = mul(mul(mul(ofP, k), ofV), byM);
      ofNumerator = add(ofNumerator, mul(mul(ofU, k), byM)); // of v, whose derivative is 1
      ofNumerator = add(ofNumerator, mul(mul(ofU, ofV), mul(m, ofQ)));
      ofNumerator = sub(ofNumerator, mul(mul(mul(numerator, ofP), below), 2));
      Value ofTerm = sub(mul(mul(m, ofQ), k), mul(mul(mul(byM, k), ofP), below));
      ofTerm = add(ofTerm, mul(add(mul(ofP, rest), mul(byP, distanceSlope)), above));
      ofTerm = sub(ofTerm, mul(mul(mul(byP, rest), ofP), mul(above, above)));
      Value ofDenominator = add(mulAdd(ofNumerator, values[1], mul(numerator, values[4])), ofTerm);
      Value ofD = neg(mul(mul(d, d), ofDenominator));
      Value ofRatio = add(ofTerm, div(sub(ofNumerator, mul(quotient, values[3])), values[0]));
      Value ofFactor = mulAdd(ofRatio, d, mul(ratio, ofD)), more = mul(values[2], ofFactor);
      values[5] = mulAdd(values[5], factor, more);
      values[3] = ofRatio;
      values[4] = ofD;
      needsMore = either(needsMore, isGreater(absolute(more), mul(absolute(values[5]), least)));
    }
    values[0] = ratio;
    values[1] = d;
    values[2] = mul(values[2], factor);
    return needsMore;
  });
  Value quotient = select(isTail, fraction[2], one), tail = div(power, quotient), result;
  if (slopeBy == 0) {
    // Where the power vanishes on this side of the mean, the other tail does.
    Value isAll = both(isAbove, negated(isTail));
    result = select(isSwapped, sub(one, tail), select(isAll, one, tail));
  } else {
    // The logarithm of the power grows by these, that of the fraction by its own derivative.
    Value ofW = select(isSwapped, log(x), log1p(neg(x))), ofZ = select(isSwapped, log1p(neg(x)), log(x));
    Value logSlope = add(mul(ofP, sub(ofZ, digamma(p))), mul(ofQ, sub(ofW, digamma(q))));
    logSlope = sub(add(logSlope, digamma(sum)), div(select(isTail, fraction[5], zero), quotient));
    Value slope = mul(tail, logSlope);
    result = select(isSwapped, neg(slope), slope);
  }
  Value edge = slopeBy == 0 ? select(isEqual(givenX, 0), zero, one) : zero;
  Value isEdge = both(areShapes, either(isEqual(givenX, 0), isEqual(givenX, 1)));
  return select(isInside, result, select(isEdge, edge, number(kNaN, givenA)));
}

//===-- Zeta functions --------------------------------------------------------------------------===//

// Euler and Maclaurin: the terms up to w = q + N >= 10 + s, the integral, half a term and derivatives. Where s is
// large, the terms vanish before.
Value IncompleteEmitter::zetaOf(Value givenS, Value givenQ, bool isSlope) {
  // B_2j / (2j)!
  constexpr double kBernoulli[] = {0x1.5555555555555p-4,   -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15,
                                   -0x1.bbd779334ef0bp-21, 0x1.66a8f2bf70ebep-26,  -0x1.22805d644267fp-31,
                                   0x1.d6db2c4e09162p-37,  -0x1.7da4e1f79955cp-42, 0x1.355871d652e9ep-47,
                                   -0x1.f57d968caacf1p-53, 0x1.967e1f09c376fp-58,  -0x1.497d9033a2b5cp-63};
  Value isOrdinary = both(both(isGreater(givenS, 1), isLess(givenS, kInfinity)), isFinitePositive(givenQ));
  Value s = select(isOrdinary, givenS, number(2, givenS)), q = select(isOrdinary, givenQ, number(1, givenQ));
  Value zero = no(s), one = number(1, s);
  auto powerOf = [&](Value w) { return pow(w, neg(s)); };
  // w, the sum, whether its terms have vanished, the sum's derivative.
  Values start = {q, zero, zero};
  if (isSlope)
    start.push_back(zero);
  Value needs = both(isOrdinary, isGreater(add(s, 10), q));
  Values state = repeat(needs, start, 2000, [&](Values &values, Value) {
    Value term = powerOf(values[0]);
    values[1] = add(values[1], term);
    Value least = digits(values[1]), isLeft = isGreater(term, least);
    if (isSlope) {
      Value slope = mul(log(values[0]), term);
      values[3] = sub(values[3], slope);
      isLeft = either(isLeft, isGreater(absolute(slope), digits(values[3])));
    }
    values[0] = add(values[0], 1);
    values[2] = select(isLeft, zero, one);
    return both(isLeft, isGreater(add(s, 10), values[0]));
  });
  Value w = state[0], power = powerOf(w), isDone = either(isGreater(state[2], 0.5), isEqual(power, 0)),
        inverse = div(one, w);
  Value square = mul(inverse, inverse), before = sub(s, 1);
  // w^-s w / (s - 1) + w^-s / 2 + the sum of B_2j / (2j)! s (s + 1) ... (s + 2j - 2) w^(-s - 2j + 1)
  Value factor = mul(s, inverse), total = no(s), harmonic = div(one, s), slopes = no(s);
  for (size_t j = 0; j < std::size(kBernoulli); ++j) {
    total = mulAdd(factor, kBernoulli[j], total);
    if (isSlope)
      slopes = mulAdd(mul(factor, harmonic), kBernoulli[j], slopes);
    Value next = add(s, static_cast<double>(2 * j + 1)), last = add(s, static_cast<double>(2 * j + 2));
    factor = mul(mul(factor, square), mul(next, last));
    if (isSlope)
      harmonic = add(harmonic, add(div(one, next), div(one, last)));
  }
  Value integral = div(w, before), result;
  if (!isSlope) {
    Value tail = mul(power, add(integral, add(total, 0.5)));
    result = add(state[1], select(isDone, zero, tail));
  } else {
    Value logarithm = neg(log(w)), all = add(integral, add(total, 0.5));
    Value tail = mul(power, add(mul(logarithm, all), sub(slopes, div(integral, before))));
    result = add(state[3], select(isDone, zero, tail));
  }
  // Edges: infinite for s = 1 and for q = 0, -1, ...; of infinite s the power of q alone.
  Value infinity = number(isSlope ? -kInfinity : kInfinity, s), nan = number(kNaN, s);
  Value isPole =
      both(negated(isGreater(givenQ, 0)), isEqual(math::FloorOp::create(b, location, givenQ).getResult(), givenQ));
  Value ofLarge = select(isGreater(givenQ, 1), zero, select(isEqual(givenQ, 1), number(isSlope ? 0 : 1, s), infinity));
  Value edge =
      select(isGreater(givenQ, 0), select(isEqual(givenQ, kInfinity), zero, ofLarge), select(isPole, infinity, nan));
  Value atOne = select(isEqual(givenS, 1), infinity, select(isGreater(givenS, 1), edge, nan));
  atOne = select(isEqual(givenQ, givenQ), atOne, nan);
  return select(isOrdinary, result, atOne);
}

//===-- Significands and exponents --------------------------------------------------------------===//

// 2^n of a whole number between -1022 and 1023.
Value IncompleteEmitter::powerOfTwo(Value n) {
  Value biased = asBits(add(n, 0x1.8p52 + 1023));
  return asNumber(shiftLeft(biased, 52));
}

// No factor makes a subnormal number but the last one, so that the result is rounded once.
Value IncompleteEmitter::scalb(Value x, Value n) {
  Value left = atMost(atLeast(n, -4000), 4000), zero = no(x);
  left = select(isEqual(left, left), left, zero);
  Value result = x;
  for (int i = 0; i < 2; ++i) {
    Value isAbove = isGreater(left, 1023), isBelow = isLess(left, -1022), one = number(1, x);
    result = mul(result, select(isAbove, number(0x1p1023, x), select(isBelow, number(0x1p-969, x), one)));
    left = sub(left, select(isAbove, number(1023, x), select(isBelow, number(-969, x), zero)));
  }
  result = mul(result, powerOfTwo(atMost(atLeast(left, -1022), 1023)));
  return select(isEqual(n, n), result, n);
}

Value IncompleteEmitter::significandOf(Value x, bool isExponent) {
  Value magnitude = absolute(x), isOrdinary = isFinitePositive(magnitude), one = number(1, x);
  Normal normal = this->normal(select(isOrdinary, magnitude, one));
  Value bits = asBits(normal.x);
  if (!isExponent) {
    Value half = emit<arith::OrIOp>(mask(bits, 0x000fffffffffffff), integer(0x3fe0000000000000, bits));
    return select(isOrdinary, withSignOf(asNumber(half), x), x);
  }
  Value shifted = emit<arith::ShRUIOp>(bits, integer(52, bits));
  Value count = asNumber(emit<arith::OrIOp>(shifted, integer(0x4330000000000000, bits)));
  Value exponent = sub(sub(count, 0x1p52 + 1022), normal.correction);
  return select(isOrdinary, exponent, no(x));
}

Value emitIncompleteFunction(OpBuilder &builder, Location location, Type shape, bool fma, bool isSingle, StringRef name,
                             ValueRange operands) {
  using Emitter = IncompleteEmitter;
  struct Unary {
    StringLiteral name;
    Value (Emitter::*emit)(Value);
  };
  struct Binary {
    StringLiteral name;
    Value (Emitter::*emit)(Value, Value);
  };
  struct Ternary {
    StringLiteral name;
    Value (Emitter::*emit)(Value, Value, Value);
  };
  static constexpr Unary kUnary[] = {{"frexp_mantissa", &Emitter::frexp_mantissa},
                                     {"frexp_exponent", &Emitter::frexp_exponent}};
  static constexpr Binary kBinary[] = {{"gammainc", &Emitter::gammainc},
                                       {"gammaincc", &Emitter::gammaincc},
                                       {"gammainc_slope", &Emitter::gammainc_slope},
                                       {"gamma_slope", &Emitter::gamma_slope},
                                       {"gamma_density", &Emitter::gamma_density},
                                       {"beta", &Emitter::beta},
                                       {"betaln", &Emitter::betaln},
                                       {"zeta", &Emitter::zeta},
                                       {"zeta_slope", &Emitter::zeta_slope},
                                       {"scalb", &Emitter::scalb}};
  static constexpr Ternary kTernary[] = {{"betainc", &Emitter::betainc},
                                         {"betainc_slope_a", &Emitter::betainc_slope_a},
                                         {"betainc_slope_b", &Emitter::betainc_slope_b},
                                         {"beta_density", &Emitter::beta_density}};
  Emitter emitter(builder, location, shape, fma, isSingle);
  for (const Unary &function : kUnary)
    if (function.name == name && operands.size() == 1)
      return (emitter.*function.emit)(operands[0]);
  for (const Binary &function : kBinary)
    if (function.name == name && operands.size() == 2)
      return (emitter.*function.emit)(operands[0], operands[1]);
  for (const Ternary &function : kTernary)
    if (function.name == name && operands.size() == 3)
      return (emitter.*function.emit)(operands[0], operands[1], operands[2]);
  return {};
}

} // namespace calque::codegen
