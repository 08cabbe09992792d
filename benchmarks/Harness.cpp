#include "benchmarks/Harness.h"

#include <nlohmann/json.hpp>

#include <absl/strings/str_join.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <numeric>
#include <optional>
#include <system_error>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace calque::benchmarks {

namespace {

using Clock = std::chrono::steady_clock;
using Row = nlohmann::ordered_json;

constexpr std::size_t kWarmUps = 2, kFewestRuns = 5, kMostRuns = 20000, kLongestError = 200;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double medianOf(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::size_t middle = times.size() / 2;
  return times.size() % 2 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

void measure(const Case &which, double seconds, Row &row) {
  Work work = which.make();
  Clock::time_point start = Clock::now();
  Tensor result = work.call();
  double first = millisecondsSince(start);
  double check = work.check(result);
  for (std::size_t i = 0; i < kWarmUps; ++i)
    work.call();
  std::vector<double> times;
  Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while ((times.size() < kFewestRuns || Clock::now() < end) && times.size() < kMostRuns) {
    start = Clock::now();
    work.call();
    times.push_back(millisecondsSince(start));
  }
  row["ms"] = medianOf(times);
  row["first_ms"] = first;
  row["runs"] = times.size();
  row["check"] = check;
}

// The name of the benchmark that runs.
const char *own() { return program_invocation_short_name; }

// A positive number of an environment variable, or a fallback. `known` turns false when the variable holds another
// text.
double numberFrom(const char *variable, double fallback, bool &known) {
  const char *text = std::getenv(variable);
  if (!text || !*text)
    return fallback;
  char *end = nullptr;
  double value = std::strtod(text, &end);
  // "2,1" asks OpenMP for two threads and nested ones.
  if ((*end && *end != ',') || !(value > 0)) {
    std::cerr << own() << ": " << variable << " must be a positive number, not '" << text << "'\n";
    known = false;
  }
  return value;
}

// A number of kilobytes of /proc/self/status, in MiB; 0 where there is no such file.
double memory(const std::string &field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ":"))
      return std::stod(line.substr(field.size() + 1)) / 1024;
  return 0;
}

// Calls a function in a child process, so that no program's memory or caches serve another one. Where the child is
// killed, as by a stack overflow, the function is called in this process with what killed it.
void inProcessOfItsOwn(const std::function<void(const char *failure)> &run) {
  pid_t child = fork();
  if (child == 0) {
    setenv("CALQUE_CACHE", "off", 1); // what is timed is compiled
    run(nullptr);
    std::exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0)
    throw std::system_error(errno, std::generic_category(), std::string(own()) + ": no process");
  if (WIFSIGNALED(status))
    run(strsignal(WTERMSIG(status)));
}

void measure(const Program &program, int size, Row &row) {
  function([](const Tensor &x) { return x + 1.0f; })(ones({2})); // loads the compiler
  FirstCall call = program.make(size);
  std::ofstream("/proc/self/clear_refs") << 5 << std::flush; // VmHWM starts from what is in use
  double before = memory("VmRSS");
  Clock::time_point start = Clock::now();
  call();
  row["compile_ms"] = millisecondsSince(start);
  row["peak_mb"] = memory("VmHWM") - before;
}

template <typename Entry> std::string namesOf(const std::vector<Entry> &entries) {
  return absl::StrJoin(entries, ", ", [](std::string *text, const Entry &entry) { *text += entry.name; });
}

template <typename Entry> bool has(const std::vector<Entry> &entries, const std::string &name) {
  return std::any_of(entries.begin(), entries.end(), [&](const Entry &known) { return known.name == name; });
}

// What --help prints. A benchmark without programs has no option --compile.
std::string usage(const std::vector<Case> &cases, const std::vector<Program> &programs) {
  const std::string name = own();
  std::string text = "Times Calque and prints a line of JSON for each case.\n\nusage: " + name + " [CASE...]\n";
  if (!programs.empty())
    text += "       " + name + " --compile [PROGRAM[=N]...]\n";
  text += "\nWithout names all cases are run. BENCH_SECONDS says for how long each of them (3), OMP_NUM_THREADS on how "
          "many threads.\n";
  if (!programs.empty())
    text += "With --compile, the first calls of programs of n and of 10 n parts are timed, or of N parts where that is "
            "given.\n";
  text += "The cases are " + namesOf(cases) + ".\n";
  if (!programs.empty())
    text += "The programs are " + namesOf(programs) + ".\n";
  return text;
}

