// The rules of the operations that stand for transformations. `differentiate` expands these in program order, so that a
// transformation meets no unexpanded one before it.
#include "ir/GradientRule.h"
#include "ir/Regions.h"
#include "ir/Values.h"

using namespace mlir;

namespace calque::ir {

SmallVector<Value> IdentityOp::expand(OpBuilder &) { return {getX()}; }

void KnownOp::buildJvp(OpBuilder &, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  resultTangents.assign(1, tangents[0]);
}

// Only a derivative tells the two apart.
OpFoldResult IdentityOp::fold(FoldAdaptor) {
  bool isTransformed = llvm::any_of((*this)->getUsers(), [](Operation *user) {
    return isa<GradientOp, JvpOp, BatchOp, UnbatchOp, CustomGradientOp, CheckpointOp>(user);
  });
  return isTransformed ? Value() : getX();
}

namespace {
template <typename Op> void refuseDerivative(Op op, SmallVectorImpl<Value> &derivatives, unsigned count) {
  derivatives.assign(count, Value());
  op.emitOpError("is differentiated before it was expanded");
}
} // namespace

void GradientOp::buildVjp(OpBuilder &, ValueRange, const llvm::SmallBitVector &,
                          SmallVectorImpl<Value> &operandCotangents) {
  refuseDerivative(*this, operandCotangents, getOperation()->getNumOperands());
}
void JvpOp::buildVjp(OpBuilder &, ValueRange, const llvm::SmallBitVector &, SmallVectorImpl<Value> &operandCotangents) {
  refuseDerivative(*this, operandCotangents, getOperation()->getNumOperands());
}
void BatchOp::buildVjp(OpBuilder &, ValueRange, const llvm::SmallBitVector &,
                       SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(getOperation()->getNumOperands(), Value());
  emitOpError(
      "is followed from one of many examples to all of them; a tape that is asked inside of vmap begins there too");
}
void UnbatchOp::buildVjp(OpBuilder &, ValueRange, const llvm::SmallBitVector &,
                         SmallVectorImpl<Value> &operandCotangents) {
  refuseDerivative(*this, operandCotangents, getOperation()->getNumOperands());
}

void GradientOp::buildJvp(OpBuilder &, ValueRange, SmallVectorImpl<Value> &tangents) {
  refuseDerivative(*this, tangents, getOperation()->getNumResults());
}
void JvpOp::buildJvp(OpBuilder &, ValueRange, SmallVectorImpl<Value> &tangents) {
  refuseDerivative(*this, tangents, getOperation()->getNumResults());
}
void BatchOp::buildJvp(OpBuilder &, ValueRange, SmallVectorImpl<Value> &tangents) {
  tangents.assign(getOperation()->getNumResults(), Value());
  emitOpError(
      "is followed from all examples to one of them; a jvp that is asked inside of vmap takes its arguments there too");
}
void UnbatchOp::buildJvp(OpBuilder &, ValueRange, SmallVectorImpl<Value> &tangents) {
  refuseDerivative(*this, tangents, getOperation()->getNumResults());
}

LogicalResult GradientOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) {
  return rule.refuse("is met before it was expanded");
}
LogicalResult JvpOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) {
  return rule.refuse("is met before it was expanded");
}
LogicalResult BatchOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) {
  return rule.refuse("is met before it was expanded");
}
LogicalResult UnbatchOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) {
  return rule.refuse("is met before it was expanded");
}

//===-- Custom gradients ------------------------------------------------------------------------===//

namespace {
SmallVector<Value> pullBack(CustomGradientOp op, OpBuilder &builder, ValueRange cotangents) {
  SmallVector<Value> arguments;
  for (auto [cotangent, result] : llvm::zip_equal(cotangents, op.getResults()))
    arguments.push_back(cotangent ? cotangent : zerosLike(builder, op.getLoc(), result));
  llvm::append_range(arguments, op.getCaptures());
  return emitBody(op.getPullback(), builder, arguments, [](Operation *, Operation *made) { markEmitted(made); });
}
} // namespace

SmallVector<Value> CustomGradientOp::expand(OpBuilder &) { return SmallVector<Value>(getPrimals()); }

void CustomGradientOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                                SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents = pullBack(*this, builder, cotangents);
  operandCotangents.resize(getOperation()->getNumOperands());
}

// The pullback is linear in the cotangents, and its transpose maps tangents of the inputs to tangents of the results:
// it is the derivative of what the pullback yields with respect to the cotangents, at any cotangents.
void CustomGradientOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  SmallVector<Value> origins, targets, seeds;
  for (Value result : getResults())
    origins.push_back(IdentityOp::create(builder, getLoc(), zerosLike(builder, getLoc(), result)));
  for (auto [cotangent, tangent] :
       llvm::zip(pullBack(*this, builder, origins), tangents.take_front(getInputs().size())))
    if (tangent) {
      targets.push_back(cotangent);
      seeds.push_back(tangent);
    }
  resultTangents.assign(getNumResults(), Value());
  if (targets.empty())
    return;
  SmallVector<Value> values(targets);
  llvm::append_range(values, seeds);
  llvm::append_range(values, origins);
  int64_t counts[] = {static_cast<int64_t>(targets.size()), static_cast<int64_t>(origins.size()), 0};
  auto gradient = GradientOp::create(builder, getLoc(), TypeRange(ValueRange(origins)), values, counts);
  llvm::copy(gradient.getResults(), resultTangents.begin());
}

