// One call of a public function that solves systems.
#ifndef CALQUE_FRONTEND_OPERATIONS_MATRIXSYSTEM_H
#define CALQUE_FRONTEND_OPERATIONS_MATRIXSYSTEM_H

#include "frontend/operations/MatrixBatches.h"
#include "frontend/operations/MatrixCall.h"

#include <array>

namespace calque::detail {

// The operands of a system. A right-hand side of rank 1 is a column, for the time of the call.
class MatrixSystem : public MatrixCall {
public:
  MatrixSystem(const Operand &a, const Operand &b, const char *function) : MatrixCall(a, function) {
    const Operand *operands[] = {&a, &b};
    std::vector<Tensor> tensors = adoptNumbers(schema::OpId::TriangularSolve, operands);
    matrix = tensors[0];
    right = tensors[1];
    requireMatrix(matrix);
    if (right.rank() == 0)
      throw ShapeError(absl::StrCat(function, ": the right-hand side is a vector or matrices, not ", typeOf(right)),
                       where);
    isVector = right.rank() == 1;
    if (isVector)
      right = expand_dims(operand(right), {1});
    original = matrix;
    if (matrix.rank() == 2 && right.rank() == 2)
      return;
    const Shape left = matrix.shape(), other = right.shape();
    batch = mergeBatches(left, other, function, absl::StrCat(left.str(), " and ", other.str()), where);
    repeats = true;
    matrix = broadcastBatch(matrix, batch, where);
    right = broadcastBatch(right, batch, where);
  }

  // X of op(A) X = B for a triangular A. With `adjoint`, op(A) is its conjugate, of which the transposed one is A^H.
  Tensor triangular(const Tensor &b, bool lower, bool transposed, bool unit, bool adjoint = false) const {
    const bool conjugates = adjoint && is_complex(matrix.dtype());
    const std::array<Tensor, 2> operands{conjugates ? conj(operand(matrix)) : matrix, b};
    const std::array<schema::Attribute, 3> attributes{lower, transposed, unit};
    return apply(schema::OpId::TriangularSolve, operands, attributes);
  }

  // The solution in the form of the right-hand side: of a vector and one matrix a vector.
  Tensor result(const Tensor &x) const { return isVector ? squeeze(operand(x), {-1}) : x; }

  Tensor original; // the matrix as it is given
  Tensor matrix, right;
  bool isVector;
  bool repeats = false;
  Shape batch;
};

} // namespace calque::detail
#endif
