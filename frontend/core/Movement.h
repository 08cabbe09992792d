// Runs eager operations that only move elements, and makes positions operands of code that is cached by structure.
#ifndef CALQUE_FRONTEND_CORE_MOVEMENT_H
#define CALQUE_FRONTEND_CORE_MOVEMENT_H

#include "frontend/core/TensorImpl.h"
#include "schema/Moves.h"

namespace calque::detail {

// Runs an operation by its rule; `types` are those that its type rule gives the results. A single result shares the
// operand's memory where all elements keep their order; else results are copies. Nothing is compiled.
void moveElements(schema::MoveRule rule, const schema::OpCall &call, std::span<const Tensor *const> operands,
                  std::vector<schema::TensorType> types, std::span<Tensor> results, SourceLocation where);

// Which elements of an operand an operation that moves elements has taken, and where they have gone: each at most once
// in a move, so that cotangents go back the same way.
class TakenParts {
public:
  // Of all operands of such an operation.
  static std::vector<TakenParts> of(schema::MoveRule rule, const schema::OpCall &call,
                                    std::span<const schema::TensorType> results);
  // Of a tensor of such a type from which one slice was gathered along an axis.
  static TakenParts ofSlice(const schema::TensorType &type, std::int64_t axis, std::int64_t index);

  // The cotangent of the operand, of such a type, from those of the results (empty tensors where there are none):
  // zeros, into which the elements are moved back. Nothing where an element may have been moved twice, and sums are
  // needed.
  std::optional<Tensor> moveBack(const schema::TensorType &type, std::span<const Tensor> cotangents,
                                 SourceLocation where) const;
  // Whether each move takes little of an operand of such a type.
  bool areSmall(const schema::TensorType &type) const;
  // Adds the cotangents of the results to that of the operand, whose elements nobody else has, as if they were the
  // elements of a tensor of zeros: the sum of -0 and of no element is 0. Outside of the parts of `before`, which were
  // added last, the sum has no -0; none: it may have some everywhere.
  void addBack(const Tensor &sum, std::span<const Tensor> cotangents, const TakenParts *before) const;
  // Those of them whose results have cotangents.
  TakenParts having(std::span<const Tensor> cotangents) const;

private:
  std::vector<schema::Move> moves;
  bool areOneToOne = true;
};

// A recording whose operations take their positions from further parameters, after those of the given recording. It is
// the same for all recordings that differ only in positions.
struct IndexedRecording {
  schema::Recording recording;
  std::vector<Tensor> indices; // the operands for the further parameters
};
IndexedRecording withIndices(const schema::Recording &recording);

} // namespace calque::detail
#endif
