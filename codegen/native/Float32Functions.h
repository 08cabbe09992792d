// Vector code for the functions of float32 for which no processor has an instruction. It is right over the whole range,
// and has no branch but one for sines of large arguments.
#ifndef CALQUE_CODEGEN_NATIVE_FLOAT32FUNCTIONS_H
#define CALQUE_CODEGEN_NATIVE_FLOAT32FUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace calque::codegen {

// Emits code for a math operation on float32 or vectors of it. Null if there is no code for that operation. `fma`:
// whether the CPU has fused multiply-adds.
mlir::Value emitFloat32Function(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

} // namespace calque::codegen
#endif
