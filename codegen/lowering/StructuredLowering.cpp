#include "codegen/lowering/Lowering.h"
#include "codegen/lowering/Reductions.h"
#include "ir/ElementType.h"
#include "ir/Signs.h"

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

Value extremeOf(OpBuilder &builder, Operation *op, bool low) {
  const ir::ElementType element(op->getOperand(0));
  return arith::ConstantOp::create(builder, op->getLoc(), element.extreme(low, ir::isUnsignedOperand(op, 0)));
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
  return lowerReduction(b, op, extremeOf(b.builder, op, true),
                        [&](ir::ScalarBuilder &s, ValueRange v) { return s.of(op).maximum(v[1], v[0]); });
}

Lowered lower(LinalgBuilder &b, ir::ReduceMinOp op, LoweringContext &context) {
  requireElements(b, op, normalAxes(op.getAxes(), LinalgBuilder::rankOf(op.getX()), true), context);
  return lowerReduction(b, op, extremeOf(b.builder, op, false),
                        [&](ir::ScalarBuilder &s, ValueRange v) { return s.of(op).minimum(v[1], v[0]); });
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

Value isFirstNaN(ir::ScalarBuilder &s, Value best, Value element) {
  Value isNaN = s.notEqual(element, element), isNumber = s.equal(best, best);
  return s.logicalAnd(isNaN, isNumber);
}

// The index of the largest or smallest element along an axis: first the element, and then the first place that has it.
// Both are reductions in vectors, along the axis too. NaN is the extreme of what holds one.
template <typename Op> static Value lowerArgExtreme(LinalgBuilder &b, Op op, bool largest, LoweringContext &context) {
  Value x = op.getX();
  SizeList shape = b.sizesOf(x), kept;
  int64_t rank = shape.size(), axis = normalAxis(op.getAxis(), rank);
  requireElements(b, op, {axis}, context);
  Type element = LinalgBuilder::typeOf(x).getElementType(), i64 = b.builder.getI64Type();
  SmallVector<AffineExpr> expressions;
  for (int64_t i = 0; i < rank; ++i) {
    if (i == axis)
      continue;
    kept.push_back(shape[i]);
    expressions.push_back(b.builder.getAffineDimExpr(i));
  }
  Value best = b.reduce(x, {axis}, extremeOf(b.builder, op, largest), [&](ir::ScalarBuilder &s, ValueRange v) {
    return largest ? s.of(op).maximum(v[1], v[0]) : s.of(op).minimum(v[1], v[0]);
  });
  AffineMap keptMap = AffineMap::get(rank, 0, expressions, b.builder.getContext());
  ir::ScalarBuilder outer(b.builder, b.location);
  Value none = outer.constant(std::numeric_limits<int64_t>::max(), i64);
  return b.generic({x, best}, b.filled(kept, none), {b.builder.getMultiDimIdentityMap(rank), keptMap, keptMap}, rank,
                   {static_cast<unsigned>(axis)}, [&](ir::ScalarBuilder &s, ValueRange v) -> Value {
                     Value isBest = s.equal(v[0], v[1]);
                     if (isa<FloatType>(element))
                       isBest = s.logicalOr(isBest, s.notEqual(v[0], v[0]));
                     Value place = arith::IndexCastOp::create(s.builder, s.location, i64,
                                                              linalg::IndexOp::create(s.builder, s.location, axis));
                     return s.minimum(v[2],
                                      s.select(isBest, place, s.constant(std::numeric_limits<int64_t>::max(), i64)));
                   });
}

Lowered lower(LinalgBuilder &b, ir::ArgMaxOp op, LoweringContext &context) {
  return lowerArgExtreme(b, op, true, context);
}
Lowered lower(LinalgBuilder &b, ir::ArgMinOp op, LoweringContext &context) {
  return lowerArgExtreme(b, op, false, context);
}

Value multiplyAdd(ir::ScalarBuilder &s, ValueRange v) { return s.add(v[2], s.mul(v[0], v[1])); }

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

} // namespace calque::codegen
