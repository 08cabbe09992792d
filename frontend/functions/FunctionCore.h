// The state that handles to one Function share: its traces, the table in which calls find them, and their history.
#ifndef CALQUE_FRONTEND_FUNCTIONS_FUNCTIONCORE_H
#define CALQUE_FRONTEND_FUNCTIONS_FUNCTIONCORE_H

#include "frontend/compiled/CalledProgram.h"
#include "frontend/compiled/CapturedPanels.h"
#include "frontend/compiled/Execute.h"
#include "frontend/core/Signature.h"
#include "frontend/core/Trace.h"
#include "frontend/core/TraceLock.h"
#include "frontend/native/Following.h"
#include "runtime/Fork.h"

#include <deque>
#include <map>
#include <mutex>

namespace calque::detail {

// Where a call takes a trace's variable from: an argument, or a capture.
struct BoundVariable {
  std::ptrdiff_t argument = -1;
  std::shared_ptr<VariableState> captured;
};

struct TraceHistory;
struct SavedFunction;

// One trace, and its native code once it is compiled.
struct FunctionTrace : KeyEntry, std::enable_shared_from_this<FunctionTrace> {
  Signature signature, results;
  schema::Recording recording;
  std::vector<std::shared_ptr<const HostFunction>> hostFunctions;
  std::vector<Tensor> captures;
  std::vector<BoundVariable> variables;
  // Arguments that are variables which the lambda also captures. The trace serves only calls with the same variables in
  // these places.
  std::vector<std::pair<std::size_t, std::shared_ptr<VariableState>>> identical;
  std::shared_ptr<const void> prototype;
  std::unique_ptr<const CapturedPanels> panels; // what `compiled` was made from; null: from `recording`
  std::unique_ptr<const Code> compiled;
  std::atomic<const Code *> code{nullptr}; // `compiled`, once it is there
  // As `compiled` and `code`, for calls while debug::enable_check_numerics() is on.
  std::unique_ptr<const Code> checked;
  std::atomic<const Code *> checkedCode{nullptr};
  bool isCode(const void *which) const { return which == code.load() || which == checkedCode.load(); }
  // The program that tapes record for a call. It is made at the first call that a tape records.
  const CalledProgram &called() const;
  std::shared_ptr<TraceHistory> history;
  bool relaxed = false; // made by reduce_retracing, with unknown sizes
  // `level` is how far tracing has followed the loops of C++ code. `fartherOwned` is the trace that replaces this one
  // after a call has needed more iterations.
  int level = 0;
  std::shared_ptr<FollowMemory> memory;
  std::shared_ptr<FunctionTrace> fartherOwned;
  std::atomic<FunctionTrace *> farther{nullptr}; // `fartherOwned`, once it is there
  std::shared_ptr<const FunctionTrace> shareLatest() const {
    return const_cast<FunctionTrace *>(this)->latest().shared_from_this(); // latest() changes no trace
  }
  FunctionTrace &latest() {
    FunctionTrace *trace = this;
    while (FunctionTrace *next = trace->farther.load(std::memory_order_acquire))
      trace = next;
    return *trace;
  }

  // Whether the trace serves these arguments: a variable among them must be a captured variable exactly if it was that
  // variable when the function was traced.
  bool accepts(const Arguments &arguments) const;
  std::string str(const std::string &name) const;

private:
  mutable std::once_flag calledOnce;
  mutable CalledProgram called_;
};

// What explain_retraces() tells about a trace. It is kept after the trace is evicted.
struct TraceHistory {
  Signature signature;
  SourceLocation call;
  double milliseconds = 0; // guarded by the function's lock
  Retrace retrace;         // why the trace was made; unused for the first trace
  bool isFirst = false;
  // The causes on which a warning gives advice.
  bool wasEvicted = false, sizesChanged = false, sizesRefused = false;
  std::vector<std::string> changedNumbers; // the arguments whose number has changed

  // Notes which numbers differ from an earlier signature, and whether sizes of tensors differ.
  void noteChanges(const Signature &before);
};

class FunctionCore {
public:
  FunctionCore(FunctionOptions options, SourceLocation where);

