// Replaces operations of a block by equal ones before them, as MLIR's CSE does. That one tells operations with regions
// apart by their operands alone before it compares them one by one: a thousand operations on the same tensors, whose
// bodies differ in a constant, take a million comparisons. Here the bodies count too.
#include "codegen/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_SHAREEQUAL
#include "codegen/Passes.h.inc"

namespace {

// What an operation does, as a hash: its own part, its operands, and what its regions do. Values within a region are
// told apart by nothing, those from outside by what they are.
llvm::hash_code hashOf(Operation *op) {
  llvm::hash_code result(0);
  op->walk([&](Operation *inner) {
    auto ofOperand = [&](Value value) {
      Operation *parent = value.getParentBlock()->getParentOp();
      return inner != op && op->isAncestor(parent) ? llvm::hash_code(0) : mlir::hash_value(value);
    };
    result = llvm::hash_combine(result, OperationEquivalence::computeHash(inner, ofOperand,
                                                                          OperationEquivalence::ignoreHashValue,
                                                                          OperationEquivalence::IgnoreLocations));
  });
  return result;
}

struct ShareEqual : impl::ShareEqualBase<ShareEqual> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody())
      run(block);
  }

private:
  void run(Block &block) {
    llvm::DenseMap<llvm::hash_code, SmallVector<Operation *, 1>> seen;
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      if (isOpTriviallyDead(&op)) {
        op.erase();
        continue;
      }
      if (op.getNumResults() == 0 || !isMemoryEffectFree(&op))
        continue;
      SmallVector<Operation *, 1> &alike = seen[hashOf(&op)];
      auto equal = llvm::find_if(alike, [&](Operation *other) {
        return OperationEquivalence::isEquivalentTo(other, &op, OperationEquivalence::IgnoreLocations);
      });
      if (equal == alike.end()) {
        alike.push_back(&op);
        continue;
      }
      op.replaceAllUsesWith((*equal)->getResults());
      ++shared;
      op.erase();
    }
  }
};

} // namespace

} // namespace calque::codegen
