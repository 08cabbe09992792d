// Eager operations that only move elements, and positions as operands of code that is kept by structure.
#ifndef CALQUE_FRONTEND_MOVEMENT_H
#define CALQUE_FRONTEND_MOVEMENT_H

#include "frontend/TensorImpl.h"
#include "ir/schema/Moves.h"

namespace calque::detail {

// Runs an operation by its rule: a tensor that shares the operand's memory where all elements stay in their order, else
// one with a copy of them. Nothing is compiled or kept. `result` is what the type rule gives for the call.
Tensor moveElements(schema::MoveRule rule, const schema::OpCall &call, std::span<const Tensor *const> operands,
                    schema::TensorType result, SourceLocation where);

// A recording whose operations take their positions from parameters of their own, after those of the given one. It is
// the same for all recordings that differ in positions alone.
struct IndexedRecording {
  schema::Recording recording;
  std::vector<Tensor> indices; // of the added parameters
};
IndexedRecording withIndices(const schema::Recording &recording);

} // namespace calque::detail
#endif
