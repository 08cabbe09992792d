#include "codegen/schedule/DotProducts.h"
#include "codegen/lowering/Constants.h"
#include "ir/ElementType.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <functional>

using namespace mlir;

namespace calque::codegen {

namespace {

// The loops over terms, without the loop over which vectors run.
SmallVector<unsigned> otherTerms(const Nest &nest, unsigned along) {
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (nest.isReduction[loop] && loop != along)
      loops.push_back(loop);
  return loops;
}

// Emits the kernel that a plan describes.
class DotProducts {
public:
  DotProducts(KernelContext &context, const Nest &nest, const DotPlan &plan)
      : context(context), nest(nest), plan(plan), v(context.builder, nest, plan.along, plan.lanes),
        a(nest.inputs[plan.operandOfA]), b(nest.inputs[1 - plan.operandOfA]), result(nest.outputs[0]),
        terms(otherTerms(nest, plan.along)), isFloat(isa<FloatType>(result.element)) {
    add = nest.body->getTerminator()->getOperand(0).getDefiningOp();
  }

  // Copies B, if the plan says so.
  Value pack() {
    if (!plan.packs)
      return {};
    int64_t elements = placeOfColumns();
    packed.value = memref::AllocOp::create(v.b, v.location, MemRefType::get({elements}, b.element));
    packColumns();
    return packed.value;
  }

  // Emits all results on this thread.
  void emitBlock(Value memory) {
    if (plan.packs) {
      placeOfColumns();
      packed.value = memory;
    }
    std::function<void(unsigned, Position)> from = [&](unsigned loop, Position at) {
      while (loop < nest.numLoops() && (nest.isReduction[loop] || loop == plan.rowLoop || loop == plan.columnLoop))
        ++loop;
      if (loop == nest.numLoops())
        return rowsOfPiece(at, v.index(0), v.valueOf(v.number(nest.extents[plan.rowLoop])));
      v.loop(v.number(nest.extents[loop]), 1, {}, [&](Value i, ValueRange) {
        from(loop + 1, at.at(loop, i));
        return SmallVector<Value>();
      });
    };
    from(0, Position(nest.numLoops()));
  }

  void emit() {
    pack();
    // Threads share the rows, and all other loops over results.
    SmallVector<std::pair<unsigned, Number>> shared;
    Number pieces = 1;
    for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
      if (!nest.isReduction[loop] && loop != plan.rowLoop && loop != plan.columnLoop) {
        shared.push_back({loop, v.number(nest.extents[loop])});
        pieces = v.multiply(pieces, shared.back().second);
      }
    Number rowExtent = v.number(nest.extents[plan.rowLoop]);
    // To read an element of A takes as long as eight multiply-adds. With fewer than eight columns, reading takes longer
    // than the multiply-adds.
    int64_t ofElement = std::max<int64_t>(8 / numColumns(), 1);
    Number work = v.multiply(v.number(nest.iterations()), ofElement);
    Number wanted = v.maximum(v.minimum(v.divide(work, context.target.pieceProducts), context.target.mostPieces), 1);
    wanted = v.ceilDivide(wanted, v.maximum(pieces, 1));
    Number rowBlock = v.maximum(v.roundUp(v.ceilDivide(rowExtent, wanted), plan.rows), plan.rows);
    shared.push_back({plan.rowLoop, v.ceilDivide(rowExtent, rowBlock)});
    pieces = v.multiply(pieces, shared.back().second);
    Number results = v.number(nest.iterations(false));
    double ofResult = plan.cycles * static_cast<double>(nest.iterations(true).guess());
    v.parallel(pieces, ofResult, v.maximum(v.divide(results, v.maximum(pieces, 1)), 1), [&](Value piece) {
      Position at(nest.numLoops());
      Value rest = piece, first;
      for (const auto &[loop, count] : llvm::reverse(shared)) {
        Value index = v.index(0);
        if (!(count == 1)) {
          index = arith::RemUIOp::create(v.b, v.location, rest, v.valueOf(count));
          rest = arith::DivUIOp::create(v.b, v.location, rest, v.valueOf(count));
        }
        if (loop == plan.rowLoop)
          first = v.valueOf(v.multiply(Number(index), rowBlock));
        else
          at.index[loop] = index;
      }
      rowsOfPiece(at, first, v.valueOf(v.minimum(v.add(Number(first), rowBlock), rowExtent)));
    });
  }

private:
  void rowsOfPiece(Position at, Value first, Value end) {
    Number count = v.subtract(Number(end), Number(first)),
           whole = v.subtract(Number(end), v.remainder(count, plan.rows));
    auto some = [&](Value from, const Number &to, int64_t rows) {
      v.loop(from, v.valueOf(to), rows, {}, [&](Value row, ValueRange) {
        columns(at.at(plan.rowLoop, row), rows);
        return SmallVector<Value>();
      });
    };
    some(first, whole, plan.rows);
    if (plan.rows > 1 && !(v.remainder(v.number(nest.extents[plan.rowLoop]), plan.rows) == 0))
      some(v.valueOf(whole), Number(end), 1);
  }

