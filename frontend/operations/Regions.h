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

// The programs of one operation with regions. All of them take the same operands: loop variables, if any, and captures.
class Regions {
public:
  explicit Regions(SourceLocation where) : where(where), outer(*currentTrace()) {}

  // Traces one program. Its parameters have the types of `like`, or `types` if there are any.
  Trace &trace(const char *what, const std::vector<Tensor> &like,
               absl::FunctionRef<std::vector<Tensor>(const std::vector<Tensor> &)> body,
               std::span<const schema::TensorType> types = {});

  // The operands: the given ones, the present values of assigned variables, and captures. If `carried`, assigned
  // variables are loop variables; otherwise their values are captures.
  std::vector<Tensor> operands(const std::vector<Tensor> &given, bool carried);

  // Returns a traced program with the operands as its parameters. If `withAssigned`, the last values of assigned
  // variables follow its results. `change` may append operations, and change the results.
  using Change = absl::FunctionRef<void(schema::Recording &)>;
  schema::RecordingRef program(
      Trace &trace, std::span<const Tensor> operands, bool withAssigned, Change change = [](schema::Recording &) {},
      std::span<const schema::TensorType> types = {});

  // Gives assigned variables their new values, which come last among an operation's results. Returns the other results.
  std::vector<Tensor> assignLast(std::vector<Tensor> results);

private:
  // StateError if a tape around the operation watches a variable that is read after an assignment inside, because the
  // tape does not see such a read. In a loop, an earlier iteration may have made the assignment.
  void refuseWatched(bool isLoop);
  Trace &root() { return outer.root(); }
  Variable variableOf(std::size_t index) { return Variable(root().variables[index]); }
  std::size_t placeOf(std::size_t numberOfAssigned) const;
  // If a captured parameter is the value of an assigned variable, the variable's number among the assigned ones.
  std::optional<std::size_t> placeOfVariable(const Trace &trace, std::size_t parameter) const;
  // A small tensor that nothing else holds is a constant, as in the trace of a function.
  bool isConstant(const Trace &trace, std::size_t capture);
  // The number of a capture among all captures. Each value of the outer trace has one number.
  std::size_t capture(const Tensor &x);
  schema::ValueId parameterOf(Trace &trace, std::size_t parameter, schema::Recording &made);

  const SourceLocation where;
  Trace &outer;
  std::vector<std::shared_ptr<Trace>> traces;
  std::vector<std::size_t> assigned; // the assigned variables, by their index in the outermost trace
  std::size_t numGiven = 0, numLeading = 0;
  bool isCarried = false;
  std::vector<std::size_t> placeOfCapture;       // the captures of assigned variables that are no loop variables
  HashMap<schema::ValueId, std::size_t> numbers; // of captures, by their values in the outer trace
  std::vector<Tensor> captures;
};

} // namespace calque::detail
#endif
