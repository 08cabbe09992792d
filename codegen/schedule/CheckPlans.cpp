// Checks that a plan fits a nest and a target. A plan that fits computes the operation's results, however slowly. A
// plan is refused if it leaves results out, computes some twice, takes more registers, stack or lanes than there are,
// or adds terms less exactly than sums are promised to be.
#include "codegen/schedule/PlanCheck.h"

#include <algorithm>

using namespace mlir;

namespace calque::codegen {

namespace {

class DotsCheck : PlanCheck {
public:
  DotsCheck(const Nest &nest, const Target &target, plan::DotsAttr attribute, DotPlan &plan)
      : PlanCheck(nest, target), attribute(attribute), plan(plan) {}

  LogicalResult run() {
    if (failed(checkProducts()))
      return failure();
    if (attribute.getA() < 0 || attribute.getA() > 1)
      return nest.op->emitOpError("plan: operand ") << attribute.getA() << " is none; the operands are 0 and 1";
    plan.operandOfA = static_cast<int>(attribute.getA());
    plan.lanes = attribute.getLanes();
    plan.packs = attribute.getPacks();
    if (failed(takeCycles(attribute.getCycles(), plan.cycles)) ||
        failed(takeLoop("along", attribute.getAlong(), plan.along)) ||
        failed(takeLoop("rows", attribute.getRows(), plan.rowLoop)) ||
        failed(takeLoop("columns", attribute.getColumns(), plan.columnLoop)) ||
        failed(takeTile(attribute.getTile(), plan.rows, plan.columns)) || failed(checkLanes(plan.lanes)) ||
        failed(
            checkRegisters(plan.rows, plan.columns, plan.rows * plan.columns + std::min(plan.rows, plan.columns) + 1)))
      return failure();
    const Access &a = nest.inputs[plan.operandOfA], &b = nest.inputs[1 - plan.operandOfA];
    if (!nest.isReduction[plan.along] || !(a.strides[plan.along] == 1) || !b.varies(plan.along))
      return nest.op->emitOpError("plan: loop ")
             << plan.along << " has no vectors of terms: operand A is not contiguous along it, or B the same all along";
    auto isOfResults = [&](unsigned loop, const Access &one, const Access &other) {
      return !nest.isReduction[loop] && one.varies(loop) && !other.varies(loop);
    };
    if (!isOfResults(plan.rowLoop, a, b))
      return nest.op->emitOpError("plan: loop ")
             << plan.rowLoop << " has no rows: one operand alone varies along these";
    if (plan.hasColumns() && (!isOfResults(plan.columnLoop, b, a) || !isKnown(plan.columnLoop)))
      return nest.op->emitOpError("plan: loop ")
             << plan.columnLoop
             << " has no columns: operand B alone varies along these, of which there is a known number";
    for (unsigned loop = 0; plan.packs && loop < nest.numLoops(); ++loop)
      if (nest.isReduction[loop] ? !isKnown(loop) : loop != plan.columnLoop && b.varies(loop))
        return nest.op->emitOpError("plan: operand B is packed once, which loop ")
               << loop << " does not allow: it has an unknown number of terms, or one copy for each iteration";
    return success();
  }

private:
  plan::DotsAttr attribute;
  DotPlan &plan;
};

class TilesCheck : PlanCheck {
public:
  // `nest` has the columns that are computed in tiles. `groupRows`: the loop of which a group takes a block at a time.
  TilesCheck(const Nest &nest, const Target &target, plan::TilesAttr attribute, std::optional<unsigned> groupRows,
             ContractionPlan &plan)
      : PlanCheck(nest, target), attribute(attribute), groupRows(groupRows), plan(plan) {}

  LogicalResult run() {
    if (failed(takeRoles()))
      return failure();
    plan.takeSizes(nest);
    return success(succeeded(takeTile()) && succeeded(takeBlocks()) && succeeded(takeCopies()) &&
                   succeeded(takeRuns()) && succeeded(takeBorders()) && succeeded(checkGroup()));
  }

private:
  const Access &a() const { return nest.inputs[1 - plan.operandOfB]; }
  const Access &b() const { return nest.inputs[plan.operandOfB]; }
  int64_t extentOf(unsigned loop) const { return *nest.extents[loop].known(); }

