#include "frontend/compiled/Execute.h"

#include "absl/container/fixed_array.h"
#include "absl/strings/str_cat.h"
#include "frontend/compiled/HostOfCall.h"
#include "frontend/compiled/LoopMemory.h"
#include "frontend/compiled/OrderedCode.h"
#include "frontend/compiled/VariableLocks.h"
#include "runtime/Stacks.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace calque::detail {

namespace {

// The type of an output; outputs are the results, then the new values of assigned variables.
const TypeRef &typeOfOutput(const Code &code, std::size_t output) {
  std::size_t numResults = code.results.size();
  return output < numResults ? code.results[output] : code.variables[code.executable->assigned[output - numResults]];
}

runtime::Buffer workspaceOf(std::size_t bytes, const Caller &caller) {
  try {
    return runtime::Buffer::allocate(bytes); // from the runtime's pool
  } catch (const std::bad_alloc &) {
    throw MemoryError(
        absl::StrCat(whose(caller), "there is no memory for intermediate values, which have ", bytes, " bytes"),
        caller.where);
  }
}

bool runPlan(const Executable &executable, CalqueCallFrame &frame, const Caller &caller) {
  try {
    return executable.plan.run(frame) != 0;
  } catch (const std::bad_alloc &) {
    throw MemoryError(absl::StrCat(whose(caller), "there is no memory for what a branch, a loop or a kernel computes"),
                      caller.where);
  }
}

[[noreturn]] void throwPassed(const Executable &executable, const CalqueErrorSlot &slot, const runtime::Stacks &stacks,
                              const Caller &caller) {
  const Site &site = executable.sites.at(static_cast<std::size_t>(slot.site));
  throw LoopMemoryPassed{stacks.bytes(), stacks.limit, site.recorded, failureAt(site, caller).where};
}

// A copy of an output whose sizes the program has found.
Tensor lateTensor(const schema::TensorType &type, const runtime::Entry *entry, const Caller &caller) {
  const runtime::EntrySizes &sizes = runtime::EntrySizes::of(entry);
  std::span<const std::int64_t> shape(sizes.sizes(), static_cast<std::size_t>(sizes.rank));
  if (is_complex(type.dtype)) // whose parts are a dimension in the program
    shape = shape.first(shape.size() - 1);
  TypeRef actual = sharedType(type.dtype, shape);
  runtime::Buffer buffer = allocate(*actual, caller.where, whose(caller));
  std::memcpy(buffer.data(), entry + 1, static_cast<std::size_t>(sizes.bytes));
  return makeEager(actual, std::move(buffer), caller.where);
}

// The memory of a variable's value, for a program that writes the new value over it: a copy where anyone else may see
// it. The caller holds the variable's lock, so nobody takes hold of the value meanwhile.
runtime::Buffer writableValue(const VariableState &variable, SourceLocation where) {
  const runtime::Buffer &buffer = implOf(variable.value).buffer;
  if (variable.value.impl().use_count() == 1 && buffer.unique() && !buffer.isForeign()) {
    std::atomic_thread_fence(std::memory_order_acquire); // what others did with it before they let go
    return buffer;
  }
  runtime::Buffer copy = allocate(*implOf(variable.value).type, where);
  std::memcpy(copy.data(), buffer.data(), buffer.bytes());
  return copy;
}

} // namespace

void fixSizes(Code &code, std::span<const schema::TensorType> inputs, const Caller &caller) {
  const Executable &executable = *code.executable;
  Code::Sizes sizes{{}, 0};
  for (const UnknownSize &unknown : executable.unknownInputs)
    sizes.inputs.push_back(inputs[unknown.index].dims[unknown.dimension]);
  std::vector<std::int64_t> outputs(executable.unknownOutputs.size());
  CalqueCallFrame frame = {};
  frame.version = CALQUE_ABI_VERSION;
  frame.size = sizeof(frame);
  frame.input_sizes = sizes.inputs.data();
  frame.output_sizes = outputs.data();
  if (executable.plan.hasShapes()) {
    if (executable.plan.computeShapes(frame))
      throwSite(code, frame.error, caller);
    sizes.workspaceBytes = static_cast<std::size_t>(frame.workspace_bytes);
  }
  code.sizes = std::move(sizes);
}

