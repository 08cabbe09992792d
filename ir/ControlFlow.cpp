// The rules of branches and loops. Those of derivatives in reverse through loops are in ir/LoopReverse.cpp.
#include "ir/GradientRule.h"
#include "ir/RegionValues.h"
#include "ir/Regions.h"
#include "ir/Values.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace calque::ir {

namespace {

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

// An operation has the effects of those in its regions.
void effectsOf(Operation *op, Effects &effects) {
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      if (!isa<vector::YieldOp>(inner) && !isMemoryEffectFree(&inner)) {
        effects.emplace_back(MemoryEffects::Write::get());
        return;
      }
}

// The tangents of targets from those of sources.
SmallVector<Value> tangentsOf(OpBuilder &builder, Location location, ArrayRef<Value> targets, ArrayRef<Value> sources,
                              ArrayRef<Value> tangents) {
  if (targets.empty() || sources.empty())
    return llvm::map_to_vector(targets, [&](Value target) { return zerosLike(builder, location, target); });
  SmallVector<Value> values(targets);
  llvm::append_range(values, sources);
  llvm::append_range(values, tangents);
  int64_t counts[] = {static_cast<int64_t>(targets.size()), static_cast<int64_t>(sources.size())};
  auto jvp = JvpOp::create(builder, location, TypeRange(ValueRange(targets)), values, counts);
  return SmallVector<Value>(jvp.getResults());
}

} // namespace

//===-- cond ------------------------------------------------------------------------------------===//

void CondOp::getEffects(Effects &effects) { effectsOf(*this, effects); }

// The same branch's reverse. It computes again what the branch computes.
void CondOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                      SmallVectorImpl<Value> &operandCotangents) {
  SmallVector<unsigned> targets, sources;
  for (auto [i, cotangent] : llvm::enumerate(cotangents))
    if (cotangent)
      targets.push_back(i);
  for (unsigned i = 0; i < getInputs().size(); ++i)
    if (needed[1 + i])
      sources.push_back(i);
  SmallVector<Value> inputs(getInputs());
  unsigned numInputs = inputs.size();
  llvm::append_range(inputs, selected(cotangents, targets));
  auto reverse =
      CondOp::create(builder, getLoc(), TypeRange(ValueRange(selected(getInputs(), sources))), getPredicate(), inputs);
  auto fill = [&](Region &from, Region &to) {
    fillRegion(to, builder, getLoc(), ValueRange(inputs).getTypes(), [&](OpBuilder &inside, ValueRange arguments) {
      SmallVector<Value> yielded = emitWithoutEffects(from, inside, arguments.take_front(numInputs));
      return gradientOf(inside, getLoc(), selected(yielded, targets),
                        SmallVector<Value>(arguments.drop_front(numInputs)), selected(arguments, sources));
    });
  };
  fill(getThen(), reverse.getThen());
  fill(getOtherwise(), reverse.getOtherwise());
  operandCotangents.assign(getOperation()->getNumOperands(), Value());
  for (auto [source, cotangent] : llvm::zip_equal(sources, reverse.getResults()))
    operandCotangents[1 + source] = cotangent;
}

void CondOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  SmallVector<unsigned> targets = differentiableAmong(getResults()), sources;
  for (unsigned i = 0; i < getInputs().size(); ++i)
    if (tangents[1 + i])
      sources.push_back(i);
  SmallVector<Value> inputs(getInputs());
  unsigned numInputs = inputs.size();
  llvm::append_range(inputs, selected(tangents.drop_front(), sources));
  auto forward =
      CondOp::create(builder, getLoc(), TypeRange(ValueRange(selected(getResults(), targets))), getPredicate(), inputs);
  auto fill = [&](Region &from, Region &to) {
    fillRegion(to, builder, getLoc(), ValueRange(inputs).getTypes(), [&](OpBuilder &inside, ValueRange arguments) {
      SmallVector<Value> yielded = emitWithoutEffects(from, inside, arguments.take_front(numInputs));
      return tangentsOf(inside, getLoc(), selected(yielded, targets), selected(arguments, sources),
                        SmallVector<Value>(arguments.drop_front(numInputs)));
    });
  };
  fill(getThen(), forward.getThen());
  fill(getOtherwise(), forward.getOtherwise());
  resultTangents.assign(getNumResults(), Value());
  for (auto [target, tangent] : llvm::zip_equal(targets, forward.getResults()))
    resultTangents[target] = tangent;
}

