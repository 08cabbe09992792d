#include "ir/Import.h"
#include "passes/Passes.h"

namespace calque {
#define GEN_PASS_DEF_STATETOVALUES
#include "passes/Passes.h.inc"
} // namespace calque

using namespace mlir;

namespace {
struct StateToValues : calque::impl::StateToValuesBase<StateToValues> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto variables = function->getAttrOfType<ArrayAttr>(calque::ir::kVariablesAttr);
    Block &body = function.getBody().front();

    SmallVector<Value> current;
    SmallVector<Type> types;
    if (variables) {
      for (Attribute variable : variables) {
        auto type = dyn_cast<DictionaryAttr>(variable).getAs<TypeAttr>("type");
        types.push_back(type.getValue());
        current.push_back(body.addArgument(type.getValue(), function.getLoc()));
      }
    }
    SmallVector<bool> assigned(current.size(), false);
    auto variableOf = [&](Operation *op, int64_t index, Type type) -> std::optional<size_t> {
      if (index < 0 || index >= static_cast<int64_t>(current.size())) {
        op->emitOpError("names variable ") << index << " of " << current.size();
        return std::nullopt;
      }
      if (types[index] != type) {
        op->emitOpError("has type ") << type << " and the variable " << types[index];
        return std::nullopt;
      }
      return index;
    };
    for (Operation &op : llvm::make_early_inc_range(body)) {
      if (auto read = dyn_cast<calque::ir::VariableReadOp>(op)) {
        std::optional<size_t> index = variableOf(&op, read.getVariable(), read.getType());
        if (!index)
          return signalPassFailure();
        read.replaceAllUsesWith(current[*index]);
        read.erase();
      } else if (auto assign = dyn_cast<calque::ir::VariableAssignOp>(op)) {
        std::optional<size_t> index = variableOf(&op, assign.getVariable(), assign.getValue().getType());
        if (!index)
          return signalPassFailure();
        current[*index] = assign.getValue();
        assigned[*index] = true;
        assign.erase();
      }
    }
    auto terminator = cast<func::ReturnOp>(body.getTerminator());
    SmallVector<int64_t> assignedIndices;
    for (auto [i, isAssigned] : llvm::enumerate(assigned)) {
      if (!isAssigned)
        continue;
      assignedIndices.push_back(i);
      terminator.getOperandsMutable().append(current[i]);
    }
    function.setType(FunctionType::get(&getContext(), body.getArgumentTypes(), terminator.getOperandTypes()));
    function->setAttr(calque::kAssignedAttr, DenseI64ArrayAttr::get(&getContext(), assignedIndices));
    function->removeAttr(calque::ir::kVariablesAttr);
  }
};
} // namespace
