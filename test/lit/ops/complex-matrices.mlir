// Operations on the parts of complex matrices are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

func.func @cholesky_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.cholesky_parts %arg0, %arg1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>)
  %ofRe_0, %ofIm_1 = calque.cholesky_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @triangular_solve_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<3x2xf32>, %arg3: tensor<3x2xf32>, %arg4: tensor<?x?x?xf64>, %arg5: tensor<?x?x?xf64>, %arg6: tensor<?x?x?xf64>, %arg7: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.triangular_solve_parts %arg0, %arg1, %arg2, %arg3 {lower = true, transposed = false, unit_diagonal = true} : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
  %ofRe_0, %ofIm_1 = calque.triangular_solve_parts %arg4, %arg5, %arg6, %arg7 {lower = true, transposed = false, unit_diagonal = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @lu_factor_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %factorsRe, %factorsIm, %order = calque.lu_factor_parts %arg0, %arg1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xi64>)
  %factorsRe_0, %factorsIm_1, %order_2 = calque.lu_factor_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>)
  return
}

// -----

func.func @lu_solve_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<3x3xf32>, %arg3: tensor<3x3xf32>, %arg4: tensor<3xi64>, %arg5: tensor<3x2xf32>, %arg6: tensor<3x2xf32>, %arg7: tensor<?x?x?xf64>, %arg8: tensor<?x?x?xf64>, %arg9: tensor<?x?x?xf64>, %arg10: tensor<?x?x?xf64>, %arg11: tensor<?x?xi64>, %arg12: tensor<?x?x?xf64>, %arg13: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.lu_solve_parts %arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6 {transposed = true} : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xi64>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
  %ofRe_0, %ofIm_1 = calque.lu_solve_parts %arg7, %arg8, %arg9, %arg10, %arg11, %arg12, %arg13 {transposed = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @determinant_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.determinant_parts %arg0, %arg1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<f32>, tensor<f32>)
  %ofRe_0, %ofIm_1 = calque.determinant_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  return
}

// -----

func.func @adjugate_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.adjugate_parts %arg0, %arg1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>)
  %ofRe_0, %ofIm_1 = calque.adjugate_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @slogdet_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %signRe, %signIm, %logarithm = calque.slogdet_parts %arg0, %arg1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  %signRe_0, %signIm_1, %logarithm_2 = calque.slogdet_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  return
}

// -----

func.func @qr_parts(%arg0: tensor<5x3xf32>, %arg1: tensor<5x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %qRe, %qIm, %rRe, %rIm = calque.qr_parts %arg0, %arg1 : (tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
  %qRe_0, %qIm_1, %rRe_2, %rIm_3 = calque.qr_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @qr_complete_parts(%arg0: tensor<5x3xf32>, %arg1: tensor<5x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %qRe, %qIm, %rRe, %rIm = calque.qr_complete_parts %arg0, %arg1 : (tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x3xf32>, tensor<5x3xf32>)
  %qRe_0, %qIm_1, %rRe_2, %rIm_3 = calque.qr_complete_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @eigh_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %values, %vectorsRe, %vectorsIm = calque.eigh_parts %arg0, %arg1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
  %values_0, %vectorsRe_1, %vectorsIm_2 = calque.eigh_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @svd_parts(%arg0: tensor<5x3xf32>, %arg1: tensor<5x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %uRe, %uIm, %s, %vhRe, %vhIm = calque.svd_parts %arg0, %arg1 : (tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
  %uRe_0, %uIm_1, %s_2, %vhRe_3, %vhIm_4 = calque.svd_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @svd_full_parts(%arg0: tensor<5x3xf32>, %arg1: tensor<5x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %uRe, %uIm, %s, %vhRe, %vhIm = calque.svd_full_parts %arg0, %arg1 : (tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<5x5xf32>, tensor<5x5xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
  %uRe_0, %uIm_1, %s_2, %vhRe_3, %vhIm_4 = calque.svd_full_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @pseudo_inverse_parts(%arg0: tensor<5x3xf32>, %arg1: tensor<5x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.pseudo_inverse_parts %arg0, %arg1 {tolerance = -1.000000e+00 : f64} : (tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
  %ofRe_0, %ofIm_1 = calque.pseudo_inverse_parts %arg2, %arg3 {tolerance = -1.000000e+00 : f64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @eig_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %valuesRe, %valuesIm, %vectorsRe, %vectorsIm = calque.eig_parts %arg0, %arg1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
  %valuesRe_0, %valuesIm_1, %vectorsRe_2, %vectorsIm_3 = calque.eig_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @schur_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %tRe, %tIm, %zRe, %zIm = calque.schur_parts %arg0, %arg1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
  %tRe_0, %tIm_1, %zRe_2, %zIm_3 = calque.schur_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @expm_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.expm_parts %arg0, %arg1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>)
  %ofRe_0, %ofIm_1 = calque.expm_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @sylvester_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<2x2xf32>, %arg3: tensor<2x2xf32>, %arg4: tensor<3x2xf32>, %arg5: tensor<3x2xf32>, %arg6: tensor<?x?x?xf64>, %arg7: tensor<?x?x?xf64>, %arg8: tensor<?x?x?xf64>, %arg9: tensor<?x?x?xf64>, %arg10: tensor<?x?x?xf64>, %arg11: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.sylvester_parts %arg0, %arg1, %arg2, %arg3, %arg4, %arg5 : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
  %ofRe_0, %ofIm_1 = calque.sylvester_parts %arg6, %arg7, %arg8, %arg9, %arg10, %arg11 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @sqrtm_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.sqrtm_parts %arg0, %arg1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>)
  %ofRe_0, %ofIm_1 = calque.sqrtm_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @logm_parts(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.logm_parts %arg0, %arg1 : (tensor<3x3xf32>, tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>)
  %ofRe_0, %ofIm_1 = calque.logm_parts %arg2, %arg3 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @banded_solve_parts(%arg0: tensor<3x4xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<4x2xf32>, %arg3: tensor<4x2xf32>, %arg4: tensor<?x?x?xf64>, %arg5: tensor<?x?x?xf64>, %arg6: tensor<?x?x?xf64>, %arg7: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.banded_solve_parts %arg0, %arg1, %arg2, %arg3 {lower = 1 : i64, transposed = true, upper = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  %ofRe_0, %ofIm_1 = calque.banded_solve_parts %arg4, %arg5, %arg6, %arg7 {lower = 1 : i64, transposed = true, upper = 1 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}

// -----

func.func @positive_banded_solve_parts(%arg0: tensor<3x4xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<4x2xf32>, %arg3: tensor<4x2xf32>, %arg4: tensor<?x?x?xf64>, %arg5: tensor<?x?x?xf64>, %arg6: tensor<?x?x?xf64>, %arg7: tensor<?x?x?xf64>) {
  %ofRe, %ofIm = calque.positive_banded_solve_parts %arg0, %arg1, %arg2, %arg3 {lower = 2 : i64, upper = 0 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<4x2xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  %ofRe_0, %ofIm_1 = calque.positive_banded_solve_parts %arg4, %arg5, %arg6, %arg7 {lower = 2 : i64, upper = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return
}
