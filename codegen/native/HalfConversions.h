// Conversions of float16 and bfloat16, each rounded once, with subnormal numbers. Processors convert float16 to and
// from float32 alone; what they have for bfloat16 makes zeros of subnormal numbers.
#ifndef CALQUE_CODEGEN_NATIVE_HALFCONVERSIONS_H
#define CALQUE_CODEGEN_NATIVE_HALFCONVERSIONS_H

#include "mlir/IR/Builders.h"

namespace calque::codegen {

// Emits code for a conversion (arith.extf, arith.truncf, arith.sitofp, arith.uitofp) of halves or of vectors of them,
// and for a constant of bfloat16, which are its bits from here on. Null for any other operation, and for those that the
// processor has.
mlir::Value emitHalfConversion(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

} // namespace calque::codegen
#endif
