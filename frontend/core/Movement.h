// Runs eager movements, and turns positions into operands of code that is cached by structure.
#ifndef CALQUE_FRONTEND_CORE_MOVEMENT_H
#define CALQUE_FRONTEND_CORE_MOVEMENT_H

#include "frontend/core/TensorImpl.h"
#include "schema/Moves.h"

namespace calque::detail {

// Runs a movement by its rule. `types` are the types of the results, by the type rule. If all elements keep their
// order, a single result shares the operand's memory; else results are copies. Nothing is compiled.
void moveElements(schema::MoveRule rule, const schema::OpCall &call, std::span<const Tensor *const> operands,
                  std::vector<schema::TensorType> types, std::span<Tensor> results, SourceLocation where);

// The elements that a movement has taken from an operand, and their places in the results. A move takes each element at
// most once, so that cotangents can be moved back.
class TakenParts {
public:
  // The taken parts of all operands of a movement.
  static std::vector<TakenParts> of(schema::MoveRule rule, const schema::OpCall &call,
                                    std::span<const schema::TensorType> results);
  // The taken part of a tensor of this type from which one slice was gathered along an axis.
  static TakenParts ofSlice(const schema::TensorType &type, std::int64_t axis, std::int64_t index);

  // Computes the cotangent of the operand, which has this type, from the cotangents of the results. A result without a
  // cotangent has an empty tensor. The elements are moved back into zeros. std::nullopt if an element may have been
  // moved twice, because its cotangents must be added then.
  std::optional<Tensor> moveBack(const schema::TensorType &type, std::span<const Tensor> cotangents,
                                 SourceLocation where) const;
  // Whether each move takes a small part of an operand of this type.
  bool areSmall(const schema::TensorType &type) const;
  // Adds the cotangents of the results to `sum`, the operand's cotangent. Nothing else may use the memory of `sum`. The
  // bits are those of adding whole tensors with zeros outside of the parts, so that an element -0 outside becomes 0.
  // `before` are the parts that were added last: the sum has no -0 outside of them. Null: the sum may have -0 anywhere.
  void addBack(const Tensor &sum, std::span<const Tensor> cotangents, const TakenParts *before) const;
  // The parts whose results have cotangents.
  TakenParts having(std::span<const Tensor> cotangents) const;

private:
  std::vector<schema::Move> moves;
  bool areOneToOne = true;
};

// A recording whose operations read their positions from additional parameters, which follow those of the original
// recording. Recordings that differ only in positions have the same IndexedRecording.
struct IndexedRecording {
  schema::Recording recording;
  std::vector<Tensor> indices; // the arguments for the additional parameters
};
IndexedRecording withIndices(const schema::Recording &recording);

} // namespace calque::detail
#endif
