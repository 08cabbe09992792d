#include "calque/function.h"

#include "calque/transforms.h"

#include "frontend/Apply.h"
#include "frontend/FunctionCore.h"
#include "frontend/Graph.h"
#include "frontend/Shape.h"
#include "frontend/Tape.h"

#include <cstring>

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
// A tag precedes each part of a key, so that different argument lists have different keys.
enum Tag : std::uint64_t { TensorTag = 1ULL << 56, VariableTag = 2ULL << 56, TextTag = 3ULL << 56 };
} // namespace

DepthGuard::DepthGuard(const SourceLocation &where) {
  if (depth == kMostDepth)
    throw RecursionError("functions call each other " + std::to_string(kMostDepth) +
                             " deep; a recursion that depends on tensors alone has no end while tracing",
                         userLine(where));
  ++depth;
}
DepthGuard::~DepthGuard() { --depth; }

InlinedCall::InlinedCall(const std::vector<Tensor> &arguments, SourceLocation where)
    : guard_(where), arguments_(aliases(arguments, where)),
      numBefore_(currentTrace() ? currentTrace()->recording.numValues() : 0) {}

std::vector<Tensor> InlinedCall::own(const std::vector<Tensor> &results, SourceLocation where) const {
  where = userLine(where);
  const std::shared_ptr<Trace> &trace = currentTrace();
  if (!trace)
    return aliases(results, where);
  std::vector<schema::ValueId> values;
  for (const Tensor &result : results)
    values.push_back(trace->ownValue(result, numBefore_, values, where));
  std::vector<Tensor> tensors = results;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (const TensorImpl &impl = implOf(results[i]); impl.trace != trace->id || impl.value != values[i])
      tensors[i] = trace->tensorOf(values[i], where);
  return tensors;
}

bool callsInline() { return currentTrace() != nullptr || runEagerly.load(std::memory_order_relaxed); }

//===-- Keys ------------------------------------------------------------------------------------===//

namespace {
constinit thread_local std::uint64_t tracingMode = 0;
}

// Exclusive or: scopes may end in another order than they began in.
ModeScope::ModeScope(std::uint64_t mode) : mode(schema::hashCombine(mode, mode << 32)) { tracingMode ^= this->mode; }
ModeScope::~ModeScope() { tracingMode ^= mode; }

Arguments::Arguments(const SourceLocation &where) : where_(where) { word(tracingMode); }

void Arguments::tensor(const Tensor &x) {
  const TensorImpl &impl = implOf(x, where_);
  word(TensorTag | static_cast<std::uint64_t>(impl.type->dtype) << 32 | impl.type->dims.size());
  for (std::int64_t dim : impl.type->dims)
    word(static_cast<std::uint64_t>(dim));
  tensors_.push_back(&x);
}

void Arguments::variable(const Variable &x) {
  if (!x.state())
    throw StateError("an empty variable is an argument", userLine(where_));
  // The number of the first argument that is the same variable.
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

//===-- Functions -------------------------------------------------------------------------------===//

std::shared_ptr<FunctionCore> makeFunctionCore(FunctionOptions options, SourceLocation where) {
  return std::make_shared<FunctionCore>(std::move(options), where);
}
std::int64_t traceCount(const FunctionCore &core) { return core.traces.load(); }
void clearFunction(FunctionCore &core) { core.clear(); }
std::vector<Retrace> retracesOf(FunctionCore &core) { return core.retraces(); }
std::string listFunction(FunctionCore &core) { return core.list(); }
std::vector<TensorSpec<>> inputSpecs(const FunctionCore &core, std::size_t count, const SourceLocation &where) {
  if (core.options.input_signature.size() != count)
    throw SignatureError(core.name + " has " + std::to_string(count) + " arguments and an input signature of " +
                             std::to_string(core.options.input_signature.size()) +
                             " tensors; say which arguments its concrete function takes",
                         where);
  return core.options.input_signature;
}
bool hasInputSignature(const FunctionCore &core) { return !core.inputSignature.empty(); }

namespace {
// Refuses traced tensors and TensorSpecs as arguments of a call that runs.
void requireEager(const Arguments &arguments, SourceLocation where) {
  for (const Tensor *tensor : arguments.tensors())
    if (tensor->impl()->trace)
      throwLeaked(*tensor->impl(), where);
}
} // namespace

void checkInlinedCall(FunctionCore &core, CallBody body, const SourceLocation &where) {
  core.byInputSignature(core.describe(body, where), where);
}

void callFunction(FunctionCore &core, const Arguments &arguments, CallBody body, CallResults &results,
                  const SourceLocation &where) {
  requireEager(arguments, where);
  ReadScope scope;
  std::size_t hash = hashKey(arguments.key());
  Concrete *concrete = core.find(hash, arguments);
  if (concrete)
    core.noteCall();
  else
    concrete = &core.miss(hash, arguments, body, userLine(where));
  if (!concrete->relaxed) {
    runConcrete(core, *concrete, arguments, results, where);
    return;
  }
  std::string reason;
  try {
    runConcrete(core, *concrete, arguments, results, where);
    return;
  } catch (const SizesDisagree &refusal) { // a size that was broadcast, say
    if (refusal.code != concrete->code.load())
      throw;
    reason = refusal.what();
  }
  runConcrete(core, core.afterRefusal(arguments, body, userLine(where), reason), arguments, results, where);
}

void runConcrete(FunctionCore &core, Concrete &concrete, const Arguments &arguments, CallResults &results,
                 const SourceLocation &where) {
  const Code &code = core.codeOf(concrete, where);
  Caller caller{userLine(where), &concrete.recording};

  // A call with few parameters allocates nothing.
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
    return bound.argument >= 0 ? arguments.variables()[static_cast<std::size_t>(bound.argument)]->state()
                               : bound.captured;
  };
  for (std::size_t i = 0; i < concrete.variables.size(); ++i)
    variables[i] = stateOf(concrete.variables[i]).get();

  results.prototype = concrete.prototype.get();
  std::span<Tensor> tensors = results.resize(code.results.size());
  std::span<const Tensor *const> inputs(parameters, count);
  if (!eagerTapesActive()) {
    run(code, inputs, {variables, concrete.variables.size()}, tensors, caller);
    return;
  }
  std::vector<Tensor> before;
  run(code, inputs, {variables, concrete.variables.size()}, tensors, caller, &before);
  std::vector<std::shared_ptr<VariableState>> states;
  for (const BoundVariable &bound : concrete.variables)
    states.push_back(stateOf(bound));
  recordCall(concrete.recording, inputs, states, before, tensors);
}

