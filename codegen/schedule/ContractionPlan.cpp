// Chooses the loops, the tile, the blocks and the copies of a contraction.
#include "codegen/schedule/ContractionPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;

namespace calque::codegen {

bool isSumOfProducts(const Nest &nest) {
  if (nest.inputs.size() != 2 || nest.outputs.size() != 1 || std::distance(nest.body->begin(), nest.body->end()) != 3)
    return false;
  Operation *multiply = &nest.body->front(), *add = multiply->getNextNode();
  if (!isa<arith::MulFOp, arith::MulIOp>(multiply) || !isa<arith::AddFOp, arith::AddIOp>(add))
    return false;
  Value a = nest.body->getArgument(0), b = nest.body->getArgument(1), result = nest.body->getArgument(2);
  auto operandsAre = [](Operation *op, Value x, Value y) {
    return (op->getOperand(0) == x && op->getOperand(1) == y) || (op->getOperand(0) == y && op->getOperand(1) == x);
  };
  return operandsAre(multiply, a, b) && operandsAre(add, multiply->getResult(0), result) &&
         nest.body->getTerminator()->getOperand(0) == add->getResult(0) && nest.inputs[0].isBuffer &&
         nest.inputs[1].isBuffer;
}

namespace {

// With more groups of runs in a block, their sums have their rounding errors beside them.
constexpr int64_t kFewGroups = 4;

int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }
int64_t roundUp(int64_t x, int64_t y) { return ceilDiv(x, y) * y; }
int64_t bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

// The loops over terms, from the outermost on.
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

// Whether the terms are cut into runs. Integers are exact in any order.
bool sumsInRuns(const Nest &nest) {
  std::optional<int64_t> terms = nest.iterations(true).known();
  return isa<FloatType>(nest.outputs[0].element) && !(terms && *terms <= kProductRun);
}

// The most bytes of a panel's part of a block. A narrow panel takes so long to be read that the second cache can bring
// what has no place in the first.
int64_t bytesOfPanel(int64_t vectors, const Target &target) {
  return vectors <= 2 ? target.l1Bytes : target.l1Bytes * 5 / 8;
}

// Estimated cycles for one term of a tile: two multiply-adds and two loads a cycle, and at least `least`, since each
// sum has a latency of four cycles, and `ofVector` for each vector of B.
double cyclesOf(int64_t rows, int64_t vectors, double least, double ofVector) {
  if (!rows || !vectors)
    return 0;
  return std::max({static_cast<double>(rows * vectors) / 2, static_cast<double>(rows + vectors) / 2 + 0.5, least,
                   ofVector * static_cast<double>(vectors)});
}

// `inRuns`: the terms are summed up in runs, and the tile has the sums of runs beside those of the current one. Where
// registers do not hold both, the former are loaded and stored once a run. Those of a block take a way through memory.
// `least`: the terms of the shortest block.
Tile chooseTile(int64_t rows, int64_t vectors, int64_t terms, int64_t least, int64_t bytesOfVector, bool inRuns,
                const Target &target) {
  constexpr double kBytesOfCycle = 24; // what the second cache brings
  Tile best;
  // Of tiles that are about as fast, the narrowest makes the longest blocks, and so the fewest.
  constexpr double kAboutAsFast = 1.01;
  // Blocks of wide panels are short, and each block's sums take a way through memory.
  int64_t mostVectors = inRuns && rows >= 3 ? 4 : 8;
  for (int64_t r = 1; r <= std::min<int64_t>(rows, 14); ++r)
    for (int64_t n = 1; n <= std::min<int64_t>(vectors, mostVectors); ++n) {
      if (r * n + n + 1 > target.vectorRegisters)
        continue;
      bool fits = 2 * r * n + n + 1 <= target.vectorRegisters;
      int64_t block = std::clamp<int64_t>(bytesOfPanel(n, target) / (n * bytesOfVector), 1, terms);
      int64_t blocks = (terms + block - 1) / block;
      // The panels of windows with many terms have no place in the first cache.
      double ofVector =
          least * n * bytesOfVector > target.l1Bytes ? static_cast<double>(bytesOfVector) / kBytesOfCycle : 0;
      auto cost = [&](int64_t tileRows, int64_t tileVectors) {
        auto sums = static_cast<double>(tileRows * tileVectors);
        double ofRuns = inRuns ? (fits ? 0.5 : 1.5) / kProductRun : 0;
        double ofBlocks = blocks > 1 ? 1.5 / static_cast<double>(block) : 0;
        // Rows that are left over need a tile of their own, which takes as long to compile.
        return cyclesOf(tileRows, tileVectors, rows % r ? 5.5 : 5, ofVector) + (ofRuns + ofBlocks) * sums;
      };
      double cycles =
          static_cast<double>(rows / r) * (static_cast<double>(vectors / n) * cost(r, n) + cost(r, vectors % n)) +
          static_cast<double>(vectors / n) * cost(rows % r, n) + cost(rows % r, vectors % n);
      // Without runs, wider panels mean that A is read fewer times.
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

// Completes a plan that has its tile and the roles of its loops.
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
    plan.inRuns = sumsInRuns(nest);
    plan.isKnown = nest.isKnown();
    plan.outerTerms = nest.extents[plan.terms[0]].known();
    for (unsigned loop : llvm::drop_begin(plan.terms))
      plan.innerTerms *= *nest.extents[loop].known();
    plan.isKnown ? chooseBlocks() : chooseBlocksOfUnknown();
    chooseRowsOfNarrow();
    if (plan.inRuns)
      cutTermsIntoRuns();
  }

private:
  int64_t extentOf(unsigned loop) const { return *nest.extents[loop].known(); }
  bool hasRows() const { return plan.rowLoop != VectorBuilder::kNoLoop; }

  int64_t bytesTouchedBy(const Access &access) const {
    constexpr int64_t kMost = int64_t(1) << 56; // more than memory has
    int64_t elements = 1;
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      elements += std::abs(*(access.strides[loop] * (extentOf(loop) - 1)).known());
    return std::min(elements, kMost) * bytesOf(element);
  }

  // The most rows of A of which a block of terms stays in the second cache.
  int64_t rowsInCache() const {
    return roundUp(std::max<int64_t>(target.l2Bytes / 2 / (plan.termsPerBlock() * bytesOf(element)), 1),
                   plan.tile.rows);
  }

  // Decides how the loops are cut, for known sizes.
  void chooseBlocks() {
    constexpr double kPieceWork = 1 << 20; // multiply-adds
    constexpr int64_t kMaxPieces = 32;
    // To read a byte of the operands takes as long as two multiply-adds, where they are read once.
    constexpr int64_t kWorkOfByte = 2;
    int64_t extent = *plan.outerTerms;
    auto work = static_cast<double>(
        std::max(*nest.iterations().known(), hasRows() ? 0 : kWorkOfByte * (bytesTouchedBy(a) + bytesTouchedBy(b))));
    int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(work / kPieceWork), 1, kMaxPieces);
    int64_t rowExtent = hasRows() ? extentOf(plan.rowLoop) : 1,
            numPanels = ceilDiv(extentOf(plan.vectorLoop), plan.panelWidth()), rowBlock = rowExtent,
            panelBlock = numPanels, termBlock = 1;

    // For few results of many terms: each piece sums a part of the terms, and reads only this part of the operands.
    int64_t splits = std::min(
        {wanted, extent, (bytesTouchedBy(a) + bytesTouchedBy(b)) / (2 * bytesTouchedBy(nest.outputs[0])), int64_t(16)});
    if (wanted >= 4 && splits >= (plan.isWindow() ? 4 : 8))
      plan.termPieces = splits;
    int64_t termsOfPiece = ceilDiv(extent, plan.termPieces);

    // A block of terms is as long as the panel of B stays in the first cache while all tiles read it.
    // Where that makes many blocks, they are longer, so that the results need no rounding errors beside them as long as
    // the panel stays in the second cache.
    int64_t bytesOfTerm = plan.innerTerms * plan.panelWidth() * bytesOf(element);
    termBlock = std::clamp<int64_t>(bytesOfPanel() / bytesOfTerm, 1, termsOfPiece);
    if (int64_t longer = ceilDiv(termsOfPiece, ContractionPlan::kFewBlocks);
        plan.inRuns && longer > termBlock && longer * bytesOfTerm <= target.l2Bytes / 8)
      termBlock = longer;
    termBlock = ceilDiv(termsOfPiece, ceilDiv(termsOfPiece, termBlock));
    termsOfPiece = roundUp(termsOfPiece, termBlock);
    plan.termPieces = ceilDiv(extent, termsOfPiece);
    plan.mostTermBlock = termBlock;

    int64_t rows = rowExtent, pieces = plan.termPieces;
    for (unsigned loop : plan.batches)
      pieces *= extentOf(loop);
    auto shareRows = [&] {
      rowBlock = roundUp(ceilDiv(rowExtent, ceilDiv(wanted, pieces)), plan.tile.rows);
      pieces *= ceilDiv(rowExtent, rowBlock);
    };
    auto sharePanels = [&] {
      panelBlock = ceilDiv(numPanels, std::min(ceilDiv(wanted, pieces), numPanels));
      pieces *= ceilDiv(numPanels, panelBlock);
    };
    if (plan.isWindow()) {
      for (unsigned loop : plan.levels) {
        if (pieces >= wanted) {
          rows *= loop == plan.rowLoop ? 1 : extentOf(loop);
        } else if (loop == plan.rowLoop) {
          shareRows();
        } else {
          plan.isShared[loop] = true;
          pieces *= extentOf(loop);
        }
      }
      sharePanels();
    } else if (plan.packsRows = wantsRowsPacked(numPanels); plan.packsRows) {
      shareRowsThenPanels(pieces, wanted, rowBlock, panelBlock);
    } else {
      // The rows of A that meet one panel stay in the second cache. Threads share panels before rows, so that each
      // panel is packed once.
      if (rowBlock > rowsInCache()) {
        rowBlock = roundUp(ceilDiv(rowBlock, ceilDiv(rowBlock, rowsInCache())), plan.tile.rows);
        pieces *= ceilDiv(rowExtent, rowBlock);
      }
      sharePanels();
      if (pieces < wanted && rowBlock == rowExtent)
        shareRows();
    }
    rows = rows / rowExtent * rowBlock;
    // Where several pieces of images read a panel and each has few rows, all panels are packed once.
    constexpr int64_t kFewRows = 512;
    int64_t perPanel = pieces / ceilDiv(numPanels, panelBlock);
    bool canPackAll =
        perPanel > 1 && rows < kFewRows && plan.batches.empty() && plan.termPieces == 1 && plan.isWindow();
    decideToPack(canPackAll ? rows * perPanel : rows);
    plan.packsAll = plan.packs && canPackAll;
    plan.rowBlock = rowBlock;
    plan.panelBlock = panelBlock;
    plan.termBlock = termBlock;
  }

