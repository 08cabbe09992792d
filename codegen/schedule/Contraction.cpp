// Emits the loops of a contraction.
#include "codegen/schedule/Contraction.h"
#include "codegen/lowering/Constants.h"
#include "codegen/schedule/DotProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <functional>
#include <limits>

using namespace mlir;

namespace calque::codegen {

Contraction::Contraction(KernelContext &context, const Nest &nest, const ContractionPlan &plan)
    : context(context), nest(nest), v(context.builder, nest, plan.vectorLoop, plan.lanes), plan(plan),
      vectorLoop(plan.vectorLoop), rowLoop(plan.rowLoop), tile(plan.tile), terms(plan.terms),
      a(nest.inputs[1 - plan.operandOfB]), b(nest.inputs[plan.operandOfB]), result(nest.outputs[0]),
      initial(context.initial), isFloat(isa<FloatType>(result.element)) {
  rowExtent = rowLoop == VectorBuilder::kNoLoop ? Number(1) : v.number(nest.extents[rowLoop]);
  columnExtent = v.number(nest.extents[vectorLoop]);
  numPanels = v.ceilDivide(columnExtent, panelWidth());
  computeBlocks();
}

namespace {

// Arithmetic on sizes that are known, and on sizes that the kernel gets as arguments.
struct SizesOfNest {
  using Number = codegen::Number;
  VectorBuilder &v;
  const Nest &nest;
  Number extent(unsigned loop) { return v.number(nest.extents[loop]); }
  Number iterations() { return v.number(nest.iterations()); }
  Number least(const Number &x, const Number &y) { return v.minimum(x, y); }
  Number greatest(const Number &x, const Number &y) { return v.maximum(x, y); }
  Number multiply(const Number &x, const Number &y) { return v.multiply(x, y); }
  Number divide(const Number &x, const Number &y) { return v.divide(x, y); }
  Number ceilDivide(const Number &x, const Number &y) { return v.ceilDivide(x, y); }
  Number multiple(const Number &x, const Number &y) { return v.roundUp(x, y); }
};

} // namespace

void Contraction::computeBlocks() {
  if (!plan.termPieces || !plan.termBlock || !plan.rowBlock || !plan.panelBlock) {
    Blocks<Number> blocks = blocksOf(plan, context.target, SizesOfNest{v, nest});
    termPieces = blocks.termPieces;
    termBlock = blocks.termBlock;
    rowBlock = blocks.rowBlock;
    panelBlock = blocks.panelBlock;
  }
  auto given = [](Number &number, const std::optional<int64_t> &known) {
    if (known)
      number = *known;
  };
  given(termPieces, plan.termPieces);
  given(termBlock, plan.termBlock);
  given(rowBlock, plan.rowBlock);
  given(panelBlock, plan.panelBlock);
}

void Contraction::emit() {
  std::optional<PartialResults> partial, rounded;
  // Blocks of terms add to the results in memory. If there are many, what each addition rounds away is kept.
  Number blocks = v.ceilDivide(v.ceilDivide(v.number(nest.extents[terms[0]]), termPieces), v.maximum(termBlock, 1));
  if (plan.inRuns && !(blocks.known && *blocks.known <= plan.kFewBlocks)) {
    rounded.emplace(context, nest, *Combiner::of(nest), plan.mostTermPieces);
    errors = rounded->access;
    hasMany = v.less(plan.kFewBlocks, blocks);
    v.onlyIf(hasMany, [&] {
      Value zero = arith::ConstantOp::create(v.b, v.location, v.b.getZeroAttr(result.element));
      auto fill = linalg::FillOp::create(v.b, v.location, ValueRange{zero}, ValueRange{errors->value});
      emitPart({v.b, context.target, Value()}, *Nest::of(fill, v.b));
      fill.erase();
    });
  }
  if (plan.mostTermPieces > 1) {
    Value zero = arith::ConstantOp::create(v.b, v.location, v.b.getZeroAttr(result.element));
    partial.emplace(context, nest, *Combiner::of(nest), plan.mostTermPieces);
    result = partial->access;
    initial = zero;
  }
  SmallVector<std::pair<unsigned, Number>>
      shared; // loops that threads share, with their numbers of pieces; kNoLoop: the terms
  shared.push_back({VectorBuilder::kNoLoop, termPieces});
  for (unsigned loop : plan.batches)
    shared.push_back({loop, v.number(nest.extents[loop])});
  for (unsigned loop : plan.levels) {
    Number pieces = loop == rowLoop       ? v.ceilDivide(rowExtent, rowBlock)
                    : plan.isShared[loop] ? v.number(nest.extents[loop])
                                          : Number(1);
    if (!pieces.known || *pieces.known > 1)
      shared.push_back({loop, pieces});
  }
  shared.push_back({vectorLoop, v.ceilDivide(numPanels, panelBlock)});
  Number pieces = 1;
  for (const auto &[loop, count] : shared)
    pieces = v.multiply(pieces, count);
  if (plan.packsAll)
    packAll();
  double cycles = tile.cycles;
  Number times = 1;
  if (pieces.known && nest.isKnown())
    cycles *=
        static_cast<double>(*nest.iterations().known()) / static_cast<double>(std::max<int64_t>(*pieces.known, 1));
  else
    times = v.divide(v.number(nest.iterations()), v.maximum(pieces, 1));
  v.parallel(pieces, cycles, times, [&](Value piece) {
    Position at(nest.numLoops());
    Piece part{v.index(0), v.index(0), v.index(0)};
    Value rest = piece;
    for (size_t i = shared.size(); i-- > 0;) {
      unsigned loop = shared[i].first;
      const Number &count = shared[i].second;
      if (count == 1)
        continue;
      Value index = arith::RemUIOp::create(v.b, v.location, rest, v.valueOf(count));
      rest = arith::DivUIOp::create(v.b, v.location, rest, v.valueOf(count));
      if (loop == VectorBuilder::kNoLoop)
        part.ofTerms = index;
      else if (loop == rowLoop)
        part.ofRows = index;
      else if (loop == vectorLoop)
        part.ofPanels = index;
      else
        at.index[loop] = index;
    }
    emitPiece(at, part);
  });
  if (partial)
    partial->combine(context, termPieces.extent());
  if (rounded) {
    KernelContext onto = context;
    onto.initial = {};
    v.onlyIf(hasMany, [&] { rounded->combine(onto, termPieces.extent()); });
  }
}

Value Contraction::packPanels() {
  if (plan.packsAll)
    packAll();
  return all;
}

void Contraction::emitBlock(Value panels) {
  all = panels;
  Piece whole{v.index(0), v.index(0), v.index(0)};
  std::function<void(size_t, Position)> emit = [&](size_t depth, Position at) {
    if (depth == plan.batches.size())
      return emitPiece(at, whole);
    unsigned loop = plan.batches[depth];
    v.loop(v.number(nest.extents[loop]), 1, {}, [&](Value i, ValueRange) {
      emit(depth + 1, at.at(loop, i));
      return SmallVector<Value>();
    });
  };
  emit(0, Position(nest.numLoops()));
}

void Contraction::emitPiece(Position at, Piece piece) {
  ofPiece = result;
  errorsOfPiece = errors;
  if (plan.mostTermPieces > 1) {
    int64_t results = *nest.iterations(false).known();
    auto type =
        MemRefType::get({results}, result.element, StridedLayoutAttr::get(v.b.getContext(), ShapedType::kDynamic, {1}));
    OpFoldResult offset = arith::MulIOp::create(v.b, v.location, piece.ofTerms, v.index(results)).getResult();
    auto partOf = [&](Value buffer) {
      return memref::ReinterpretCastOp::create(v.b, v.location, type, buffer, offset,
                                               ArrayRef<OpFoldResult>{v.b.getIndexAttr(results)},
                                               ArrayRef<OpFoldResult>{v.b.getIndexAttr(1)})
          .getResult();
    };
    ofPiece.value = partOf(result.value);
    if (errors)
      errorsOfPiece->value = partOf(errors->value);
  }
  Number extent = v.number(nest.extents[terms[0]]), size = extent;
  const bool areCut = plan.mostTermPieces > 1;
  if (extent.known || areCut)
    size = v.roundUp(v.ceilDivide(extent, termPieces), termBlock);
  if (size.known && size.known == termBlock.known) {
    Value from = arith::MulIOp::create(v.b, v.location, piece.ofTerms, v.valueOf(size));
    return panels(at, piece, from, endOf(from, size), {initial, {}});
  }
  Value from = v.index(0), to = v.valueOf(extent);
  if (areCut || extent.known) {
    from = arith::MulIOp::create(v.b, v.location, piece.ofTerms, v.valueOf(size));
    to = endOf(from, size);
  }
  // The first block begins with the initial value, each later one with the sums that the block before has stored.
  // There is a first block even if it has no terms.
  if (initial && !extent.known)
    to = v.valueOf(v.maximum(Number(to), v.add(Number(from), 1)));
  v.loop(from, to, termBlock, {}, [&](Value first, ValueRange) {
    Start start;
    if (initial)
      start = {initial, arith::CmpIOp::create(v.b, v.location, arith::CmpIPredicate::ne, first, from)};
    Value end = endOf(first, termBlock);
    if (areCut && !extent.known) // the last pieces may have no terms
      end = v.valueOf(v.maximum(Number(end), Number(first)));
    panels(at, piece, first, end, start);
    return SmallVector<Value>();
  });
}

Value Contraction::endOf(Value from, const Number &size) {
  Value to = arith::AddIOp::create(v.b, v.location, from, v.valueOf(size));
  Number extent = v.number(nest.extents[terms[0]]);
  if (!extent.known || !size.known || *extent.known % *size.known)
    to = arith::MinSIOp::create(v.b, v.location, to, v.valueOf(extent));
  return to;
}

void Contraction::panels(Position at, Piece piece, Value from, Value to, Start start) {
  Number fullPanels = v.divide(columnExtent, panelWidth()), start0 = v.multiply(fullPanels, panelWidth()),
         rest = v.subtract(columnExtent, start0);
  auto inPanel = [&](Value column, const Number &columns) {
    Position inside = at;
    inside.index[vectorLoop] = column;
    panel(inside, piece, from, to, columns, start);
  };
  auto startOf = [&](Value number) {
    return arith::MulIOp::create(v.b, v.location, number, v.index(panelWidth())).getResult();
  };
  if (plan.packsRows)
    packRows(at, piece, from, to);
  auto lastPanel = [&] { inPanel(v.valueOf(start0), rest); };
  if (panelBlock.known && panelBlock.known == numPanels.known) {
    v.loop(fullPanels, 1, {}, [&](Value number, ValueRange) {
      inPanel(startOf(number), panelWidth());
      return SmallVector<Value>();
    });
    if (!(rest == 0))
      lastPanel();
    return;
  }
  Value first = arith::MulIOp::create(v.b, v.location, piece.ofPanels, v.valueOf(panelBlock));
  Value last = arith::AddIOp::create(v.b, v.location, first, v.valueOf(panelBlock));
  Value lastFull = arith::MinSIOp::create(v.b, v.location, last, v.valueOf(fullPanels));
  v.loop(first, lastFull, 1, {}, [&](Value number, ValueRange) {
    inPanel(startOf(number), panelWidth());
    return SmallVector<Value>();
  });
  if (rest == 0)
    return;
  Value hasRest = arith::CmpIOp::create(v.b, v.location, arith::CmpIPredicate::sgt, last, v.valueOf(fullPanels));
  if (!rest.known)
    hasRest = arith::AndIOp::create(v.b, v.location, hasRest, v.less(0, rest));
  v.onlyIf(hasRest, lastPanel);
}

void Contraction::panel(Position at, Piece piece, Value from, Value to, const Number &columns, Start start) {
  bool isNarrow = columns.known && *columns.known < panelWidth();
  int64_t rowsOfTile = isNarrow ? plan.rowsOfNarrow : tile.rows, skipped = 0;
  Access columnsOfB = plan.packsAll      ? partOfAll(at.index[vectorLoop], from)
                      : plan.packsInTile ? placeOfPanel()
                      : plan.packs       ? pack(at, from, to, columns)
                                         : b;
  if (plan.packsInTile) {
    Value row = arith::MulIOp::create(v.b, v.location, piece.ofRows, v.valueOf(rowBlock));
    microkernel(at.at(rowLoop, row), rowsOfTile, columnsOfB, from, to, columns, start, &columnsOfB);
    skipped = rowsOfTile;
  }
  tiles(0, at, piece, rowsOfTile, 1, skipped,
        [&](Position inside, int64_t rows) { microkernel(inside, rows, columnsOfB, from, to, columns, start); });
}

void Contraction::tiles(size_t depth, Position at, Piece piece, int64_t rowsOfTile, int64_t rows, int64_t skipped,
                        function_ref<void(Position, int64_t)> body) {
  if (depth == plan.levels.size())
    return body(at, rows);
  unsigned loop = plan.levels[depth];
  if (loop != rowLoop) {
    if (plan.isShared[loop])
      return tiles(depth + 1, at, piece, rowsOfTile, rows, skipped, body);
    v.loop(v.number(nest.extents[loop]), 1, {}, [&](Value i, ValueRange) {
      tiles(depth + 1, at.at(loop, i), piece, rowsOfTile, rows, skipped, body);
      return SmallVector<Value>();
    });
    return;
  }
  auto some = [&](Value row, int64_t count) {
    tiles(depth + 1, at.at(rowLoop, row), piece, rowsOfTile, count, skipped, body);
  };
  auto full = [&](Value row, ValueRange) {
    some(row, rowsOfTile);
    return SmallVector<Value>();
  };
  Number rest = v.remainder(rowExtent, rowsOfTile), fullRows = v.subtract(rowExtent, rest);
  // An unknown number of remaining rows is covered by tiles of 4, 2 and 1 rows.
  auto last = [&] {
    if (rest.known)
      return some(v.valueOf(fullRows), *rest.known);
    int64_t largest = 1;
    while (2 * largest < rowsOfTile)
      largest *= 2;
    for (int64_t count = largest; count >= 1; count /= 2) {
      Value bit = arith::AndIOp::create(v.b, v.location, rest.value, v.index(count));
      Value row = arith::AddIOp::create(v.b, v.location, v.valueOf(fullRows),
                                        arith::AndIOp::create(v.b, v.location, rest.value, v.index(-2 * count)));
      v.onlyIf(v.less(0, bit), [&] { some(row, count); });
    }
  };
  if (rowBlock.known && rowExtent.known && *rowBlock.known >= *rowExtent.known) {
    if (plan.besideRows) // the tiles differ
      for (int64_t row = 0; row < *fullRows.known; row += rowsOfTile)
        some(v.index(row), rowsOfTile);
    else if (skipped)
      v.loop(v.index(skipped), v.valueOf(fullRows), rowsOfTile, {}, full);
    else
      v.loop(fullRows, rowsOfTile, {}, full);
    if (!(rest == 0))
      last();
    return;
  }
  Value first = arith::MulIOp::create(v.b, v.location, piece.ofRows, v.valueOf(rowBlock));
  Value end = arith::AddIOp::create(v.b, v.location, first, v.valueOf(rowBlock));
  if (skipped)
    first = arith::AddIOp::create(v.b, v.location, first, v.index(skipped));
  v.loop(first, v.valueOf(v.minimum(end, fullRows)), rowsOfTile, {}, full);
  if (rest == 0 || rowsOfTile == 1)
    return;
  Value hasRest = arith::CmpIOp::create(v.b, v.location, arith::CmpIPredicate::sgt, end, v.valueOf(fullRows));
  v.onlyIf(hasRest, last);
}

SmallVector<Value> Contraction::sum(size_t depth, Position at, Value from, Value to, ValueRange carried,
                                    function_ref<SmallVector<Value>(Position, ValueRange)> body) {
  if (depth == terms.size())
    return body(at, carried);
  unsigned loop = terms[depth];
  auto inside = [&](Value i, ValueRange inner) { return sum(depth + 1, at.at(loop, i), from, to, inner, body); };
  if (depth == 0)
    return v.loop(from, to, 1, carried, inside);
  int64_t rest = 1, extent = *nest.extents[loop].known();
  for (size_t i = depth; i < terms.size(); ++i)
    rest *= *nest.extents[terms[i]].known();
  if (rest > 9)
    return v.loop(extent, 1, carried, inside);
  SmallVector<Value> values(carried);
  for (int64_t i = 0; i < extent; ++i)
    values = sum(depth + 1, at.shifted(loop, i), from, to, values, body);
  return values;
}

void Contraction::microkernel(Position at, int64_t rows, const Access &columnsOfB, Value from, Value to,
                              const Number &columns, Start start, const Access *into) {
  int64_t vectors = columns.known ? ceilDiv(*columns.known, v.lanes) : tile.vectors;
  SmallVector<Number> valid;
  for (int64_t j = 0; j < vectors; ++j)
    valid.push_back(validIn(columns, j));
  auto point = [&](int64_t i, int64_t j) {
    Position p = at.shifted(vectorLoop, j * v.lanes);
    return rowLoop == VectorBuilder::kNoLoop ? p : p.shifted(rowLoop, i);
  };
  auto before = [&](int64_t i, int64_t j, Value initial) {
    return initial ? v.splat(initial) : v.load(ofPiece, point(i, j), valid[j]);
  };
  Access rowsOfA = plan.packsRows ? placeOfRows(at.index[rowLoop]) : a;
  auto ofRow = [&](Position term, int64_t i) {
    if (plan.packsRows) {
      term = relative(term, from);
      term.index[rowLoop] = Value();
    }
    return v.loadScalar(rowsOfA, rowLoop == VectorBuilder::kNoLoop ? term : term.shifted(rowLoop, i));
  };
  auto addTerm = [&](Position term, ValueRange carried) {
    SmallVector<Value> next(carried), ofB;
    auto inPanel = [&](int64_t j) { return relative(term, from).shifted(vectorLoop, j * v.lanes); };
    for (int64_t j = 0; j < vectors; ++j)
      ofB.push_back(plan.packs && !into ? v.load(columnsOfB, inPanel(j), v.lanes)
                                        : v.load(b, term.shifted(vectorLoop, j * v.lanes), valid[j]));
    if (into)
      for (int64_t j = 0; j < vectors; ++j)
        v.store(*into, inPanel(j), ofB[static_cast<size_t>(j)], v.lanes);
    for (int64_t i = summed.begin; i < summed.end; ++i) {
      Value ofA = v.splat(ofRow(term, i));
      for (int64_t j = 0; j < vectors; ++j) {
        Value &total = next[i * vectors + j];
        if (isFloat)
          total = vector::FMAOp::create(v.b, v.location, ofA, ofB[j], total);
        else
          total = arith::AddIOp::create(v.b, v.location, total, productOf(v, 1 - plan.operandOfB, ofA, ofB[j]));
      }
    }
    return next;
  };
  // Prefetches the lines of the results, so that they arrive while the terms are summed up.
  constexpr int64_t kManyTerms = 64;
  if (plan.inRuns && plan.termsPerBlock() >= kManyTerms)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < vectors; ++j)
        v.prefetch(ofPiece, point(i, j), /*forStore=*/true);
  SmallVector<Value> sums;
  summed = {0, rows};
  if (plan.inRuns) {
    sums = sumInRuns(at, from, to, static_cast<size_t>(rows * vectors), addTerm);
  } else {
    auto begin = [&](Value initial) {
      SmallVector<Value> values;
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < vectors; ++j)
          values.push_back(before(i, j, initial));
      return values;
    };
    sums = begin(start.value);
    if (start.isLater)
      sums = v.onlyIf(start.isLater, sums, [&](ValueRange) { return begin({}); });
    sums = sum(0, at, from, to, sums, addTerm);
  }
  auto store = [&](Value initial, bool withErrors) {
    bool startsAtZero = initial && isFloatZero(initial);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < vectors; ++j) {
        Value total = sums[i * vectors + j];
        if (withErrors) {
          VectorBuilder::ExactSum both{before(i, j, {}), v.load(*errorsOfPiece, point(i, j), valid[j])};
          both = v.add(both, total);
          v.store(*errorsOfPiece, point(i, j), both.error, valid[j]);
          total = both.sum;
        } else if (plan.inRuns && !startsAtZero) {
          total = arith::AddFOp::create(v.b, v.location, before(i, j, initial), total);
        }
        v.store(ofPiece, point(i, j), total, valid[j]);
      }
  };
  auto continueSums = [&] {
    if (!plan.inRuns || !errorsOfPiece)
      return store({}, false);
    v.either(hasMany, [&] { store({}, true); }, [&] { store({}, false); });
  };
  if (!plan.inRuns || !start.isLater)
    return start.value ? store(start.value, false) : continueSums();
  v.either(start.isLater, continueSums, [&] { store(start.value, false); });
}

