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

Value MatrixRule::places(Value x) {
  const int64_t dimension = rank(x) - 1;
  const int64_t size = cast<RankedTensorType>(x.getType()).getDimSize(static_cast<unsigned>(dimension));
  const auto dtype = TypeAttr::get(builder.getI64Type());
  if (!ShapedType::isDynamic(size))
    return create<IotaOp>(ArrayRef<int64_t>{size}, dtype, uint64_t{0});
  return create<IotaOpenOp>(ValueRange(x), ArrayRef<int64_t>{size}, ArrayRef<int64_t>{0, dimension}, dtype,
                            uint64_t{0});
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

Value MatrixRule::isInRow(Value x, int64_t row) {
  const Value rows = index(x, true);
  return create<EqualOp>(rows, constantLike(row, rows));
}

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

//===-- Real or complex matrices ----------------------------------------------------------------===//

Parts MatrixRule::given(ValueRange derivatives, unsigned first, Matrix like) {
  if (!like.im)
    return {derivatives[first], Value()};
  Value re = derivatives[first], im = derivatives[first + 1];
  if (!re && !im)
    return {};
  return {re ? re : zerosLike(im), im ? im : zerosLike(re)};
}

void MatrixRule::give(SmallVectorImpl<Value> &derivatives, Matrix x, Matrix like) {
  derivatives.push_back(x.re);
  if (like.im)
    derivatives.push_back(x.im);
}

Parts MatrixRule::adjoint(Matrix x) { return {transposed(x.re), x.im ? negated(transposed(x.im)) : Value()}; }

Parts MatrixRule::product(Matrix a, Matrix b, bool adjointA, bool adjointB) {
  Value re = product(a.re, b.re, adjointA, adjointB);
  if (!a.im)
    return {re, Value()};
  Value inner = product(a.im, b.im, adjointA, adjointB);
  Value left = product(a.im, b.re, adjointA, adjointB), right = product(a.re, b.im, adjointA, adjointB);
  re = adjointA == adjointB ? subtract(re, inner) : add(re, inner);
  if (adjointA && adjointB)
    return {re, negated(add(left, right))};
  return {re, adjointA ? subtract(right, left) : adjointB ? subtract(left, right) : add(left, right)};
}

Parts MatrixRule::multiplied(Matrix a, Matrix b) {
  auto times = [&](Value x, Value y) -> Value { return create<MulOp>(x, y); };
  if (!a.im)
    return {times(a.re, b.re), Value()};
  return {subtract(times(a.re, b.re), times(a.im, b.im)), add(times(a.re, b.im), times(a.im, b.re))};
}

Parts MatrixRule::solve(Matrix a, Matrix b, bool lower, bool adjointA, bool unit) {
  if (!a.im)
    return {solve(a.re, b.re, lower, adjointA, unit), Value()};
  auto op = TriangularSolvePartsOp::create(builder, location, a.re, a.im, b.re, b.im, lower, adjointA, unit);
  return {op.getOfRe(), op.getOfIm()};
}

Parts MatrixRule::inner(Matrix a, Matrix b) {
  if (!a.im)
    return {inner(a.re, b.re), Value()};
  return {subtract(inner(a.re, b.re), inner(a.im, b.im)), add(inner(a.re, b.im), inner(a.im, b.re))};
}

Parts MatrixRule::inverse(Matrix x) {
  auto lu = LuFactorPartsOp::create(builder, location, x.re, x.im);
  Value zero = zerosLike(x.re), one = create<SelectOp>(isDiagonal(zero), constant(1), zero);
  auto solved = LuSolvePartsOp::create(builder, location, x.re, x.im, lu.getFactorsRe(), lu.getFactorsIm(),
                                       lu.getOrder(), one, zero, false);
  return {solved.getOfRe(), solved.getOfIm()};
}

Parts MatrixRule::resizedRow(Matrix row, Value like) {
  // [n, m], of which row i has a 1 at i.
  Value rows = transposed(index(like, false)), columns = index(row.re, false);
  Value takes = create<SelectOp>(create<EqualOp>(rows, columns), constant(1), constant(0));
  Value isTaken = create<SumOp>(takes, ArrayRef<int64_t>{1}, false);
  auto taken = [&](Value part) -> Value {
    return create<ContractOp>(part, takes, ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, ArrayRef<int64_t>{rank(part) - 1},
                              ArrayRef<int64_t>{1});
  };
  return {add(taken(row.re), subtract(constant(1), isTaken)), taken(row.im)};
}

Parts MatrixRule::reciprocal(Matrix x) {
  if (!x.im)
    return {create<DivOp>(constant(1), x.re), Value()};
  Value larger = create<MaximumOp>(create<AbsOp>(x.re), create<AbsOp>(x.im));
  Value re = create<DivOp>(x.re, larger), im = create<DivOp>(x.im, larger);
  Value length = create<MulOp>(add(create<MulOp>(re, re), create<MulOp>(im, im)), larger);
  return {create<DivOp>(re, length), negated(create<DivOp>(im, length))};
}

//===-- Cholesky --------------------------------------------------------------------------------===//

namespace {

using Matrix = MatrixRule::Matrix;

// With S = L^-H Phi(L^H g) L^-1, where Phi takes the lower triangle and half of the diagonal, the cotangent is that
// part of S that is Hermitian.
Matrix choleskyVjp(MatrixRule &rule, Matrix l, Matrix cotangent) {
  Matrix g = rule.triangle(cotangent, true);
  Matrix phi = rule.halfDiagonal(rule.product(l, g, true));
  Matrix s = rule.solveRight(l, rule.solve(l, phi, true, true), true, false);
  return rule.hermitian(s);
}

// L Phi(L^-1 dA L^-H)
Matrix choleskyJvp(MatrixRule &rule, Matrix l, Matrix dx) {
  Matrix inner = rule.solveRight(l, rule.solve(l, rule.hermitian(dx), true, false), true, true);
  return rule.withRealDiagonal(rule.product(l, rule.halfDiagonal(inner)));
}

} // namespace

void CholeskyOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                          SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  operandCotangents.assign(1, choleskyVjp(rule, {getResult(), {}}, {cotangents[0], {}}).re);
}
void CholeskyOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, choleskyJvp(rule, {getResult(), {}}, {tangents[0], {}}).re);
}
void CholeskyPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                               SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix l{getOfRe(), getOfIm()};
  MatrixRule::give(operandCotangents, choleskyVjp(rule, l, rule.given(cotangents, 0, l)), l);
}
void CholeskyPartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix l{getOfRe(), getOfIm()};
  MatrixRule::give(resultTangents, choleskyJvp(rule, l, rule.given(tangents, 0, l)), l);
}

