#include "codegen/Lowering.h"
#include "ir/schema/TypeRules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;

namespace calque::codegen {

using Ints = SmallVector<int64_t>;

static Ints normalAxes(ArrayRef<int64_t> axes, int64_t rank, bool emptyMeansAll) {
  Ints result;
  if (axes.empty() && emptyMeansAll)
    for (int64_t i = 0; i < rank; ++i)
      result.push_back(i);
  for (int64_t axis : axes)
    result.push_back(normalAxis(axis, rank));
  return result;
}

// The identity of max (`low`) or min for an element type.
static Value extremeOf(OpBuilder &builder, Location location, Type type, bool low) {
  if (auto floating = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(
        builder, location, builder.getFloatAttr(floating, APFloat::getInf(floating.getFloatSemantics(), low)));
  unsigned width = type.getIntOrFloatBitWidth();
  return arith::ConstantOp::create(
      builder, location,
      builder.getIntegerAttr(type, low ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width)));
}

template <typename Op>
static Value lowerReduction(LinalgBuilder &b, Op op, Value neutral, LinalgBuilder::Body combine) {
  SizeList shape = b.sizesOf(op.getX()), result;
  Ints axes = normalAxes(op.getAxes(), shape.size(), true);
  for (auto [i, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      result.push_back(size);
    else if (op.getKeepdims())
      result.push_back(b.sizes.constant(1));
  return b.reshape(b.reduce(op.getX(), axes, neutral, combine), result);
}

// Checks that no reduced axis is empty, because an empty set has no largest element.
static void requireElements(LinalgBuilder &b, Operation *op, ArrayRef<int64_t> axes, LoweringContext &context) {
  for (int64_t axis : axes)
    context.atLeast(op, 0, axis, b.sizes.constant(1));
}

Lowered lower(LinalgBuilder &b, ir::SumOp op, LoweringContext &) {
  Value zero = ir::ScalarBuilder(b.builder, b.location).constant(0, LinalgBuilder::typeOf(op.getX()).getElementType());
  return lowerReduction(b, op, zero, [](ir::ScalarBuilder &s, ValueRange v) { return s.add(v[1], v[0]); });
}

Lowered lower(LinalgBuilder &b, ir::ProdOp op, LoweringContext &) {
  Value one = ir::ScalarBuilder(b.builder, b.location).constant(1, LinalgBuilder::typeOf(op.getX()).getElementType());
  return lowerReduction(b, op, one, [](ir::ScalarBuilder &s, ValueRange v) { return s.mul(v[1], v[0]); });
}

Lowered lower(LinalgBuilder &b, ir::AnyOp op, LoweringContext &) {
  Value no = ir::ScalarBuilder(b.builder, b.location).constant(0, b.builder.getI1Type());
  return lowerReduction(b, op, no, [](ir::ScalarBuilder &s, ValueRange v) { return s.logicalOr(v[1], v[0]); });
}

Lowered lower(LinalgBuilder &b, ir::AllOp op, LoweringContext &) {
  Value yes = ir::ScalarBuilder(b.builder, b.location).constant(1, b.builder.getI1Type());
  return lowerReduction(b, op, yes, [](ir::ScalarBuilder &s, ValueRange v) { return s.logicalAnd(v[1], v[0]); });
}

Lowered lower(LinalgBuilder &b, ir::ReduceMaxOp op, LoweringContext &context) {
  requireElements(b, op, normalAxes(op.getAxes(), LinalgBuilder::rankOf(op.getX()), true), context);
  Value lowest = extremeOf(b.builder, b.location, LinalgBuilder::typeOf(op.getX()).getElementType(), true);
  return lowerReduction(b, op, lowest, [](ir::ScalarBuilder &s, ValueRange v) { return s.maximum(v[1], v[0]); });
}

Lowered lower(LinalgBuilder &b, ir::ReduceMinOp op, LoweringContext &context) {
  requireElements(b, op, normalAxes(op.getAxes(), LinalgBuilder::rankOf(op.getX()), true), context);
  Value highest = extremeOf(b.builder, b.location, LinalgBuilder::typeOf(op.getX()).getElementType(), false);
  return lowerReduction(b, op, highest, [](ir::ScalarBuilder &s, ValueRange v) { return s.minimum(v[1], v[0]); });
}

Lowered lower(LinalgBuilder &b, ir::SumLikeOp op, LoweringContext &context) {
  ArrayRef<int64_t> from = LinalgBuilder::shapeOf(op.getX()), to = LinalgBuilder::shapeOf(op.getLike());
  size_t offset = from.size() - to.size();
  Ints axes;
  for (size_t i = 0; i < from.size(); ++i)
    if (i < offset || (to[i - offset] == 1 && from[i] != 1))
      axes.push_back(i);
    else
      context.equal(op, 0, i, 1, i - offset);
  Value zero = ir::ScalarBuilder(b.builder, b.location).constant(0, LinalgBuilder::typeOf(op.getX()).getElementType());
  Value sum = axes.empty() ? op.getX() : b.reduce(op.getX(), axes, zero, [](ir::ScalarBuilder &s, ValueRange v) {
    return s.add(v[1], v[0]);
  });
  return b.reshape(sum, b.sizesOf(op.getLike()));
}

Lowered lower(LinalgBuilder &b, ir::AxisSizeOp op, LoweringContext &) {
  SizeList counted;
  for (int64_t axis : normalAxes(op.getAxes(), LinalgBuilder::rankOf(op.getX()), true))
    counted.push_back(b.sizes.of(op.getX(), axis));
  Size count = b.sizes.product(counted);
  Type element = LinalgBuilder::typeOf(op.getX()).getElementType();
  ir::ScalarBuilder s(b.builder, b.location);
  if (std::optional<int64_t> constant = constantOf(count))
    return b.filled({}, s.constant(*constant, element));
  Value wide = arith::IndexCastOp::create(b.builder, b.location, b.builder.getI64Type(), b.valueOf(count));
  return b.filled({}, s.castTo(wide, element));
}

// Whether `element` is NaN and `best` is not.
static Value isFirstNaN(ir::ScalarBuilder &s, Value best, Value element) {
  Value isNaN = s.notEqual(element, element), isNumber = s.equal(best, best);
  return s.logicalAnd(isNaN, isNumber);
}

// The index of the largest or smallest element along an axis.
template <typename Op> static Value lowerArgExtreme(LinalgBuilder &b, Op op, bool largest, LoweringContext &context) {
  Value x = op.getX();
  SizeList shape = b.sizesOf(x), kept;
  int64_t rank = shape.size(), axis = normalAxis(op.getAxis(), rank);
  requireElements(b, op, {axis}, context);
  Type element = LinalgBuilder::typeOf(x).getElementType(), i64 = b.builder.getI64Type();
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
  Value best = b.filled(kept, extremeOf(b.builder, b.location, element, largest)),
        index = b.filled(kept, outer.constant(-1, i64));
  Value result =
      linalg::GenericOp::create(
          b.builder, b.location, TypeRange{best.getType(), index.getType()}, ValueRange{x}, ValueRange{best, index},
          ArrayRef<AffineMap>{b.builder.getMultiDimIdentityMap(rank), keptMap, keptMap}, iterators,
          [&](OpBuilder &inner, Location location, ValueRange v) {
            ir::ScalarBuilder s(inner, location);
            // Takes the first element, and then each better one. NaN is better than every number.
            Value isFirst = s.less(v[2], s.constant(0, i64));
            Value take = s.logicalOr(isFirst, largest ? s.less(v[1], v[0]) : s.less(v[0], v[1]));
            if (isa<FloatType>(element))
              take = s.logicalOr(take, isFirstNaN(s, v[1], v[0]));
            Value position =
                arith::IndexCastOp::create(inner, location, i64, linalg::IndexOp::create(inner, location, axis));
            linalg::YieldOp::create(inner, location,
                                    ValueRange{s.select(take, v[0], v[1]), s.select(take, position, v[2])});
          })
          .getResult(1);
  b.sizes.set(result, kept);
  return result;
}

Lowered lower(LinalgBuilder &b, ir::ArgMaxOp op, LoweringContext &context) {
  return lowerArgExtreme(b, op, true, context);
}
Lowered lower(LinalgBuilder &b, ir::ArgMinOp op, LoweringContext &context) {
  return lowerArgExtreme(b, op, false, context);
}

static Value multiplyAdd(ir::ScalarBuilder &s, ValueRange v) { return s.add(v[2], s.mul(v[0], v[1])); }

Lowered lower(LinalgBuilder &b, ir::ContractOp op, LoweringContext &context) {
  struct Side {
    Value value;
    Ints batch, contracting;
    SmallVector<AffineExpr> expressions;
  } sides[] = {{op.getLhs(), {}, {}, {}}, {op.getRhs(), {}, {}, {}}};
  ArrayRef<int64_t> batches[] = {op.getLhsBatch(), op.getRhsBatch()},
                    contractings[] = {op.getLhsContracting(), op.getRhsContracting()};
  for (int i : {0, 1}) {
    int64_t rank = LinalgBuilder::typeOf(sides[i].value).getRank();
    sides[i].batch = normalAxes(batches[i], rank, false);
    sides[i].contracting = normalAxes(contractings[i], rank, false);
    sides[i].expressions.resize(rank);
  }
  unsigned next = 0;
  auto loop = [&] { return b.builder.getAffineDimExpr(next++); };
  SizeList shape;
  for (auto [l, r] : llvm::zip_equal(sides[0].batch, sides[1].batch)) {
    sides[0].expressions[l] = sides[1].expressions[r] = loop();
    shape.push_back(context.equal(op, 0, l, 1, r));
  }
  for (Side &side : sides)
    for (auto [dim, expression] : llvm::enumerate(side.expressions))
      if (!expression && !llvm::is_contained(side.contracting, static_cast<int64_t>(dim))) {
        expression = loop();
        shape.push_back(b.sizes.of(side.value, dim));
      }
  unsigned resultRank = next;
  SmallVector<unsigned> reductionLoops;
  for (auto [l, r] : llvm::zip_equal(sides[0].contracting, sides[1].contracting)) {
    reductionLoops.push_back(next);
    sides[0].expressions[l] = sides[1].expressions[r] = loop();
    context.equal(op, 0, l, 1, r);
  }
  MLIRContext *mlirContext = b.builder.getContext();
  SmallVector<AffineExpr> resultExpressions;
  for (unsigned i = 0; i < resultRank; ++i)
    resultExpressions.push_back(b.builder.getAffineDimExpr(i));
  AffineMap maps[] = {AffineMap::get(next, 0, sides[0].expressions, mlirContext),
                      AffineMap::get(next, 0, sides[1].expressions, mlirContext),
                      AffineMap::get(next, 0, resultExpressions, mlirContext)};
  Type element = LinalgBuilder::typeOf(op.getResult()).getElementType();
  if (reductionLoops.empty())
    return b.parallel(shape, element, {op.getLhs(), op.getRhs()}, ArrayRef(maps).drop_back(),
                      [](ir::ScalarBuilder &s, ValueRange v) { return s.mul(v[0], v[1]); });
  return b.generic({op.getLhs(), op.getRhs()}, b.zeros(shape, element), maps, next, reductionLoops, multiplyAdd);
}

//===-- Windows ---------------------------------------------------------------------------------===//

namespace {
// The sizes of a window, of its output and of the padding around its input, for one dimension.
struct Extent {
  Size output, padLow, padHigh;
  int64_t window;
  bool isPadded() const { return constantOf(padLow) != 0 || constantOf(padHigh) != 0; }
};
struct Window {
  Extent rows, columns;
  SmallVector<int64_t> size() const { return {rows.window, columns.window}; }
};
} // namespace

// The same formula as schema::windowExtent, on sizes that may be unknown.
static Extent extentOf(Sizes &sizes, Size input, int64_t window, int64_t stride, bool same) {
  if (std::optional<int64_t> known = constantOf(input)) {
    schema::WindowExtent extent = schema::windowExtent(*known, window, stride, same);
    return {sizes.constant(extent.output), sizes.constant(extent.padLow), sizes.constant(extent.padHigh), window};
  }
  Size zero = sizes.constant(0), by = sizes.constant(stride), size = sizes.constant(window);
  if (!same)
    return {sizes.divide(sizes.maximum(sizes.add(sizes.subtract(input, size), by), zero), by), zero, zero, window};
  Size output = sizes.divide(sizes.add(input, sizes.constant(stride - 1)), by);
  Size covered = sizes.add(sizes.subtract(sizes.multiply(output, by), by), size);
  Size padding = sizes.maximum(sizes.subtract(covered, input), zero), low = sizes.divide(padding, sizes.constant(2));
  return {output, low, sizes.subtract(padding, low), window};
}

// The part of a window that meets the image in any place, with the padding that this part needs. What padding and loops
// cost then grows with the image and not with the window. Sizes that are unknown leave the window as it is.
static Extent clipped(Sizes &sizes, Extent extent, Size input, int64_t stride) {
  std::optional<int64_t> length = constantOf(input);
  if (!length || *length == 0 || constantOf(extent.output) == 0)
    return extent;
  int64_t before = *constantOf(extent.padLow), lastStart = (*constantOf(extent.output) - 1) * stride;
  int64_t first = std::max<int64_t>(before - lastStart, 0), end = std::min(extent.window, before + *length);
  before -= first;
  int64_t after = std::max<int64_t>(lastStart + (end - first) - before - *length, 0);
  return {extent.output, sizes.constant(before), sizes.constant(after), end - first};
}

static Window windowOf(LinalgBuilder &b, Value input, int64_t height, int64_t width, ArrayRef<int64_t> strides,
                       StringRef padding) {
  bool same = padding == "same";
  return {extentOf(b.sizes, b.sizes.of(input, 1), height, strides[0], same),
          extentOf(b.sizes, b.sizes.of(input, 2), width, strides[1], same)};
}

template <typename PoolOp> static Window poolWindowOf(LinalgBuilder &b, PoolOp op) {
  Value input = op.getInput();
  ArrayRef<int64_t> size = op.getWindow(), strides = op.getStrides();
  Window whole = windowOf(b, input, size[0], size[1], strides, op.getPadding());
  return {clipped(b.sizes, whole.rows, b.sizes.of(input, 1), strides[0]),
          clipped(b.sizes, whole.columns, b.sizes.of(input, 2), strides[1])};
}

static Value padImages(LinalgBuilder &b, Value input, const Window &window, Value value) {
  if (!window.rows.isPadded() && !window.columns.isPadded())
    return input;
  SizeList shape = b.sizesOf(input);
  shape[1] = b.sizes.add(shape[1], b.sizes.add(window.rows.padLow, window.rows.padHigh));
  shape[2] = b.sizes.add(shape[2], b.sizes.add(window.columns.padLow, window.columns.padHigh));
  Size zero = b.sizes.constant(0);
  return b.insert(input, b.filled(shape, value), {zero, window.rows.padLow, window.columns.padLow, zero}, {1, 1, 1, 1});
}

static bool isEmpty(ArrayRef<Size> sizes) {
  return llvm::any_of(sizes, [](Size size) { return constantOf(size) == 0; });
}

// Loops n, oh, ow, f, kh, kw, c over padded images.
static Value convolve(LinalgBuilder &b, Value padded, Value filter, ArrayRef<Size> resultShape,
                      ArrayRef<int64_t> strides) {
  // Without windows the largest strided index would be negative, which linalg refuses.
  if (isEmpty(resultShape))
    return b.empty(resultShape, LinalgBuilder::typeOf(padded).getElementType());
  MLIRContext *context = b.builder.getContext();
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  AffineMap maps[] = {AffineMap::get(7, 0, {d(0), d(1) * strides[0] + d(4), d(2) * strides[1] + d(5), d(6)}, context),
                      AffineMap::get(7, 0, {d(4), d(5), d(6), d(3)}, context),
                      AffineMap::get(7, 0, {d(0), d(1), d(2), d(3)}, context)};
  return b.generic({padded, filter}, b.zeros(resultShape, LinalgBuilder::typeOf(padded).getElementType()), maps, 7,
                   {4, 5, 6}, multiplyAdd);
}

static Value zeroOf(LinalgBuilder &b, Value like) {
  return ir::ScalarBuilder(b.builder, b.location).constant(0, LinalgBuilder::typeOf(like).getElementType());
}

// The sizes of the result of a window that slides over `input`, with `channels` channels.
static SizeList slidOver(LinalgBuilder &b, Value input, const Window &window, Size channels) {
  return {b.sizes.of(input, 0), window.rows.output, window.columns.output, channels};
}

static void equalSizes(LinalgBuilder &b, Operation *op, unsigned operand, ArrayRef<Size> expected,
                       LoweringContext &context) {
  for (auto [i, size] : llvm::enumerate(expected))
    context.equal(op, b.sizes.named(op, operand, i), b.sizes.named(size));
}

Lowered lower(LinalgBuilder &b, ir::ConvOp op, LoweringContext &context) {
  ArrayRef<int64_t> filter = LinalgBuilder::shapeOf(op.getFilter());
  context.equal(op, 0, 3, 1, 2);
  Window window = windowOf(b, op.getInput(), filter[0], filter[1], op.getStrides(), op.getPadding());
  SizeList result = slidOver(b, op.getInput(), window, b.sizes.of(op.getFilter(), 3));
  return convolve(b, padImages(b, op.getInput(), window, zeroOf(b, op.getInput())), op.getFilter(), result,
                  op.getStrides());
}

// Dilates the cotangent by the strides, pads it with zeros, and convolves it with the flipped filter.
Lowered lower(LinalgBuilder &b, ir::ConvInputGradOp op, LoweringContext &context) {
  ArrayRef<int64_t> filter = LinalgBuilder::shapeOf(op.getFilter()), strides = op.getStrides();
  context.equal(op, 2, 3, 1, 2);
  Window window = windowOf(b, op.getLike(), filter[0], filter[1], strides, op.getPadding());
  SizeList image = b.sizesOf(op.getLike()), filterSizes = b.sizesOf(op.getFilter());
  equalSizes(b, op, 0, slidOver(b, op.getLike(), window, filterSizes[3]), context);
  Type element = LinalgBuilder::typeOf(op.getFilter()).getElementType();
  Size border[] = {b.sizes.constant(filter[0] - 1), b.sizes.constant(filter[1] - 1)};
  Value spread =
      b.zeros({image[0], b.sizes.add(image[1], border[0]), b.sizes.add(image[2], border[1]), filterSizes[3]}, element);
  Size zero = b.sizes.constant(0);
  spread = b.insert(
      op.getCotangent(), spread,
      {zero, b.sizes.subtract(border[0], window.rows.padLow), b.sizes.subtract(border[1], window.columns.padLow), zero},
      {1, strides[0], strides[1], 1});
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  AffineMap turn =
      AffineMap::get(4, 0, {filter[0] - 1 - d(0), filter[1] - 1 - d(1), d(3), d(2)}, b.builder.getContext());
  Value turned = b.parallel({filterSizes[0], filterSizes[1], filterSizes[3], filterSizes[2]}, element, {op.getFilter()},
                            {turn}, [](ir::ScalarBuilder &, ValueRange v) { return v[0]; });
  return convolve(b, spread, turned, image, {1, 1});
}

// Loops kh, kw, c, f, n, oh, ow.
Lowered lower(LinalgBuilder &b, ir::ConvFilterGradOp op, LoweringContext &lowering) {
  ArrayRef<int64_t> filter = LinalgBuilder::shapeOf(op.getLike()), strides = op.getStrides();
  lowering.equal(op, 0, 3, 2, 2);
  Window window = windowOf(b, op.getInput(), filter[0], filter[1], strides, op.getPadding());
  SizeList cotangent = slidOver(b, op.getInput(), window, b.sizes.of(op.getLike(), 3));
  equalSizes(b, op, 1, cotangent, lowering);
  Value zeros = b.zeros(b.sizesOf(op.getLike()), LinalgBuilder::typeOf(op.getInput()).getElementType());
  if (isEmpty(cotangent))
    return zeros;
  Value padded = padImages(b, op.getInput(), window, zeroOf(b, op.getInput()));
  MLIRContext *context = b.builder.getContext();
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  AffineMap maps[] = {AffineMap::get(7, 0, {d(4), d(5) * strides[0] + d(0), d(6) * strides[1] + d(1), d(2)}, context),
                      AffineMap::get(7, 0, {d(4), d(5), d(6), d(3)}, context),
                      AffineMap::get(7, 0, {d(0), d(1), d(2), d(3)}, context)};
  return b.generic({padded, op.getCotangent()}, zeros, maps, 7, {4, 5, 6}, multiplyAdd);
}

Lowered lower(LinalgBuilder &b, ir::MaxPoolOp op, LoweringContext &) {
  ArrayRef<int64_t> strides = op.getStrides();
  Type element = LinalgBuilder::typeOf(op.getInput()).getElementType();
  Window window = poolWindowOf(b, op);
  SizeList result = slidOver(b, op.getInput(), window, b.sizes.of(op.getInput(), 3));
  if (isEmpty(result))
    return b.empty(result, element);
  Value lowest = extremeOf(b.builder, b.location, element, true);
  Value padded = padImages(b, op.getInput(), window, lowest);
  MLIRContext *context = b.builder.getContext();
  auto d = [&](unsigned i) { return b.builder.getAffineDimExpr(i); };
  AffineMap maps[] = {AffineMap::get(6, 0, {d(0), d(1) * strides[0] + d(4), d(2) * strides[1] + d(5), d(3)}, context),
                      AffineMap::get(6, 0, {d(4), d(5)}, context),
                      AffineMap::get(6, 0, {d(0), d(1), d(2), d(3)}, context)};
  // linalg takes the bounds of the window's loops from this operand; no one reads its elements.
  Value bounds = b.empty(b.sizes.constants(window.size()), element);
  return b.generic({padded, bounds}, b.filled(result, lowest), maps, 6, {4, 5},
                   [](ir::ScalarBuilder &s, ValueRange v) { return s.maximum(v[2], v[0]); });
}

// The row and column in `input` of the first largest element of a window. NaN is larger than every number, and padding
// is never chosen.
static std::pair<Value, Value> argMaxOfWindow(LinalgBuilder &b, OpBuilder &builder, Value input,
                                              ArrayRef<int64_t> strides, const Window &window, ValueRange at) {
  Location location = b.location;
  SmallVector<int64_t> size = window.size();
  SizeList shape = b.sizesOf(input);
  Type element = LinalgBuilder::typeOf(input).getElementType();
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, location, value); };
  auto valueOf = [&](Size value) { return constantOf(value) ? index(*constantOf(value)) : b.valueOf(value); };
  // The loop carries the best element so far, its row and column, and whether there is one.
  auto compare = [&](OpBuilder &inner, Value rowInWindow, Value columnInWindow,
                     ValueRange state) -> SmallVector<Value> {
    ir::ScalarBuilder s(inner, location);
    auto position = [&](Value outer, int64_t stride, Value offset, Size before) -> Value {
      Value first = arith::MulIOp::create(inner, location, outer, index(stride));
      return arith::SubIOp::create(inner, location, arith::AddIOp::create(inner, location, first, offset),
                                   valueOf(before));
    };
    Value row = position(at[1], strides[0], rowInWindow, window.rows.padLow);
    Value column = position(at[2], strides[1], columnInWindow, window.columns.padLow);
    auto inside = [&](Value value, Size bound) -> Value {
      return arith::CmpIOp::create(inner, location, arith::CmpIPredicate::ult, value, valueOf(bound));
    };
    Value rowIsInside = inside(row, shape[1]), columnIsInside = inside(column, shape[2]);
    Value isInside = s.logicalAnd(rowIsInside, columnIsInside);
    Value safeRow = s.select(isInside, row, index(0)), safeColumn = s.select(isInside, column, index(0));
    Value candidate = tensor::ExtractOp::create(inner, location, input, ValueRange{at[0], safeRow, safeColumn, at[3]});
    Value best = state[0], found = state[3];
    Value isLarger = s.less(best, candidate), larger = s.logicalOr(isLarger, isFirstNaN(s, best, candidate));
    Value take = s.logicalAnd(isInside, s.logicalOr(larger, s.logicalNot(found)));
    return {s.select(take, candidate, best), s.select(take, safeRow, state[1]), s.select(take, safeColumn, state[2]),
            s.logicalOr(found, isInside)};
  };
  SmallVector<Value> state{extremeOf(builder, location, element, true), index(0), index(0),
                           ir::ScalarBuilder(builder, location).constant(0, builder.getI1Type())};
  constexpr int64_t kMostUnrolled = 64;
  if (size[0] <= kMostUnrolled && size[1] <= kMostUnrolled / size[0]) {
    for (int64_t k = 0; k < size[0] * size[1]; ++k)
      state = compare(builder, index(k / size[1]), index(k % size[1]), state);
    return {state[1], state[2]};
  }
  auto loops = scf::buildLoopNest(
      builder, location, {index(0), index(0)}, {index(size[0]), index(size[1])}, {index(1), index(1)}, state,
      [&](OpBuilder &inner, Location, ValueRange place, ValueRange carried) -> scf::ValueVector {
        SmallVector<Value> next = compare(inner, place[0], place[1], carried);
        return scf::ValueVector(next.begin(), next.end());
      });
  return {loops.results[1], loops.results[2]};
}

// For windows that tile the image: each element compares itself with the others of its window, so that all elements are
// computed independently.
static Value tiledMaxPoolGrad(LinalgBuilder &b, ir::MaxPoolGradOp op, ArrayRef<int64_t> size) {
  Value input = op.getInput(), cotangent = op.getCotangent();
  SizeList shape = b.sizesOf(input), out = b.sizesOf(cotangent), zeros = b.sizes.constants({0, 0, 0, 0});
  Type element = LinalgBuilder::typeOf(input).getElementType();
  SmallVector<int64_t> ones(4, 1);
  Size height = b.sizes.constant(size[0]), width = b.sizes.constant(size[1]);
  SizeList tiled{shape[0], b.sizes.multiply(out[1], height), b.sizes.multiply(out[2], width), shape[3]};
  SizeList split{shape[0], out[1], height, out[2], width, shape[3]};
  Value covered = tiled == shape ? input : b.extract(input, zeros, tiled, ones);
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
    auto number = [&](int64_t value) { return s.constant(value, s.builder.getI32Type()); };
    Value best = v[0], position = number(0);
    for (int64_t k = 1; k < size[0] * size[1]; ++k) {
      Value isLarger = s.less(best, v[k]), larger = s.logicalOr(isLarger, isFirstNaN(s, best, v[k]));
      best = s.select(larger, v[k], best);
      position = s.select(larger, number(k), position);
    }
    auto index = [&](unsigned loop) -> Value {
      return arith::IndexCastOp::create(s.builder, s.location, s.builder.getI32Type(),
                                        linalg::IndexOp::create(s.builder, s.location, loop));
    };
    Value row = index(2), width = number(size[1]), column = index(4);
    Value isOwn = s.equal(position, s.add(s.mul(row, width), column));
    return s.select(isOwn, v.take_front(size[0] * size[1] + 1).back(), s.constant(0, element));
  });
  result = b.reshape(result, tiled);
  return tiled == shape ? result : b.insert(result, b.zeros(shape, element), zeros, ones);
}

