// Facts about the values of branches and loops that are known without computing them: which values are passed on
// unchanged, and which values depend on which.
#ifndef CALQUE_IR_REGIONVALUES_H
#define CALQUE_IR_REGIONVALUES_H

#include "ir/Dialect.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

namespace calque::ir {

// The earliest value of the block that is known to equal `value`. Follows branches whose sides agree, such as the
// branches that vmap runs for all examples, and loops that pass the value on unchanged.
mlir::Value originOf(mlir::Value value);

// Whether each iteration passes a loop variable on unchanged.
bool isGivenOn(mlir::BlockArgument variable);

// Whether an operation may run even if the program might not reach it: it has no effects and can't fail.
bool isHarmless(mlir::Operation *op);

// The values of a block that depend on the arguments whose bits are set. Of the results of a branch or a loop, only
// those that depend on them.
llvm::DenseSet<mlir::Value> dependingOn(mlir::Block &block, const llvm::SmallBitVector &arguments);

// Which results depend on the operands whose bits are set. A result that both sides yield alike does not depend on the
// predicate.
llvm::SmallBitVector dependentResults(CondOp op, const llvm::SmallBitVector &operands);

// The same for a loop. `operands`: which of its loop variables and invariants depend on the given operands. `decides`:
// whether its condition does, and with it the number of iterations. All variables that the loop changes depend on the
// operands then.
struct LoopDependence {
  llvm::SmallBitVector operands;
  bool decides;
};
LoopDependence dependenceOf(WhileOp loop, const llvm::SmallBitVector &operands);

// The operations of a loop's body that have the same results in all iterations, and that may run before the loop.
llvm::DenseSet<mlir::Operation *> doneOnce(WhileOp loop);

} // namespace calque::ir
#endif
