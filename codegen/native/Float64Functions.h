// Vector code for the functions of float64 for which no processor has an instruction, and for powers of float32 and
// float64.
#ifndef CALQUE_CODEGEN_NATIVE_FLOAT64FUNCTIONS_H
#define CALQUE_CODEGEN_NATIVE_FLOAT64FUNCTIONS_H

#include "mlir/IR/Builders.h"

namespace calque::codegen {

// Emits code for a math operation on float64 or vectors of it, or for a power of float32. Null if there is no code for
// that operation. A product with its sum is rounded once: by an instruction with `fma`, else by a call.
mlir::Value emitFloat64Function(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

} // namespace calque::codegen
#endif
