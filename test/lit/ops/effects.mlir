// Operations with effects and those that gradients are made of are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

func.func @variables(%arg0: tensor<f32>, %arg1: tensor<?x3xi1>) attributes {calque.variables = [{name = "a", type = tensor<f32>}, {name = "b", type = tensor<?x3xi1>}]} {
  %0 = calque.variable_read {dtype = f32, shape = array<i64>, variable = 0 : i64} : () -> tensor<f32>
  %1 = calque.variable_read {dtype = i1, shape = array<i64: -9223372036854775808, 3>, variable = 1 : i64} : () -> tensor<?x3xi1>
  calque.variable_assign %arg0 {variable = 0 : i64} : (tensor<f32>) -> ()
  calque.variable_assign %arg1 {variable = 1 : i64} : (tensor<?x3xi1>) -> ()
  return
}

// -----

func.func @print(%arg0: tensor<i1>, %arg1: tensor<0x3xi64>, %arg2: tensor<?x3xf32>) {
  calque.print %arg0 {label = ""} : (tensor<i1>) -> ()
  calque.print %arg1 {label = "x = \22\0A"} : (tensor<0x3xi64>) -> ()
  calque.print %arg2 {label = "x"} : (tensor<?x3xf32>) -> ()
  calque.print {label = "text"} : () -> ()
  calque.print %arg0, %arg2 {label = "{} and {}"} : (tensor<i1>, tensor<?x3xf32>) -> ()
  return
}

// -----

func.func @assert(%arg0: tensor<i1>, %arg1: tensor<?x3xi1>, %arg2: tensor<?x1xf32>, %arg3: tensor<1x3xi64>) {
  calque.assert %arg0 {message = ""} : (tensor<i1>) -> ()
  calque.assert %arg1 {message = "all hold"} : (tensor<?x3xi1>) -> ()
  calque.assert %arg1, %arg2, %arg3 {message = "shown"} : (tensor<?x3xi1>, tensor<?x1xf32>, tensor<1x3xi64>) -> ()
  return
}

// -----

// No operand and result; one result; two of each.
func.func @host_call(%arg0: tensor<i1>, %arg1: tensor<?x3xf32>) {
  calque.host_call {callee = 0 : i64, types = array<i64>} : () -> ()
  %0 = calque.host_call %arg1 {callee = 2 : i64, types = array<i64: 3, 1, 2>} : (tensor<?x3xf32>) -> tensor<2xf32>
  %1:2 = calque.host_call %arg0, %arg1 {callee = 1 : i64, types = array<i64: 4, 0, 2, 2, 0, 3>} : (tensor<i1>, tensor<?x3xf32>) -> (tensor<f64>, tensor<0x3xi64>)
  return
}

// -----

func.func @stop_gradient(%arg0: tensor<i1>, %arg1: tensor<0x3xi64>, %arg2: tensor<?x3xf32>) {
  %0 = calque.stop_gradient %arg0 : (tensor<i1>) -> tensor<i1>
  %1 = calque.stop_gradient %arg1 : (tensor<0x3xi64>) -> tensor<0x3xi64>
  %2 = calque.stop_gradient %arg2 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

// One target and source; two of each and a stop of another element type; no source.
func.func @gradient(%arg0: tensor<f64>, %arg1: tensor<0x3xf32>, %arg2: tensor<?x3xf32>, %arg3: tensor<7xi64>) {
  %0 = calque.gradient %arg0, %arg0, %arg0 {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  %1:2 = calque.gradient %arg0, %arg1, %arg0, %arg1, %arg2, %arg0, %arg3 {counts = array<i64: 2, 2, 1>} : (tensor<f64>, tensor<0x3xf32>, tensor<f64>, tensor<0x3xf32>, tensor<?x3xf32>, tensor<f64>, tensor<7xi64>) -> (tensor<?x3xf32>, tensor<f64>)
  calque.gradient %arg2, %arg2 {counts = array<i64: 1, 0, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>) -> ()
  return
}
