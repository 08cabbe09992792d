// The trace that a thread is in, and what it knows.
#ifndef CALQUE_FRONTEND_TRACE_H
#define CALQUE_FRONTEND_TRACE_H

#include "frontend/HostCall.h"
#include "frontend/TensorImpl.h"

#include <unordered_map>

namespace calque::detail {

// Elements up to which a captured tensor becomes a constant.
inline constexpr std::int64_t kMostConstantElements = 16;

class Trace {
public:
  explicit Trace(bool mayMakeVariables) : id(nextId()), mayMakeVariables(mayMakeVariables) {}
  // Of a program inside of an operation. What it takes from around it, be that eager or in the trace `outer`, it
  // captures.
  static std::shared_ptr<Trace> inside(std::shared_ptr<Trace> outer, const char *what);

  Tensor addParameter(TypeRef type);
  // The value of a tensor: its own, or a capture. LeakedTensorError for another trace's.
  schema::ValueId valueOf(const Tensor &x, SourceLocation where);
  // That of a call's result, made by an `identity` for what was among the trace's first `numBefore` values, is an
  // argument, a capture or a variable's value, or is one of the call's other results: derivatives tell apart what
  // native code gives as separate tensors.
  schema::ValueId ownValue(const Tensor &result, std::size_t numBefore, std::span<const schema::ValueId> others,
                           SourceLocation where);
  Tensor tensorOf(schema::ValueId value, SourceLocation where) const;
  schema::ValueId append(schema::OpId op, std::span<const schema::ValueId> operands,
                         std::span<const schema::Attribute> attributes, std::span<const schema::TensorType> results,
                         SourceLocation where);
  schema::ValueId constant(const schema::TensorType &type, const void *data, bool splat, SourceLocation where);

  // The variable's index, made at its first use. A stand-in's original is the stand-in.
  std::size_t indexOf(const std::shared_ptr<VariableState> &variable);
  Tensor read(const std::shared_ptr<VariableState> &variable, SourceLocation where);
  void assign(const std::shared_ptr<VariableState> &variable, const Tensor &value, SourceLocation where);
  // What host calls give, which tapes can't compute again: every value, or only those that `example` of a vmap has a
  // part in. What belongs to one example is meant as the stack of all, once there is one.
  std::vector<schema::ValueId> hostResults() const;
  std::vector<schema::ValueId> hostResultsFrom(schema::ValueId example) const;
  void stackHostResult(schema::ValueId ofOne, schema::ValueId ofAll) { stackedHostResults[ofOne] = ofAll; }
  // The elements of a value that needs none of the function's arguments or variables; StateError for one that does.
  Tensor evaluate(const Tensor &x, SourceLocation where) const;

  const std::uint64_t id;
  const bool mayMakeVariables;
  // Sizes were left open without the user's having asked for it: where user code asks for one, the trace is given up.
  bool mayFallBack = false, askedForSizes = false;
  SourceLocation askedAt; // where the tensor was made
  void noteSizesAsked(const TensorImpl &x);
  bool ended = false;
  std::int64_t mostConstantElements = kMostConstantElements; // of captured tensors that become constants
  schema::Recording recording;
  std::size_t numArguments = 0; // parameters before the captures
  std::vector<Tensor> captures; // hidden parameters
  std::vector<std::shared_ptr<const HostFunction>> hostFunctions;
  std::vector<std::shared_ptr<VariableState>> variables;
  std::vector<std::shared_ptr<VariableState>> standIns; // for variables that are arguments
  std::vector<bool> capturedArguments;                  // stand-ins whose original the lambda captures too

  // Whether it is the program of an operation.
  bool isInside() const { return inner != nullptr; }

private:
  bool isAround(std::uint64_t trace) const;

  const char *inner = nullptr;        // what this is the program of
  std::shared_ptr<Trace> outer;       // null in eager mode
  std::vector<schema::ValueId> reads; // of the present version; -1: none yet
  std::unordered_map<std::uint64_t, schema::ValueId> captured;
  std::unordered_map<schema::ValueId, schema::ValueId> stackedHostResults;
};

// Ends a trace that may fall back on one with known sizes.
struct SizesAsked {
  SourceLocation where;
};

// A mode that tracing depends on, for as long as it lives: functions called under it have traces of their own.
class ModeScope {
public:
  explicit ModeScope(std::uint64_t mode);
  ~ModeScope();
  ModeScope(const ModeScope &) = delete;
  ModeScope &operator=(const ModeScope &) = delete;

private:
  std::uint64_t before;
};

// This thread's trace, or null.
const std::shared_ptr<Trace> &currentTrace();

// Makes a trace, or none, this thread's for a scope.
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