  LogicalResult takeRoles() {
    SmallVector<unsigned> shared;
    if (failed(takeLoop("rows", attribute.getRows(), plan.rowLoop)) ||
        failed(takeLoops("terms", attribute.getTerms(), plan.terms)) ||
        failed(takeLoops("batches", attribute.getBatches(), plan.batches)) ||
        failed(takeLoops("others", attribute.getOthers(), plan.levels)) ||
        failed(takeLoops("shared", attribute.getShared(), shared)))
      return failure();
    SmallVector<int> roles(nest.numLoops());
    ++roles[plan.vectorLoop];
    for (const auto *loops : {&plan.terms, &plan.batches, &plan.levels})
      for (unsigned loop : *loops)
        ++roles[loop];
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if (roles[loop] != 1)
        return nest.op->emitOpError("plan: loop ")
               << loop << " has " << roles[loop] << " roles, and each has one of columns, terms, batches and others";
    auto wrongRole = [&](StringRef role, unsigned loop) {
      return nest.op->emitOpError("plan: loop ") << loop << " can't be of the " << role << ": its operands or results "
                                                 << "lie in another way along it";
    };
    unsigned columns = plan.vectorLoop;
    if (nest.isReduction[columns] || a().varies(columns) || !b().varies(columns) ||
        !(nest.outputs[0].strides[columns] == 1))
      return wrongRole("columns", columns);
    for (unsigned loop : plan.terms)
      if (!nest.isReduction[loop])
        return wrongRole("terms", loop);
    for (unsigned loop : plan.batches)
      if (nest.isReduction[loop] || !b().varies(loop))
        return wrongRole("batches", loop);
    for (unsigned loop : plan.levels)
      if (nest.isReduction[loop] || b().varies(loop))
        return wrongRole("others", loop);
    if (plan.hasRows() && (!llvm::is_contained(plan.levels, plan.rowLoop) || !a().varies(plan.rowLoop)))
      return wrongRole("rows", plan.rowLoop);
    // Only the outermost loop over terms is cut into blocks, so that the others must be known.
    for (unsigned loop : llvm::drop_begin(plan.terms))
      if (!isKnown(loop))
        return wrongRole("terms", loop);
    plan.isShared.assign(nest.numLoops(), false);
    for (unsigned loop : shared) {
      if (!llvm::is_contained(plan.levels, loop) || loop == plan.rowLoop)
        return wrongRole("shared", loop);
      plan.isShared[loop] = true;
    }
    return success();
  }

  LogicalResult takeTile() {
    plan.lanes = attribute.getLanes();
    if (failed(checkLanes(plan.lanes)) ||
        failed(PlanCheck::takeTile(attribute.getTile(), plan.tile.rows, plan.tile.vectors)) ||
        failed(takeCycles(attribute.getCycles(), plan.tile.cycles)))
      return failure();
    plan.rowsOfNarrow = attribute.getLastPanelRows().value_or(plan.tile.rows);
    if (failed(checkRegisters(plan.tile.rows, plan.tile.vectors,
                              plan.tile.rows * plan.tile.vectors + plan.tile.vectors + 1)))
      return failure();
    if (!plan.hasRows() && (plan.tile.rows != 1 || plan.rowsOfNarrow != 1))
      return nest.op->emitOpError("plan: there are no rows, and a tile has ") << plan.tile.rows << " of them";
    if (plan.rowsOfNarrow == plan.tile.rows)
      return success();
    if (failed(atLeast(1, "last_panel_rows", plan.rowsOfNarrow)))
      return failure();
    if (!plan.isKnown)
      return nest.op->emitOpError("plan: last_panel_rows are of a last panel of a known number of columns and rows");
    // The last panel may have fewer vectors than the others.
    int64_t vectors = ceilDiv(extentOf(plan.vectorLoop) % plan.panelWidth(), plan.lanes);
    return checkRegisters(plan.rowsOfNarrow, vectors, plan.rowsOfNarrow * vectors + vectors + 1);
  }

