// Tracing of lambdas whose C++ code decides on traced tensors.
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

// The decisions of host code in a trace: first given ones, then others that lead to an end.
class HostDecisions {
public:
  explicit HostDecisions(native::Decisions wanted = {}) : wanted(std::move(wanted)) {}

  // A value that was decided on before is decided alike.
  bool decide(Trace &trace, const Tensor &x, bool isDeclared, SourceLocation where);
  // The next question of a line to a tape.
  Question questionAt(SourceLocation where);

  struct Made {
    schema::ValueId condition;
    std::size_t position; // the number of operations before it
    bool taken, isDeclared;
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

// Whether a traced tensor's only element is not zero, as the current trace has it. `isDeclared`: it is the condition of
// a loop all of whose iterations are alike by declaration.
bool decideOn(const Tensor &x, SourceLocation where, bool isDeclared = false);

// What a run of a lambda gives: tensors, and a text that differs where results differ in what is no tensor.
struct HostResults {
  std::vector<Tensor> tensors;
  std::string structure;
};

// Appends to the current trace what the lambda does on all its paths, and returns the results. `body` is run many
// times, each time in a trace inside of this one. StateError where that can't be captured.
std::vector<Tensor> captureNative(absl::FunctionRef<HostResults()> body, SourceLocation where);

[[noreturn]] void throwNotCaptured(const native::NotCaptured &reason, SourceLocation where);

} // namespace calque::detail
#endif
