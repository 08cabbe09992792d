// Chooses the tile, the blocks, the copies and the runs of a contraction.
#include "codegen/schedule/ContractionBlocks.h"
#include "ir/ElementType.h"

#include <algorithm>

using namespace mlir;

namespace calque::codegen {

SmallVector<unsigned> termsInOrder(const Nest &nest, const Access &a) {
  SmallVector<unsigned> terms;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (nest.isReduction[loop])
      terms.push_back(loop);
  // Loops with large strides in A are the outer ones, so that consecutive tiles read nearby elements.
  llvm::stable_sort(terms, [&](unsigned x, unsigned y) { return a.distance(x) > a.distance(y); });
  // Blocks are cut from the outermost loop, so the extents of the inner loops must be known.
  llvm::stable_sort(terms,
                    [&](unsigned x, unsigned y) { return !nest.extents[x].isKnown() && nest.extents[y].isKnown(); });
  return terms;
}

Tile chooseTile(int64_t rows, int64_t vectors, int64_t terms, int64_t least, int64_t bytesOfVector, bool inRuns,
                const Target &target) {
  const TileCost cost{rows, terms, least, bytesOfVector, inRuns, target};
  Tile best;
  // Of tiles that are about as fast, the narrowest is chosen: its blocks are the longest, so that there are the fewest.
  constexpr double kAboutAsFast = 1.01;
  // Blocks of wide panels are short, and each block's sums pass through memory.
  int64_t mostVectors = inRuns && rows >= 3 ? 4 : 8;
  for (int64_t r = 1; r <= std::min<int64_t>(rows, 14); ++r)
    for (int64_t n = 1; n <= std::min<int64_t>(vectors, mostVectors); ++n) {
      if (!TileCost::fits(r, n, target))
        continue;
      double cycles = cost.ofAll(vectors, r, n);
      // Without runs, wider panels are better, because A is read fewer times.
      double factor = 0.999;
      if (inRuns && n < best.vectors && vectors % n == 0)
        factor = kAboutAsFast;
      else if (inRuns && best.vectors && n > best.vectors && vectors % best.vectors == 0)
        factor = 1 / kAboutAsFast;
      else if (n == best.vectors && rows % r == 0)
        factor = kAboutAsFast;
      if (cycles < best.cycles * factor)
        best = {r, n, cycles};
    }
  return best;
}

namespace {

int64_t roundUp(int64_t x, int64_t y) { return ceilDiv(x, y) * y; }
int64_t bytesOf(Type element) { return ir::ElementType(element).bytes(); }

class Planner {
public:
  Planner(ContractionPlan &plan, const Nest &nest, const Target &target)
      : plan(plan), nest(nest), target(target), a(nest.inputs[1 - plan.operandOfB]), b(nest.inputs[plan.operandOfB]),
        element(nest.outputs[0].element) {}

  void complete() {
    plan.terms = termsInOrder(nest, a);
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if (!nest.isReduction[loop] && loop != plan.vectorLoop)
        (b.varies(loop) ? plan.batches : plan.levels).push_back(loop);
    auto byDistance = [&](unsigned x, unsigned y) { return a.distance(x) > a.distance(y); };
    llvm::stable_sort(plan.batches, byDistance);
    llvm::stable_sort(plan.levels, byDistance);
    plan.isShared.assign(nest.numLoops(), false);
    plan.inRuns = ContractionPlan::sumsInRuns(nest);
    plan.takeSizes(nest);
    chooseBlocks();
    chooseRowsOfNarrow();
    plan.packsInTile = plan.canPackInTile(nest);
    if (plan.inRuns) {
      // A tile that packs a panel while it computes must read all terms, because terms that it left out would not be
      // packed.
      const bool leavesOut = !plan.packsInTile;
      if (leavesOut)
        leaveOutBesideRows();
      cutTermsIntoRuns();
      if (leavesOut) {
        leaveOutBorders();
        leaveOutBesideTerms();
      }
      fetchAhead();
    }
  }

  int64_t extentOf(unsigned loop) const { return *nest.extents[loop].known(); }
  bool hasRows() const { return plan.hasRows(); }

