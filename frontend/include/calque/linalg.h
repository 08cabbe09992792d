// Linear algebra: factorisations of matrices, and what they solve.
//
//   Tensor l = linalg::cholesky(covariance);                       // [n, n]
//   Tensor white = linalg::triangular_solve(l, x - mean);          // [n], or [n, k]
//   Tensor weights = linalg::cho_solve(l, targets);                // covariance^-1 targets
//   auto [values, vectors] = linalg::eigh(covariance);             // ascending, and as columns
//
// Matrices are the last two dimensions, and those before count them: [..., m, n]. Those dimensions of several operands
// broadcast as in NumPy. A right-hand side of rank 1 is a vector, any other one has matrices. Element types are
// float32, float64, complex64 and complex128, but where a function says otherwise; halves are computed as float32.
// Sizes may be unknown while tracing, and 0. A^H is the conjugate transposed matrix, which of a real one is A^T.
//
// All functions have derivatives of any order, but where they say otherwise. ShapeError for a rank below 2 and for
// sizes that don't fit, DTypeError for other types and for operands of different types.
//
// Factorisations of more than 32 rows or columns, and eigenvalues and singular values of more than 16, take LAPACK,
// which is loaded when it is first needed: see docs/linear-algebra.md. So do eig, schur, sqrtm, logm and the equations
// of Sylvester and Lyapunov of any size, which are computed in float64. LinAlgError where it is missing.
#ifndef CALQUE_LINALG_H
#define CALQUE_LINALG_H

#include "calque/functions.h"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace calque::linalg {

struct CholeskyOptions {
  bool upper = false; // the factor L^H
};
// The lower triangular L of A = L L^H, for symmetric, or Hermitian, positive definite matrices A [..., n, n]. Only the
// lower triangle of A is read, and of its diagonal the real part. The gradient is Hermitian, as if A were a function of
// all its elements that are equal or conjugate. LinAlgError for a matrix that is not positive definite, or has a NaN
// there: the error names the first one of the batch.
CALQUE_API Tensor cholesky(const Operand &a, CholeskyOptions options = {});

struct TriangularSolveOptions {
  bool lower = true;          // A is lower triangular, else upper; the other triangle is not read
  bool transpose = false;     // solve A^T X = B
  bool unit_diagonal = false; // the diagonal of A counts as ones, and is not read
  bool left = true;           // else solve X A = B, X A^T = B or X A^H = B
  bool adjoint = false;       // solve A^H X = B; ValueError for both transpose and adjoint
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
  bool adjoint = false; // solve A^H X = B; ValueError for both
};
CALQUE_API Tensor lu_solve(const LuFactors &factors, const Operand &b, LuSolveOptions options = {});
// A = P L U: a permutation, a lower triangle with a diagonal of ones, and an upper triangle.
struct Lu {
  Tensor p, l, u;
};
CALQUE_API Lu lu(const Operand &a);

// X of A X = B, for matrices A [..., n, n] and B [..., n, k] or [n]. LinAlgError for a singular matrix, one with a
// pivot that is exactly 0: the error names the first one of the batch. NaN and infinities give what arithmetic makes of
// them.
CALQUE_API Tensor solve(const Operand &a, const Operand &b);
// The inverse. LinAlgError as for solve, which is faster and more accurate where it will do.
CALQUE_API Tensor inv(const Operand &a);

// The determinant [...]. Its gradient is that of the cofactors, also for singular matrices; its second derivatives
// divide by the determinant, and are NaN or infinite for singular ones.
CALQUE_API Tensor det(const Operand &a);
// The sign of the determinant and the logarithm of its magnitude, which neither overflows nor vanishes. 0 and -infinity
// for a singular matrix, whose gradient is a LinAlgError. Of a complex matrix the sign is a complex number of magnitude
// 1, and the logarithm is real.
struct SignAndLogarithm {
  Tensor sign, logarithm;
};
CALQUE_API SignAndLogarithm slogdet(const Operand &a);

// A = Q R for matrices [..., m, n], with orthonormal columns of Q [..., m, k] and an upper triangle R [..., k, n],
// where k is the smaller one of m and n. Diagonal elements of R are real, and may be negative. With complete = true, k
// is m; then there is no gradient where m > n. A matrix of dependent columns has no derivative: it is infinite or NaN.
struct Qr {
  Tensor q, r;
};
struct QrOptions {
  bool complete = false;
};
CALQUE_API Qr qr(const Operand &a, QrOptions options = {});

