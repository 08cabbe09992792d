// Contractions are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

// A product of scalars, an inner product, matrices, a batch, an outer product, an empty sum, two pairs out of order.
func.func @contract(%arg0: tensor<f64>, %arg1: tensor<7xi32>, %arg2: tensor<3x5xf32>, %arg3: tensor<5x2xf32>, %arg4: tensor<4x3x5xf64>, %arg5: tensor<4x5x2xf64>, %arg6: tensor<3x0xi64>, %arg7: tensor<2x3x5xf32>, %arg8: tensor<5x7x3xf32>) {
  %0 = calque.contract %arg0, %arg0 {lhs_batch = array<i64>, lhs_contracting = array<i64>, rhs_batch = array<i64>, rhs_contracting = array<i64>} : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %1 = calque.contract %arg1, %arg1 {lhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<7xi32>, tensor<7xi32>) -> tensor<i32>
  %2 = calque.contract %arg2, %arg3 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<3x5xf32>, tensor<5x2xf32>) -> tensor<3x2xf32>
  %3 = calque.contract %arg4, %arg5 {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: -1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: -2>} : (tensor<4x3x5xf64>, tensor<4x5x2xf64>) -> tensor<4x3x2xf64>
  %4 = calque.contract %arg1, %arg1 {lhs_batch = array<i64>, lhs_contracting = array<i64>, rhs_batch = array<i64>, rhs_contracting = array<i64>} : (tensor<7xi32>, tensor<7xi32>) -> tensor<7x7xi32>
  %5 = calque.contract %arg6, %arg6 {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<3x0xi64>, tensor<3x0xi64>) -> tensor<3x3xi64>
  %6 = calque.contract %arg7, %arg8 {lhs_batch = array<i64>, lhs_contracting = array<i64: 2, 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0, 2>} : (tensor<2x3x5xf32>, tensor<5x7x3xf32>) -> tensor<2x7xf32>
  return
}

// -----

// A batch dimension that one side knows is known in the result.
func.func @unknown(%arg0: tensor<?x3x?xf32>, %arg1: tensor<4x5x?xf32>) {
  %0 = calque.contract %arg0, %arg1 {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>} : (tensor<?x3x?xf32>, tensor<4x5x?xf32>) -> tensor<4x3x?xf32>
  return
}