  // Decides the same where a size is not known. Known sizes bound a panel, and threads do not share terms. The rest
  // follows from the sizes when they are known (`Contraction::computeBlocks`).
  void chooseBlocksOfUnknown() {
    plan.mostTermBlock = std::max<int64_t>(
        bytesOfPanel() / (std::max<int64_t>(plan.innerTerms, 1) * plan.panelWidth() * bytesOf(element)), 1);
    if (plan.outerTerms) {
      int64_t extent = std::max<int64_t>(*plan.outerTerms, 1);
      plan.mostTermBlock = std::min(plan.mostTermBlock, extent);
      plan.mostTermBlock = ceilDiv(extent, ceilDiv(extent, plan.mostTermBlock));
      plan.termBlock = plan.mostTermBlock;
    }
    plan.rowsInCache = rowsInCache();
    decideToPack(hasRows() ? nest.extents[plan.rowLoop].guess() : 1);
    if (!plan.isWindow())
      return;
    // Threads share the images of a batch, or the rows of an image.
    plan.isShared[plan.levels[0] == plan.rowLoop ? plan.levels[1] : plan.levels[0]] = true;
    if (std::optional<int64_t> rows = hasRows() ? nest.extents[plan.rowLoop].known() : 1)
      plan.rowBlock = std::max(roundUp(*rows, plan.tile.rows), plan.tile.rows);
    if (std::optional<int64_t> columns = nest.extents[plan.vectorLoop].known())
      plan.panelBlock = std::max<int64_t>(ceilDiv(*columns, plan.panelWidth()), 1);
  }

