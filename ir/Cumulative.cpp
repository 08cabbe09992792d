// The rules of sums and products along an axis.
#include "ir/BatchRule.h"
#include "ir/GradientRule.h"
#include "ir/Parts.h"
#include "schema/TypeRules.h"

using namespace mlir;

namespace calque::ir {

namespace {

// What stands before each element in the order in which an axis is run through, and `fill` at the first.
Value shifted(GradientRule &rule, Value x, int64_t axis, bool reverse, double fill) {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank(), dimension = schema::normalAxis(axis, rank);
  SmallVector<int64_t> low(rank), high(rank), starts(rank), ones(rank, 1);
  (reverse ? high : low)[dimension] = 1;
  starts[dimension] = reverse;
  schema::Scalar value = fill;
  Value padded = rule.create<PadOp>(x, low, high, value);
  return rule.create<SliceLikeOp>(padded, x, starts, ones);
}

// Of complex numbers.
Parts shifted(GradientRule &rule, Parts z, int64_t axis, bool reverse) {
  return {shifted(rule, z.re, axis, reverse, 0), shifted(rule, z.im, axis, reverse, 0)};
}
Parts multiplied(GradientRule &rule, Parts a, Parts b) {
  auto times = [&](Value x, Value y) { return rule.create<MulOp>(x, y); };
  Value both = times(a.re, b.re), turned = times(a.im, b.im), right = times(a.re, b.im), left = times(a.im, b.re);
  return {rule.create<SubOp>(both, turned), rule.create<AddOp>(right, left)};
}
Parts conjugated(GradientRule &rule, Parts z) { return {z.re, rule.create<NegOp>(z.im)}; }
Parts recurrence(GradientRule &rule, Parts factors, Parts terms, int64_t axis, bool reverse) {
  auto made = LinearRecurrencePartsOp::create(rule.builder, rule.location, factors.re, factors.im, terms.re, terms.im,
                                              axis, reverse);
  return {made.getRe(), made.getIm()};
}

// Whether each element is the first one in the order in which an axis is run through.
Value isFirstOf(GradientRule &rule, Value like, int64_t axis, bool reverse) {
  Value marks = shifted(rule, rule.zerosLike(like), axis, reverse, 1);
  return rule.create<NotEqualOp>(marks, rule.constantLike(0, marks));
}

// The products of complex numbers up to each one. The first one is that number itself, and not its product with 1, of
// which an infinity would make a part NaN.
Parts productsAlong(GradientRule &rule, Parts x, int64_t axis, bool reverse) {
  Value isFirst = isFirstOf(rule, x.re, axis, reverse), zero = rule.constantLike(0, x.re);
  auto where = [&](Value a, Value b) { return rule.create<SelectOp>(isFirst, a, b); };
  Parts factors{where(zero, x.re), where(zero, x.im)}, terms{where(x.re, zero), where(x.im, zero)};
  return recurrence(rule, factors, terms, axis, reverse);
}

// The product of complex numbers along an axis, which gets the size 1.
Parts productOver(GradientRule &rule, Parts x, int64_t axis) {
  auto type = cast<RankedTensorType>(x.re.getType());
  const int64_t size = type.getDimSize(axis);
  if (size == 1)
    return x;
  int64_t axes[] = {axis};
  auto sumOf = [&](Value value) { return rule.create<SumOp>(value, axes, true); };
  if (size == 0)
    return {rule.create<AddOp>(sumOf(x.re), rule.constantLike(1, x.re)), sumOf(x.im)};
  const Parts all = productsAlong(rule, x, axis, false);
  if (type.hasStaticShape()) {
    SmallVector<int64_t> starts(type.getRank(), 0);
    starts[axis] = size - 1;
    auto last = [&](Value value) { return rule.create<SliceOp>(value, starts, type.getShape()); };
    return {last(all.re), last(all.im)};
  }
  // The last one is the sum of what is left of all.
  Value isLast = isFirstOf(rule, x.re, axis, true), zero = rule.constantLike(0, x.re);
  auto last = [&](Value value) { return sumOf(rule.create<SelectOp>(isLast, value, zero)); };
  Parts product{last(all.re), last(all.im)};
  if (size == ShapedType::kDynamic) {
    Value isNone = rule.create<EqualOp>(rule.create<AxisSizeOp>(x.re, axes), zero);
    product.re = rule.create<SelectOp>(isNone, rule.constantLike(1, x.re), product.re);
  }
  return product;
}

} // namespace

//===-- Complex numbers -------------------------------------------------------------------------===//

LogicalResult CumProdOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  GradientRule rule(builder, getLoc(), operands[0].re);
  const int64_t axis = getAxis();
  Parts products = productsAlong(rule, operands[0], axis, getReverse());
  if (getExclusive())
    products = {shifted(rule, products.re, axis, getReverse(), 1), shifted(rule, products.im, axis, getReverse(), 0)};
  results.append({products.re, products.im});
  return success();
}

