// The rules of reductions, and the expansions of the composite ones.
#include "ir/BatchRule.h"
#include "ir/GradientRule.h"
#include "ir/schema/TypeRules.h"

#include <limits>

using namespace mlir;

namespace calque::ir {

namespace {

SmallVector<int64_t> normalAxes(ArrayRef<int64_t> axes, Value x) {
  std::vector<int64_t> result;
  // The verifier has accepted these axes, so there is no fault to report.
  (void)schema::normalizeAxes({axes.data(), axes.size()}, cast<RankedTensorType>(x.getType()).getRank(), true, result);
  return SmallVector<int64_t>(result.begin(), result.end());
}

// A reduction's result, or its cotangent, with the reduced dimensions inserted again with size 1.
Value withDims(GradientRule &rule, Value value, Value x, ArrayRef<int64_t> axes, bool keepdims) {
  SmallVector<int64_t> normal = normalAxes(axes, x);
  if (keepdims || normal.empty())
    return value;
  return rule.create<ExpandDimsOp>(value, normal);
}

// Equal extremes share the cotangent equally.
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

void SumOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                     SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(
      1, rule.create<BroadcastLikeOp>(withDims(rule, cotangents[0], getX(), getAxes(), getKeepdims()), getX()));
}

void ReduceMaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                           SmallVectorImpl<Value> &operandCotangents) {
  extremeVjp(*this, builder, cotangents[0], operandCotangents);
}

void ReduceMinOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                           SmallVectorImpl<Value> &operandCotangents) {
  extremeVjp(*this, builder, cotangents[0], operandCotangents);
}

void MeanOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                      SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  Value share = rule.create<DivOp>(cotangents[0], rule.create<AxisSizeOp>(getX(), getAxes()));
  operandCotangents.assign(
      1, rule.create<BroadcastLikeOp>(withDims(rule, share, getX(), getAxes(), getKeepdims()), getX()));
}

SmallVector<Value> MeanOp::expand(OpBuilder &builder) {
  GradientRule rule(builder, getLoc(), getResult());
  Value sum = rule.create<SumOp>(getX(), getAxes(), getKeepdims());
  return {rule.create<DivOp>(sum, rule.create<AxisSizeOp>(getX(), getAxes()))};
}

void LogSumExpOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                           SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  Value result = withDims(rule, getResult(), getX(), getAxes(), getKeepdims());
  Value g = withDims(rule, cotangents[0], getX(), getAxes(), getKeepdims());
  operandCotangents.assign(1, rule.create<MulOp>(g, rule.create<ExpOp>(rule.create<SubOp>(getX(), result))));
}

SmallVector<Value> LogSumExpOp::expand(OpBuilder &builder) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> axes = normalAxes(getAxes(), getX());
  Value largest = rule.create<ReduceMaxOp>(getX(), axes, true);
  // With an infinite maximum, x - max would be infinity minus infinity. 0 in place of max gives the right infinity.
  Value infinity = rule.constant(std::numeric_limits<double>::infinity());
  Value isInfinite = rule.create<EqualOp>(rule.create<AbsOp>(largest), infinity);
  Value shift = rule.create<SelectOp>(isInfinite, rule.constant(0), largest);
  Value sum = rule.create<SumOp>(rule.create<ExpOp>(rule.create<SubOp>(getX(), shift)), axes, true);
  Value result = rule.create<AddOp>(rule.create<LogOp>(sum), shift);
  if (result.getType() != getResult().getType())
    result = rule.create<ReshapeLikeOp>(result, rule.create<SumOp>(getX(), getAxes(), getKeepdims()));
  return {result};
}

void SoftmaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                         SmallVectorImpl<Value> &operandCotangents) {
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

//===-- Tangents --------------------------------------------------------------------------------===//

namespace {
// The tangents of equal extremes are averaged.
template <typename Op> Value extremeJvp(Op op, OpBuilder &builder, Value tangent) {
  GradientRule rule(builder, op.getLoc(), op.getResult());
  Value x = op.getX();
  SmallVector<int64_t> axes = normalAxes(op.getAxes(), x);
  if (axes.empty())
    return tangent;
  Value isExtreme = rule.create<EqualOp>(x, withDims(rule, op.getResult(), x, op.getAxes(), op.getKeepdims()));
  Value ones = rule.create<CastOp>(isExtreme, TypeAttr::get(cast<RankedTensorType>(x.getType()).getElementType()));
  Value sum = rule.create<SumOp>(rule.mask(isExtreme, tangent), axes, op.getKeepdims());
  return rule.create<DivOp>(sum, rule.create<SumOp>(ones, axes, op.getKeepdims()));
}
} // namespace

void ReduceMaxOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  resultTangents.assign(1, extremeJvp(*this, builder, tangents[0]));
}

void ReduceMinOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  resultTangents.assign(1, extremeJvp(*this, builder, tangents[0]));
}

void LogSumExpOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> axes = normalAxes(getAxes(), getX());
  Value weights =
      rule.create<ExpOp>(rule.create<SubOp>(getX(), withDims(rule, getResult(), getX(), getAxes(), getKeepdims())));
  Value weighted = rule.create<MulOp>(tangents[0], weights);
  resultTangents.assign(1, axes.empty() ? weighted : rule.create<SumOp>(weighted, axes, getKeepdims()));
}

void SoftmaxOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axes[] = {static_cast<int64_t>(getAxis())};
  Value mean = rule.create<SumOp>(rule.create<MulOp>(tangents[0], getResult()), ArrayRef<int64_t>(axes), true);
  resultTangents.assign(1, rule.create<MulOp>(getResult(), rule.create<SubOp>(tangents[0], mean)));
}

//===-- Batching --------------------------------------------------------------------------------===//

namespace {
// Reduces the same axes behind the mapped axis.
template <typename Op> LogicalResult batchReduction(Op op, BatchRule &rule, SmallVectorImpl<Value> &results) {
  SmallVector<int64_t> axes = rule.shifted(op.getAxes(), rule.rank(0), true);
  // A scalar behind the mapped axis has no axes to reduce, and an empty list would mean all: it is its own result.
  results.push_back(axes.empty() ? rule[0] : rule.template create<Op>(rule[0], axes, op.getKeepdims()));
  return success();
}
} // namespace

LogicalResult SumOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchReduction(*this, rule, results);
}
LogicalResult ReduceMaxOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchReduction(*this, rule, results);
}
LogicalResult ReduceMinOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchReduction(*this, rule, results);
}
LogicalResult MeanOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchReduction(*this, rule, results);
}
LogicalResult LogSumExpOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchReduction(*this, rule, results);
}

LogicalResult SoftmaxOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(rule.create<SoftmaxOp>(rule[0], rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0))));
  return success();
}

LogicalResult ArgMaxOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(rule.create<ArgMaxOp>(rule[0], rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0))));
  return success();
}

LogicalResult AxisSizeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  SmallVector<int64_t> axes = rule.shifted(getAxes(), rule.rank(0), true);
  GradientRule constants(rule.builder, getLoc(), getResult());
  results.push_back(rule.repeated(axes.empty() ? constants.constant(1) : rule.create<AxisSizeOp>(rule[0], axes)));
  return success();
}

LogicalResult SumLikeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  Value like = rule.all(1), sum = rule.create<SumLikeOp>(rule.all(0), rule.aligned(like, rule.rank(0)));
  results.push_back(rule.rank(1) < rule.rank(0) ? rule.create<ReshapeLikeOp>(sum, like) : sum);
  return success();
}

} // namespace calque::ir