LogicalResult CondOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  SmallVector<Value> inputs;
  llvm::SmallBitVector batched(rule.numOperands());
  for (unsigned i = 0; i < rule.numOperands(); ++i) {
    batched[i] = rule.isBatched(i);
    if (i > 0)
      inputs.push_back(rule[i]);
  }
  const llvm::SmallBitVector dependent = dependentResults(*this, batched);
  if (!rule.isBatched(0)) {
    Region then, otherwise;
    llvm::SmallBitVector single = dependent;
    single.flip();
    const bool givesRunning = rule.running && (mayFail(getThen()) || mayFail(getOtherwise()));
    if (givesRunning)
      inputs.push_back(rule.running);
    if (failed(batchBody(rule, getThen(), then, ValueRange(inputs).getTypes(), &single, givesRunning)) ||
        failed(batchBody(rule, getOtherwise(), otherwise, ValueRange(inputs).getTypes(), &single, givesRunning)))
      return failure();
    auto created =
        CondOp::create(rule.builder, getLoc(), then.front().getTerminator()->getOperandTypes(), rule[0], inputs);
    created.getThen().takeBody(then);
    created.getOtherwise().takeBody(otherwise);
    llvm::append_range(results, created.getResults());
    return success();
  }
  // Some examples take one branch and some the other: both are done for all, and each example takes its own.
  if (!isMemoryEffectFree(*this))
    return rule.refuse("decides for each example, and a branch has effects");
  // What is the same for all examples is not repeated for each, as far as its sizes are known.
  llvm::SmallBitVector single(getNumResults());
  for (unsigned i = 0; i < single.size(); ++i)
    single[i] = !dependent[i] || cast<RankedTensorType>(getResult(i).getType()).hasStaticShape();
  Value takesThen = runningWhere(rule, rule[0], getThen()), takesOther;
  if (mayFail(getOtherwise()))
    takesOther = runningWhere(rule, rule.create<LogicalNotOp>(rule[0]), getOtherwise());
  FailureOr<SmallVector<Value>> then = rule.body(rule.builder, getThen().front(), inputs, &single, takesThen),
                                otherwise =
                                    rule.body(rule.builder, getOtherwise().front(), inputs, &single, takesOther);
  if (failed(then) || failed(otherwise))
    return failure();
  for (auto [i, result] : llvm::enumerate(getResults())) {
    if (!dependent[i]) {
      results.push_back((*then)[i]);
      continue;
    }
    Value mask = rule.aligned(0, cast<RankedTensorType>(result.getType()).getRank());
    results.push_back(rule.create<SelectOp>(mask, (*then)[i], (*otherwise)[i]));
  }
  return success();
}

//===-- while -----------------------------------------------------------------------------------===//

void WhileOp::getEffects(Effects &effects) { effectsOf(*this, effects); }
void OnEntriesOp::getEffects(Effects &effects) { effectsOf(*this, effects); }

bool WhileOp::isVarying(unsigned variable) {
  ArrayRef<int64_t> varying = getVarying();
  for (size_t i = 0; i < varying.size(); i += 2)
    if (varying[i] == variable)
      return true;
  return false;
}

SmallVector<int64_t> WhileOp::getVaryingOf(ArrayRef<unsigned> variables, unsigned first) {
  SmallVector<int64_t> result;
  ArrayRef<int64_t> varying = getVarying();
  for (auto [number, variable] : llvm::enumerate(variables))
    for (size_t i = 0; i < varying.size(); i += 2)
      if (varying[i] == variable)
        result.append({static_cast<int64_t>(first + number), varying[i + 1]});
  return result;
}

