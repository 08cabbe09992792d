// What the stages refuse, at the line of the operation.
// RUN: calque-opt --calque-stage=name=linalg %s --split-input-file --verify-diagnostics
// RUN: calque-opt --calque-stage=name=llvm %s --split-input-file --verify-diagnostics
// RUN: not calque-opt --calque-stage=name=unheard /dev/null 2>&1 | FileCheck %s

// CHECK: there is no stage 'unheard' of IR; the stages are traced,

func.func @unknown_size(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  // expected-error @below {{'calque.exp' op has the unknown size of 'tensor<?x3xf32>', and code generation needs known sizes}}
  %0 = calque.exp %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// What a composite operation stands for is refused at its line.
func.func @composite(%x: tensor<?xf32>) -> tensor<f32> {
  // expected-error @below {{has the unknown size of 'tensor<?xf32>', and code generation needs known sizes}}
  %0 = calque.softmax %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = calque.reduce_sum %0 : (tensor<?xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// An earlier stage's refusal ends the later ones.
func.func @variable(%x: tensor<3xf32>) attributes {calque.variables = [{name = "a", type = tensor<2xf32>}]} {
  // expected-error @below {{has type 'tensor<3xf32>' and the variable 'tensor<2xf32>'}}
  calque.variable_assign %x {variable = 0 : i64} : (tensor<3xf32>) -> ()
  return
}

// -----

func.func @verifier(%x: tensor<3xf32>, %y: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error @below {{add: the shapes [3] and [2] don't broadcast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.add %x, %y : (tensor<3xf32>, tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @operand_axis_size(%x: tensor<?xf32>) -> tensor<f32> {
  // expected-error @below {{'calque.axis_size' op has the unknown size of 'tensor<?xf32>', and code generation needs known sizes}}
  %0 = calque.axis_size %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @operand_sum(%x: tensor<?x3xf32>) -> tensor<3xf32> {
  // expected-error @below {{'calque.reduce_sum' op has the unknown size of 'tensor<?x3xf32>', and code generation needs known sizes}}
  %0 = calque.reduce_sum %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @operand_add(%x: tensor<?xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{'calque.add' op has the unknown size of 'tensor<?xf32>', and code generation needs known sizes}}
  %0 = calque.add %x, %y : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @operand_assert(%x: tensor<?xi1>) {
  // expected-error @below {{'calque.assert' op has the unknown size of 'tensor<?xi1>', and code generation needs known sizes}}
  calque.assert %x {message = ""} : (tensor<?xi1>) -> ()
  return
}

// -----

func.func @operand_print(%x: tensor<?xf32>) {
  // expected-error @below {{'calque.print' op has the unknown size of 'tensor<?xf32>', and code generation needs known sizes}}
  calque.print %x {label = ""} : (tensor<?xf32>) -> ()
  return
}

// -----

// An argument that is only returned, or not even that.
// expected-error @below {{argument 1 of 'returned' has the unknown size of 'tensor<?xf32>', and code generation needs known sizes}}
func.func @returned(%x: tensor<3xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  return %y : tensor<?xf32>
}

// -----

// A variable is an argument, too.
// expected-error @below {{argument 0 of 'variable' has the unknown size of 'tensor<?xf32>', and code generation needs known sizes}}
func.func @variable() attributes {calque.variables = [{name = "a", type = tensor<?xf32>}]} {
  return
}

// -----

// There is nothing to take to a stage.
// expected-error @below {{there is no function with a body to take to a stage}}
module {
  func.func private @declared(tensor<f32>)
}
