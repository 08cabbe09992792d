#include "ir/GradientRule.h"
#include "ir/Values.h"

using namespace mlir;

namespace calque::ir {

Value GradientRule::constantLike(schema::Scalar value, Value like) {
  Type element = cast<RankedTensorType>(like.getType()).getElementType();
  auto type = RankedTensorType::get({}, element);
  return create<ConstantOp>(
      cast<ElementsAttr>(DenseElementsAttr::get(type, ArrayRef<Attribute>(elementAttr(value, element)))));
}

Value GradientRule::zeroLike(Value like) {
  return isStack(like) ? zerosOf(builder, location, RankedTensorType::get({}, typeOf(like).getElementType()))
                       : constantLike(0, like);
}

Value GradientRule::zerosLike(Value value) {
  if (!isStack(value))
    return create<BroadcastLikeOp>(zeroLike(value), value);
  return typeOf(value).hasStaticShape() ? zerosOf(builder, location, typeOf(value)) : create<StackEmptyOp>(value);
}

Value GradientRule::mask(Value condition, Value g) { return create<SelectOp>(condition, g, zeroLike(g)); }

Value GradientRule::sum(Value a, Value b) {
  if (!a)
    return b;
  return isStack(a) ? create<StackAddOp>(a, b) : create<AddOp>(a, b);
}

Value GradientRule::sumLike(Value derivative, Value like) {
  return isStack(derivative) ? create<StackSumLikeOp>(derivative, like) : create<SumLikeOp>(derivative, like);
}

Value zerosOf(OpBuilder &builder, Location location, RankedTensorType type) {
  Type element = type.getElementType();
  const bool isOfStacks = isa<StackType>(element);
  auto number = isOfStacks ? RankedTensorType::get(type.getShape(), builder.getI1Type()) : type;
  Value zeros = ConstantOp::create(
      builder, location,
      cast<ElementsAttr>(DenseElementsAttr::get(number, builder.getZeroAttr(number.getElementType()))));
  return isOfStacks ? StackEmptyOp::create(builder, location, zeros).getResult() : zeros;
}

bool isConstant(Value value) {
  auto empty = value.getDefiningOp<StackEmptyOp>();
  return (empty ? empty.getLike() : value).getDefiningOp<ConstantOp>() != nullptr;
}

Value GradientRule::unbroadcast(Value cotangent, Value operand) {
  auto type = cast<RankedTensorType>(cotangent.getType());
  if (type == operand.getType() && type.hasStaticShape())
    return cotangent;
  // The cotangent may be smaller than the result, where the partial does not depend on every operand. It is never
  // smaller than the operand, because the result's cotangent is a factor.
  return sumLike(cotangent, operand);
}

Value GradientRule::broadcast(Value tangent) {
  if (!tangent || tangent.getType() == result.getType())
    return tangent;
  return create<BroadcastLikeOp>(tangent, result);
}

// Emits the operation on other operands of the same types.
static ResultRange applyTo(Operation *op, OpBuilder &builder, ArrayRef<Value> operands) {
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  return clone->getResults();
}

void linearJvp(Operation *op, OpBuilder &builder, ValueRange tangents, ArrayRef<std::pair<unsigned, unsigned>> operands,
               SmallVectorImpl<Value> &resultTangents) {
  SmallVector<Value> arguments(op->getOperands());
  GradientRule rule(builder, op->getLoc(), op->getResult(0));
  bool any = false;
  for (auto [first, count] : operands)
    for (unsigned i = first; i < first + count; ++i) {
      any |= static_cast<bool>(tangents[i]);
      arguments[i] = tangents[i] ? tangents[i] : rule.zerosLike(arguments[i]);
    }
  if (any)
    llvm::append_range(resultTangents, applyTo(op, builder, arguments));
  else
    resultTangents.assign(op->getNumResults(), Value());
}

void multilinearJvp(Operation *op, OpBuilder &builder, ValueRange tangents,
                    ArrayRef<std::pair<unsigned, unsigned>> operands, SmallVectorImpl<Value> &resultTangents) {
  resultTangents.assign(op->getNumResults(), Value());
  GradientRule rule(builder, op->getLoc(), op->getResult(0));
  for (auto [first, count] : operands)
    for (unsigned i = first; i < first + count; ++i) {
      if (!tangents[i])
        continue;
      SmallVector<Value> arguments(op->getOperands());
      arguments[i] = tangents[i];
      for (auto [sum, term] : llvm::zip_equal(resultTangents, applyTo(op, builder, arguments)))
        sum = rule.sum(sum, term);
    }
}

} // namespace calque::ir