// A = V diag(w) V^H for symmetric or Hermitian matrices [..., n, n], of which the lower triangle is read: ascending
// real eigenvalues w [..., n], and orthonormal eigenvectors, the columns of V. The signs of real vectors are not
// defined, and neither should be what a loss makes of them. Of a complex vector the largest element is positive; so
// gradients are right for losses that depend on the phase, too, but where two elements are largest. The gradient is
// Hermitian. If it depends on vectors of equal eigenvalues, it is infinite or NaN; so it is for a function of vectors
// and values together, as of V f(w) V^H, unless vectors of equal values count as their space alone. NaN for a matrix
// with NaN or infinities.
struct Eigh {
  Tensor values, vectors;
};
//
// With B, a symmetric or Hermitian positive definite matrix of the same size, A V = B V diag(w) and V^H B V = 1, by the
// Cholesky factor of B. The lower triangle of both is read. LinAlgError for a B that is not positive definite.
CALQUE_API Eigh eigh(const Operand &a, std::optional<Tensor> b = std::nullopt);
CALQUE_API Tensor eigvalsh(const Operand &a, std::optional<Tensor> b = std::nullopt);

// A = U diag(s) V^H for matrices [..., m, n]: U [..., m, k], descending real singular values s [..., k] and vh = V^H
// [..., k, n], where k is the smaller one of m and n. With full_matrices = true U is [..., m, m] and V^H [..., n, n];
// then there is no gradient but where m = n. What eigh says of signs, equal values and NaN holds as well, and of phases
// of the columns of U. Gradients of U and V divide by singular values where m and n differ, and of complex matrices.
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

// (sum |x|^order)^(1/order) over axes, a real number; no axes mean all. order may be infinity, for the largest
// magnitude, -infinity, for the smallest, and 0, for the number of elements that are not 0. With order 2 no square
// overflows or vanishes, and the gradient at 0 is 0. ValueError for NaN.
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
// The order of a norm: a number, also infinite or -infinite, or of matrices "fro" or "nuc".
class NormOrder {
public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  NormOrder(T number) : number_(static_cast<double>(number)) {}
  NormOrder(std::string name) : name_(std::move(name)) {}
  NormOrder(const char *name) : name_(name) {}
  const std::string &name() const { return name_; } // empty: a number
  double number() const { return number_; }

private:
  double number_ = 0;
  std::string name_;
};
struct NormOptions {
  std::optional<NormOrder> ord = std::nullopt; // none: 2 of vectors, "fro" of matrices
  AxisList axis = {};                          // one axis of vectors, or those of rows and columns of matrices
  bool keepdims = false;
};
// numpy.linalg.norm. Without an axis it is that of all elements, if no order is given, and else of a vector or a
// matrix. With one axis it is vector_norm, and with two axes matrix_norm, of the orders 1, -1, 2, -2, inf, -inf, "fro"
// and "nuc". ValueError for other orders and for more axes. ShapeError for an order and a rank above 2 without axes.
CALQUE_API Tensor norm(const Operand &x, NormOptions options = {});
// The norm times that of the inverse; the quotient of singular values for Two and MinusTwo. Infinite for a singular
// matrix.
CALQUE_API Tensor cond(const Operand &a, MatrixNorm order = MatrixNorm::Two);

// The product of two or more matrices, of which the first and the last may be vectors, in the order that takes the
// fewest multiplications. ValueError for less than two.
CALQUE_API Tensor multi_dot(const std::vector<Tensor> &matrices, SourceLocation where = SourceLocation::current());
// A = U P for matrices [..., m, n], with orthonormal columns of U, or rows where m < n, and a Hermitian P without
// negative eigenvalues, [..., n, n]; with side "left" A = P U, and P is [..., m, m]. By the singular values, of which
// none is 0 for the derivatives.
struct Polar {
  Tensor u, p;
};
struct PolarOptions {
  std::string side = "right";
};
CALQUE_API Polar polar(const Operand &a, PolarOptions options = {});

// The product of so many factors A; of inverses for a negative number.
CALQUE_API Tensor matrix_power(const Operand &a, std::int64_t exponent);
// The exponential of square matrices, by Higham's scaling and squaring of 2005. float32 is computed in float64, and
// complex64 in complex128. NaN for a matrix with NaN or infinities.
CALQUE_API Tensor expm(const Operand &a);

