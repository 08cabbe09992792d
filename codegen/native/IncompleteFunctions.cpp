// Beta functions and incomplete ones, zeta functions, significands and exponents.
#include "codegen/native/IncompleteEmitter.h"
#include "codegen/native/IncompletePolynomials.h"

#include <numbers>

using namespace mlir;

namespace calque::codegen {

//===-- Beta functions --------------------------------------------------------------------------===//

// Of large numbers by Stirling's formula, in which logarithms are sums of two numbers, so that the exponential of the
// result has its digits. Of small ones gamma functions are products: no large logarithm has an exponential. The pole at
// 0 is a factor: gamma(z) is gamma(z + 1) / z.
IncompleteEmitter::Beta IncompleteEmitter::betaParts(Value x, Value y) {
  Value one = number(1, x), zero = no(x), isOrdinary = both(isFinitePositive(x), isFinitePositive(y));
  Value isSorted = negated(isGreater(x, y)), a = select(isOrdinary, select(isSorted, x, y), one);
  Value c = select(isOrdinary, select(isSorted, y, x), one);
  Value isOneLarge = isNotLess(c, 8), areLarge = both(isOneLarge, isNotLess(a, 8));
  Value large = select(isOneLarge, c, number(8, c)), small = select(isOneLarge, a, one);
  Value other = select(areLarge, a, number(8, a));
  // No sum of the largest numbers overflows: only quotients of these matter.
  Value scale = select(isGreater(other, 0x1p1000), number(0x1p-30, a), one), scaled = mul(large, scale);
  Sum sum = exactSum(scaled, mul(small, scale)), ofSum = logSum(sum.high);
  Sum ratio = isSingle ? Sum{log1p(div(small, large)), zero} : logOfQuotient(sum, scaled);
  ofSum.low = add(ofSum.low, div(sum.low, sum.high));
  Value rests = sub(stirling(large), stirling(sum.high));

  Value bounded = select(areLarge, one, a);
  Factorial ofSmall = factorialOf(bounded, 7);
  Sum ofLarge = times(sub(number(0.5, c), large), ratio), middle = addTo(times(neg(small), ofSum), ofLarge);
  middle = addTo(addTo(middle, small), add(ofSmall.logarithm, rests));

  Sum ofOther = logSum(mul(other, scale)), quotient = addTo(ofOther, {neg(ofSum.high), neg(ofSum.low)});
  Sum far = addTo(addTo(times(sub(other, 0.5), quotient), ofLarge), times(number(-0.5, a), ofSum));
  // log(2 pi) / 2
  far = addTo(far, add(rests, add(stirling(other), number(0.91893853320467274178, a))));

  Value rest = select(isOneLarge, one, c);
  Sum joint = exactSumOfAny(bounded, rest);
  Factorial ofRest = factorialOf(rest, 7), ofJoint = factorialOf(joint.high, 15);
  Value near = add(ofSmall.logarithm, sub(ofRest.logarithm, ofJoint.logarithm));
  // digamma(z + 1) is nearly log(z + 1/2).
  near = sub(near, mul(joint.low, log(add(joint.high, 0.5))));
  Value above = mul(add(div(bounded, rest), 1), div(ofRest.product, ofJoint.product));
  above = mul(select(isOneLarge, one, above), ofSmall.product);
  return {select(areLarge, one, above),
          bounded,
          {select(areLarge, far.high, select(isOneLarge, middle.high, near)),
           select(areLarge, far.low, select(isOneLarge, middle.low, zero))}};
}

Value IncompleteEmitter::betaln(Value x, Value y) {
  Beta parts = betaParts(x, y);
  // The inverse of the smallest numbers overflows.
  Value isTiny = isLess(parts.below, 1e-300), zero = no(x);
  Value below = select(isTiny, mul(parts.below, 0x1p100), parts.below);
  Sum result = addTo(parts.logarithm, log(div(parts.above, below)));
  result = addTo(result, select(isTiny, number(100 * std::numbers::ln2, x), zero));
  // Infinities have no rest.
  result.low = select(isLess(absolute(result.high), kInfinity), result.low, zero);
  return betaEdges(x, y, add(result.high, result.low), number(-kInfinity, x));
}

Value IncompleteEmitter::beta(Value x, Value y) {
  Beta parts = betaParts(x, y);
  return betaEdges(x, y, div(mul(expOf(parts.logarithm), parts.above), parts.below), no(x));
}

// Infinite at 0, `limit` at infinity, NaN for negative numbers.
Value IncompleteEmitter::betaEdges(Value x, Value y, Value inside, Value limit) {
  Value infinity = number(kInfinity, x), nan = number(kNaN, x);
  Value isZero = either(isEqual(x, 0), isEqual(y, 0)), isLimit = either(isEqual(x, kInfinity), isEqual(y, kInfinity));
  Value isDefined = both(isNotLess(x, 0), isNotLess(y, 0));
  Value edge = select(isZero, select(isLimit, nan, infinity), limit);
  return select(isDefined, select(either(isZero, isLimit), edge, inside), nan);
}

// The exponent is a log(x) + b log(y) - betaln(a, b), of sums of two numbers. Where a and b are large and x is near the
// mean p = a / (a + b), these would cancel: with q = 1 - p it is a log(x / p) + b log(y / q) there, less the terms d
// and -d of these two, where d is x (a + b) - a, and Stirling's formula gives the rest.
Value IncompleteEmitter::betaPower(Value a, Value c, Value x, Value y) {
  Value zero = no(a), one = number(1, a), thousand = number(1024, a), half = number(0.5, a);
  Value areLarge = both(both(isNotLess(a, 8), isNotLess(c, 8)), isNotLess(add(a, c), 1024));
  Value large = select(areLarge, a, thousand), other = select(areLarge, c, thousand), u = select(areLarge, x, half);
  Sum v = exactSum(one, neg(u)), ofLarge = exactProduct(v.high, large);
  ofLarge.low = mulAdd(v.low, large, ofLarge.low);
  Sum d = addTo(exactProduct(u, other), {neg(ofLarge.high), neg(ofLarge.low)});
  d = exactSum(d.high, d.low);
  Value m = div(d.high, large), n = neg(div(d.high, other)), total = add(large, other);
  Value isNear = both(areLarge, both(isNotLess(neg(absolute(m)), -0.3), isNotLess(neg(absolute(n)), -0.3)));
  m = select(isNear, m, zero);
  n = select(isNear, n, zero);
  d = {select(isNear, d.high, zero), select(isNear, d.low, zero)};
  // -d^2 / (2 shape), and what is left of shape (log(1 + ratio) - ratio).
  auto squareOf = [&](Value shape, Value ratio) {
    Sum result = exactProduct(d.high, ratio);
    result.low = mulAdd(div(mulAdd(neg(ratio), shape, d.high), shape), d.high, result.low);
    result.low = mulAdd(add(ratio, ratio), d.low, result.low);
    return Sum{mul(result.high, -0.5), mul(result.low, -0.5)};
  };
  auto curveOf = [&](Value ratio) {
    return mul(mul(ratio, ratio), polynomialOf(polynomials::kLogOfRatio, polynomials::kLogOfRatio64, ratio));
  };
  Sum near = addTo(squareOf(large, m), squareOf(other, neg(n)));
  near = addTo(near, mul(d.high, sub(curveOf(n), curveOf(m))));
  near = addTo(near, sub(stirling(total), add(stirling(large), stirling(other))));
  // a b / (2 pi (a + b))
  Value scale = squareRoot(mul(mul(large, div(other, total)), number(0.5 * std::numbers::inv_pi, a)));

  // Of the smallest x the first number of log(y) vanishes.
  Sum ofX = logSum(x), exactY = exactSum(one, neg(x)), ofY = logSum(y);
  ofY = exactSumOfAny(ofY.high, add(ofY.low, div(add(exactY.low, sub(exactY.high, y)), y)));
  Beta ofBeta = betaParts(select(isNear, one, a), select(isNear, one, c));
  Sum far = addTo(times(a, ofX), times(c, ofY));
  far = addTo(far, {neg(ofBeta.logarithm.high), neg(ofBeta.logarithm.low)});
  Sum exponent = {select(isNear, near.high, far.high), select(isNear, near.low, far.low)};
  return mul(expOf(exponent), select(isNear, scale, div(ofBeta.below, ofBeta.above)));
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
// Steed's method, as the sum of the differences of its convergents, of the smaller tail. Its steps grow with the root
// of the larger shape. It takes x and 1 - x, both exact.
Value IncompleteEmitter::incompleteBeta(Value givenA, Value givenB, Value givenX, int slopeBy) {
  Value areShapes = both(isFinitePositive(givenA), isFinitePositive(givenB));
  Value isInside = both(areShapes, both(isGreater(givenX, 0), isLess(givenX, 1)));
  Value one = number(1, givenA), zero = no(givenA);
  Value a = select(isInside, givenA, one), c = select(isInside, givenB, one);
  // The inverse of the smallest shapes overflows. Of such ones only the quotient matters.
  constexpr double kScale = 0x1p60;
  Value isTiny = either(isLess(a, 0x1p-1000), isLess(c, 0x1p-1000)), scale = number(kScale, a);
  Value isScaledA = both(isTiny, isLess(a, 0x1p-800)), isScaledC = both(isTiny, isLess(c, 0x1p-800));
  a = select(isScaledA, mul(a, scale), a);
  c = select(isScaledC, mul(c, scale), c);
  Value x = select(isInside, givenX, number(0.5, givenX));
  Sum exactY = exactSum(one, neg(x));
  Value y = exactY.high;
  // The upper tail for x > (a + 1) / (a + b + 2), but not of small b, of which it is near 1, unless x is so, too: then
  // the fraction of the lower one takes many steps and loses digits.
  Value isAbove = isGreater(mul(x, add(add(a, c), 2)), add(a, 1)), distance = mul(y, add(a, 1));
  auto isBeside = [&](double shape, double bound) { return both(isNotLess(c, shape), isLess(distance, bound)); };
  Value isFar = either(isLess(distance, 0.001), either(isBeside(0.05, 0.1), isBeside(0.3, 0.5)));
  Value isSwapped = both(isAbove, either(isNotLess(c, 1), isFar));
  Value p = select(isSwapped, c, a), q = select(isSwapped, a, c);
  Value z = select(isSwapped, y, x), w = select(isSwapped, x, y), sum = add(p, q);
  Value power = betaPower(a, c, x, y), ofP, ofQ;
  if (slopeBy != 0) {
    Value isOfFirst = slopeBy == 1 ? negated(isSwapped) : isSwapped;
    ofP = select(isOfFirst, one, zero);
    ofQ = sub(one, ofP);
  }
  // p w - q z + 1 = 1 + p - (p + q) z, which may cancel, and the term without m.
  Sum next = exactSumOfAny(one, p), total = exactSumOfAny(p, q), product = times(z, total);
  product.low = mulAdd(select(isSwapped, exactY.low, zero), total.high, product.low);
  Value nearness = add(sub(next.high, product.high), sub(next.low, product.low)), share = div(p, next.high);
  Value first = mul(share, nearness);
  first = select(isEqual(first, 0), number(kTiny, first), first);
  // What the fraction is multiplied by, its last difference, and their sum; and the derivatives of these.
  Value inverse = div(one, first);
  Values state = {inverse, inverse, inverse, zero};
  Value nearnessSlope;
  if (slopeBy != 0) {
    nearnessSlope = sub(mul(ofP, w), mul(ofQ, z));
    Value slope = mulAdd(share, nearnessSlope, mul(ofP, div(div(nearness, next.high), next.high)));
    Value ofInverse = neg(mul(mul(inverse, inverse), slope));
    state.append({ofInverse, ofInverse, ofInverse});
  }
  // Where the power vanishes, so does the tail.
  Value isTail = both(isInside, isGreater(power, 0));
  Values fraction = repeat(isTail, state, 100000, [&](Values &values, Value m) {
    Value twice = add(p, add(m, m)), below = div(one, sub(twice, 1)), above = div(one, add(twice, 1));
    Value before = sub(m, 1), u = add(p, before), v = add(sum, before), r = sub(q, m), k = mul(z, below);
    // No product of the smallest numbers vanishes beside the largest ones.
    Value ofV = mul(v, k), ofM = mul(mul(m, r), k), ofBoth = mul(ofV, ofM), numerator = mul(u, ofBoth);
    Value rest = mulAdd(m, add(w, 1), nearness), byP = add(p, m);
    Value term = add(add(m, ofM), mul(mul(byP, above), rest));
    Value byLast = mul(numerator, values[0]), d = div(one, awayFromZero(add(term, byLast)));
    Value ratio = neg(mul(byLast, d)), difference = mul(ratio, values[1]);
    Sum added = exactSumOfAny(values[2], difference);
    const Value least = number(isSingle ? 0x1p-36 : 0x1p-57, one);
    Value needsMore = isGreater(absolute(difference), mul(absolute(added.high), least));
    if (slopeBy != 0) {
      // u and v grow with p, v and r with q.
      Value ofNumerator = mulAdd(ofP, ofBoth, mul(mul(u, k), ofM)); // of v the derivative is 1
      ofNumerator = add(ofNumerator, mul(mul(mul(u, k), ofV), mul(m, ofQ)));
      ofNumerator = sub(ofNumerator, mul(mul(mul(numerator, ofP), below), 2));
      Value ofTerm = sub(mul(mul(m, ofQ), k), mul(mul(ofM, ofP), below));
      ofTerm = add(ofTerm, mul(add(mul(ofP, rest), mul(byP, nearnessSlope)), above));
      ofTerm = sub(ofTerm, mul(mul(mul(byP, rest), ofP), mul(above, above)));
      Value ofByLast = mulAdd(ofNumerator, values[0], mul(numerator, values[4]));
      Value ofD = neg(mul(mul(d, d), add(ofTerm, ofByLast)));
      Value ofRatio = neg(mulAdd(ofByLast, d, mul(byLast, ofD)));
      values[5] = mulAdd(ofRatio, values[1], mul(ratio, values[5]));
      values[6] = add(values[6], values[5]);
      values[4] = ofD;
      needsMore = either(needsMore, isGreater(absolute(values[5]), mul(absolute(values[6]), least)));
    }
    // Where the first convergent is far from the second one, as near the mean of a small p and a large q, their
    // difference has rounded off what the second one is: term d is 1 plus the ratio.
    Value kept = mul(term, d), isLost = both(both(isEqual(m, 1), isGreater(values[0], 0)), isLess(absolute(kept), 0.5));
    Value second = mul(kept, values[0]);
    values[0] = d;
    values[1] = difference;
    values[2] = select(isLost, second, added.high);
    values[3] = select(isLost, zero, add(values[3], added.low));
    return needsMore;
  });
  Value inverted = select(isTail, add(fraction[2], fraction[3]), one), tail = mul(power, inverted), result;
  if (slopeBy == 0) {
    // Where the power vanishes on this side of the mean, the other tail does.
    Value isAll = both(isAbove, negated(isTail));
    // It grows with b where b alone is tiny.
    tail = mul(tail, select(both(isScaledC, negated(isScaledA)), number(1 / kScale, one), one));
    result = select(isSwapped, sub(one, tail), select(isAll, one, tail));
  } else {
    // The logarithm of the power grows by these, that of the fraction by its own derivative.
    Value ofW = select(isSwapped, log(x), log1p(neg(x))), ofZ = select(isSwapped, log1p(neg(x)), log(x));
    Value logSlope = add(mul(ofP, sub(ofZ, digamma(p))), mul(ofQ, sub(ofW, digamma(q))));
    logSlope = add(add(logSlope, digamma(sum)), div(select(isTail, fraction[6], zero), inverted));
    Value slope = mul(tail, logSlope);
    slope = mul(slope, select(both(isScaledA, isScaledC), scale,
                              select(slopeBy == 1 ? isScaledC : isScaledA, number(1 / kScale, one), one)));
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
  // (high + low)^-s, where the second number is what rounding leaves of the first.
  auto powerOf = [&](Sum w, Value s) {
    Value power = pow(w.high, neg(s));
    return select(isEqual(w.low, 0), power, mulAdd(mul(power, s), neg(div(w.low, w.high)), power));
  };
  // w, the sum, whether its terms have vanished, what rounding leaves of w, and the sum's derivative.
  Values start = {q, zero, zero, zero};
  if (isSlope)
    start.push_back(zero);
  Value needs = both(isOrdinary, isGreater(add(s, 10), q));
  Values state = repeat(needs, start, 2000, [&](Values &values, Value) {
    Value term = powerOf({values[0], values[3]}, s);
    values[1] = add(values[1], term);
    Value least = digits(values[1]), isLeft = isGreater(term, least);
    if (isSlope) {
      Value slope = mul(log(values[0]), term);
      values[4] = sub(values[4], slope);
      isLeft = either(isLeft, isGreater(absolute(slope), digits(values[4])));
    }
    Sum next = exactSumOfAny(values[0], one);
    values[0] = next.high;
    values[3] = add(values[3], next.low);
    values[2] = select(isLeft, zero, one);
    return both(isLeft, isGreater(add(s, 10), values[0]));
  });
  Sum last = {state[0], state[3]};
  Value w = last.high, power = powerOf(last, s), isDone = isGreater(state[2], 0.5), inverse = div(one, w);
  Value square = mul(inverse, inverse), before = sub(s, 1);
  // w^(1 - s) / (s - 1) + w^-s / 2 + the sum of B_2j / (2j)! s (s + 1) ... (s + 2j - 2) w^(-s - 2j + 1)
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
  // Factors of powers that vanish may be infinite.
  auto timesPower = [&](Value factor) { return select(isEqual(power, 0), zero, mul(power, factor)); };
  Value integral = div(powerOf(last, before), before), rest = timesPower(add(total, 0.5)), result;
  if (!isSlope) {
    result = add(state[1], select(isDone, zero, add(integral, rest)));
  } else {
    Value tail = mulAdd(neg(log(w)), add(integral, rest), sub(timesPower(slopes), div(integral, before)));
    result = add(state[4], select(isDone, zero, tail));
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
