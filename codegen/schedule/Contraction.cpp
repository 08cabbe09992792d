// Emits sums of products with a tile of results in registers. Operand B is read as vectors along one loop of the
// result, operand A element by element along another; the parts of both that a tile needs stay in the first cache. The
// panel of B is packed where it is strided or read often. Products of matrices in any layout, convolutions and both
// their gradients differ in their strides alone.
#include "codegen/schedule/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <functional>
#include <limits>

using namespace mlir;

namespace calque::codegen {

namespace {

// The most terms of a run. Products are bound by arithmetic, so that their runs are longer than those of other sums:
// with 8 runs in a group and 8 blocks, the worst that a search over equal terms finds is 3.2 eps.
constexpr int64_t kProductRun = 12;

// Whether the body is result + a * b, and nothing else.
bool isMultiplyAdd(const Nest &nest) {
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

// The sizes of a tile of results, and an estimate of its cost.
struct Tile {
  int64_t rows = 1, vectors = 1;
  double cycles = std::numeric_limits<double>::infinity(); // for one term of all results
};

// Estimated cycles for one term of a tile: two multiply-adds and two loads a cycle, and a latency of four cycles for
// each sum.
double cyclesOf(int64_t rows, int64_t vectors) {
  if (!rows || !vectors)
    return 0;
  return std::max({static_cast<double>(rows * vectors) / 2, static_cast<double>(rows + vectors) / 2 + 0.5, 5.5});
}

// `inRuns`: the terms are summed up in runs, and the tile has the sums of runs beside those of the current one. Where
// registers do not hold both, the former are loaded and stored once a run.
Tile chooseTile(int64_t rows, int64_t vectors, bool inRuns, const Target &target) {
  Tile best;
  // Blocks of wide panels are short, and each block's sums take a way through memory.
  int64_t mostVectors = inRuns && rows >= 3 ? 4 : 8;
  for (int64_t r = 1; r <= std::min<int64_t>(rows, 14); ++r)
    for (int64_t n = 1; n <= std::min<int64_t>(vectors, mostVectors); ++n) {
      if (r * n + n + 1 > target.vectorRegisters)
        continue;
      bool fits = 2 * r * n + n + 1 <= target.vectorRegisters;
      auto cost = [&](int64_t tileRows, int64_t tileVectors) {
        double ofRuns = inRuns ? (fits ? 0.5 : 1.5) / kProductRun * static_cast<double>(tileRows * tileVectors) : 0;
        return cyclesOf(tileRows, tileVectors) + ofRuns;
      };
      double cycles =
          static_cast<double>(rows / r) * (static_cast<double>(vectors / n) * cost(r, n) + cost(r, vectors % n)) +
          static_cast<double>(vectors / n) * cost(rows % r, n) + cost(rows % r, vectors % n);
      // At equal speed, wider panels mean that A is read fewer times.
      if (cycles < best.cycles * 0.999)
        best = {r, n, cycles};
    }
  return best;
}

class Contraction {
public:
  Contraction(Schedule &schedule, const Nest &nest, unsigned vectorLoop, unsigned rowLoop, const Access &a,
              const Access &b, int64_t lanes, Tile tile)
      : schedule(schedule), nest(nest), v(schedule.builder, nest, vectorLoop, lanes), vectorLoop(vectorLoop),
        rowLoop(rowLoop), a(a), b(b), result(nest.outputs[0]), initial(schedule.initial), tile(tile) {
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
      if (nest.isReduction[loop])
        terms.push_back(loop);
      else if (loop != vectorLoop)
        (b.varies(loop) ? batches : levels).push_back(loop);
    }
    // Loops over terms with large strides in A are the outer ones, so that consecutive tiles read nearby elements.
    auto byDistance = [&](unsigned x, unsigned y) { return a.distance(x) > a.distance(y); };
    llvm::stable_sort(terms, byDistance);
    // Blocks are cut from the outermost loop over terms, so the extents of the inner loops must be known.
    llvm::stable_sort(terms,
                      [&](unsigned x, unsigned y) { return !nest.extents[x].isKnown() && nest.extents[y].isKnown(); });
    llvm::stable_sort(batches, byDistance);
    llvm::stable_sort(levels, byDistance);
    isFloat = isa<FloatType>(result.element);
    inRuns = sumsInRuns(nest);
    rowExtent = rowLoop == VectorBuilder::kNoLoop ? Number(1) : v.number(nest.extents[rowLoop]);
    columnExtent = v.number(nest.extents[vectorLoop]);
    numPanels = v.ceilDivide(columnExtent, panelWidth());
    nest.isKnown() ? chooseBlocks() : chooseBlocksOfUnknown();
    if (inRuns)
      cutTermsIntoRuns();
  }

  // Whether the terms are cut into runs. Integers are exact in any order.
  static bool sumsInRuns(const Nest &nest) {
    std::optional<int64_t> terms = nest.iterations(true).known();
    return isa<FloatType>(nest.outputs[0].element) && !(terms && *terms <= kShortSum);
  }

  void emit() {
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

private:
  // The indices of a piece.
  struct Piece {
    Value ofTerms, ofRows, ofPanels;
  };

  // What the sums of a block begin with: `value`, or the results in memory where that is null, or where `isLater` is
  // there and true.
  struct Start {
    Value value, isLater;
  };

  static constexpr int64_t kFewBlocks = 8;
  static int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }
  int64_t panelWidth() const { return tile.vectors * v.lanes; }
  int64_t elementBytes() const { return result.element.getIntOrFloatBitWidth() / 8; }
  // The number of terms in one iteration of the outermost loop over terms.
  int64_t innerTerms() const {
    int64_t count = 1;
    for (unsigned loop : llvm::drop_begin(terms))
      count *= *nest.extents[loop].known();
    return count;
  }
  // The largest number of terms in a block.
  int64_t termsPerBlock() const { return innerTerms() * mostTermBlock; }
  int64_t bytesOf(const Access &access) const {
    int64_t elements = 1;
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      elements += std::abs(*access.strides[loop].known()) * (*nest.extents[loop].known() - 1);
    return elements * elementBytes();
  }

  void chooseBlocks() {
    constexpr double kPieceWork = 1 << 20; // multiply-adds
    constexpr int64_t kMaxPieces = 32;
    int64_t extent = *nest.extents[terms[0]].known();
    int64_t wanted = std::clamp<int64_t>(
        static_cast<int64_t>(static_cast<double>(*nest.iterations().known()) / kPieceWork), 1, kMaxPieces);
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
    termBlock = std::clamp<int64_t>(schedule.target.l1Bytes * 5 / 8 / bytesOfTerm, 1, termsOfPiece);
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
    } else {
      // The rows of A that meet one panel stay in the second cache. Threads share panels before rows, so that each
      // panel is packed once.
      int64_t rowsInCache =
          std::max<int64_t>(schedule.target.l2Bytes / 2 / (termsPerBlock() * elementBytes()) / tile.rows, 1) *
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
    decideToPack(rows);
    this->rowBlock = rowBlock;
    this->panelBlock = panelBlock;
    this->termBlock = termBlock;
  }

  bool isWindow() const { return levels.size() > (rowLoop == VectorBuilder::kNoLoop ? 0 : 1); }

  // Packs where B is strided along the vector loop, or where its rows lie far apart and each packed element is read
  // often.
  void decideToPack(int64_t rows) {
    int64_t distance = 0;
    for (unsigned loop : terms)
      distance = std::max(distance, b.distance(loop) * elementBytes());
    packs = !(b.strides[vectorLoop] == 1) || (rows >= 4 * tile.rows && distance >= 512 && termsPerBlock() >= 32);
    // The inner loops over terms are not cut into blocks; with long ones a panel could overflow a thread's stack.
    constexpr int64_t kMaxPanelBytes = 256 << 10;
    packs &= termsPerBlock() * panelWidth() * elementBytes() <= kMaxPanelBytes;
  }

  // The same choices, by code that computes with unknown sizes. Known sizes bound a panel, and threads do not share
  // terms.
  void chooseBlocksOfUnknown() {
    constexpr int64_t kPieceWork = 1 << 20, kMaxPieces = 32;
    Number extent = v.number(nest.extents[terms[0]]);
    Number wanted = v.maximum(v.minimum(v.divide(v.number(nest.iterations()), kPieceWork), kMaxPieces), 1);
    isShared.assign(nest.numLoops(), false);
    mostTermBlock = std::max<int64_t>(
        schedule.target.l1Bytes * 5 / 8 / (std::max<int64_t>(innerTerms(), 1) * panelWidth() * elementBytes()), 1);
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
        std::max<int64_t>(schedule.target.l2Bytes / 2 / (termsPerBlock() * elementBytes()) / tile.rows, 1) * tile.rows;
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

  // Emits one piece: a loop over blocks of terms, in it a loop over panels, and in that all tiles of rows.
  void emitPiece(Position at, Piece piece) {
    ofPiece = result;
    errorsOfPiece = errors;
    if (termPieces > 1) {
      int64_t results = *nest.iterations(false).known();
      auto type = MemRefType::get({results}, result.element,
                                  StridedLayoutAttr::get(v.b.getContext(), ShapedType::kDynamic, {1}));
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

  Value endOf(Value from, const Number &size) {
    Value to = arith::AddIOp::create(v.b, v.location, from, v.valueOf(size));
    Number extent = v.number(nest.extents[terms[0]]);
    if (!extent.known || !size.known || *extent.known % *size.known)
      to = arith::MinSIOp::create(v.b, v.location, to, v.valueOf(extent));
    return to;
  }

  void panels(Position at, Piece piece, Value from, Value to, Start start) {
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

  void panel(Position at, Piece piece, Value from, Value to, const Number &columns, Start start) {
    Access columnsOfB = packs ? pack(at, from, to, columns) : b;
    tiles(0, at, piece, 1,
          [&](Position inside, int64_t rows) { microkernel(inside, rows, columnsOfB, from, to, columns, start); });
  }

  // Emits the loops over results from the `depth`-th level on; the loop over rows has the step of a tile.
  void tiles(size_t depth, Position at, Piece piece, int64_t rows, function_ref<void(Position, int64_t)> body) {
    if (depth == levels.size())
      return body(at, rows);
    unsigned loop = levels[depth];
    if (loop != rowLoop) {
      if (isShared[loop])
        return tiles(depth + 1, at, piece, rows, body);
      v.loop(v.number(nest.extents[loop]), 1, {}, [&](Value i, ValueRange) {
        tiles(depth + 1, at.at(loop, i), piece, rows, body);
        return SmallVector<Value>();
      });
      return;
    }
    auto some = [&](Value row, int64_t count) { tiles(depth + 1, at.at(rowLoop, row), piece, count, body); };
    auto full = [&](Value row, ValueRange) {
      some(row, tile.rows);
      return SmallVector<Value>();
    };
    Number rest = v.remainder(rowExtent, tile.rows), fullRows = v.subtract(rowExtent, rest);
    // An unknown number of remaining rows is covered by tiles of 4, 2 and 1 rows.
    auto last = [&] {
      if (rest.known)
        return some(v.valueOf(fullRows), *rest.known);
      int64_t largest = 1;
      while (2 * largest < tile.rows)
        largest *= 2;
      for (int64_t count = largest; count >= 1; count /= 2) {
        Value bit = arith::AndIOp::create(v.b, v.location, rest.value, v.index(count));
        Value row = arith::AddIOp::create(v.b, v.location, v.valueOf(fullRows),
                                          arith::AndIOp::create(v.b, v.location, rest.value, v.index(-2 * count)));
        v.onlyIf(v.less(0, bit), [&] { some(row, count); });
      }
    };
    if (rowBlock.known && rowExtent.known && *rowBlock.known >= *rowExtent.known) {
      v.loop(fullRows, tile.rows, {}, full);
      if (!(rest == 0))
        last();
      return;
    }
    Value first = arith::MulIOp::create(v.b, v.location, piece.ofRows, v.valueOf(rowBlock));
    Value end = arith::AddIOp::create(v.b, v.location, first, v.valueOf(rowBlock));
    v.loop(first, v.valueOf(v.minimum(end, fullRows)), tile.rows, {}, full);
    if (rest == 0 || tile.rows == 1)
      return;
    Value hasRest = arith::CmpIOp::create(v.b, v.location, arith::CmpIPredicate::sgt, end, v.valueOf(fullRows));
    v.onlyIf(hasRest, last);
  }

  // Emits the loops over terms from the `depth`-th on; the outermost runs over [from, to).
  SmallVector<Value> sum(size_t depth, Position at, Value from, Value to, ValueRange carried,
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

  //===-- Runs of terms ---------------------------------------------------------------------------===//

  // A loop over terms, or a part of one: `within` iterations from where the loop around it stands; 0: all.
  struct TermLoop {
    unsigned loop;
    int64_t step, within, count;
  };

  // Cuts the loops over a block's terms into runs, and runs into groups of kRunLength.
  void cutTermsIntoRuns() {
    for (unsigned loop : terms)
      termLoops.push_back({loop, 1, 0, loop == terms[0] ? mostTermBlock : *nest.extents[loop].known()});
    size_t end = termLoops.size();
    for (int level = 0; level < 2; ++level) {
      int64_t most = level == 0 ? kProductRun : kRunLength;
      int64_t length = 1;
      while (end > 0 && length * termLoops[end - 1].count <= most)
        length *= termLoops[--end].count;
      if (end == 0)
        return;
      if (int64_t some = most / length; some > 1) {
        TermLoop &outer = termLoops[end - 1];
        some = ceilDiv(outer.count, ceilDiv(outer.count, some)); // runs of about the same length
        TermLoop inner = outer;
        inner.within = some * outer.step;
        inner.count = some;
        outer.step *= some;
        outer.count = ceilDiv(outer.count, some);
        termLoops.insert(termLoops.begin() + static_cast<std::ptrdiff_t>(end), inner);
        for (size_t &start : starts)
          ++start;
      }
      starts.insert(starts.begin(), end);
    }
    int64_t groups = 1;
    for (const TermLoop &each : llvm::ArrayRef(termLoops).take_front(end))
      groups *= each.count;
    isExact = groups > kRunLength;
  }

  // The sums of a block's terms: `body` adds one term to each accumulator.
  using SumBody = function_ref<SmallVector<Value>(Position, ValueRange)>;
  SmallVector<Value> sumInRuns(Position at, Value from, Value to, size_t count, SumBody body) {
    SmallVector<Value> zeros(count, v.constant(v.b.getZeroAttr(result.element)));
    if (!isExact)
      return termsFrom(0, 0, at, from, to, zeros, body);
    SmallVector<Value> both = zeros;
    llvm::append_range(both, zeros);
    both = termsFrom(0, 0, at, from, to, both, body);
    SmallVector<Value> sums;
    for (size_t i = 0; i < count; ++i)
      sums.push_back(VectorBuilder::ExactSum{both[i], both[count + i]}.total(v));
    return sums;
  }

  // The loops from the `depth`-th on. `level` counts the loops at which accumulators have begun anew; exact sums are
  // followed by their errors.
  SmallVector<Value> termsFrom(size_t depth, size_t level, Position at, Value from, Value to, ValueRange carried,
                               SumBody body) {
    if (level < starts.size() && starts[level] == depth) {
      bool exact = level == 0 && isExact;
      size_t count = exact ? carried.size() / 2 : carried.size();
      SmallVector<Value> zeros(count, v.constant(v.b.getZeroAttr(result.element))), sums(carried);
      SmallVector<Value> run = termsFrom(depth, level + 1, at, from, to, zeros, body);
      for (size_t i = 0; i < count; ++i) {
        VectorBuilder::ExactSum sum{sums[i], exact ? sums[count + i] : Value()};
        if (exact) {
          sum = v.add(sum, run[i]);
          sums[count + i] = sum.error;
        } else {
          sum.sum = arith::AddFOp::create(v.b, v.location, sum.sum, run[i]);
        }
        sums[i] = sum.sum;
      }
      return sums;
    }
    if (depth == termLoops.size())
      return body(at, carried);
    const TermLoop &own = termLoops[depth];
    unsigned loop = own.loop;
    auto rest = llvm::ArrayRef(termLoops).drop_front(depth);
    int64_t most = 1;
    for (const TermLoop &each : rest)
      most *= each.count;
    bool isWhole = llvm::all_of(
        rest, [&](const TermLoop &each) { return !each.within && each.step == 1 && each.loop != terms[0]; });
    if (most <= 9 && isWhole) {
      SmallVector<Value> values(carried);
      for (int64_t i = 0; i < own.count; ++i)
        values = termsFrom(depth + 1, level, at.shifted(loop, i), from, to, values, body);
      return values;
    }
    Value first = own.within ? at.index[loop] : loop == terms[0] ? from : v.index(0);
    Number extent = v.number(nest.extents[loop]), last = loop == terms[0] ? Number(to) : extent;
    if (own.within) {
      Number end = v.add(Number(first), own.within);
      bool divides = loop != terms[0] && *extent.known % own.within == 0;
      last = divides ? end : v.minimum(end, last);
    }
    return v.loop(first, v.valueOf(last), own.step, carried, [&](Value i, ValueRange inner) {
      return termsFrom(depth + 1, level, at.at(loop, i), from, to, inner, body);
    });
  }

  // Packs a panel of B: one row of `panelWidth` elements for each term, with zeros beyond the last column.
  Access pack(Position at, Value from, Value to, const Number &columns) {
    auto type = MemRefType::get({termsPerBlock() * panelWidth()}, b.element);
    if (!buffer) {
      // A thread has one panel on its stack, allocated at the front of the function that it runs. Without threads the
      // panel is in the workspace, because on the stack the panels of all kernels of a function would add up.
      if (auto loop = v.b.getInsertionBlock()->getParentOp();
          isa<scf::ParallelOp>(loop) || loop->getParentOfType<scf::ParallelOp>()) {
        buffer = memref::AllocaOp::create(v.b, v.location, type, v.b.getI64IntegerAttr(64));
        buffer->moveBefore(&buffer->getParentOfType<scf::ParallelOp>()->getRegion(0).front().front());
      } else {
        buffer = memref::AllocOp::create(v.b, v.location, type);
        if (Operation *outermost =
                buffer->getParentOfType<func::FuncOp>().getBody().front().findAncestorOpInBlock(*buffer);
            outermost != buffer)
          buffer->moveBefore(outermost);
      }
    }
    Access packed = b;
    packed.value = buffer->getResult(0);
    packed.strides.assign(nest.numLoops(), Extent(0));
    packed.offset = 0;
    packed.unknownOffset = {};
    int64_t stride = panelWidth();
    for (unsigned loop : llvm::reverse(terms)) {
      packed.strides[loop] = stride;
      stride *= nest.extents[loop].known().value_or(1); // only the outermost may be unknown, whose product is not used
    }
    // Positions of the copy count from the panel's first column and term.
    Access place = packed;
    place.strides[vectorLoop] = 1;
    auto contiguous = llvm::find_if(terms, [&](unsigned loop) { return b.strides[loop] == 1; });
    if (!(b.strides[vectorLoop] == 1) && contiguous != terms.end() && nest.extents[*contiguous].guess() >= v.lanes) {
      packTransposed(at, from, to, columns, place, *contiguous);
      return place;
    }
    sum(0, at, from, to, {}, [&](Position term, ValueRange) {
      Position target = relative(term, from);
      for (int64_t j = 0; j < tile.vectors; ++j) {
        Number valid = validIn(columns, j);
        Value value = valid == 0 ? v.constant(v.b.getZeroAttr(b.element))
                                 : v.load(b, term.shifted(vectorLoop, j * v.lanes), valid);
        v.store(place, target.shifted(vectorLoop, j * v.lanes), value, v.lanes);
      }
      return SmallVector<Value>();
    });
    return place;
  }

  // Packs where B is contiguous along another loop, `along`: loads short pieces of its rows, and transposes in
  // registers.
  void packTransposed(Position at, Value from, Value to, const Number &columns, const Access &place, unsigned along) {
    SmallVector<unsigned> outer;
    for (unsigned loop : terms)
      if (loop != along)
        outer.push_back(loop);
    std::function<void(size_t, Position)> emit = [&](size_t depth, Position term) {
      if (depth < outer.size()) {
        unsigned loop = outer[depth];
        auto inside = [&](Value i, ValueRange) {
          emit(depth + 1, term.at(loop, i));
          return SmallVector<Value>();
        };
        loop == terms[0] ? v.loop(from, to, 1, {}, inside) : v.loop(v.number(nest.extents[loop]), 1, {}, inside);
        return;
      }
      Value first = along == terms[0] ? from : v.index(0),
            last = along == terms[0] ? to : v.valueOf(v.number(nest.extents[along]));
      // One loop over the vectors of a panel. The last vector of a known number of columns may hold fewer.
      int64_t whole = columns.known ? *columns.known / v.lanes : tile.vectors;
      v.loop(whole * v.lanes, v.lanes, {}, [&](Value column, ValueRange) {
        packVector(term, from, first, last, column, columns.known ? Number(v.lanes) : columns, place, along);
        return SmallVector<Value>();
      });
      if (columns.known && *columns.known % v.lanes)
        packVector(term, from, first, last, v.index(whole * v.lanes), *columns.known % v.lanes, place, along);
    };
    emit(0, at);
  }

  // Packs one vector of a panel, from its column on, for all terms of one loop. Known `columns` are those of the
  // vector, unknown ones those of the panel.
  void packVector(Position at, Value from, Value first, Value last, Value column, const Number &columns,
                  const Access &place, unsigned along) {
    auto columnAt = [&](Position position, const Number &number) {
      position.index[vectorLoop] = v.valueOf(v.add(Number(at.index[vectorLoop]), number));
      return position;
    };
    auto store = [&](Position term, Value value) {
      Position target = relative(term, from);
      target.index[vectorLoop] = column;
      v.store(place, target, value, v.lanes);
    };
    // Each vector is put together from `length` elements of as many rows as it has such parts.
    int64_t length = std::min(v.lanes, 16 / elementBytes()), parts = v.lanes / length;
    VectorBuilder rows(v.b, nest, along, length);
    Value count = arith::SubIOp::create(v.b, v.location, last, first);
    Value odd = arith::RemUIOp::create(v.b, v.location, count, v.index(length));
    Value even = arith::SubIOp::create(v.b, v.location, last, odd);
    v.loop(first, even, length, {}, [&](Value i, ValueRange) {
      Position term = at.at(along, i);
      auto part = [&](int64_t lane) -> Value {
        if (columns.known && lane >= *columns.known)
          return rows.constant(v.b.getZeroAttr(b.element));
        if (columns.known)
          return rows.load(b, columnAt(term, Number(column)).shifted(vectorLoop, lane), length);
        // Columns beyond the last repeat it.
        return rows.load(b, columnAt(term, v.minimum(v.subtract(columns, 1), v.add(Number(column), lane))), length);
      };
      SmallVector<Value> square;
      for (int64_t row = 0; row < length; ++row) {
        SmallVector<Value> ofRow;
        for (int64_t i = 0; i < parts; ++i)
          ofRow.push_back(part(i * length + row));
        square.push_back(v.concatenate(ofRow));
      }
      v.transpose(square);
      for (int64_t j = 0; j < length; ++j)
        store(term.shifted(along, j), square[j]);
      return SmallVector<Value>();
    });
    v.loop(even, last, 1, {}, [&](Value i, ValueRange) {
      Position term = at.at(along, i);
      Number valid = columns.known ? columns : v.subtract(columns, Number(column));
      store(term, v.load(b, columnAt(term, Number(column)), valid));
      return SmallVector<Value>();
    });
  }

  // The number of valid columns in a panel's `j`-th vector. A number that is computed at run time may exceed the lanes
  // or be negative; masks take that for all lanes and for none.
  Number validIn(const Number &columns, int64_t j) {
    if (columns.known)
      return std::clamp<int64_t>(*columns.known - j * v.lanes, 0, v.lanes);
    return v.subtract(columns, j * v.lanes);
  }

  Position relative(Position term, Value from) {
    Position result = term;
    result.index[vectorLoop] = Value();
    result.index[terms[0]] = arith::SubIOp::create(v.b, v.location, term.index[terms[0]], from);
    return result;
  }

  void microkernel(Position at, int64_t rows, const Access &columnsOfB, Value from, Value to, const Number &columns,
                   Start start) {
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
    auto addTerm = [&](Position term, ValueRange carried) {
      SmallVector<Value> next(carried), ofB;
      for (int64_t j = 0; j < vectors; ++j)
        ofB.push_back(packs ? v.load(columnsOfB, relative(term, from).shifted(vectorLoop, j * v.lanes), v.lanes)
                            : v.load(columnsOfB, term.shifted(vectorLoop, j * v.lanes), valid[j]));
      for (int64_t i = 0; i < rows; ++i) {
        Value ofA = v.splat(v.loadScalar(a, rowLoop == VectorBuilder::kNoLoop ? term : term.shifted(rowLoop, i)));
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
      bool startsAtZero = initial && matchPattern(initial, m_AnyZeroFloat());
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

  Schedule &schedule;
  const Nest &nest;
  VectorBuilder v;
  unsigned vectorLoop, rowLoop;
  const Access &a, &b;
  Access result, ofPiece;
  std::optional<Access> errors, errorsOfPiece; // what additions to the results rounded away
  Value initial;
  Tile tile;
  SmallVector<unsigned> terms, batches, levels;
  SmallVector<bool> isShared;
  Number rowExtent, columnExtent, numPanels, termBlock = 1, rowBlock = 1, panelBlock = 1;
  int64_t termPieces = 1, mostTermBlock = 1;
  bool packs = false, isFloat = true, inRuns = false;
  SmallVector<TermLoop> termLoops; // of a block
  SmallVector<size_t, 2> starts;   // the loops at which accumulators begin anew
  bool isExact = false;            // whether a block's sums have their rounding errors beside them
  Operation *buffer = nullptr;
};

} // namespace

bool emitContraction(Schedule schedule, Nest nest) {
  if (!isMultiplyAdd(nest) || !nest.hasReduction() || nest.iterations().guess() < 64)
    return false;
  unsigned unknownTerms = 0;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    unknownTerms += nest.isReduction[loop] && !nest.extents[loop].isKnown();
  if (unknownTerms > 1) // only one unknown loop over terms can be cut into blocks
    return false;
  int64_t lanes = schedule.lanesFor(nest);
  const Access &result = nest.outputs[0];
  struct Choice {
    unsigned vectorLoop = VectorBuilder::kNoLoop, rowLoop = VectorBuilder::kNoLoop;
    int operandOfB = 0;
    Tile tile;
    double cycles = std::numeric_limits<double>::infinity();
  } best;
  for (int operandOfB : {1, 0}) {
    const Access &a = nest.inputs[1 - operandOfB], &b = nest.inputs[operandOfB];
    for (unsigned vectorLoop = 0; vectorLoop < nest.numLoops(); ++vectorLoop) {
      if (nest.isReduction[vectorLoop] || a.varies(vectorLoop) || !b.varies(vectorLoop) ||
          !(result.strides[vectorLoop] == 1))
        continue;
      int64_t extent = nest.extents[vectorLoop].guess(), vectors = (extent + lanes - 1) / lanes;
      auto consider = [&](unsigned rowLoop) {
        int64_t rows = rowLoop == VectorBuilder::kNoLoop ? 1 : nest.extents[rowLoop].guess();
        Tile tile = chooseTile(rows, vectors, Contraction::sumsInRuns(nest), schedule.target);
        double cycles = tile.cycles / static_cast<double>(rows * extent);
        if (cycles < best.cycles)
          best = {vectorLoop, rowLoop, operandOfB, tile, cycles};
      };
      consider(VectorBuilder::kNoLoop);
      for (unsigned rowLoop = 0; rowLoop < nest.numLoops(); ++rowLoop)
        if (!nest.isReduction[rowLoop] && rowLoop != vectorLoop && a.varies(rowLoop) && !b.varies(rowLoop))
          consider(rowLoop);
    }
  }
  if (best.vectorLoop == VectorBuilder::kNoLoop)
    return false;
  const Access &a = nest.inputs[1 - best.operandOfB], &b = nest.inputs[best.operandOfB];
  // With a strided B and few rows, each gathered element would be used only once.
  int64_t uses = 1;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (!nest.isReduction[loop] && loop != best.vectorLoop)
      uses *= std::min<int64_t>(nest.extents[loop].guess(), 1 << 20);
  if (!(b.strides[best.vectorLoop] == 1) && uses < 4)
    return false;
  Contraction(schedule, nest, best.vectorLoop, best.rowLoop, a, b, lanes, best.tile).emit();
  return true;
}

} // namespace calque::codegen