  // Emits all columns of some rows, tile by tile.
  void columns(Position at, int64_t rows) {
    int64_t rest = numColumns() % plan.columns, whole = numColumns() - rest;
    v.loop(whole, plan.columns, {}, [&](Value column, ValueRange) {
      tile(atColumn(at, column), rows, plan.columns);
      return SmallVector<Value>();
    });
    if (rest)
      tile(atColumn(at, v.index(whole)), rows, rest);
  }

  int64_t numColumns() const { return plan.hasColumns() ? *nest.extents[plan.columnLoop].known() : 1; }
  Position atColumn(const Position &at, Value column) const {
    return plan.hasColumns() ? at.at(plan.columnLoop, column) : at;
  }
  Position shiftedColumn(const Position &at, int64_t by) const {
    return plan.hasColumns() ? at.shifted(plan.columnLoop, by) : at;
  }

  void tile(Position at, int64_t rows, int64_t columns) {
    SmallVector<Value> sums = sumsOf(at, rows, columns);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        Position place = shiftedColumn(at.shifted(plan.rowLoop, i), j);
        Value total = v.horizontal(add, sums[i * columns + j]);
        Value initial = context.initial ? context.initial : v.loadScalar(result, place);
        if (!context.initial || !isFloatZero(initial))
          total = v.apply(add, initial, total);
        VectorBuilder scalars(v.b, nest, VectorBuilder::kNoLoop, 1);
        scalars.store(result, place, total, 1);
      }
  }

  // The most vectors of terms that one accumulator adds up.
  int64_t run() const { return isFloat ? kProductRun : std::numeric_limits<int64_t>::max(); }
  Number vectors() { return v.ceilDivide(v.number(nest.extents[plan.along]), plan.lanes); }

