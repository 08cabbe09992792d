#include "codegen/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace calque::codegen {

namespace {

struct LowerElementwise : OpInterfaceRewritePattern<ir::ElementwiseOpInterface> {
  LowerElementwise(MLIRContext *mlirContext, LoweringContext &context) : OpInterfaceRewritePattern(mlirContext), context(context) {}

  LogicalResult matchAndRewrite(ir::ElementwiseOpInterface op, PatternRewriter &rewriter) const override {
    LinalgBuilder builder(rewriter, op.getLoc());
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<Value> inputs(op->getOperands());
    SmallVector<AffineMap> maps;
    for (Value input : inputs)
      maps.push_back(builder.broadcastMap(LinalgBuilder::shapeOf(input), type.getShape()));
    if (isa<ir::DivOp>(op) && isa<IntegerType>(type.getElementType()))
      checkDivisor(builder, op, inputs[1]);
    rewriter.replaceOp(op, builder.parallel(type.getShape(), type.getElementType(), inputs, maps,
                                            [&](ir::ScalarBuilder &scalar, ValueRange elements) { return op.buildScalar(scalar, elements); }));
    return success();
  }

  void checkDivisor(LinalgBuilder &builder, Operation *op, Value divisor) const {
    int32_t site = context.addSite(Site::Kind::DivisionByZero, op);
    // An empty result divides nothing, whatever the divisors are.
    if (cast<RankedTensorType>(op->getResult(0).getType()).getNumElements() == 0)
      return;
    Value flat = builder.reshape(divisor, {LinalgBuilder::typeOf(divisor).getNumElements()});
    builder.loopNest(LinalgBuilder::shapeOf(flat), {}, [&](OpBuilder &inner, ValueRange indices, ValueRange) {
      ir::ScalarBuilder scalar(inner, builder.location);
      Value element = tensor::ExtractOp::create(inner, builder.location, flat, indices);
      Value isZero = scalar.equal(element, scalar.constant(0, element));
      scf::IfOp::create(inner, builder.location, isZero, [&](OpBuilder &then, Location location) {
        ir::ScalarBuilder wide(then, location);
        Value zero = wide.constant(0, then.getI64Type());
        context.fail(then, location, site, zero, zero);
        scf::YieldOp::create(then, location);
      });
      return SmallVector<Value>();
    });
  }

  LoweringContext &context;
};

} // namespace

void populateElementwiseLowering(RewritePatternSet &patterns, LoweringContext &context) {
  patterns.add<LowerElementwise>(patterns.getContext(), context);
}

} // namespace calque::codegen
