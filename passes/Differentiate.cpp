#include "ir/Regions.h"
#include "passes/Transforms.h"

#include "mlir/IR/Iterators.h"

#include "llvm/ADT/TypeSwitch.h"

namespace calque {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/Passes.h.inc"
} // namespace calque

using namespace mlir;
using namespace calque::ir;

bool calque::isTransform(Operation *op) { return isa<GradientOp, JvpOp, UnbatchOp>(op); }

LogicalResult calque::expandTransform(Operation *op, Emitted &emitted) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op).Case<GradientOp, JvpOp, UnbatchOp>(
      [&](auto transform) { return expand(transform, emitted); });
}

void calque::Emitted::erase(Operation *op) {
  if (!operations.empty())
    op->walk([&](Operation *inner) { operations.erase(inner); });
  op->erase();
}

void calque::replaceResult(OpBuilder &builder, Value result, Value value) {
  auto isSourceOrStop = [](OpOperand &use) {
    auto gradient = dyn_cast<GradientOp>(use.getOwner());
    return gradient && static_cast<int64_t>(use.getOperandNumber()) >= 2 * gradient.getCounts()[0];
  };
  if (llvm::any_of(result.getUses(), isSourceOrStop))
    value = IdentityOp::create(builder, result.getLoc(), value);
  result.replaceAllUsesWith(value);
}

SmallVector<bool> calque::connectedResults(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<bool> result(terminator->getNumOperands(), true);
  if (result.empty() || failed(splitComplex(function)))
    return result;
  // A complex cotangent is that of two parts.
  auto partsOf = [](Value value) {
    auto pairs = value.getDefiningOp<PairsOfOp>();
    return pairs ? SmallVector<Value, 2>{pairs.getReal(), pairs.getImag()} : SmallVector<Value, 2>{value};
  };
  auto last = partsOf(terminator->getOperand(0))[0].getDefiningOp<GradientOp>();
  if (!last)
    return result;
  SmallVector<SmallVector<unsigned, 2>> numbers;
  for (Value value : terminator->getOperands()) {
    numbers.emplace_back();
    for (Value part : partsOf(value)) {
      if (part.getDefiningOp() != last)
        return result;
      numbers.back().push_back(cast<OpResult>(part).getResultNumber());
    }
  }
  SmallVector<Operation *> transforms;
  function.walk([&](Operation *op) {
    if (isTransform(op) && op != last)
      transforms.push_back(op);
  });
  Emitted emitted;
  for (Operation *transform : transforms)
    if (failed(expandTransform(transform, emitted)))
      return result;
  SmallVector<Value> cotangents;
  if (succeeded(expand(last, emitted, &cotangents)))
    for (auto [i, parts] : llvm::enumerate(numbers))
      result[i] = llvm::any_of(parts, [&](unsigned number) { return static_cast<bool>(cotangents[number]); });
  return result;
}

void calque::Emission::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) {
  emitted.insert(op);
  if (isTransform(op))
    transforms.push_back(op);
}

LogicalResult calque::Emission::expandTransforms() {
  for (Operation *op : transforms)
    if (failed(expandTransform(op, emitted)))
      return failure();
  return success();
}

bool calque::Emission::take(Operation *transform) {
  auto noted = llvm::find(transforms, transform);
  if (noted == transforms.end())
    return false;
  transforms.erase(noted);
  return true;
}

namespace {

// Takes the elements of what is known from there, in all that comes after.
void takeKnown(KnownOp known) {
  Value value = known.getValue();
  if (value.getType() != known.getX().getType()) { // they may differ in which sizes are static
    OpBuilder builder(known);
    value = ReshapeLikeOp::create(builder, known.getLoc(), value, known.getX());
  }
  known.getX().replaceUsesWithIf(value, [&](OpOperand &use) {
    Operation *user = known->getBlock()->findAncestorOpInBlock(*use.getOwner());
    return user && known->isBeforeInBlock(user);
  });
  known.getResult().replaceAllUsesWith(value);
  known->erase();
}

// Removes the ordered operations that derivatives have emitted and nothing needs. The others are effects from here on.
void settleEmitted(Operation *root) {
  bool any = false;
  root->walk([&](OrderedExternOp op) { any |= op.getRepeats() == kEmitted; });
  if (!any)
    return;
  root->walk<WalkOrder::PreOrder, ReverseIterator>([&](Operation *op) {
    if (op == root || !isOpTriviallyDead(op))
      return WalkResult::advance();
    op->erase();
    return WalkResult::skip();
  });
  root->walk([](OrderedExternOp op) {
    if (op.getRepeats() == kEmitted)
      op.setRepeats(1);
  });
}

struct Differentiate : calque::impl::DifferentiateBase<Differentiate> {
  void runOnOperation() override {
    // buildVjp returns nothing, so a rule that can't give a derivative emits a diagnostic.
    bool isRefused = false;
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &diagnostic) {
      isRefused |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return failure(); // passes the diagnostic on to the other handlers
    });
    // Program order: an inner transformation is expanded before an outer one, which then differentiates its expansion.
    SmallVector<Operation *> transforms;
    getOperation().walk([&](Operation *op) {
      if (calque::isTransform(op))
        transforms.push_back(op);
    });
    calque::Emitted emitted;
    for (Operation *transform : transforms)
      if (failed(calque::expandTransform(transform, emitted)) || isRefused)
        return signalPassFailure();
    bool anyKnown = false;
    getOperation().walk([&](KnownOp known) {
      takeKnown(known);
      anyKnown = true;
    });
    // What only led to values that are known may read operands whose elements nothing has kept.
    if (anyKnown)
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(getOperation().getBody().front())))
        if (isOpTriviallyDead(&op))
          op.erase();
    WalkResult left = getOperation().walk([](BatchOp batch) {
      if (batch->use_empty()) {
        batch->erase();
        return WalkResult::advance();
      }
      InFlightDiagnostic diagnostic =
          batch.emitOpError("gives one of many examples, which nothing puts together again");
      diagnostic.attachNote(batch->user_begin()->getLoc()) << "it is used here";
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      return signalPassFailure();
    settleEmitted(getOperation());
  }
};

} // namespace
