// Large products are cut into pieces whose number depends on sizes alone.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx512 --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @rows_and_panels(
// CHECK: scf.parallel
// CHECK: vector.fma
// CHECK: {calque.grain = {{[0-9]+}} : i64}
func.func @rows_and_panels(%a: tensor<512x256xf32>, %b: tensor<256x512xf32>) -> tensor<512x512xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<512x256xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// Few results of many terms: each piece sums a part of the terms into results of its own, in memory that the kernel is given, and
// they are put together in order afterwards.
// CHECK-LABEL: func.func @terms(
// CHECK: func.func private @calque.kernel_0({{.*}}, %[[MEMORY:[^ ]*]]: memref<1xi8> {llvm.noalias})
// CHECK: %[[PARTIAL:.*]] = memref.view %[[MEMORY]]
// CHECK: scf.parallel
// CHECK: memref.reinterpret_cast %[[PARTIAL]]
// CHECK: vector.fma
// CHECK: {calque.grain = {{[0-9]+}} : i64}
// CHECK-NOT: scf.parallel
// CHECK: arith.addf
// CHECK: return
func.func @terms(%a: tensor<64x20000xf32>, %b: tensor<20000x16xf32>) -> tensor<64x16xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x20000xf32>, tensor<20000x16xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

// -----

// With many panels, few pieces of terms are enough.
// CHECK-LABEL: func.func @terms_and_panels(
// CHECK: func.func private @calque.kernel_0(
// CHECK-SAME: 64 x 256 x (3136): {{.*}}; 4 pieces of terms; pieces of
func.func @terms_and_panels(%a: tensor<64x3136xf32>, %b: tensor<3136x256xf32>) -> tensor<64x256xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<64x3136xf32>, tensor<3136x256xf32>) -> tensor<64x256xf32>
  return %0 : tensor<64x256xf32>
}

// -----

// The same terms, where threads share panels or rows that lie one after the other: nothing has to be added up.
// CHECK-LABEL: func.func @panels(
// CHECK: func.func private @calque.kernel_0(
// CHECK-SAME: 64 x 32 x 32 x (1024): {{.*}}panels as they are; pieces of
// CHECK-SAME: rows and {{[12]}} panels"]
// CHECK: func.func private @calque.kernel_1(
// CHECK-SAME: 4096 x 24 x (512)
// CHECK-NOT: pieces of terms
// CHECK: return
func.func @panels(%a: tensor<64x1024xf32>, %b: tensor<32x1024x32xf32>, %c: tensor<4096x512xf32>, %d: tensor<512x24xf32>) -> (tensor<64x32x32xf32>, tensor<4096x24xf32>) {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 1>} : (tensor<64x1024xf32>, tensor<32x1024x32xf32>) -> tensor<64x32x32xf32>
  %1 = calque.contract %c, %d {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<4096x512xf32>, tensor<512x24xf32>) -> tensor<4096x24xf32>
  return %0, %1 : tensor<64x32x32xf32>, tensor<4096x24xf32>
}
