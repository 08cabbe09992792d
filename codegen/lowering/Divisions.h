// Divisions and remainders that no processor has for vectors. They are exact, so that it does not matter how they are
// computed.
#ifndef CALQUE_CODEGEN_LOWERING_DIVISIONS_H
#define CALQUE_CODEGEN_LOWERING_DIVISIONS_H

#include "mlir/IR/Builders.h"

namespace calque::codegen {

// Emits what a division or remainder of vectors of integers computes, or a remainder of floats. Null where there is no
// code for that operation, or where a constant divisor makes LLVM's better. With `fma` the CPU has fused products and
// sums.
mlir::Value emitDivision(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

} // namespace calque::codegen
#endif
