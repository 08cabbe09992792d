// Operations on indices: what is taken or put at them along an axis, what sorts, and what makes them one-hot.
#include "codegen/lowering/Indices.h"
#include "ir/Conversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace calque::codegen {

Size rowsToSearch(LinalgBuilder &b, Size rows, ArrayRef<Value> inputs, ArrayRef<AffineMap> maps,
                  LinalgBuilder::Body isBad) {
  constexpr int64_t kFew = 64; // to look at so many takes less time than to ask
  if (std::optional<int64_t> known = constantOf(rows); known && *known <= kFew)
    return rows;
  OpBuilder &builder = b.builder;
  Value zero = arith::ConstantOp::create(builder, b.location, builder.getI32IntegerAttr(0));
  SmallVector<AffineMap> withResult(maps);
  withResult.push_back(AffineMap::get(1, 0, builder.getContext()));
  Value any =
      b.generic(inputs, b.filled({}, zero), withResult, 1, {0}, [&](ir::ScalarBuilder &s, ValueRange v) -> Value {
        Value bad = arith::ExtUIOp::create(s.builder, s.location, zero.getType(), isBad(s, v.drop_back()));
        return arith::OrIOp::create(s.builder, s.location, v.back(), bad);
      });
  Value found = tensor::ExtractOp::create(builder, b.location, any, ValueRange());
  Value isAny = arith::CmpIOp::create(builder, b.location, arith::CmpIPredicate::ne, found, zero);
  return Size(arith::SelectOp::create(builder, b.location, isAny, b.valueOf(rows), b.index(0)).getResult());
}

void checkIndices(LinalgBuilder &b, Operation *op, Value indices, ArrayRef<Size> bounds, LoweringContext &context) {
  if (bounds.empty())
    return;
  int32_t site = context.addSite(Site::Kind::IndexOutOfRange, op);
  if (auto examples = op->getAttrOfType<DenseI64ArrayAttr>(ir::kExamplesAttr))
    context.sites.back().examples.assign(examples.asArrayRef().begin(), examples.asArrayRef().end());
  const auto count = static_cast<int64_t>(bounds.size());
  SizeList sizes = b.sizesOf(indices);
  Value rows = count == 1 ? b.flatten(indices)
                          : b.reshape(indices, {b.sizes.product(ArrayRef(sizes).drop_back()), b.sizes.constant(count)});
  Type i64 = b.builder.getI64Type();
  SmallVector<Value> given, inputs;
  SmallVector<AffineMap> maps;
  for (auto [k, bound] : llvm::enumerate(bounds)) {
    given.push_back(constantOf(bound)
                        ? Value()
                        : arith::IndexCastOp::create(b.builder, b.location, i64, b.valueOf(bound)).getResult());
    inputs.push_back(rows);
    SmallVector<AffineExpr> place{b.builder.getAffineDimExpr(0)};
    if (count != 1)
      place.push_back(b.builder.getAffineConstantExpr(static_cast<int64_t>(k)));
    maps.push_back(AffineMap::get(1, 0, place, b.builder.getContext()));
  }
  auto limitOf = [&](ir::ScalarBuilder &s, size_t k) {
    return given[k] ? given[k] : s.constant(*constantOf(bounds[k]), i64);
  };
  auto isOutside = [&](ir::ScalarBuilder &s, Value index, Value limit) -> Value {
    return arith::CmpIOp::create(s.builder, s.location, arith::CmpIPredicate::uge, index, limit);
  };
  Size search = rowsToSearch(b, b.sizesOf(rows)[0], inputs, maps, [&](ir::ScalarBuilder &s, ValueRange row) {
    Value any;
    for (auto [k, index] : llvm::enumerate(row)) {
      Value outside = isOutside(s, s.castTo(index, i64), limitOf(s, k));
      any = any ? s.logicalOr(any, outside) : outside;
    }
    return any;
  });
  b.loopNest({search}, {}, [&](OpBuilder &inner, ValueRange at, ValueRange) {
    ir::ScalarBuilder s(inner, b.location);
    for (int64_t k = 0; k < count; ++k) {
      SmallVector<Value> place(at);
      if (count != 1)
        place.push_back(arith::ConstantIndexOp::create(inner, b.location, k));
      Value index = s.castTo(tensor::ExtractOp::create(inner, b.location, rows, place), i64), limit = limitOf(s, k);
      scf::IfOp::create(inner, b.location, isOutside(s, index, limit), [&](OpBuilder &then, Location location) {
        context.fail(then, location, site, index, limit);
        scf::YieldOp::create(then, location);
      });
    }
    return SmallVector<Value>();
  });
}

