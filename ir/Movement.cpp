// Reverse rules of operations that move elements.
#include "ir/GradientRule.h"

using namespace mlir;

namespace calque::ir {

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

void TransposeOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> inverse; // an empty permutation reverses, and so does its inverse
  int64_t rank = cast<RankedTensorType>(getX().getType()).getRank();
  inverse.resize(getPermutation().size());
  for (auto [i, axis] : llvm::enumerate(getPermutation()))
    inverse[axis < 0 ? axis + rank : axis] = i;
  operandCotangents.assign(1, rule.create<TransposeOp>(cotangents[0], inverse));
}

void ConcatOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(getTensors().size(), Value());
  for (size_t i = 0; i < getTensors().size(); ++i)
    if (needed[i])
      operandCotangents[i] = rule.create<ConcatPartOp>(cotangents[0], getTensors(), getAxis(), i);
}

void ConcatPartOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(getOperation()->getNumOperands(), Value());
  if (!needed[0])
    return;
  SmallVector<Value> parts;
  for (auto [i, tensor] : llvm::enumerate(getTensors()))
    parts.push_back(i == getIndex() ? cotangents[0] : rule.create<BroadcastLikeOp>(rule.constant(0), tensor));
  operandCotangents[0] = rule.create<ConcatOp>(parts, getAxis());
}

void SliceOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> strides(getStrides());
  if (strides.empty())
    strides.assign(getStarts().size(), 1);
  operandCotangents.assign(1, rule.create<SlicePutOp>(cotangents[0], getX(), getStarts(), strides));
}

void SliceLikeOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<SlicePutOp>(cotangents[0], getX(), getStarts(), getStrides());
}

void SlicePutOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<SliceLikeOp>(cotangents[0], getX(), getStarts(), getStrides());
}

void PadOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  SmallVector<int64_t> ones(getLow().size(), 1);
  operandCotangents.assign(1, rule.create<SliceLikeOp>(cotangents[0], getX(), getLow(), ones));
}

void GatherOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<GatherPutOp>(cotangents[0], getX(), getIndices(), getAxis());
}

void GatherPutOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<GatherOp>(cotangents[0], getIndices(), getAxis());
}

} // namespace calque::ir
