// Divisions and remainders for which no processor has vector instructions. The results are exact, so that each way to
// compute them gives the same bits.
#ifndef CALQUE_CODEGEN_LOWERING_DIVISIONS_H
#define CALQUE_CODEGEN_LOWERING_DIVISIONS_H

#include "mlir/IR/Builders.h"

namespace calque::codegen {

// Emits vector code for a division or remainder of integers, or a remainder of floats. Null if there is no code for
// that operation, or if LLVM's code for a constant divisor is better. `fma`: whether the CPU has fused multiply-adds.
mlir::Value emitDivision(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

} // namespace calque::codegen
#endif
