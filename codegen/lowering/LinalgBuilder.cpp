#include "codegen/lowering/LinalgBuilder.h"
#include "codegen/KernelAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;

namespace calque::codegen {

SizeList LinalgBuilder::sizesOf(Type type, ArrayRef<Size> otherwise) {
  SizeList result(otherwise);
  for (auto [dimension, size] : llvm::enumerate(cast<RankedTensorType>(type).getShape()))
    if (!ShapedType::isDynamic(size))
      result[dimension] = sizes.constant(size);
  return result;
}

Value LinalgBuilder::refined(Value value) {
  return typed(value, typeWith(sizesOf(value), typeOf(value).getElementType()));
}

RankedTensorType LinalgBuilder::typeWith(ArrayRef<Size> shape, Type element) {
  return RankedTensorType::get(
      llvm::map_to_vector(shape, [](Size size) { return constantOf(size).value_or(ShapedType::kDynamic); }), element);
}

SizeList LinalgBuilder::emitted(ArrayRef<Size> list) {
  return llvm::map_to_vector(list, [&](Size size) { return constantOf(size) ? size : Size(valueOf(size)); });
}

Value LinalgBuilder::typed(Value value, Type type) {
  if (value.getType() == type)
    return value;
  SizeList known = sizesOf(value);
  Value result = castTo(value, mlir::cast<RankedTensorType>(type));
  sizes.set(result, known);
  return result;
}

Value LinalgBuilder::castTo(Value value, RankedTensorType type) {
  if (tensor::CastOp::areCastCompatible(value.getType(), type))
    return tensor::CastOp::create(builder, location, type, value);
  // Two checks want the size to be two numbers. Every call is refused, and what follows never runs.
  return tensor::EmptyOp::create(builder, location, sizesOf(type, sizesOf(value)), type.getElementType());
}

Value LinalgBuilder::empty(ArrayRef<Size> shape, Type element) {
  Value result = tensor::EmptyOp::create(builder, location, shape, element);
  sizes.set(result, shape);
  return result;
}

Value LinalgBuilder::filled(ArrayRef<Size> shape, Value scalar) {
  Value result = linalg::FillOp::create(builder, location, scalar, empty(shape, scalar.getType())).getResult(0);
  sizes.set(result, shape);
  return result;
}

Value LinalgBuilder::zeros(ArrayRef<Size> shape, Type element) {
  return filled(shape, ir::ScalarBuilder(builder, location).constant(0, element));
}

Value LinalgBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }

Value LinalgBuilder::generic(ArrayRef<Value> given, Value init, ArrayRef<AffineMap> maps, unsigned numLoops,
                             ArrayRef<unsigned> reductionLoops, Body body) {
  auto inputs = llvm::map_to_vector(
      given, [&](Value value) { return isa<RankedTensorType>(value.getType()) ? refined(value) : value; });
  SmallVector<utils::IteratorType> iterators(numLoops, utils::IteratorType::parallel);
  for (unsigned loop : reductionLoops)
    iterators[loop] = utils::IteratorType::reduction;
  SizeList shape = sizesOf(init);
  Value result =
      linalg::GenericOp::create(builder, location, TypeRange{init.getType()}, inputs, ValueRange{init}, maps, iterators,
                                [&](OpBuilder &inner, Location innerLocation, ValueRange elements) {
                                  ir::ScalarBuilder scalar(inner, innerLocation);
                                  linalg::YieldOp::create(inner, innerLocation, body(scalar, elements));
                                })
          .getResult(0);
  sizes.set(result, shape);
  return result;
}

Value LinalgBuilder::parallel(ArrayRef<Size> shape, Type element, ArrayRef<Value> inputs, ArrayRef<AffineMap> inputMaps,
                              Body body) {
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(builder.getMultiDimIdentityMap(shape.size()));
  return generic(inputs, empty(shape, element), maps, shape.size(), {}, body);
}

AffineMap LinalgBuilder::broadcastMap(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<AffineExpr> expressions;
  size_t offset = to.size() - from.size();
  for (auto [i, size] : llvm::enumerate(from))
    expressions.push_back(size == 1 && to[offset + i] != 1 ? builder.getAffineConstantExpr(0)
                                                           : builder.getAffineDimExpr(offset + i));
  return AffineMap::get(to.size(), 0, expressions, builder.getContext());
}

