// Takes assertions out of branches and loops: whether they hold becomes a result, which is asserted behind. What is
// done for many examples at once has no branch that some of them take, and no effect that only some of them have.
#include "ir/Regions.h"
#include "passes/Transforms.h"

using namespace mlir;
using namespace calque::ir;

namespace {

Value boolean(OpBuilder &builder, Location location, bool value) {
  auto type = RankedTensorType::get({}, builder.getI1Type());
  return ConstantOp::create(builder, location, cast<ElementsAttr>(DenseElementsAttr::get(type, value)));
}

SmallVector<AssertOp> assertionsIn(Block &block) { return llvm::to_vector(block.getOps<AssertOp>()); }

// Whether all effects in the regions are assertions that can be taken out: a loop's condition has none, and no loop has
// stacks, whose places among its variables are known.
bool canDefer(Operation *op) {
  if (!isa<CondOp, WhileOp>(op) || op->hasAttr(kKeptAttr))
    return false;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.front().without_terminator()) {
      if (isa<AssertOp>(inner)) {
        if (auto loop = dyn_cast<WhileOp>(op); loop && &region == &loop.getCondition())
          return false;
      } else if (!isMemoryEffectFree(&inner) && (inner.getNumRegions() == 0 || !canDefer(&inner))) {
        return false;
      }
    }
  return true;
}

// Erases the assertions of a block; its terminator gives whether each holds, and whether `before` does, if there are
// values.
void giveHolding(Block &block, SmallVectorImpl<AssertOp> &assertions, unsigned at, ValueRange before) {
  Operation *end = block.getTerminator();
  SmallVector<Value> holds;
  for (auto [i, assertion] : llvm::enumerate(assertions)) {
    OpBuilder builder(assertion);
    Location location = assertion.getLoc();
    auto scalar = RankedTensorType::get({}, builder.getI1Type());
    Value all = assertion.getCondition();
    if (cast<RankedTensorType>(all.getType()).getRank() != 0)
      all = AllOp::create(builder, location, scalar, all, ArrayRef<int64_t>(), false);
    if (!before.empty())
      all = LogicalAndOp::create(builder, location, scalar, before[i], all);
    holds.push_back(all);
  }
  end->insertOperands(at, holds);
  for (AssertOp assertion : assertions)
    assertion.erase();
}

// What is kept of assertions that are gone.
struct Deferred {
  explicit Deferred(AssertOp assertion)
      : location(assertion.getLoc()), message(assertion.getMessageAttr()),
        attributes(assertion->getDiscardableAttrs()) {}
  void emit(OpBuilder &builder, Value holds) const {
    auto made = AssertOp::create(builder, location, holds, ValueRange(), message);
    made->setDiscardableAttrs(attributes);
  }
  Location location;
  StringAttr message;
  SmallVector<NamedAttribute> attributes;
};

void defer(Operation *op, calque::Emitted &emitted);

void deferInside(Operation *op, calque::Emitted &emitted) {
  for (Region &region : op->getRegions())
    for (Operation &inner : llvm::make_early_inc_range(region.front().without_terminator()))
      if (inner.getNumRegions() && !isMemoryEffectFree(&inner))
        defer(&inner, emitted);
}

void deferOutOf(CondOp cond, OpBuilder &builder, calque::Emitted &emitted) {
  Block &then = cond.getThen().front(), &otherwise = cond.getOtherwise().front();
  SmallVector<Deferred> deferred;
  const unsigned count = cond.getNumResults();
  for (auto [own, other] : {std::pair(&then, &otherwise), std::pair(&otherwise, &then)}) {
    SmallVector<AssertOp> assertions = assertionsIn(*own);
    const unsigned at = count + deferred.size();
    for (AssertOp assertion : assertions)
      deferred.emplace_back(assertion);
    OpBuilder inOther(other->getTerminator());
    SmallVector<Value> untouched;
    for (AssertOp assertion : assertions)
      untouched.push_back(boolean(inOther, assertion.getLoc(), true));
    other->getTerminator()->insertOperands(at, untouched);
    giveHolding(*own, assertions, at, {});
  }
  auto made = CondOp::create(builder, cond.getLoc(), then.getTerminator()->getOperandTypes(), cond.getPredicate(),
                             cond.getInputs());
  made.getThen().takeBody(cond.getThen());
  made.getOtherwise().takeBody(cond.getOtherwise());
  for (auto [i, assertion] : llvm::enumerate(deferred))
    assertion.emit(builder, made.getResult(count + i));
  cond.replaceAllUsesWith(made.getResults().take_front(count));
  emitted.erase(cond);
}

void deferOutOf(WhileOp loop, OpBuilder &builder, calque::Emitted &emitted) {
  Block &condition = loop.getCondition().front(), &body = loop.getBody().front();
  SmallVector<AssertOp> assertions = assertionsIn(body);
  SmallVector<Deferred> deferred(assertions.begin(), assertions.end());
  const unsigned count = loop.getNumVariables();
  SmallVector<Value> values(loop.getInitial()), holding, stillHolding;
  auto scalar = RankedTensorType::get({}, builder.getI1Type());
  for (auto [i, assertion] : llvm::enumerate(deferred)) {
    values.push_back(boolean(builder, assertion.location, true));
    holding.push_back(body.insertArgument(count + i, scalar, assertion.location));
    stillHolding.push_back(condition.insertArgument(count + i, scalar, assertion.location));
  }
  llvm::append_range(values, loop.getInvariants());
  giveHolding(body, assertions, count, holding);
  // A check that has failed ends the loop.
  OpBuilder inCondition(condition.getTerminator());
  Value goesOn = condition.getTerminator()->getOperand(0);
  for (Value holds : stillHolding)
    goesOn = LogicalAndOp::create(inCondition, loop.getLoc(), scalar, goesOn, holds);
  condition.getTerminator()->setOperand(0, goesOn);
  auto made = WhileOp::create(builder, loop.getLoc(), body.getTerminator()->getOperandTypes(), values,
                              loop.getCheckpoint(), loop.getVarying());
  made.getCondition().takeBody(loop.getCondition());
  made.getBody().takeBody(loop.getBody());
  for (auto [i, assertion] : llvm::enumerate(deferred))
    assertion.emit(builder, made.getResult(count + i));
  loop.replaceAllUsesWith(made.getResults().take_front(count));
  emitted.erase(loop);
}

void defer(Operation *op, calque::Emitted &emitted) {
  deferInside(op, emitted);
  calque::Emission emission(emitted);
  OpBuilder builder(op, emitted.contains(op) ? &emission : nullptr);
  if (auto cond = dyn_cast<CondOp>(op))
    deferOutOf(cond, builder, emitted);
  else
    deferOutOf(cast<WhileOp>(op), builder, emitted);
}

} // namespace

void calque::deferAssertions(Operation *op, Emitted &emitted) {
  if (!isMemoryEffectFree(op) && canDefer(op))
    defer(op, emitted);
}
