// Shows the IR of each stage of the compiler: of a .mlir file, or of the functions that a program traces.
//
//   calque-dump --stage=linalg model.mlir
//   calque-dump --stage=linalg model.calque
//   calque-dump --stage=differentiated -- ./program arguments
//
// A program is asked by its environment (frontend/compiled/Dump.h) to write into a pipe, whose text becomes the
// standard output of calque-dump. The program's own standard output goes to standard error, so that what calque-dump
// prints is IR and nothing else, and a terminal still shows both in order; with -o the program keeps its own.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "codegen/PrintStage.h"
#include "codegen/native/TimeReport.h"
#include "runtime/CodeCache.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

extern char **environ;

namespace {

namespace cl = llvm::cl;
cl::OptionCategory category("Options");
cl::opt<std::string> file(cl::Positional, cl::desc("FILE.mlir"), cl::cat(category));
cl::opt<std::string> stageOption("stage", cl::desc("A stage of the compiler, or all (default: traced)"),
                                 cl::value_desc("stage"), cl::init("traced"), cl::cat(category));
cl::opt<bool> scheduleOption("schedule", cl::desc("The same as --stage=schedule"), cl::cat(category));
cl::opt<std::string> functionOption("function", cl::desc("Only functions of this name"), cl::value_desc("name"),
                                    cl::cat(category));
cl::opt<bool> eager("eager", cl::desc("Also what a program runs eagerly, one operation at a time"), cl::cat(category));
cl::opt<bool> timing("timing", cl::desc("How long each step of compiling took, to standard error"), cl::cat(category));
cl::opt<bool> profileOption("profile", cl::desc("How long a program's kernels take, when it has ended"),
                            cl::cat(category));
cl::opt<bool> cacheOption("cache", cl::desc("What native code is kept on disk"), cl::cat(category));
cl::opt<std::string> outputOption("o", cl::desc("Write to a file; the program keeps its standard output"),
                                  cl::value_desc("file"), cl::init("-"), cl::cat(category));

enum ExitCode { Failed = 1, Misused = 2, CantRun = 126, NotFound = 127, Signalled = 128 };

int fail(const llvm::Twine &message, int code) {
  llvm::errs() << "calque-dump: " << message << '\n';
  return code;
}

std::string overview() {
  std::string text = R"(Shows the IR of each stage of Calque's compiler, with the user's lines.

  calque-dump --stage=linalg model.mlir                         a file ("-" is standard input)
  calque-dump --stage=linalg model.calque                       functions that were saved
  calque-dump --stage=differentiated -- ./program arguments     each function that a program traces
  calque-dump --schedule -- ./program arguments                 what its kernels do, how, and what they cost
  calque-dump --profile -- ./program arguments                  how long they take, beside what the machine can do
  calque-dump --cache                                           the native code that is kept on disk

The stages, in the order in which a program goes through them:
)";
  for (const calque::StageName &stage : calque::kStages)
    absl::StrAppendFormat(&text, "  %-16s%s\n", stage.name, stage.meaning);
  return absl::StrCat(text, R"(  all             each of them

The IR goes to standard output, what the program itself prints to standard error. The exit code is that of the program;
1 for a file that is wrong or refused by the compiler, 2 for wrong options, 126 and 127 for a program that can't be run.
)");
}

//===-- The cache on disk -----------------------------------------------------------------------===//

// Prints the entries of the cache, the last used first.
int listCache(llvm::raw_ostream &os) {
  calque::runtime::CacheSettings settings = calque::runtime::cacheSettings();
  if (!settings.error.empty())
    return fail(settings.error, Misused);
  if (settings.directory.empty()) {
    os << "there is no cache\n";
    return 0;
  }
  std::vector<calque::runtime::CacheEntry> entries =
      calque::runtime::CodeCache(settings.directory, settings.maxBytes).entries();
  std::uint64_t bytes = 0;
  for (const calque::runtime::CacheEntry &entry : entries)
    bytes += entry.bytes;
  os << settings.directory << ": " << entries.size() << " entries, " << bytes << " bytes of at most "
     << settings.maxBytes << '\n';
  for (const calque::runtime::CacheEntry &entry : entries) {
    std::time_t used = std::chrono::system_clock::to_time_t(entry.used);
    char time[32] = "";
    std::strftime(time, sizeof(time), "%F %T", std::localtime(&used));
    os << time << llvm::format("%12llu  ", static_cast<unsigned long long>(entry.bytes));
    for (std::byte each : entry.key)
      os << llvm::format_hex_no_prefix(std::to_integer<unsigned>(each), 2);
    os << '\n';
  }
  return 0;
}

