// Operations that make tensors of nothing are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

func.func @constant() {
  %0 = calque.constant {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %1 = calque.constant {value = dense<[1, -2, 3]> : tensor<3xi32>} : () -> tensor<3xi32>
  %2 = calque.constant {value = dense<> : tensor<0x3xi64>} : () -> tensor<0x3xi64>
  %3 = calque.constant {value = dense<5.000000e-01> : tensor<3x1x5xf32>} : () -> tensor<3x1x5xf32>
  %4 = calque.constant {value = dense<[[0x7FF8000000000000, -0.000000e+00]]> : tensor<1x2xf64>} : () -> tensor<1x2xf64>
  return
}

// -----

func.func @iota() {
  %0 = calque.iota {dtype = i32, shape = array<i64: 7>} : () -> tensor<7xi32>
  %1 = calque.iota {axis = -1 : i64, dtype = f64, shape = array<i64: 0, 3, 1, 5, 2>} : () -> tensor<0x3x1x5x2xf64>
  %2 = calque.iota {axis = 1 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 3>} : () -> tensor<?x3xi64>
  return
}

// -----

func.func @random_uniform(%arg0: tensor<2xi64>) {
  %0 = calque.random_uniform %arg0 {dtype = f64, shape = array<i64>} : (tensor<2xi64>) -> tensor<f64>
  %1 = calque.random_uniform %arg0 {dtype = f32, shape = array<i64: 3, 0, 5>} : (tensor<2xi64>) -> tensor<3x0x5xf32>
  %2 = calque.random_uniform %arg0 {dtype = f32, shape = array<i64: -9223372036854775808, 3>} : (tensor<2xi64>) -> tensor<?x3xf32>
  return
}
