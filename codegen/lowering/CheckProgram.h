// What lowering relies on, and a file may not hold to.
#ifndef CALQUE_CODEGEN_LOWERING_CHECKPROGRAM_H
#define CALQUE_CODEGEN_LOWERING_CHECKPROGRAM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace calque::codegen {

// The last function of a module that has a body: the program, up to the stage simplified. Emits an error where there is
// none.
mlir::FailureOr<mlir::func::FuncOp> tracedProgramIn(mlir::ModuleOp module);

// Refuses, by a diagnostic that names the function, one that has several blocks or an argument or result which is no
// tensor of the dialect.
llvm::LogicalResult checkSignature(mlir::func::FuncOp function);

} // namespace calque::codegen
#endif
