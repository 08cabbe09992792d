#include "calque/function.h"

#include "frontend/Dump.h"
#include "frontend/Execute.h"
#include "frontend/Tape.h"

#include <cctype>
#include <cstring>
#include <mutex>

namespace calque {
namespace {
std::atomic<bool> runEagerly{false};
}

bool executing_eagerly() { return detail::currentTrace() == nullptr; }
void config::run_functions_eagerly(bool enable) { runEagerly.store(enable, std::memory_order_relaxed); }
bool config::functions_run_eagerly() { return runEagerly.load(std::memory_order_relaxed); }

namespace detail {
namespace {
thread_local int depth = 0;
constexpr int kMostDepth = 200;
// Every word of a key that says what follows, so that no two argument lists have one key.
enum Tag : std::uint64_t { TensorTag = 1ULL << 56, VariableTag = 2ULL << 56, TextTag = 3ULL << 56 };
} // namespace

DepthGuard::DepthGuard() {
  if (depth == kMostDepth)
    throw RecursionError("functions call each other " + std::to_string(kMostDepth) +
                         " deep; a recursion that depends on tensors alone has no end while tracing");
  ++depth;
}
DepthGuard::~DepthGuard() { --depth; }

bool callsInline() { return currentTrace() != nullptr || runEagerly.load(std::memory_order_relaxed); }

//===-- Keys ------------------------------------------------------------------------------------===//

void Arguments::tensor(const Tensor &x) {
  const TensorImpl &impl = implOf(x);
  word(TensorTag | static_cast<std::uint64_t>(impl.type->dtype) << 32 | impl.type->dims.size());
  for (std::int64_t dim : impl.type->dims)
    word(static_cast<std::uint64_t>(dim));
  tensors_.push_back(&x);
}

void Arguments::variable(const Variable &x) {
  if (!x.state())
    throw StateError("an empty variable is an argument");
  // The first argument that is the same variable.
  std::size_t alias = 0;
  while (alias < variables_.size() && !variables_.data()[alias]->same_as(x))
    ++alias;
  const schema::TensorType &type = *x.state()->type;
  word(VariableTag | static_cast<std::uint64_t>(x.trainable()) << 40 | static_cast<std::uint64_t>(type.dtype) << 32 |
       type.dims.size());
  word(alias);
  for (std::int64_t dim : type.dims)
    word(static_cast<std::uint64_t>(dim));
  variables_.push_back(&x);
}

void Arguments::text(const std::string &text) {
  word(TextTag | text.size());
  for (std::size_t i = 0; i < text.size(); i += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + i, std::min<std::size_t>(8, text.size() - i));
    word(bytes);
  }
}

//===-- Concrete functions ----------------------------------------------------------------------===//

namespace {

// Where a trace's variable comes from in a call: an argument, or captured.
struct BoundVariable {
  std::ptrdiff_t argument = -1;
  std::shared_ptr<VariableState> captured;
};

struct ConcreteFunction {
  Key key;
  std::size_t hash = 0;
  schema::Recording recording;
  std::vector<Tensor> captures;
  std::vector<BoundVariable> variables;
  // Of arguments that the lambda captures too: the trace serves calls with that very variable only.
  std::vector<std::pair<std::size_t, std::shared_ptr<VariableState>>> identical;
  std::shared_ptr<const void> prototype;
  std::unique_ptr<const Code> compiled;
  std::atomic<const Code *> code{nullptr}; // `compiled`, once it is there

  // Whether the arguments and what is captured are the same variables as when it was traced.
  bool accepts(const Arguments &arguments) const {
    std::span<const Variable *const> given = arguments.variables();
    for (const auto &[index, state] : identical)
      if (given[index]->state() != state)
        return false;
    for (std::size_t i = 0; i < given.size(); ++i)
      for (const BoundVariable &variable : variables)
        if (variable.captured == given[i]->state())
          return false;
    return true;
  }
};

} // namespace

class FunctionCore {
public:
  FunctionCore(std::string name, SourceLocation where) : name(std::move(name)), where(where) {}