//===-- Files -----------------------------------------------------------------------------------===//

// The CPU that code is generated for: this one, or the one that CALQUE_TARGET names.
std::optional<calque::runtime::Cpu> targetCpu() {
  const char *setting = getenv("CALQUE_TARGET");
  return setting && *setting ? calque::runtime::cpuNamed(setting) : calque::runtime::hostCpu();
}

// Prints each function of one part of the file at each of the stages. Returns whether that worked.
bool dumpPart(std::unique_ptr<llvm::MemoryBuffer> part, MLIRContext &context, llvm::ArrayRef<calque::StageName> stages,
              bool &any, llvm::raw_ostream &os) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(part), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return false;
  for (const std::string &name : calque::codegen::functionsOf(*module)) {
    if (!functionOption.empty() && functionOption != name)
      continue;
    for (const calque::StageName &stage : stages) {
      OwningOpRef<ModuleOp> program = calque::codegen::programOf(*module, name);
      std::string text;
      llvm::raw_string_ostream stream(text);
      if (failed(calque::codegen::printAt(*program, stage.stage, {.cpu = *targetCpu(), .timing = timing}, stream)))
        return false;
      os << (std::exchange(any, true) ? calque::kDumpSeparator : "") << "// function " << name << ", stage "
         << stage.name << '\n'
         << text;
    }
  }
  return true;
}

// Prints each function of a file, or of its parts as --split-input-file of MLIR's tools splits it.
int dumpFile(llvm::ArrayRef<calque::StageName> stages, llvm::raw_ostream &os) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(file, &error);
  if (!buffer)
    return fail(error, Failed);
  DialectRegistry registry;
  calque::codegen::registerPipelineDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();

  llvm::SmallVector<llvm::StringRef> parts;
  buffer->getBuffer().split(parts, kDefaultSplitMarker);
  bool any = false;
  std::string blankLines; // those of the parts before, so that a part has the line numbers of the file
  for (llvm::StringRef part : parts) {
    std::string text = blankLines + part.str();
    if (!dumpPart(llvm::MemoryBuffer::getMemBufferCopy(text, buffer->getBufferIdentifier()), context, stages, any, os))
      return Failed;
    blankLines.append(part.count('\n'), '\n');
  }
  if (!any)
    return fail(file + (functionOption.empty() ? " has no function" : " has no function '" + functionOption + "'"),
                Failed);
  if (timing)
    calque::codegen::TimeReport::ofProcess().print(llvm::errs());
  return 0;
}

// Whether a file is of the format that saved functions, models and checkpoints have: a number of eight bytes, which no
// text begins with, and a brace.
bool isSaved(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, 9, 0);
  if (!buffer || (*buffer)->getBufferSize() < 9)
    return false;
  llvm::StringRef head = (*buffer)->getBuffer();
  return head[7] == 0 && head[8] == '{';
}

// Prints the functions of a file that save_functions has written: calque-run, which lies beside this program, does.
int dumpSaved(const char *self, llvm::ArrayRef<calque::StageName> stages) {
  std::string tool = llvm::sys::fs::getMainExecutable(self, reinterpret_cast<void *>(&dumpSaved));
  tool = (llvm::sys::path::parent_path(tool) + "/calque-run").str();
  llvm::SmallVector<std::string> arguments{llvm::sys::path::filename(self).str(), file};
  for (const calque::StageName &stage : stages)
    arguments.append({"--ir", stage.name});
  if (!functionOption.empty())
    arguments.append({"--function", functionOption});
  if (timing)
    setenv("CALQUE_TIMING", "1", 1);
  llvm::SmallVector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execv(tool.c_str(), pointers.data());
  return fail(tool + " can't be run: " + strerror(errno), NotFound);
}

//===-- Programs --------------------------------------------------------------------------------===//

