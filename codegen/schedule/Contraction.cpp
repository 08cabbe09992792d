// Chooses the loops and the tile of a contraction, and emits its loops.
#include "codegen/schedule/Contraction.h"
#include "codegen/Constants.h"
#include "codegen/schedule/DotProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>

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
      int64_t block = std::clamp<int64_t>(Contraction::bytesOfPanel(n, target) / (n * bytesOfVector), 1, terms);
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

} // namespace

Contraction::Contraction(Schedule &schedule, const Nest &nest, unsigned vectorLoop, unsigned rowLoop, const Access &a,
                         const Access &b, int64_t lanes, Tile tile)
    : schedule(schedule), nest(nest), v(schedule.builder, nest, vectorLoop, lanes), vectorLoop(vectorLoop),
      rowLoop(rowLoop), a(a), b(b), result(nest.outputs[0]), initial(schedule.initial), tile(tile),
      terms(termsInOrder(nest, a)) {
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
    if (!nest.isReduction[loop] && loop != vectorLoop)
      (b.varies(loop) ? batches : levels).push_back(loop);
  }
  auto byDistance = [&](unsigned x, unsigned y) { return a.distance(x) > a.distance(y); };
  llvm::stable_sort(batches, byDistance);
  llvm::stable_sort(levels, byDistance);
  isFloat = isa<FloatType>(result.element);
  inRuns = sumsInRuns(nest);
  rowExtent = rowLoop == VectorBuilder::kNoLoop ? Number(1) : v.number(nest.extents[rowLoop]);
  columnExtent = v.number(nest.extents[vectorLoop]);
  numPanels = v.ceilDivide(columnExtent, panelWidth());
  nest.isKnown() ? chooseBlocks() : chooseBlocksOfUnknown();
  chooseRowsOfNarrow();
  if (inRuns)
    cutTermsIntoRuns();
}

// A panel of fewer vectors than the others leaves registers for more rows, which its sums need to be as fast.
void Contraction::chooseRowsOfNarrow() {
  rowsOfNarrow = tile.rows;
  if (!nest.isKnown() || rowLoop == VectorBuilder::kNoLoop || packsRows || *columnExtent.known < panelWidth())
    return;
  int64_t vectors = ceilDiv(*columnExtent.known % panelWidth(), v.lanes), rows = *rowExtent.known;
  if (vectors == 0 || vectors == tile.vectors)
    return;
  Tile narrow = chooseTile(std::min(rows, *rowBlock.known), vectors, *nest.iterations(true).known(), innerTerms(),
                           v.lanes * elementBytes(), inRuns, schedule.target);
  // Every block but the last one ends with a whole tile.
  if (narrow.vectors == vectors && (*rowBlock.known >= rows || *rowBlock.known % narrow.rows == 0))
    rowsOfNarrow = narrow.rows;
}

void Contraction::emit() {
  std::optional<PartialResults> partial, rounded;
  // Blocks of terms add to the results in memory; where there are many, with what each addition rounds away.
  Number blocks = v.ceilDivide(v.ceilDivide(v.number(nest.extents[terms[0]]), termPieces), v.maximum(termBlock, 1));
  Value hasMany;
  if (inRuns && !(blocks.known && *blocks.known <= kFewBlocks)) {
    rounded.emplace(schedule, nest, *Combiner::of(nest), termPieces);
    errors = rounded->access;
    hasMany = v.less(1, blocks);
    v.onlyIf(hasMany, [&] {
      Value zero = arith::ConstantOp::create(v.b, v.location, v.b.getZeroAttr(result.element));
      linalg::FillOp::create(v.b, v.location, ValueRange{zero}, ValueRange{errors->value});
    });
  }
  if (termPieces > 1) {
    Value zero = arith::ConstantOp::create(v.b, v.location, v.b.getZeroAttr(result.element));
    partial.emplace(schedule, nest, *Combiner::of(nest), termPieces);
    result = partial->access;
    initial = zero;
  }
  SmallVector<std::pair<unsigned, Number>>
      shared; // loops that threads share, or kNoLoop for the terms, with their numbers of pieces
  shared.push_back({VectorBuilder::kNoLoop, termPieces});
  for (unsigned loop : batches)
    shared.push_back({loop, v.number(nest.extents[loop])});
  for (unsigned loop : levels) {
    Number pieces = loop == rowLoop  ? v.ceilDivide(rowExtent, rowBlock)
                    : isShared[loop] ? v.number(nest.extents[loop])
                                     : Number(1);
    if (!pieces.known || *pieces.known > 1)
      shared.push_back({loop, pieces});
  }
  shared.push_back({vectorLoop, v.ceilDivide(numPanels, panelBlock)});
  Number pieces = 1;
  for (const auto &[loop, count] : shared)
    pieces = v.multiply(pieces, count);
  if (packsAll)
    packAll();
  // The cycles for one term of one result.
  double cycles =
      tile.cycles / static_cast<double>((rowLoop == VectorBuilder::kNoLoop ? 1 : nest.extents[rowLoop].guess()) *
                                        nest.extents[vectorLoop].guess());
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
    partial->combine(schedule);
  if (rounded) {
    Schedule onto = schedule;
    onto.initial = {};
    v.onlyIf(hasMany, [&] { rounded->combine(onto); });
  }
}