  // The bytes that an access touches in all iterations of all loops except `but`.
  int64_t bytesTouchedBy(const Access &access, unsigned but = VectorBuilder::kNoLoop) const {
    constexpr int64_t kMost = int64_t(1) << 56; // more than any memory has
    int64_t elements = 1;
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if (loop != but)
        elements += std::abs((access.strides[loop] * (guessOf(loop) - 1)).guess());
    return std::min(elements, kMost) * bytesOf(element);
  }

  // First decides what does not depend on the sizes of blocks, then chooses the blocks. Decisions that are made here
  // take unknown sizes as large.
  void chooseBlocks() {
    decideTerms();
    plan.rowsInCache =
        roundUp(std::max<int64_t>(target.l2Bytes / 2 / (plan.termsPerBlock() * bytesOf(element)), 1), plan.tile.rows);
    if (plan.isWindow())
      shareWindows();
    else
      plan.packsRows = wantsRowsPacked(ceilDiv(guessOf(plan.vectorLoop), plan.panelWidth()));
    Blocks<int64_t> blocks = blocksOf(plan, target, Guesses{nest});
    decideToPack(blocks);
    auto isKnown = [&](unsigned loop) { return loop == VectorBuilder::kNoLoop || nest.extents[loop].isKnown(); };
    // Sets the sizes of blocks that depend on known sizes alone. Rows and panels of a window's results depend only on
    // their own sizes if threads don't share them.
    if (plan.isKnown || plan.mostTermPieces == 1)
      plan.termPieces = blocks.termPieces;
    if (isKnown(plan.terms[0]) && plan.termPieces)
      plan.termBlock = blocks.termBlock;
    if (plan.isKnown || (plan.isWindow() && isKnown(plan.rowLoop) && !plan.sharesRows))
      plan.rowBlock = hasRows() ? std::min(blocks.rowBlock, std::max<int64_t>(guessOf(plan.rowLoop), 1)) : 1;
    if (plan.isKnown || (plan.isWindow() && isKnown(plan.vectorLoop) && !plan.sharesPanels))
      plan.panelBlock = blocks.panelBlock;
  }

private:
  // Arithmetic on sizes that are known, or guessed.
  struct Guesses {
    using Number = int64_t;
    const Nest &nest;
    Number extent(unsigned loop) const { return nest.extents[loop].guess(); }
    Number iterations() const { return nest.iterations().guess(); }
    static Number least(Number x, Number y) { return std::min(x, y); }
    static Number greatest(Number x, Number y) { return std::max(x, y); }
    static Number multiply(Number x, Number y) { return x * y; }
    static Number divide(Number x, Number y) { return x / y; }
    static Number ceilDivide(Number x, Number y) { return ceilDiv(x, y); }
    static Number multiple(Number x, Number y) { return roundUp(x, y); }
  };

  int64_t guessOf(unsigned loop) const { return nest.extents[loop].guess(); }

