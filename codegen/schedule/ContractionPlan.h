// How a sum of products becomes a kernel with a tile of results in registers, as plain data: which loops play which
// role, how they are cut, and what is copied. `Contraction` emits what a plan says and decides nothing itself.
#ifndef CALQUE_CODEGEN_SCHEDULE_CONTRACTIONPLAN_H
#define CALQUE_CODEGEN_SCHEDULE_CONTRACTIONPLAN_H

#include "codegen/schedule/DotProducts.h"

#include <limits>

namespace calque::codegen {

// The sizes of a tile of results, and an estimate of its cost.
struct Tile {
  int64_t rows = 1, vectors = 1;
  double cycles = std::numeric_limits<double>::infinity(); // for one term of all results; in a plan, of one result

  bool operator==(const Tile &) const = default;
};

// A loop over terms, or over a part of them: `within` iterations from the position of the loop around it; 0: all.
struct TermLoop {
  unsigned loop;
  int64_t step, within, count;

  bool operator==(const TermLoop &) const = default;
};

struct ContractionPlan {
  // The plan that takes the fewest cycles. Nothing if the nest is no sum of products, or if plain vectors are as fast.
  static std::optional<ContractionPlan> of(const Nest &nest, const Target &target);
  // The columns of a nest that are computed in tiles, and the last few, which are computed as dot products, because
  // they would fill no vector.
  Nest tiledPart(const Nest &nest) const;
  Nest lastColumns(const Nest &nest) const;
  // The plan of the same nest in a group, whose kernel takes some iterations of `loop` at a time, block after block. A
  // block is one piece, and all panels are packed before the first block. The terms of a result are added in the same
  // order, so that the bits are the same. Nothing if that is not possible.
  std::optional<ContractionPlan> inBlocksOf(unsigned loop, const Nest &nest) const;

  std::string text() const;

  // Whether the terms of a nest are cut into runs. Integers are exact in any order.
  static bool sumsInRuns(const Nest &nest);
  // Sets the members that follow from the sizes of a nest. The loops have their roles already.
  void takeSizes(const Nest &nest);
  // Whether the first tile of a piece can pack the panel while it computes: every piece has a whole tile of rows, and B
  // is copied as it lies.
  bool canPackInTile(const Nest &nest) const;
  // Whether zeros of a border can be left out, in the way of `leftOut`, `besideRows` and `besideTerms`. The second
  // function needs the plan's blocks, the third its runs.
  bool canLeaveOut(const Border &border) const;
  bool canLeaveOutBesideRows(const Border &border, const Nest &nest) const;
  bool canLeaveOutBesideTerms(const Border &border, const Nest &nest) const;
  // The fewest terms that remain at any place of a border that is left out beside terms.
  int64_t leastTermsBeside(const Border &border, const Nest &nest) const;

  int64_t panelWidth() const { return tile.vectors * lanes; }
  bool hasRows() const { return rowLoop != VectorBuilder::kNoLoop; }
  // If there are more blocks of terms than this, the errors of additions to the results are kept and added at the end.
  static constexpr int64_t kFewBlocks = 8;
  // If a block has more groups of runs than this, the rounding errors of their sums are kept beside the sums.
  static constexpr int64_t kFewGroups = 4;
  // The largest number of terms in a block.
  int64_t termsPerBlock() const { return innerTerms * mostTermBlock; }
  // Whether results have loops besides rows and columns, as the windows of a convolution have.
  bool isWindow() const { return levels.size() > (hasRows() ? 1 : 0); }

  int64_t elementBytes = 4; // of an operand and a result

  // The loops. Operand B is contiguous along the vector loop or packed; the row loop is that of operand A.
  int operandOfB = 1;
  unsigned vectorLoop = VectorBuilder::kNoLoop, rowLoop = VectorBuilder::kNoLoop;
  llvm::SmallVector<unsigned> terms, batches, levels; // from the outermost on
  llvm::SmallVector<bool> isShared;                   // of each loop: whether threads share its iterations
  std::optional<int64_t> outerTerms;                  // the iterations of the outermost loop over terms
  int64_t innerTerms = 1;                             // the terms in one of them
  bool isKnown = false;                               // whether all sizes are