LogicalResult ProdOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  Parts product = operands[0];
  GradientRule rule(builder, getLoc(), product.re);
  std::vector<int64_t> axes;
  // The verifier has accepted these axes, so there is no fault to report.
  (void)schema::normalizeAxes({getAxes().data(), getAxes().size()},
                              cast<RankedTensorType>(product.re.getType()).getRank(), true, axes);
  for (int64_t axis : axes)
    product = productOver(rule, product, axis);
  auto type = cast<RankedTensorType>(partType(getResult().getType()));
  auto reshaped = [&](Value value) -> Value {
    if (value.getType() == type)
      return value;
    if (type.hasStaticShape())
      return rule.create<ReshapeOp>(value, type.getShape());
    return rule.create<ReshapeLikeOp>(value, rule.create<SumOp>(operands[0].re, getAxes(), getKeepdims()));
  };
  results.push_back(reshaped(product.re));
  results.push_back(reshaped(product.im));
  return success();
}

// As those of LinearRecurrenceOp, with conjugate factors on the way back: T[k] = g[k] + conj(factors[k + 1]) T[k + 1].
void LinearRecurrencePartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                       SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getRe());
  const int64_t axis = getAxis();
  const bool reverse = getReverse();
  auto given = [&](Value cotangent) { return cotangent ? cotangent : rule.zerosLike(getRe()); };
  Parts g{given(cotangents[0]), given(cotangents[1])};
  Parts behind = conjugated(rule, shifted(rule, {getFactorsRe(), getFactorsIm()}, axis, !reverse));
  Parts total = recurrence(rule, behind, g, axis, !reverse);
  operandCotangents.assign({Value(), Value(), total.re, total.im});
  if (needed[0] || needed[1]) {
    Parts before = conjugated(rule, shifted(rule, {getRe(), getIm()}, axis, reverse));
    Parts ofFactors = multiplied(rule, total, before);
    operandCotangents[0] = ofFactors.re;
    operandCotangents[1] = ofFactors.im;
  }
}

void LinearRecurrencePartsOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                       SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getRe());
  const int64_t axis = getAxis();
  const bool reverse = getReverse();
  auto given = [&](Value tangent) { return tangent ? tangent : rule.zerosLike(getRe()); };
  Parts terms{given(tangents[2]), given(tangents[3])};
  if (tangents[0] || tangents[1]) {
    Parts before = shifted(rule, {getRe(), getIm()}, axis, reverse);
    Parts moved = multiplied(rule, {given(tangents[0]), given(tangents[1])}, before);
    terms = {rule.sum(terms.re, moved.re), rule.sum(terms.im, moved.im)};
  }
  Parts made = recurrence(rule, {getFactorsRe(), getFactorsIm()}, terms, axis, reverse);
  resultTangents.assign({made.re, made.im});
}

//===-- Real numbers ----------------------------------------------------------------------------===//

void CumSumOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                        SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, rule.create<CumSumOp>(cotangents[0], getAxis(), getExclusive(), !getReverse()));
}

// With C[k] = x[k] C[k - 1], what the cotangent of C[k] is in all is g[k] + x[k + 1] times that of C[k + 1].
void CumProdOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                         SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axis = getAxis();
  bool reverse = getReverse();
  Value g = cotangents[0];
  if (getExclusive())
    g = shifted(rule, g, axis, !reverse, 0);
  Value total = rule.create<LinearRecurrenceOp>(shifted(rule, getX(), axis, !reverse, 0), g, axis, !reverse);
  Value before = getExclusive() ? Value(getResult()) : rule.create<CumProdOp>(getX(), axis, true, reverse);
  operandCotangents.assign(1, rule.create<MulOp>(total, before));
}

void CumProdOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axis = getAxis();
  bool reverse = getReverse();
  Value before = getExclusive() ? Value(getResult()) : rule.create<CumProdOp>(getX(), axis, true, reverse);
  Value tangent = rule.create<LinearRecurrenceOp>(getX(), rule.create<MulOp>(tangents[0], before), axis, reverse);
  resultTangents.assign(1, getExclusive() ? shifted(rule, tangent, axis, reverse, 0) : tangent);
}

void LinearRecurrenceOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                  SmallVectorImpl<Value> &operandCotangents) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axis = getAxis();
  bool reverse = getReverse();
  Value total =
      rule.create<LinearRecurrenceOp>(shifted(rule, getFactors(), axis, !reverse, 0), cotangents[0], axis, !reverse);
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<MulOp>(total, shifted(rule, getResult(), axis, reverse, 0));
  if (needed[1])
    operandCotangents[1] = total;
}

void LinearRecurrenceOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  GradientRule rule(builder, getLoc(), getResult());
  int64_t axis = getAxis();
  bool reverse = getReverse();
  Value terms = tangents[1];
  if (tangents[0])
    terms = rule.sum(terms, rule.create<MulOp>(tangents[0], shifted(rule, getResult(), axis, reverse, 0)));
  resultTangents.assign(1, rule.create<LinearRecurrenceOp>(getFactors(), terms, axis, reverse));
}

LogicalResult CumSumOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  int64_t axis = rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0));
  results.push_back(rule.create<CumSumOp>(rule[0], axis, getExclusive(), getReverse()));
  return success();
}

LogicalResult CumProdOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  int64_t axis = rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0));
  results.push_back(rule.create<CumProdOp>(rule[0], axis, getExclusive(), getReverse()));
  return success();
}

LogicalResult LinearRecurrenceOp::buildBatched(BatchRule &rule, SmallVectorImpl<Value> &results) {
  int64_t axis = rule.shifted(static_cast<int64_t>(getAxis()), rule.rank(0));
  Value factors = rule.all(0), terms = rule.all(1);
  results.push_back(rule.create<LinearRecurrenceOp>(factors, terms, axis, getReverse()));
  return success();
}

} // namespace calque::ir
