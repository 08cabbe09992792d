// Opaque values, which no pass can fold. MLIR and LLVM fold math functions of constants to other bits than the code
// computes at run time, and compiled results must equal eager ones. codegen/native/LowerMath.cpp keeps values opaque
// until LLVM's passes are over.
#ifndef CALQUE_IR_OPAQUE_H
#define CALQUE_IR_OPAQUE_H

#include "mlir/IR/Builders.h"

namespace calque::ir {

mlir::Value makeOpaque(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value);

// Whether makeOpaque emitted this operation. Its one operand is the value.
bool isOpaque(mlir::Operation *op);

} // namespace calque::ir
#endif