ProductPlan ProductPlan::of(const Nest &nest, const Target &target) {
  ProductPlan plan{ContractionPlan::of(nest, target), DotPlan::of(nest, target)};
  if (plan.tiles && plan.dots)
    plan.tiles->tile.cycles <= plan.dots->cycles ? plan.dots.reset() : plan.tiles.reset();
  return plan;
}

void emitProduct(KernelContext context, const Nest &nest, const ContractionPlan &plan) {
  if (context.plan)
    *context.plan = plan.text();
  Nest tiled = plan.tiledPart(nest);
  Contraction(context, tiled, plan).emit();
  context.plan = nullptr;
  if (plan.ofLastColumns)
    emitDotProducts(context, plan.lastColumns(nest), *plan.ofLastColumns);
}

PackedOperand packProduct(KernelContext context, const Nest &nest, const ContractionPlan &plan) {
  Nest tiled = plan.tiledPart(nest);
  PackedOperand packed{Contraction(context, tiled, plan).packPanels(), {}};
  if (plan.ofLastColumns)
    packed.lastColumns = packColumns(context, plan.lastColumns(nest), *plan.ofLastColumns);
  return packed;
}

void emitBlockOfProduct(KernelContext context, const Nest &nest, const ContractionPlan &plan, PackedOperand packed) {
  Nest tiled = plan.tiledPart(nest);
  Contraction(context, tiled, plan).emitBlock(packed.panels);
  if (plan.ofLastColumns)
    emitBlockOfDotProducts(context, plan.lastColumns(nest), *plan.ofLastColumns, packed.lastColumns);
}

} // namespace calque::codegen
