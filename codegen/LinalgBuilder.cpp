#include "codegen/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace calque::codegen {

Value LinalgBuilder::empty(ArrayRef<int64_t> shape, Type element) { return tensor::EmptyOp::create(builder, location, shape, element); }

Value LinalgBuilder::filled(ArrayRef<int64_t> shape, Value scalar) {
  return linalg::FillOp::create(builder, location, scalar, empty(shape, scalar.getType())).getResult(0);
}

Value LinalgBuilder::zeros(ArrayRef<int64_t> shape, Type element) {
  return filled(shape, ir::ScalarBuilder(builder, location).constant(0, element));
}

Value LinalgBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }

Value LinalgBuilder::generic(ArrayRef<Value> inputs, Value init, ArrayRef<AffineMap> maps, unsigned numLoops,
                             ArrayRef<unsigned> reductionLoops, Body body) {
  SmallVector<utils::IteratorType> iterators(numLoops, utils::IteratorType::parallel);
  for (unsigned loop : reductionLoops)
    iterators[loop] = utils::IteratorType::reduction;
  return linalg::GenericOp::create(builder, location, TypeRange{init.getType()}, inputs, ValueRange{init}, maps, iterators,
                                   [&](OpBuilder &inner, Location innerLocation, ValueRange elements) {
                                     ir::ScalarBuilder scalar(inner, innerLocation);
                                     linalg::YieldOp::create(inner, innerLocation, body(scalar, elements));
                                   })
      .getResult(0);
}

Value LinalgBuilder::parallel(ArrayRef<int64_t> shape, Type element, ArrayRef<Value> inputs, ArrayRef<AffineMap> inputMaps, Body body) {
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(builder.getMultiDimIdentityMap(shape.size()));
  return generic(inputs, empty(shape, element), maps, shape.size(), {}, body);
}

AffineMap LinalgBuilder::broadcastMap(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<AffineExpr> expressions;
  size_t offset = to.size() - from.size();
  for (auto [i, size] : llvm::enumerate(from))
    expressions.push_back(size == 1 && to[offset + i] != 1 ? builder.getAffineConstantExpr(0) : builder.getAffineDimExpr(offset + i));
  return AffineMap::get(to.size(), 0, expressions, builder.getContext());
}

Value LinalgBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType from = typeOf(value);
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (from == to)
    return value;
  // Of no elements there is no order to keep, and MLIR's loops can't take an index apart by sizes of zero.
  if (from.hasStaticShape() && from.getNumElements() == 0)
    return empty(shape, from.getElementType());
  // By way of one dimension, which always works.
  auto flat = RankedTensorType::get({from.getNumElements()}, from.getElementType());
  auto all = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups(rank ? 1 : 0);
    for (int64_t i = 0; i < rank; ++i)
      groups[0].push_back(i);
    return groups;
  };
  if (from != flat) {
    if (from.getRank() == 0)
      value = tensor::ExpandShapeOp::create(builder, location, flat, value, all(0));
    else
      value = tensor::CollapseShapeOp::create(builder, location, flat, value, all(from.getRank()));
  }
  if (to == flat)
    return value;
  if (to.getRank() == 0)
    return tensor::CollapseShapeOp::create(builder, location, to, value, ArrayRef<ReassociationIndices>());
  return tensor::ExpandShapeOp::create(builder, location, to, value, all(to.getRank()));
}

Value LinalgBuilder::reduce(Value value, ArrayRef<int64_t> axes, Value neutral, Body combine) {
  ArrayRef<int64_t> shape = shapeOf(value);
  SmallVector<int64_t> resultShape;
  SmallVector<AffineExpr> kept;
  SmallVector<unsigned> reductionLoops;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (llvm::is_contained(axes, static_cast<int64_t>(i))) {
      reductionLoops.push_back(i);
    } else {
      kept.push_back(builder.getAffineDimExpr(i));
      resultShape.push_back(size);
    }
  }
  AffineMap maps[] = {builder.getMultiDimIdentityMap(shape.size()), AffineMap::get(shape.size(), 0, kept, builder.getContext())};
  return generic({value}, filled(resultShape, neutral), maps, shape.size(), reductionLoops, combine);
}

static SmallVector<OpFoldResult> indexAttrs(OpBuilder &builder, ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) -> OpFoldResult { return builder.getIndexAttr(value); });
}

// A part without elements may start at the end, which MLIR's operations refuse.
Value LinalgBuilder::insert(Value part, Value whole, ArrayRef<int64_t> starts, ArrayRef<int64_t> strides) {
  if (llvm::is_contained(shapeOf(part), 0))
    return whole;
  return tensor::InsertSliceOp::create(builder, location, part, whole, indexAttrs(builder, starts), indexAttrs(builder, shapeOf(part)),
                                       indexAttrs(builder, strides));
}

Value LinalgBuilder::extract(Value whole, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  if (llvm::is_contained(sizes, 0))
    return empty(sizes, typeOf(whole).getElementType());
  auto type = RankedTensorType::get(sizes, typeOf(whole).getElementType());
  return tensor::ExtractSliceOp::create(builder, location, type, whole, indexAttrs(builder, starts), indexAttrs(builder, sizes),
                                        indexAttrs(builder, strides));
}

ValueRange LinalgBuilder::loopNest(ArrayRef<int64_t> bounds, ValueRange carried,
                                   function_ref<SmallVector<Value>(OpBuilder &, ValueRange, ValueRange)> body) {
  SmallVector<Value> indices;
  std::function<ValueRange(OpBuilder &, size_t, ValueRange)> emit = [&](OpBuilder &inner, size_t depth, ValueRange state) -> ValueRange {
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(inner, location, value); };
    Value first = constant(0), bound = constant(bounds[depth]), step = constant(1);
    auto loop = scf::ForOp::create(inner, location, first, bound, step, state,
                                   [&](OpBuilder &nested, Location, Value index, ValueRange arguments) {
                                     indices.push_back(index);
                                     SmallVector<Value> yielded;
                                     if (depth + 1 == bounds.size())
                                       yielded = body(nested, indices, arguments);
                                     else
                                       llvm::append_range(yielded, emit(nested, depth + 1, arguments));
                                     indices.pop_back();
                                     scf::YieldOp::create(nested, location, yielded);
                                   });
    return loop.getResults();
  };
  return emit(builder, 0, carried);
}

} // namespace calque::codegen
