// Mutates the IR of the lit tests and gives it to what calque-opt and calque-dump are made of: each mutation is
// accepted or refused by a diagnostic. A crash, a hang, or a refusal without a word is a finding.
//
//   calque-ir-fuzz --programs 10000 --seed 7
//
// Program number i of a seed is the same on every machine. Programs run in a child process, many in each, so that one
// that crashes costs no more than a new child.
#include "codegen/PrintStage.h"
#include "passes/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace {

namespace cl = llvm::cl;
cl::OptionCategory category("Options");
cl::opt<unsigned> numPrograms("programs", cl::desc("How many (default: 10000)"), cl::init(10000), cl::cat(category));
cl::opt<uint64_t> seedOption("seed", cl::desc("Which (default: a fresh one)"), cl::init(0), cl::cat(category));
cl::opt<unsigned> first("first", cl::desc("The number of the first one"), cl::init(0), cl::cat(category));
cl::opt<std::string> corpus("corpus", cl::desc("The folder of .mlir files to start from"), cl::init(CALQUE_LIT_FOLDER),
                            cl::cat(category));
cl::opt<std::string> output("output", cl::desc("The folder that findings are written to (default: .)"), cl::init("."),
                            cl::cat(category));

constexpr unsigned kSeconds = 20; // for one program
constexpr unsigned kMostFindings = 20;

//===-- Mutations -------------------------------------------------------------------------------===//

// splitmix64 (Steele, Lea, Flood, 2014).
struct Random {
  uint64_t state;
  uint64_t draw() {
    uint64_t x = state += 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
  }
  size_t below(size_t bound) { return draw() % bound; }
  template <typename T> const T &of(const std::vector<T> &values) { return values[below(values.size())]; }
};

using Lines = std::vector<std::string>;

struct Corpus {
  std::vector<Lines> programs, valid; // those that parse, once more
  Lines lines;                        // of all
};

std::string joined(const Lines &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

// A template of the tests stands for each operation with so many operands: calque.OP becomes the names of some.
std::vector<Lines> instances(const Lines &program, llvm::StringRef numOperands) {
  std::vector<Lines> result;
  for (const calque::schema::OperationSchema &operation : calque::schema::operations()) {
    if (std::to_string(operation.numOperands) != numOperands)
      continue;
    Lines &instance = result.emplace_back(program);
    for (std::string &line : instance)
      for (size_t at; (at = line.find("calque.OP")) != std::string::npos;)
        line.replace(at, strlen("calque.OP"), "calque." + std::string(operation.mnemonic));
  }
  return result;
}

bool parses(MLIRContext &context, const Lines &program) {
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &) { return success(); });
  return bool(parseSourceString<ModuleOp>(joined(program), ParserConfig(&context)));
}

// The functions of all files, in the order of their names, without comments.
Corpus readCorpus() {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator file(corpus, error), end; file != end && !error;
       file.increment(error))
    if (llvm::sys::path::extension(file->path()) == ".mlir")
      files.push_back(file->path());
  llvm::sort(files);
  DialectRegistry registry;
  calque::codegen::registerPipelineDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  Corpus result;
  for (const std::string &file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer)
      continue;
    Lines program;
    std::string numOperands;
    auto add = [&] {
      if (program.empty())
        return;
      for (Lines &each : numOperands.empty() ? std::vector<Lines>{program} : instances(program, numOperands)) {
        bool isValid = parses(context, each);
        // Of a template, only the operations that it is for.
        if (isValid || numOperands.empty())
          (isValid ? result.valid : result.programs).push_back(std::move(each));
      }
      program.clear();
    };
    for (llvm::StringRef line : llvm::split((*buffer)->getBuffer(), '\n')) {
      if (line.starts_with("// -----")) {
        add();
        numOperands.clear();
      }
      if (line.consume_front("// EACH ")) {
        numOperands = line.take_front(1).str();
        continue;
      }
      llvm::StringRef code = line.take_front(line.find("//")).rtrim();
      if (code.trim().empty())
        continue;
      program.push_back(code.str());
      result.lines.push_back(code.str());
      if (code == "}")
        add();
    }
    add();
  }
  return result;
}

