#include "codegen/Passes.h"
#include "codegen/plan/ProgramAttributes.h"
#include "codegen/schedule/Nest.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_RESOLVEBUFFERSIZES
#include "codegen/Passes.h.inc"

namespace {

struct ResolveBufferSizes : impl::ResolveBufferSizesBase<ResolveBufferSizes> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet made(context);
    populateAffineToStdConversionPatterns(made);
    arithmetic = std::move(made);
    return success();
  }

  void runOnOperation() override {
    FailureOr<Program> program = programIn(getOperation());
    if (failed(program))
      return signalPassFailure();
    if (program->sizes.areKnown())
      return;
    program->function.walk([&](memref::DimOp dim) {
      OpBuilder builder(dim);
      std::optional<int64_t> dimension = dim.getConstantIndex();
      if (!dimension)
        return;
      OpFoldResult size = sizeOf(builder, dim.getSource(), *dimension);
      if (auto value = dyn_cast<Value>(size); value && value.getDefiningOp<memref::DimOp>())
        return;
      dim.replaceAllUsesWith(getValueOrCreateConstantIndexOp(builder, dim.getLoc(), size));
      dim.erase();
    });
    walkAndApplyPatterns(program->function, arithmetic);
  }

private:
  FrozenRewritePatternSet arithmetic;
};

} // namespace
} // namespace calque::codegen
