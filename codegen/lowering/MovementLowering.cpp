// Operations that make tensors and move their elements.
#include "codegen/lowering/Indices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"

using namespace mlir;

namespace calque::codegen {

static ArrayRef<int64_t> shapeOf(Value value) { return LinalgBuilder::shapeOf(value); }

Lowered lower(LinalgBuilder &b, ir::ConstantOp op, LoweringContext &) {
  return arith::ConstantOp::create(b.builder, b.location, cast<TypedAttr>(op.getValueAttr()));
}

static Value iota(LinalgBuilder &b, ArrayRef<Size> shape, Type element, int64_t axis) {
  return b.parallel(shape, element, {}, {}, [&](ir::ScalarBuilder &s, ValueRange) {
    Value index = linalg::IndexOp::create(s.builder, s.location, axis);
    return s.castTo(arith::IndexCastOp::create(s.builder, s.location, s.builder.getI64Type(), index), element);
  });
}

Lowered lower(LinalgBuilder &b, ir::IotaOp op, LoweringContext &context) {
  if (llvm::any_of(op.getShape(), isUnknown))
    return context.refuse(op, "has a size that nothing gives");
  return iota(b, b.sizes.constants(shapeOf(op.getResult())), elementOf(op.getResult()),
              normalAxis(op.getAxis(), op.getShape().size()));
}

Lowered lower(LinalgBuilder &b, ir::IotaOpenOp op, LoweringContext &) {
  return iota(b, openSizes(b, op, op.getShape(), op.getSizes()), elementOf(op.getResult()),
              normalAxis(op.getAxis(), op.getShape().size()));
}

Lowered lower(LinalgBuilder &b, ir::SizeOfOp op, LoweringContext &) {
  Value size = b.valueOf(b.sizes.of(op.getX(), normalAxis(op.getAxis(), LinalgBuilder::rankOf(op.getX()))));
  Type i64 = b.builder.getI64Type();
  return b.parallel({}, i64, {}, {}, [&](ir::ScalarBuilder &s, ValueRange) -> Value {
    return arith::IndexCastOp::create(s.builder, s.location, i64, size);
  });
}

// Lowers a barrier to a copy that no pass folds away.
Lowered lower(LinalgBuilder &b, ir::BarrierOp op, LoweringContext &) {
  RankedTensorType type = LinalgBuilder::typeOf(op.getX());
  if (type.hasStaticShape())
    return bufferization::AllocTensorOp::create(b.builder, b.location, type, ValueRange(), op.getX());
  SmallVector<Value> unknown;
  SizeList shape = b.sizesOf(op.getX());
  for (auto [size, known] : llvm::zip_equal(shape, type.getShape()))
    if (ShapedType::isDynamic(known))
      unknown.push_back(b.valueOf(size));
  Value copy = bufferization::AllocTensorOp::create(b.builder, b.location, type, unknown);
  b.sizes.set(copy, shape);
  return b.insert(op.getX(), copy, SizeList(shape.size(), b.sizes.constant(0)), SmallVector<int64_t>(shape.size(), 1));
}

// If size `follows` of the shape is not negative, it is the number of elements divided by the product of the others.
static Value reshapeTo(LinalgBuilder &b, Operation *op, SizeList shape, int64_t follows, LoweringContext &context) {
  Sizes::Named count = b.sizes.named(op, 0, -1);
  Size divisor;
  Value x = op->getOperand(0);
  if (follows >= 0) {
    // The unknown sizes themselves, if the known ones of both sides cancel out.
    shape[follows] = b.sizes.constant(1);
    Size rest = b.sizes.maximum(b.sizes.product(shape), b.sizes.constant(1)), known = b.sizes.constant(1),
         unknown = known;
    for (Size size : b.sizesOf(x))
      (constantOf(size) ? known : unknown) = b.sizes.multiply(constantOf(size) ? known : unknown, size);
    bool cancels = constantOf(known) && constantOf(rest) && *constantOf(known) % *constantOf(rest) == 0;
    shape[follows] =
        cancels ? b.sizes.multiply(unknown, b.sizes.divide(known, rest)) : b.sizes.divide(count.size, rest);
    if (!cancels)
      divisor = rest;
  }
  Size product = b.sizes.product(shape);
  if (divisor && product != count.size)
    context.divisible(op, count, divisor);
  context.equal(op, count, b.sizes.named(product));
  return b.reshape(x, shape);
}

Lowered lower(LinalgBuilder &b, ir::ReshapeOp op, LoweringContext &context) {
  SizeList shape;
  int64_t open = -1;
  for (auto [i, size] : llvm::enumerate(shapeOf(op.getResult()))) {
    shape.push_back(b.sizes.constant(ShapedType::isDynamic(size) ? 1 : size));
    if (!ShapedType::isDynamic(size))
      continue;
    if (open >= 0)
      return context.refuse(op, "leaves more than one size open");
    open = i;
  }
  return reshapeTo(b, op, shape, open, context);
}

Lowered lower(LinalgBuilder &b, ir::ReshapeOpenOp op, LoweringContext &context) {
  int64_t follows = -1;
  for (auto [i, size] : llvm::enumerate(op.getShape()))
    if (size == -1 && ShapedType::isDynamic(shapeOf(op.getResult())[i]))
      follows = i;
  return reshapeTo(b, op, b.sizesOf(op.getResult().getType(), openSizes(b, op, op.getShape(), op.getSizes())), follows,
                   context);
}

Lowered lower(LinalgBuilder &b, ir::ReshapeLikeOp op, LoweringContext &context) {
  context.equal(op, 0, -1, 1, -1);
  return b.reshape(op.getX(), b.sizesOf(op.getLike()));
}

Lowered lower(LinalgBuilder &b, ir::MergeDimsOp op, LoweringContext &) {
  SizeList shape = b.sizesOf(op.getX());
  int64_t axis = normalAxis(op.getAxis(), LinalgBuilder::rankOf(op.getX()));
  shape[axis] = b.sizes.multiply(shape[axis], shape[axis + 1]);
  shape.erase(shape.begin() + axis + 1);
  return b.reshape(op.getX(), shape);
}

Lowered lower(LinalgBuilder &b, ir::SplitDimOp op, LoweringContext &context) {
  int64_t axis = normalAxis(op.getAxis(), LinalgBuilder::rankOf(op.getX())), rank = LinalgBuilder::rankOf(op.getLike());
  int64_t first = normalAxis(op.getFirst(), rank), second = normalAxis(op.getSecond(), rank);
  auto ofLike = [&](int64_t dimension) { return b.sizes.of(op.getLike(), dimension); };
  context.equal(op, b.sizes.named(op, 0, axis), b.sizes.named(b.sizes.multiply(ofLike(first), ofLike(second))));
  SizeList shape = b.sizesOf(op.getX());
  shape[axis] = ofLike(first);
  shape.insert(shape.begin() + axis + 1, ofLike(second));
  return b.reshape(op.getX(), b.sizesOf(op.getResult().getType(), shape));
}

Lowered lower(LinalgBuilder &b, ir::ExpandDimsOp op, LoweringContext &) {
  int64_t rank = LinalgBuilder::rankOf(op.getResult());
  SizeList from = b.sizesOf(op.getX()), shape(rank);
  for (int64_t axis : op.getAxes())
    shape[normalAxis(axis, rank)] = b.sizes.constant(1);
  size_t next = 0;
  for (Size &size : shape)
    if (!size)
      size = from[next++];
  return b.reshape(op.getX(), shape);
}

static Value broadcast(LinalgBuilder &b, Operation *op, ArrayRef<Size> shape) {
  Value x = op->getOperand(0);
  return b.parallel(shape, elementOf(x), {x}, {b.broadcastMap(shapeOf(x), shapeOf(op->getResult(0)))},
                    [](ir::ScalarBuilder &, ValueRange v) { return v[0]; });
}

Lowered lower(LinalgBuilder &b, ir::BroadcastToOp op, LoweringContext &context) {
  ArrayRef<int64_t> from = shapeOf(op.getX()), to = shapeOf(op.getResult());
  SizeList shape;
  for (auto [i, size] : llvm::enumerate(to)) {
    int64_t operandDim = static_cast<int64_t>(i) - static_cast<int64_t>(to.size() - from.size());
    bool repeats = operandDim < 0 || from[operandDim] == 1;
    if (ShapedType::isDynamic(size) && repeats)
      return context.refuse(op, "has a size that nothing gives");
    if (repeats)
      shape.push_back(b.sizes.constant(size));
    else if (ShapedType::isDynamic(size))
      shape.push_back(b.sizes.of(op.getX(), operandDim));
    else
      shape.push_back(context.equal(op, b.sizes.named(op, 0, operandDim), b.sizes.named(b.sizes.constant(size))));
  }
  return broadcast(b, op, shape);
}

// x's sizes are compared with those that are wanted, but for those that are repeated.
static Value broadcastTo(LinalgBuilder &b, Operation *op, SizeList shape, LoweringContext &context) {
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
  for (auto [i, size] : llvm::enumerate(from))
    if (size_t dimension = shape.size() - from.size() + i; size != 1)
      shape[dimension] = context.equal(op, b.sizes.named(op, 0, i), b.sizes.named(shape[dimension]));
  return broadcast(b, op, shape);
}

Lowered lower(LinalgBuilder &b, ir::BroadcastToOpenOp op, LoweringContext &context) {
  return broadcastTo(b, op, openSizes(b, op, op.getShape(), op.getSizes()), context);
}

Lowered lower(LinalgBuilder &b, ir::BroadcastLikeOp op, LoweringContext &context) {
  ArrayRef<int64_t> from = shapeOf(op.getX());
  SizeList shape = b.sizesOf(op.getLike());
  for (auto [i, size] : llvm::enumerate(from))
    if (size_t dimension = shape.size() - from.size() + i; size != 1)
      shape[dimension] = context.equal(op, 0, i, 1, dimension);
  return broadcast(b, op, shape);
}

Lowered lower(LinalgBuilder &b, ir::TransposeOp op, LoweringContext &) {
  int64_t rank = shapeOf(op.getX()).size();
  SmallVector<AffineExpr> expressions(rank);
  SizeList from = b.sizesOf(op.getX()), shape;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t axis = op.getPermutation().empty() ? rank - 1 - i : normalAxis(op.getPermutation()[i], rank);
    expressions[axis] = b.builder.getAffineDimExpr(i);
    shape.push_back(from[axis]);
  }
  return b.parallel(shape, elementOf(op.getX()), {op.getX()},
                    {AffineMap::get(rank, 0, expressions, b.builder.getContext())},
                    [](ir::ScalarBuilder &, ValueRange v) { return v[0]; });
}

