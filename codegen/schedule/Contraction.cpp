// Sums of products with a tile of results in registers. One operand (B) is read as vectors along a loop of the result, the
// other (A) element by element along another one; both stay in the first cache while the tiles pass. The panel of B is copied
// where it is strided or read often. This makes products of matrices in any layout and convolutions with both their gradients:
// they differ in nothing but strides.
#include "codegen/schedule/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace calque::codegen {

namespace {

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
  return operandsAre(multiply, a, b) && operandsAre(add, multiply->getResult(0), result) && nest.body->getTerminator()->getOperand(0) == add->getResult(0) &&
         nest.inputs[0].isBuffer && nest.inputs[1].isBuffer;
}

// The sizes of a kernel.
struct Tile {
  int64_t rows = 1, vectors = 1;
  double cycles = std::numeric_limits<double>::infinity(); // for one term of all results
};

// Cycles for one term of a tile: two multiply-adds and two loads a cycle, and four cycles until a sum can be added to again.
double cyclesOf(int64_t rows, int64_t vectors) {
  if (!rows || !vectors)
    return 0;
  return std::max({static_cast<double>(rows * vectors) / 2, static_cast<double>(rows + vectors) / 2 + 0.5, 5.5});
}

Tile chooseTile(int64_t rows, int64_t vectors, const Target &target) {
  Tile best;
  for (int64_t r = 1; r <= std::min<int64_t>(rows, 14); ++r)
    for (int64_t n = 1; n <= std::min<int64_t>(vectors, 8); ++n) {
      if (r * n + n + 1 > target.vectorRegisters)
        continue;
      double cycles = static_cast<double>(rows / r) * (static_cast<double>(vectors / n) * cyclesOf(r, n) + cyclesOf(r, vectors % n)) +
                      static_cast<double>(vectors / n) * cyclesOf(rows % r, n) + cyclesOf(rows % r, vectors % n);
      // At equal speed the wider panel is read fewer times.
      if (cycles < best.cycles * 0.999)
        best = {r, n, cycles};
    }
  return best;
}

class Contraction {
public:
  Contraction(Schedule &schedule, const Nest &nest, unsigned vectorLoop, unsigned rowLoop, const Access &a, const Access &b, int64_t lanes, Tile tile)
      : schedule(schedule), nest(nest), v(schedule.builder, nest, vectorLoop, lanes), vectorLoop(vectorLoop), rowLoop(rowLoop), a(a), b(b), tile(tile) {
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop) {
      if (nest.isReduction[loop])
        terms.push_back(loop);
      else if (loop != vectorLoop && loop != rowLoop)
        (b.varies(loop) ? batches : others).push_back(loop);
    }
    llvm::stable_sort(terms, [&](unsigned x, unsigned y) { return std::abs(a.strides[x]) > std::abs(a.strides[y]); });
    auto byResult = [&](unsigned x, unsigned y) { return nest.outputs[0].strides[x] > nest.outputs[0].strides[y]; };
    llvm::stable_sort(batches, byResult);
    llvm::stable_sort(others, byResult);
    isFloat = isa<FloatType>(nest.outputs[0].element);
    chooseBlocks();
  }

  void emit() {
    // What is shared out: batches and the outer ones of the other loops, then blocks of rows and of panels.
    SmallVector<std::pair<unsigned, int64_t>> shared; // a loop and its extent in pieces
    for (unsigned loop : batches)
      shared.push_back({loop, nest.extents[loop]});
    for (unsigned loop : ArrayRef(others).take_front(numSharedOthers))
      shared.push_back({loop, nest.extents[loop]});
    int64_t rowBlocks = ceilDiv(rowExtent(), rowBlock), panelBlocks = ceilDiv(numPanels(), panelBlock);
    shared.push_back({rowLoop, rowBlocks});
    shared.push_back({vectorLoop, panelBlocks});
    int64_t pieces = 1;
    for (auto [loop, extent] : shared)
      pieces *= extent;
    double cycles = tile.cycles * static_cast<double>(nest.iterations()) / static_cast<double>(rowExtent() * columnExtent());
    v.parallel(pieces, cycles / static_cast<double>(pieces), [&](Value piece) {
      Position at(nest.numLoops());
      Value rowPiece = v.index(0), panelPiece = v.index(0), rest = piece;
      for (size_t i = shared.size(); i-- > 0;) {
        auto [loop, extent] = shared[i];
        if (extent == 1)
          continue;
        Value index = rest;
        if (i > 0) {
          index = arith::RemUIOp::create(v.b, v.location, rest, v.index(extent));
          rest = arith::DivUIOp::create(v.b, v.location, rest, v.index(extent));
        }
        if (loop == rowLoop)
          rowPiece = index;
        else if (loop == vectorLoop)
          panelPiece = index;
        else
          at.index[loop] = index;
      }
      pieceOf(at, rowPiece, panelPiece);
    });
  }

