// What many files of ir and passes ask of a value that is a tensor.
#ifndef CALQUE_IR_VALUES_H
#define CALQUE_IR_VALUES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace calque::ir {

inline mlir::RankedTensorType typeOf(mlir::Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
inline bool isFloat(mlir::Value value) { return mlir::isa<mlir::FloatType>(typeOf(value).getElementType()); }

} // namespace calque::ir

#endif
