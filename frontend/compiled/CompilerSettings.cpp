#include "frontend/compiled/CompilerSettings.h"

#include "absl/strings/str_cat.h"
#include "calque/error.h"
#include "calque/loop_memory.h"
#include "frontend/core/Numerics.h"

#include <cstdlib>

namespace calque::detail {

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
  loop_memory(); // fails for what CALQUE_LOOP_MEMORY must not be
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

} // namespace calque::detail