// A loop that computes the values and their tangents together.
void WhileOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  Location location = getLoc();
  const unsigned count = getNumVariables();
  SmallVector<Value> values(getInitial());
  SmallVector<unsigned> floats = differentiableAmong(getInitial()), moving;
  SmallVector<Type> taken(ArrayRef<Type>(getArgumentTypes()).take_front(count));
  for (unsigned i : floats) {
    values.push_back(tangents[i] ? tangents[i] : zerosLike(builder, location, getInitial()[i]));
    taken.push_back(taken[i]);
  }
  SmallVector<int64_t> varying(getVarying());
  llvm::append_range(varying, getVaryingOf(floats, count));
  const unsigned newCount = values.size(), numInvariants = getInvariants().size();
  llvm::append_range(values, getInvariants());
  for (unsigned i = 0; i < numInvariants; ++i)
    if (tangents[count + i]) {
      values.push_back(tangents[count + i]);
      moving.push_back(i);
    }
  for (Value value : ArrayRef<Value>(values).slice(newCount))
    taken.push_back(value.getType());
  auto forward =
      WhileOp::create(builder, location, ArrayRef<Type>(taken).take_front(newCount), values, getCheckpoint(), varying);
  auto own = [&](ValueRange arguments) {
    SmallVector<Value> taken(arguments.take_front(count));
    llvm::append_range(taken, arguments.slice(newCount, numInvariants));
    return taken;
  };
  fillRegion(forward.getCondition(), builder, location, taken, [&](OpBuilder &inside, ValueRange arguments) {
    return emitWithoutEffects(getCondition(), inside, own(arguments));
  });
  fillRegion(forward.getBody(), builder, location, taken, [&](OpBuilder &inside, ValueRange arguments) {
    SmallVector<Value> yielded = emitWithoutEffects(getBody(), inside, own(arguments));
    SmallVector<Value> sources = selected(arguments, floats), directions(arguments.slice(count, floats.size()));
    for (auto [i, invariant] : llvm::enumerate(moving)) {
      sources.push_back(arguments[newCount + invariant]);
      directions.push_back(arguments[newCount + numInvariants + i]);
    }
    llvm::append_range(yielded, tangentsOf(inside, location, selected(yielded, floats), sources, directions));
    return yielded;
  });
  resultTangents.assign(getNumResults(), Value());
  for (auto [i, variable] : llvm::enumerate(floats))
    resultTangents[variable] = forward.getResult(count + i);
}

