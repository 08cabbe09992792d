// Runs passes on .mlir files: every pass of the project, and every stage of the pipeline by its name.
//
//   calque-opt --calque-differentiate model.mlir
//   calque-opt --calque-stage=linalg model.mlir
#include "codegen/Passes.h"
#include "codegen/Pipeline.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace {

llvm::cl::opt<std::string> targetOption("calque-target",
                                        llvm::cl::desc("Schedule for baseline, avx2 or avx512 (default: this CPU)"),
                                        llvm::cl::value_desc("target"));

// Takes each module to a stage, as the compiler does.
struct StagePass : PassWrapper<StagePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StagePass)
  StagePass() = default;
  StagePass(const StagePass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "calque-stage"; }
  StringRef getDescription() const final { return "Take a traced program to a stage of the compiler"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    calque::codegen::registerPipelineDialects(registry);
  }

  void runOnOperation() override {
    std::optional<calque::Stage> stage = calque::stageNamed(name);
    if (!stage || *stage == calque::Stage::Object) {
      getOperation().emitError("there is no stage '")
          << name << "' of IR; the stages are " << calque::stageNames() << ", which is not IR";
      return signalPassFailure();
    }
    calque::codegen::Program program;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        program.entry = function.getName().str();
    if (program.entry.empty()) {
      getOperation().emitError("there is no function with a body to take to a stage");
      return signalPassFailure();
    }
    // The module stays the caller's.
    program.module = OwningOpRef<ModuleOp>(getOperation());
    if (auto cpu = calque::runtime::cpuNamed(targetOption))
      program.options.cpu = *cpu;
    calque::codegen::Pipelines pipelines(getContext());
    if (failed(calque::codegen::lowerTo(program, *stage, pipelines)))
      signalPassFailure();
    (void)program.module.release();
  }

  Option<std::string> name{*this, "name", llvm::cl::desc("The stage, before `object`; calque-dump --help lists them"),
                           llvm::cl::init("llvm")};
};

constexpr const char *kOverview = R"(Runs Calque's passes and stages on .mlir files.

  calque-opt model.mlir                               checks the file and prints it
  calque-opt --calque-differentiate model.mlir        runs a pass, or several in the order given
  calque-opt --calque-stage=name=linalg model.mlir    takes the program to a stage of the compiler
  calque-opt --calque-stage=name=scheduled --calque-target=avx2 model.mlir
                                                      shows the kernels, on every machine the same
  calque-opt --split-input-file --verify-diagnostics errors.mlir
                                                      checks the errors that comments expect, part by part
)";

// LLVM's libraries and MLIR's driver register hundreds of options; all of them work, these are shown.
constexpr const char *kShown[] = {"help",
                                  "o",
                                  "calque-target",
                                  "pass-pipeline",
                                  "split-input-file",
                                  "verify-diagnostics",
                                  "verify-each",
                                  "mlir-print-debuginfo",
                                  "mlir-print-local-scope",
                                  "mlir-print-ir-before-all",
                                  "mlir-print-ir-after-all",
                                  "mlir-print-ir-after-change",
                                  "mlir-print-ir-after-failure",
                                  "mlir-timing"};

void showFewOptions() {
  // All passes are values of one option.
  const llvm::cl::Option *passes = llvm::cl::getRegisteredOptions().lookup("calque-stage");
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (option != passes && !llvm::is_contained(kShown, name))
      option->setHiddenFlag(llvm::cl::ReallyHidden);
}

} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  calque::codegen::registerPipelineDialects(registry);
  calque::registerCalquePasses();
  calque::codegen::registerCalqueCodegenPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  PassRegistration<StagePass>();
  registerCLIOptions("calque-opt", registry);
  showFewOptions();
  auto [input, output] = parseCLIOptions(argc, argv, kOverview);
  if (!targetOption.empty() && !calque::runtime::cpuNamed(targetOption)) {
    llvm::errs() << "calque-opt: there is no target '" << targetOption << "'; the targets are "
                 << calque::runtime::cpuNames() << "\n";
    return 1;
  }
  return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
}
