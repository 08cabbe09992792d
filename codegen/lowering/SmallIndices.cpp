// Reads and updates at indices in small code. A value in registers has no places: each of its elements is chosen or
// kept.
#include "codegen/lowering/Indices.h"
#include "codegen/lowering/Reductions.h"
#include "codegen/lowering/SmallEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

using Ints = SmallVector<int64_t>;

Value SmallEmitter::checked(Value index, Size bound, int32_t site) {
  std::optional<int64_t> known = constantOf(bound), at = getConstantIntValue(index);
  if (known && at && *at >= 0 && *at < *known)
    return this->index(*at);
  Type i64 = builder.getI64Type();
  Value wide = s.castTo(index, i64);
  Value given = known ? Value() : context.sizes.value(bound);
  Value limit = known ? s.constant(*known, i64) : arith::IndexCastOp::create(builder, location, i64, given).getResult();
  failIf(arith::CmpIOp::create(builder, location, arith::CmpIPredicate::uge, wide, limit), site, wide, limit);
  return clampIndex(s, wide, bound, given);
}

int32_t SmallEmitter::indexSite(Operation *op) {
  int32_t site = context.addSite(Site::Kind::IndexOutOfRange, op);
  if (auto examples = op->getAttrOfType<DenseI64ArrayAttr>(ir::kExamplesAttr))
    context.sites.back().examples.assign(examples.asArrayRef().begin(), examples.asArrayRef().end());
  return site;
}

Value SmallEmitter::isAt(Value position, int64_t place) {
  return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, position, index(place));
}

SmallValue SmallEmitter::gather(ir::GatherOp op, const SmallValue &x, const SmallValue &indices) {
  ArrayRef<int64_t> from = dimsOf(op.getX());
  const int64_t axis = normalAxis(op.getAxis(), static_cast<int64_t>(from.size()));
  const auto indexRank = LinalgBuilder::rankOf(op.getIndices());
  Size bound = x.isArray() ? x.sizes[static_cast<size_t>(axis)] : context.sizes.constant(from[axis]);
  const int32_t site = indexSite(op);
  SmallVector<Value> places =
      llvm::map_to_vector(indices.elements, [&](Value each) { return checked(each, bound, site); });
  if (!isSmall(op.getResult())) { // a slice
    SmallValue slice = x;
    slice.places.push_back(places[0]);
    slice.sizes.erase(slice.sizes.begin());
    return slice;
  }
  // An array without elements has room for one.
  Value isEmpty;
  if (x.isArray() && !constantOf(bound))
    isEmpty = isAt(context.sizes.value(bound), 0);
  SmallValue result;
  forEachIndex(dimsOf(op.getResult()), [&](ArrayRef<int64_t> index) {
    Value place = places[static_cast<size_t>(linear(index.slice(axis, indexRank), dimsOf(op.getIndices())))];
    Ints at(index.take_front(axis));
    at.push_back(0);
    llvm::append_range(at, index.drop_front(axis + indexRank));
    if (x.isArray()) {
      SmallVector<Value> position = this->indices(at);
      position[axis] = place;
      if (isEmpty)
        for (Value &each : position)
          each = s.select(isEmpty, this->index(0), each);
      result.elements.push_back(load(x, position));
      return;
    }
    if (std::optional<int64_t> known = getConstantIntValue(place)) {
      at[axis] = *known;
      result.elements.push_back(x.elements[static_cast<size_t>(linear(at, from))]);
      return;
    }
    Value chosen;
    for (at[axis] = 0; at[axis] < from[axis]; ++at[axis]) {
      Value element = x.elements[static_cast<size_t>(linear(at, from))];
      chosen = chosen ? s.select(isAt(place, at[axis]), element, chosen) : element;
    }
    result.elements.push_back(chosen);
  });
  return result;
}

