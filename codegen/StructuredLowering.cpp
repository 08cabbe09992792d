#include "codegen/Lowering.h"
#include "ir/schema/TypeRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace calque::codegen {

namespace {

using Ints = SmallVector<int64_t>;

Ints normalAxes(ArrayRef<int64_t> axes, int64_t rank, bool emptyMeansAll) {
  Ints result;
  if (axes.empty() && emptyMeansAll)
    for (int64_t i = 0; i < rank; ++i)
      result.push_back(i);
  for (int64_t axis : axes)
    result.push_back(axis < 0 ? axis + rank : axis);
  return result;
}

// The identity of max (low) or min for a type.
Value extremeOf(OpBuilder &builder, Location location, Type type, bool low) {
  if (auto floating = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(builder, location, builder.getFloatAttr(floating, APFloat::getInf(floating.getFloatSemantics(), low)));
  unsigned width = type.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(builder, location,
                                   builder.getIntegerAttr(type, low ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width)));
}

template <typename Op> Value lowerReduction(LinalgBuilder &b, Op op, Value neutral, LinalgBuilder::Body combine) {
  Value reduced = b.reduce(op.getX(), normalAxes(op.getAxes(), LinalgBuilder::typeOf(op.getX()).getRank(), true), neutral, combine);
  return b.reshape(reduced, LinalgBuilder::shapeOf(op.getResult()));
}

Value lowerSum(LinalgBuilder &b, ir::SumOp op, LoweringContext &) {
  Value zero = ir::ScalarBuilder(b.builder, b.location).constant(0, LinalgBuilder::typeOf(op.getX()).getElementType());
  return lowerReduction(b, op, zero, [](ir::ScalarBuilder &s, ValueRange v) { return s.add(v[1], v[0]); });
}

Value lowerReduceMax(LinalgBuilder &b, ir::ReduceMaxOp op, LoweringContext &) {
  Value lowest = extremeOf(b.builder, b.location, LinalgBuilder::typeOf(op.getX()).getElementType(), true);
  return lowerReduction(b, op, lowest, [](ir::ScalarBuilder &s, ValueRange v) { return s.maximum(v[1], v[0]); });
}

Value lowerReduceMin(LinalgBuilder &b, ir::ReduceMinOp op, LoweringContext &) {
  Value highest = extremeOf(b.builder, b.location, LinalgBuilder::typeOf(op.getX()).getElementType(), false);
  return lowerReduction(b, op, highest, [](ir::ScalarBuilder &s, ValueRange v) { return s.minimum(v[1], v[0]); });
}

Value lowerSumLike(LinalgBuilder &b, ir::SumLikeOp op, LoweringContext &) {
  ArrayRef<int64_t> from = LinalgBuilder::shapeOf(op.getX()), to = LinalgBuilder::shapeOf(op.getLike());
  size_t offset = from.size() - to.size();
  Ints axes;
  for (size_t i = 0; i < from.size(); ++i)
    if (i < offset || (to[i - offset] == 1 && from[i] != 1))
      axes.push_back(i);
  Value zero = ir::ScalarBuilder(b.builder, b.location).constant(0, LinalgBuilder::typeOf(op.getX()).getElementType());
  Value sum = axes.empty() ? op.getX() : b.reduce(op.getX(), axes, zero, [](ir::ScalarBuilder &s, ValueRange v) { return s.add(v[1], v[0]); });
  return b.reshape(sum, to);
}

Value lowerAxisSize(LinalgBuilder &b, ir::AxisSizeOp op, LoweringContext &) {
  ArrayRef<int64_t> shape = LinalgBuilder::shapeOf(op.getX());
  int64_t count = 1;
  for (int64_t axis : normalAxes(op.getAxes(), shape.size(), true))
    count *= shape[axis];
  Type element = LinalgBuilder::typeOf(op.getX()).getElementType();
  return b.filled({}, ir::ScalarBuilder(b.builder, b.location).constant(static_cast<double>(count), element));
}

// Whether an element is NaN and the best before it is not.
Value isFirstNaN(ir::ScalarBuilder &s, Value best, Value element) {
  Value isNaN = s.notEqual(element, element), isNumber = s.equal(best, best);
  return s.logicalAnd(isNaN, isNumber);
}

Value lowerArgMax(LinalgBuilder &b, ir::ArgMaxOp op, LoweringContext &) {
  Value x = op.getX();
  ArrayRef<int64_t> shape = LinalgBuilder::shapeOf(x);
  int64_t rank = shape.size(), axis = normalAxis(op.getAxis(), rank);
  Type element = LinalgBuilder::typeOf(x).getElementType(), i64 = b.builder.getI64Type();
  Ints kept;
  SmallVector<AffineExpr> expressions;
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  iterators[axis] = utils::IteratorType::reduction;
  for (int64_t i = 0; i < rank; ++i) {
    if (i == axis)
      continue;
    kept.push_back(shape[i]);
    expressions.push_back(b.builder.getAffineDimExpr(i));
  }
  AffineMap keptMap = AffineMap::get(rank, 0, expressions, b.builder.getContext());
  ir::ScalarBuilder outer(b.builder, b.location);
  Value best = b.filled(kept, extremeOf(b.builder, b.location, element, true)), index = b.filled(kept, outer.constant(-1, i64));
  return linalg::GenericOp::create(
             b.builder, b.location, TypeRange{best.getType(), index.getType()}, ValueRange{x}, ValueRange{best, index},
             ArrayRef<AffineMap>{b.builder.getMultiDimIdentityMap(rank), keptMap, keptMap}, iterators,
             [&](OpBuilder &inner, Location location, ValueRange v) {
               ir::ScalarBuilder s(inner, location);
               // The first element is taken whatever it is, then larger ones; NaN is larger than all but NaN.
               Value isFirst = s.less(v[2], s.constant(0, i64)), take = s.logicalOr(isFirst, s.less(v[1], v[0]));
               if (isa<FloatType>(element))
                 take = s.logicalOr(take, isFirstNaN(s, v[1], v[0]));
               Value position = arith::IndexCastOp::create(inner, location, i64, linalg::IndexOp::create(inner, location, axis));
               linalg::YieldOp::create(inner, location, ValueRange{s.select(take, v[0], v[1]), s.select(take, position, v[2])});
             })
      .getResult(1);
}

Value multiplyAdd(ir::ScalarBuilder &s, ValueRange v) { return s.add(v[2], s.mul(v[0], v[1])); }

Value lowerContract(LinalgBuilder &b, ir::ContractOp op, LoweringContext &) {
  struct Side {
    Value value;
    Ints batch, contracting;
    SmallVector<AffineExpr> expressions;
  } sides[] = {{op.getLhs(), {}, {}, {}}, {op.getRhs(), {}, {}, {}}};
  ArrayRef<int64_t> batches[] = {op.getLhsBatch(), op.getRhsBatch()}, contractings[] = {op.getLhsContracting(), op.getRhsContracting()};
  for (int i : {0, 1}) {
    int64_t rank = LinalgBuilder::typeOf(sides[i].value).getRank();
    sides[i].batch = normalAxes(batches[i], rank, false);
    sides[i].contracting = normalAxes(contractings[i], rank, false);
    sides[i].expressions.resize(rank);
  }
  unsigned next = 0;
  auto loop = [&] { return b.builder.getAffineDimExpr(next++); };
  for (auto [l, r] : llvm::zip_equal(sides[0].batch, sides[1].batch))
    sides[0].expressions[l] = sides[1].expressions[r] = loop();
  for (Side &side : sides)
    for (auto [dim, expression] : llvm::enumerate(side.expressions))
      if (!expression && !llvm::is_contained(side.contracting, static_cast<int64_t>(dim)))
        expression = loop();
  unsigned resultRank = next;
  SmallVector<unsigned> reductionLoops;
  for (auto [l, r] : llvm::zip_equal(sides[0].contracting, sides[1].contracting)) {
    reductionLoops.push_back(next);
    sides[0].expressions[l] = sides[1].expressions[r] = loop();
  }
  MLIRContext *context = b.builder.getContext();
  SmallVector<AffineExpr> resultExpressions;
  for (unsigned i = 0; i < resultRank; ++i)
    resultExpressions.push_back(b.builder.getAffineDimExpr(i));
  AffineMap maps[] = {AffineMap::get(next, 0, sides[0].expressions, context), AffineMap::get(next, 0, sides[1].expressions, context),
                      AffineMap::get(next, 0, resultExpressions, context)};
  RankedTensorType type = LinalgBuilder::typeOf(op.getResult());
  return b.generic({op.getLhs(), op.getRhs()}, b.zeros(type.getShape(), type.getElementType()), maps, next, reductionLoops, multiplyAdd);
}

//===-- Windows ---------------------------------------------------------------------------------===//

struct Window {
  schema::WindowExtent rows, columns;
};

Window windowOf(ArrayRef<int64_t> input, int64_t height, int64_t width, ArrayRef<int64_t> strides, StringRef padding) {
  bool same = padding == "same";
  return {schema::windowExtent(input[1], height, strides[0], same), schema::windowExtent(input[2], width, strides[1], same)};
}

Value padImages(LinalgBuilder &b, Value input, const Window &window, Value value) {
  ArrayRef<int64_t> shape = LinalgBuilder::shapeOf(input);
  if (!window.rows.padLow && !window.rows.padHigh && !window.columns.padLow && !window.columns.padHigh)
    return input;
  Value padded = b.filled({shape[0], shape[1] + window.rows.padLow + window.rows.padHigh,
                           shape[2] + window.columns.padLow + window.columns.padHigh, shape[3]}, value);
  return b.insert(input, padded, {0, window.rows.padLow, window.columns.padLow, 0}, {1, 1, 1, 1});
}

// Loops n, oh, ow, f, kh, kw, c over padded images.
Value convolve(LinalgBuilder &b, Value padded, Value filter, ArrayRef<int64_t> resultShape, ArrayRef<int64_t> strides) {
  // Strided indices of no windows would be negative, which linalg refuses.
  if (llvm::is_contained(resultShape, 0))
    return b.empty(resultShape, LinalgBuilder::typeOf(padded).getElementType());
  MLIRContext *context = b.builder.getContext();
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  AffineMap maps[] = {AffineMap::get(7, 0, {d(0), d(1) * strides[0] + d(4), d(2) * strides[1] + d(5), d(6)}, context),
                      AffineMap::get(7, 0, {d(4), d(5), d(6), d(3)}, context), AffineMap::get(7, 0, {d(0), d(1), d(2), d(3)}, context)};
  return b.generic({padded, filter}, b.zeros(resultShape, LinalgBuilder::typeOf(padded).getElementType()), maps, 7, {4, 5, 6}, multiplyAdd);
}

Value zeroOf(LinalgBuilder &b, Value like) {
  return ir::ScalarBuilder(b.builder, b.location).constant(0, LinalgBuilder::typeOf(like).getElementType());
}

Value lowerConv(LinalgBuilder &b, ir::ConvOp op, LoweringContext &) {
  ArrayRef<int64_t> filter = LinalgBuilder::shapeOf(op.getFilter());
  Window window = windowOf(LinalgBuilder::shapeOf(op.getInput()), filter[0], filter[1], op.getStrides(), op.getPadding());
  return convolve(b, padImages(b, op.getInput(), window, zeroOf(b, op.getInput())), op.getFilter(), LinalgBuilder::shapeOf(op.getResult()), op.getStrides());
}

// The cotangent, spread out by the strides and bordered with zeros, convolved with the filter turned around.
Value lowerConvInputGrad(LinalgBuilder &b, ir::ConvInputGradOp op, LoweringContext &) {
  ArrayRef<int64_t> filter = LinalgBuilder::shapeOf(op.getFilter()), image = LinalgBuilder::shapeOf(op.getLike()), strides = op.getStrides();
  Window window = windowOf(image, filter[0], filter[1], strides, op.getPadding());
  Type element = LinalgBuilder::typeOf(op.getFilter()).getElementType();
  Value spread = b.zeros({image[0], image[1] + filter[0] - 1, image[2] + filter[1] - 1, filter[3]}, element);
  if (LinalgBuilder::typeOf(op.getCotangent()).getNumElements())
    spread = b.insert(op.getCotangent(), spread, {0, filter[0] - 1 - window.rows.padLow, filter[1] - 1 - window.columns.padLow, 0},
                      {1, strides[0], strides[1], 1});
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  AffineMap turn = AffineMap::get(4, 0, {filter[0] - 1 - d(0), filter[1] - 1 - d(1), d(3), d(2)}, b.builder.getContext());
  Value turned = b.parallel({filter[0], filter[1], filter[3], filter[2]}, element, {op.getFilter()}, {turn},
                            [](ir::ScalarBuilder &, ValueRange v) { return v[0]; });
  return convolve(b, spread, turned, image, {1, 1});
}

// Loops kh, kw, c, f, n, oh, ow.
Value lowerConvFilterGrad(LinalgBuilder &b, ir::ConvFilterGradOp op, LoweringContext &) {
  ArrayRef<int64_t> filter = LinalgBuilder::shapeOf(op.getLike()), strides = op.getStrides();
  Window window = windowOf(LinalgBuilder::shapeOf(op.getInput()), filter[0], filter[1], strides, op.getPadding());
  if (LinalgBuilder::typeOf(op.getCotangent()).getNumElements() == 0)
    return b.zeros(filter, LinalgBuilder::typeOf(op.getInput()).getElementType());
  Value padded = padImages(b, op.getInput(), window, zeroOf(b, op.getInput()));
  MLIRContext *context = b.builder.getContext();
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  AffineMap maps[] = {AffineMap::get(7, 0, {d(4), d(5) * strides[0] + d(0), d(6) * strides[1] + d(1), d(2)}, context),
                      AffineMap::get(7, 0, {d(4), d(5), d(6), d(3)}, context), AffineMap::get(7, 0, {d(0), d(1), d(2), d(3)}, context)};
  return b.generic({padded, op.getCotangent()}, b.zeros(filter, LinalgBuilder::typeOf(padded).getElementType()), maps, 7, {4, 5, 6}, multiplyAdd);
}

Value lowerMaxPool(LinalgBuilder &b, ir::MaxPoolOp op, LoweringContext &) {
  ArrayRef<int64_t> size = op.getWindow(), strides = op.getStrides();
  Type element = LinalgBuilder::typeOf(op.getInput()).getElementType();
  Window window = windowOf(LinalgBuilder::shapeOf(op.getInput()), size[0], size[1], strides, op.getPadding());
  if (LinalgBuilder::typeOf(op.getResult()).getNumElements() == 0)
    return b.empty(LinalgBuilder::shapeOf(op.getResult()), element);
  Value lowest = extremeOf(b.builder, b.location, element, true);
  Value padded = padImages(b, op.getInput(), window, lowest);
  MLIRContext *context = b.builder.getContext();
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  AffineMap maps[] = {AffineMap::get(6, 0, {d(0), d(1) * strides[0] + d(4), d(2) * strides[1] + d(5), d(3)}, context),
                      AffineMap::get(6, 0, {d(4), d(5)}, context), AffineMap::get(6, 0, {d(0), d(1), d(2), d(3)}, context)};
  // It gives the window's loops their bounds and is never read.
  Value bounds = b.empty(size, element);
  return b.generic({padded, bounds}, b.filled(LinalgBuilder::shapeOf(op.getResult()), lowest), maps, 6, {4, 5},
                   [](ir::ScalarBuilder &s, ValueRange v) { return s.maximum(v[2], v[0]); });
}

// The row and column in `input` of a window's first largest element; padding never wins, NaN does.
std::pair<Value, Value> argMaxOfWindow(OpBuilder &builder, Location location, Value input, ArrayRef<int64_t> size,
                                       ArrayRef<int64_t> strides, const Window &window, ValueRange at) {
  ArrayRef<int64_t> shape = LinalgBuilder::shapeOf(input);
  Type element = LinalgBuilder::typeOf(input).getElementType();
  ir::ScalarBuilder s(builder, location);
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, location, value); };
  Value best = extremeOf(builder, location, element, true), bestRow = index(0), bestColumn = index(0), found = s.constant(0, builder.getI1Type());
  for (int64_t k = 0; k < size[0] * size[1]; ++k) {
    auto position = [&](Value outer, int64_t stride, int64_t offset) -> Value {
      Value scaled = arith::MulIOp::create(builder, location, outer, index(stride));
      return arith::AddIOp::create(builder, location, scaled, index(offset));
    };
    Value row = position(at[1], strides[0], k / size[1] - window.rows.padLow);
    Value column = position(at[2], strides[1], k % size[1] - window.columns.padLow);
    auto inside = [&](Value value, int64_t bound) -> Value {
      return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, value, index(bound));
    };
    Value rowIsInside = inside(row, shape[1]), columnIsInside = inside(column, shape[2]);
    Value isInside = s.logicalAnd(rowIsInside, columnIsInside);
    Value safeRow = s.select(isInside, row, index(0)), safeColumn = s.select(isInside, column, index(0));
    Value candidate = tensor::ExtractOp::create(builder, location, input, ValueRange{at[0], safeRow, safeColumn, at[3]});
    Value isLarger = s.less(best, candidate), larger = s.logicalOr(isLarger, isFirstNaN(s, best, candidate));
    Value take = s.logicalAnd(isInside, s.logicalOr(larger, s.logicalNot(found)));
    best = s.select(take, candidate, best);
    bestRow = s.select(take, safeRow, bestRow);
    bestColumn = s.select(take, safeColumn, bestColumn);
    found = s.logicalOr(found, isInside);
  }
  return {bestRow, bestColumn};
}

