// The rules of linear algebra (LinearAlgebra.td names their sources).
#include "ir/MatrixRule.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace calque::ir {

//===-- Matrices --------------------------------------------------------------------------------===//

Value MatrixRule::transposed(Value x) {
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank(x)));
  std::swap(permutation[permutation.size() - 2], permutation.back());
  return create<TransposeOp>(x, permutation);
}

Value MatrixRule::product(Value a, Value b, bool transposeA, bool transposeB) {
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, rank(a) - 2));
  const int64_t first = rank(a) - 2;
  return create<ContractOp>(a, b, batch, batch, ArrayRef<int64_t>{transposeA ? first : first + 1},
                            ArrayRef<int64_t>{transposeB ? first + 1 : first});
}

Value MatrixRule::index(Value x, bool ofRows) {
  auto type = cast<RankedTensorType>(x.getType());
  const int64_t dimension = type.getRank() - (ofRows ? 2 : 1), size = type.getDimSize(static_cast<unsigned>(dimension));
  const auto dtype = TypeAttr::get(builder.getI64Type());
  SmallVector<int64_t> shape(2, 1);
  shape[ofRows ? 0 : 1] = size;
  const int64_t axis = ofRows ? 0 : 1;
  if (!ShapedType::isDynamic(size))
    return create<IotaOp>(shape, dtype, static_cast<uint64_t>(axis));
  return create<IotaOpenOp>(ValueRange(x), shape, ArrayRef<int64_t>{0, dimension}, dtype, static_cast<uint64_t>(axis));
}

Value MatrixRule::triangle(Value x, bool lower, bool strict) {
  Value rows = index(x, true), columns = index(x, false);
  Value high = lower ? rows : columns, low = lower ? columns : rows;
  Value keeps = strict ? create<GreaterOp>(high, low) : create<GreaterEqualOp>(high, low);
  return mask(keeps, x);
}

Value MatrixRule::isDiagonal(Value x) { return create<EqualOp>(index(x, true), index(x, false)); }

Value MatrixRule::lower(Value factors) {
  return create<SelectOp>(isDiagonal(factors), constant(1), triangle(factors, true, true));
}

Value MatrixRule::forMatrices(Value scalars) {
  const int64_t dimensions = rank(scalars);
  return create<ExpandDimsOp>(scalars, ArrayRef<int64_t>{dimensions, dimensions + 1});
}

Value MatrixRule::inner(Value a, Value b) {
  const int64_t dimensions = rank(a);
  return create<SumOp>(create<MulOp>(a, b), ArrayRef<int64_t>{dimensions - 2, dimensions - 1}, false);
}

//===-- Cholesky --------------------------------------------------------------------------------===//

// With S = L^-T Phi(L^T g) L^-1, where Phi takes the lower triangle and half of the diagonal, the cotangent is that
// part of S that is symmetric.
void CholeskyOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                          SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value l = getResult(), g = rule.triangle(cotangents[0], true);
  Value phi = rule.halfDiagonal(rule.product(l, g, true));
  Value s = rule.solveRight(l, rule.solve(l, phi, true, true), true, false);
  operandCotangents.assign(1, rule.symmetric(s));
}

// L Phi(L^-1 dA L^-T)
void CholeskyOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value l = getResult();
  Value inner = rule.solveRight(l, rule.solve(l, rule.symmetric(tangents[0]), true, false), true, true);
  resultTangents.assign(1, rule.product(l, rule.halfDiagonal(inner)));
}

//===-- Triangles -------------------------------------------------------------------------------===//

void TriangularSolveOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                 SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(2, Value());
  Value ofB = rule.solve(getA(), cotangents[0], getLower(), !getTransposed(), getUnitDiagonal());
  if (needed[0]) {
    Value outer =
        getTransposed() ? rule.product(getResult(), ofB, false, true) : rule.product(ofB, getResult(), false, true);
    operandCotangents[0] = rule.negated(rule.triangle(outer, getLower(), getUnitDiagonal()));
  }
  operandCotangents[1] = ofB;
}

// op(A)^-1 (dB - op(dA) X)
void TriangularSolveOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value right = tangents[1];
  if (tangents[0]) {
    Value moved = rule.product(rule.triangle(tangents[0], getLower(), getUnitDiagonal()), getResult(), getTransposed());
    right = right ? rule.subtract(right, moved) : rule.negated(moved);
  }
  resultTangents.assign(1, rule.solve(getA(), right, getLower(), getTransposed(), getUnitDiagonal()));
}

//===-- LU --------------------------------------------------------------------------------------===//

