// How a contraction is cut: blocks of terms, and pieces of rows, panels and terms that threads share.
#include "codegen/schedule/Contraction.h"

#include <algorithm>

using namespace mlir;

namespace calque::codegen {

int64_t Contraction::bytesOf(const Access &access) const {
  constexpr int64_t kMost = int64_t(1) << 56; // more than memory has
  int64_t elements = 1;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    elements += std::abs(*(access.strides[loop] * (*nest.extents[loop].known() - 1)).known());
  return std::min(elements, kMost) * elementBytes();
}

void Contraction::chooseBlocks() {
  constexpr double kPieceWork = 1 << 20; // multiply-adds
  constexpr int64_t kMaxPieces = 32;
  // To read a byte of the operands takes as long as two multiply-adds, where they are read once.
  constexpr int64_t kWorkOfByte = 2;
  int64_t extent = *nest.extents[terms[0]].known();
  auto work = static_cast<double>(std::max(
      *nest.iterations().known(), rowLoop == VectorBuilder::kNoLoop ? kWorkOfByte * (bytesOf(a) + bytesOf(b)) : 0));
  int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(work / kPieceWork), 1, kMaxPieces);
  int64_t rowExtent = *this->rowExtent.known, numPanels = *this->numPanels.known, rowBlock = rowExtent,
          panelBlock = numPanels, termBlock = 1;
  auto extentOf = [&](unsigned loop) { return *nest.extents[loop].known(); };
  isShared.assign(nest.numLoops(), false);

  // For few results of many terms: each piece sums a part of the terms, and reads only this part of the operands.
  int64_t splits = std::min({wanted, extent, (bytesOf(a) + bytesOf(b)) / (2 * bytesOf(result)), int64_t(16)});
  if (wanted >= 4 && splits >= (isWindow() ? 4 : 8))
    termPieces = splits;
  int64_t termsOfPiece = ceilDiv(extent, termPieces);

  // A block of terms is as long as the panel of B stays in the first cache while all tiles read it.
  // Where that makes many blocks, they are longer, so that the results need no rounding errors beside them as long as
  // the panel stays in the second cache.
  int64_t bytesOfTerm = innerTerms() * panelWidth() * elementBytes();
  termBlock = std::clamp<int64_t>(bytesOfPanel() / bytesOfTerm, 1, termsOfPiece);
  if (int64_t longer = ceilDiv(termsOfPiece, kFewBlocks);
      inRuns && longer > termBlock && longer * bytesOfTerm <= schedule.target.l2Bytes / 8)
    termBlock = longer;
  termBlock = ceilDiv(termsOfPiece, ceilDiv(termsOfPiece, termBlock));
  termsOfPiece = ceilDiv(termsOfPiece, termBlock) * termBlock;
  termPieces = ceilDiv(extent, termsOfPiece);
  mostTermBlock = termBlock;

