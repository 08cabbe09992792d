// What an operation does that only moves elements, without MLIR: which elements of its operands become which elements
// of its result. Records name these rules by `moves`. The front end runs such an operation by one strided copy for all
// of them, whatever their attributes say, instead of compiling code for each value of an attribute:
//
//   MoveRule rule = moveRuleOf(OpId::Slice);
//   Movement movement = rule({OpId::Slice, {x}, attributes}, result); // one Move: from x's box to the whole result
#ifndef CALQUE_IR_SCHEMA_MOVES_H
#define CALQUE_IR_SCHEMA_MOVES_H

#include "ir/schema/Schema.h"

#include <optional>

namespace calque::schema {

// A box of elements in a tensor: element (i, j, ...) is at offset + i * strides[0] + j * strides[1] + ... in row-major
// order. A stride of zero repeats.
struct Placement {
  std::int64_t offset = 0;
  Shape strides;
};

// A box of one operand's elements becomes a box of the result's.
struct Move {
  std::size_t operand;
  Shape sizes;
  Placement from, to;
};

struct Movement {
  std::vector<Move> moves;
  // The value of the elements to which nothing is moved. None: every element is moved to.
  std::optional<double> around;
};

// For operands whose sizes are known and that the type rule has accepted; `result` is the type that it gave.
using MoveRule = Movement (*)(const OpCall &call, const TensorType &result);

// Null for an operation that computes.
MoveRule moveRuleOf(OpId op);

// The operation as one whose attributes hold no positions: the elements that it takes are those at `indices` along each
// of some axes, or those that it puts are put there. Two operations that differ in positions alone are equal then, and
// one native code serves both.
struct IndexedAxis {
  std::int64_t axis;
  std::vector<std::int64_t> indices;
};
struct Indexed {
  // Taken: the result is operand 0 gathered along these axes. Put: it is zeros, into which operand 0 is put.
  bool puts = false;
  std::vector<IndexedAxis> axes;
};
// Nothing for an operation that has no such form, or for these attributes of it.
std::optional<Indexed> indexedForm(const OpCall &call, const TensorType &result);

} // namespace calque::schema
#endif
