// What becomes plain loops over single elements.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx512 --split-input-file %s | FileCheck %s

// Reads at places that elements say.
// CHECK-LABEL: func.func @gather(
// CHECK-NOT: vector
// CHECK: return
func.func @gather(%a: tensor<50x16xf32>, %b: tensor<8xi32>) -> tensor<8x16xf32> {
  %0 = calque.gather %a, %b {axis = 0 : i64} : (tensor<50x16xf32>, tensor<8xi32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

// Windows that overlap add to elements that others add to.
// CHECK-LABEL: func.func @overlapping(
// CHECK: memref.load
// CHECK: arith.select
// CHECK: memref.store
// CHECK: return
func.func @overlapping(%a: tensor<2x9x9x16xf32>, %b: tensor<2x4x4x16xf32>) -> tensor<2x9x9x16xf32> {
  %0 = calque.max_pool_grad %a, %b {padding = "valid", strides = array<i64: 2, 2>, window = array<i64: 3, 3>} : (tensor<2x9x9x16xf32>, tensor<2x4x4x16xf32>) -> tensor<2x9x9x16xf32>
  return %0 : tensor<2x9x9x16xf32>
}
