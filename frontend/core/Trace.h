// Traces, and the current trace of a thread.
#ifndef CALQUE_FRONTEND_CORE_TRACE_H
#define CALQUE_FRONTEND_CORE_TRACE_H

#include "frontend/core/TensorImpl.h"
#include "frontend/operations/HostFunction.h"
#include "schema/HashTables.h"

#include <optional>
#include <set>
#include <string_view>
#include <tuple>

namespace calque::detail {

// The largest number of elements of a tensor that becomes a constant, if the trace alone holds it.
inline constexpr std::int64_t kMostConstantElements = 16;

class Activity;
class HostDecisions;
class MadeConstants;
// Identifies a question to a tape: its line, and how many questions the line has asked since the last decision of host
// code. A line may ask several, for instance in a helper that is called more than once.
using Question = std::tuple<std::string_view, unsigned, std::size_t>;
// The sources for which runs of host code ask tapes, by the question and the number of the source. A source that may be
// connected on some path counts as connected on all paths. So a gradient that exists on one path is not reported as
// missing on another path.
struct AskedSources {
  using Key = std::pair<Question, std::size_t>;
  std::set<Key> asked, connected; // connected: the asked sources from which a path leads to the target
  std::set<Key> unconnected;      // not connected on any path, as earlier runs have found
};

class Trace {
public:
  explicit Trace(bool mayMakeVariables) : id(nextId()), mayMakeVariables(mayMakeVariables) {}
  // The trace of a program inside of an operation, such as a pullback. It captures the eager tensors and the values of
  // the trace `outer` that it uses.
  static std::shared_ptr<Trace> inside(std::shared_ptr<Trace> outer, const char *what);

  // `name` is the parameter's name in messages: "argument 0".
  Tensor addParameter(TypeRef type, std::string name = "");
  // The value of a tensor of this trace, or the capture of another tensor. LeakedTensorError for a tensor of a trace
  // that has ended or is not around this one.
  schema::ValueId valueOf(const Tensor &x, SourceLocation where);
  // The values of a call's results. An `identity` makes a fresh SSA value of a result that is an argument, a capture, a
  // variable's value, or another result as well. If the call is inlined behind the first `inlinedAfter` values of the
  // trace, an `identity` is also made of a result that is one of these values, and of one from which the call computes
  // something else, maybe another result. Native code returns distinct tensors in all these cases, and derivatives tell
  // them apart.
  std::vector<schema::ValueId> ownValues(std::span<const Tensor> results, std::optional<std::size_t> inlinedAfter,
                                         SourceLocation where);
  Tensor tensorOf(schema::ValueId value, SourceLocation where) const;
  schema::ValueId append(schema::OpId op, std::span<const schema::ValueId> operands,
                         std::span<const schema::Attribute> attributes, std::span<const schema::TensorType> results,
                         SourceLocation where);
  schema::ValueId constant(const schema::TensorType &type, const void *data, bool splat, SourceLocation where);

  // The variable's index in the recording, which its first use adds. The original of a stand-in has the stand-in's
  // index.
  std::size_t indexOf(const std::shared_ptr<VariableState> &variable);
  Tensor read(const std::shared_ptr<VariableState> &variable, SourceLocation where);
  void assign(const std::shared_ptr<VariableState> &variable, const Tensor &value, SourceLocation where);
  // The results of host calls and of ordered operations of CallOrder::Once, which tapes can't recompute: all of them,
  // or those that depend on `example`, a slice of a vmap. A result on a slice is replaced by the stacked one, once that
  // exists.
  std::vector<schema::ValueId> hostResults() const;
  std::vector<schema::ValueId> hostResultsFrom(schema::ValueId example) const;
  void stackHostResult(schema::ValueId ofOne, schema::ValueId ofAll) { stackedHostResults[ofOne] = ofAll; }
  // The elements of a variable's initial value, which is computed now and once: from the present values of variables,
  // and with random numbers that are drawn now. StateError if the value depends on the function's arguments, on a host
  // call, or on a variable that the function has assigned.
  Tensor evaluate(const Tensor &x, SourceLocation where);
  // Notes that the latest operation advances a generator from its state `before`.
  void noteDraw(const std::shared_ptr<VariableState> &generator, const Tensor &before);
  // Ends the recording; its results must be set. Small captured tensors that nothing else holds become constants,
  // because no tape can be asked for their gradients. (`every`: all captured tensors become constants, however large
  // and whoever holds them.) Operations that advance a generator for the random numbers of initial values alone are
  // removed.
  void finish(bool every = false);

