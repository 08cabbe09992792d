// Fuses elementwise operations on tensors with their readers, where no element is computed twice.
#include "codegen/Pipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace calque::codegen {

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

struct FuseElementwise : PassWrapper<FuseElementwise, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FuseElementwise)
  StringRef getArgument() const final { return "calque-fuse-elementwise"; }
  StringRef getDescription() const final {
    return "Fuse elementwise operations on tensors where nothing is computed twice";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  }
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseOpsFusionPatterns(patterns, isWorthFusing);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, isWorthFusing);
    linalg::populateConstantFoldLinalgOperations(patterns, isWorthFusing);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    getContext().getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), GreedyRewriteConfig().setUseTopDownTraversal())))
      signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createFuseElementwise() { return std::make_unique<FuseElementwise>(); }

} // namespace calque::codegen
