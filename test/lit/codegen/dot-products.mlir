// Products with few columns have their vectors along the terms; the second operand is copied where it is strided.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 %s | FileCheck %s

// CHECK-LABEL: func.func private @calque.kernel_0(%
// CHECK-SAME: dot products, tiles of 4 x 2 results, vectors of 8 along the terms; columns packed once
// Rows in tiles of four: eight sums of eight lanes each, and none of a whole row of results.
// CHECK-COUNT-8: vector.fma {{.*}} : vector<8xf32>
// CHECK-COUNT-8: memref.store
func.func @thin(%a: tensor<120x960xf32>, %b: tensor<960x2xf32>) -> tensor<120x2xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<120x960xf32>, tensor<960x2xf32>) -> tensor<120x2xf32>
  return %0 : tensor<120x2xf32>
}
