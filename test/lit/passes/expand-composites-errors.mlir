// The pass itself refuses nothing; a composite operation that makes no sense does not get to it.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-expand-composites))' %s --split-input-file --verify-diagnostics
// RUN: not calque-opt --pass-pipeline='builtin.module(calque-expand-composites)' /dev/null 2>&1 | FileCheck %s

// It runs on functions.
// CHECK: Can't add pass 'ExpandComposites' restricted to 'func.func' on a PassManager intended to run on 'builtin.module'

func.func @empty(%x: tensor<3x0xf32>) -> tensor<3xf32> {
  // expected-error @below {{logsumexp: axis 1 of float32[3,0] is empty, and an empty set has no result}}
  // expected-error @below {{failed to infer returned types}}
  %s = calque.logsumexp %x {axes = array<i64: 1>} : (tensor<3x0xf32>) -> tensor<3xf32>
  return %s : tensor<3xf32>
}

// -----

func.func @integers(%x: tensor<3xi32>) -> tensor<i32> {
  // expected-error @below {{reduce_mean: takes floating-point numbers, not int32[3]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %s = calque.reduce_mean %x : (tensor<3xi32>) -> tensor<i32>
  return %s : tensor<i32>
}
