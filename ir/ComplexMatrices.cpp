// Linear algebra of complex matrices as that of their parts.
#include "ir/MatrixRule.h"

using namespace mlir;

namespace calque::ir {

namespace {

using Matrix = MatrixRule::Matrix;

// The one size of a dimension, counted from behind, is known to be 0.
bool isEmpty(Value x, int64_t fromBehind) {
  auto type = cast<RankedTensorType>(x.getType());
  return type.getDimSize(static_cast<unsigned>(type.getRank() - fromBehind)) == 0;
}

// The numbers of magnitude 1 whose products with the columns of x make a largest element of each positive: [1, n]. They
// are what makes vectors of free phases functions of their matrix, whose derivatives are those of all that is made of
// them.
Matrix phasesOf(MatrixRule &rule, Matrix x) {
  const int64_t rows = MatrixRule::rank(x.re) - 2;
  auto type = cast<RankedTensorType>(x.re.getType());
  // Behind elements of an unknown number is a 0, so that there is one.
  if (type.isDynamicDim(static_cast<unsigned>(rows))) {
    SmallVector<int64_t> low(static_cast<size_t>(type.getRank()), 0), high = low;
    high[static_cast<size_t>(rows)] = 1;
    x = MatrixRule::each(x,
                         [&](Value part) -> Value { return rule.create<PadOp>(part, low, high, schema::Scalar(0)); });
  }
  Value squares = rule.add(rule.create<MulOp>(x.re, x.re), rule.create<MulOp>(x.im, x.im));
  Value places = rule.create<ExpandDimsOp>(rule.create<ArgMaxOp>(squares, rows), ArrayRef<int64_t>{rows});
  Matrix largest =
      MatrixRule::each(x, [&](Value part) -> Value { return rule.create<TakeAlongAxisOp>(part, places, rows); });
  // Of a vector of length 1 it is not small. Of a matrix of no rows it is 0, and of a NaN it may be anything.
  Value length = rule.create<SqrtOp>(
      rule.add(rule.create<MulOp>(largest.re, largest.re), rule.create<MulOp>(largest.im, largest.im)));
  Matrix conjugate = rule.conjugate(largest);
  return MatrixRule::each(conjugate, [&](Value part) -> Value { return rule.create<DivOp>(part, length); });
}

void append(SmallVectorImpl<Value> &results, ValueRange values) { results.append(values.begin(), values.end()); }

} // namespace

LogicalResult CholeskyOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, CholeskyPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im).getResults());
  return success();
}

// A^T is the adjoint matrix of conj(A).
LogicalResult TriangularSolveOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands,
                                            SmallVectorImpl<Value> &results) {
  MatrixRule rule(builder, getLoc(), operands[0].re);
  Matrix a = getTransposed() ? rule.conjugate(operands[0]) : operands[0], b = operands[1];
  append(results, TriangularSolvePartsOp::create(builder, getLoc(), a.re, a.im, b.re, b.im, getLower(), getTransposed(),
                                                 getUnitDiagonal())
                      .getResults());
  return success();
}

LogicalResult LuFactorOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, LuFactorPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im).getResults());
  return success();
}

LogicalResult LuSolveOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  MatrixRule rule(builder, getLoc(), operands[0].re);
  auto turned = [&](Matrix x) { return getTransposed() ? rule.conjugate(x) : x; };
  Matrix a = turned(operands[0]), factors = turned(operands[1]), b = operands[3];
  append(results, LuSolvePartsOp::create(builder, getLoc(), a.re, a.im, factors.re, factors.im, operands[2].re, b.re,
                                         b.im, getTransposed())
                      .getResults());
  return success();
}

LogicalResult MatrixInverseOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands,
                                          SmallVectorImpl<Value> &results) {
  MatrixRule rule(builder, getLoc(), operands[0].re);
  Matrix inverse = rule.inverse(operands[0]);
  results.append({inverse.re, inverse.im});
  return success();
}

LogicalResult DeterminantOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, DeterminantPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im).getResults());
  return success();
}