Value clampIndex(ir::ScalarBuilder &s, Value index, Size bound, Value given) {
  Type i64 = s.builder.getI64Type();
  Value wide = s.castTo(index, i64), last;
  if (given)
    last = arith::SubIOp::create(s.builder, s.location, arith::IndexCastOp::create(s.builder, s.location, i64, given),
                                 s.constant(1, i64));
  else
    last = s.constant(*constantOf(bound) - 1, i64);
  Value notAbove = s.minimum(wide, last);
  Value clamped = s.maximum(notAbove, s.constant(0, i64));
  return arith::IndexCastOp::create(s.builder, s.location, s.builder.getIndexType(), clamped);
}

Lowered lower(LinalgBuilder &b, ir::GatherOp op, LoweringContext &context) {
  SizeList from = b.sizesOf(op.getX()), indexSizes = b.sizesOf(op.getIndices()), result;
  int64_t axis = normalAxis(op.getAxis(), from.size());
  int64_t indexRank = indexSizes.size();
  for (int64_t i = 0; i < static_cast<int64_t>(from.size()); ++i)
    if (i == axis)
      llvm::append_range(result, indexSizes);
    else
      result.push_back(from[i]);
  checkIndices(b, op, op.getIndices(), from[axis], context);
  // Any index into an empty axis has failed the check already, and there is no element to read.
  if (constantOf(from[axis]) == 0)
    return b.zeros(result, elementOf(op.getX()));
  SmallVector<AffineExpr> expressions;
  for (int64_t i = 0; i < indexRank; ++i)
    expressions.push_back(b.builder.getAffineDimExpr(axis + i));
  // Where the axis may be empty, the clamped index is 0: a buffer without elements has room for one.
  Value given = constantOf(from[axis]) ? Value() : b.valueOf(from[axis]);
  return b.parallel(
      result, elementOf(op.getX()), {op.getIndices()},
      {AffineMap::get(result.size(), 0, expressions, b.builder.getContext())},
      [&](ir::ScalarBuilder &s, ValueRange v) -> Value {
        Value zero, isEmpty;
        if (given) {
          zero = arith::ConstantIndexOp::create(s.builder, s.location, 0);
          isEmpty = arith::CmpIOp::create(s.builder, s.location, arith::CmpIPredicate::eq, given, zero);
        }
        SmallVector<Value> at;
        for (int64_t i = 0; i < static_cast<int64_t>(from.size()); ++i) {
          at.push_back(
              i == axis ? clampIndex(s, v[0], from[axis], given)
                        : linalg::IndexOp::create(s.builder, s.location, i < axis ? i : i + indexRank - 1).getResult());
          if (given && i != axis)
            at.back() = arith::SelectOp::create(s.builder, s.location, isEmpty, zero, at.back());
        }
        return tensor::ExtractOp::create(s.builder, s.location, op.getX(), at);
      });
}

SizeList boundsToStore(LinalgBuilder &b, ArrayRef<Size> slices, Value given) {
  // A loop nest needs a loop: rank 0 becomes one loop of one iteration.
  SizeList bounds(slices);
  if (bounds.empty())
    bounds.push_back(b.sizes.constant(1));
  if (given) {
    // Nothing is stored into an empty axis: the loop runs zero times.
    Value isEmpty = arith::CmpIOp::create(b.builder, b.location, arith::CmpIPredicate::eq, given, b.index(0));
    bounds[0] =
        Size(arith::SelectOp::create(b.builder, b.location, isEmpty, b.index(0), b.valueOf(bounds[0])).getResult());
  }
  return bounds;
}

Lowered lower(LinalgBuilder &b, ir::GatherPutOp op, LoweringContext &context) {
  return putOnto(b, op, b.zeros(b.sizesOf(op.getLike()), elementOf(op.getSlices())), context);
}

