// The rules of determinants (LinearAlgebra.td names their sources).
#include "ir/MatrixRule.h"

using namespace mlir;

namespace calque::ir {

namespace {

using Matrix = MatrixRule::Matrix;

Matrix adjugateOf(MatrixRule &rule, Matrix x) {
  if (!x.im)
    return {rule.create<AdjugateOp>(x.re), Value()};
  auto op = AdjugatePartsOp::create(rule.builder, rule.location, x.re, x.im);
  return {op.getOfRe(), op.getOfIm()};
}
Matrix determinantOf(MatrixRule &rule, Matrix x) {
  if (!x.im)
    return {rule.create<DeterminantOp>(x.re), Value()};
  auto op = DeterminantPartsOp::create(rule.builder, rule.location, x.re, x.im);
  return {op.getOfRe(), op.getOfIm()};
}
// x / d, where d is one number for each matrix.
Matrix divided(MatrixRule &rule, Matrix x, Matrix d) {
  if (!x.im)
    return {rule.create<DivOp>(x.re, d.re), Value()};
  return rule.multiplied(x, rule.reciprocal(d));
}

// The adjoint of the adjugate has the conjugate cofactors.
Matrix determinantVjp(MatrixRule &rule, Matrix x, Matrix g) {
  Matrix cofactors = rule.adjoint(adjugateOf(rule, x));
  return rule.multiplied(rule.forMatrices(g), cofactors);
}
// tr(J dx) of the adjugate J.
Matrix traceOf(MatrixRule &rule, Matrix j, Matrix dx) {
  return rule.inner(MatrixRule::each(j, [&](Value part) { return rule.transposed(part); }), dx);
}

// With J the adjugate, dJ = (tr(J dx) J - J dx J) / det(x).
Matrix adjugateVjp(MatrixRule &rule, Matrix x, Matrix j, Matrix g) {
  Matrix first = rule.multiplied(rule.forMatrices(rule.inner(g, rule.conjugate(j))), rule.adjoint(j));
  Matrix second = rule.product(j, rule.product(g, j, false, true), true);
  Matrix determinant = rule.forMatrices(rule.conjugate(determinantOf(rule, x)));
  return divided(rule, rule.subtract(first, second), determinant);
}
Matrix adjugateJvp(MatrixRule &rule, Matrix x, Matrix j, Matrix dx) {
  Matrix first = rule.multiplied(rule.forMatrices(traceOf(rule, j, dx)), j);
  Matrix second = rule.product(j, rule.product(dx, j));
  Matrix determinant = rule.forMatrices(determinantOf(rule, x));
  return divided(rule, rule.subtract(first, second), determinant);
}

} // namespace

void DeterminantOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                             SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, determinantVjp(rule, {getX(), {}}, {cotangents[0], {}}).re);
}
void DeterminantOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, traceOf(rule, adjugateOf(rule, {getX(), {}}), {tangents[0], {}}).re);
}
void DeterminantPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                                  SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix x{getRe(), getIm()};
  MatrixRule::give(operandCotangents, determinantVjp(rule, x, rule.given(cotangents, 0, x)), x);
}
void DeterminantPartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix x{getRe(), getIm()};
  MatrixRule::give(resultTangents, traceOf(rule, adjugateOf(rule, x), rule.given(tangents, 0, x)), x);
}

void AdjugateOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                          SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, adjugateVjp(rule, {getX(), {}}, {getResult(), {}}, {cotangents[0], {}}).re);
}
void AdjugateOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, adjugateJvp(rule, {getX(), {}}, {getResult(), {}}, {tangents[0], {}}).re);
}
void AdjugatePartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                               SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix x{getRe(), getIm()}, j{getOfRe(), getOfIm()};
  MatrixRule::give(operandCotangents, adjugateVjp(rule, x, j, rule.given(cotangents, 0, x)), x);
}
void AdjugatePartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix x{getRe(), getIm()}, j{getOfRe(), getOfIm()};
  MatrixRule::give(resultTangents, adjugateJvp(rule, x, j, rule.given(tangents, 0, x)), x);
}

// The logarithm's cotangent times x^-T; the sign is constant.
void SlogdetOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                         SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getLogarithm());
  operandCotangents.assign(1, Value());
  if (cotangents[1])
    operandCotangents[0] =
        rule.create<MulOp>(rule.forMatrices(cotangents[1]), rule.transposed(rule.create<MatrixInverseOp>(getX())));
}

void SlogdetOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getLogarithm());
  Value inverse = rule.transposed(rule.create<MatrixInverseOp>(getX()));
  resultTangents.assign({Value(), rule.inner(inverse, tangents[0])});
}

// With t = tr(x^-1 dx), the logarithm of the determinant, d log |det| is the real part of t, and d sign is i times the
// sign times its imaginary part.
void SlogdetPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                              SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getLogarithm());
  Matrix x{getRe(), getIm()}, sign{getSignRe(), getSignIm()}, g = rule.given(cotangents, 0, sign);
  Value turned = g.re ? rule.multiplied(rule.conjugate(sign), g).im : rule.zerosLike(getLogarithm());
  Matrix ofLogarithm{cotangents[2] ? cotangents[2] : rule.zerosLike(getLogarithm()), turned};
  Matrix of = rule.multiplied(rule.forMatrices(ofLogarithm), rule.adjoint(rule.inverse(x)));
  MatrixRule::give(operandCotangents, of, x);
}
void SlogdetPartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getLogarithm());
  Matrix x{getRe(), getIm()};
  Matrix moved = traceOf(rule, rule.inverse(x), rule.given(tangents, 0, x));
  resultTangents.assign(
      {rule.negated(rule.create<MulOp>(getSignIm(), moved.im)), rule.create<MulOp>(getSignRe(), moved.im), moved.re});
}

} // namespace calque::ir
