// The rules of sums and products along an axis.
#include "ir/BatchRule.h"
#include "ir/GradientRule.h"

using namespace mlir;

namespace calque::ir {

namespace {

// What stands before each element in the order in which an axis is run through, and `fill` at the first.
Value shifted(GradientRule &rule, Value x, int64_t axis, bool reverse, double fill) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank(), dimension = schema::normalAxis(axis, rank);
  SmallVector<int64_t> low(rank), high(rank), starts(rank), ones(rank, 1);
  (reverse ? high : low)[dimension] = 1;
  starts[dimension] = reverse;
  schema::Scalar value = fill;
  Value padded = rule.create<PadOp>(x, low, high, value);
  return rule.create<SliceLikeOp>(padded, x, starts, ones);
}

} // namespace

void CumSumOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                        SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, rule.create<CumSumOp>(cotangents[0], getAxis(), getExclusive(), !getReverse()));
}

// With C[k] = x[k] C[k - 1], what the cotangent of C[k] is in all is g[k] + x[k + 1] times that of C[k + 1].
void CumProdOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                         SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axis = getAxis();
  bool reverse = getReverse();
  Value g = cotangents[0];
  if (getExclusive())
    g = shifted(rule, g, axis, !reverse, 0);
  Value total = rule.create<LinearRecurrenceOp>(shifted(rule, getX(), axis, !reverse, 0), g, axis, !reverse);
  Value before = getExclusive() ? Value(getResult()) : rule.create<CumProdOp>(getX(), axis, true, reverse);
  operandCotangents.assign(1, rule.create<MulOp>(total, before));
}

void CumProdOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axis = getAxis();
  bool reverse = getReverse();
  Value before = getExclusive() ? Value(getResult()) : rule.create<CumProdOp>(getX(), axis, true, reverse);
  Value tangent = rule.create<LinearRecurrenceOp>(getX(), rule.create<MulOp>(tangents[0], before), axis, reverse);
  resultTangents.assign(1, getExclusive() ? shifted(rule, tangent, axis, reverse, 0) : tangent);
}

void LinearRecurrenceOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                  SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axis = getAxis();
  bool reverse = getReverse();
  Value total =
      rule.create<LinearRecurrenceOp>(shifted(rule, getFactors(), axis, !reverse, 0), cotangents[0], axis, !reverse);
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<MulOp>(total, shifted(rule, getResult(), axis, reverse, 0));
  if (needed[1])
    operandCotangents[1] = total;
}

void LinearRecurrenceOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axis = getAxis();
  bool reverse = getReverse();
  Value terms = tangents[1];
  if (tangents[0])
    terms = rule.sum(terms, rule.create<MulOp>(tangents[0], shifted(rule, getResult(), axis, reverse, 0)));
  resultTangents.assign(1, rule.create<LinearRecurrenceOp>(getFactors(), terms, axis, reverse));
}

LogicalResult CumSumOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  int64_t axis = rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0));
  results.push_back(rule.create<CumSumOp>(rule[0], axis, getExclusive(), getReverse()));
  return success();
}

LogicalResult CumProdOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  int64_t axis = rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0));
  results.push_back(rule.create<CumProdOp>(rule[0], axis, getExclusive(), getReverse()));
  return success();
}

LogicalResult LinearRecurrenceOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  int64_t axis = rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0));
  Value factors = rule.all(0), terms = rule.all(1);
  results.push_back(rule.create<LinearRecurrenceOp>(factors, terms, axis, getReverse()));
  return success();
}

} // namespace calque::ir