  // A panel of fewer vectors than the others leaves registers for more rows, which its sums need to be as fast.
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
  // near each other in B. Its pieces have few rows each for a panel, and would pack it anew: they read it as it is.
  // Each tile of A takes as many lines of the first cache as the panel.
  bool sumsImages() const { return plan.isWindow() && a.distance(plan.terms.back()) > 1; }

  int64_t bytesOfPanel() const {
    return sumsImages() ? target.l1Bytes / 2 : codegen::bytesOfPanel(plan.tile.vectors, target);
  }

  // Packs A where its rows are contiguous and its terms lie far apart, if several panels read it.
  bool wantsRowsPacked(int64_t panels) const {
    constexpr int64_t kFar = 3072; // bytes; nearly every term would be in a page of its own
    return isa<FloatType>(element) && plan.inRuns && plan.terms.size() == 1 && hasRows() && plan.tile.rows > 1 &&
           panels > 1 && extentOf(plan.rowLoop) >= 4 * plan.tile.rows && a.strides[plan.rowLoop] == 1 &&
           a.distance(plan.terms.back()) * bytesOf(element) >= kFar;
  }

  // Rows before panels, since each piece packs its own.
  void shareRowsThenPanels(int64_t &pieces, int64_t wanted, int64_t &rowBlock, int64_t &panelBlock) const {
    // A piece reads packed rows and packed panels often enough if it has so many of them.
    constexpr int64_t kTiles = 16, kPanels = 4;
    int64_t rows = extentOf(plan.rowLoop), panels = ceilDiv(extentOf(plan.vectorLoop), plan.panelWidth()),
            tile = plan.tile.rows;
    int64_t most = std::max<int64_t>(kMostStackBytes / 2 / (plan.termsPerBlock() * bytesOf(element)) / tile, 1) * tile;
    int64_t parts =
        std::max(std::clamp<int64_t>(ceilDiv(wanted, pieces), 1, std::max<int64_t>(rows / (kTiles * tile), 1)),
                 ceilDiv(rows, most));
    rowBlock = roundUp(ceilDiv(rows, parts), tile);
    pieces *= ceilDiv(rows, rowBlock);
    parts = std::clamp<int64_t>(ceilDiv(wanted, pieces), 1, std::max<int64_t>(panels / kPanels, 1));
    panelBlock = ceilDiv(panels, parts);
    pieces *= ceilDiv(panels, panelBlock);
  }