  LogicalResult takeBlocks() {
    plan.mostTermPieces = attribute.getMostTermPieces();
    plan.mostTermBlock = attribute.getMostTermBlock();
    plan.termPieces = attribute.getTermPieces();
    plan.termBlock = attribute.getTermBlock();
    plan.rowBlock = attribute.getRowBlock();
    plan.panelBlock = attribute.getPanelBlock();
    plan.rowsInCache = attribute.getCachedRows().value_or(plan.tile.rows);
    plan.sharesRows = attribute.getSharesRows();
    plan.sharesPanels = attribute.getSharesPanels();
    for (auto [what, number] : {std::pair<StringRef, std::optional<int64_t>>("most_term_pieces", plan.mostTermPieces),
                                {"most_term_block", plan.mostTermBlock},
                                {"term_pieces", plan.termPieces},
                                {"term_block", plan.termBlock},
                                {"row_block", plan.rowBlock},
                                {"panel_block", plan.panelBlock},
                                {"cached_rows", plan.rowsInCache}})
      if (failed(atLeast(1, what, number)))
        return failure();
    // Each piece of terms has results of its own.
    constexpr int64_t kMostPieces = 1024;
    if (plan.mostTermPieces > kMostPieces)
      return nest.op->emitOpError("plan: ")
             << plan.mostTermPieces << " pieces of terms are more than the " << kMostPieces << " that there may be";
    if (plan.termBlock > plan.mostTermBlock)
      return nest.op->emitOpError("plan: a term_block of ")
             << *plan.termBlock << " is above most_term_block, " << plan.mostTermBlock;
    if (plan.termPieces > plan.mostTermPieces)
      return nest.op->emitOpError("plan: term_pieces of ")
             << *plan.termPieces << " are above most_term_pieces, " << plan.mostTermPieces;
    if (plan.mostTermPieces > 1 && !nest.iterations(false).isKnown())
      return nest.op->emitOpError(
          "plan: each of several pieces of terms has results of its own, and there is an unknown "
          "number of results");
    if (plan.outerTerms && plan.termPieces && plan.termBlock) {
      int64_t blocks = ceilDiv(ceilDiv(*plan.outerTerms, *plan.termPieces), *plan.termBlock),
              size = blocks * *plan.termBlock;
      if ((*plan.termPieces - 1) * size >= *plan.outerTerms)
        return nest.op->emitOpError("plan: the last of ")
               << *plan.termPieces << " pieces of " << size << " terms has none, since there are " << *plan.outerTerms;
    }
    if (groupRows)
      plan.rowBlock = ContractionPlan::kAsGiven;
    for (int64_t rows : {plan.tile.rows, plan.rowsOfNarrow}) {
      bool isAll = !plan.hasRows() || (isKnown(plan.rowLoop) && plan.rowBlock >= extentOf(plan.rowLoop));
      if (plan.rowBlock && !groupRows && !isAll && *plan.rowBlock % rows)
        return nest.op->emitOpError("plan: a row_block of ")
               << *plan.rowBlock << " ends within a tile of " << rows << " rows";
    }
    return success();
  }

