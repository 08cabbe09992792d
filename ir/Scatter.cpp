// The rules of operations whose indices name several dimensions. gather_nd and scatter_nd_add are each other's
// transpose, and so are gather_nd_last and scatter_nd_set of zeros: of equal indices, the last one is read and written.
#include "ir/BatchRule.h"
#include "ir/GradientRule.h"

#include <limits>

using namespace mlir;

namespace calque::ir {

void GatherNdOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                          SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<ScatterNdAddOp>(rule.zerosLike(getX()), getIndices(), cotangents[0]);
}

void GatherNdLastOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                              SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<ScatterNdSetOp>(rule.zerosLike(getX()), getIndices(), cotangents[0]);
}

void ScatterNdAddOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                              SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  if (needed[0])
    operandCotangents[0] = cotangents[0];
  if (needed[2])
    operandCotangents[2] = rule.create<GatherNdOp>(cotangents[0], getIndices());
}

void ScatterNdSetOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                              SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  if (needed[2])
    operandCotangents[2] = rule.create<GatherNdLastOp>(cotangents[0], getIndices());
  if (needed[0])
    operandCotangents[0] = rule.create<ScatterNdSetOp>(cotangents[0], getIndices(), rule.zerosLike(getUpdates()));
}

namespace {
// Which of x and of the updates are the largest elements, and how many those are that share one. Where an element is
// NaN none is equal to it, and `rest`, which the others get, is NaN instead of 0.
struct Largest {
  Largest(GradientRule &rule, ScatterNdMaxOp op) : rule(rule), op(op) {
    isX = rule.create<EqualOp>(op.getX(), op.getResult());
    isUpdate = rule.create<EqualOp>(op.getUpdates(), rule.create<GatherNdOp>(op.getResult(), op.getIndices()));
    auto element = TypeAttr::get(cast<RankedTensorType>(op.getType()).getElementType());
    count = rule.create<ScatterNdAddOp>(rule.create<CastOp>(isX, element), op.getIndices(),
                                        rule.create<CastOp>(isUpdate, element));
    Value nan = rule.constant(std::numeric_limits<double>::quiet_NaN());
    rest = rule.create<SelectOp>(rule.create<GreaterOp>(count, rule.constant(0)), rule.constant(0), nan);
  }
  Value slices(Value value) { return rule.create<GatherNdOp>(value, op.getIndices()); }

  GradientRule &rule;
  ScatterNdMaxOp op;
  Value isX, isUpdate, count, rest;
};
} // namespace

void ScatterNdMaxOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                              SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  Largest largest(rule, *this);
  Value share = rule.create<DivOp>(cotangents[0], largest.count);
  operandCotangents.assign(3, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<SelectOp>(largest.isX, share, largest.rest);
  if (needed[2])
    operandCotangents[2] = rule.create<SelectOp>(largest.isUpdate, largest.slices(share), largest.slices(largest.rest));
}

//===-- Tangents --------------------------------------------------------------------------------===//

void ScatterNdMaxOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  Largest largest(rule, *this);
  Value zero = rule.constant(0), sum = rule.zerosLike(getX());
  if (tangents[0])
    sum = rule.create<SelectOp>(largest.isX, tangents[0], zero);
  if (tangents[2])
    sum = rule.create<ScatterNdAddOp>(sum, getIndices(), rule.create<SelectOp>(largest.isUpdate, tangents[2], zero));
  // 0 / 0 is NaN, where an element is.
  resultTangents.assign(1, rule.create<DivOp>(sum, largest.count));
}

//===-- Batching --------------------------------------------------------------------------------===//

namespace {
// The indices of all examples, which name the mapped axis, too.
Value withExample(BatchRule &rule, Value indices) {
  auto type = cast<RankedTensorType>(indices.getType());
  const int64_t rank = type.getRank();
  auto element = TypeAttr::get(type.getElementType());
  SmallVector<int64_t> shape(rank, 1);
  shape[0] = rule.size();
  Value example = rule.size() == ShapedType::kDynamic
                      ? rule.create<IotaOpenOp>(ValueRange{indices}, shape, ArrayRef<int64_t>{0, 0}, element, 0)
                      : rule.create<IotaOp>(shape, element, 0);
  // One for each slice: an index of any dimension, or of none, times 0.
  GradientRule constants(rule.builder, rule.op->getLoc(), indices);
  Value zeros =
      rule.create<MulOp>(rule.create<SumOp>(indices, ArrayRef<int64_t>{rank - 1}, true), constants.constant(0));
  return rule.create<ConcatOp>(ValueRange{rule.create<AddOp>(zeros, example), indices}, rank - 1);
}

// With indices for each example, the mapped axis is one more dimension that they name. Else it is one that they don't.
LogicalResult batchIndices(BatchRule &rule, bool hasUpdates, SmallVectorImpl<Value> &results) {
  if (rule.isBatched(1)) {
    SmallVector<Value> operands = rule.all();
    operands[1] = withExample(rule, operands[1]);
    results.push_back(rule.apply(operands));
    return success();
  }
  const int64_t named = rule.exampleType(1).getShape().back();
  SmallVector<Value> operands{rule.move(rule.all(0), 0, named), rule[1]};
  if (hasUpdates)
    operands.push_back(rule.move(rule.all(2), 0, rule.rank(1) - 1));
  results.push_back(rule.toFront(rule.apply(operands), hasUpdates ? named : rule.rank(1) - 1));
  return success();
}
} // namespace

LogicalResult GatherNdOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchIndices(rule, false, results);
}
LogicalResult GatherNdLastOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchIndices(rule, false, results);
}
LogicalResult ScatterNdSetOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchIndices(rule, true, results);
}
LogicalResult ScatterNdAddOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchIndices(rule, true, results);
}
LogicalResult ScatterNdMaxOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchIndices(rule, true, results);
}

} // namespace calque::ir
