#include "frontend/compiled/Compilation.h"

#include "absl/strings/str_cat.h"
#include "calque/version.h"
#include "frontend/compiled/CompilationCount.h"
#include "frontend/compiled/KnownCode.h"
#include "frontend/compiled/Profile.h"
#include "frontend/core/Apply.h"
#include "frontend/core/Numerics.h"
#include "frontend/core/OwnStack.h"
#include "frontend/operations/UserOperations.h"
#include "runtime/Fork.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace calque::detail {

namespace {
// By the version of the ABI: libraries of several versions may lie in one folder.
constexpr const char *kCompilerLibrary = "libcalque-compiler.so." CALQUE_SOVERSION;

Compiler *loadCompiler() {
  std::string path = compilerLibrary();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw CompileError(absl::StrCat("the compiler's library can't be loaded: ", dlerror(),
                                    "; it belongs beside libcalque.so, or CALQUE_COMPILER_LIBRARY says where it is"));
  auto factory = reinterpret_cast<CompilerFactory>(dlsym(library, "calque_compiler"));
  if (!factory)
    throw CompileError(absl::StrCat(path, " is not Calque's compiler: it has no symbol calque_compiler"));
  Compiler *compiler = factory(kCompilerInterfaceVersion, calque_rt_functions());
  if (!compiler)
    throw CompileError(absl::StrCat(path, " is of another version than libcalque, which needs interface version ",
                                    kCompilerInterfaceVersion));
  return compiler;
}

// Compiles on a stack that is deep enough, whatever the caller's is.
class CompilerOnOwnStack : public Compiler {
public:
  CompilerOnOwnStack() {
    onOwnStack([&] { loaded = loadCompiler(); });
    loaded->setExternRules(&userOperationRules());
  }
  void setExternRules(schema::ExternRules *rules) override { loaded->setExternRules(rules); }
  CompileResult compile(const schema::Recording &recording, runtime::KernelSource &kernels,
                        CompileOptions options) override {
    CompileResult result;
    onOwnStack([&] { result = loaded->compile(recording, kernels, options); });
    return result;
  }
  std::vector<bool> connected(const schema::Recording &recording) override {
    std::vector<bool> result;
    onOwnStack([&] { result = loaded->connected(recording); });
    return result;
  }
  PrintResult print(const schema::Recording &recording, Stage stage, CompileOptions options) override {
    PrintResult result;
    onOwnStack([&] { result = loaded->print(recording, stage, options); });
    return result;
  }

  ScheduledProgram schedule(const schema::Recording &recording, CompileOptions options) override {
    ScheduledProgram result;
    onOwnStack([&] { result = loaded->schedule(recording, options); });
    return result;
  }

private:
  Compiler *loaded = nullptr;
};
} // namespace

std::string compilerLibrary() {
  // Whoever starts a program with other rights than their own must not choose which code it loads.
  if (const char *override = secure_getenv("CALQUE_COMPILER_LIBRARY"))
    return override;
  Dl_info here;
  if (dladdr(reinterpret_cast<void *>(&compilerLibrary), &here) && here.dli_fname) {
    std::string beside = here.dli_fname;
    std::size_t slash = beside.rfind('/');
    if (slash != std::string::npos)
      beside = beside.substr(0, slash + 1) + kCompilerLibrary;
    if (slash != std::string::npos && access(beside.c_str(), R_OK) == 0)
      return beside;
  }
  return kCompilerLibrary;
}

Compiler &compiler() {
  runtime::ForkSection section; // as loading it is one, which no other thread in a section may wait for
  static auto *compiler = new CompilerOnOwnStack; // a failure is tried again; never destroyed
  return *compiler;
}

runtime::Cpu targetOf(const std::string &setting, runtime::Cpu host) {
  std::optional<runtime::Cpu> cpu = runtime::cpuNamed(setting);
  if (!cpu)
    throw ValueError(absl::StrCat("CALQUE_TARGET is '", setting, "' and must be one of ", runtime::cpuNamesLike(host)));
  if (!runtime::runs(host, *cpu))
    throw ValueError(absl::StrCat("CALQUE_TARGET is '", setting, "', whose code this CPU can't run; it runs that of ",
                                  runtime::cpuNamesRunBy(host)));
  return *cpu;
}

