// The rules of convolutions and pooling. A convolution is bilinear in images and filters, and so are its two gradients:
// the three operations are closed under differentiation. So are max_pool2d, max_pool2d_grad and max_pool2d_pick.
#include "ir/BatchRule.h"
#include "ir/GradientRule.h"

using namespace mlir;

namespace calque::ir {

void ConvOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                      SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] =
        rule.create<ConvInputGradOp>(cotangents[0], getFilter(), getInput(), getStrides(), getPadding());
  if (needed[1])
    operandCotangents[1] =
        rule.create<ConvFilterGradOp>(getInput(), cotangents[0], getFilter(), getStrides(), getPadding());
}

void ConvInputGradOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                               SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<ConvOp>(cotangents[0], getFilter(), getStrides(), getPadding());
  if (needed[1])
    operandCotangents[1] =
        rule.create<ConvFilterGradOp>(cotangents[0], getCotangent(), getFilter(), getStrides(), getPadding());
}

void ConvFilterGradOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  if (needed[0])
    operandCotangents[0] =
        rule.create<ConvInputGradOp>(getCotangent(), cotangents[0], getInput(), getStrides(), getPadding());
  if (needed[1])
    operandCotangents[1] = rule.create<ConvOp>(getInput(), cotangents[0], getStrides(), getPadding());
}

void MaxPoolOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                         SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(
      1, rule.create<MaxPoolGradOp>(getInput(), cotangents[0], getWindow(), getStrides(), getPadding()));
}

void MaxPoolGradOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[1])
    operandCotangents[1] =
        rule.create<MaxPoolPickOp>(getInput(), cotangents[0], getWindow(), getStrides(), getPadding());
}

void MaxPoolPickOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[1])
    operandCotangents[1] =
        rule.create<MaxPoolGradOp>(getInput(), cotangents[0], getWindow(), getStrides(), getPadding());
}

//===-- Tangents --------------------------------------------------------------------------------===//

void MaxPoolOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1,
                        rule.create<MaxPoolPickOp>(getInput(), tangents[0], getWindow(), getStrides(), getPadding()));
}

//===-- Batching --------------------------------------------------------------------------------===//
// The mapped axis of images is merged into the batch dimension, that of filters into the channels. With both operands
// batched, the operation is unrolled.

LogicalResult ConvOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  if (rule.isBatched(0) && rule.isBatched(1))
    return rule.unrolled(results);
  if (rule.isBatched(0))
    results.push_back(rule.part(rule.apply({rule.merge(rule[0]), rule[1]}), rule[0]));
  else
    results.push_back(rule.partFrom(rule.apply({rule[0], rule.mergeInto(rule[1], 3)}), 3, rule[1], 4));
  return success();
}

LogicalResult ConvInputGradOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  if (rule.isBatched(0) && rule.isBatched(1))
    return rule.unrolled(results);
  if (rule.isBatched(1)) {
    Value filters = rule.mergeInto(rule[1], 2), like = rule.mergeInto(rule.repeated(rule.example(2)), 3);
    results.push_back(rule.partFrom(rule.apply({rule[0], filters, like}), 3, rule[1], 3));
  } else {
    Value cotangents = rule.all(0);
    results.push_back(rule.part(rule.apply({rule.merge(cotangents), rule[1], rule.merge(rule.all(2))}), cotangents));
  }
  return success();
}

LogicalResult ConvFilterGradOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  if (rule.isBatched(0) && rule.isBatched(1))
    return rule.unrolled(results);
  Value like = rule.repeated(rule.example(2));
  if (rule.isBatched(0)) {
    results.push_back(
        rule.partFrom(rule.apply({rule.mergeInto(rule[0], 3), rule[1], rule.mergeInto(like, 2)}), 2, rule[0], 4));
  } else {
    Value cotangents = rule.all(1);
    results.push_back(
        rule.partFrom(rule.apply({rule[0], rule.mergeInto(cotangents, 3), rule.mergeInto(like, 3)}), 3, cotangents, 4));
  }
  return success();
}

namespace {
LogicalResult batchImages(BatchRule &rule, SmallVectorImpl<Value> &results) {
  SmallVector<Value> all = rule.all();
  SmallVector<Value> merged = llvm::map_to_vector(all, [&](Value images) { return rule.merge(images); });
  results.push_back(rule.part(rule.apply(merged), all[0]));
  return success();
}
} // namespace

LogicalResult MaxPoolOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchImages(rule, results);
}
LogicalResult MaxPoolGradOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchImages(rule, results);
}
LogicalResult MaxPoolPickOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  return batchImages(rule, results);
}

} // namespace calque::ir
