// The functions of float32 that no processor has as instructions, as vector code: right over the whole range, with no
// branch but the one for sines of large arguments.
#ifndef CALQUE_CODEGEN_NATIVE_FLOAT32FUNCTIONS_H
#define CALQUE_CODEGEN_NATIVE_FLOAT32FUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace calque::codegen {

// Emits what a math operation on float32 or vectors of it computes. Null where there is no code for that operation.
// With `fma` products and sums are fused.
mlir::Value emitFloat32Function(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

} // namespace calque::codegen
#endif
