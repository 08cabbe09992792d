// The helper with which the derivatives of linear algebra are written: matrices are the last two dimensions.
//
// A rule that is that of real and of complex matrices takes Matrix: a value, or two of parts. Cotangents are of the
// parts, so that the inner product is the real part of tr(A^H B), and the adjoint matrix is in the place of the
// transposed one.
#ifndef CALQUE_IR_MATRIXRULE_H
#define CALQUE_IR_MATRIXRULE_H

#include "ir/GradientRule.h"
#include "ir/Parts.h"

namespace calque::ir {

class MatrixRule : public GradientRule {
public:
  using GradientRule::GradientRule;
  using Value = mlir::Value;

  static int64_t rank(Value x) { return mlir::cast<mlir::RankedTensorType>(x.getType()).getRank(); }

  Value transposed(Value x);
  // op(a) op(b), where op transposes what is said to be.
  Value product(Value a, Value b, bool transposeA = false, bool transposeB = false);
  Value add(Value a, Value b) { return create<AddOp>(a, b); }
  Value subtract(Value a, Value b) { return create<SubOp>(a, b); }
  Value negated(Value x) { return create<NegOp>(x); }
  Value scaled(Value x, double factor) { return create<MulOp>(x, constant(factor)); }
  // Half of x + x^T.
  Value symmetric(Value x) { return scaled(add(x, transposed(x)), 0.5); }
  // The triangle of x, with zeros elsewhere; without the diagonal if it is strict.
  Value triangle(Value x, bool lower, bool strict = false);
  // Whether an element is on the diagonal of x, as a matrix of its sizes.
  Value isDiagonal(Value x);
  // Whether an element is in this row of x, as a column [rows, 1].
  Value isInRow(Value x, int64_t row);
  // 0, 1, ... as many as the last dimension of x has.
  Value places(Value x);
  // L of LU factors, with its diagonal of ones.
  Value lower(Value factors);
  // Numbers, one for each matrix, in a form that broadcasts with the matrices.
  Value forMatrices(Value scalars);
  // The sums of the products of elements, one for each matrix.
  Value inner(Value a, Value b);
  // A vector for each matrix as rows [1, n] or as columns [n, 1].
  Value asRow(Value vector) { return create<ExpandDimsOp>(vector, llvm::ArrayRef<int64_t>{rank(vector) - 1}); }
  Value asColumn(Value vector) { return create<ExpandDimsOp>(vector, llvm::ArrayRef<int64_t>{rank(vector)}); }
  // The lower triangle with half of the diagonal.
  Value halfDiagonal(Value x) { return scaled(add(triangle(x, true), triangle(x, true, true)), 0.5); }
  // X of op(A) X = B for a triangular A, and of X op(A) = B.
  Value solve(Value a, Value b, bool lower, bool transposedA, bool unit = false) {
    return create<TriangularSolveOp>(a, b, lower, transposedA, unit);
  }
  Value solveRight(Value a, Value b, bool lower, bool transposedA, bool unit = false) {
    return transposed(solve(a, transposed(b), lower, !transposedA, unit));
  }
  //===-- Real or complex matrices --------------------------------------------------------------===//

  using Matrix = Parts; // of real matrices, `im` is null
  template <typename Map> static Matrix each(Matrix x, Map &&map) { return {map(x.re), x.im ? map(x.im) : Value()}; }

  // The cotangent or tangent of a result or operand like this one, whose parts are numbered from `first` on: null if
  // all are, and else without nulls.
  Matrix given(mlir::ValueRange derivatives, unsigned first, Matrix like);
  // Appends the parts; of a null matrix nulls, as many as `like` has.
  static void give(llvm::SmallVectorImpl<Value> &derivatives, Matrix x, Matrix like);

