// Replaces operations of a block by equal ones before them, as MLIR's CSE does. That one tells operations with regions
// apart by their operands alone before it compares them one by one: a thousand operations on the same tensors, whose
// bodies differ in a constant, take a million comparisons. Here the bodies count too. And a * b is b * a.
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

// Puts the operands of a commutative operation in the order in which they are computed, so that a * b and b * a are
// equal; canonicalisation has done so for arguments and constants. Unknown sizes are compared at the call, and those
// that disagree are reported in the order of the operands.
void orderOperands(Operation &op) {
  if (!op.hasTrait<OpTrait::IsCommutative>() || op.getNumOperands() != 2)
    return;
  Value lhs = op.getOperand(0), rhs = op.getOperand(1);
  auto isOrdered = [&](Value value) {
    auto shaped = dyn_cast<ShapedType>(value.getType());
    return value.getParentBlock() == op.getBlock() && value.getDefiningOp() &&
           !value.getDefiningOp()->hasTrait<OpTrait::ConstantLike>() && (!shaped || shaped.hasStaticShape());
  };
  if (isOrdered(lhs) && isOrdered(rhs) && rhs.getDefiningOp()->isBeforeInBlock(lhs.getDefiningOp()))
    op.setOperands({rhs, lhs});
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
      orderOperands(op);
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
