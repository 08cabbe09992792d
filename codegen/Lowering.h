// From the dialect to linalg on tensors, one family a file.
#ifndef CALQUE_CODEGEN_LOWERING_H
#define CALQUE_CODEGEN_LOWERING_H

#include "codegen/LinalgBuilder.h"
#include "codegen/interface/Compiler.h"
#include "ir/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace calque::codegen {

// What lowering needs to know of the function, and what it tells the caller about it.
struct LoweringContext {
  mlir::ModuleOp module;
  mlir::Value frame; // the call frame, the function's first argument
  Sizes sizes;
  std::vector<Site> sites = {};
  bool refused = false;

  int32_t addSite(Site::Kind kind, mlir::Operation *op, llvm::StringRef text = "");
  // Has the function's caller check that two sizes are equal, where that is not known already; from here on they are
  // one. Returns the size, the known one of two.
  Size equal(mlir::Operation *op, Sizes::Named found, Sizes::Named expected);
  Size equal(mlir::Operation *op, unsigned operand, int64_t dimension, unsigned otherOperand, int64_t otherDimension) {
    return equal(op, sizes.named(op, operand, dimension), sizes.named(op, otherOperand, otherDimension));
  }
  void atLeast(mlir::Operation *op, unsigned operand, int64_t dimension, Size bound);
  // Refuses an operation that no code can be made for. Returns null.
  mlir::Value refuse(mlir::Operation *op, const llvm::Twine &why);
  // Calls calque_rt_fail(frame, site, value, bound).
  void fail(mlir::OpBuilder &builder, mlir::Location location, int32_t site, mlir::Value value, mlir::Value bound);
};

void emitFail(mlir::OpBuilder &builder, mlir::Location location, mlir::Value frame, int32_t site, mlir::Value value,
              mlir::Value bound);

// An axis as ODS gives it, whose accessors have no sign, counted from the front.
inline int64_t normalAxis(uint64_t axis, int64_t rank) {
  int64_t value = static_cast<int64_t>(axis);
  return value < 0 ? value + rank : value;
}

// What a shape attribute that may leave sizes open has for a dimension.
inline bool isUnknown(int64_t size) { return size == kDynamic || mlir::ShapedType::isDynamic(size); }

// "model.cpp:12"
std::string lineOf(mlir::Location location);

void populateElementwiseLowering(mlir::RewritePatternSet &patterns, LoweringContext &context);
void populateStructuredLowering(mlir::RewritePatternSet &patterns, LoweringContext &context);
void populateMovementLowering(mlir::RewritePatternSet &patterns, LoweringContext &context);
void populateEffectsLowering(mlir::RewritePatternSet &patterns, LoweringContext &context);

// A pattern from a function (LinalgBuilder &, Op) -> Value that builds the replacement of the operation's one result.
template <typename Op> class LowerOp : public mlir::OpRewritePattern<Op> {
public:
  using Build = mlir::Value (*)(LinalgBuilder &builder, Op op, LoweringContext &context);
  LowerOp(mlir::MLIRContext *mlirContext, Build build, LoweringContext &context)
      : mlir::OpRewritePattern<Op>(mlirContext), build(build), context(context) {}
  llvm::LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter &rewriter) const override {
    LinalgBuilder builder(rewriter, op.getLoc(), context.sizes);
    mlir::Value lowered = context.refused ? mlir::Value() : build(builder, op, context);
    if (!lowered)
      return mlir::failure();
    rewriter.replaceOp(op, builder.typed(lowered, op->getResult(0).getType()));
    return mlir::success();
  }

private:
  Build build;
  LoweringContext &context;
};

template <typename Op>
void addLowering(mlir::RewritePatternSet &patterns, LoweringContext &context,
                 mlir::Value (*build)(LinalgBuilder &, Op, LoweringContext &)) {
  patterns.add<LowerOp<Op>>(patterns.getContext(), build, context);
}

} // namespace calque::codegen
#endif
