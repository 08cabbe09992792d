// Sums of rows are shared out by rows, each read once from end to end, also when they are few: no buffer of partial sums.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 %s | FileCheck %s
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: memref<0xi8>
// CHECK: scf.parallel ({{.*}}) = ({{.*}}) to (%c4096)
// CHECK-NOT: scf.parallel
func.func @rows(%x: tensor<4096x1024xf32>) -> tensor<4096xf32> {
  %0 = calque.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<4096x1024xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}