Lowered lower(LinalgBuilder &b, ir::ReverseOp op, LoweringContext &) {
  Value x = op.getX();
  SizeList shape = b.sizesOf(x);
  const auto rank = static_cast<int64_t>(shape.size());
  llvm::SmallBitVector isTurned(rank, op.getAxes().empty());
  for (int64_t axis : op.getAxes())
    isTurned.set(normalAxis(axis, rank));
  bool isKnown = llvm::all_of(isTurned.set_bits(), [&](unsigned i) { return constantOf(shape[i]).has_value(); });
  if (isKnown) {
    SmallVector<AffineExpr> from;
    for (int64_t i = 0; i < rank; ++i) {
      AffineExpr index = b.builder.getAffineDimExpr(i);
      from.push_back(isTurned.test(i) ? (*constantOf(shape[i]) - 1) + index * -1 : index);
    }
    return b.parallel(shape, elementOf(x), {x}, {AffineMap::get(rank, 0, from, b.builder.getContext())},
                      [](ir::ScalarBuilder &, ValueRange v) { return v[0]; });
  }
  // A map has no place for an unknown size, from which the index is subtracted.
  SmallVector<Value> sizes;
  for (Size size : shape)
    sizes.push_back(b.valueOf(size));
  return b.parallel(shape, elementOf(x), {}, {}, [&](ir::ScalarBuilder &s, ValueRange) -> Value {
    SmallVector<Value> at;
    for (int64_t i = 0; i < rank; ++i) {
      at.push_back(linalg::IndexOp::create(s.builder, s.location, i));
      if (!isTurned.test(i))
        continue;
      Value one = arith::ConstantIndexOp::create(s.builder, s.location, 1);
      Value last = arith::SubIOp::create(s.builder, s.location, sizes[i], one);
      at.back() = arith::SubIOp::create(s.builder, s.location, last, at.back());
    }
    return tensor::ExtractOp::create(s.builder, s.location, x, at);
  });
}

