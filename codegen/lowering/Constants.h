// Finds constants by their operation. MLIR's matchers ask for a trait instead, and don't find the traits of MLIR's own
// operations here: a hidden symbol has another TypeID in this library than in MLIR's, which another compiler has made.
#ifndef CALQUE_CODEGEN_LOWERING_CONSTANTS_H
#define CALQUE_CODEGEN_LOWERING_CONSTANTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace calque::codegen {

inline bool isConstant(mlir::Value value) { return value.getDefiningOp<mlir::arith::ConstantOp>() != nullptr; }

// Whether the value is a constant zero of either sign.
inline bool isFloatZero(mlir::Value value) {
  auto constant = value.getDefiningOp<mlir::arith::ConstantOp>();
  auto number = constant ? mlir::dyn_cast<mlir::FloatAttr>(constant.getValue()) : mlir::FloatAttr();
  return number && number.getValue().isZero();
}

} // namespace calque::codegen
#endif
