// The rules of orthogonal factors, pseudo-inverses and exponentials (LinearAlgebra.td names their sources).
#include "ir/ElementType.h"
#include "ir/MatrixRule.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace calque::ir {

using Matrix = MatrixRule::Matrix;

//===-- QR --------------------------------------------------------------------------------------===//

namespace {

struct QrMatrices {
  Matrix q, r;
};
QrMatrices matricesOf(QrOp op) { return {{op.getQ(), {}}, {op.getR(), {}}}; }
QrMatrices matricesOf(QrPartsOp op) { return {{op.getQRe(), op.getQIm()}, {op.getRRe(), op.getRIm()}}; }

// With M = R gR^H - gQ^H Q, and C(M) its lower triangle mirrored, the cotangent is (gQ + Q C(M)) R^-H. The diagonal of
// R is real, and so is that of C(M).
Matrix qrVjp(MatrixRule &rule, QrMatrices of, Matrix gQ, Matrix gR) {
  Matrix m;
  if (gR.re)
    m = rule.product(of.r, rule.triangle(gR, false), false, true);
  if (gQ.re)
    m = rule.plus(m, rule.negated(rule.product(gQ, of.q, true)));
  Matrix mirrored = rule.add(rule.triangle(m, true), rule.adjoint(rule.triangle(m, true, true)));
  Matrix left = rule.product(of.q, rule.withRealDiagonal(mirrored));
  if (gQ.re)
    left = rule.add(gQ, left);
  return rule.solveRight(of.r, left, false, true);
}

// With Y = dx R^-1 and Z = Q^H Y, dR = (Z - K) R and dQ = Q (K - Z) + Y, where K = tril(Z, -1) - tril(Z, -1)^H and has
// the imaginary part of the diagonal of Z.
QrMatrices qrJvp(MatrixRule &rule, QrMatrices of, Matrix dx) {
  Matrix y = rule.solveRight(of.r, dx, false, false), z = rule.product(of.q, y, true);
  Matrix below = rule.triangle(z, true, true), k = rule.subtract(below, rule.adjoint(below));
  if (z.im)
    k.im = rule.create<SelectOp>(rule.isDiagonal(z.im), z.im, k.im);
  Matrix ofR = rule.withRealDiagonal(rule.triangle(rule.product(rule.subtract(z, k), of.r), false));
  return {rule.add(rule.product(of.q, rule.subtract(k, z)), y), ofR};
}

} // namespace

void QrOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                    SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getQ());
  operandCotangents.assign(1, qrVjp(rule, matricesOf(*this), {cotangents[0], {}}, {cotangents[1], {}}).re);
}
void QrOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getQ());
  const QrMatrices moved = qrJvp(rule, matricesOf(*this), {tangents[0], {}});
  resultTangents.assign({moved.q.re, moved.r.re});
}
void QrPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                         SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getQRe());
  const QrMatrices of = matricesOf(*this);
  MatrixRule::give(operandCotangents, qrVjp(rule, of, rule.given(cotangents, 0, of.q), rule.given(cotangents, 2, of.r)),
                   of.q);
}
void QrPartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getQRe());
  const QrMatrices of = matricesOf(*this), moved = qrJvp(rule, of, rule.given(tangents, 0, of.q));
  MatrixRule::give(resultTangents, moved.q, of.q);
  MatrixRule::give(resultTangents, moved.r, of.r);
}

//===-- Eigenvalues -----------------------------------------------------------------------------===//

namespace {

// Quotients x[i][j] / gaps[i][j] off the diagonal, which has zeros, where values are equal up to rounding if gaps are
// no larger than that of the values. There only the space of the vectors is known: a quotient is 0 if x is no more than
// rounding, as of a function of the space, and else infinite or NaN. Nor is it 0 where the derivative of a function of
// vectors and values hides in the symmetric part of their cotangents: of V f(w) V^H, what belongs there takes f'.
class Quotients {
public:
  // `values`: whose rounding the gaps have, [..., n].
  Quotients(MatrixRule &rule, Value values)
      : rule(rule), ofValues(rule.forMatrices(rule.create<SumOp>(
                        rule.create<AbsOp>(values), ArrayRef<int64_t>{MatrixRule::rank(values) - 1}, false))) {}

