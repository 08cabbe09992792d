// What tapes see. Tapes are ranges of a Recording: the trace's own, or one that this thread's eager tapes share.
#ifndef CALQUE_FRONTEND_TAPE_H
#define CALQUE_FRONTEND_TAPE_H

#include "calque/gradient_tape.h"
#include "frontend/Trace.h"

namespace calque::detail {

// The eager operations that any active tape of the thread follows.
struct EagerRecorder {
  schema::ValueId valueOf(const Tensor &x); // a new leaf if it was not met
  bool isTracked(const Tensor &x) const;
  void track(schema::ValueId value);

  schema::Recording recording;
  std::vector<Tensor> leaves; // of the parameters
  std::unordered_map<std::uint64_t, schema::ValueId> values;
  std::vector<bool> tracked; // what depends on something that was watched
};

class TapeState {
public:
  TapeState(GradientTapeOptions options, SourceLocation where);
  ~TapeState();

  void watch(schema::ValueId value);
  void noteRead(const std::shared_ptr<VariableState> &variable, schema::ValueId value);
  std::vector<std::optional<Tensor>> gradient(const std::vector<Tensor> &targets,
                                              const std::vector<std::vector<schema::ValueId>> &sources,
                                              const std::vector<Tensor> &seeds, SourceLocation where);
  // The derivatives of each element of the target, shaped target + source; `ofExamples`: of each element of an example
  // with respect to that example of the source, shaped target + source of one example.
  std::vector<std::optional<Tensor>> jacobian(const Tensor &target,
                                              const std::vector<std::vector<schema::ValueId>> &sources, bool ofExamples,
                                              SourceLocation where);
  void stop();
  void pause();
  void resume();
  void reset();
  bool isPaused() const { return pauses > 0; }
  void checkUse(SourceLocation where);
  schema::Recording &recording() { return trace ? trace->recording : eager->recording; }
  schema::ValueId valueOf(const Tensor &x, SourceLocation where) {
    return trace ? trace->valueOf(x, where) : eager->valueOf(x);
  }

  const GradientTapeOptions options;
  const SourceLocation where;
  std::shared_ptr<Trace> trace;         // or
  std::shared_ptr<EagerRecorder> eager; // exactly one of them
  bool recordingNow = true;
  bool used = false;

  struct WatchedVariable {
    std::shared_ptr<VariableState> variable;
    std::vector<schema::ValueId> values; // as they were read
    bool asked = false;                  // by watch()
  };
  std::vector<WatchedVariable> variables;

private:
  struct Activity {
    std::vector<bool> tracked, reaches;
    std::vector<schema::ValueId> stops;
  };
  Activity activityOf(std::span<const schema::ValueId> targets, std::span<const schema::ValueId> sources,
                      SourceLocation where);
  // What a gradient is asked of: the sources from which a path leads to a target, and where the tape's view ends.
  struct Plan {
    std::vector<schema::ValueId> targets, connected, stops;
  };
  Plan planFor(const std::vector<Tensor> &targets, const std::vector<std::vector<schema::ValueId>> &sources,
               SourceLocation where);
  std::vector<schema::ValueId> cotangentsOf(const Plan &plan, const std::vector<std::vector<schema::ValueId>> &sources,
                                            std::span<const schema::ValueId> seeds, SourceLocation where);
  std::vector<std::optional<Tensor>> deliver(std::span<const schema::ValueId> values, SourceLocation where);
  schema::ValueId onesLike(schema::ValueId value, SourceLocation where);
  schema::ValueId append(schema::OpId op, std::span<const schema::ValueId> operands,
                         std::span<const schema::Attribute> attributes, SourceLocation where);
  schema::ValueId append(schema::OpId op, std::span<const schema::ValueId> operands,
                         std::span<const schema::Attribute> attributes, std::span<const schema::TensorType> types,
                         SourceLocation where);

  struct Watch {
    schema::ValueId value;
    std::size_t from; // operations before it are not seen
  };
  std::vector<Watch> watches;
  std::size_t firstOp = 0, endOp = 0;
  int pauses = 0;
  std::vector<std::pair<std::size_t, std::size_t>> unseen; // ranges of operations; the last is open while it is paused
};

// The tapes of this thread that record, the innermost last, and what its eager ones share while there are any.
std::vector<TapeState *> &activeTapes();
std::shared_ptr<EagerRecorder> &eagerRecorder();

// Whether a tape of this thread follows eager operations.
bool eagerTapesActive();
void recordEager(schema::OpId op, std::span<const Tensor> operands, std::span<const schema::Attribute> attributes,
                 std::span<const Tensor> results, SourceLocation where);
// A compiled function ran: its operations are seen as if they had been applied.
void recordCall(const schema::Recording &called, std::span<const Tensor *const> parameters,
                std::span<const std::shared_ptr<VariableState>> variables, std::span<const Tensor> before,
                std::span<const Tensor> results);
// A variable was read: by the trace or eagerly.
void noteVariableRead(const std::shared_ptr<VariableState> &variable, const Tensor &value);

} // namespace calque::detail
#endif
