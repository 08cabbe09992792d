// Tapes. A tape is a range of operations of a Recording. The Recording is a trace's, or the one that the eager tapes of
// a thread share.
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

  // The tensor of a value. It has no elements if no derivative reads them.
  Tensor tensorOf(schema::ValueId value) const;
  // The program of an operation that is a call, else null. The program's address stays the same while further calls are
  // recorded.
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
  std::vector<Tensor> kept;       // by value; the tensors whose elements derivatives read
  HashMap<std::uint64_t, schema::ValueId> values;
  HashMap<std::size_t, std::unique_ptr<const CalledProgram>> calls; // by the number of the operation
  std::vector<bool> tracked;                                        // whether a value depends on a watched one
};

class TapeState;

// DTypeError for an element type without derivatives.
void requireFloatingType(const char *operation, const schema::TensorType &type, SourceLocation where);

// The recording tapes of a thread, the innermost last, and the recorder that the eager ones share; null if there are
// none. A tape keeps this object, because the tape may outlive the thread.
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
  // Whether the tape watches reads of the variable: of its own accord, or because of watch().
  bool isWatching(const VariableState &variable) const;
  // `pullbackOf` is the function whose pullback asks for the gradient; null if the user asks. With `zerosWillDo`, the
  // gradient of a source that is not connected may be zeros.
  std::vector<std::optional<Tensor>> gradient(const std::vector<Tensor> &targets,
                                              const std::vector<std::vector<schema::ValueId>> &sources,
                                              const std::vector<Tensor> &seeds, const char *pullbackOf,
                                              SourceLocation where, bool zerosWillDo = false);
  // The derivatives of each element of the target, with the target's dimensions before the source's. With `ofExamples`,
  // axis 0 of both runs over examples, and each element is differentiated only with respect to its own example of the
  // source.
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
    std::vector<schema::ValueId> targets, connected; // `connected`: the sources that a path connects with a target
    std::vector<schema::ValueId> stops;              // the boundary of the tape
    // The connected sources to which all paths lead through derivatives. They may turn out not to be connected when the
    // derivatives are expanded: the third derivative of x * x does not depend on x.
    std::vector<schema::ValueId> byDerivatives;
  };
  Plan planFor(const std::vector<Tensor> &targets, const std::vector<std::vector<schema::ValueId>> &sources,
               const char *operation, SourceLocation where);
  void dropUnconnected(Plan &plan);
  // Whether earlier paths have shown that all connected sources stay connected, so that derivatives need not be
  // expanded to find out.
  bool areConnected(const Plan &plan, const std::vector<std::vector<schema::ValueId>> &sources,
                    const Question &question) const;
  // In a run that explores native control flow, makes the plan the same on all paths: a source that another path
  // connects counts as connected, and a value that exists only in one iteration is no stop.
  void joinPaths(Plan &plan, const std::vector<std::vector<schema::ValueId>> &sources, const Question &question);
  // Whether forward mode computes a Jacobian in fewer passes than reverse mode, and does as well.
  bool isForwardShorter(const Plan &plan, const std::vector<std::vector<schema::ValueId>> &sources);
  Tensor jacobianForward(const Tensor &target, schema::ValueId source, SourceLocation where);
  // Completes the plan of a traced gradient: removes the sources without a gradient, and joins the plans of all paths.
  void settle(Plan &plan, const std::vector<std::vector<schema::ValueId>> &sources, bool zerosWillDo,
              SourceLocation where);
  // The cotangents of the connected sources, in order. On an eager tape, a source may turn out to have none. `seeds`
  // has a tensor for each target, an empty one for integers. With `batched`, seeds and cotangents are stacked along
  // axis 0.
  std::vector<std::optional<Tensor>> pullBack(const Plan &plan, std::span<const Tensor> seeds, bool batched,
                                              SourceLocation where);
  std::vector<std::optional<Tensor>> pullBackTraced(const Plan &plan, std::span<const Tensor> seeds,
                                                    SourceLocation where);
  std::vector<std::optional<Tensor>> pullBackEager(const Plan &plan, std::span<const Tensor> seeds, bool batched,
                                                   SourceLocation where);
  // For each source, the sum of its cotangents. A variable may have been read as several values.
  std::vector<std::optional<Tensor>> sumsOf(const Plan &plan, const std::vector<std::vector<schema::ValueId>> &sources,
                                            std::span<const std::optional<Tensor>> cotangents, SourceLocation where);
  // The numbers of the operations that the tape has recorded, in order, up to the last target.
  std::vector<std::size_t> seenOps(std::span<const schema::ValueId> targets);

  struct Watch {
    schema::ValueId value;
    std::size_t from; // the first operation for which the value is watched
  };
  std::vector<Watch> watches;
  std::size_t firstOp = 0, endOp = 0;
  int pauses = 0;
  // The ranges of operations that were recorded while the tape was paused. The last range may not have ended.
  std::vector<std::pair<std::size_t, std::size_t>> unseen;
};

// The tapes and the recorder of this thread.
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

// DTypeError for complex numbers: a matrix of derivatives has no place for those of both parts by both parts.
void requireReal(const char *operation, const schema::TensorType &type, SourceLocation where);

} // namespace calque::detail
#endif