  // `rounding`: the sizes of what x was computed from, by column. `hidden`: those of what must be none, or null.
  Matrix of(Matrix x, Value gaps, Value rounding, Value hidden = {}) {
    const double epsilon = std::ldexp(1, 1 - static_cast<int>(ElementType(gaps).digits()));
    Value isDiagonal = rule.isDiagonal(gaps);
    Value isEqual = atMost(rule.create<AbsOp>(gaps), ofValues, 4 * epsilon);
    Value size = rule.add(rule.asRow(rounding), rule.asColumn(rounding));
    Value isNone = atMost(hidden ? rule.add(magnitude(x), hidden) : magnitude(x), size, 16 * epsilon);
    Value isLeftOut = rule.create<LogicalOrOp>(isDiagonal, rule.create<LogicalAndOp>(isEqual, isNone));
    Value divisor = rule.create<SelectOp>(isEqual, rule.constant(0), gaps);
    divisor = rule.create<SelectOp>(isLeftOut, rule.constant(1), divisor);
    return MatrixRule::each(x, [&](Value part) -> Value {
      return rule.create<SelectOp>(isLeftOut, rule.constant(0), rule.create<DivOp>(part, divisor));
    });
  }
  // The sums of magnitudes along columns.
  Value columnsOf(Matrix x) {
    return rule.create<SumOp>(magnitude(x), ArrayRef<int64_t>{MatrixRule::rank(x.re) - 2}, false);
  }
  Value magnitude(Matrix x) {
    Value real = rule.create<AbsOp>(x.re);
    return x.im ? rule.add(real, rule.create<AbsOp>(x.im)) : real;
  }

private:
  Value atMost(Value x, Value size, double factor) { return rule.create<LessEqualOp>(x, rule.scaled(size, factor)); }

  MatrixRule &rule;
  Value ofValues;
};

// V (diag(gw) + F * S) V^H, where F has 1 / (w[j] - w[i]) and S is half of V^H gV - gV^H V.
Matrix eighVjp(MatrixRule &rule, Value w, Matrix v, Value gw, Matrix gV) {
  Matrix left;
  if (gV.re) {
    Matrix moved = rule.product(v, gV, true);
    Matrix skew = rule.scaled(rule.subtract(moved, rule.adjoint(moved)), 0.5);
    Quotients quotients(rule, w);
    Value gaps = rule.subtract(rule.asRow(w), rule.asColumn(w));
    Value hidden = gw ? quotients.magnitude(rule.hermitian(moved)) : Value();
    left = rule.product(v, quotients.of(skew, gaps, quotients.columnsOf(moved), hidden));
  }
  if (gw)
    left = rule.plus(left, rule.multiplied(v, rule.asRow(gw)));
  return rule.hermitian(rule.product(left, v, false, true));
}

// The real parts of the sums of conj(a) b along columns.
Value alongColumns(MatrixRule &rule, Matrix a, Matrix b) {
  Value products = rule.create<MulOp>(a.re, b.re);
  if (a.im)
    products = rule.add(products, rule.create<MulOp>(a.im, b.im));
  return rule.create<SumOp>(products, ArrayRef<int64_t>{MatrixRule::rank(a.re) - 2}, false);
}

// With S = V^H dx V, dw is its diagonal and dV = V (F * S).
std::pair<Value, Matrix> eighJvp(MatrixRule &rule, Value w, Matrix v, Matrix dx) {
  Matrix moved = rule.product(rule.hermitian(dx), v), s = rule.product(v, moved, true);
  Value ofValues = alongColumns(rule, v, moved);
  Quotients quotients(rule, w);
  Value gaps = rule.subtract(rule.asRow(w), rule.asColumn(w));
  return {ofValues, rule.product(v, quotients.of(s, gaps, quotients.columnsOf(s)))};
}

} // namespace

void EighOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                      SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getVectors());
  Matrix of = eighVjp(rule, getValues(), {getVectors(), {}}, cotangents[0], {cotangents[1], {}});
  operandCotangents.assign(1, of.re);
}
void EighOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getVectors());
  auto [ofValues, ofVectors] = eighJvp(rule, getValues(), {getVectors(), {}}, {tangents[0], {}});
  resultTangents.assign({ofValues, ofVectors.re});
}
void EighPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                           SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getVectorsRe());
  Matrix v{getVectorsRe(), getVectorsIm()};
  MatrixRule::give(operandCotangents, eighVjp(rule, getValues(), v, cotangents[0], rule.given(cotangents, 1, v)), v);
}
void EighPartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getVectorsRe());
  Matrix v{getVectorsRe(), getVectorsIm()};
  auto [ofValues, ofVectors] = eighJvp(rule, getValues(), v, rule.given(tangents, 0, v));
  resultTangents.push_back(ofValues);
  MatrixRule::give(resultTangents, ofVectors, v);
}

//===-- Singular values -------------------------------------------------------------------------===//

namespace {

// The derivatives of U, s and V.
class SvdRule {
public:
  SvdRule(MatrixRule &rule, SvdOp op) : SvdRule(rule, op.getX(), {op.getU(), {}}, op.getS(), {op.getVh(), {}}) {}
  SvdRule(MatrixRule &rule, SvdPartsOp op)
      : SvdRule(rule, op.getRe(), {op.getURe(), op.getUIm()}, op.getS(), {op.getVhRe(), op.getVhIm()}) {}

