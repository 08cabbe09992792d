// Operations on complex numbers as operations on their parts, where a record's dag can't say it.
#include "ir/Parts.h"

#include "ir/Conversion.h"
#include "ir/GradientRule.h"

#include "mlir/IR/TypeUtilities.h"

#include <complex>

using namespace mlir;

namespace calque::ir {

Type partType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return isComplex(type) ? tensor.clone(cast<ComplexType>(tensor.getElementType()).getElementType()) : type;
  auto complex = dyn_cast<ComplexType>(type);
  return complex ? complex.getElementType() : type;
}

namespace {

// The operation on other operands, with results of the parts' types.
Operation *onParts(Operation *op, OpBuilder &builder, ValueRange operands) {
  OperationState state(op->getLoc(), op->getName(), operands, {}, op->getAttrs());
  for (Type type : op->getResultTypes())
    state.types.push_back(partType(type));
  return builder.create(state);
}

// An operation that is linear in each of its first two operands, which are both complex.
LogicalResult productOfParts(Operation *op, OpBuilder &builder, ArrayRef<Parts> operands,
                             SmallVectorImpl<Value> &results) {
  auto of = [&](Value lhs, Value rhs) {
    SmallVector<Value> taken{lhs, rhs};
    for (const Parts &other : operands.drop_front(2))
      taken.push_back(other.re);
    return onParts(op, builder, taken)->getResult(0);
  };
  const Parts &a = operands[0], &b = operands[1];
  results.push_back(SubOp::create(builder, op->getLoc(), of(a.re, b.re), of(a.im, b.im)));
  results.push_back(AddOp::create(builder, op->getLoc(), of(a.re, b.im), of(a.im, b.re)));
  return success();
}

} // namespace

LogicalResult eachPart(Operation *op, OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  SmallVector<Value> re, im;
  for (const Parts &operand : operands) {
    re.push_back(operand.re);
    im.push_back(operand.im ? operand.im : operand.re);
  }
  Operation *ofRe = onParts(op, builder, re);
  const bool isAnyComplex = llvm::any_of(op->getResultTypes(), [](Type type) { return isComplex(type); });
  Operation *ofIm = isAnyComplex ? onParts(op, builder, im) : nullptr;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    results.push_back(ofRe->getResult(i));
    if (isComplex(result))
      results.push_back(ofIm->getResult(i));
  }
  return success();
}

LogicalResult ContractOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  return productOfParts(getOperation(), builder, operands, results);
}
LogicalResult ConvOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  return productOfParts(getOperation(), builder, operands, results);
}

LogicalResult ConstantOp::buildParts(OpBuilder &builder, ArrayRef<Parts>, SmallVectorImpl<Value> &results) {
  auto elements = cast<DenseElementsAttr>(getValue());
  auto type = cast<RankedTensorType>(partType(getType()));
  auto take = [&](bool imaginary) {
    SmallVector<APFloat> parts;
    auto part = [&](std::complex<APFloat> element) { return imaginary ? element.imag() : element.real(); };
    if (elements.isSplat())
      parts.push_back(part(elements.getSplatValue<std::complex<APFloat>>()));
    else
      for (std::complex<APFloat> element : elements.getValues<std::complex<APFloat>>())
        parts.push_back(part(element));
    results.push_back(ConstantOp::create(builder, getLoc(), type, DenseElementsAttr::get(type, parts)));
  };
  take(false);
  take(true);
  return success();
}

// The real number that it pads with has no imaginary part.
LogicalResult PadOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  results.push_back(PadOp::create(builder, getLoc(), operands[0].re, getLowAttr(), getHighAttr(), getValueAttr()));
  results.push_back(PadOp::create(builder, getLoc(), operands[0].im, getLowAttr(), getHighAttr(),
                                  toMlir(schema::Scalar(0), getContext())));
  return success();
}

LogicalResult CastOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  auto to = TypeAttr::get(partType(getDtype()));
  results.push_back(CastOp::create(builder, getLoc(), operands[0].re, to));
  if (operands[0].im)
    results.push_back(CastOp::create(builder, getLoc(), operands[0].im, to));
  else
    results.push_back(zerosLike(builder, getLoc(), results[0]));
  return success();
}

LogicalResult ComplexOfOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  Value re = operands[0].re, im = operands[1].re;
  auto resized = [&](Value value, Value like) -> Value {
    return value.getType() == partType(getType()) && cast<RankedTensorType>(value.getType()).hasStaticShape()
               ? value
               : BroadcastLikeOp::create(builder, getLoc(), value, like).getResult();
  };
  if (re.getType() == im.getType() && cast<RankedTensorType>(re.getType()).hasStaticShape()) {
    results.append({re, im});
    return success();
  }
  // Whose sizes are those to which both broadcast; its elements are not used.
  Value like = AddOp::create(builder, getLoc(), re, im);
  results.append({resized(re, like), resized(im, like)});
  return success();
}

} // namespace calque::ir