namespace {
void runOnce(const Code &code, std::span<const Tensor *const> parameters, std::span<VariableState *const> variables,
             std::span<Tensor> results, const Caller &caller, std::vector<Tensor> *seen) {
  const Executable &executable = *code.executable;
  if (code.hasBegun && !code.hasBegun->load(std::memory_order_acquire))
    beginOrdered(code, caller);
  absl::FixedArray<void *, 16> inputs(parameters.size() + variables.size());
  absl::FixedArray<void *, 16> outputs(code.results.size() + executable.assigned.size());
  absl::FixedArray<runtime::Buffer, 8> buffers(outputs.size());

  for (std::size_t i = 0; i < parameters.size(); ++i)
    inputs[i] = parameters[i]->impl()->buffer.data();

  HostOfCall host(code, caller);
  CalqueCallFrame frame = {};
  frame.version = CALQUE_ABI_VERSION;
  frame.size = sizeof(frame);
  frame.inputs = inputs.data();
  frame.outputs = outputs.data();
  frame.host = static_cast<runtime::HostCallbacks *>(&host);

  // Unknown sizes: the function of shapes takes those of the arguments and gives those of the results.
  const bool isOpen = executable.plan.hasShapes() && !code.sizes;
  absl::FixedArray<std::int64_t, 8> inputSizes(isOpen ? executable.unknownInputs.size() : 0),
      outputSizes(isOpen ? executable.unknownOutputs.size() : 0);
  std::size_t workspaceBytes = executable.workspaceBytes;
  if (code.sizes) {
    frame.input_sizes = code.sizes->inputs.data();
    workspaceBytes = code.sizes->workspaceBytes;
  } else if (isOpen) {
    for (std::size_t i = 0; i < inputSizes.size(); ++i) {
      const UnknownSize &unknown = executable.unknownInputs[i];
      const Tensor &parameter = *parameters[unknown.index];
      inputSizes[i] = parameter.impl()->type->dims[unknown.dimension];
      // Code for an unknown size may load one element of an empty tensor, without using it.
      alignas(CALQUE_BUFFER_ALIGNMENT) static char nothing[CALQUE_BUFFER_ALIGNMENT];
      if (inputSizes[i] == 0)
        inputs[unknown.index] = nothing;
    }
    frame.input_sizes = inputSizes.data();
    frame.output_sizes = outputSizes.data();
    if (executable.plan.computeShapes(frame))
      throwSite(code, frame.error, caller);
    workspaceBytes = static_cast<std::size_t>(frame.workspace_bytes);
  }
  absl::FixedArray<TypeRef, 8> actual(outputSizes.size() ? outputs.size() : 0);
  for (std::size_t i = 0; i < outputSizes.size();) {
    std::size_t output = executable.unknownOutputs[i].index;
    const schema::TensorType &type = *typeOfOutput(code, output);
    absl::FixedArray<std::int64_t, 8> dims(type.dims.size());
    std::copy(type.dims.begin(), type.dims.end(), dims.data());
    for (; i < outputSizes.size() && executable.unknownOutputs[i].index == output; ++i)
      dims[executable.unknownOutputs[i].dimension] = outputSizes[i];
    actual[output] = sharedType(type.dtype, dims);
  }
  auto typeOf = [&](std::size_t output) -> const TypeRef & {
    return actual.size() && actual[output] ? actual[output] : typeOfOutput(code, output);
  };
  const std::size_t numResults = code.results.size();
  runtime::Stacks stacks; // which late outputs are on, too
  if (code.loopMemory) {
    stacks.limit = code.loopMemory->limit();
    stacks.mayGoOn = &host.isHeard;
  }
  const std::size_t limit = stacks.limit;
  absl::FixedArray<double, 4> late(executable.late.size());
  if (code.loopMemory || !executable.late.empty())
    frame.stacks = &stacks;
  for (std::size_t i = 0; i < late.size(); ++i)
    outputs[executable.late[i]] = &late[i];
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (std::ranges::binary_search(executable.late, i))
      continue;
    else if (i < numResults || !std::ranges::binary_search(executable.inPlace, i - numResults)) {
      buffers[i] = allocate(*typeOf(i), caller.where, whose(caller));
      outputs[i] = buffers[i].data();
    }
  runtime::Buffer workspace;
  if (workspaceBytes)
    workspace = workspaceOf(workspaceBytes, caller);
  frame.workspace = workspace.data();

  VariableLocks locks(variables, executable.assigned, caller.where);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    inputs[parameters.size() + i] = implOf(variables[i]->value).buffer.data();
    if (seen)
      seen->push_back(variables[i]->value);
  }
  for (std::size_t each : executable.inPlace) {
    std::size_t variable = executable.assigned[each];
    buffers[numResults + each] = writableValue(*variables[variable], caller.where);
    inputs[parameters.size() + variable] = buffers[numResults + each].data();
  }
  // Everything is made before the program runs, so that running out of memory changes no variable.
  absl::FixedArray<Tensor, 8> made(outputs.size());
  for (std::size_t i = 0; i < made.size(); ++i)
    if (!std::ranges::binary_search(executable.late, i))
      made[i] = makeEager(typeOf(i), std::move(buffers[i]), i < numResults ? caller.where : SourceLocation());
  if (runPlan(executable, frame, caller)) {
    if (code.hasBegun)
      failOrdered(code, caller);
    if (host.thrown)
      std::rethrow_exception(host.thrown);
    if (stacks.isPassed && !host.isHeard)
      throwPassed(executable, frame.error, stacks, caller);
    throwSite(code, frame.error, caller, host.isHeard, host.failedElements);
  }

  for (std::size_t i = 0; i < late.size(); ++i) {
    const std::size_t output = executable.late[i];
    made[output] = lateTensor(*typeOfOutput(code, output), runtime::entryOf(late[i]), caller);
  }
  std::move(made.begin(), made.begin() + numResults, results.begin());
  for (std::size_t i = 0; i < executable.assigned.size(); ++i)
    variables[executable.assigned[i]]->value = std::move(made[numResults + i]);
  if (stacks.isPassed)
    code.loopMemory->notePassed(limit, caller);
}
} // namespace

void run(const Code &code, std::span<const Tensor *const> parameters, std::span<VariableState *const> variables,
         std::span<Tensor> results, const Caller &caller, std::vector<Tensor> *seen) {
  for (const Code *now = &code;;) {
    for (const Code *next = now; next; next = now->loopMemory ? now->loopMemory->next() : nullptr)
      now = next;
    try {
      runOnce(*now, parameters, variables, results, caller, seen);
      return;
    } catch (const LoopMemoryPassed &passed) {
      if (seen)
        seen->clear();
      now->loopMemory->afterPassed(*now, passed, caller);
    } catch (SizesDisagree &refusal) {
      refusal.code = &code;
      throw;
    }
  }
}

} // namespace calque::detail
