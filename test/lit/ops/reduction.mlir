// Reductions are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

// No axes are all axes; negative ones count from the end; only sums, products and means may be of no elements.
// EACH 1 reduceNumeric
func.func @OP(%arg0: tensor<i32>, %arg1: tensor<0x3xi64>, %arg2: tensor<3x5x7xf32>, %arg3: tensor<?x3xf64>, %arg4: tensor<2x?x1x3x5xf32>) {
  %0 = calque.OP %arg0 : (tensor<i32>) -> tensor<i32>
  %1 = calque.OP %arg1 : (tensor<0x3xi64>) -> tensor<i64>
  %2 = calque.OP %arg1 {axes = array<i64: 0>} : (tensor<0x3xi64>) -> tensor<3xi64>
  %3 = calque.OP %arg2 {axes = array<i64: -1, 0>, keepdims = true} : (tensor<3x5x7xf32>) -> tensor<1x5x1xf32>
  %4 = calque.OP %arg3 {keepdims = true} : (tensor<?x3xf64>) -> tensor<1x1xf64>
  %5 = calque.OP %arg3 {axes = array<i64: 1>} : (tensor<?x3xf64>) -> tensor<?xf64>
  %6 = calque.OP %arg4 {axes = array<i64: 1, -2>} : (tensor<2x?x1x3x5xf32>) -> tensor<2x1x5xf32>
  return
}

// -----

// EACH 1 reduceFloat
func.func @OP(%arg0: tensor<f64>, %arg1: tensor<0x3xf32>, %arg2: tensor<3x5x7xf32>, %arg3: tensor<?x3xf64>) {
  %0 = calque.OP %arg0 : (tensor<f64>) -> tensor<f64>
  %1 = calque.OP %arg1 : (tensor<0x3xf32>) -> tensor<f32>
  %2 = calque.OP %arg2 {axes = array<i64: -1, 0>, keepdims = true} : (tensor<3x5x7xf32>) -> tensor<1x5x1xf32>
  %3 = calque.OP %arg3 {axes = array<i64: 1>} : (tensor<?x3xf64>) -> tensor<?xf64>
  return
}

// -----

// A dimension that is not reduced may be empty.
// EACH 1 reduceNumericNonEmpty
func.func @OP(%arg0: tensor<i32>, %arg1: tensor<0x3xi64>, %arg2: tensor<3x5x7xf32>, %arg3: tensor<?x3xf64>) {
  %0 = calque.OP %arg0 : (tensor<i32>) -> tensor<i32>
  %1 = calque.OP %arg1 {axes = array<i64: 1>} : (tensor<0x3xi64>) -> tensor<0xi64>
  %2 = calque.OP %arg2 {axes = array<i64: -1, 0>, keepdims = true} : (tensor<3x5x7xf32>) -> tensor<1x5x1xf32>
  %3 = calque.OP %arg3 : (tensor<?x3xf64>) -> tensor<f64>
  return
}

// -----

// EACH 1 reduceFloatNonEmpty
func.func @OP(%arg0: tensor<f64>, %arg1: tensor<0x3xf32>, %arg2: tensor<3x5x7xf32>, %arg3: tensor<?x3xf64>) {
  %0 = calque.OP %arg0 : (tensor<f64>) -> tensor<f64>
  %1 = calque.OP %arg1 {axes = array<i64: 1>} : (tensor<0x3xf32>) -> tensor<0xf32>
  %2 = calque.OP %arg2 {axes = array<i64: -1, 0>, keepdims = true} : (tensor<3x5x7xf32>) -> tensor<1x5x1xf32>
  %3 = calque.OP %arg3 {axes = array<i64: 0>} : (tensor<?x3xf64>) -> tensor<3xf64>
  return
}

// -----

