// Questions about values that are tensors, which many files of ir and passes ask.
#ifndef CALQUE_IR_VALUES_H
#define CALQUE_IR_VALUES_H

#include "ir/Types.h"

#include "mlir/IR/Value.h"

namespace calque::ir {

inline mlir::RankedTensorType typeOf(mlir::Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
inline bool isFloat(mlir::Value value) { return mlir::isa<mlir::FloatType>(typeOf(value).getElementType()); }
inline bool isStack(mlir::Value value) { return mlir::isa<StackType>(typeOf(value).getElementType()); }
// Whether a value has derivatives, as floats and stacks have. The cotangent of a stack is a stack of its entries'
// cotangents.
inline bool isDifferentiable(mlir::Value value) { return isFloat(value) || isStack(value); }

} // namespace calque::ir

#endif
