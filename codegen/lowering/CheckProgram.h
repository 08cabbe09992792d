// Checks the properties of programs on which lowering relies, because a file may lack them.
#ifndef CALQUE_CODEGEN_LOWERING_CHECKPROGRAM_H
#define CALQUE_CODEGEN_LOWERING_CHECKPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace calque::codegen {

// The last function of a module that has a body: the program, up to the stage simplified. Emits an error where there is
// none.
mlir::FailureOr<mlir::func::FuncOp> tracedProgramIn(mlir::ModuleOp module);

// Refuses a function that has several blocks, or an argument or result that is no tensor of the dialect. The diagnostic
// names the function.
llvm::LogicalResult checkSignature(mlir::func::FuncOp function);

} // namespace calque::codegen
#endif
