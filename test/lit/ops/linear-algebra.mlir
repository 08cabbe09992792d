// Linear algebra is printed as it is read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

func.func @cholesky(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %0 = calque.cholesky %arg0 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = calque.cholesky %arg1 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %2 = calque.cholesky %arg2 : (tensor<2x0x0xf64>) -> tensor<2x0x0xf64>
  return
}

// -----

func.func @triangular_solve(%arg0: tensor<3x3xf32>, %arg1: tensor<3x2xf32>, %arg2: tensor<?x?x?xf64>, %arg3: tensor<?x?x?xf64>, %arg4: tensor<2x0x0xf64>, %arg5: tensor<2x0x2xf64>) {
  %0 = calque.triangular_solve %arg0, %arg1 {lower = true, transposed = false, unit_diagonal = true} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = calque.triangular_solve %arg2, %arg3 {lower = true, transposed = false, unit_diagonal = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %2 = calque.triangular_solve %arg4, %arg5 {lower = true, transposed = false, unit_diagonal = true} : (tensor<2x0x0xf64>, tensor<2x0x2xf64>) -> tensor<2x0x2xf64>
  return
}

// -----

func.func @lu_factor(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %factors, %order = calque.lu_factor %arg0 : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi64>)
  %factors_0, %order_1 = calque.lu_factor %arg1 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xi64>)
  %factors_2, %order_3 = calque.lu_factor %arg2 : (tensor<2x0x0xf64>) -> (tensor<2x0x0xf64>, tensor<2x0xi64>)
  return
}

// -----

func.func @lu_solve(%arg0: tensor<3x3xf32>, %arg1: tensor<3x3xf32>, %arg2: tensor<3xi64>, %arg3: tensor<3x2xf32>, %arg4: tensor<?x?x?xf64>, %arg5: tensor<?x?x?xf64>, %arg6: tensor<?x?xi64>, %arg7: tensor<?x?x?xf64>, %arg8: tensor<2x0x0xf64>, %arg9: tensor<2x0x0xf64>, %arg10: tensor<2x0xi64>, %arg11: tensor<2x0x2xf64>) {
  %0 = calque.lu_solve %arg0, %arg1, %arg2, %arg3 {transposed = true} : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3xi64>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = calque.lu_solve %arg4, %arg5, %arg6, %arg7 {transposed = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %2 = calque.lu_solve %arg8, %arg9, %arg10, %arg11 {transposed = true} : (tensor<2x0x0xf64>, tensor<2x0x0xf64>, tensor<2x0xi64>, tensor<2x0x2xf64>) -> tensor<2x0x2xf64>
  return
}

// -----

func.func @matrix_inverse(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %0 = calque.matrix_inverse %arg0 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = calque.matrix_inverse %arg1 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %2 = calque.matrix_inverse %arg2 : (tensor<2x0x0xf64>) -> tensor<2x0x0xf64>
  return
}

// -----

func.func @determinant(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %0 = calque.determinant %arg0 : (tensor<3x3xf32>) -> tensor<f32>
  %1 = calque.determinant %arg1 : (tensor<?x?x?xf64>) -> tensor<?xf64>
  %2 = calque.determinant %arg2 : (tensor<2x0x0xf64>) -> tensor<2xf64>
  return
}

// -----

func.func @adjugate(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %0 = calque.adjugate %arg0 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = calque.adjugate %arg1 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %2 = calque.adjugate %arg2 : (tensor<2x0x0xf64>) -> tensor<2x0x0xf64>
  return
}

// -----

func.func @slogdet(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %sign, %logarithm = calque.slogdet %arg0 : (tensor<3x3xf32>) -> (tensor<f32>, tensor<f32>)
  %sign_0, %logarithm_1 = calque.slogdet %arg1 : (tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %sign_2, %logarithm_3 = calque.slogdet %arg2 : (tensor<2x0x0xf64>) -> (tensor<2xf64>, tensor<2xf64>)
  return
}

// -----

func.func @qr(%arg0: tensor<5x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x4x0xf64>) {
  %q, %r = calque.qr %arg0 : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3x3xf32>)
  %q_0, %r_1 = calque.qr %arg1 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %q_2, %r_3 = calque.qr %arg2 : (tensor<2x4x0xf64>) -> (tensor<2x4x0xf64>, tensor<2x0x0xf64>)
  return
}

// -----

func.func @qr_complete(%arg0: tensor<5x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x4x0xf64>) {
  %q, %r = calque.qr_complete %arg0 : (tensor<5x3xf32>) -> (tensor<5x5xf32>, tensor<5x3xf32>)
  %q_0, %r_1 = calque.qr_complete %arg1 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %q_2, %r_3 = calque.qr_complete %arg2 : (tensor<2x4x0xf64>) -> (tensor<2x4x4xf64>, tensor<2x4x0xf64>)
  return
}

// -----

func.func @eigh(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %values, %vectors = calque.eigh %arg0 : (tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>)
  %values_0, %vectors_1 = calque.eigh %arg1 : (tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>)
  %values_2, %vectors_3 = calque.eigh %arg2 : (tensor<2x0x0xf64>) -> (tensor<2x0xf64>, tensor<2x0x0xf64>)
  return
}

// -----

func.func @svd(%arg0: tensor<5x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x4x0xf64>) {
  %u, %s, %vh = calque.svd %arg0 : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3x3xf32>)
  %u_0, %s_1, %vh_2 = calque.svd %arg1 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>)
  %u_3, %s_4, %vh_5 = calque.svd %arg2 : (tensor<2x4x0xf64>) -> (tensor<2x4x0xf64>, tensor<2x0xf64>, tensor<2x0x0xf64>)
  return
}

