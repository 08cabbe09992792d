// What the stages refuse, at the line of the operation.
// RUN: calque-opt --calque-stage=name=linalg %s --split-input-file --verify-diagnostics
// RUN: calque-opt --calque-stage=name=llvm %s --split-input-file --verify-diagnostics
// RUN: not calque-opt --calque-stage=name=unheard /dev/null 2>&1 | FileCheck %s

// CHECK: there is no stage 'unheard' of IR; the stages are traced,

func.func @size_of_nothing() -> tensor<?x3xf32> {
  // expected-error @below {{'calque.iota' op has a size that nothing gives}}
  %0 = calque.iota {shape = array<i64: -9223372036854775808, 3>, dtype = f32} : () -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

func.func @broadcast_to_unknown(%x: tensor<1x3xf32>) -> tensor<?x3xf32> {
  // expected-error @below {{'calque.broadcast_to' op has a size that nothing gives}}
  %0 = calque.broadcast_to %x {shape = array<i64: -9223372036854775808, 3>} : (tensor<1x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

func.func @random_unknown(%x: tensor<2xi64>) -> tensor<?xf32> {
  // expected-error @below {{'calque.random_uniform' op has a size that nothing gives}}
  %0 = calque.random_uniform %x {shape = array<i64: -9223372036854775808>, dtype = f32} : (tensor<2xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @two_open_sizes(%x: tensor<?x6xf32>) -> tensor<?x?xf32> {
  // expected-error @below {{'calque.reshape' op leaves more than one size open}}
  %0 = calque.reshape %x {shape = array<i64: -9223372036854775808, -1>} : (tensor<?x6xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
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

// There is nothing to take to a stage.
// expected-error @below {{there is no function with a body to take to a stage}}
module {
  func.func private @declared(tensor<f32>)
}

// -----

// Two dumps one after the other.
// expected-error @below {{the file holds several modules; --split-input-file takes one after the other}}
module {
  func.func @first() {
    return
  }
}
module {
  func.func @second() {
    return
  }
}
