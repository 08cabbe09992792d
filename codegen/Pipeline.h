// The stages between a traced program and native code. A list of passes makes each stage. Tools can stop at a stage,
// print the IR, and go on from the printed text: the IR holds everything that later passes need.
#ifndef CALQUE_CODEGEN_PIPELINE_H
#define CALQUE_CODEGEN_PIPELINE_H

#include "codegen/lowering/Lowering.h"
#include "codegen/native/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <map>

namespace calque::codegen {

// All dialects that the pipeline uses.
void registerPipelineDialects(mlir::DialectRegistry &registry);

// Adds to an empty manager the passes that take a module from one stage to a later one, at most Stage::LLVM. Returns
// for each pass the stage to which it belongs.
llvm::SmallVector<Stage> addStages(mlir::OpPassManager &manager, Stage from, Stage to, const CompileOptions &options);

// Keeps pass managers for the next modules of a context, because making their patterns takes longer than running them
// on a small module.
class Pipelines {
public:
  // With `verifyEach`, a module is verified after each pass. Otherwise a program is verified after its last pass, and
  // kernels, which start at Stage::Outlined, are not.
  Pipelines(mlir::MLIRContext &context, bool verifyEach) : context(context), verifyEach(verifyEach) {}
  // Takes a module, with the parts in it, from one stage to a later one. Errors are diagnostics.
  llvm::LogicalResult run(mlir::ModuleOp module, Stage from, Stage to, const CompileOptions &options);

private:
  llvm::LogicalResult runAlone(mlir::ModuleOp module, Stage from, Stage to, const CompileOptions &options);
  // Takes a module from `from` to `to`, and its parts from `fromOfParts` to `to`.
  llvm::LogicalResult runWithParts(mlir::ModuleOp module, Stage from, Stage fromOfParts, Stage to,
                                   const CompileOptions &options);

  mlir::MLIRContext &context;
  bool verifyEach;
  std::map<std::tuple<Stage, Stage, bool, bool, runtime::Cpu, bool>, std::unique_ptr<mlir::PassManager>> made;
};

} // namespace calque::codegen
#endif
