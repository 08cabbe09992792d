#include "codegen/lowering/Indices.h"
#include "codegen/lowering/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace calque::codegen {

namespace {

struct LowerElementwise : OpInterfaceRewritePattern<ir::ElementwiseOpInterface> {
  LowerElementwise(MLIRContext *mlirContext, LoweringContext &context)
      : OpInterfaceRewritePattern(mlirContext), context(context) {}

  LogicalResult matchAndRewrite(ir::ElementwiseOpInterface op, PatternRewriter &rewriter) const override {
    LinalgBuilder builder(rewriter, op.getLoc(), context.sizes);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (Value sum = lowerAddition(builder, op, context)) {
      rewriter.replaceOp(op, builder.typed(sum, type));
      return success();
    }
    SizeList shape = resultSizes(op, type.getRank());
    SmallVector<Value> inputs(op->getOperands());
    SmallVector<AffineMap> maps;
    for (Value input : inputs)
      maps.push_back(builder.broadcastMap(LinalgBuilder::shapeOf(input), type.getShape()));
    if (op->hasTrait<ir::MayFailOnIntegers>() && isa<IntegerType>(type.getElementType()))
      checkDivisor(builder, op, inputs[1], shape);
    Value lowered = builder.parallel(
        shape, type.getElementType(), inputs, maps,
        [&](ir::ScalarBuilder &scalar, ValueRange elements) { return op.buildScalar(scalar, elements); });
    rewriter.replaceOp(op, builder.typed(lowered, type));
    return success();
  }

  // The sizes of the operands after broadcasting: a size of 1 gives way to any other, and the others are equal.
  SizeList resultSizes(Operation *op, int64_t rank) const {
    SizeList shape(rank, context.sizes.constant(1));
    SmallVector<std::optional<Sizes::Named>> from(rank);
    for (unsigned operand = 0; operand < op->getNumOperands(); ++operand) {
      ArrayRef<int64_t> dims = LinalgBuilder::shapeOf(op->getOperand(operand));
      for (auto [i, size] : llvm::enumerate(dims)) {
        size_t dimension = rank - dims.size() + i;
        if (size == 1)
          continue;
        Sizes::Named named = context.sizes.named(op, operand, i);
        shape[dimension] = from[dimension] ? context.equal(op, *from[dimension], named) : named.size;
        if (!from[dimension] || constantOf(named.size))
          from[dimension] = named;
      }
    }
    return shape;
  }

  void checkDivisor(LinalgBuilder &builder, Operation *op, Value divisor, ArrayRef<Size> shape) const {
    int32_t site = context.addSite(Site::Kind::DivisionByZero, op);
    Size count = builder.sizes.product(shape);
    // An empty result means that no division takes place, so no divisor is wrong.
    if (constantOf(count) == 0)
      return;
    Value flat = builder.flatten(divisor);
    Value bound = builder.valueOf(builder.sizesOf(flat)[0]);
    if (!constantOf(count)) {
      Value isEmpty = arith::CmpIOp::create(builder.builder, builder.location, arith::CmpIPredicate::eq,
                                            builder.valueOf(count), builder.index(0));
      bound = arith::SelectOp::create(builder.builder, builder.location, isEmpty, builder.index(0), bound);
    }
    Size search = rowsToSearch(builder, Size(bound), {flat}, {builder.builder.getMultiDimIdentityMap(1)},
                               [&](ir::ScalarBuilder &scalar, ValueRange element) {
                                 return scalar.equal(element[0], scalar.constant(0, element[0]));
                               });
    builder.loopNest({search}, {}, [&](OpBuilder &inner, ValueRange indices, ValueRange) {
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
