#include "ir/Regions.h"
#include "ir/ScalarBuilder.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace calque {
#define GEN_PASS_DEF_UNROLLLOOPS
#include "passes/Passes.h.inc"
} // namespace calque

using namespace mlir;
using namespace calque::ir;

namespace {

// More iterations, and more operations in all of them, cost more to compile than they save.
constexpr unsigned kMostIterations = 8, kMostOperations = 128;

bool isIntegerScalar(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getRank() == 0 && type.getElementType().isSignlessInteger(); // MLIR folds no others
}

// Integer scalars that are known: their elements, null for others. They come from the operations' own meaning, which is
// emitted and folded.
class KnownScalars {
public:
  void set(Value value, Attribute element) { known[value] = element; }

  Attribute of(Value value) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    return known[value] = compute(value);
  }

private:
  Attribute compute(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !isIntegerScalar(value))
      return {};
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
      return elements ? elements.getSplatValue<Attribute>() : Attribute();
    }
    auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
    if (!elementwise || op->hasTrait<MayFailOnIntegers>() || !llvm::all_of(op->getOperands(), isIntegerScalar))
      return {};
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      if (!operands.emplace_back(of(operand)))
        return {};
    return evaluate(elementwise, operands);
  }

  static Attribute evaluate(ElementwiseOpInterface op, ArrayRef<Attribute> operands) {
    Block block;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointToEnd(&block);
    ScalarBuilder scalars(builder, op->getLoc());
    SmallVector<Value> elements;
    for (Attribute operand : operands)
      elements.push_back(arith::ConstantOp::create(builder, op->getLoc(), cast<TypedAttr>(operand)));
    Value result = op.buildScalar(scalars, elements);
    llvm::DenseMap<Value, Attribute> folded;
    for (Operation &each : block) {
      if (each.getNumResults() != 1)
        return {};
      SmallVector<Attribute> taken = llvm::map_to_vector(each.getOperands(), [&](Value x) { return folded.lookup(x); });
      SmallVector<OpFoldResult> given;
      if (failed(each.fold(taken, given)) || given.size() != 1)
        return {};
      auto attribute = dyn_cast<Attribute>(given[0]);
      if (!(folded[each.getResult(0)] = attribute ? attribute : folded.lookup(cast<Value>(given[0]))))
        return {};
    }
    return folded.lookup(result);
  }

  llvm::DenseMap<Value, Attribute> known;
};

// The integer scalars among a loop's variables at the beginning of each iteration, and at the end: their elements, null
// for those that are not known.
using Iterations = SmallVector<SmallVector<Attribute>>;

// Nothing where the loop has more iterations than are unrolled, or where their number is not known.
std::optional<Iterations> iterationsOf(WhileOp loop) {
  Block &condition = loop.getCondition().front(), &body = loop.getBody().front();
  SmallVector<Attribute> variables, invariants;
  KnownScalars around;
  for (auto [i, operand] : llvm::enumerate(loop->getOperands()))
    (i < loop.getNumVariables() ? variables : invariants).push_back(around.of(operand));
  auto scalarsOf = [&](Block &block) {
    KnownScalars known;
    for (auto [i, argument] : llvm::enumerate(block.getArguments()))
      known.set(argument, i < variables.size() ? variables[i] : invariants[i - variables.size()]);
    return known;
  };
  Iterations iterations;
  while (true) {
    KnownScalars before = scalarsOf(condition);
    auto decision = dyn_cast_or_null<IntegerAttr>(before.of(condition.getTerminator()->getOperand(0)));
    if (!decision)
      return std::nullopt;
    iterations.push_back(variables);
    if (decision.getValue().isZero())
      return iterations;
    if (iterations.size() > kMostIterations)
      return std::nullopt;
    KnownScalars inside = scalarsOf(body);
    for (auto [variable, next] : llvm::zip_equal(variables, body.getTerminator()->getOperands()))
      variable = inside.of(next);
  }
}

size_t lengthOf(Region &region) {
  size_t length = 0;
  region.walk([&](Operation *) { ++length; });
  return length;
}

bool hasEffects(Region &region) {
  return llvm::any_of(region.front().without_terminator(), [](Operation &op) { return !isMemoryEffectFree(&op); });
}

// Whether a value has the sizes that a loop variable has before the iteration: an elementwise operation repeats none of
// a size that is not known.
bool keepsSizes(Value value, BlockArgument variable) {
  if (value == variable)
    return true;
  Operation *op = value.getDefiningOp();
  return op && isa<ElementwiseOpInterface>(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return cast<RankedTensorType>(operand.getType()).getShape() ==
                      cast<RankedTensorType>(value.getType()).getShape() &&
                  keepsSizes(operand, variable);
         });
}

// Whether it is plain that loop variables keep their sizes. Else the loop checks it.
bool keepsSizes(WhileOp loop) {
  Block &body = loop.getBody().front();
  return llvm::all_of(llvm::enumerate(body.getTerminator()->getOperands()), [&](auto each) {
    return cast<RankedTensorType>(each.value().getType()).hasStaticShape() ||
           keepsSizes(each.value(), body.getArgument(each.index()));
  });
}

bool unroll(WhileOp loop) {
  const size_t length = lengthOf(loop.getBody()) - 1;
  if (length > kMostOperations || hasEffects(loop.getCondition()) || !loop.getVarying().empty())
    return false;
  std::optional<Iterations> iterations = iterationsOf(loop);
  if (!iterations || length * (iterations->size() - 1) > kMostOperations ||
      (iterations->size() > 1 && !keepsSizes(loop)))
    return false;
  OpBuilder builder(loop);
  SmallVector<Value> values(loop->getOperands());
  for (auto [number, known] : llvm::enumerate(*iterations)) {
    // What is known is a constant, so that loops after this one know it as well.
    for (auto [value, element] : llvm::zip(values, known))
      if (element && number > 0)
        value = ConstantOp::create(builder, loop.getLoc(),
                                   DenseElementsAttr::get(cast<RankedTensorType>(value.getType()), element));
    if (number + 1 == iterations->size())
      break;
    SmallVector<Value> next = emitBody(loop.getBody(), builder, values);
    llvm::copy(next, values.begin());
  }
  loop.replaceAllUsesWith(ArrayRef(values).take_front(loop.getNumVariables()));
  loop.erase();
  return true;
}

struct UnrollLoops : calque::impl::UnrollLoopsBase<UnrollLoops> {
  void runOnOperation() override {
    // Inner loops first, and the reverse of a loop after the loop, which says how many iterations it had.
    SmallVector<WhileOp> loops;
    getOperation().walk([&](WhileOp loop) { loops.push_back(loop); });
    unsigned count = 0;
    for (WhileOp loop : loops)
      count += unroll(loop);
    if (count)
      takeBack();
    unrolled += count;
  }

private:
  // What is taken from a stack right after it was put there.
  void takeBack() {
    getOperation().walk([](StackPopOp pop) {
      auto push = pop.getStack().getDefiningOp<StackPushOp>();
      if (!push || push.getX().getType() != pop.getEntry().getType() ||
          push.getStack().getType() != pop.getBelow().getType())
        return;
      Value results[] = {push.getStack(), push.getX()};
      pop->replaceAllUsesWith(ValueRange(results));
      pop.erase();
    });
  }
};

} // namespace
