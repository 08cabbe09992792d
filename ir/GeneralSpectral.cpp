// The rules of general eigenvalues (LinearAlgebra.td names their sources).
#include "ir/ElementType.h"
#include "ir/MatrixRule.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace calque::ir {

namespace {

using MatrixParts = Parts;

class EigRule : public MatrixRule {
public:
  // Of an operation on real or on complex matrices.
  template <typename Op>
  EigRule(OpBuilder &builder, Op op)
      : MatrixRule(builder, op.getLoc(), op.getVectorsRe()), w{op.getValuesRe(), op.getValuesIm()},
        v{op.getVectorsRe(), op.getVectorsIm()} {}

  // With M = V^-1 dx V, dw is its diagonal, and dV = V (F * M), of which the parts along the vectors, which have length
  // 1, are left out. `moved` is dx V.
  void jvp(MatrixParts moved, SmallVectorImpl<Value> &resultTangents);
  // The adjoint of that, by the real inner product: V^-H (diag(gw) + conj(F) * (V^H gV)) V^H, of which this is all but
  // the last factor.
  MatrixParts vjp(ValueRange cotangents);

  // a b, or with `adjoint` conj(a)^T b.
  MatrixParts times(MatrixParts a, MatrixParts b, bool adjoint = false) {
    Value inner = product(a.im, b.im, adjoint), outer = product(a.im, b.re, adjoint);
    Value re = product(a.re, b.re, adjoint), im = product(a.re, b.im, adjoint);
    if (adjoint)
      return {add(re, inner), subtract(im, outer)};
    return {subtract(re, inner), add(im, outer)};
  }
  // The product of elements, or with `conjugate` conj(a) b.
  MatrixParts elements(MatrixParts a, MatrixParts b, bool conjugate = false) {
    Value re = create<MulOp>(a.re, b.re), im = create<MulOp>(a.re, b.im);
    Value inner = create<MulOp>(a.im, b.im), outer = create<MulOp>(a.im, b.re);
    if (conjugate)
      return {add(re, inner), subtract(im, outer)};
    return {subtract(re, inner), add(im, outer)};
  }

  // V^-1, of an equation of real numbers that is twice as large. With vectors of length 1 the length of its row i is
  // the condition number of eigenvalue i, which grows without bounds towards a matrix that has no basis of
  // eigenvectors. There, half of the digits are lost twice; so such a row is NaN.
  MatrixParts inverse() {
    const int64_t rows = rank(v.re) - 2, columns = rank(v.re) - 1;
    Value upper = create<ConcatOp>(ValueRange{v.re, negated(v.im)}, columns);
    Value lower = create<ConcatOp>(ValueRange{v.im, v.re}, columns);
    Value matrix = create<ConcatOp>(ValueRange{upper, lower}, rows);
    Value zero = zerosLike(v.re), one = create<SelectOp>(isDiagonal(v.re), constant(1), zero);
    Value right = create<ConcatOp>(ValueRange{one, zero}, rows);
    auto factors = LuFactorOp::create(builder, location, matrix);
    Value x = create<LuSolveOp>(matrix, factors.getFactors(), factors.getOrder(), right, false);
    MatrixParts inverse{create<ConcatPartOp>(x, ValueRange{one, zero}, rows, 0),
                        create<ConcatPartOp>(x, ValueRange{one, zero}, rows, 1)};
    Value squares = add(create<MulOp>(inverse.re, inverse.re), create<MulOp>(inverse.im, inverse.im));
    Value lengths = create<SumOp>(squares, ArrayRef<int64_t>{columns}, true);
    Value bound = constant(std::ldexp(1, static_cast<int>(ElementType(v.re).digits()) - 5)); // 1 / (16 epsilon)
    Value isLost = create<GreaterOp>(lengths, bound);
    Value nan = create<SelectOp>(isLost, constant(std::numeric_limits<double>::quiet_NaN()), constant(0));
    return {add(inverse.re, nan), inverse.im};
  }

