// What many files of ir and passes ask of a value that is a tensor.
#ifndef CALQUE_IR_VALUES_H
#define CALQUE_IR_VALUES_H

#include "ir/Types.h"

#include "mlir/IR/Value.h"

namespace calque::ir {

inline mlir::RankedTensorType typeOf(mlir::Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
inline bool isFloat(mlir::Value value) { return mlir::isa<mlir::FloatType>(typeOf(value).getElementType()); }
inline bool isStack(mlir::Value value) { return mlir::isa<StackType>(typeOf(value).getElementType()); }
// Whether derivatives follow a value: floats, and stacks, whose cotangents are the stacks of those of their entries.
inline bool isDifferentiable(mlir::Value value) { return isFloat(value) || isStack(value); }

} // namespace calque::ir

#endif
