// Branches, loops and stacks: the kernels of the runtime that run parts of a plan.
#include "runtime/Plan.h"
#include "runtime/Stacks.h"

#include "absl/container/fixed_array.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace calque::runtime {

namespace {

void *addressOf(int64_t word) { return reinterpret_cast<void *>(word); }
CalqueCallFrame &frameOf(const int64_t *words) { return *static_cast<CalqueCallFrame *>(addressOf(words[0])); }

//===-- Stacks ----------------------------------------------------------------------------------===//

// Null where there is no memory.
Entry *allocate(Stacks &stacks, size_t bytes) {
  try {
    return stacks.allocate(bytes);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}
Entry *allocateSized(Stacks &stacks, size_t bytes, const int64_t *sizes, size_t rank) {
  try {
    return stacks.allocateSized(bytes, sizes, rank);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

// The loop variables of a loop that are stacks of one entry with sizes. What iterations leave of their entries would
// stay until the call ends; so an iteration that leaves nothing else on stacks ends with a copy of them alone.
class Boxes {
public:
  Boxes(Stacks &stacks, const int64_t *variables, int64_t count)
      : stacks(stacks), variables(variables), count(static_cast<size_t>(count)), mark(stacks.mark()) {}

  // Throws std::bad_alloc.
  void keepAlone(void *const *values) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; ++i) {
      const EntrySizes &sizes = EntrySizes::of(entryIn(values, i));
      bytes +=
          static_cast<size_t>(sizes.rank) * sizeof(int64_t) + sizeof(EntrySizes) + static_cast<size_t>(sizes.bytes);
    }
    // While little is there, it may stay.
    if (stacks.bytes() - mark.bytes < 8 * bytes + kSmall)
      return;
    if (copy.bytes() < bytes) {
      copy = Buffer();
      copy = Buffer::allocate(2 * bytes);
    }
    char *to = static_cast<char *>(copy.data());
    for (size_t i = 0; i < count; ++i) {
      const Entry *entry = entryIn(values, i);
      const EntrySizes sizes = EntrySizes::of(entry);
      std::memcpy(to, &sizes, sizeof sizes);
      to += sizeof sizes;
      const size_t ofSizes = static_cast<size_t>(sizes.rank) * sizeof(int64_t);
      std::memcpy(to, EntrySizes::of(entry).sizes(), ofSizes);
      std::memcpy(to + ofSizes, entry + 1, static_cast<size_t>(sizes.bytes));
      to += ofSizes + static_cast<size_t>(sizes.bytes);
    }
    stacks.release(mark);
    const char *from = static_cast<const char *>(copy.data());
    for (size_t i = 0; i < count; ++i) {
      EntrySizes sizes;
      std::memcpy(&sizes, from, sizeof sizes);
      from += sizeof sizes;
      const auto rank = static_cast<size_t>(sizes.rank), elements = static_cast<size_t>(sizes.bytes);
      absl::FixedArray<int64_t, 8> own(rank);
      std::memcpy(own.data(), from, rank * sizeof(int64_t));
      from += rank * sizeof(int64_t);
      Entry *entry = stacks.allocateSized(elements, own.data(), rank);
      entry->below = 0;
      std::memcpy(entry + 1, from, elements);
      from += elements;
      *static_cast<double *>(values[variables[i]]) = stackOf(entry);
    }
  }

private:
  const Entry *entryIn(void *const *values, size_t i) const {
    return entryOf(*static_cast<const double *>(values[variables[i]]));
  }

  static constexpr size_t kSmall = size_t(1) << 16;
  Stacks &stacks;
  const int64_t *variables;
  size_t count;
  Stacks::Mark mark;
  Buffer copy;
};

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
  const int64_t *sizes = words.next;
  const auto *parts = static_cast<const LoadedPart *>(frame.parts);
  words.next += parts[bodyPart].plan.numSizes();
  const int64_t numBoxes = words.number(), *boxed = words.next;
  words.next += numBoxes;
  const auto lackSite = static_cast<int32_t>(words.number());
  words.next = sizes;
  PartCall condition(frame, parts[conditionPart], words.next), body(frame, parts[bodyPart], words.next);
  if (!condition.prepare())
    return;
  for (uint64_t each : body.inPlace())
    next[each] = nullptr;
  auto *stacks = static_cast<Stacks *>(frame.stacks);
  const size_t before = stacks ? stacks->bytes() : 0;
  int64_t done = 0; // iterations
  std::optional<Boxes> boxes;
  if (numBoxes && dropsStacks && stacks)
    boxes.emplace(*stacks, boxed, numBoxes);
  absl::FixedArray<void *, 32> outputs(numVariables);
  while (true) {
    uint8_t goesOn = 0;
    void *decision[] = {&goesOn};
    if (!condition.run(inputs.data(), decision))
      return;
    if (!goesOn)
      break;
    // Sizes that don't fit in the body are no fault of a loop without iterations, as those of a branch are none where
    // the other is taken. What the body gives its variables has the sizes that they have, which come first among those
    // of the inputs.
    if (done == 0 && (!body.prepare() || !body.hasSizes(words.next, site)))
      return;
    for (size_t i = 0; i < numVariables; ++i)
      outputs[i] = next[i] ? next[i] : inputs[i];
    const bool drops = dropsStacks && stacks && !boxes;
    Stacks::Mark mark = drops ? stacks->mark() : Stacks::Mark{};
    if (!body.run(inputs.data(), outputs.data())) {
      if (stacks && stacks->lacking) {
        frame.error.values[0] = done;
        frame.error.values[1] =
            (static_cast<int64_t>(stacks->bytes() - before + std::exchange(stacks->lacking, 0)) + done) / (done + 1);
      }
      return;
    }
    ++done;
    if (drops)
      stacks->release(mark);
    for (size_t i = 0; i < numVariables; ++i)
      if (next[i])
        std::swap(inputs[i], next[i]);
    try {
      if (boxes)
        boxes->keepAlone(inputs.data());
    } catch (const std::bad_alloc &) {
      calque_rt_fail(&frame, lackSite, done, 0);
      return;
    }
  }
  for (size_t i = 0; i < numVariables; ++i)
    if (inputs[i] != results[i])
      std::memcpy(results[i], inputs[i], static_cast<size_t>(bytes[i]));
}

extern "C" __attribute__((visibility("default"))) int64_t calque_rt_stack_entry(CalqueCallFrame *frame, int64_t bytes,
                                                                                int64_t ofIteration, int32_t site) {
  auto &stacks = *static_cast<Stacks *>(frame->stacks);
  if (Entry *entry = allocate(stacks, static_cast<size_t>(bytes)))
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(entry));
  stacks.lacking = static_cast<size_t>(ofIteration);
  calque_rt_fail(frame, site, static_cast<int64_t>(stacks.bytes()) / ofIteration, ofIteration);
  return 0;
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
  auto count = static_cast<size_t>(words[1]), bytes = static_cast<size_t>(words[2]);
  const auto *stacks = static_cast<const double *>(addressOf(words[3]));
  auto *below = static_cast<double *>(addressOf(words[4]));
  auto *elements = static_cast<char *>(addressOf(words[5]));
  for (size_t i = 0; i < count; ++i) {
    const Entry *entry = isSumOfStacks(stacks[i]) ? nullptr : entryOf(stacks[i]);
    const bool isOther = entry && entry->bytes != bytes; // of other elements
    if (isOther || isSumOfStacks(stacks[i]))
      calque_rt_fail(&frameOf(words), static_cast<int32_t>(words[6]), 0, 0);
    if (isOther)
      entry = nullptr;
    below[i] = entry ? entry->below : 0;
    if (entry)
      std::memcpy(elements + i * bytes, entry + 1, bytes);
    else
      std::memset(elements + i * bytes, 0, bytes);
  }
}