SmallValue SmallEmitter::put(ir::GatherPutOp op, const SmallValue &slices, const SmallValue &indices) {
  ArrayRef<int64_t> into = dimsOf(op.getResult()), from = dimsOf(op.getSlices());
  const int64_t axis = normalAxis(op.getAxis(), static_cast<int64_t>(into.size()));
  const auto indexRank = LinalgBuilder::rankOf(op.getIndices());
  const int32_t site = indexSite(op);
  SmallVector<Value> places = llvm::map_to_vector(
      indices.elements, [&](Value each) { return checked(each, context.sizes.constant(into[axis]), site); });
  SmallValue result;
  result.elements.assign(static_cast<size_t>(countOf(op.getResult())),
                         s.constant(std::int64_t(0), scalarType(op.getResult())));
  forEachIndex(from, [&](ArrayRef<int64_t> index) {
    Value place = places[static_cast<size_t>(linear(index.slice(axis, indexRank), dimsOf(op.getIndices())))];
    Value slice = slices.elements[static_cast<size_t>(linear(index, from))];
    std::optional<int64_t> known = getConstantIntValue(place);
    Ints at(index.take_front(axis));
    at.push_back(0);
    llvm::append_range(at, index.drop_front(axis + indexRank));
    for (at[axis] = 0; at[axis] < into[axis]; ++at[axis]) {
      if (known && *known != at[axis])
        continue;
      Value &element = result.elements[static_cast<size_t>(linear(at, into))];
      Value sum = s.add(element, slice);
      element = known ? sum : s.select(isAt(place, at[axis]), sum, element);
    }
  });
  return result;
}

void SmallEmitter::store(ArrayRef<Size> bounds, llvm::function_ref<void(SmallEmitter &)> write) {
  Value isEmpty;
  for (Size bound : bounds)
    if (!constantOf(bound)) {
      Value has = isAt(context.sizes.value(bound), 0);
      isEmpty = isEmpty ? s.logicalOr(isEmpty, has) : has;
    }
  if (!isEmpty)
    return write(*this);
  scf::IfOp::create(builder, location, s.logicalNot(isEmpty), [&](OpBuilder &then, Location) {
    SmallEmitter inside{then, location, context};
    write(inside);
    scf::YieldOp::create(then, location);
  });
}

SmallValue SmallEmitter::update(ir::UpdateAtOp op, const SmallValue &x, const SmallValue &position,
                                const SmallValue &slice) {
  ArrayRef<int64_t> shape = dimsOf(op.getX());
  const int64_t axis = normalAxis(op.getAxis(), static_cast<int64_t>(shape.size()));
  Size bound = x.isArray() ? x.sizes[static_cast<size_t>(axis)] : context.sizes.constant(shape[axis]);
  Value place = checked(position.elements[0], bound, indexSite(op));
  ArrayRef<int64_t> part = dimsOf(op.getSlice());
  if (x.isArray()) {
    store(bound, [&](SmallEmitter &inside) {
      forEachIndex(part, [&](ArrayRef<int64_t> index) {
        SmallVector<Value> at = inside.indices(index);
        at.insert(at.begin() + axis, place);
        memref::StoreOp::create(inside.builder, location, slice.elements[static_cast<size_t>(linear(index, part))],
                                x.buffer, at);
      });
    });
    return x;
  }
  SmallValue result;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    Ints rest(index);
    rest.erase(rest.begin() + axis);
    Value made = slice.elements[static_cast<size_t>(linear(rest, part))],
          old = x.elements[static_cast<size_t>(linear(index, shape))];
    std::optional<int64_t> known = getConstantIntValue(place);
    result.elements.push_back(known ? (*known == index[axis] ? made : old)
                                    : s.select(isAt(place, index[axis]), made, old));
  });
  return result;
}

