#include "ir/GradientRule.h"
#include "ir/Values.h"
#include "passes/Transforms.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace calque::ir;

namespace {

// Reverse mode: walks the operations before a gradient backwards, in its block and the blocks around it.
class ReverseMode {
public:
  ReverseMode(GradientOp gradient, calque::Emitted &emitted)
      : gradient(gradient), emitted(emitted), emission(emitted), builder(gradient, &emission) {
    ArrayRef<int64_t> counts = gradient.getCounts();
    ValueRange values = gradient.getValues();
    targets = values.take_front(counts[0]);
    seeds = values.slice(counts[0], counts[0]);
    sources = values.slice(2 * counts[0], counts[1]);
    ValueRange stopValues = values.drop_front(2 * counts[0] + counts[1]);
    stops.insert(stopValues.begin(), stopValues.end());
  }

  LogicalResult run(SmallVectorImpl<Value> *found) {
    if (failed(findActive()))
      return failure();
    if (!emitted.empty())
      shareEmitted();
    for (auto [target, seed] : llvm::zip_equal(targets, seeds))
      if (active.contains(target))
        accumulate(target, seed, gradient.getLoc());
    for (Operation *op : llvm::reverse(path))
      if (failed(reverse(op)))
        return failure();
    for (auto [argument, op] : carried)
      if (cotangents.contains(argument))
        return refuse(op);
    for (auto [result, source] : llvm::zip_equal(gradient.getResults(), sources)) {
      Value cotangent = cotangents.lookup(source);
      if (found)
        found->push_back(cotangent);
      if (result.use_empty())
        continue;
      if (!cotangent)
        cotangent = GradientRule(builder, gradient.getLoc(), source).zerosLike(source);
      calque::replaceResult(builder, result, cotangent);
    }
    emitted.erase(gradient);
    for (Operation *op : replaced)
      emitted.erase(op);
    return emission.expandTransforms();
  }

private:
  // Operations of other dialects have no reverse rules. A gradient through one is an error, never zero.
  LogicalResult refuse(Operation *op) {
    InFlightDiagnostic diagnostic =
        op->emitOpError("passes a gradient on, and only operations of the dialect have derivatives");
    diagnostic.attachNote(gradient.getLoc()) << "the gradient";
    return diagnostic;
  }

