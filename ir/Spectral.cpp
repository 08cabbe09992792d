// The rules of orthogonal factors, pseudo-inverses and exponentials (LinearAlgebra.td names their sources).
#include "ir/MatrixRule.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace calque::ir {

//===-- QR --------------------------------------------------------------------------------------===//

// With M = R gR^T - gQ^T Q, and C(M) its lower triangle mirrored, the cotangent is (gQ + Q C(M)) R^-T.
void QrOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                    SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getQ());
  Value m;
  if (cotangents[1])
    m = rule.product(getR(), rule.triangle(cotangents[1], false), false, true);
  if (cotangents[0])
    m = rule.sum(m, rule.negated(rule.product(cotangents[0], getQ(), true)));
  Value mirrored = rule.add(rule.triangle(m, true), rule.transposed(rule.triangle(m, true, true)));
  Value left = rule.product(getQ(), mirrored);
  if (cotangents[0])
    left = rule.add(cotangents[0], left);
  operandCotangents.assign(1, rule.solveRight(getR(), left, false, true));
}

// With Y = dx R^-1 and Z = Q^T Y, dR = (Z - K) R and dQ = Q (K - Z) + Y, where K = tril(Z, -1) - tril(Z, -1)^T.
void QrOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getQ());
  Value y = rule.solveRight(getR(), tangents[0], false, false), z = rule.product(getQ(), y, true);
  Value below = rule.triangle(z, true, true), k = rule.subtract(below, rule.transposed(below));
  Value ofR = rule.triangle(rule.product(rule.subtract(z, k), getR()), false);
  resultTangents.assign({rule.add(rule.product(getQ(), rule.subtract(k, z)), y), ofR});
}

//===-- Eigenvalues -----------------------------------------------------------------------------===//

namespace {

// 1 / (w[j] - w[i]) off the diagonal, which has zeros. Infinite for equal eigenvalues.
Value inverseGaps(MatrixRule &rule, Value w) {
  Value gaps = rule.subtract(rule.asRow(w), rule.asColumn(w));
  Value isDiagonal = rule.isDiagonal(gaps);
  Value inverse = rule.create<DivOp>(rule.constant(1), rule.create<SelectOp>(isDiagonal, rule.constant(1), gaps));
  return rule.create<SelectOp>(isDiagonal, rule.constant(0), inverse);
}

} // namespace

// V (diag(gw) + F * (V^T gV)) V^T, of which the symmetric part, where F has the inverse gaps.
void EighOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                      SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getVectors());
  Value v = getVectors(), left;
  if (cotangents[1]) {
    Value inner = rule.create<MulOp>(inverseGaps(rule, getValues()), rule.product(v, cotangents[1], true));
    left = rule.product(v, inner);
  }
  if (cotangents[0])
    left = rule.sum(left, rule.create<MulOp>(v, rule.asRow(cotangents[0])));
  operandCotangents.assign(1, rule.symmetric(rule.product(left, v, false, true)));
}

// With S = V^T dx V, dw is its diagonal and dV = V (F * S).
void EighOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getVectors());
  Value v = getVectors(), moved = rule.product(rule.symmetric(tangents[0]), v), s = rule.product(v, moved, true);
  Value ofValues = rule.create<SumOp>(rule.create<MulOp>(v, moved), ArrayRef<int64_t>{MatrixRule::rank(v) - 2}, false);
  resultTangents.assign({ofValues, rule.product(v, rule.create<MulOp>(inverseGaps(rule, getValues()), s))});
}

//===-- Singular values -------------------------------------------------------------------------===//

namespace {

// What the derivatives of U, s and V have in common.
class SvdRule {
public:
  SvdRule(MatrixRule &rule, SvdOp op) : rule(rule), u(op.getU()), s(op.getS()), vh(op.getVh()) {
    auto type = cast<RankedTensorType>(op.getX().getType());
    const unsigned rank = static_cast<unsigned>(type.getRank());
    rows = type.getDimSize(rank - 2);
    columns = type.getDimSize(rank - 1);
  }

  // Whether U or V may have fewer columns than rows, so that they move out of their spaces.
  bool mayLeaveLeft() const { return ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns) || rows > columns; }
  bool mayLeaveRight() const { return ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns) || columns > rows; }

  Value scaledRows(Value x) { return rule.create<MulOp>(rule.asColumn(s), x); }
  Value scaledColumns(Value x) { return rule.create<MulOp>(x, rule.asRow(s)); }
  Value dividedColumns(Value x) { return rule.create<DivOp>(x, rule.asRow(s)); }
  // x without its part in the columns of U, or of V.
  Value outsideLeft(Value x) { return rule.subtract(x, rule.product(u, rule.product(u, x, true))); }
  Value outsideRight(Value x) { return rule.subtract(x, rule.product(vh, rule.product(vh, x), true)); }
  // 1 / (s[j]^2 - s[i]^2) off the diagonal, which has zeros, as a product: the squares may leave the range. Infinite
  // for equal singular values.
  Value gaps() {
    Value row = rule.asRow(s), column = rule.asColumn(s);
    Value differences = rule.subtract(row, column), sums = rule.add(row, column);
    Value isDiagonal = rule.isDiagonal(differences), one = rule.constant(1);
    Value inverse = rule.create<DivOp>(one, rule.create<SelectOp>(isDiagonal, one, differences));
    inverse = rule.create<DivOp>(inverse, rule.create<SelectOp>(isDiagonal, one, sums));
    return rule.create<SelectOp>(isDiagonal, rule.constant(0), inverse);
  }

  MatrixRule &rule;
  Value u, s, vh;
  int64_t rows, columns;
};

} // namespace

