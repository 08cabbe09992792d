// The base class of emitters of functions: arithmetic of floats and integers, on scalars and vectors alike, in the type
// of the operands.
#ifndef CALQUE_CODEGEN_NATIVE_FUNCTIONEMITTER_H
#define CALQUE_CODEGEN_NATIVE_FUNCTIONEMITTER_H

#include "ir/Dialect.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <limits>

namespace calque::codegen {

class FunctionEmitter {
protected:
  using Value = mlir::Value;
  using Type = mlir::Type;

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

  // `shape` is a float type or a vector of floats; all other values have as many elements. `roundsOnce`: whether a
  // product with its sum must be rounded once in float64 too, as it always is in float32.
  FunctionEmitter(mlir::OpBuilder &builder, mlir::Location location, Type shape, bool fma, bool roundsOnce)
      : b(builder), location(location), shape(shape), fma(fma), roundsOnce(roundsOnce) {}

  // The type with this element type and as many elements as `shape`.
  Type like(Type element) const {
    auto vector = mlir::dyn_cast<mlir::VectorType>(shape);
    return vector ? vector.clone(element) : element;
  }
  static Type elementOf(Value x) { return mlir::getElementTypeOrSelf(x.getType()); }
  template <typename Op> Value emit(Value x, Value y) { return Op::create(b, location, x, y); }
  Value splat(Type type, mlir::Attribute element) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return mlir::arith::ConstantOp::create(b, location, mlir::DenseElementsAttr::get(vector, element));
    return mlir::arith::ConstantOp::create(b, location, mlir::cast<mlir::TypedAttr>(element));
  }
  // A number as a value of the type of x.
  Value number(double value, Value x) { return splat(x.getType(), b.getFloatAttr(elementOf(x), value)); }
  Value integer(uint64_t value, Value x) {
    return splat(x.getType(), b.getIntegerAttr(elementOf(x), static_cast<int64_t>(value)));
  }

  Value add(Value x, Value y) { return emit<mlir::arith::AddFOp>(x, y); }
  Value add(Value x, double y) { return add(x, number(y, x)); }
  Value sub(Value x, Value y) { return emit<mlir::arith::SubFOp>(x, y); }
  Value sub(Value x, double y) { return sub(x, number(y, x)); }
  Value mul(Value x, Value y) { return emit<mlir::arith::MulFOp>(x, y); }
  Value mul(Value x, double y) { return mul(x, number(y, x)); }
  Value div(Value x, Value y) { return emit<mlir::arith::DivFOp>(x, y); }
  Value neg(Value x) { return mlir::arith::NegFOp::create(b, location, x); }
  // x * y + z. It is rounded once, by a call if the processor has no instruction, except in float64 without `fma` and
  // `roundsOnce`.
  Value mulAdd(Value x, Value y, Value z) {
    if (fma || roundsOnce || !elementOf(x).isF64())
      return mlir::math::FmaOp::create(b, location, x, y, z);
    return add(mul(x, y), z);
  }
  Value mulAdd(Value x, double y, Value z) { return mulAdd(x, number(y, x), z); }
  Value mulAdd(Value x, Value y, double z) { return mulAdd(x, y, number(z, x)); }
  Value mulAdd(Value x, double y, double z) { return mulAdd(x, number(y, x), number(z, x)); }

  // Between float32 and float64.
  Value widen(Value x) { return mlir::arith::ExtFOp::create(b, location, like(b.getF64Type()), x); }
  Value round(Value x) { return mlir::arith::TruncFOp::create(b, location, like(b.getF32Type()), x); }

  Value asBits(Value x) { return mlir::arith::BitcastOp::create(b, location, like(ir::ElementType(x).asBits()), x); }
  Value asNumber(Value x) { return mlir::arith::BitcastOp::create(b, location, like(ir::ElementType(x).asFloat()), x); }
  Value addInts(Value x, Value y) { return emit<mlir::arith::AddIOp>(x, y); }
  Value subInts(Value x, Value y) { return emit<mlir::arith::SubIOp>(x, y); }
  Value mask(Value x, uint64_t kept) { return emit<mlir::arith::AndIOp>(x, integer(kept, x)); }
  Value shiftLeft(Value x, unsigned by) { return emit<mlir::arith::ShLIOp>(x, integer(by, x)); }