Value putOnto(LinalgBuilder &b, ir::GatherPutOp op, Value base, LoweringContext &context) {
  SizeList into = b.sizesOf(op.getLike()), slices = b.sizesOf(op.getSlices());
  int64_t axis = normalAxis(op.getAxis(), into.size());
  int64_t indexRank = LinalgBuilder::rankOf(op.getIndices());
  for (int64_t i = 0; i < static_cast<int64_t>(slices.size()); ++i)
    if (i >= axis && i < axis + indexRank)
      context.equal(op, 0, i, 2, i - axis);
    else
      context.equal(op, 0, i, 1, i < axis ? i : i - indexRank + 1);
  checkIndices(b, op, op.getIndices(), into[axis], context);
  if (constantOf(into[axis]) == 0)
    return base;
  Value given = constantOf(into[axis]) ? Value() : b.valueOf(into[axis]);
  SizeList bounds = boundsToStore(b, slices, given);
  return b.loopNest(
      bounds, {base},
      [&](OpBuilder &inner, ValueRange loops, ValueRange carried) -> SmallVector<Value> {
        ir::ScalarBuilder s(inner, b.location);
        ValueRange at = loops.take_front(slices.size());
        Value index = tensor::ExtractOp::create(inner, b.location, op.getIndices(), at.slice(axis, indexRank));
        SmallVector<Value> place;
        for (int64_t i = 0; i < static_cast<int64_t>(into.size()); ++i)
          place.push_back(i == axis ? clampIndex(s, index, into[axis], given) : at[i < axis ? i : i + indexRank - 1]);
        Value slice = tensor::ExtractOp::create(inner, b.location, op.getSlices(), at);
        Value old = tensor::ExtractOp::create(inner, b.location, carried[0], place);
        return {tensor::InsertOp::create(inner, b.location, s.add(old, slice), carried[0], place)};
      },
      [&](size_t loop) {
        auto number = static_cast<int64_t>(loop);
        return loop < slices.size() && (number < axis || number >= axis + indexRank);
      })[0];
}

// An operand's sizes but along an axis are those of another one.
static void equalBut(Operation *op, unsigned operand, unsigned other, int64_t rank, int64_t axis,
                     LoweringContext &context) {
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      context.equal(op, operand, i, other, i);
}

Lowered lower(LinalgBuilder &b, ir::TakeAlongAxisOp op, LoweringContext &context) {
  const int64_t rank = LinalgBuilder::rankOf(op.getX()), axis = normalAxis(op.getAxis(), rank);
  equalBut(op, 1, 0, rank, axis, context);
  SizeList from = b.sizesOf(op.getX()), result = b.sizesOf(op.getIndices());
  checkIndices(b, op, op.getIndices(), from[axis], context);
  // As in a gather.
  if (constantOf(from[axis]) == 0)
    return b.zeros(result, elementOf(op.getX()));
  Value given = constantOf(from[axis]) ? Value() : b.valueOf(from[axis]);
  return b.parallel(result, elementOf(op.getX()), {op.getIndices()}, {b.builder.getMultiDimIdentityMap(rank)},
                    [&](ir::ScalarBuilder &s, ValueRange v) -> Value {
                      Value zero, isEmpty;
                      if (given) {
                        zero = arith::ConstantIndexOp::create(s.builder, s.location, 0);
                        isEmpty = arith::CmpIOp::create(s.builder, s.location, arith::CmpIPredicate::eq, given, zero);
                      }
                      SmallVector<Value> at;
                      for (int64_t i = 0; i < rank; ++i) {
                        at.push_back(i == axis ? clampIndex(s, v[0], from[axis], given)
                                               : linalg::IndexOp::create(s.builder, s.location, i).getResult());
                        if (given && i != axis)
                          at.back() = arith::SelectOp::create(s.builder, s.location, isEmpty, zero, at.back());
                      }
                      return tensor::ExtractOp::create(s.builder, s.location, op.getX(), at);
                    });
}

Lowered lower(LinalgBuilder &b, ir::PutAlongAxisOp op, LoweringContext &context) {
  return putOnto(b, op, b.zeros(b.sizesOf(op.getLike()), elementOf(op.getX())), context);
}

