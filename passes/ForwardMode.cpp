#include "ir/GradientRule.h"
#include "ir/Values.h"
#include "passes/Transforms.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace calque::ir;

namespace {

// Forward mode: walks the operations before a jvp, in its block and the blocks around it, and emits the tangents of
// their results in program order.
class ForwardMode {
public:
  ForwardMode(JvpOp jvp, calque::Emitted &emitted)
      : jvp(jvp), emitted(emitted), emission(emitted), builder(jvp, &emission) {
    ArrayRef<int64_t> counts = jvp.getCounts();
    ValueRange values = jvp.getValues();
    targets = values.take_front(counts[0]);
    for (auto [source, tangent] : llvm::zip_equal(values.slice(counts[0], counts[1]), values.take_back(counts[1])))
      tangents[source] = tangent;
  }

  LogicalResult run() {
    findNeeded();
    SmallVector<Operation *> around{jvp};
    // A program inside of an operation uses nothing from around it.
    while (!isa<func::FuncOp, SchemaOpInterface>(around.back()->getParentOp()))
      around.push_back(around.back()->getParentOp());
    for (Operation *end : llvm::reverse(around))
      if (failed(forwardUpTo(end)))
        return failure();
    for (auto [result, target] : llvm::zip_equal(jvp.getResults(), targets)) {
      Value tangent = tangents.lookup(target);
      if (!tangent)
        tangent = GradientRule(builder, jvp.getLoc(), target).zerosLike(target);
      calque::replaceResult(builder, result, tangent);
    }
    emitted.erase(jvp);
    return emission.expandTransforms();
  }

private:
  // Finds the values that a target depends on; others need no tangents.
  void findNeeded() {
    SmallVector<Value> pending(targets);
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      Operation *definition = value.getDefiningOp();
      if (!needed.insert(value).second || !definition)
        continue;
      definition->walk([&](Operation *op) { llvm::append_range(pending, op->getOperands()); });
    }
  }

  // Operations of other dialects have no rules. A tangent through one is an error, never zero.
  LogicalResult refuse(Operation *op) {
    InFlightDiagnostic diagnostic =
        op->emitOpError("passes a tangent on, and only operations of the dialect have derivatives");
    diagnostic.attachNote(jvp.getLoc()) << "the jvp";
    return diagnostic;
  }

  LogicalResult forwardUpTo(Operation *end) {
    // Behind a branch, neither the values of block arguments nor the blocks executed before are known.
    if (!end->getBlock()->isEntryBlock())
      return jvp.emitOpError("stands behind a branch; tangents are followed through a region's first block only");
    for (Operation &op : *end->getBlock()) {
      if (&op == end)
        break;
      if (failed(forward(&op)))
        return failure();
    }
    bool takes = llvm::any_of(end->getOperands(), [&](Value operand) { return tangents.contains(operand); });
    for (Region &region : end->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (takes && needed.contains(argument))
          return refuse(end);
    return success();
  }

  LogicalResult forward(Operation *op) {
    if (llvm::none_of(op->getResults(), [&](Value result) {
          return needed.contains(result) && isDifferentiable(result) && !tangents.contains(result);
        }))
      return success();
    SmallVector<Value> operandTangents;
    bool any = false;
    for (Value operand : op->getOperands()) {
      operandTangents.push_back(tangents.lookup(operand));
      any |= static_cast<bool>(operandTangents.back());
    }
    bool takesInside = false;
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        takesInside |= llvm::any_of(inner->getOperands(), [&](Value operand) { return tangents.contains(operand); });
      });
    if (!any && !takesInside)
      return success();
    auto schemaOp = dyn_cast<SchemaOpInterface>(op);
    if (!schemaOp)
      return refuse(op);
    if (!calque::schema::schemaOf(schemaOp.schemaId()).differentiable)
      return success();
    SmallVector<Value> resultTangents;
    schemaOp.buildJvp(builder, operandTangents, resultTangents);
    for (auto [result, tangent] : llvm::zip_equal(op->getResults(), resultTangents)) {
      if (!tangent || !isDifferentiable(result))
        continue;
      // The tangent's type and the result's may differ in which sizes are static.
      if (tangent.getType() != result.getType())
        tangent = ReshapeLikeOp::create(builder, op->getLoc(), tangent, result);
      tangents[result] = tangent;
    }
    return success();
  }

  JvpOp jvp;
  calque::Emitted &emitted;
  calque::Emission emission;
  OpBuilder builder;
  ValueRange targets;
  llvm::DenseSet<Value> needed;
  llvm::DenseMap<Value, Value> tangents;
};

} // namespace

LogicalResult calque::expand(JvpOp jvp, Emitted &emitted) { return ForwardMode(jvp, emitted).run(); }
