// Runs random programs: calque-fuzz --help.
//
// Worker processes take blocks of programs. A worker writes the number of its program to shared memory before it runs
// it, so that a program that ends the process is known; the others go on. Mismatches are shrunk with each candidate in
// a process of its own.
#include "calque/calque.h"
#include "test/fuzz/Generator.h"
#include "test/fuzz/Runner.h"
#include "test/fuzz/Shrinker.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <sstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace calque;
using namespace calque::fuzz;

namespace {

constexpr std::int64_t kBlock = 256;          // programs of one palette
constexpr std::int64_t kBlocksOfAProcess = 2; // then a new one, as code that was compiled stays
constexpr unsigned kMostSeconds = 120;        // for one program
constexpr int kMostOperations = 512, kMostJobs = 64;

struct Options {
  std::int64_t programs = 2000;
  std::uint64_t seed = 0;
  bool seeded = false;
  std::int64_t only = -1, print = -1;
  int jobs = static_cast<int>(std::thread::hardware_concurrency());
  int questions = 150; // of the shrinker
  int findings = 8;
  int native = 2; // percent of branches and loops
  Numbers numbers = Numbers::Wide;
};

// Shared between processes.
struct Shared {
  std::atomic<std::int64_t> nextBlock, findings;
  std::atomic<std::int64_t> programs, failing, steps, gradients, second, transforms, branches, branchGradients, nested,
      states;
  std::atomic<std::int64_t> elements, exact, unknown, open, refused, native, uncaptured, saved;
  std::atomic<std::int64_t> operations[kMostOperations];
  std::atomic<std::int64_t> current[kMostJobs]; // the program that a worker is at; -1: none
};

template <typename T> T *share() {
  void *memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("calque-fuzz: mmap");
    std::exit(2);
  }
  return new (memory) T();
}

Generator generatorOf(const Options &options) { return Generator(options.native / 100.0, options.numbers); }

std::uint64_t seedOf(const Options &options, std::int64_t index) {
  return mix(options.seed, static_cast<std::uint64_t>(index));
}
std::uint64_t paletteOf(const Options &options, std::int64_t index) {
  return mix(~options.seed, static_cast<std::uint64_t>(index / kBlock));
}

// What is wrong with a program, which is also interpreted here; empty: nothing, or nothing to compare.
std::string verdict(const Program &program, Figures *figures = nullptr) {
  Interpreter interpreter(program);
  try {
    interpreter.run();
  } catch (const Undecided &) {
    return "";
  }
  std::vector<Outcome> outcomes;
  try {
    outcomes = runAll(program);
  } catch (const std::exception &error) {
    return std::string("throws ") + error.what();
  }
  return compare(program, interpreter.meaning, outcomes, figures);
}

// The verdict, from a process of its own: also when it ends by a signal.
std::string verdictApart(const Program &program) {
  int ends[2];
  if (pipe(ends))
    return "";
  std::cout.flush();
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    alarm(kMostSeconds);
    std::string text = verdict(program);
    if (write(ends[1], text.data(), std::min<std::size_t>(text.size(), 60000)) < 0)
      _exit(1);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char bytes[4096];
  for (ssize_t n; (n = read(ends[0], bytes, sizeof(bytes))) > 0;)
    text.append(bytes, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return std::string("ends the process by signal ") + strsignal(WTERMSIG(status));
  return text;
}

// What kind of fault it is, so that shrinking does not wander to another.
std::string kindOf(const std::string &verdict) {
  std::string kind;
  for (std::size_t i = 0; i < verdict.size() && verdict[i] != '\n'; ++i) {
    if (verdict.compare(i, 2, ", ") == 0 || verdict.compare(i, 2, "; ") == 0 || verdict[i] == ':')
      break;
    if (!std::isdigit(static_cast<unsigned char>(verdict[i])))
      kind += verdict[i];
  }
  return kind.substr(0, kind.find(" ("));
}

void report(const Options &options, std::int64_t index, const Program &program, std::string wrong) {
  std::string kind = kindOf(wrong);
  Program least = shrink(
      program, [&](const Program &candidate) { return kindOf(verdictApart(candidate)) == kind; }, options.questions);
  if (std::string last = verdictApart(least); !last.empty())
    wrong = last;
  std::string ir;
  // The front end's text comes from the compiler, which may be what fails.
  int ends[2];
  if (pipe(ends) == 0) {
    pid_t child = fork();
    if (child == 0) {
      std::string text = irOf(least);
      if (write(ends[1], text.data(), std::min<std::size_t>(text.size(), 60000)) < 0)
        _exit(1);
      _exit(0);
    }
    close(ends[1]);
    char bytes[4096];
    for (ssize_t n; (n = read(ends[0], bytes, sizeof(bytes))) > 0;)
      ir.append(bytes, static_cast<std::size_t>(n));
    close(ends[0]);
    waitpid(child, nullptr, 0);
  }
  std::ostringstream os;
  os << "\n==== program " << index << " of seed " << options.seed << " " << wrong << "\n     again: calque-fuzz --seed "
     << options.seed << " --native " << options.native
     << (options.numbers == Numbers::Halves    ? " --halves 1"
         : options.numbers == Numbers::Complex ? " --complex 1"
                                               : "")
     << " --only " << index << "\n\n"
     << toCpp(least) << "\n"
     << ir << "====\n";
  std::cout << os.str() << std::flush;
}

void count(Shared &shared, const Program &program, const Meaning &meaning) {
  shared.programs += 1;
  shared.failing += meaning.failure.has_value();
  shared.steps += static_cast<std::int64_t>(program.steps.size());
  shared.nested += !program.nested.empty();
  shared.states += !program.variables.empty();
  bool gradients = false, second = false, transforms = false, branches = false, branchGradients = false;
  for (OpId op : operationsOf(program))
    shared.operations[static_cast<int>(op)] += 1;
  eachStep(program, [&](const Step &step) {
    transforms |= step.transform && !step.isControlFlow();
    branches |= step.isControlFlow();
  });
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step &step = program.steps[i];
    gradients |= step.tape.has_value();
    branchGradients |= step.tape && hasControlFlow(program, step.tape->begin, static_cast<int>(i));
    for (std::size_t inner = 0; step.tape && inner < i; ++inner)
      second |= program.steps[inner].tape && static_cast<int>(inner) >= step.tape->begin;
  }
  shared.gradients += gradients;
  shared.second += second;
  shared.transforms += transforms;
  shared.branches += branches;
  shared.branchGradients += branchGradients;
}

