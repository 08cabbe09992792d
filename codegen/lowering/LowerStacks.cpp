// Makes of stacks what the runtime takes: a stack is a float64, 0 if it is empty, as runtime/Stacks.h has it. No other
// place of the compiler knows so.
#include "codegen/lowering/Lowering.h"
#include "ir/GradientRule.h"
#include "ir/Values.h"

using namespace mlir;

namespace calque::codegen {

namespace {

Type numberOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<ir::StackType>(tensor.getElementType())
             ? RankedTensorType::get(tensor.getShape(), Float64Type::get(type.getContext()))
             : type;
}

// The operation on numbers that stands for one on stacks, or null. Of two stacks one is empty, or each entry of one has
// a cotangent that the other lacks: their sum is that of the numbers, and the runtime refuses what is none.
Value onNumbers(Operation &op, OpBuilder &builder) {
  Location location = op.getLoc();
  auto zero = [&] { return ir::zerosOf(builder, location, RankedTensorType::get({}, builder.getF64Type())); };
  if (auto empty = dyn_cast<ir::StackEmptyOp>(op)) {
    auto type = cast<RankedTensorType>(numberOf(empty.getType()));
    return type.hasStaticShape() ? ir::zerosOf(builder, location, type)
                                 : ir::BroadcastLikeOp::create(builder, location, zero(), empty.getLike());
  }
  if (auto isEmpty = dyn_cast<ir::StackIsEmptyOp>(op))
    return ir::EqualOp::create(builder, location, isEmpty.getStack(), zero());
  if (auto add = dyn_cast<ir::StackAddOp>(op))
    return ir::AddOp::create(builder, location, add.getLhs(), add.getRhs());
  if (auto sum = dyn_cast<ir::StackSumLikeOp>(op))
    return ir::SumLikeOp::create(builder, location, sum.getX(), sum.getLike());
  return {};
}

} // namespace

void lowerStacks(func::FuncOp function) {
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments())
    argument.setType(numberOf(argument.getType()));
  for (Operation &op : llvm::make_early_inc_range(block)) {
    OpBuilder builder(&op);
    if (Value number = onNumbers(op, builder)) {
      op.getResult(0).replaceAllUsesWith(number);
      op.erase();
      continue;
    }
    for (Value result : op.getResults())
      result.setType(numberOf(result.getType()));
  }
  auto numbersOf = [](TypeRange types) { return llvm::map_to_vector(types, numberOf); };
  function.setType(FunctionType::get(function.getContext(), numbersOf(function.getArgumentTypes()),
                                     numbersOf(function.getResultTypes())));
}

} // namespace calque::codegen
