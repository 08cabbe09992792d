#include "runtime/Plan.h"

#include "runtime/Round.h"
#include "runtime/ThreadPool.h"

#include "absl/cleanup/cleanup.h"
#include "absl/container/fixed_array.h"
#include "runtime/Stacks.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

namespace calque::runtime {

static int64_t wordOf(const void *address) { return reinterpret_cast<int64_t>(address); }

// The number of words behind the operands of a step: the addresses of the kernel's scratch memory and of its pieces.
static constexpr size_t kWordsBehind = 2;

static std::atomic<bool> measuresSteps{false};
void LoadedPlan::measureSteps() { measuresSteps.store(true, std::memory_order_relaxed); }

LoadedPlan::LoadedPlan() = default;
LoadedPlan::~LoadedPlan() = default;
LoadedPlan::LoadedPlan(LoadedPlan &&) noexcept = default;
LoadedPlan &LoadedPlan::operator=(LoadedPlan &&) noexcept = default;

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
  for (const Round &round : plan.rounds) {
    size_t words = 0;
    for (uint32_t i = 0; i < round.count; ++i)
      words += plan.steps[round.first + i].numOperands + kWordsBehind;
    mostInRound = std::max<size_t>(mostInRound, round.count);
    mostWordsInRound = std::max(mostWordsInRound, words);
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

// The words of the steps, one step after the other.
class LoadedPlan::Words {
public:
  Words(const LoadedPlan &plan, CalqueCallFrame &frame, const int64_t *computed)
      : frame(&frame), operand(plan.plan.operands.data()), tables{&zero,
                                                                  &this->frame,
                                                                  frame.inputs,
                                                                  frame.outputs,
                                                                  frame.input_sizes,
                                                                  plan.constants.data(),
                                                                  &frame.workspace,
                                                                  computed} {}
  Words(const Words &) = delete;

  void next(const Step &step, int64_t *words) {
    const Operand *from = operand;
    operand += step.numOperands;
    for (; from != operand; ++from, ++words) {
      int64_t word;
      const auto *table = static_cast<const char *>(tables[static_cast<size_t>(from->from)]);
      std::memcpy(&word, table + from->index * sizeof(word), sizeof(word));
      *words = word + from->offset;
    }
  }

private:
  const int64_t zero = 0;
  const CalqueCallFrame *frame;
  const Operand *operand;
  // In the order of From. An address and a number have the same size.
  const void *const tables[static_cast<size_t>(From::Computed) + 1];
  static_assert(sizeof(void *) == sizeof(int64_t));
};

// The memory of a round while it runs, in one buffer.
struct RoundMemory {
  RoundMemory(size_t steps, size_t numWords)
      : memory(Buffer::allocate(steps * (sizeof(RoundStep) + sizeof(RoundItem) + sizeof(uint32_t)) +
                                numWords * sizeof(int64_t))),
        steps(static_cast<RoundStep *>(memory.data())), words(reinterpret_cast<int64_t *>(this->steps + steps)),
        items(reinterpret_cast<RoundItem *>(words + numWords)), order(reinterpret_cast<uint32_t *>(items + steps)) {}
  Buffer memory;
  RoundStep *steps;
  int64_t *words;
  RoundItem *items;
  uint32_t *order;
};
static_assert(sizeof(RoundStep) % alignof(int64_t) == 0 && sizeof(RoundItem) % alignof(uint32_t) == 0);

// Adds bytes of scratch memory. A sum that overflows is the largest number, which is more than any memory has.
static int64_t plus(int64_t bytes, int64_t more) {
  int64_t sum;
  return __builtin_add_overflow(bytes, more, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

static int64_t aligned(int64_t bytes) {
  return plus(bytes, CALQUE_BUFFER_ALIGNMENT - 1) / CALQUE_BUFFER_ALIGNMENT * CALQUE_BUFFER_ALIGNMENT;
}

// The bytes of scratch memory that a kernel needs; 0 if it needs none.
int64_t LoadedPlan::scratchOf(const Step &step, int64_t *words) const {
  CalqueKernel scratch = kernels[step.kernel].scratch;
  if (!scratch)
    return 0;
  int64_t bytes = 0;
  words[step.numOperands] = wordOf(&bytes);
  scratch(words);
  return aligned(bytes);
}

static void growTo(Buffer &scratch, int64_t bytes) {
  if (scratch.bytes() >= static_cast<size_t>(bytes))
    return;
  scratch = Buffer(); // freed before the larger one is allocated
  scratch = Buffer::allocate(static_cast<size_t>(bytes));
}

// Stores the words of a round's steps in the round's memory, and makes room for the scratch memory of all steps.
void LoadedPlan::takeRound(const Round &round, Words &words, RoundMemory &memory, Buffer &scratch) const {
  int64_t *next = memory.words, bytes = 0;
  for (uint32_t i = 0; i < round.count; ++i) {
    const Step &step = plan.steps[round.first + i];
    const Kernel &kernel = kernels[step.kernel];
    words.next(step, next);
    int64_t own = scratchOf(step, next);
    if (kernel.scratch) // an offset, until the size of the whole is known
      next[step.numOperands] = bytes;
    bytes = plus(bytes, own);
    new (&memory.steps[i]) RoundStep{&kernel, next, step.cycles, step.follows, {}};
    next += step.numOperands + kWordsBehind;
  }
  growTo(scratch, bytes);
}

void LoadedPlan::runRound(const Round &round, RoundMemory &memory, const Buffer &scratch) const {
  for (uint32_t i = 0; i < round.count; ++i) {
    RoundStep &step = memory.steps[i];
    auto *words = const_cast<int64_t *>(step.words);
    uint32_t last = plan.steps[round.first + i].numOperands;
    if (step.kernel->scratch)
      words[last++] += wordOf(scratch.data());
    if (step.kernel->pieces) {
      words[last] = wordOf(&step.pieces);
      step.kernel->pieces(words);
    }
  }
  auto start = std::chrono::steady_clock::time_point();
  if (measured)
    start = std::chrono::steady_clock::now();
  runtime::runRound({memory.steps, round.count}, memory.order, memory.items, measured != nullptr);
  if (!measured)
    return;
  // The time of the round, shared as the threads' time was.
  double time = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count(), all = 0;
  for (uint32_t i = 0; i < round.count; ++i)
    all += static_cast<double>(memory.steps[i].nanoseconds.load(std::memory_order_relaxed));
  for (uint32_t i = 0; i < round.count; ++i) {
    auto own = static_cast<double>(memory.steps[i].nanoseconds.load(std::memory_order_relaxed));
    note(round.first + i, static_cast<int64_t>(all > 0 ? time * own / all : 0));
  }
}

void LoadedPlan::note(size_t step, int64_t nanoseconds) const {
  measured[step].runs.fetch_add(1, std::memory_order_relaxed);
  measured[step].nanoseconds.fetch_add(nanoseconds, std::memory_order_relaxed);
}

int32_t LoadedPlan::runSteps(CalqueCallFrame &frame, const int64_t *computed) const {
  absl::FixedArray<int64_t, 64> words(mostOperands);
  Words cursor(*this, frame, computed);
  for (const Step &step : plan.steps) {
    cursor.next(step, words.data());
    kernels[step.kernel].run(words.data());
    if (frame.error.failed)
      return 1;
  }
  return 0;
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
  // The body of a loop is called for each iteration.
  if (!mostInRound && !needsScratch && !measured)
    return runSteps(frame, computed.data());
  Buffer scratch;
  // On one thread, the steps run one after the other.
  std::optional<RoundMemory> rounds;
  if (mostInRound && threadCount() > 1)
    rounds.emplace(mostInRound, mostWordsInRound);
  absl::FixedArray<int64_t, 64> words(mostOperands + kWordsBehind);
  // Calls `ofStep` with each step that is in no round, and `ofRound` with each round.
  auto forEach = [&](Words &cursor, auto &&ofStep, auto &&ofRound) {
    const Round *round = plan.rounds.data(), *lastRound = round + plan.rounds.size();
    for (size_t i = 0; i < plan.steps.size();) {
      if (rounds && round != lastRound && round->first == i) {
        takeRound(*round, cursor, *rounds, scratch);
        ofRound(*round);
        i += round++->count;
        continue;
      }
      const Step &step = plan.steps[i];
      cursor.next(step, words.data());
      if (kernels[step.kernel].scratch)
        growTo(scratch, scratchOf(step, words.data()));
      if (!ofStep(i))
        return;
      ++i;
    }
  };
  if (plan.writesInputs && needsScratch) {
    Words cursor(*this, frame, computed.data());
    forEach(cursor, [](size_t) { return true; }, [](const Round &) {});
  }
  Words cursor(*this, frame, computed.data());
  forEach(
      cursor,
      [&](size_t number) {
        const Step &step = plan.steps[number];
        const Kernel &kernel = kernels[step.kernel];
        if (kernel.scratch)
          words[step.numOperands] = wordOf(scratch.data());
        if (!measured) {
          kernel.run(words.data());
        } else {
          auto start = std::chrono::steady_clock::now();
          kernel.run(words.data());
          note(number, std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
        }
        return frame.error.failed == 0;
      },
      [&](const Round &round) { runRound(round, *rounds, scratch); });
  return frame.error.failed != 0;
}

} // namespace calque::runtime