  // How the last columns are computed, if not in tiles. All other members are of the other columns.
  std::optional<DotPlan> ofLastColumns;
  int64_t lastColumnsCount = 0;

  // The tile, and the rows of the tiles in a last panel that has fewer vectors.
  int64_t lanes = 1, rowsOfNarrow = 1;
  Tile tile;

  // The sizes of blocks, in iterations of the outermost loop over terms, in rows and in panels. A size that is missing
  // follows from sizes that only the call knows (`blocksOf`). The first two numbers bound it, because the memory of a
  // kernel has room for that many pieces of terms and terms of a block.
  int64_t mostTermPieces = 1, mostTermBlock = 1;
  std::optional<int64_t> termPieces, termBlock, rowBlock, panelBlock;
  // The inputs of that decision: how many rows of a block of terms stay in the second cache, and, for the results of a
  // window, whether threads share rows and panels.
  int64_t rowsInCache = 1;
  bool sharesRows = false, sharesPanels = false;
  // The value of `rowBlock` in a group: all rows that the nest of a block has.
  static constexpr int64_t kAsGiven = int64_t(1) << 31;

  // The operands that are packed: panels of B, by each piece or all before the first piece, and rows of A.
  bool packs = false, packsAll = false, packsRows = false;
  // Whether the first tile of rows packs the panel while it computes: it reads B as it lies, and its arithmetic hides
  // the time that this takes.
  bool packsInTile = false;

