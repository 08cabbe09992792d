// The pass itself refuses nothing; a gradient that makes no sense does not get to it. Its other cases are in
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
