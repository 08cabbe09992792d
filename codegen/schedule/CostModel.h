// Estimates of cycles, by which plans are compared. All constants of a CPU are in its `Target`; the constants here are
// properties of the kernels' code. Estimates choose between plans, and decide how threads share work. They change
// results only through the order of a sum.
#ifndef CALQUE_CODEGEN_SCHEDULE_COSTMODEL_H
#define CALQUE_CODEGEN_SCHEDULE_COSTMODEL_H

#include "codegen/native/Target.h"
#include "codegen/schedule/Nest.h"

namespace calque::codegen {

//===-- Bodies ------------------------------------------------------------------------------------===//

// The cycles of one iteration of a nest on one lane.
double cyclesOfBody(const Nest &nest, const Target &target);
// The same for an operation that is in no kernel yet, by which calls are collected into rounds. It counts every operand
// as one in memory, even scalars, and remainders as additions. The estimate for nests does not; with it, other calls
// would become a round.
double cyclesOfBody(mlir::linalg::LinalgOp op, const Target &target);
// The cycles of one operation in the body of loops that store by themselves. A loop in this body takes eight additions
// for each of its iterations.
double cyclesOfStoring(mlir::Operation &op, const Target &target);

//===-- Products ----------------------------------------------------------------------------------===//

// The cycles in which each of `rows` x `columns` vectors of sums takes one product. The operands are one for each row
// and one for each column. The time is at least `least`, which a sum waits for the one before, and `ofColumn` for each
// column's operand.
double cyclesOfProducts(int64_t rows, int64_t columns, double least, double ofColumn, const Target &target);

// Products in tiles: what a tile of results costs for one term.
struct TileCost {
  int64_t rows;          // of all results, which are cut into tiles
  int64_t terms, least;  // the terms of a result, and of the shortest block
  int64_t bytesOfVector; // of a vector of operand B
  bool inRuns;           // whether a tile has the sums of finished runs, too
  const Target &target;

  // The most bytes that a panel may have for one block of terms.
  static int64_t bytesOfPanel(int64_t vectors, const Target &target);
  // Whether registers hold a tile, and whether they hold the sums of its runs as well.
  static bool fits(int64_t rows, int64_t vectors, const Target &target);
  static bool fitsWithRuns(int64_t rows, int64_t vectors, const Target &target);
  // The cycles for one term of all rows and of `vectors` vectors of columns, in tiles of `tileRows` x `tileVectors`.
  double ofAll(int64_t vectors, int64_t tileRows, int64_t tileVectors) const;
};

// The cycles of a tile of dot products. Each sum has `vectors` vectors of terms; to load B for one of them takes
// `ofLoad` cycles for each column. Then the lanes of each sum are added.
double cyclesOfDots(int64_t rows, int64_t columns, int64_t vectors, double ofLoad, const Target &target);
// The cycles to copy one element of a column for dot products.
double cyclesOfCopiedElement(bool isStrided);

} // namespace calque::codegen
#endif
