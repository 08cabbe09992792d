// Incomplete gamma functions, and the loops of all functions of several numbers.
#include "codegen/native/IncompleteEmitter.h"
#include "codegen/native/IncompletePolynomials.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace calque::codegen {

IncompleteEmitter::Values IncompleteEmitter::repeat(Value isActive, Values start, int bound, Step step) {
  const size_t count = start.size();
  start.push_back(no(start[0]));
  start.push_back(isActive);
  SmallVector<Type> types;
  for (Value value : start)
    types.push_back(value.getType());
  auto loop = scf::WhileOp::create(
      b, location, types, start,
      [&](OpBuilder &builder, Location, ValueRange state) {
        scf::ConditionOp::create(builder, location, any(state.back()), state);
      },
      [&](OpBuilder &builder, Location, ValueRange state) {
        Value active = state.back(), steps = add(state[count], 1);
        Values next(state.begin(), state.begin() + count);
        Value needsMore = step(next, steps);
        for (size_t i = 0; i < count; ++i)
          next[i] = select(active, next[i], state[i]);
        next.push_back(select(active, steps, state[count]));
        next.push_back(both(active, both(needsMore, isLess(steps, bound))));
        scf::YieldOp::create(builder, location, next);
      });
  Values results;
  Value hasEnded = isLess(loop.getResult(count), bound);
  for (size_t i = 0; i < count; ++i)
    results.push_back(select(hasEnded, loop.getResult(i), number(kNaN, start[i])));
  return results;
}

Value IncompleteEmitter::lgammaOfNext(Value z) {
  Value isSmall = isLess(z, 0.5), below = sub(z, 1), d = select(isSmall, z, below);
  Value curve = isSingle ? polynomial(isSmall, polynomials::kGammaNear1, polynomials::kGammaNear2, d)
                         : polynomial(isSmall, polynomials::kGammaNear164, polynomials::kGammaNear264, d);
  return mul(mul(z, below), curve);
}

IncompleteEmitter::Factorial IncompleteEmitter::factorialOf(Value z, int steps) {
  Value product = number(1, z);
  for (int i = 0; i < steps; ++i) {
    Value isAbove = isNotLess(z, 1.5);
    product = select(isAbove, mul(product, z), product);
    z = select(isAbove, sub(z, 1), z);
  }
  return {product, lgammaOfNext(z)};
}

//===-- Incomplete gamma functions --------------------------------------------------------------===//

IncompleteEmitter::Gamma IncompleteEmitter::gammaOf(Value a, Value x) {
  Gamma gamma;
  gamma.isOrdinary = both(isFinitePositive(a), isFinitePositive(x));
  gamma.a = select(gamma.isOrdinary, a, number(1, a));
  gamma.x = select(gamma.isOrdinary, x, number(1, x));
  gamma.isLarge = isNotLess(gamma.a, 8);
  Value isNear = isWithin(absolute(sub(gamma.x, gamma.a)), mul(gamma.a, 0.3));
  gamma.isNear = both(isNear, isGreater(gamma.a, 20));
  return gamma;
}

// From a = 8 on by Stirling's formula, as exp(a (log(x) - log(a)) - (x - a)) / sqrt(2 pi a) times nearly 1.
Value IncompleteEmitter::gammaPower(const Gamma &gamma, bool isDensity) {
  Value a = gamma.a, x = gamma.x, zero = no(a), one = number(1, a);
  Value large = select(gamma.isLarge, a, number(8, a)), small = select(gamma.isLarge, one, a);
  Sum ofX = logSum(x), ofA = logSum(large);
  Sum ratio = exactSumOfAny(ofX.high, select(gamma.isLarge, neg(ofA.high), zero));
  ratio.low = add(ratio.low, sub(ofX.low, select(gamma.isLarge, ofA.low, zero)));
  Value exponent = isDensity ? select(gamma.isLarge, a, sub(a, 1)) : a;
  Sum total = times(exponent, ratio);
  Value isOrdinary = isLess(absolute(total.high), 1e300);
  total.low = select(isOrdinary, total.low, zero);
  Sum distance = exactSumOfAny(select(gamma.isLarge, a, zero), neg(x));
  total = addTo(addTo(total, distance.high), distance.low);
  Factorial factorial = factorialOf(small, 7);
  total = addTo(total, neg(select(gamma.isLarge, stirling(large), factorial.logarithm)));
  // Infinities have no rest.
  total.low = select(isLess(absolute(total.high), 1e300), total.low, zero);
  Value scale = div(number(0.3989422804014327, a), squareRoot(large)), inverse = div(one, factorial.product);
  if (!isDensity)
    return mul(expOf(total), select(gamma.isLarge, scale, inverse));
  return mul(expOf(total), select(gamma.isLarge, mul(scale, div(a, x)), mul(inverse, a)));
}