  // conj(x)^T
  Matrix adjoint(Matrix x);
  Matrix conjugate(Matrix x) { return {x.re, x.im ? negated(x.im) : Value()}; }
  // op(a) op(b), where op takes the adjoint of what is said to be.
  Matrix product(Matrix a, Matrix b, bool adjointA = false, bool adjointB = false);
  Matrix add(Matrix a, Matrix b) { return {add(a.re, b.re), a.im ? add(a.im, b.im) : Value()}; }
  Matrix subtract(Matrix a, Matrix b) { return {subtract(a.re, b.re), a.im ? subtract(a.im, b.im) : Value()}; }
  Matrix negated(Matrix x) {
    return each(x, [&](Value part) { return negated(part); });
  }
  Matrix scaled(Matrix x, double factor) {
    return each(x, [&](Value part) { return scaled(part, factor); });
  }
  // The products of elements, and those with real ones, which broadcast.
  Matrix multiplied(Matrix a, Matrix b);
  Matrix multiplied(Matrix x, Value factors) {
    return each(x, [&](Value part) { return create<MulOp>(part, factors); });
  }
  // The sum of two, of which the first may be null.
  Matrix plus(Matrix a, Matrix b) { return a.re ? add(a, b) : b; }
  // Half of x + x^H.
  Matrix hermitian(Matrix x) { return scaled(add(x, adjoint(x)), 0.5); }
  Matrix triangle(Matrix x, bool lower, bool strict = false) {
    return each(x, [&](Value part) { return triangle(part, lower, strict); });
  }
  // With a real diagonal.
  Matrix withRealDiagonal(Matrix x) {
    return {x.re, x.im ? create<SelectOp>(isDiagonal(x.im), constant(0), x.im) : Value()};
  }
  Matrix lower(Matrix factors) { return {lower(factors.re), factors.im ? triangle(factors.im, true, true) : Value()}; }
  Matrix halfDiagonal(Matrix x) {
    return each(x, [&](Value part) { return halfDiagonal(part); });
  }
  // X of op(A) X = B for a triangular A, and of X op(A) = B, where op takes the adjoint.
  Matrix solve(Matrix a, Matrix b, bool lower, bool adjointA, bool unit = false);
  Matrix solveRight(Matrix a, Matrix b, bool lower, bool adjointA, bool unit = false) {
    return adjoint(solve(a, adjoint(b), lower, !adjointA, unit));
  }
  Matrix forMatrices(Matrix scalars) {
    return each(scalars, [&](Value part) { return forMatrices(part); });
  }
  // The sums of the products of elements, one for each matrix.
  Matrix inner(Matrix a, Matrix b);
  // The inverse of complex matrices, of their factors.
  Matrix inverse(Matrix x);
  // A complex row [1, m] as one of as many elements as `like` has columns: the first ones, and 1 where there are more.
  Matrix resizedRow(Matrix row, Value like);
  // 1 / x, element by element, without squares that leave the range.
  Matrix reciprocal(Matrix x);
  // The derivative of a function of square matrices at x in a direction: the upper right block of the function of [x,
  // direction; 0, x] (Higham, theorem 3.6). Op is the operation on real matrices, or on parts.
  template <typename Op> Matrix blockDerivative(Matrix x, Matrix direction) {
    const int64_t rows = rank(x.re) - 2, columns = rank(x.re) - 1;
    struct Block {
      Value upper, lower, whole;
    };
    auto blockOf = [&](Value own, Value moved) {
      Value zero = zerosLike(own);
      Value upper = create<ConcatOp>(mlir::ValueRange{own, moved}, columns);
      Value lower = create<ConcatOp>(mlir::ValueRange{zero, own}, columns);
      return Block{upper, lower, create<ConcatOp>(mlir::ValueRange{upper, lower}, rows)};
    };
    auto upperRight = [&](const Block &block, Value of, Value own, Value moved) -> Value {
      Value above = create<ConcatPartOp>(of, mlir::ValueRange{block.upper, block.lower}, rows, 0);
      return create<ConcatPartOp>(above, mlir::ValueRange{own, moved}, columns, 1);
    };
    const Block re = blockOf(x.re, direction.re);
    if constexpr (Op::template hasTrait<mlir::OpTrait::OneResult>()) {
      return {upperRight(re, create<Op>(re.whole), x.re, direction.re), Value()};
    } else {
      const Block im = blockOf(x.im, direction.im);
      auto of = Op::create(builder, location, re.whole, im.whole);
      return {upperRight(re, of.getOfRe(), x.re, direction.re), upperRight(im, of.getOfIm(), x.im, direction.im)};
    }
  }

protected:
  // The index along the rows or columns of x, as [rows, 1] or [1, columns].
  Value index(Value x, bool ofRows);
};

} // namespace calque::ir
#endif