  LogicalResult takeCopies() {
    plan::Panels panels = attribute.getPanels();
    plan.packs = panels != plan::Panels::AsTheyAre;
    plan.packsAll = panels == plan::Panels::Once;
    plan.packsInTile = panels == plan::Panels::ByFirstTile;
    plan.packsRows = attribute.getPacksRows();
    auto checkStack = [&](StringRef what, double bytes) -> LogicalResult {
      if (bytes > static_cast<double>(kMostStackBytes))
        return nest.op->emitOpError("plan: ") << what << " take " << static_cast<int64_t>(bytes)
                                              << " bytes of a thread's stack, which has " << kMostStackBytes;
      return success();
    };
    auto bytesOfTerms = static_cast<double>(plan.innerTerms) * static_cast<double>(plan.mostTermBlock) *
                        static_cast<double>(plan.elementBytes);
    if (plan.packs && !plan.packsAll &&
        failed(checkStack("a panel's packed terms", bytesOfTerms * static_cast<double>(plan.panelWidth()))))
      return failure();
    if (plan.packsAll && (!plan.batches.empty() || !plan.outerTerms || !isKnown(plan.vectorLoop)))
      return nest.op->emitOpError("plan: panels that are packed once have known sizes and no batches");
    if (plan.packsInTile && !plan.canPackInTile(nest))
      return nest.op->emitOpError("plan: the first tile packs a panel if it is whole, rows are known, and operand B is "
                                  "contiguous along the columns; these are not");
    if (!plan.packsRows)
      return success();
    if (!plan.isKnown || plan.isWindow() || plan.terms.size() != 1 || plan.tile.rows == 1 || !plan.rowBlock ||
        plan.rowsOfNarrow != plan.tile.rows || !ContractionPlan::sumsInRuns(nest))
      return nest.op->emitOpError(
          "plan: rows are packed in tiles of several, in a product of known sizes with one loop "
          "over terms, more than a run has; this is none");
    int64_t rows = ceilDiv(std::min(*plan.rowBlock, extentOf(plan.rowLoop)), plan.tile.rows) * plan.tile.rows;
    return checkStack("packed rows", bytesOfTerms * static_cast<double>(std::max(rows, *plan.rowBlock)));
  }

  // Checks that the loops over a block's terms cover each term once, and that each accumulator adds up few terms.
  LogicalResult takeRuns() {
    plan.inRuns = attribute.getRun() != 0;
    plan.isExact = attribute.getExact();
    plan.termLoops.assign(attribute.getLoops().begin(), attribute.getLoops().end());
    for (int64_t start : numbersOf(attribute.getStarts()))
      plan.starts.push_back(static_cast<size_t>(start));
    plan.linesOfA = attribute.getLinesOfA();
    plan.linesOfB = attribute.getLinesOfB();
    if (!plan.inRuns && ContractionPlan::sumsInRuns(nest))
      return nest.op->emitOpError("plan: sums of so many floats are summed up in runs, and there is none");
    if (plan.inRuns && !isa<FloatType>(nest.outputs[0].element))
      return nest.op->emitOpError("plan: integers are exact in any order, and have no runs");
    if (!plan.inRuns) {
      if (!plan.termLoops.empty() || !plan.starts.empty() || plan.isExact || plan.linesOfA || plan.linesOfB)
        return nest.op->emitOpError("plan: without runs there are no loops, starts, exact sums and lines of them");
      return success();
    }
    for (unsigned loop : plan.terms)
      if (failed(checkCover(loop)))
        return failure();
    for (const TermLoop &each : plan.termLoops)
      if (!llvm::is_contained(plan.terms, each.loop))
        return nest.op->emitOpError("plan: loop ")
               << each.loop << " is none over terms, and stands among the loops of runs";
    if (plan.starts.size() > 2 || !llvm::is_sorted(plan.starts) ||
        (!plan.starts.empty() && plan.starts.back() >= plan.termLoops.size()))
      return nest.op->emitOpError("plan: starts are up to two numbers of the loops of runs, in ascending order");
    auto terms = [&](size_t from, size_t to) {
      int64_t count = 1;
      for (size_t i = from; i < to; ++i)
        count = std::min(count, kMost) * plan.termLoops[i].count;
      return count;
    };
    // Runs begin at the last start. If there are two starts, groups of runs begin at the first.
    size_t all = plan.termLoops.size(), begin = plan.starts.empty() ? 0 : plan.starts.back(),
           group = plan.starts.size() == 2 ? plan.starts.front() : 0;
    plan.runLength = terms(begin, all);
    if (plan.runLength != attribute.getRun())
      return nest.op->emitOpError("plan: a run has ")
             << plan.runLength << " terms by its loops, and " << attribute.getRun() << " as it says";
    if (plan.runLength > kProductRun)
      return nest.op->emitOpError("plan: a run of ")
             << plan.runLength << " terms rounds more often than the " << kProductRun << " that it may have";
    if (int64_t runs = terms(group, begin); runs > kRunLength)
      return nest.op->emitOpError("plan: a group of ")
             << runs << " runs rounds more often than the " << kRunLength << " that it may have";
    if (int64_t groups = terms(0, group); groups > ContractionPlan::kFewGroups && !plan.isExact)
      return nest.op->emitOpError("plan: sums of ")
             << groups << " groups of runs are exact, that is, have their rounding errors beside them";
    return checkLines();
  }

