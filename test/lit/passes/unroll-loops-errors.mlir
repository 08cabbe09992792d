// The pass itself refuses nothing; a loop that makes no sense does not get to it.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-unroll-loops))' %s --verify-diagnostics
// RUN: not calque-opt --pass-pipeline='builtin.module(calque-unroll-loops)' /dev/null 2>&1 | FileCheck %s

// It runs on functions.
// CHECK: Can't add pass 'UnrollLoops' restricted to 'func.func' on a PassManager intended to run on 'builtin.module'

func.func @decision(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{while: its condition must be a bool scalar, not float32[]}}
  // expected-error @below {{failed to infer returned types}}
  %r = calque.while %x : (tensor<f32>) -> tensor<f32> {
  ^bb0(%y: tensor<f32>):
    vector.yield %y : tensor<f32>
  } {
  ^bb0(%y: tensor<f32>):
    vector.yield %y : tensor<f32>
  }
  return %r : tensor<f32>
}
