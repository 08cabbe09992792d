// Functions of integers as code for numbers and vectors.
#ifndef CALQUE_CODEGEN_NATIVE_INTEGERFUNCTIONS_H
#define CALQUE_CODEGEN_NATIVE_INTEGERFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace calque::codegen {

// The value of a ScalarFunctionOp of integers, emitted before it; null for other operations. `fma` means nothing here.
mlir::Value emitIntegerFunction(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

} // namespace calque::codegen
#endif