namespace {
std::string printRecording(const schema::Recording &recording, const std::string &stage, SourceLocation where) {
  std::optional<Stage> known = stageNamed(stage);
  if (!known)
    throw ValueError("there is no stage '" + stage + "'; the stages are " + stageNames(), where);
  PrintResult printed = compiler().print(recording, *known, compileOptions());
  if (!printed.error.empty())
    throw CompileError(printed.error, printed.line.empty() ? where : locationOf(printed.line));
  return printed.text;
}
} // namespace

namespace {
// The trace of exactly these arguments, to be shown.
std::shared_ptr<Concrete> traceToShow(FunctionCore &core, const Arguments &arguments, CallBody body,
                                      SourceLocation where) {
  Signature signature = core.describe(body, where);
  {
    ReadScope scope;
    if (Concrete *found = signature.hasSpecs ? nullptr : core.find(hashKey(arguments.key()), arguments))
      return found->shared_from_this();
  }
  signature = core.byInputSignature(signature, where);
  if (signature.hasAnyRank)
    throw StateError(core.name + " has a trace for each rank; ask for one with a TensorSpec that has a rank", where);
  return core.exactly(std::move(signature), arguments, body, where);
}
std::string drawn(const Concrete &concrete) {
  std::size_t tensors = 0;
  for (const SignaturePart &part : concrete.results.parts)
    tensors += part.kind == SignaturePart::Kind::Tensor;
  return graphOf(concrete.recording, concrete.recording.parameters.size() - concrete.captures.size(), tensors);
}
} // namespace

std::string printFunction(FunctionCore &core, const Arguments &arguments, CallBody body, const std::string &stage,
                          const SourceLocation &where) {
  return printRecording(traceToShow(core, arguments, body, where)->recording, stage, where);
}
std::string graphFunction(FunctionCore &core, const Arguments &arguments, CallBody body, const SourceLocation &where) {
  return drawn(*traceToShow(core, arguments, body, where));
}

//===-- Concrete functions ----------------------------------------------------------------------===//

std::shared_ptr<ConcreteCore> makeConcrete(std::shared_ptr<FunctionCore> core, const Arguments &arguments,
                                           CallBody body, const SourceLocation &where) {
  Signature signature = core->byInputSignature(core->describe(body, where), where);
  auto concrete = std::make_shared<ConcreteCore>(core, signature);
  if (!signature.hasAnyRank)
    concrete->add(core->exactly(std::move(signature), arguments, body, userLine(where)));
  return concrete;
}

void callConcrete(ConcreteCore &core, const Arguments &arguments, CallBody body, CallResults &results,
                  const SourceLocation &where) {
  requireEager(arguments, where);
  runConcrete(*core.function, core.traceFor(arguments, body, userLine(where)), arguments, results, where);
}

void checkInlinedCall(ConcreteCore &core, CallBody body, const SourceLocation &where) {
  core.check(core.function->describe(body, where), where);
}

std::string printConcrete(const ConcreteCore &core, const std::string &stage, const SourceLocation &where) {
  return printRecording(core.only(where).recording, stage, where);
}

std::string graphConcrete(const ConcreteCore &core, const SourceLocation &where) { return drawn(core.only(where)); }

std::string describeConcrete(const ConcreteCore &core) {
  return core.signature.hasAnyRank ? core.function->name + "\n" + core.signature.str("  ")
                                   : core.only({}).str(core.function->name);
}

namespace {
std::vector<TensorSpec<>> specsOf(const Signature &signature) {
  std::vector<TensorSpec<>> specs;
  for (const SignaturePart &part : signature.parts)
    if (part.kind == SignaturePart::Kind::Tensor) {
      if (part.anyRank)
        specs.emplace_back(part.type.dtype, kAnyShape);
      else
        specs.emplace_back(part.type.dtype, shapeOf(part.type.dims));
    }
  return specs;
}
} // namespace

std::vector<TensorSpec<>> argumentSpecs(const ConcreteCore &core) { return specsOf(core.signature); }
std::vector<TensorSpec<>> resultSpecs(const ConcreteCore &core, const SourceLocation &where) {
  return specsOf(core.only(where).results);
}

} // namespace detail
} // namespace calque
