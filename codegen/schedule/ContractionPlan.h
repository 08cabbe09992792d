// How a sum of products becomes a kernel with a tile of results in registers, as plain data: which loops play which
// role, how they are cut, and what is copied. `Contraction` emits what a plan says and decides nothing itself.
#ifndef CALQUE_CODEGEN_SCHEDULE_CONTRACTIONPLAN_H
#define CALQUE_CODEGEN_SCHEDULE_CONTRACTIONPLAN_H

#include "codegen/schedule/Kernels.h"

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
  // The plan that takes the fewest cycles, where the nest is such a sum and gains by it.
  static std::optional<ContractionPlan> of(const Nest &nest, const Target &target);
  // The same for a kernel that takes some iterations of a loop over results at a time, one block after the other, if it
  // can be: a block is one piece, and all panels are packed before the first. The terms of a result are added in the
  // same order, so that it has the same bits.
  std::optional<ContractionPlan> inBlocksOf(unsigned loop, const Nest &nest) const;

  std::string text() const;
  bool operator==(const ContractionPlan &) const = default;

  int64_t panelWidth() const { return tile.vectors * lanes; }
  // With more blocks of terms than these, what additions to the results round away is kept beside them.
  static constexpr int64_t kFewBlocks = 8;
  // The largest number of terms in a block.
  int64_t termsPerBlock() const { return innerTerms * mostTermBlock; }
  // Whether results have loops besides rows and columns, as the windows of a convolution have.
  bool isWindow() const { return levels.size() > (rowLoop == VectorBuilder::kNoLoop ? 0 : 1); }

  // The loops. Operand B is contiguous along the vector loop or packed; the row loop is that of operand A.
  int operandOfB = 1;
  unsigned vectorLoop = VectorBuilder::kNoLoop, rowLoop = VectorBuilder::kNoLoop;
  llvm::SmallVector<unsigned> terms, batches, levels; // from the outermost on
  llvm::SmallVector<bool> isShared;                   // of each loop: whether threads share its iterations
  std::optional<int64_t> outerTerms;                  // the iterations of the outermost loop over terms
  int64_t innerTerms = 1;                             // the terms in one of them
  bool isKnown = false;                               // whether all sizes are

  // The tile, and the rows of one in a last panel that has fewer vectors.
  int64_t lanes = 1, rowsOfNarrow = 1;
  Tile tile;

  // Blocks, in iterations of the outermost loop over terms, rows and panels. What is missing follows from sizes that
  // are known at run time: blocks of terms are equal and at most the longest, and rows at most those that fit into the
  // second cache.
  int64_t termPieces = 1, mostTermBlock = 1, rowsInCache = 1;
  std::optional<int64_t> termBlock, rowBlock, panelBlock;
  // The rows of a plan in blocks: all that the nest of a block has.
  static constexpr int64_t kAsGiven = int64_t(1) << 31;

  // What is copied: panels of B by each piece or all before the first piece, and rows of A.
  bool packs = false, packsAll = false, packsRows = false;

  // Runs of terms: the loops of a block, those at which accumulators begin anew, and whether a block's sums have their
  // rounding errors beside them. Integers and short sums have none.
  bool inRuns = false, isExact = false;
  int64_t runLength = 1;
  llvm::SmallVector<TermLoop> termLoops;
  llvm::SmallVector<size_t, 2> starts;
};

} // namespace calque::codegen
#endif