  // Packs B where it is strided along the vector loop, or where its rows lie far apart and each packed element is read
  // often.
  void decideToPack(int64_t rows) {
    int64_t distance = 0;
    for (unsigned loop : sumsImages() ? ArrayRef(plan.terms).take_back() : ArrayRef(plan.terms))
      distance = std::max(distance, b.distance(loop) * bytesOf(element));
    plan.packs = !(b.strides[plan.vectorLoop] == 1) ||
                 (rows >= 4 * plan.tile.rows && distance >= 512 && plan.termsPerBlock() >= 32);
    // The inner loops over terms are not cut into blocks; with long ones a panel could overflow a thread's stack.
    plan.packs &= plan.termsPerBlock() * plan.panelWidth() * bytesOf(element) <= kMostStackBytes;
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
        some = ceilDiv(outer.count, ceilDiv(outer.count, some)); // runs of about the same length
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
    plan.isExact = groups > kFewGroups;
  }

  ContractionPlan &plan;
  const Nest &nest;
  const Target &target;
  const Access &a, &b;
  Type element;
};

} // namespace

std::optional<ContractionPlan> ContractionPlan::of(const Nest &nest, const Target &target) {
  if (!isSumOfProducts(nest) || !nest.hasReduction() || nest.iterations().guess() < 64)
    return std::nullopt;
  unsigned unknownTerms = 0;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    unknownTerms += nest.isReduction[loop] && !nest.extents[loop].isKnown();
  if (unknownTerms > 1) // only one unknown loop over terms can be cut into blocks
    return std::nullopt;
  const Access &result = nest.outputs[0];
  int64_t allTerms = std::max<int64_t>(nest.iterations(true).guess(), 1);
  ContractionPlan best;
  best.lanes = Schedule::lanesFor(nest, target);
  for (int operandOfB : {1, 0}) {
    const Access &a = nest.inputs[1 - operandOfB], &b = nest.inputs[operandOfB];
    int64_t leastBlock = allTerms / std::max<int64_t>(nest.extents[termsInOrder(nest, a).front()].guess(), 1);
    for (unsigned vectorLoop = 0; vectorLoop < nest.numLoops(); ++vectorLoop) {
      if (nest.isReduction[vectorLoop] || a.varies(vectorLoop) || !b.varies(vectorLoop) ||
          !(result.strides[vectorLoop] == 1))
        continue;
      int64_t extent = nest.extents[vectorLoop].guess(), vectors = ceilDiv(extent, best.lanes);
      auto consider = [&](unsigned rowLoop) {
        int64_t rows = rowLoop == VectorBuilder::kNoLoop ? 1 : nest.extents[rowLoop].guess();
        Tile tile = chooseTile(rows, vectors, allTerms, leastBlock, best.lanes * bytesOf(result.element),
                               sumsInRuns(nest), target);
        tile.cycles /= static_cast<double>(rows * extent);
        auto distance = [&](unsigned loop) { return loop == VectorBuilder::kNoLoop ? 0 : a.distance(loop); };
        // Of equal loops the one along which A's elements are nearest: windows that overlap share them.
        if (tile.cycles < best.tile.cycles ||
            (tile.cycles == best.tile.cycles && distance(rowLoop) < distance(best.rowLoop))) {
          best.operandOfB = operandOfB;
          best.vectorLoop = vectorLoop;
          best.rowLoop = rowLoop;
          best.tile = tile;
        }
      };
      consider(VectorBuilder::kNoLoop);
      for (unsigned rowLoop = 0; rowLoop < nest.numLoops(); ++rowLoop)
        if (!nest.isReduction[rowLoop] && rowLoop != vectorLoop && a.varies(rowLoop) && !b.varies(rowLoop))
          consider(rowLoop);
    }
  }
  if (best.vectorLoop == VectorBuilder::kNoLoop)
    return std::nullopt;
  // With a strided B and few rows, each gathered element would be used only once.
  int64_t uses = 1;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (!nest.isReduction[loop] && loop != best.vectorLoop)
      uses *= std::min<int64_t>(nest.extents[loop].guess(), 1 << 20);
  if (!(nest.inputs[best.operandOfB].strides[best.vectorLoop] == 1) && uses < 4)
    return std::nullopt;
  Planner(best, nest, target).complete();
  return best;
}