LogicalResult SlogdetOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, SlogdetPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im).getResults());
  return success();
}

LogicalResult QrOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, QrPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im).getResults());
  return success();
}
LogicalResult QrCompleteOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, QrCompletePartsOp::create(builder, getLoc(), operands[0].re, operands[0].im).getResults());
  return success();
}

LogicalResult EighOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  auto op = EighPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im);
  Matrix vectors{op.getVectorsRe(), op.getVectorsIm()};
  MatrixRule rule(builder, getLoc(), vectors.re);
  if (!isEmpty(vectors.re, 2))
    vectors = rule.multiplied(vectors, phasesOf(rule, vectors));
  results.append({op.getValues(), vectors.re, vectors.im});
  return success();
}

// U diag(c) and diag(conj(c)) V^H have the same product as U and V^H.
LogicalResult SvdOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  auto op = SvdPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im);
  Matrix u{op.getURe(), op.getUIm()}, vh{op.getVhRe(), op.getVhIm()};
  MatrixRule rule(builder, getLoc(), u.re);
  if (!isEmpty(u.re, 2)) {
    Matrix phases = phasesOf(rule, u);
    u = rule.multiplied(u, phases);
    vh = rule.multiplied(vh, rule.adjoint(phases));
  }
  results.append({u.re, u.im, op.getS(), vh.re, vh.im});
  return success();
}
// The rows of V^H beyond those of U have no phase to share.
LogicalResult SvdFullOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  auto op = SvdFullPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im);
  Matrix u{op.getURe(), op.getUIm()}, vh{op.getVhRe(), op.getVhIm()};
  MatrixRule rule(builder, getLoc(), u.re);
  if (!isEmpty(u.re, 2) && !isEmpty(vh.re, 2)) {
    Matrix phases = phasesOf(rule, u), shared = rule.resizedRow(phases, vh.re);
    u = rule.multiplied(u, phases);
    vh = rule.multiplied(vh, rule.adjoint(shared));
  }
  results.append({u.re, u.im, op.getS(), vh.re, vh.im});
  return success();
}

LogicalResult PseudoInverseOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands,
                                          SmallVectorImpl<Value> &results) {
  append(
      results,
      PseudoInversePartsOp::create(builder, getLoc(), operands[0].re, operands[0].im, getToleranceAttr()).getResults());
  return success();
}

LogicalResult ExpmOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, ExpmPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im).getResults());
  return success();
}

LogicalResult EigOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, EigPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im).getResults());
  return success();
}
LogicalResult SchurOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, SchurPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im).getResults());
  return success();
}
LogicalResult SylvesterOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, SylvesterPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im, operands[1].re,
                                           operands[1].im, operands[2].re, operands[2].im)
                      .getResults());
  return success();
}
LogicalResult SqrtmOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, SqrtmPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im).getResults());
  return success();
}
LogicalResult LogmOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  append(results, LogmPartsOp::create(builder, getLoc(), operands[0].re, operands[0].im).getResults());
  return success();
}

//===-- Bands -----------------------------------------------------------------------------------===//

LogicalResult BandedSolveOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands, SmallVectorImpl<Value> &results) {
  MatrixRule rule(builder, getLoc(), operands[0].re);
  Matrix band = getTransposed() ? rule.conjugate(operands[0]) : operands[0], b = operands[1];
  append(results, BandedSolvePartsOp::create(builder, getLoc(), band.re, band.im, b.re, b.im, getLower(), getUpper(),
                                             getTransposed())
                      .getResults());
  return success();
}
LogicalResult PositiveBandedSolveOp::buildParts(OpBuilder &builder, ArrayRef<Parts> operands,
                                                SmallVectorImpl<Value> &results) {
  append(results, PositiveBandedSolvePartsOp::create(builder, getLoc(), operands[0].re, operands[0].im, operands[1].re,
                                                     operands[1].im, getLower(), getUpper())
                      .getResults());
  return success();
}

} // namespace calque::ir