// U (diag(gs) + (F * (U^T gU - gU^T U)) S + S (F * (V^T gV - gV^T V))) V^T, and what U and V have outside of their
// spaces: (1 - U U^T) gU S^-1 V^T + U S^-1 gV^T (1 - V V^T).
void SvdOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                     SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getU());
  SvdRule svd(rule, *this);
  Value inner, total;
  auto skew = [&](Value x) { return rule.subtract(x, rule.transposed(x)); };
  Value gaps = cotangents[0] || cotangents[2] ? svd.gaps() : Value();
  if (cotangents[0])
    inner = svd.scaledColumns(rule.create<MulOp>(gaps, skew(rule.product(svd.u, cotangents[0], true))));
  if (cotangents[2])
    inner = rule.sum(inner,
                     svd.scaledRows(rule.create<MulOp>(gaps, skew(rule.product(svd.vh, cotangents[2], false, true)))));
  if (inner)
    total = rule.product(svd.u, inner);
  if (cotangents[1])
    total = rule.sum(total, rule.create<MulOp>(svd.u, rule.asRow(cotangents[1])));
  if (cotangents[0] && svd.mayLeaveLeft())
    total = rule.sum(total, svd.dividedColumns(svd.outsideLeft(cotangents[0])));
  total = rule.product(total, svd.vh);
  if (cotangents[2] && svd.mayLeaveRight()) {
    Value outside = svd.dividedColumns(svd.outsideRight(rule.transposed(cotangents[2])));
    total = rule.sum(total, rule.product(svd.u, outside, false, true));
  }
  operandCotangents.assign(1, total);
}

// With P = U^T dx V, ds is its diagonal, dU = U (F * (P S + S P^T)) and dV = V (F * (S P + P^T S)), and what is outside
// of their spaces: (1 - U U^T) dx V S^-1 and (1 - V V^T) dx^T U S^-1.
void SvdOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getU());
  SvdRule svd(rule, *this);
  Value dx = tangents[0], right = rule.product(dx, svd.vh, false, true), p = rule.product(svd.u, right, true);
  Value ofS = rule.create<SumOp>(rule.create<MulOp>(svd.u, right), ArrayRef<int64_t>{MatrixRule::rank(dx) - 2}, false);
  Value scaled = svd.scaledColumns(p), scaledRows = svd.scaledRows(p), gaps = svd.gaps();
  Value ofU = rule.product(svd.u, rule.create<MulOp>(gaps, rule.add(scaled, rule.transposed(scaled))));
  Value ofV = rule.product(svd.vh, rule.create<MulOp>(gaps, rule.add(scaledRows, rule.transposed(scaledRows))), true);
  if (svd.mayLeaveLeft())
    ofU = rule.add(ofU, svd.dividedColumns(svd.outsideLeft(right)));
  if (svd.mayLeaveRight())
    ofV = rule.add(ofV, svd.dividedColumns(svd.outsideRight(rule.product(dx, svd.u, true))));
  resultTangents.assign({ofU, ofS, rule.transposed(ofV)});
}

//===-- Pseudo-inverses -------------------------------------------------------------------------===//

// With P the pseudo-inverse, of a rank that does not change, dP is
//   -P dx P + P P^T dx^T (1 - x P) + (1 - P x) dx^T P^T P.
void PseudoInverseOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                               SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value x = getX(), p = getResult(), g = cotangents[0];
  Value first = rule.product(p, rule.product(g, p, false, true), true); // P^T g P^T
  Value left = rule.product(rule.product(g, p, true), p, false, true);  // g^T P P^T
  left = rule.subtract(left, rule.product(x, rule.product(p, left)));
  Value right = rule.product(p, rule.product(p, g, false, true), true); // P^T P g^T
  right = rule.subtract(right, rule.product(rule.product(right, p), x));
  operandCotangents.assign(1, rule.subtract(rule.add(left, right), first));
}

void PseudoInverseOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value x = getX(), p = getResult(), dx = tangents[0];
  Value first = rule.product(p, rule.product(dx, p));
  Value left = rule.product(p, rule.product(p, dx, true, true)); // P P^T dx^T
  left = rule.subtract(left, rule.product(rule.product(left, x), p));
  Value right = rule.product(rule.product(dx, p, true, true), p); // dx^T P^T P
  right = rule.subtract(right, rule.product(p, rule.product(x, right)));
  resultTangents.assign(1, rule.subtract(rule.add(left, right), first));
}

//===-- Exponentials ----------------------------------------------------------------------------===//

// The adjoint of the derivative at x is the derivative at x^T.
void ExpmOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                      SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, rule.blockDerivative<ExpmOp>(rule.transposed(getX()), cotangents[0]));
}

void ExpmOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, rule.blockDerivative<ExpmOp>(getX(), tangents[0]));
}

} // namespace calque::ir