  // The sums of all terms, added up in runs. If there are many runs, their sums are added with what each addition
  // rounds away.
  SmallVector<Value> sumsOf(Position at, int64_t rows, int64_t columns) {
    constexpr int64_t kFewRuns = 8;
    auto count = static_cast<size_t>(rows * columns);
    Value zero = v.constant(v.b.getZeroAttr(result.element));
    SmallVector<Value> zeros(count, zero);
    Number runs = 1;
    for (unsigned loop : terms)
      runs = v.multiply(runs, v.number(nest.extents[loop]));
    if (runs == 1 && vectors().known && *vectors().known <= run())
      return ofRun(at, v.index(0), v.valueOf(v.number(nest.extents[plan.along])), zeros, rows, columns);
    if (isFloat)
      runs = v.multiply(runs, v.ceilDivide(vectors(), run()));
    bool isExact = isFloat && !(runs.known && *runs.known <= kFewRuns);
    SmallVector<Value> carried = zeros;
    if (isExact)
      llvm::append_range(carried, zeros);
    carried = overTerms(0, at, carried, [&](Position inside, ValueRange before) {
      Value end = v.valueOf(v.number(nest.extents[plan.along]));
      if (!isFloat)
        return ofRun(inside, v.index(0), end, before, rows, columns);
      return v.loop(v.index(0), end, plan.lanes * run(), before, [&](Value from, ValueRange sums) {
        Value to = v.valueOf(v.minimum(v.add(Number(from), plan.lanes * run()), Number(end)));
        SmallVector<Value> next(sums), own = ofRun(inside, from, to, zeros, rows, columns);
        for (size_t i = 0; i < count; ++i) {
          if (isExact) {
            VectorBuilder::ExactSum sum = v.add({sums[i], sums[count + i]}, own[i]);
            next[i] = sum.sum;
            next[count + i] = sum.error;
          } else {
            next[i] = v.apply(add, sums[i], own[i]);
          }
        }
        return next;
      });
    });
    if (isExact)
      for (size_t i = 0; i < count; ++i)
        carried[i] = VectorBuilder::ExactSum{carried[i], carried[count + i]}.total(v);
    carried.resize(count);
    return carried;
  }

  using Body = function_ref<SmallVector<Value>(Position, ValueRange)>;
  SmallVector<Value> overTerms(size_t depth, Position at, ValueRange carried, Body body) {
    if (depth == terms.size())
      return body(at, carried);
    return v.loop(v.number(nest.extents[terms[depth]]), 1, carried,
                  [&](Value i, ValueRange inner) { return overTerms(depth + 1, at.at(terms[depth], i), inner, body); });
  }

  // Adds the terms of [from, to), which lie along the vectors.
  SmallVector<Value> ofRun(Position at, Value from, Value to, ValueRange sums, int64_t rows, int64_t columns) {
    auto add = [&](Value i, ValueRange before, const Number &valid) {
      SmallVector<Value> next(before), ofA;
      Position term = at.at(plan.along, i);
      for (int64_t row = 0; row < rows; ++row)
        ofA.push_back(v.load(a, term.shifted(plan.rowLoop, row), valid));
      // Prefetches the rows of the next tile, because a row is too short for the processor to foresee the next one.
      for (int64_t row = 0; row < rows; ++row)
        v.prefetch(a, term.shifted(plan.rowLoop, rows + row));
      for (int64_t column = 0; column < columns; ++column) {
        Position place = shiftedColumn(term, column);
        Value ofB = plan.packs ? v.load(packed, place, plan.lanes) : v.load(b, place, valid);
        for (int64_t row = 0; row < rows; ++row) {
          Value &sum = next[row * columns + column];
          sum = isFloat ? vector::FMAOp::create(v.b, v.location, ofA[row], ofB, sum).getResult()
                        : v.apply(this->add, sum, productOf(v, plan.operandOfA, ofA[row], ofB));
        }
      }
      return next;
    };
    Number extent = v.number(nest.extents[plan.along]), rest = v.remainder(extent, plan.lanes);
    if (rest == 0)
      return v.loop(from, to, plan.lanes, sums, [&](Value i, ValueRange before) { return add(i, before, plan.lanes); });
    Value whole = v.valueOf(v.minimum(Number(to), v.subtract(extent, rest)));
    SmallVector<Value> all =
        v.loop(from, whole, plan.lanes, sums, [&](Value i, ValueRange before) { return add(i, before, plan.lanes); });
    return v.onlyIf(v.less(Number(whole), Number(to)), all,
                    [&](ValueRange before) { return add(whole, before, rest); });
  }

