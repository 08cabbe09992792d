// The plans of operations that are no products. An operation becomes vectors along one of its loops, while threads
// share another loop; perhaps its terms are cut into pieces. Or it becomes squares that are transposed in registers.
#ifndef CALQUE_CODEGEN_SCHEDULE_NESTPLAN_H
#define CALQUE_CODEGEN_SCHEDULE_NESTPLAN_H

#include "codegen/schedule/Kernels.h"

#include <variant>

namespace calque::codegen {

// Each loop has one role.
struct VectorPlan {
  unsigned along = kNoLoop;           // vectors run over it; none: one element after the other
  int64_t lanes = 1;                  // of a vector
  int64_t vectors = 1;                // at a time, at most
  llvm::SmallVector<unsigned> loops;  // over results, from the outermost on, which threads share
  llvm::SmallVector<unsigned> terms;  // over terms, from the outermost on
  llvm::SmallVector<unsigned> beside; // over results, whose iterations are done side by side
  double cycles = 1;                  // of one iteration, on average

  // `order`: for a part of a larger nest, whose loops threads share already.
  static VectorPlan of(const Nest &nest, const Target &target, bool combines, std::optional<SumOrder> order = {});
  std::string text(const Nest &nest) const;
};

// A reduction with few results and many terms: the iterations of one loop are cut into pieces, whose results are added
// up afterwards.
struct PiecesPlan {
  unsigned loop = kNoLoop;
  int64_t count = 0;              // of equal pieces, which may leave a rest
  VectorPlan each;                // of the nest with one more loop, the last one, over the pieces
  std::optional<VectorPlan> rest; // of the nest with the iterations that the pieces leave
  VectorPlan sums;                // of the nest that adds up the results of pieces (Gathering)

  static std::optional<PiecesPlan> of(const Nest &nest, const Target &target);
  // Whether pieces of a loop leave a rest.
  static bool leavesRest(const Nest &nest, unsigned loop, int64_t count) { return *nest.extents[loop].known() % count; }
};

// An elementwise nest that reads some operand across the direction in which it writes.
struct SquaresPlan {
  unsigned along = kNoLoop, across = kNoLoop; // results lie along the one, the operand along the other
  int64_t size = 0;                           // of a square, in elements
  int64_t beside = 0;                         // how many squares a piece computes side by side, across
  double cycles = 1;                          // of one element
  std::optional<VectorPlan> restAcross, restAlong;

  static std::optional<SquaresPlan> of(const Nest &nest, const Target &target);
  // Whether a nest can have squares of two loops; the target's vectors set their size.
  static bool fits(const Nest &nest, unsigned along, unsigned across);
  static int64_t largestSize(const Nest &nest, const Target &target);
  bool leavesRest(const Nest &nest, unsigned loop) const {
    return !(nest.extents[loop].isKnown() && *nest.extents[loop].known() % size == 0);
  }
};

using NestPlan = std::variant<VectorPlan, PiecesPlan, SquaresPlan>;

// Chooses the plan of a nest. `order` and `goesOn` are for a part of a larger nest: the order of its sums, and whether
// its sums continue the sums of the part before.
NestPlan chooseNestPlan(const Nest &nest, const Target &target, std::optional<SumOrder> order = {},
                        bool goesOn = false);
// Emits what the plan of a nest says.
void emitNest(KernelContext context, Nest nest, const NestPlan &plan);

// The nests of a PiecesPlan: over all pieces, and over the iterations that these leave.
Nest pieceOf(Nest nest, unsigned loop, int64_t count);
Nest restOf(Nest nest, unsigned loop, int64_t count);

// A nest that combines partial results. It has a nest's loops over results, in the order in which partial results lie
// in memory, and a last loop over the partial results.
class Gathering {
public:
  Gathering(const Nest &nest, const Combiner &combiner, const Access &partial, llvm::ArrayRef<unsigned> loops,
            const Extent &results, const Extent &count);
  Nest nest;

private:
  mlir::Block body; // the combining operation alone
};

} // namespace calque::codegen
#endif