// Words, numbers, and single other characters.
std::vector<std::pair<size_t, size_t>> tokensOf(llvm::StringRef line) {
  std::vector<std::pair<size_t, size_t>> tokens;
  auto isDigit = [](char c) { return llvm::isDigit(c); };
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '%' || c == '@' || c == '#'; };
  for (size_t i = 0; i < line.size();) {
    size_t begin = i++;
    if (line[begin] == ' ')
      continue;
    if (isDigit(line[begin]))
      while (i < line.size() && isDigit(line[i]))
        ++i;
    else if (isWord(line[begin]))
      while (i < line.size() && isWord(line[i]) && !(line[begin] == 'x' && i == begin + 1))
        ++i;
    tokens.push_back({begin, i - begin});
  }
  return tokens;
}

const std::vector<std::string> kNumbers = {"0",
                                           "1",
                                           "2",
                                           "3",
                                           "7",
                                           "16",
                                           "33",
                                           "-1",
                                           "-2",
                                           "100",
                                           "70000",
                                           "4294967296",
                                           "9223372036854775807",
                                           "-9223372036854775808"};
const std::vector<std::string> kWords = {"f32",
                                         "f64",
                                         "i1",
                                         "i32",
                                         "i64",
                                         "f16",
                                         "bf16",
                                         "index",
                                         "complex<f32>",
                                         "none",
                                         "tensor<f32>",
                                         "tensor<*xf32>",
                                         "tensor<?xf32>",
                                         "tensor<0xf32>",
                                         "vector<4xf32>",
                                         "memref<4xf32>",
                                         "?",
                                         "true",
                                         "unit",
                                         "@main",
                                         "@rt_fail",
                                         "@entry",
                                         "private",
                                         "dense<0.0>",
                                         "dense<[]>",
                                         "array<i64>",
                                         "array<i64: 0>",
                                         "array<i64: -1, 5>",
                                         "array<i32: 1>",
                                         "\"text\"",
                                         "func.return",
                                         "func.call @f()",
                                         "0.0 : f32",
                                         "0x7FC00000 : f32"};

Lines mutated(const Corpus &all, uint64_t seed, unsigned number) {
  Random random{seed * 0x2545F4914F6CDD1DULL + number};
  // Most of what is wrong before it is changed is refused for that alone.
  Lines program = random.of(random.below(8) ? all.valid : all.programs);
  for (size_t changes = 1 + (random.below(2) ? 0 : random.below(4)); changes > 0; --changes) {
    if (program.empty())
      break;
    size_t at = random.below(program.size());
    std::string &line = program[at];
    switch (size_t kind = random.below(16)) {
    case 0:
      program.erase(program.begin() + ptrdiff_t(at));
      break;
    case 1:
      program.insert(program.begin() + ptrdiff_t(at), line);
      break;
    case 2:
      std::swap(line, program[random.below(program.size())]);
      break;
    case 3:
      program.insert(program.begin() + ptrdiff_t(at), random.of(all.lines));
      break;
    case 4:
      line = random.of(all.lines);
      break;
    case 5: {
      const Lines &other = random.of(all.valid);
      program.insert(program.end(), other.begin(), other.end());
      break;
    }
    case 6:
      if (!line.empty())
        line.erase(random.below(line.size()), 1 + random.below(4));
      break;
    default: {
      auto tokens = tokensOf(line);
      if (tokens.empty())
        break;
      // Numbers are where programs can be wrong and still parse.
      std::vector<std::pair<size_t, size_t>> numbers;
      for (auto token : tokens)
        if (llvm::isDigit(line[token.first]))
          numbers.push_back(token);
      bool isNumber = kind < 11 && !numbers.empty();
      auto [begin, size] = isNumber ? random.of(numbers) : random.of(tokens);
      std::string with;
      if (isNumber) {
        with = random.of(kNumbers);
      } else if (random.below(2)) {
        const std::string &from = random.below(2) ? program[random.below(program.size())] : random.of(all.lines);
        auto others = tokensOf(from);
        if (others.empty())
          break;
        auto [otherBegin, otherSize] = random.of(others);
        with = from.substr(otherBegin, otherSize);
      } else {
        with = random.below(6) ? random.of(kWords) : "";
      }
      // Once, or wherever it stands, so that what must agree still does.
      std::string before = line.substr(begin, size);
      if (before.empty() || random.below(3) == 0) {
        line.replace(begin, size, with);
        break;
      }
      for (std::string &each : program) {
        auto places = tokensOf(each);
        for (auto place = places.rbegin(); place != places.rend(); ++place)
          if (each.compare(place->first, place->second, before) == 0)
            each.replace(place->first, place->second, with);
      }
    }
    }
  }
  return program;
}