  // Comparisons are false if an operand is NaN.
  Value compare(mlir::arith::CmpFPredicate predicate, Value x, double y) {
    return mlir::arith::CmpFOp::create(b, location, predicate, x, number(y, x));
  }
  Value isLess(Value x, double y) { return compare(mlir::arith::CmpFPredicate::OLT, x, y); }
  Value isGreater(Value x, double y) { return compare(mlir::arith::CmpFPredicate::OGT, x, y); }
  Value isGreater(Value x, Value y) {
    return mlir::arith::CmpFOp::create(b, location, mlir::arith::CmpFPredicate::OGT, x, y);
  }
  Value isNotLess(Value x, double y) { return compare(mlir::arith::CmpFPredicate::OGE, x, y); }
  Value isEqual(Value x, double y) { return compare(mlir::arith::CmpFPredicate::OEQ, x, y); }
  Value isEqual(Value x, Value y) {
    return mlir::arith::CmpFOp::create(b, location, mlir::arith::CmpFPredicate::OEQ, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, location, condition, x, y);
  }
  Value both(Value a, Value b) { return emit<mlir::arith::AndIOp>(a, b); }
  Value either(Value a, Value b) { return emit<mlir::arith::OrIOp>(a, b); }
  // Whether the sign is that of negative numbers, as it is of -0.
  Value hasSign(Value x) { return isLess(withSignOf(number(1, x), x), 0); }
  Value squareRoot(Value x) { return mlir::math::SqrtOp::create(b, location, x); }
  Value absolute(Value x) { return mlir::math::AbsFOp::create(b, location, x); }
  Value withSignOf(Value x, Value sign) { return mlir::math::CopySignOp::create(b, location, x, sign); }
  // x, or the bound that it is beyond; NaN stays NaN.
  Value atLeast(Value x, double low) { return select(isLess(x, low), number(low, x), x); }
  Value atMost(Value x, double high) { return select(isGreater(x, high), number(high, x), x); }
  // Whether a condition holds for any element.
  Value any(Value condition) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(condition.getType());
    if (!vector)
      return condition;
    if (vector.getRank() != 1)
      condition = mlir::vector::ShapeCastOp::create(
          b, location, mlir::VectorType::get({vector.getNumElements()}, b.getI1Type()), condition);
    return mlir::vector::ReductionOp::create(b, location, mlir::vector::CombiningKind::OR, condition);
  }

  template <size_t N> Value polynomial(const double (&coefficients)[N], Value x) {
    Value sum = number(coefficients[N - 1], x);
    for (size_t i = N - 1; i-- > 0;)
      sum = mulAdd(sum, x, coefficients[i]);
    return sum;
  }
  // Computes one of two polynomials in each lane. Choosing coefficients takes less time than computing both
  // polynomials.
  template <size_t N, size_t M>
  Value polynomial(Value isFirst, const double (&first)[N], const double (&second)[M], Value x) {
    Value sum;
    for (size_t i = std::max(N, M); i-- > 0;) {
      Value ofFirst = number(i < N ? first[i] : 0, x), ofSecond = number(i < M ? second[i] : 0, x);
      Value coefficient = select(isFirst, ofFirst, ofSecond);
      sum = sum ? mulAdd(sum, x, coefficient) : coefficient;
    }
    return sum;
  }
  // `result` for x between `pole` and infinity. Elsewhere the values of a logarithm: -infinity at the pole, NaN below
  // it and for NaN, infinity for infinity.
  Value aboveThePole(Value x, double pole, Value result) {
    Value below = select(isEqual(x, pole), number(-kInfinity, x), number(kNaN, x));
    Value within = select(isLess(x, kInfinity), result, x);
    return select(isGreater(x, pole), within, below);
  }
  // r + r^3 p(r^2), where p is the polynomial. The cube is computed with a sum, so that it is 0 for r = -0. A negative
  // multiple of 0 is -0, so that the result is -0.
  template <size_t N> Value sine(const double (&coefficients)[N], Value r, Value square) {
    return mulAdd(polynomial(coefficients, square), mulAdd(r, square, 0), r);
  }

  mlir::OpBuilder &b;
  mlir::Location location;
  Type shape;
  bool fma, roundsOnce;
};

// Emits the code for a function of ScalarFunctionOp by its name; null for others.
template <typename Emitter>
mlir::Value emitScalarFunction(Emitter &emitter, mlir::StringRef name, mlir::ValueRange operands) {
  using mlir::Value;
  struct Unary {
    llvm::StringLiteral name;
    Value (Emitter::*emit)(Value);
  };
  struct Binary {
    llvm::StringLiteral name;
    Value (Emitter::*emit)(Value, Value);
  };
  static constexpr Unary kUnary[] = {
      {"atan", &Emitter::atan},   {"asin", &Emitter::asin},
      {"acos", &Emitter::acos},   {"sinh", &Emitter::sinh},
      {"cosh", &Emitter::cosh},   {"asinh", &Emitter::asinh},
      {"acosh", &Emitter::acosh}, {"atanh", &Emitter::atanh},
      {"log2", &Emitter::log2},   {"log10", &Emitter::log10},
      {"exp2", &Emitter::exp2},   {"cbrt", &Emitter::cbrt},
      {"sinc", &Emitter::sinc},   {"sinc_slope", &Emitter::sinc_slope},
  };
  static constexpr Binary kBinary[] = {{"atan2", &Emitter::atan2}, {"hypot", &Emitter::hypot}};
  for (const Unary &function : kUnary)
    if (function.name == name && operands.size() == 1)
      return (emitter.*function.emit)(operands[0]);
  for (const Binary &function : kBinary)
    if (function.name == name && operands.size() == 2)
      return (emitter.*function.emit)(operands[0], operands[1]);
  return {};
}

// Emits the code for an operation of MLIR's dialect `math` with one operand, or for a ScalarFunctionOp; null for other
// operations.
template <typename Emitter> mlir::Value emitNamed(Emitter &emitter, mlir::Operation *op) {
  if (auto function = mlir::dyn_cast<ir::ScalarFunctionOp>(op))
    return emitScalarFunction(emitter, function.getName(), function.getOperands());
  mlir::Value x = op->getOperand(0);
  return llvm::TypeSwitch<mlir::Operation *, mlir::Value>(op)
      .Case([&](mlir::math::ExpOp) { return emitter.exp(x); })
      .Case([&](mlir::math::ExpM1Op) { return emitter.expm1(x); })
      .Case([&](mlir::math::LogOp) { return emitter.log(x); })
      .Case([&](mlir::math::Log1pOp) { return emitter.log1p(x); })
      .Case([&](mlir::math::TanhOp) { return emitter.tanh(x); })
      .Case([&](mlir::math::ErfOp) { return emitter.erf(x); })
      .Case([&](mlir::math::SinOp) { return emitter.sin(x); })
      .Case([&](mlir::math::CosOp) { return emitter.cos(x); })
      .Case([&](mlir::math::TanOp) { return emitter.tan(x); })
      .Default([](mlir::Operation *) { return mlir::Value(); });
}

} // namespace calque::codegen
#endif
