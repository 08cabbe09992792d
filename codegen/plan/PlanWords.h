// Where the words of a program's steps come from.
#ifndef CALQUE_CODEGEN_PLAN_PLANWORDS_H
#define CALQUE_CODEGEN_PLAN_PLANWORDS_H

#include "codegen/plan/ProgramAttributes.h"

#include "llvm/ADT/MapVector.h"

namespace calque::codegen {

// Finds the words of each call, in a program whose function is a list of calls. Numbers the constants and the values
// that are computed before the program runs, in the order in which the words need them.
class PlanWords {
public:
  PlanWords(mlir::func::FuncOp program, const ProgramSizes &sizes) : program(program), sizes(sizes) {}

  // Calls a function for each call of the program, with the words of its operands. Emits an error for an operand that
  // can't be a word.
  llvm::LogicalResult forEachStep(llvm::function_ref<void(mlir::func::CallOp, llvm::ArrayRef<runtime::Operand>)> use);

  // The names of the globals that are constants, with their numbers.
  llvm::ArrayRef<std::pair<mlir::StringAttr, uint32_t>> constants() const { return constantNumbers.getArrayRef(); }
  // The values that are computed before the program runs, with their numbers: sizes and other numbers, and views of the
  // workspace at computed offsets.
  llvm::ArrayRef<std::pair<mlir::Value, uint32_t>> computed() const { return computedNumbers.getArrayRef(); }

private:
  std::optional<runtime::Operand> wordOf(mlir::Value value);
  runtime::Operand ofArgument(unsigned number);
  runtime::Operand compute(mlir::Value value);

  mlir::func::FuncOp program;
  const ProgramSizes &sizes;
  llvm::MapVector<mlir::StringAttr, uint32_t> constantNumbers;
  llvm::MapVector<mlir::Value, uint32_t> computedNumbers;
};

} // namespace calque::codegen
#endif