namespace {

// The rows of x in an order, and rows of g back to where the order has them.
Value orderOfRows(MatrixRule &rule, Value order, Value like) {
  const int64_t rank = MatrixRule::rank(like);
  return rule.create<BroadcastLikeOp>(rule.create<ExpandDimsOp>(order, ArrayRef<int64_t>{rank - 1}), like);
}
Value takeRows(MatrixRule &rule, Value x, Value order) {
  return rule.create<TakeAlongAxisOp>(x, orderOfRows(rule, order, x), MatrixRule::rank(x) - 2);
}
Value putRows(MatrixRule &rule, Value x, Value order) {
  return rule.create<PutAlongAxisOp>(x, x, orderOfRows(rule, order, x), MatrixRule::rank(x) - 2);
}

} // namespace

// The cotangent of x[order] is L^-T (tril(L^T gL, -1) + triu(gU U^T)) U^-T.
void LuFactorOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                          SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getFactors());
  operandCotangents.assign(1, Value());
  if (!cotangents[0])
    return;
  Value g = cotangents[0], lower = rule.lower(getFactors()), upper = rule.triangle(getFactors(), false);
  Value ofLower = rule.triangle(rule.product(lower, rule.triangle(g, true, true), true), true, true);
  Value ofUpper = rule.triangle(rule.product(rule.triangle(g, false), upper, false, true), false);
  Value inner = rule.add(ofLower, ofUpper);
  Value rows = rule.solveRight(upper, rule.solve(lower, inner, true, true, true), false, true);
  operandCotangents[0] = putRows(rule, rows, getOrder());
}

// With M = L^-1 dx[order] U^-1, dL = L tril(M, -1) and dU = triu(M) U.
void LuFactorOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getFactors());
  Value lower = rule.lower(getFactors()), upper = rule.triangle(getFactors(), false);
  Value moved = rule.solve(lower, takeRows(rule, tangents[0], getOrder()), true, false, true);
  moved = rule.solveRight(upper, moved, false, false);
  Value ofLower = rule.product(lower, rule.triangle(moved, true, true));
  Value ofUpper = rule.product(rule.triangle(moved, false), upper);
  resultTangents.assign({rule.add(ofLower, ofUpper), Value()});
}

void LuSolveOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                         SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value ofB = rule.create<LuSolveOp>(getA(), getFactors(), getOrder(), cotangents[0], !getTransposed());
  operandCotangents.assign(4, Value());
  if (needed[0])
    operandCotangents[0] = rule.negated(getTransposed() ? rule.product(getResult(), ofB, false, true)
                                                        : rule.product(ofB, getResult(), false, true));
  operandCotangents[3] = ofB;
}

void LuSolveOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value right = tangents[3];
  if (tangents[0]) {
    Value moved = rule.product(tangents[0], getResult(), getTransposed());
    right = right ? rule.subtract(right, moved) : rule.negated(moved);
  }
  // The factors move with the matrix, and are no operands of their own.
  resultTangents.assign(1, right ? rule.create<LuSolveOp>(getA(), getFactors(), getOrder(), right, getTransposed())
                                 : Value());
}

void MatrixInverseOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                               SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value right = rule.product(cotangents[0], getResult(), false, true);
  operandCotangents.assign(1, rule.negated(rule.product(getResult(), right, true)));
}

void MatrixInverseOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, rule.negated(rule.product(getResult(), rule.product(tangents[0], getResult()))));
}

//===-- Determinants ----------------------------------------------------------------------------===//

void DeterminantOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                             SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value cofactors = rule.transposed(rule.create<AdjugateOp>(getX()));
  operandCotangents.assign(1, rule.create<MulOp>(rule.forMatrices(cotangents[0]), cofactors));
}

void DeterminantOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, rule.inner(rule.transposed(rule.create<AdjugateOp>(getX())), tangents[0]));
}

// With J the adjugate, dJ = (tr(J dx) J - J dx J) / det(x).
void AdjugateOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                          SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value j = getResult(), g = cotangents[0];
  Value first = rule.create<MulOp>(rule.forMatrices(rule.inner(g, j)), rule.transposed(j));
  Value second = rule.product(j, rule.product(g, j, false, true), true);
  Value determinant = rule.forMatrices(rule.create<DeterminantOp>(getX()));
  operandCotangents.assign(1, rule.create<DivOp>(rule.subtract(first, second), determinant));
}

void AdjugateOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  Value j = getResult(), dx = tangents[0];
  Value first = rule.create<MulOp>(rule.forMatrices(rule.inner(rule.transposed(j), dx)), j);
  Value second = rule.product(j, rule.product(dx, j));
  Value determinant = rule.forMatrices(rule.create<DeterminantOp>(getX()));
  resultTangents.assign(1, rule.create<DivOp>(rule.subtract(first, second), determinant));
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

} // namespace calque::ir