//===-- Running ---------------------------------------------------------------------------------===//

// What a program goes through; the command line that does the same follows.
struct Way {
  const char *command;
  std::function<LogicalResult(ModuleOp)> run;
};

LogicalResult runOn(ModuleOp module, llvm::function_ref<void(OpPassManager &)> add) {
  PassManager manager(module.getContext());
  add(manager);
  return manager.run(module);
}

// As calque-dump does it: each function by itself.
LogicalResult dump(ModuleOp module, calque::Stage stage) {
  for (const std::string &name : calque::codegen::functionsOf(module)) {
    OwningOpRef<ModuleOp> program = calque::codegen::programOf(module, name);
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (failed(calque::codegen::printAt(*program, stage, {}, stream)))
      return failure();
  }
  return success();
}

const std::vector<Way> &ways() {
  static const std::vector<Way> all = {
      {"calque-opt", [](ModuleOp) { return success(); }},
      {"calque-opt --canonicalize --cse",
       [](ModuleOp module) {
         return runOn(module, [](OpPassManager &manager) {
           manager.addPass(createCanonicalizerPass());
           manager.addPass(createCSEPass());
         });
       }},
      {"calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate,calque-expand-composites))'",
       [](ModuleOp module) {
         return runOn(module, [](OpPassManager &manager) {
           manager.addNestedPass<func::FuncOp>(calque::createDifferentiate());
           manager.addNestedPass<func::FuncOp>(calque::createExpandComposites());
         });
       }},
      {"calque-opt --pass-pipeline='builtin.module(func.func(calque-state-to-values))'",
       [](ModuleOp module) {
         return runOn(module, [](OpPassManager &manager) {
           manager.addNestedPass<func::FuncOp>(calque::createStateToValues());
         });
       }},
      {"calque-dump --stage=simplified", [](ModuleOp module) { return dump(module, calque::Stage::Simplified); }},
      {"calque-dump --stage=object", [](ModuleOp module) { return dump(module, calque::Stage::Object); }},
  };
  return all;
}

// Shared with the children: how far they are.
struct Progress {
  std::atomic<unsigned> program, way;
  std::atomic<unsigned> parsed, accepted; // of all ways
};

// False for a program that is refused without a word.
bool runWay(MLIRContext &context, const std::string &text, const Way &way, Progress &progress) {
  bool said = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    std::string ignored = diagnostic.str(); // printing is part of it
    said |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  if (!module)
    return said;
  ++progress.parsed;
  if (failed(way.run(*module)))
    return said;
  ++progress.accepted;
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  module->print(stream);
  return true;
}

enum Ending { Fine = 0, Silent = 10 };

