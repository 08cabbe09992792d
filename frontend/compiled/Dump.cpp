#include "frontend/compiled/Dump.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "calque/error.h"
#include "frontend/compiled/CompilerLibrary.h"
#include "frontend/compiled/CompilerSettings.h"
#include "frontend/core/TensorImpl.h"
#include "frontend/core/Warnings.h"
#include "runtime/Fork.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

namespace calque::detail {

namespace {

struct Settings {
  std::vector<StageName> stages; // none: nothing is shown
  std::string function;
  bool eager = false;
  std::FILE *file = stderr;
};

// Empty in a program with other rights than its user's: the user must not choose which file it writes.
std::string variable(const char *name) {
  const char *value = secure_getenv(name);
  return value ? value : "";
}

Settings readSettings() {
  Settings settings;
  std::string stage = variable("CALQUE_DUMP");
  if (stage.empty() && variable("CALQUE_PROFILE").empty())
    return settings;
  for (const StageName &known : kStages)
    if (stage == known.name || stage == "all")
      settings.stages.push_back(known);
  if (settings.stages.empty() && !stage.empty())
    throw ValueError(
        absl::StrCat("CALQUE_DUMP: there is no stage '", stage, "'; the stages are ", stageNames(), ", or all"));
  settings.function = variable("CALQUE_DUMP_FUNCTION");
  std::string eager = variable("CALQUE_DUMP_EAGER");
  settings.eager = !eager.empty() && eager != "0";
  // Processes of one program append, so that none overwrites the output of another.
  if (std::string path = variable("CALQUE_DUMP_FILE"); !path.empty())
    if (settings.file = std::fopen(path.c_str(), "ae"); !settings.file)
      throw ValueError(absl::StrCat("CALQUE_DUMP_FILE: ", path, " can't be written: ", std::strerror(errno)));
  return settings;
}

const Settings &settingsOfProcess() {
  static const auto &settings = *new Settings(readSettings()); // a failure is tried again; never destroyed
  return settings;
}

std::string asComment(const std::string &text) {
  std::string comment = "// ";
  for (char c : text)
    comment += c == '\n' ? std::string("\n// ") : std::string(1, c);
  return absl::StrCat(comment, "\n");
}

// The functions that are not asked for by name.
struct Others {
  runtime::ForkMutex mutex;
  std::string asked;
  bool isFound = false; // the one that is asked for
  std::set<std::string> names;
};
Others &others() {
  static auto *made = new Others; // never destroyed: other threads may still run
  return *made;
}

void warnAtEnd() {
  std::lock_guard lock(others().mutex);
  if (others().isFound)
    return;
  std::string names = absl::StrJoin(others().names, "', '");
  printWarning(
      absl::StrCat("CALQUE_DUMP_FUNCTION: no function is called '", others().asked, "'; there are '", names, "'"));
}

bool isAskedFor(const std::string &name, const std::string &asked) {
  std::lock_guard lock(others().mutex);
  if (name == asked) {
    others().isFound = true;
    return true;
  }
  if (others().names.empty()) {
    others().asked = asked;
    std::atexit(warnAtEnd);
  }
  others().names.insert(name);
  return false;
}

} // namespace

bool isDumped(const std::string &name) {
  const std::string &asked = settingsOfProcess().function;
  return asked.empty() || isAskedFor(name, asked);
}

void writeDump(const std::string &text) {
  std::FILE *file = settingsOfProcess().file;
  static runtime::ForkMutex mutex;
  std::lock_guard lock(mutex);
  if (std::ftell(file) != 0)
    std::fputs(kDumpSeparator, file);
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

void dump(const schema::Recording &recording, Dumped kind, SourceLocation where) {
  const Settings &settings = settingsOfProcess();
  bool isFunction = kind == Dumped::Function;
  if (settings.stages.empty() || (!isFunction && !settings.eager))
    return;
  if (isFunction && !isDumped(recording.name))
    return;
  std::string title = (isFunction ? "function " : "eager ") + recording.name;
  if (where.line)
    absl::StrAppend(&title, " of ", lineOf(where).str());
  std::string text;
  for (const StageName &stage : settings.stages) {
    PrintResult printed = compiler().print(recording, stage.stage, checkedOptions());
    absl::StrAppend(&text, text.empty() ? "" : kDumpSeparator, "// ", title, ", stage ", stage.name, "\n",
                    printed.error.empty() ? printed.text : asComment(absl::StrCat("error: ", printed.error)));
  }
  writeDump(text);
}

} // namespace calque::detail