// Windows that tile the image: each of their elements asks on its own whether it is the first largest one of its window.
Value tiledMaxPoolGrad(LinalgBuilder &b, ir::MaxPoolGradOp op) {
  Value input = op.getInput(), cotangent = op.getCotangent();
  ArrayRef<int64_t> shape = LinalgBuilder::shapeOf(input), out = LinalgBuilder::shapeOf(cotangent), size = op.getWindow();
  Type element = LinalgBuilder::typeOf(input).getElementType();
  SmallVector<int64_t> tiled{shape[0], out[1] * size[0], out[2] * size[1], shape[3]}, zeros(4, 0), ones(4, 1);
  SmallVector<int64_t> split{shape[0], out[1], size[0], out[2], size[1], shape[3]};
  Value covered = ArrayRef<int64_t>(tiled) == shape ? input : b.extract(input, zeros, tiled, ones);
  covered = b.reshape(covered, split);
  MLIRContext *context = b.builder.getContext();
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  auto c = [&](int64_t value) { return b.builder.getAffineConstantExpr(value); };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (int64_t k = 0; k < size[0] * size[1]; ++k) {
    inputs.push_back(covered);
    maps.push_back(AffineMap::get(6, 0, {d(0), d(1), c(k / size[1]), d(3), c(k % size[1]), d(5)}, context));
  }
  inputs.push_back(cotangent);
  maps.push_back(AffineMap::get(6, 0, {d(0), d(1), d(3), d(5)}, context));
  Value result = b.parallel(split, element, inputs, maps, [&](ir::ScalarBuilder &s, ValueRange v) {
    auto number = [&](int64_t value) { return s.constant(static_cast<double>(value), s.builder.getI32Type()); };
    Value best = v[0], position = number(0);
    for (int64_t k = 1; k < size[0] * size[1]; ++k) {
      Value isLarger = s.less(best, v[k]), larger = s.logicalOr(isLarger, isFirstNaN(s, best, v[k]));
      best = s.select(larger, v[k], best);
      position = s.select(larger, number(k), position);
    }
    auto index = [&](unsigned loop) -> Value {
      return arith::IndexCastOp::create(s.builder, s.location, s.builder.getI32Type(), linalg::IndexOp::create(s.builder, s.location, loop));
    };
    Value row = index(2), width = number(size[1]), column = index(4);
    Value isOwn = s.equal(position, s.add(s.mul(row, width), column));
    return s.select(isOwn, v.take_front(size[0] * size[1] + 1).back(), s.constant(0, element));
  });
  result = b.reshape(result, tiled);
  return ArrayRef<int64_t>(tiled) == shape ? result : b.insert(result, b.zeros(shape, element), zeros, ones);
}

