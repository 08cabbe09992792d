// Powers with the exponents that programs write most, such as pow(x, 2), without a call of the C library.
#ifndef CALQUE_CODEGEN_LOWERING_COMMONPOWERS_H
#define CALQUE_CODEGEN_LOWERING_COMMONPOWERS_H

#include "mlir/Dialect/Math/IR/Math.h"

namespace calque::codegen {

// Replaces the power if its exponent is a constant. Otherwise emits code before the power that tests for the common
// exponents, and leaves the power for all others. The result follows from base and exponent alone, whether the exponent
// is known or not, so that compiled and eager code have the same bits.
void emitCommonPowers(mlir::math::PowFOp op);

} // namespace calque::codegen
#endif