Value putOnto(LinalgBuilder &b, ir::PutAlongAxisOp op, Value base, LoweringContext &context) {
  const int64_t rank = LinalgBuilder::rankOf(op.getLike()), axis = normalAxis(op.getAxis(), rank);
  equalBut(op, 2, 1, rank, axis, context);
  for (int64_t i = 0; i < rank; ++i)
    context.equal(op, 0, i, 2, i);
  SizeList into = b.sizesOf(op.getLike()), elements = b.sizesOf(op.getX());
  checkIndices(b, op, op.getIndices(), into[axis], context);
  if (constantOf(into[axis]) == 0)
    return base;
  Value given = constantOf(into[axis]) ? Value() : b.valueOf(into[axis]);
  return b.loopNest(
      boundsToStore(b, elements, given), {base},
      [&](OpBuilder &inner, ValueRange at, ValueRange carried) -> SmallVector<Value> {
        ir::ScalarBuilder s(inner, b.location);
        Value index = tensor::ExtractOp::create(inner, b.location, op.getIndices(), at);
        SmallVector<Value> place(at);
        place[axis] = clampIndex(s, index, into[axis], given);
        Value element = tensor::ExtractOp::create(inner, b.location, op.getX(), at);
        Value old = tensor::ExtractOp::create(inner, b.location, carried[0], place);
        return {tensor::InsertOp::create(inner, b.location, s.add(old, element), carried[0], place)};
      },
      [&](size_t loop) { return loop != static_cast<size_t>(axis); })[0];
}

Lowered lower(LinalgBuilder &b, ir::UpdateAtOp op, LoweringContext &context) {
  SizeList into = b.sizesOf(op.getX());
  const int64_t rank = static_cast<int64_t>(into.size()), axis = normalAxis(op.getAxis(), rank);
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis)
      context.equal(op, 2, i < axis ? i : i - 1, 0, i);
  checkIndices(b, op, op.getIndex(), into[axis], context);
  SizeList slice = b.sizesOf(op.getSlice());
  if (constantOf(into[axis]) == 0)
    return op.getX();
  Value given = constantOf(into[axis]) ? Value() : b.valueOf(into[axis]);
  SizeList bounds = boundsToStore(b, slice, given);
  return b.loopNest(
      bounds, {op.getX()},
      [&](OpBuilder &inner, ValueRange loops, ValueRange carried) -> SmallVector<Value> {
        ir::ScalarBuilder s(inner, b.location);
        ValueRange at = loops.take_front(slice.size());
        Value index = tensor::ExtractOp::create(inner, b.location, op.getIndex(), ValueRange());
        SmallVector<Value> place(at);
        place.insert(place.begin() + axis, clampIndex(s, index, into[axis], given));
        Value element = tensor::ExtractOp::create(inner, b.location, op.getSlice(), at);
        return {tensor::InsertOp::create(inner, b.location, element, carried[0], place)};
      },
      [&](size_t) { return true; })[0];
}

static Value oneHot(LinalgBuilder &b, Value indices, Size depth, Type element) {
  SizeList result = b.sizesOf(indices);
  result.push_back(depth);
  unsigned last = result.size() - 1;
  // All dimensions but the last. getMajorSubMap gives no map for rank 0.
  SmallVector<AffineExpr> expressions;
  for (unsigned i = 0; i < last; ++i)
    expressions.push_back(b.builder.getAffineDimExpr(i));
  AffineMap map = AffineMap::get(result.size(), 0, expressions, b.builder.getContext());
  return b.parallel(result, element, {indices}, {map}, [&](ir::ScalarBuilder &s, ValueRange v) {
    Value position = arith::IndexCastOp::create(s.builder, s.location, s.builder.getI64Type(),
                                                linalg::IndexOp::create(s.builder, s.location, last));
    return s.castTo(s.equal(s.castTo(v[0], s.builder.getI64Type()), position), element);
  });
}

Lowered lower(LinalgBuilder &b, ir::OneHotOp op, LoweringContext &) {
  return oneHot(b, op.getIndices(), b.sizes.constant(LinalgBuilder::shapeOf(op.getResult()).back()),
                elementOf(op.getResult()));
}

Lowered lower(LinalgBuilder &b, ir::OneHotOpenOp op, LoweringContext &) {
  return oneHot(b, op.getIndices(), openSizes(b, op, op.getShape(), op.getSizes())[0], elementOf(op.getResult()));
}

} // namespace calque::codegen
