// Prints a program at a stage.
#ifndef CALQUE_CODEGEN_PRINTSTAGE_H
#define CALQUE_CODEGEN_PRINTSTAGE_H

#include "codegen/Pipeline.h"

#include "mlir/IR/OwningOpRef.h"

namespace calque::codegen {

// The names of the functions of a module that have a body.
llvm::SmallVector<std::string> functionsOf(mlir::ModuleOp module);

// A copy of the module with one of its functions alone, as it is compiled.
mlir::OwningOpRef<mlir::ModuleOp> programOf(mlir::ModuleOp module, llvm::StringRef function);

// Lowers a traced program to a stage and prints it: IR with the user's lines, which can be parsed again, or assembly
// for Stage::Object. Errors are diagnostics.
llvm::LogicalResult printAt(mlir::ModuleOp program, Stage stage, CompileOptions options, llvm::raw_ostream &os);

} // namespace calque::codegen
#endif
