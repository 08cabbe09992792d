// What is known of the values of branches and loops without computing them: which are given on as they are, and which
// depend on what.
#ifndef CALQUE_IR_REGIONVALUES_H
#define CALQUE_IR_REGIONVALUES_H

#include "ir/Dialect.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallBitVector.h"

namespace calque::ir {

// The earliest value of its block that is known to be this one: through branches whose sides agree, as those that vmap
// does for all examples, and through loops that give it on.
mlir::Value originOf(mlir::Value value);

// Whether each iteration gives a loop variable on as it is.
bool isGivenOn(mlir::BlockArgument variable);

// Whether it does no harm to do an operation where the program may not come to it.
bool isHarmless(mlir::Operation *op);

// The values of a block that depend on those of its arguments that are noted. Of a branch or a loop the results that
// do.
llvm::DenseSet<mlir::Value> dependingOn(mlir::Block &block, const llvm::SmallBitVector &arguments);

// Which results depend on those of the operands that are noted. A result that both sides give alike does not depend on
// the predicate.
llvm::SmallBitVector dependentResults(CondOp op, const llvm::SmallBitVector &operands);

// The same of a loop: of its loop variables and its invariants, and whether its condition does, so that it ends after
// another number of iterations. Then all variables do that it changes.
struct LoopDependence {
  llvm::SmallBitVector operands;
  bool decides;
};
LoopDependence dependenceOf(WhileOp loop, const llvm::SmallBitVector &operands);

// The operations of a loop's body that give the same in all iterations, and that may be done before it.
llvm::DenseSet<mlir::Operation *> doneOnce(WhileOp loop);

} // namespace calque::ir
#endif