  // Runs of terms, which integers and short sums do not have: the loops of a block, the loops at which accumulators
  // begin anew, and whether the rounding errors of a block's sums are kept.
  bool inRuns = false, isExact = false;
  int64_t runLength = 1;
  llvm::SmallVector<TermLoop> termLoops;
  llvm::SmallVector<size_t, 2> starts;
  llvm::SmallVector<Border> leftOut; // zeros that are not multiplied, at a place that all results of a tile share
  std::optional<Border> besideRows;  // the border for which a tile leaves out rows
  std::optional<Border> besideTerms; // the border for which a tile leaves out terms
  int64_t leastTerms = 0;            // the fewest terms that remain at any place of that border
  // The lines of the next block's A and B that each run prefetches, so that they arrive while this block is summed up.
  // `countedRuns` has the loops of a piece that count the runs, without those of the outermost loop over terms.
  int64_t linesOfA = 0, linesOfB = 0;
  llvm::SmallVector<TermLoop> countedRuns() const;
};

// How the loops of a plan are cut, in numbers that are known or that a kernel computes when it runs.
template <class Number> struct Blocks {
  Number termPieces, termBlock, rowBlock, panelBlock;
};

// Cuts the loops. `Sizes` has the sizes of the nest, and the arithmetic on its numbers, which may be known or computed
// by the kernel. No other code chooses blocks.
template <class Sizes>
Blocks<typename Sizes::Number> blocksOf(const ContractionPlan &plan, const Target &target, Sizes &&sizes) {
  using Number = typename Sizes::Number;
  const Number one(1), width(plan.panelWidth()), tile(plan.tile.rows);
  const bool hasRows = plan.hasRows();
  auto atLeastOne = [&](const Number &x) { return sizes.greatest(x, one); };
  auto parts = [&](const Number &all, const Number &some) { return atLeastOne(sizes.ceilDivide(all, some)); };
  auto ofRows = [&](const Number &count) { return sizes.greatest(sizes.multiple(count, tile), tile); };
  // Without rows, operands are read once: a byte takes as long as two multiply-adds.
  Number work = sizes.iterations();
  if (!hasRows)
    work = sizes.multiply(work, Number(2 * plan.elementBytes));
  Number wanted = atLeastOne(sizes.least(sizes.divide(work, Number(target.pieceProducts)), Number(target.mostPieces)));

  Blocks<Number> blocks{one, one, one, one};
  Number terms = sizes.extent(plan.terms[0]);
  if (plan.mostTermPieces > 1)
    blocks.termPieces = atLeastOne(sizes.least(sizes.least(wanted, terms), Number(plan.mostTermPieces)));
  Number ofPiece = parts(terms, blocks.termPieces);
  blocks.termBlock = parts(ofPiece, parts(ofPiece, Number(plan.mostTermBlock)));
  if (plan.mostTermPieces > 1)
    blocks.termPieces = parts(terms, sizes.multiple(ofPiece, blocks.termBlock));

  Number pieces = blocks.termPieces, rows = hasRows ? sizes.extent(plan.rowLoop) : one,
         panels = atLeastOne(sizes.ceilDivide(sizes.extent(plan.vectorLoop), width));
  for (unsigned loop : plan.batches)
    pieces = atLeastOne(sizes.multiply(pieces, sizes.extent(loop)));
  blocks.rowBlock = ofRows(rows);
  blocks.panelBlock = panels;
  auto sharePanels = [&] {
    blocks.panelBlock = parts(panels, sizes.least(parts(wanted, pieces), panels));
    pieces = sizes.multiply(pieces, parts(panels, blocks.panelBlock));
  };
  if (plan.isWindow()) {
    for (unsigned loop : plan.levels)
      if (plan.isShared[loop]) {
        pieces = atLeastOne(sizes.multiply(pieces, sizes.extent(loop)));
      } else if (loop == plan.rowLoop && plan.sharesRows) {
        blocks.rowBlock = ofRows(parts(rows, parts(wanted, pieces)));
        pieces = sizes.multiply(pieces, parts(rows, blocks.rowBlock));
      }
    if (plan.sharesPanels)
      sharePanels();
  } else if (plan.packsRows) {
    // Threads share rows before panels, because each piece packs its own rows. Packing pays if a piece has at least
    // kTiles tiles of rows and kPanels panels. The packed rows of a piece must fit on the stack.
    constexpr int64_t kTiles = 16, kPanels = 4;
    int64_t most = std::max<int64_t>(kMostStackBytes / 2 / (plan.termsPerBlock() * plan.elementBytes), 1);
    most = std::max<int64_t>(most / plan.tile.rows, 1) * plan.tile.rows;
    Number count = sizes.least(parts(wanted, pieces), atLeastOne(sizes.divide(rows, Number(kTiles * plan.tile.rows))));
    blocks.rowBlock = ofRows(parts(rows, sizes.greatest(count, parts(rows, Number(most)))));
    pieces = sizes.multiply(pieces, parts(rows, blocks.rowBlock));
    count = sizes.least(parts(wanted, pieces), atLeastOne(sizes.divide(panels, Number(kPanels))));
    blocks.panelBlock = parts(panels, count);
  } else {
    // The rows of A that meet one panel stay in the second cache. Threads share panels before rows, so that each panel
    // is packed once, and share rows as well if there are too few panels.
    auto shared = [&](const Number &count) { return ofRows(parts(rows, count)); };
    Number rowPieces = parts(rows, shared(parts(rows, Number(plan.rowsInCache)))),
           panelPieces = sizes.least(parts(wanted, sizes.multiply(pieces, rowPieces)), panels);
    // Each piece of panels reads A, and each piece of rows packs B, and to pack an element costs as much as two reads.
    // Pieces are half as high if that saves time.
    Number ofA = sizes.multiply(panelPieces, rows),
           ofB = sizes.multiply(sizes.multiply(rowPieces, Number(2)), sizes.multiply(panels, width));
    Number factor = sizes.least(atLeastOne(sizes.divide(ofA, ofB)), Number(2));
    Number high = shared(sizes.multiply(rowPieces, factor));
    pieces = sizes.multiply(pieces, parts(rows, high));
    sharePanels();
    blocks.rowBlock = sizes.least(high, shared(parts(wanted, pieces)));
  }
  return blocks;
}

} // namespace calque::codegen
#endif
