// The transformations that the pass `differentiate` expands, each where it stands.
#ifndef CALQUE_PASSES_TRANSFORMS_H
#define CALQUE_PASSES_TRANSFORMS_H

#include "passes/Passes.h"

namespace calque {

// Emits the operation's results before it, and erases it. Fails after a diagnostic.
llvm::LogicalResult expand(ir::GradientOp gradient); // reverse mode
llvm::LogicalResult expand(ir::JvpOp jvp);           // forward mode
llvm::LogicalResult expand(ir::UnbatchOp unbatch);   // all examples at once, with the `batch` that it belongs to

// Whether it has elements that derivatives exist for.
inline bool isDifferentiable(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && mlir::isa<mlir::FloatType>(type.getElementType());
}

// Puts a value in place of a transformation's result. A result that a gradient is taken with respect to, or ends at, is
// a value of its own, as it is where it is computed by itself: another result, or what the derivative is taken along,
// may be the same value.
void replaceResult(mlir::OpBuilder &builder, mlir::Value result, mlir::Value value);

// Notes the transformations that rules emit, for which the emitter then cares.
struct EmittedTransforms : mlir::OpBuilder::Listener {
  llvm::SmallVector<mlir::Operation *> operations;
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override;
  llvm::LogicalResult expandAll();
};

// Any of them.
bool isTransform(mlir::Operation *op);
llvm::LogicalResult expandTransform(mlir::Operation *op);

} // namespace calque
#endif
