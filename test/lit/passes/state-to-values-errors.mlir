// What does not fit the variables that the function lists is refused.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-state-to-values))' %s --split-input-file --verify-diagnostics
// RUN: not calque-opt --pass-pipeline='builtin.module(calque-state-to-values)' /dev/null 2>&1 | FileCheck %s

// It runs on functions.
// CHECK: Can't add pass 'StateToValues' restricted to 'func.func' on a PassManager intended to run on 'builtin.module'

func.func @unknown_read() -> tensor<2xf32> attributes {calque.variables = [{name = "a", type = tensor<2xf32>}]} {
  // expected-error @below {{names variable 1 of 1}}
  %a = calque.variable_read {variable = 1 : i64, shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  return %a : tensor<2xf32>
}

// -----

func.func @unknown_assign(%x: tensor<2xf32>) attributes {calque.variables = [{name = "a", type = tensor<2xf32>}]} {
  // expected-error @below {{names variable -1 of 1}}
  calque.variable_assign %x {variable = -1 : i64} : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @no_variables(%x: tensor<2xf32>) {
  // expected-error @below {{names variable 0 of 0}}
  calque.variable_assign %x {variable = 0 : i64} : (tensor<2xf32>) -> ()
  return
}

// -----

func.func @other_type_read() -> tensor<2xf64> attributes {calque.variables = [{name = "a", type = tensor<2xf32>}]} {
  // expected-error @below {{has type 'tensor<2xf64>' and the variable 'tensor<2xf32>'}}
  %a = calque.variable_read {variable = 0 : i64, shape = array<i64: 2>, dtype = f64} : () -> tensor<2xf64>
  return %a : tensor<2xf64>
}

// -----

func.func @other_type_assign(%x: tensor<3xf32>) attributes {calque.variables = [{name = "a", type = tensor<2xf32>}]} {
  // expected-error @below {{has type 'tensor<3xf32>' and the variable 'tensor<2xf32>'}}
  calque.variable_assign %x {variable = 0 : i64} : (tensor<3xf32>) -> ()
  return
}

// -----

func.func @assign_in_region(%c: i1, %x: tensor<2xf32>) attributes {calque.variables = [{name = "a", type = tensor<2xf32>}]} {
  scf.if %c {
    // expected-error @below {{stands in a region or behind a branch; variables are followed through a function's first block only}}
    calque.variable_assign %x {variable = 0 : i64} : (tensor<2xf32>) -> ()
  }
  return
}

// -----

func.func @read_in_region(%c: i1) attributes {calque.variables = [{name = "a", type = tensor<2xf32>}]} {
  scf.if %c {
    // expected-error @below {{stands in a region or behind a branch; variables are followed through a function's first block only}}
    %a = calque.variable_read {variable = 0 : i64, shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  }
  return
}

// -----

func.func @assign_behind_branch(%x: tensor<2xf32>) attributes {calque.variables = [{name = "a", type = tensor<2xf32>}]} {
  cf.br ^next
^next:
  // expected-error @below {{stands in a region or behind a branch; variables are followed through a function's first block only}}
  calque.variable_assign %x {variable = 0 : i64} : (tensor<2xf32>) -> ()
  return
}