  bool takesActive(Operation *op) {
    return op
        ->walk([&](Operation *inner) {
          bool takes = llvm::any_of(inner->getOperands(), [&](Value operand) {
            return active.contains(operand) && isDifferentiable(operand);
          });
          return takes ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  // Finds the active values of the blocks around the gradient, from the outermost block inwards. The operation that
  // contains the next block ends the walk of each.
  LogicalResult findActive() {
    active.insert(sources.begin(), sources.end());
    boundary.insert(stops.begin(), stops.end());
    boundary.insert(sources.begin(), sources.end());
    ends.push_back(gradient);
    // A program inside of an operation uses nothing from around it.
    while (!isa<func::FuncOp, SchemaOpInterface>(ends.back()->getParentOp()))
      ends.push_back(ends.back()->getParentOp());
    std::reverse(ends.begin(), ends.end());
    findReaching();
    for (Operation *end : ends) {
      Block *block = end->getBlock();
      // Behind a branch, neither the values of block arguments nor the blocks executed before are known.
      if (!block->isEntryBlock())
        return gradient.emitOpError(
            "stands behind a branch; gradients are followed through a region's first block only");
      findActive(reaching[block]);
      if (end != gradient && llvm::any_of(end->getOperands(), [&](Value operand) { return active.contains(operand); }))
        for (Region &region : end->getRegions())
          for (BlockArgument argument : region.getArguments()) {
            active.insert(argument);
            carried.emplace_back(argument, end);
          }
    }
    return success();
  }

  // Finds what the targets depend on, back to the stops. What comes before these is not looked at: it may be long, as
  // the earlier iterations of a loop are that is traced one by one.
  void findReaching() {
    for (Operation *end : ends)
      reaching[end->getBlock()];
    SmallVector<Value> next(targets.begin(), targets.end());
    for (Operation *end : ArrayRef(ends).drop_back())
      next.append(end->operand_begin(), end->operand_end());
    llvm::DenseSet<Operation *> found;
    while (!next.empty()) {
      Value value = next.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || stops.contains(value) || !found.insert(op).second)
        continue;
      auto ofBlock = reaching.find(op->getBlock());
      if (ofBlock == reaching.end()) // in a region of what is found already
        continue;
      ofBlock->second.push_back(op);
      op->walk([&](Operation *inner) { next.append(inner->operand_begin(), inner->operand_end()); });
    }
    for (auto &[block, ops] : reaching)
      llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }

  // Finds the values that depend on a source, and the operations between them.
  void findActive(ArrayRef<Operation *> ops) {
    for (Operation *op : ops) {
      auto schemaOp = dyn_cast<SchemaOpInterface>(op);
      if (schemaOp && !calque::schema::schemaOf(schemaOp.schemaId()).differentiable)
        continue;
      if (!takesActive(op))
        continue;
      bool passes = false;
      for (Value result : op->getResults()) {
        if (!isDifferentiable(result) || (stops.contains(result) && !llvm::is_contained(sources, result)))
          continue;
        // A source that is a stop receives its cotangent, but its defining operation receives none.
        active.insert(result);
        passes |= !stops.contains(result);
      }
      if (passes)
        path.push_back(op);
    }
  }

  // Lets one of several operations that compute the same stand for the others, so that its rule is applied once, to the
  // sum of their cotangents. What users have written is not shared with each other: how a derivative is rounded would
  // depend on what else is there, and differ from that of an eager tape, to which constants are just tensors. So only
  // what the targets depend on counts, and what rules have emitted is shared with each other and with the path.
  void shareEmitted() {
    llvm::DenseSet<Operation *> ofPath(path.begin(), path.end());
    for (Operation *end : ends)
      for (Operation *op : reaching[end->getBlock()])
        if ((emitted.contains(op) || ofPath.contains(op)) && isShared(op))
          ofPath.erase(op);
    llvm::erase_if(path, [&](Operation *op) { return !ofPath.contains(op); });
  }

  // Whether an earlier operation stands for this one from here on. Sources and stops stay themselves, because no
  // cotangent passes through them.
  bool isShared(Operation *op) {
    auto isBoundary = [&](Value result) { return boundary.contains(result); };
    if (op->getNumRegions() || !isMemoryEffectFree(op) || llvm::any_of(op->getResults(), isBoundary))
      return false;
    llvm::hash_code hash =
        OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                          OperationEquivalence::ignoreHashValue, OperationEquivalence::IgnoreLocations);
    size_t operands = 0; // the same in any order
    for (Value operand : op->getOperands())
      operands += hash_value(meaningOf(operand));
    hash = llvm::hash_combine(hash, operands);
    SmallVector<Operation *, 1> &alike = byHash[hash];
    for (Operation *other : alike)
      if ((emitted.contains(op) || emitted.contains(other)) && isSame(op, other)) {
        for (auto [result, standIn] : llvm::zip_equal(op->getResults(), other->getResults()))
          standIns[result] = standIn;
        return true;
      }
    alike.push_back(op);
    return false;
  }

  bool isSame(Operation *a, Operation *b) {
    auto operandsOf = [&](Operation *op) {
      auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return meaningOf(operand); });
      if (op->hasTrait<OpTrait::IsCommutative>())
        llvm::sort(operands, [](Value x, Value y) { return x.getAsOpaquePointer() < y.getAsOpaquePointer(); });
      return operands;
    };
    return OperationEquivalence::isEquivalentTo(a, b, OperationEquivalence::ignoreValueEquivalence, nullptr,
                                                OperationEquivalence::IgnoreLocations) &&
           operandsOf(a) == operandsOf(b);
  }

  Value standInOf(Value value) const {
    Value standIn = standIns.lookup(value);
    return standIn ? standIn : value;
  }

  // What the value is but for identities. A function that is called in a trace has some that an eager tape does not.
  Value meaningOf(Value value) const {
    value = standInOf(value);
    for (auto identity = value.getDefiningOp<IdentityOp>(); identity && !boundary.contains(value);
         identity = value.getDefiningOp<IdentityOp>())
      value = standInOf(identity.getX());
    return value;
  }

  void accumulate(Value value, Value cotangent, Location location) {
    value = standInOf(value);
    // The cotangent's type and the operand's may differ in which sizes are static.
    if (cotangent.getType() != value.getType())
      cotangent = ReshapeLikeOp::create(builder, location, cotangent, value);
    Value &sum = cotangents[value];
    sum = GradientRule(builder, location, value).sum(sum, cotangent);
  }

