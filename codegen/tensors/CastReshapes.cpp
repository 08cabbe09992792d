#include "codegen/Passes.h"
#include "codegen/schedule/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_CASTRESHAPES
#include "codegen/Passes.h.inc"

namespace {

struct CastReshapes : impl::CastReshapesBase<CastReshapes> {
  void runOnOperation() override {
    SmallVector<Operation *> reshapes;
    getOperation().walk([&](Operation *op) {
      if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
        reshapes.push_back(op);
    });
    for (Operation *op : llvm::reverse(reshapes)) {
      if (!op->use_empty()) {
        OpBuilder builder(op);
        op->getResult(0).replaceAllUsesWith(asCast(builder, op->getResult(0)));
      }
      op->erase();
    }
  }
};

} // namespace
} // namespace calque::codegen