LogicalResult CustomGradientOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  // Inputs and results get the mapped axis. The cotangent of an input without one is then the sum along that axis. A
  // capture without it stays one for all examples, such as the tables of a sparse matrix.
  SmallVector<int64_t> counts(getCounts());
  SmallVector<Value> all;
  for (int64_t i = 0; i < rule.numOperands(); ++i)
    all.push_back(i < counts[0] + counts[1] ? rule.all(i) : rule[i]);
  const bool givesRunning = rule.running && mayFail(getPullback());
  if (givesRunning) {
    all.push_back(rule.running);
    ++counts[2];
  }
  SmallVector<Type> types =
      llvm::map_to_vector(ArrayRef(all).slice(counts[0], counts[1]), [](Value value) { return value.getType(); });
  auto created = CustomGradientOp::create(rule.builder, getLoc(), types, all, counts);
  for (Value capture : ArrayRef(all).drop_front(counts[0] + counts[1]))
    types.push_back(capture.getType());
  if (failed(batchBody(rule, getPullback(), created.getPullback(), types, nullptr, givesRunning)))
    return failure();
  llvm::append_range(results, created.getResults());
  return success();
}

//===-- Checkpoints -----------------------------------------------------------------------------===//

SmallVector<Value> CheckpointOp::expand(OpBuilder &builder) { return emitBody(getBody(), builder, getInputs()); }

// Emits the body again, on inputs behind a barrier. Without it, CSE would keep the values of the first computation.
void CheckpointOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                            SmallVectorImpl<Value> &operandCotangents) {
  SmallVector<Value> inputs, targets, seeds, sources;
  for (Value input : getInputs())
    inputs.push_back(BarrierOp::create(builder, getLoc(), input));
  auto mark = [](Operation *, Operation *made) { markEmitted(made); };
  for (auto [target, cotangent] : llvm::zip_equal(emitBody(getBody(), builder, inputs, mark), cotangents))
    if (cotangent) {
      targets.push_back(target);
      seeds.push_back(cotangent);
    }
  for (auto [i, input] : llvm::enumerate(inputs))
    if (needed[i])
      sources.push_back(input);
  int64_t counts[] = {static_cast<int64_t>(targets.size()), static_cast<int64_t>(sources.size()), 0};
  SmallVector<Value> values(targets);
  llvm::append_range(values, seeds);
  llvm::append_range(values, sources);
  auto gradient = GradientOp::create(builder, getLoc(), TypeRange(ValueRange(sources)), values, counts);
  operandCotangents.assign(inputs.size(), Value());
  unsigned next = 0;
  for (unsigned i = 0; i < inputs.size(); ++i)
    if (needed[i])
      operandCotangents[i] = gradient.getResult(next++);
}

void CheckpointOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  SmallVector<Value> inputs, sources, directions, values;
  for (auto [input, tangent] : llvm::zip_equal(getInputs(), tangents)) {
    inputs.push_back(tangent ? IdentityOp::create(builder, getLoc(), input).getResult() : input);
    if (tangent) {
      sources.push_back(inputs.back());
      directions.push_back(tangent);
    }
  }
  SmallVector<unsigned> moving;
  auto mark = [](Operation *, Operation *made) { markEmitted(made); };
  for (auto [i, result] : llvm::enumerate(emitBody(getBody(), builder, inputs, mark)))
    if (isDifferentiable(result)) {
      values.push_back(result);
      moving.push_back(i);
    }
  resultTangents.assign(getNumResults(), Value());
  int64_t counts[] = {static_cast<int64_t>(values.size()), static_cast<int64_t>(sources.size())};
  SmallVector<Type> types(ValueRange(values).getTypes());
  llvm::append_range(values, sources);
  llvm::append_range(values, directions);
  auto jvp = JvpOp::create(builder, getLoc(), types, values, counts);
  for (auto [i, tangent] : llvm::zip_equal(moving, jvp.getResults()))
    resultTangents[i] = tangent;
}

LogicalResult CheckpointOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  SmallVector<Value> all = rule.all();
  const bool givesRunning = rule.running && mayFail(getBody());
  if (givesRunning)
    all.push_back(rule.running);
  // The body is emitted into a detached region first, because the types that it yields are those of the results.
  Region body;
  if (failed(batchBody(rule, getBody(), body, ValueRange(all).getTypes(), nullptr, givesRunning)))
    return failure();
  auto created = CheckpointOp::create(rule.builder, getLoc(), body.front().getTerminator()->getOperandTypes(), all);
  created.getBody().takeBody(body);
  llvm::append_range(results, created.getResults());
  return success();
}

} // namespace calque::ir
