// The rules of banded systems (Banded.td), real ones and complex ones.
#include "ir/MatrixRule.h"

using namespace mlir;

namespace calque::ir {

namespace {

using Matrix = MatrixRule::Matrix;

// A band, of real or complex elements, and what is made with it.
class BandRule : public MatrixRule {
public:
  template <typename Op>
  BandRule(OpBuilder &builder, Op op, Matrix band)
      : MatrixRule(builder, op.getLoc(), band.re), band(band), lower(op.getLower()), upper(op.getUpper()) {}

  Matrix solved(Matrix b, bool adjoint) {
    if (!b.im)
      return {create<BandedSolveOp>(band.re, b.re, lower, upper, adjoint), Value()};
    auto op = BandedSolvePartsOp::create(builder, location, band.re, band.im, b.re, b.im, lower, upper, adjoint);
    return {op.getOfRe(), op.getOfIm()};
  }
  Matrix solvedPositive(Matrix b) {
    if (!b.im)
      return {create<PositiveBandedSolveOp>(band.re, b.re, lower, upper), Value()};
    auto op = PositiveBandedSolvePartsOp::create(builder, location, band.re, band.im, b.re, b.im, lower, upper);
    return {op.getOfRe(), op.getOfIm()};
  }
  // op(A) X of a band like this one, where op takes the adjoint.
  Matrix bandedProduct(Matrix a, Matrix x, bool adjoint) {
    auto of = [&](Value p, Value q) -> Value { return create<BandedProductOp>(p, q, lower, upper, adjoint); };
    Value re = of(a.re, x.re);
    if (!a.im)
      return {re, Value()};
    Value inner = of(a.im, x.im), left = of(a.im, x.re), right = of(a.re, x.im);
    return {adjoint ? add(re, inner) : subtract(re, inner), adjoint ? subtract(right, left) : add(right, left)};
  }
  // The band of A B^H.
  Matrix bandOf(Matrix a, Matrix b) {
    auto of = [&](Value p, Value q) -> Value { return create<BandOfProductOp>(p, q, lower, upper); };
    Value re = of(a.re, b.re);
    if (!a.im)
      return {re, Value()};
    return {add(re, of(a.im, b.im)), subtract(of(a.im, b.re), of(a.re, b.im))};
  }

  Matrix withoutDiagonal(Matrix x) {
    return each(x, [&](Value part) { return withoutDiagonal(part); });
  }
  Matrix withRealDiagonal(Matrix x) { return {x.re, x.im ? withoutDiagonal(x.im) : Value()}; }

