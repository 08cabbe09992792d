// A loop along contiguous rows that carries numbers from element to element, as in a cumulative sum along the last
// axis. Each lane of a vector goes along one row. Squares of elements are transposed in registers, so that loads and
// stores are vectors along the rows.
#include "codegen/schedule/Plans.h"
#include "codegen/schedule/StoringNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;

namespace calque::codegen {

namespace {

class CarriedLoop : StoringNest {
public:
  using StoringNest::StoringNest;

  // Analyses the loops. Returns whether they are such a loop.
  bool read() {
    if (!findLoops())
      return false;
    carrying = dyn_cast<scf::ForOp>(body->front());
    if (!carrying || carrying->getNextNode() != body->getTerminator() || carrying.getNumResults() == 0 ||
        getConstantIntValue(carrying.getLowerBound()) != 0 || getConstantIntValue(carrying.getStep()) != 1 ||
        !isOutside(carrying.getUpperBound()) ||
        !llvm::all_of(carrying.getResults(), [](Value result) { return result.use_empty(); }) ||
        !llvm::all_of(carrying.getInitArgs(), [&](Value initial) { return isOutside(initial); }))
      return false;
    addLoop(carrying, /*isOrdered=*/true);
    if (!readBody())
      return false;
    mergeLoops();
    return isCarriedInSquares();
  }

  plan::CarriedAttr choose() {
    if (!read() || mostLanes < 4 || nest.extents[rowLoop()].guess() < mostLanes ||
        nest.extents[axisLoop()].guess() < mostLanes)
      return {};
    return plan::CarriedAttr::get(b.getContext(), mostLanes);
  }

  LogicalResult emit(plan::CarriedAttr plan, std::string &text) {
    if (!read())
      return outermost.emitOpError("plan: the loops carry no numbers along contiguous rows");
    lanes = plan.getLanes();
    if (lanes < 2 || lanes > mostLanes || !llvm::isPowerOf2_64(static_cast<uint64_t>(lanes)))
      return outermost.emitOpError("plan: ")
             << lanes << " rows are none that go along together; there are a power of two of them, from 2 to "
             << mostLanes;
    text += StoringNest::text() + "; vectors of " + std::to_string(lanes) + " rows, transposed in registers";
    emitSquares();
    return success();
  }

private:
  unsigned rowLoop() const { return nest.numLoops() - 2; }
  unsigned axisLoop() const { return nest.numLoops() - 1; }
  bool isAcross(const Touch &touch) const { return !(touch.access.strides[rowLoop()] == 1); }

  bool isCarriedInSquares() {
    if (nest.numLoops() < 2 || llvm::is_contained(ArrayRef(nest.isReduction).drop_back(), true) || isAsked.any())
      return false;
    unsigned bits = 32;
    for (Value carried : carrying.getInitArgs())
      bits = std::max(bits, carried.getType().getIntOrFloatBitWidth());
    for (const Touch &touch : touches) {
      bits = std::max(bits, touch.access.element.getIntOrFloatBitWidth());
      Extent along = touch.access.strides[axisLoop()];
      bool isRow = along == 1 || along == -1;
      if (!touch.access.varies(rowLoop()) || (isAcross(touch) && !isRow) || touch.access.element.isInteger(1) ||
          llvm::any_of(touch.computed, [&](const Touch::Part &part) { return !isOutside(part.value); }))
        return false;
    }
    mostLanes = target.vectorBytes * 8 / bits;
    return mostLanes >= 2;
  }

  void emitSquares() {
    VectorBuilder made(b, nest, location, rowLoop(), lanes), along(b, nest, location, axisLoop(), lanes),
        ofScalars(b, nest, location, VectorBuilder::kNoLoop, 1);
    v = &made;
    scalars = &ofScalars;
    Number rows = v->number(nest.extents[rowLoop()]), blocks = v->ceilDivide(rows, lanes);
    auto others = llvm::to_vector(llvm::seq<unsigned>(0, rowLoop()));
    Number pieces = v->multiply(v->number(iterationsOf(others)), blocks);
    double cycles = 2 * static_cast<double>(lanes);
    v->parallel(pieces, cycles, v->number(nest.extents[axisLoop()]), [&](Value piece) {
      Position at(nest.numLoops());
      Number first = v->multiply(v->remainder(Number(piece), blocks), lanes);
      if (!others.empty())
        at = placeIn(others, v->valueOf(v->divide(Number(piece), blocks)), at);
      Number end = v->add(first, lanes);
      auto square = [&] { rowsTogether(along, at.at(rowLoop(), v->valueOf(first))); };
      if (rows.known && *rows.known % lanes == 0)
        return square();
      v->either(
          v->less(rows, end),
          [&] {
            v->loop(v->valueOf(first), v->valueOf(rows), 1, {}, [&](Value row, ValueRange) {
              columns(*scalars, at.at(rowLoop(), row), 0, SmallVector<Value>(carrying.getInitArgs()));
              return SmallVector<Value>();
            });
          },
          square);
    });
  }

