// What kernels know of calque.scalar_function, the operation for functions that MLIR lacks.
#ifndef CALQUE_CODEGEN_SCHEDULE_SCALARFUNCTIONS_H
#define CALQUE_CODEGEN_SCHEDULE_SCALARFUNCTIONS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace calque::codegen {

// By its name: the dialect's header takes longer to compile than all that asks.
inline constexpr llvm::StringLiteral kScalarFunction = "calque.scalar_function";
inline bool isScalarFunction(mlir::Operation &op) { return op.getName().getStringRef() == kScalarFunction; }

// The functions of two int32 that hold several numbers each: the sum of the products of those at the same place, which
// wraps. They hold two int16 each; or the first one four uint8, and the second one four int8.
inline constexpr llvm::StringLiteral kDotOfPairs = "dot_pairs", kDotOfBytes = "dot_bytes";
// Which of them an operation is; empty if it is none.
inline llvm::StringRef dotOfWords(mlir::Operation &op) {
  auto name = isScalarFunction(op) ? op.getAttrOfType<mlir::StringAttr>("name") : mlir::StringAttr();
  return name && (name.getValue() == kDotOfPairs || name.getValue() == kDotOfBytes) ? name.getValue()
                                                                                    : llvm::StringRef();
}
inline bool isDotOfWords(mlir::Operation &op) { return !dotOfWords(op).empty(); }

// Whether an operation on numbers is one on vectors of them too. MLIR tells traits apart by numbers that another
// library may not share with it, where another compiler has built it: so it does not see those of ours.
inline bool takesVectors(mlir::Operation &op) {
  return mlir::OpTrait::hasElementwiseMappableTraits(&op) || isScalarFunction(op);
}

} // namespace calque::codegen
#endif
