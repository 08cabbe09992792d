// The functions of float64 that no processor has as instructions, as vector code, and powers of float32 and float64.
#ifndef CALQUE_CODEGEN_NATIVE_FLOAT64FUNCTIONS_H
#define CALQUE_CODEGEN_NATIVE_FLOAT64FUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace calque::codegen {

// Emits what a math operation on float64 or vectors of it computes, or a power of float32. Null where there is no code
// for that operation. Products and sums are rounded once, with `fma` by an instruction.
mlir::Value emitFloat64Function(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

} // namespace calque::codegen
#endif