// Programs of blocks until there are none, or until it is time for a fresh process: whether there may be more.
bool work(const Options &options, Shared &shared, int worker, Generator &generator, std::int64_t resume) {
  for (std::int64_t blocks = 0; blocks < kBlocksOfAProcess; ++blocks) {
    std::int64_t first = resume >= 0 ? resume : shared.nextBlock.fetch_add(1) * kBlock;
    std::int64_t end = std::min(first / kBlock * kBlock + kBlock, options.programs);
    resume = -1;
    if (first >= options.programs || shared.findings >= options.findings)
      return false;
    for (std::int64_t index = first; index < end && shared.findings < options.findings; ++index) {
      shared.current[worker] = index;
      alarm(kMostSeconds);
      Made made = generator.make(seedOf(options, index), paletteOf(options, index));
      Figures figures;
      std::string wrong = verdict(made.program, &figures);
      alarm(0);
      count(shared, made.program, made.meaning);
      shared.elements += figures.elements;
      shared.exact += figures.exact;
      shared.unknown += figures.unknown;
      shared.open += figures.open;
      shared.saved += figures.saved;
      shared.refused += figures.refused;
      shared.native += figures.native;
      shared.uncaptured += figures.uncaptured;
      if (!wrong.empty()) {
        shared.findings += 1;
        report(options, index, made.program, wrong);
      }
    }
    shared.current[worker] = -1;
  }
  return true;
}

