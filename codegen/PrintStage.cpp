#include "codegen/PrintStage.h"

#include "codegen/NativeCode.h"
#include "ir/Import.h"

using namespace mlir;

namespace calque::codegen {

SmallVector<std::string> functionsOf(ModuleOp module) {
  SmallVector<std::string> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      names.push_back(function.getName().str());
  return names;
}

Program programOf(ModuleOp module, StringRef function) {
  Program program;
  program.module = module.clone();
  program.entry = function.str();
  for (auto other : llvm::make_early_inc_range(program.module->getOps<func::FuncOp>()))
    if (other.getName() != function)
      other.erase();
  return program;
}

LogicalResult printAt(Program &program, Stage stage, llvm::raw_ostream &os) {
  auto function = program.module->lookupSymbol<func::FuncOp>(program.entry);
  if (!function)
    return program.module->emitError("there is no function '") << program.entry << "'";
  Location location = function.getLoc();
  Pipelines pipelines(*program.module->getContext());
  if (failed(lowerTo(program, std::min(stage, Stage::LLVM), pipelines)))
    return failure();
  if (stage == Stage::Object) {
    std::string error;
    std::string text = assembly(*program.module, program.options, error);
    if (!error.empty())
      return emitError(location, error);
    os << text;
    return success();
  }
  OpPrintingFlags flags;
  flags.enableDebugInfo().useLocalScope();
  program.module->print(os, flags);
  os << '\n';
  return success();
}

} // namespace calque::codegen
