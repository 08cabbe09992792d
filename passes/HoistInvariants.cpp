#include "ir/RegionValues.h"
#include "ir/Values.h"
#include "passes/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace calque {
#define GEN_PASS_DEF_HOISTINVARIANTS
#include "passes/Passes.h.inc"
} // namespace calque

using namespace mlir;
using namespace calque::ir;

namespace {

// What an operation on fewer elements costs is nothing beside running a kernel.
constexpr int64_t kFewElements = 32;

// Whether to read what an operation gives costs less than to do it. An elementwise operation is fused with what uses
// it, which would read memory in place of registers.
bool isWorthKeeping(Operation *op) {
  if (op->hasTrait<Costly>())
    return true;
  if (isa<ElementwiseOpInterface>(op))
    return false;
  auto elements = [](ValueRange values) {
    int64_t sum = 0;
    for (Value value : values)
      sum += typeOf(value).getNumElements();
    return sum;
  };
  int64_t taken = elements(op->getOperands()), given = elements(op->getResults());
  return given <= taken && taken >= kFewElements;
}

// Moves what is invariant out of the regions of one loop.
class Loop {
public:
  explicit Loop(WhileOp loop) : loop(loop), builder(loop) {}

  void hoistFrom(Block &block) {
    llvm::SetVector<Operation *> hoisted;
    auto isInvariant = [&](Value operand) {
      auto argument = dyn_cast<BlockArgument>(operand);
      return argument ? argument.getArgNumber() >= loop.getNumVariables() : hoisted.contains(operand.getDefiningOp());
    };
    for (Operation &op : block.without_terminator())
      if (isHarmless(&op) && llvm::all_of(op.getOperands(), isInvariant))
        hoisted.insert(&op);
    // From the last: whether something stays decides whether what it uses is needed in the loop.
    auto isNeeded = [&](Operation *op) {
      return llvm::any_of(op->getUsers(), [&](Operation *user) { return !hoisted.contains(user); });
    };
    SmallVector<Operation *> candidates(hoisted.getArrayRef());
    for (Operation *op : llvm::reverse(candidates))
      if (isNeeded(op) && !isWorthKeeping(op))
        hoisted.remove(op);
    IRMapping outside;
    for (Operation *op : candidates)
      if (hoisted.contains(op) && isNeeded(op))
        for (Value result : op->getResults())
          if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !hoisted.contains(user); }))
            passIn(block, result, outsideOf(result, outside));
    for (Operation *op : llvm::reverse(candidates))
      if (op->use_empty())
        op->erase();
  }

private:
  // A value as one of before the loop. What stays in the loop is there twice, if something else needs it.
  Value outsideOf(Value value, IRMapping &outside) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return loop->getOperand(argument.getArgNumber());
    if (!outside.contains(value)) {
      Operation *op = value.getDefiningOp();
      for (Value operand : op->getOperands())
        outside.map(operand, outsideOf(operand, outside));
      builder.clone(*op, outside);
    }
    return outside.lookup(value);
  }

  // Makes a value of before the loop an invariant, which takes the place of one in a region.
  void passIn(Block &block, Value value, Value given) {
    loop->insertOperands(loop->getNumOperands(), given);
    for (Region &region : loop->getRegions()) {
      BlockArgument argument = region.addArgument(given.getType(), value.getLoc());
      if (&region.front() == &block)
        value.replaceAllUsesWith(argument);
    }
  }

  WhileOp loop;
  OpBuilder builder;
};

struct HoistInvariants : calque::impl::HoistInvariantsBase<HoistInvariants> {
  void runOnOperation() override {
    // Inner loops first: what leaves one may leave the next.
    getOperation().walk([](WhileOp loop) {
      Loop each(loop);
      each.hoistFrom(loop.getCondition().front());
      each.hoistFrom(loop.getBody().front());
    });
  }
};

} // namespace
