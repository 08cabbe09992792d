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

struct SimplifyLoops : calque::impl::SimplifyLoopsBase<SimplifyLoops> {
  using SimplifyLoopsBase::SimplifyLoopsBase;

  void runOnOperation() override {
    SmallVector<Operation *> operations;
    getOperation().walk([&](Operation *op) {
      if (isa<WhileOp>(op) || (isa<CondOp, GatherOp>(op) && op->getParentOfType<WhileOp>()))
        operations.push_back(op);
    });
    if (operations.empty())
      return;
    RewritePatternSet patterns(&getContext());
    WhileOp::getCanonicalizationPatterns(patterns, &getContext());
    CondOp::getCanonicalizationPatterns(patterns, &getContext());
    addElementPatterns(patterns);
    if (failed(applyOpPatternsGreedily(
            operations, std::move(patterns),
            GreedyRewriteConfig().setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled))))
      signalPassFailure();
  }
};

} // namespace
