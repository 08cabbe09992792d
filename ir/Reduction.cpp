// The rules of reductions, and the expansions of the composite ones.
#include "ir/BatchRule.h"
#include "ir/ElementType.h"
#include "ir/GradientRule.h"
#include "schema/TypeRules.h"

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

// Equal extremes share the cotangent equally. NaN is the extreme of terms one of which is NaN and equals none of them:
// then all gradients are NaN, as in JAX and TensorFlow.
template <typename Op> void extremeVjp(Op op, OpBuilder &builder, Value g, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, op.getLoc(), op.getResult());
  Value x = op.getX();
  if (normalAxes(op.getAxes(), x).empty())
    return operandCotangents.assign(1, g);
  Value extreme = withDims(rule, op.getResult(), x, op.getAxes(), op.getKeepdims());
  Value share = withDims(rule, g, x, op.getAxes(), op.getKeepdims());
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  Value isExtreme = rule.create<EqualOp>(x, extreme);
  Value ones = rule.create<CastOp>(isExtreme, TypeAttr::get(element));
  Value count = rule.create<SumOp>(ones, normalAxes(op.getAxes(), x), true);
  Value zero = rule.constantLike(0, count), nan = rule.constantLike(std::numeric_limits<double>::quiet_NaN(), count);
  Value rest = rule.create<SelectOp>(rule.create<GreaterOp>(count, zero), zero, nan);
  operandCotangents.assign(1, rule.create<SelectOp>(isExtreme, rule.create<DivOp>(share, count), rest));
}

// x minus its largest element over axes, and the exponentials of that. The shift is a constant to derivatives, because
// its derivative in a quotient or a logarithm of exponentials is 0.
//
// Infinity minus infinity is NaN. This is right for quotients, which have no limit where an element is infinity or all
// are minus infinity: through the sum, all of them are NaN, as in NumPy, JAX and TensorFlow. A logarithm of the sum is
// infinite there: for it, `ofSum`, a shift of 0 takes the place of an infinite one.
struct Exponentials {
  Exponentials(GradientRule &rule, Value x, ArrayRef<int64_t> axes, bool isDifferentiated, bool ofSum = false)
      : rule(rule), axes(axes) {
    shift = rule.create<ReduceMaxOp>(x, axes, true);
    if (isDifferentiated)
      shift = rule.create<StopGradientOp>(shift);
    if (ofSum) {
      Value infinity = rule.constantLike(std::numeric_limits<double>::infinity(), x);
      Value isInfinite = rule.create<EqualOp>(rule.create<AbsOp>(shift), infinity);
      shift = rule.create<SelectOp>(isInfinite, rule.constantLike(0, x), shift);
    }
    shifted = rule.create<SubOp>(x, shift);
    exponentials = rule.create<ExpOp>(shifted);
  }
  Value sum() { return rule.create<SumOp>(exponentials, axes, true); }
  Value quotient() { return rule.create<DivOp>(exponentials, sum()); }

  GradientRule &rule;
  SmallVector<int64_t> axes;
  Value shift, shifted, exponentials;
};

// The derivative of logsumexp with respect to each element of x. Through x - max it is exact for any magnitude of x;
// exp(x - logsumexp(x)) has the rounding error of a large logsumexp.
Value softmaxOver(GradientRule &rule, Value x, ArrayRef<int64_t> axes) {
  if (axes.size() == 1)
    return rule.create<SoftmaxOp>(x, axes[0]);
  return Exponentials(rule, x, axes, true).quotient();
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

// For each element the product of the others that are reduced with it. The products before it and behind it divide by
// nothing, so that zeros have derivatives, to any order.
static Value productOfOthers(GradientRule &rule, Value x, ArrayRef<int64_t> axes) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank(), first = rank - static_cast<int64_t>(axes.size());
  if (axes.empty())
    return rule.create<BroadcastLikeOp>(rule.constantLike(1, x), x);
  auto exclusive = [&](Value value, int64_t axis) -> Value {
    Value before = rule.create<CumProdOp>(value, axis, true, false),
          behind = rule.create<CumProdOp>(value, axis, true, true);
    return rule.create<MulOp>(before, behind);
  };
  if (axes.size() == 1)
    return exclusive(x, axes[0]);
  SmallVector<int64_t> order, inverse(rank);
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(axes, i))
      order.push_back(i);
  llvm::append_range(order, axes);
  for (auto [i, axis] : llvm::enumerate(order))
    inverse[axis] = static_cast<int64_t>(i);
  Value last = rule.create<TransposeOp>(x, order), merged = last;
  for (size_t i = 1; i < axes.size(); ++i)
    merged = rule.create<MergeDimsOp>(merged, first);
  return rule.create<TransposeOp>(rule.create<ReshapeLikeOp>(exclusive(merged, first), last), inverse);
}

void ProdOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                      SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  Value g = withDims(rule, cotangents[0], getX(), getAxes(), getKeepdims());
  operandCotangents.assign(1, rule.create<MulOp>(g, productOfOthers(rule, getX(), normalAxes(getAxes(), getX()))));
}

void MeanOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                      SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  Value x = getX(), g = cotangents[0];
  // float16 has no number of elements above 65,504, and a half few of those below.
  const bool isHalf = ElementType(x).isHalf();
  auto as = [&](Value value, Type type) -> Value { return rule.create<CastOp>(value, TypeAttr::get(type)); };
  if (isHalf) {
    g = as(g, builder.getF32Type());
    x = as(x, builder.getF32Type());
  }
  Value share = rule.create<DivOp>(g, rule.create<AxisSizeOp>(x, getAxes()));
  if (isHalf)
    share = as(share, getElementTypeOrSelf(getX()));
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
  SmallVector<int64_t> axes = normalAxes(getAxes(), getX());
  Value g = withDims(rule, cotangents[0], getX(), getAxes(), getKeepdims());
  // logsumexp of a scalar is the scalar itself.
  operandCotangents.assign(1, axes.empty() ? g : rule.create<MulOp>(g, softmaxOver(rule, getX(), axes)));
}

SmallVector<Value> LogSumExpOp::expand(OpBuilder &builder) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> axes = normalAxes(getAxes(), getX());
  Exponentials of(rule, getX(), axes, false, true);
  Value result = rule.create<AddOp>(rule.create<LogOp>(of.sum()), of.shift);
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
  return {Exponentials(rule, getX(), {static_cast<int64_t>(getAxis())}, false).quotient()};
}

void LogSoftmaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                            SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  Value sum = rule.create<SumOp>(cotangents[0], ArrayRef<int64_t>{static_cast<int64_t>(getAxis())}, true);
  Value share = rule.create<MulOp>(rule.create<SoftmaxOp>(getX(), getAxis()), sum);
  operandCotangents.assign(1, rule.create<SubOp>(cotangents[0], share));
}

SmallVector<Value> LogSoftmaxOp::expand(OpBuilder &builder) {
  GradientRule rule(builder, getLoc(), getResult());
  Exponentials of(rule, getX(), {static_cast<int64_t>(getAxis())}, false);
  return {rule.create<SubOp>(of.shifted, rule.create<LogOp>(of.sum()))};
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

void ProdOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> axes = normalAxes(getAxes(), getX());
  if (axes.empty())
    return resultTangents.assign(1, tangents[0]);
  Value weighted = rule.create<MulOp>(tangents[0], productOfOthers(rule, getX(), axes));
  resultTangents.assign(1, rule.create<SumOp>(weighted, axes, getKeepdims()));
}

void LogSumExpOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> axes = normalAxes(getAxes(), getX());
  if (axes.empty())
    return resultTangents.assign(1, tangents[0]);
  Value weighted = rule.create<MulOp>(tangents[0], softmaxOver(rule, getX(), axes));
  resultTangents.assign(1, rule.create<SumOp>(weighted, axes, getKeepdims()));
}

void SoftmaxOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axes[] = {static_cast<int64_t>(getAxis())};
  Value mean = rule.create<SumOp>(rule.create<MulOp>(tangents[0], getResult()), ArrayRef<int64_t>(axes), true);
  resultTangents.assign(1, rule.create<MulOp>(getResult(), rule.create<SubOp>(tangents[0], mean)));
}

void LogSoftmaxOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  Value weighted = rule.create<MulOp>(tangents[0], rule.create<SoftmaxOp>(getX(), getAxis()));
  Value mean = rule.create<SumOp>(weighted, ArrayRef<int64_t>{static_cast<int64_t>(getAxis())}, true);
  resultTangents.assign(1, rule.create<SubOp>(tangents[0], mean));
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
LogicalResult ProdOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchReduction(*this, rule, results);
}
LogicalResult AnyOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchReduction(*this, rule, results);
}
LogicalResult AllOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
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

LogicalResult LogSoftmaxOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(rule.create<LogSoftmaxOp>(rule[0], rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0))));
  return success();
}

LogicalResult ArgMaxOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(rule.create<ArgMaxOp>(rule[0], rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0))));
  return success();
}

LogicalResult ArgMinOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  results.push_back(rule.create<ArgMinOp>(rule[0], rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0))));
  return success();
}

LogicalResult AxisSizeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  SmallVector<int64_t> axes = rule.shifted(getAxes(), rule.rank(0), true);
  GradientRule constants(rule.builder, getLoc(), getResult());
  results.push_back(rule.repeated(axes.empty() ? constants.constant(1) : rule.create<AxisSizeOp>(rule[0], axes)));
  return success();
}

template <typename Op> static LogicalResult batchSumLike(BatchRule &rule, SmallVectorImpl<Value> &results) {
  Value like = rule.all(1), sum = rule.create<Op>(rule.all(0), rule.aligned(like, rule.rank(0)));
  results.push_back(rule.rank(1) < rule.rank(0) ? rule.create<ReshapeLikeOp>(sum, like) : sum);
  return success();
}

LogicalResult SumLikeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchSumLike<SumLikeOp>(rule, results);
}

LogicalResult StackSumLikeOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchSumLike<StackSumLikeOp>(rule, results);
}

} // namespace calque::ir
