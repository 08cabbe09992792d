// Gradients that the pass can't follow, and some that make no sense and do not get to it; others are in
// ops/effects-errors.mlir.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s --split-input-file --verify-diagnostics
// RUN: not calque-opt --pass-pipeline='builtin.module(calque-differentiate)' /dev/null 2>&1 | FileCheck %s

// It runs on functions.
// CHECK: Can't add pass 'Differentiate' restricted to 'func.func' on a PassManager intended to run on 'builtin.module'

func.func @seed(%x: tensor<2x3xf32>, %seed: tensor<3xf32>) -> tensor<2x3xf32> {
  %y = calque.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error @below {{gradient: the target is float32[2,3] and its seed is float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %g : tensor<2x3xf32>
}

// -----

func.func @integer_source(%x: tensor<3xi64>, %seed: tensor<3xf32>) -> tensor<3xi64> {
  %y = calque.cast %x {dtype = f32} : (tensor<3xi64>) -> tensor<3xf32>
  // expected-error @below {{gradient: takes float32 and float64, not int64[3]}}
  // expected-error @below {{failed to infer returned types}}
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xi64>) -> tensor<3xi64>
  return %g : tensor<3xi64>
}

// -----

func.func @result_type(%x: tensor<?xf32>) -> tensor<3xf32> {
  // expected-error @below {{inferred type(s) 'tensor<?xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %g = calque.gradient %x, %x, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}

// -----

// What other dialects compute has no derivative, which is not zero.
func.func @through_region(%c: i1, %x: tensor<f32>, %seed: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'scf.if' op passes a gradient on, and only operations of the dialect have derivatives}}
  %y = scf.if %c -> tensor<f32> {
    %0 = calque.exp %x : (tensor<f32>) -> tensor<f32>
    scf.yield %0 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  // expected-note @below {{the gradient}}
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func private @elsewhere(tensor<f32>) -> tensor<f32>
func.func @through_call(%x: tensor<f32>, %seed: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'func.call' op passes a gradient on, and only operations of the dialect have derivatives}}
  %y = func.call @elsewhere(%x) : (tensor<f32>) -> tensor<f32>
  %z = calque.exp %y : (tensor<f32>) -> tensor<f32>
  // expected-note @below {{the gradient}}
  %g = calque.gradient %z, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

// The source reaches the gradient's region as what the loop carries.
func.func @through_loop(%from: index, %to: index, %step: index, %x: tensor<f32>, %seed: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'scf.for' op passes a gradient on, and only operations of the dialect have derivatives}}
  %r = scf.for %i = %from to %to step %step iter_args(%carried = %x) -> tensor<f32> {
    %y = calque.exp %carried : (tensor<f32>) -> tensor<f32>
    // expected-note @below {{the gradient}}
    %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %g : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

func.func @behind_branch(%x: tensor<f32>, %seed: tensor<f32>) -> tensor<f32> {
  %y = calque.exp %x : (tensor<f32>) -> tensor<f32>
  cf.br ^next(%y : tensor<f32>)
^next(%z: tensor<f32>):
  // expected-error @below {{stands behind a branch; gradients are followed through a region's first block only}}
  %g = calque.gradient %z, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}
