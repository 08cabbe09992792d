// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-state-to-values))' %s --split-input-file --verify-diagnostics

func.func @unknown() -> tensor<2xf32> attributes {calque.variables = [{name = "a", type = tensor<2xf32>}]} {
  // expected-error @+1 {{names variable 1 of 1}}
  %a = calque.variable_read {variable = 1 : i64, shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  return %a : tensor<2xf32>
}

// -----

func.func @otherType(%x: tensor<3xf32>) attributes {calque.variables = [{name = "a", type = tensor<2xf32>}]} {
  // expected-error @+1 {{has type 'tensor<3xf32>' and the variable 'tensor<2xf32>'}}
  calque.variable_assign %x {variable = 0 : i64} : (tensor<3xf32>) -> ()
  return
}
