#include "codegen/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;

namespace calque::codegen {

namespace {

ArrayRef<int64_t> shapeOf(Value value) { return LinalgBuilder::shapeOf(value); }
Type elementOf(Value value) { return LinalgBuilder::typeOf(value).getElementType(); }

Value lowerConstant(LinalgBuilder &b, ir::ConstantOp op, LoweringContext &) {
  return arith::ConstantOp::create(b.builder, b.location, cast<TypedAttr>(op.getValueAttr()));
}

Value lowerIota(LinalgBuilder &b, ir::IotaOp op, LoweringContext &) {
  int64_t axis = normalAxis(op.getAxis(), op.getShape().size());
  Type element = elementOf(op.getResult());
  return b.parallel(shapeOf(op.getResult()), element, {}, {}, [&](ir::ScalarBuilder &s, ValueRange) {
    Value index = linalg::IndexOp::create(s.builder, s.location, axis);
    return s.castTo(arith::IndexCastOp::create(s.builder, s.location, s.builder.getI64Type(), index), element);
  });
}

// A copy that nothing folds away.
Value lowerBarrier(LinalgBuilder &b, ir::BarrierOp op, LoweringContext &) {
  return bufferization::AllocTensorOp::create(b.builder, b.location, LinalgBuilder::typeOf(op.getX()), ValueRange(), op.getX());
}

template <typename Op> Value lowerReshape(LinalgBuilder &b, Op op, LoweringContext &) { return b.reshape(op.getX(), shapeOf(op.getResult())); }

template <typename Op> Value lowerBroadcast(LinalgBuilder &b, Op op, LoweringContext &) {
  return b.parallel(shapeOf(op.getResult()), elementOf(op.getX()), {op.getX()}, {b.broadcastMap(shapeOf(op.getX()), shapeOf(op.getResult()))},
                    [](ir::ScalarBuilder &, ValueRange v) { return v[0]; });
}

Value lowerTranspose(LinalgBuilder &b, ir::TransposeOp op, LoweringContext &) {
  int64_t rank = shapeOf(op.getX()).size();
  SmallVector<AffineExpr> expressions(rank);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t axis = op.getPermutation().empty() ? rank - 1 - i : op.getPermutation()[i];
    expressions[axis < 0 ? axis + rank : axis] = b.builder.getAffineDimExpr(i);
  }
  return b.parallel(shapeOf(op.getResult()), elementOf(op.getX()), {op.getX()}, {AffineMap::get(rank, 0, expressions, b.builder.getContext())},
                    [](ir::ScalarBuilder &, ValueRange v) { return v[0]; });
}

Value lowerConcat(LinalgBuilder &b, ir::ConcatOp op, LoweringContext &) {
  RankedTensorType type = LinalgBuilder::typeOf(op.getResult());
  int64_t axis = normalAxis(op.getAxis(), type.getRank());
  Value result = b.empty(type.getShape(), type.getElementType());
  SmallVector<int64_t> starts(type.getRank(), 0), ones(type.getRank(), 1);
  for (Value tensor : op.getTensors()) {
    result = b.insert(tensor, result, starts, ones);
    starts[axis] += shapeOf(tensor)[axis];
  }
  return result;
}

Value lowerConcatPart(LinalgBuilder &b, ir::ConcatPartOp op, LoweringContext &) {
  int64_t rank = shapeOf(op.getX()).size();
  int64_t axis = normalAxis(op.getAxis(), rank);
  SmallVector<int64_t> starts(rank, 0), ones(rank, 1);
  for (int64_t i = 0; i < static_cast<int64_t>(op.getIndex()); ++i)
    starts[axis] += shapeOf(op.getTensors()[i])[axis];
  return b.extract(op.getX(), starts, shapeOf(op.getResult()), ones);
}

Value lowerSlice(LinalgBuilder &b, ir::SliceOp op, LoweringContext &) {
  SmallVector<int64_t> strides(op.getStrides());
  if (strides.empty())
    strides.assign(op.getStarts().size(), 1);
  return b.extract(op.getX(), op.getStarts(), shapeOf(op.getResult()), strides);
}

Value lowerSliceLike(LinalgBuilder &b, ir::SliceLikeOp op, LoweringContext &) {
  return b.extract(op.getX(), op.getStarts(), shapeOf(op.getResult()), op.getStrides());
}

Value lowerSlicePut(LinalgBuilder &b, ir::SlicePutOp op, LoweringContext &) {
  return b.insert(op.getX(), b.zeros(shapeOf(op.getResult()), elementOf(op.getX())), op.getStarts(), op.getStrides());
}

Value lowerPad(LinalgBuilder &b, ir::PadOp op, LoweringContext &) {
  Value value = ir::ScalarBuilder(b.builder, b.location).constant(op.getValue().convertToDouble(), elementOf(op.getX()));
  SmallVector<int64_t> ones(shapeOf(op.getX()).size(), 1);
  return b.insert(op.getX(), b.filled(shapeOf(op.getResult()), value), op.getLow(), ones);
}

//===-- Indices ---------------------------------------------------------------------------------===//

// Fails the call for the first index that is not within [0, bound).
void checkIndices(LinalgBuilder &b, Operation *op, Value indices, int64_t bound, LoweringContext &context) {
  int32_t site = context.addSite(Site::Kind::IndexOutOfRange, op);
  int64_t count = LinalgBuilder::typeOf(indices).getNumElements();
  Value flat = b.reshape(indices, {count});
  b.loopNest({count}, {}, [&](OpBuilder &inner, ValueRange at, ValueRange) {
    ir::ScalarBuilder s(inner, b.location);
    Value index = s.castTo(tensor::ExtractOp::create(inner, b.location, flat, at), inner.getI64Type());
    Value limit = s.constant(static_cast<double>(bound), inner.getI64Type());
    Value outside = arith::CmpIOp::create(inner, b.location, arith::CmpIPredicate::uge, index, limit);
    scf::IfOp::create(inner, b.location, outside, [&](OpBuilder &then, Location location) {
      context.fail(then, location, site, index, limit);
      scf::YieldOp::create(then, location);
    });
    return SmallVector<Value>();
  });
}

// An index that is safe to use, also where the check failed.
Value clampIndex(ir::ScalarBuilder &s, Value index, int64_t bound) {
  Type i64 = s.builder.getI64Type();
  Value wide = s.castTo(index, i64);
  Value notAbove = s.minimum(wide, s.constant(static_cast<double>(bound - 1), i64));
  Value clamped = s.maximum(notAbove, s.constant(0, i64));
  return arith::IndexCastOp::create(s.builder, s.location, s.builder.getIndexType(), clamped);
}

Value lowerGather(LinalgBuilder &b, ir::GatherOp op, LoweringContext &context) {
  ArrayRef<int64_t> from = shapeOf(op.getX()), result = shapeOf(op.getResult());
  int64_t axis = normalAxis(op.getAxis(), from.size());
  int64_t indexRank = shapeOf(op.getIndices()).size();
  checkIndices(b, op, op.getIndices(), from[axis], context);
  // Nothing can be read from an empty axis: with an index the check has failed already.
  if (from[axis] == 0)
    return b.zeros(result, elementOf(op.getX()));
  SmallVector<AffineExpr> expressions;
  for (int64_t i = 0; i < indexRank; ++i)
    expressions.push_back(b.builder.getAffineDimExpr(axis + i));
  return b.parallel(result, elementOf(op.getX()), {op.getIndices()}, {AffineMap::get(result.size(), 0, expressions, b.builder.getContext())},
                    [&](ir::ScalarBuilder &s, ValueRange v) -> Value {
                      SmallVector<Value> at;
                      for (int64_t i = 0; i < static_cast<int64_t>(from.size()); ++i)
                        at.push_back(i == axis ? clampIndex(s, v[0], from[axis])
                                               : linalg::IndexOp::create(s.builder, s.location, i < axis ? i : i + indexRank - 1).getResult());
                      return tensor::ExtractOp::create(s.builder, s.location, op.getX(), at);
                    });
}

Value lowerGatherPut(LinalgBuilder &b, ir::GatherPutOp op, LoweringContext &context) {
  ArrayRef<int64_t> into = shapeOf(op.getLike()), slices = shapeOf(op.getSlices());
  int64_t axis = normalAxis(op.getAxis(), into.size());
  int64_t indexRank = shapeOf(op.getIndices()).size();
  checkIndices(b, op, op.getIndices(), into[axis], context);
  Value zeros = b.zeros(into, elementOf(op.getSlices()));
  if (into[axis] == 0)
    return zeros;
  // A rank of zero has one slice and no loops; one loop of one iteration stands for it.
  SmallVector<int64_t> bounds(slices);
  if (bounds.empty())
    bounds.push_back(1);
  return b.loopNest(bounds, {zeros}, [&](OpBuilder &inner, ValueRange loops, ValueRange carried) -> SmallVector<Value> {
    ir::ScalarBuilder s(inner, b.location);
    ValueRange at = loops.take_front(slices.size());
    Value index = tensor::ExtractOp::create(inner, b.location, op.getIndices(), at.slice(axis, indexRank));
    SmallVector<Value> place;
    for (int64_t i = 0; i < static_cast<int64_t>(into.size()); ++i)
      place.push_back(i == axis ? clampIndex(s, index, into[axis]) : at[i < axis ? i : i + indexRank - 1]);
    Value slice = tensor::ExtractOp::create(inner, b.location, op.getSlices(), at);
    Value old = tensor::ExtractOp::create(inner, b.location, carried[0], place);
    return {tensor::InsertOp::create(inner, b.location, s.add(old, slice), carried[0], place)};
  })[0];
}

Value lowerOneHot(LinalgBuilder &b, ir::OneHotOp op, LoweringContext &) {
  ArrayRef<int64_t> result = shapeOf(op.getResult());
  unsigned last = result.size() - 1;
  // All dimensions but the last; of a scalar none, of which getMajorSubMap makes no map.
  SmallVector<AffineExpr> expressions;
  for (unsigned i = 0; i < last; ++i)
    expressions.push_back(b.builder.getAffineDimExpr(i));
  AffineMap map = AffineMap::get(result.size(), 0, expressions, b.builder.getContext());
  return b.parallel(result, elementOf(op.getResult()), {op.getIndices()}, {map}, [&](ir::ScalarBuilder &s, ValueRange v) {
    Value position = arith::IndexCastOp::create(s.builder, s.location, s.builder.getI64Type(), linalg::IndexOp::create(s.builder, s.location, last));
    return s.castTo(s.equal(s.castTo(v[0], s.builder.getI64Type()), position), elementOf(op.getResult()));
  });
}

} // namespace

