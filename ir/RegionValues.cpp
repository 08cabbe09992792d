#include "ir/RegionValues.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace calque::ir {

namespace {
// Longer ways are not followed.
constexpr unsigned kLongestWay = 64;

using Origins = llvm::DenseMap<Value, Value>; // that are known

Value originOf(Value value, Origins &known, unsigned depth);

ValueRange yieldedBy(Region &region) { return region.front().getTerminator()->getOperands(); }

// The input that both sides give as a result, or null.
Value inputOnBothSides(CondOp op, unsigned result, Origins &known, unsigned depth) {
  auto of = [&](Region &side) { return dyn_cast<BlockArgument>(originOf(yieldedBy(side)[result], known, depth)); };
  BlockArgument then = of(op.getThen()), otherwise = then ? of(op.getOtherwise()) : nullptr;
  return otherwise && then.getArgNumber() == otherwise.getArgNumber() ? op.getInputs()[then.getArgNumber()] : Value();
}

bool isGivenOn(BlockArgument variable, Origins &known, unsigned depth) {
  return originOf(variable.getOwner()->getTerminator()->getOperand(variable.getArgNumber()), known, depth) == variable;
}

// A value that another one is, one step before it; null if none is known.
Value before(Value value, Origins &known, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (auto identity = dyn_cast_or_null<IdentityOp>(op))
    return identity.getX();
  if (auto select = dyn_cast_or_null<SelectOp>(op)) {
    Value x = originOf(select.getX(), known, depth);
    return x == originOf(select.getY(), known, depth) ? x : Value();
  }
  if (auto cond = dyn_cast_or_null<CondOp>(op))
    return inputOnBothSides(cond, cast<OpResult>(value).getResultNumber(), known, depth);
  if (auto loop = dyn_cast_or_null<WhileOp>(op)) {
    const unsigned number = cast<OpResult>(value).getResultNumber();
    return isGivenOn(loop.getBody().getArgument(number), known, depth) ? loop.getInitial()[number] : Value();
  }
  return Value();
}

Value originOf(Value value, Origins &known, unsigned depth) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Value origin = value;
  if (depth < kLongestWay)
    if (Value earlier = before(value, known, depth + 1); earlier && earlier.getType() == value.getType())
      origin = originOf(earlier, known, depth + 1);
  return known[value] = origin;
}

// Whether both sides of a branch give a result alike.
bool areAlike(CondOp op, unsigned result) {
  Origins known;
  if (inputOnBothSides(op, result, known, 0))
    return true;
  auto isEmpty = [&](Region &side) { return yieldedBy(side)[result].getDefiningOp<StackEmptyOp>() != nullptr; };
  if (isEmpty(op.getThen()) && isEmpty(op.getOtherwise()))
    return true;
  auto constant = [&](Region &side) { return yieldedBy(side)[result].getDefiningOp<ConstantOp>(); };
  ConstantOp then = constant(op.getThen()), otherwise = constant(op.getOtherwise());
  return then && otherwise && then.getValue() == otherwise.getValue();
}
} // namespace

Value originOf(Value value) {
  Origins known;
  return originOf(value, known, 0);
}

bool isGivenOn(BlockArgument variable) {
  Origins known;
  return isGivenOn(variable, known, 0);
}

bool isHarmless(Operation *op) {
  auto isKnown = [](Value value) { return cast<RankedTensorType>(value.getType()).hasStaticShape(); };
  auto isFloat = [](Value value) { return isa<FloatType>(cast<RankedTensorType>(value.getType()).getElementType()); };
  return isa<SchemaOpInterface>(op) && isMemoryEffectFree(op) && op->getNumRegions() == 0 && !op->hasTrait<MayFail>() &&
         (!op->hasTrait<MayFailOnIntegers>() || isFloat(op->getResult(0))) &&
         llvm::all_of(op->getOperands(), isKnown) && llvm::all_of(op->getResults(), isKnown);
}

llvm::DenseSet<Value> dependingOn(Block &block, const llvm::SmallBitVector &arguments) {
  llvm::DenseSet<Value> depending;
  for (unsigned i : arguments.set_bits())
    depending.insert(block.getArgument(i));
  for (Operation &op : block.without_terminator()) {
    llvm::SmallBitVector operands(op.getNumOperands()), results(op.getNumResults(), true);
    for (unsigned i = 0; i < operands.size(); ++i)
      operands[i] = depending.contains(op.getOperand(i));
    if (operands.none())
      continue;
    if (auto cond = dyn_cast<CondOp>(op)) {
      results = dependentResults(cond, operands);
    } else if (auto loop = dyn_cast<WhileOp>(op)) {
      results = dependenceOf(loop, operands).operands;
      results.resize(op.getNumResults());
    }
    for (unsigned i : results.set_bits())
      depending.insert(op.getResult(i));
  }
  return depending;
}

llvm::SmallBitVector dependentResults(CondOp op, const llvm::SmallBitVector &operands) {
  llvm::SmallBitVector inputs(op.getInputs().size()), results(op.getNumResults());
  for (unsigned i = 0; i < inputs.size(); ++i)
    inputs[i] = operands[1 + i];
  for (Region *side : {&op.getThen(), &op.getOtherwise()}) {
    llvm::DenseSet<Value> depending = dependingOn(side->front(), inputs);
    for (auto [i, value] : llvm::enumerate(yieldedBy(*side)))
      if (depending.contains(value))
        results.set(i);
  }
  if (operands[0])
    for (unsigned i = 0; i < results.size(); ++i)
      if (!results[i] && !areAlike(op, i))
        results.set(i);
  return results;
}

LoopDependence dependenceOf(WhileOp loop, const llvm::SmallBitVector &operands) {
  LoopDependence dependence{operands, false};
  const unsigned count = loop.getNumVariables();
  Block &condition = loop.getCondition().front(), &body = loop.getBody().front();
  for (bool changed = true; changed;) {
    changed = false;
    llvm::DenseSet<Value> depending = dependingOn(body, dependence.operands);
    for (auto [i, next] : llvm::enumerate(body.getTerminator()->getOperands()))
      if (!dependence.operands[i] && depending.contains(next))
        dependence.operands[i] = changed = true;
  }
  dependence.decides = dependingOn(condition, dependence.operands).contains(condition.getTerminator()->getOperand(0));
  if (dependence.decides)
    for (unsigned i = 0; i < count; ++i)
      if (!isGivenOn(loop.getBody().getArgument(i)))
        dependence.operands.set(i);
  return dependence;
}

llvm::DenseSet<Operation *> doneOnce(WhileOp loop) {
  llvm::DenseSet<Operation *> once;
  auto isSame = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? argument.getArgNumber() >= loop.getNumVariables() || isGivenOn(argument)
                    : once.contains(value.getDefiningOp());
  };
  for (Operation &op : loop.getBody().front().without_terminator())
    if (isHarmless(&op) && llvm::all_of(op.getOperands(), isSame))
      once.insert(&op);
  return once;
}

} // namespace calque::ir
