// Helpers of the lowerings of reductions, products and windows.
#ifndef CALQUE_CODEGEN_LOWERING_REDUCTIONS_H
#define CALQUE_CODEGEN_LOWERING_REDUCTIONS_H

#include "codegen/lowering/Lowering.h"

namespace calque::codegen {

// The identity of max (`low`) or min for the elements of an operation's first operand.
mlir::Value extremeOf(mlir::OpBuilder &builder, mlir::Operation *op, bool low);
// Whether `element` is NaN and `best` is not.
mlir::Value isFirstNaN(ir::ScalarBuilder &s, mlir::Value best, mlir::Value element);
// The last of three elements plus the product of the others.
mlir::Value multiplyAdd(ir::ScalarBuilder &s, mlir::ValueRange v);

} // namespace calque::codegen
#endif
