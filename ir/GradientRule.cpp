#include "ir/GradientRule.h"

using namespace mlir;

namespace calque::ir {

Value GradientRule::constantLike(double value, Value like) {
  Type element = cast<RankedTensorType>(like.getType()).getElementType();
  auto type = RankedTensorType::get({}, element);
  Attribute attribute = isa<FloatType>(element) ? Attribute(FloatAttr::get(element, value))
                                                : Attribute(IntegerAttr::get(element, static_cast<int64_t>(value)));
  return create<ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(type, ArrayRef(attribute))));
}

Value GradientRule::mask(Value condition, Value g) { return create<SelectOp>(condition, g, constantLike(0, g)); }

Value GradientRule::unbroadcast(Value cotangent, Value operand) {
  auto type = cast<RankedTensorType>(cotangent.getType());
  if (type == operand.getType() && type.hasStaticShape())
    return cotangent;
  // A partial that does not depend on every operand leaves a cotangent smaller than the result; it is never smaller than
  // the operand, since the result's own cotangent is a factor.
  return create<SumLikeOp>(cotangent, operand);
}

} // namespace calque::ir
