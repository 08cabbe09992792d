// Sums along rows and down columns.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx512 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,AVX512

// A row is summed in steps of four vectors, which a tree combines before the accumulator takes them, and at its end the lanes.
// CHECK-LABEL: func.func @rows(
// CHECK: scf.for %{{.*}} to %c5 step %c1
// AVX2: scf.for {{.*}} step %c32 iter_args({{.*}}) -> (vector<8xf32>)
// AVX2-COUNT-4: vector.load
// AVX2-COUNT-4: arith.addf {{.*}} : vector<8xf32>
// AVX2: scf.yield
// AVX2: vector.maskedload {{.*}} into vector<8xf32>
// AVX2: vector.shuffle {{.*}} [4, 5, 6, 7] : vector<8xf32>
// AVX512: vector.maskedload {{.*}} into vector<16xf32>
// AVX512: vector.shuffle {{.*}} [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf32>
// CHECK: vector.extract {{.*}}[0] : f32
// CHECK: memref.store
func.func @rows(%a: tensor<5x100xf32>) -> tensor<5xf32> {
  %0 = calque.reduce_sum %a {axes = array<i64: 1>} : (tensor<5x100xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// Columns lie side by side in vectors: nothing goes across lanes.
// CHECK-LABEL: func.func @columns(
// CHECK-NOT: vector.shuffle
// CHECK: scf.for %{{.*}} to %c10 step %c1 iter_args(
// AVX2-COUNT-4: arith.addf {{.*}} : vector<8xf32>
// AVX512-COUNT-4: arith.addf {{.*}} : vector<16xf32>
// CHECK-NOT: arith.addf
// CHECK: scf.yield
// CHECK-COUNT-4: vector.store
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func @columns(%a: tensor<10x64xf32>) -> tensor<64xf32> {
  %0 = calque.reduce_sum %a {axes = array<i64: 0>} : (tensor<10x64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// More than 16 terms are cut into runs of 8, and the sums of runs are added with what each addition rounds away.
// CHECK-LABEL: func.func @runs(
// CHECK: scf.for %[[FIRST:[^ ]*]] = %c0 to %c300 step %c8 iter_args(%[[SUM:[^ ]*]] = %[[ZERO:[^ ,]*]], %[[ERROR:[^ ]*]] = %[[ZERO]])
// CHECK: %[[PART:.*]] = scf.for %{{.*}} = %[[FIRST]] to %{{.*}} step %c1 iter_args(%{{.*}} = %[[ZERO]])
// CHECK: scf.yield
// CHECK: %[[TERM:.*]] = arith.addf %[[PART]], %[[ERROR]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[TERM]]
// CHECK-NEXT: %[[ADDED:.*]] = arith.subf %[[NEXT]], %[[SUM]]
// CHECK-NEXT: %[[KEPT:.*]] = arith.subf %[[NEXT]], %[[ADDED]]
// CHECK-NEXT: %[[OF_SUM:.*]] = arith.subf %[[SUM]], %[[KEPT]]
// CHECK-NEXT: %[[OF_TERM:.*]] = arith.subf %[[TERM]], %[[ADDED]]
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.addf %[[OF_SUM]], %[[OF_TERM]]
// CHECK: scf.yield %[[NEXT]], %{{.*}}
func.func @runs(%a: tensor<300x8xf32>) -> tensor<8xf32> {
  %0 = calque.reduce_sum %a {axes = array<i64: 0>} : (tensor<300x8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Integers are exact in any order.
// CHECK-LABEL: func.func @integers(
// CHECK: scf.for %{{.*}} = %c0 to %c300 step %c1
// CHECK-NOT: scf.for
// CHECK: return
func.func @integers(%a: tensor<300x8xi32>) -> tensor<8xi32> {
  %0 = calque.reduce_sum %a {axes = array<i64: 0>} : (tensor<300x8xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

// One sum of many terms: pieces of its own for any number of threads, then the sum of those. What is left over is the last.
// CHECK-LABEL: func.func @all(
// CHECK: func.func private @calque.kernel_0(
// CHECK: memref.view {{.*}} to memref<33xf32>
// CHECK: scf.parallel (%{{.*}}) = (%c0{{.*}}) to (%c32{{.*}}) step
// CHECK: {calque.grain = {{[0-9]+}} : i64}
func.func @all(%a: tensor<1000003xf32>) -> tensor<f32> {
  %0 = calque.reduce_sum %a : (tensor<1000003xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
