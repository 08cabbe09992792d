#include "codegen/plan/KernelCode.h"

#include "codegen/native/NativeCode.h"
#include "codegen/native/TimeReport.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SHA256.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

namespace calque::codegen {

std::string textOf(func::FuncOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.useLocalScope();
  llvm::SetVector<StringRef> callees;
  kernel.walk([&](func::CallOp call) { callees.insert(call.getCallee()); });
  for (StringRef callee : callees) {
    module.lookupSymbol(callee)->print(stream, flags);
    stream << '\n';
  }
  std::string name = kernel.getName().str();
  kernel.setName(runtime::kKernelSymbol);
  kernel->print(stream, flags);
  kernel.setName(name);
  return text;
}

runtime::KernelKey keyOf(StringRef text, CompileOptions options) {
  llvm::SHA256 digest;
  auto add = [&](StringRef part) {
    // The length first, so that no two lists of parts are one text.
    digest.update((Twine(part.size()) + ":").str());
    digest.update(part);
  };
  add(compilerVersion());
  add(tripleOf(options.cpu));
  add(runtime::nameOf(options.cpu));
  add(options.optimize ? "optimized" : "plain");
  add(text);
  std::array<uint8_t, 32> bytes = digest.final();
  runtime::KernelKey key;
  llvm::transform(bytes, key.begin(), [](uint8_t each) { return static_cast<std::byte>(each); });
  return key;
}

KernelCode compileKernel(StringRef text, CompileOptions options, MLIRContext &context, Pipelines &pipelines) {
  KernelCode result;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && result.error.empty())
      result.error = diagnostic.str();
    return success();
  });
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  OwningOpRef<ModuleOp> module;
  {
    TimedStep step(options, Stage::Scheduled, "parse-kernel");
    module = parseSourceString<ModuleOp>(text, config);
  }
  if (module && succeeded(pipelines.run(*module, Stage::Outlined, Stage::LLVM, options)))
    result.image = makeImage(*module, options, result.error);
  if (!result.image && result.error.empty())
    result.error = "a kernel can't be compiled, and no diagnostic says why";
  return result;
}

} // namespace calque::codegen