// Eigenvalues w [..., n] and eigenvectors, the columns of V [..., n, n], of general matrices: A V = V diag(w). Both are
// complex, complex64 of float32. Values come in no particular order, those of real matrices next to their conjugates.
// Vectors have length 1 and a real largest element, and neither their order nor their phase should be what a loss
// depends on. Gradients of vectors are infinite or NaN for equal values. All gradients are NaN for a matrix without a
// basis of eigenvectors, and for one so near to it that the condition number of an eigenvalue is more than 1 / (4
// sqrt(epsilon)). NaN for a matrix with NaN or infinities.
struct Eig {
  Tensor values, vectors;
};
CALQUE_API Eig eig(const Operand &a);
CALQUE_API Tensor eigvals(const Operand &a);
// A = Z T Z^H for square matrices, with an orthogonal or unitary Z. T is upper triangular; of real matrices but for
// blocks of 2 x 2 on its diagonal, one for each pair of complex eigenvalues. No derivatives.
struct Schur {
  Tensor t, z;
};
CALQUE_API Schur schur(const Operand &a);

// The principal square root and logarithm of square matrices: X of X X = A whose eigenvalues have no negative real
// part, and X of expm(X) = A whose eigenvalues have imaginary parts between -pi and pi. Of complex matrices, a negative
// real eigenvalue -r has the root i sqrt(r) and the logarithm log(r) + i pi, or where its imaginary part is -0 the
// conjugate ones. LinAlgError for a real matrix with a negative real eigenvalue, of which neither is real, and for the
// logarithm of a singular matrix. The root of a singular matrix is NaN where it does not exist, and has no derivative.
// NaN for a matrix with NaN or infinities.
CALQUE_API Tensor sqrtm(const Operand &a);
CALQUE_API Tensor logm(const Operand &a);

// X [..., n, m] of A X + X B = C, for A [..., n, n], B [..., m, m] and C [..., n, m]. LinAlgError where A and -B have
// an eigenvalue in common, so that there is no single X.
CALQUE_API Tensor solve_sylvester(const Operand &a, const Operand &b, const Operand &c);
// X of A X + X A^H = Q, as scipy.linalg has it.
CALQUE_API Tensor solve_continuous_lyapunov(const Operand &a, const Operand &q);
// X of A X A^H - X + Q = 0, by the bilinear transformation of A, which has no inverse for an eigenvalue of -1:
// LinAlgError.
CALQUE_API Tensor solve_discrete_lyapunov(const Operand &a, const Operand &q);

struct RiccatiOptions {
  std::optional<Tensor> e = std::nullopt; // [..., n, n], which has an inverse; none: the identity
  std::optional<Tensor> s = std::nullopt; // [..., n, m]; none: 0
};
// X of A^H X + X A - X B R^-1 B^H X + Q = 0 for A and Q [..., n, n], B [..., n, m] and R [..., m, m], Q and R
// Hermitian: the one for which A - B R^-1 B^H X is stable, of eigenvalues left of 0. With options A^H X E + E^H X A -
// (E^H X B + S) R^-1 (B^H X E + S^H) + Q = 0. Computed in float64 or complex128. Derivatives are those of the solution,
// to third order; as Q and R count their Hermitian parts. AssertionError where there is no such X, or where it is not
// found to 8 digits of the equation; LinAlgError for an R or E without an inverse.
CALQUE_API Tensor solve_continuous_are(const Operand &a, const Operand &b, const Operand &q, const Operand &r,
                                       RiccatiOptions options = {});
// The same of A^H X A - X - A^H X B (R + B^H X B)^-1 B^H X A + Q = 0, where A - B (R + B^H X B)^-1 B^H X A has
// eigenvalues within the unit circle. With options A^H X A - E^H X E - (A^H X B + S) (R + B^H X B)^-1 (B^H X A + S^H) +
// Q = 0.
CALQUE_API Tensor solve_discrete_are(const Operand &a, const Operand &b, const Operand &q, const Operand &r,
                                     RiccatiOptions options = {});