  LogicalResult checkCover(unsigned loop) {
    // How many iterations of the loop each iteration of the loop around it has.
    int64_t range = loop == plan.terms[0] ? plan.mostTermBlock : extentOf(loop), last = 0;
    bool isFirst = true;
    for (const TermLoop &each : plan.termLoops) {
      if (each.loop != loop)
        continue;
      if (each.step < 1 || each.within != (isFirst ? 0 : range) || (!isFirst && range % each.step) ||
          each.count != ceilDiv(range, each.step))
        return nest.op->emitOpError("plan: the loops of runs over loop ")
               << loop << " don't cover " << range << " terms: one has " << each.count << " steps of " << each.step
               << " within " << each.within;
      isFirst = false;
      range = last = each.step;
    }
    if (last != 1)
      return nest.op->emitOpError("plan: the loops of runs over loop ")
             << loop << " leave terms out: the last of them has steps of 1";
    return success();
  }

  LogicalResult checkLines() {
    constexpr int64_t kMostLines = 64;
    if (plan.linesOfA < 0 || plan.linesOfB < 0 || plan.linesOfA + plan.linesOfB > kMostLines)
      return nest.op->emitOpError("plan: a run asks for up to ")
             << kMostLines << " lines, not for " << plan.linesOfA << " and " << plan.linesOfB;
    if ((plan.linesOfA || plan.linesOfB) &&
        (plan.starts.empty() || !plan.termBlock || !plan.rowBlock || !plan.panelBlock))
      return nest.op->emitOpError("plan: lines are those of a next block, of which the sizes are not all known");
    return success();
  }

  LogicalResult takeBorders() {
    auto wrongBorder = [&](int64_t number, StringRef where) {
      return nest.op->emitOpError("plan: border ")
             << number << " can't be left out " << where << "; there are " << nest.borders.size() << " borders";
    };
    bool canBe = plan.inRuns && !plan.packsInTile;
    auto at = [&](int64_t number) -> const Border * {
      return canBe && number >= 0 && number < static_cast<int64_t>(nest.borders.size()) ? &nest.borders[number]
                                                                                        : nullptr;
    };
    for (int64_t number : numbersOf(attribute.getLeftOut())) {
      const Border *border = at(number);
      if (!border || !plan.canLeaveOut(*border))
        return wrongBorder(number, "of the terms of a tile");
      plan.leftOut.push_back(*border);
    }
    if (std::optional<int64_t> number = attribute.getBesideRows()) {
      const Border *border = at(*number);
      auto isOf = [&](const TermLoop &each) { return each.loop == border->terms; };
      if (!border || !plan.canLeaveOutBesideRows(*border, nest) ||
          border->unit % llvm::find_if(plan.termLoops, isOf)->step)
        return wrongBorder(*number, "beside rows");
      plan.besideRows = *border;
    }
    if (std::optional<int64_t> number = attribute.getBesideTerms()) {
      const Border *border = at(*number);
      if (!border || !plan.canLeaveOutBesideTerms(*border, nest) || plan.leastTermsBeside(*border, nest) < 1)
        return wrongBorder(*number, "beside terms");
      plan.besideTerms = *border;
      plan.leastTerms = plan.leastTermsBeside(*border, nest);
    }
    return success();
  }

