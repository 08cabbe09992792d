// The compiler's side of codegen/interface/Compiler.h.
#include "codegen/NativeCode.h"
#include "ir/Import.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace calque {

namespace {

class CompilerImpl : public Compiler {
public:
  CompilerImpl() { codegen::registerPipelineDialects(registry); }

  CompileResult compile(const schema::Recording &recording) override {
    CompileResult result;
    // A context of its own for each compilation: threads compile side by side, and nothing stays behind.
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    codegen::Program program;
    if (!lower(recording, Stage::LLVM, context, program, result.error))
      return result;
    codegen::NativeResult native = codegen::makeExecutable(program, numInputs(recording), recording.results.size() + program.assigned.size());
    result.executable = std::move(native.executable);
    result.error = std::move(native.error);
    return result;
  }

  PrintResult print(const schema::Recording &recording, Stage stage) override {
    PrintResult result;
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    codegen::Program program;
    if (!lower(recording, std::min(stage, Stage::LLVM), context, program, result.error))
      return result;
    if (stage == Stage::Object) {
      result.text = codegen::assembly(program, numInputs(recording), recording.results.size() + program.assigned.size(), result.error);
      return result;
    }
    llvm::raw_string_ostream stream(result.text);
    OpPrintingFlags flags;
    flags.enableDebugInfo(true, true);
    program.module->print(stream, flags);
    return result;
  }

private:
  static unsigned numInputs(const schema::Recording &recording) { return recording.parameters.size() + recording.variables.size(); }

  static bool lower(const schema::Recording &recording, Stage stage, MLIRContext &context, codegen::Program &program, std::string &error) {
    context.loadAllAvailableDialects();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error && error.empty()) {
        std::string line = codegen::lineOf(diagnostic.getLocation());
        error = diagnostic.str() + (line.empty() ? "" : "\n  at " + line);
      }
      return success();
    });
    program.module = ir::importRecording(recording, &context);
    program.entry = recording.name;
    if (succeeded(codegen::lowerTo(program, stage)))
      return true;
    if (error.empty())
      error = "compilation failed without a diagnostic";
    return false;
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
