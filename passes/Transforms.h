// The expansions of gradient, jvp and unbatch, which the pass `differentiate` calls.
#ifndef CALQUE_PASSES_TRANSFORMS_H
#define CALQUE_PASSES_TRANSFORMS_H

#include "passes/Passes.h"

namespace calque {

// Each emits its operation's results in its place and erases it. Emits a diagnostic before it fails.
// Reverse mode; `connected`, if given, receives whether a path leads to each result.
llvm::LogicalResult expand(ir::GradientOp gradient, llvm::SmallVectorImpl<bool> *connected = nullptr);
llvm::LogicalResult expand(ir::JvpOp jvp);         // forward mode
llvm::LogicalResult expand(ir::UnbatchOp unbatch); // vmap; together with its `batch`

// Whether the value is a tensor of floats.
inline bool isDifferentiable(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && mlir::isa<mlir::FloatType>(type.getElementType());
}

// Replaces a result of a transformation by a value. A result that is a source or a stop of an outer derivative becomes
// a fresh SSA value, because `value` may also be another result or an operand: a derivative must tell these apart.
void replaceResult(mlir::OpBuilder &builder, mlir::Value result, mlir::Value value);

// Collects the transformations that rules emit, so that they can be expanded at once.
struct EmittedTransforms : mlir::OpBuilder::Listener {
  llvm::SmallVector<mlir::Operation *> operations;
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override;
  llvm::LogicalResult expandAll();
};

// The same for any of the three.
bool isTransform(mlir::Operation *op);
llvm::LogicalResult expandTransform(mlir::Operation *op);

} // namespace calque
#endif
