// The helper with which the generated derivative rules are written.
#ifndef CALQUE_IR_GRADIENTRULE_H
#define CALQUE_IR_GRADIENTRULE_H

#include "ir/Dialect.h"

#include "mlir/IR/Builders.h"

namespace calque::ir {

class GradientRule {
public:
  GradientRule(mlir::OpBuilder &builder, mlir::Location location, mlir::Value result)
      : builder(builder), location(location), result(result) {}

  template <typename Op, typename... Args> mlir::Value create(Args &&...args) {
    return Op::create(builder, location, std::forward<Args>(args)...);
  }
  // A scalar of the result's element type, which broadcasts.
  mlir::Value constant(schema::Scalar value) { return constantLike(value, result); }
  mlir::Value constantLike(schema::Scalar value, mlir::Value like);
  // The scalar 0, or an empty stack.
  mlir::Value zeroLike(mlir::Value like);
  mlir::Value zerosLike(mlir::Value value);
  // g where the condition holds, else zero.
  mlir::Value mask(mlir::Value condition, mlir::Value g);
  // The sum of two derivatives, of which the first may be null.
  mlir::Value sum(mlir::Value a, mlir::Value b);
  // A derivative summed over the dimensions along which `like` was broadcast.
  mlir::Value sumLike(mlir::Value derivative, mlir::Value like);
  // A tangent in the result's shape, or null.
  mlir::Value broadcast(mlir::Value tangent);
  // Sums a cotangent over the dimensions along which the operand was broadcast.
  mlir::Value unbroadcast(mlir::Value cotangent, mlir::Value operand);

  mlir::OpBuilder &builder;
  mlir::Location location;
  mlir::Value result;
};

// The tangent of an operation that is linear in some operands together: the operation applied to the operands'
// tangents. `operands` has ranges of them as (first, count).
void linearJvp(mlir::Operation *op, mlir::OpBuilder &builder, mlir::ValueRange tangents,
               llvm::ArrayRef<std::pair<unsigned, unsigned>> operands,
               llvm::SmallVectorImpl<mlir::Value> &resultTangents);
// The tangent of an operation that is linear in each of some operands: the sum, over these operands, of the operation
// with this operand replaced by its tangent.
void multilinearJvp(mlir::Operation *op, mlir::OpBuilder &builder, mlir::ValueRange tangents,
                    llvm::ArrayRef<std::pair<unsigned, unsigned>> operands,
                    llvm::SmallVectorImpl<mlir::Value> &resultTangents);

// A constant of a static type whose elements are all 0, or all empty stacks.
mlir::Value zerosOf(mlir::OpBuilder &builder, mlir::Location location, mlir::RankedTensorType type);
// One empty stack.
inline mlir::Value emptyStack(mlir::OpBuilder &builder, mlir::Location location) {
  return zerosOf(builder, location, mlir::RankedTensorType::get({}, StackType::get(builder.getContext())));
}
// Whether a value is a constant, such as one of zerosOf().
bool isConstant(mlir::Value value);

inline mlir::Value zerosLike(mlir::OpBuilder &builder, mlir::Location location, mlir::Value like) {
  return GradientRule(builder, location, like).zerosLike(like);
}

} // namespace calque::ir
#endif