// Copies a pipe to a stream until its last writer has closed it, without the separator that comes first. Returns
// whether anything came.
bool copyAll(int from, llvm::raw_ostream &os) {
  char bytes[1 << 16];
  llvm::StringRef separator = calque::kDumpSeparator; // what of it may still come
  bool any = false;
  for (;;) {
    ssize_t count = read(from, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return any;
    any = true;
    llvm::StringRef text(bytes, count);
    while (!separator.empty() && text.consume_front(separator.take_front()))
      separator = separator.drop_front();
    if (!text.empty())
      separator = "";
    os << text;
    os.flush();
  }
}

// Runs a program and prints what it dumps. Returns the exit code of calque-dump.
int dumpProgram(char **command, llvm::raw_ostream &os) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC))
    return fail("no pipe: " + llvm::Twine(strerror(errno)), Failed);
  if (profileOption)
    setenv("CALQUE_PROFILE", "1", 1);
  else
    setenv("CALQUE_DUMP", stageOption.c_str(), 1);
  // The program's end of the pipe, which it opens by this name.
  int inherited = fcntl(ends[1], F_DUPFD, 10);
  setenv("CALQUE_DUMP_FILE", absl::StrCat("/dev/fd/", inherited).c_str(), 1);
  setenv("CALQUE_DUMP_FUNCTION", functionOption.c_str(), 1);
  setenv("CALQUE_DUMP_EAGER", eager ? "1" : "0", 1);
  if (timing)
    setenv("CALQUE_TIMING", "1", 1);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (outputOption == "-")
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  int error = posix_spawnp(&child, command[0], &actions, nullptr, command, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  close(inherited);
  if (error)
    return fail(llvm::Twine(command[0]) + " can't be run: " + strerror(error), error == ENOENT ? NotFound : CantRun);

  // Interrupting from a terminal reaches the program as well; what it has dumped is still shown.
  signal(SIGINT, SIG_IGN);
  bool any = copyAll(ends[0], os);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(status))
    return fail(llvm::Twine(command[0]) + " was ended by signal " + llvm::Twine(WTERMSIG(status)) + ", " +
                    strsignal(WTERMSIG(status)),
                Signalled + WTERMSIG(status));
  if (!any)
    fail(llvm::Twine(command[0]) + " traced no function" +
             (functionOption.empty() ? "" : llvm::Twine(" '") + functionOption + "'") +
             (eager ? "" : "; --eager shows what it runs eagerly"),
         0);
  return WEXITSTATUS(status);
}

} // namespace

int main(int argc, char **argv) {
  // What follows "--" is the program's.
  char **end = argv + argc;
  char **command = std::find_if(argv + 1, end, [](const char *argument) { return llvm::StringRef(argument) == "--"; });
  int ownArguments = command - argv;
  command += command != end;

  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) { os << "calque-dump of Calque " CALQUE_VERSION "\n"; });
  std::string text = overview(), errors;
  llvm::raw_string_ostream errorStream(errors);
  if (!cl::ParseCommandLineOptions(ownArguments, argv, text, &errorStream)) {
    llvm::errs() << errors;
    return Misused;
  }
  if (scheduleOption && stageOption.getNumOccurrences())
    return fail("--schedule is a stage; give it or --stage", Misused);
  if (scheduleOption)
    stageOption = "schedule";
  if (profileOption && (scheduleOption || stageOption.getNumOccurrences()))
    return fail("--profile shows no stage", Misused);
  if (profileOption && command == end)
    return fail("--profile is about programs, not files", Misused);
  llvm::SmallVector<calque::StageName> stages;
  for (const calque::StageName &stage : calque::kStages)
    if (stageOption == stage.name || stageOption == "all")
      stages.push_back(stage);
  if (stages.empty())
    return fail(
        absl::StrCat("there is no stage '", stageOption, "'; the stages are ", calque::stageNames(), ", or all"),
        Misused);
  if (cacheOption && (!file.empty() || command != end))
    return fail("--cache takes no file and no program", Misused);
  if (!cacheOption && file.empty() == (command == end))
    return fail("give a FILE.mlir, or a program after --; --help says more", Misused);
  if (eager && command == end)
    return fail("--eager is about programs, not files", Misused);
  if (!file.empty() && (llvm::StringRef(file).ends_with(".calque") || isSaved(file)))
    return outputOption == "-" ? dumpSaved(argv[0], stages) : fail("-o is about IR and programs", Misused);

  if (!targetCpu())
    return fail(absl::StrCat("CALQUE_TARGET is '", getenv("CALQUE_TARGET"), "' and must be one of ",
                             calque::runtime::cpuNames()),
                Misused);

  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> output = openOutputFile(outputOption, &error);
  if (!output)
    return fail(error, Failed);
  output->keep();
  if (cacheOption)
    return listCache(output->os());
  return command == end ? dumpFile(stages, output->os()) : dumpProgram(command, output->os());
}