int runWorkers(const Options &options) {
  Shared &shared = *share<Shared>();
  // Loads the compiler once for all processes, and starts no thread.
  function([](const Tensor &x) { return x; }).ir("traced", scalar(1.0f));
  Generator generator = generatorOf(options);
  auto begin = std::chrono::steady_clock::now();
  int jobs = std::clamp(options.jobs, 1, kMostJobs);
  std::vector<pid_t> workers(static_cast<std::size_t>(jobs), 0);
  std::vector<std::int64_t> resume(workers.size(), -1);
  std::vector<bool> finished(workers.size());
  for (;;) {
    for (std::size_t w = 0; w < workers.size(); ++w)
      if (!workers[w] && !finished[w]) {
        shared.current[w] = -1;
        std::cout.flush();
        workers[w] = fork();
        if (workers[w] == 0)
          _exit(work(options, shared, static_cast<int>(w), generator, resume[w]) ? 10 : 0);
        resume[w] = -1;
      }
    int status = 0;
    pid_t ended = wait(&status);
    if (ended < 0)
      break;
    for (std::size_t w = 0; w < workers.size(); ++w) {
      if (workers[w] != ended)
        continue;
      workers[w] = 0;
      if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 10)) {
        finished[w] = WEXITSTATUS(status) == 0;
        continue;
      }
      std::int64_t index = shared.current[w];
      shared.findings += 1;
      std::string how = WIFSIGNALED(status) ? std::string("ends the process by signal ") + strsignal(WTERMSIG(status))
                                            : "ends the process";
      if (index >= 0) {
        Made made = generator.make(seedOf(options, index), paletteOf(options, index));
        report(options, index, made.program, how);
        if ((index + 1) % kBlock && index + 1 < options.programs)
          resume[w] = index + 1;
      } else {
        std::cout << "a worker " << how << " between programs\n";
      }
      finished[w] = shared.findings >= options.findings;
    }
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  double programs = std::max<double>(1, static_cast<double>(shared.programs));
  auto share = [&](std::int64_t n) {
    return std::to_string(static_cast<int>(100.0 * static_cast<double>(n) / programs + 0.5)) + " %";
  };
  std::cout << shared.programs << " programs of seed " << options.seed << " in " << static_cast<int>(seconds) << " s, "
            << static_cast<int>(programs / seconds) << " a second: " << static_cast<double>(shared.steps) / programs
            << " steps each, " << share(shared.gradients) << " with gradients, " << share(shared.second)
            << " with second ones, " << share(shared.transforms) << " with transformations, " << share(shared.branches)
            << " with branches and loops, " << share(shared.branchGradients) << " with gradients through these, "
            << share(shared.nested) << " with nested functions, " << share(shared.states) << " with variables, "
            << share(shared.failing) << " that fail\n";
  double elements = std::max<double>(1, static_cast<double>(shared.elements));
  auto ofElements = [&](std::int64_t n) { return 100.0 * static_cast<double>(n) / elements; };
  std::cout << shared.elements << " elements compared with the interpreter, " << ofElements(shared.exact)
            << " % of them exactly, " << ofElements(shared.unknown) << " % unknown to it\n"
            << shared.open << " programs compiled with unknown sizes, " << shared.refused << " of them refused\n"
            << shared.saved << " programs saved and loaded\n"
            << shared.native << " programs with C++ branches and loops, " << shared.uncaptured << " of them refused\n";
  std::string never;
  std::int64_t least = INT64_MAX;
  for (const schema::OperationSchema &schema : schema::operations()) {
    std::int64_t times = shared.operations[static_cast<int>(schema.id)];
    least = std::min(least, times);
    if (!times)
      never += " " + std::string(schema.mnemonic);
  }
  std::cout << schema::operations().size() << " operations, each at least " << least << " times"
            << (never.empty() ? "" : ", never" + never) << "\n"
            << shared.findings << " findings\n";
  return shared.findings ? 1 : 0;
}

int usage(int code) {
  (code ? std::cerr : std::cout)
      << "Runs random programs eagerly, compiled, compiled without optimisations and by an "
         "interpreter, and compares.\n\n"
         "  --programs N    how many (2000)\n"
         "  --seed S        of all of them (fresh)\n"
         "  --only I        program I of the seed alone\n"
         "  --print I       program I of the seed as C++, which is not run\n"
         "  --jobs J        processes (as many as the machine has threads)\n"
         "  --native P      percent of the branches and loops that are C++ (2)\n"
         "  --halves H      1: with float16, bfloat16 and float32 in place of float32 and float64\n"
         "  --complex C     1: with complex64 and complex128 beside float32 and float64\n"
         "  --findings F    stop after so many (8)\n"
         "  --questions Q   that a finding is shrunk by (150)\n";
  return code;
}

} // namespace

int main(int argc, char **argv) {
  setenv("CALQUE_CACHE", "off", 1); // no program comes again
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (name == "--help" || name == "-h")
      return usage(0);
    if (i + 1 == argc)
      return usage(2);
    char *end = nullptr;
    std::uint64_t value = std::strtoull(argv[++i], &end, 0);
    if (*end || end == argv[i])
      return usage(2);
    auto number = static_cast<std::int64_t>(value);
    if (name == "--programs")
      options.programs = number;
    else if (name == "--seed")
      options.seed = value, options.seeded = true;
    else if (name == "--only")
      options.only = number;
    else if (name == "--print")
      options.print = number;
    else if (name == "--jobs")
      options.jobs = static_cast<int>(number);
    else if (name == "--findings")
      options.findings = static_cast<int>(number);
    else if (name == "--native")
      options.native = static_cast<int>(number);
    else if (name == "--halves")
      options.numbers = number ? Numbers::Halves : Numbers::Wide;
    else if (name == "--complex")
      options.numbers = number ? Numbers::Complex : Numbers::Wide;
    else if (name == "--questions")
      options.questions = static_cast<int>(number);
    else
      return usage(2);
  }
  if (!options.seeded)
    options.seed =
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) % 1'000'000'007;
  if (options.print >= 0) {
    std::cout << toCpp(
        generatorOf(options).make(seedOf(options, options.print), paletteOf(options, options.print)).program);
    return 0;
  }
  if (options.only >= 0) {
    Made made = generatorOf(options).make(seedOf(options, options.only), paletteOf(options, options.only));
    std::string wrong = verdictApart(made.program);
    if (wrong.empty())
      std::cout << toCpp(made.program) << "no difference\n";
    else
      report(options, options.only, made.program, wrong);
    return !wrong.empty();
  }
  return runWorkers(options);
}