// What a program is measured at: PROGRAM=N names a size, and 0 stands for those of the program.
struct WantedProgram {
  std::string name;
  int size = 0;
};

// Empty where the text after the equals sign is no positive number.
std::optional<WantedProgram> parseProgram(const std::string &text) {
  std::size_t equals = text.find('=');
  WantedProgram wanted{text.substr(0, equals)};
  if (equals == std::string::npos)
    return wanted;
  const char *last = text.data() + text.size();
  auto [end, failure] = std::from_chars(text.data() + equals + 1, last, wanted.size);
  if (failure != std::errc() || end != last || wanted.size <= 0)
    return std::nullopt;
  return wanted;
}

// Prints the line of a case: what `measureInto` puts into the row, or the error that it throws.
void printRow(const char *kind, const std::string &name, const std::function<void(Row &)> &measureInto) {
  Row row;
  row["peer"] = "calque";
  row["threads"] = num_threads();
  row[kind] = name;
  try {
    measureInto(row);
  } catch (const Error &error) {
    row["error"] = (std::string(error.category()) + ": " + error.what()).substr(0, kLongestError);
  } catch (const std::exception &error) {
    row["error"] = std::string(error.what()).substr(0, kLongestError);
  }
  std::cout << row.dump(-1, ' ', false, Row::error_handler_t::replace) << std::endl;
}

} // namespace

double sumOf(const Tensor &result) {
  const Tensor x = cast(result, DType::Float32);
  const float *first = x.data<float>();
  return std::accumulate(first, first + x.size(), 0.0);
}

int runCases(const std::vector<Case> &cases, const std::vector<Program> &programs, int argc, char **argv) {
  std::vector<std::string> wanted(argv + 1, argv + argc);
  bool compile = !wanted.empty() && wanted.front() == "--compile";
  if (compile)
    wanted.erase(wanted.begin());
  if (compile && programs.empty()) {
    std::cerr << own() << ": there are no programs to compile\n";
    return 1;
  }
  std::string names = compile ? namesOf(programs) : namesOf(cases);
  std::vector<WantedProgram> wantedPrograms;
  for (const std::string &name : wanted) {
    if (name == "--help" || name == "-h") {
      std::cout << usage(cases, programs);
      return 0;
    }
    std::optional<WantedProgram> program = compile ? parseProgram(name) : WantedProgram{name};
    if (!program) {
      std::cerr << own() << ": the size of a program must be a positive number, as in chain=400, not '" << name
                << "'\n";
      return 1;
    }
    if (!(compile ? has(programs, program->name) : has(cases, name))) {
      std::cerr << own() << ": there is no " << (compile ? "program" : "case") << " '" << program->name << "'; the "
                << (compile ? "programs" : "cases") << " are " << names << '\n';
      return 1;
    }
    wantedPrograms.push_back(std::move(*program));
  }
  bool valid = true;
  double seconds = numberFrom("BENCH_SECONDS", 3, valid);
  int threads = static_cast<int>(numberFrom("OMP_NUM_THREADS", 0, valid));
  if (!valid)
    return 1;
  set_num_threads(threads);

  auto isWanted = [&](const std::string &name) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  if (!compile) {
    for (const Case &which : cases)
      if (isWanted(which.name))
        printRow("case", which.name, [&](Row &row) { measure(which, seconds, row); });
    return 0;
  }
  auto run = [](const Program &program, int size) {
    inProcessOfItsOwn([&](const char *failure) {
      if (failure)
        printRow("program", program.name, [&](Row &) { throw std::runtime_error(failure); });
      else
        printRow("program", program.name, [&](Row &row) {
          row["n"] = size;
          measure(program, size, row);
        });
    });
  };
  if (wantedPrograms.empty())
    for (const Program &program : programs)
      wantedPrograms.push_back({program.name});
  for (const WantedProgram &each : wantedPrograms) {
    const Program &program =
        *std::find_if(programs.begin(), programs.end(), [&](const Program &known) { return known.name == each.name; });
    for (int size : each.size ? std::vector{each.size} : std::vector{program.size, 10 * program.size})
      run(program, size);
  }
  return 0;
}

} // namespace calque::benchmarks
