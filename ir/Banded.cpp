// The rules of banded systems (Banded.td).
#include "ir/MatrixRule.h"

using namespace mlir;

namespace calque::ir {

namespace {

Value sumOf(MatrixRule &rule, Value a, Value b) { return a && b ? rule.add(a, b) : a ? a : b; }

} // namespace

// With op(A)^T Y = g, the cotangents are the band of -Y X^T, or -X Y^T, and Y.
void BandedSolveOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value y = rule.create<BandedSolveOp>(getBand(), cotangents[0], getLower(), getUpper(), !getTransposed()), ofBand;
  if (needed[0]) {
    Value left = getTransposed() ? getResult() : y, right = getTransposed() ? y : getResult();
    ofBand = rule.negated(rule.create<BandOfProductOp>(left, right, getLower(), getUpper()));
  }
  operandCotangents.assign({ofBand, y});
}

// op(A)^-1 (dB - op(dA) X)
void BandedSolveOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value right = tangents[1];
  if (tangents[0])
    right = sumOf(
        rule, right,
        rule.negated(rule.create<BandedProductOp>(tangents[0], getResult(), getLower(), getUpper(), getTransposed())));
  resultTangents.assign(1, rule.create<BandedSolveOp>(getBand(), right, getLower(), getUpper(), getTransposed()));
}

namespace {

// The band without the row of the diagonal.
Value withoutDiagonal(MatrixRule &rule, Value band, int64_t upper) {
  auto type = cast<RankedTensorType>(band.getType());
  const int64_t axis = type.getRank() - 2;
  SmallVector<int64_t> shape(2, 1);
  shape[0] = type.getDimSize(static_cast<unsigned>(axis));
  auto dtype = TypeAttr::get(rule.builder.getI64Type());
  Value rows = ShapedType::isDynamic(shape[0])
                   ? rule.create<IotaOpenOp>(ValueRange(band), shape, ArrayRef<int64_t>{0, axis}, dtype, 0)
                   : rule.create<IotaOp>(shape, dtype, 0);
  return rule.mask(rule.create<NotEqualOp>(rows, rule.constantLike(upper, rows)), band);
}

} // namespace

// With A Y = g, the cotangent of the whole matrix is -Y X^T. An element beside the diagonal is also the one across it.
void PositiveBandedSolveOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                     SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value y = rule.create<PositiveBandedSolveOp>(getBand(), cotangents[0], getLower(), getUpper()), ofBand;
  if (needed[0]) {
    Value own = rule.create<BandOfProductOp>(y, getResult(), getLower(), getUpper());
    Value other = rule.create<BandOfProductOp>(getResult(), y, getLower(), getUpper());
    ofBand = rule.negated(rule.add(own, withoutDiagonal(rule, other, getUpper())));
  }
  operandCotangents.assign({ofBand, y});
}

void PositiveBandedSolveOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value right = tangents[1];
  if (tangents[0]) {
    Value own = rule.create<BandedProductOp>(tangents[0], getResult(), getLower(), getUpper(), false);
    Value other = rule.create<BandedProductOp>(withoutDiagonal(rule, tangents[0], getUpper()), getResult(), getLower(),
                                               getUpper(), true);
    right = sumOf(rule, right, rule.negated(rule.add(own, other)));
  }
  resultTangents.assign(1, rule.create<PositiveBandedSolveOp>(getBand(), right, getLower(), getUpper()));
}

void BandedProductOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                               SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value g = cotangents[0], ofBand, ofX;
  if (needed[0])
    ofBand = rule.create<BandOfProductOp>(getTransposed() ? getX() : g, getTransposed() ? g : getX(), getLower(),
                                          getUpper());
  if (needed[1])
    ofX = rule.create<BandedProductOp>(getBand(), g, getLower(), getUpper(), !getTransposed());
  operandCotangents.assign({ofBand, ofX});
}

void BandOfProductOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                               SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  if (needed[0])
    operandCotangents[0] = rule.create<BandedProductOp>(cotangents[0], getB(), getLower(), getUpper(), false);
  if (needed[1])
    operandCotangents[1] = rule.create<BandedProductOp>(cotangents[0], getA(), getLower(), getUpper(), true);
}

} // namespace calque::ir
