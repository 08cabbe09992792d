// Linear algebra: factorisations and solutions, which kernels of runtime/libraries/ compute. All but the last two
// dimensions count matrices.
//
// The rules of derivatives are those of
//   M. B. Giles, Collected matrix derivative results for forward and reverse mode algorithmic differentiation, 2008;
//   I. Murray, Differentiation of the Cholesky decomposition, arXiv:1602.07527, 2016;
//   J. Townsend, Differentiating the singular value decomposition, 2016;
//   S. F. Walter, L. Lehmann, Algorithmic differentiation of linear algebra functions, arXiv:1001.1654, 2010;
//   G. H. Golub, V. Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
//   separate, SIAM J. Numer. Anal. 10, 1973;
//   N. J. Higham, Functions of matrices, SIAM, 2008.
// Of complex matrices, they are the same rules with adjoint matrices in the place of transposed ones, and what is said
// where phases are free: see ir/LinearAlgebra.cpp. The pass `split-complex` makes of an operation on complex matrices one
// on parts, of which derivatives are taken: ComplexMatrices.td.
#ifndef CALQUE_IR_LINEARALGEBRA_TD
#define CALQUE_IR_LINEARALGEBRA_TD

include "ir/Base.td"

class Calque_MatrixOp<string mnemonic, string typeRule, string kernelName, string dimensions, list<string> sites>
    : Calque_LibraryOp<mnemonic, typeRule, kernelName, dimensions, [Calque_MayFail, Calque_Costly]> {
  let function = "";
  let failsAt = sites;
  let batchSame = 1;
}

//===-- Cholesky and triangles: LinearAlgebra.cpp -----------------------------------------------===//
def Calque_CholeskyOp : Calque_MatrixOp<"cholesky", "squareMatrix", "calque_rt_cholesky", "(n,n)->(n,n)",
                                        ["not_positive_definite", "needs_lapack"]> {
  let summary = "The lower triangular L of a symmetric, or Hermitian, positive definite x = L L^H, of which the lower triangle is read";
  let inMessages = "cholesky";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1; // Murray, equation 10
  let customJvp = 1; // Murray, equation 8
  let customComplex = 1;
}
def Calque_TriangularSolveOp : Calque_MatrixOp<"triangular_solve", "solution", "calque_rt_triangular_solve", "(n,n),(n,k)->(n,k)",
                                               ["needs_lapack"]> {
  let summary = "X of op(A) X = B, where A is triangular; `transposed` makes op(A) the transposed one, `unit_diagonal` its diagonal ones";
  let inMessages = "triangular_solve";
  let arguments = (ins Calque_Tensor:$a, Calque_Tensor:$b, BoolAttr:$lower, BoolAttr:$transposed, BoolAttr:$unit_diagonal);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1; // Giles, section 2.3.1
  let customJvp = 1;
  let customComplex = 1;
}