// The matrix [..., m, n] whose diagonals are constant: element [i, j] is column[i - j] on and below the diagonal, and
// row[j - i] above it, of column [..., m] and row [..., n]. row[0] is not read. Without a row it is
// conj(column), so that the matrix is symmetric, or Hermitian but for what column[0] is.
CALQUE_API Tensor toeplitz(const Operand &column);
CALQUE_API Tensor toeplitz(const Operand &column, const Operand &row);
// The square matrix [..., n, n] with element [i, j] = column[(i - j) mod n].
CALQUE_API Tensor circulant(const Operand &column);
// The matrix [..., m, n] with element [i, j] = column[i + j], and behind the end of the column row[i + j - m + 1].
// row[0] is not read. Without a row these are 0, and n is m.
CALQUE_API Tensor hankel(const Operand &column, std::optional<Tensor> row = std::nullopt);
// The matrices [..., m, n] on the diagonal of one, one after the other, and zeros elsewhere. A scalar counts as [1, 1],
// and a vector as the row [1, n]. ValueError for no matrices, DTypeError for different types.
CALQUE_API Tensor block_diag(const std::vector<Tensor> &matrices, SourceLocation where = SourceLocation::current());
// X of toeplitz(column, row) X = B, for m = n, by LU factors.
CALQUE_API Tensor solve_toeplitz(const Operand &column, const Operand &row, const Operand &b);

// X of A X = B, where A has only a diagonal and the elements next to it. diagonal, lower and upper are [n]: row i of A
// has lower[i], diagonal[i] and upper[i], of which lower[0] and upper[n - 1] are not read. B is [n] or [n, k]. By
// elimination without exchanged rows, for which A should be positive definite or have a dominant diagonal. Of the sizes
// n alone may be unknown while tracing. Reverse mode differentiates it twice.
CALQUE_API Tensor solve_tridiagonal(const Operand &lower, const Operand &diagonal, const Operand &upper,
                                    const Operand &b);
// The same of blocks: lower, diagonal and upper are [n, s, s], and B is [n, s] or [n, s, k]. Rows are exchanged within
// blocks alone: a singular pivot block gives infinities or NaN, as a zero pivot does above. Reverse mode: twice.
CALQUE_API Tensor solve_block_tridiagonal(const Operand &lower, const Operand &diagonal, const Operand &upper,
                                          const Operand &b);

// X of A X = B for A [..., n, n] with `lower` diagonals below its own and `upper` above, as SciPy has it: element [i,
// j] of A is ab[upper + i - j, j], of a band ab [..., lower + upper + 1, n] whose elements outside of A are not read. B
// is [..., n, k] or [n]. By LU factors with exchanged rows, in lower * (lower + upper) * n steps. float32, float64,
// complex64 and complex128; halves are computed as float32. LinAlgError for a singular matrix: the error names the
// first one of the batch. ValueError for negative numbers of diagonals.
CALQUE_API Tensor solve_banded(std::int64_t lower, std::int64_t upper, const Operand &ab, const Operand &b);
struct BandedOptions {
  bool lower = false; // the band has the diagonal and those below it, else those above it and then the diagonal
};
// The same for symmetric, or Hermitian, positive definite matrices, of which ab [..., u + 1, n] has half: element [i,
// j] is ab[u + i - j, j] for i <= j, or with lower = true ab[i - j, j] for i >= j. The imaginary part of the diagonal
// is not read. By Cholesky factors. LinAlgError for a matrix that is not positive definite: the error names the first
// one of the batch.
CALQUE_API Tensor solveh_banded(const Operand &ab, const Operand &b, BandedOptions options = {});
// The band of the Cholesky factor, in the form of its matrix: U of A = U^H U, or with lower = true L of A = L L^H, with
// zeros outside. Column by column, each of u * u steps. LinAlgError as for solveh_banded. Reverse mode: twice.
CALQUE_API Tensor cholesky_banded(const Operand &ab, BandedOptions options = {});
// X of A X = B from that band.
CALQUE_API Tensor cho_solve_banded(const Operand &factor, const Operand &b, BandedOptions options = {});

// The first n columns of the product of reflections 1 - tau[i] v[i] v[i]^H, for a [..., m, n] with m >= n and tau
// [..., k] with k = n: v[i] has zeros above row i, a 1 there, and column i of a below. So LAPACK's geqrf gives Q.
CALQUE_API Tensor householder_product(const Operand &a, const Operand &tau);
// Orthonormal columns that span those of A [..., m, n], m >= n: Q of qr with signs that make the diagonal of R
// positive. NaN for a matrix with NaN or infinities.
CALQUE_API Tensor orthogonalise(const Operand &a);

} // namespace calque::linalg
#endif
