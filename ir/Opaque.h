// Eager code computes a function at run time, so compiled code must, too, where it knows the argument: MLIR folds
// functions of constants to other bits. Nothing is known of an opaque value; codegen/LowerMath.cpp keeps it so until
// the end.
#ifndef CALQUE_IR_OPAQUE_H
#define CALQUE_IR_OPAQUE_H

#include "mlir/IR/Builders.h"

namespace calque::ir {

mlir::Value makeOpaque(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value);

// Whether an operation is what makeOpaque made. Its one operand is the value.
bool isOpaque(mlir::Operation *op);

} // namespace calque::ir
#endif