CALQUE_KERNEL calque_rt_sized_push(const int64_t *words) {
  auto &stacks = *static_cast<Stacks *>(frameOf(words).stacks);
  const auto bytes = static_cast<size_t>(words[5]);
  Entry *entry = allocateSized(stacks, bytes, words + 7, static_cast<size_t>(words[6]));
  if (!entry) {
    stacks.lacking = Stacks::bytesOf(bytes);
    calque_rt_fail(&frameOf(words), static_cast<int32_t>(words[4]), 0, words[5]);
    return;
  }
  entry->below = *static_cast<const double *>(addressOf(words[1]));
  std::memcpy(entry + 1, addressOf(words[2]), bytes);
  *static_cast<double *>(addressOf(words[3])) = stackOf(entry);
}

CALQUE_KERNEL calque_rt_stack_below(const int64_t *words) {
  const auto *stacks = static_cast<const double *>(addressOf(words[2]));
  auto *below = static_cast<double *>(addressOf(words[3]));
  for (int64_t i = 0; i < words[1]; ++i) {
    const Entry *entry = entryOf(stacks[i]);
    below[i] = entry ? entry->below : 0;
  }
}

CALQUE_KERNEL calque_rt_on_entries(const int64_t *given) {
  CalqueCallFrame &frame = frameOf(given);
  Words words{given + 1};
  const int64_t partNumber = words.number(), numEntries = words.number(), numInputs = words.number(),
                numOutputs = words.number();
  const auto &part = static_cast<const LoadedPart *>(frame.parts)[partNumber];
  absl::FixedArray<void *, 32> inputs(static_cast<size_t>(numEntries + numInputs)),
      outputs(static_cast<size_t>(numOutputs));
  absl::FixedArray<int64_t, 16> sizes(part.plan.numSizes());
  size_t numSizes = 0;
  for (int64_t i = 0; i < numEntries; ++i) {
    Entry *entry = entryOf(*static_cast<const double *>(addressOf(words.number())));
    const int64_t rank = words.number(), *unknown = words.next;
    words.next += std::max<int64_t>((rank + 63) / 64, 1);
    inputs[static_cast<size_t>(i)] = entry + 1;
    for (int64_t dimension = 0; dimension < rank; ++dimension)
      if (static_cast<uint64_t>(unknown[dimension / 64]) >> dimension % 64 & 1)
        sizes[numSizes++] = EntrySizes::of(entry).sizes()[dimension];
  }
  words.addresses(inputs.data() + numEntries, numInputs);
  words.addresses(outputs.data(), numOutputs);
  const int64_t site = words.number(), *expected = words.next;
  words.next += part.numOutputSizes;
  const int64_t numUnknown = words.number();
  std::copy(words.next, words.next + numUnknown, sizes.data() + numSizes);
  PartCall call(frame, part, sizes.data());
  if (call.prepare() && call.hasSizes(expected, site))
    call.run(inputs.data(), outputs.data());
}
