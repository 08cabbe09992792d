// The emitter of functions of several numbers: incomplete gamma and beta functions with their derivatives, beta
// functions, zeta functions; and of significands and exponents. Series and continued fractions are loops over vectors
// that end when each element has its digits. The errors are in docs/accuracy.md.
#ifndef CALQUE_CODEGEN_NATIVE_INCOMPLETEEMITTER_H
#define CALQUE_CODEGEN_NATIVE_INCOMPLETEEMITTER_H

#include "codegen/native/SpecialEmitter.h"

#include "llvm/ADT/SmallVector.h"

namespace calque::codegen {

class IncompleteEmitter : public SpecialEmitter {
public:
  using SpecialEmitter::SpecialEmitter;

  Value gammainc(Value a, Value x) { return incompleteGamma(a, x, /*isUpper=*/false); }
  Value gammaincc(Value a, Value x) { return incompleteGamma(a, x, /*isUpper=*/true); }
  Value gammainc_slope(Value a, Value x) { return slopeByShape(a, x, /*isOfQuantile=*/false); }
  Value gamma_slope(Value a, Value x) { return slopeByShape(a, x, /*isOfQuantile=*/true); }
  Value gamma_density(Value a, Value x);
  Value betaln(Value a, Value b);
  Value beta(Value a, Value b);
  Value zeta(Value s, Value q) { return zetaOf(s, q, /*isSlope=*/false); }
  Value zeta_slope(Value s, Value q) { return zetaOf(s, q, /*isSlope=*/true); }
  Value scalb(Value x, Value n);
  Value frexp_mantissa(Value x) { return significandOf(x, /*isExponent=*/false); }
  Value frexp_exponent(Value x) { return significandOf(x, /*isExponent=*/true); }
  Value betainc(Value a, Value b, Value x) { return incompleteBeta(a, b, x, 0); }
  Value betainc_slope_a(Value a, Value b, Value x) { return incompleteBeta(a, b, x, 1); }
  Value betainc_slope_b(Value a, Value b, Value x) { return incompleteBeta(a, b, x, 2); }
  Value beta_density(Value a, Value b, Value x);

private:
  using Values = llvm::SmallVector<Value, 8>;
  using Step = llvm::function_ref<Value(Values &, Value)>;

  // Magnitudes below this take its place where a continued fraction divides by them.
  static constexpr double kTiny = 1e-290;

  // Repeats a step in the elements where `isActive` holds, as long as it returns that an element needs another one.
  // `step` gets the values and the number of the step, from 1 on, and changes the values. An element that needs more
  // than `bound` steps becomes NaN.
  Values repeat(Value isActive, Values start, int bound, Step step);

  Value no(Value like) { return number(0, like); }
  // What continued fractions divide by.
  Value awayFromZero(Value x) { return select(isLess(absolute(x), kTiny), number(kTiny, x), x); }
  Value isFinitePositive(Value x) { return both(isGreater(x, 0), isLess(x, kInfinity)); }
  Value negated(Value condition) {
    return emit<mlir::arith::XOrIOp>(condition, splat(condition.getType(), b.getBoolAttr(true)));
  }
  Value isWithin(Value magnitude, Value bound) { return isGreater(bound, magnitude); }
  Value digits(Value x) { return mul(absolute(x), isSingle ? 0x1p-36 : 0x1p-53); }
  // log(x) as the sum of two numbers where the second one matters.
  Sum logSum(Value x) { return isSingle ? Sum{log(x), number(0, x)} : exactLog(x); }
  // The sum, and what rounding leaves of it.
  Sum addTo(Sum sum, Value more) {
    Sum result = exactSumOfAny(sum.high, more);
    result.low = add(result.low, sum.low);
    return result;
  }
  Sum addTo(Sum sum, Sum more) {
    Sum result = addTo(sum, more.high);
    result.low = add(result.low, more.low);
    return result;
  }
  Sum times(Value factor, Sum sum) {
    Sum result = exactProduct(factor, sum.high);
    result.low = mulAdd(factor, sum.low, result.low);
    return result;
  }
  // exp of a sum. Where the result vanishes, the second number may be of no use.
  Value expOf(Sum sum) {
    Value isOrdinary = isLess(absolute(sum.high), 800);
    return expOfSum(sum.high, select(isOrdinary, sum.low, no(sum.high)));
  }
  // What Stirling's formula lacks: lgamma(z) - (z - 1/2) log(z) + z - log(2 pi) / 2, for z >= 8.
  Value stirling(Value z) {
    Value inverse = div(number(1, z), z);
    return mul(polynomialOf(polynomials::kStirling, polynomials::kStirling64, mul(inverse, inverse)), inverse);
  }
  // lgamma(1 + z) for 0 < z < 1.5, exact where z is small.
  Value lgammaOfNext(Value z);
  // gamma(1 + z) for 0 < z < steps + 1.5 as a product times the exponential of a number near 0.
  struct Factorial {
    Value product, logarithm;
  };
  Factorial factorialOf(Value z, int steps);
  // log(sum / x)
  Sum logOfQuotient(Sum sum, Value x) {
    Value quotient = div(sum.high, x), rest = mulAdd(neg(quotient), x, sum.high);
    Sum result = logSum(quotient);
    // Near 1 the first number vanishes.
    return exactSumOfAny(result.high, add(result.low, div(add(rest, sum.low), sum.high)));
  }

  // A pair of a gamma distribution's shape and an ordinary number, and which way computes it.
  struct Gamma {
    Value a, x, isOrdinary, isNear, logRatio, isLarge;
  };
  Gamma gammaOf(Value a, Value x);
  // x^a exp(-x) / gamma(a + 1), and the density where `isDensity`.
  Value gammaPower(const Gamma &gamma, bool isDensity);
  // Temme's expansion near x = a: Q is exp(-g) times `upper`, P is exp(-g) times `lower`, each in its tail.
  struct Near {
    Value power, scaledTail, correction, isAbove, slope;
  };
  Near nearOf(const Gamma &gamma, bool needsSlope);
  Values temme(Value eta, Value inverseShape, Value etaSlope);
  Value incompleteGamma(Value a, Value x, bool isUpper);
  Value slopeByShape(Value a, Value x, bool isOfQuantile);
  Value gammaEdges(Value a, Value x, Value inside, bool isUpper);

  // beta(a, b) as a quotient times an exponential.
  struct Beta {
    Value above, below;
    Sum logarithm;
  };
  Beta betaParts(Value a, Value b);
  Value betaEdges(Value x, Value y, Value inside, Value limit);
  // x^a y^b / beta(a, b), where y is 1 - x.
  Value betaPower(Value a, Value b, Value x, Value y);
  Value incompleteBeta(Value a, Value b, Value x, int slopeBy);
  Value zetaOf(Value s, Value q, bool isSlope);
  Value significandOf(Value x, bool isExponent);
  Value powerOfTwo(Value n);
};

} // namespace calque::codegen
#endif
