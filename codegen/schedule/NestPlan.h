// What an operation that is no product becomes: vectors along one of its loops, which threads share by another one,
// perhaps with its terms in pieces, or squares that are transposed in registers.
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

  // `order`: of a part of a larger nest, whose loops are shared among threads already.
  static VectorPlan of(const Nest &nest, const Target &target, bool combines, std::optional<SumOrder> order = {});
  std::string text(const Nest &nest) const;
};

// A reduction with few results and many terms: the iterations of one loop are cut into pieces, whose results are added
// up afterwards.
struct PiecesPlan {
  unsigned loop = kNoLoop;
  int64_t count = 0;              // of equal pieces, which may leave a rest
  VectorPlan each;                // of the nest that has one more loop, the last one, over the pieces
  std::optional<VectorPlan> rest; // of the nest with as many iterations of the loop as are left
  VectorPlan sums;                // of the nest of the loops over results, and of a last one over the results of pieces

  static std::optional<PiecesPlan> of(const Nest &nest, const Target &target);
  // Whether pieces of a loop leave a rest.
  static bool leavesRest(const Nest &nest, unsigned loop, int64_t count) { return *nest.extents[loop].known() % count; }
};

// An elementwise nest that reads some operand across the direction in which it writes.
struct SquaresPlan {
  unsigned along = kNoLoop, across = kNoLoop; // what is written along the one is read along the other
  int64_t size = 0;                           // of a square, in elements
  int64_t beside = 0;                         // squares side by side that are read from a page before the next one
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

// Chooses the plan of a nest. `order` and `goesOn` are of a part of a larger one: its sums are in an order that is
// given, or go on from sums before them.
NestPlan chooseNestPlan(const Nest &nest, const Target &target, std::optional<SumOrder> order = {},
                        bool goesOn = false);
// Emits what the plan of a nest says.
void emitNest(KernelContext context, Nest nest, const NestPlan &plan);

// The nests that a plan's parts are of.
Nest pieceOf(Nest nest, unsigned loop, int64_t count);
Nest restOf(Nest nest, unsigned loop, int64_t count);

// A nest of the loops over a nest's results and of a last one over partial results, which it adds up. It has the
// partial results' loops in the order of their memory.
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
