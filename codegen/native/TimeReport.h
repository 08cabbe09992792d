// How long the steps of compiling take, and which passes change something: what CALQUE_TIMING=1 and the option --timing
// of the tools print.
//
//   CompileOptions options{.timing = true};
//   TimedStep step(options, Stage::Object, "emit-code"); // up to the end of the scope
//   manager.addInstrumentation(TimeReport::ofProcess().instrumentation({}));
//   TimeReport::ofProcess().print(llvm::errs());
#ifndef CALQUE_CODEGEN_NATIVE_TIMEREPORT_H
#define CALQUE_CODEGEN_NATIVE_TIMEREPORT_H

#include "program/Compiler.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/SmallVector.h"

#include <chrono>
#include <deque>
#include <mutex>

namespace calque::codegen {

// Steps and how long they took, added up over all programs and kernels. Threads may add at once.
class TimeReport {
public:
  // The report of this process. All compilations with CompileOptions::timing add to it.
  static TimeReport &ofProcess();

  // Identifies a step by its place in the pipeline, which is the same in all contexts.
  struct Step {
    std::optional<Stage> stage; // to which it belongs
    std::string name;
    unsigned number = 0; // among the steps of this name in the stage, from 0
  };
  void add(const Step &step, std::chrono::nanoseconds time);
  void addPass(const Step &step, std::chrono::nanoseconds time, bool changed);

  // Times the passes of one manager. `stages` has the stage of each pass, in the order in which the passes were added.
  std::unique_ptr<mlir::PassInstrumentation> instrumentation(llvm::ArrayRef<Stage> stages);

  // Prints a line for each step, in the order of the pipeline.
  void print(llvm::raw_ostream &os);

private:
  struct Entry {
    Step step;
    std::chrono::nanoseconds time{0};
    unsigned runs = 0, changed = 0;
    bool isPass = false;
  };
  Entry &entryOf(const Step &step);

  std::mutex mutex;
  std::deque<Entry> entries; // in the order in which they first ran
};

// Times a step that is no pass, up to the end of its scope.
class TimedStep {
public:
  TimedStep(const CompileOptions &options, Stage stage, const char *name);
  ~TimedStep();
  TimedStep(const TimedStep &) = delete;
  TimedStep &operator=(const TimedStep &) = delete;

private:
  bool timing;
  Stage stage;
  const char *name;
  std::chrono::steady_clock::time_point begin;
};

} // namespace calque::codegen
#endif
