// Runs passes on .mlir files: every pass of the project, and every stage of the pipeline by its name.
//
//   calque-opt --calque-differentiate model.mlir
//   calque-opt --calque-stage=linalg model.mlir
#include "codegen/Pipeline.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace {

// Takes each module to a stage, as the compiler does.
struct StagePass : PassWrapper<StagePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StagePass)
  StagePass() = default;
  StagePass(const StagePass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "calque-stage"; }
  StringRef getDescription() const final { return "Take a traced program to a stage of the compiler"; }
  void getDependentDialects(DialectRegistry &registry) const final { calque::codegen::registerPipelineDialects(registry); }

  void runOnOperation() override {
    calque::codegen::Program program;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        program.entry = function.getName().str();
    // The module stays the caller's.
    program.module = OwningOpRef<ModuleOp>(getOperation());
    if (failed(calque::codegen::lowerTo(program, stage)))
      signalPassFailure();
    (void)program.module.release();
  }

  Option<calque::Stage> stage{*this, "name", llvm::cl::desc("The stage"), llvm::cl::init(calque::Stage::LLVM),
                              llvm::cl::values(clEnumValN(calque::Stage::Traced, "traced", "As recorded"),
                                               clEnumValN(calque::Stage::Differentiated, "differentiated", "Gradients expanded"),
                                               clEnumValN(calque::Stage::Simplified, "simplified", "State turned into values, composites expanded"),
                                               clEnumValN(calque::Stage::Linalg, "linalg", "Loops over tensors, fused"),
                                               clEnumValN(calque::Stage::Bufferized, "bufferized", "Loops over memory"),
                                               clEnumValN(calque::Stage::Scheduled, "scheduled", "Kernels, vectors and threads, in one workspace"),
                                               clEnumValN(calque::Stage::LLVM, "llvm", "MLIR's LLVM dialect"))};
};

} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  calque::codegen::registerPipelineDialects(registry);
  calque::registerCalquePasses();
  registerCanonicalizerPass();
  registerCSEPass();
  PassRegistration<StagePass>();
  return asMainReturnCode(MlirOptMain(argc, argv, "Calque's passes and stages on .mlir files\n", registry));
}
