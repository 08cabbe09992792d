// The stages between a traced program and native code, each of which tools can stop at and print.
#ifndef CALQUE_CODEGEN_PIPELINE_H
#define CALQUE_CODEGEN_PIPELINE_H

#include "codegen/Lowering.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace calque::codegen {

// A program on its way down, and what its caller must know.
struct Program {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string entry; // the function's name
  std::vector<std::size_t> assigned;
  std::vector<Site> sites;
  std::size_t workspaceBytes = 0;
};

// All dialects that the pipeline uses.
void registerPipelineDialects(mlir::DialectRegistry &registry);

// Takes the program from `traced` to a stage, at most `llvm`, which is MLIR's LLVM dialect. Errors are diagnostics.
llvm::LogicalResult lowerTo(Program &program, Stage stage);

// Each does one step and leaves IR that verifies.
llvm::LogicalResult lowerToLinalg(Program &program);
llvm::LogicalResult bufferize(Program &program);
llvm::LogicalResult placeBuffers(Program &program);
llvm::LogicalResult lowerToLLVM(Program &program);

} // namespace calque::codegen
#endif
