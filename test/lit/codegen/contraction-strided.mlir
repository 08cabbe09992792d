// B is read along its rows, turned around in registers and copied into a panel, in memory that the kernel is given.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx512 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,AVX512

// CHECK-LABEL: func.func @strided(
// CHECK-NOT: memref.alloca
// CHECK: func.func private @calque.kernel_0.scratch({{.*}}, %[[BYTES:[^ ]*]]: memref<1xi64>)
// CHECK: memref.store %c{{[0-9]+}}_i64, %[[BYTES]]
// CHECK: func.func private @calque.kernel_0({{.*}}, %[[MEMORY:[^ ]*]]: memref<1xi8> {llvm.noalias})
// CHECK: %[[PANEL:.*]] = memref.view %[[MEMORY]]
// Each vector is put together from four elements of several rows.
// AVX2-COUNT-8: vector.load {{.*}} vector<4xf32>
// AVX512-COUNT-16: vector.load {{.*}} vector<4xf32>
// AVX2-COUNT-8: vector.shuffle {{.*}} : vector<8xf32>
// AVX512-COUNT-8: vector.shuffle {{.*}} : vector<16xf32>
// CHECK-COUNT-4: vector.store %{{.*}}, %[[PANEL]]
// CHECK-NOT: vector.shuffle
// CHECK: vector.load %[[PANEL]]
// CHECK: vector.fma
func.func @strided(%a: tensor<96x64xf32>, %b: tensor<48x64xf32>) -> tensor<96x48xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<96x64xf32>, tensor<48x64xf32>) -> tensor<96x48xf32>
  return %0 : tensor<96x48xf32>
}

// -----

// A kernel that threads share has a panel on the stack of each.
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: memref<0xi8>)
// CHECK: scf.parallel
// CHECK-NEXT: memref.alloca() {alignment = 64 : i64}
// CHECK-NOT: memref.alloca
func.func @shared(%a: tensor<512x256xf32>, %b: tensor<512x256xf32>) -> tensor<512x512xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// One loop over the vectors of a panel and one over the blocks of terms, the first of which begins at zero: the code
// does not grow with the sizes. Five rows divide 640, so that no others need a tile of their own.
// CHECK-LABEL: func.func @blocks(
// CHECK: scf.parallel
// CHECK: scf.for %[[BLOCK:.*]] = {{.*}} {
// CHECK: %[[LATER:.*]] = arith.cmpi ne, %[[BLOCK]], %c0
// AVX2-COUNT-8: vector.shuffle {{.*}} : vector<8xf32>
// AVX512-COUNT-8: vector.shuffle {{.*}} : vector<16xf32>
// CHECK-NOT: vector.shuffle
// CHECK-COUNT-10: vector.fma
// CHECK: scf.if %[[LATER]]
// CHECK-NOT: vector.fma
// CHECK: return
func.func @blocks(%a: tensor<640x640xf32>, %b: tensor<640x640xf32>) -> tensor<640x640xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<640x640xf32>, tensor<640x640xf32>) -> tensor<640x640xf32>
  return %0 : tensor<640x640xf32>
}

// -----

// The inner terms alone are more than a stack should hold: nothing is copied.
// CHECK-LABEL: func.func @long(
// CHECK-NOT: memref.alloca
// CHECK: vector.fma
// CHECK-NOT: memref.alloca
// CHECK: return
func.func @long(%a: tensor<5x2x200003xf32>, %b: tensor<2x16x200003xf32>) -> tensor<5x16xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1, 2>, rhs_contracting = array<i64: 0, 2>} : (tensor<5x2x200003xf32>, tensor<2x16x200003xf32>) -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}