  LogicalResult reverse(Operation *op) {
    // A stop at one result leaves the cotangents of the others.
    auto cotangentOf = [&](Value result) { return stops.contains(result) ? Value() : cotangents.lookup(result); };
    if (llvm::none_of(op->getResults(), cotangentOf))
      return success();
    if (auto keeping = dyn_cast<KeepingOpInterface>(op))
      op = keep(keeping);
    SmallVector<Value> resultCotangents =
        llvm::map_to_vector(op->getResults(), [&](OpResult result) -> Value { return cotangentOf(result); });
    auto schemaOp = dyn_cast<SchemaOpInterface>(op);
    if (!schemaOp)
      return refuse(op);
    llvm::SmallBitVector needed(op->getNumOperands());
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      needed[i] = active.contains(operand) && isDifferentiable(operand);
    SmallVector<Value> operandCotangents;
    schemaOp.buildVjp(builder, resultCotangents, needed, operandCotangents);
    if (failed(expandEmitted(operandCotangents)))
      return failure();
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (needed[i] && operandCotangents[i])
        accumulate(operand, operandCotangents[i], op->getLoc());
    return success();
  }

  // Expands the gradients that a rule has emitted. No cotangent passes where they find no path: zeros would become NaN
  // at an infinite derivative further back.
  LogicalResult expandEmitted(MutableArrayRef<Value> operandCotangents) {
    SmallVector<std::tuple<Value *, Operation *, unsigned>> given; // the expansion erases what is asked here
    llvm::MapVector<Operation *, SmallVector<Value>> expanded;
    for (Value &cotangent : operandCotangents)
      if (auto inner = cotangent ? cotangent.getDefiningOp<GradientOp>() : GradientOp();
          inner && (expanded.contains(inner) || emission.take(inner))) {
        given.emplace_back(&cotangent, inner, cast<OpResult>(cotangent).getResultNumber());
        expanded.try_emplace(inner);
      }
    for (auto &[inner, cotangents] : expanded)
      if (failed(calque::expand(cast<GradientOp>(inner), emitted, &cotangents)))
        return failure();
    for (auto [cotangent, inner, number] : given)
      *cotangent = expanded[inner][number];
    return success();
  }

  // Replaces an operation by one that keeps what its reverse takes.
  Operation *keep(KeepingOpInterface op) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    Operation *keeping = op.keepForReverse(builder);
    for (auto [result, kept] : llvm::zip(op->getResults(), keeping->getResults())) {
      for (llvm::DenseSet<Value> *each : {&stops, &active, &boundary})
        if (each->erase(result))
          each->insert(kept);
      if (Value cotangent = cotangents.lookup(result))
        cotangents[kept] = cotangent;
      result.replaceAllUsesWith(kept);
    }
    for (auto &[value, cotangent] : cotangents) // a seed may be a result
      if (cotangent && cotangent.getDefiningOp() == op.getOperation())
        cotangent = keeping->getResult(cast<OpResult>(cotangent).getResultNumber());
    replaced.push_back(op);
    return keeping;
  }

  GradientOp gradient;
  calque::Emitted &emitted;
  calque::Emission emission;
  OpBuilder builder;
  SmallVector<Operation *> replaced; // which nothing uses any more
  ValueRange targets, seeds, sources;
  SmallVector<Operation *> ends; // in each block around the gradient, what ends the walk
  llvm::DenseSet<Value> stops, active, boundary;
  llvm::DenseMap<Block *, SmallVector<Operation *>> reaching; // what the targets depend on, in the order of the program
  SmallVector<Operation *> path;
  SmallVector<std::pair<Value, Operation *>>
      carried; // arguments of blocks around the gradient, which may depend on a source
  llvm::DenseMap<Value, Value> cotangents;
  llvm::DenseMap<size_t, SmallVector<Operation *, 1>> byHash; // operations of the path
  llvm::DenseMap<Value, Value> standIns;
};

} // namespace

LogicalResult calque::expand(GradientOp gradient, Emitted &emitted, SmallVectorImpl<Value> *cotangents) {
  return ReverseMode(gradient, emitted).run(cotangents);
}
