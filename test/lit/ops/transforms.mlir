// What transformations of programs are recorded as is printed as it is read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

func.func @identity(%arg0: tensor<i1>, %arg1: tensor<0x3xi64>, %arg2: tensor<?x3xf32>) {
  %0 = calque.identity %arg0 : (tensor<i1>) -> tensor<i1>
  %1 = calque.identity %arg1 : (tensor<0x3xi64>) -> tensor<0x3xi64>
  %2 = calque.identity %arg2 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// One target and source; two targets of one source; two sources.
func.func @jvp(%arg0: tensor<f64>, %arg1: tensor<0x3xf32>, %arg2: tensor<?x3xf32>) {
  %0 = calque.jvp %arg0, %arg0, %arg0 {counts = array<i64: 1, 1>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  %1:2 = calque.jvp %arg0, %arg1, %arg2, %arg2 {counts = array<i64: 2, 1>} : (tensor<f64>, tensor<0x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<f64>, tensor<0x3xf32>)
  %2 = calque.jvp %arg2, %arg0, %arg1, %arg0, %arg1 {counts = array<i64: 1, 2>} : (tensor<?x3xf32>, tensor<f64>, tensor<0x3xf32>, tensor<f64>, tensor<0x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// Any element type, axes from both ends, a number of examples that one operand knows, no examples.
func.func @batch(%arg0: tensor<5xi1>, %arg1: tensor<?x3xf32>, %arg2: tensor<2x?xi64>, %arg3: tensor<2x3x5xf64>, %arg4: tensor<0xf32>) {
  %0 = calque.batch %arg0 {axes = array<i64: 0>} : (tensor<5xi1>) -> tensor<i1>
  %1:4 = calque.batch %arg1, %arg2, %arg3, %arg0 {axes = array<i64: 0, -1, 2, -1>} : (tensor<?x3xf32>, tensor<2x?xi64>, tensor<2x3x5xf64>, tensor<5xi1>) -> (tensor<3xf32>, tensor<2xi64>, tensor<2x3xf64>, tensor<i1>)
  %2 = calque.batch %arg4 {axes = array<i64: 0>} : (tensor<0xf32>) -> tensor<f32>
  return
}

// -----

// The number of examples stands where the axis says, counted in the result.
func.func @unbatch(%arg0: tensor<2x?xi1>, %arg1: tensor<f32>, %arg2: tensor<?x5xf32>, %arg3: tensor<?xf32>) {
  %0 = calque.unbatch %arg0, %arg3, %arg2 {axes = array<i64: 1>, batch_axis = -1 : i64} : (tensor<2x?xi1>, tensor<?xf32>, tensor<?x5xf32>) -> tensor<2x5x?xi1>
  %1 = calque.batch %arg2 {axes = array<i64: 0>} : (tensor<?x5xf32>) -> tensor<5xf32>
  %2:3 = calque.unbatch %arg0, %arg1, %arg0, %1, %arg2 {axes = array<i64: 2, -1, -3>, batch_axis = 0 : i64} : (tensor<2x?xi1>, tensor<f32>, tensor<2x?xi1>, tensor<5xf32>, tensor<?x5xf32>) -> (tensor<2x?x?xi1>, tensor<?xf32>, tensor<?x2x?xi1>)
  return
}
