// Random numbers of single elements.
#ifndef CALQUE_CODEGEN_LOWERING_RANDOMNUMBERS_H
#define CALQUE_CODEGEN_LOWERING_RANDOMNUMBERS_H

#include "ir/ScalarBuilder.h"

namespace calque::codegen {

// The number in [0, 1) at a place of a tensor in row-major order, of a generator's key and counter. All are int64. A
// float32 takes the upper 24 bits of one word, a float64 the upper 53 bits of two.
mlir::Value uniformNumber(ir::ScalarBuilder &s, mlir::Value key, mlir::Value base, mlir::Value place,
                          mlir::Type element);

} // namespace calque::codegen
#endif