Lowered lower(LinalgBuilder &b, ir::MaxPoolGradOp op, LoweringContext &context) {
  Value input = op.getInput();
  Window window = poolWindowOf(b, op);
  equalSizes(b, op, 1, slidOver(b, input, window, b.sizes.of(input, 3)), context);
  constexpr int64_t kMostCandidates = 16; // each element of a window reads all others
  // The reshape of an image into tiles needs known sizes.
  bool isKnown = constantOf(b.sizes.of(input, 1)) && constantOf(b.sizes.of(input, 2));
  SmallVector<int64_t> size = window.size();
  if (ArrayRef(size) == op.getStrides() && size[0] * size[1] <= kMostCandidates && isKnown && !window.rows.isPadded() &&
      !window.columns.isPadded())
    return tiledMaxPoolGrad(b, op, size);
  Value result = b.zeros(b.sizesOf(input), LinalgBuilder::typeOf(input).getElementType());
  return b.loopNest(b.sizesOf(op.getCotangent()), {result},
                    [&](OpBuilder &inner, ValueRange at, ValueRange carried) -> SmallVector<Value> {
                      auto [row, column] = argMaxOfWindow(b, inner, input, op.getStrides(), window, at);
                      ir::ScalarBuilder s(inner, b.location);
                      Value g = tensor::ExtractOp::create(inner, b.location, op.getCotangent(), at);
                      SmallVector<Value> indices{at[0], row, column, at[3]};
                      Value old = tensor::ExtractOp::create(inner, b.location, carried[0], indices);
                      return {tensor::InsertOp::create(inner, b.location, s.add(old, g), carried[0], indices)};
                    })[0];
}

Lowered lower(LinalgBuilder &b, ir::MaxPoolPickOp op, LoweringContext &context) {
  Value input = op.getInput();
  equalSizes(b, op, 1, b.sizesOf(input), context);
  Window window = poolWindowOf(b, op);
  SizeList result = slidOver(b, input, window, b.sizes.of(input, 3));
  return b.loopNest(result, {b.empty(result, LinalgBuilder::typeOf(input).getElementType())},
                    [&](OpBuilder &inner, ValueRange at, ValueRange carried) -> SmallVector<Value> {
                      auto [row, column] = argMaxOfWindow(b, inner, input, op.getStrides(), window, at);
                      Value picked = tensor::ExtractOp::create(inner, b.location, op.getValues(),
                                                               SmallVector<Value>{at[0], row, column, at[3]});
                      return {tensor::InsertOp::create(inner, b.location, picked, carried[0], at)};
                    })[0];
}

} // namespace calque::codegen