// The sizes of the concatenation of the operands from number `first` on.
static SizeList concatSizes(LinalgBuilder &b, Operation *op, unsigned first, int64_t axis, LoweringContext &context) {
  SizeList shape = b.sizesOf(op->getOperand(first));
  for (unsigned operand = first + 1; operand < op->getNumOperands(); ++operand)
    for (auto [i, size] : llvm::enumerate(b.sizesOf(op->getOperand(operand))))
      shape[i] =
          static_cast<int64_t>(i) == axis ? b.sizes.add(shape[i], size) : context.equal(op, first, i, operand, i);
  return shape;
}

Lowered lower(LinalgBuilder &b, ir::ConcatOp op, LoweringContext &context) {
  int64_t rank = LinalgBuilder::rankOf(op.getResult()), axis = normalAxis(op.getAxis(), rank);
  Value result = b.empty(concatSizes(b, op, 0, axis, context), elementOf(op.getResult()));
  SizeList starts = b.sizes.constants(SmallVector<int64_t>(rank, 0));
  SmallVector<int64_t> ones(rank, 1);
  for (Value tensor : op.getTensors()) {
    result = b.insert(tensor, result, starts, ones);
    starts[axis] = b.sizes.add(starts[axis], b.sizes.of(tensor, axis));
  }
  return result;
}

