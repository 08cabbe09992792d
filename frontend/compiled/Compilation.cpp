#include "frontend/compiled/Compilation.h"

#include "frontend/compiled/CompilationCount.h"
#include "frontend/compiled/CompilerLibrary.h"
#include "frontend/compiled/CompilerSettings.h"
#include "frontend/compiled/KnownCode.h"
#include "frontend/compiled/LoopMemory.h"
#include "frontend/compiled/Profile.h"
#include "frontend/operations/UserOperationRegistry.h"
#include "runtime/Fork.h"

#include <algorithm>
#include <atomic>

namespace calque::detail {

namespace {
std::atomic<std::uint64_t> compilations{0};
}
std::uint64_t compilationCount() { return compilations.load(); }

namespace {
std::unique_ptr<const Code> codeOf(const schema::Recording &recording, CompiledProgram program,
                                   const CompileOptions &options,
                                   std::vector<std::shared_ptr<const HostFunction>> hostFunctions) {
  isProfiled(); // before the plan is made
  auto code = std::make_unique<Code>();
  code->executable = std::make_shared<const Executable>(std::move(program));
  for (schema::ValueId value : recording.results)
    code->results.push_back(std::make_shared<const schema::TensorType>(recording.typeOf(value)));
  for (const schema::RecordedVariable &variable : recording.variables)
    code->variables.push_back(std::make_shared<const schema::TensorType>(variable.type));
  code->hostFunctions = std::move(hostFunctions);
  auto tellsObject = [](const Site &site) {
    return site.kind == Site::Kind::Extern && programsOf(site.text) != nullptr;
  };
  if (std::ranges::any_of(code->executable->sites, tellsObject))
    code->hasBegun = std::make_shared<std::atomic<bool>>(false);
  else if (std::ranges::find(code->executable->sites, Site::Kind::OutOfMemory, &Site::kind) !=
           code->executable->sites.end())
    code->loopMemory = std::make_shared<LoopMemory>(recording, options);
  return code;
}
} // namespace

namespace {
std::unique_ptr<const Code> find(const schema::Recording &recording, const CompileOptions &options,
                                 std::vector<std::shared_ptr<const HostFunction>> hostFunctions) {
  runtime::ForkSection section;
  std::optional<CompiledProgram> program = KnownCode::ofProcess().find(recording, options);
  return program ? codeOf(recording, *std::move(program), options, std::move(hostFunctions)) : nullptr;
}
std::unique_ptr<const Code> compile(const schema::Recording &recording, const CompileOptions &options,
                                    std::vector<std::shared_ptr<const HostFunction>> hostFunctions,
                                    SourceLocation where) {
  runtime::ForkSection section;
  KnownCode &known = KnownCode::ofProcess();
  compilations.fetch_add(1);
  CompileResult compiled;
  try {
    compiled = compiler().compile(recording, known, optionsFor(recording, options));
  } catch (const MemoryError &error) {
    if (error.location().line)
      throw;
    failForCompilersMemory(where);
  }
  if (!compiled.program) {
    SourceLocation line = locationOf(compiled.line);
    throw CompileError(compiled.error.empty() ? "the compiler gave no reason" : compiled.error,
                       line.line && !isInStandardLibrary(line) ? line : where);
  }
  known.add(recording, options, *compiled.program);
  return codeOf(recording, *std::move(compiled.program), options, std::move(hostFunctions));
}
} // namespace

std::unique_ptr<const Code> knownCode(const schema::Recording &recording,
                                      std::vector<std::shared_ptr<const HostFunction>> hostFunctions) {
  return find(recording, compileOptions(), std::move(hostFunctions));
}

std::unique_ptr<const Code> installedCode(const schema::Recording &recording) {
  runtime::ForkSection section;
  const CompileOptions options = compileOptions();
  std::optional<CompiledProgram> program = KnownCode::ofProcess().findInstalled(recording, options);
  return program ? codeOf(recording, *std::move(program), options, {}) : nullptr;
}

std::unique_ptr<const Code> compileUnknown(const schema::Recording &recording,
                                           std::vector<std::shared_ptr<const HostFunction>> hostFunctions,
                                           SourceLocation where) {
  return compile(recording, compileOptions(), std::move(hostFunctions), where);
}

std::unique_ptr<const Code> compileRecording(const schema::Recording &recording,
                                             std::vector<std::shared_ptr<const HostFunction>> hostFunctions,
                                             SourceLocation where, bool checkNumerics) {
  CompileOptions options = compileOptions();
  options.checkNumerics = checkNumerics;
  return compileRecording(recording, std::move(hostFunctions), where, options);
}

std::unique_ptr<const Code> compileRecording(const schema::Recording &recording,
                                             std::vector<std::shared_ptr<const HostFunction>> hostFunctions,
                                             SourceLocation where, const CompileOptions &options) {
  std::unique_ptr<const Code> code = find(recording, options, hostFunctions);
  return code ? std::move(code) : compile(recording, options, std::move(hostFunctions), where);
}

} // namespace calque::detail
