// Gives the math operations their code: polynomials where MLIR has them, instructions where the processor has them, and else
// the C library's functions.
#include "codegen/Pipeline.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace calque::codegen {

LogicalResult lowerMath(Program &program) {
  MLIRContext *context = program.module->getContext();
  // A power's approximation is not exact enough.
  auto isInstruction = [](StringRef name) {
    return name == math::SqrtOp::getOperationName() || name == math::FloorOp::getOperationName() || name == math::AbsFOp::getOperationName() ||
           name == math::FmaOp::getOperationName();
  };
  RewritePatternSet approximations(context);
  populateMathPolynomialApproximationPatterns(approximations,
                                              [&](StringRef name) { return !isInstruction(name) && name != math::PowFOp::getOperationName(); });
  if (failed(applyPatternsGreedily(*program.module, std::move(approximations))))
    return failure();

  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  target.addDynamicallyLegalDialect<math::MathDialect>(
      [&](Operation *op) { return isInstruction(op->getName().getStringRef()) || !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())); });
  RewritePatternSet calls(context);
  populateMathToLibmConversionPatterns(calls);
  return applyPartialConversion(*program.module, target, std::move(calls));
}

} // namespace calque::codegen
