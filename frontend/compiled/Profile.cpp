#include "frontend/compiled/Profile.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "calque/error.h"
#include "frontend/compiled/CompilerLibrary.h"
#include "frontend/compiled/Dump.h"
#include "runtime/Fork.h"
#include "runtime/MachineLimits.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace calque::detail {

namespace {

struct Profiled {
  std::string title;
  ScheduledProgram schedule;
  std::shared_ptr<const Executable> executable;
};

struct Profiles {
  runtime::ForkMutex mutex;
  std::vector<Profiled> all;
  // Measured before the first function is added: when the process ends, the threads have ended before.
  runtime::MachineLimits limits;
};
Profiles &profiles() {
  static auto *made = new Profiles; // never destroyed: other threads may still run
  return *made;
}

// "12.3 M": three digits and a unit of a thousand.
std::string inUnits(double value, const char *unit) {
  static constexpr const char *kPrefixes[] = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  for (; value >= 999.5 && prefix + 1 < std::size(kPrefixes); ++prefix)
    value /= 1000;
  return absl::StrFormat("%.*f %s%s", value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, kPrefixes[prefix], unit);
}

struct Measured {
  double seconds = 0; // of all runs
  std::int64_t runs = 0;
};
Measured timeOf(const runtime::StepTime &step) {
  return {static_cast<double>(step.nanoseconds.load(std::memory_order_relaxed)) * 1e-9,
          step.runs.load(std::memory_order_relaxed)};
}

// The steps of a plan, then those of its parts.
void appendTable(std::string &text, const ScheduledProgram &schedule, const runtime::LoadedPlan &plan, double total,
                 const runtime::MachineLimits &limits) {
  absl::StrAppendFormat(&text, "%-5s%-9s%-12s%-8s%-9s%-10s%-10s%-10s%-20s%s\n", "step", "runs", "time", "share",
                        "of limit", "op/s", "B/s", "bytes", "kernel", "line");
  const runtime::StepTime *times = plan.times();
  for (std::size_t i = 0; times && i < std::min(plan.numSteps(), schedule.calls.size()); ++i) {
    const ScheduledCall &call = schedule.calls[i];
    Measured time = timeOf(times[i]);
    if (!time.runs)
      continue;
    double each = time.seconds / static_cast<double>(time.runs),
           operations = static_cast<double>(call.operations) / each, bytes = static_cast<double>(call.bytes) / each;
    double limit = std::max(operations / limits.operations, bytes / limits.copiedBytes);
    auto known = [](std::int64_t count, const std::string &value) { return count > 0 ? value : std::string("-"); };
    absl::StrAppendFormat(&text, "%-5u%-9d%-12s%-8s%-9s%-10s%-10s%-10s%-20s%s\n", static_cast<unsigned>(i), time.runs,
                          absl::StrFormat("%.*f us", each < 1e-5 ? 2 : 1, each * 1e6),
                          absl::StrFormat("%.1f %%", 100 * time.seconds / total),
                          known(call.operations + call.bytes, absl::StrFormat("%.0f %%", 100 * limit)),
                          known(call.operations, inUnits(operations, "")), known(call.bytes, inUnits(bytes, "B")),
                          known(call.bytes, inUnits(static_cast<double>(call.bytes), "B")), call.kernel, call.line);
    for (const std::string &nest : call.nests)
      absl::StrAppend(&text, "       ", nest, "\n");
    if (call.roundOf)
      absl::StrAppendFormat(&text, "       steps %d to %d share the threads\n", i, i + call.roundOf - 1);
  }
  for (std::size_t i = 0; i < std::min(schedule.parts.size(), plan.loadedParts().size()); ++i) {
    absl::StrAppend(&text, schedule.parts[i].name, "\n");
    appendTable(text, schedule.parts[i], plan.loadedParts()[i].plan, total, limits);
  }
}

Measured totalOf(const runtime::LoadedPlan &plan) {
  Measured total;
  for (std::size_t i = 0; plan.times() && i < plan.numSteps(); ++i) {
    Measured step = timeOf(plan.times()[i]);
    total.seconds += step.seconds;
    total.runs = std::max(total.runs, i ? total.runs : step.runs);
  }
  return total;
}

void printProfiles() {
  std::lock_guard lock(profiles().mutex);
  const runtime::MachineLimits &limits = profiles().limits;
  std::vector<std::pair<double, const Profiled *>> order;
  for (const Profiled &each : profiles().all)
    if (Measured total = totalOf(each.executable->plan); total.runs)
      order.emplace_back(total.seconds, &each);
  std::stable_sort(order.begin(), order.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
  for (const auto &[seconds, each] : order) {
    Measured total = totalOf(each->executable->plan);
    std::string text =
        absl::StrFormat("// profile of %s: %d calls, %.2f us each on %d threads; limits %s op/s, %s/s copied\n",
                        each->title, total.runs, total.seconds / static_cast<double>(total.runs) * 1e6,
                        runtime::threadCount(), inUnits(limits.operations, ""), inUnits(limits.copiedBytes, "B"));
    appendTable(text, each->schedule, each->executable->plan, total.seconds, limits);
    writeDump(text);
  }
}

} // namespace

bool isProfiled() {
  static const bool is = [] {
    const char *text = std::getenv("CALQUE_PROFILE");
    std::string setting = text ? text : "";
    if (!setting.empty() && setting != "0" && setting != "1")
      throw ValueError(absl::StrCat("CALQUE_PROFILE is '", setting, "' and must be 0 or 1"));
    if (setting == "1")
      runtime::LoadedPlan::measureSteps();
    return setting == "1";
  }(); // a failure is tried again
  return is;
}

void profile(const schema::Recording &recording, const CompileOptions &options,
             std::shared_ptr<const Executable> executable, SourceLocation where) {
  if (!isProfiled() || !isDumped(recording.name))
    return;
  std::string title = absl::StrCat("function ", recording.name);
  if (where.line)
    absl::StrAppend(&title, " of ", where.file, ":", where.line);
  Profiled added{std::move(title), compiler().schedule(recording, options), std::move(executable)};
  std::lock_guard lock(profiles().mutex);
  if (profiles().all.empty()) {
    profiles().limits = runtime::measureLimits();
    std::atexit(printProfiles);
  }
  profiles().all.push_back(std::move(added));
}

} // namespace calque::detail
