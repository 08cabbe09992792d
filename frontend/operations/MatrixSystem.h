// One call of a public function that solves systems.
#ifndef CALQUE_FRONTEND_OPERATIONS_MATRIXSYSTEM_H
#define CALQUE_FRONTEND_OPERATIONS_MATRIXSYSTEM_H

#include "frontend/operations/MatrixBatches.h"
#include "frontend/operations/MatrixCall.h"

#include <array>

namespace calque::detail {

// What the matrices of a system are, and which size of them is that of the right-hand sides.
enum class SystemForm : std::uint8_t {
  Square,    // [..., n, n], and as many rows
  FromRight, // [..., n, n], and as many columns: X A = B
  Any,       // [..., m, n], and as many rows
  Band,      // a band [..., d, n], and as many rows as it has columns
};

// The operands of a system. A right-hand side of rank 1 is a column, for the time of the call. What does not fit is
// refused here, in the sizes that the user has given.
class MatrixSystem : public MatrixCall {
public:
  MatrixSystem(const Operand &a, const Operand &b, const char *function, SystemForm form = SystemForm::Square)
      : MatrixCall(a, function) {
    const Operand *operands[] = {&a, &b};
    std::vector<Tensor> tensors = adoptNumbers(schema::OpId::TriangularSolve, operands);
    matrix = tensors[0];
    right = tensors[1];
    requireMatrix(matrix);
    if (right.rank() == 0)
      throw ShapeError(
          absl::StrCat(this->function, ": the right-hand side is a vector or matrices, not ", typeOf(right)), where);
    requireOneType({matrix, right});
    isVector = right.rank() == 1;
    requireSizes(form);
    const Shape left = matrix.shape(), given = right.shape();
    if (isVector)
      right = expand_dims(operand(right), {1});
    original = matrix;
    if (matrix.rank() == 2 && right.rank() == 2)
      return;
    batch = mergeBatches(left, right.shape(), this->function, absl::StrCat(left.str(), " and ", given.str()), where);
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

private:
  void requireSizes(SystemForm form) const {
    const Shape left = matrix.shape(), given = right.shape();
    const Size rows = left[left.size() - 2], columns = left.back();
    if (form == SystemForm::Square || form == SystemForm::FromRight)
      requireSquare(matrix);
    const bool ofColumns = form == SystemForm::FromRight && !isVector;
    const Size own = isVector || ofColumns ? given.back() : given[given.size() - 2];
    if (!mayDiffer(own, form == SystemForm::Band ? columns : rows))
      return;
    if (form == SystemForm::Band)
      throw ShapeError(absl::StrCat(function, ": the right-hand sides ", typeOf(right),
                                    " must have as many rows as the band ", typeOf(matrix), " has columns"),
                       where);
    throw ShapeError(absl::StrCat(function, ": the right-hand sides ", typeOf(right), " must have as many ",
                                  ofColumns ? "columns" : "rows", " as the matrices ", typeOf(matrix)),
                     where);
  }
};

} // namespace calque::detail
#endif
