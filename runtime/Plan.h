// The plan of a compiled program: a list of steps, each of which calls a kernel.
//
// A kernel is native code that takes its arguments as words: the addresses of buffers, and numbers. The plan says where
// each word comes from, so that two calls of one kernel, or two calls of the program, share their code and differ in
// words alone.
//
//   Plan plan;
//   plan.steps = {{.kernel = 0, .numOperands = 3}};
//   plan.operands = {{From::Input, 0}, {From::Input, 1}, {From::Output, 0}};
//   LoadedPlan loaded(plan, {addFourFloats});
//   if (loaded.run(frame))
//     report(frame.error);
#ifndef CALQUE_RUNTIME_PLAN_H
#define CALQUE_RUNTIME_PLAN_H

#include "runtime/Buffer.h"
#include "runtime/Kernels.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace calque::runtime {

// Where a word comes from.
enum class From : uint32_t {
  Number,    // the offset itself
  Frame,     // the address of the frame
  Input,     // the address of an input
  Output,    // the address of an output
  Size,      // an unknown size of the inputs
  Constant,  // the address of a constant of the plan
  Workspace, // the address of the workspace
  Computed,  // a number or an address that `numbers` has computed
};

// The word is entry `index` of the table that `from` names, plus `offset`.
struct Operand {
  From from = From::Number;
  uint32_t index = 0;
  int64_t offset = 0;
  bool operator==(const Operand &) const = default;
};

// A call of a kernel. Its operands follow those of the step before.
struct Step {
  uint32_t kernel;
  uint32_t numOperands;
  uint32_t cycles = 0;  // an estimate; 0: not known
  bool follows = false; // in a round: one thread runs it behind the step before
};

// Consecutive steps that do not depend on each other, except that a step may follow the one before it: their pieces are
// one loop of the pool's threads (Round.h).
struct Round {
  uint32_t first, count;
  bool operator==(const Round &) const = default;
};

struct PlanPart;

// A plan as plain data.
struct Plan {
  std::vector<Step> steps;
  std::vector<Operand> operands;
  std::vector<Round> rounds;                     // in the order of the steps
  std::vector<std::vector<std::byte>> constants; // the elements of each
  // Kernels for unknown sizes. The words of `shapes` are the frame, the address of the outputs' unknown sizes, the
  // address of the workspace's bytes, and the inputs' unknown sizes. The words of `numbers` are the address of the
  // computed words, the workspace, and the inputs' unknown sizes.
  std::optional<uint32_t> shapes, numbers;
  size_t numSizes = 0, numComputed = 0;
  // Whether steps write over inputs. Nothing may stop the program once they do, so that all memory is allocated before
  // the first step.
  bool writesInputs = false;
  // The parts that steps run: branches, and conditions and bodies of loops. Their kernels are among those of the whole
  // program.
  std::vector<PlanPart> parts;
};

struct PlanPart {
  Plan plan;
  size_t workspaceBytes = 0;
  size_t numOutputSizes = 0;     // unknown sizes of the results
  std::vector<uint64_t> inPlace; // of a loop's body: the loop variables that it writes over
  int32_t firstSite = 0;         // in the table of the whole program
};

struct LoadedPart;
struct RoundMemory;

// How often a step has run, and for how long altogether.
struct StepTime {
  std::atomic<int64_t> runs{0}, nanoseconds{0};
};

// A plan with its kernels.
class LoadedPlan {
public:
  LoadedPlan();
  ~LoadedPlan();
  LoadedPlan(LoadedPlan &&) noexcept;
  LoadedPlan &operator=(LoadedPlan &&) noexcept;
  // Throws std::bad_alloc if there is no memory for the constants.
  LoadedPlan(Plan plan, std::vector<KernelRef> kernels);

  // Checks the sizes of the inputs, which are in the frame. Computes the sizes of the outputs and the bytes of the
  // workspace. Returns 1 after a failed check. Throws std::bad_alloc if there is no memory for the kernel.
  int32_t computeShapes(CalqueCallFrame &frame) const;
  bool hasShapes() const { return plan.shapes.has_value(); }
  // The number of unknown sizes of the inputs.
  size_t numSizes() const { return plan.numSizes; }

  // Runs the steps. Stops after a step with a failed check, and returns 1. Throws std::bad_alloc if there is no memory
  // for a kernel or a loop. The steps before it have run then, unless the plan writes over inputs.
  int32_t run(CalqueCallFrame &frame) const;

  // Makes all plans that are loaded from now on measure their steps. That costs two looks at the clock for each step.
  static void measureSteps();
  // The times of the steps, in their order; null if they are not measured.
  const StepTime *times() const { return measured.get(); }
  size_t numSteps() const { return plan.steps.size(); }
  const std::vector<LoadedPart> &loadedParts() const { return parts; }

private:
  class Words;
  // Runs all steps of a plan that has no rounds, needs no scratch memory and is not measured.
  int32_t runSteps(CalqueCallFrame &frame, const int64_t *computed) const;
  int64_t scratchOf(const Step &step, int64_t *words) const;
  void takeRound(const Round &round, Words &words, RoundMemory &memory, Buffer &scratch) const;
  void runRound(const Round &round, RoundMemory &memory, const Buffer &scratch) const;
  void note(size_t step, int64_t nanoseconds) const;
  void callWithSizes(uint32_t kernel, std::initializer_list<int64_t> first, const int64_t *sizes) const;

  Plan plan;
  std::vector<LoadedPart> parts;
  std::vector<KernelRef> owned;
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers; // of the constants
  std::vector<const void *> constants;
  uint32_t mostOperands = 0;
  bool needsScratch = false;
  size_t mostInRound = 0, mostWordsInRound = 0;
  std::unique_ptr<StepTime[]> measured;
};

struct LoadedPart {
  LoadedPlan plan;
  size_t workspaceBytes, numOutputSizes;
  std::vector<uint64_t> inPlace;
  int32_t firstSite;
};

} // namespace calque::runtime
#endif
