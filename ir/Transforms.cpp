// What transformations are recorded as. `differentiate` expands them in program order, so that none meets another that was
// there before it.
#include "ir/BatchRule.h"
#include "ir/GradientRule.h"

using namespace mlir;

namespace calque::ir {

SmallVector<Value> IdentityOp::expand(OpBuilder &) { return {getX()}; }

namespace {
template <typename Op> void refuseDerivative(Op op, SmallVectorImpl<Value> &derivatives, unsigned count) {
  derivatives.assign(count, Value());
  op.emitOpError("is differentiated before it was expanded");
}
} // namespace

void GradientOp::buildVjp(OpBuilder &, ValueRange, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  refuseDerivative(*this, operandCotangents, getOperation()->getNumOperands());
}
void JvpOp::buildVjp(OpBuilder &, ValueRange, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  refuseDerivative(*this, operandCotangents, getOperation()->getNumOperands());
}
void BatchOp::buildVjp(OpBuilder &, ValueRange, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(getOperation()->getNumOperands(), Value());
  emitOpError("is followed from one of many examples to all of them; a tape that is asked inside of vmap begins there too");
}
void UnbatchOp::buildVjp(OpBuilder &, ValueRange, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  refuseDerivative(*this, operandCotangents, getOperation()->getNumOperands());
}

void GradientOp::buildJvp(OpBuilder &, ValueRange, SmallVectorImpl<Value> &tangents) { refuseDerivative(*this, tangents, getOperation()->getNumResults()); }
void JvpOp::buildJvp(OpBuilder &, ValueRange, SmallVectorImpl<Value> &tangents) { refuseDerivative(*this, tangents, getOperation()->getNumResults()); }
void BatchOp::buildJvp(OpBuilder &, ValueRange, SmallVectorImpl<Value> &tangents) {
  tangents.assign(getOperation()->getNumResults(), Value());
  emitOpError("is followed from all examples to one of them; a jvp that is asked inside of vmap takes its arguments there too");
}
void UnbatchOp::buildJvp(OpBuilder &, ValueRange, SmallVectorImpl<Value> &tangents) { refuseDerivative(*this, tangents, getOperation()->getNumResults()); }

LogicalResult GradientOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) { return rule.refuse("is met before it was expanded"); }
LogicalResult JvpOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) { return rule.refuse("is met before it was expanded"); }
LogicalResult BatchOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) { return rule.refuse("is met before it was expanded"); }
LogicalResult UnbatchOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) { return rule.refuse("is met before it was expanded"); }

} // namespace calque::ir