// The places along the named dimensions, checked, of each index in order.
static SmallVector<SmallVector<Value>> placesOf(SmallEmitter &emitter, Operation *op, const NamedSlices &named,
                                                const SmallValue &x, const SmallValue &indices) {
  const size_t count = named.numNamed();
  const int32_t site = emitter.indexSite(op);
  ArrayRef<int64_t> shape = dimsOf(named.x);
  SmallVector<SmallVector<Value>> places;
  for (auto [i, each] : llvm::enumerate(indices.elements)) {
    const size_t axis = i % count;
    if (axis == 0)
      places.emplace_back();
    Size bound = x.isArray() ? x.sizes[axis] : emitter.context.sizes.constant(shape[axis]);
    places.back().push_back(emitter.checked(each, bound, site));
  }
  return places;
}

SmallValue SmallEmitter::gatherNamed(Operation *op, const NamedSlices &named, const SmallValue &x,
                                     const SmallValue &indices) {
  ArrayRef<int64_t> whole = dimsOf(named.x), part = whole.drop_front(named.numNamed());
  Value isEmpty; // an array without elements has room for one
  if (x.isArray())
    for (Size bound : ArrayRef(x.sizes).take_front(named.numNamed()))
      if (!constantOf(bound)) {
        Value has = isAt(context.sizes.value(bound), 0);
        isEmpty = isEmpty ? s.logicalOr(isEmpty, has) : has;
      }
  SmallValue result;
  for (ArrayRef<Value> place : placesOf(*this, op, named, x, indices))
    forEachIndex(part, [&](ArrayRef<int64_t> rest) {
      if (x.isArray()) {
        SmallVector<Value> at(place);
        llvm::append_range(at, this->indices(rest));
        if (isEmpty)
          for (Value &each : at)
            each = s.select(isEmpty, index(0), each);
        result.elements.push_back(load(x, at));
        return;
      }
      Value chosen;
      forEachIndex(whole.take_front(named.numNamed()), [&](ArrayRef<int64_t> first) {
        Ints at(first);
        llvm::append_range(at, rest);
        Value element = x.elements[static_cast<size_t>(linear(at, whole))];
        chosen = chosen ? selectAt(place, first, element, chosen) : element;
      });
      result.elements.push_back(chosen);
    });
  return result;
}

SmallValue SmallEmitter::updateNamed(Operation *op, const NamedSlices &named, const SmallValue &x,
                                     const SmallValue &indices, const SmallValue &updates) {
  ArrayRef<int64_t> whole = dimsOf(named.x), part = whole.drop_front(named.numNamed());
  const auto places = placesOf(*this, op, named, x, indices);
  auto next = updates.elements.begin();
  SmallValue result = x;
  auto write = [&](SmallEmitter &inside) {
    ir::ScalarBuilder elements = inside.s.of(op);
    for (ArrayRef<Value> place : places)
      forEachIndex(part, [&](ArrayRef<int64_t> rest) {
        Value update = *next++;
        if (x.isArray()) {
          SmallVector<Value> at(place);
          llvm::append_range(at, inside.indices(rest));
          Value old = memref::LoadOp::create(inside.builder, location, x.buffer, at);
          memref::StoreOp::create(inside.builder, location, named.combine(elements, old, update), x.buffer, at);
          return;
        }
        forEachIndex(whole.take_front(named.numNamed()), [&](ArrayRef<int64_t> first) {
          Ints at(first);
          llvm::append_range(at, rest);
          Value &element = result.elements[static_cast<size_t>(linear(at, whole))];
          element = selectAt(place, first, named.combine(elements, element, update), element);
        });
      });
  };
  if (x.isArray())
    store(ArrayRef(x.sizes).take_front(named.numNamed()), write);
  else
    write(*this);
  return result;
}

Value SmallEmitter::selectAt(ArrayRef<Value> place, ArrayRef<int64_t> at, Value there, Value elsewhere) {
  Value isThere;
  for (auto [along, index] : llvm::zip_equal(place, at)) {
    if (std::optional<int64_t> known = getConstantIntValue(along)) {
      if (*known != index)
        return elsewhere;
      continue;
    }
    Value is = isAt(along, index);
    isThere = isThere ? s.logicalAnd(isThere, is) : is;
  }
  return isThere ? s.select(isThere, there, elsewhere) : there;
}

