// What the reverse rules of the records are written with.
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
  mlir::Value constant(double value) { return constantLike(value, result); }
  mlir::Value constantLike(double value, mlir::Value like);
  // g where the condition holds, else zero.
  mlir::Value mask(mlir::Value condition, mlir::Value g);
  // Sums a cotangent over the dimensions along which the operand was broadcast.
  mlir::Value unbroadcast(mlir::Value cotangent, mlir::Value operand);

  mlir::OpBuilder &builder;
  mlir::Location location;
  mlir::Value result;
};

} // namespace calque::ir
#endif
