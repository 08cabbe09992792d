#include "codegen/Passes.h"
#include "codegen/plan/ProgramAttributes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_RESOLVESIZES
#include "codegen/Passes.h.inc"

namespace {

struct ResolveSizes : impl::ResolveSizesBase<ResolveSizes> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet made(context);
    memref::populateResolveRankedShapedTypeResultDimsPatterns(made);
    throughOperations = std::move(made);
    return success();
  }

  void runOnOperation() override {
    FailureOr<Program> program = programIn(getOperation());
    if (failed(program))
      return signalPassFailure();
    if (program->sizes.areKnown())
      return;
    func::FuncOp function = program->function;
    if (failed(applyPatternsGreedily(function, throughOperations)))
      return signalPassFailure();
    Block &body = function.getBody().front();
    function.walk([&](tensor::DimOp dim) {
      auto argument = dyn_cast<BlockArgument>(dim.getSource());
      std::optional<int64_t> dimension = dim.getConstantIndex();
      if (!argument || argument.getOwner() != &body || argument.getArgNumber() == 0 || !dimension)
        return;
      OpBuilder builder(dim);
      Value size = program->sizes.sizeOf(function, argument.getArgNumber() - 1, *dimension, builder);
      if (!size)
        return;
      dim.replaceAllUsesWith(size);
      dim.erase();
    });
  }

private:
  FrozenRewritePatternSet throughOperations;
};

} // namespace
} // namespace calque::codegen
