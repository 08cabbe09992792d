// Operations whose indices name several dimensions.
#include "codegen/lowering/Indices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace calque::codegen {

namespace {

// The dimensions of a tensor that indices name, and the slices at them.
struct Named {
  Named(LinalgBuilder &b, Operation *op, Value x, Value indices, LoweringContext &context) : b(b), indices(indices) {
    SizeList whole = b.sizesOf(x), ofIndices = b.sizesOf(indices);
    const auto count = static_cast<size_t>(*constantOf(ofIndices.back()));
    bounds.assign(whole.begin(), whole.begin() + count);
    slices.assign(ofIndices.begin(), ofIndices.end() - 1);
    indexRank = slices.size();
    llvm::append_range(slices, ArrayRef(whole).drop_front(count));
    checkIndices(b, op, indices, bounds, context);
    for (Size bound : bounds)
      given.push_back(constantOf(bound) ? Value() : b.valueOf(bound));
    // Of the known sizes of these dimensions none is 0, so that the others say whether there are slices.
    if (llvm::any_of(given, [](Value value) { return static_cast<bool>(value); }))
      product = b.valueOf(b.sizes.product(bounds));
  }

  // Any index into nothing has failed the check already.
  bool areNone() const {
    return llvm::any_of(bounds, [](Size size) { return constantOf(size) == 0; });
  }

  // Whether a loop over the slices goes along a slice, not from one to the next.
  bool isOfSlices(size_t loop) const { return loop >= indexRank && loop < slices.size(); }

  // The place in the tensor of the element of the slices at `at`.
  SmallVector<Value> placeOf(OpBuilder &builder, ValueRange at) const {
    SmallVector<Value> read(at.take_front(indexRank)), found;
    read.emplace_back();
    for (size_t i = 0; i < bounds.size(); ++i) {
      read.back() = arith::ConstantIndexOp::create(builder, b.location, static_cast<int64_t>(i));
      found.push_back(tensor::ExtractOp::create(builder, b.location, indices, read));
    }
    ir::ScalarBuilder s(builder, b.location);
    return placeOf(s, found, at.drop_front(indexRank));
  }
  SmallVector<Value> placeOf(ir::ScalarBuilder &s, ValueRange found, ValueRange rest) const {
    SmallVector<Value> place;
    for (size_t i = 0; i < bounds.size(); ++i)
      place.push_back(clampIndex(s, found[i], bounds[i], given[i]));
    llvm::append_range(place, rest);
    return place;
  }

  LinalgBuilder &b;
  Value indices;
  SizeList bounds, slices;
  size_t indexRank;
  SmallVector<Value> given; // the bounds that are not constants
  Value product;            // of all bounds, unless it is a constant
};

// The updates have the sizes of the slices.
void checkUpdates(LinalgBuilder &b, Operation *op, const Named &named, LoweringContext &context) {
  const size_t count = named.bounds.size();
  for (size_t i = 0; i < named.slices.size(); ++i)
    if (i < named.indexRank)
      context.equal(op, 2, i, 1, i);
    else
      context.equal(op, 2, i, 0, i - named.indexRank + count);
}

// Stores what `combine` makes of each element and its update. One after the other, so that sums and the last of several
// updates don't depend on threads.
template <typename Op>
Value scatter(LinalgBuilder &b, Op op, LoweringContext &context,
              llvm::function_ref<Value(ir::ScalarBuilder &, Value old, Value update)> combine) {
  Named named(b, op, op.getX(), op.getIndices(), context);
  checkUpdates(b, op, named, context);
  if (named.areNone())
    return op.getX();
  SizeList bounds = boundsToStore(b, b.sizesOf(op.getUpdates()), named.product);
  return b.loopNest(
      bounds, {op.getX()},
      [&](OpBuilder &inner, ValueRange loops, ValueRange carried) -> SmallVector<Value> {
        ir::ScalarBuilder s(inner, b.location);
        ValueRange at = loops.take_front(named.slices.size());
        SmallVector<Value> place = named.placeOf(inner, at);
        Value update = tensor::ExtractOp::create(inner, b.location, op.getUpdates(), at);
        Value old = tensor::ExtractOp::create(inner, b.location, carried[0], place);
        return {tensor::InsertOp::create(inner, b.location, combine(s, old, update), carried[0], place)};
      },
      [&](size_t loop) { return named.isOfSlices(loop); })[0];
}

} // namespace

