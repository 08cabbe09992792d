// Rules of movements, operations that only move elements, without MLIR: which elements of the operands become which
// elements of the results. Records name these rules by `moves`. The front end runs such an operation by strided copies,
// instead of compiling code for each value of an attribute:
//
//   MoveRule rule = moveRuleOf(OpId::Slice);
//   Movement movement = rule({OpId::Slice, {x}, attributes}, {result}); // one Move: from x's box to the whole result
#ifndef CALQUE_SCHEMA_MOVES_H
#define CALQUE_SCHEMA_MOVES_H

#include "schema/Schema.h"

#include <optional>

namespace calque::schema {

// A box of elements in a tensor: element (i, j, ...) of the box is element offset + i * strides[0] + j * strides[1] +
// ... of the tensor in row-major order. A stride of 0 repeats an element, and a negative stride goes backwards.
struct Placement {
  std::int64_t offset = 0;
  Dims strides;
};

// All elements of a tensor of these sizes.
Placement rowMajor(const Dims &dims);

// Copies a box of an operand's elements to a box of a result's.
struct Move {
  std::size_t operand;
  Dims sizes;
  Placement from, to;
  std::size_t result = 0;
};

struct Movement {
  std::vector<Move> moves;
  // The value of the results' elements outside of all boxes; nothing if the boxes cover the results.
  std::optional<Scalar> around;
};

// The sizes of the operands are known, the type rule has accepted them, and `results` are the types that it gave.
using MoveRule = Movement (*)(const OpCall &call, std::span<const TensorType> results);

// The rule of a movement; null for an operation that computes.
MoveRule moveRuleOf(OpId op);

// The indexed form of an operation has no positions in its attributes: it takes the elements at `indices` along some
// axes, or puts elements there. Operations that differ only in positions have one form, and share native code.
struct IndexedAxis {
  std::int64_t axis;
  std::vector<std::int64_t> indices;
};
struct Indexed {
  // False: the result is operand 0 gathered along these axes. True: the result is zeros, into which operand 0 is put.
  bool puts = false;
  std::vector<IndexedAxis> axes;
};
// The indexed form, or nothing if the operation has none with these attributes.
std::optional<Indexed> indexedForm(const OpCall &call, const TensorType &result);

} // namespace calque::schema
#endif