void populateMovementLowering(RewritePatternSet &patterns, LoweringContext &context) {
  addLowering<ir::ConstantOp>(patterns, context, lowerConstant);
  addLowering<ir::BarrierOp>(patterns, context, lowerBarrier);
  addLowering<ir::IotaOp>(patterns, context, lowerIota);
  addLowering<ir::ReshapeOp>(patterns, context, lowerReshape<ir::ReshapeOp>);
  addLowering<ir::ReshapeLikeOp>(patterns, context, lowerReshape<ir::ReshapeLikeOp>);
  addLowering<ir::ExpandDimsOp>(patterns, context, lowerReshape<ir::ExpandDimsOp>);
  addLowering<ir::BroadcastToOp>(patterns, context, lowerBroadcast<ir::BroadcastToOp>);
  addLowering<ir::BroadcastLikeOp>(patterns, context, lowerBroadcast<ir::BroadcastLikeOp>);
  addLowering<ir::TransposeOp>(patterns, context, lowerTranspose);
  addLowering<ir::ConcatOp>(patterns, context, lowerConcat);
  addLowering<ir::ConcatPartOp>(patterns, context, lowerConcatPart);
  addLowering<ir::SliceOp>(patterns, context, lowerSlice);
  addLowering<ir::SliceLikeOp>(patterns, context, lowerSliceLike);
  addLowering<ir::SlicePutOp>(patterns, context, lowerSlicePut);
  addLowering<ir::PadOp>(patterns, context, lowerPad);
  addLowering<ir::GatherOp>(patterns, context, lowerGather);
  addLowering<ir::GatherPutOp>(patterns, context, lowerGatherPut);
  addLowering<ir::OneHotOp>(patterns, context, lowerOneHot);
}

} // namespace calque::codegen