  ConcreteFunction *find(std::size_t hash, const Arguments &arguments) const {
    return table.find(hash, arguments.key(), [&](const ConcreteFunction &concrete) {
      return arguments.variables().empty() || concrete.accepts(arguments);
    });
  }
  // With the lock held.
  ConcreteFunction *trace(std::size_t hash, const Arguments &arguments, TraceBody body);

  const std::string name;
  const SourceLocation where;
  KeyTable<ConcreteFunction> table;
  // Recursive: an initial value that is evaluated while tracing may call the function again.
  std::recursive_mutex mutex;
  std::atomic<std::int64_t> traces{0};
};

ConcreteFunction *FunctionCore::trace(std::size_t hash, const Arguments &arguments, TraceBody body) {
  auto trace = std::make_shared<Trace>(traces.load() == 0);
  trace->recording.name = name;
  trace->recording.line = lineOf(where);
  std::vector<Tensor> tensors;
  for (const Tensor *tensor : arguments.tensors())
    tensors.push_back(trace->addParameter(implOf(*tensor).type));
  std::vector<Variable> standIns;
  std::span<const Variable *const> given = arguments.variables();
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::size_t alias = 0;
    while (!given[alias]->same_as(*given[i]))
      ++alias;
    if (alias == i) {
      auto state = std::make_shared<VariableState>();
      state->name = given[i]->state()->name;
      state->type = given[i]->state()->type;
      state->trainable = given[i]->state()->trainable;
      state->standIn = true;
      state->original = given[i]->state();
      trace->standIns.push_back(state);
      standIns.emplace_back(std::move(state));
    } else {
      trace->standIns.push_back(standIns[alias].state());
      standIns.push_back(standIns[alias]);
    }
  }
  trace->capturedArguments.assign(given.size(), false);

  Results results;
  {
    TraceScope scope(trace);
    body.run(body.context, tensors, standIns, results);
    for (const Tensor &result : results.tensors)
      trace->recording.results.push_back(trace->valueOf(result, {}));
  }

  auto concrete = std::make_unique<ConcreteFunction>();
  std::span<const std::uint64_t> key = arguments.key();
  concrete->key.assign(key.begin(), key.end());
  concrete->hash = hash;
  concrete->captures = std::move(trace->captures);
  for (const std::shared_ptr<VariableState> &variable : trace->variables) {
    BoundVariable bound;
    for (std::size_t i = 0; i < standIns.size() && bound.argument < 0; ++i)
      if (standIns[i].state() == variable)
        bound.argument = static_cast<std::ptrdiff_t>(i);
    if (bound.argument < 0)
      bound.captured = variable;
    concrete->variables.push_back(std::move(bound));
  }
  for (std::size_t i = 0; i < given.size(); ++i)
    if (trace->capturedArguments[i])
      concrete->identical.emplace_back(i, given[i]->state());
  for (Variable &standIn : standIns)
    standIn.state()->original.reset(); // the trace may outlive the call; the argument must not
  concrete->recording = trace->recording;
  concrete->prototype = std::move(results.prototype);
  dump(concrete->recording, Dumped::Function, where);
  traces.fetch_add(1);
  return table.insert(std::move(concrete));
}

namespace {
// The name as a symbol of native code: the given one, or quickstart_15 for examples/quickstart.cpp:15.
std::string symbolName(std::string name, SourceLocation where) {
  if (name.empty()) {
    name = where.file;
    name.erase(0, name.rfind('/') + 1);
    name = name.substr(0, name.rfind('.')) + "_" + std::to_string(where.line);
  }
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  // The compiler's symbol is calque_NAME, beside its own calque_entry and calque_rt_*.
  return name == "entry" || name.starts_with("rt_") || name.starts_with("calque_") ? name + "_" : name;
}
} // namespace

std::shared_ptr<FunctionCore> makeFunctionCore(std::string name, SourceLocation where) {
  return std::make_shared<FunctionCore>(symbolName(std::move(name), where), where);
}
std::int64_t traceCount(const FunctionCore &core) { return core.traces.load(); }

