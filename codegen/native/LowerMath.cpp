// Lowers math operations to vector code of ours, else to instructions of the processor, else to calls of the
// C library.
#include "codegen/Passes.h"
#include "codegen/lowering/CommonPowers.h"
#include "codegen/lowering/Divisions.h"
#include "codegen/native/Float32Functions.h"
#include "codegen/native/Float64Functions.h"
#include "codegen/native/HalfConversions.h"
#include "codegen/native/IntegerFunctions.h"
#include "codegen/native/NativeCode.h"
#include "codegen/native/SpecialFunctions.h"
#include "codegen/native/Target.h"
#include "ir/Dialect.h"
#include "ir/Opaque.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace calque::codegen {

#define GEN_PASS_DEF_LOWERMATH
#include "codegen/Passes.h.inc"

namespace {

bool isInstruction(Operation *op) {
  return isa<math::SqrtOp, math::FloorOp, math::CeilOp, math::RoundEvenOp, math::AbsFOp, math::FmaOp, math::CopySignOp,
             math::TruncOp>(op);
}

// MLIR would lower these to llvm.fmuladd, which leaves the choice to LLVM. makeTargetMachine takes that choice from
// LLVM, so the instruction is chosen here.
void useFusedMultiplyAdd(Operation *function) {
  function->walk([](vector::FMAOp op) {
    OpBuilder builder(op);
    op.replaceAllUsesWith(math::FmaOp::create(builder, op.getLoc(), op.getLhs(), op.getRhs(), op.getAcc()).getResult());
    op.erase();
  });
}

void useOwnFunctions(Operation *function, bool fma) {
  SmallVector<Operation *> ops;
  function->walk([&](Operation *op) {
    if (isa_and_present<math::MathDialect>(op->getDialect()) ||
        isa<ir::ScalarFunctionOp, arith::CmpFOp, arith::RemFOp, arith::DivSIOp, arith::RemSIOp, arith::DivUIOp,
            arith::RemUIOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp,
            arith::FPToUIOp, arith::ConstantOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder builder(op);
    Value value;
    for (auto *emitFunction : {emitFloat32Function, emitFloat64Function, emitSpecialFunction, emitIntegerFunction,
                               emitDivision, emitHalfConversion})
      if (!value)
        value = emitFunction(builder, op, fma);
    if (value) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  }
}

// LLVM folds calls with constant arguments too. A call of an opaque function hides the constants until its passes are
// over.
void callOpaqueFunctions(Operation *caller, ModuleOp module) {
  OpBuilder declarations = OpBuilder::atBlockBegin(module.getBody());
  caller->walk([&](Operation *opaque) {
    if (!ir::isOpaque(opaque))
      return;
    Value value = opaque->getOperand(0);
    Type type = value.getType();
    std::string name = kOpaquePrefix.str();
    llvm::raw_string_ostream(name) << getElementTypeOrSelf(type); // a function for each type
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
}

struct LowerMath : impl::LowerMathBase<LowerMath> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet made(context);
    populateMathToLibmConversionPatterns(made);
    calls = std::move(made);
    return success();
  }

  void runOnOperation() override {
    bool fma = Target::of(getOperation()).fma;
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addDynamicallyLegalDialect<math::MathDialect>([](Operation *op) {
      return isInstruction(op) || !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
    });
    lower(getOperation(), target, fma);
  }

private:
  // Functions are found in their own module, and parts of programs are modules of their own.
  void lower(ModuleOp module, ConversionTarget &target, bool fma) {
    // Each function is in the CPU's caches until it is done. Declarations of others are added on the way.
    for (Operation *function : llvm::map_to_vector(*module.getBody(), [](Operation &op) { return &op; })) {
      if (auto part = dyn_cast<ModuleOp>(function)) {
        lower(part, target, fma);
        continue;
      }
      if (fma)
        useFusedMultiplyAdd(function);
      SmallVector<math::PowFOp> powers;
      function->walk([&](math::PowFOp op) { powers.push_back(op); });
      llvm::for_each(powers, emitCommonPowers);
      useOwnFunctions(function, fma);
      if (failed(applyPartialConversion(function, target, calls)))
        return signalPassFailure();
      callOpaqueFunctions(function, module);
    }
  }

  FrozenRewritePatternSet calls;
};

} // namespace
} // namespace calque::codegen