//===-- LU: LinearAlgebra.cpp -------------------------------------------------------------------===//
def Calque_LuFactorOp : Calque_MatrixOp<"lu_factor", "luFactors", "calque_rt_lu_factor", "(n,n)->(n,n),(n)", ["needs_lapack"]> {
  let summary = "L below the diagonal and U of x[order] = L U, with the largest pivot of each column, and the order of rows";
  let inMessages = "lu_factor";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$factors, Calque_Tensor:$order);
  let customVjp = 1; // Walter and Lehmann, section 4.1
  let customJvp = 1;
  let customComplex = 1;
}
// Derivatives are with respect to the matrix, and take its factors as they are.
def Calque_LuSolveOp : Calque_MatrixOp<"lu_solve", "factoredSolution", "calque_rt_lu_solve", "(n,n),(n,n),(n),(n,k)->(n,k)",
                                       ["singular", "needs_lapack"]> {
  let summary = "X of op(A) X = B, from the LU factors of A";
  let inMessages = "solve";
  let arguments = (ins Calque_Tensor:$a, Calque_Tensor:$factors, Calque_SelectingTensor:$order, Calque_Tensor:$b, BoolAttr:$transposed);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1; // Giles, section 2.3.1
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_MatrixInverseOp : Calque_MatrixOp<"matrix_inverse", "squareMatrix", "calque_rt_matrix_inverse", "(n,n)->(n,n)", ["singular", "needs_lapack"]> {
  let summary = "The inverse of x";
  let inMessages = "inv";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1; // Giles, section 2.2.3
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_DeterminantOp : Calque_MatrixOp<"determinant", "matrixScalar", "calque_rt_determinant", "(n,n)->()", ["needs_lapack"]> {
  let summary = "The determinant of x";
  let inMessages = "det";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1; // Giles, section 2.2.4, by the adjugate
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_AdjugateOp : Calque_LibraryOp<"adjugate", "squareMatrix", "calque_rt_adjugate", "(n,n)->(n,n)", [Calque_Costly]> {
  let summary = "The transposed matrix of the cofactors of x, which is x^-1 times the determinant; also of singular matrices";
  let function = "";
  let inMessages = "det";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1;
  let customJvp = 1;
  let batchSame = 1;
}
def Calque_SlogdetOp : Calque_MatrixOp<"slogdet", "signAndLogarithm", "calque_rt_slogdet", "(n,n)->(),()", ["needs_lapack"]> {
  let summary = "The sign of the determinant of x, and the logarithm of its magnitude";
  let inMessages = "slogdet";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$sign, Calque_Tensor:$logarithm);
  let customVjp = 1; // Giles, section 2.2.4
  let customJvp = 1;
  let customComplex = 1;
}

//===-- Orthogonal factors: Spectral.cpp --------------------------------------------------------===//
def Calque_QrOp : Calque_MatrixOp<"qr", "qrFactors", "calque_rt_qr", "(m,n)->(m,min(m,n)),(min(m,n),n)", ["needs_lapack"]> {
  let summary = "x = Q R, where the columns of Q are orthonormal and R is upper triangular";
  let inMessages = "qr";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$q, Calque_Tensor:$r);
  let customVjp = 1; // Walter and Lehmann, section 4.2; x has no more columns than rows
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_QrCompleteOp : Calque_MatrixOp<"qr_complete", "qrCompleteFactors", "calque_rt_qr", "(m,n)->(m,m),(m,n)", ["needs_lapack"]> {
  let summary = "x = Q R, where Q is orthogonal and R is upper triangular, as large as x";
  let inMessages = "qr";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$q, Calque_Tensor:$r);
  let notDifferentiable = 1;
  let lacksGradient = 1;
  let customComplex = 1;
}
def Calque_EighOp : Calque_MatrixOp<"eigh", "eigenvectors", "calque_rt_eigh", "(n,n)->(n),(n,n)", ["not_converged", "needs_lapack"]> {
  let summary = "The ascending eigenvalues of a symmetric x, of which the lower triangle is read, and the eigenvectors as columns";
  let inMessages = "eigh";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$values, Calque_Tensor:$vectors);
  let customVjp = 1; // Giles, section 3.1
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_SvdOp : Calque_MatrixOp<"svd", "svdFactors", "calque_rt_svd", "(m,n)->(m,min(m,n)),(min(m,n)),(min(m,n),n)",
                                   ["not_converged", "needs_lapack"]> {
  let summary = "x = U diag(s) V^T with descending singular values s";
  let inMessages = "svd";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$u, Calque_Tensor:$s, Calque_Tensor:$vh);
  let customVjp = 1; // Townsend
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_SvdFullOp : Calque_MatrixOp<"svd_full", "svdFullFactors", "calque_rt_svd", "(m,n)->(m,m),(min(m,n)),(n,n)",
                                       ["not_converged", "needs_lapack"]> {
  let summary = "An svd whose U and V are orthogonal";
  let inMessages = "svd";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$u, Calque_Tensor:$s, Calque_Tensor:$vh);
  let notDifferentiable = 1;
  let lacksGradient = 1;
  let customComplex = 1;
}
def Calque_PseudoInverseOp : Calque_MatrixOp<"pseudo_inverse", "pseudoInverse", "calque_rt_pseudo_inverse", "(m,n)->(n,m)",
                                             ["not_converged", "needs_lapack"]> {
  let summary = "The pseudo-inverse of x, where singular values of at most `tolerance` times the largest one count as 0";
  let inMessages = "pinv";
  let arguments = (ins Calque_Tensor:$x, Calque_NumberAttr:$tolerance);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1; // Golub and Pereyra, equation 4.12
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_ExpmOp : Calque_MatrixOp<"expm", "squareMatrix", "calque_rt_expm", "(n,n)->(n,n)", ["needs_lapack"]> {
  let summary = "The exponential of x";
  let inMessages = "expm";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1; // Higham, theorem 3.6
  let customJvp = 1;
  let customComplex = 1;
}

//===-- General eigenvalues and Schur factors: MatrixFunctions.cpp ------------------------------===//
def Calque_EigOp : Calque_MatrixOp<"eig", "eigenpairs", "calque_rt_eig", "(n,n)->(n),(n),(n,n),(n,n)", ["not_converged", "needs_lapack"]> {
  let summary = "The real and imaginary parts of the eigenvalues of x, and of eigenvectors of length 1 as columns";
  let inMessages = "eig";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$valuesRe, Calque_Tensor:$valuesIm, Calque_Tensor:$vectorsRe, Calque_Tensor:$vectorsIm);
  let customVjp = 1; // Giles, section 3.1
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_SchurOp : Calque_MatrixOp<"schur", "schurFactors", "calque_rt_schur", "(n,n)->(n,n),(n,n)", ["not_converged", "needs_lapack"]> {
  let summary = "x = Z T Z^T, where Z is orthogonal, and T is upper triangular but for blocks of 2 x 2 on the diagonal";
  let inMessages = "schur";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$t, Calque_Tensor:$z);
  let notDifferentiable = 1;
  let lacksGradient = 1;
  let customComplex = 1;
}
def Calque_SylvesterOp : Calque_MatrixOp<"sylvester", "sylvesterSolution", "calque_rt_sylvester", "(n,n),(m,m),(n,m)->(n,m)",
                                         ["not_converged", "no_single_solution", "needs_lapack"]> {
  let summary = "X of A X + X B = C";
  let inMessages = "solve_sylvester";
  let arguments = (ins Calque_Tensor:$a, Calque_Tensor:$b, Calque_Tensor:$c);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1; // the adjoint equation: A^T Y + Y B^T
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_SqrtmOp : Calque_MatrixOp<"sqrtm", "squareMatrix", "calque_rt_sqrtm", "(n,n)->(n,n)",
                                     ["not_converged", "no_real_result", "needs_lapack"]> {
  let summary = "The X of X X = x whose eigenvalues have no negative real parts";
  let inMessages = "sqrtm";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1; // Higham, section 6.1
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_LogmOp : Calque_MatrixOp<"logm", "squareMatrix", "calque_rt_logm", "(n,n)->(n,n)",
                                    ["not_converged", "no_real_result", "needs_lapack"]> {
  let summary = "The X of exp(X) = x whose eigenvalues have imaginary parts between -pi and pi";
  let inMessages = "logm";
  let arguments = (ins Calque_Tensor:$x);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1; // Higham, theorem 3.6
  let customJvp = 1;
  let customComplex = 1;
}

#endif
