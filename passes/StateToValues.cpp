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
    if (function.isExternal())
      return;
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
    WalkResult nested = function.walk([&](Operation *op) {
      if (!isa<calque::ir::VariableReadOp, calque::ir::VariableAssignOp>(op) || op->getBlock() == &body)
        return WalkResult::advance();
      op->emitOpError(
          "stands in a region or behind a branch; variables are followed through a function's first block only");
      return WalkResult::interrupt();
    });
    if (nested.wasInterrupted())
      return signalPassFailure();
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
    SmallVector<int64_t> assignedArguments;
    size_t firstVariable = body.getNumArguments() - current.size();
    SmallVector<Value> last;
    for (auto [i, isAssigned] : llvm::enumerate(assigned)) {
      if (!isAssigned)
        continue;
      assignedArguments.push_back(firstVariable + i);
      last.push_back(current[i]);
    }
    // The values of the entry block dominate every return.
    function.walk([&](func::ReturnOp result) { result.getOperandsMutable().append(last); });
    SmallVector<Type> results(function.getResultTypes());
    llvm::append_range(results, ValueRange(last).getTypes());
    function.setType(FunctionType::get(&getContext(), body.getArgumentTypes(), results));
    function->setAttr(calque::kAssignedAttr, DenseI64ArrayAttr::get(&getContext(), assignedArguments));
    function->removeAttr(calque::ir::kVariablesAttr);
  }
};
} // namespace
