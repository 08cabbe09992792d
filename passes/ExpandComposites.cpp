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
    getOperation().walk([&](calque::ir::CompositeOpInterface op) { composites.push_back(op); });
    // What an expression is made of may be composite itself.
    while (!composites.empty()) {
      calque::ir::CompositeOpInterface op = composites.pop_back_val();
      OpBuilder builder(op);
      struct Listener : OpBuilder::Listener {
        SmallVectorImpl<calque::ir::CompositeOpInterface> &composites;
        explicit Listener(SmallVectorImpl<calque::ir::CompositeOpInterface> &composites) : composites(composites) {}
        void notifyOperationInserted(Operation *inserted, OpBuilder::InsertPoint) override {
          if (auto composite = dyn_cast<calque::ir::CompositeOpInterface>(inserted))
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
