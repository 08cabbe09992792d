// Packs panels of a contraction's operand B, so that a tile reads a panel as vectors that lie one after the other.
#include "codegen/schedule/Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <algorithm>
#include <functional>

using namespace mlir;

namespace calque::codegen {

Value threadMemory(OpBuilder &builder, Location location, MemRefType type) {
  // The memory is allocated at the front of the function that the thread runs.
  if (auto loop = builder.getInsertionBlock()->getParentOp();
      isa<scf::ParallelOp>(loop) || loop->getParentOfType<scf::ParallelOp>()) {
    auto buffer = memref::AllocaOp::create(builder, location, type, builder.getI64IntegerAttr(64));
    buffer->moveBefore(&buffer->getParentOfType<scf::ParallelOp>()->getRegion(0).front().front());
    return buffer;
  }
  auto buffer = memref::AllocOp::create(builder, location, type);
  if (Operation *outermost = buffer->getParentOfType<func::FuncOp>().getBody().front().findAncestorOpInBlock(*buffer);
      outermost != buffer)
    buffer->moveBefore(outermost);
  return buffer;
}

Access Contraction::placeOfPanel() {
  auto type = MemRefType::get({plan.termsPerBlock() * panelWidth()}, b.element);
  if (!buffer)
    buffer = threadMemory(v.b, v.location, type);
  return placeIn(buffer);
}

Access Contraction::pack(Position at, Value from, Value to, const Number &columns) {
  Access place = placeOfPanel();
  packInto(place, at, from, to, columns);
  return place;
}

void Contraction::packRows(Position at, Piece piece, Value from, Value to) {
  if (!rowBuffer)
    rowBuffer = threadMemory(
        v.b, v.location,
        MemRefType::get({ceilDiv(*rowBlock.known, tile.rows) * tile.rows * plan.termsPerBlock()}, a.element));
  firstRow = arith::MulIOp::create(v.b, v.location, piece.ofRows, v.valueOf(rowBlock));
  Value end = arith::AddIOp::create(v.b, v.location, firstRow, v.valueOf(rowBlock));
  Number rest = v.remainder(rowExtent, tile.rows), fullRows = v.subtract(rowExtent, rest);
  VectorBuilder rows(v.b, nest, rowLoop, packedRows());
  auto some = [&](Position term, Value row, int64_t count) {
    Position target = relative(term, from);
    target.index[rowLoop] = Value();
    rows.store(placeOfRows(row), target, rows.load(a, term.at(rowLoop, row), count), count);
  };
  auto ofTile = [&](Position inside, Value first, Value last, Value row, int64_t count) {
    v.loop(first, last, 1, {}, [&](Value i, ValueRange) {
      some(inside.at(terms.back(), i), row, count);
      return SmallVector<Value>();
    });
  };
  // Packs all tiles for a few terms at a time, so that the first cache keeps the lines that tiles share.
  constexpr int64_t kTerms = 16;
  v.loop(from, to, kTerms, {}, [&](Value first, ValueRange) {
    Value last = v.valueOf(v.minimum(v.add(Number(first), kTerms), Number(to)));
    v.loop(firstRow, v.valueOf(v.minimum(Number(end), fullRows)), tile.rows, {}, [&](Value row, ValueRange) {
      ofTile(at, first, last, row, tile.rows);
      return SmallVector<Value>();
    });
    if (!(rest == 0))
      v.onlyIf(arith::CmpIOp::create(v.b, v.location, arith::CmpIPredicate::sgt, end, v.valueOf(fullRows)),
               [&] { ofTile(at, first, last, v.valueOf(fullRows), *rest.known); });
    return SmallVector<Value>();
  });
}

Access Contraction::placeOfRows(Value row) {
  Access place = a;
  place.value = rowBuffer;
  place.offset = 0;
  place.strides.assign(nest.numLoops(), Extent(0));
  int64_t stride = tile.rows;
  for (unsigned loop : llvm::reverse(terms)) {
    place.strides[loop] = stride;
    stride *= nest.extents[loop].known().value_or(1); // only the outermost may be unknown, whose product is not used
  }
  place.strides[rowLoop] = 1;
  Number tiles = v.divide(Number(arith::SubIOp::create(v.b, v.location, row, firstRow)), tile.rows);
  place.unknownOffset = v.valueOf(v.multiply(tiles, plan.termsPerBlock() * tile.rows));
  return place;
}

void Contraction::packAll() {
  int64_t size = *numPanels.known * panelWidth() * *nest.iterations(true).known();
  all = memref::AllocOp::create(v.b, v.location, MemRefType::get({size}, b.element));
  // Threads share panels, and parts of the terms if there are many.
  constexpr int64_t kTermsOfPart = 256;
  Number extent = v.number(nest.extents[terms[0]]);
  int64_t length = std::max<int64_t>(kTermsOfPart / plan.innerTerms, 1);
  Number parts = v.ceilDivide(extent, length);
  double cycles = static_cast<double>(tile.vectors * plan.innerTerms * length) * (b.strides[vectorLoop] == 1 ? 2 : 8);
  v.parallel(v.multiply(numPanels, parts), cycles, 1, [&](Value number) {
    Value panel = arith::DivUIOp::create(v.b, v.location, number, v.valueOf(parts));
    Value part = arith::RemUIOp::create(v.b, v.location, number, v.valueOf(parts));
    Value from = arith::MulIOp::create(v.b, v.location, part, v.index(length));
    Value to = v.valueOf(v.minimum(v.add(Number(from), length), extent));
    Value column = arith::MulIOp::create(v.b, v.location, panel, v.index(panelWidth()));
    Position at(nest.numLoops());
    at.index[vectorLoop] = column;
    Number rest = v.remainder(columnExtent, panelWidth());
    auto some = [&](const Number &columns) { packInto(partOfAll(column, from), at, from, to, columns); };
    if (rest == 0 || numPanels == 1)
      return some(rest == 0 ? Number(panelWidth()) : rest);
    Number whole = v.divide(columnExtent, panelWidth());
    v.either(v.less(Number(panel), whole), [&] { some(panelWidth()); }, [&] { some(rest); });
  });
}

Access Contraction::partOfAll(Value column, Value from) {
  Access place = placeIn(all);
  Number start = v.add(v.multiply(Number(column), v.number(nest.iterations(true))),
                       v.multiply(Number(from), plan.innerTerms * panelWidth()));
  place.unknownOffset = v.valueOf(start);
  return place;
}

Access Contraction::placeIn(Value memory) const {
  Access packed = b;
  packed.value = memory;
  packed.strides.assign(nest.numLoops(), Extent(0));
  packed.offset = 0;
  packed.unknownOffset = {};
  int64_t stride = panelWidth();
  for (unsigned loop : llvm::reverse(terms)) {
    packed.strides[loop] = stride;
    stride *= nest.extents[loop].known().value_or(1); // only the outermost may be unknown, whose product is not used
  }
  packed.strides[vectorLoop] = 1;
  return packed;
}

void Contraction::packInto(const Access &place, Position at, Value from, Value to, const Number &columns) {
  auto contiguous = llvm::find_if(terms, [&](unsigned loop) { return b.strides[loop] == 1; });
  if (!(b.strides[vectorLoop] == 1) && contiguous != terms.end() && nest.extents[*contiguous].guess() >= v.lanes) {
    packTransposed(at, from, to, columns, place, *contiguous);
    return;
  }
  sum(0, at, from, to, {}, [&](Position term, ValueRange) {
    Position target = relative(term, from);
    for (int64_t j = 0; j < tile.vectors; ++j) {
      Number valid = validIn(columns, j);
      Value value =
          valid == 0 ? v.constant(v.b.getZeroAttr(b.element)) : v.load(b, term.shifted(vectorLoop, j * v.lanes), valid);
      v.store(place, target.shifted(vectorLoop, j * v.lanes), value, v.lanes);
    }
    return SmallVector<Value>();
  });
}

void Contraction::packTransposed(Position at, Value from, Value to, const Number &columns, const Access &place,
                                 unsigned along) {
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

void Contraction::packVector(Position at, Value from, Value first, Value last, Value column, const Number &columns,
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
  // Each vector consists of `parts` parts, each with `length` elements.
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
      // Columns beyond the last one repeat the last one.
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

Number Contraction::validIn(const Number &columns, int64_t j) {
  if (columns.known)
    return std::clamp<int64_t>(*columns.known - j * v.lanes, 0, v.lanes);
  return v.subtract(columns, j * v.lanes);
}

Position Contraction::relative(Position term, Value from) {
  Position result = term;
  result.index[vectorLoop] = Value();
  result.index[terms[0]] = arith::SubIOp::create(v.b, v.location, term.index[terms[0]], from);
  return result;
}

} // namespace calque::codegen
