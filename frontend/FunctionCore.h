// What a Function's handles share: its traces, how a call finds its own, and why there is more than one.
#ifndef CALQUE_FRONTEND_FUNCTIONCORE_H
#define CALQUE_FRONTEND_FUNCTIONCORE_H

#include "frontend/Execute.h"
#include "frontend/Signature.h"
#include "frontend/Trace.h"

#include <deque>
#include <mutex>

namespace calque::detail {

// Where a trace's variable comes from in a call: an argument, or captured.
struct BoundVariable {
  std::ptrdiff_t argument = -1;
  std::shared_ptr<VariableState> captured;
};

struct TraceHistory;

// One trace, with its code once there is some.
struct Concrete : KeyEntry, std::enable_shared_from_this<Concrete> {
  Signature signature, results;
  schema::Recording recording;
  std::vector<std::shared_ptr<const HostFunction>> hostFunctions;
  std::vector<Tensor> captures;
  std::vector<BoundVariable> variables;
  // Of arguments that the lambda captures too: the trace serves calls with that very variable only.
  std::vector<std::pair<std::size_t, std::shared_ptr<VariableState>>> identical;
  std::shared_ptr<const void> prototype;
  std::unique_ptr<const Code> compiled;
  std::atomic<const Code *> code{nullptr}; // `compiled`, once it is there
  std::shared_ptr<TraceHistory> history;
  bool relaxed = false; // sizes are open that the user has not asked to leave open

  // Whether the arguments and what is captured are the same variables as when it was traced.
  bool accepts(const Arguments &arguments) const;
  std::string str(const std::string &name) const;
};

// What is remembered of a trace when the trace is gone.
struct TraceHistory {
  Signature signature;
  SourceLocation call;
  double milliseconds = 0; // under the function's lock
  Retrace retrace;         // why it was made; of no use for the first
  bool isFirst = false;
};

class FunctionCore {
public:
  FunctionCore(FunctionOptions options, SourceLocation where);

  // Without a lock; under a ReadScope.
  Concrete *find(std::size_t hash, const Arguments &arguments) const {
    return table.find(hash, arguments.key(), [&](const Concrete &concrete) {
      return arguments.variables().empty() || concrete.accepts(arguments);
    });
  }
  // The trace for a call that find() knows none for, compiled.
  Concrete &miss(std::size_t hash, const Arguments &arguments, CallBody body, SourceLocation where);
  // The trace for a call whose sizes a relaxed trace has refused.
  Concrete &afterRefusal(const Arguments &arguments, CallBody body, SourceLocation where, const std::string &reason);
  // The trace of just this signature, whatever else matches.
  std::shared_ptr<Concrete> exactly(Signature signature, const Arguments &arguments, CallBody body,
                                    SourceLocation where);
  const Code &codeOf(Concrete &concrete);
  void noteCall() {
    // Counted up to the length of the history only, so that a steady call writes nothing that threads share.
    if (callsSinceTrace.load(std::memory_order_relaxed) < kWarningHistory)
      callsSinceTrace.fetch_add(1, std::memory_order_relaxed);
  }
  Signature describe(CallBody body) const;
  // What a call's signature is by the input signature, if there is one. SignatureError.
  Signature byInputSignature(const Signature &given, SourceLocation where) const;
  std::vector<Retrace> retraces();
  std::string list();
  void clear();

  const FunctionOptions options;
  const std::string name; // a symbol
  const SourceLocation where;
  const std::vector<ExpectedTensor> inputSignature;
  std::atomic<std::int64_t> traces{0};

private:
  // Warned of are this many traces within the last so many calls, so often.
  static constexpr int kWarningTraces = 5, kWarningHistory = 10, kMostWarnings = 2;
  static constexpr std::size_t kMostHistory = 256;

  // With the lock held.
  std::shared_ptr<Concrete> trace(Signature signature, const Arguments &arguments, CallBody body, SourceLocation where,
                                  bool mayFallBack);
  std::shared_ptr<Concrete> traceRelaxed(const Signature &signature, const Arguments &arguments, CallBody body,
                                         SourceLocation where, std::string &note);
  Concrete *insert(std::shared_ptr<Concrete> concrete, SourceLocation where, double milliseconds, std::string note,
                   bool counts);
  void compile(Concrete &concrete);
  std::string warning();

  KeyTable<Concrete, Recency::Exact> table;
  // Recursive: an initial value that is evaluated while tracing may call the function again.
  std::recursive_mutex mutex;
  std::atomic<int> callsSinceTrace{kWarningHistory};
  // Under the lock.
  std::deque<std::shared_ptr<TraceHistory>> history;
  std::deque<int> callsPerTrace; // within the history
  int warnings = 0;
  std::vector<Key> unrelaxable; // patterns that failed
};

// What a ConcreteFunction's handles share.
class ConcreteCore {
public:
  ConcreteCore(std::shared_ptr<FunctionCore> function, Signature signature)
      : function(std::move(function)), signature(std::move(signature)) {}
  ~ConcreteCore();

  // The trace that serves a call, made where the rank is open and new. SignatureError.
  Concrete &traceFor(const Arguments &arguments, CallBody body, SourceLocation where);
  // SignatureError for a call that differs from the signature.
  void check(const Signature &given, SourceLocation where) const;
  void add(std::shared_ptr<Concrete> concrete);
  // The only trace; StateError where the rank is open.
  const Concrete &only() const;

  const std::shared_ptr<FunctionCore> function;
  const Signature signature;

private:
  // One for each rank met; readers take no lock.
  struct Node {
    std::shared_ptr<Concrete> concrete;
    Node *next;
  };
  std::atomic<Node *> first{nullptr};
};

// Runs a trace on the arguments of a call that it serves.
void runConcrete(FunctionCore &core, Concrete &concrete, const Arguments &arguments, CallResults &results);

} // namespace calque::detail
#endif