// -----

func.func @svd_full(%arg0: tensor<5x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x4x0xf64>) {
  %u, %s, %vh = calque.svd_full %arg0 : (tensor<5x3xf32>) -> (tensor<5x5xf32>, tensor<3xf32>, tensor<3x3xf32>)
  %u_0, %s_1, %vh_2 = calque.svd_full %arg1 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>)
  %u_3, %s_4, %vh_5 = calque.svd_full %arg2 : (tensor<2x4x0xf64>) -> (tensor<2x4x4xf64>, tensor<2x0xf64>, tensor<2x0x0xf64>)
  return
}

// -----

func.func @pseudo_inverse(%arg0: tensor<5x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x4x0xf64>) {
  %0 = calque.pseudo_inverse %arg0 {tolerance = 1.000000e-02 : f64} : (tensor<5x3xf32>) -> tensor<3x5xf32>
  %1 = calque.pseudo_inverse %arg1 {tolerance = 1.000000e-02 : f64} : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %2 = calque.pseudo_inverse %arg2 {tolerance = 1.000000e-02 : f64} : (tensor<2x4x0xf64>) -> tensor<2x0x4xf64>
  return
}

// -----

func.func @expm(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %0 = calque.expm %arg0 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = calque.expm %arg1 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %2 = calque.expm %arg2 : (tensor<2x0x0xf64>) -> tensor<2x0x0xf64>
  return
}

// -----

func.func @eig(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %valuesRe, %valuesIm, %vectorsRe, %vectorsIm = calque.eig %arg0 : (tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>)
  %valuesRe_0, %valuesIm_1, %vectorsRe_2, %vectorsIm_3 = calque.eig %arg1 : (tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %valuesRe_4, %valuesIm_5, %vectorsRe_6, %vectorsIm_7 = calque.eig %arg2 : (tensor<2x0x0xf64>) -> (tensor<2x0xf64>, tensor<2x0xf64>, tensor<2x0x0xf64>, tensor<2x0x0xf64>)
  return
}

// -----

func.func @schur(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %t, %z = calque.schur %arg0 : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>)
  %t_0, %z_1 = calque.schur %arg1 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %t_2, %z_3 = calque.schur %arg2 : (tensor<2x0x0xf64>) -> (tensor<2x0x0xf64>, tensor<2x0x0xf64>)
  return
}

// -----

func.func @sylvester(%arg0: tensor<3x3xf32>, %arg1: tensor<2x2xf32>, %arg2: tensor<3x2xf32>, %arg3: tensor<?x?x?xf64>, %arg4: tensor<?x?x?xf64>, %arg5: tensor<?x?x?xf64>) {
  %0 = calque.sylvester %arg0, %arg1, %arg2 : (tensor<3x3xf32>, tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = calque.sylvester %arg3, %arg4, %arg5 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return
}

// -----

func.func @sqrtm(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %0 = calque.sqrtm %arg0 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = calque.sqrtm %arg1 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %2 = calque.sqrtm %arg2 : (tensor<2x0x0xf64>) -> tensor<2x0x0xf64>
  return
}

// -----

func.func @logm(%arg0: tensor<3x3xf32>, %arg1: tensor<?x?x?xf64>, %arg2: tensor<2x0x0xf64>) {
  %0 = calque.logm %arg0 : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = calque.logm %arg1 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %2 = calque.logm %arg2 : (tensor<2x0x0xf64>) -> tensor<2x0x0xf64>
  return
}