//===-- Triangles -------------------------------------------------------------------------------===//

namespace {

// The matrix, and X of the equation, of either operation.
struct Triangle {
  Matrix a, x;
  bool lower, adjoint, unit;

  // Those of A, if it is needed, and of B.
  std::pair<Matrix, Matrix> vjp(MatrixRule &rule, Matrix g, bool needsA) const {
    Matrix ofB = rule.solve(a, g, lower, !adjoint, unit), ofA;
    if (needsA) {
      Matrix outer = adjoint ? rule.product(x, ofB, false, true) : rule.product(ofB, x, false, true);
      ofA = rule.negated(rule.triangle(outer, lower, unit));
    }
    return {ofA, ofB};
  }
  // op(A)^-1 (dB - op(dA) X)
  Matrix jvp(MatrixRule &rule, Matrix da, Matrix db) const {
    Matrix right = db;
    if (da.re) {
      Matrix moved = rule.product(rule.triangle(da, lower, unit), x, adjoint);
      right = right.re ? rule.subtract(right, moved) : rule.negated(moved);
    }
    return rule.solve(a, right, lower, adjoint, unit);
  }
};

Triangle triangleOf(TriangularSolveOp op) {
  return {{op.getA(), {}}, {op.getResult(), {}}, op.getLower(), op.getTransposed(), op.getUnitDiagonal()};
}
Triangle triangleOf(TriangularSolvePartsOp op) {
  return {{op.getARe(), op.getAIm()},
          {op.getOfRe(), op.getOfIm()},
          op.getLower(),
          op.getTransposed(),
          op.getUnitDiagonal()};
}

} // namespace

void TriangularSolveOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                 SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  auto [ofA, ofB] = triangleOf(*this).vjp(rule, {cotangents[0], {}}, needed[0]);
  operandCotangents.assign({ofA.re, ofB.re});
}
void TriangularSolveOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getResult());
  resultTangents.assign(1, triangleOf(*this).jvp(rule, {tangents[0], {}}, {tangents[1], {}}).re);
}
void TriangularSolvePartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                                      SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  const Triangle triangle = triangleOf(*this);
  auto [ofA, ofB] = triangle.vjp(rule, rule.given(cotangents, 0, triangle.x), needed[0] || needed[1]);
  MatrixRule::give(operandCotangents, ofA, triangle.a);
  MatrixRule::give(operandCotangents, ofB, triangle.a);
}
void TriangularSolvePartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  const Triangle triangle = triangleOf(*this);
  Matrix of = triangle.jvp(rule, rule.given(tangents, 0, triangle.a), rule.given(tangents, 2, triangle.a));
  MatrixRule::give(resultTangents, of, triangle.a);
}

//===-- LU --------------------------------------------------------------------------------------===//