private:
  static int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }
  int64_t rowExtent() const { return rowLoop == VectorBuilder::kNoLoop ? 1 : nest.extents[rowLoop]; }
  int64_t columnExtent() const { return nest.extents[vectorLoop]; }
  int64_t panelWidth() const { return tile.vectors * v.lanes; }
  int64_t numPanels() const { return ceilDiv(columnExtent(), panelWidth()); }
  int64_t elementBytes() const { return nest.outputs[0].element.getIntOrFloatBitWidth() / 8; }
  int64_t numTerms() const { return nest.iterations(true); }
  int64_t termsPerBlock() const { return numTerms() / nest.extents[terms[0]] * termBlock; }

  void chooseBlocks() {
    int64_t inner = numTerms() / nest.extents[terms[0]];
    int64_t otherRows = 1;
    for (unsigned loop : others)
      otherRows *= nest.extents[loop];
    // A block of terms: the panel of B stays in the first cache while all tiles pass.
    termBlock = std::clamp<int64_t>(schedule.target.l1Bytes * 5 / 8 / (inner * panelWidth() * elementBytes()), 1, nest.extents[terms[0]]);
    int64_t blocks = ceilDiv(nest.extents[terms[0]], termBlock);
    termBlock = ceilDiv(nest.extents[terms[0]], blocks);

    // Pieces of some million multiply-adds, of as many rows as the second cache holds.
    numSharedOthers = 0;
    int64_t pieces = 1;
    for (unsigned loop : batches)
      pieces *= nest.extents[loop];
    for (unsigned loop : others) {
      if (pieces >= 32)
        break;
      pieces *= nest.extents[loop];
      ++numSharedOthers;
    }
    rowBlock = rowExtent();
    panelBlock = numPanels();
    int64_t rowsInCache = std::max<int64_t>(schedule.target.l2Bytes / 2 / (termsPerBlock() * elementBytes()), tile.rows);
    double work = static_cast<double>(nest.iterations()) / static_cast<double>(pieces);
    constexpr double kPieceWork = 1 << 20;
    auto halve = [&](int64_t &block, int64_t multiple) {
      int64_t half = ceilDiv(ceilDiv(block, 2), multiple) * multiple;
      if (half >= block)
        return false;
      block = half;
      return true;
    };
    while (rowBlock > rowsInCache && halve(rowBlock, tile.rows))
      pieces *= 2;
    while (pieces < 16 && work / static_cast<double>(pieces) > kPieceWork) {
      bool done = rowBlock > 8 * tile.rows ? halve(rowBlock, tile.rows) : halve(panelBlock, 1) || halve(rowBlock, tile.rows);
      if (!done)
        break;
      pieces *= 2;
    }
    // Copied when it must be, or when each copied element is used often and rows of B are far apart.
    int64_t rows = rowBlock;
    for (unsigned loop : ArrayRef(others).drop_front(numSharedOthers))
      rows *= nest.extents[loop];
    bool isStrided = b.strides[vectorLoop] != 1;
    int64_t rowBytes = 0;
    for (unsigned loop : terms)
      rowBytes = std::max(rowBytes, std::abs(b.strides[loop]) * elementBytes());
    packs = isStrided || (rows >= 4 * tile.rows && rowBytes >= 512 && termsPerBlock() >= 32);
  }

  // One piece: blocks of terms, in each panel after panel, and all tiles of rows for a panel.
  void pieceOf(Position at, Value rowPiece, Value panelPiece) {
    bool isBlocked = termBlock < nest.extents[terms[0]];
    if (!isBlocked)
      return panels(at, rowPiece, panelPiece, v.index(0), v.index(nest.extents[terms[0]]), schedule.initial);
    // The sums go on from what the last block left: the first one needs a beginning in memory.
    if (schedule.initial)
      panels(at, rowPiece, panelPiece, v.index(0), v.index(termBlock), schedule.initial);
    v.loop(v.index(schedule.initial ? termBlock : 0), v.index(nest.extents[terms[0]]), termBlock, {}, [&](Value from, ValueRange) {
      Value to = arith::AddIOp::create(v.b, v.location, from, v.index(termBlock));
      if (nest.extents[terms[0]] % termBlock)
        to = arith::MinSIOp::create(v.b, v.location, to, v.index(nest.extents[terms[0]]));
      panels(at, rowPiece, panelPiece, from, to, Value());
      return SmallVector<Value>();
    });
  }

  void panels(Position at, Value rowPiece, Value panelPiece, Value from, Value to, Value initial) {
    int64_t fullPanels = columnExtent() / panelWidth(), rest = columnExtent() - fullPanels * panelWidth();
    auto inPanel = [&](Value start, int64_t columns) {
      Position inside = at;
      inside.index[vectorLoop] = start;
      panel(inside, rowPiece, from, to, columns, initial);
    };
    auto startOf = [&](Value number) { return arith::MulIOp::create(v.b, v.location, number, v.index(panelWidth())).getResult(); };
    if (panelBlock == numPanels()) {
      v.loop(fullPanels, 1, {}, [&](Value number, ValueRange) {
        inPanel(startOf(number), panelWidth());
        return SmallVector<Value>();
      });
      if (rest)
        inPanel(v.index(fullPanels * panelWidth()), rest);
      return;
    }
    Value first = arith::MulIOp::create(v.b, v.location, panelPiece, v.index(panelBlock));
    Value last = arith::AddIOp::create(v.b, v.location, first, v.index(panelBlock));
    Value lastFull = arith::MinSIOp::create(v.b, v.location, last, v.index(fullPanels));
    v.loop(first, lastFull, 1, {}, [&](Value number, ValueRange) {
      inPanel(startOf(number), panelWidth());
      return SmallVector<Value>();
    });
    if (rest) {
      Value hasRest = arith::CmpIOp::create(v.b, v.location, arith::CmpIPredicate::sgt, last, v.index(fullPanels));
      auto ifOp = scf::IfOp::create(v.b, v.location, hasRest, false);
      OpBuilder::InsertionGuard guard(v.b);
      v.b.setInsertionPoint(ifOp.thenBlock()->getTerminator());
      inPanel(v.index(fullPanels * panelWidth()), rest);
    }
  }

  void panel(Position at, Value rowPiece, Value from, Value to, int64_t columns, Value initial) {
    Access columnsOfB = packs ? pack(at, from, to, columns) : b;
    others_(0, at, [&](Position inside) { tiles(inside, rowPiece, columnsOfB, from, to, columns, initial); });
  }

  void others_(size_t depth, Position at, function_ref<void(Position)> body) {
    ArrayRef<unsigned> inner = ArrayRef(others).drop_front(numSharedOthers);
    if (depth == inner.size())
      return body(at);
    v.loop(nest.extents[inner[depth]], 1, {}, [&](Value i, ValueRange) {
      others_(depth + 1, at.at(inner[depth], i), body);
      return SmallVector<Value>();
    });
  }

  void tiles(Position at, Value rowPiece, const Access &columnsOfB, Value from, Value to, int64_t columns, Value initial) {
    if (rowLoop == VectorBuilder::kNoLoop)
      return microkernel(at, 1, columnsOfB, from, to, columns, initial);
    auto tileAt = [&](Value row, int64_t rows) { microkernel(at.at(rowLoop, row), rows, columnsOfB, from, to, columns, initial); };
    int64_t rest = rowExtent() % tile.rows, fullRows = rowExtent() - rest;
    auto loopBody = [&](Value row, ValueRange) {
      tileAt(row, tile.rows);
      return SmallVector<Value>();
    };
    if (rowBlock == rowExtent()) {
      v.loop(fullRows, tile.rows, {}, loopBody);
      if (rest)
        tileAt(v.index(fullRows), rest);
      return;
    }
    Value first = arith::MulIOp::create(v.b, v.location, rowPiece, v.index(rowBlock));
    Value last = arith::AddIOp::create(v.b, v.location, first, v.index(rowBlock));
    v.loop(first, arith::MinSIOp::create(v.b, v.location, last, v.index(fullRows)), tile.rows, {}, loopBody);
    if (rest) {
      Value hasRest = arith::CmpIOp::create(v.b, v.location, arith::CmpIPredicate::sgt, last, v.index(fullRows));
      auto ifOp = scf::IfOp::create(v.b, v.location, hasRest, false);
      OpBuilder::InsertionGuard guard(v.b);
      v.b.setInsertionPoint(ifOp.thenBlock()->getTerminator());
      tileAt(v.index(fullRows), rest);
    }
  }

  // The loops over terms from the `depth`-th on; the outermost runs over [from, to).
  SmallVector<Value> sum(size_t depth, Position at, Value from, Value to, ValueRange carried, function_ref<SmallVector<Value>(Position, ValueRange)> body) {
    if (depth == terms.size())
      return body(at, carried);
    unsigned loop = terms[depth];
    auto inside = [&](Value i, ValueRange inner) { return sum(depth + 1, at.at(loop, i), from, to, inner, body); };
    if (depth == 0)
      return v.loop(from, to, 1, carried, inside);
    int64_t rest = 1;
    for (size_t i = depth; i < terms.size(); ++i)
      rest *= nest.extents[terms[i]];
    if (rest > 9)
      return v.loop(nest.extents[loop], 1, carried, inside);
    SmallVector<Value> values(carried);
    for (int64_t i = 0; i < nest.extents[loop]; ++i)
      values = sum(depth + 1, at.shifted(loop, i), from, to, values, body);
    return values;
  }

  // A copy of B's panel, one row of `panelWidth` a term, zeros beyond the last column.
  Access pack(Position at, Value from, Value to, int64_t columns) {
    auto type = MemRefType::get({termsPerBlock() * panelWidth()}, b.element);
    if (!buffer) {
      // One for the kernel's whole run on a thread; it is moved to the front of the function that the thread calls.
      buffer = memref::AllocaOp::create(v.b, v.location, type, v.b.getI64IntegerAttr(64));
      Operation *region = buffer->getParentOfType<scf::ParallelOp>();
      if (region)
        buffer->moveBefore(&region->getRegion(0).front().front());
      else
        buffer->moveBefore(&buffer->getParentOfType<func::FuncOp>().getBody().front().front());
    }
    Access packed = b;
    packed.value = buffer->getResult(0);
    packed.strides.assign(nest.numLoops(), 0);
    packed.offset = 0;
    int64_t stride = panelWidth();
    for (unsigned loop : llvm::reverse(terms)) {
      packed.strides[loop] = stride;
      stride *= nest.extents[loop];
    }
    // The panel's first column and term are its origin, wherever they lie in B.
    Access place = packed;
    place.strides[vectorLoop] = 1;
    sum(0, at, from, to, {}, [&](Position term, ValueRange) {
      Position target = relative(term, from);
      for (int64_t j = 0; j < tile.vectors; ++j) {
        int64_t valid = std::clamp<int64_t>(columns - j * v.lanes, 0, v.lanes);
        Value value = valid ? v.load(b, term.shifted(vectorLoop, j * v.lanes), valid) : v.constant(v.b.getZeroAttr(b.element));
        v.store(place, target.shifted(vectorLoop, j * v.lanes), value, v.lanes);
      }
      return SmallVector<Value>();
    });
    return place;
  }

  Position relative(Position term, Value from) {
    Position result = term;
    result.index[vectorLoop] = Value();
    result.index[terms[0]] = arith::SubIOp::create(v.b, v.location, term.index[terms[0]], from);
    return result;
  }

  void microkernel(Position at, int64_t rows, const Access &columnsOfB, Value from, Value to, int64_t columns, Value initial) {
    const Access &result = nest.outputs[0];
    int64_t vectors = ceilDiv(columns, v.lanes);
    auto valid = [&](int64_t j) { return std::min(v.lanes, columns - j * v.lanes); };
    auto point = [&](int64_t i, int64_t j) {
      Position p = at.shifted(vectorLoop, j * v.lanes);
      return rowLoop == VectorBuilder::kNoLoop ? p : p.shifted(rowLoop, i);
    };
    SmallVector<Value> sums;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < vectors; ++j)
        sums.push_back(initial ? v.splat(initial) : v.load(result, point(i, j), valid(j)));
    sums = sum(0, at, from, to, sums, [&](Position term, ValueRange carried) {
      SmallVector<Value> next(carried), ofB;
      for (int64_t j = 0; j < vectors; ++j)
        ofB.push_back(packs ? v.load(columnsOfB, relative(term, from).shifted(vectorLoop, j * v.lanes), v.lanes)
                            : v.load(columnsOfB, term.shifted(vectorLoop, j * v.lanes), valid(j)));
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
    });
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < vectors; ++j)
        v.store(result, point(i, j), sums[i * vectors + j], valid(j));
  }

  Schedule &schedule;
  const Nest &nest;
  VectorBuilder v;
  unsigned vectorLoop, rowLoop;
  const Access &a, &b;
  Tile tile;
  SmallVector<unsigned> terms, batches, others;
  unsigned numSharedOthers = 0;
  int64_t termBlock = 1, rowBlock = 1, panelBlock = 1;
  bool packs = false, isFloat = true;
  Operation *buffer = nullptr;
};

} // namespace

bool emitContraction(Schedule schedule, Nest nest) {
  if (!isMultiplyAdd(nest) || !nest.hasReduction() || nest.iterations() < 64)
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
      if (nest.isReduction[vectorLoop] || a.varies(vectorLoop) || !b.varies(vectorLoop) || result.strides[vectorLoop] != 1)
        continue;
      int64_t vectors = (nest.extents[vectorLoop] + lanes - 1) / lanes;
      auto consider = [&](unsigned rowLoop) {
        int64_t rows = rowLoop == VectorBuilder::kNoLoop ? 1 : nest.extents[rowLoop];
        Tile tile = chooseTile(rows, vectors, schedule.target);
        double cycles = tile.cycles / static_cast<double>(rows * nest.extents[vectorLoop]);
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
  // Single rows of a strided operand would be gathered to be used once.
  int64_t uses = nest.iterations() / (nest.extents[best.vectorLoop] * nest.iterations(true));
  if (b.strides[best.vectorLoop] != 1 && uses < 4)
    return false;
  Contraction(schedule, nest, best.vectorLoop, best.rowLoop, a, b, lanes, best.tile).emit();
  return true;
}

} // namespace calque::codegen
