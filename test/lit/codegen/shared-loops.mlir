// The elements of a window read the same: a block compares them once, and stores the gradients of all four. It asks for
// what the next row of windows reads.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx512 %s | FileCheck %s

// CHECK-LABEL: func.func private @calque.kernel_0(
// CHECK: scf.parallel
// CHECK: scf.for %{{.*}} = %c0 to %c7 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16
// CHECK-NOT: scf.for
// CHECK-COUNT-5: memref.prefetch {{.*}}, read
// CHECK-NOT: memref.prefetch
// CHECK-COUNT-5: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-4: vector.store
// CHECK-NOT: vector.store
func.func @pooled(%x: tensor<64x14x14x32xf32>, %g: tensor<64x7x7x32xf32>) -> tensor<64x14x14x32xf32> {
  %0 = calque.max_pool_grad %x, %g {padding = "valid", strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<64x14x14x32xf32>, tensor<64x7x7x32xf32>) -> tensor<64x14x14x32xf32>
  return %0 : tensor<64x14x14x32xf32>
}