  const Matrix band;
  const int64_t lower, upper;

private:
  // The band without the row of the diagonal.
  Value withoutDiagonal(Value x) {
    auto type = cast<RankedTensorType>(x.getType());
    const int64_t axis = type.getRank() - 2;
    SmallVector<int64_t> shape(2, 1);
    shape[0] = type.getDimSize(static_cast<unsigned>(axis));
    auto dtype = TypeAttr::get(builder.getI64Type());
    Value rows = ShapedType::isDynamic(shape[0])
                     ? create<IotaOpenOp>(ValueRange(x), shape, ArrayRef<int64_t>{0, axis}, dtype, 0)
                     : create<IotaOp>(shape, dtype, 0);
    return mask(create<NotEqualOp>(rows, constantLike(upper, rows)), x);
  }
};

// With op(A)^H Y = g, the cotangents are the band of -Y X^H, or -X Y^H, and Y.
std::pair<Matrix, Matrix> solveVjp(BandRule &rule, Matrix x, Matrix g, bool adjoint, bool needsBand) {
  Matrix y = rule.solved(g, !adjoint), ofBand;
  if (needsBand)
    ofBand = rule.negated(adjoint ? rule.bandOf(x, y) : rule.bandOf(y, x));
  return {ofBand, y};
}
// op(A)^-1 (dB - op(dA) X)
Matrix solveJvp(BandRule &rule, Matrix x, Matrix da, Matrix db, bool adjoint) {
  Matrix right = db;
  if (da.re)
    right = rule.plus(right, rule.negated(rule.bandedProduct(da, x, adjoint)));
  return rule.solved(right, adjoint);
}

// With A Y = g, the cotangent of the whole matrix is -Y X^H. An element beside the diagonal is also the conjugate one
// across it, and the diagonal is real.
std::pair<Matrix, Matrix> positiveVjp(BandRule &rule, Matrix x, Matrix g, bool needsBand) {
  Matrix y = rule.solvedPositive(g), ofBand;
  if (needsBand) {
    Matrix own = rule.bandOf(y, x), other = rule.bandOf(x, y);
    ofBand = rule.withRealDiagonal(rule.negated(rule.add(own, rule.withoutDiagonal(other))));
  }
  return {ofBand, y};
}
Matrix positiveJvp(BandRule &rule, Matrix x, Matrix da, Matrix db) {
  Matrix right = db;
  if (da.re) {
    Matrix own = rule.bandedProduct(rule.withRealDiagonal(da), x, false);
    Matrix other = rule.bandedProduct(rule.withoutDiagonal(da), x, true);
    right = rule.plus(right, rule.negated(rule.add(own, other)));
  }
  return rule.solvedPositive(right);
}

Matrix bandOf(BandedSolvePartsOp op) { return {op.getBandRe(), op.getBandIm()}; }
Matrix bandOf(PositiveBandedSolvePartsOp op) { return {op.getBandRe(), op.getBandIm()}; }

} // namespace

void BandedSolveOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                             SmallVectorImpl<Value> &operandCotangents) {
  BandRule rule(builder, *this, {getBand(), {}});
  auto [ofBand, ofB] = solveVjp(rule, {getResult(), {}}, {cotangents[0], {}}, getTransposed(), needed[0]);
  operandCotangents.assign({ofBand.re, ofB.re});
}
void BandedSolveOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  BandRule rule(builder, *this, {getBand(), {}});
  resultTangents.assign(1, solveJvp(rule, {getResult(), {}}, {tangents[0], {}}, {tangents[1], {}}, getTransposed()).re);
}
void BandedSolvePartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                  SmallVectorImpl<Value> &operandCotangents) {
  BandRule rule(builder, *this, bandOf(*this));
  Matrix x{getOfRe(), getOfIm()}, g = rule.given(cotangents, 0, x);
  auto [ofBand, ofB] = solveVjp(rule, x, g, getTransposed(), needed[0] || needed[1]);
  MatrixRule::give(operandCotangents, ofBand, x);
  MatrixRule::give(operandCotangents, ofB, x);
}
void BandedSolvePartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  BandRule rule(builder, *this, bandOf(*this));
  Matrix x{getOfRe(), getOfIm()}, da = rule.given(tangents, 0, x), db = rule.given(tangents, 2, x);
  MatrixRule::give(resultTangents, solveJvp(rule, x, da, db, getTransposed()), x);
}

void PositiveBandedSolveOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                     SmallVectorImpl<Value> &operandCotangents) {
  BandRule rule(builder, *this, {getBand(), {}});
  auto [ofBand, ofB] = positiveVjp(rule, {getResult(), {}}, {cotangents[0], {}}, needed[0]);
  operandCotangents.assign({ofBand.re, ofB.re});
}
void PositiveBandedSolveOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  BandRule rule(builder, *this, {getBand(), {}});
  resultTangents.assign(1, positiveJvp(rule, {getResult(), {}}, {tangents[0], {}}, {tangents[1], {}}).re);
}
void PositiveBandedSolvePartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                          SmallVectorImpl<Value> &operandCotangents) {
  BandRule rule(builder, *this, bandOf(*this));
  Matrix x{getOfRe(), getOfIm()}, g = rule.given(cotangents, 0, x);
  auto [ofBand, ofB] = positiveVjp(rule, x, g, needed[0] || needed[1]);
  MatrixRule::give(operandCotangents, ofBand, x);
  MatrixRule::give(operandCotangents, ofB, x);
}
void PositiveBandedSolvePartsOp::buildJvp(OpBuilder &builder, ValueRange tangents,
                                          SmallVectorImpl<Value> &resultTangents) {
  BandRule rule(builder, *this, bandOf(*this));
  Matrix x{getOfRe(), getOfIm()}, da = rule.given(tangents, 0, x), db = rule.given(tangents, 2, x);
  MatrixRule::give(resultTangents, positiveJvp(rule, x, da, db), x);
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
