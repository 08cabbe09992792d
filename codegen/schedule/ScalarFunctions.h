// What kernels know of calque.scalar_function, the operation for functions that MLIR lacks.
#ifndef CALQUE_CODEGEN_SCHEDULE_SCALARFUNCTIONS_H
#define CALQUE_CODEGEN_SCHEDULE_SCALARFUNCTIONS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace calque::codegen {

// By its name: the dialect's header takes longer to compile than all that asks.
inline constexpr llvm::StringLiteral kScalarFunction = "calque.scalar_function";
inline bool isScalarFunction(mlir::Operation &op) { return op.getName().getStringRef() == kScalarFunction; }

// The function of two int32 that hold two int16 each: the sum of the products of those at the same place, which wraps.
inline constexpr llvm::StringLiteral kDotOfPairs = "dot_pairs";
inline bool isDotOfWords(mlir::Operation &op) {
  auto name = isScalarFunction(op) ? op.getAttrOfType<mlir::StringAttr>("name") : mlir::StringAttr();
  return name && name.getValue() == kDotOfPairs;
}

// Whether an operation on numbers is one on vectors of them too. MLIR tells traits apart by numbers that another
// library may not share with it, where another compiler has built it: so it does not see those of ours.
inline bool takesVectors(mlir::Operation &op) {
  return mlir::OpTrait::hasElementwiseMappableTraits(&op) || isScalarFunction(op);
}

} // namespace calque::codegen
#endif