Value lowerMaxPoolGrad(LinalgBuilder &b, ir::MaxPoolGradOp op, LoweringContext &) {
  Value input = op.getInput();
  Window window = windowOf(LinalgBuilder::shapeOf(input), op.getWindow()[0], op.getWindow()[1], op.getStrides(), op.getPadding());
  auto isCut = [](const schema::WindowExtent &extent) { return extent.padLow || extent.padHigh; };
  constexpr int64_t kMostCandidates = 16; // each is read for each element
  if (op.getWindow() == op.getStrides() && op.getWindow()[0] * op.getWindow()[1] <= kMostCandidates && !isCut(window.rows) && !isCut(window.columns))
    return tiledMaxPoolGrad(b, op);
  Value result = b.zeros(LinalgBuilder::shapeOf(input), LinalgBuilder::typeOf(input).getElementType());
  return b.loopNest(LinalgBuilder::shapeOf(op.getCotangent()), {result}, [&](OpBuilder &inner, ValueRange at, ValueRange carried) -> SmallVector<Value> {
    auto [row, column] = argMaxOfWindow(inner, b.location, input, op.getWindow(), op.getStrides(), window, at);
    ir::ScalarBuilder s(inner, b.location);
    Value g = tensor::ExtractOp::create(inner, b.location, op.getCotangent(), at);
    SmallVector<Value> indices{at[0], row, column, at[3]};
    Value old = tensor::ExtractOp::create(inner, b.location, carried[0], indices);
    return {tensor::InsertOp::create(inner, b.location, s.add(old, g), carried[0], indices)};
  })[0];
}

