// Banded systems, which kernels of runtime/libraries/ compute. A band [r, n] is in diagonal-ordered form: element
// [i, j] of the matrix is band[upper + i - j, j], and r is lower + upper + 1. What lies outside of the matrix is not
// read.
//
// The derivatives are those of triangular systems (Giles, section 2.3.1), of which the band is kept.
#ifndef CALQUE_IR_BANDED_TD
#define CALQUE_IR_BANDED_TD

include "ir/LinearAlgebra.td"

def Calque_BandedSolveOp : Calque_MatrixOp<"banded_solve", "bandedSolution", "calque_rt_banded_solve", "(r,n),(n,k)->(n,k)",
                                           ["singular"]> {
  let summary = "X of op(A) X = B, where A has a band of this many diagonals below and above; `transposed` makes op(A) the transposed one";
  let inMessages = "solve_banded";
  let arguments = (ins Calque_Tensor:$band, Calque_Tensor:$b, I64Attr:$lower, I64Attr:$upper, BoolAttr:$transposed);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1;
  let customJvp = 1;
}
def Calque_PositiveBandedSolveOp
    : Calque_MatrixOp<"positive_banded_solve", "positiveBandedSolution", "calque_rt_positive_banded_solve", "(r,n),(n,k)->(n,k)",
                      ["not_positive_definite"]> {
  let summary = "X of A X = B, where A is symmetric and positive definite, and the band has its diagonal and those below, or those above";
  let inMessages = "solveh_banded";
  let arguments = (ins Calque_Tensor:$band, Calque_Tensor:$b, I64Attr:$lower, I64Attr:$upper);
  let results = (outs Calque_Tensor:$result);
  let customVjp = 1;
  let customJvp = 1;
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

#endif
