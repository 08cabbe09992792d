// Derivatives in reverse through loops: what a loop keeps of its iterations, and the loop that takes them backwards.
#include "ir/GradientRule.h"
#include "ir/RegionValues.h"
#include "ir/Regions.h"
#include "ir/Values.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace calque::ir {

namespace {

constexpr int64_t kResidual = -1, kRead = -2, kEffect = -3; // what is kept, beside loop variables

// What takes long to compute again, and what elementwise operations alone make of it, such as the sum of two products:
// where the reverse needs no more than that, it is dropped itself.
llvm::SetVector<Value> residualsOf(Block &body) {
  llvm::SetVector<Value> residuals;
  for (Operation &op : body.without_terminator()) {
    if (mayRepeat(&op)) // it waits for others, and is not to do so again
      residuals.insert(op.result_begin(), op.result_end());
    if (!op.hasTrait<Costly>())
      continue;
    Value value = op.getResult(0);
    residuals.insert(value);
    while (value.hasOneUse()) {
      auto type = cast<RankedTensorType>(value.getType());
      Operation *user = *value.getUsers().begin();
      if (!isa<ElementwiseOpInterface>(user) || user->getBlock() != &body || !type.hasStaticShape() ||
          user->getResult(0).getType() != type)
        break;
      value = user->getResult(0);
    }
    residuals.insert(value);
  }
  return residuals;
}

// What effects of a body give, such as host calls, which must not be done again.
SmallVector<Value> resultsOfEffects(Block &body) {
  SmallVector<Value> results;
  for (Operation &op : body.without_terminator())
    if (op.getNumRegions() == 0 && !isMemoryEffectFree(&op) && !mayRepeat(&op))
      llvm::copy_if(op.getResults(), std::back_inserter(results),
                    [](Value result) { return cast<RankedTensorType>(result.getType()).hasStaticShape(); });
  return results;
}

bool isOnlyUpdated(Value value);

// What a value was before slices of it were changed by operations whose derivatives need no elements of it.
Value beforeUpdates(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<UpdateAtOp, ScatterNdSetOp, ScatterNdAddOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

// Whether a use gives a value on, or updates a slice of it, and nothing looks at what comes of it: none needs its
// elements. A branch may do so, and an inner loop in its iterations.
bool isUpdate(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<UpdateAtOp, ScatterNdSetOp, ScatterNdAddOp>(user))
    return use.getOperandNumber() == 0 && isOnlyUpdated(user->getResult(0));
  if (auto cond = dyn_cast<CondOp>(user)) {
    if (use.getOperandNumber() == 0)
      return false;
    for (Region &branch : cond->getRegions()) {
      BlockArgument argument = branch.getArgument(use.getOperandNumber() - 1);
      if (!isOnlyUpdated(argument))
        return false;
      for (auto [given, result] : llvm::zip_equal(branch.front().getTerminator()->getOperands(), cond.getResults()))
        if (beforeUpdates(given) == argument && !isOnlyUpdated(result))
          return false;
    }
    return true;
  }
  auto inner = dyn_cast<WhileOp>(user);
  const unsigned number = use.getOperandNumber();
  if (!inner || number >= inner.getNumVariables())
    return isa<vector::YieldOp>(use.getOwner());
  BlockArgument argument = inner.getBody().getArgument(number);
  // What the body gives on becomes this loop variable again, and no other.
  auto staysItself = [&](Value value) {
    for (OpOperand &yielded : inner.getBody().front().getTerminator()->getOpOperands())
      if (yielded.get() == value && yielded.getOperandNumber() != number)
        return false;
    return true;
  };
  Value updated = inner.getBody().front().getTerminator()->getOperand(number);
  for (Value before = beforeUpdates(updated); updated != before; updated = updated.getDefiningOp()->getOperand(0))
    if (!staysItself(updated))
      return false;
  return updated == argument && staysItself(argument) && inner.getCondition().getArgument(number).use_empty() &&
         isOnlyUpdated(argument) && isOnlyUpdated(inner.getResult(number));
}

// Whether nothing but updates of slices looks at a value, and at what they make of it.
bool isOnlyUpdated(Value value) { return llvm::all_of(value.getUses(), isUpdate); }

// Finds the slices that a loop's body takes of a loop variable, where it looks at nothing else of it: they are kept in
// its place. Not so if they are as much.
bool findReads(BlockArgument variable, SmallVectorImpl<Operation *> &reads) {
  auto type = cast<RankedTensorType>(variable.getType());
  int64_t numRead = 0;
  for (OpOperand &use : variable.getUses()) {
    if (isUpdate(use))
      continue;
    Operation *read = use.getOwner();
    auto slice = cast<RankedTensorType>(read->getNumResults() ? read->getResult(0).getType() : variable.getType());
    auto gather = dyn_cast<GatherOp>(read);
    const bool isOfOneIndex = gather && cast<RankedTensorType>(gather.getIndices().getType()).getRank() == 0,
               isNamed = isa<GatherNdOp>(read) && slice.hasStaticShape();
    if ((!isOfOneIndex && !isNamed) || use.getOperandNumber() != 0 || read->hasAttr(kExamplesAttr))
      return false;
    reads.push_back(read);
    if (type.hasStaticShape()) {
      numRead += slice.getNumElements();
    } else if (gather) {
      const auto axis = static_cast<int64_t>(gather.getAxis());
      const int64_t size = type.getDimSize(static_cast<unsigned>(axis < 0 ? axis + type.getRank() : axis));
      if (!ShapedType::isDynamic(size) && size <= static_cast<int64_t>(reads.size()))
        return false;
    }
  }
  return !type.hasStaticShape() || reads.empty() || numRead < type.getNumElements();
}

// The loop as one of segments, each a loop of its own: the first has one iteration, and each has one more than the one
// before. So there are about as many as the longest has iterations, however many these are in all. The results are
// those of the loop, whether it goes on, and the length of the segment that would be next.
WhileOp inSegments(WhileOp loop, OpBuilder &builder) {
  Location location = loop.getLoc();
  const unsigned count = loop.getNumVariables(), newCount = count + 2;
  SmallVector<Value> values(loop.getInitial());
  // The decisions are loop variables, so that the condition is computed as often as it was.
  values.push_back(emitBody(loop.getCondition(), builder, loop.getValues())[0]);
  values.push_back(number(builder, location, 1));
  llvm::append_range(values, loop.getInvariants());
  auto own = [&](ValueRange variables, ValueRange arguments) {
    SmallVector<Value> taken(variables.take_front(count));
    llvm::append_range(taken, arguments.drop_front(newCount));
    return taken;
  };
  TypeRange arguments = ValueRange(values).getTypes(), variables = arguments.take_front(newCount);
  OpBuilder unheard(builder.getContext()); // what is given on is emitted once more
  unheard.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
  auto segments = WhileOp::create(unheard, location, variables, values, false, ArrayRef<int64_t>());
  auto segment = [&](OpBuilder &outer, ValueRange given) {
    auto inner = WhileOp::create(outer, location, variables, given, false, ArrayRef<int64_t>());
    fillRegion(inner.getCondition(), outer, location, arguments,
               [&](OpBuilder &inside, ValueRange all) -> SmallVector<Value> {
                 Value isLeft = GreaterOp::create(inside, location, all[count + 1], number(inside, location, 0));
                 return {LogicalAndOp::create(inside, location, all[count], isLeft)};
               });
    fillRegion(inner.getBody(), outer, location, arguments, [&](OpBuilder &inside, ValueRange all) {
      SmallVector<Value> next = emitBody(loop.getBody(), inside, own(all, all));
      next.push_back(emitBody(loop.getCondition(), inside, own(next, all))[0]);
      next.push_back(SubOp::create(inside, location, all[count + 1], number(inside, location, 1)));
      return next;
    });
    return inner;
  };
  fillRegion(segments.getCondition(), unheard, location, arguments,
             [&](OpBuilder &, ValueRange all) -> SmallVector<Value> { return {all[count]}; });
  fillRegion(segments.getBody(), unheard, location, arguments, [&](OpBuilder &inside, ValueRange all) {
    SmallVector<Value> next(segment(inside, all).getResults());
    next.back() = AddOp::create(inside, location, all[count + 1], number(inside, location, 1));
    for (BlockArgument variable : loop.getBody().getArguments().take_front(count))
      if (isGivenOn(variable))
        next[variable.getArgNumber()] = all[variable.getArgNumber()];
    return next;
  });
  return segments;
}

// A result of an operation, as that of the one that it has become.
Value sameResult(Value value, Operation *other) { return other->getResult(cast<OpResult>(value).getResultNumber()); }

} // namespace

