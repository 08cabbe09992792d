#include "benchmarks/Harness.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <numeric>

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
    std::cerr << "calque-bench: " << variable << " must be a positive number, not '" << text << "'\n";
    known = false;
  }
  return value;
}

constexpr const char *kUsage = R"(Times Calque and prints a line of JSON for each case.

usage: calque-bench [CASE...]

Without names all cases are run. BENCH_SECONDS says for how long each of them (3), OMP_NUM_THREADS on how many threads.
)";

} // namespace

double sumOf(const Tensor &x) {
  const float *first = x.data<float>();
  return std::accumulate(first, first + x.size(), 0.0);
}

int runCases(const std::vector<Case> &cases, int argc, char **argv) {
  std::string names;
  for (const Case &known : cases)
    names += (names.empty() ? "" : ", ") + known.name;
  std::vector<std::string> wanted(argv + 1, argv + argc);
  for (const std::string &name : wanted) {
    if (name == "--help" || name == "-h") {
      std::cout << kUsage << "The cases are " << names << ".\n";
      return 0;
    }
    if (std::none_of(cases.begin(), cases.end(), [&](const Case &known) { return known.name == name; })) {
      std::cerr << "calque-bench: there is no case '" << name << "'; the cases are " << names << '\n';
      return 1;
    }
  }
  bool valid = true;
  double seconds = numberFrom("BENCH_SECONDS", 3, valid);
  int threads = static_cast<int>(numberFrom("OMP_NUM_THREADS", 0, valid));
  if (!valid)
    return 1;
  set_num_threads(threads);

  for (const Case &which : cases) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), which.name) == wanted.end())
      continue;
    Row row;
    row["peer"] = "calque";
    row["threads"] = num_threads();
    row["case"] = which.name;
    try {
      measure(which, seconds, row);
    } catch (const Error &error) {
      row["error"] = (std::string(error.category()) + ": " + error.what()).substr(0, kLongestError);
    } catch (const std::exception &error) {
      row["error"] = std::string(error.what()).substr(0, kLongestError);
    }
    std::cout << row.dump(-1, ' ', false, Row::error_handler_t::replace) << std::endl;
  }
  return 0;
}

} // namespace calque::benchmarks
