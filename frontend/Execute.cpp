#include "frontend/Execute.h"

#include "absl/strings/str_cat.h"
#include "calque/export.h"
#include "frontend/Apply.h"
#include "frontend/CompilationCount.h"
#include "frontend/Dump.h"
#include "frontend/Movement.h"
#include "frontend/OwnStack.h"
#include "frontend/StackArray.h"
#include "frontend/Tape.h"
#include "frontend/UserOperations.h"
#include "runtime/Print.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <iostream>
#include <mutex>
#include <unordered_map>

namespace calque::detail {

using schema::ValueId;

//===-- The compiler's library ------------------------------------------------------------------===//

namespace {
constexpr const char *kCompilerLibrary = "libcalque-compiler.so";

Compiler *loadCompiler() {
  std::string path = kCompilerLibrary;
  void *library = nullptr;
  if (const char *override = std::getenv("CALQUE_COMPILER_LIBRARY")) {
    path = override;
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  } else {
    Dl_info here;
    if (dladdr(reinterpret_cast<void *>(&loadCompiler), &here) && here.dli_fname) {
      std::string beside = here.dli_fname;
      std::size_t slash = beside.rfind('/');
      if (slash != std::string::npos)
        library = dlopen((beside.substr(0, slash + 1) + kCompilerLibrary).c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    if (!library)
      library = dlopen(kCompilerLibrary, RTLD_NOW | RTLD_LOCAL);
  }
  if (!library)
    throw CompileError(absl::StrCat("the compiler's library can't be loaded: ", dlerror(),
                                    "; it belongs beside libcalque.so, or CALQUE_COMPILER_LIBRARY says where it is"));
  auto factory = reinterpret_cast<CompilerFactory>(dlsym(library, "calque_compiler"));
  if (!factory)
    throw CompileError(absl::StrCat(path, " is not Calque's compiler: it has no symbol calque_compiler"));
  Compiler *compiler = factory(kCompilerInterfaceVersion, calque_rt_functions());
  if (!compiler)
    throw CompileError(absl::StrCat(path, " is of another version than libcalque, which needs interface version ",
                                    kCompilerInterfaceVersion));
  return compiler;
}
} // namespace

namespace {
// Compiles on a stack that is deep enough, whatever the caller's is.
class CompilerOnOwnStack : public Compiler {
public:
  CompilerOnOwnStack() {
    onOwnStack([&] { loaded = loadCompiler(); });
    loaded->setExternRules(&userOperationRules());
  }
  void setExternRules(schema::ExternRules *rules) override { loaded->setExternRules(rules); }
  CompileResult compile(const schema::Recording &recording, CompileOptions options) override {
    CompileResult result;
    onOwnStack([&] { result = loaded->compile(recording, options); });
    return result;
  }
  std::vector<bool> connected(const schema::Recording &recording) override {
    std::vector<bool> result;
    onOwnStack([&] { result = loaded->connected(recording); });
    return result;
  }
  PrintResult print(const schema::Recording &recording, Stage stage, CompileOptions options) override {
    PrintResult result;
    onOwnStack([&] { result = loaded->print(recording, stage, options); });
    return result;
  }

private:
  Compiler *loaded = nullptr;
};
} // namespace

Compiler &compiler() {
  static auto *compiler = new CompilerOnOwnStack; // a failure is tried again; never destroyed
  return *compiler;
}

namespace {
bool optimizeByEnvironment() {
  const char *setting = std::getenv("CALQUE_OPTIMIZE");
  std::string_view text = setting ? setting : "";
  if (text != "" && text != "0" && text != "1")
    throw ValueError(absl::StrCat("CALQUE_OPTIMIZE is '", setting, "' and must be 0 or 1"));
  return text != "0";
}
thread_local std::optional<bool> optimizing;
} // namespace

CompileOptions compileOptions() {
  static const bool byEnvironment = optimizeByEnvironment(); // a failure is tried again
  return {optimizing.value_or(byEnvironment)};
}
void setOptimizing(bool optimize) { optimizing = optimize; }

namespace {
std::atomic<std::uint64_t> compilations{0};
}
std::uint64_t compilationCount() { return compilations.load(); }

std::unique_ptr<const Code> compileRecording(const schema::Recording &recording,
                                             std::vector<std::shared_ptr<const HostFunction>> hostFunctions,
                                             SourceLocation where) {
  compilations.fetch_add(1);
  CompileResult compiled = compiler().compile(recording, compileOptions());
  if (!compiled.executable) {
    SourceLocation line = locationOf(compiled.line);
    throw CompileError(compiled.error.empty() ? "the compiler gave no reason" : compiled.error,
                       line.line && !isInStandardLibrary(line) ? line : where);
  }
  auto code = std::make_unique<Code>();
  code->hostFunctions = std::move(hostFunctions);
  code->executable = std::move(compiled.executable);
  for (ValueId value : recording.results)
    code->results.push_back(std::make_shared<const schema::TensorType>(recording.typeOf(value)));
  for (const schema::RecordedVariable &variable : recording.variables)
    code->variables.push_back(std::make_shared<const schema::TensorType>(variable.type));
  return code;
}

//===-- Running ---------------------------------------------------------------------------------===//

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
  StackArray<Entry, 8> entries;
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
      : HostCallbacks{&write, &addAddress, &addSize, &callHost}, code(code), executable(*code.executable),
        caller(caller) {}
  static void addAddress(void *self, void *data) { static_cast<Host *>(self)->addresses.push_back(data); }
  static void addSize(void *self, std::int64_t size) { static_cast<Host *>(self)->sizes.push_back(size); }
  // Keeps an exception until native code has returned, since it can't unwind.
  static bool callHost(void *self, std::int32_t site, bool failed) {
    Host &host = *static_cast<Host *>(self);
    const Site &at = host.executable.sites[static_cast<std::size_t>(site)];
    if (at.kind == Site::Kind::Extern)
      return host.callUser(at, failed);
    const HostFunction &function = *host.code.hostFunctions[static_cast<std::size_t>(at.callee)];
    std::vector<void *> addresses = std::exchange(host.addresses, {});
    std::vector<std::int64_t> sizes = std::exchange(host.sizes, {});
    try {
      if (!failed) {
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
  bool callUser(const Site &at, bool failed) {
    std::vector<void *> operands = std::exchange(addresses, {});
    std::vector<std::int64_t> given = std::exchange(sizes, {});
    std::vector<schema::TensorType> types = at.types;
    for (std::size_t i = 0, next = 0; i < at.numInputs; ++i)
      for (std::int64_t &size : types[i].dims)
        size = given[next++];
    try {
      if (!failed) {
        std::shared_ptr<const OperationDefinition> definition = findUserOperation(textOf(at));
        if (std::int32_t result = runUserOperation(*definition, types, at.numInputs, operands))
          throw ValueError(absl::StrCat(textOf(at), ": its kernel fails with ", result), failureAt(at, caller).where);
        return true;
      }
    } catch (...) {
      thrown = std::current_exception();
    }
    for (std::size_t i = at.numInputs; i < types.size(); ++i)
      if (std::size_t bytes = types[i].numBytes())
        std::memset(operands[i], 0, bytes);
    return false;
  }
  static void write(void *self, std::int32_t site, std::int32_t dtype, std::int32_t rank, const std::int64_t *dims,
                    const void *data) {
    try {
      const Host &host = *static_cast<Host *>(self);
      const std::string &text = host.textOf(host.executable.sites.at(static_cast<std::size_t>(site)));
      std::string line = text.empty() ? "" : absl::StrCat(text, " ");
      absl::StrAppend(&line, runtime::formatTensor(dtype, {dims, static_cast<std::size_t>(rank)}, data), "\n");
      static std::mutex mutex;
      std::lock_guard lock(mutex);
      std::cout << line << std::flush;
    } catch (...) { // a stream that throws must not end the process
    }
  }
  const Code &code;
  const Executable &executable;
  const Caller &caller;
  std::vector<void *> addresses;
  std::vector<std::int64_t> sizes;
  std::exception_ptr thrown;
};

// "dimension 0 of argument 0 is 3 and dimension 0 of argument 1 is 4, and they must be equal"
std::string describeSizes(const Site &site, const std::int64_t *values) {
  auto described = [&](int which) {
    const Site::Size &size = site.sizes[which];
    std::string whose =
        size.argument >= 0 ? absl::StrCat("argument ", size.argument) : absl::StrCat("operand ", size.operand);
    std::string what =
        size.dimension >= 0 ? absl::StrCat("dimension ", size.dimension, " of ") : "the number of elements of ";
    return absl::StrCat(what, whose, " is ", values[which]);
  };
  auto isNamed = [&](int which) { return site.sizes[which].argument >= 0 || site.sizes[which].operand >= 0; };
  int first = isNamed(0) ? 0 : 1, second = 1 - first;
  if (site.kind == Site::Kind::SizeTooSmall)
    return absl::StrCat(described(first), ", and it must be at least ", values[second]);
  if (!isNamed(second))
    return absl::StrCat(described(first), ", and it must be ", values[second]);
  return absl::StrCat(described(first), " and ", described(second), ", and they must be equal");
}

[[noreturn]] void throwSite(const Code &code, const CalqueErrorSlot &slot, const Caller &caller) {
  const Executable &executable = *code.executable;
  if (slot.site < 0 || static_cast<std::size_t>(slot.site) >= executable.sites.size())
    throw InternalError("native code failed at a site that it does not have", caller.where);
  const Site &site = executable.sites[static_cast<std::size_t>(slot.site)];
  Failure failure = failureAt(site, caller);
  SourceLocation where = failure.where;
  const std::string *text = caller.text;
  switch (site.kind) {
  case Site::Kind::IndexOutOfRange: {
    std::int64_t index = slot.values[0], bound = slot.values[1];
    for (std::int64_t examples : site.examples) {
      index -= index < 0 ? 0 : bound;
      bound /= examples;
    }
    throw IndexError(
        absl::StrCat(failure.operation, ": ", failure.index, " ", index, " is out of range [0, ", bound, ")"), where);
  }
  case Site::Kind::DivisionByZero:
    throw DivisionError(absl::StrCat(failure.operation, ": an integer is divided by zero"), where);
  case Site::Kind::AssertionFailed:
    throw AssertionError(text ? *text : site.text, where);
  case Site::Kind::SizesDiffer:
  case Site::Kind::SizeTooSmall:
    throw SizesDisagree(absl::StrCat(failure.operation, ": ", describeSizes(site, slot.values)), where, &code);
  case Site::Kind::TooManyBytes:
    throw ShapeError(
        absl::StrCat(site.text, " has more bytes than can be addressed with the sizes of this call's arguments"),
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

} // namespace

void refuseHeld(const VariableState &variable, SourceLocation where) {
  if (VariableLocks::holds(variable))
    throw StateError(absl::StrCat("variable '", variable.name,
                                  "' is touched by a host call of a function that holds it; pass its value as an input "
                                  "of the host call, and assign what that gives"),
                     where);
}

void run(const Code &code, std::span<const Tensor *const> parameters, std::span<VariableState *const> variables,
         std::span<Tensor> results, const Caller &caller, std::vector<Tensor> *seen) {
  const Executable &executable = *code.executable;
  StackArray<void *, 16> inputs(parameters.size() + variables.size());
  StackArray<void *, 16> outputs(code.results.size() + executable.assigned.size());
  StackArray<runtime::Buffer, 8> buffers(outputs.size());

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
  StackArray<std::int64_t, 8> inputSizes(executable.unknownInputs.size()),
      outputSizes(executable.unknownOutputs.size());
  std::size_t workspaceBytes = executable.workspaceBytes;
  if (executable.shapes) {
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
    if (executable.shapes(&frame))
      throwSite(code, frame.error, caller);
    workspaceBytes = static_cast<std::size_t>(frame.workspace_bytes);
  }
  StackArray<TypeRef, 8> actual(outputSizes.size() ? outputs.size() : 0);
  for (std::size_t i = 0; i < outputSizes.size();) {
    std::size_t output = executable.unknownOutputs[i].index;
    const schema::TensorType &type = *typeOfOutput(code, output);
    StackArray<std::int64_t, 8> dims(type.dims.size());
    std::copy(type.dims.begin(), type.dims.end(), dims.data());
    for (; i < outputSizes.size() && executable.unknownOutputs[i].index == output; ++i)
      dims[executable.unknownOutputs[i].dimension] = outputSizes[i];
    actual[output] = sharedType(type.dtype, dims);
  }
  auto typeOf = [&](std::size_t output) -> const TypeRef & {
    return actual.size() && actual[output] ? actual[output] : typeOfOutput(code, output);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    buffers[i] = runtime::Buffer::allocate(typeOf(i)->numBytes());
    outputs[i] = buffers[i].data();
  }
  runtime::Buffer workspace;
  if (workspaceBytes)
    workspace = runtime::Buffer::allocate(workspaceBytes); // from the runtime's pool
  frame.workspace = workspace.data();

  VariableLocks locks(variables, executable.assigned, caller.where);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    inputs[parameters.size() + i] = implOf(variables[i]->value).buffer.data();
    if (seen)
      seen->push_back(variables[i]->value);
  }
  if (executable.entry(&frame)) {
    if (host.thrown)
      std::rethrow_exception(host.thrown);
    throwSite(code, frame.error, caller);
  }

  for (std::size_t i = 0; i < results.size(); ++i)
    results[i] = makeEager(typeOf(i), std::move(buffers[i]), caller.where);
  // All new values are made before the first one is assigned, so that running out of memory changes no variable.
  StackArray<Tensor, 8> fresh(executable.assigned.size());
  for (std::size_t i = 0; i < fresh.size(); ++i)
    fresh[i] = makeEager(typeOf(code.results.size() + i), std::move(buffers[code.results.size() + i]));
  for (std::size_t i = 0; i < fresh.size(); ++i)
    variables[executable.assigned[i]]->value = std::move(fresh[i]);
}

//===-- Slices ----------------------------------------------------------------------------------===//

Slice sliceOf(const schema::Recording &recording, std::span<const ValueId> results, std::span<const ValueId> inputs) {
  std::vector<bool> needed(recording.numValues()), isInput(recording.numValues());
  for (ValueId value : inputs)
    isInput[value] = true;
  for (ValueId value : results)
    needed[value] = true;
  std::span<const schema::RecordedOp> ops = recording.ops();
  std::vector<bool> kept(ops.size());
  for (std::size_t i = ops.size(); i-- > 0;) {
    for (std::uint32_t r = 0; r < ops[i].numResults; ++r)
      if (ValueId value = ops[i].firstResult + static_cast<ValueId>(r); needed[value] && !isInput[value])
        kept[i] = true;
    if (kept[i])
      for (ValueId operand : recording.operandsOf(ops[i]))
        needed[operand] = true;
  }

  Slice slice;
  slice.recording.name = recording.name;
  slice.recording.line = recording.line;
  std::vector<ValueId> renamed(recording.numValues(), -1);
  for (std::size_t i = 0; i < recording.parameters.size(); ++i) {
    ValueId parameter = recording.parameters[i];
    if (!needed[parameter])
      continue;
    renamed[parameter] = slice.recording.addParameter(recording.typeOf(parameter));
    slice.parameters.push_back(i);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (needed[inputs[i]]) {
      renamed[inputs[i]] = slice.recording.addParameter(recording.typeOf(inputs[i]));
      slice.parameters.push_back(recording.parameters.size() + i);
    }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (!kept[i])
      continue;
    if (ops[i].op == schema::OpId::VariableRead)
      slice.reads.push_back(ops[i].firstResult);
    slice.recording.appendCopy(recording, ops[i], renamed);
  }
  for (ValueId result : results)
    slice.recording.results.push_back(renamed[result]);
  return slice;
}

namespace {
void appendBytes(Key &key, const void *data, std::size_t count) {
  key.push_back(count);
  std::size_t first = key.size();
  key.resize(first + (count + 7) / 8, 0);
  if (count)
    std::memcpy(key.data() + first, data, count);
}

// The structure of a recording as a key: everything but names and lines.
Key keyOf(const schema::Recording &recording) {
  Key key;
  key.push_back(recording.parameters.size());
  for (ValueId parameter : recording.parameters)
    appendKey(key, recording.typeOf(parameter));
  for (const schema::RecordedOp &op : recording.ops()) {
    key.push_back(static_cast<std::uint64_t>(op.op) << 48 | static_cast<std::uint64_t>(op.numOperands) << 16 |
                  op.numResults);
    for (ValueId operand : recording.operandsOf(op))
      key.push_back(static_cast<std::uint64_t>(operand));
    for (const schema::Attribute &attribute : recording.attributesOf(op))
      appendKey(key, attribute);
    for (std::uint32_t r = 0; r < op.numResults; ++r)
      appendKey(key, recording.typeOf(op.firstResult + static_cast<ValueId>(r)));
  }
  key.push_back(recording.results.size());
  for (ValueId result : recording.results)
    key.push_back(static_cast<std::uint64_t>(result));
  return key;
}

struct SliceEntry : KeyEntry {
  std::unique_ptr<const Code> code;
};
struct SliceCache {
  KeyTable<SliceEntry> table{kMostCachedOperations};
  std::mutex mutex;
  // How many programs with positions in their code share an indexed form, by the form's hash. Guarded by the mutex.
  std::unordered_map<std::size_t, int> versions;
};
// The most programs that are compiled for their own positions, which makes faster code, before those that differ only
// in positions share the code of their indexed form.
constexpr int kMostVersions = 2;
SliceCache &sliceCache() {
  static auto *cache = new SliceCache; // never destroyed: other threads may still run
  return *cache;
}
} // namespace

void appendKey(Key &key, const schema::TensorType &type) {
  key.push_back(static_cast<std::uint64_t>(type.dtype) << 32 | type.dims.size());
  for (std::int64_t dim : type.dims)
    key.push_back(static_cast<std::uint64_t>(dim));
}

void appendKey(Key &key, const schema::Attribute &attribute) {
  key.push_back(attribute.index());
  struct Visitor {
    Key &key;
    void operator()(bool value) const { key.push_back(value); }
    void operator()(std::int64_t value) const { key.push_back(static_cast<std::uint64_t>(value)); }
    void operator()(double value) const { key.push_back(std::bit_cast<std::uint64_t>(value)); }
    void operator()(const std::string &value) const { appendBytes(key, value.data(), value.size()); }
    void operator()(const std::vector<std::int64_t> &value) const {
      appendBytes(key, value.data(), value.size() * sizeof(std::int64_t));
    }
    void operator()(DType value) const { key.push_back(static_cast<std::uint64_t>(value)); }
    void operator()(const schema::RecordingRef &value) const {
      Key inner = keyOf(*value);
      appendBytes(key, inner.data(), inner.size() * sizeof(std::uint64_t));
    }
    void operator()(const schema::ConstantRef &value) const {
      appendKey(key, value->type);
      key.push_back(value->splat);
      appendBytes(key, value->bytes.data(), value->bytes.size());
    }
  };
  std::visit(Visitor{key}, attribute);
}

std::vector<bool> connectedResults(const schema::Recording &recording) {
  struct Entry : KeyEntry {
    std::vector<bool> connected;
  };
  struct Cache {
    KeyTable<Entry> table{kMostCachedOperations};
    std::mutex mutex;
  };
  static auto *cache = new Cache; // never destroyed: other threads may still run
  Key key = keyOf(recording);
  std::size_t hash = hashKey(key);
  ReadScope scope;
  if (Entry *entry = cache->table.find(hash, key))
    return entry->connected;
  auto fresh = std::make_shared<Entry>();
  fresh->connected = compiler().connected(recording);
  std::vector<bool> connected = fresh->connected;
  fresh->hash = hash;
  std::lock_guard lock(cache->mutex);
  if (Entry *entry = cache->table.find(hash, key))
    return entry->connected; // another thread was first
  fresh->key = std::move(key);
  cache->table.insert(std::move(fresh));
  return connected;
}

namespace {
// The code of a recording, and its operands after the recording's parameters.
struct StructuredCode {
  const Code &code;
  std::vector<Tensor> indices;
  std::optional<schema::Recording> indexed; // what the code is of, where it is not the recording itself
};

const Code &compileByKey(const schema::Recording &recording, Key key, std::size_t hash, SourceLocation where) {
  dump(recording, Dumped::Eager, where);
  auto fresh = std::make_shared<SliceEntry>();
  fresh->code = compileRecording(recording, {}, where);
  fresh->hash = hash;
  SliceCache &cache = sliceCache();
  std::lock_guard lock(cache.mutex);
  if (SliceEntry *entry = cache.table.find(hash, key))
    return *entry->code; // another thread was first
  fresh->key = std::move(key);
  return *cache.table.insert(std::move(fresh))->code;
}

// The code of a recording, cached by structure. Valid within the caller's ReadScope.
StructuredCode codeByStructure(const schema::Recording &recording, SourceLocation where) {
  SliceCache &cache = sliceCache();
  Key key = keyOf(recording);
  std::size_t hash = hashKey(key);
  if (SliceEntry *entry = cache.table.find(hash, key))
    return {*entry->code, {}, {}};
  IndexedRecording indexed = withIndices(recording);
  if (!indexed.indices.empty()) {
    Key form = keyOf(indexed.recording);
    std::size_t hashOfForm = hashKey(form);
    if (SliceEntry *entry = cache.table.find(hashOfForm, form))
      return {*entry->code, std::move(indexed.indices), std::move(indexed.recording)};
    bool varies;
    {
      std::lock_guard lock(cache.mutex);
      if (cache.versions.size() > kMostCachedOperations)
        cache.versions.clear();
      varies = ++cache.versions[hashOfForm] > kMostVersions;
    }
    if (varies) {
      const Code &code = compileByKey(indexed.recording, std::move(form), hashOfForm, where);
      return {code, std::move(indexed.indices), std::move(indexed.recording)};
    }
  }
  return {compileByKey(recording, std::move(key), hash, where), {}, {}};
}
} // namespace

std::vector<Tensor> runSlice(const Slice &slice, std::span<const Tensor> parameters, SourceLocation where) {
  ReadScope scope;
  StructuredCode structured = codeByStructure(slice.recording, where);
  std::vector<const Tensor *> inputs;
  for (std::size_t parameter : slice.parameters)
    inputs.push_back(&parameters[parameter]);
  for (const Tensor &indices : structured.indices)
    inputs.push_back(&indices);
  std::vector<Tensor> results(slice.recording.results.size());
  run(structured.code, inputs, {}, results, {where, structured.indexed ? &*structured.indexed : &slice.recording});
  return results;
}

std::vector<Tensor> runRecording(const schema::Recording &recording, std::span<const Tensor *const> parameters,
                                 const std::vector<std::shared_ptr<VariableState>> &variables,
                                 const std::vector<std::shared_ptr<const HostFunction>> &hostFunctions,
                                 SourceLocation where) {
  ReadScope scope;
  // Code names host calls by number, so recordings of equal structure may call different ones: these are not cached.
  std::unique_ptr<const Code> once =
      hostFunctions.empty() ? nullptr : compileRecording(recording, hostFunctions, where);
  StructuredCode structured = once ? StructuredCode{*once, {}, {}} : codeByStructure(recording, where);
  std::vector<const Tensor *> inputs(parameters.begin(), parameters.end());
  for (const Tensor &indices : structured.indices)
    inputs.push_back(&indices);
  std::vector<VariableState *> states;
  for (const std::shared_ptr<VariableState> &variable : variables)
    states.push_back(variable.get());
  std::vector<Tensor> results(recording.results.size()), before;
  bool seen = eagerTapesActive();
  run(structured.code, inputs, states, results, {where, structured.indexed ? &*structured.indexed : &recording},
      seen ? &before : nullptr);
  if (seen)
    recordCall(recording, parameters, variables, before, results);
  return results;
}

} // namespace calque::detail
