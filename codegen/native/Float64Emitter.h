// The emitter of functions of float64, on which special functions build.
#ifndef CALQUE_CODEGEN_NATIVE_FLOAT64EMITTER_H
#define CALQUE_CODEGEN_NATIVE_FLOAT64EMITTER_H

#include "codegen/native/ElementaryFunctions.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace calque::codegen {

class Float64Emitter : public ElementaryFunctions<Float64Emitter> {
public:
  static constexpr bool kIsDouble = true;
  Float64Emitter(mlir::OpBuilder &builder, mlir::Location location, Type type, bool fma, bool roundsOnce = true)
      : ElementaryFunctions(builder, location, type, fma, roundsOnce) {}

  Value exp(Value x) { return expOfSum(x, {}); }
  Value expm1(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value log2(Value x) { return logOfBase(x, polynomials::kLog2eOf64); }
  Value log10(Value x) { return logOfBase(x, polynomials::kLog10eOf64); }
  Value exp2(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value sin(Value x);
  Value cos(Value x);
  Value tan(Value x);
  Value pow(Value x, Value y);
  // Of float32, which is widened: no number needs a second one.
  Value powOfSingle(Value x, Value y);

  Parts partsOf(Value x);

protected:
  // The unrounded sum of two numbers; the second is null where the first is exact enough.
  struct Sum {
    Value high, low;
  };
  // Of two numbers, the first of which is not smaller, or zero.
  Sum exactSum(Value larger, Value smaller) {
    Value high = add(larger, smaller);
    return {high, add(sub(larger, high), smaller)};
  }
  Sum exactSumOfAny(Value x, Value y) {
    Value high = add(x, y), ofY = sub(high, x);
    return {high, add(sub(x, sub(high, ofY)), sub(y, ofY))};
  }
  Sum exactProduct(Value x, Value y) {
    Value high = mul(x, y);
    return {high, mulAdd(x, y, neg(high))};
  }

  // exp(x) = 2^k exp(r), where |r| <= log(2) / 2. The low bits of `biased` are k + bias.
  struct Power {
    Value biased;
    Sum r;
  };
  Power power(Value x, double bias);
  // exp(r) - 1 - r, where r has no second number to speak of.
  Value curve(Value r) { return mul(mul(r, r), polynomial(polynomials::kExp64, r)); }
  Value expOfSum(Value x, Value low);
  // x * 2^k, where the low bits of `biased` are k + 2 * 1023. 2^k is a product of two factors: itself it may be no
  // normal number.
  Value scaled(Value x, Value biased);

  // x = 2^k m, where m is between the roots of 1/2 and 2. `shift` are the bits of k where those of the exponent are.
  struct Split {
    Value k, shift;
  };
  Split split(Value x, Value correction = {});
  // log(x) = k log(2) + log(1 + f)
  Value logOfParts(Value k, Value f);
  struct Normal {
    Value x, correction; // as many powers of two are missing in the exponent
  };
  Normal normal(Value x);
  Sum exactLog(Value x);
  // The logarithm times a factor, which is a sum of two numbers.
  Value logOfBase(Value x, const double (&factor)[2]);
  // exp(y log(x)), from the logarithm of the magnitude of x.
  Value powOf(Value x, Value y, llvm::function_ref<Sum(Value)> log);

  // x = count * pi / 2 + rest, where |rest| is hardly more than pi / 4. The low bits of `count` are those of the
  // number.
  struct Reduced {
    Value count, rest;
  };
  Reduced reduce(Value x);
  // The sine of count * pi / 2 + rest.
  Value sineOf(Value count, Value rest);
  // The C library's function of all elements of a vector that has large ones, for those.
  template <typename Op> Value orOfLarge(Value x, Value result);
};

} // namespace calque::codegen
#endif
