#include "frontend/functions/FunctionCore.h"

#include "absl/strings/str_cat.h"
#include "calque/warnings.h"
#include "frontend/compiled/CompilerSettings.h"
#include "frontend/compiled/Dump.h"
#include "frontend/compiled/Profile.h"
#include "frontend/core/CallNames.h"
#include "frontend/core/Numerics.h"
#include "frontend/core/Shape.h"
#include "frontend/core/Tracer.h"
#include "runtime/Fork.h"

#include <algorithm>
#include <cctype>
#include <chrono>

namespace calque {
namespace detail {

namespace {
using Clock = std::chrono::steady_clock;
double millisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Returns the function's symbol in native code. It is made from the function's name. A function without a name that is
// made at examples/quickstart.cpp:15 has the symbol quickstart_15.
std::string symbolName(std::string name, SourceLocation where) {
  if (name.empty()) {
    name = where.file;
    name.erase(0, name.rfind('/') + 1);
    name = absl::StrCat(name.substr(0, name.rfind('.')), "_", where.line);
  }
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  // Names that begin with calque_ are the compiler's own. Which names have a meaning in object code is the compiler's
  // concern.
  return name.starts_with("calque_") ? absl::StrCat("_", name) : name;
}

std::vector<ExpectedTensor> expectedTensors(const std::vector<TensorSpec<>> &specs) {
  std::vector<ExpectedTensor> expected;
  for (const TensorSpec<> &spec : specs)
    expected.push_back(
        {{spec.dtype(), spec.has_rank() ? openDims(spec.shape()) : schema::Dims()}, !spec.has_rank(), spec.name()});
  return expected;
}
} // namespace

//===-- Traces ----------------------------------------------------------------------------------===//

bool FunctionTrace::accepts(const Arguments &arguments) const {
  std::span<const Variable *const> given = arguments.variables();
  for (const auto &[index, state] : identical)
    if (given[index]->state() != state)
      return false;
  for (const Variable *variable : given)
    for (const BoundVariable &bound : variables)
      if (bound.captured == variable->state())
        return false;
  return true;
}

const CalledProgram &FunctionTrace::called() const {
  runtime::ForkSection section;
  std::call_once(calledOnce, [&] {
    called_ = calledProgram(recording);
    called_.id = nextId();
  });
  return called_;
}

std::string FunctionTrace::str(const std::string &name) const {
  std::string result = results.str("  ");
  return absl::StrCat(name, "\n", signature.str("  "), result.empty() ? "  no result\n" : result);
}

FunctionCore::FunctionCore(FunctionOptions options, SourceLocation where)
    : options(std::move(options)), name(symbolName(this->options.name, where)), where(where),
      inputSignature(expectedTensors(this->options.input_signature)), table(this->options.max_traces),
      lock(name, where) {}

Signature FunctionCore::describe(CallBody body, const SourceLocation &where) const {
  SignatureBuilder builder(where);
  body.describe(body.context, options.argument_names, builder);
  return builder.take();
}

Signature FunctionCore::byInputSignature(const Signature &given, SourceLocation where) const {
  if (choose)
    return choose(given, where);
  return inputSignature.empty() ? given : declared(given, inputSignature, name, where);
}

namespace {
// Makes the stand-ins that the lambda gets for the variables among the arguments. Arguments that are the same variable
// have the same stand-in.
std::vector<Variable> makeStandIns(std::span<const Variable *const> given, Trace &trace) {
  std::vector<Variable> standIns;
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::size_t alias = 0;
    while (!given[alias]->same_as(*given[i]))
      ++alias;
    if (alias < i) {
      standIns.push_back(standIns[alias]);
    } else {
      auto state = std::make_shared<VariableState>();
      state->name = given[i]->state()->name;
      state->type = given[i]->state()->type;
      state->trainable = given[i]->state()->trainable;
      state->standIn = true;
      state->original = given[i]->state();
      standIns.emplace_back(std::move(state));
    }
    trace.standIns.push_back(standIns.back().state());
  }
  trace.capturedArguments.assign(given.size(), false);
  return standIns;
}

// For each variable of a trace, where calls take it from.
std::vector<BoundVariable> boundVariables(const Trace &trace) {
  std::vector<BoundVariable> variables;
  for (const std::shared_ptr<VariableState> &variable : trace.variables) {
    auto standIn = std::ranges::find(trace.standIns, variable);
    if (standIn == trace.standIns.end())
      variables.push_back({-1, variable});
    else
      variables.push_back({standIn - trace.standIns.begin(), nullptr});
  }
  return variables;
}
} // namespace

std::shared_ptr<FunctionTrace> FunctionCore::trace(Signature signature, const Arguments &arguments, CallBody body,
                                                   SourceLocation call, bool mayFallBack, int level,
                                                   std::shared_ptr<FollowMemory> memory) {
  if (!memory)
    memory = std::make_shared<FollowMemory>();
  FollowScope scope(level, memory);
  std::vector<TracedParameter> parameters;
  for (const SignaturePart &part : signature.parts)
    if (part.kind == SignaturePart::Kind::Tensor)
      parameters.push_back({std::make_shared<const schema::TensorType>(part.type), part.path});
  std::span<const Variable *const> given = arguments.variables();
  // `prototype` and `described` are of the last run that has come to its end.
  std::shared_ptr<const void> prototype;
  Signature described;
  TraceOptions options{.name = name, .where = where, .call = call, .mayMakeVariables = traces.load() == 0};
  options.mayFallBack = mayFallBack;
  options.structure = [&] { return described.str(""); };
  const Trace *withStandIns = nullptr;
  std::vector<Variable> standIns;
  std::shared_ptr<Trace> trace =
      traceProgram(options, parameters, [&](Trace &traced, const std::vector<Tensor> &tensors) {
        if (std::exchange(withStandIns, &traced) != &traced)
          standIns = makeStandIns(given, traced);
        Results results(call);
        body.run(body.context, tensors, standIns, results);
        described = results.signature.take();
        prototype = std::move(results.prototype);
        return std::move(results.tensors);
      }).trace;

  auto concrete = std::make_shared<FunctionTrace>();
  concrete->results = std::move(described);
  // The types of results come from the recording, which may know other sizes than the returned tensors.
  std::size_t next = 0;
  for (SignaturePart &part : concrete->results.parts)
    if (part.kind == SignaturePart::Kind::Tensor && next < trace->recording.results.size())
      part.type = trace->recording.typeOf(trace->recording.results[next++]);
  concrete->captures = std::move(trace->captures);
  concrete->hostFunctions = std::move(trace->hostFunctions);
  concrete->variables = boundVariables(*trace);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (trace->capturedArguments[i])
      concrete->identical.emplace_back(i, given[i]->state());
  for (const std::shared_ptr<VariableState> &standIn : trace->standIns)
    standIn->original.reset();            // the trace may outlive the call and must not keep its argument alive
  concrete->recording = trace->recording; // a copy, because a tape that outlives the lambda reads the original
  concrete->prototype = std::move(prototype);
  concrete->level = level;
  concrete->memory = std::move(memory);
  concrete->key = signature.key;
  concrete->unknown = signature.unknown;
  concrete->hash = hashKey(concrete->key);
  concrete->signature = std::move(signature);
  dump(concrete->recording, Dumped::Function, where);
  traces.fetch_add(1);
  return concrete;
}

void FunctionCore::compile(FunctionTrace &concrete, SourceLocation call) {
  runtime::ForkSection section;
  Clock::time_point start = Clock::now();
  if (compileOptions().optimize)
    concrete.panels = panelsOf(concrete.recording, concrete.captures, call);
  const schema::Recording &recording = concrete.panels ? concrete.panels->recording : concrete.recording;
  concrete.compiled = compileRecording(recording, concrete.hostFunctions, call);
  profile(recording, compileOptions(), concrete.compiled->executable, where);
  concrete.code.store(concrete.compiled.get(), std::memory_order_release);
  if (concrete.history)
    concrete.history->milliseconds += millisecondsSince(start);
}

const Code &FunctionCore::checkedCodeOf(FunctionTrace &concrete, const SourceLocation &where) {
  if (const Code *code = concrete.checkedCode.load(std::memory_order_acquire))
    return *code;
  TraceLock::Guard guard(lock);
  if (!concrete.checkedCode.load(std::memory_order_acquire)) {
    concrete.checked = compileRecording(concrete.recording, concrete.hostFunctions, userLine(where), true);
    concrete.checkedCode.store(concrete.checked.get(), std::memory_order_release);
  }
  return *concrete.checked;
}

const Code &FunctionCore::codeOf(FunctionTrace &concrete, const SourceLocation &where) {
  if (checksNumerics()) [[unlikely]]
    return checkedCodeOf(concrete, where);
  if (const Code *code = concrete.code.load(std::memory_order_acquire))
    return *code;
  TraceLock::Guard guard(lock);
  if (!concrete.code.load(std::memory_order_acquire))
    compile(concrete, userLine(where));
  return *concrete.compiled;
}

//===-- Misses ----------------------------------------------------------------------------------===//

// Makes a relaxed trace: the sizes that differ between the signature and earlier traces are unknown in it. Returns null
// if no sizes differ, or if such a trace can't be made. If sizes differ, `note` gets a text for the user: that sizes
// are unknown in the trace, or why there is no such trace.
std::shared_ptr<FunctionTrace> FunctionCore::traceRelaxed(const Signature &signature, const Arguments &arguments,
                                                          CallBody body, SourceLocation call, std::string &note) {
  Signature common = signature;
  for (const std::shared_ptr<FunctionTrace> &other : table.entries())
    if (std::optional<Signature> both = relaxed(common, other->signature))
      common = std::move(*both);
  if (common.unknown.empty())
    return nullptr;
  if (auto failed = unrelaxable.find(common.key); failed != unrelaxable.end()) {
    note = failed->second;
    return nullptr;
  }
  std::string reason;
  try {
    std::shared_ptr<FunctionTrace> concrete = trace(common, arguments, body, call, true);
    try {
      compile(*concrete, call);
      concrete->relaxed = true;
      note = "the sizes that differ are left open, for other sizes as well";
      return concrete;
    } catch (const CompileError &error) {
      traces.fetch_sub(1);
      reason = error.what();
    }
  } catch (const SizesAsked &asked) {
    reason = absl::StrCat("the lambda asks for a size that would not be known, ", asked.size);
  } catch (const Error &error) {
    reason = error.what();
  }
  note = absl::StrCat("it is traced for these sizes only, because a trace that leaves them open has failed: ", reason);
  runtime::ForkSection section;
  unrelaxable.emplace(common.key, note);
  return nullptr;
}

FunctionTrace *FunctionCore::insert(std::shared_ptr<FunctionTrace> concrete, SourceLocation call, double milliseconds,
                                    std::string note, bool counts) {
  runtime::ForkSection section;
  auto made = std::make_shared<TraceHistory>();
  made->signature = concrete->signature;
  made->call = call;
  made->milliseconds = milliseconds;
  made->isFirst = history.empty();
  if (!history.empty()) {
    // The most similar earlier trace. If several are equally similar, the latest of them.
    const TraceHistory *closest = nullptr;
    std::vector<Retrace::Change> fewest;
    for (auto other = history.rbegin(); other != history.rend(); ++other) {
      std::vector<Retrace::Change> different = changes((*other)->signature, made->signature);
      if (!closest || different.size() < fewest.size()) {
        closest = other->get();
        fewest = std::move(different);
      }
    }
    if (fewest.empty() && note.empty()) {
      bool there = table.findSame(concrete->key, concrete->unknown, [](const FunctionTrace &) { return true; });
      note = there ? "the signature is the same; other variables are captured, or other modes hold"
                   : "the trace for this signature was evicted or cleared";
      made->wasEvicted = !there && options.max_traces && table.entries().size() >= options.max_traces;
    }
    made->noteChanges(closest->signature);
    made->sizesRefused = made->sizesChanged && options.reduce_retracing && !concrete->relaxed;
    made->retrace = {std::move(fewest), closest->call, call, 0, std::move(note)};
  }
  history.push_back(made);
  if (history.size() > kMostHistory)
    history.pop_front();
  concrete->history = std::move(made);
  if (counts) {
    int calls = callsSinceTrace.exchange(0, std::memory_order_relaxed);
    if (!callsPerTrace.empty())
      callsPerTrace.back() += std::min(calls, kWarningHistory);
    callsPerTrace.push_back(1);
    int sum = 0;
    for (int count : callsPerTrace)
      sum += count;
    for (; sum > kWarningHistory; callsPerTrace.pop_front())
      sum -= callsPerTrace.front();
  }
  return table.insert(std::move(concrete));
}

FunctionTrace &FunctionCore::miss(std::size_t hash, const Arguments &arguments, CallBody body, SourceLocation call) {
  FunctionTrace *concrete;
  std::string toWarn;
  {
    TraceLock::Guard guard(lock, call);
    if (FunctionTrace *found = find(hash, arguments)) { // another thread was first
      noteCall();
      return *found;
    }
    Signature signature = byInputSignature(describe(body, call), call);
    Clock::time_point start = Clock::now();
    std::string note;
    std::shared_ptr<FunctionTrace> made;
    if (options.reduce_retracing && inputSignature.empty() && !table.entries().empty())
      made = traceRelaxed(signature, arguments, body, call, note);
    if (!made)
      made = trace(std::move(signature), arguments, body, call, false);
    concrete = insert(std::move(made), call, millisecondsSince(start), std::move(note), true);
    // A trace that can't be compiled is kept, so that it can be shown. The next call compiles it again.
    if (!checksNumerics() && !concrete->code.load(std::memory_order_relaxed))
      compile(*concrete, call);
    toWarn = warning();
  }
  if (!toWarn.empty())
    warn(toWarn, call);
  return *concrete;
}

FunctionTrace &FunctionCore::afterRefusal(const Arguments &arguments, CallBody body, SourceLocation call,
                                          const std::string &reason) {
  TraceLock::Guard guard(lock, call);
  auto known = [&](const FunctionTrace &concrete) { return !concrete.isPattern() && concrete.accepts(arguments); };
  if (FunctionTrace *found = table.find(hashKey(arguments.key()), arguments.key(), known))
    return *found; // another thread was first
  Clock::time_point start = Clock::now();
  std::shared_ptr<FunctionTrace> made = trace(describe(body, call), arguments, body, call, false);
  return *insert(
      std::move(made), call, millisecondsSince(start),
      absl::StrCat("it is traced for these sizes, because the trace that leaves them open has refused them: ", reason),
      true);
}

std::shared_ptr<FunctionTrace> FunctionCore::exactly(Signature signature, const Arguments &arguments, CallBody body,
                                                     SourceLocation call) {
  TraceLock::Guard guard(lock, call);
  auto accepts = [&](const FunctionTrace &concrete) { return concrete.accepts(arguments); };
  if (FunctionTrace *found = table.findSame(signature.key, signature.unknown, accepts))
    return found->shared_from_this();
  Clock::time_point start = Clock::now();
  std::shared_ptr<FunctionTrace> concrete = trace(std::move(signature), arguments, body, call, false);
  insert(concrete, call, millisecondsSince(start), "", false);
  return concrete;
}

FunctionTrace &FunctionCore::fartherThan(FunctionTrace &concrete, const LoopTooFar &error, const Arguments &arguments,
                                         CallBody body, SourceLocation call) {
  TraceLock::Guard guard(lock, call);
  if (concrete.farther.load(std::memory_order_relaxed)) // another thread was first
    return concrete.latest();
  Clock::time_point start = Clock::now();
  if (concrete.memory)
    concrete.memory->tooFar = error.location();
  std::shared_ptr<FunctionTrace> made =
      trace(concrete.signature, arguments, body, call, concrete.relaxed, concrete.level + 1, concrete.memory);
  made->relaxed = concrete.relaxed;
  made->history = concrete.history;
  if (made->history)
    made->history->milliseconds += millisecondsSince(start);
  compile(*made, call);
  concrete.fartherOwned = made;
  concrete.farther.store(made.get(), std::memory_order_release);
  return *made;
}

std::string FunctionCore::list() {
  TraceLock::Guard guard(lock);
  std::string text;
  for (const std::shared_ptr<FunctionTrace> &concrete : table.entries())
    text += concrete->str(name);
  return text;
}

std::vector<std::shared_ptr<const FunctionTrace>> FunctionCore::all() {
  TraceLock::Guard guard(lock);
  std::vector<std::shared_ptr<const FunctionTrace>> traces;
  for (const std::shared_ptr<FunctionTrace> &concrete : table.entries())
    traces.push_back(concrete->shareLatest());
  return traces;
}

void FunctionCore::clear() {
  TraceLock::Guard guard(lock);
  runtime::ForkSection section;
  table.clear();
  unrelaxable.clear();
}

} // namespace detail
} // namespace calque