// The new loop counts its iterations, and puts the values that the loop variables have at the beginning of each, or the
// slices that are all that it takes of them, and what takes long to compute again, on stacks. Its loop variables are
// those of this one, the number, and the stacks. With `checkpoint` it is the loop of segments that does so; the
// reverse of a segment keeps what its own iterations take.
Operation *WhileOp::keepForReverse(OpBuilder &builder) {
  if (getCheckpoint() && getVarying().empty()) {
    WhileOp segments = inSegments(*this, builder);
    Operation *keeping = segments.keepForReverse(builder);
    segments.erase();
    return keeping;
  }
  SmallVector<int64_t> kept;
  unsigned count = getNumVariables();
  SmallVector<Operation *> reads;
  for (BlockArgument argument : getBody().getArguments().take_front(count)) {
    SmallVector<Operation *> own;
    if (!isVarying(argument.getArgNumber()) && findReads(argument, own))
      llvm::append_range(reads, own);
    else if (!isGivenOn(argument)) // the reverse has the initial value
      kept.push_back(argument.getArgNumber());
  }
  // What has sizes that vary is computed again.
  llvm::SetVector<Value> residuals;
  if (getVarying().empty())
    residuals = residualsOf(getBody().front());
  // What is the same in all iterations the reverse does once, before it.
  const llvm::DenseSet<Operation *> once = doneOnce(*this);
  residuals.remove_if([&](Value residual) { return once.contains(residual.getDefiningOp()); });
  const size_t firstResidual = kept.size();
  kept.append(residuals.size(), kResidual);
  kept.append(reads.size(), kRead);
  for (Operation *read : reads)
    residuals.insert(read->getResult(0));
  SmallVector<Value> ofEffects = resultsOfEffects(getBody().front());
  kept.append(ofEffects.size(), kEffect);
  residuals.insert(ofEffects.begin(), ofEffects.end());
  Location location = getLoc();
  SmallVector<Value> values(getInitial());
  values.push_back(number(builder, location, 0));
  if (!kept.empty())
    values.append(kept.size(), emptyStack(builder, location));
  unsigned newCount = values.size();
  llvm::append_range(values, getInvariants());
  SmallVector<Type> arguments = getArgumentTypes();
  SmallVector<Type> taken(ArrayRef<Type>(arguments).take_front(count));
  for (Value value : ArrayRef<Value>(values).slice(count))
    taken.push_back(value.getType());
  auto keeping =
      WhileOp::create(builder, location, ArrayRef<Type>(taken).take_front(newCount), values, false, getVarying());
  auto own = [&](ValueRange arguments) {
    SmallVector<Value> taken(arguments.take_front(count));
    llvm::append_range(taken, arguments.drop_front(newCount));
    return taken;
  };
  fillRegion(keeping.getCondition(), builder, location, taken,
             [&](OpBuilder &inside, ValueRange arguments) { return emitBody(getCondition(), inside, own(arguments)); });
  fillRegion(keeping.getBody(), builder, location, taken, [&](OpBuilder &inside, ValueRange arguments) {
    SmallVector<Value> pushed(kept.size());
    auto push = [&](size_t i, Value value) {
      Value stack = arguments[count + 1 + i];
      pushed[i] = i < firstResidual && isVarying(kept[i])
                      ? SizedPushOp::create(inside, location, stack, value).getResult()
                      : StackPushOp::create(inside, location, stack, value).getResult();
    };
    for (size_t i = 0; i < firstResidual; ++i)
      push(i, arguments[kept[i]]);
    auto pushResiduals = [&](Operation *from, Operation *to) {
      for (auto [i, residual] : llvm::enumerate(residuals))
        if (residual.getDefiningOp() == from)
          push(firstResidual + i, sameResult(residual, to));
    };
    SmallVector<Value> yielded = emitBody(getBody(), inside, own(arguments), pushResiduals);
    yielded.push_back(AddOp::create(inside, location, arguments[count], number(inside, location, 1)));
    llvm::append_range(yielded, pushed);
    return yielded;
  });
  keeping->setAttr(kKeptAttr, builder.getDenseI64ArrayAttr(kept));
  return keeping;
}

