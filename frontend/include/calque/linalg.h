// Linear algebra: factorisations of matrices, and what they solve.
//
//   Tensor l = linalg::cholesky(covariance);                       // [n, n]
//   Tensor white = linalg::triangular_solve(l, x - mean);          // [n], or [n, k]
//   Tensor weights = linalg::cho_solve(l, targets);                // covariance^-1 targets
//   auto [values, vectors] = linalg::eigh(covariance);             // ascending, and as columns
//
// Matrices are the last two dimensions, and those before count them: [..., m, n]. Those dimensions of several operands
// broadcast as in NumPy. A right-hand side of rank 1 is a vector, any other one has matrices. Element types are float32
// and float64; halves are computed as float32. Sizes may be unknown while tracing, and 0.
//
// All functions have derivatives of any order, but where they say otherwise. ShapeError for a rank below 2 and for
// sizes that don't fit, DTypeError for other types and for operands of different types.
//
// Factorisations of more than 32 rows or columns, and eigenvalues and singular values of more than 16, take LAPACK,
// which is loaded when it is first needed: see docs/linear-algebra.md. LinAlgError where it is missing.
#ifndef CALQUE_LINALG_H
#define CALQUE_LINALG_H

#include "calque/functions.h"

#include <optional>

namespace calque::linalg {

struct CholeskyOptions {
  bool upper = false; // the transposed factor
};
// The lower triangular L of A = L L^T, for symmetric positive definite matrices A [..., n, n]. Only the lower triangle
// of A is read, and the gradient is symmetric, as if A were a function of all its symmetric elements. LinAlgError for a
// matrix that is not positive definite, or has a NaN there: the error names the first one of the batch.
CALQUE_API Tensor cholesky(const Operand &a, CholeskyOptions options = {});

struct TriangularSolveOptions {
  bool lower = true;          // A is lower triangular, else upper; the other triangle is not read
  bool transpose = false;     // solve A^T X = B
  bool unit_diagonal = false; // the diagonal of A counts as ones, and is not read
  bool left = true;           // else solve X A = B, or X A^T = B
};
// X of A X = B, for triangular matrices A [..., n, n] and B [..., n, k], or [n]; with left = false B is [..., k, n]. A
// zero of the diagonal gives infinities or NaN. No other element of the result has an error of more than its
// substitution's rounding.
CALQUE_API Tensor triangular_solve(const Operand &a, const Operand &b, TriangularSolveOptions options = {});

// X of A X = B from the Cholesky factor of A: cho_solve(cholesky(a), b). With upper = true the factor is upper.
CALQUE_API Tensor cho_solve(const Operand &factor, const Operand &b, CholeskyOptions options = {});

// The factors of A[order] = L U for square matrices. `factors` has L below its diagonal, where L has ones, and U on and
// above it; `order` [..., n], int64, names the rows. In each column the largest element becomes the pivot. A singular
// matrix has such factors, too, with a zero on the diagonal; its gradient is infinite or NaN.
struct LuFactors {
  Tensor factors, order;
};
CALQUE_API LuFactors lu_factor(const Operand &a);
// X of A X = B from the factors of A, or of A^T X = B. No gradient passes to A but by the factors.
struct LuSolveOptions {
  bool transpose = false;
};
CALQUE_API Tensor lu_solve(const LuFactors &factors, const Operand &b, LuSolveOptions options = {});
// A = P L U: a permutation, a lower triangle with a diagonal of ones, and an upper triangle.
struct Lu {
  Tensor p, l, u;
};
CALQUE_API Lu lu(const Operand &a);

// X of A X = B, for matrices A [..., n, n] and B [..., n, k] or [n]. LinAlgError for a singular matrix, one with a
// pivot that is exactly 0: the error names the first one of the batch. NaN and infinities give NaN.
CALQUE_API Tensor solve(const Operand &a, const Operand &b);
// The inverse. LinAlgError as for solve, which is faster and more accurate where it will do.
CALQUE_API Tensor inv(const Operand &a);

// The determinant [...]. Its gradient is that of the cofactors, also for singular matrices; its second derivatives
// divide by the determinant, and are NaN or infinite for singular ones.
CALQUE_API Tensor det(const Operand &a);
// The sign of the determinant and the logarithm of its magnitude, which neither overflows nor vanishes. 0 and -infinity
// for a singular matrix, whose gradient is a LinAlgError.
struct SignAndLogarithm {
  Tensor sign, logarithm;
};
CALQUE_API SignAndLogarithm slogdet(const Operand &a);

// A = Q R for matrices [..., m, n], with orthonormal columns of Q [..., m, k] and an upper triangle R [..., k, n],
// where k is the smaller one of m and n. Diagonal elements of R may be negative. With complete = true, k is m; then
// there is no gradient where m > n. A matrix of dependent columns has no derivative: it is infinite or NaN.
struct Qr {
  Tensor q, r;
};
struct QrOptions {
  bool complete = false;
};
CALQUE_API Qr qr(const Operand &a, QrOptions options = {});

// A = V diag(w) V^T for symmetric matrices [..., n, n], of which the lower triangle is read: ascending eigenvalues
// w [..., n], and orthonormal eigenvectors, the columns of V. The signs of vectors are not defined, and neither should
// be what a loss makes of them. The gradient is symmetric. If it depends on vectors of equal eigenvalues, it is
// infinite or NaN. NaN for a matrix with NaN or infinities.
struct Eigh {
  Tensor values, vectors;
};
CALQUE_API Eigh eigh(const Operand &a);
CALQUE_API Tensor eigvalsh(const Operand &a);

// A = U diag(s) V^T for matrices [..., m, n]: U [..., m, k], descending singular values s [..., k] and vh = V^T
// [..., k, n], where k is the smaller one of m and n. With full_matrices = true U is [..., m, m] and V^T [..., n, n];
// then there is no gradient but where m = n. What eigh says of signs, equal values and NaN holds as well. Gradients of
// U and V divide by singular values where m and n differ.
struct Svd {
  Tensor u, s, vh;
};
struct SvdOptions {
  bool full_matrices = false;
};
CALQUE_API Svd svd(const Operand &a, SvdOptions options = {});
CALQUE_API Tensor svdvals(const Operand &a);

struct ToleranceOptions {
  // Singular values of at most this times the largest one count as 0. None: the larger one of m and n times the type's
  // epsilon.
  std::optional<double> tolerance = std::nullopt;
};
// The pseudo-inverse [..., n, m] of Moore and Penrose. Its derivatives hold where the rank does not change, and don't
// depend on gaps between singular values. ValueError for a negative tolerance or NaN.
CALQUE_API Tensor pinv(const Operand &a, ToleranceOptions options = {});
// X of the least |A X - B|, of these the one of the least |X|: pinv(a) times b. B is [..., m, k] or [m].
CALQUE_API Tensor lstsq(const Operand &a, const Operand &b, ToleranceOptions options = {});
// The number of singular values that don't count as 0, [...] of int64.
CALQUE_API Tensor matrix_rank(const Operand &a, ToleranceOptions options = {});

// (sum |x|^order)^(1/order) over axes; no axes mean all. order may be infinity, for the largest magnitude, -infinity,
// for the smallest, and 0, for the number of elements that are not 0. With order 2 no square overflows or vanishes, and
// the gradient at 0 is 0. ValueError for NaN.
struct VectorNormOptions {
  double order = 2;
  bool keepdims = false;
};
CALQUE_API Tensor vector_norm(const Operand &x, const AxisList &axes = {}, VectorNormOptions options = {});
enum class MatrixNorm {
  Frobenius,     // of all elements
  Nuclear,       // the sum of the singular values
  Two,           // the largest singular value
  MinusTwo,      // the smallest
  One,           // the largest sum of magnitudes of a column
  MinusOne,      // the smallest
  Infinity,      // the largest sum of magnitudes of a row
  MinusInfinity, // the smallest
};
CALQUE_API Tensor matrix_norm(const Operand &a, MatrixNorm order = MatrixNorm::Frobenius);
// The norm times that of the inverse; the quotient of singular values for Two and MinusTwo. Infinite for a singular
// matrix.
CALQUE_API Tensor cond(const Operand &a, MatrixNorm order = MatrixNorm::Two);

// The product of so many factors A; of inverses for a negative number.
CALQUE_API Tensor matrix_power(const Operand &a, std::int64_t exponent);
// The exponential of square matrices, by Higham's scaling and squaring of 2005. float32 is computed in float64. NaN for
// a matrix with NaN or infinities.
CALQUE_API Tensor expm(const Operand &a);

} // namespace calque::linalg
#endif
