// Reductions: reverse rules and what the composite ones stand for.
#include "ir/GradientRule.h"
#include "ir/schema/TypeRules.h"

#include <limits>

using namespace mlir;

namespace calque::ir {

namespace {

SmallVector<int64_t> normalAxes(ArrayRef<int64_t> axes, Value x) {
  std::vector<int64_t> result;
  // The verifier has seen these axes.
  (void)schema::normalizeAxes({axes.data(), axes.size()}, cast<RankedTensorType>(x.getType()).getRank(), true, result);
  return SmallVector<int64_t>(result.begin(), result.end());
}

// A reduction's result, or its cotangent, with the reduced dimensions back as size 1.
Value withDims(GradientRule &rule, Value value, Value x, ArrayRef<int64_t> axes, bool keepdims) {
  SmallVector<int64_t> normal = normalAxes(axes, x);
  if (keepdims || normal.empty())
    return value;
  return rule.create<ExpandDimsOp>(value, normal);
}

// Of equal extremes each takes the same share.
template <typename Op> void extremeVjp(Op op, OpBuilder &builder, Value g, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, op.getLoc(), op.getResult());
  Value x = op.getX();
  Value extreme = withDims(rule, op.getResult(), x, op.getAxes(), op.getKeepdims());
  Value share = withDims(rule, g, x, op.getAxes(), op.getKeepdims());
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  Value isExtreme = rule.create<EqualOp>(x, extreme);
  Value ones = rule.create<CastOp>(isExtreme, TypeAttr::get(element));
  Value count = rule.create<SumOp>(ones, normalAxes(op.getAxes(), x), true);
  operandCotangents.assign(1, rule.mask(isExtreme, rule.create<DivOp>(share, count)));
}

} // namespace

void SumOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, rule.create<BroadcastLikeOp>(withDims(rule, cotangents[0], getX(), getAxes(), getKeepdims()), getX()));
}

void ReduceMaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  extremeVjp(*this, builder, cotangents[0], operandCotangents);
}

void ReduceMinOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  extremeVjp(*this, builder, cotangents[0], operandCotangents);
}

void MeanOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  Value share = rule.create<DivOp>(cotangents[0], rule.create<AxisSizeOp>(getX(), getAxes()));
  operandCotangents.assign(1, rule.create<BroadcastLikeOp>(withDims(rule, share, getX(), getAxes(), getKeepdims()), getX()));
}

SmallVector<Value> MeanOp::expand(OpBuilder &builder) {
  GradientRule rule(builder, getLoc(), getResult());
  Value sum = rule.create<SumOp>(getX(), getAxes(), getKeepdims());
  return {rule.create<DivOp>(sum, rule.create<AxisSizeOp>(getX(), getAxes()))};
}

void LogSumExpOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  Value result = withDims(rule, getResult(), getX(), getAxes(), getKeepdims());
  Value g = withDims(rule, cotangents[0], getX(), getAxes(), getKeepdims());
  operandCotangents.assign(1, rule.create<MulOp>(g, rule.create<ExpOp>(rule.create<SubOp>(getX(), result))));
}

SmallVector<Value> LogSumExpOp::expand(OpBuilder &builder) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> axes = normalAxes(getAxes(), getX());
  Value largest = rule.create<ReduceMaxOp>(getX(), axes, true);
  // An infinite maximum would make infinity minus infinity; 0 in its place gives the right infinity.
  Value infinity = rule.constant(std::numeric_limits<double>::infinity());
  Value isInfinite = rule.create<EqualOp>(rule.create<AbsOp>(largest), infinity);
  Value shift = rule.create<SelectOp>(isInfinite, rule.constant(0), largest);
  Value sum = rule.create<SumOp>(rule.create<ExpOp>(rule.create<SubOp>(getX(), shift)), axes, true);
  Value result = rule.create<AddOp>(rule.create<LogOp>(sum), shift);
  if (result.getType() != getResult().getType())
    result = rule.create<ReshapeLikeOp>(result, rule.create<SumOp>(getX(), getAxes(), getKeepdims()));
  return {result};
}

void SoftmaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axes[] = {static_cast<int64_t>(getAxis())};
  Value inner = rule.create<SumOp>(rule.create<MulOp>(cotangents[0], getResult()), ArrayRef<int64_t>(axes), true);
  operandCotangents.assign(1, rule.create<MulOp>(getResult(), rule.create<SubOp>(cotangents[0], inner)));
}

SmallVector<Value> SoftmaxOp::expand(OpBuilder &builder) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axes[] = {static_cast<int64_t>(getAxis())};
  Value largest = rule.create<ReduceMaxOp>(getX(), ArrayRef<int64_t>(axes), true);
  Value exponentials = rule.create<ExpOp>(rule.create<SubOp>(getX(), largest));
  return {rule.create<DivOp>(exponentials, rule.create<SumOp>(exponentials, ArrayRef<int64_t>(axes), true))};
}

} // namespace calque::ir
