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
  std::vector<Site> sites;

  int32_t addSite(Site::Kind kind, mlir::Operation *op, llvm::StringRef text = "");
  // Calls calque_rt_fail(frame, site, value, bound).
  void fail(mlir::OpBuilder &builder, mlir::Location location, int32_t site, mlir::Value value, mlir::Value bound);
};

// An axis as ODS gives it, whose accessors have no sign, counted from the front.
inline int64_t normalAxis(uint64_t axis, int64_t rank) {
  int64_t value = static_cast<int64_t>(axis);
  return value < 0 ? value + rank : value;
}

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
    LinalgBuilder builder(rewriter, op.getLoc());
    rewriter.replaceOp(op, build(builder, op, context));
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
