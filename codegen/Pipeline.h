// The stages between a traced program and native code, each a list of passes. Tools can stop at each and print it, and
// go on from what was printed: all that later passes need is in the IR.
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

// Adds the passes that take a module from one stage to a later one, up to Stage::LLVM, to an empty manager. Returns the
// stage that each is a step to.
llvm::SmallVector<Stage> addStages(mlir::OpPassManager &manager, Stage from, Stage to, const CompileOptions &options);

// Pass managers that are kept for the next module of their context, since to make their patterns takes longer than to
// run them on something small.
class Pipelines {
public:
  // With `verifyEach`, the module is verified after each pass, else after the last one that is no kernel's.
  Pipelines(mlir::MLIRContext &context, bool verifyEach) : context(context), verifyEach(verifyEach) {}
  // Takes a module, with the parts in it, from one stage to a later one. Errors are diagnostics.
  llvm::LogicalResult run(mlir::ModuleOp module, Stage from, Stage to, const CompileOptions &options);

private:
  llvm::LogicalResult runAlone(mlir::ModuleOp module, Stage from, Stage to, const CompileOptions &options);
  // Takes a module's parts to the stage too.
  llvm::LogicalResult runWithParts(mlir::ModuleOp module, Stage from, Stage fromOfParts, Stage to,
                                   const CompileOptions &options);

  mlir::MLIRContext &context;
  bool verifyEach;
  std::map<std::tuple<Stage, Stage, bool, bool, runtime::Cpu, bool>, std::unique_ptr<mlir::PassManager>> made;
};

} // namespace calque::codegen
#endif
