#include "runtime/Plan.h"

#include "absl/cleanup/cleanup.h"
#include "absl/container/fixed_array.h"
#include "runtime/Stacks.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace calque::runtime {

static int64_t wordOf(const void *address) { return reinterpret_cast<int64_t>(address); }

static std::atomic<bool> measuresSteps{false};
void LoadedPlan::measureSteps() { measuresSteps.store(true, std::memory_order_relaxed); }

LoadedPlan::LoadedPlan() = default;
LoadedPlan::~LoadedPlan() = default;
LoadedPlan::LoadedPlan(LoadedPlan &&) = default;
LoadedPlan &LoadedPlan::operator=(LoadedPlan &&) = default;

LoadedPlan::LoadedPlan(Plan given, std::vector<KernelRef> givenKernels)
    : plan(std::move(given)), owned(std::move(givenKernels)) {
  for (const KernelRef &kernel : owned)
    kernels.push_back(kernel->kernel);
  for (PlanPart &part : plan.parts)
    parts.push_back({LoadedPlan(std::move(part.plan), owned), part.workspaceBytes, part.numOutputSizes,
                     std::move(part.inPlace), part.firstSite});
  plan.parts.clear();
  for (std::vector<std::byte> &constant : plan.constants) {
    Buffer &buffer = buffers.emplace_back(Buffer::allocate(constant.size()));
    std::copy(constant.begin(), constant.end(), static_cast<std::byte *>(buffer.data()));
    constants.push_back(buffer.data());
    constant = {};
  }
  for (const Step &step : plan.steps) {
    mostOperands = std::max(mostOperands, step.numOperands);
    needsScratch |= kernels[step.kernel].scratch != nullptr;
  }
  if (measuresSteps.load(std::memory_order_relaxed))
    measured = std::make_unique<StepTime[]>(plan.steps.size());
}

void LoadedPlan::callWithSizes(uint32_t kernel, std::initializer_list<int64_t> first, const int64_t *sizes) const {
  absl::FixedArray<int64_t, 32> words(first.size() + plan.numSizes + 1);
  int64_t *last = std::copy(sizes, sizes + plan.numSizes, std::copy(first.begin(), first.end(), words.begin()));
  Buffer scratch;
  if (kernels[kernel].scratch) {
    int64_t bytes = 0;
    *last = wordOf(&bytes);
    kernels[kernel].scratch(words.data());
    scratch = Buffer::allocate(static_cast<size_t>(bytes));
    *last = wordOf(scratch.data());
  }
  kernels[kernel].run(words.data());
}

int32_t LoadedPlan::computeShapes(CalqueCallFrame &frame) const {
  callWithSizes(*plan.shapes, {wordOf(&frame), wordOf(frame.output_sizes), wordOf(&frame.workspace_bytes)},
                frame.input_sizes);
  return frame.error.failed != 0;
}

template <typename F> void LoadedPlan::forEachStep(CalqueCallFrame &frame, const int64_t *computed, F &&use) const {
  const int64_t zero = 0;
  const CalqueCallFrame *address = &frame;
  // In the order of From. An address and a number are of one size.
  const void *const tables[] = {
      &zero, &address, frame.inputs, frame.outputs, frame.input_sizes, constants.data(), &frame.workspace, computed};
  static_assert(std::size(tables) == static_cast<size_t>(From::Computed) + 1 && sizeof(void *) == sizeof(int64_t));
  absl::FixedArray<int64_t, 64> words(mostOperands + 1);
  const Operand *operand = plan.operands.data();
  for (const Step &step : plan.steps) {
    for (uint32_t i = 0; i < step.numOperands; ++i, ++operand) {
      int64_t word;
      const auto *table = static_cast<const char *>(tables[static_cast<size_t>(operand->from)]);
      std::memcpy(&word, table + operand->index * sizeof(word), sizeof(word));
      words[i] = word + operand->offset;
    }
    if (!use(step, words.data()))
      return;
  }
}

int32_t LoadedPlan::run(CalqueCallFrame &frame) const {
  Stacks own; // of the whole program
  absl::Cleanup restore = [&frame, before = frame.stacks] { frame.stacks = before; };
  if (!frame.stacks)
    frame.stacks = &own;
  frame.parts = parts.data();
  absl::FixedArray<int64_t, 16> computed(plan.numComputed);
  if (plan.numbers)
    callWithSizes(*plan.numbers, {wordOf(computed.data()), wordOf(frame.workspace)}, frame.input_sizes);
  Buffer scratch;
  auto reserve = [&](const Step &step, int64_t *words) {
    int64_t bytes = 0;
    words[step.numOperands] = wordOf(&bytes);
    kernels[step.kernel].scratch(words);
    if (scratch.bytes() < static_cast<size_t>(bytes)) {
      scratch = Buffer(); // before the larger one is made
      scratch = Buffer::allocate(static_cast<size_t>(bytes));
    }
  };
  if (plan.writesInputs && needsScratch)
    forEachStep(frame, computed.data(), [&](const Step &step, int64_t *words) {
      if (kernels[step.kernel].scratch)
        reserve(step, words);
      return true;
    });
  forEachStep(frame, computed.data(), [&](const Step &step, int64_t *words) {
    const Kernel &kernel = kernels[step.kernel];
    if (kernel.scratch) {
      reserve(step, words);
      words[step.numOperands] = wordOf(scratch.data());
    }
    if (!measured) {
      kernel.run(words);
    } else {
      auto start = std::chrono::steady_clock::now();
      kernel.run(words);
      std::chrono::nanoseconds time = std::chrono::steady_clock::now() - start;
      StepTime &sum = measured[static_cast<size_t>(&step - plan.steps.data())];
      sum.runs.fetch_add(1, std::memory_order_relaxed);
      sum.nanoseconds.fetch_add(time.count(), std::memory_order_relaxed);
    }
    return frame.error.failed == 0;
  });
  return frame.error.failed != 0;
}

} // namespace calque::runtime