  // U (diag(gs) + (F * X) S + S (F * Y)) V^H with F[i][j] = 1 / (s[j]^2 - s[i]^2), X = U^H gU - gU^H U and Y = V^H gV -
  // gV^H V, and what U and V have outside of their spaces: (1 - U U^H) gU S^-1 V^H + U S^-1 gV^H (1 - V V^H). What is
  // between is half of (X + Y) / (s[j] - s[i]) + (X - Y) / (s[j] + s[i]), in which a function of U V^H has no quotients
  // of equal values. Of complex matrices i times half of the imaginary part of the diagonal of U^H gU - V^H gV, over s,
  // as phases of U and V move against each other.
  Matrix vjp(Matrix gU, Value gs, Matrix gVh) {
    Matrix inner, total;
    auto skew = [&](Matrix x) { return rule.subtract(x, rule.adjoint(x)); };
    if (gU.re || gVh.re) {
      Quotients quotients(rule, s);
      Matrix together, apart;
      Value rounding, hidden;
      auto take = [&](Matrix moved, bool isOfV) {
        Value own = quotients.columnsOf(moved);
        rounding = rounding ? rule.add(rounding, own) : own;
        Value symmetric = gs ? quotients.magnitude(rule.hermitian(moved)) : Value();
        hidden = hidden ? rule.add(hidden, symmetric) : symmetric;
        Matrix x = skew(takePhases(moved, isOfV));
        together = rule.plus(together, x);
        apart = rule.plus(apart, isOfV ? rule.negated(x) : x);
      };
      if (gU.re)
        take(rule.product(u, gU, true), false);
      if (gVh.re)
        take(rule.product(vh, gVh, false, true), true);
      inner = rule.scaled(
          rule.add(quotients.of(together, differences(), rounding, hidden), quotients.of(apart, sums(), rounding)),
          0.5);
    }
    if (inner.im && phases)
      inner.im = rule.add(inner.im, rule.scaled(dividedColumns(phases), 0.5));
    if (inner.re)
      total = rule.product(u, inner);
    if (gs)
      total = rule.plus(total, rule.multiplied(u, rule.asRow(gs)));
    if (gU.re && mayLeaveLeft())
      total = rule.plus(total, dividedColumns(outsideLeft(gU)));
    total = rule.product(total, vh);
    if (gVh.re && mayLeaveRight()) {
      Matrix outside = dividedColumns(outsideRight(rule.adjoint(gVh)));
      total = rule.plus(total, rule.product(u, outside, false, true));
    }
    return total;
  }

  struct Moved {
    Matrix u;
    Value s;
    Matrix vh;
  };
  // With P = U^H dx V, ds is its diagonal, dU = U (F * (P S + S P^H)) and dV = V (F * (S P + P^H S)), and what is
  // outside of their spaces: (1 - U U^H) dx V S^-1 and (1 - V V^H) dx^H U S^-1. The imaginary part of the diagonal of P
  // over s is i times the difference of the phases, of which each has half.
  Moved jvp(Matrix dx) {
    Matrix right = rule.product(dx, vh, false, true), p = rule.product(u, right, true);
    Value ofS = alongColumns(rule, u, right);
    // Half of (P + P^H) / (s[j] - s[i]), and (P - P^H) / (s[j] + s[i]), which V has with the other sign.
    Quotients quotients(rule, s);
    Value rounding = quotients.columnsOf(p);
    Matrix even = quotients.of(rule.hermitian(p), differences(), rounding);
    Matrix odd = quotients.of(rule.scaled(rule.subtract(p, rule.adjoint(p)), 0.5), sums(), rounding);
    Matrix left = rule.add(even, odd), other = rule.subtract(even, odd);
    if (p.im) {
      Value own = rule.create<SelectOp>(rule.isDiagonal(p.im), p.im, rule.constant(0));
      Value half = rule.scaled(dividedColumns(own), 0.5);
      left.im = rule.add(left.im, half);
      other.im = rule.subtract(other.im, half);
    }
    Matrix ofU = rule.product(u, left), ofV = rule.product(vh, other, true);
    if (mayLeaveLeft())
      ofU = rule.add(ofU, dividedColumns(outsideLeft(right)));
    if (mayLeaveRight())
      ofV = rule.add(ofV, dividedColumns(outsideRight(rule.product(dx, u, true))));
    return {ofU, ofS, rule.adjoint(ofV)};
  }

  MatrixRule &rule;
  const Matrix u;
  const Value s;
  const Matrix vh;

private:
  SvdRule(MatrixRule &rule, Value x, Matrix u, Value s, Matrix vh) : rule(rule), u(u), s(s), vh(vh) {
    auto type = cast<RankedTensorType>(x.getType());
    const unsigned rank = static_cast<unsigned>(type.getRank());
    rows = type.getDimSize(rank - 2);
    columns = type.getDimSize(rank - 1);
  }

