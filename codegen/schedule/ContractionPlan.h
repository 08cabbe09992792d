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
  double cycles = std::numeric_limits<double>::infinity(); // for one term of all results; of a plan, of one result

  bool operator==(const Tile &) const = default;
};

// A loop over terms, or a part of one: `within` iterations from where the loop around it stands; 0: all.
struct TermLoop {
  unsigned loop;
  int64_t step, within, count;

  bool operator==(const TermLoop &) const = default;
};

struct ContractionPlan {
  // The plan that takes the fewest cycles. Nothing if the nest is no sum of products, or if plain vectors are as fast.
  static std::optional<ContractionPlan> of(const Nest &nest, const Target &target);
  // The columns of a nest that are tiles, and the few last ones that are dot products: they would fill no vector.
  Nest tiledPart(const Nest &nest) const;
  Nest lastColumns(const Nest &nest) const;
  // The plan of the same nest in a group, whose kernel takes some iterations of `loop` at a time, block after block. A
  // block is one piece, and all panels are packed before the first block. The terms of a result are added in the same
  // order, so that the bits are the same. Nothing if that is not possible.
  std::optional<ContractionPlan> inBlocksOf(unsigned loop, const Nest &nest) const;

  std::string text() const;

  // Whether the terms of a nest are cut into runs. Integers are exact in any order.
  static bool sumsInRuns(const Nest &nest);
  // Takes what follows from the sizes of a nest, whose loops have their roles.
  void takeSizes(const Nest &nest);
  // Whether every piece has a whole tile of rows, and B is copied as it lies: the tile can pack the panel on its way.
  bool canPackInTile(const Nest &nest) const;
  // Whether zeros of a border can be left out, in the way of `leftOut`, `besideRows` and `besideTerms`. Of the last two
  // it takes that the terms are cut into runs, and that rows and blocks are.
  bool canLeaveOut(const Border &border) const;
  bool canLeaveOutBesideRows(const Border &border, const Nest &nest) const;
  bool canLeaveOutBesideTerms(const Border &border, const Nest &nest) const;
  // The fewest terms that are left at any place of such a border.
  int64_t leastTermsBeside(const Border &border, const Nest &nest) const;

  int64_t panelWidth() const { return tile.vectors * lanes; }
  bool hasRows() const { return rowLoop != VectorBuilder::kNoLoop; }
  // With more blocks of terms than these, what additions to the results round away is kept beside them.
  static constexpr int64_t kFewBlocks = 8;
  // With more groups of runs in a block, their sums have their rounding errors beside them.
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

  // How the last columns are computed, if not in tiles. All else that the plan says is of the others.
  std::optional<DotPlan> ofLastColumns;
  int64_t lastColumnsCount = 0;

  // The tile, and the rows of one in a last panel that has fewer vectors.
  int64_t lanes = 1, rowsOfNarrow = 1;
  Tile tile;

  // Blocks, in iterations of the outermost loop over terms, rows and panels. Those that are missing follow from sizes
  // that are known at run time only (`blocksOf`), within what memory there is for them: so many pieces of terms, and
  // terms of a block.
  int64_t mostTermPieces = 1, mostTermBlock = 1;
  std::optional<int64_t> termPieces, termBlock, rowBlock, panelBlock;
  // The inputs of that decision: how many rows of a block of terms stay in the second cache, and, for the results of a
  // window, whether threads share rows and panels.
  int64_t rowsInCache = 1;
  bool sharesRows = false, sharesPanels = false;
  // The rows of a plan in blocks: all that the nest of a block has.
  static constexpr int64_t kAsGiven = int64_t(1) << 31;

  // The operands that are packed: panels of B, by each piece or all before the first piece, and rows of A.
  bool packs = false, packsAll = false, packsRows = false;
  // Whether the first tile of rows packs the panel on its way: it reads B as it is, beside more arithmetic than loads.
  bool packsInTile = false;

  // Runs of terms: the loops of a block, those at which accumulators begin anew, and whether a block's sums have their
  // rounding errors beside them. Integers and short sums have none.
  bool inRuns = false, isExact = false;
  int64_t runLength = 1;
  llvm::SmallVector<TermLoop> termLoops;
  llvm::SmallVector<size_t, 2> starts;
  llvm::SmallVector<Border> leftOut; // zeros that are not multiplied, at a place that all results of a tile have
  std::optional<Border> besideRows;  // those before the first and behind the last of its rows,
  std::optional<Border> besideTerms; // and those before the first and behind the last of its terms,
  int64_t leastTerms = 0;            // of which so many are left at each place
  // The lines of the next block's A and B that each run asks for, so that they come while this block is summed up, and
  // the loops of a piece that count the runs, but those of the outermost loop over terms.
  int64_t linesOfA = 0, linesOfB = 0;
  llvm::SmallVector<TermLoop> countedRuns() const;
};

// How the loops of a plan are cut, in numbers that are known or that a kernel computes when it runs.
template <class Number> struct Blocks {
  Number termPieces, termBlock, rowBlock, panelBlock;
};

// Cuts the loops, by the sizes and the arithmetic of `Sizes`: numbers, their least and greatest, quotients rounded up
// and multiples. The only place where blocks are chosen, whether sizes are known or not.
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
    // Rows before panels, since each piece packs its own. A piece reads packed rows and packed panels often enough if
    // it has so many of them, and rows stay on the stack.
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
    // is packed once, and rows as well where there are too few panels.
    auto shared = [&](const Number &count) { return ofRows(parts(rows, count)); };
    Number rowPieces = parts(rows, shared(parts(rows, Number(plan.rowsInCache)))),
           panelPieces = sizes.least(parts(wanted, sizes.multiply(pieces, rowPieces)), panels);
    // Each piece of panels reads A, and each piece of rows packs B, for which an element costs as much as two reads.
    // Pieces are half as high where that saves time.
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
