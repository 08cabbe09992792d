#include "ir/GradientRule.h"
#include "passes/Passes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace calque {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/Passes.h.inc"
} // namespace calque

using namespace mlir;
using namespace calque::ir;

namespace {

// Reverse mode over the operations of one block that stand before a gradient.
class ReverseMode {
public:
  ReverseMode(GradientOp gradient) : gradient(gradient), builder(gradient) {
    ArrayRef<int64_t> counts = gradient.getCounts();
    ValueRange values = gradient.getValues();
    targets = values.take_front(counts[0]);
    seeds = values.slice(counts[0], counts[0]);
    sources = values.slice(2 * counts[0], counts[1]);
    ValueRange stopValues = values.drop_front(2 * counts[0] + counts[1]);
    stops.insert(stopValues.begin(), stopValues.end());
  }

  void run() {
    findActive();
    for (auto [target, seed] : llvm::zip_equal(targets, seeds))
      if (active.contains(target))
        accumulate(target, seed, gradient.getLoc());
    for (Operation *op : llvm::reverse(path))
      reverse(op);
    for (auto [result, source] : llvm::zip_equal(gradient.getResults(), sources)) {
      Value cotangent = cotangents.lookup(source);
      if (!cotangent) {
        GradientRule rule(builder, gradient.getLoc(), source);
        cotangent = rule.create<BroadcastLikeOp>(rule.constant(0), source);
      }
      result.replaceAllUsesWith(cotangent);
    }
    gradient.erase();
  }

private:
  static bool isDifferentiable(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && isa<FloatType>(type.getElementType());
  }

  // Values on which a source acts, and the operations that pass it on.
  void findActive() {
    active.insert(sources.begin(), sources.end());
    for (Operation &op : *gradient->getBlock()) {
      if (&op == gradient)
        break;
      auto schemaOp = dyn_cast<SchemaOpInterface>(op);
      if (!schemaOp || !calque::schema::schemaOf(schemaOp.schemaId()).differentiable)
        continue;
      if (llvm::none_of(op.getOperands(), [&](Value operand) { return active.contains(operand) && isDifferentiable(operand); }))
        continue;
      bool passes = false;
      for (Value result : op.getResults()) {
        if (!isDifferentiable(result) || (stops.contains(result) && !llvm::is_contained(sources, result)))
          continue;
        // A source that a stop hides keeps its own cotangent and passes nothing on.
        active.insert(result);
        passes |= !stops.contains(result);
      }
      if (passes)
        path.push_back(&op);
    }
  }

  void accumulate(Value value, Value cotangent, Location location) {
    Value &sum = cotangents[value];
    sum = sum ? AddOp::create(builder, location, sum, cotangent).getResult() : cotangent;
  }

  void reverse(Operation *op) {
    SmallVector<Value> resultCotangents;
    bool any = false;
    for (Value result : op->getResults()) {
      resultCotangents.push_back(cotangents.lookup(result));
      any |= static_cast<bool>(resultCotangents.back());
    }
    if (!any)
      return;
    llvm::SmallBitVector needed(op->getNumOperands());
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      needed[i] = active.contains(operand) && isDifferentiable(operand);
    SmallVector<Value> operandCotangents;
    cast<SchemaOpInterface>(op).buildVjp(builder, resultCotangents, needed, operandCotangents);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (needed[i] && operandCotangents[i])
        accumulate(operand, operandCotangents[i], op->getLoc());
  }

  GradientOp gradient;
  OpBuilder builder;
  ValueRange targets, seeds, sources;
  llvm::DenseSet<Value> stops, active;
  SmallVector<Operation *> path;
  llvm::DenseMap<Value, Value> cotangents;
};

struct Differentiate : calque::impl::DifferentiateBase<Differentiate> {
  void runOnOperation() override {
    SmallVector<GradientOp> gradients;
    getOperation().walk([&](GradientOp op) { gradients.push_back(op); });
    for (GradientOp gradient : gradients)
      ReverseMode(gradient).run();
  }
};

} // namespace
