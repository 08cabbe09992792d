// Divisions and remainders that no processor has for vectors. They are exact, so that it does not matter how they are
// computed.
#ifndef CALQUE_CODEGEN_LOWERING_DIVISIONS_H
#define CALQUE_CODEGEN_LOWERING_DIVISIONS_H

#include "mlir/IR/Builders.h"

namespace calque::codegen {

// Emits vector code for a division or remainder of integers, or a remainder of floats. Null if there is no code for
// that operation, or if LLVM's code for a constant divisor is better. With `fma` the CPU has fused products and sums.
mlir::Value emitDivision(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

} // namespace calque::codegen
#endif