Lowered lower(LinalgBuilder &b, ir::GatherNdOp op, LoweringContext &context) {
  Named named(b, op, op.getX(), op.getIndices(), context);
  if (named.areNone())
    return b.zeros(named.slices, elementOf(op.getX()));
  const unsigned rank = named.slices.size();
  SmallVector<Value> inputs(named.bounds.size(), op.getIndices());
  SmallVector<AffineMap> maps;
  for (size_t i = 0; i < inputs.size(); ++i) {
    SmallVector<AffineExpr> at;
    for (size_t k = 0; k < named.indexRank; ++k)
      at.push_back(b.builder.getAffineDimExpr(k));
    at.push_back(b.builder.getAffineConstantExpr(static_cast<int64_t>(i)));
    maps.push_back(AffineMap::get(rank, 0, at, b.builder.getContext()));
  }
  return b.parallel(named.slices, elementOf(op.getX()), inputs, maps, [&](ir::ScalarBuilder &s, ValueRange v) -> Value {
    SmallVector<Value> rest;
    for (unsigned i = named.indexRank; i < rank; ++i)
      rest.push_back(linalg::IndexOp::create(s.builder, s.location, i));
    SmallVector<Value> place = named.placeOf(s, v.take_front(named.bounds.size()), rest);
    if (named.product) { // a buffer without elements has room for one
      Value zero = arith::ConstantIndexOp::create(s.builder, s.location, 0);
      Value isEmpty = arith::CmpIOp::create(s.builder, s.location, arith::CmpIPredicate::eq, named.product, zero);
      for (Value &along : place)
        along = arith::SelectOp::create(s.builder, s.location, isEmpty, zero, along);
    }
    return tensor::ExtractOp::create(s.builder, s.location, op.getX(), place);
  });
}

// Backwards over the slices: what is read for the first time is the last of its index.
Lowered lower(LinalgBuilder &b, ir::GatherNdLastOp op, LoweringContext &context) {
  Named named(b, op, op.getX(), op.getIndices(), context);
  Type element = elementOf(op.getX());
  Value zeros = b.zeros(named.slices, element);
  if (named.areNone())
    return zeros;
  SmallVector<Value> last; // along the dimensions of the indices
  for (size_t i = 0; i < named.indexRank; ++i)
    last.push_back(arith::SubIOp::create(b.builder, b.location, b.valueOf(named.slices[i]), b.index(1)));
  SizeList bounds = boundsToStore(b, named.slices, named.product);
  Value read = b.zeros(b.sizesOf(op.getX()), b.builder.getI1Type());
  return b.loopNest(
      bounds, {zeros, read},
      [&](OpBuilder &inner, ValueRange loops, ValueRange carried) -> SmallVector<Value> {
        ir::ScalarBuilder s(inner, b.location);
        SmallVector<Value> at(loops.take_front(named.slices.size()));
        for (size_t i = 0; i < named.indexRank; ++i)
          at[i] = arith::SubIOp::create(inner, b.location, last[i], at[i]);
        SmallVector<Value> place = named.placeOf(inner, at);
        Value wasRead = tensor::ExtractOp::create(inner, b.location, carried[1], place);
        Value found = tensor::ExtractOp::create(inner, b.location, op.getX(), place);
        Value value = s.select(wasRead, s.constant(0, element), found);
        Value yes = s.constant(1, inner.getI1Type());
        return {tensor::InsertOp::create(inner, b.location, value, carried[0], at),
                tensor::InsertOp::create(inner, b.location, yes, carried[1], place)};
      },
      [&](size_t loop) { return named.isOfSlices(loop); })[0];
}

Lowered lower(LinalgBuilder &b, ir::ScatterNdSetOp op, LoweringContext &context) {
  return scatter(b, op, context, [](ir::ScalarBuilder &, Value, Value update) { return update; });
}

Lowered lower(LinalgBuilder &b, ir::ScatterNdAddOp op, LoweringContext &context) {
  return scatter(b, op, context, [](ir::ScalarBuilder &s, Value old, Value update) { return s.add(old, update); });
}

Lowered lower(LinalgBuilder &b, ir::ScatterNdMaxOp op, LoweringContext &context) {
  return scatter(b, op, context,
                 [&](ir::ScalarBuilder &s, Value old, Value update) { return s.of(op).maximum(old, update); });
}

} // namespace calque::codegen