  // Sets the place of the copy of B, which is contiguous along the vectors and has zeros behind the last term. Returns
  // the number of its elements.
  int64_t placeOfColumns() {
    packed = b;
    packed.offset = 0;
    packed.unknownOffset = {};
    packed.strides.assign(nest.numLoops(), Extent(0));
    packed.strides[plan.along] = 1;
    int64_t elements = ceilDiv(*nest.extents[plan.along].known(), plan.lanes) * plan.lanes;
    auto add = [&](unsigned loop) {
      packed.strides[loop] = elements;
      elements *= *nest.extents[loop].known();
    };
    llvm::for_each(terms, add);
    if (plan.hasColumns())
      add(plan.columnLoop);
    return elements;
  }

  void packColumns() {
    int64_t extent = *nest.extents[plan.along].known();
    v.loop(numColumns(), 1, {}, [&](Value column, ValueRange) {
      return overTerms(0, atColumn(Position(nest.numLoops()), column), {}, [&](Position at, ValueRange) {
        auto copy = [&](Position place, int64_t valid) {
          Value some = v.load(b, place, valid);
          if (valid < plan.lanes)
            some =
                arith::SelectOp::create(v.b, v.location, v.mask(valid), some, v.constant(v.b.getZeroAttr(b.element)));
          v.store(packed, place, some, plan.lanes);
        };
        int64_t rest = extent % plan.lanes;
        v.loop(v.index(0), v.index(extent - rest), plan.lanes, {}, [&](Value i, ValueRange) {
          copy(at.at(plan.along, i), plan.lanes);
          return SmallVector<Value>();
        });
        if (rest)
          copy(at.at(plan.along, v.index(extent - rest)), rest);
        return SmallVector<Value>();
      });
    });
  }

  KernelContext &context;
  const Nest &nest;
  const DotPlan &plan;
  VectorBuilder v;
  const Access &a, &b;
  Access result, packed;
  SmallVector<unsigned> terms; // without the loop over which vectors run
  bool isFloat;
  Operation *add;
};

} // namespace

namespace {

// Completes a plan that has its loops: decides whether B is packed, and chooses the tile that takes the fewest cycles.
// Returns false if such loops are no dot products.
bool complete(DotPlan &plan, const Nest &nest, const Target &target) {
  const Access &a = nest.inputs[plan.operandOfA], &b = nest.inputs[1 - plan.operandOfA];
  auto isOfResults = [&](unsigned loop, const Access &one, const Access &other) {
    return !nest.isReduction[loop] && one.varies(loop) && !other.varies(loop);
  };
  if (!nest.isReduction[plan.along] || !(a.strides[plan.along] == 1) || !b.varies(plan.along) ||
      !isOfResults(plan.rowLoop, a, b))
    return false;
  if (plan.hasColumns() && (!isOfResults(plan.columnLoop, b, a) || !nest.extents[plan.columnLoop].isKnown()))
    return false;
  // The rows of a product of a matrix with a vector share nothing but the vector, and the product may be part of a
  // group. Windows do overlap, so that they gain.
  if (!plan.hasColumns() && otherTerms(nest, plan.along).empty())
    return false;
  int64_t rowExtent = nest.extents[plan.rowLoop].guess(),
          columnExtent = plan.hasColumns() ? *nest.extents[plan.columnLoop].known() : 1,
          terms = std::max<int64_t>(nest.extents[plan.along].guess(), 1), vectors = ceilDiv(terms, plan.lanes);
  if (terms < plan.lanes)
    return false;
  auto elements = static_cast<double>(columnExtent); // sizes may be larger than memory
  bool canPack = true;                               // whether one copy serves all pieces, because all read the same
  for (unsigned loop = 0; loop < nest.numLoops(); ++loop)
    if (nest.isReduction[loop]) {
      canPack &= nest.extents[loop].isKnown();
      elements *= static_cast<double>(nest.extents[loop].guess());
    } else if (loop != plan.columnLoop) {
      canPack &= !b.varies(loop);
    }
  double bytesOfColumns = elements * static_cast<double>(ir::ElementType(b.element).bytes());
  // The vectors of a copy begin at cache lines. Many rows repay the time of copying.
  constexpr int64_t kManyRows = 64;
  bool isStrided = !(b.strides[plan.along] == 1), isAligned = !isStrided && terms % plan.lanes == 0;
  plan.packs = isStrided || (canPack && !isAligned && rowExtent >= kManyRows);
  // Threads share the rows, and all columns stay in the second cache.
  if ((plan.packs && !canPack) || rowExtent < columnExtent || bytesOfColumns > static_cast<double>(target.l2Bytes) / 2)
    return false;
  // Columns that do not fit into the first cache come from the second one for each tile.
  double ofLoad = bytesOfColumns > static_cast<double>(target.l1Bytes)
                      ? static_cast<double>(target.vectorBytes) / target.bytesOfL2
                      : 0;
  double ofCopy = plan.packs ? cyclesOfCopiedElement(isStrided) * static_cast<double>(columnExtent) : 0;
  for (int64_t rows = 1; rows <= std::min<int64_t>(rowExtent, 8); ++rows)
    for (int64_t columns = 1; columns <= std::min<int64_t>(columnExtent, 16); ++columns) {
      if (rows * columns + std::min(rows, columns) + 1 > target.vectorRegisters)
        continue;
      auto ofRows = [&](int64_t count) {
        return static_cast<double>(columnExtent / columns) * cyclesOfDots(count, columns, vectors, ofLoad, target) +
               cyclesOfDots(count, columnExtent % columns, vectors, ofLoad, target);
      };
      double ofTiles =
          static_cast<double>(rowExtent / rows) * ofRows(rows) + static_cast<double>(rowExtent % rows) * ofRows(1);
      double cycles = (ofTiles / static_cast<double>(terms) + ofCopy) /
                      (static_cast<double>(rowExtent) * static_cast<double>(columnExtent));
      if (cycles < plan.cycles * 0.999) {
        plan.rows = rows;
        plan.columns = columns;
        plan.cycles = cycles;
      }
    }
  return true;
}

} // namespace

