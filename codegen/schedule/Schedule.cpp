// Chooses a kernel for each linalg operation on buffers.
#include "codegen/Passes.h"
#include "codegen/Pipeline.h"
#include "codegen/schedule/Kernels.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_SCHEDULELOOPS
#include "codegen/Passes.h.inc"

namespace {

bool touches(Operation *op, Value root) {
  return op
      ->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (isa<MemRefType>(operand.getType()) && rootBuffer(operand) == root && !isa<ViewLikeOpInterface>(inner))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace

linalg::FillOp fillBefore(linalg::LinalgOp op) {
  Value buffer = op.getDpsInits()[0], root = rootBuffer(buffer);
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(before); fill && fill.getOutputs()[0] == buffer)
      return fill;
    if (touches(before, root))
      return {};
  }
  return {};
}

namespace {

void schedule(linalg::LinalgOp op, const Target &target) {
  OpBuilder builder(op);
  FailureOr<Nest> nest = Nest::of(op, builder);
  if (failed(nest) || nest->hasReduction())
    op->getParentOfType<func::FuncOp>()->setAttr(kReductionAttr, builder.getUnitAttr());
  // An operation without iterations writes nothing.
  if (succeeded(nest) && nest->iterations() == 0)
    return op.erase();
  if (failed(nest) || !VectorBuilder::canVectorize(*nest))
    return; // plain loops
  Schedule kernel{builder, target, Value()};
  linalg::FillOp fill;
  if (nest->hasReduction() && nest->outputs.size() == 1 && (fill = fillBefore(op)))
    kernel.initial = fill.getInputs()[0];
  if (!emitContraction(kernel, *nest))
    emitVectorNest(kernel, *nest);
  op.erase();
  if (fill)
    fill.erase();
}

struct ScheduleLoops : impl::ScheduleLoopsBase<ScheduleLoops> {
  void runOnOperation() override {
    if (!isKernel(getOperation()))
      return;
    // Fills come last, because a reduction may make its fill needless.
    for (bool fills : {false, true}) {
      SmallVector<linalg::LinalgOp> operations;
      getOperation().walk([&](linalg::LinalgOp op) {
        if (isa<linalg::FillOp>(op) == fills)
          operations.push_back(op);
      });
      for (linalg::LinalgOp op : operations)
        schedule(op, Target::of(getOperation()));
    }
    getOperation().walk([&](linalg::LinalgOp) { ++left; });
  }
};

} // namespace

} // namespace calque::codegen