// Runs programs in a child from (program, way) on until one is a finding. Returns how the child ended, as by waitpid.
int runChild(Progress &progress, llvm::function_ref<std::string(unsigned)> program, unsigned end, unsigned onlyWay) {
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    rlimit memory{rlim_t(6) << 30, rlim_t(6) << 30}, core{0, 0};
#if !defined(__SANITIZE_ADDRESS__)
    setrlimit(RLIMIT_AS, &memory);
#endif
    (void)memory;
    setrlimit(RLIMIT_CORE, &core);
    for (int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGALRM})
      signal(number, SIG_DFL);
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDERR_FILENO);
    DialectRegistry registry;
    calque::codegen::registerPipelineDialects(registry);
    std::unique_ptr<MLIRContext> context;
    for (unsigned uses = 0; progress.program < end; ++progress.program) {
      std::string text = program(progress.program);
      for (; progress.way < ways().size(); ++progress.way) {
        if (onlyWay < ways().size() && progress.way != onlyWay)
          continue;
        if (uses++ % 200 == 0) {
          context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
          context->loadAllAvailableDialects();
        }
        alarm(kSeconds);
        if (!runWay(*context, text, ways()[progress.way], progress))
          _exit(Silent);
      }
      progress.way = 0;
    }
    _exit(Fine);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string described(int status) {
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? "takes more than " + std::to_string(kSeconds) + " s"
                                       : std::string("crashes: ") + strsignal(WTERMSIG(status));
  return WEXITSTATUS(status) == Silent ? "is refused without a word"
                                       : "ends with exit code " + std::to_string(WEXITSTATUS(status));
}

// The finding with as many lines taken out as it can do without.
Lines shrunk(Progress &progress, Lines program, unsigned way, int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return program;
  unsigned tries = 0;
  for (size_t size = std::max<size_t>(program.size() / 2, 1);; size /= 2) {
    for (size_t begin = 0; begin < program.size() && tries < 300;) {
      Lines fewer = program;
      fewer.erase(fewer.begin() + ptrdiff_t(begin), fewer.begin() + ptrdiff_t(std::min(begin + size, program.size())));
      progress.program = 0;
      progress.way = 0;
      ++tries;
      if (runChild(progress, [&](unsigned) { return joined(fewer); }, 1, way) == status)
        program = std::move(fewer);
      else
        begin += size;
    }
    if (size <= 1)
      return program;
  }
}

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Mutates the IR of Calque's tests, which nothing may crash on.\n");
  uint64_t seed = seedOption ? uint64_t(seedOption) : uint64_t(getpid()) << 20 ^ uint64_t(time(nullptr));
  Corpus all = readCorpus();
  if (all.valid.empty() || all.programs.empty()) {
    llvm::errs() << "calque-ir-fuzz: there are no .mlir files in " << corpus << '\n';
    return 2;
  }
  auto *progress = static_cast<Progress *>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  llvm::outs() << "seed " << seed << ", " << all.valid.size() + all.programs.size() << " programs to start from\n";
  unsigned findings = 0, end = first + numPrograms;
  for (unsigned number = first, way = 0; number < end && findings < kMostFindings;) {
    progress->program = number;
    progress->way = way;
    auto program = [&](unsigned i) { return joined(mutated(all, seed, i)); };
    int status = runChild(*progress, program, end, ~0u);
    if (status == 0)
      break;
    number = progress->program;
    way = progress->way;
    std::string path =
        (output + "/ir-fuzz-" + llvm::Twine(seed) + "-" + llvm::Twine(number) + "-" + llvm::Twine(way) + ".mlir").str();
    Lines small = shrunk(*progress, mutated(all, seed, number), way, status);
    std::error_code error;
    llvm::raw_fd_ostream file(path, error);
    file << joined(small);
    llvm::outs() << "program " << number << " " << described(status) << "\n  " << ways()[way].command << " " << path
                 << "\n  calque-ir-fuzz --seed " << seed << " --first " << number << " --programs 1\n"
                 << joined(small) << "\n";
    llvm::outs().flush();
    ++findings;
    if (++way == ways().size()) {
      way = 0;
      ++number;
    }
  }
  llvm::outs() << numPrograms << " programs, each in " << ways().size() << " ways: " << progress->parsed << " parsed, "
               << progress->accepted << " accepted, " << findings << " findings\n";
  return findings != 0;
}
