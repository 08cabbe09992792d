#include "frontend/compiled/Execute.h"
#include "frontend/core/Numerics.h"

#include "absl/container/fixed_array.h"
#include "absl/strings/str_cat.h"
#include "frontend/core/Apply.h"
#include "frontend/core/Signature.h"
#include "frontend/native/Following.h"
#include "frontend/operations/UserOperations.h"
#include "program/SiteText.h"
#include "runtime/Fork.h"
#include "runtime/Print.h"
#include "runtime/Stacks.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iostream>
#include <mutex>

namespace calque::detail {

namespace {

// The locks of a call's variables, taken in the order of their addresses: exclusive for assigned variables, else
// shared. A host call must not lock one of them again, so each thread notes which locks its calls in progress hold.
class VariableLocks {
public:
  VariableLocks(std::span<VariableState *const> variables, const std::vector<std::size_t> &assigned,
                SourceLocation where)
      : entries(variables.size()), outer(held) {
    if (outer) [[unlikely]]
      for (VariableState *variable : variables)
        refuseHeld(*variable, where);
    for (std::size_t i = 0; i < variables.size(); ++i)
      entries[i] = {variables[i], std::binary_search(assigned.begin(), assigned.end(), i)};
    std::sort(entries.data(), entries.data() + entries.size(),
              [](const Entry &a, const Entry &b) { return std::less<>()(a.variable, b.variable); });
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i].exclusive ? entries[i].variable->mutex.lock() : entries[i].variable->mutex.lock_shared();
    held = this;
  }
  ~VariableLocks() {
    held = outer;
    for (std::size_t i = entries.size(); i-- > 0;)
      entries[i].exclusive ? entries[i].variable->mutex.unlock() : entries[i].variable->mutex.unlock_shared();
  }
  VariableLocks(const VariableLocks &) = delete;
  VariableLocks &operator=(const VariableLocks &) = delete;

