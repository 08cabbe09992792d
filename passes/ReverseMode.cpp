#include "ir/GradientRule.h"
#include "passes/Transforms.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace calque::ir;

namespace {

// Reverse mode: walks the operations before a gradient backwards, in its block and the blocks around it.
class ReverseMode {
public:
  explicit ReverseMode(GradientOp gradient) : gradient(gradient), builder(gradient, &emitted) {
    ArrayRef<int64_t> counts = gradient.getCounts();
    ValueRange values = gradient.getValues();
    targets = values.take_front(counts[0]);
    seeds = values.slice(counts[0], counts[0]);
    sources = values.slice(2 * counts[0], counts[1]);
    ValueRange stopValues = values.drop_front(2 * counts[0] + counts[1]);
    stops.insert(stopValues.begin(), stopValues.end());
  }

  LogicalResult run(SmallVectorImpl<bool> *connected) {
    if (failed(findActive()))
      return failure();
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
      if (connected)
        connected->push_back(static_cast<bool>(cotangent));
      if (!cotangent)
        cotangent = GradientRule(builder, gradient.getLoc(), source).zerosLike(source);
      calque::replaceResult(builder, result, cotangent);
    }
    gradient.erase();
    return emitted.expandAll();
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
            return active.contains(operand) && calque::isDifferentiable(operand);
          });
          return takes ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  // Finds the active values of the blocks around the gradient, from the outermost block inwards. The operation that
  // contains the next block ends the walk of each.
  LogicalResult findActive() {
    active.insert(sources.begin(), sources.end());
    SmallVector<Operation *> around{gradient};
    while (!isa<func::FuncOp>(around.back()->getParentOp()))
      around.push_back(around.back()->getParentOp());
    for (Operation *end : llvm::reverse(around)) {
      Block *block = end->getBlock();
      // Behind a branch, neither the values of block arguments nor the blocks executed before are known.
      if (!block->isEntryBlock())
        return gradient.emitOpError(
            "stands behind a branch; gradients are followed through a region's first block only");
      findActive(*block, end);
      if (end != gradient && llvm::any_of(end->getOperands(), [&](Value operand) { return active.contains(operand); }))
        for (Region &region : end->getRegions())
          for (BlockArgument argument : region.getArguments()) {
            active.insert(argument);
            carried.emplace_back(argument, end);
          }
    }
    return success();
  }

  // Finds the values of a block before `end` that depend on a source, and the operations between them.
  void findActive(Block &block, Operation *end) {
    for (Operation &op : block) {
      if (&op == end)
        break;
      auto schemaOp = dyn_cast<SchemaOpInterface>(op);
      if (schemaOp && !calque::schema::schemaOf(schemaOp.schemaId()).differentiable)
        continue;
      if (!takesActive(&op))
        continue;
      bool passes = false;
      for (Value result : op.getResults()) {
        if (!calque::isDifferentiable(result) || (stops.contains(result) && !llvm::is_contained(sources, result)))
          continue;
        // A source that is a stop receives its cotangent, but its defining operation receives none.
        active.insert(result);
        passes |= !stops.contains(result);
      }
      if (passes)
        path.push_back(&op);
    }
  }

  void accumulate(Value value, Value cotangent, Location location) {
    // The cotangent's type and the operand's may differ in which sizes are static.
    if (cotangent.getType() != value.getType())
      cotangent = ReshapeLikeOp::create(builder, location, cotangent, value);
    Value &sum = cotangents[value];
    sum = sum ? AddOp::create(builder, location, sum, cotangent).getResult() : cotangent;
  }

  LogicalResult reverse(Operation *op) {
    SmallVector<Value> resultCotangents;
    bool any = false;
    for (Value result : op->getResults()) {
      // A stop at one result leaves the cotangents of the others.
      resultCotangents.push_back(stops.contains(result) ? Value() : cotangents.lookup(result));
      any |= static_cast<bool>(resultCotangents.back());
    }
    if (!any)
      return success();
    auto schemaOp = dyn_cast<SchemaOpInterface>(op);
    if (!schemaOp)
      return refuse(op);
    llvm::SmallBitVector needed(op->getNumOperands());
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      needed[i] = active.contains(operand) && calque::isDifferentiable(operand);
    SmallVector<Value> operandCotangents;
    schemaOp.buildVjp(builder, resultCotangents, needed, operandCotangents);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (needed[i] && operandCotangents[i])
        accumulate(operand, operandCotangents[i], op->getLoc());
    return success();
  }

  GradientOp gradient;
  calque::EmittedTransforms emitted;
  OpBuilder builder;
  ValueRange targets, seeds, sources;
  llvm::DenseSet<Value> stops, active;
  SmallVector<Operation *> path;
  SmallVector<std::pair<Value, Operation *>>
      carried; // arguments of blocks around the gradient, which may depend on a source
  llvm::DenseMap<Value, Value> cotangents;
};

} // namespace

LogicalResult calque::expand(GradientOp gradient, SmallVectorImpl<bool> *connected) {
  return ReverseMode(gradient).run(connected);
}