  // 1 / (w[j] - w[i]) off the diagonal, which has zeros. Infinite for equal eigenvalues.
  MatrixParts inverseGaps() {
    Value re = subtract(asRow(w.re), asColumn(w.re)), im = subtract(asRow(w.im), asColumn(w.im));
    Value onDiagonal = isDiagonal(re), one = constant(1), zero = constant(0);
    auto off = [&](Value x, Value otherwise) { return create<SelectOp>(onDiagonal, otherwise, x); };
    re = off(re, one);
    // By the larger part, as squares may leave the range.
    Value larger = create<MaximumOp>(create<AbsOp>(re), create<AbsOp>(im));
    Value a = create<DivOp>(re, larger), b = create<DivOp>(im, larger);
    Value length = create<MulOp>(add(create<MulOp>(a, a), create<MulOp>(b, b)), larger);
    return {off(create<DivOp>(a, length), zero), off(negated(create<DivOp>(b, length)), zero)};
  }

  // The sums of the columns of the real part of conj(v) x, as rows.
  Value alongVectors(MatrixParts x) {
    Value products = add(create<MulOp>(v.re, x.re), create<MulOp>(v.im, x.im));
    return create<SumOp>(products, ArrayRef<int64_t>{rank(v.re) - 2}, true);
  }
  // x without what would change the length of a vector.
  MatrixParts ofLengthOne(MatrixParts x) {
    Value along = alongVectors(x);
    return {subtract(x.re, create<MulOp>(v.re, along)), subtract(x.im, create<MulOp>(v.im, along))};
  }
  // A diagonal matrix of a vector.
  Value diagonal(Value vector, Value like) { return create<SelectOp>(isDiagonal(like), asRow(vector), constant(0)); }

  const MatrixParts w, v;
};

void EigRule::jvp(MatrixParts moved, SmallVectorImpl<Value> &resultTangents) {
  MatrixParts m = times(inverse(), moved);
  auto diagonal = [&](Value x) {
    Value kept = create<SelectOp>(isDiagonal(x), x, constant(0));
    return create<SumOp>(kept, ArrayRef<int64_t>{rank(x) - 2}, false);
  };
  MatrixParts ofVectors = ofLengthOne(times(v, elements(inverseGaps(), m)));
  resultTangents.assign({diagonal(m.re), diagonal(m.im), ofVectors.re, ofVectors.im});
}

MatrixParts EigRule::vjp(ValueRange cotangents) {
  Value zero = zerosLike(v.re);
  MatrixParts inner{zero, zero};
  if (cotangents[2] || cotangents[3]) {
    MatrixParts g{cotangents[2] ? cotangents[2] : zero, cotangents[3] ? cotangents[3] : zero};
    inner = elements(inverseGaps(), times(v, ofLengthOne(g), true), true);
  }
  if (cotangents[0])
    inner.re = add(inner.re, diagonal(cotangents[0], zero));
  if (cotangents[1])
    inner.im = add(inner.im, diagonal(cotangents[1], zero));
  return times(inverse(), inner, true);
}

} // namespace

void EigOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  EigRule rule(builder, *this);
  Value dx = tangents[0];
  rule.jvp({rule.product(dx, rule.v.re), rule.product(dx, rule.v.im)}, resultTangents);
}
void EigOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                     SmallVectorImpl<Value> &operandCotangents) {
  EigRule rule(builder, *this);
  MatrixParts left = rule.vjp(cotangents);
  // The real part of left times V^H.
  Value re = rule.product(left.re, rule.v.re, false, true), im = rule.product(left.im, rule.v.im, false, true);
  operandCotangents.assign(1, rule.add(re, im));
}
void EigPartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  EigRule rule(builder, *this);
  rule.jvp(rule.product(rule.given(tangents, 0, rule.v), rule.v), resultTangents);
}
void EigPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                          SmallVectorImpl<Value> &operandCotangents) {
  EigRule rule(builder, *this);
  MatrixRule::give(operandCotangents, rule.product(rule.vjp(cotangents), rule.v, false, true), rule.v);
}

} // namespace calque::ir