  static bool holds(const VariableState &variable) {
    for (VariableLocks *locks = held; locks; locks = locks->outer)
      for (std::size_t i = 0; i < locks->entries.size(); ++i)
        if (locks->entries[i].variable == &variable)
          return true;
    return false;
  }

private:
  struct Entry {
    VariableState *variable = nullptr;
    bool exclusive = false;
  };
  absl::FixedArray<Entry, 8> entries;
  VariableLocks *outer;
  static inline constinit thread_local VariableLocks *held = nullptr;
};

// What a failing site is called, and its line.
struct Failure {
  std::string operation, index;
  SourceLocation where;
};
Failure failureAt(const Site &site, const Caller &caller) {
  Failure failure{site.operation, "index", locationOf(site.line)};
  auto take = [&](schema::OpId op, const schema::SourceLine &line) {
    failure.operation = nameInMessages(op, line);
    failure.index = line.index ? line.index : "index";
    failure.where = locationOf(line);
  };
  if (caller.operation)
    take(caller.op, *caller.operation);
  else if (const schema::RecordedOp *op = caller.recording ? caller.recording->operationAt(site.recorded) : nullptr)
    take(op->op, op->line);
  if (!failure.where.line || isInStandardLibrary(failure.where))
    failure.where = caller.where;
  return failure;
}

// Serves native code: writes prints to standard output, a line at a time, and runs host calls.
struct Host : runtime::HostCallbacks {
  Host(const Code &code, const Caller &caller)
      : HostCallbacks{&write, &callHost}, code(code), executable(*code.executable), caller(caller) {}
  // Keeps an exception until native code has returned, since it can't unwind.
  static bool callHost(void *self, std::int32_t site, bool failed, const std::int64_t *words,
                       std::size_t numAddresses) {
    Host &host = *static_cast<Host *>(self);
    const Site &at = host.executable.sites[static_cast<std::size_t>(site)];
    std::vector<void *> addresses(numAddresses);
    for (std::size_t i = 0; i < numAddresses; ++i)
      addresses[i] = reinterpret_cast<void *>(words[i]);
    const std::int64_t *sizes = words + numAddresses;
    if (at.kind == Site::Kind::Extern)
      return host.callUser(at, failed, addresses, sizes);
    const HostFunction &function = *host.code.hostFunctions[static_cast<std::size_t>(at.callee)];
    try {
      if (!failed) {
        host.isHeard = true;
        KeptScope scope(host.kept);
        function.run(addresses, sizes);
        return true;
      }
    } catch (...) {
      host.thrown = std::current_exception();
    }
    function.clearResults(addresses);
    return false;
  }
  const std::string &textOf(const Site &site) const { return caller.text ? *caller.text : site.text; }
  // Runs the kernel of a user's operation.
  bool callUser(const Site &at, bool failed, std::span<void *const> addresses, const std::int64_t *sizes) {
    std::vector<schema::TensorType> types = at.types;
    for (std::size_t i = 0; i < at.numInputs; ++i)
      for (std::int64_t &size : types[i].dims)
        size = *sizes++;
    try {
      if (!failed) {
        std::shared_ptr<const OperationDefinition> definition = findUserOperation(textOf(at));
        if (std::int32_t result = runUserOperation(*definition, types, at.numInputs, addresses))
          throw ValueError(absl::StrCat(textOf(at), ": its kernel fails with ", result), failureAt(at, caller).where);
        return true;
      }
    } catch (...) {
      thrown = std::current_exception();
    }
    for (std::size_t i = at.numInputs; i < types.size(); ++i)
      if (std::size_t bytes = types[i].numBytes())
        std::memset(addresses[i], 0, bytes);
    return false;
  }
  static void write(void *self, std::int32_t site, std::int32_t dtype, std::int32_t rank, const std::int64_t *dims,
                    const void *data) {
    try {
      Host &host = *static_cast<Host *>(self);
      host.isHeard = true;
      const std::string &text = host.textOf(host.executable.sites.at(static_cast<std::size_t>(site)));
      std::optional<std::string> line = host.line.add(text, dtype, {dims, static_cast<std::size_t>(rank)}, data);
      if (!line)
        return;
      static runtime::ForkMutex mutex;
      std::lock_guard lock(mutex);
      std::cout << *line + "\n" << std::flush;
    } catch (...) { // a stream that throws must not end the process
    }
  }
  const Code &code;
  const Executable &executable;
  const Caller &caller;
  KeptByCall kept;
  std::exception_ptr thrown;
  runtime::PrintedLine line;
  bool isHeard = false; // it has printed, or called the host: others than the caller notice the call
};

// "argument 1 'x'", or what else the code takes: a captured tensor, or a variable.
std::string nameOfInput(std::size_t input, const Caller &caller) {
  if (!caller.signature) // of one operation
    return absl::StrCat("operand ", input);
  std::size_t numParameters = caller.recording->parameters.size();
  if (input >= numParameters)
    return absl::StrCat("variable '", caller.recording->variables[input - numParameters].name, "'");
  std::string path = caller.signature->tensorPath(input);
  return path.empty() ? "a captured tensor" : path;
}

InputNames inputNames(const Caller &caller) {
  return [&caller](std::size_t input) { return nameOfInput(input, caller); };
}

// The check, recorded by an assignment, of whether a value with open sizes fits the variable; null for other sites.
const schema::RecordedOp *assignmentCheckAt(const Site &site, const Caller &caller) {
  const schema::RecordedOp *op = caller.recording ? caller.recording->operationAt(site.recorded) : nullptr;
  return op && op->line.function == kAssignment ? op : nullptr;
}

// Whether the site checks that a loop of C++ code has not gone on too far.
bool isFollowedCheckAt(const Site &site, const Caller &caller) {
  const schema::RecordedOp *op = caller.recording ? caller.recording->operationAt(site.recorded) : nullptr;
  return op && op->line.function == kFollowedCheck;
}

// The variable that is assigned what the check gives.
const schema::RecordedVariable &assignedTo(const schema::Recording &recording, const schema::RecordedOp &check,
                                           SourceLocation where) {
  for (const schema::RecordedOp &op : recording.ops())
    if (op.op == schema::OpId::VariableAssign && recording.operandsOf(op)[0] == check.firstResult)
      return recording.variables[static_cast<std::size_t>(std::get<std::int64_t>(recording.attributesOf(op)[0]))];
  throw InternalError("an assignment's check of sizes has no assignment", where);
}

// `failedElements` are those of an assertion.
[[noreturn]] void throwSite(const Code &code, const CalqueErrorSlot &slot, const Caller &caller, bool isHeard = false,
                            const std::string &failedElements = {}) {
  const Executable &executable = *code.executable;
  if (slot.site < 0 || static_cast<std::size_t>(slot.site) >= executable.sites.size())
    throw InternalError("native code failed at a site that it does not have", caller.where);
  const Site &site = executable.sites[static_cast<std::size_t>(slot.site)];
  Failure failure = failureAt(site, caller);
  SourceLocation where = failure.where;
  const std::string *text = caller.text;
  switch (site.kind) {
  case Site::Kind::IndexOutOfRange:
    throw IndexError(absl::StrCat(failure.operation, ": ", failure.index, " ", describeIndex(site, slot.values)),
                     where);
  case Site::Kind::DivisionByZero:
    throw DivisionError(absl::StrCat(failure.operation, ": an integer is divided by zero"), where);
  case Site::Kind::AssertionFailed:
    if (isFollowedCheckAt(site, caller))
      throw LoopTooFar(site.text, where, !isHeard);
    throw AssertionError(absl::StrCat(text ? *text : site.text, failedElements), where);
  case Site::Kind::NotFinite:
    throwNotFinite(failure.operation, failedElements, where);
  case Site::Kind::SizesDiffer:
  case Site::Kind::SizeTooSmall:
  case Site::Kind::SizeNotDivisible:
    if (const schema::RecordedOp *check = assignmentCheckAt(site, caller)) {
      const auto &ops = caller.recording->ops();
      // A branch or a loop only gives what is assigned.
      if (std::ranges::none_of(ops, [&](const schema::RecordedOp &op) { return &op == check; }))
        throw SizesDisagree(absl::StrCat("a variable can't be assigned a value of other sizes in a branch or a loop: ",
                                         describeSize(site.sizes[0], slot.values[0], "the value", inputNames(caller)),
                                         ", and it must be ", slot.values[1]),
                            where, &code);
      const schema::RecordedVariable &variable = assignedTo(*caller.recording, *check, where);
      const schema::TensorType &given = caller.recording->typeOf(caller.recording->operandsOf(*check)[0]);
      std::string size = describeSize(site.sizes[0], slot.values[0], "the value", inputNames(caller));
      throw SizesDisagree(absl::StrCat("variable '", variable.name, "' is ", variable.type.str(),
                                       " and can't be assigned ", given.str(), ": ", size, ", and it must be ",
                                       slot.values[1]),
                          where, &code);
    }
    throw SizesDisagree(absl::StrCat(failure.operation, ": ", describeSizes(site, slot.values, inputNames(caller))),
                        where, &code);
  case Site::Kind::TooManyBytes:
    throw ShapeError(
        absl::StrCat(site.text, " has more bytes than can be addressed with the sizes of this call's arguments"),
        where);
  case Site::Kind::OutOfMemory:
    throw MemoryError(absl::StrCat(failure.operation, ": there is no memory for a gradient after ", slot.values[0],
                                   " iterations, of each of which it keeps ", slot.values[1], " bytes, ",
                                   slot.values[0] * slot.values[1],
                                   " in all; with the option checkpoint = true a loop keeps few of them"),
                      where);
  case Site::Kind::Print:
  case Site::Kind::HostCall:
  case Site::Kind::Extern:
    break;
  }
  throw InternalError("native code failed at a site that can't fail", where);
}

// The type of an output; outputs are the results, then the new values of assigned variables.
const TypeRef &typeOfOutput(const Code &code, std::size_t output) {
  std::size_t numResults = code.results.size();
  return output < numResults ? code.results[output] : code.variables[code.executable->assigned[output - numResults]];
}

// What the text of a MemoryError begins with.
std::string whose(const Caller &caller) {
  return caller.operation ? std::string(nameInMessages(caller.op, *caller.operation)) + ": " : "";
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

// A copy of an output whose sizes the program has found.
Tensor lateTensor(const schema::TensorType &type, const runtime::Entry *entry, const Caller &caller) {
  const runtime::EntrySizes &sizes = runtime::EntrySizes::of(entry);
  TypeRef actual = sharedType(type.dtype, {sizes.sizes(), static_cast<std::size_t>(sizes.rank)});
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

void refuseHeld(const VariableState &variable, SourceLocation where) {
  if (VariableLocks::holds(variable))
    throw StateError(absl::StrCat("variable '", variable.name,
                                  "' is touched by a host call of a function that holds it; pass its value as an input "
                                  "of the host call, and assign what that gives"),
                     where);
}

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

void run(const Code &code, std::span<const Tensor *const> parameters, std::span<VariableState *const> variables,
         std::span<Tensor> results, const Caller &caller, std::vector<Tensor> *seen) {
  const Executable &executable = *code.executable;
  absl::FixedArray<void *, 16> inputs(parameters.size() + variables.size());
  absl::FixedArray<void *, 16> outputs(code.results.size() + executable.assigned.size());
  absl::FixedArray<runtime::Buffer, 8> buffers(outputs.size());

  for (std::size_t i = 0; i < parameters.size(); ++i)
    inputs[i] = parameters[i]->impl()->buffer.data();

  Host host(code, caller);
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
  runtime::Stacks stacks; // which late outputs are on
  absl::FixedArray<double, 4> late(executable.late.size());
  if (!executable.late.empty())
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
    if (host.thrown)
      std::rethrow_exception(host.thrown);
    throwSite(code, frame.error, caller, host.isHeard, host.failedElements);
  }

  for (std::size_t i = 0; i < late.size(); ++i) {
    const std::size_t output = executable.late[i];
    made[output] = lateTensor(*typeOfOutput(code, output), runtime::entryOf(late[i]), caller);
  }
  std::move(made.begin(), made.begin() + numResults, results.begin());
  for (std::size_t i = 0; i < executable.assigned.size(); ++i)
    variables[executable.assigned[i]]->value = std::move(made[numResults + i]);
}

} // namespace calque::detail