// Where the shapes differ in dimensions of size 1 alone: for each dimension of `from`, the dimensions of `to` that it
// expands to. Nothing where they differ otherwise.
static std::optional<SmallVector<ReassociationIndices>> groupsOfUnits(ArrayRef<Size> from, ArrayRef<Size> to) {
  SmallVector<ReassociationIndices> groups(from.size());
  size_t next = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    while (next < to.size() && to[next] != from[i] && constantOf(to[next]) == 1)
      groups[i].push_back(next++);
    if (next == to.size() || to[next] != from[i])
      return std::nullopt;
    groups[i].push_back(next++);
  }
  for (; next < to.size(); ++next)
    if (constantOf(to[next]) != 1 || from.empty())
      return std::nullopt;
    else
      groups.back().push_back(next);
  return groups;
}

// Whether MLIR would fold a reshape of the value into a constant of the new type.
static bool folds(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_present<arith::ConstantOp>(op);
}

Value LinalgBuilder::reshape(Value value, ArrayRef<Size> shape) {
  value = refined(value);
  SizeList fromSizes = sizesOf(value);
  if (fromSizes == SizeList(shape))
    return value;
  Type element = typeOf(value).getElementType();
  RankedTensorType from = typeOf(value), to = typeWith(shape, element);
  // An empty tensor has no order to keep, and MLIR's loops can't delinearize an index by sizes of 0.
  if (llvm::is_contained(from.getShape(), 0) || llvm::is_contained(to.getShape(), 0))
    return empty(shape, element);
  // A constant can't have unknown sizes, so the fold would fail.
  if (!to.hasStaticShape() && folds(value)) {
    value = bufferization::AllocTensorOp::create(builder, location, from, ValueRange(), value);
    sizes.set(value, fromSizes);
  }
  auto expand = [&](ArrayRef<ReassociationIndices> groups) {
    value = tensor::ExpandShapeOp::create(builder, location, to, value, groups, emitted(shape));
    sizes.set(value, shape);
    return value;
  };
  // Dimensions of size 1 are inserted and removed explicitly: after flattening, an unknown size could not be told from
  // a product of sizes.
  if (!from.hasStaticShape() || !to.hasStaticShape()) {
    if (auto groups = groupsOfUnits(fromSizes, shape))
      return expand(*groups);
    if (auto groups = groupsOfUnits(shape, fromSizes)) {
      value = tensor::CollapseShapeOp::create(builder, location, to, value, *groups);
      sizes.set(value, shape);
      return value;
    }
  }
  // The general case: collapse to one dimension, then expand.
  Size count = sizes.product(fromSizes);
  RankedTensorType flat = typeWith({count}, element);
  auto all = [](int64_t rank) {
    SmallVector<ReassociationIndices> groups(rank ? 1 : 0);
    for (int64_t i = 0; i < rank; ++i)
      groups[0].push_back(i);
    return groups;
  };
  if (from.getRank() != 1) {
    if (from.getRank() == 0)
      value = tensor::ExpandShapeOp::create(builder, location, flat, value, all(0));
    else
      value = tensor::CollapseShapeOp::create(builder, location, flat, value, all(from.getRank()));
    sizes.set(value, {count});
  }
  if (to.getRank() == 1) {
    if (typeOf(value) != to)
      value = castTo(value, to);
    sizes.set(value, shape);
    return value;
  }
  // The number of elements may be a constant in one of the two types only. It may be known while a size is not.
  RankedTensorType target = to.hasStaticShape() ? typeWith({sizes.product(shape)}, element)
                                                : RankedTensorType::get({ShapedType::kDynamic}, element);
  if (typeOf(value) != target)
    value = castTo(value, target);
  if (to.getRank() == 0) {
    auto one = typeWith({sizes.constant(1)}, element);
    if (typeOf(value) != one)
      value = castTo(value, one);
    return tensor::CollapseShapeOp::create(builder, location, to, value, ArrayRef<ReassociationIndices>());
  }
  return expand(all(to.getRank()));
}

Value LinalgBuilder::reduce(Value value, ArrayRef<int64_t> axes, Value neutral, Body combine) {
  SizeList shape = sizesOf(value), resultShape;
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
  AffineMap maps[] = {builder.getMultiDimIdentityMap(shape.size()),
                      AffineMap::get(shape.size(), 0, kept, builder.getContext())};
  return generic({value}, filled(resultShape, neutral), maps, shape.size(), reductionLoops, combine);
}

// An empty part may start at the end of the whole, which MLIR's operations refuse, and every part of an empty whole is
// empty.
Value LinalgBuilder::insert(Value part, Value whole, ArrayRef<Size> starts, ArrayRef<int64_t> strides) {
  part = refined(part);
  whole = refined(whole);
  if (llvm::is_contained(shapeOf(part), 0) || llvm::is_contained(shapeOf(whole), 0))
    return whole;
  SizeList shape = sizesOf(whole);
  Value result = tensor::InsertSliceOp::create(builder, location, part, whole, emitted(starts), emitted(sizesOf(part)),
                                               sizes.constants(strides));
  sizes.set(result, shape);
  return result;
}