  // The pieces of terms, and the longest block of them. A block is as long as possible such that the panel of B stays
  // in the first cache while all tiles read it. If that makes many blocks, blocks are longer if the panel then stays in
  // the second cache, so that the rounding errors of results need not be kept.
  void decideTerms() {
    int64_t extent = std::max<int64_t>(guessOf(plan.terms[0]), 1);
    // If few results have many terms, each piece sums a part of the terms, and reads only this part of the operands.
    bool knowsResults = true;
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      knowsResults &= nest.isReduction[loop] || nest.extents[loop].isKnown();
    if (knowsResults) {
      constexpr int64_t kMaxSplits = 16, kFewSplits = 4, kEnoughParts = 32;
      int64_t work = nest.iterations().guess() * (hasRows() ? 1 : 2 * bytesOf(element)),
              wanted = work / target.pieceProducts;
      int64_t splits =
          std::min({wanted, extent, (bytesTouchedBy(a) + bytesTouchedBy(b)) / (2 * bytesTouchedBy(nest.outputs[0])),
                    kMaxSplits});
      // To share rows that lie one after the other is as good: each piece reads its own rows, and no results are added
      // afterwards.
      constexpr int64_t kFewTiles = 4;
      bool hasEnoughRows = !plan.isWindow() && hasRows() && a.distance(plan.terms.back()) < a.distance(plan.rowLoop) &&
                           guessOf(plan.rowLoop) >= kFewTiles * plan.tile.rows * wanted;
      // So is sharing batches of B whose terms follow each other, as those of panels do.
      constexpr int64_t kEnoughPieces = 8;
      int64_t batches = 1;
      for (unsigned loop : plan.batches)
        batches *= guessOf(loop);
      bool hasEnoughBatches = batches >= std::min(wanted, kEnoughPieces) && b.strides[plan.vectorLoop] == 1 &&
                              b.distance(plan.terms.back()) == guessOf(plan.vectorLoop);
      if (wanted >= 4 && splits >= (plan.isWindow() ? 4 : 8) && !hasEnoughRows && !hasEnoughBatches)
        plan.mostTermPieces = splits;
      // Each piece's results are written and read once more, so that there are no more pieces than threads need beside
      // panels.
      if (int64_t panels = ceilDiv(guessOf(plan.vectorLoop), plan.panelWidth()); !plan.isWindow())
        plan.mostTermPieces = std::min(plan.mostTermPieces, std::max(kFewSplits, kEnoughParts / panels));
    }
    int64_t ofPiece = ceilDiv(extent, plan.mostTermPieces);
    int64_t bytesOfTerm = std::max<int64_t>(plan.innerTerms, 1) * plan.panelWidth() * bytesOf(element);
    int64_t block = std::max<int64_t>(bytesOfPanel() / bytesOfTerm, 1);
    if (plan.outerTerms) {
      block = std::min(block, ofPiece);
      if (int64_t longer = ceilDiv(ofPiece, ContractionPlan::kFewBlocks);
          plan.inRuns && longer > block && longer * bytesOfTerm <= target.l2Bytes / 8)
        block = longer;
      block = ceilDiv(ofPiece, ceilDiv(ofPiece, block));
    }
    plan.mostTermBlock = block;
  }

  // Threads share the outer loops over a window's results, until there are enough pieces.
  void shareWindows() {
    int64_t wanted = std::clamp<int64_t>(nest.iterations().guess() / target.pieceProducts, 1, target.mostPieces);
    int64_t pieces = plan.mostTermPieces;
    for (unsigned loop : plan.batches)
      pieces *= guessOf(loop);
    for (unsigned loop : plan.levels) {
      if (pieces >= wanted)
        break;
      if (loop == plan.rowLoop) {
        plan.sharesRows = nest.extents[loop].isKnown();
        pieces *= plan.sharesRows ? ceilDiv(guessOf(loop), plan.tile.rows) : 1;
      } else {
        plan.isShared[loop] = true;
        pieces *= guessOf(loop);
      }
    }
    plan.sharesPanels = pieces < wanted;
  }

  // A panel with fewer vectors than the others leaves registers for more rows. It needs more rows in a tile to be as
  // fast.
  void chooseRowsOfNarrow() {
    plan.rowsOfNarrow = plan.tile.rows;
    if (!plan.isKnown || !hasRows() || plan.packsRows || extentOf(plan.vectorLoop) < plan.panelWidth())
      return;
    int64_t vectors = ceilDiv(extentOf(plan.vectorLoop) % plan.panelWidth(), plan.lanes), rows = extentOf(plan.rowLoop);
    if (vectors == 0 || vectors == plan.tile.vectors)
      return;
    Tile narrow = chooseTile(std::min(rows, *plan.rowBlock), vectors, *nest.iterations(true).known(), plan.innerTerms,
                             plan.lanes * bytesOf(element), plan.inRuns, target);
    // Every block but the last one ends with a whole tile.
    if (narrow.vectors == vectors && (*plan.rowBlock >= rows || *plan.rowBlock % narrow.rows == 0))
      plan.rowsOfNarrow = narrow.rows;
  }

  // Whether this is the gradient of filters: windows whose terms are the places in images, far from each other in A and
  // near each other in B. Its pieces would each pack the panel anew for few rows, so that they read it as it lies. Each
  // tile of A takes as many lines of the first cache as the panel.
  bool sumsImages() const { return plan.isWindow() && a.distance(plan.terms.back()) > 1; }

