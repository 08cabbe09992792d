// A sum of products with a tile of results in registers. Operand B is read as vectors along one loop of the result,
// operand A element by element along another; the parts of both that a tile needs stay in the first cache. The panel of
// B is packed where it is strided or read often. Products of matrices in any layout, convolutions and both their
// gradients differ in their strides alone.
//
// `Contraction` emits the columns that a plan computes in tiles, `emitProduct` the whole plan.
#ifndef CALQUE_CODEGEN_SCHEDULE_CONTRACTION_H
#define CALQUE_CODEGEN_SCHEDULE_CONTRACTION_H

#include "codegen/schedule/ContractionPlan.h"

namespace calque::codegen {

class Contraction {
public:
  Contraction(KernelContext &context, const Nest &nest, const ContractionPlan &plan);

  void emit();

  // Packs all panels, if the plan says so, and returns their memory; else null.
  mlir::Value packPanels();
  // Emits all results of the nest on this thread, from packed panels if there are some.
  void emitBlock(mlir::Value panels);

private:
  // Some rows of a tile.
  struct Rows {
    int64_t begin = 0, end = 0;
    bool operator==(const Rows &) const = default;
  };

  // The indices of a piece.
  struct Piece {
    mlir::Value ofTerms, ofRows, ofPanels;
  };

  // The initial values of a block's sums: `value`; or the results in memory, if `value` is null or if `isLater` is
  // given and true.
  struct Start {
    mlir::Value value, isLater;
  };

  static int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }
  int64_t panelWidth() const { return plan.panelWidth(); }
  int64_t elementBytes() const { return plan.elementBytes; }

  //===-- The loops (Contraction.cpp) ----------------------------------------------------------===//

  // Computes the sizes of blocks. The plan has some of them; the others follow from sizes that only the call knows.
  void computeBlocks();

  // Emits one piece: a loop over blocks of terms, in it a loop over panels, and in that all tiles of rows.
  void emitPiece(Position at, Piece piece);

  mlir::Value endOf(mlir::Value from, const Number &size);
  void panels(Position at, Piece piece, mlir::Value from, mlir::Value to, Start start);
  void panel(Position at, Piece piece, mlir::Value from, mlir::Value to, const Number &columns, Start start);

  // Emits the loops over results from the `depth`-th level on; the loop over rows has the step of a tile, and leaves
  // out the first `skipped` rows.
  void tiles(size_t depth, Position at, Piece piece, int64_t rowsOfTile, int64_t rows, int64_t skipped,
             llvm::function_ref<void(Position, int64_t)> body);

  // Emits the loops over terms from the `depth`-th on; the outermost runs over [from, to).
  mlir::SmallVector<mlir::Value>
  sum(size_t depth, Position at, mlir::Value from, mlir::Value to, mlir::ValueRange carried,
      llvm::function_ref<mlir::SmallVector<mlir::Value>(Position, mlir::ValueRange)> body);

  // Emits one tile. With `into`, the tile reads B as it lies, and packs it into that panel.
  void microkernel(Position at, int64_t rows, const Access &columnsOfB, mlir::Value from, mlir::Value to,
                   const Number &columns, Start start, const Access *into = nullptr);

  //===-- Runs of terms (ContractionRuns.cpp) --------------------------------------------------===//

  // Whether all runs of the innermost loop have an even number of terms.
  bool hasPairs(const TermLoop &run) const;

  // The sums of a block's terms: `body` adds one term to each accumulator.
  using SumBody = llvm::function_ref<mlir::SmallVector<mlir::Value>(Position, mlir::ValueRange)>;
  mlir::SmallVector<mlir::Value> sumInRuns(Position at, mlir::Value from, mlir::Value to, size_t count, SumBody body);

  // The loops from the `depth`-th on. `level` counts the loops at which accumulators have begun anew; exact sums are
  // followed by their errors.
  mlir::SmallVector<mlir::Value> termsFrom(size_t depth, size_t level, Position at, mlir::Value from, mlir::Value to,
                                           mlir::ValueRange carried, SumBody body);

  // A loop over terms in parts, each of which leaves out the rows of the tile that have only zeros in this part.
  mlir::SmallVector<mlir::Value> besideRows(size_t depth, size_t level, Position at, mlir::Value from, mlir::Value to,
                                            mlir::ValueRange carried, SumBody body);

