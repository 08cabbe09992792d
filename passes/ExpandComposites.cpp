#include "passes/Passes.h"

#include "mlir/IR/Builders.h"

namespace calque {
#define GEN_PASS_DEF_EXPANDCOMPOSITES
#include "passes/Passes.h.inc"
} // namespace calque

using namespace mlir;

namespace {
struct ExpandComposites : calque::impl::ExpandCompositesBase<ExpandComposites> {
  void runOnOperation() override {
    SmallVector<calque::ir::CompositeOpInterface> composites;
    // Composites in a region of another one are skipped: the outer one's expansion clones them, and the clones are
    // expanded.
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto composite = dyn_cast<calque::ir::CompositeOpInterface>(op);
      if (!composite)
        return WalkResult::advance();
      composites.push_back(composite);
      return WalkResult::skip();
    });
    // An expansion may contain composites itself.
    while (!composites.empty()) {
      calque::ir::CompositeOpInterface op = composites.pop_back_val();
      OpBuilder builder(op);
      struct Listener : OpBuilder::Listener {
        SmallVectorImpl<calque::ir::CompositeOpInterface> &composites;
        explicit Listener(SmallVectorImpl<calque::ir::CompositeOpInterface> &composites) : composites(composites) {}
        static bool isInside(Operation *op) { return isa<calque::ir::CompositeOpInterface>(op->getParentOp()); }
        void notifyOperationInserted(Operation *inserted, OpBuilder::InsertPoint) override {
          if (auto composite = dyn_cast<calque::ir::CompositeOpInterface>(inserted); composite && !isInside(inserted))
            composites.push_back(composite);
        }
      } listener(composites);
      builder.setListener(&listener);
      op->replaceAllUsesWith(op.expand(builder));
      op->erase();
    }
  }
};
} // namespace
