// What it costs to use a saved network, that of examples/ahead_of_time: lines of JSON, as calque-bench prints them.
//
//   {"peer": "calque", "threads": 2, "saved": "size", "calque_bytes": ..., "object_bytes": ..., "program_bytes": ...}
//   {"peer": "calque", "threads": 2, "saved": "first_predict", "compiled_ms": 900.1, "from_disk_ms": 12.3}
//   {"peer": "calque", "threads": 2, "saved": "step", "jit_ms": 14.1, "ahead_ms": 14.0, "ratio": 0.99,
//   "cpu_ratio": 1.00, "runs": 40}
//
// compiled_ms   from the start of the program to the first result, with no native code on disk
// from_disk_ms  the same with it
// ratio         of the times of a call: compiled ahead to compiled by the process. Calls of both take turns, and the
//               ratio is the median of those of neighbours, so that a machine that is busy for a while counts little.
// cpu_ratio     the same of the times that CPUs have worked for the process, which others change least
//
// BENCH_SECONDS says for how long calls are timed (3), OMP_NUM_THREADS on how many threads.
#include "benchmarks/saved/ahead.h"

#include "calque/calque.h"
#include "calque/saved_functions.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <filesystem>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

using namespace calque;

namespace {

using Clock = std::chrono::steady_clock;
using Row = nlohmann::ordered_json;
constexpr std::int64_t kBatch = 64;

double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}
double medianOf(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}
Row row(const char *what) { return {{"peer", "calque"}, {"threads", num_threads()}, {"saved", what}}; }

Tensor images() { return reshape(sin(iota({kBatch * 784}, DType::Float32) * 0.37f), {kBatch, 28, 28, 1}); }
Tensor labels() { return cast(iota({kBatch}, DType::Int64) * 7 % 10, DType::Int32); }

// What a process that only runs the network does, until the first number is there.
double firstResult(const std::string &path, const std::string &name) {
  const Clock::time_point start = Clock::now();
  SavedFunctions file = load_functions(path);
  const Tensor result = name == "step" ? file["step"]({images(), labels()})[0] : file["predict"]({images()})[0];
  static_cast<void>(result.bytes().front());
  return millisecondsSince(start);
}

// The milliseconds that this program prints with other arguments, in a process of its own.
double inProcessOfItsOwn(const std::string &program, const std::string &path, const std::string &name) {
  const std::string command = "'" + program + "' --first '" + path + "' " + name;
  std::FILE *output = ::popen(command.c_str(), "r");
  double milliseconds = 0;
  const bool isRead = output && std::fscanf(output, "%lf", &milliseconds) == 1;
  if (!output || ::pclose(output) != 0 || !isRead)
    throw std::runtime_error(command + ": failed");
  return milliseconds;
}

void timeFirst(const std::string &program, const std::string &path, const std::string &name) {
  constexpr int kTimes = 5;
  const std::string folder =
      std::filesystem::temp_directory_path() / ("calque-saved-bench-" + std::to_string(getpid()));
  ::setenv("CALQUE_CACHE", folder.c_str(), 1);
  std::vector<double> compiled, fromDisk;
  for (int i = 0; i < kTimes; ++i) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
    compiled.push_back(inProcessOfItsOwn(program, path, name));
    fromDisk.push_back(inProcessOfItsOwn(program, path, name));
  }
  std::filesystem::remove_all(folder);
  Row result = row(("first_" + name).c_str());
  result["compiled_ms"] = medianOf(compiled);
  result["from_disk_ms"] = medianOf(fromDisk);
  std::cout << result.dump() << std::endl;
}

