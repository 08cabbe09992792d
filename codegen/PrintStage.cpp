#include "codegen/PrintStage.h"

#include "codegen/native/NativeCode.h"
#include "codegen/schedule/ScheduleTable.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace calque::codegen {

SmallVector<std::string> functionsOf(ModuleOp module) {
  SmallVector<std::string> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      names.push_back(function.getName().str());
  return names;
}

OwningOpRef<ModuleOp> programOf(ModuleOp module, StringRef function) {
  OwningOpRef<ModuleOp> program = module.clone();
  for (auto other : llvm::make_early_inc_range(program->getOps<func::FuncOp>()))
    if (other.getName() != function)
      other.erase();
  return program;
}

// The kernels of a program, then those of each of its parts.
static LogicalResult printAssembly(ModuleOp program, CompileOptions options, llvm::raw_ostream &os) {
  std::string error;
  std::string text = assembly(program, options, error);
  if (!error.empty())
    return program.emitError(error);
  os << text;
  for (ModuleOp part : program.getOps<ModuleOp>()) {
    os << "\n# " << part.getSymName().value_or("a part") << '\n';
    if (failed(printAssembly(part, options, os)))
      return failure();
  }
  return success();
}

// What loops keep shows at a stage that the schedule has left behind.
static std::vector<KeptByLoop> keptIn(ModuleOp program, Pipelines &pipelines, const CompileOptions &options) {
  const bool hasLoop = program.walk([](ir::WhileOp) { return WalkResult::interrupt(); }).wasInterrupted();
  OwningOpRef<ModuleOp> copy(hasLoop ? program.clone() : nullptr);
  ScopedDiagnosticHandler quiet(program.getContext(), [](Diagnostic &) { return success(); }); // they come again
  if (!copy || failed(pipelines.run(*copy, Stage::Traced, Stage::Simplified, options)))
    return {};
  return keptByLoops(*copy);
}

LogicalResult printAt(ModuleOp program, Stage stage, CompileOptions options, llvm::raw_ostream &os) {
  Pipelines pipelines(*program.getContext(), /*verifyEach=*/true);
  Stage last = stage == Stage::Schedule ? Stage::Scheduled : std::min(stage, Stage::LLVM);
  if (failed(verify(program)))
    return failure();
  std::vector<KeptByLoop> kept;
  if (stage == Stage::Schedule)
    kept = keptIn(program, pipelines, options);
  if (failed(pipelines.run(program, Stage::Traced, last, options)))
    return failure();
  if (stage == Stage::Schedule) {
    ScheduledProgram schedule = scheduleOf(program);
    schedule.kept = std::move(kept);
    printSchedule(schedule, os);
    return success();
  }
  if (stage == Stage::Object)
    return printAssembly(program, options, os);
  OpPrintingFlags flags;
  flags.enableDebugInfo().useLocalScope();
  program->print(os, flags);
  os << '\n';
  return success();
}

} // namespace calque::codegen
