#include "ir/GradientRule.h"

using namespace mlir;

namespace calque::ir {

// `differentiate` expands gradients in program order, so that it never meets one on its way back.
void GradientOp::buildVjp(OpBuilder &, ValueRange, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(getOperation()->getNumOperands(), Value());
  emitOpError("is differentiated before it was expanded");
}

} // namespace calque::ir
