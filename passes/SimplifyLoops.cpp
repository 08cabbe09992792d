#include "ir/LoopVariables.h"
#include "passes/Passes.h"

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace calque {
#define GEN_PASS_DEF_SIMPLIFYLOOPS
#include "passes/Passes.h.inc"
} // namespace calque

using namespace mlir;
using namespace calque::ir;

namespace {

// The values that derivatives are taken by, and those at which they end. Another value in place of one of these, even
// an equal one, would have other paths.
DenseSet<Value> boundaryOf(Operation *root) {
  DenseSet<Value> boundary;
  root->walk([&](Operation *op) {
    if (auto gradient = dyn_cast<GradientOp>(op)) {
      auto beyond = gradient.getValues().drop_front(2 * static_cast<std::size_t>(gradient.getCounts()[0]));
      boundary.insert(beyond.begin(), beyond.end());
    } else if (auto jvp = dyn_cast<JvpOp>(op)) {
      auto sources = jvp.getValues().slice(static_cast<std::size_t>(jvp.getCounts()[0]),
                                           static_cast<std::size_t>(jvp.getCounts()[1]));
      boundary.insert(sources.begin(), sources.end());
    }
  });
  return boundary;
}

// Whether the operation has a value of these: as a result, or within, or, of one that reads elements, on the way to
// what it would read in place of its operand.
bool hasAny(Operation *op, const DenseSet<Value> &values) {
  auto isOne = [&](Value value) { return values.contains(value); };
  if (llvm::any_of(op->getResults(), isOne))
    return true;
  for (Region &region : op->getRegions())
    if (llvm::any_of(region.getArguments(), isOne))
      return true;
  if (isa<GatherOp>(op))
    for (Value array = op->getOperand(0); array; array = array.getDefiningOp()->getOperand(0)) {
      if (isOne(array))
        return true;
      if (!array.getDefiningOp() || array.getDefiningOp()->getNumOperands() == 0)
        break;
    }
  return false;
}

struct SimplifyLoops : calque::impl::SimplifyLoopsBase<SimplifyLoops> {
  using SimplifyLoopsBase::SimplifyLoopsBase;

  void runOnOperation() override {
    const DenseSet<Value> boundary = boundaryOf(getOperation());
    SmallVector<Operation *> operations;
    getOperation().walk([&](Operation *op) {
      if ((isa<WhileOp>(op) || (isa<CondOp, GatherOp>(op) && op->getParentOfType<WhileOp>())) && !hasAny(op, boundary))
        operations.push_back(op);
    });
    if (operations.empty())
      return;
    RewritePatternSet patterns(&getContext());
    WhileOp::getCanonicalizationPatterns(patterns, &getContext());
    CondOp::getCanonicalizationPatterns(patterns, &getContext());
    addElementPatterns(patterns);
    if (failed(applyOpPatternsGreedily(operations, std::move(patterns),
                                       GreedyRewriteConfig()
                                           .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
                                           .setStrictness(GreedyRewriteStrictness::ExistingAndNewOps))))
      signalPassFailure();
  }
};

} // namespace
