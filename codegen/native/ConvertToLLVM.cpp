#include "codegen/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_CONVERTTOLLVM
#include "codegen/Passes.h.inc"

namespace {

struct ConvertToLLVM : impl::ConvertToLLVMBase<ConvertToLLVM> {
  LogicalResult initialize(MLIRContext *context) override {
    LowerToLLVMOptions options(context);
    options.useBarePtrCallConv = true;
    converter = std::make_shared<LLVMTypeConverter>(context, options);
    // All that is left of bfloat16 are its bits (HalfConversions.h). LLVM would compute with it, and call functions to
    // do so.
    converter->addConversion([](BFloat16Type type) { return IntegerType::get(type.getContext(), 16); });
    converter->addConversion([this](VectorType type) -> std::optional<Type> {
      if (!type.getElementType().isBF16())
        return std::nullopt;
      return converter->convertType(type.clone(IntegerType::get(type.getContext(), 16)));
    });
    RewritePatternSet made(context);
    populateMathToLLVMConversionPatterns(*converter, made);
    populateFinalizeMemRefToLLVMConversionPatterns(*converter, made);
    populateFuncToLLVMConversionPatterns(*converter, made);
    vector::populateVectorMaskMaterializationPatterns(made, /*force32BitVectorIndices=*/false);
    populateVectorToLLVMConversionPatterns(*converter, made, /*reassociateFPReductions=*/false,
                                           /*force32BitVectorIndices=*/false);
    cf::populateControlFlowToLLVMConversionPatterns(*converter, made);
    arith::populateCeilFloorDivExpandOpsPatterns(made);
    arith::populateArithToLLVMConversionPatterns(*converter, made);
    patterns = std::move(made);
    return success();
  }

  void runOnOperation() override {
    LLVMConversionTarget target(getContext());
    // Each function is in the CPU's caches until it is done.
    for (Operation *function : llvm::map_to_vector(*getOperation().getBody(), [](Operation &op) { return &op; }))
      if (failed(applyPartialConversion(function, target, patterns)))
        return signalPassFailure();
  }

private:
  std::shared_ptr<LLVMTypeConverter> converter; // the patterns refer to it
  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace calque::codegen
