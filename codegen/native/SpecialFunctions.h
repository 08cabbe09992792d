// Special functions as vector code: error functions, the normal distribution, Bessel and gamma functions.
#ifndef CALQUE_CODEGEN_NATIVE_SPECIALFUNCTIONS_H
#define CALQUE_CODEGEN_NATIVE_SPECIALFUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace calque::codegen {

// The value of a ScalarFunctionOp of float32 or float64, emitted before it; null for other operations and functions.
mlir::Value emitSpecialFunction(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

} // namespace calque::codegen
#endif
