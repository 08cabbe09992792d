// A sum of products with its vectors along the terms: each lane of an accumulator sums a part of the terms of one
// result, and the lanes are added at the end. Products with few columns, such as the last layer of a classifier, would
// leave most lanes of a tile of `Contraction` empty, and read the large operand element by element.
#ifndef CALQUE_CODEGEN_SCHEDULE_DOTPRODUCTS_H
#define CALQUE_CODEGEN_SCHEDULE_DOTPRODUCTS_H

#include "codegen/schedule/Kernels.h"

#include <limits>

namespace calque::codegen {

// How dot products are computed. Operand A is contiguous along a loop over terms; So is B, or a packed copy of B.
struct DotPlan {
  // The plan that takes the fewest cycles, if there is one.
  static std::optional<DotPlan> of(const Nest &nest, const Target &target);

  std::string text() const;
  bool operator==(const DotPlan &) const = default;
  bool hasColumns() const { return columnLoop != VectorBuilder::kNoLoop; }

  int operandOfA = 0;
  unsigned along = VectorBuilder::kNoLoop;      // the loop over terms that vectors run over
  unsigned rowLoop = VectorBuilder::kNoLoop;    // a loop over results along which A varies and B does not
  unsigned columnLoop = VectorBuilder::kNoLoop; // one along which B varies and A does not; may be none
  int64_t lanes = 1, rows = 1, columns = 1;     // of a tile of results
  bool packs = false;                           // whether B is copied
  // For one term of one result, if A is in the first cache.
  double cycles = std::numeric_limits<double>::infinity();
};

void emitDotProducts(KernelContext context, const Nest &nest, const DotPlan &plan);

// For a product in a group: copies B before the first block if the plan says so, and returns the memory of the copy,
// else null.
mlir::Value packColumns(KernelContext context, const Nest &nest, const DotPlan &plan);
// Emits all results of the nest on this thread.
void emitBlockOfDotProducts(KernelContext context, const Nest &nest, const DotPlan &plan, mlir::Value packed);

} // namespace calque::codegen
#endif