namespace {
std::string setting(const char *variable) {
  const char *text = std::getenv(variable);
  return text ? text : "";
}

CompileOptions optionsByEnvironment() {
  CompileOptions options;
  if (std::string check = setting("CALQUE_CHECK_NUMERICS"); !check.empty() && check != "0" && check != "1")
    throw ValueError(absl::StrCat("CALQUE_CHECK_NUMERICS is '", check, "' and must be 0 or 1"));
  if (std::string optimize = setting("CALQUE_OPTIMIZE"); !optimize.empty()) {
    if (optimize != "0" && optimize != "1")
      throw ValueError(absl::StrCat("CALQUE_OPTIMIZE is '", optimize, "' and must be 0 or 1"));
    options.optimize = optimize == "1";
  }
  if (std::string timing = setting("CALQUE_TIMING"); !timing.empty()) {
    if (timing != "0" && timing != "1")
      throw ValueError(absl::StrCat("CALQUE_TIMING is '", timing, "' and must be 0 or 1"));
    options.timing = timing == "1";
  }
  // The runtime reads it, and has no errors.
  if (std::string threads = setting("CALQUE_NUM_THREADS");
      !threads.empty() && (threads.find_first_not_of("0123456789") != std::string::npos ||
                           threads.find_first_not_of('0') == std::string::npos))
    throw ValueError(absl::StrCat("CALQUE_NUM_THREADS is '", threads, "' and must be a positive number"));
  if (std::string target = setting("CALQUE_TARGET"); !target.empty())
    options.cpu = targetOf(target, options.cpu);
  return options;
}
thread_local std::optional<CompileOptions> optionsOfThread;
} // namespace

CompileOptions compileOptions() {
  static const CompileOptions byEnvironment = optionsByEnvironment(); // a failure is tried again
  return optionsOfThread.value_or(byEnvironment);
}
void setCompileOptions(std::optional<CompileOptions> options) { optionsOfThread = options; }

CompileOptions checkedOptions() {
  CompileOptions options = compileOptions();
  options.checkNumerics = checksNumerics();
  return options;
}

namespace {
std::atomic<std::uint64_t> compilations{0};
}
std::uint64_t compilationCount() { return compilations.load(); }

namespace {
std::unique_ptr<const Code> codeOf(const schema::Recording &recording, CompiledProgram program,
                                   std::vector<std::shared_ptr<const HostFunction>> hostFunctions) {
  isProfiled(); // before the plan is made
  auto code = std::make_unique<Code>();
  code->executable = std::make_shared<const Executable>(std::move(program));
  for (schema::ValueId value : recording.results)
    code->results.push_back(std::make_shared<const schema::TensorType>(recording.typeOf(value)));
  for (const schema::RecordedVariable &variable : recording.variables)
    code->variables.push_back(std::make_shared<const schema::TensorType>(variable.type));
  code->hostFunctions = std::move(hostFunctions);
  return code;
}
} // namespace

namespace {
std::unique_ptr<const Code> find(const schema::Recording &recording, const CompileOptions &options,
                                 std::vector<std::shared_ptr<const HostFunction>> hostFunctions) {
  runtime::ForkSection section;
  std::optional<CompiledProgram> program = KnownCode::ofProcess().find(recording, options);
  return program ? codeOf(recording, *std::move(program), std::move(hostFunctions)) : nullptr;
}
std::unique_ptr<const Code> compile(const schema::Recording &recording, const CompileOptions &options,
                                    std::vector<std::shared_ptr<const HostFunction>> hostFunctions,
                                    SourceLocation where) {
  runtime::ForkSection section;
  KnownCode &known = KnownCode::ofProcess();
  compilations.fetch_add(1);
  CompileResult compiled = compiler().compile(recording, known, options);
  if (!compiled.program) {
    SourceLocation line = locationOf(compiled.line);
    throw CompileError(compiled.error.empty() ? "the compiler gave no reason" : compiled.error,
                       line.line && !isInStandardLibrary(line) ? line : where);
  }
  known.add(recording, options, *compiled.program);
  return codeOf(recording, *std::move(compiled.program), std::move(hostFunctions));
}
} // namespace

std::unique_ptr<const Code> knownCode(const schema::Recording &recording,
                                      std::vector<std::shared_ptr<const HostFunction>> hostFunctions) {
  return find(recording, compileOptions(), std::move(hostFunctions));
}

std::unique_ptr<const Code> installedCode(const schema::Recording &recording) {
  runtime::ForkSection section;
  std::optional<CompiledProgram> program = KnownCode::ofProcess().findInstalled(recording, compileOptions());
  return program ? codeOf(recording, *std::move(program), {}) : nullptr;
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
  std::unique_ptr<const Code> code = find(recording, options, hostFunctions);
  return code ? std::move(code) : compile(recording, options, std::move(hostFunctions), where);
}

} // namespace calque::detail
