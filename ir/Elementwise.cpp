// The rules of elementwise operations that their records can't express.
#include "ir/GradientRule.h"

using namespace mlir;

namespace calque::ir {

void CastOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                      SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(1, Value());
  Type element = cast<RankedTensorType>(getX().getType()).getElementType();
  if (isa<FloatType>(element))
    operandCotangents[0] = CastOp::create(builder, getLoc(), cotangents[0], TypeAttr::get(element));
}

} // namespace calque::ir
