#include "ir/Regions.h"
#include "ir/GradientRule.h"
#include "ir/Values.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace calque::ir {

bool mayRepeat(Operation *op) {
  auto ordered = dyn_cast<OrderedExternOp>(op);
  return ordered && ordered.getRepeats() != 0;
}

void markEmitted(Operation *op) {
  op->walk([](OrderedExternOp inner) {
    if (mayRepeat(inner))
      inner.setRepeats(kEmitted);
  });
}

SmallVector<Value> emitBody(Region &region, OpBuilder &builder, ValueRange arguments, OnEmitted onEmitted) {
  Block &block = region.front();
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &inner : block.without_terminator()) {
    onEmitted(&inner, builder.clone(inner, mapping));
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

namespace {
// An effect whose results a derivative needs.
void refuse(Operation *effect) {
  effect->emitOpError("stands in a branch or a loop through which a derivative passes, and can't be done again for it");
}

// Erases the effects in an operation's regions.
void dropEffects(Operation *op) {
  markEmitted(op);
  SmallVector<Operation *> effects;
  op->walk([&](Operation *inner) {
    if (inner != op && inner->getNumRegions() == 0 && !isa<vector::YieldOp>(inner) && !isMemoryEffectFree(inner))
      effects.push_back(inner);
  });
  for (Operation *effect : llvm::reverse(effects)) {
    if (!effect->use_empty())
      refuse(effect);
    else
      effect->erase();
  }
}
} // namespace

SmallVector<Value> emitWithoutEffects(Region &region, OpBuilder &builder, ValueRange arguments) {
  IRMapping mapping;
  return emitWithoutEffects(region, builder, arguments, ignoreEmitted, mapping);
}

SmallVector<Value> emitWithoutEffects(Region &region, OpBuilder &builder, ValueRange arguments, OnEmitted onEmitted,
                                      IRMapping &mapping) {
  Block &block = region.front();
  mapping.map(block.getArguments(), arguments);
  for (Operation &inner : block.without_terminator()) {
    if (inner.getNumResults() && mapping.contains(inner.getResult(0))) {
      continue;
    } else if (isMemoryEffectFree(&inner)) {
      onEmitted(&inner, builder.clone(inner, mapping));
    } else if (mayRepeat(&inner)) {
      Operation *again = builder.clone(inner, mapping);
      markEmitted(again);
      onEmitted(&inner, again);
    } else if (inner.getNumRegions() == 0 && inner.getNumResults() == 0) {
      continue;
    } else if (inner.getNumRegions()) {
      dropEffects(builder.clone(inner, mapping));
    } else {
      refuse(&inner);
      builder.clone(inner, mapping);
    }
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

void fillRegion(Region &region, OpBuilder &builder, Location location, TypeRange arguments,
                function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> fill) {
  Block &block = region.emplaceBlock();
  block.addArguments(arguments, SmallVector<Location>(arguments.size(), location));
  OpBuilder inside(builder.getContext(), builder.getListener());
  inside.setInsertionPointToEnd(&block);
  SmallVector<Value> yielded = fill(inside, block.getArguments());
  vector::YieldOp::create(inside, location, yielded);
}

bool mayFail(Operation *op) {
  if (op->hasTrait<MayFail>())
    return true;
  return op->hasTrait<MayFailOnIntegers>() && isa<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType()));
}

bool mayFail(Region &region) {
  return region.walk([](Operation *op) { return mayFail(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

Value runningWhere(BatchRule &rule, Value decision, Region &region) {
  if (!mayFail(region))
    return nullptr;
  return rule.running ? rule.create<LogicalAndOp>(rule.running, decision) : decision;
}

LogicalResult batchBody(BatchRule &rule, Region &from, Region &to, TypeRange arguments,
                        const llvm::SmallBitVector *single, bool givesRunning) {
  Block &block = to.emplaceBlock();
  block.addArguments(arguments, SmallVector<Location>(arguments.size(), rule.op->getLoc()));
  OpBuilder inside(rule.op->getContext(), rule.builder.getListener()); // the region may have no parent operation yet
  inside.setInsertionPointToEnd(&block);
  FailureOr<SmallVector<Value>> yielded =
      rule.body(inside, from.front(), SmallVector<Value>(block.getArguments().drop_back(givesRunning)), single,
                givesRunning ? block.getArguments().back() : Value());
  if (succeeded(yielded))
    vector::YieldOp::create(inside, rule.op->getLoc(), *yielded);
  return yielded;
}

Value number(OpBuilder &builder, Location location, int64_t value) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  return ConstantOp::create(builder, location, cast<ElementsAttr>(DenseElementsAttr::get(type, value)));
}

SmallVector<unsigned> differentiableAmong(ValueRange values) {
  SmallVector<unsigned> numbers;
  for (auto [i, value] : llvm::enumerate(values))
    if (isDifferentiable(value))
      numbers.push_back(i);
  return numbers;
}

SmallVector<Value> gradientOf(OpBuilder &builder, Location location, ArrayRef<Value> targets, ArrayRef<Value> seeds,
                              ArrayRef<Value> sources) {
  if (targets.empty() || sources.empty())
    return llvm::map_to_vector(sources, [&](Value source) { return zerosLike(builder, location, source); });
  SmallVector<Value> values(targets);
  llvm::append_range(values, seeds);
  llvm::append_range(values, sources);
  int64_t counts[] = {static_cast<int64_t>(targets.size()), static_cast<int64_t>(sources.size()), 0};
  auto gradient = GradientOp::create(builder, location, TypeRange(ValueRange(sources)), values, counts);
  return SmallVector<Value>(gradient.getResults());
}

} // namespace calque::ir
