// Checks that a program has the properties on which lowering relies. A program from a file may lack them.
#ifndef CALQUE_CODEGEN_LOWERING_CHECKPROGRAM_H
#define CALQUE_CODEGEN_LOWERING_CHECKPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace calque::codegen {

// The program of a module up to the stage simplified: the last function that has a body. Emits an error if there is
// none.
mlir::FailureOr<mlir::func::FuncOp> tracedProgramIn(mlir::ModuleOp module);

// Refuses a function that has several blocks, an argument or result that is no tensor of the dialect, or attributes of
// assigned or late results that do not fit it. The diagnostic names the function.
llvm::LogicalResult checkSignature(mlir::func::FuncOp function);

} // namespace calque::codegen
#endif