Lowered lower(LinalgBuilder &b, ir::ConcatPartOp op, LoweringContext &context) {
  int64_t rank = shapeOf(op.getX()).size();
  int64_t axis = normalAxis(op.getAxis(), rank);
  for (auto [i, size] : llvm::enumerate(concatSizes(b, op, 1, axis, context)))
    context.equal(op, b.sizes.named(op, 0, i), b.sizes.named(size));
  SizeList starts = b.sizes.constants(SmallVector<int64_t>(rank, 0));
  SmallVector<int64_t> ones(rank, 1);
  for (int64_t i = 0; i < static_cast<int64_t>(op.getIndex()); ++i)
    starts[axis] = b.sizes.add(starts[axis], b.sizes.of(op.getTensors()[i], axis));
  return b.extract(op.getX(), starts, b.sizesOf(op.getTensors()[op.getIndex()]), ones);
}

Lowered lower(LinalgBuilder &b, ir::SplitOp op, LoweringContext &context) {
  int64_t rank = shapeOf(op.getX()).size(), axis = normalAxis(op.getAxis(), rank), known = 0;
  bool hasRest = llvm::is_contained(op.getSizes(), -1);
  for (int64_t size : op.getSizes())
    known += std::max<int64_t>(size, 0);
  Sizes::Named whole = b.sizes.named(op, 0, axis);
  if (hasRest)
    context.atLeast(op, 0, axis, b.sizes.constant(known));
  else
    context.equal(op, whole, b.sizes.named(b.sizes.constant(known)));
  SizeList starts = b.sizes.constants(SmallVector<int64_t>(rank, 0)), shape = b.sizesOf(op.getX());
  SmallVector<int64_t> ones(rank, 1);
  SmallVector<Value> parts;
  for (int64_t size : op.getSizes()) {
    shape[axis] = size < 0 ? b.sizes.subtract(whole.size, b.sizes.constant(known)) : b.sizes.constant(size);
    parts.push_back(b.extract(op.getX(), starts, shape, ones));
    starts[axis] = b.sizes.add(starts[axis], shape[axis]);
  }
  return parts;
}

Lowered lower(LinalgBuilder &b, ir::SliceOp op, LoweringContext &context) {
  SmallVector<int64_t> strides(op.getStrides());
  if (strides.empty())
    strides.assign(op.getStarts().size(), 1);
  for (auto [i, limit] : llvm::enumerate(op.getLimits()))
    context.atLeast(op, 0, i, b.sizes.constant(limit));
  return b.extract(op.getX(), b.sizes.constants(op.getStarts()), b.sizes.constants(shapeOf(op.getResult())), strides);
}

// Adds the checks that every element of the part lies within the whole.
static void checkPart(LinalgBuilder &b, Operation *op, unsigned whole, unsigned part, ArrayRef<int64_t> starts,
                      ArrayRef<int64_t> strides, LoweringContext &context) {
  for (auto [i, size] : llvm::enumerate(b.sizesOf(op->getOperand(part)))) {
    Size beyondLast =
        b.sizes.subtract(b.sizes.multiply(size, b.sizes.constant(strides[i])), b.sizes.constant(strides[i] - 1));
    context.atLeast(op, whole, i,
                    b.sizes.add(b.sizes.constant(starts[i]), b.sizes.maximum(beyondLast, b.sizes.constant(0))));
  }
}

Lowered lower(LinalgBuilder &b, ir::SliceLikeOp op, LoweringContext &context) {
  checkPart(b, op, 0, 1, op.getStarts(), op.getStrides(), context);
  return b.extract(op.getX(), b.sizes.constants(op.getStarts()), b.sizesOf(op.getLike()), op.getStrides());
}

void checkPart(LinalgBuilder &b, ir::SlicePutOp op, LoweringContext &context) {
  checkPart(b, op, 1, 0, op.getStarts(), op.getStrides(), context);
}

Lowered lower(LinalgBuilder &b, ir::SlicePutOp op, LoweringContext &context) {
  checkPart(b, op, context);
  if (auto first = context.sums.firsts.find(op); first != context.sums.firsts.end())
    return lowerFirstPart(b, op, first->second);
  return b.insert(op.getX(), b.zeros(b.sizesOf(op.getLike()), elementOf(op.getX())), b.sizes.constants(op.getStarts()),
                  op.getStrides());
}

Lowered lower(LinalgBuilder &b, ir::PadOp op, LoweringContext &) {
  Value value = ir::ScalarBuilder(b.builder, b.location).constant(op.getValue(), elementOf(op.getX()));
  SizeList shape = b.sizesOf(op.getX());
  SmallVector<int64_t> ones(shape.size(), 1);
  for (auto [i, size] : llvm::enumerate(shape))
    size = b.sizes.add(b.sizes.add(size, b.sizes.constant(op.getLow()[i])), b.sizes.constant(op.getHigh()[i]));
  return b.insert(op.getX(), b.filled(shape, value), b.sizes.constants(op.getLow()), ones);
}

} // namespace calque::codegen
