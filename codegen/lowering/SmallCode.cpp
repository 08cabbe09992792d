#include "codegen/lowering/SmallCode.h"
#include "codegen/lowering/SmallEmitter.h"
#include "codegen/lowering/SmallLibrary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace calque::codegen {

SmallValue SmallCode::read(OpBuilder &builder, Location location, Value tensor) {
  SmallEmitter emitter{builder, location, context};
  SmallValue value;
  if (!isSmall(tensor)) {
    value.tensor = tensor;
    value.sizes = context.sizes.of(tensor);
    return value;
  }
  auto constant = tensor.getDefiningOp<ir::ConstantOp>();
  if (auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr()) {
    for (Attribute each : elements.getValues<Attribute>())
      value.elements.push_back(arith::ConstantOp::create(builder, location, cast<TypedAttr>(each)));
    return value;
  }
  forEachIndex(dimsOf(tensor), [&](ArrayRef<int64_t> index) {
    value.elements.push_back(tensor::ExtractOp::create(builder, location, tensor, emitter.indices(index)));
  });
  return value;
}

SmallVector<SmallValue> SmallCode::emit(Operation *op, OpBuilder &builder, ArrayRef<SmallValue> operands) {
  SmallEmitter emitter{builder, op->getLoc(), context};
  if (auto cond = dyn_cast<ir::CondOp>(op))
    return emitCond(cond, builder, operands);
  if (auto loop = dyn_cast<ir::WhileOp>(op))
    return emitLoop(loop, builder, operands);
  if (auto constant = dyn_cast<ir::ConstantOp>(op)) {
    if (isSmall(constant))
      return {read(builder, op->getLoc(), constant)};
    SmallValue array;
    array.tensor = arith::ConstantOp::create(outside, op->getLoc(), cast<TypedAttr>(constant.getValue()));
    array.sizes = context.sizes.constants(dimsOf(constant));
    context.sizes.set(array.tensor, array.sizes);
    return {array};
  }
  if (auto push = dyn_cast<ir::StackPushOp>(op))
    return {emitter.push(push, operands[0], operands[1])};
  if (auto pop = dyn_cast<ir::StackPopOp>(op))
    return emitter.pop(pop, operands[0]);
  if (isa<ir::StackEmptyOp, ir::StackIsEmptyOp, ir::StackAddOp>(op))
    return {emitter.onStacks(op, operands)};
  if (auto gather = dyn_cast<ir::GatherOp>(op))
    return {emitter.gather(gather, operands[0], operands[1])};
  if (auto put = dyn_cast<ir::GatherPutOp>(op))
    return {emitter.put(put, operands[0], operands[2])};
  if (auto take = dyn_cast<ir::TakeAlongAxisOp>(op))
    return {emitter.takeAlongAxis(take, operands[0], operands[1])};
  if (auto put = dyn_cast<ir::PutAlongAxisOp>(op))
    return {emitter.putAlongAxis(put, operands[0], operands[2])};
  if (auto largest = dyn_cast<ir::ArgMaxOp>(op))
    return {emitter.argExtreme(op, largest.getAxis(), true, operands[0])};
  if (auto smallest = dyn_cast<ir::ArgMinOp>(op))
    return {emitter.argExtreme(op, smallest.getAxis(), false, operands[0])};
  if (auto random = dyn_cast<ir::RandomUniformOp>(op))
    return {emitter.uniform(random, operands[0])};
  if (std::optional<Cumulation> cumulation = cumulationOf(op))
    return emitter.cumulation(op, *cumulation, operands);
  if (auto iota = dyn_cast<ir::IotaOp>(op))
    return {emitter.iota(iota)};
  if (auto size = dyn_cast<ir::AxisSizeOp>(op))
    return {emitter.sizes(op, size.getAxes(), operands[0])};
  if (auto size = dyn_cast<ir::SizeOfOp>(op))
    return {emitter.sizes(op, {static_cast<int64_t>(size.getAxis())}, operands[0])};
  if (auto check = dyn_cast<ir::AssertOp>(op)) {
    emitter.check(check, operands[0]);
    return {};
  }
  if (auto library = dyn_cast<ir::LibraryOpInterface>(op))
    return emitLibrary(emitter, library, operands);
  if (auto update = dyn_cast<ir::UpdateAtOp>(op))
    return {emitter.update(update, operands[0], operands[1], operands[2])};
  if (std::optional<NamedSlices> named = namedSlicesOf(op))
    return {named->updates ? emitter.updateNamed(op, *named, operands[0], operands[1], operands[2])
                           : emitter.gatherNamed(op, *named, operands[0], operands[1])};
  if (std::optional<schema::Movement> movement = movementOf(op))
    return emitter.movement(op, *movement, operands);
  if (auto elementwise = dyn_cast<ir::ElementwiseOpInterface>(op))
    return {emitter.elementwise(elementwise, operands)};
  if (std::optional<Reduction> reduction = reductionOf(op))
    return {emitter.reduction(op, *reduction, operands[0])};
  if (auto product = dyn_cast<ir::ContractOp>(op))
    return {emitter.product(product, operands[0], operands[1])};
  return {operands[0]}; // isIdentity
}

