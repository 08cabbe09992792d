#include "codegen/plan/PlanWords.h"

#include "ir/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace calque::codegen {

using runtime::From;
using runtime::Operand;

static int64_t wordOf(Attribute constant) {
  if (auto number = dyn_cast<FloatAttr>(constant))
    return number.getValue().bitcastToAPInt().getZExtValue();
  auto number = cast<IntegerAttr>(constant);
  return ir::ElementType(number.getType()).isBool() ? number.getValue().getZExtValue()
                                                    : number.getValue().getSExtValue();
}

LogicalResult PlanWords::forEachStep(function_ref<void(func::CallOp, ArrayRef<Operand>)> use) {
  SmallVector<Operand> words;
  for (auto call : program.getBody().front().getOps<func::CallOp>()) {
    words.clear();
    for (Value operand : call.getOperands()) {
      std::optional<Operand> word = wordOf(operand);
      if (!word)
        return call.emitOpError("has an operand that no plan can hold");
      words.push_back(*word);
    }
    use(call, words);
  }
  return success();
}

Operand PlanWords::compute(Value value) {
  auto [found, isNew] = computedNumbers.try_emplace(value, static_cast<uint32_t>(computedNumbers.size()));
  return {From::Computed, found->second, 0};
}

std::optional<Operand> PlanWords::wordOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument.getArgNumber());
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && value.getType().isIntOrIndexOrFloat())
    return Operand{From::Number, 0, codegen::wordOf(constant.getValue())};
  if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
    auto [found, isNew] =
        constantNumbers.try_emplace(global.getNameAttr().getAttr(), static_cast<uint32_t>(constantNumbers.size()));
    return Operand{From::Constant, found->second, 0};
  }
  if (auto view = dyn_cast<memref::ViewOp>(op)) { // of the workspace
    if (std::optional<int64_t> offset = getConstantIntValue(view.getByteShift()))
      return Operand{From::Workspace, 0, *offset};
    return compute(view);
  }
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
    return isConstantIntValue(cast.getMixedOffsets()[0], 0) ? wordOf(cast.getSource()) : std::nullopt;
  if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
    SmallVector<int64_t> strides;
    int64_t offset; // from the beginning of the buffer
    auto type = dyn_cast<MemRefType>(value.getType());
    bool begins = type && succeeded(type.getStridesAndOffset(strides, offset)) && offset == 0;
    return begins ? wordOf(view.getViewSource()) : std::nullopt;
  }
  if (value.getType().isIntOrIndexOrFloat())
    return compute(value);
  return std::nullopt;
}

Operand PlanWords::ofArgument(unsigned number) {
  if (number == 0)
    return {From::Frame};
  if (number == program.getNumArguments() - 1)
    return {From::Workspace};
  if (number < sizes.firstSize())
    return {From::Input, number - 1};
  if (number < sizes.firstOutput())
    return {From::Size, number - sizes.firstSize()};
  return {From::Output, number - sizes.firstOutput()};
}

} // namespace calque::codegen