  // Returns the trace that serves a call, or null. Takes no lock. The caller holds a ReadScope.
  FunctionTrace *find(std::size_t hash, const Arguments &arguments) const {
    return table.find(hash, arguments.key(), [&](const FunctionTrace &concrete) {
      return arguments.variables().empty() || concrete.accepts(arguments);
    });
  }
  // Makes and compiles the trace of a call for which find() has none.
  FunctionTrace &miss(std::size_t hash, const Arguments &arguments, CallBody body, SourceLocation where);
  // Makes the trace of a call whose sizes a relaxed trace has refused.
  FunctionTrace &afterRefusal(const Arguments &arguments, CallBody body, SourceLocation where,
                              const std::string &reason);
  // The trace of exactly this signature, even if a pattern matches it.
  std::shared_ptr<FunctionTrace> exactly(Signature signature, const Arguments &arguments, CallBody body,
                                         SourceLocation where);
  // Makes the trace that follows loops farther than `concrete`. The call needs more iterations than `concrete` has
  // followed.
  FunctionTrace &fartherThan(FunctionTrace &concrete, const LoopTooFar &error, const Arguments &arguments,
                             CallBody body, SourceLocation where);
  const Code &codeOf(FunctionTrace &concrete, const SourceLocation &where);
  const Code &checkedCodeOf(FunctionTrace &concrete, const SourceLocation &where);
  void noteCall() {
    // The count stops at the length of the history, so that a steady call writes to no memory that threads share.
    if (callsSinceTrace.load(std::memory_order_relaxed) < kWarningHistory)
      callsSinceTrace.fetch_add(1, std::memory_order_relaxed);
  }
  Signature describe(CallBody body, const SourceLocation &where) const;
  // The call's signature with the sizes of the input signature, if the function has one. For a loaded function, the
  // signature of the trace that serves the call. SignatureError if the call does not fit.
  Signature byInputSignature(const Signature &given, SourceLocation where) const;
  std::vector<Retrace> retraces();
  std::string list();
  void clear();
  // All traces. A trace that was replaced by one which follows loops farther is not among them.
  std::vector<std::shared_ptr<const FunctionTrace>> all();

  // Set for a loaded function: returns the signature of the trace that serves a call. SignatureError if there is none.
  std::function<Signature(const Signature &given, SourceLocation where)> choose;
  std::shared_ptr<const SavedFunction> loaded; // what a loaded function was loaded from, else null

  const FunctionOptions options;
  const std::string name; // the symbol in native code
  const SourceLocation where;
  const std::vector<ExpectedTensor> inputSignature;
  std::atomic<std::int64_t> traces{0};

private:
  // The function warns of kWarningTraces traces within the last kWarningHistory calls, at most kMostWarnings times.
  static constexpr int kWarningTraces = 5, kWarningHistory = 10, kMostWarnings = 2;
  static constexpr std::size_t kMostHistory = 256;

  // The caller of the following functions holds the lock.
  std::shared_ptr<FunctionTrace> trace(Signature signature, const Arguments &arguments, CallBody body,
                                       SourceLocation where, bool mayFallBack, int level = 0,
                                       std::shared_ptr<FollowMemory> memory = nullptr);
  std::shared_ptr<FunctionTrace> traceRelaxed(const Signature &signature, const Arguments &arguments, CallBody body,
                                              SourceLocation where, std::string &note);
  FunctionTrace *insert(std::shared_ptr<FunctionTrace> concrete, SourceLocation where, double milliseconds,
                        std::string note, bool counts);
  void compile(FunctionTrace &concrete, SourceLocation call);
  std::string warning();

  KeyTable<FunctionTrace, Recency::Exact> table;
  // Recursive, because a variable's initial value, evaluated while tracing, may call the function.
  TraceLock lock;
  std::atomic<int> callsSinceTrace{kWarningHistory};
  // Guarded by the lock.
  std::deque<std::shared_ptr<TraceHistory>> history;
  std::deque<int> callsPerTrace; // for each trace of the last kWarningHistory calls, the calls until the next one
  int warnings = 0;
  std::map<Key, std::string> unrelaxable; // patterns that could not be traced or compiled, and the note that says why
};

// The state that handles to one ConcreteFunction share.
class ConcreteCore {
public:
  ConcreteCore(std::shared_ptr<FunctionCore> function, Signature signature)
      : function(std::move(function)), signature(std::move(signature)) {}

  // The trace that serves a call. If the signature has an unknown rank, the first call of each rank makes a trace.
  // SignatureError if the call does not fit.
  FunctionTrace &traceFor(const Arguments &arguments, CallBody body, SourceLocation where);
  // SignatureError if a call differs from the signature.
  void check(const Signature &given, SourceLocation where) const;
  FunctionTrace &add(std::shared_ptr<FunctionTrace> concrete);
  // The only trace; StateError if the rank is unknown.
  const FunctionTrace &only(const SourceLocation &where) const;

  const std::shared_ptr<FunctionCore> function;
  const Signature signature;

private:
  // Keeps a trace, even if the function evicts it.
  struct Held : KeyEntry {
    explicit Held(std::shared_ptr<FunctionTrace> concrete);
    const std::shared_ptr<FunctionTrace> concrete;
  };
  KeyTable<Held> traces;          // one for each rank; none is ever removed
  runtime::ForkMutex tracesMutex; // held while a trace is added
};

// LeakedTensorError or StateError if an argument of a call that runs is a traced tensor or a TensorSpec.
void requireEager(const Arguments &arguments, const SourceLocation &where);
// printTrace returns the program after a stage as text. drawTrace returns the trace as a graph in Graphviz's language.
std::string printTrace(const FunctionTrace &concrete, const std::string &stage, const SourceLocation &where);
std::string drawTrace(const FunctionTrace &concrete);
// Runs a trace on the arguments of a call that it accepts. If the call needs more iterations of C++ loops than the
// trace has followed, a trace that follows them farther runs.
void runConcrete(FunctionCore &core, FunctionTrace &concrete, const Arguments &arguments, CallBody body,
                 CallResults &results, const SourceLocation &where);

} // namespace calque::detail
#endif
