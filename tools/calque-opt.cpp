// Runs passes on .mlir files: every pass of the project, and every stage of the pipeline by its name.
//
//   calque-opt --calque-differentiate model.mlir
//   calque-opt --calque-stage=name=linalg model.mlir
#include "absl/strings/str_cat.h"
#include "codegen/Passes.h"
#include "codegen/Pipeline.h"
#include "codegen/native/TimeReport.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

namespace {

llvm::cl::opt<std::string>
    targetOption("calque-target",
                 llvm::cl::desc("Schedule for baseline, avx2, avx512 or avx512vnni (default: this CPU)"),
                 llvm::cl::value_desc("target"));

llvm::cl::opt<bool> timing("timing", llvm::cl::desc("How long each pass took, and which changed something"));

struct StageOptions : PassPipelineOptions<StageOptions> {
  Option<std::string> name{*this, "name", llvm::cl::desc("The stage, before `object`; calque-dump --help lists them"),
                           llvm::cl::init("llvm")};
  Option<std::string> from{*this, "from", llvm::cl::desc("The stage that the file is at"), llvm::cl::init("traced")};
  Option<bool> optimize{*this, "optimize", llvm::cl::desc("Off: as with CALQUE_OPTIMIZE=0"), llvm::cl::init(true)};
};

// The passes that take a module from one stage to another, as the compiler does.
void registerStages() {
  registerPassPipeline(
      "calque-stage", "Take a program to a stage of the compiler",
      [](OpPassManager &manager, StringRef text, function_ref<LogicalResult(const Twine &)> refuse) -> LogicalResult {
        StageOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        std::optional<calque::Stage> stages[2];
        for (auto [stage, name] : {std::pair(&stages[0], &options.from), std::pair(&stages[1], &options.name)}) {
          *stage = calque::stageNamed(name->getValue());
          if (!*stage || *stage >= calque::Stage::Object)
            return refuse(absl::StrCat("there is no stage '", name->getValue(), "' of IR; the stages are ",
                                       calque::stageNames(), ", of which the last two are not IR"));
        }
        auto [from, to] = stages;
        if (from > to)
          return refuse(absl::StrCat("stage '", options.name.getValue(), "' comes before '", options.from.getValue(),
                                     "', which the file is at"));
        calque::CompileOptions compileOptions{.optimize = options.optimize};
        if (std::optional<calque::runtime::Cpu> cpu = calque::runtime::cpuNamed(targetOption))
          compileOptions.cpu = *cpu;
        if (*from >= calque::Stage::Linalg)
          manager.addPass(calque::codegen::createCheckStage({options.from.getValue()}));
        calque::codegen::addStages(manager, *from, *to, compileOptions);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> show) { show(StageOptions()); });
}

constexpr const char *kOverview = R"(Runs Calque's passes and stages on .mlir files.

  calque-opt model.mlir                               checks the file and prints it
  calque-opt --calque-differentiate model.mlir        runs a pass, or several in the order given
  calque-opt --calque-stage=name=linalg model.mlir    takes the program to a stage of the compiler
  calque-opt --calque-stage=name=scheduled --calque-target=avx2 model.mlir
                                                      shows the kernels, on every machine the same
  calque-opt "--calque-stage=from=linalg name=llvm" linalg.mlir
                                                      goes on from what a stage has printed
  calque-opt --calque-stage=name=llvm --timing model.mlir
                                                      says how long each pass took, and which changed something
  calque-opt --split-input-file --verify-diagnostics errors.mlir
                                                      checks the errors that comments expect, part by part
)";

// LLVM's libraries and MLIR's driver register hundreds of options; all of them work, these are shown.
constexpr const char *kShown[] = {"help",
                                  "timing",
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

// What MLIR's driver does, with passes that are timed. They run on one thread.
LogicalResult runTimed(StringRef input, StringRef output, DialectRegistry &registry) {
  MlirOptMainConfig given = MlirOptMainConfig::createFromCLOptions(), config = given;
  config.setPassPipelineSetupFn([&](PassManager &manager) -> LogicalResult {
    if (failed(given.setupPassPipeline(manager)))
      return failure();
    manager.getContext()->disableMultithreading();
    manager.addInstrumentation(calque::codegen::TimeReport::ofProcess().instrumentation({}));
    return success();
  });
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> stream = file ? openOutputFile(output, &error) : nullptr;
  if (!stream) {
    llvm::errs() << error << '\n';
    return failure();
  }
  if (failed(MlirOptMain(stream->os(), std::move(file), registry, config)))
    return failure();
  stream->keep();
  return success();
}

} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  calque::codegen::registerPipelineDialects(registry);
  calque::registerCalquePasses();
  calque::codegen::registerCalqueCodegenPasses();
  registerCanonicalizerPass();
  registerCSEPass();
  registerStages();
  registerCLIOptions("calque-opt", registry);
  showFewOptions();
  auto [input, output] = parseCLIOptions(argc, argv, kOverview);
  if (!targetOption.empty() && !calque::runtime::cpuNamed(targetOption)) {
    llvm::errs() << "calque-opt: there is no target '" << targetOption << "'; the targets are "
                 << calque::runtime::cpuNames() << "\n";
    return 1;
  }
  if (!timing)
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  LogicalResult result = runTimed(input, output, registry);
  calque::codegen::TimeReport::ofProcess().print(llvm::errs());
  return asMainReturnCode(result);
}
