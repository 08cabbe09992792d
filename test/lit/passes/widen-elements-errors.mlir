// The pass itself refuses nothing; an operation that makes no sense does not get to it.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-widen-elements))' %s --verify-diagnostics
// RUN: not calque-opt --pass-pipeline='builtin.module(calque-widen-elements)' /dev/null 2>&1 | FileCheck %s

// It runs on functions.
// CHECK: Can't add pass 'WidenElements' restricted to 'func.func' on a PassManager intended to run on 'builtin.module'

func.func @mixed(%x: tensor<3xf16>, %y: tensor<3xbf16>) -> tensor<3xf16> {
  // expected-error @below {{add: the operands' types differ: float16[3] and bfloat16[3]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %s = calque.add %x, %y : (tensor<3xf16>, tensor<3xbf16>) -> tensor<3xf16>
  return %s : tensor<3xf16>
}