  // The last loop over terms, without the terms for which all rows of the tile have zeros.
  mlir::SmallVector<mlir::Value> besideTerms(size_t depth, size_t level, Position at, mlir::Value from, mlir::Value to,
                                             mlir::ValueRange carried, SumBody body);

  // Prefetches a part of the next block's lines. The position of the run decides which part.
  void fetchAhead(const Position &at);

  //===-- Panels of B (ContractionPanels.cpp) --------------------------------------------------===//

  // The memory of a panel that a piece packs.
  Access placeOfPanel();
  // Packs a panel of B: one row of `panelWidth` elements for each term, with zeros beyond the last column.
  Access pack(Position at, mlir::Value from, mlir::Value to, const Number &columns);

  // Packs the rows of A that a piece reads, for a block of terms: for each tile, its rows for one term after the other.
  void packRows(Position at, Piece piece, mlir::Value from, mlir::Value to);
  // The lanes of the shortest vector that holds the rows of a tile.
  int64_t packedRows() const { return static_cast<int64_t>(llvm::PowerOf2Ceil(static_cast<uint64_t>(tile.rows))); }
  // The packed rows of the tile that begins with a row. Positions count from its first row and term.
  Access placeOfRows(mlir::Value row);

  // Packs all panels, whose sizes are known, before the first piece and one behind the other, because several pieces
  // read each panel.
  void packAll();
  // The part of a panel among all packed panels, for the terms from `from` on.
  Access partOfAll(mlir::Value column, mlir::Value from);
  // A panel's elements in memory of its own. Positions count from its first column and term.
  Access placeIn(mlir::Value memory) const;
  void packInto(const Access &place, Position at, mlir::Value from, mlir::Value to, const Number &columns);

  // Packs a panel if B is contiguous along another loop, `along`: loads short pieces of its rows, and transposes them
  // in registers.
  void packTransposed(Position at, mlir::Value from, mlir::Value to, const Number &columns, const Access &place,
                      unsigned along);

  // Packs one vector of a panel, from its column on, for all terms of one loop. If `columns` is known, it counts the
  // columns of the vector, else those of the panel.
  void packVector(Position at, mlir::Value from, mlir::Value first, mlir::Value last, mlir::Value column,
                  const Number &columns, const Access &place, unsigned along);

  // The number of valid columns in a panel's `j`-th vector. A number that is computed at run time may exceed the lanes
  // or be negative; masks take this for all lanes or for none.
  Number validIn(const Number &columns, int64_t j);

  Position relative(Position term, mlir::Value from);

  KernelContext &context;
  const Nest &nest;
  VectorBuilder v;
  const ContractionPlan &plan;
  const unsigned vectorLoop, rowLoop; // as in the plan
  const Tile tile;
  const llvm::ArrayRef<unsigned> terms;
  const Access &a, &b;
  Access result, ofPiece;
  std::optional<Access> errors, errorsOfPiece; // what additions to the results rounded away
  mlir::Value hasMany;                         // whether the blocks of terms are so many that errors are kept
  mlir::Value initial;
  bool isFloat;
  Number rowExtent, columnExtent, numPanels, termPieces = 1, termBlock = 1, rowBlock = 1, panelBlock = 1;
  mlir::Value buffer, all;         // the memory of a packed panel, and of all packed panels
  Rows summed;                     // the rows to which the terms that are being emitted are added
  mlir::Value rowBuffer, firstRow; // the memory of a piece's packed rows, and the first of these rows
};

// The plan of a sum of products: as tiles or as dot products, whichever takes fewer cycles. Neither if plain vectors
// are as fast.
struct ProductPlan {
  std::optional<ContractionPlan> tiles;
  std::optional<DotPlan> dots;

  static ProductPlan of(const Nest &nest, const Target &target);
};

void emitProduct(KernelContext context, const Nest &nest, const ContractionPlan &plan);

// A product in a group, which computes a block of results at a time. `packProduct` packs operands before the first
// block, `emitBlockOfProduct` emits a block.
struct PackedOperand {
  mlir::Value panels, lastColumns; // null if they are read as they lie
};
PackedOperand packProduct(KernelContext context, const Nest &nest, const ContractionPlan &plan);
void emitBlockOfProduct(KernelContext context, const Nest &nest, const ContractionPlan &plan, PackedOperand packed);

} // namespace calque::codegen
#endif
