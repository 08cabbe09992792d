#include "codegen/native/TimeReport.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace calque::codegen {

using Clock = std::chrono::steady_clock;

namespace {

// Comparing takes a while itself, which is not counted.
class Instrumentation : public PassInstrumentation {
public:
  Instrumentation(TimeReport &report, ArrayRef<Stage> stages) : report(report), stages(stages) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (isAdaptor(pass))
      return;
    OperationFingerPrint before(op);
    running.push_back({before, Clock::now()});
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (!isAdaptor(pass))
      end(pass, OperationFingerPrint(op));
  }
  void runAfterPassFailed(Pass *pass, Operation *) override {
    if (!isAdaptor(pass))
      end(pass, std::nullopt); // what it leaves may not be looked at
  }

private:
  struct Running {
    OperationFingerPrint before;
    Clock::time_point begin;
  };

  // What runs passes on the functions of a module is a pass without a name.
  static bool isAdaptor(Pass *pass) { return pass->getArgument().empty(); }

  void end(Pass *pass, std::optional<OperationFingerPrint> after) {
    Clock::time_point now = Clock::now();
    Running run = running.pop_back_val();
    report.addPass(stepOf(pass), now - run.begin, !after || *after != run.before);
  }

  // A manager runs its passes in the order in which they were added, so the first run tells where each stands.
  const TimeReport::Step &stepOf(Pass *pass) {
    auto [found, isNew] = steps.try_emplace(pass);
    TimeReport::Step &step = found->second;
    if (!isNew)
      return step;
    size_t place = steps.size() - 1;
    if (place < stages.size())
      step.stage = stages[place];
    step.name = pass->getArgument().str();
    for (auto &[other, earlier] : steps)
      step.number += other != pass && earlier.stage == step.stage && earlier.name == step.name;
    return step;
  }

  TimeReport &report;
  SmallVector<Stage> stages;
  llvm::DenseMap<Pass *, TimeReport::Step> steps;
  SmallVector<Running> running;
};

} // namespace

TimeReport &TimeReport::ofProcess() {
  static auto *report = new TimeReport; // never destroyed: it is printed when the process ends
  return *report;
}

TimeReport::Entry &TimeReport::entryOf(const Step &step) {
  auto found = llvm::find_if(entries, [&](const Entry &entry) {
    return entry.step.stage == step.stage && entry.step.number == step.number && entry.step.name == step.name;
  });
  return found != entries.end() ? *found : entries.emplace_back(Entry{step});
}

void TimeReport::add(const Step &step, std::chrono::nanoseconds time) {
  std::lock_guard lock(mutex);
  Entry &entry = entryOf(step);
  entry.time += time;
  ++entry.runs;
}

void TimeReport::addPass(const Step &step, std::chrono::nanoseconds time, bool changed) {
  std::lock_guard lock(mutex);
  Entry &entry = entryOf(step);
  entry.time += time;
  ++entry.runs;
  entry.changed += changed;
  entry.isPass = true;
}

std::unique_ptr<PassInstrumentation> TimeReport::instrumentation(ArrayRef<Stage> stages) {
  return std::make_unique<Instrumentation>(*this, stages);
}

static double inMilliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

void TimeReport::print(llvm::raw_ostream &os) {
  std::lock_guard lock(mutex);
  SmallVector<const Entry *> order;
  double total = 0;
  for (const Entry &entry : entries) {
    order.push_back(&entry);
    total += inMilliseconds(entry.time);
  }
  llvm::stable_sort(order, [](const Entry *a, const Entry *b) { return a->step.stage < b->step.stage; });
  os << llvm::format("Compiling took %.3f ms of all threads\n", total);
  os << "       ms   share    runs  changed  stage           pass\n";
  for (const Entry *entry : order) {
    double time = inMilliseconds(entry->time);
    os << llvm::format("%9.3f  %5.1f%%  %6u  ", time, total > 0 ? 100 * time / total : 0, entry->runs);
    if (entry->isPass)
      os << llvm::format("%7u", entry->changed);
    else
      os << "      -";
    const char *stage = entry->step.stage ? kStages[static_cast<size_t>(*entry->step.stage)].name : "-";
    os << llvm::format("  %-14s  ", stage) << entry->step.name << '\n';
  }
  os.flush();
}

TimedStep::TimedStep(const CompileOptions &options, Stage stage, const char *name)
    : timing(options.timing), stage(stage), name(name) {
  if (timing)
    begin = Clock::now();
}
TimedStep::~TimedStep() {
  if (timing)
    TimeReport::ofProcess().add({stage, name}, Clock::now() - begin);
}

} // namespace calque::codegen
