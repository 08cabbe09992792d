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
  // Arguments that the lambda also captures: the trace serves only calls with the same variables.
  std::vector<std::pair<std::size_t, std::shared_ptr<VariableState>>> identical;
  std::shared_ptr<const void> prototype;
  std::unique_ptr<const CapturedPanels> panels; // what `compiled` was made of, if not of the recording
  std::unique_ptr<const Code> compiled;
  std::atomic<const Code *> code{nullptr}; // `compiled`, once it is there
  // The same for calls while debug::enable_check_numerics() holds.
  std::unique_ptr<const Code> checked;
  std::atomic<const Code *> checkedCode{nullptr};
  bool isCode(const void *which) const { return which == code.load() || which == checkedCode.load(); }
  // What tapes record of a call; made at the first call that a tape records.
  const CalledProgram &called() const;
  std::shared_ptr<TraceHistory> history;
  bool relaxed = false; // made by reduce_retracing, with unknown sizes
  // How far tracing followed the trace's loops, and the trace that replaces this one after a call has needed more
  // iterations.
  int level = 0;
  std::shared_ptr<FunctionTrace> fartherOwned;
  std::atomic<FunctionTrace *> farther{nullptr}; // `fartherOwned`, once it is there
  std::shared_ptr<const FunctionTrace> shareLatest() const {
    return const_cast<FunctionTrace *>(this)->latest().shared_from_this(); // which is no change of it
  }
  FunctionTrace &latest() {
    FunctionTrace *trace = this;
    while (FunctionTrace *next = trace->farther.load(std::memory_order_acquire))
      trace = next;
    return *trace;
  }

  // Whether arguments and captures are the same variables, or different ones, as when it was traced.
  bool accepts(const Arguments &arguments) const;
  std::string str(const std::string &name) const;

private:
  mutable std::once_flag calledOnce;
  mutable CalledProgram called_;
};

// What explain_retraces() needs of a trace, even after it was evicted.
struct TraceHistory {
  Signature signature;
  SourceLocation call;
  double milliseconds = 0; // guarded by the function's lock
  Retrace retrace;         // why it was made; unused for the first trace
  bool isFirst = false;
  // What a warning gives advice on.
  bool wasEvicted = false, sizesChanged = false, sizesRefused = false;
  std::vector<std::string> changedNumbers; // the arguments

  // Notes which numbers, and whether sizes of tensors, differ from those of another signature.
  void noteChanges(const Signature &before);
};

class FunctionCore {
public:
  FunctionCore(FunctionOptions options, SourceLocation where);

  // Takes no lock; the caller holds a ReadScope.
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
  // Makes the trace that follows loops farther than `concrete`, whose loops ended before the call was through.
  FunctionTrace &fartherThan(FunctionTrace &concrete, const Arguments &arguments, CallBody body, SourceLocation where);
  const Code &codeOf(FunctionTrace &concrete, const SourceLocation &where);
  const Code &checkedCodeOf(FunctionTrace &concrete, const SourceLocation &where);
  void noteCall() {
    // The count stops at the length of the history, so that a steady call writes to no memory that threads share.
    if (callsSinceTrace.load(std::memory_order_relaxed) < kWarningHistory)
      callsSinceTrace.fetch_add(1, std::memory_order_relaxed);
  }
  Signature describe(CallBody body, const SourceLocation &where) const;
  // The call's signature with the sizes of the input signature, if the function has one. SignatureError.
  Signature byInputSignature(const Signature &given, SourceLocation where) const;
  std::vector<Retrace> retraces();
  std::string list();
  void clear();
  // All traces, each followed as far as it ever was.
  std::vector<std::shared_ptr<const FunctionTrace>> all();

  // Of a function that was loaded: the signature of the trace that serves a call. SignatureError.
  std::function<Signature(const Signature &given, SourceLocation where)> choose;
  std::shared_ptr<const SavedFunction> loaded; // what it was loaded from, else null

  const FunctionOptions options;
  const std::string name; // a symbol
  const SourceLocation where;
  const std::vector<ExpectedTensor> inputSignature;
  std::atomic<std::int64_t> traces{0};

private:
  // A warning after kWarningTraces traces within the last kWarningHistory calls, at most kMostWarnings times.
  static constexpr int kWarningTraces = 5, kWarningHistory = 10, kMostWarnings = 2;
  static constexpr std::size_t kMostHistory = 256;

  // The caller holds the lock.
  std::shared_ptr<FunctionTrace> trace(Signature signature, const Arguments &arguments, CallBody body,
                                       SourceLocation where, bool mayFallBack, int level = 0);
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
  std::deque<int> callsPerTrace; // within the history
  int warnings = 0;
  std::map<Key, std::string> unrelaxable; // patterns that could not be traced or compiled, and the note that says why
};

// The state that handles to one ConcreteFunction share.
class ConcreteCore {
public:
  ConcreteCore(std::shared_ptr<FunctionCore> function, Signature signature)
      : function(std::move(function)), signature(std::move(signature)) {}

  // The trace that serves a call. If the rank is unknown, the trace is made at the first call with this rank.
  // SignatureError.
  FunctionTrace &traceFor(const Arguments &arguments, CallBody body, SourceLocation where);
  // SignatureError for a call that differs from the signature.
  void check(const Signature &given, SourceLocation where) const;
  FunctionTrace &add(std::shared_ptr<FunctionTrace> concrete);
  // The only trace; StateError if the rank is unknown.
  const FunctionTrace &only(const SourceLocation &where) const;

  const std::shared_ptr<FunctionCore> function;
  const Signature signature;

private:
  // Keeps a trace, also one that the function evicts.
  struct Held : KeyEntry {
    explicit Held(std::shared_ptr<FunctionTrace> concrete);
    const std::shared_ptr<FunctionTrace> concrete;
  };
  KeyTable<Held> traces;          // one for each rank; none is ever removed
  runtime::ForkMutex tracesMutex; // of those who add one
};

// LeakedTensorError or StateError where traced tensors or TensorSpecs are arguments of a call that runs.
void requireEager(const Arguments &arguments, const SourceLocation &where);
// The program after a stage, as text, and the trace as a picture.
std::string printTrace(const FunctionTrace &concrete, const std::string &stage, const SourceLocation &where);
std::string drawTrace(const FunctionTrace &concrete);
// Runs a trace, or one that follows loops farther, on the arguments of a call that it accepts.
void runConcrete(FunctionCore &core, FunctionTrace &concrete, const Arguments &arguments, CallBody body,
                 CallResults &results, const SourceLocation &where);

} // namespace calque::detail
#endif
