// The programs inside of operations: branches, the parts of loops, and checkpoints.
#ifndef CALQUE_FRONTEND_OPERATIONS_REGIONS_H
#define CALQUE_FRONTEND_OPERATIONS_REGIONS_H

#include "absl/functional/function_ref.h"
#include "frontend/core/Trace.h"
#include "schema/HashTables.h"

#include <optional>
#include <span>
#include <vector>

namespace calque::detail {

// The programs of an operation with regions, which take the same operands: loop variables, if any, and what they
// capture.
class Regions {
public:
  explicit Regions(SourceLocation where) : where(where), outer(*currentTrace()) {}

  // Traces one. The parameters have the types of `like`, or those of `types`.
  Trace &trace(const char *what, const std::vector<Tensor> &like,
               absl::FunctionRef<std::vector<Tensor>(const std::vector<Tensor> &)> body,
               std::span<const schema::TensorType> types = {});

  // The operands: given ones, the values that assigned variables have now, and captures.
  std::vector<Tensor> operands(const std::vector<Tensor> &given, bool carried);

  // A traced program with the operands as its parameters, and after its results the last values of assigned variables.
  // `change` may append to it, and change the results.
  using Change = absl::FunctionRef<void(schema::Recording &)>;
  schema::RecordingRef program(
      Trace &trace, std::span<const Tensor> operands, bool withAssigned, Change change = [](schema::Recording &) {},
      std::span<const schema::TensorType> types = {});

  // Gives assigned variables their new values, which come last among an operation's results.
  std::vector<Tensor> assignLast(std::vector<Tensor> results);

private:
  // StateError for a variable whose reads a tape around watches, where some are of what was assigned inside: that tape
  // does not see these. In a loop, what an iteration reads an earlier one may have assigned.
  void refuseWatched(bool isLoop);
  Trace &root() { return outer.root(); }
  Variable variableOf(std::size_t index) { return Variable(root().variables[index]); }
  std::size_t placeOf(std::size_t numberOfAssigned) const;
  // Where a captured parameter is that of an assigned variable's value: its number among these.
  std::optional<std::size_t> placeOfVariable(const Trace &trace, std::size_t parameter) const;
  // A small tensor that nothing else holds is a constant, as in the trace of a function.
  bool isConstant(const Trace &trace, std::size_t capture);
  // The number of a capture among all; one for each value of the trace around.
  std::size_t capture(const Tensor &x);
  schema::ValueId parameterOf(Trace &trace, std::size_t parameter, schema::Recording &made);

  const SourceLocation where;
  Trace &outer;
  std::vector<std::shared_ptr<Trace>> traces;
  std::vector<std::size_t> assigned; // variables, by their index in the outermost trace
  std::size_t numGiven = 0, numLeading = 0;
  bool isCarried = false;
  std::vector<std::size_t> placeOfCapture;       // of assigned variables that are no loop variables
  HashMap<schema::ValueId, std::size_t> numbers; // of captures, by their values in the trace around
  std::vector<Tensor> captures;
};

} // namespace calque::detail
#endif