  int64_t rows = rowExtent, pieces = termPieces;
  for (unsigned loop : batches)
    pieces *= extentOf(loop);
  auto shareRows = [&] {
    rowBlock = ceilDiv(ceilDiv(rowExtent, ceilDiv(wanted, pieces)), tile.rows) * tile.rows;
    pieces *= ceilDiv(rowExtent, rowBlock);
  };
  auto sharePanels = [&] {
    panelBlock = ceilDiv(numPanels, std::min(ceilDiv(wanted, pieces), numPanels));
    pieces *= ceilDiv(numPanels, panelBlock);
  };
  if (isWindow()) {
    for (unsigned loop : levels) {
      if (pieces >= wanted) {
        rows *= loop == rowLoop ? 1 : extentOf(loop);
      } else if (loop == rowLoop) {
        shareRows();
      } else {
        isShared[loop] = true;
        pieces *= extentOf(loop);
      }
    }
    sharePanels();
  } else if (packsRows = wantsRowsPacked(numPanels); packsRows) {
    shareRowsThenPanels(pieces, wanted, rowBlock, panelBlock);
  } else {
    // The rows of A that meet one panel stay in the second cache. Threads share panels before rows, so that each
    // panel is packed once.
    int64_t rowsInCache =
        ceilDiv(std::max<int64_t>(schedule.target.l2Bytes / 2 / (termsPerBlock() * elementBytes()), 1), tile.rows) *
        tile.rows;
    if (rowBlock > rowsInCache) {
      rowBlock = ceilDiv(ceilDiv(rowBlock, ceilDiv(rowBlock, rowsInCache)), tile.rows) * tile.rows;
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
  bool canPackAll = perPanel > 1 && rows < kFewRows && batches.empty() && termPieces == 1 && isWindow();
  decideToPack(canPackAll ? rows * perPanel : rows);
  packsAll = packs && canPackAll;
  this->rowBlock = rowBlock;
  this->panelBlock = panelBlock;
  this->termBlock = termBlock;
}

// Whether this is the gradient of filters: windows whose terms are the places in images, far from each other in A and
// near each other in B. Its pieces have few rows each for a panel, and would pack it anew: they read it as it is. Each
// tile of A takes as many lines of the first cache as the panel.
bool Contraction::sumsImages() const { return isWindow() && a.distance(terms.back()) > 1; }

int64_t Contraction::bytesOfPanel() const {
  return sumsImages() ? schedule.target.l1Bytes / 2 : bytesOfPanel(tile.vectors, schedule.target);
}

// A narrow panel takes so long to be read that the second cache can bring what has no place in the first.
int64_t Contraction::bytesOfPanel(int64_t vectors, const Target &target) {
  return vectors <= 2 ? target.l1Bytes : target.l1Bytes * 5 / 8;
}

bool Contraction::wantsRowsPacked(int64_t panels) const {
  constexpr int64_t kFar = 3072; // bytes; nearly every term would be in a page of its own
  return isFloat && inRuns && terms.size() == 1 && rowLoop != VectorBuilder::kNoLoop && tile.rows > 1 && panels > 1 &&
         *nest.extents[rowLoop].known() >= 4 * tile.rows && a.strides[rowLoop] == 1 &&
         a.distance(terms.back()) * elementBytes() >= kFar;
}

void Contraction::shareRowsThenPanels(int64_t &pieces, int64_t wanted, int64_t &rowBlock, int64_t &panelBlock) const {
  // A piece reads packed rows and packed panels often enough if it has so many of them.
  constexpr int64_t kTiles = 16, kPanels = 4;
  int64_t rows = *rowExtent.known, panels = *numPanels.known;
  int64_t most = std::max<int64_t>(kMostStackBytes / 2 / (termsPerBlock() * elementBytes()) / tile.rows, 1) * tile.rows;
  int64_t parts =
      std::max(std::clamp<int64_t>(ceilDiv(wanted, pieces), 1, std::max<int64_t>(rows / (kTiles * tile.rows), 1)),
               ceilDiv(rows, most));
  rowBlock = ceilDiv(ceilDiv(rows, parts), tile.rows) * tile.rows;
  pieces *= ceilDiv(rows, rowBlock);
  parts = std::clamp<int64_t>(ceilDiv(wanted, pieces), 1, std::max<int64_t>(panels / kPanels, 1));
  panelBlock = ceilDiv(panels, parts);
  pieces *= ceilDiv(panels, panelBlock);
}

void Contraction::decideToPack(int64_t rows) {
  int64_t distance = 0;
  for (unsigned loop : sumsImages() ? ArrayRef(terms).take_back() : ArrayRef(terms))
    distance = std::max(distance, b.distance(loop) * elementBytes());
  packs = !(b.strides[vectorLoop] == 1) || (rows >= 4 * tile.rows && distance >= 512 && termsPerBlock() >= 32);
  // The inner loops over terms are not cut into blocks; with long ones a panel could overflow a thread's stack.
  packs &= termsPerBlock() * panelWidth() * elementBytes() <= kMostStackBytes;
}

void Contraction::chooseBlocksOfUnknown() {
  constexpr int64_t kPieceWork = 1 << 20, kMaxPieces = 32;
  Number extent = v.number(nest.extents[terms[0]]);
  Number wanted = v.maximum(v.minimum(v.divide(v.number(nest.iterations()), kPieceWork), kMaxPieces), 1);
  isShared.assign(nest.numLoops(), false);
  mostTermBlock =
      std::max<int64_t>(bytesOfPanel() / (std::max<int64_t>(innerTerms(), 1) * panelWidth() * elementBytes()), 1);
  if (extent.known)
    mostTermBlock = std::min(mostTermBlock, std::max<int64_t>(*extent.known, 1));
  Number termBlocks = v.maximum(v.ceilDivide(extent, mostTermBlock), 1);
  termBlock = v.maximum(v.ceilDivide(extent, termBlocks), 1);
  if (termBlock.known)
    mostTermBlock = *termBlock.known;
  decideToPack(rowLoop == VectorBuilder::kNoLoop ? 1 : nest.extents[rowLoop].guess());

  Number pieces = 1, everyRow = v.maximum(v.roundUp(rowExtent, tile.rows), tile.rows),
         everyPanel = v.maximum(numPanels, 1);
  for (unsigned loop : batches)
    pieces = v.multiply(pieces, v.number(nest.extents[loop]));
  rowBlock = everyRow;
  panelBlock = everyPanel;
  if (isWindow()) {
    // Threads share the images of a batch, or the rows of an image.
    unsigned outermost = levels[0] == rowLoop ? levels[1] : levels[0];
    isShared[outermost] = true;
    return;
  }
  int64_t rowsInCache =
      ceilDiv(std::max<int64_t>(schedule.target.l2Bytes / 2 / (termsPerBlock() * elementBytes()), 1), tile.rows) *
      tile.rows;
  Number rowPieces = v.maximum(v.ceilDivide(rowExtent, rowsInCache), 1);
  Number inCache = v.maximum(v.roundUp(v.ceilDivide(rowExtent, rowPieces), tile.rows), tile.rows);
  pieces = v.maximum(v.multiply(pieces, rowPieces), 1);
  Number perPanels = v.maximum(v.minimum(v.ceilDivide(wanted, pieces), everyPanel), 1);
  panelBlock = v.maximum(v.ceilDivide(numPanels, perPanels), 1);
  pieces = v.maximum(v.multiply(pieces, v.ceilDivide(numPanels, panelBlock)), 1);
  // Threads share rows as well where there are too few panels.
  Number perRows = v.maximum(v.ceilDivide(wanted, pieces), 1);
  Number cut = v.maximum(v.roundUp(v.ceilDivide(rowExtent, perRows), tile.rows), tile.rows);
  rowBlock = v.minimum(inCache, cut);
}

} // namespace calque::codegen
