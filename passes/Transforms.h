// The expansions of gradient, jvp and unbatch, which the pass `differentiate` calls.
#ifndef CALQUE_PASSES_TRANSFORMS_H
#define CALQUE_PASSES_TRANSFORMS_H

#include "passes/Passes.h"

#include "llvm/ADT/DenseSet.h"

namespace calque {

// The operations that expansions have emitted. Their results are sources of a gradient only through an `identity`.
class Emitted {
public:
  bool empty() const { return operations.empty(); }
  bool contains(mlir::Operation *op) const { return operations.contains(op); }
  void insert(mlir::Operation *op) { operations.insert(op); }
  // Erases an operation, emitted or not, and forgets its address, because another operation may get the same one.
  void erase(mlir::Operation *op);

private:
  llvm::DenseSet<mlir::Operation *> operations;
};

// Each `expand` emits the results of its operation in its place, and erases the operation. It emits a diagnostic before
// it fails. Reverse mode; `cotangents`, if given, receives the value that replaces each result, or null if no path
// leads to the result's source.
llvm::LogicalResult expand(ir::GradientOp gradient, Emitted &emitted,
                           llvm::SmallVectorImpl<mlir::Value> *cotangents = nullptr);
llvm::LogicalResult expand(ir::JvpOp jvp, Emitted &emitted);         // forward mode
llvm::LogicalResult expand(ir::UnbatchOp unbatch, Emitted &emitted); // vmap; together with its `batch`

// Replaces a branch or a loop whose only effects are assertions by one without effects, and assertions behind it. Other
// operations do not change.
void deferAssertions(mlir::Operation *op, Emitted &emitted);

// Replaces a result of a transformation by a value. A result that is a source or a stop of an outer derivative becomes
// a fresh SSA value, because `value` may also be another result or an operand: a derivative must tell these apart.
void replaceResult(mlir::OpBuilder &builder, mlir::Value result, mlir::Value value);

// Notes the operations that the rules of one expansion emit. Transformations among them can be expanded at once.
class Emission : public mlir::OpBuilder::Listener {
public:
  explicit Emission(Emitted &emitted) : emitted(emitted) {}
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) override;
  llvm::LogicalResult expandTransforms();
  // Whether the transformation was noted. If so, it is removed from the notes, and the caller must expand it.
  bool take(mlir::Operation *transform);

private:
  Emitted &emitted;
  llvm::SmallVector<mlir::Operation *> transforms;
};

// Whether an operation is one of these transformations, and `expand` for any of them.
bool isTransform(mlir::Operation *op);
llvm::LogicalResult expandTransform(mlir::Operation *op, Emitted &emitted);

} // namespace calque
#endif
