// Reverse rules of convolutions and pooling. A convolution is bilinear in images and filters, and so are its two gradients:
// the three are closed under differentiation. Pooling and its two companions are, too.
#include "ir/GradientRule.h"

using namespace mlir;

namespace calque::ir {

void ConvOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<ConvInputGradOp>(cotangents[0], getFilter(), getInput(), getStrides(), getPadding());
  if (needed[1])
    operandCotangents[1] = rule.create<ConvFilterGradOp>(getInput(), cotangents[0], getFilter(), getStrides(), getPadding());
}

void ConvInputGradOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<ConvOp>(cotangents[0], getFilter(), getStrides(), getPadding());
  if (needed[1])
    operandCotangents[1] = rule.create<ConvFilterGradOp>(cotangents[0], getCotangent(), getFilter(), getStrides(), getPadding());
}

void ConvFilterGradOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(3, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<ConvInputGradOp>(getCotangent(), cotangents[0], getInput(), getStrides(), getPadding());
  if (needed[1])
    operandCotangents[1] = rule.create<ConvOp>(getInput(), cotangents[0], getStrides(), getPadding());
}

void MaxPoolOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, rule.create<MaxPoolGradOp>(getInput(), cotangents[0], getWindow(), getStrides(), getPadding()));
}

void MaxPoolGradOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[1])
    operandCotangents[1] = rule.create<MaxPoolPickOp>(getInput(), cotangents[0], getWindow(), getStrides(), getPadding());
}

void MaxPoolPickOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed, SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[1])
    operandCotangents[1] = rule.create<MaxPoolGradOp>(getInput(), cotangents[0], getWindow(), getStrides(), getPadding());
}

} // namespace calque::ir
