// Operations whose sizes are those of tensors are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

// `sizes` has an operand and a dimension of it for each size of `shape` that is -9223372036854775808, in order.
func.func @iota_open(%arg0: tensor<?x3xf32>, %arg1: tensor<2x?xi1>) {
  %0 = calque.iota_open %arg0 {axis = 0 : i64, dtype = i32, shape = array<i64: -9223372036854775808>, sizes = array<i64: 0, 0>} : (tensor<?x3xf32>) -> tensor<?xi32>
  %1 = calque.iota_open %arg0, %arg1 {axis = -1 : i64, dtype = f64, shape = array<i64: -9223372036854775808, 5, -9223372036854775808>, sizes = array<i64: 1, -1, 0, 1>} : (tensor<?x3xf32>, tensor<2x?xi1>) -> tensor<?x5x3xf64>
  return
}

// -----

func.func @one_hot_open(%arg0: tensor<?x3xi32>, %arg1: tensor<2x?xi1>) {
  %0 = calque.one_hot_open %arg0, %arg1 {dtype = f32, shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 1>} : (tensor<?x3xi32>, tensor<2x?xi1>) -> tensor<?x3x?xf32>
  %1 = calque.one_hot_open %arg0, %arg1 {dtype = i64, shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 0>} : (tensor<?x3xi32>, tensor<2x?xi1>) -> tensor<?x3x2xi64>
  return
}

// -----

func.func @size_of(%arg0: tensor<?x3xf32>, %arg1: tensor<4xi1>) {
  %0 = calque.size_of %arg0 {axis = -2 : i64} : (tensor<?x3xf32>) -> tensor<i64>
  %1 = calque.size_of %arg1 {axis = 0 : i64} : (tensor<4xi1>) -> tensor<i64>
  return
}

// -----

// What follows is known where the unknown sizes of x are named.
func.func @reshape_open(%arg0: tensor<?x2x3xf32>, %arg1: tensor<?xi32>, %arg2: tensor<4x3xi1>) {
  %0 = calque.reshape_open %arg0 {shape = array<i64: -9223372036854775808, -1>, sizes = array<i64: 0, 0>} : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
  %1 = calque.reshape_open %arg0, %arg1 {shape = array<i64: -9223372036854775808, -1>, sizes = array<i64: 1, 0>} : (tensor<?x2x3xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  %2 = calque.reshape_open %arg0, %arg1 {shape = array<i64: 3, -9223372036854775808, -9223372036854775808>, sizes = array<i64: 0, -3, 1, 0>} : (tensor<?x2x3xf32>, tensor<?xi32>) -> tensor<3x?x?xf32>
  %3 = calque.reshape_open %arg2, %arg0 {shape = array<i64: -9223372036854775808, -1>, sizes = array<i64: 1, 2>} : (tensor<4x3xi1>, tensor<?x2x3xf32>) -> tensor<3x4xi1>
  return
}

// -----

func.func @broadcast_to_open(%arg0: tensor<f32>, %arg1: tensor<?x1xi64>, %arg2: tensor<?x3xf64>) {
  %0 = calque.broadcast_to_open %arg0, %arg2 {shape = array<i64: 0, -9223372036854775808>, sizes = array<i64: 1, 0>} : (tensor<f32>, tensor<?x3xf64>) -> tensor<0x?xf32>
  %1 = calque.broadcast_to_open %arg1, %arg2 {shape = array<i64: 7, -9223372036854775808, -9223372036854775808>, sizes = array<i64: 0, 0, 1, -1>} : (tensor<?x1xi64>, tensor<?x3xf64>) -> tensor<7x?x3xi64>
  return
}

// -----

func.func @random_uniform_open(%arg0: tensor<2xi64>, %arg1: tensor<?x3xf32>) {
  %0 = calque.random_uniform_open %arg0, %arg1 {dtype = f32, shape = array<i64: -9223372036854775808, 5>, sizes = array<i64: 1, 0>} : (tensor<2xi64>, tensor<?x3xf32>) -> tensor<?x5xf32>
  %1 = calque.random_uniform_open %arg0, %arg1 {dtype = f64, shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 1>} : (tensor<2xi64>, tensor<?x3xf32>) -> tensor<3xf64>
  return
}
