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

// Which elements of an operand a movement has taken, and where it has put them. A move takes each element at most once,
// so that cotangents can go back the same way.
class TakenParts {
public:
  // The taken parts of all operands of a movement.
  static std::vector<TakenParts> of(schema::MoveRule rule, const schema::OpCall &call,
                                    std::span<const schema::TensorType> results);
  // The taken part of a tensor of such a type from which one slice was gathered along an axis.
  static TakenParts ofSlice(const schema::TensorType &type, std::int64_t axis, std::int64_t index);

  // The cotangent of the operand, of such a type, from the cotangents of the results (empty tensors where there are
  // none): zeros, into which the elements are moved back. Nothing if an element may have been moved twice, so that sums
  // are needed.
  std::optional<Tensor> moveBack(const schema::TensorType &type, std::span<const Tensor> cotangents,
                                 SourceLocation where) const;
  // Whether each move takes little of an operand of such a type.
  bool areSmall(const schema::TensorType &type) const;
  // Adds the cotangents of the results to `sum`, the operand's cotangent, whose memory nobody else uses. The bits are
  // those of adding whole tensors with zeros outside of the parts: so an element outside that is -0 becomes 0. `before`
  // are the parts that were added last; outside of them the sum has no -0. Null: the sum may have -0 anywhere.
  void addBack(const Tensor &sum, std::span<const Tensor> cotangents, const TakenParts *before) const;
  // The parts whose results have cotangents.
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