  int64_t bytesOfPanel() const {
    return sumsImages() ? target.l1Bytes / 2 : TileCost::bytesOfPanel(plan.tile.vectors, target);
  }

  // Whether to pack A: its rows are contiguous, its terms lie far apart, and several panels read it.
  bool wantsRowsPacked(int64_t panels) const {
    if (!plan.isKnown)
      return false;
    constexpr int64_t kFar = 3072; // bytes; nearly every term would be in a page of its own
    return isa<FloatType>(element) && plan.inRuns && plan.terms.size() == 1 && hasRows() && plan.tile.rows > 1 &&
           panels > 1 && extentOf(plan.rowLoop) >= 4 * plan.tile.rows && a.strides[plan.rowLoop] == 1 &&
           a.distance(plan.terms.back()) * bytesOf(element) >= kFar;
  }

  // Decides to pack B if it is strided along the vector loop, or if its rows lie far apart and each packed element is
  // read often.
  void decideToPack(const Blocks<int64_t> &blocks) {
    // The rows of a piece, and how many pieces read a panel.
    int64_t rows = hasRows() ? std::min(blocks.rowBlock, guessOf(plan.rowLoop)) : 1, perPanel = blocks.termPieces;
    for (unsigned loop : plan.levels) {
      if (loop == plan.rowLoop)
        perPanel *= ceilDiv(guessOf(loop), blocks.rowBlock);
      else
        (plan.isShared[loop] ? perPanel : rows) *= guessOf(loop);
    }
    // If several pieces of images read a panel and each has few rows, all panels are packed once.
    constexpr int64_t kFewRows = 512;
    bool canPackAll = perPanel > 1 && rows < kFewRows && plan.batches.empty() && plan.mostTermPieces == 1 &&
                      plan.isWindow() && plan.outerTerms && nest.extents[plan.vectorLoop].isKnown();
    if (canPackAll)
      rows *= perPanel;
    int64_t distance = 0;
    for (unsigned loop : sumsImages() ? ArrayRef(plan.terms).take_back() : ArrayRef(plan.terms))
      distance = std::max(distance, b.distance(loop) * bytesOf(element));
    plan.packs = !(b.strides[plan.vectorLoop] == 1) ||
                 (rows >= 4 * plan.tile.rows && distance >= 512 && plan.termsPerBlock() >= 32);
    // The inner loops over terms are not cut into blocks. If they are long, a panel could overflow a thread's stack.
    plan.packs &= plan.termsPerBlock() * plan.panelWidth() * bytesOf(element) <= kMostStackBytes;
    plan.packsAll = plan.packs && canPackAll;
  }

  // Cuts the loops over a block's terms into runs, and runs into groups of kRunLength.
  void cutTermsIntoRuns() {
    for (unsigned loop : plan.terms)
      plan.termLoops.push_back({loop, 1, 0, loop == plan.terms[0] ? plan.mostTermBlock : extentOf(loop)});
    size_t end = plan.termLoops.size();
    for (int level = 0; level < 2; ++level) {
      int64_t most = level == 0 ? kProductRun : kRunLength;
      int64_t length = 1;
      while (end > 0 && length * plan.termLoops[end - 1].count <= most)
        length *= plan.termLoops[--end].count;
      if (level == 0)
        plan.runLength = length;
      if (end == 0)
        return;
      if (int64_t some = most / length; some > 1) {
        TermLoop &outer = plan.termLoops[end - 1];
        int64_t whole = level == 0 && plan.besideRows ? plan.besideRows->unit : outer.count;
        some = ceilDiv(whole, ceilDiv(whole, some)); // runs of about the same length
        if (level == 0 && length == 1)
          some += some % 2; // a run takes two terms at a time
        if (level == 0)
          plan.runLength = length * some;
        TermLoop inner = outer;
        inner.within = some * outer.step;
        inner.count = some;
        outer.step *= some;
        outer.count = ceilDiv(outer.count, some);
        plan.termLoops.insert(plan.termLoops.begin() + static_cast<std::ptrdiff_t>(end), inner);
        for (size_t &start : plan.starts)
          ++start;
      }
      plan.starts.insert(plan.starts.begin(), end);
    }
    int64_t groups = 1;
    for (const TermLoop &each : llvm::ArrayRef(plan.termLoops).take_front(end))
      groups *= each.count;
    plan.isExact = groups > ContractionPlan::kFewGroups;
  }