SmallVector<SmallValue> SmallCode::emitBlock(Block &block, OpBuilder &builder, ArrayRef<SmallValue> arguments) {
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = value;
  for (Operation &op : block.without_terminator()) {
    auto operands = llvm::map_to_vector(op.getOperands(), [&](Value operand) { return values.lookup(operand); });
    for (auto [result, value] : llvm::zip_equal(op.getResults(), emit(&op, builder, operands)))
      values[result] = value;
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value value) { return values.lookup(value); });
}

namespace {
SmallVector<Value> scalarsOf(ArrayRef<SmallValue> values) {
  SmallVector<Value> scalars;
  for (const SmallValue &value : values)
    llvm::append_range(scalars, value.elements);
  return scalars;
}
// The values whose scalars these are; arrays stay as they are.
SmallVector<SmallValue> withScalars(ArrayRef<SmallValue> like, ValueRange scalars) {
  SmallVector<SmallValue> values(like);
  for (SmallValue &value : values)
    for (Value &element : value.elements) {
      element = scalars.front();
      scalars = scalars.drop_front();
    }
  return values;
}
} // namespace

SmallVector<SmallValue> SmallCode::emitCond(ir::CondOp op, OpBuilder &builder, ArrayRef<SmallValue> operands) {
  SmallVector<SmallValue> results;
  SmallVector<Type> types;
  for (Value result : op.getResults())
    if (isSmall(result))
      types.append(static_cast<size_t>(countOf(result)), scalarType(result));
  auto branch = [&](Region &region, Block *block) {
    if (block->mightHaveTerminator()) // which a branch without results gets
      block->getTerminator()->erase();
    OpBuilder inside = OpBuilder::atBlockEnd(block);
    results = emitBlock(region.front(), inside, operands.drop_front());
    scf::YieldOp::create(inside, op.getLoc(), scalarsOf(results));
  };
  auto made = scf::IfOp::create(builder, op.getLoc(), types, operands[0].elements[0], /*addThenBlock=*/true,
                                /*addElseBlock=*/true);
  branch(op.getThen(), made.thenBlock());
  branch(op.getOtherwise(), made.elseBlock());
  return withScalars(results, made.getResults());
}

SmallVector<SmallValue> SmallCode::emitLoop(ir::WhileOp op, OpBuilder &builder, ArrayRef<SmallValue> operands) {
  ArrayRef<SmallValue> initial = operands.take_front(op.getNumVariables()),
                       invariants = operands.drop_front(op.getNumVariables());
  auto all = [&](ValueRange scalars) {
    SmallVector<SmallValue> values = withScalars(initial, scalars);
    llvm::append_range(values, invariants);
    return values;
  };
  const bool canFail = op->walk([](Operation *inner) {
                           return !inner->hasTrait<OpTrait::IsTerminator>() && mayFail(inner) ? WalkResult::interrupt()
                                                                                              : WalkResult::advance();
                         }).wasInterrupted();
  SmallVector<Value> scalars = scalarsOf(initial);
  auto made = scf::WhileOp::create(
      builder, op.getLoc(), ValueRange(scalars).getTypes(), scalars,
      [&](OpBuilder &inside, Location location, ValueRange variables) {
        Value decision = emitBlock(op.getCondition().front(), inside, all(variables))[0].elements[0];
        if (canFail) {
          SmallEmitter emitter{inside, location, context};
          decision = emitter.s.logicalAnd(decision, emitter.hasNotFailed());
        }
        scf::ConditionOp::create(inside, location, decision, variables);
      },
      [&](OpBuilder &inside, Location location, ValueRange variables) {
        scf::YieldOp::create(inside, location, scalarsOf(emitBlock(op.getBody().front(), inside, all(variables))));
      });
  return withScalars(initial, made.getResults());
}

} // namespace calque::codegen