std::optional<DotPlan> DotPlan::of(const Nest &nest, const Target &target) {
  if (!isSumOfProducts(nest) || !nest.hasReduction() || nest.iterations().guess() < 64)
    return std::nullopt;
  std::optional<DotPlan> best;
  for (int operandOfA : {0, 1})
    for (unsigned along = 0; along < nest.numLoops(); ++along)
      for (unsigned rowLoop = 0; rowLoop < nest.numLoops(); ++rowLoop)
        for (unsigned columnLoop = 0; columnLoop <= nest.numLoops(); ++columnLoop) {
          DotPlan plan;
          plan.operandOfA = operandOfA;
          plan.along = along;
          plan.rowLoop = rowLoop;
          plan.columnLoop = columnLoop < nest.numLoops() ? columnLoop : VectorBuilder::kNoLoop;
          plan.lanes = KernelContext::lanesFor(nest, target);
          if (complete(plan, nest, target) && !(best && best->cycles <= plan.cycles))
            best = plan;
        }
  return best;
}

std::string DotPlan::text() const {
  std::string result;
  llvm::raw_string_ostream(result) << "dot products, tiles of " << rows << " x " << columns << " results, vectors of "
                                   << lanes << " along the terms" << (packs ? "; columns packed once" : "");
  return result;
}

void emitDotProducts(KernelContext context, const Nest &nest, const DotPlan &plan) {
  if (context.plan)
    *context.plan = plan.text();
  DotProducts(context, nest, plan).emit();
}

Value packColumns(KernelContext context, const Nest &nest, const DotPlan &plan) {
  return DotProducts(context, nest, plan).pack();
}

void emitBlockOfDotProducts(KernelContext context, const Nest &nest, const DotPlan &plan, Value packed) {
  DotProducts(context, nest, plan).emitBlock(packed);
}

} // namespace calque::codegen
