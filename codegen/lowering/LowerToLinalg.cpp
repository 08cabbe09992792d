#include "codegen/Passes.h"
#include "codegen/lowering/CheckProgram.h"
#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/ShapeFunction.h"
#include "codegen/plan/ProgramAttributes.h"
#include "ir/Signs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_LOWERTOLINALG
#include "codegen/Passes.h.inc"

namespace {

struct LowerToLinalg : impl::LowerToLinalgBase<LowerToLinalg> {
  using LowerToLinalgBase::LowerToLinalgBase;

  void runOnOperation() override {
    if (failed(lower()))
      signalPassFailure();
  }

private:
  LogicalResult lower() {
    ModuleOp module = getOperation();
    FailureOr<func::FuncOp> found = tracedProgramIn(module);
    if (failed(found) || failed(checkSignature(*found)))
      return failure();
    func::FuncOp function = *found;
    ir::eraseSigns(function);
    lowerStacks(function);
    Value frame = function.getBody().insertArgument(0u, LLVM::LLVMPointerType::get(&getContext()), function.getLoc());
    LoweringContext context{module, frame, Sizes(function)};
    ProgramSizes sizes;
    for (const Sizes::Symbol &symbol : context.sizes.symbols)
      sizes.inputs.push_back({symbol.argument, static_cast<size_t>(symbol.dimension)});
    sizes.numInputs = function.getBody().getNumArguments() - 1 - sizes.inputs.size();

    if (optimize)
      lowerSmallLoops(function, context);
    makeParts(module, function);
    SmallVector<Type> results(function.getResultTypes());
    if (optimize)
      context.sums = SumsOfParts::in(function.getBody().front());
    RewritePatternSet patterns(&getContext());
    populateLowerings(patterns, context);
    walkAndApplyPatterns(function, std::move(patterns));
    if (context.refused)
      return failure();
    for (Operation *part : context.sums.added)
      part->erase();
    WalkResult left = function.walk([](ir::SchemaOpInterface op) {
      op->emitOpError("has no lowering");
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      return failure();
    if (!sizes.areKnown())
      makeShapeFunction(function, context, results, sizes);
    Operation *terminator = function.getBody().front().getTerminator();
    function.setType(
        FunctionType::get(&getContext(), function.getBody().getArgumentTypes(), terminator->getOperandTypes()));

    setSizes(function, sizes);
    setSites(function,
             llvm::map_to_vector(context.sites, [&](const Site &site) { return toAttribute(site, &getContext()); }));
    numSites += context.sites.size();
    return success();
  }
};

} // namespace
} // namespace calque::codegen
