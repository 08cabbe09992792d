// Fuses elementwise operations on tensors with their readers, where no element is computed twice.
#include "codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "codegen/Passes.h.inc"

namespace {

// Whether an operation only moves elements: reading it through its maps costs nothing.
bool onlyMoves(linalg::GenericOp op) { return op.getNumDpsInputs() <= 1 && op.getBody()->without_terminator().empty(); }

// A fused operation has at most this many operations in its body. Each fusion clones the bodies, and LLVM's scheduler
// and register allocator take more than linear time for long ones, so that without a bound a chain costs the square of
// its length. A body of this length has more values than a CPU has registers, and gains nothing from more.
constexpr size_t kLongestBody = 128;

size_t lengthOf(linalg::GenericOp op) { return llvm::range_size(op.getBody()->without_terminator()); }

bool isWorthFusing(OpOperand *operand) {
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!consumer || !producer)
    return operand->get().hasOneUse();
  // MLIR would keep the producer's result as a result of the fused operation, with no meaning for the consumer's
  // reduction loops.
  if (llvm::any_of(producer.getDpsInitsMutable(),
                   [&](OpOperand &init) { return producer.payloadUsesValueFromOperand(&init); }))
    return false;
  // A body that reads a tensor by itself becomes a plain loop, in which a sum would have one accumulator for all terms.
  if (consumer.getNumReductionLoops() && !producer.getBody()->getOps<tensor::ExtractOp>().empty())
    return false;
  if (onlyMoves(producer))
    return true;
  if (lengthOf(producer) + lengthOf(consumer) > kLongestBody)
    return false;
  // With a map that is no permutation, several iterations would compute the same element.
  return operand->get().hasOneUse() && consumer.getMatchingIndexingMap(operand).isPermutation();
}

struct FuseElementwise : impl::FuseElementwiseBase<FuseElementwise> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet made(context);
    linalg::populateElementwiseOpsFusionPatterns(made, isWorthFusing);
    linalg::populateFoldReshapeOpsByExpansionPatterns(made, isWorthFusing);
    linalg::populateConstantFoldLinalgOperations(made, isWorthFusing);
    linalg::GenericOp::getCanonicalizationPatterns(made, context);
    tensor::populateFoldTensorEmptyPatterns(made);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(made, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(made, context);
    context->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(made);
    patterns = std::move(made);
    return success();
  }

  void runOnOperation() override {
    auto count = [&] {
      int64_t found = 0;
      getOperation().walk([&](linalg::LinalgOp) { ++found; });
      return found;
    };
    int64_t before = count();
    if (failed(applyPatternsGreedily(getOperation(), patterns, GreedyRewriteConfig().setUseTopDownTraversal())))
      return signalPassFailure();
    fused += before - count();
  }

private:
  FrozenRewritePatternSet patterns;
};

} // namespace

} // namespace calque::codegen
