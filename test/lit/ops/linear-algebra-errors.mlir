// What the type rules of linear algebra refuse.
// RUN: %{expand} %s > %t
// RUN: calque-opt %t --split-input-file --verify-diagnostics

func.func @cholesky_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{cholesky: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.cholesky %a0 : (tensor<3x4xf64>) -> tensor<3x3xf64>
  return
}

// -----

func.func @triangular_solve_square(%a0: tensor<3x4xf64>, %a1: tensor<3x2xf64>) {
  // expected-error @below {{triangular_solve: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.triangular_solve %a0, %a1 {lower = true, transposed = false, unit_diagonal = true} : (tensor<3x4xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return
}

// -----

func.func @lu_factor_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{lu_factor: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.lu_factor %a0 : (tensor<3x4xf64>) -> (tensor<3x3xf64>, tensor<3xi64>)
  return
}

// -----

func.func @lu_solve_square(%a0: tensor<3x4xf64>, %a1: tensor<3x3xf64>, %a2: tensor<3xi64>, %a3: tensor<3x2xf64>) {
  // expected-error @below {{lu_solve: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.lu_solve %a0, %a1, %a2, %a3 {transposed = true} : (tensor<3x4xf64>, tensor<3x3xf64>, tensor<3xi64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return
}

// -----

func.func @matrix_inverse_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{matrix_inverse: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.matrix_inverse %a0 : (tensor<3x4xf64>) -> tensor<3x3xf64>
  return
}

// -----

func.func @determinant_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{determinant: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.determinant %a0 : (tensor<3x4xf64>) -> tensor<f64>
  return
}

// -----

func.func @adjugate_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{adjugate: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.adjugate %a0 : (tensor<3x4xf64>) -> tensor<3x3xf64>
  return
}

// -----

func.func @slogdet_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{slogdet: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.slogdet %a0 : (tensor<3x4xf64>) -> (tensor<f64>, tensor<f64>)
  return
}

// -----

func.func @qr_rank(%a0: tensor<?xf64>) {
  // expected-error @below {{qr: takes matrices, which have rank 2 or more, not float64[?]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.qr %a0 : (tensor<?xf64>) -> (tensor<5x3xf64>, tensor<3x3xf64>)
  return
}

// -----

func.func @qr_complete_rank(%a0: tensor<?xf64>) {
  // expected-error @below {{qr_complete: takes matrices, which have rank 2 or more, not float64[?]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.qr_complete %a0 : (tensor<?xf64>) -> (tensor<5x5xf64>, tensor<5x3xf64>)
  return
}

// -----

func.func @eigh_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{eigh: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.eigh %a0 : (tensor<3x4xf64>) -> (tensor<3xf64>, tensor<3x3xf64>)
  return
}

// -----

func.func @svd_rank(%a0: tensor<?xf64>) {
  // expected-error @below {{svd: takes matrices, which have rank 2 or more, not float64[?]}}
  // expected-error @below {{failed to infer returned types}}
  %0:3 = calque.svd %a0 : (tensor<?xf64>) -> (tensor<5x3xf64>, tensor<3xf64>, tensor<3x3xf64>)
  return
}

// -----

func.func @svd_full_rank(%a0: tensor<?xf64>) {
  // expected-error @below {{svd_full: takes matrices, which have rank 2 or more, not float64[?]}}
  // expected-error @below {{failed to infer returned types}}
  %0:3 = calque.svd_full %a0 : (tensor<?xf64>) -> (tensor<5x5xf64>, tensor<3xf64>, tensor<3x3xf64>)
  return
}

// -----

func.func @pseudo_inverse_rank(%a0: tensor<?xf64>) {
  // expected-error @below {{pseudo_inverse: takes matrices, which have rank 2 or more, not float64[?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.pseudo_inverse %a0 {tolerance = 1.000000e-02 : f64} : (tensor<?xf64>) -> tensor<3x5xf64>
  return
}

// -----

func.func @expm_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{expm: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.expm %a0 : (tensor<3x4xf64>) -> tensor<3x3xf64>
  return
}

// -----

func.func @type(%a: tensor<2x2xi32>) {
  // expected-error @below {{cholesky: takes floating-point numbers, not int32[2,2]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.cholesky %a : (tensor<2x2xi32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @types(%a: tensor<3x3xf64>, %b: tensor<3x2xf32>) {
  // expected-error @below {{triangular_solve: the operands' types differ: float64[3,3] and float32[3,2]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.triangular_solve %a, %b {lower = true, transposed = false, unit_diagonal = true} : (tensor<3x3xf64>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @rows(%a: tensor<3x?xf64>, %b: tensor<4x2xf64>) {
  // expected-error @below {{triangular_solve: the right-hand sides float64[4,2] must have as many rows as the matrices float64[3,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.triangular_solve %a, %b {lower = true, transposed = false, unit_diagonal = true} : (tensor<3x?xf64>, tensor<4x2xf64>) -> tensor<4x2xf64>
  return
}

// -----

func.func @batches(%a: tensor<5x3x3xf64>, %b: tensor<6x3x2xf64>) {
  // expected-error @below {{triangular_solve: takes as many matrices in each operand, in dimensions of the same sizes, not float64[5,3,3] and float64[6,3,2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.triangular_solve %a, %b {lower = true, transposed = false, unit_diagonal = true} : (tensor<5x3x3xf64>, tensor<6x3x2xf64>) -> tensor<6x3x2xf64>
  return
}

// -----

func.func @factors(%a: tensor<3x3xf64>, %b: tensor<3x3xf64>, %c: tensor<4xi64>, %d: tensor<3x2xf64>) {
  // expected-error @below {{lu_solve: the factors float64[3,3] and the order int64[4] are not those of float64[3,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.lu_solve %a, %b, %c, %d {transposed = false} : (tensor<3x3xf64>, tensor<3x3xf64>, tensor<4xi64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return
}

// -----

func.func @eig_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{eig: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0:4 = calque.eig %a0 : (tensor<3x4xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3x3xf64>, tensor<3x3xf64>)
  return
}

// -----

func.func @schur_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{schur: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.schur %a0 : (tensor<3x4xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>)
  return
}

// -----

func.func @sqrtm_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{sqrtm: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.sqrtm %a0 : (tensor<3x4xf64>) -> tensor<3x3xf64>
  return
}

// -----

func.func @logm_square(%a0: tensor<3x4xf64>) {
  // expected-error @below {{logm: takes square matrices, not float64[3,4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.logm %a0 : (tensor<3x4xf64>) -> tensor<3x3xf64>
  return
}

// -----

func.func @sylvester_sizes(%a0: tensor<3x3xf64>, %a1: tensor<2x2xf64>, %a2: tensor<2x3xf64>) {
  // expected-error @below {{sylvester: C of A X + X B = C has as many rows as A and as many columns as B, unlike float64[2,3] of float64[3,3] and float64[2,2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.sylvester %a0, %a1, %a2 : (tensor<3x3xf64>, tensor<2x2xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return
}
