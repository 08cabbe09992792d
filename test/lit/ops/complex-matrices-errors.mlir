// What the type rules of the parts of complex matrices refuse.
// RUN: %{expand} %s > %t
// RUN: calque-opt %t --split-input-file --verify-diagnostics

func.func @cholesky_parts_square(%a0: tensor<3x4xf64>, %a1: tensor<3x4xf64>) {
  // expected-error @below {{cholesky_parts: takes square matrices, not complex128[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.cholesky_parts %a0, %a1 : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
  return
}

// -----

func.func @cholesky_parts_shapes(%a0: tensor<3x3xf64>, %a1: tensor<3x4xf64>) {
  // expected-error @below {{cholesky_parts: the parts have the shapes [3,3] and [3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.cholesky_parts %a0, %a1 : (tensor<3x3xf64>, tensor<3x4xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return
}

// -----

func.func @cholesky_parts_types(%a0: tensor<3x3xf64>, %a1: tensor<3x3xf32>) {
  // expected-error @below {{cholesky_parts: the operands' types differ: float64[3,3] and float32[3,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.cholesky_parts %a0, %a1 : (tensor<3x3xf64>, tensor<3x3xf32>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return
}

// -----

func.func @cholesky_parts_halves(%a0: tensor<3x3xf16>, %a1: tensor<3x3xf16>) {
  // expected-error @below {{cholesky_parts: takes float32 or float64, not float16[3,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.cholesky_parts %a0, %a1 : (tensor<3x3xf16>, tensor<3x3xf16>) -> (tensor<3x3xf16>, tensor<3x3xf16>)
  return
}

// -----

func.func @triangular_solve_parts_rows(%a0: tensor<3x3xf64>, %a1: tensor<3x3xf64>, %a2: tensor<2x2xf64>, %a3: tensor<2x2xf64>) {
  // expected-error @below {{triangular_solve_parts: the right-hand sides complex128[2,2] must have as many rows as the matrices complex128[3,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.triangular_solve_parts %a0, %a1, %a2, %a3 {lower = true, transposed = false, unit_diagonal = true} : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<2x2xf64>, tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>)
  return
}

// -----

func.func @lu_solve_parts_order(%a0: tensor<3x3xf64>, %a1: tensor<3x3xf64>, %a2: tensor<3x3xf64>, %a3: tensor<3x3xf64>, %a4: tensor<3x2xf64>, %a5: tensor<3x2xf64>, %a6: tensor<3x2xf64>) {
  // expected-error @below {{lu_solve_parts: there is no imaginary part for float64[3,2]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.lu_solve_parts %a0, %a1, %a2, %a3, %a4, %a5, %a6 {transposed = true} : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x2xf64>, tensor<3x2xf64>, tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<3x2xf64>)
  return
}

// -----

func.func @lu_solve_parts_factors(%a0: tensor<3x3xf64>, %a1: tensor<3x3xf64>, %a2: tensor<3x3xf64>, %a3: tensor<3x3xf64>, %a4: tensor<2xi64>, %a5: tensor<3x2xf64>, %a6: tensor<3x2xf64>) {
  // expected-error @below {{lu_solve_parts: the factors complex128[3,3] and the order int64[2] are not those of complex128[3,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.lu_solve_parts %a0, %a1, %a2, %a3, %a4, %a5, %a6 {transposed = true} : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<2xi64>, tensor<3x2xf64>, tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<3x2xf64>)
  return
}

// -----

func.func @svd_parts_rank(%a0: tensor<3xf64>, %a1: tensor<3xf64>) {
  // expected-error @below {{svd_parts: takes matrices, which have rank 2 or more, not complex128[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0:5 = calque.svd_parts %a0, %a1 : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
  return
}

// -----

func.func @expm_parts_square(%a0: tensor<3x4xf64>, %a1: tensor<3x4xf64>) {
  // expected-error @below {{expm_parts: takes square matrices, not complex128[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.expm_parts %a0, %a1 : (tensor<3x4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<3x4xf64>)
  return
}

// -----

func.func @sylvester_parts_rows(%a0: tensor<3x3xf64>, %a1: tensor<3x3xf64>, %a2: tensor<2x2xf64>, %a3: tensor<2x2xf64>, %a4: tensor<2x2xf64>, %a5: tensor<2x2xf64>) {
  // expected-error @below {{sylvester_parts: C of A X + X B = C has as many rows as A and as many columns as B, unlike complex128[2,2] of complex128[3,3] and complex128[2,2]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.sylvester_parts %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>)
  return
}

// -----

func.func @sqrtm_parts_types(%a0: tensor<3x3xf64>, %a1: tensor<3x3xf32>) {
  // expected-error @below {{sqrtm_parts: the operands' types differ: float64[3,3] and float32[3,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.sqrtm_parts %a0, %a1 : (tensor<3x3xf64>, tensor<3x3xf32>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return
}

// -----

func.func @logm_parts_rank(%a0: tensor<3xf64>, %a1: tensor<3xf64>) {
  // expected-error @below {{logm_parts: takes matrices, which have rank 2 or more, not complex128[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.logm_parts %a0, %a1 : (tensor<3xf64>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  return
}

// -----

func.func @banded_solve_parts_rows(%a0: tensor<4x3xf64>, %a1: tensor<4x3xf64>, %a2: tensor<3x2xf64>, %a3: tensor<3x2xf64>) {
  // expected-error @below {{banded_solve_parts: a band of 1 diagonals below and 1 above has 3 rows, unlike complex128[4,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.banded_solve_parts %a0, %a1, %a2, %a3 {lower = 1 : i64, transposed = false, upper = 1 : i64} : (tensor<4x3xf64>, tensor<4x3xf64>, tensor<3x2xf64>, tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<3x2xf64>)
  return
}

// -----

func.func @positive_banded_solve_parts_both(%a0: tensor<4x3xf64>, %a1: tensor<4x3xf64>, %a2: tensor<3x2xf64>, %a3: tensor<3x2xf64>) {
  // expected-error @below {{positive_banded_solve_parts: the band of a symmetric matrix has the diagonals below or those above, not both}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.positive_banded_solve_parts %a0, %a1, %a2, %a3 {lower = 1 : i64, upper = 2 : i64} : (tensor<4x3xf64>, tensor<4x3xf64>, tensor<3x2xf64>, tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<3x2xf64>)
  return
}
