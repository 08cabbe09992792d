#include "codegen/schedule/Plans.h"

#include "llvm/ADT/TypeSwitch.h"

#include <charconv>

#include "codegen/PlansDialect.cpp.inc"
#include "codegen/PlansEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "codegen/Plans.cpp.inc"

using namespace mlir;

namespace calque::codegen {

void plan::PlanDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/Plans.cpp.inc"
      >();
}

// The shortest text that is read as the same number, with a point, without which MLIR reads no float.
std::string plan::textOf(Cycles cycles) {
  char digits[32];
  std::string text(digits, std::to_chars(digits, std::end(digits), cycles.value, std::chars_format::scientific).ptr);
  if (text.find('.') == std::string::npos)
    text.insert(text.find('e'), ".0");
  return text;
}

FailureOr<SmallVector<TermLoop>> plan::parseLoops(AsmParser &parser) {
  SmallVector<TermLoop> loops;
  auto parseLoop = [&]() -> ParseResult {
    TermLoop loop{0, 1, 0, 1};
    int64_t number = 0;
    // A number such as 2 x 7 is 2, x and 7, but 0 x 7 without spaces would be a number in base 16.
    if (parser.parseInteger(number) || parser.parseKeyword("x") || parser.parseInteger(loop.count) ||
        (succeeded(parser.parseOptionalKeyword("by")) && parser.parseInteger(loop.step)) ||
        (succeeded(parser.parseOptionalKeyword("within")) && parser.parseInteger(loop.within)))
      return failure();
    loop.loop = static_cast<unsigned>(number);
    loops.push_back(loop);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseLoop))
    return failure();
  return loops;
}

void plan::printLoops(AsmPrinter &printer, ArrayRef<TermLoop> loops) {
  auto &stream = printer.getStream();
  stream << '[';
  llvm::interleaveComma(loops, stream, [&](const TermLoop &loop) {
    stream << loop.loop << " x " << loop.count;
    if (loop.step != 1)
      stream << " by " << loop.step;
    if (loop.within)
      stream << " within " << loop.within;
  });
  stream << ']';
}

namespace {

std::optional<int64_t> numberOf(unsigned loop) {
  return loop == VectorBuilder::kNoLoop ? std::nullopt : std::optional<int64_t>(loop);
}

// Null if there are no numbers.
template <typename Numbers> DenseI64ArrayAttr listOf(const Numbers &numbers, MLIRContext *context) {
  SmallVector<int64_t> list(numbers.begin(), numbers.end());
  return list.empty() ? DenseI64ArrayAttr() : DenseI64ArrayAttr::get(context, list);
}

int64_t numberOf(const Border &border, ArrayRef<Border> borders) {
  return llvm::find(borders, border) - borders.begin();
}

} // namespace

plan::DotsAttr attributeOf(const DotPlan &plan, MLIRContext *context) {
  return plan::DotsAttr::get(context, plan.operandOfA, plan.along, plan.rowLoop, numberOf(plan.columnLoop), plan.lanes,
                             DenseI64ArrayAttr::get(context, {plan.rows, plan.columns}), plan.packs, {plan.cycles});
}

plan::TilesAttr attributeOf(const ContractionPlan &plan, const Nest &nest, MLIRContext *context) {
  const Nest tiled = plan.tiledPart(nest);
  SmallVector<int64_t> shared, leftOut;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (plan.isShared[loop])
      shared.push_back(loop);
  for (const Border &border : plan.leftOut)
    leftOut.push_back(numberOf(border, tiled.borders));
  auto borderOf = [&](const std::optional<Border> &border) {
    return border ? std::optional(numberOf(*border, tiled.borders)) : std::nullopt;
  };
  const bool inBlocks = plan.rowBlock == ContractionPlan::kAsGiven;
  // If some blocks are not known yet, the attribute has the members from which they follow.
  const bool isOpen = !plan.termPieces || !plan.termBlock || !plan.rowBlock || !plan.panelBlock;
  return plan::TilesAttr::get(
      context, plan.operandOfB, plan.vectorLoop, numberOf(plan.rowLoop),
      DenseI64ArrayAttr::get(context, SmallVector<int64_t>(plan.terms.begin(), plan.terms.end())),
      listOf(plan.batches, context), listOf(plan.levels, context), listOf(shared, context), plan.lanes,
      DenseI64ArrayAttr::get(context, {plan.tile.rows, plan.tile.vectors}),
      plan.rowsOfNarrow == plan.tile.rows ? std::nullopt : std::optional(plan.rowsOfNarrow), plan.mostTermPieces,
      plan.mostTermBlock, plan.termPieces, plan.termBlock, inBlocks ? std::nullopt : plan.rowBlock, plan.panelBlock,
      inBlocks, isOpen ? std::optional(plan.rowsInCache) : std::nullopt, isOpen && plan.sharesRows,
      isOpen && plan.sharesPanels,
      plan.packsAll      ? plan::Panels::Once
      : plan.packsInTile ? plan::Panels::ByFirstTile
      : plan.packs       ? plan::Panels::ByPiece
                         : plan::Panels::AsTheyAre,
      plan.packsRows, plan.inRuns ? plan.runLength : 0, plan.termLoops, listOf(plan.starts, context), plan.isExact,
      listOf(leftOut, context), borderOf(plan.besideRows), borderOf(plan.besideTerms), plan.linesOfA, plan.linesOfB,
      plan.lastColumnsCount, plan.ofLastColumns ? attributeOf(*plan.ofLastColumns, context) : plan::DotsAttr(),
      {plan.tile.cycles});
}

static plan::VectorsAttr attributeOf(const VectorPlan &plan, MLIRContext *context) {
  return plan::VectorsAttr::get(context, numberOf(plan.along), plan.lanes, plan.vectors, listOf(plan.loops, context),
                                listOf(plan.terms, context), listOf(plan.beside, context), {plan.cycles});
}

Attribute attributeOf(const NestPlan &plan, MLIRContext *context) {
  auto orNone = [&](const std::optional<VectorPlan> &part) {
    return part ? attributeOf(*part, context) : plan::VectorsAttr();
  };
  if (const auto *pieces = std::get_if<PiecesPlan>(&plan))
    return plan::PiecesAttr::get(context, pieces->loop, pieces->count, attributeOf(pieces->each, context),
                                 orNone(pieces->rest), attributeOf(pieces->sums, context));
  if (const auto *squares = std::get_if<SquaresPlan>(&plan))
    return plan::SquaresAttr::get(context, squares->along, squares->across, squares->size, squares->beside,
                                  orNone(squares->restAcross), orNone(squares->restAlong), {squares->cycles});
  return attributeOf(std::get<VectorPlan>(plan), context);
}

} // namespace calque::codegen