// EACH 1 softmax
func.func @OP(%arg0: tensor<7xf32>, %arg1: tensor<0x3xf64>, %arg2: tensor<?x3xf32>) {
  %0 = calque.OP %arg0 : (tensor<7xf32>) -> tensor<7xf32>
  %1 = calque.OP %arg1 {axis = 1 : i64} : (tensor<0x3xf64>) -> tensor<0x3xf64>
  %2 = calque.OP %arg2 {axis = -2 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// EACH 1 argExtreme
func.func @OP(%arg0: tensor<7xi32>, %arg1: tensor<0x3xf64>, %arg2: tensor<?x3xf32>) {
  %0 = calque.OP %arg0 : (tensor<7xi32>) -> tensor<i64>
  %1 = calque.OP %arg1 {axis = 1 : i64} : (tensor<0x3xf64>) -> tensor<0xi64>
  %2 = calque.OP %arg2 : (tensor<?x3xf32>) -> tensor<?xi64>
  %3 = calque.OP %arg2 {axis = -2 : i64} : (tensor<?x3xf32>) -> tensor<3xi64>
  return
}

// -----

// EACH 1 reduceBool
func.func @OP(%arg0: tensor<i1>, %arg1: tensor<0x3xi1>, %arg2: tensor<?x3xi1>) {
  %0 = calque.OP %arg0 : (tensor<i1>) -> tensor<i1>
  %1 = calque.OP %arg1 {axes = array<i64: 0>} : (tensor<0x3xi1>) -> tensor<3xi1>
  %2 = calque.OP %arg2 {keepdims = true} : (tensor<?x3xi1>) -> tensor<1x1xi1>
  %3 = calque.OP %arg2 {axes = array<i64: -1>} : (tensor<?x3xi1>) -> tensor<?xi1>
  return
}

// -----

// EACH 1 cumulative
func.func @OP(%arg0: tensor<7xi32>, %arg1: tensor<0x3xf64>, %arg2: tensor<?x3xf32>) {
  %0 = calque.OP %arg0 : (tensor<7xi32>) -> tensor<7xi32>
  %1 = calque.OP %arg1 {axis = 1 : i64, exclusive = true} : (tensor<0x3xf64>) -> tensor<0x3xf64>
  %2 = calque.OP %arg2 {axis = -1 : i64, exclusive = true, reverse = true} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// What one of the two operands leaves unknown the other may know; the result is as the terms.
func.func @linear_recurrence(%arg0: tensor<7xi32>, %arg1: tensor<0x3xf64>, %arg2: tensor<?x3xf32>, %arg3: tensor<4x?xf32>) {
  %0 = calque.linear_recurrence %arg0, %arg0 {axis = 0 : i64, reverse = false} : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>
  %1 = calque.linear_recurrence %arg1, %arg1 {axis = 1 : i64, reverse = true} : (tensor<0x3xf64>, tensor<0x3xf64>) -> tensor<0x3xf64>
  %2 = calque.linear_recurrence %arg2, %arg3 {axis = -1 : i64, reverse = true} : (tensor<?x3xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return
}

// -----

func.func @linear_recurrence_parts(%arg0: tensor<7xf32>, %arg1: tensor<0x3xf64>, %arg2: tensor<?x3xf32>, %arg3: tensor<4x?xf32>) {
  %re, %im = calque.linear_recurrence_parts %arg0, %arg0, %arg0, %arg0 {axis = 0 : i64, reverse = false} : (tensor<7xf32>, tensor<7xf32>, tensor<7xf32>, tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>)
  %re_0, %im_1 = calque.linear_recurrence_parts %arg1, %arg1, %arg1, %arg1 {axis = 1 : i64, reverse = true} : (tensor<0x3xf64>, tensor<0x3xf64>, tensor<0x3xf64>, tensor<0x3xf64>) -> (tensor<0x3xf64>, tensor<0x3xf64>)
  %re_2, %im_3 = calque.linear_recurrence_parts %arg2, %arg2, %arg3, %arg2 {axis = -1 : i64, reverse = true} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<4x?xf32>, tensor<?x3xf32>) -> (tensor<4x?xf32>, tensor<4x?xf32>)
  return
}

// -----

func.func @axis_size(%arg0: tensor<f32>, %arg1: tensor<0x3xi64>, %arg2: tensor<?x3xf64>) {
  %0 = calque.axis_size %arg0 : (tensor<f32>) -> tensor<f32>
  %1 = calque.axis_size %arg1 {axes = array<i64: -1, 0>} : (tensor<0x3xi64>) -> tensor<i64>
  %2 = calque.axis_size %arg2 {axes = array<i64: 0>} : (tensor<?x3xf64>) -> tensor<f64>
  return
}

// -----

func.func @sum_like(%arg0: tensor<f32>, %arg1: tensor<2x5x3xf32>, %arg2: tensor<5x1xf32>, %arg3: tensor<?x3xf64>, %arg4: tensor<?x1xf64>, %arg5: tensor<0x3xi32>, %arg6: tensor<3xi32>) {
  %0 = calque.sum_like %arg0, %arg0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = calque.sum_like %arg1, %arg2 : (tensor<2x5x3xf32>, tensor<5x1xf32>) -> tensor<5x1xf32>
  %2 = calque.sum_like %arg3, %arg4 : (tensor<?x3xf64>, tensor<?x1xf64>) -> tensor<?x1xf64>
  %3 = calque.sum_like %arg5, %arg6 : (tensor<0x3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return
}