Value SmallEmitter::selectAt(Value place, int64_t at, Value there, Value elsewhere) {
  if (std::optional<int64_t> known = getConstantIntValue(place))
    return *known == at ? there : elsewhere;
  return s.select(isAt(place, at), there, elsewhere);
}

// The row of x, or of zeros, that an element of the indices is about, has this place in x at an index of the axis.
static int64_t placeAlong(ArrayRef<int64_t> index, int64_t axis, int64_t at, ArrayRef<int64_t> shape) {
  Ints place(index);
  place[static_cast<size_t>(axis)] = at;
  return linear(place, shape);
}

SmallValue SmallEmitter::takeAlongAxis(ir::TakeAlongAxisOp op, const SmallValue &x, const SmallValue &indices) {
  ArrayRef<int64_t> from = dimsOf(op.getX()), into = dimsOf(op.getIndices());
  const int64_t axis = normalAxis(op.getAxis(), static_cast<int64_t>(from.size()));
  const int32_t site = indexSite(op);
  SmallValue result;
  forEachIndex(into, [&](ArrayRef<int64_t> index) {
    Value place =
        checked(indices.elements[static_cast<size_t>(linear(index, into))], context.sizes.constant(from[axis]), site);
    Value chosen;
    for (int64_t at = 0; at < from[axis]; ++at) {
      Value element = x.elements[static_cast<size_t>(placeAlong(index, axis, at, from))];
      chosen = chosen ? selectAt(place, at, element, chosen) : element;
    }
    result.elements.push_back(chosen);
  });
  return result;
}

SmallValue SmallEmitter::putAlongAxis(ir::PutAlongAxisOp op, const SmallValue &x, const SmallValue &indices) {
  ArrayRef<int64_t> into = dimsOf(op.getResult()), from = dimsOf(op.getIndices());
  const int64_t axis = normalAxis(op.getAxis(), static_cast<int64_t>(into.size()));
  const int32_t site = indexSite(op);
  SmallValue result;
  result.elements.assign(static_cast<size_t>(countOf(op.getResult())),
                         s.constant(std::int64_t(0), scalarType(op.getResult())));
  forEachIndex(from, [&](ArrayRef<int64_t> index) {
    const auto k = static_cast<size_t>(linear(index, from));
    Value place = checked(indices.elements[k], context.sizes.constant(into[axis]), site);
    for (int64_t at = 0; at < into[axis]; ++at) {
      Value &element = result.elements[static_cast<size_t>(placeAlong(index, axis, at, into))];
      element = selectAt(place, at, s.add(element, x.elements[k]), element);
    }
  });
  return result;
}

SmallValue SmallEmitter::argExtreme(Operation *op, int64_t axis, bool largest, const SmallValue &x) {
  ArrayRef<int64_t> from = dimsOf(op->getOperand(0));
  axis = normalAxis(axis, static_cast<int64_t>(from.size()));
  ir::ScalarBuilder elements = s.of(op);
  Ints into(from);
  into.erase(into.begin() + axis);
  SmallValue result;
  forEachIndex(into, [&](ArrayRef<int64_t> index) {
    Ints row(index);
    row.insert(row.begin() + axis, 0);
    Value best, place;
    for (int64_t at = 0; at < from[axis]; ++at) {
      Value element = x.elements[static_cast<size_t>(placeAlong(row, axis, at, from))];
      if (!best) {
        best = element;
        place = word(0);
        continue;
      }
      Value isBetter = largest ? elements.less(best, element) : elements.less(element, best);
      if (isa<FloatType>(element.getType()))
        isBetter = s.logicalOr(isBetter, isFirstNaN(s, best, element));
      best = s.select(isBetter, element, best);
      place = s.select(isBetter, word(at), place);
    }
    result.elements.push_back(place);
  });
  return result;
}

} // namespace calque::codegen
