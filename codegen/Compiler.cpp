// The compiler's side of codegen/interface/Compiler.h.
#include "codegen/NativeCode.h"
#include "codegen/PrintStage.h"
#include "ir/BatchRule.h"
#include "ir/Import.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace calque {

namespace {

class CompilerImpl : public Compiler {
public:
  CompilerImpl() { codegen::registerPipelineDialects(registry); }

  void setExternRules(schema::ExternRules *rules) override { ir::setExternRules(rules); }

  CompileResult compile(const schema::Recording &recording, CompileOptions options) override {
    CompileResult result;
    // A context of its own for each compilation: threads compile side by side, and nothing stays behind.
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    withProgram(recording, options, context, result.error, [&](codegen::Program &program) {
      if (failed(codegen::lowerTo(program, Stage::LLVM)))
        return failure();
      codegen::NativeResult native = codegen::makeExecutable(program, recording.parameters.size() + recording.variables.size(),
                                                             recording.results.size() + program.assigned.size());
      result.executable = std::move(native.executable);
      result.error = std::move(native.error);
      return success(result.executable != nullptr);
    });
    return result;
  }

  PrintResult print(const schema::Recording &recording, Stage stage, CompileOptions options) override {
    PrintResult result;
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    llvm::raw_string_ostream stream(result.text);
    withProgram(recording, options, context, result.error, [&](codegen::Program &program) { return codegen::printAt(program, stage, stream); });
    return result;
  }

private:
  // Does something with the recording's IR. When it fails, `error` is the first diagnostic, with the user's line.
  static void withProgram(const schema::Recording &recording, CompileOptions options, MLIRContext &context, std::string &error,
                          llvm::function_ref<LogicalResult(codegen::Program &)> use) {
    context.loadAllAvailableDialects();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && error.empty()) {
        std::string line = codegen::lineOf(diagnostic.getLocation());
        error = diagnostic.str() + (line.empty() ? "" : "\n  at " + line);
      }
      return success();
    });
    codegen::Program program;
    program.module = ir::importRecording(recording, &context);
    program.entry = recording.name;
    program.options = options;
    if (failed(use(program)) && error.empty())
      error = "compilation failed without a diagnostic";
  }

  DialectRegistry registry;
};

} // namespace
} // namespace calque

extern "C" __attribute__((visibility("default"))) calque::Compiler *calque_compiler(int version) {
  // Never destroyed: native code that it made may still be called while the process ends.
  static auto *compiler = new calque::CompilerImpl;
  return version == calque::kCompilerInterfaceVersion ? compiler : nullptr;
}