Value IncompleteEmitter::gamma_density(Value a, Value x) {
  Value inside = gammaPower(gammaOf(a, x), /*isDensity=*/true), zero = no(a), one = number(1, a);
  // At 0, and at infinity.
  Value atZero = select(isLess(a, 1), number(kInfinity, a), select(isEqual(a, 1), one, zero));
  Value edge = select(isEqual(x, 0), select(isEqual(a, 0), zero, atZero), zero);
  Value isOrdinary = both(isFinitePositive(a), isFinitePositive(x));
  Value isDefined = both(isNotLess(a, 0), isNotLess(x, 0));
  return select(isDefined, select(isOrdinary, inside, edge), number(kNaN, a));
}

// The sum of c_k(eta) a^-k, and its derivative by a where `etaSlope` is that of eta times a.
IncompleteEmitter::Values IncompleteEmitter::temme(Value eta, Value inverseShape, Value etaSlope) {
  ArrayRef<double> coefficients = isSingle ? ArrayRef<double>(polynomials::kTemme) : polynomials::kTemme64;
  ArrayRef<int> counts = isSingle ? ArrayRef<int>(polynomials::kTemmeCounts) : polynomials::kTemmeCounts64;
  Value sum, slope;
  for (size_t k = counts.size(); k-- > 0;) {
    ArrayRef<double> own = coefficients.take_back(static_cast<size_t>(counts[k]));
    coefficients = coefficients.drop_back(own.size());
    Value value = number(own.back(), eta), derivative = no(eta);
    for (size_t i = own.size() - 1; i-- > 0;) {
      if (etaSlope)
        derivative = mulAdd(derivative, eta, value);
      value = mulAdd(value, eta, own[i]);
    }
    sum = sum ? mulAdd(sum, inverseShape, value) : value;
    if (!etaSlope)
      continue;
    Value ofOrder = sub(mul(derivative, etaSlope), mul(value, static_cast<double>(k)));
    slope = slope ? mulAdd(slope, inverseShape, ofOrder) : ofOrder;
  }
  return {sum, etaSlope ? mul(slope, inverseShape) : Value()};
}

// With m = x / a - 1, g is a (m - log(1 + m)) = a eta^2 / 2, and Q is erfc(eta sqrt(a / 2)) / 2 plus
// exp(-g) / sqrt(2 pi a) times Temme's sum. The derivative of g by a is -log(1 + m), that of eta is -m / (a eta).
IncompleteEmitter::Near IncompleteEmitter::nearOf(const Gamma &gamma, bool needsSlope) {
  Value a = select(gamma.isNear, gamma.a, number(100, gamma.a)), x = select(gamma.isNear, gamma.x, a);
  Value d = sub(x, a), m = div(d, a);
  Value rest = div(mulAdd(neg(m), a, d), a);
  Value curve = mul(m, polynomialOf(polynomials::kLogOfRatio, polynomials::kLogOfRatio64, m));
  Sum g = exactProduct(d, m);
  g.low = mulAdd(d, add(rest, rest), g.low);
  g = {mul(g.high, 0.5), mul(g.low, 0.5)};
  g = addTo(g, mul(mul(d, m), curve));
  Value root = squareRoot(mulAdd(curve, 2, 1)), eta = mul(m, root), inverse = div(number(1, a), a);
  Value etaSlope = needsSlope ? div(number(-1, a), root) : Value();
  Values sums = temme(eta, inverse, etaSlope);
  Value factor = mul(squareRoot(inverse), 0.3989422804014327);
  Near near;
  near.isAbove = isNotLess(d, 0);
  near.power = expOf({neg(g.high), neg(g.low)});
  near.scaledTail = mul(scaledTail(mul(absolute(eta), squareRoot(mul(a, 0.5)))), 0.5);
  near.correction = mul(sums[0], factor);
  if (needsSlope) {
    // log(1 + m) = m (1 - m h), where h = 1/2 + curve.
    Value logRatio = sub(number(1, a), mul(m, add(curve, 0.5)));
    Value logarithm = mul(m, logRatio);
    Value byPower = mul(sub(logarithm, mul(inverse, 0.5)), sums[0]);
    // Of the quantile: the density is exp(-g) / sqrt(2 pi a) a / (x gamma*(a)).
    near.slope = add(add(div(logRatio, root), byPower), sums[1]);
  }
  return near;
}