// Calls of two kinds that take turns.
void timeCalls(const char *name, double seconds, const std::function<void()> &jit, const std::function<void()> &ahead) {
  constexpr std::size_t kWarmUps = 3, kFewestRuns = 15;
  std::vector<double> ofJit, ofAhead, ratios, cpuRatios;
  struct Times {
    double wall = 0, cpu = 0;
  };
  auto timed = [](const std::function<void()> &call) {
    const std::clock_t cpu = std::clock();
    const Clock::time_point start = Clock::now();
    call();
    const double wall = millisecondsSince(start);
    return Times{wall, static_cast<double>(std::clock() - cpu)};
  };
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < kWarmUps + kFewestRuns || millisecondsSince(start) < 1000 * seconds; ++i) {
    Times a, b;
    if (i % 2) {
      a = timed(jit);
      b = timed(ahead);
    } else {
      b = timed(ahead);
      a = timed(jit);
    }
    if (i < kWarmUps)
      continue;
    ofJit.push_back(a.wall);
    ofAhead.push_back(b.wall);
    ratios.push_back(b.wall / a.wall);
    cpuRatios.push_back(b.cpu / a.cpu);
  }
  Row result = row(name);
  result["jit_ms"] = medianOf(ofJit);
  result["ahead_ms"] = medianOf(ofAhead);
  result["ratio"] = medianOf(ratios);
  result["cpu_ratio"] = medianOf(cpuRatios);
  result["runs"] = ratios.size();
  std::cout << result.dump() << std::endl;
}

// A function of the library of ahead.c.
template <typename F> F *function(void *library, const char *name) {
  auto *found = reinterpret_cast<F *>(::dlsym(library, name));
  if (!found)
    throw std::runtime_error(::dlerror());
  return found;
}

void check(const char *error) {
  if (error)
    throw std::runtime_error(error);
}

void timeAll(const std::string &path, const std::string &ahead, double seconds) {
  void *library = ::dlopen(ahead.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw std::runtime_error(::dlerror());
  check(function<decltype(ahead_open)>(library, "ahead_open")(static_cast<int>(num_threads())));
  auto *step = function<decltype(ahead_step)>(library, "ahead_step");
  auto *predict = function<decltype(ahead_predict)>(library, "ahead_predict");
  SavedFunctions file = load_functions(path);
  const auto jitStep = file.function<Tensor(const Tensor &, const Tensor &)>("step");
  const auto jitPredict = file.function<Tensor(const Tensor &)>("predict");
  const Tensor x = images(), y = labels();
  const float *pixels = x.data<float>();
  const std::int32_t *classes = y.data<std::int32_t>();
  float loss = 0;
  std::vector<float> logits(10 * kBatch);
  auto predicted = [&] { check(predict(pixels, kBatch, logits.data())); };
  timeCalls(
      "step", seconds, [&] { static_cast<void>(jitStep(x, y).bytes()); }, [&] { check(step(pixels, classes, &loss)); });
  timeCalls("predict", seconds, [&] { static_cast<void>(jitPredict(x).bytes()); }, predicted);
  // Both have made the same steps.
  predicted();
  const Tensor others = jitPredict(x);
  if (!std::equal(logits.begin(), logits.end(), others.data<float>()))
    throw std::runtime_error("what is compiled ahead of time computes other numbers");
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const char *threads = std::getenv("OMP_NUM_THREADS"), *seconds = std::getenv("BENCH_SECONDS");
  set_num_threads(threads ? std::atoi(threads) : 0);
  try {
    if (arguments.size() == 3 && arguments[0] == "--first") {
      std::cout << firstResult(arguments[1], arguments[2]) << '\n';
      return 0;
    }
    if (arguments.size() != 4) {
      std::cerr << "calque-saved-bench FILE.calque FILE.o LIBRARY PROGRAM\n";
      return 2;
    }
    Row sizes = row("size");
    sizes["calque_bytes"] = std::filesystem::file_size(arguments[0]);
    sizes["object_bytes"] = std::filesystem::file_size(arguments[1]);
    sizes["program_bytes"] = std::filesystem::file_size(arguments[3]);
    std::cout << sizes.dump() << std::endl;
    for (const char *name : {"predict", "step"})
      timeFirst(argv[0], arguments[0], name);
    timeAll(arguments[0], arguments[2], seconds ? std::atof(seconds) : 3);
  } catch (const std::exception &error) {
    std::cerr << "calque-saved-bench: " << error.what() << '\n';
    return 1;
  }
}
