// The last columns of a product, which would fill no vector, are dot products: also a block at a time, in a group.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx512 --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func private @calque.kernel_0(%
// CHECK-SAME: product, tiles of {{.*}}; the last 4 columns: dot products, tiles of 2 x 4 results, vectors of 16 along the terms; columns packed once
// CHECK-COUNT-12: vector.fma
// CHECK-COUNT-8: memref.store
func.func @alone(%a: tensor<256x512xf32>, %b: tensor<512x100xf32>) -> tensor<256x100xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<256x512xf32>, tensor<512x100xf32>) -> tensor<256x100xf32>
  return %0 : tensor<256x100xf32>
}

// -----

// A single parallel loop: the columns are packed before it.
// CHECK-LABEL: func.func private @calque.kernel_0(%
// CHECK-SAME: of 2 nests; product, tiles of {{.*}}; the last 4 columns: dot products
// CHECK: scf.parallel
// CHECK-NOT: scf.parallel
// CHECK: return
func.func @group(%a: tensor<4096x200xf32>, %b: tensor<200x100xf32>) -> tensor<4096x100xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<4096x200xf32>, tensor<200x100xf32>) -> tensor<4096x100xf32>
  %1 = calque.exp %0 : (tensor<4096x100xf32>) -> tensor<4096x100xf32>
  return %1 : tensor<4096x100xf32>
}

// -----

// The last vector is nearly full.
// CHECK-LABEL: func.func private @calque.kernel_0(%
// CHECK-NOT: the last
func.func @full(%a: tensor<256x512xf32>, %b: tensor<512x94xf32>) -> tensor<256x94xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<256x512xf32>, tensor<512x94xf32>) -> tensor<256x94xf32>
  return %0 : tensor<256x94xf32>
}
