// Loops that end for each example: vmap of a `while`. Such a loop has a bool for each example that says whether the
// example goes on, and where it does not, its variables stay what they are. Here the loops change places: for each
// example there is a loop of its own, whose state is in registers and which ends with the example.
#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/SmallOperations.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace calque::codegen {

namespace {

bool isScalar(Value value) { return LinalgBuilder::rankOf(value) == 0; }

// What operations give that pass the same number on for each example.
Value passedOn(Operation *op) {
  if (isIdentity(op) || isa<ir::BroadcastToOp, ir::BroadcastLikeOp>(op))
    return op->getOperand(0);
  return Value();
}

class ExampleLoop {
public:
  explicit ExampleLoop(ir::WhileOp loop) : loop(loop) {}

  // Whether it is such a loop, with scalars for each example.
  bool match() {
    if (!loop.getVarying().empty() || loop.getCheckpoint())
      return false;
    for (Value value : loop->getOperands())
      if (!isOfExamples(value) && !isScalar(value))
        return false;
    if (!size || llvm::any_of(loop.getInitial(), isScalar) || !findActive()) {
      return false;
    }
    Block &body = loop.getBody().front();
    for (Operation &op : body.without_terminator())
      if (!isWork(&op)) {
        return false;
      }
    for (auto [i, yielded] : llvm::enumerate(body.getTerminator()->getOperands()))
      if (!staysWhereEnded(static_cast<unsigned>(i), yielded)) {
        return false;
      }
    return true;
  }

  SmallVector<Value> lower(LinalgBuilder &b) {
    Size count = b.sizes.of(loop->getOperand(active), 0);
    SmallVector<Value> outputs;
    for (Value result : loop.getResults())
      outputs.push_back(b.empty({count}, elementOf(result)));
    ValueRange made = b.loopNest(
        {count}, outputs,
        [&](OpBuilder &builder, ValueRange indices, ValueRange carried) -> SmallVector<Value> {
          SmallVector<Value> elements;
          for (Value operand : loop->getOperands())
            elements.push_back(
                tensor::ExtractOp::create(builder, b.location, operand, isScalar(operand) ? ValueRange() : indices));
          SmallVector<Value> results = run(builder, b.location, elements), stored;
          for (auto [result, into] : llvm::zip_equal(results, carried))
            stored.push_back(tensor::InsertOp::create(builder, b.location, result, into, indices));
          return stored;
        },
        [](size_t) { return true; });
    return llvm::to_vector(made);
  }

private:
  // A dimension of all that has one.
  bool isOfExamples(Value value) {
    if (LinalgBuilder::rankOf(value) != 1)
      return false;
    const int64_t own = LinalgBuilder::typeOf(value).getDimSize(0);
    if (!size)
      size = own;
    return own == *size && !ShapedType::isDynamic(own);
  }

  // The bools of which the condition asks whether there is a true one.
  bool findActive() {
    Block &condition = loop.getCondition().front();
    Value decision = condition.getTerminator()->getOperand(0), asked;
    if (auto any = decision.getDefiningOp<ir::AnyOp>()) {
      asked = any.getX();
    } else if (auto greater = decision.getDefiningOp<ir::GreaterOp>()) {
      auto sum = greater->getOperand(0).getDefiningOp<ir::SumOp>();
      auto cast = sum ? sum.getX().getDefiningOp<ir::CastOp>() : nullptr;
      if (cast && matchPattern(greater->getOperand(1), m_Zero()))
        asked = cast.getX();
    }
    auto argument = asked ? dyn_cast<BlockArgument>(asked) : BlockArgument();
    if (!argument || argument.getOwner() != &condition || argument.getArgNumber() >= loop.getNumVariables() ||
        isScalar(argument) || !ir::ElementType(argument).isBool())
      return false;
    active = argument.getArgNumber();
    return true;
  }

  bool isWork(Operation *op) {
    for (Value value : llvm::concat<const Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults())))
      if (!isOfExamples(value) && !isScalar(value))
        return false;
    if (isa<ir::ConstantOp>(op))
      return isScalar(op->getResult(0));
    return passedOn(op) || (isa<ir::ElementwiseOpInterface>(op) && !mayFail(op));
  }

  // Whether a variable keeps its value where its example has ended.
  bool staysWhereEnded(unsigned variable, Value yielded) {
    Block &body = loop.getBody().front();
    Value isActive = body.getArgument(active), before = body.getArgument(variable);
    if (yielded == before)
      return true;
    if (variable == active) {
      auto both = yielded.getDefiningOp<ir::LogicalAndOp>();
      return both && (both->getOperand(0) == isActive || both->getOperand(1) == isActive);
    }
    auto choice = yielded.getDefiningOp<ir::SelectOp>();
    return choice && choice->getOperand(0) == isActive && choice->getOperand(2) == before;
  }

  // The loop of one example.
  SmallVector<Value> run(OpBuilder &builder, Location location, ArrayRef<Value> elements) {
    const size_t numVariables = loop.getNumVariables();
    ValueRange initial = ValueRange(elements).take_front(numVariables);
    auto made = scf::WhileOp::create(
        builder, location, initial.getTypes(), initial,
        [&](OpBuilder &inside, Location at, ValueRange variables) {
          scf::ConditionOp::create(inside, at, variables[active], variables);
        },
        [&](OpBuilder &inside, Location at, ValueRange variables) {
          SmallVector<Value> all(variables);
          llvm::append_range(all, elements.drop_front(numVariables));
          scf::YieldOp::create(inside, at, step(inside, all));
        });
    return llvm::to_vector(ValueRange(made.getResults()));
  }

  SmallVector<Value> step(OpBuilder &builder, ArrayRef<Value> arguments) {
    Block &body = loop.getBody().front();
    llvm::DenseMap<Value, Value> values;
    for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
      values[argument] = value;
    for (Operation &op : body.without_terminator()) {
      Value &result = values[op.getResult(0)];
      if (auto constant = dyn_cast<ir::ConstantOp>(op)) {
        auto element = *cast<DenseElementsAttr>(constant.getValue()).getValues<Attribute>().begin();
        result = arith::ConstantOp::create(builder, op.getLoc(), cast<TypedAttr>(element));
        continue;
      }
      if (Value same = passedOn(&op)) {
        Value value = values.lookup(same);
        values[op.getResult(0)] = value;
        continue;
      }
      ir::ScalarBuilder s(builder, op.getLoc());
      auto operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) { return values.lookup(operand); });
      Value value = cast<ir::ElementwiseOpInterface>(op).buildScalar(s, operands);
      values[op.getResult(0)] = value;
    }
    return llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value value) { return values.lookup(value); });
  }

  ir::WhileOp loop;
  std::optional<int64_t> size;
  unsigned active = 0;
};

} // namespace

void lowerExampleLoops(func::FuncOp function, LoweringContext &context) {
  for (auto loop : llvm::make_early_inc_range(function.getBody().front().getOps<ir::WhileOp>())) {
    ExampleLoop examples(loop);
    if (!examples.match())
      continue;
    OpBuilder at(loop);
    LinalgBuilder b(at, loop.getLoc(), context.sizes);
    for (auto [result, value] : llvm::zip_equal(loop.getResults(), examples.lower(b)))
      result.replaceAllUsesWith(value);
    loop.erase();
  }
}

} // namespace calque::codegen
