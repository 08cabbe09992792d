#include "calque/function.h"

#include "absl/container/fixed_array.h"
#include "absl/strings/str_cat.h"
#include "frontend/compiled/CompilerLibrary.h"
#include "frontend/compiled/CompilerSettings.h"
#include "frontend/core/CallNames.h"
#include "frontend/functions/FunctionCore.h"
#include "frontend/functions/Graph.h"
#include "frontend/gradients/Tape.h"

namespace calque::detail {

std::shared_ptr<FunctionCore> makeFunctionCore(FunctionOptions options, SourceLocation where) {
  return std::make_shared<FunctionCore>(std::move(options), where);
}
std::int64_t traceCount(const FunctionCore &core) { return core.traces.load(); }
void clearFunction(FunctionCore &core) { core.clear(); }
std::vector<Retrace> retracesOf(FunctionCore &core) { return core.retraces(); }
std::string listFunction(FunctionCore &core) { return core.list(); }
std::vector<TensorSpec<>> inputSpecs(const FunctionCore &core, std::size_t count, const SourceLocation &where) {
  if (core.options.input_signature.size() != count)
    throw SignatureError(absl::StrCat(core.name, " has ", schema::counted(count, "argument"),
                                      " and an input signature of ",
                                      schema::counted(core.options.input_signature.size(), "tensor"),
                                      "; say which arguments its concrete function takes"),
                         where);
  return core.options.input_signature;
}
bool hasInputSignature(const FunctionCore &core) { return !core.inputSignature.empty(); }
const std::vector<TensorSpec<>> &inputSignature(const FunctionCore &core) { return core.options.input_signature; }

void requireEager(const Arguments &arguments, const SourceLocation &where) {
  for (const Tensor *tensor : arguments.tensors())
    if (tensor->impl()->trace)
      throwLeaked(*tensor->impl(), where);
}

void checkInlinedCall(FunctionCore &core, CallBody body, const SourceLocation &where) {
  core.byInputSignature(core.describe(body, where), where);
}

void callFunction(FunctionCore &core, const Arguments &arguments, CallBody body, CallResults &results,
                  const SourceLocation &where) {
  requireEager(arguments, where);
  ReadScope scope;
  std::size_t hash = hashKey(arguments.key());
  FunctionTrace *concrete = core.find(hash, arguments);
  if (concrete)
    core.noteCall();
  else
    concrete = &core.miss(hash, arguments, body, userLine(where));
  if (!concrete->relaxed) {
    runConcrete(core, *concrete, arguments, body, results, where);
    return;
  }
  std::string reason;
  try {
    runConcrete(core, *concrete, arguments, body, results, where);
    return;
  } catch (const SizesDisagree &refusal) { // for example, a size that is broadcast
    if (!concrete->latest().isCode(refusal.code))
      throw;
    reason = refusal.what();
  }
  runConcrete(core, core.afterRefusal(arguments, body, userLine(where), reason), arguments, body, results, where);
}

namespace {
void runTrace(FunctionCore &core, FunctionTrace &concrete, const Arguments &arguments, CallResults &results,
              const SourceLocation &where) {
  const Code &code = core.codeOf(concrete, where);
  const CapturedPanels *panels = &code == concrete.compiled.get() ? concrete.panels.get() : nullptr;
  Caller caller{userLine(where), panels ? &panels->recording : &concrete.recording};
  caller.signature = &concrete.signature;

  // A call with few parameters allocates nothing.
  std::span<const Tensor *const> given = arguments.tensors();
  using Parameters = absl::FixedArray<const Tensor *, 16>;
  auto withCaptures = [&](const std::vector<Tensor> &captures) {
    Parameters parameters(given.size() + captures.size());
    auto next = std::copy(given.begin(), given.end(), parameters.begin());
    for (const Tensor &capture : captures)
      *next++ = &capture;
    return parameters;
  };
  const Parameters parameters = withCaptures(panels ? panels->captures : concrete.captures);
  absl::FixedArray<VariableState *, 16> variables(concrete.variables.size());
  auto stateOf = [&](const BoundVariable &bound) -> const std::shared_ptr<VariableState> & {
    return bound.argument >= 0 ? arguments.variables()[static_cast<std::size_t>(bound.argument)]->state()
                               : bound.captured;
  };
  for (std::size_t i = 0; i < concrete.variables.size(); ++i)
    variables[i] = stateOf(concrete.variables[i]).get();

  results.prototype = concrete.prototype.get();
  results.tensors.resize(code.results.size());
  std::span<Tensor> tensors = results.tensors;
  if (!eagerTapesActive()) {
    run(code, parameters, variables, tensors, caller);
    return;
  }
  std::vector<Tensor> before;
  run(code, parameters, variables, tensors, caller, &before);
  std::vector<std::shared_ptr<VariableState>> states;
  for (const BoundVariable &bound : concrete.variables)
    states.push_back(stateOf(bound));
  recordCall(concrete.called(), panels ? withCaptures(concrete.captures) : parameters, states, before, tensors,
             caller.where);
}
} // namespace

void runConcrete(FunctionCore &core, FunctionTrace &concrete, const Arguments &arguments, CallBody body,
                 CallResults &results, const SourceLocation &where) {
  for (FunctionTrace *trace = &concrete.latest();;)
    try {
      runTrace(core, *trace, arguments, results, where);
      return;
    } catch (const LoopTooFar &error) {
      if (core.choose)
        throw StateError(absl::StrCat(error.reason, "; function '", core.name,
                                      "' was loaded, so that there is no C++ code to follow: save it after a call "
                                      "that goes as far, or loop by while_loop or for_range"),
                         error.location());
      trace = &core.fartherThan(*trace, error, arguments, body, userLine(where));
      warnOfFarthest(trace->level, error); // without the function's lock, because a handler may call the function
      if (!error.mayRepeat)
        throwNotRepeated(error);
    }
}

std::string printTrace(const FunctionTrace &concrete, const std::string &stage, const SourceLocation &where) {
  std::optional<Stage> known = stageNamed(stage);
  if (!known)
    throw ValueError(absl::StrCat("there is no stage '", stage, "'; the stages are ", stageNames()), where);
  const CompileOptions options = checkedOptions();
  // Up to the stage `simplified`, the program is shown as it was traced, without packed panels.
  std::unique_ptr<const CapturedPanels> panels;
  if (options.optimize && !options.checkNumerics && *known > Stage::Simplified)
    panels = panelsOf(concrete.recording, concrete.captures, where);
  PrintResult printed = compiler().print(panels ? panels->recording : concrete.recording, *known, options);
  if (!printed.error.empty())
    throw CompileError(printed.error, printed.line.empty() ? where : locationOf(printed.line));
  return printed.text;
}

std::string drawTrace(const FunctionTrace &concrete) {
  std::size_t tensors = 0;
  for (const SignaturePart &part : concrete.results.parts)
    tensors += part.kind == SignaturePart::Kind::Tensor;
  return graphOf(concrete.recording, concrete.recording.parameters.size() - concrete.captures.size(), tensors);
}

namespace {
// Returns the trace to show: the one that serves a call with these arguments, or a new one for their signature.
std::shared_ptr<FunctionTrace> traceToShow(FunctionCore &core, const Arguments &arguments, CallBody body,
                                           SourceLocation where) {
  Signature signature = core.describe(body, where);
  {
    ReadScope scope;
    if (FunctionTrace *found = signature.hasSpecs ? nullptr : core.find(hashKey(arguments.key()), arguments))
      return found->latest().shared_from_this();
  }
  signature = core.byInputSignature(signature, where);
  if (signature.hasAnyRank)
    throw StateError(
        absl::StrCat(core.name, " has a trace for each rank; ask for one with a TensorSpec that has a rank"), where);
  return core.exactly(std::move(signature), arguments, body, where);
}
} // namespace

std::string printFunction(FunctionCore &core, const Arguments &arguments, CallBody body, const std::string &stage,
                          const SourceLocation &where) {
  return printTrace(*traceToShow(core, arguments, body, where), stage, where);
}
std::string graphFunction(FunctionCore &core, const Arguments &arguments, CallBody body, const SourceLocation &where) {
  return drawTrace(*traceToShow(core, arguments, body, where));
}

} // namespace calque::detail
