// RUN: calque-opt --calque-set-target=cpu=avx2 %s | FileCheck %s
// RUN: not calque-opt --calque-set-target=cpu=abacus %s 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: module attributes {calque.target = "avx2"}
// ERROR: error: there is no target 'abacus'; the targets are baseline, avx2, avx512 and avx512vnni
module {}
