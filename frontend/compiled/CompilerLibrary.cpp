#include "frontend/compiled/CompilerLibrary.h"
#include "frontend/compiled/ProgramLibrary.h"

#include "absl/strings/str_cat.h"
#include "calque/error.h"
#include "calque/version.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/OwnStack.h"
#include "frontend/operations/UserOperationRegistry.h"
#include "runtime/Fork.h"

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

// Compiles on a stack that is deep enough, whatever the caller's is. MemoryError where memory runs out in the compiler,
// which can't be used any more then.
class CompilerOnOwnStack : public ProgramCompiler {
public:
  CompilerOnOwnStack() {
    onOwnStack([&] { loaded = static_cast<ProgramCompiler *>(loadCompiler()); });
    loaded->setExternRules(&userOperationRules());
  }
  void setExternRules(schema::ExternRules *rules) override { loaded->setExternRules(rules); }
  CompileResult compile(const schema::Recording &recording, runtime::KernelSource &kernels,
                        CompileOptions options) override {
    CompileResult result;
    use([&] { result = loaded->compile(recording, kernels, options); });
    return result;
  }
  std::vector<bool> connected(const schema::Recording &recording) override {
    std::vector<bool> result;
    use([&] { result = loaded->connected(recording); });
    return result;
  }
  ProgramResult differentiated(const schema::Recording &recording) override {
    ProgramResult result;
    use([&] { result = loaded->differentiated(recording); });
    return result;
  }
  PrintResult print(const schema::Recording &recording, Stage stage, CompileOptions options) override {
    PrintResult result;
    use([&] { result = loaded->print(recording, stage, options); });
    return result;
  }

  ScheduledProgram schedule(const schema::Recording &recording, CompileOptions options) override {
    ScheduledProgram result;
    use([&] { result = loaded->schedule(recording, options); });
    return result;
  }

  bool ranOutOfMemory() const override { return loaded->ranOutOfMemory(); }

private:
  template <typename F> void use(F &&call) {
    onOwnStack(call);
    if (loaded->ranOutOfMemory())
      failForCompilersMemory(userLine({}));
  }

  ProgramCompiler *loaded = nullptr;
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

void failForCompilersMemory(SourceLocation where) {
  throw MemoryError("there is no memory to compile this, and nothing else is compiled in this process any more", where);
}

ProgramCompiler &programCompiler() {
  runtime::ForkSection section; // as loading it is one, which no other thread in a section may wait for
  static auto *compiler = new CompilerOnOwnStack; // a failure is tried again; never destroyed
  return *compiler;
}
Compiler &compiler() { return programCompiler(); }

} // namespace calque::detail