LogicalResult WhileOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  const unsigned count = getNumVariables();
  if (!getVarying().empty())
    return rule.refuse("has loop variables whose sizes vary, which differ from example to example");
  Block &conditionBlock = getCondition().front(), &bodyBlock = getBody().front();
  llvm::SmallBitVector batched(rule.numOperands());
  for (unsigned i = 0; i < rule.numOperands(); ++i)
    batched[i] = rule.isBatched(i);
  // Which loop variables differ from example to example.
  const auto [differs, decidesForEach] = dependenceOf(*this, batched);
  SmallVector<Value> values;
  for (unsigned i = 0; i < rule.numOperands(); ++i)
    values.push_back(differs[i] ? rule.all(i) : rule[i]);
  llvm::SmallBitVector single(count);
  for (unsigned i = 0; i < count; ++i)
    single[i] = !differs[i];

  if (!decidesForEach) {
    Region condition, body;
    llvm::SmallBitVector decision(1, true);
    const bool givesRunning = rule.running && (mayFail(getCondition()) || mayFail(getBody()));
    if (givesRunning)
      values.push_back(rule.running);
    if (failed(batchBody(rule, getCondition(), condition, ValueRange(values).getTypes(), &decision, givesRunning)) ||
        failed(batchBody(rule, getBody(), body, ValueRange(values).getTypes(), &single, givesRunning)))
      return failure();
    auto created = WhileOp::create(rule.builder, getLoc(), body.front().getTerminator()->getOperandTypes(), values,
                                   getCheckpoint(), ArrayRef<int64_t>());
    created.getCondition().takeBody(condition);
    created.getBody().takeBody(body);
    // Stacks above all stay one for all examples: derivatives could not add up those of copies.
    llvm::append_range(results, created.getResults());
    return success();
  }

  // The loop runs until all examples are through. A mask tells which still run; the others keep their values.
  if (!isMemoryEffectFree(*this))
    return rule.refuse("ends for each example on its own, and has effects");
  FailureOr<SmallVector<Value>> first = rule.body(rule.builder, conditionBlock, values, nullptr, rule.running);
  if (failed(first))
    return failure();
  SmallVector<Value> all(values.begin(), values.begin() + count);
  all.push_back(rule.running ? rule.create<LogicalAndOp>(rule.running, (*first)[0]) : (*first)[0]);
  all.append(values.begin() + count, values.end());
  auto created = WhileOp::create(rule.builder, getLoc(), ValueRange(all).take_front(count + 1).getTypes(), all,
                                 getCheckpoint(), ArrayRef<int64_t>());
  fillRegion(created.getCondition(), rule.builder, getLoc(), ValueRange(all).getTypes(),
             [&](OpBuilder &inside, ValueRange arguments) -> SmallVector<Value> {
               Value counted = CastOp::create(inside, getLoc(), arguments[count], TypeAttr::get(inside.getI64Type()));
               Value running = SumOp::create(inside, getLoc(), counted, ArrayRef<int64_t>{0}, false);
               return {GreaterOp::create(inside, getLoc(), running, number(inside, getLoc(), 0))};
             });
  LogicalResult filled = success();
  fillRegion(created.getBody(), rule.builder, getLoc(), ValueRange(all).getTypes(),
             [&](OpBuilder &inside, ValueRange arguments) -> SmallVector<Value> {
               SmallVector<Value> taken(arguments.take_front(count));
               llvm::append_range(taken, arguments.drop_front(count + 1));
               FailureOr<SmallVector<Value>> next = rule.body(inside, bodyBlock, taken, &single, arguments[count]);
               if (failed(next))
                 return filled = failure(), SmallVector<Value>(arguments.take_front(count + 1));
               OpBuilder::InsertionGuard guard(rule.builder);
               rule.builder.setInsertionPoint(inside.getBlock(), inside.getInsertionPoint());
               for (unsigned i = 0; i < count; ++i) {
                 if (isGivenOn(getBody().getArgument(i))) { // nor is it kept for each iteration
                   (*next)[i] = arguments[i];
                   continue;
                 }
                 Value mask = rule.aligned(arguments[count], cast<RankedTensorType>(getResult(i).getType()).getRank());
                 (*next)[i] = rule.create<SelectOp>(mask, (*next)[i], arguments[i]);
               }
               SmallVector<Value> state(*next);
               llvm::append_range(state, arguments.drop_front(count + 1));
               inside.setInsertionPointToEnd(arguments[0].getParentBlock());
               FailureOr<SmallVector<Value>> still =
                   rule.body(inside, conditionBlock, state, nullptr, arguments[count]);
               if (failed(still))
                 return filled = failure(), SmallVector<Value>(arguments.take_front(count + 1));
               next->push_back(LogicalAndOp::create(inside, getLoc(), arguments[count], (*still)[0]));
               return *next;
             });
  if (failed(filled))
    return failure();
  llvm::append_range(results, created.getResults().take_front(count));
  return success();
}

//===-- on_entries ------------------------------------------------------------------------------===//

LogicalResult OnEntriesOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &) {
  return rule.refuse("takes entries of its own sizes for each example");
}

} // namespace calque::ir
