// What plans are weighed by: estimates of cycles. All constants of a CPU are in its `Target`; those that are here are
// of the code that the kernels have. An estimate chooses between plans, and tells threads how much work there is. It
// changes no result but by the order of a sum.
#ifndef CALQUE_CODEGEN_SCHEDULE_COSTMODEL_H
#define CALQUE_CODEGEN_SCHEDULE_COSTMODEL_H

#include "codegen/native/Target.h"
#include "codegen/schedule/Nest.h"

namespace calque::codegen {

//===-- Bodies ------------------------------------------------------------------------------------===//

// The cycles of one iteration of a nest on one lane.
double cyclesOfBody(const Nest &nest, const Target &target);
// The same of an operation that is in no kernel yet, for the rounds that its call may share. It differs from that of
// nests in two things, which would change which calls are a round: every operand counts as one in memory, scalars too,
// and remainders count as additions.
double cyclesOfBody(mlir::linalg::LinalgOp op, const Target &target);
// Of one operation in the body of loops that store by themselves. What it calls a loop for takes four additions each.
double cyclesOfStoring(mlir::Operation &op, const Target &target);

//===-- Products ----------------------------------------------------------------------------------===//

// The cycles in which `rows` x `columns` vectors of sums each take a product of as many operands. A sum waits for
// `least` cycles, and a column's operand for `ofColumn`.
double cyclesOfProducts(int64_t rows, int64_t columns, double least, double ofColumn, const Target &target);

// Products in tiles: what a tile of results costs for one term.
struct TileCost {
  int64_t rows;          // of all results, which tiles are cut from
  int64_t terms, least;  // of a result, and of the shortest block of them
  int64_t bytesOfVector; // of a vector of operand B
  bool inRuns;           // whether the sums of runs are beside those of the current one
  const Target &target;

  // The most bytes of a panel's part of a block of terms.
  static int64_t bytesOfPanel(int64_t vectors, const Target &target);
  // Whether registers hold a tile, and whether they hold the sums of its runs as well.
  static bool fits(int64_t rows, int64_t vectors, const Target &target);
  static bool fitsWithRuns(int64_t rows, int64_t vectors, const Target &target);
  // The cycles for one term of all rows and of `vectors` vectors of columns, in tiles of `tileRows` x `tileVectors`.
  double ofAll(int64_t vectors, int64_t tileRows, int64_t tileVectors) const;
};

// Dot products: a tile of all its terms, which are so many vectors, for each of which B's operand waits for `ofLoad`.
// Then the lanes of each sum are added.
double cyclesOfDots(int64_t rows, int64_t columns, int64_t vectors, double ofLoad, const Target &target);
// To copy one element of a column for them.
double cyclesOfCopiedElement(bool isStrided);

} // namespace calque::codegen
#endif
