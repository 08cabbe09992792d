// Tapes. A tape is a range of operations of a Recording: that of a trace, or one that the thread's eager tapes share.
#ifndef CALQUE_FRONTEND_GRADIENTS_TAPE_H
#define CALQUE_FRONTEND_GRADIENTS_TAPE_H

#include "calque/gradient_tape.h"
#include "frontend/compiled/CalledProgram.h"
#include "frontend/core/Trace.h"
#include "schema/HashTables.h"

namespace calque::detail {

// The Recording that the eager tapes of a thread share, and the tensors that derivatives of its operations read. A call
// of a compiled function is one operation: a `checkpoint` with the function's program inside.
class EagerRecorder {
public:
  schema::ValueId valueOf(const Tensor &x, SourceLocation where = {}); // a new leaf for an unknown tensor
  bool isTracked(const Tensor &x) const;
  void track(schema::ValueId value);
  bool isTracked(schema::ValueId value) const {
    return schema::index(value) < tracked.size() && tracked[schema::index(value)];
  }

  void record(schema::OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
              std::span<const Tensor> results, SourceLocation where);
  void recordCall(const CalledProgram &called, std::span<const Tensor *const> parameters,
                  std::span<const std::shared_ptr<VariableState>> variables, std::span<const Tensor> before,
                  std::span<const Tensor> results, SourceLocation where);

  // The tensor of a value; a tensor of its type without elements if no derivative reads the elements.
  Tensor tensorOf(schema::ValueId value) const;
  // The program of an operation that is a call, else null. Its address stays the same while further calls are recorded.
  const CalledProgram *calledBy(std::size_t op) const {
    auto found = calls.find(op);
    return found == calls.end() ? nullptr : found->second.get();
  }

  schema::Recording recording;

private:
  schema::ValueId append(schema::OpId op, std::span<const schema::ValueId> operands,
                         std::span<const schema::Attribute> attributes, std::span<const Tensor> results,
                         const schema::SourceLine &line);
  void setId(schema::ValueId value, std::uint64_t id);
  void keep(schema::ValueId value, const Tensor &x);

  std::vector<std::uint64_t> ids; // of tensors, by value
  std::vector<Tensor> kept;       // by value; those whose elements derivatives take
  HashMap<std::uint64_t, schema::ValueId> values;
  HashMap<std::size_t, std::unique_ptr<const CalledProgram>> calls; // by the number of the operation
  std::vector<bool> tracked;                                        // whether a value depends on a watched one
};

class TapeState;

// DTypeError for an element type without derivatives.
void requireFloatingType(const char *operation, const schema::TensorType &type, SourceLocation where);

// The tapes of a thread that record, the innermost last, and the recorder that its eager tapes share while there are
// any. A tape keeps this object, and may outlive its thread.
struct ThreadTapes {
  std::vector<TapeState *> recording;
  std::shared_ptr<EagerRecorder> eager;
};
const std::shared_ptr<ThreadTapes> &threadTapes();

class TapeState {
public:
  TapeState(GradientTapeOptions options, SourceLocation where);
  ~TapeState();

  void watch(schema::ValueId value);
  void noteRead(const std::shared_ptr<VariableState> &variable, schema::ValueId value);
  // Whether reads of the variable are watched, by themselves or because of watch().
  bool isWatching(const VariableState &variable) const;
  // `pullbackOf` is the function whose pullback asks for the gradient; null: the user does.
  std::vector<std::optional<Tensor>> gradient(const std::vector<Tensor> &targets,
                                              const std::vector<std::vector<schema::ValueId>> &sources,
                                              const std::vector<Tensor> &seeds, const char *pullbackOf,
                                              SourceLocation where, bool zerosWillDo = false);
  // The derivatives of each element of the target, with the target's dimensions before the source's. With `ofExamples`,
  // axis 0 of both runs over examples, and each element is differentiated by its own example of the source only.
  std::vector<std::optional<Tensor>> jacobian(const Tensor &target,
                                              const std::vector<std::vector<schema::ValueId>> &sources, bool ofExamples,
                                              SourceLocation where);
  void stop();
  void pause();
  void resume();
  void reset();
  bool isPaused() const { return pauses > 0; }
  // Frees the tensors that an eager tape has kept, after the tape has served its one gradient.
  void release();
  void checkUse(bool isPullback, SourceLocation where);
  schema::Recording &recording() { return trace ? trace->recording : eager->recording; }
  schema::ValueId valueOf(const Tensor &x, SourceLocation where) {
    return trace ? trace->valueOf(x, where) : eager->valueOf(x, where);
  }

