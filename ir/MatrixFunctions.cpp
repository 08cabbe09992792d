// The rules of Sylvester's equation and of functions of matrices, real ones and complex ones (LinearAlgebra.td names
// their sources).
#include "ir/MatrixRule.h"

#include <array>

using namespace mlir;

namespace calque::ir {

using Matrix = MatrixRule::Matrix;

//===-- Sylvester's equation --------------------------------------------------------------------===//

namespace {

Matrix sylvester(MatrixRule &rule, Matrix a, Matrix b, Matrix c) {
  if (!a.im)
    return {rule.create<SylvesterOp>(a.re, b.re, c.re), Value()};
  auto op = SylvesterPartsOp::create(rule.builder, rule.location, a.re, a.im, b.re, b.im, c.re, c.im);
  return {op.getOfRe(), op.getOfIm()};
}

struct Equation {
  Matrix a, b, x;

  // With A^H Y + Y B^H = g, the cotangents are -Y X^H, -X^H Y and Y.
  std::array<Matrix, 3> vjp(MatrixRule &rule, Matrix g) const {
    Matrix turnedA = rule.adjoint(a), turnedB = rule.adjoint(b), y = sylvester(rule, turnedA, turnedB, g);
    Matrix ofA = rule.negated(rule.product(y, x, false, true));
    return {ofA, rule.negated(rule.product(x, y, true)), y};
  }
  // A dX + dX B = dC - dA X - X dB
  Matrix jvp(MatrixRule &rule, Matrix da, Matrix db, Matrix dc) const {
    Matrix right = dc;
    if (da.re)
      right = rule.plus(right, rule.negated(rule.product(da, x)));
    if (db.re)
      right = rule.plus(right, rule.negated(rule.product(x, db)));
    return sylvester(rule, a, b, right);
  }
};

Equation equationOf(SylvesterOp op) { return {{op.getA(), {}}, {op.getB(), {}}, {op.getResult(), {}}}; }
Equation equationOf(SylvesterPartsOp op) {
  return {{op.getARe(), op.getAIm()}, {op.getBRe(), op.getBIm()}, {op.getOfRe(), op.getOfIm()}};
}

} // namespace

void SylvesterOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                           SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  for (Matrix each : equationOf(*this).vjp(rule, {cotangents[0], {}}))
    operandCotangents.push_back(each.re);
}
void SylvesterOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, equationOf(*this).jvp(rule, {tangents[0], {}}, {tangents[1], {}}, {tangents[2], {}}).re);
}
void SylvesterPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                                SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  const Equation equation = equationOf(*this);
  for (Matrix each : equation.vjp(rule, rule.given(cotangents, 0, equation.x)))
    MatrixRule::give(operandCotangents, each, equation.x);
}
void SylvesterPartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  const Equation equation = equationOf(*this);
  auto given = [&](unsigned first) { return rule.given(tangents, first, equation.x); };
  MatrixRule::give(resultTangents, equation.jvp(rule, given(0), given(2), given(4)), equation.x);
}

//===-- Roots -----------------------------------------------------------------------------------===//

// X dX + dX X = dx, and the adjoint equation.
void SqrtmOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                       SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value turned = rule.transposed(getResult());
  operandCotangents.assign(1, rule.create<SylvesterOp>(turned, turned, cotangents[0]));
}
void SqrtmOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, rule.create<SylvesterOp>(getResult(), getResult(), tangents[0]));
}
void SqrtmPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                            SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix root{getOfRe(), getOfIm()}, turned = rule.adjoint(root);
  MatrixRule::give(operandCotangents, sylvester(rule, turned, turned, rule.given(cotangents, 0, root)), root);
}
void SqrtmPartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix root{getOfRe(), getOfIm()};
  MatrixRule::give(resultTangents, sylvester(rule, root, root, rule.given(tangents, 0, root)), root);
}

//===-- Exponentials and logarithms -------------------------------------------------------------===//

// The adjoint of the derivative at x is the derivative at x^H.
#define CALQUE_BLOCK_RULES(Op)                                                                                         \
  void Op::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,                           \
                    SmallVectorImpl<Value> &operandCotangents) {                                                       \
    MatrixRule rule(builder, getLoc(), getOperation()->getOperand(0));                                                 \
    const Matrix x = matrixOf(getOperation()->getOperands());                                                          \
    Matrix turned = rule.adjoint(x), g = rule.given(cotangents, 0, x);                                                 \
    MatrixRule::give(operandCotangents, rule.blockDerivative<Op>(turned, g), x);                                       \
  }                                                                                                                    \
  void Op::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {                 \
    MatrixRule rule(builder, getLoc(), getOperation()->getOperand(0));                                                 \
    const Matrix x = matrixOf(getOperation()->getOperands());                                                          \
    MatrixRule::give(resultTangents, rule.blockDerivative<Op>(x, rule.given(tangents, 0, x)), x);                      \
  }

namespace {

Matrix matrixOf(ValueRange parts) { return {parts[0], parts.size() > 1 ? parts[1] : Value()}; }

} // namespace

CALQUE_BLOCK_RULES(ExpmOp)
CALQUE_BLOCK_RULES(ExpmPartsOp)
CALQUE_BLOCK_RULES(LogmOp)
CALQUE_BLOCK_RULES(LogmPartsOp)

#undef CALQUE_BLOCK_RULES

} // namespace calque::ir
