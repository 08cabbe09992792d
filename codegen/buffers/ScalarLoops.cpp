// Lowers branches and loops on scalars to code: what they compute stays in registers, and is one kernel.
#include "codegen/lowering/Lowering.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace calque::codegen {

namespace {

bool isScalar(Value value) { return cast<RankedTensorType>(value.getType()).getRank() == 0; }

// Whether an operation computes scalars from scalars, and nothing that can fail.
bool isScalarWork(Operation *op) {
  if (!llvm::all_of(op->getOperands(), isScalar) || !llvm::all_of(op->getResults(), isScalar))
    return false;
  if (isa<ir::CondOp, ir::WhileOp>(op))
    return llvm::all_of(op->getRegions(), [](Region &region) {
      return llvm::all_of(region.front().without_terminator(), [](Operation &inner) { return isScalarWork(&inner); });
    });
  if (op->hasTrait<ir::MayFailOnIntegers>() && isa<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType()))) {
    auto divisor = op->getOperand(1).getDefiningOp<ir::ConstantOp>();
    auto elements = divisor ? dyn_cast<DenseElementsAttr>(divisor.getValue()) : DenseElementsAttr();
    return elements && !elements.getSplatValue<APInt>().isZero();
  }
  // Those that give on what they take, as it is.
  return isa<ir::ElementwiseOpInterface, ir::ConstantOp, ir::BarrierOp, ir::StopGradientOp, ir::BroadcastLikeOp,
             ir::BroadcastToOp, ir::ReshapeOp, ir::ReshapeLikeOp, ir::SumLikeOp>(op);
}

// A kernel takes more than linear time to compile. What is longer is run in parts.
constexpr unsigned kMostOperations = 512;

bool isShort(Operation *op) {
  unsigned count = 0;
  return !op->walk([&](Operation *) {
              return ++count > kMostOperations ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}

class ScalarCode {
public:
  SmallVector<Value> emit(Operation *op, OpBuilder &builder, ValueRange operands) {
    Location location = op->getLoc();
    if (auto elementwise = dyn_cast<ir::ElementwiseOpInterface>(op)) {
      ir::ScalarBuilder scalar(builder, location);
      return {elementwise.buildScalar(scalar, operands)};
    }
    if (auto constant = dyn_cast<ir::ConstantOp>(op)) {
      auto elements = cast<DenseElementsAttr>(constant.getValue());
      return {arith::ConstantOp::create(builder, location, cast<TypedAttr>(elements.getSplatValue<Attribute>()))};
    }
    if (auto cond = dyn_cast<ir::CondOp>(op)) {
      ValueRange inputs = operands.drop_front();
      auto branch = [&](Region &region) {
        return [&, inputs](OpBuilder &inside, Location) {
          scf::YieldOp::create(inside, location, emitBlock(region.front(), inside, inputs));
        };
      };
      if (cond.getNumResults() == 0)
        return {};
      auto made =
          scf::IfOp::create(builder, location, operands[0], branch(cond.getThen()), branch(cond.getOtherwise()));
      return SmallVector<Value>(made.getResults());
    }
    if (auto loop = dyn_cast<ir::WhileOp>(op)) {
      ValueRange initial = operands.take_front(loop.getNumVariables()),
                 invariants = operands.drop_front(loop.getNumVariables());
      auto all = [&](ValueRange variables) {
        SmallVector<Value> values(variables);
        llvm::append_range(values, invariants);
        return values;
      };
      auto made = scf::WhileOp::create(
          builder, location, initial.getTypes(), initial,
          [&](OpBuilder &inside, Location, ValueRange variables) {
            Value decision = emitBlock(loop.getCondition().front(), inside, all(variables))[0];
            scf::ConditionOp::create(inside, location, decision, variables);
          },
          [&](OpBuilder &inside, Location, ValueRange variables) {
            scf::YieldOp::create(inside, location, emitBlock(loop.getBody().front(), inside, all(variables)));
          });
      return SmallVector<Value>(made.getResults());
    }
    return {operands[0]};
  }

private:
  SmallVector<Value> emitBlock(Block &block, OpBuilder &builder, ValueRange arguments) {
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
      scalars[argument] = value;
    for (Operation &op : block.without_terminator()) {
      auto operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) { return scalars.lookup(operand); });
      for (auto [result, value] : llvm::zip_equal(op.getResults(), emit(&op, builder, operands)))
        scalars[result] = value;
    }
    return llvm::map_to_vector(block.getTerminator()->getOperands(),
                               [&](Value value) { return scalars.lookup(value); });
  }
  llvm::DenseMap<Value, Value> scalars;
};

} // namespace

void lowerScalarLoops(func::FuncOp function, LoweringContext &context) {
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (!isa<ir::CondOp, ir::WhileOp>(op) || op.getNumResults() == 0 || !isScalarWork(&op) || !isShort(&op))
      continue;
    OpBuilder at(&op);
    LinalgBuilder b(at, op.getLoc(), context.sizes);
    SmallVector<Value> outputs;
    for (Value result : op.getResults())
      outputs.push_back(b.empty({}, LinalgBuilder::typeOf(result).getElementType()));
    SmallVector<AffineMap> maps(op.getNumOperands() + outputs.size(), AffineMap::get(at.getContext()));
    auto made = linalg::GenericOp::create(
        at, op.getLoc(), ValueRange(outputs).getTypes(), op.getOperands(), outputs, maps,
        ArrayRef<utils::IteratorType>(), [&](OpBuilder &inside, Location location, ValueRange elements) {
          ScalarCode code;
          linalg::YieldOp::create(inside, location, code.emit(&op, inside, elements.take_front(op.getNumOperands())));
        });
    for (auto [result, value] : llvm::zip_equal(op.getResults(), made.getResults())) {
      b.sizes.set(value, {});
      result.replaceAllUsesWith(value);
    }
    op.erase();
  }
}

} // namespace calque::codegen