  const std::shared_ptr<ThreadTapes> home; // of the thread that made it
  const GradientTapeOptions options;
  const SourceLocation where;
  std::shared_ptr<Trace> trace;         // of a tape in a trace
  std::shared_ptr<EagerRecorder> eager; // of an eager tape; exactly one of the two is set
  bool recordingNow = true;
  bool used = false;

  struct WatchedVariable {
    std::shared_ptr<VariableState> variable;
    std::vector<schema::ValueId> values; // one for each read
    bool asked = false;                  // watched by watch()
  };
  std::vector<WatchedVariable> variables;

private:
  // What lies between the targets and the sources of one gradient.
  struct Plan {
    std::vector<schema::ValueId> targets, connected; // sources that a path connects to a target
    std::vector<schema::ValueId> stops;              // the boundary of the tape
    // The connected sources to which all paths lead through derivatives. They may turn out not to be connected when the
    // derivatives are expanded: the third derivative of x * x does not depend on x.
    std::vector<schema::ValueId> byDerivatives;
  };
  Plan planFor(const std::vector<Tensor> &targets, const std::vector<std::vector<schema::ValueId>> &sources,
               const char *operation, SourceLocation where);
  void dropUnconnected(Plan &plan);
  // Whether an earlier path of host code has shown that all connected sources stay connected, so that the compiler need
  // not be asked.
  bool areConnected(const Plan &plan, const std::vector<std::vector<schema::ValueId>> &sources,
                    const Question &question) const;
  // For a run that explores native control flow: sources that another path connects are connected, and a value that
  // exists only in one iteration is no stop, so that all paths ask for the same.
  void joinPaths(Plan &plan, const std::vector<std::vector<schema::ValueId>> &sources, const Question &question);
  // Removes the sources without a gradient from the plan.
  void settle(Plan &plan, const std::vector<std::vector<schema::ValueId>> &sources, bool zerosWillDo,
              SourceLocation where);
  // The cotangents of the connected sources, in order; of an eager tape, none for those that turn out to have none.
  // `seeds` has a tensor for each target, an empty one for integers. With `batched`, seeds and cotangents are stacked
  // along axis 0.
  std::vector<std::optional<Tensor>> pullBack(const Plan &plan, std::span<const Tensor> seeds, bool batched,
                                              SourceLocation where);
  std::vector<std::optional<Tensor>> pullBackTraced(const Plan &plan, std::span<const Tensor> seeds,
                                                    SourceLocation where);
  std::vector<std::optional<Tensor>> pullBackEager(const Plan &plan, std::span<const Tensor> seeds, bool batched,
                                                   SourceLocation where);
  // The sum of the cotangents of each source; a source may have been read as several values.
  std::vector<std::optional<Tensor>> sumsOf(const Plan &plan, const std::vector<std::vector<schema::ValueId>> &sources,
                                            std::span<const std::optional<Tensor>> cotangents, SourceLocation where);
  // The operations up to the last target that the tape has recorded, by number, in order.
  std::vector<std::size_t> seenOps(std::span<const schema::ValueId> targets);

  struct Watch {
    schema::ValueId value;
    std::size_t from; // the first operation for which the value is watched
  };
  std::vector<Watch> watches;
  std::size_t firstOp = 0, endOp = 0;
  int pauses = 0;
  std::vector<std::pair<std::size_t, std::size_t>> unseen; // ranges of operations while paused; the last may be open
};

// Those of this thread.
inline std::vector<TapeState *> &activeTapes() { return threadTapes()->recording; }
inline std::shared_ptr<EagerRecorder> &eagerRecorder() { return threadTapes()->eager; }

// Whether an eager tape of this thread records.
bool eagerTapesActive();
void recordEager(schema::OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
                 std::span<const Tensor> results, SourceLocation where);
// Records that a compiled function has run.
void recordCall(const CalledProgram &called, std::span<const Tensor *const> parameters,
                std::span<const std::shared_ptr<VariableState>> variables, std::span<const Tensor> before,
                std::span<const Tensor> results, SourceLocation where);
// Tells the tapes that a variable was read.
void noteVariableRead(const std::shared_ptr<VariableState> &variable, const Tensor &value);

} // namespace calque::detail
#endif