std::string Contraction::text() const {
  std::string result;
  llvm::raw_string_ostream stream(result);
  auto print = [&](const Number &number) { number.known ? stream << *number.known : stream << "?"; };
  stream << "product, tiles of " << tile.rows << " x " << tile.vectors << " vectors of " << v.lanes << "; ";
  nest.extents[terms[0]].isKnown() ? stream << *nest.extents[terms[0]].known() : stream << "?";
  if (innerTerms() > 1)
    stream << " x " << innerTerms();
  stream << " terms, ";
  print(termBlock);
  stream << (innerTerms() > 1 ? " of them" : "") << " in a block";
  if (inRuns)
    stream << ", runs of " << runLength;
  stream << (packsAll ? "; panels packed once" : packs ? "; panels packed by each piece" : "; panels as they are");
  if (packsRows)
    stream << "; rows packed by each piece";
  if (termPieces > 1)
    stream << "; " << termPieces << " pieces of terms";
  stream << "; pieces of ";
  print(rowBlock);
  stream << " rows and ";
  print(panelBlock);
  stream << " panels";
  return result;
}

void Contraction::emitPiece(Position at, Piece piece) {
  ofPiece = result;
  errorsOfPiece = errors;
  if (termPieces > 1) {
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
  if (extent.known)
    size = v.roundUp(v.ceilDivide(extent, termPieces), termBlock);
  if (size.known && size.known == termBlock.known) {
    Value from = arith::MulIOp::create(v.b, v.location, piece.ofTerms, v.valueOf(size));
    return panels(at, piece, from, endOf(from, size), {initial, {}});
  }
  Value from = v.index(0), to = v.valueOf(extent);
  if (termPieces > 1 || extent.known) {
    from = arith::MulIOp::create(v.b, v.location, piece.ofTerms, v.valueOf(size));
    to = endOf(from, size);
  }
  // The first block begins with the initial value, each later one with the sums that the block before has stored.
  // There is a first one even if it has no terms.
  if (initial && !extent.known)
    to = v.valueOf(v.maximum(Number(to), v.add(Number(from), 1)));
  v.loop(from, to, termBlock, {}, [&](Value first, ValueRange) {
    Start start;
    if (initial)
      start = {initial, arith::CmpIOp::create(v.b, v.location, arith::CmpIPredicate::ne, first, from)};
    panels(at, piece, first, endOf(first, termBlock), start);
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
  if (packsRows)
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
  Access columnsOfB = packsAll ? partOfAll(at.index[vectorLoop], from) : packs ? pack(at, from, to, columns) : b;
  bool isNarrow = columns.known && *columns.known < panelWidth();
  tiles(0, at, piece, isNarrow ? rowsOfNarrow : tile.rows, 1,
        [&](Position inside, int64_t rows) { microkernel(inside, rows, columnsOfB, from, to, columns, start); });
}

void Contraction::tiles(size_t depth, Position at, Piece piece, int64_t rowsOfTile, int64_t rows,
                        function_ref<void(Position, int64_t)> body) {
  if (depth == levels.size())
    return body(at, rows);
  unsigned loop = levels[depth];
  if (loop != rowLoop) {
    if (isShared[loop])
      return tiles(depth + 1, at, piece, rowsOfTile, rows, body);
    v.loop(v.number(nest.extents[loop]), 1, {}, [&](Value i, ValueRange) {
      tiles(depth + 1, at.at(loop, i), piece, rowsOfTile, rows, body);
      return SmallVector<Value>();
    });
    return;
  }
  auto some = [&](Value row, int64_t count) { tiles(depth + 1, at.at(rowLoop, row), piece, rowsOfTile, count, body); };
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
    v.loop(fullRows, rowsOfTile, {}, full);
    if (!(rest == 0))
      last();
    return;
  }
  Value first = arith::MulIOp::create(v.b, v.location, piece.ofRows, v.valueOf(rowBlock));
  Value end = arith::AddIOp::create(v.b, v.location, first, v.valueOf(rowBlock));
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
                              const Number &columns, Start start) {
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
  Access rowsOfA = packsRows ? placeOfRows(at.index[rowLoop]) : a;
  auto ofRow = [&](Position term, int64_t i) {
    if (packsRows) {
      term = relative(term, from);
      term.index[rowLoop] = Value();
    }
    return v.loadScalar(rowsOfA, rowLoop == VectorBuilder::kNoLoop ? term : term.shifted(rowLoop, i));
  };
  auto addTerm = [&](Position term, ValueRange carried) {
    SmallVector<Value> next(carried), ofB;
    for (int64_t j = 0; j < vectors; ++j)
      ofB.push_back(packs ? v.load(columnsOfB, relative(term, from).shifted(vectorLoop, j * v.lanes), v.lanes)
                          : v.load(columnsOfB, term.shifted(vectorLoop, j * v.lanes), valid[j]));
    for (int64_t i = 0; i < rows; ++i) {
      Value ofA = v.splat(ofRow(term, i));
      for (int64_t j = 0; j < vectors; ++j) {
        Value &total = next[i * vectors + j];
        if (isFloat)
          total = vector::FMAOp::create(v.b, v.location, ofA, ofB[j], total);
        else
          total = arith::AddIOp::create(v.b, v.location, total, arith::MulIOp::create(v.b, v.location, ofA, ofB[j]));
      }
    }
    return next;
  };
  // The lines of the results come while the terms are summed up.
  constexpr int64_t kManyTerms = 64;
  if (inRuns && termsPerBlock() >= kManyTerms)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < vectors; ++j)
        v.prefetchForStore(ofPiece, point(i, j));
  SmallVector<Value> sums;
  if (inRuns) {
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
  auto store = [&](Value initial) {
    bool startsAtZero = initial && isFloatZero(initial);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < vectors; ++j) {
        Value total = sums[i * vectors + j];
        if (inRuns && errorsOfPiece && !initial) {
          VectorBuilder::ExactSum both{before(i, j, {}), v.load(*errorsOfPiece, point(i, j), valid[j])};
          both = v.add(both, total);
          v.store(*errorsOfPiece, point(i, j), both.error, valid[j]);
          total = both.sum;
        } else if (inRuns && !startsAtZero) {
          total = arith::AddFOp::create(v.b, v.location, before(i, j, initial), total);
        }
        v.store(ofPiece, point(i, j), total, valid[j]);
      }
  };
  if (!inRuns || !start.isLater)
    return store(start.value);
  v.either(start.isLater, [&] { store({}); }, [&] { store(start.value); });
}

namespace {

// The roles of loops and operands, with the tile that goes with them.
struct Choice {
  unsigned vectorLoop = VectorBuilder::kNoLoop, rowLoop = VectorBuilder::kNoLoop;
  int operandOfB = 0;
  Tile tile;
  double cycles = std::numeric_limits<double>::infinity();
};

std::optional<Choice> choose(const Nest &nest, const Target &target) {
  if (!isSumOfProducts(nest) || !nest.hasReduction() || nest.iterations().guess() < 64)
    return std::nullopt;
  unsigned unknownTerms = 0;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    unknownTerms += nest.isReduction[loop] && !nest.extents[loop].isKnown();
  if (unknownTerms > 1) // only one unknown loop over terms can be cut into blocks
    return std::nullopt;
  int64_t lanes = Schedule::lanesFor(nest, target);
  const Access &result = nest.outputs[0];
  int64_t allTerms = std::max<int64_t>(nest.iterations(true).guess(), 1);
  Choice best;
  for (int operandOfB : {1, 0}) {
    const Access &a = nest.inputs[1 - operandOfB], &b = nest.inputs[operandOfB];
    int64_t leastBlock = allTerms / std::max<int64_t>(nest.extents[termsInOrder(nest, a).front()].guess(), 1);
    for (unsigned vectorLoop = 0; vectorLoop < nest.numLoops(); ++vectorLoop) {
      if (nest.isReduction[vectorLoop] || a.varies(vectorLoop) || !b.varies(vectorLoop) ||
          !(result.strides[vectorLoop] == 1))
        continue;
      int64_t extent = nest.extents[vectorLoop].guess(), vectors = (extent + lanes - 1) / lanes;
      auto consider = [&](unsigned rowLoop) {
        int64_t rows = rowLoop == VectorBuilder::kNoLoop ? 1 : nest.extents[rowLoop].guess();
        int64_t bytesOfVector = lanes * result.element.getIntOrFloatBitWidth() / 8;
        Tile tile =
            chooseTile(rows, vectors, allTerms, leastBlock, bytesOfVector, Contraction::sumsInRuns(nest), target);
        double cycles = tile.cycles / static_cast<double>(rows * extent);
        auto distance = [&](unsigned loop) { return loop == VectorBuilder::kNoLoop ? 0 : a.distance(loop); };
        // Of equal loops the one along which A's elements are nearest: windows that overlap share them.
        if (cycles < best.cycles || (cycles == best.cycles && distance(rowLoop) < distance(best.rowLoop)))
          best = {vectorLoop, rowLoop, operandOfB, tile, cycles};
      };
      consider(VectorBuilder::kNoLoop);
      for (unsigned rowLoop = 0; rowLoop < nest.numLoops(); ++rowLoop)
        if (!nest.isReduction[rowLoop] && rowLoop != vectorLoop && a.varies(rowLoop) && !b.varies(rowLoop))
          consider(rowLoop);
    }
  }
  if (best.vectorLoop == VectorBuilder::kNoLoop)
    return std::nullopt;
  const Access &b = nest.inputs[best.operandOfB];
  // With a strided B and few rows, each gathered element would be used only once.
  int64_t uses = 1;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (!nest.isReduction[loop] && loop != best.vectorLoop)
      uses *= std::min<int64_t>(nest.extents[loop].guess(), 1 << 20);
  if (!(b.strides[best.vectorLoop] == 1) && uses < 4)
    return std::nullopt;
  return best;
}

} // namespace

bool isContraction(const Nest &nest, const Target &target) { return choose(nest, target) || DotPlan::of(nest, target); }

bool emitContraction(Schedule schedule, Nest nest) {
  std::optional<Choice> choice = choose(nest, schedule.target);
  std::optional<DotPlan> dots = DotPlan::of(nest, schedule.target);
  if (dots && !(choice && choice->cycles <= dots->cycles)) {
    emitDotProducts(schedule, nest, *dots);
    return true;
  }
  if (!choice)
    return false;
  const Access &a = nest.inputs[1 - choice->operandOfB], &b = nest.inputs[choice->operandOfB];
  Contraction contraction(schedule, nest, choice->vectorLoop, choice->rowLoop, a, b, schedule.lanesFor(nest),
                          choice->tile);
  if (schedule.plan)
    *schedule.plan = contraction.text();
  contraction.emit();
  return true;
}

} // namespace calque::codegen
