// The helper with which the derivatives of linear algebra are written: matrices are the last two dimensions.
#ifndef CALQUE_IR_MATRIXRULE_H
#define CALQUE_IR_MATRIXRULE_H

#include "ir/GradientRule.h"

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
  // The derivative of a function of square matrices at x in a direction: the upper right block of the function of [x,
  // direction; 0, x] (Higham, theorem 3.6).
  template <typename Op> Value blockDerivative(Value x, Value direction) {
    const int64_t rows = rank(x) - 2, columns = rank(x) - 1;
    Value zero = zerosLike(x);
    Value upper = create<ConcatOp>(mlir::ValueRange{x, direction}, columns);
    Value lower = create<ConcatOp>(mlir::ValueRange{zero, x}, columns);
    Value whole = create<Op>(create<ConcatOp>(mlir::ValueRange{upper, lower}, rows));
    Value above = create<ConcatPartOp>(whole, mlir::ValueRange{upper, lower}, rows, 0);
    return create<ConcatPartOp>(above, mlir::ValueRange{x, direction}, columns, 1);
  }

protected:
  // The index along the rows or columns of x, as [rows, 1] or [1, columns].
  Value index(Value x, bool ofRows);
};

} // namespace calque::ir
#endif
