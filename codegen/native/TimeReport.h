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
  // That of this process, to which all compilations with CompileOptions::timing add.
  static TimeReport &ofProcess();

  // Where a step stands: the same place of a pipeline in any context is one step.
  struct Step {
    std::optional<Stage> stage; // that it belongs to
    std::string name;
    unsigned number = 0; // of those of one name in the stage, from 0
  };
  void add(const Step &step, std::chrono::nanoseconds time);
  void addPass(const Step &step, std::chrono::nanoseconds time, bool changed);

  // Times the passes of one manager. `stages` are those of its passes, in the order in which they were added.
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
  std::deque<Entry> entries; // the first that ran first
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