Value IncompleteEmitter::gammaEdges(Value a, Value x, Value inside, bool isUpper) {
  Value zero = no(a), one = number(1, a), nan = number(kNaN, a);
  // P at x = 0, at infinity, and for a = 0 and infinity.
  Value atEnds = select(isEqual(x, 0), zero, one);
  Value edge = select(isEqual(a, 0), select(isEqual(x, 0), nan, one),
                      select(isEqual(a, kInfinity), select(isEqual(x, kInfinity), nan, zero), atEnds));
  if (isUpper)
    edge = sub(one, edge);
  Value isOrdinary = both(isFinitePositive(a), isFinitePositive(x));
  Value isDefined = both(isNotLess(a, 0), isNotLess(x, 0));
  return select(isDefined, select(isOrdinary, inside, edge), nan);
}

Value IncompleteEmitter::incompleteGamma(Value givenA, Value givenX, bool isUpper) {
  Gamma gamma = gammaOf(givenA, givenX);
  Value a = gamma.a, x = gamma.x, one = number(1, a), zero = no(a);
  Value power = gammaPower(gamma, /*isDensity=*/false);
  Value isFar = both(negated(gamma.isNear), gamma.isOrdinary);
  Value isFraction = both(isFar, both(isGreater(x, isUpper ? 0.8 : 1), isGreater(x, a)));
  Value isSeries = both(isFar, negated(isFraction));

  // Where x and a are small, Q is -expm1(a log(x) - lgamma(1 + a)) and a series in which x has the other sign.
  Value isUpperSeries, logPower, logX;
  if (isUpper) {
    Value isSmall = both(isSeries, isNotLess(neg(x), -1.1));
    logX = log(x);
    // a < -0.4 / log(x) for x <= 1/2, else a < 1.1 x.
    Value bound =
        select(isGreater(x, 0.5), mul(x, 1.1), div(number(-0.4, x), select(isLess(x, 0.5), logX, number(-0.7, x))));
    isUpperSeries = both(isSmall, isWithin(a, bound));
    isSeries = both(isSeries, negated(isUpperSeries));
    Value bounded = select(isUpperSeries, a, one);
    logPower = sub(mul(bounded, logX), lgammaOfNext(bounded));
  }

  Values series = repeat(isSeries, {one, one}, 4000, [&](Values &state, Value n) {
    state[0] = div(mul(state[0], x), add(a, n));
    state[1] = add(state[1], state[0]);
    return isGreater(state[0], digits(state[1]));
  });
  Value lower = mul(power, series[1]);

  // Legendre's fraction 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)) by Steed's method, as the sum of the
  // differences of its convergents: their errors shrink as they do, and the sum keeps what rounding leaves of it. What
  // follows the last one is some 10 of it for x near 1, where there are 100 steps, and less beyond.
  Value first = select(isFraction, add(sub(x, a), 1), one), inverse = div(one, first);
  Values fraction = repeat(isFraction, {first, inverse, inverse, inverse, zero}, 4000, [&](Values &state, Value n) {
    Value above = mul(n, sub(a, n)), byLast = mul(above, state[1]);
    state[0] = add(state[0], 2);
    state[1] = div(one, add(state[0], byLast));
    state[2] = neg(mul(mul(byLast, state[1]), state[2]));
    Sum sum = exactSum(state[3], state[2]);
    state[3] = sum.high;
    state[4] = add(state[4], sum.low);
    return isGreater(absolute(state[2]), mul(state[3], isSingle ? 0x1p-36 : 0x1p-57));
  });
  Value upper = mul(mul(power, a), add(fraction[3], fraction[4]));

  Near near = nearOf(gamma, /*needsSlope=*/false);
  Value ofNear = mul(
      near.power, select(near.isAbove, add(near.scaledTail, near.correction), sub(near.scaledTail, near.correction)));
  // Q where x is above, P where it is below.
  Value isUpperKnown = select(gamma.isNear, near.isAbove, isFraction);
  Value known = select(gamma.isNear, ofNear, select(isFraction, upper, lower));
  if (isUpper) {
    // The sum of (-x)^n / (n! (a + n)).
    Values others = repeat(isUpperSeries, {one, zero}, 4000, [&](Values &state, Value n) {
      state[0] = div(mul(state[0], neg(x)), n);
      Value term = div(state[0], add(a, n));
      state[1] = add(state[1], term);
      return isGreater(absolute(term), digits(state[1]));
    });
    Value difference = mul(mul(exp(logPower), a), others[1]);
    known = select(isUpperSeries, sub(neg(expm1(logPower)), difference), known);
    isUpperKnown = either(isUpperKnown, isUpperSeries);
  }
  Value isKnown = isUpper ? isUpperKnown : negated(isUpperKnown);
  return gammaEdges(givenA, givenX, select(isKnown, known, sub(one, known)), isUpper);
}