  // Leaves out zeros beside rows if the rows are one or two tiles, whose places are known when code is emitted, if runs
  // end where a unit ends, and if the runs are so few that they are one group.
  void leaveOutBesideRows() {
    constexpr int64_t kFewTerms = 24, kMostUnits = 3;
    for (const Border &border : nest.borders) {
      if (!plan.canLeaveOutBesideRows(border, nest) || extentOf(plan.rowLoop) > 2 * plan.tile.rows)
        continue;
      if (extentOf(border.terms) <= kProductRun)
        continue;
      int64_t run = ceilDiv(border.unit, ceilDiv(border.unit, kProductRun));
      if (border.unit >= kFewTerms && extentOf(border.terms) <= kMostUnits * border.unit && run % 2 == 0 &&
          border.unit % run == 0 && extentOf(border.terms) / run <= kRunLength)
        plan.besideRows = border;
    }
  }

  // Leaves out zeros that all results of a tile share. There must be enough terms that skipping some by a bound of
  // their loop pays.
  void leaveOutBorders() {
    constexpr int64_t kFewTerms = 4;
    for (const Border &border : nest.borders) {
      if (!plan.canLeaveOut(border))
        continue;
      auto ofTerms = [&](const TermLoop &each) { return each.loop == border.terms; };
      auto innermost = llvm::find_if(llvm::reverse(plan.termLoops), ofTerms);
      int64_t inside = 1;
      for (auto each = plan.termLoops.rbegin(); each != innermost; ++each)
        inside *= each->count;
      if (inside >= kFewTerms)
        plan.leftOut.push_back(border);
    }
  }

  // Leaves out zeros beside terms, which are the places in a row of an image, for a gradient of filters. The rows of a
  // tile are elements of a filter and their channels; most of them have the same place.
  void leaveOutBesideTerms() {
    constexpr int64_t kFewTerms = 4, kMostTerms = 12; // of more terms, too few are zeros to repay loops of two lengths
    for (const Border &border : nest.borders) {
      if (!plan.canLeaveOutBesideTerms(border, nest))
        continue;
      const int64_t terms = extentOf(border.terms), least = plan.leastTermsBeside(border, nest);
      if (least >= kFewTerms && least < terms && terms <= kMostTerms) {
        plan.besideTerms = border;
        plan.leastTerms = least;
      }
    }
  }

  // Each image that a gradient of filters reads lies far from the one before, and tiles read it in steps that the
  // processor does not foresee: its runs prefetch the images of the next block, each a few lines of them.
  void fetchAhead() {
    if (!sumsImages() || plan.starts.empty() || !plan.termBlock || !plan.rowBlock || !plan.panelBlock ||
        plan.outerTerms == plan.termBlock)
      return;
    int64_t runs = 1, images = 1;
    for (const TermLoop &each : plan.countedRuns())
      runs *= each.count;
    for (const TermLoop &each : llvm::ArrayRef(plan.termLoops).drop_front(plan.starts.back()))
      images *= each.loop == plan.terms[0] ? each.count : 1;
    auto linesOf = [&](const Access &access) {
      return ceilDiv(images * bytesTouchedBy(access, plan.terms[0]), target.lineBytes * runs);
    };
    plan.linesOfA = linesOf(a);
    plan.linesOfB = linesOf(b);
    // To prefetch more lines would take longer than to wait for them.
    constexpr int64_t kProductsOfLine = 16;
    if ((plan.linesOfA + plan.linesOfB) * kProductsOfLine > plan.runLength * plan.tile.rows * plan.tile.vectors)
      plan.linesOfA = plan.linesOfB = 0;
  }

  ContractionPlan &plan;
  const Nest &nest;
  const Target &target;
  const Access &a, &b;
  Type element;
};

} // namespace

void completePlan(ContractionPlan &plan, const Nest &nest, const Target &target) {
  Planner(plan, nest, target).complete();
}

} // namespace calque::codegen