  // Emits the elements of the rows from column `first` on, column by column.
  void columns(VectorBuilder &w, const Position &at, const Number &first, ValueRange carried) {
    Number end = w.number(nest.extents[axisLoop()]);
    if (first.known && end.known && *first.known == *end.known)
      return;
    w.loop(w.valueOf(first), w.valueOf(end), 1, carried, [&](Value column, ValueRange state) {
      IRMapping mapping;
      mapping.map(carrying.getRegionIterArgs(), state);
      for (Operation &op : body->without_terminator())
        if (needed.contains(&op))
          emitOp(&op, w, at.at(axisLoop(), column), w.lanes, mapping);
      return yielded(w, mapping);
    });
  }
  SmallVector<Value> yielded(VectorBuilder &w, const IRMapping &mapping) {
    return llvm::map_to_vector(body->getTerminator()->getOperands(), [&](Value value) {
      Value found = mapping.lookupOrDefault(value);
      return isa<VectorType>(found.getType()) ? found : w.splat(found);
    });
  }

  void rowsTogether(VectorBuilder &along, const Position &at) {
    SmallVector<Value> start =
        llvm::map_to_vector(carrying.getInitArgs(), [&](Value initial) { return v->splat(initial); });
    Number end = v->number(nest.extents[axisLoop()]), whole = v->multiply(v->divide(end, lanes), lanes);
    auto isTurned = [&](const Touch &touch) { return touch.access.strides[axisLoop()] == -1; };
    // The address of row i of a square, counted from the lowest address on.
    auto addressOf = [&](const Touch &touch, const Position &corner, int64_t i) {
      Position row = corner.shifted(rowLoop(), i);
      return scalars->scalarAddress(accessOf(touch, IRMapping()),
                                    isTurned(touch) ? row.shifted(axisLoop(), lanes - 1) : row);
    };
    SmallVector<Value> carried =
        v->loop(v->index(0), v->valueOf(whole), lanes, start, [&](Value column, ValueRange initial) {
          Position corner = at.at(axisLoop(), column);
          llvm::DenseMap<Operation *, SmallVector<Value>> squares; // each column's loaded or stored values
          for (const Touch &touch : touches) {
            if (touch.isStore || !needed.contains(touch.op) || !isAcross(touch))
              continue;
            SmallVector<Value> &square = squares[touch.op];
            for (int64_t i = 0; i < lanes; ++i)
              square.push_back(vector::LoadOp::create(b, location, cast<VectorType>(along.typeOf(touch.access.element)),
                                                      touch.access.value, addressOf(touch, corner, i)));
            along.transpose(square);
            if (isTurned(touch))
              std::reverse(square.begin(), square.end());
          }
          SmallVector<Value> state(initial);
          for (int64_t k = 0; k < lanes; ++k) {
            IRMapping mapping;
            mapping.map(carrying.getRegionIterArgs(), state);
            for (Operation &op : body->without_terminator()) {
              if (!needed.contains(&op))
                continue;
              const Touch *touch = touchOf(&op);
              if (!touch || !isAcross(*touch)) {
                emitOp(&op, *v, corner.shifted(axisLoop(), k), lanes, mapping);
              } else if (touch->isStore) {
                Value value = mapping.lookupOrDefault(cast<memref::StoreOp>(op).getValueToStore());
                squares[&op].push_back(isa<VectorType>(value.getType()) ? value : v->splat(value));
              } else {
                mapping.map(op.getResult(0), squares[&op][static_cast<size_t>(k)]);
              }
            }
            state = yielded(*v, mapping);
          }
          for (const Touch &touch : touches) {
            if (!touch.isStore || !isAcross(touch))
              continue;
            SmallVector<Value> &square = squares[touch.op];
            if (isTurned(touch))
              std::reverse(square.begin(), square.end());
            along.transpose(square);
            for (int64_t i = 0; i < lanes; ++i)
              vector::StoreOp::create(b, location, square[static_cast<size_t>(i)], touch.access.value,
                                      addressOf(touch, corner, i));
          }
          return state;
        });
    columns(*v, at, whole, carried);
  }

  scf::ForOp carrying;
  int64_t lanes = 1, mostLanes = 1;
  VectorBuilder *v = nullptr, *scalars = nullptr;
};

} // namespace

plan::CarriedAttr chooseCarriedPlan(scf::ForOp outermost, const Target &target, const OpBuilder &builder) {
  return CarriedLoop(outermost, target, builder).choose();
}

LogicalResult emitCarriedLoop(scf::ForOp outermost, plan::CarriedAttr plan, const Target &target, std::string &text) {
  return CarriedLoop(outermost, target, OpBuilder(outermost)).emit(plan, text);
}

} // namespace calque::codegen
