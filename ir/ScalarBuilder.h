// The nodes of `scalar` dags: each method emits the operation for its operands' type. Nothing here may be contracted or
// reassociated, so that eager and compiled code are equal bit for bit. Each nested call is a statement of its own,
// because C++ leaves the order of evaluation of arguments open, and with it the order of the emitted operations.
#ifndef CALQUE_IR_SCALARBUILDER_H
#define CALQUE_IR_SCALARBUILDER_H

#include "ir/Numbers.h"

#include "mlir/IR/Builders.h"

namespace calque::ir {

class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location location) : builder(builder), location(location) {}
  // The same for the elements of an operation of the dialect, whose integers may have no sign (Signs.cpp).
  ScalarBuilder of(mlir::Operation *op) const;

  using Value = mlir::Value;
  // The number as an element of a type, rounded to the nearest if it is a floating-point type.
  Value constant(schema::Scalar value, Value like) { return constant(value, like.getType()); }
  Value constant(schema::Scalar value, mlir::Type type);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  // Of integers, the smallest divided by -1 wraps, and a zero divisor gives 0; a separate check fails the call.
  Value div(Value a, Value b);
  // The remainder of a truncating division, the remainder of a division that rounds down, and the quotient of the
  // latter. For integers as in div.
  Value fmod(Value a, Value b);
  Value mod(Value a, Value b);
  Value floorDivide(Value a, Value b);
  Value neg(Value x);
  Value abs(Value x);
  Value pow(Value a, Value b);
  Value exp(Value x);
  Value log(Value x);
  Value log1p(Value x);
  Value expm1(Value x);
  Value sqrt(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value sin(Value x);
  Value cos(Value x);
  Value tan(Value x);
  Value floor(Value x);
  Value ceil(Value x);
  Value round(Value x); // halves to the even integer
  Value trunc(Value x);
  Value copySign(Value magnitude, Value sign);
  // Of floats: the neighbour of x on the side of y, or y where both are equal.
  Value nextAfter(Value x, Value y);
  Value sign(Value x);
  // A ScalarFunctionOp.
  Value function(llvm::StringRef name, Value x);
  Value function(llvm::StringRef name, Value x, Value y);
  Value function(llvm::StringRef name, Value x, Value y, Value z);
  Value maximum(Value a, Value b);
  Value minimum(Value a, Value b);
  Value equal(Value a, Value b);
  Value notEqual(Value a, Value b);
  Value less(Value a, Value b);
  Value lessEqual(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  Value logicalAnd(Value a, Value b);
  Value logicalOr(Value a, Value b);
  Value logicalXor(Value a, Value b);
  Value logicalNot(Value x);
  // Bits of integers, and of bools where the names say so. A count that is negative or no less than the number of bits
  // shifts all bits out.
  Value bitNot(Value x); // of bools too
  Value shiftLeft(Value x, Value count);
  Value shiftRight(Value x, Value count); // the sign moves in
  Value countOnes(Value x);
  Value bitLength(Value x); // the number of bits without leading zeros
  // Floats become integers by truncation and saturation, NaN becomes 0; every number but 0 becomes true.
  Value castTo(Value x, mlir::Type type);

  mlir::OpBuilder &builder;
  mlir::Location location;
  // Whether integers that are taken have no sign, and those that castTo gives.
  bool takesUnsigned = false, givesUnsigned = false;
};

} // namespace calque::ir
#endif