namespace {

// The rows of x in an order, and rows of g back to where the order has them.
Value orderOfRows(MatrixRule &rule, Value order, Value like) {
  const int64_t rank = MatrixRule::rank(like);
  return rule.create<BroadcastLikeOp>(rule.create<ExpandDimsOp>(order, ArrayRef<int64_t>{rank - 1}), like);
}
Matrix takeRows(MatrixRule &rule, Matrix x, Value order) {
  return MatrixRule::each(x, [&](Value part) -> Value {
    return rule.create<TakeAlongAxisOp>(part, orderOfRows(rule, order, part), MatrixRule::rank(part) - 2);
  });
}
Matrix putRows(MatrixRule &rule, Matrix x, Value order) {
  return MatrixRule::each(x, [&](Value part) -> Value {
    return rule.create<PutAlongAxisOp>(part, part, orderOfRows(rule, order, part), MatrixRule::rank(part) - 2);
  });
}

// The cotangent of x[order] is L^-H (tril(L^H gL, -1) + triu(gU U^H)) U^-H.
Matrix luFactorVjp(MatrixRule &rule, Matrix factors, Value order, Matrix g) {
  Matrix lower = rule.lower(factors), upper = rule.triangle(factors, false);
  Matrix ofLower = rule.triangle(rule.product(lower, rule.triangle(g, true, true), true), true, true);
  Matrix ofUpper = rule.triangle(rule.product(rule.triangle(g, false), upper, false, true), false);
  Matrix inner = rule.add(ofLower, ofUpper);
  Matrix rows = rule.solveRight(upper, rule.solve(lower, inner, true, true, true), false, true);
  return putRows(rule, rows, order);
}

// With M = L^-1 dx[order] U^-1, dL = L tril(M, -1) and dU = triu(M) U.
Matrix luFactorJvp(MatrixRule &rule, Matrix factors, Value order, Matrix dx) {
  Matrix lower = rule.lower(factors), upper = rule.triangle(factors, false);
  Matrix moved = rule.solve(lower, takeRows(rule, dx, order), true, false, true);
  moved = rule.solveRight(upper, moved, false, false);
  Matrix ofLower = rule.product(lower, rule.triangle(moved, true, true));
  Matrix ofUpper = rule.product(rule.triangle(moved, false), upper);
  return rule.add(ofLower, ofUpper);
}

} // namespace

void LuFactorOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                          SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getFactors());
  operandCotangents.assign(1, Value());
  if (cotangents[0])
    operandCotangents[0] = luFactorVjp(rule, {getFactors(), {}}, getOrder(), {cotangents[0], {}}).re;
}
void LuFactorOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getFactors());
  resultTangents.assign({luFactorJvp(rule, {getFactors(), {}}, getOrder(), {tangents[0], {}}).re, Value()});
}
void LuFactorPartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &,
                               SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getFactorsRe());
  Matrix factors{getFactorsRe(), getFactorsIm()}, g = rule.given(cotangents, 0, factors);
  MatrixRule::give(operandCotangents, g.re ? luFactorVjp(rule, factors, getOrder(), g) : g, factors);
}
void LuFactorPartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getFactorsRe());
  Matrix factors{getFactorsRe(), getFactorsIm()};
  MatrixRule::give(resultTangents, luFactorJvp(rule, factors, getOrder(), rule.given(tangents, 0, factors)), factors);
  resultTangents.push_back(Value());
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

namespace {

// The solution by the same factors with another right-hand side.
Matrix solvedBy(MatrixRule &rule, LuSolvePartsOp op, Matrix right, bool adjoint) {
  auto made = LuSolvePartsOp::create(rule.builder, rule.location, op.getARe(), op.getAIm(), op.getFactorsRe(),
                                     op.getFactorsIm(), op.getOrder(), right.re, right.im, adjoint);
  return {made.getOfRe(), made.getOfIm()};
}

} // namespace

void LuSolvePartsOp::buildVjp(OpBuilder &builder, ValueRange cotangents, const llvm::SmallBitVector &needed,
                              SmallVectorImpl<Value> &operandCotangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix x{getOfRe(), getOfIm()}, ofB = solvedBy(rule, *this, rule.given(cotangents, 0, x), !getTransposed());
  operandCotangents.assign(7, Value());
  if (needed[0] || needed[1]) {
    Matrix ofA = rule.negated(getTransposed() ? rule.product(x, ofB, false, true) : rule.product(ofB, x, false, true));
    operandCotangents[0] = ofA.re;
    operandCotangents[1] = ofA.im;
  }
  operandCotangents[5] = ofB.re;
  operandCotangents[6] = ofB.im;
}

void LuSolvePartsOp::buildJvp(OpBuilder &builder, ValueRange tangents, SmallVectorImpl<Value> &resultTangents) {
  MatrixRule rule(builder, getLoc(), getOfRe());
  Matrix x{getOfRe(), getOfIm()}, right = rule.given(tangents, 5, x), da = rule.given(tangents, 0, x);
  if (da.re) {
    Matrix moved = rule.product(da, x, getTransposed());
    right = right.re ? rule.subtract(right, moved) : rule.negated(moved);
  }
  MatrixRule::give(resultTangents, right.re ? solvedBy(rule, *this, right, getTransposed()) : right, x);
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

} // namespace calque::ir