namespace {

// A value of the same type and sizes that needs no computing if these are known.
Value sizedLike(OpBuilder &builder, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (!type.hasStaticShape())
    return value;
  return zerosOf(builder, value.getLoc(), type);
}

// The loop variables of a body that cotangents of its results reach, in some iteration. Zeros for the others would
// become NaN at an infinite derivative.
SmallVector<unsigned> withCotangents(Region &body, ArrayRef<unsigned> floats, ValueRange cotangents) {
  ValueRange next = body.front().getTerminator()->getOperands();
  llvm::DenseSet<Value> reached;
  SmallVector<Value> open;
  auto reach = [&](Value value) {
    if (isDifferentiable(value) && reached.insert(value).second)
      open.push_back(value);
  };
  for (unsigned i : floats)
    if (cotangents[i])
      reach(next[i]), reach(body.getArgument(i)); // without an iteration it is the result
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == &body.front()) {
      if (llvm::is_contained(floats, argument.getArgNumber()))
        reach(next[argument.getArgNumber()]);
    } else if (Operation *op = value.getDefiningOp()) {
      op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), reach); });
    }
  }
  SmallVector<unsigned> result;
  llvm::copy_if(floats, std::back_inserter(result), [&](unsigned i) { return reached.contains(body.getArgument(i)); });
  return result;
}

