// What the type rules of banded systems refuse.
// RUN: %{expand} %s > %t
// RUN: calque-opt %t --split-input-file --verify-diagnostics

func.func @banded_solve_rows(%a0: tensor<4x3xf64>, %a1: tensor<3x2xf64>) {
  // expected-error @below {{banded_solve: a band of 1 diagonals below and 1 above has 3 rows, unlike float64[4,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.banded_solve %a0, %a1 {lower = 1 : i64, transposed = false, upper = 1 : i64} : (tensor<4x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return
}

// -----

func.func @banded_solve_numbers(%a0: tensor<4x3xf64>, %a1: tensor<3x2xf64>) {
  // expected-error @below {{banded_solve: the numbers of diagonals below and above are 0 or more, and at most 1073741824, not -1 and 4}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.banded_solve %a0, %a1 {lower = -1 : i64, transposed = false, upper = 4 : i64} : (tensor<4x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return
}

// -----

func.func @banded_solve_columns(%a0: tensor<4x3xf64>, %a1: tensor<2x2xf64>) {
  // expected-error @below {{banded_solve: the right-hand sides float64[2,2] must have as many rows as the band float64[4,3] has columns}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.banded_solve %a0, %a1 {lower = 1 : i64, transposed = false, upper = 2 : i64} : (tensor<4x3xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return
}

// -----

func.func @banded_solve_rank(%a0: tensor<4x3xf64>, %a1: tensor<3xf64>) {
  // expected-error @below {{banded_solve: takes matrices, which have rank 2 or more, not float64[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.banded_solve %a0, %a1 {lower = 1 : i64, transposed = false, upper = 2 : i64} : (tensor<4x3xf64>, tensor<3xf64>) -> tensor<3xf64>
  return
}

// -----

func.func @banded_product_types(%a0: tensor<4x3xf64>, %a1: tensor<3x2xf32>) {
  // expected-error @below {{banded_product: the operands' types differ: float64[4,3] and float32[3,2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.banded_product %a0, %a1 {lower = 1 : i64, transposed = false, upper = 2 : i64} : (tensor<4x3xf64>, tensor<3x2xf32>) -> tensor<3x2xf64>
  return
}

// -----

func.func @positive_banded_solve_both(%a0: tensor<4x3xf64>, %a1: tensor<3x2xf64>) {
  // expected-error @below {{positive_banded_solve: the band of a symmetric matrix has the diagonals below or those above, not both}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.positive_banded_solve %a0, %a1 {lower = 1 : i64, upper = 2 : i64} : (tensor<4x3xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return
}

// -----

func.func @positive_banded_solve_batch(%a0: tensor<5x4x3xf64>, %a1: tensor<2x3x2xf64>) {
  // expected-error @below {{positive_banded_solve: takes as many matrices in each operand}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.positive_banded_solve %a0, %a1 {lower = 3 : i64, upper = 0 : i64} : (tensor<5x4x3xf64>, tensor<2x3x2xf64>) -> tensor<5x3x2xf64>
  return
}

// -----

func.func @band_of_product_shapes(%a0: tensor<3x2xf64>, %a1: tensor<2x2xf64>) {
  // expected-error @below {{band_of_product: the factors have the shapes [3,2] and [2,2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.band_of_product %a0, %a1 {lower = 3 : i64, upper = 0 : i64} : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<4x3xf64>
  return
}

// -----

func.func @band_of_product_types(%a0: tensor<3x2xf64>, %a1: tensor<3x2xf32>) {
  // expected-error @below {{band_of_product: the operands' types differ}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.band_of_product %a0, %a1 {lower = 3 : i64, upper = 0 : i64} : (tensor<3x2xf64>, tensor<3x2xf32>) -> tensor<4x3xf64>
  return
}

// -----

func.func @band_of_product_numbers(%a0: tensor<3x2xf64>, %a1: tensor<3x2xf64>) {
  // expected-error @below {{band_of_product: the numbers of diagonals below and above are 0 or more}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.band_of_product %a0, %a1 {lower = 0 : i64, upper = -1 : i64} : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<4x3xf64>
  return
}