Value LinalgBuilder::extract(Value whole, ArrayRef<Size> starts, ArrayRef<Size> shape, ArrayRef<int64_t> strides) {
  whole = refined(whole);
  Type element = typeOf(whole).getElementType();
  if (llvm::is_contained(shapeOf(whole), 0) || llvm::any_of(shape, [](Size size) { return constantOf(size) == 0; }))
    return empty(shape, element);
  Value result = tensor::ExtractSliceOp::create(builder, location, typeWith(shape, element), whole, emitted(starts),
                                                emitted(shape), sizes.constants(strides));
  sizes.set(result, shape);
  return result;
}

// The offsets, sizes and strides of an index of the last dimension.
static std::tuple<SizeList, SizeList, SizeList> sliceOfLast(Sizes &sizes, ArrayRef<Size> shape, int64_t index) {
  SizeList starts = sizes.constants(SmallVector<int64_t>(shape.size(), 0)), lengths(shape);
  starts.push_back(sizes.constant(index));
  lengths.push_back(sizes.constant(1));
  return {starts, lengths, sizes.constants(SmallVector<int64_t>(lengths.size(), 1))};
}

// Whether a slice with these sizes and one more of 1 may seem to be one without another dimension: MLIR takes any of
// size 1 for the one that a slice leaves out. A size that is not known here may turn out to be 1 in a later pass.
static bool mayHaveOtherOfOne(ArrayRef<Size> shape) {
  return llvm::any_of(shape, [](Size size) { return constantOf(size).value_or(1) == 1; });
}

Value LinalgBuilder::extractLast(Value whole, int64_t index) {
  whole = refined(whole);
  Type element = typeOf(whole).getElementType();
  SizeList shape = sizesOf(whole);
  shape.pop_back();
  if (llvm::is_contained(shapeOf(whole), 0))
    return empty(shape, element);
  auto [starts, lengths, strides] = sliceOfLast(sizes, shape, index);
  if (mayHaveOtherOfOne(shape)) {
    Value slice = tensor::ExtractSliceOp::create(builder, location, typeWith(lengths, element), whole, emitted(starts),
                                                 emitted(lengths), strides);
    sizes.set(slice, lengths);
    return reshape(slice, shape);
  }
  Value result = tensor::ExtractSliceOp::create(builder, location, typeWith(shape, element), whole, emitted(starts),
                                                emitted(lengths), strides);
  sizes.set(result, shape);
  return result;
}

Value LinalgBuilder::insertLast(Value part, Value whole, int64_t index) {
  part = refined(part);
  whole = refined(whole);
  if (llvm::is_contained(shapeOf(whole), 0))
    return whole;
  auto [starts, lengths, strides] = sliceOfLast(sizes, sizesOf(part), index);
  SizeList shape = sizesOf(whole);
  if (mayHaveOtherOfOne(sizesOf(part)))
    part = reshape(part, lengths);
  Value result =
      tensor::InsertSliceOp::create(builder, location, part, whole, emitted(starts), emitted(lengths), strides);
  sizes.set(result, shape);
  return result;
}

ValueRange LinalgBuilder::loopNest(ArrayRef<Size> bounds, ValueRange carried,
                                   function_ref<SmallVector<Value>(OpBuilder &, ValueRange, ValueRange)> body,
                                   function_ref<bool(size_t)> isIndependent) {
  SmallVector<Value> indices, limits;
  for (Size bound : bounds)
    limits.push_back(constantOf(bound) ? Value() : valueOf(bound));
  std::function<ValueRange(OpBuilder &, size_t, ValueRange)> emit = [&](OpBuilder &inner, size_t depth,
                                                                        ValueRange state) -> ValueRange {
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(inner, location, value); };
    Value first = constant(0), bound = limits[depth] ? limits[depth] : constant(*constantOf(bounds[depth])),
          step = constant(1);
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
    if (isIndependent && isIndependent(depth))
      loop->setAttr(kIndependentAttr, builder.getUnitAttr());
    return loop.getResults();
  };
  SmallVector<SizeList> carriedSizes;
  for (Value value : carried)
    carriedSizes.push_back(isa<RankedTensorType>(value.getType()) ? sizesOf(value) : SizeList());
  ValueRange results = emit(builder, 0, carried);
  for (auto [result, shape] : llvm::zip_equal(results, carriedSizes))
    if (isa<RankedTensorType>(result.getType()))
      sizes.set(result, shape);
  return results;
}

} // namespace calque::codegen
