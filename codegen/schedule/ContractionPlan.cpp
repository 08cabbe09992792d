// Chooses the loops and the tile of a contraction, and whether its last columns are dot products.
#include "codegen/schedule/ContractionBlocks.h"
#include "codegen/schedule/ScalarFunctions.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;

namespace calque::codegen {

bool isSumOfProducts(const Nest &nest) {
  if (nest.inputs.size() != 2 || nest.outputs.size() != 1 || std::distance(nest.body->begin(), nest.body->end()) != 3)
    return false;
  Operation *multiply = &nest.body->front(), *add = multiply->getNextNode();
  if (!(isa<arith::MulFOp, arith::MulIOp>(multiply) || isDotOfWords(*multiply)) ||
      !isa<arith::AddFOp, arith::AddIOp>(add))
    return false;
  Value a = nest.body->getArgument(0), b = nest.body->getArgument(1), result = nest.body->getArgument(2);
  auto operandsAre = [](Operation *op, Value x, Value y) {
    return (op->getOperand(0) == x && op->getOperand(1) == y) || (op->getOperand(0) == y && op->getOperand(1) == x);
  };
  return operandsAre(multiply, a, b) && operandsAre(add, multiply->getResult(0), result) &&
         nest.body->getTerminator()->getOperand(0) == add->getResult(0) && nest.inputs[0].isBuffer &&
         nest.inputs[1].isBuffer;
}

Value productOf(VectorBuilder &v, int input, Value element, Value other) {
  Operation *multiply = &v.nest.body->front();
  const bool isFirst = multiply->getOperand(0) == v.nest.body->getArgument(static_cast<unsigned>(input));
  return v.apply(multiply, isFirst ? element : other, isFirst ? other : element);
}

namespace {

// The plan that computes all columns in tiles.
std::optional<ContractionPlan> ofAllColumns(const Nest &nest, const Target &target) {
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
  best.lanes = KernelContext::lanesFor(nest, target);
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
        Tile tile =
            chooseTile(rows, vectors, allTerms, leastBlock, best.lanes * ir::ElementType(result.element).bytes(),
                       ContractionPlan::sumsInRuns(nest), target);
        tile.cycles /= static_cast<double>(rows * extent);
        auto distance = [&](unsigned loop) { return loop == VectorBuilder::kNoLoop ? 0 : a.distance(loop); };
        // Of loops that are about as fast, the row loop is the one along which A's elements are nearest: windows that
        // overlap share these elements, and images remain whole.
        constexpr double kAboutAsFast = 1.05;
        bool isNearer = best.rowLoop != VectorBuilder::kNoLoop && distance(rowLoop) < distance(best.rowLoop),
             isFarther = best.rowLoop != VectorBuilder::kNoLoop && distance(rowLoop) > distance(best.rowLoop);
        if (tile.cycles < best.tile.cycles * (isNearer ? kAboutAsFast : isFarther ? 1 / kAboutAsFast : 1)) {
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
  completePlan(best, nest, target);
  return best;
}

} // namespace

bool ContractionPlan::sumsInRuns(const Nest &nest) {
  std::optional<int64_t> terms = nest.iterations(true).known();
  return isa<FloatType>(nest.outputs[0].element) && !(terms && *terms <= kProductRun);
}

void ContractionPlan::takeSizes(const Nest &nest) {
  isKnown = nest.isKnown();
  outerTerms = nest.extents[terms[0]].known();
  innerTerms = 1;
  for (unsigned loop : llvm::drop_begin(terms))
    innerTerms *= *nest.extents[loop].known();
  elementBytes = ir::ElementType(nest.outputs[0].element).bytes();
}

bool ContractionPlan::canPackInTile(const Nest &nest) const {
  if (!packs || packsAll || isWindow() || !hasRows() || !rowBlock || !nest.extents[rowLoop].isKnown() ||
      !(nest.inputs[operandOfB].strides[vectorLoop] == 1))
    return false;
  int64_t rows = *nest.extents[rowLoop].known(), last = rows % *rowBlock, most = std::max(tile.rows, rowsOfNarrow);
  return std::min(rows, *rowBlock) >= most && (last == 0 || last >= most);
}

bool ContractionPlan::canLeaveOut(const Border &border) const {
  return border.unit == 1 && border.unitOfResults == 1 && border.results != rowLoop && border.results != vectorLoop;
}

bool ContractionPlan::canLeaveOutBesideRows(const Border &border, const Nest &nest) const {
  return border.results == rowLoop && border.unitOfResults == 1 && border.terms == terms.back() && terms.size() > 1 &&
         !packsRows && nest.extents[rowLoop].isKnown() && rowBlock >= *nest.extents[rowLoop].known();
}

bool ContractionPlan::canLeaveOutBesideTerms(const Border &border, const Nest &nest) const {
  const TermLoop &last = termLoops.back();
  return border.results == rowLoop && border.unitOfResults >= tile.rows && border.unit == 1 &&
         border.terms == last.loop && last.loop != terms[0] && !last.within && termLoops.size() > 1 &&
         nest.extents[rowLoop].isKnown();
}

int64_t ContractionPlan::leastTermsBeside(const Border &border, const Nest &nest) const {
  const int64_t all = *nest.extents[border.terms].known(),
                places = *nest.extents[rowLoop].known() / border.unitOfResults;
  int64_t least = all;
  for (int64_t place = 0; place < places; ++place)
    least = std::min(least, all - std::max<int64_t>(border.low - place, 0) -
                                std::max<int64_t>(place - (places - 1 - border.high), 0));
  return least;
}

std::optional<ContractionPlan> ContractionPlan::of(const Nest &nest, const Target &target) {
  std::optional<ContractionPlan> all = ofAllColumns(nest, target);
  if (!all || !nest.extents[all->vectorLoop].isKnown())
    return all;
  // A vector of a few last columns takes as long as a full one.
  int64_t columns = *nest.extents[all->vectorLoop].known(), few = columns % all->lanes;
  auto isCut = [&](const Access &access) { return access.strides[all->vectorLoop].isKnown(); };
  if (few == 0 || few == columns || !llvm::all_of(nest.inputs, isCut) || !llvm::all_of(nest.outputs, isCut))
    return all;
  ContractionPlan cut = *all;
  cut.lastColumnsCount = few;
  std::optional<DotPlan> dots = DotPlan::of(cut.lastColumns(nest), target);
  std::optional<ContractionPlan> tiles = dots ? ofAllColumns(cut.tiledPart(nest), target) : std::nullopt;
  if (!tiles || tiles->vectorLoop != all->vectorLoop)
    return all;
  // The dot products of the last columns read A once more.
  constexpr double kGain = 0.98;
  double again = static_cast<double>(bytesTouched(nest, nest.inputs[dots->operandOfA])) / target.bytesBeyondL2 /
                 static_cast<double>(std::max<int64_t>((nest.iterations()).guess() / columns, 1));
  double before = all->tile.cycles * static_cast<double>(columns),
         after =
             tiles->tile.cycles * static_cast<double>(columns - few) + dots->cycles * static_cast<double>(few) + again;
  if (after > kGain * before)
    return all;
  tiles->ofLastColumns = dots;
  tiles->lastColumnsCount = few;
  // The average cycles of a result, as before.
  tiles->tile.cycles = after / static_cast<double>(columns);
  return tiles;
}

Nest ContractionPlan::tiledPart(const Nest &nest) const {
  if (!lastColumnsCount)
    return nest;
  Nest part = nest;
  part.slice(vectorLoop, 0, *nest.extents[vectorLoop].known() - lastColumnsCount);
  return part;
}

Nest ContractionPlan::lastColumns(const Nest &nest) const {
  Nest part = nest;
  part.slice(vectorLoop, *nest.extents[vectorLoop].known() - lastColumnsCount, lastColumnsCount);
  return part;
}

std::optional<ContractionPlan> ContractionPlan::inBlocksOf(unsigned loop, const Nest &nest) const {
  if (mostTermPieces > 1 || packsRows || loop == vectorLoop || nest.isReduction[loop] || !termBlock || !outerTerms ||
      ceilDiv(*outerTerms, *termBlock) > kFewBlocks)
    return std::nullopt;
  for (unsigned each = 0; each < nest.numLoops(); ++each)
    if (each != loop && !nest.extents[each].isKnown())
      return std::nullopt;
  ContractionPlan plan = *this;
  plan.isKnown = true;
  plan.packsInTile = false;
  plan.isShared.assign(nest.numLoops(), false);
  llvm::erase_if(plan.leftOut, [&](const Border &border) { return border.has(loop); });
  if (loop == rowLoop) {
    plan.besideRows.reset();
    plan.besideTerms.reset();
  }
  plan.linesOfA = plan.linesOfB = 0;
  plan.rowBlock = kAsGiven;
  plan.panelBlock = ceilDiv(*nest.extents[vectorLoop].known() - lastColumnsCount, panelWidth());
  if (loop == rowLoop)
    plan.rowsOfNarrow = tile.rows;
  if (packs && batches.empty())
    plan.packsAll = true;
  else if (packs && loop == rowLoop)
    return std::nullopt; // each block would pack the panels again
  return plan;
}

SmallVector<TermLoop> ContractionPlan::countedRuns() const {
  SmallVector<TermLoop> loops{{vectorLoop, panelWidth(), 0, *panelBlock}};
  for (unsigned loop : levels)
    if (loop == rowLoop)
      loops.push_back({loop, tile.rows, 0, ceilDiv(*rowBlock, tile.rows)});
  for (const TermLoop &each : ArrayRef(termLoops).take_front(starts.back()))
    if (each.loop != terms[0])
      loops.push_back(each);
  return loops;
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
  if (!leftOut.empty() || besideRows || besideTerms)
    stream << ", without zeros around";
  if (linesOfA || linesOfB)
    stream << ", each asks for " << linesOfA + linesOfB << " lines of the next block";
  stream << (packsAll      ? "; panels packed once"
             : packsInTile ? "; panels packed by each piece's first tile"
             : packs       ? "; panels packed by each piece"
                           : "; panels as they are");
  if (packsRows)
    stream << "; rows packed by each piece";
  if (mostTermPieces > 1) {
    stream << "; ";
    termPieces ? stream << *termPieces : stream << "up to " << mostTermPieces;
    stream << " pieces of terms";
  }
  if (rowBlock != kAsGiven) {
    stream << "; pieces of ";
    print(rowBlock);
    stream << " rows and ";
    print(panelBlock);
    stream << " panels";
  }
  if (ofLastColumns)
    stream << "; the last " << lastColumnsCount << " columns: " << ofLastColumns->text();
  return result;
}

} // namespace calque::codegen
