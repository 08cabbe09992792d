// Branches, loops and stacks: the kernels of the runtime that run parts of a plan.
#include "runtime/Plan.h"
#include "runtime/Stacks.h"

#include "absl/container/fixed_array.h"

#include <algorithm>
#include <cstring>

namespace calque::runtime {

namespace {

void *addressOf(int64_t word) { return reinterpret_cast<void *>(word); }
CalqueCallFrame &frameOf(const int64_t *words) { return *static_cast<CalqueCallFrame *>(addressOf(words[0])); }

//===-- Stacks ----------------------------------------------------------------------------------===//

// Addresses have less bits than a float64 holds exactly.
double stackOf(const Entry *entry) { return static_cast<double>(reinterpret_cast<uintptr_t>(entry)); }
Entry *entryOf(double stack) { return reinterpret_cast<Entry *>(static_cast<uintptr_t>(stack)); }

// Null where there is no memory.
Entry *allocate(Stacks &stacks, size_t bytes) {
  try {
    return stacks.allocate(bytes);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

//===-- Parts -----------------------------------------------------------------------------------===//

// A part with all that running it takes, but for the addresses of its inputs and results.
class PartCall {
public:
  // `sizes` are those of the inputs that the part does not know.
  PartCall(CalqueCallFrame &outer, const LoadedPart &part, const int64_t *sizes)
      : outer(outer), part(part), outputSizes(part.numOutputSizes) {
    frame = outer;
    frame.first_site = part.firstSite;
    frame.input_sizes = sizes;
    frame.output_sizes = outputSizes.data();
  }

  // Checks the sizes, and makes the workspace. Returns false after a failed check.
  bool prepare() {
    size_t bytes = part.workspaceBytes;
    if (part.plan.hasShapes()) {
      if (part.plan.computeShapes(frame))
        return fail();
      bytes = static_cast<size_t>(frame.workspace_bytes);
    }
    if (bytes)
      workspace = Buffer::allocate(bytes);
    frame.workspace = workspace.data();
    return true;
  }
  bool run(void *const *inputs, void *const *outputs) {
    frame.inputs = inputs;
    frame.outputs = outputs;
    return part.plan.run(frame) ? fail() : true;
  }
  const std::vector<uint64_t> &inPlace() const { return part.inPlace; }
  // Fails at the site that belongs to the first unknown size of the results which is another than expected.
  bool hasSizes(const int64_t *expected, int64_t site) {
    for (size_t i = 0; i < outputSizes.size(); ++i)
      if (outputSizes[i] != expected[i]) {
        calque_rt_fail(&outer, static_cast<int32_t>(site) + static_cast<int32_t>(i), outputSizes[i], expected[i]);
        return false;
      }
    return true;
  }

private:
  bool fail() {
    outer.error = frame.error;
    return false;
  }

  CalqueCallFrame &outer;
  const LoadedPart &part;
  CalqueCallFrame frame;
  absl::FixedArray<int64_t, 8> outputSizes;
  Buffer workspace;
};

// Takes words one after the other.
struct Words {
  const int64_t *next;
  int64_t number() { return *next++; }
  void addresses(void **to, int64_t count) {
    std::transform(next, next + count, to, addressOf);
    next += count;
  }
};

} // namespace
} // namespace calque::runtime

using namespace calque::runtime;

#define CALQUE_KERNEL extern "C" __attribute__((visibility("default"))) void

CALQUE_KERNEL calque_rt_cond(const int64_t *given) {
  CalqueCallFrame &frame = frameOf(given);
  Words words{given + 1};
  int64_t then = words.number(), otherwise = words.number(), numInputs = words.number(), numOutputs = words.number(),
          site = words.number();
  bool holds = *static_cast<const uint8_t *>(addressOf(words.number())) != 0;
  absl::FixedArray<void *, 32> inputs(static_cast<size_t>(numInputs)), outputs(static_cast<size_t>(numOutputs));
  words.addresses(inputs.data(), numInputs);
  words.addresses(outputs.data(), numOutputs);
  const auto &part = static_cast<const LoadedPart *>(frame.parts)[holds ? then : otherwise];
  const int64_t *sizes = words.next; // of the results, then of the inputs
  PartCall branch(frame, part, sizes + part.numOutputSizes);
  if (branch.prepare() && branch.hasSizes(sizes, site))
    branch.run(inputs.data(), outputs.data());
}

CALQUE_KERNEL calque_rt_while(const int64_t *given) {
  CalqueCallFrame &frame = frameOf(given);
  Words words{given + 1};
  int64_t conditionPart = words.number(), bodyPart = words.number(), count = words.number(),
          numInvariants = words.number(), site = words.number();
  bool dropsStacks = words.number() != 0;
  const auto numVariables = static_cast<size_t>(count);
  // The loop variables, and behind them the invariants; then the buffers of the variables' next values.
  absl::FixedArray<void *, 32> inputs(numVariables + static_cast<size_t>(numInvariants)), initial(numVariables),
      results(numVariables), next(numVariables);
  words.addresses(initial.data(), count);
  words.addresses(inputs.data() + numVariables, numInvariants);
  words.addresses(results.data(), count);
  words.addresses(next.data(), count);
  const int64_t *bytes = words.next;
  words.next += count;
  for (size_t i = 0; i < numVariables; ++i) {
    std::memcpy(results[i], initial[i], static_cast<size_t>(bytes[i]));
    inputs[i] = results[i];
  }
  const auto *parts = static_cast<const LoadedPart *>(frame.parts);
  PartCall condition(frame, parts[conditionPart], words.next), body(frame, parts[bodyPart], words.next);
  // The sizes that the body gives its variables are those that they have, which come first among those of the inputs.
  if (!condition.prepare() || !body.prepare() || !body.hasSizes(words.next, site))
    return;
  for (uint64_t each : body.inPlace())
    next[each] = nullptr;
  auto *stacks = static_cast<Stacks *>(frame.stacks);
  const size_t before = stacks ? stacks->bytes() : 0;
  int64_t done = 0; // iterations
  absl::FixedArray<void *, 32> outputs(numVariables);
  while (true) {
    uint8_t goesOn = 0;
    void *decision[] = {&goesOn};
    if (!condition.run(inputs.data(), decision))
      return;
    if (!goesOn)
      break;
    for (size_t i = 0; i < numVariables; ++i)
      outputs[i] = next[i] ? next[i] : inputs[i];
    Stacks::Mark mark = dropsStacks && stacks ? stacks->mark() : Stacks::Mark{};
    if (!body.run(inputs.data(), outputs.data())) {
      if (stacks && stacks->lacking) {
        frame.error.values[0] = done;
        frame.error.values[1] =
            (static_cast<int64_t>(stacks->bytes() - before + std::exchange(stacks->lacking, 0)) + done) / (done + 1);
      }
      return;
    }
    ++done;
    if (dropsStacks && stacks)
      stacks->release(mark);
    for (size_t i = 0; i < numVariables; ++i)
      if (next[i])
        std::swap(inputs[i], next[i]);
  }
  for (size_t i = 0; i < numVariables; ++i)
    if (inputs[i] != results[i])
      std::memcpy(results[i], inputs[i], static_cast<size_t>(bytes[i]));
}

CALQUE_KERNEL calque_rt_stack_push(const int64_t *words) {
  auto &stacks = *static_cast<Stacks *>(frameOf(words).stacks);
  auto count = static_cast<size_t>(words[1]), bytes = static_cast<size_t>(words[2]);
  const auto *below = static_cast<const double *>(addressOf(words[3]));
  const auto *elements = static_cast<const char *>(addressOf(words[4]));
  auto *made = static_cast<double *>(addressOf(words[5]));
  for (size_t i = 0; i < count; ++i) {
    Entry *entry = allocate(stacks, bytes);
    if (!entry) {
      stacks.lacking = (count - i) * Stacks::bytesOf(bytes);
      calque_rt_fail(&frameOf(words), static_cast<int32_t>(words[6]), 0, words[2]);
      return;
    }
    entry->below = below[i];
    std::memcpy(entry + 1, elements + i * bytes, bytes);
    made[i] = stackOf(entry);
  }
}

CALQUE_KERNEL calque_rt_stack_pop(const int64_t *words) {
  constexpr double kMostAddress = 0x1p47; // of a process on x86-64
  auto count = static_cast<size_t>(words[1]), bytes = static_cast<size_t>(words[2]);
  const auto *stacks = static_cast<const double *>(addressOf(words[3]));
  auto *below = static_cast<double *>(addressOf(words[4]));
  auto *elements = static_cast<char *>(addressOf(words[5]));
  for (size_t i = 0; i < count; ++i) {
    // The sum of two stacks, neither of them empty, is an address beyond all others.
    if (stacks[i] >= kMostAddress)
      calque_rt_fail(&frameOf(words), static_cast<int32_t>(words[6]), 0, 0);
    const Entry *entry = entryOf(stacks[i] < kMostAddress ? stacks[i] : 0);
    below[i] = entry ? entry->below : 0;
    if (entry)
      std::memcpy(elements + i * bytes, entry + 1, bytes);
    else
      std::memset(elements + i * bytes, 0, bytes);
  }
}
