// What takes no complex numbers does not get to the pass.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-split-complex))' %s --verify-diagnostics
// RUN: not calque-opt --pass-pipeline='builtin.module(calque-split-complex)' /dev/null 2>&1 | FileCheck %s

// It runs on functions.
// CHECK: Can't add pass 'SplitComplex' restricted to 'func.func' on a PassManager intended to run on 'builtin.module'

func.func @sort(%x: tensor<3xcomplex<f32>>) -> tensor<3xi64> {
  // expected-error @below {{argsort: takes no complex numbers, as complex64[3] has them}}
  // expected-error @below {{failed to infer returned types}}
  %s = calque.argsort %x {axis = 0 : i64, descending = false} : (tensor<3xcomplex<f32>>) -> tensor<3xi64>
  return %s : tensor<3xi64>
}
