// Traces lambdas with native control flow: C++ code that decides on traced tensors.
#ifndef CALQUE_FRONTEND_NATIVE_CAPTURE_H
#define CALQUE_FRONTEND_NATIVE_CAPTURE_H

#include "absl/functional/function_ref.h"
#include "frontend/core/Trace.h"
#include "frontend/native/Path.h"
#include "schema/HashTables.h"

#include <map>
#include <random>
#include <string_view>

namespace calque::detail {

// The decisions of host code in a trace: first the given ones, then others that lead to an end.
class HostDecisions {
public:
  explicit HostDecisions(native::Decisions wanted = {}) : wanted(std::move(wanted)) {}

  // A value that was decided on before gets the same answer.
  bool decide(Trace &trace, const Tensor &x, native::LoopMarks marks, SourceLocation where);
  // The next question of a line to a tape.
  Question questionAt(SourceLocation where);

  struct Made {
    schema::ValueId condition;
    std::size_t position; // the number of operations before it
    bool taken;
    native::LoopMarks marks;
    schema::SourceLine line;
  };
  const std::vector<Made> &made() const { return made_; }
  // Throws again what host code may have caught.
  void requireEnd() const;

private:
  [[noreturn]] void fail(const char *why, SourceLocation where);
  bool choose(const schema::SourceLine &line);

  native::Decisions wanted;
  std::vector<Made> made_;
  HashMap<schema::ValueId, bool> known;
  HashMap<std::pair<const char *, std::uint32_t>, std::size_t> timesAt;   // by line
  std::map<std::pair<std::string_view, unsigned>, std::size_t> questions; // since the last decision, by line
  std::size_t repeated = 0;
  std::uintptr_t firstStack = 0; // at the first decision
  std::mt19937 random{12345};
  std::optional<native::NotCaptured> failed;
};

// Decides whether a traced tensor's only element is not zero, and records the decision in the current trace.
bool decideOn(const Tensor &x, SourceLocation where, native::LoopMarks marks = {});
// Whether a tensor's only element is not zero, as Tensor::operator bool says it.
bool isTrue(const Tensor &x, SourceLocation where, native::LoopMarks marks = {});

// The result of a run of a lambda: its tensors, and a text of the parts that are not tensors. Results that differ in
// such parts have different texts.
struct HostResults {
  std::vector<Tensor> tensors;
  std::string structure;
};

// Appends the operations of all paths of the lambda to the current trace, and returns the results. Runs `body` many
// times, each time in a trace inside of this one. StateError if the control flow can't be captured.
std::vector<Tensor> captureNative(absl::FunctionRef<HostResults()> body, SourceLocation where);

[[noreturn]] void throwNotCaptured(const native::NotCaptured &reason, SourceLocation where);

} // namespace calque::detail
#endif