  SourceLocation call; // the call that is traced; its line is that of the lambda's arguments
  const std::uint64_t id;
  const bool mayMakeVariables;
  // mayFallBack: the trace is a relaxed one. If user code asks for one of its unknown sizes, the trace is abandoned.
  bool mayFallBack = false, askedForSizes = false;
  std::string asked; // the size that was asked for, as errors name it
  void noteSizesAsked(const TensorImpl &x, const std::string &size);
  bool ended = false;
  std::int64_t mostConstantElements = kMostConstantElements; // of tensors that may become constants
  schema::Recording recording;
  std::size_t numArguments = 0; // parameters before the captures
  std::vector<std::string> argumentNames;
  std::vector<Tensor> captures; // the tensors of the parameters after the arguments
  std::vector<std::shared_ptr<const HostFunction>> hostFunctions;
  std::vector<std::shared_ptr<VariableState>> variables;
  std::vector<std::shared_ptr<VariableState>> standIns; // for variables that are arguments
  std::vector<bool> capturedArguments;                  // stand-ins whose original the lambda captures too

  // The decisions that host code has made on tensors; null: none so far.
  std::shared_ptr<HostDecisions> decisions;
  // Set in a run that explores native control flow, else null.
  AskedSources *askedSources = nullptr;
  // Set in a run of a lambda, and in traces inside of a run; else null.
  std::shared_ptr<MadeConstants> madeConstants;
  // Whether the trace is one of several paths.
  bool isOneOfPaths() const { return askedSources || decisions; }
  // The values recorded so far that depend on these values.
  const Activity &dependingOn(const std::vector<schema::ValueId> &values);

  // Whether values of the trace with this id can be used here: it is this trace, or one around it.
  bool sees(std::uint64_t trace) const { return trace == id || isAround(trace); }
  // The trace with this id if it is this trace or one around it; else null.
  const Trace *around(std::uint64_t trace) const;
  // Whether this is the trace of a program inside of an operation.
  bool isInside() const { return inner != nullptr; }

  // The trace of a branch, or of a part of a loop, of the trace `outer`. Variables can be assigned in it, and it may
  // have host calls where `outer` may.
  static std::shared_ptr<Trace> region(std::shared_ptr<Trace> outer, const char *what);
  // A variable that a region reads or assigns: the parameter with its value at first, and the value that it has now.
  struct Held {
    std::size_t index; // in the outermost trace
    schema::ValueId parameter, value;
    bool assigned = false, read = false, readAssigned = false;
  };
  const std::vector<Held> &held() const { return held_; }
  // The function's own trace, which the regions are in.
  Trace &root();
  // Whether a host call is allowed here.
  bool mayCallHost() const { return !inner || (isRegion && outer->mayCallHost()); }
  // Appends a captured tensor's elements to a recording.
  schema::ValueId appendConstantOf(std::size_t capture, schema::Recording &to) const;

private:
  bool isAround(std::uint64_t trace) const;
  Held &hold(const std::shared_ptr<VariableState> &variable, SourceLocation where);

  // Tapes in a loop ask for the same values in each iteration, so the analysis continues from the question before.
  struct Depending {
    std::vector<schema::ValueId> values;
    std::shared_ptr<Activity> activity;
    std::size_t next = 0; // operation
  } depending;
  bool isRegion = false;
  std::vector<Held> held_;
  const char *inner = nullptr;        // the name of a program inside of an operation, else null
  std::shared_ptr<Trace> outer;       // null in eager mode
  std::vector<schema::ValueId> reads; // each variable's present value; -1: not read yet
  HashMap<std::uint64_t, schema::ValueId> captured;
  std::vector<schema::SourceLine> captureLines; // the line of the first use of each capture
  struct Draw {
    std::shared_ptr<VariableState> generator;
    schema::ValueId before, after;
    std::size_t assignment;          // the operation
    std::optional<Tensor> drawnFrom; // the generator's state, once the numbers are drawn for an initial value
  };
  std::vector<Draw> draws;
  HashMap<schema::ValueId, schema::ValueId> stackedHostResults;
};

// Thrown to abandon a trace that may fall back on one with known sizes.
struct SizesAsked {
  std::string size;
};

// A mode that tracing depends on, within a scope. The mode is part of the keys of functions called in the scope.
class ModeScope {
public:
  explicit ModeScope(std::uint64_t mode); // an id: no other scope has it
  ~ModeScope();
  ModeScope(const ModeScope &) = delete;
  ModeScope &operator=(const ModeScope &) = delete;

private:
  const std::uint64_t mode;
};

// This thread's trace, or null.
const std::shared_ptr<Trace> &currentTrace();

// Sets this thread's current trace, which may be none, for a scope.
class TraceScope {
public:
  explicit TraceScope(std::shared_ptr<Trace> trace, bool ends = true);
  ~TraceScope();
  TraceScope(const TraceScope &) = delete;
  TraceScope &operator=(const TraceScope &) = delete;

private:
  std::shared_ptr<Trace> previous;
  bool ends; // whether the trace ends with the scope
};

} // namespace calque::detail
#endif
