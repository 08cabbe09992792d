// Complex numbers as they are in memory: pairs of a real and an imaginary part.
#ifndef CALQUE_IR_PAIRS_H
#define CALQUE_IR_PAIRS_H

#include "schema/Schema.h"

#include "mlir/IR/Operation.h"

namespace calque::ir {

// Operations with effects take and give complex numbers as they are in memory, with the parts as a last dimension of 2.
// This attribute says which operands, and then which results, are such numbers.
inline constexpr llvm::StringLiteral kPairsAttr = "calque.pairs";
bool isPairs(mlir::Operation *op, unsigned number);
// The type in memory of a type with complex elements; another type itself.
mlir::Type pairsType(mlir::Type type);
// The type of an operand or a result as it was recorded: of pairs the complex one.
schema::TensorType recordedOperand(mlir::Operation *op, unsigned operand);
schema::TensorType recordedResult(mlir::Operation *op, unsigned result);

} // namespace calque::ir
#endif