// The derivative of P by a is that of the series or fraction, of whose terms the derivatives are carried along; all
// have the same sign there, or nearly. Divided by the density it is, negated, the derivative of the quantile.
Value IncompleteEmitter::slopeByShape(Value givenA, Value givenX, bool isOfQuantile) {
  Gamma gamma = gammaOf(givenA, givenX);
  Value a = gamma.a, x = gamma.x, one = number(1, a), zero = no(a);
  Value isFar = both(negated(gamma.isNear), gamma.isOrdinary);
  Value isFraction = both(isFar, both(isGreater(x, 1), isGreater(x, a)));
  Value isSeries = both(isFar, negated(isFraction));
  // log(x) - digamma(a + 1)
  Value logSlope = sub(log(x), digamma(add(a, 1)));

  Values series = repeat(isSeries, {one, zero, one, zero}, 4000, [&](Values &state, Value n) {
    Value inverse = div(one, add(a, n)), ratio = mul(x, inverse);
    state[1] = mul(mulAdd(neg(state[0]), inverse, state[1]), ratio);
    state[0] = mul(state[0], ratio);
    state[2] = add(state[2], state[0]);
    state[3] = add(state[3], state[1]);
    return either(isGreater(state[0], digits(state[2])), isGreater(absolute(state[1]), digits(state[3])));
  });
  Value ofSeries = mulAdd(logSlope, series[2], series[3]);

  // Values and derivatives of the fraction's b, c, d, and of the product.
  Value first = select(isFraction, add(sub(x, a), 1), one), inverse = div(one, first), square = mul(inverse, inverse);
  Values fraction =
      repeat(isFraction, {first, number(1 / kTiny, a), zero, inverse, square, inverse, square}, 4000,
             [&](Values &state, Value n) {
               Value above = mul(n, sub(a, n));
               state[0] = add(state[0], 2);
               // d = 1 / (above d + b), c = b + above / c; the derivative of b is -1, that of above is n.
               Value below = awayFromZero(mulAdd(above, state[3], state[0]));
               Value belowSlope = sub(mulAdd(n, state[3], mul(above, state[4])), 1);
               Value ofC = div(one, state[1]), ratio = mul(above, ofC);
               Value c = awayFromZero(add(state[0], ratio));
               Value cSlope = sub(mul(sub(n, mul(ratio, state[2])), ofC), 1);
               state[3] = div(one, below);
               state[4] = neg(mul(mul(state[3], state[3]), belowSlope));
               state[1] = c;
               state[2] = cSlope;
               Value factor = mul(c, state[3]), factorSlope = mulAdd(cSlope, state[3], mul(c, state[4]));
               state[6] = mulAdd(state[6], factor, mul(state[5], factorSlope));
               state[5] = mul(state[5], factor);
               Value least = number(isSingle ? 0x1p-36 : 0x1p-50, factor);
               return either(isGreater(absolute(sub(factor, 1)), least),
                             isGreater(absolute(mul(state[5], factorSlope)), mul(absolute(state[6]), least)));
             });
  Value inverseShape = div(one, a);
  Value ofFraction = mulAdd(add(logSlope, inverseShape), fraction[5], fraction[6]);

  Near near = nearOf(gamma, /*needsSlope=*/true);
  Value large = select(gamma.isNear, a, number(100, a));
  if (isOfQuantile) {
    Value ratio = mul(x, inverseShape);
    Value ofNear = mul(mul(near.slope, ratio), exp(stirling(large)));
    Value inside = select(gamma.isNear, ofNear, select(isFraction, mul(x, ofFraction), neg(mul(ratio, ofSeries))));
    // The quantile 0 stays, and so does an infinite one.
    Value isEdge = both(isNotLess(givenA, 0), isNotLess(givenX, 0));
    return select(gamma.isOrdinary, inside, select(isEdge, zero, number(kNaN, a)));
  }
  Value power = gammaPower(gamma, /*isDensity=*/false);
  Value ofNear = neg(mul(mul(near.power, near.slope), div(number(0.3989422804014327, a), squareRoot(large))));
  Value inside = select(gamma.isNear, ofNear, mul(power, select(isFraction, neg(mul(a, ofFraction)), ofSeries)));
  Value isEdge = both(isNotLess(givenA, 0), isNotLess(givenX, 0));
  return select(gamma.isOrdinary, inside, select(isEdge, zero, number(kNaN, a)));
}

} // namespace calque::codegen