  // Checks that the plan is one that `inBlocksOf` makes: a block is one piece of one thread, and its rows have one kind
  // of tile.
  LogicalResult checkGroup() {
    if (attribute.getInBlocks() != groupRows.has_value())
      return nest.op->emitOpError("plan: tiles are in blocks of a group's rows in its members, and there alone");
    if (!groupRows)
      return success();
    bool isOfRows = *groupRows == plan.rowLoop;
    bool isOpen = false;
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      isOpen |= loop != *groupRows && !isKnown(loop);
    if (isOpen || *groupRows == plan.vectorLoop || nest.isReduction[*groupRows] || plan.mostTermPieces > 1 ||
        plan.packsRows || plan.packsInTile || llvm::is_contained(plan.isShared, true) || plan.linesOfA ||
        plan.linesOfB || attribute.getRowBlock() || !plan.termBlock || !plan.panelBlock ||
        ceilDiv(*plan.outerTerms, *plan.termBlock) > ContractionPlan::kFewBlocks ||
        *plan.panelBlock < ceilDiv(extentOf(plan.vectorLoop), plan.panelWidth()) ||
        (isOfRows && (plan.besideRows || plan.besideTerms || plan.rowsOfNarrow != plan.tile.rows ||
                      (plan.packs && !plan.packsAll))) ||
        llvm::any_of(plan.leftOut, [&](const Border &border) { return border.has(*groupRows); }))
      return nest.op->emitOpError("plan: a member of a group that is a product has one piece, all panels in one block, "
                                  "few blocks of terms, and nothing that rows of its own are needed for");
    return success();
  }

  plan::TilesAttr attribute;
  std::optional<unsigned> groupRows;
  ContractionPlan &plan;
};

// Checks the members of a plan that decide which columns are computed in tiles.
class ColumnsCheck : PlanCheck {
public:
  using PlanCheck::PlanCheck;

  LogicalResult run(plan::TilesAttr attribute, ContractionPlan &plan) {
    if (failed(checkProducts()))
      return failure();
    if (attribute.getB() < 0 || attribute.getB() > 1)
      return nest.op->emitOpError("plan: operand ") << attribute.getB() << " is none; the operands are 0 and 1";
    plan.operandOfB = static_cast<int>(attribute.getB());
    if (failed(takeLoop("columns", attribute.getColumns(), plan.vectorLoop)))
      return failure();
    plan.lastColumnsCount = attribute.getLastColumns();
    if (plan.lastColumnsCount == 0 && !attribute.getDots())
      return success();
    const Extent &columns = nest.extents[plan.vectorLoop];
    auto isCut = [&](const Access &access) { return access.strides[plan.vectorLoop].isKnown(); };
    if (!attribute.getDots() || !columns.isKnown() || plan.lastColumnsCount < 1 ||
        plan.lastColumnsCount >= *columns.known() || !llvm::all_of(nest.inputs, isCut) ||
        !llvm::all_of(nest.outputs, isCut) || nest.isReduction[plan.vectorLoop] || nest.isIndexed(plan.vectorLoop))
      return nest.op->emitOpError("plan: ")
             << plan.lastColumnsCount << " last columns that are dot products take a plan for these, "
             << "and a larger known number of columns";
    return success();
  }
};

} // namespace

FailureOr<DotPlan> planOf(plan::DotsAttr attribute, const Nest &nest, const Target &target) {
  DotPlan plan;
  if (failed(DotsCheck(nest, target, attribute, plan).run()))
    return failure();
  return plan;
}

FailureOr<ContractionPlan> planOf(plan::TilesAttr attribute, const Nest &nest, const Target &target,
                                  std::optional<unsigned> groupRows) {
  ContractionPlan plan;
  if (failed(ColumnsCheck(nest, target).run(attribute, plan)))
    return failure();
  if (attribute.getDots()) {
    FailureOr<DotPlan> dots = planOf(attribute.getDots(), plan.lastColumns(nest), target);
    if (failed(dots))
      return failure();
    plan.ofLastColumns = *dots;
  }
  Nest tiled = plan.tiledPart(nest);
  if (failed(TilesCheck(tiled, target, attribute, groupRows, plan).run()))
    return failure();
  return plan;
}

} // namespace calque::codegen
