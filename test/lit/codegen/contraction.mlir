// A product of matrices: a tile of results is held in registers over all terms.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 %s | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx512 %s | FileCheck %s --check-prefixes=CHECK,AVX512

// Six rows of two vectors on AVX2, whose 16 registers also hold two of B and one of A; twelve rows of one on AVX-512. No buffer,
// and too little work for threads.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: alloca
// CHECK-NOT: scf.parallel
// AVX2: scf.for %{{.*}} to %c12 step %c6
// CHECK: scf.for %{{.*}} to %c9 step %c1 iter_args(
// AVX2-COUNT-12: vector.fma {{.*}} : vector<8xf32>
// AVX512-COUNT-12: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-12: vector.store
// CHECK-NOT: vector.store
func.func @small(%a: tensor<12x9xf32>, %b: tensor<9x16xf32>) -> tensor<12x16xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<12x9xf32>, tensor<9x16xf32>) -> tensor<12x16xf32>
  return %0 : tensor<12x16xf32>
}
