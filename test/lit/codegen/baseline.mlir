// A CPU of which nothing is known has vectors of 16 bytes. A target that does not exist is an error.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=baseline %s | FileCheck %s
// RUN: not calque-opt --calque-stage=name=scheduled --calque-target=abacus %s 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: vector<4xf32>
// NONE: calque-opt: there is no target 'abacus'; the targets are baseline, avx2, avx512 and avx512vnni
func.func @square(%a: tensor<100xf32>) -> tensor<100xf32> {
  %0 = calque.square %a : (tensor<100xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