std::optional<ContractionPlan> ContractionPlan::inBlocksOf(unsigned loop, const Nest &nest) const {
  if (termPieces > 1 || packsRows || loop == vectorLoop || nest.isReduction[loop] || !termBlock || !outerTerms ||
      ceilDiv(*outerTerms, *termBlock) > kFewBlocks)
    return std::nullopt;
  for (unsigned each = 0; each < nest.numLoops(); ++each)
    if (each != loop && !nest.extents[each].isKnown())
      return std::nullopt;
  ContractionPlan plan = *this;
  plan.isKnown = true;
  plan.isShared.assign(nest.numLoops(), false);
  plan.rowBlock = kAsGiven;
  plan.panelBlock = ceilDiv(*nest.extents[vectorLoop].known(), panelWidth());
  if (loop == rowLoop)
    plan.rowsOfNarrow = tile.rows;
  if (packs && batches.empty())
    plan.packsAll = true;
  else if (packs && loop == rowLoop)
    return std::nullopt; // each block would pack the panels again
  return plan;
}

std::string ContractionPlan::text() const {
  std::string result;
  llvm::raw_string_ostream stream(result);
  auto print = [&](std::optional<int64_t> number) { number ? stream << *number : stream << "?"; };
  stream << "product, tiles of " << tile.rows << " x " << tile.vectors << " vectors of " << lanes << "; ";
  print(outerTerms);
  if (innerTerms > 1)
    stream << " x " << innerTerms;
  stream << " terms, ";
  print(termBlock);
  stream << (innerTerms > 1 ? " of them" : "") << " in a block";
  if (inRuns)
    stream << ", runs of " << runLength;
  stream << (packsAll ? "; panels packed once" : packs ? "; panels packed by each piece" : "; panels as they are");
  if (packsRows)
    stream << "; rows packed by each piece";
  if (termPieces > 1)
    stream << "; " << termPieces << " pieces of terms";
  if (rowBlock == kAsGiven)
    return result;
  stream << "; pieces of ";
  print(rowBlock);
  stream << " rows and ";
  print(panelBlock);
  stream << " panels";
  return result;
}

} // namespace calque::codegen
