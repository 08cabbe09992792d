// Lowers math operations of float32 to vector code of ours, else to instructions of the processor, else to calls of the
// C library.
#include "codegen/Float32Functions.h"
#include "codegen/NativeCode.h"
#include "codegen/Target.h"
#include "ir/Opaque.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace calque::codegen {

LogicalResult lowerMath(ModuleOp module) {
  MLIRContext *context = module.getContext();
  // MLIR would lower these to llvm.fmuladd, which leaves the choice to LLVM. makeTargetMachine takes that choice from
  // LLVM, so the instruction is chosen here.
  if (Target::host().fma)
    module->walk([](vector::FMAOp op) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(
          math::FmaOp::create(builder, op.getLoc(), op.getLhs(), op.getRhs(), op.getAcc()).getResult());
      op.erase();
    });
  auto isInstruction = [](StringRef name) {
    return name == math::SqrtOp::getOperationName() || name == math::FloorOp::getOperationName() ||
           name == math::AbsFOp::getOperationName() || name == math::FmaOp::getOperationName() ||
           name == math::CopySignOp::getOperationName();
  };
  SmallVector<Operation *> functions;
  module->walk([&](Operation *op) {
    if (isa_and_present<math::MathDialect>(op->getDialect()))
      functions.push_back(op);
  });
  for (Operation *op : functions) {
    OpBuilder builder(op);
    if (Value value = emitFloat32Function(builder, op, Target::host().fma)) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  }

  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addDynamicallyLegalDialect<math::MathDialect>([&](Operation *op) {
    return isInstruction(op->getName().getStringRef()) ||
           !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  });
  RewritePatternSet calls(context);
  populateMathToLibmConversionPatterns(calls);
  if (failed(applyPartialConversion(module, target, std::move(calls))))
    return failure();
  // LLVM folds calls with constant arguments too. A call of an opaque function hides the constants until its passes are
  // over.
  OpBuilder declarations = OpBuilder::atBlockBegin(module.getBody());
  module->walk([&](Operation *opaque) {
    if (!ir::isOpaque(opaque))
      return;
    Value value = opaque->getOperand(0);
    Type type = value.getType();
    std::string name = kOpaquePrefix.str() + std::to_string(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
    if (auto vector = dyn_cast<VectorType>(type))
      for (int64_t size : vector.getShape())
        name.append("x").append(std::to_string(size));
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function) {
      function =
          func::FuncOp::create(declarations, module.getLoc(), name, declarations.getFunctionType({type}, {type}));
      function.setPrivate();
    }
    OpBuilder builder(opaque);
    opaque->replaceAllUsesWith(func::CallOp::create(builder, opaque->getLoc(), function, value));
    opaque->erase();
  });
  return success();
}

} // namespace calque::codegen
