// The emitter of special functions of float64, on which incomplete gamma and beta functions build.
#ifndef CALQUE_CODEGEN_NATIVE_SPECIALEMITTER_H
#define CALQUE_CODEGEN_NATIVE_SPECIALEMITTER_H

#include "codegen/native/Float64Emitter.h"
#include "codegen/native/SpecialPolynomials.h"

namespace calque::codegen {

class SpecialEmitter : public Float64Emitter {
public:
  // `shape` is of float64; `isSingle`: the numbers are float32.
  SpecialEmitter(mlir::OpBuilder &builder, mlir::Location location, Type shape, bool fma, bool isSingle)
      : Float64Emitter(builder, location, shape, fma, /*roundsOnce=*/!isSingle), isSingle(isSingle) {}

  Value erfcx(Value x);
  Value erfc(Value x);
  Value ndtr(Value x);
  Value log_ndtr(Value x);
  Value erfinv(Value x);
  Value ndtri(Value x);
  Value i0(Value x) { return besselOf(x, 0, /*isScaled=*/false); }
  Value i1(Value x) { return besselOf(x, 1, /*isScaled=*/false); }
  Value i0e(Value x) { return besselOf(x, 0, /*isScaled=*/true); }
  Value i1e(Value x) { return besselOf(x, 1, /*isScaled=*/true); }
  Value lgamma(Value x);
  Value digamma(Value x);
  Value trigamma(Value x) { return polygammaOf(x, 1); }
  Value polygamma2(Value x) { return polygammaOf(x, 2); }
  Value polygamma3(Value x) { return polygammaOf(x, 3); }

protected:
  template <size_t N, size_t M> Value polynomialOf(const double (&single)[N], const double (&wide)[M], Value x) {
    return isSingle ? polynomial(single, x) : polynomial(wide, x);
  }
  template <size_t N> Value ratio(const double (&above)[N], const double (&below)[N], Value x) {
    return div(polynomial(above, x), polynomial(below, x));
  }

  // exp(sign * x^2 * scale) of a magnitude, where the scale is a power of two. The square is exact.
  Value expOfSquare(Value x, double scale);
  // exp(x^2) erfc(x) of a magnitude.
  Value scaledTail(Value x);
  // The probability of more than a magnitude.
  Value tailOf(Value x);
  // The quantile of a normal distribution: of p = 1/2 + q it is q times the result where `isCentral`, else the result
  // with the sign of q. `tail` is the smaller of p and 1 - p.
  Value quantile(Value isCentral, Value q, Value tail);
  Value besselOf(Value x, int order, bool isScaled);
  Value polygammaOf(Value x, int order);
  // Of pi times a magnitude, with the sign that the nearest integer's distance has: no sign of sines and cosines is
  // needed where it is squared or divided.
  struct Arc {
    Value rest, sine, cosine;
  };
  Arc arcOf(Value magnitude);

  bool isSingle;
};

// The value of a function of several numbers, by its name; null for other functions.
mlir::Value emitIncompleteFunction(mlir::OpBuilder &builder, mlir::Location location, mlir::Type shape, bool fma,
                                   bool isSingle, mlir::StringRef name, mlir::ValueRange operands);

} // namespace calque::codegen
#endif
