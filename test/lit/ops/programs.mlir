// Operations with a program inside, and those of the user's, are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

// One input and value; two inputs, a value and a capture.
func.func @custom_gradient(%arg0: tensor<?x3xf32>, %arg1: tensor<f64>, %arg2: tensor<2xi32>) {
  %0 = calque.custom_gradient %arg0, %arg0 {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32> {
  ^bb0(%arg3: tensor<?x3xf32>):
    %2 = calque.neg %arg3 : (tensor<?x3xf32>) -> tensor<?x3xf32>
    vector.yield %2 : tensor<?x3xf32>
  }
  %1 = calque.custom_gradient %arg0, %arg1, %arg1, %arg2 {counts = array<i64: 2, 1, 1>} : (tensor<?x3xf32>, tensor<f64>, tensor<f64>, tensor<2xi32>) -> tensor<f64> {
  ^bb0(%arg3: tensor<f64>, %arg4: tensor<2xi32>):
    %2 = calque.constant {value = dense<0.000000e+00> : tensor<4x3xf32>} : () -> tensor<4x3xf32>
    %3 = calque.slice %2 {limits = array<i64: 4, 3>, starts = array<i64: 0, 0>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %4 = calque.reshape %3 {shape = array<i64: -9223372036854775808, 3>} : (tensor<4x3xf32>) -> tensor<?x3xf32>
    vector.yield %4, %arg3 : tensor<?x3xf32>, tensor<f64>
  }
  return
}

// -----

func.func @checkpoint(%arg0: tensor<?x3xf32>, %arg1: tensor<2xi1>) {
  %0 = calque.checkpoint %arg0 : (tensor<?x3xf32>) -> tensor<?x3xf32> {
  ^bb0(%arg2: tensor<?x3xf32>):
    %2 = calque.exp %arg2 : (tensor<?x3xf32>) -> tensor<?x3xf32>
    vector.yield %2 : tensor<?x3xf32>
  }
  %1:2 = calque.checkpoint %arg1, %arg0 : (tensor<2xi1>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<2xi1>) {
  ^bb0(%arg2: tensor<2xi1>, %arg3: tensor<?x3xf32>):
    vector.yield %arg3, %arg2 : tensor<?x3xf32>, tensor<2xi1>
  }
  return
}

// -----

func.func @known(%arg0: tensor<i1>, %arg1: tensor<?x3xf32>) {
  %0 = calque.known %arg0, %arg0 : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %1 = calque.known %arg1, %arg1 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @barrier(%arg0: tensor<i1>, %arg1: tensor<?x3xf32>) {
  %0 = calque.barrier %arg0 : (tensor<i1>) -> tensor<i1>
  %1 = calque.barrier %arg1 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @ordered_extern(%arg0: tensor<?x3xf32>, %arg1: tensor<2xi1>) {
  %0 = calque.ordered_extern %arg0 {repeats = 0 : i64, symbol = "mine", transpose = "", types = array<i64: 3, 2, 2, 5>} : (tensor<?x3xf32>) -> tensor<2x5xf32>
  calque.ordered_extern %arg1 {repeats = 1 : i64, symbol = "other", transpose = "back", types = array<i64>} : (tensor<2xi1>) -> ()
  return
}

// -----

func.func @extern(%arg0: tensor<?x3xf32>, %arg1: tensor<2xi1>) {
  %0 = calque.extern %arg0 {symbol = "mine", types = array<i64: 3, 2, 2, 5>} : (tensor<?x3xf32>) -> tensor<2x5xf32>
  %1:2 = calque.extern %arg1, %arg0 {symbol = "other", types = array<i64: 0, 0, 4, 1, 0>} : (tensor<2xi1>, tensor<?x3xf32>) -> (tensor<i1>, tensor<0xf64>)
  return
}