void clearFunction(FunctionCore &core) {
  std::lock_guard lock(core.mutex);
  core.table.clear();
}

namespace {
const Code &codeOf(FunctionCore &core, ConcreteFunction &concrete) {
  if (const Code *code = concrete.code.load(std::memory_order_acquire))
    return *code;
  std::lock_guard lock(core.mutex);
  if (!concrete.code.load(std::memory_order_acquire)) {
    concrete.compiled = compileRecording(concrete.recording);
    concrete.code.store(concrete.compiled.get(), std::memory_order_release);
  }
  return *concrete.compiled;
}

ConcreteFunction &findOrTrace(FunctionCore &core, const Arguments &arguments, TraceBody body) {
  std::size_t hash = hashKey(arguments.key());
  ConcreteFunction *concrete = core.find(hash, arguments);
  if (!concrete) {
    std::lock_guard lock(core.mutex);
    concrete = core.find(hash, arguments);
    if (!concrete)
      concrete = core.trace(hash, arguments, body);
  }
  return *concrete;
}
} // namespace

void callFunction(FunctionCore &core, const Arguments &arguments, TraceBody body, CallResults &results) {
  for (const Tensor *tensor : arguments.tensors())
    if (tensor->impl()->trace)
      throwLeaked(*tensor->impl(), {});
  ConcreteFunction &concrete = findOrTrace(core, arguments, body);
  const Code &code = codeOf(core, concrete);

  // Most calls are small: nothing is allocated for them.
  std::array<const Tensor *, 16> fewParameters;
  std::vector<const Tensor *> manyParameters;
  std::span<const Tensor *const> given = arguments.tensors();
  std::size_t count = given.size() + concrete.captures.size();
  const Tensor **parameters = fewParameters.data();
  if (count > fewParameters.size()) {
    manyParameters.resize(count);
    parameters = manyParameters.data();
  }
  std::copy(given.begin(), given.end(), parameters);
  for (std::size_t i = 0; i < concrete.captures.size(); ++i)
    parameters[given.size() + i] = &concrete.captures[i];

  std::array<VariableState *, 16> fewVariables;
  std::vector<VariableState *> manyVariables;
  VariableState **variables = fewVariables.data();
  if (concrete.variables.size() > fewVariables.size()) {
    manyVariables.resize(concrete.variables.size());
    variables = manyVariables.data();
  }
  auto stateOf = [&](const BoundVariable &bound) -> const std::shared_ptr<VariableState> & {
    return bound.argument >= 0 ? arguments.variables()[static_cast<std::size_t>(bound.argument)]->state() : bound.captured;
  };
  for (std::size_t i = 0; i < concrete.variables.size(); ++i)
    variables[i] = stateOf(concrete.variables[i]).get();

  results.prototype = concrete.prototype.get();
  std::span<Tensor> tensors = results.resize(code.results.size());
  std::span<const Tensor *const> inputs(parameters, count);
  if (!eagerTapesActive()) {
    run(code, inputs, {variables, concrete.variables.size()}, tensors);
    return;
  }
  std::vector<Tensor> before;
  run(code, inputs, {variables, concrete.variables.size()}, tensors, {}, &before);
  std::vector<std::shared_ptr<VariableState>> states;
  for (const BoundVariable &bound : concrete.variables)
    states.push_back(stateOf(bound));
  recordCall(concrete.recording, inputs, states, before, tensors);
}

std::string printFunction(FunctionCore &core, const Arguments &arguments, TraceBody body, const std::string &stage) {
  std::optional<Stage> known = stageNamed(stage);
  if (!known)
    throw ValueError("there is no stage '" + stage + "'; the stages are " + stageNames());
  PrintResult printed = compiler().print(findOrTrace(core, arguments, body).recording, *known, compileOptions());
  if (!printed.error.empty())
    throw CompileError(printed.error);
  return printed.text;
}

} // namespace detail
} // namespace calque
