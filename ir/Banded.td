// Banded systems, which kernels of runtime/libraries/ compute. A band [r, n] is in diagonal-ordered form: element
// [i, j] of the matrix is band[upper + i - j, j], and r is lower + upper + 1. What lies outside of the matrix is not
// read.
//
// The derivatives are those of triangular systems (Giles, section 2.3.1), of which the band is kept.
#ifndef CALQUE_IR_BANDED_TD
#define CALQUE_IR_BANDED_TD

include "ir/ComplexMatrices.td"

def Calque_BandedSolveOp : Calque_MatrixOp<"banded_solve", "bandedSolution", "calque_rt_banded_solve", "(r,n),(n,k)->(n,k)",
                                           ["singular"]> {
  let summary = "X of op(A) X = B, where A has a band of this many diagonals below and above; `transposed` makes op(A) the transposed one";
  let inMessages = "solve_banded";
  let arguments = (ins Calque_Tensor:$band, Calque_Tensor:$b, I64Attr:$lower, I64Attr:$upper, BoolAttr:$transposed);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1;
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_PositiveBandedSolveOp
    : Calque_MatrixOp<"positive_banded_solve", "positiveBandedSolution", "calque_rt_positive_banded_solve", "(r,n),(n,k)->(n,k)",
                      ["not_positive_definite"]> {
  let summary = "X of A X = B, where A is symmetric, or Hermitian, and positive definite, and the band has its diagonal and those below, or those above";
  let inMessages = "solveh_banded";
  let arguments = (ins Calque_Tensor:$band, Calque_Tensor:$b, I64Attr:$lower, I64Attr:$upper);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1;
  let customJvp = 1;
  let customComplex = 1;
}
def Calque_BandedProductOp
    : Calque_LibraryOp<"banded_product", "bandedSolution", "calque_rt_banded_product", "(r,n),(n,k)->(n,k)"> {
  let summary = "op(A) X, where A has a band";
  let function = "";
  let inMessages = "solve_banded";
  let arguments = (ins Calque_Tensor:$band, Calque_Tensor:$x, I64Attr:$lower, I64Attr:$upper, BoolAttr:$transposed);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1;
  let multilinear = ["band", "x"];
  let batchSame = 1;
}
def Calque_BandOfProductOp
    : Calque_LibraryOp<"band_of_product", "bandOfProduct", "calque_rt_band_of_product", "(n,k),(n,k)->(r,n)"> {
  let summary = "The band of A B^T, with zeros outside of the matrix";
  let function = "";
  let inMessages = "solve_banded";
  let arguments = (ins Calque_Tensor:$a, Calque_Tensor:$b, I64Attr:$lower, I64Attr:$upper);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1;
  let multilinear = ["a", "b"];
  let batchSame = 1;
}

//===-- Parts of complex bands ------------------------------------------------------------------===//
// What the pass `split-complex` makes of systems: see ComplexMatrices.td. Products are those of the parts.
def Calque_BandedSolvePartsOp
    : Calque_MatrixPartsOp<"banded_solve_parts", "bandedSolutionOfParts", "calque_rt_banded_solve_parts",
                           "(r,n),(r,n),(n,k),(n,k)->(n,k),(n,k)", ["singular"]> {
  let summary = "The parts of X of op(A) X = B, where A has a band; `transposed` makes op(A) the adjoint one";
  let inMessages = "solve_banded";
  let arguments = (ins Calque_Tensor:$bandRe, Calque_Tensor:$bandIm, Calque_Tensor:$bRe, Calque_Tensor:$bIm, I64Attr:$lower,
                   I64Attr:$upper, BoolAttr:$transposed);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
}
// The imaginary part of the diagonal is not read.
def Calque_PositiveBandedSolvePartsOp
    : Calque_MatrixPartsOp<"positive_banded_solve_parts", "positiveBandedSolutionOfParts", "calque_rt_positive_banded_solve_parts",
                           "(r,n),(r,n),(n,k),(n,k)->(n,k),(n,k)", ["not_positive_definite"]> {
  let summary = "The parts of X of A X = B, where A is Hermitian and positive definite, and the band has half of it";
  let inMessages = "solveh_banded";
  let arguments = (ins Calque_Tensor:$bandRe, Calque_Tensor:$bandIm, Calque_Tensor:$bRe, Calque_Tensor:$bIm, I64Attr:$lower,
                   I64Attr:$upper);
  let results = (outs Calque_Tensor:$ofRe, Calque_Tensor:$ofIm);
  let customVjp = 1;
  let customJvp = 1;
}

#endif