  // Whether U or V may have fewer columns than rows, so that they move out of their spaces.
  bool mayLeaveLeft() const { return ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns) || rows > columns; }
  bool mayLeaveRight() const { return ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns) || columns > rows; }

  Value dividedColumns(Value x) { return rule.create<DivOp>(x, rule.asRow(s)); }
  Matrix dividedColumns(Matrix x) {
    return MatrixRule::each(x, [&](Value part) { return dividedColumns(part); });
  }
  // x without its part in the columns of U, or of V.
  Matrix outsideLeft(Matrix x) { return rule.subtract(x, rule.product(u, rule.product(u, x, true))); }
  Matrix outsideRight(Matrix x) { return rule.subtract(x, rule.product(vh, rule.product(vh, x), true)); }
  Value differences() { return rule.subtract(rule.asRow(s), rule.asColumn(s)); }
  Value sums() { return rule.add(rule.asRow(s), rule.asColumn(s)); }
  // Adds, or subtracts, the imaginary parts of the diagonal to the phases.
  Matrix takePhases(Matrix x, bool isOfV) {
    if (!x.im)
      return x;
    Value own = rule.create<SelectOp>(rule.isDiagonal(x.im), x.im, rule.constant(0));
    if (isOfV)
      own = rule.negated(own);
    phases = phases ? rule.add(phases, own) : own;
    return x;
  }

  Value phases;
  int64_t rows, columns;
};

} // namespace

void SvdOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                     SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getU());
  SvdRule svd(rule, *this);
  operandCotangents.assign(1, svd.vjp({cotangents[0], {}}, cotangents[1], {cotangents[2], {}}).re);
}
void SvdOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getU());
  const SvdRule::Moved moved = SvdRule(rule, *this).jvp({tangents[0], {}});
  resultTangents.assign({moved.u.re, moved.s, moved.vh.re});
}
void SvdPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                          SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getURe());
  SvdRule svd(rule, *this);
  Matrix of = svd.vjp(rule.given(cotangents, 0, svd.u), cotangents[2], rule.given(cotangents, 3, svd.vh));
  MatrixRule::give(operandCotangents, of, svd.u);
}
void SvdPartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getURe());
  SvdRule svd(rule, *this);
  const SvdRule::Moved moved = svd.jvp(rule.given(tangents, 0, svd.u));
  MatrixRule::give(resultTangents, moved.u, svd.u);
  resultTangents.push_back(moved.s);
  MatrixRule::give(resultTangents, moved.vh, svd.vh);
}

//===-- Pseudo-inverses -------------------------------------------------------------------------===//

namespace {

// With P the pseudo-inverse, of a rank that does not change, dP is
//   -P dx P + P P^H dx^H (1 - x P) + (1 - P x) dx^H P^H P.
Matrix pseudoInverseVjp(MatrixRule &rule, Matrix x, Matrix p, Matrix g) {
  Matrix first = rule.product(p, rule.product(g, p, false, true), true); // P^H g P^H
  Matrix left = rule.product(rule.product(g, p, true), p, false, true);  // g^H P P^H
  left = rule.subtract(left, rule.product(x, rule.product(p, left)));
  Matrix right = rule.product(p, rule.product(p, g, false, true), true); // P^H P g^H
  right = rule.subtract(right, rule.product(rule.product(right, p), x));
  return rule.subtract(rule.add(left, right), first);
}
Matrix pseudoInverseJvp(MatrixRule &rule, Matrix x, Matrix p, Matrix dx) {
  Matrix first = rule.product(p, rule.product(dx, p));
  Matrix left = rule.product(p, rule.product(p, dx, true, true)); // P P^H dx^H
  left = rule.subtract(left, rule.product(rule.product(left, x), p));
  Matrix right = rule.product(rule.product(dx, p, true, true), p); // dx^H P^H P
  right = rule.subtract(right, rule.product(p, rule.product(x, right)));
  return rule.subtract(rule.add(left, right), first);
}

} // namespace

void PseudoInverseOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                               SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, pseudoInverseVjp(rule, {getX(), {}}, {getResult(), {}}, {cotangents[0], {}}).re);
}
void PseudoInverseOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, pseudoInverseJvp(rule, {getX(), {}}, {getResult(), {}}, {tangents[0], {}}).re);
}
void PseudoInversePartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                                    SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix x{getRe(), getIm()}, p{getOfRe(), getOfIm()};
  MatrixRule::give(operandCotangents, pseudoInverseVjp(rule, x, p, rule.given(cotangents, 0, x)), x);
}
void PseudoInversePartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix x{getRe(), getIm()}, p{getOfRe(), getOfIm()};
  MatrixRule::give(resultTangents, pseudoInverseJvp(rule, x, p, rule.given(tangents, 0, x)), x);
}

} // namespace calque::ir
