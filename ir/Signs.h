// Integers with and without a sign. In the dialect the element type says which: i8 has a sign, and ui8 has none. MLIR's
// arithmetic takes i8 alone, and it is the operations that differ, as in LLVM. So code generation begins with
// eraseSigns, and from there on the operations of the dialect say which of their operands and results have no sign.
#ifndef CALQUE_IR_SIGNS_H
#define CALQUE_IR_SIGNS_H

#include "calque/dtype.h"

#include "mlir/IR/Operation.h"

namespace calque::ir {

// Whether the elements are integers without a sign, before eraseSigns and after it.
bool isUnsignedOperand(mlir::Operation *op, unsigned operand);
bool isUnsignedResult(mlir::Operation *op, unsigned result);
bool hasUnsignedOperand(mlir::Operation *op);

// The element type of an operand that the dialect has, before eraseSigns and after it.
DType dtypeOfOperand(mlir::Operation *op, unsigned operand);
DType dtypeOfResult(mlir::Operation *op, unsigned result);

// Gives all values in a function MLIR's integers, and marks the operations that had others. Indices without a sign, or
// of fewer than 32 bits, are cast to int64 first; what is beyond becomes the largest one.
void eraseSigns(mlir::Operation *function);

} // namespace calque::ir
#endif