// Whether derivatives go to a value, and not only its type and sizes are taken.
bool isMoreThanLike(BlockArgument value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    return !isa<StackPopOp, SizedPopOp, StackEmptyOp, OpenSizesOp>(use.getOwner()) ||
           (use.getOperandNumber() == 0 && !isa<StackEmptyOp>(use.getOwner()));
  });
}

} // namespace

// Takes the iterations backwards, each computed again from what the stacks hold.
void WhileOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                       SmallVectorImpl<Value> &operandCotangents) {
  operandCotangents.assign(getOperation()->getNumOperands(), Value());
  SmallVector<int64_t> kept(cast<DenseI64ArrayAttr>(getOperation()->removeAttr(kKeptAttr)).asArrayRef());
  Location location = getLoc();
  const unsigned count = getNumVariables() - 1 - kept.size();
  SmallVector<Value> initial(getInitial().take_front(count)), invariants(getInvariants());
  for (unsigned i = 0; i < count; ++i)
    if (isVarying(i)) // of the type that iterations see
      initial[i] = getResult(i);
  SmallVector<unsigned> floats = withCotangents(getBody(), differentiableAmong(initial), cotangents),
                        sums; // loop variables and invariants with cotangents
  for (unsigned i = 0; i < invariants.size(); ++i)
    if (needed[getNumVariables() + i] && isMoreThanLike(getBody().getArgument(getNumVariables() + i)))
      sums.push_back(i);

  auto residualOn = [&](size_t stack) {
    return cast<StackPushOp>(getBody().front().getTerminator()->getOperand(count + 1 + stack).getDefiningOp()).getX();
  };
  auto readOn = [&](size_t stack) { return residualOn(stack).getDefiningOp(); };
  auto variableOf = [](Operation *read) { return cast<BlockArgument>(read->getOperand(0)).getArgNumber(); };

  // The number of iterations to go, the stacks, the cotangents, and the sums of those of invariants.
  SmallVector<Value> values{getResult(count)};
  llvm::append_range(values, getResults().drop_front(count + 1));
  const unsigned firstCotangent = values.size();
  for (unsigned i : floats)
    values.push_back(cotangents[i] ? cotangents[i] : zerosLike(builder, location, getResult(i)));
  const SmallVector<int64_t> varying = getVaryingOf(floats, firstCotangent);
  const unsigned firstSum = values.size();
  for (unsigned i : sums)
    values.push_back(zerosLike(builder, location, invariants[i]));
  const unsigned newCount = values.size();
  llvm::append_range(values, invariants);
  const unsigned firstInitial = values.size();
  llvm::append_range(values, initial); // for types and sizes
  auto reverse =
      WhileOp::create(builder, location, ValueRange(values).take_front(newCount).getTypes(), values, false, varying);
  // Between the regions of this loop, which may be an inner one of what `builder` emits, and the new ones.
  fillRegion(reverse.getCondition(), builder, location, ValueRange(values).getTypes(),
             [&](OpBuilder &inside, ValueRange arguments) -> SmallVector<Value> {
               return {GreaterOp::create(inside, location, arguments[0], number(inside, location, 0))};
             });
  fillRegion(reverse.getBody(), builder, location, ValueRange(values).getTypes(),
             [&](OpBuilder &inside, ValueRange arguments) {
               SmallVector<Value> yielded{SubOp::create(inside, location, arguments[0], number(inside, location, 1))};
               // This loop's body takes its loop variables, the number and the stacks, and the invariants. What it
               // makes of the number and the stacks is not needed.
               SmallVector<Value> state(count), stacks(kept.size());
               auto pop = [&](size_t i, Value like) -> Value {
                 if (kept[i] >= 0 && isVarying(kept[i])) {
                   auto popped = SizedPopOp::create(inside, location, arguments[1 + i], like, false);
                   stacks[i] = popped.getBelow();
                   return popped.getEntry();
                 }
                 auto popped = StackPopOp::create(inside, location, arguments[1 + i], like);
                 stacks[i] = popped.getBelow();
                 return popped.getEntry();
               };
               IRMapping mapping;
               SmallVector<Operation *> reads; // through which cotangents pass
               for (auto [i, variable] : llvm::enumerate(kept))
                 if (variable >= 0) {
                   state[variable] = pop(i, arguments[firstInitial + variable]);
                 } else if (variable == kRead) {
                   Operation *read = readOn(i);
                   Value like = read->getResult(0);
                   if (auto gather = dyn_cast<GatherOp>(read))
                     like = GatherOp::create(inside, location, arguments[firstInitial + variableOf(read)],
                                             number(inside, location, 0), gather.getAxis());
                   mapping.map(read->getResult(0), pop(i, sizedLike(inside, like)));
                   if (llvm::is_contained(floats, variableOf(read)))
                     reads.push_back(read);
                 } else if (variable == kEffect) {
                   Value result = residualOn(i);
                   mapping.map(result, pop(i, zerosOf(inside, location, typeOf(result))));
                 }
               for (unsigned i = 0; i < count; ++i)
                 if (!state[i]) // the same in all iterations, or the body looks at slices of it alone, or not at all
                   state[i] = IdentityOp::create(inside, location, arguments[firstInitial + i]);
               SmallVector<Value> taken(state);
               taken.push_back(arguments[0]);
               llvm::append_range(taken, arguments.slice(1, kept.size()));
               llvm::append_range(taken, arguments.slice(newCount, invariants.size()));
               // What was kept of a body is written as computed, so that cotangents pass it, and known.
               auto takeResiduals = [&](Operation *from, Operation *to) {
                 for (auto [i, variable] : llvm::enumerate(kept))
                   if (variable == kResidual && residualOn(i).getDefiningOp() == from) {
                     Value computed = sameResult(residualOn(i), to);
                     KnownOp::create(inside, location, computed, pop(i, sizedLike(inside, computed)));
                   }
               };
               SmallVector<Value> next = emitWithoutEffects(getBody(), inside, taken, takeResiduals, mapping);
               SmallVector<Value> sources = selected(state, floats);
               for (unsigned i : sums)
                 sources.push_back(arguments[newCount + i]);
               for (Operation *read : reads)
                 sources.push_back(mapping.lookup(read->getResult(0)));
               SmallVector<Value> found =
                   gradientOf(inside, location, selected(next, floats),
                              SmallVector<Value>(arguments.slice(firstCotangent, floats.size())), sources);
               // What passes to a slice passes on to its loop variable.
               for (size_t i = reads.size(); i-- > 0;) {
                 const unsigned variable = variableOf(reads[i]);
                 Value slice = found[floats.size() + sums.size() + i],
                       indices = mapping.lookup(reads[i]->getOperand(1));
                 Value &sum = found[llvm::find(floats, variable) - floats.begin()];
                 auto gather = dyn_cast<GatherOp>(reads[i]);
                 if (!gather) {
                   sum = ScatterNdAddOp::create(inside, location, sum, indices, slice);
                   continue;
                 }
                 Value put = GatherPutOp::create(inside, location, slice, state[variable], indices, gather.getAxis());
                 sum = AddOp::create(inside, location, sum, put);
               }
               llvm::append_range(yielded, stacks);
               llvm::append_range(yielded, ArrayRef(found).take_front(floats.size()));
               for (unsigned i = 0; i < sums.size(); ++i)
                 yielded.push_back(GradientRule(inside, location, arguments[firstSum + i])
                                       .sum(arguments[firstSum + i], found[floats.size() + i]));
               return yielded;
             });
  for (auto [i, variable] : llvm::enumerate(floats))
    if (needed[variable]) {
      Value &cotangent = operandCotangents[variable] = reverse.getResult(firstCotangent + i);
      // The sizes of the last are those that the loop has begun with, which its type does not say.
      if (isVarying(variable))
        cotangent = ReshapeLikeOp::create(builder, location, cotangent, getInitial()[variable]);
    }
  for (auto [i, invariant] : llvm::enumerate(sums))
    operandCotangents[getNumVariables() + invariant] = reverse.getResult(firstSum + i);
}

} // namespace calque::ir