Value lowerMaxPoolPick(LinalgBuilder &b, ir::MaxPoolPickOp op, LoweringContext &) {
  Value input = op.getInput();
  Window window = windowOf(LinalgBuilder::shapeOf(input), op.getWindow()[0], op.getWindow()[1], op.getStrides(), op.getPadding());
  RankedTensorType type = LinalgBuilder::typeOf(op.getResult());
  return b.loopNest(type.getShape(), {b.empty(type.getShape(), type.getElementType())}, [&](OpBuilder &inner, ValueRange at, ValueRange carried) -> SmallVector<Value> {
    auto [row, column] = argMaxOfWindow(inner, b.location, input, op.getWindow(), op.getStrides(), window, at);
    Value picked = tensor::ExtractOp::create(inner, b.location, op.getValues(), SmallVector<Value>{at[0], row, column, at[3]});
    return {tensor::InsertOp::create(inner, b.location, picked, carried[0], at)};
  })[0];
}

} // namespace

void populateStructuredLowering(RewritePatternSet &patterns, LoweringContext &context) {
  addLowering<ir::SumOp>(patterns, context, lowerSum);
  addLowering<ir::ReduceMaxOp>(patterns, context, lowerReduceMax);
  addLowering<ir::ReduceMinOp>(patterns, context, lowerReduceMin);
  addLowering<ir::SumLikeOp>(patterns, context, lowerSumLike);
  addLowering<ir::AxisSizeOp>(patterns, context, lowerAxisSize);
  addLowering<ir::ArgMaxOp>(patterns, context, lowerArgMax);
  addLowering<ir::ContractOp>(patterns, context, lowerContract);
  addLowering<ir::ConvOp>(patterns, context, lowerConv);
  addLowering<ir::ConvInputGradOp>(patterns, context, lowerConvInputGrad);
  addLowering<ir::ConvFilterGradOp>(patterns, context, lowerConvFilterGrad);
  addLowering<ir::MaxPoolOp>(patterns, context, lowerMaxPool);
  addLowering<ir::MaxPoolGradOp>(patterns, context, lowerMaxPoolGrad);
  addLowering<ir::MaxPoolPickOp>(patterns, context, lowerMaxPoolPick);
}

} // namespace calque::codegen
