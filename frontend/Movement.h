// Runs eager operations that only move elements, and makes positions operands of code that is cached by structure.
#ifndef CALQUE_FRONTEND_MOVEMENT_H
#define CALQUE_FRONTEND_MOVEMENT_H

#include "frontend/TensorImpl.h"
#include "ir/schema/Moves.h"

namespace calque::detail {

// Runs an operation by its rule; `types` are those that its type rule gives the results. A single result shares the
// operand's memory where all elements keep their order; else results are copies. Nothing is compiled.
void moveElements(schema::MoveRule rule, const schema::OpCall &call, std::span<const Tensor *const> operands,
                  std::vector<schema::TensorType> types, std::span<Tensor> results, SourceLocation where);

// The cotangent of an operand of such an operation, from those of its results (empty tensors where there are none):
// zeros, into which the elements are moved back. Nothing where an element may have been moved twice, and sums are
// needed.
std::optional<Tensor> moveBack(schema::MoveRule rule, const schema::OpCall &call, std::size_t operand,
                               std::span<const schema::TensorType> results, std::span<const Tensor> cotangents,
                               SourceLocation where);

// A recording whose operations take their positions from further parameters, after those of the given recording. It is
// the same for all recordings that differ only in positions.
struct IndexedRecording {
  schema::Recording recording;
  std::vector<Tensor> indices; // the operands for the further parameters
};
IndexedRecording withIndices(const schema::Recording &recording);

} // namespace calque::detail
#endif
