// Linear algebra of complex matrices, on the two tensors of their parts: what the pass `split-complex` makes of the
// operations of LinearAlgebra.td on complex tensors. Rules of derivatives are those of LinearAlgebra.td, and their code
// is the same. `transposed` says that the adjoint matrix is used.
#ifndef CALQUE_IR_COMPLEXMATRICES_TD
#define CALQUE_IR_COMPLEXMATRICES_TD

include "ir/LinearAlgebra.td"

class Calque_MatrixPartsOp<string mnemonic, string typeRule, string kernelName, string dimensions, list<string> sites>
    : Calque_MatrixOp<mnemonic, typeRule, kernelName, dimensions, sites> {
  let notSaved = 1;
}

//===-- Cholesky, triangles and LU: LinearAlgebra.cpp -------------------------------------------===//
def Calque_CholeskyPartsOp : Calque_MatrixPartsOp<"cholesky_parts", "squareMatrixOfParts", "calque_rt_cholesky_parts",
                                                  "(n,n),(n,n)->(n,n),(n,n)", ["not_positive_definite", "needs_lapack"]> {
  let summary = "The parts of the lower triangular L of a Hermitian positive definite x = L L^H, of which the lower triangle is read";
  let inMessages = "cholesky";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_TriangularSolvePartsOp
    : Calque_MatrixPartsOp<"triangular_solve_parts", "solutionOfParts", "calque_rt_triangular_solve_parts",
                           "(n,n),(n,n),(n,k),(n,k)->(n,k),(n,k)", ["needs_lapack"]> {
  let summary = "The parts of X of op(A) X = B, where A is triangular; `transposed` makes op(A) the adjoint one, `unit_diagonal` its diagonal ones";
  let inMessages = "triangular_solve";
  let arguments = (ins Calque_Tensor:$aRe, Calque_Tensor:$aIm, Calque_Tensor:$bRe, Calque_Tensor:$bIm, BoolAttr:$lower,
                   BoolAttr:$transposed, BoolAttr:$unit_diagonal);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_LuFactorPartsOp : Calque_MatrixPartsOp<"lu_factor_parts", "luFactorsOfParts", "calque_rt_lu_factor_parts",
                                                  "(n,n),(n,n)->(n,n),(n,n),(n)", ["needs_lapack"]> {
  let summary = "The parts of L below the diagonal and U of x[order] = L U, and the order of rows";
  let inMessages = "lu_factor";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$factorsRe, Calque_Tensor:$factorsIm, Calque_Tensor:$order);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_LuSolvePartsOp
    : Calque_MatrixPartsOp<"lu_solve_parts", "factoredSolutionOfParts", "calque_rt_lu_solve_parts",
                           "(n,n),(n,n),(n,n),(n,n),(n),(n,k),(n,k)->(n,k),(n,k)", ["singular", "needs_lapack"]> {
  let summary = "The parts of X of op(A) X = B, from the LU factors of A; `transposed` makes op(A) the adjoint one";
  let inMessages = "solve";
  let arguments = (ins Calque_Tensor:$aRe, Calque_Tensor:$aIm, Calque_Tensor:$factorsRe, Calque_Tensor:$factorsIm,
                   Calque_SelectingTensor:$order, Calque_Tensor:$bRe, Calque_Tensor:$bIm, BoolAttr:$transposed);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_DeterminantPartsOp : Calque_MatrixPartsOp<"determinant_parts", "matrixScalarOfParts", "calque_rt_determinant_parts",
                                                     "(n,n),(n,n)->(),()", ["needs_lapack"]> {
  let summary = "The parts of the determinant of x";
  let inMessages = "det";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_AdjugatePartsOp : Calque_LibraryOp<"adjugate_parts", "squareMatrixOfParts", "calque_rt_adjugate_parts",
                                              "(n,n),(n,n)->(n,n),(n,n)", [Calque_Costly]> {
  let summary = "The parts of the transposed matrix of the cofactors of x, also of singular matrices";
  let function = "";
  let inMessages = "det";
  let notSaved = 1;
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
  let batchSame = 1;
}
def Calque_SlogdetPartsOp : Calque_MatrixPartsOp<"slogdet_parts", "signAndLogarithmOfParts", "calque_rt_slogdet_parts",
                                                 "(n,n),(n,n)->(),(),()", ["needs_lapack"]> {
  let summary = "The parts of the determinant of x divided by its magnitude, and the logarithm of its magnitude";
  let inMessages = "slogdet";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$signRe, Calque_Tensor:$signIm, Calque_Tensor:$logarithm);
  let customVjp = 1;
  let customJvp = 1;
}

//===-- Unitary factors: Spectral.cpp -----------------------------------------------------------===//
// The diagonal of R is real.
def Calque_QrPartsOp : Calque_MatrixPartsOp<"qr_parts", "qrFactorsOfParts", "calque_rt_qr_parts",
                                            "(m,n),(m,n)->(m,min(m,n)),(m,min(m,n)),(min(m,n),n),(min(m,n),n)", ["needs_lapack"]> {
  let summary = "The parts of x = Q R, where the columns of Q are orthonormal and R is upper triangular with a real diagonal";
  let inMessages = "qr";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$qRe, Calque_Tensor:$qIm, Calque_Tensor:$rRe, Calque_Tensor:$rIm);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_QrCompletePartsOp
    : Calque_MatrixPartsOp<"qr_complete_parts", "qrCompleteFactorsOfParts", "calque_rt_qr_parts",
                           "(m,n),(m,n)->(m,m),(m,m),(m,n),(m,n)", ["needs_lapack"]> {
  let summary = "The parts of x = Q R, where Q is unitary and R is upper triangular, as large as x";
  let inMessages = "qr";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$qRe, Calque_Tensor:$qIm, Calque_Tensor:$rRe, Calque_Tensor:$rIm);
  let notDifferentiable = 1;
  let lacksGradient = 1;
}
// Derivatives of vectors leave their phases out: what depends on them is made after a phase is chosen.
def Calque_EighPartsOp : Calque_MatrixPartsOp<"eigh_parts", "eigenvectorsOfParts", "calque_rt_eigh_parts",
                                              "(n,n),(n,n)->(n),(n,n),(n,n)", ["not_converged", "needs_lapack"]> {
  let summary = "The ascending eigenvalues of a Hermitian x, of which the lower triangle is read, and the parts of eigenvectors as columns";
  let inMessages = "eigh";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$values, Calque_Tensor:$vectorsRe, Calque_Tensor:$vectorsIm);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_SvdPartsOp
    : Calque_MatrixPartsOp<"svd_parts", "svdFactorsOfParts", "calque_rt_svd_parts",
                           "(m,n),(m,n)->(m,min(m,n)),(m,min(m,n)),(min(m,n)),(min(m,n),n),(min(m,n),n)",
                           ["not_converged", "needs_lapack"]> {
  let summary = "x = U diag(s) V^H with descending singular values s, and the parts of U and V^H";
  let inMessages = "svd";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$uRe, Calque_Tensor:$uIm, Calque_Tensor:$s, Calque_Tensor:$vhRe, Calque_Tensor:$vhIm);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_SvdFullPartsOp
    : Calque_MatrixPartsOp<"svd_full_parts", "svdFullFactorsOfParts", "calque_rt_svd_parts",
                           "(m,n),(m,n)->(m,m),(m,m),(min(m,n)),(n,n),(n,n)", ["not_converged", "needs_lapack"]> {
  let summary = "An svd whose U and V are unitary";
  let inMessages = "svd";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$uRe, Calque_Tensor:$uIm, Calque_Tensor:$s, Calque_Tensor:$vhRe, Calque_Tensor:$vhIm);
  let notDifferentiable = 1;
  let lacksGradient = 1;
}
def Calque_PseudoInversePartsOp
    : Calque_MatrixPartsOp<"pseudo_inverse_parts", "pseudoInverseOfParts", "calque_rt_pseudo_inverse_parts",
                           "(m,n),(m,n)->(n,m),(n,m)", ["not_converged", "needs_lapack"]> {
  let summary = "The parts of the pseudo-inverse of x";
  let inMessages = "pinv";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im, Calque_NumberAttr:$tolerance);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_ExpmPartsOp : Calque_MatrixPartsOp<"expm_parts", "squareMatrixOfParts", "calque_rt_expm_parts",
                                              "(n,n),(n,n)->(n,n),(n,n)", ["needs_lapack"]> {
  let summary = "The parts of the exponential of x";
  let inMessages = "expm";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
}

//===-- General eigenvalues and Schur factors: GeneralSpectral.cpp ------------------------------===//
def Calque_EigPartsOp : Calque_MatrixPartsOp<"eig_parts", "eigenpairsOfParts", "calque_rt_eig_parts",
                                             "(n,n),(n,n)->(n),(n),(n,n),(n,n)", ["not_converged", "needs_lapack"]> {
  let summary = "The parts of the eigenvalues of x, and of eigenvectors of length 1 as columns";
  let inMessages = "eig";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$valuesRe, Calque_Tensor:$valuesIm, Calque_Tensor:$vectorsRe, Calque_Tensor:$vectorsIm);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_SchurPartsOp : Calque_MatrixPartsOp<"schur_parts", "schurFactorsOfParts", "calque_rt_schur_parts",
                                               "(n,n),(n,n)->(n,n),(n,n),(n,n),(n,n)", ["not_converged", "needs_lapack"]> {
  let summary = "The parts of x = Z T Z^H, where Z is unitary and T is upper triangular";
  let inMessages = "schur";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$tRe, Calque_Tensor:$tIm, Calque_Tensor:$zRe, Calque_Tensor:$zIm);
  let notDifferentiable = 1;
  let lacksGradient = 1;
}
def Calque_SylvesterPartsOp
    : Calque_MatrixPartsOp<"sylvester_parts", "sylvesterSolutionOfParts", "calque_rt_sylvester_parts",
                           "(n,n),(n,n),(m,m),(m,m),(n,m),(n,m)->(n,m),(n,m)",
                           ["not_converged", "no_single_solution", "needs_lapack"]> {
  let summary = "The parts of X of A X + X B = C";
  let inMessages = "solve_sylvester";
  let arguments = (ins Calque_Tensor:$aRe, Calque_Tensor:$aIm, Calque_Tensor:$bRe, Calque_Tensor:$bIm, Calque_Tensor:$cRe,
                   Calque_Tensor:$cIm);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_SqrtmPartsOp : Calque_MatrixPartsOp<"sqrtm_parts", "squareMatrixOfParts", "calque_rt_sqrtm_parts",
                                               "(n,n),(n,n)->(n,n),(n,n)", ["not_converged", "needs_lapack"]> {
  let summary = "The parts of the X of X X = x whose eigenvalues have no negative real parts";
  let inMessages = "sqrtm";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_LogmPartsOp : Calque_MatrixPartsOp<"logm_parts", "squareMatrixOfParts", "calque_rt_logm_parts",
                                              "(n,n),(n,n)->(n,n),(n,n)", ["not_converged", "no_logarithm", "needs_lapack"]> {
  let summary = "The parts of the X of exp(X) = x whose eigenvalues have imaginary parts from -pi to pi";
  let inMessages = "logm";
  let arguments = (ins Calque_Tensor:$re, Calque_Tensor:$im);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
}

#endif
