// Elementwise code and pooling.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx512 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,AVX512

// A chain is one loop over vectors, with a masked one for what is left of a row.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: memref<0xi8>)
// CHECK-NOT: scf.parallel
// CHECK: scf.for %{{.*}} to %c4 step %c1
// CHECK: scf.for %{{.*}} to %c96 step
// CHECK-NOT: scf.for
// AVX2-COUNT-2: arith.maximumf {{.*}} : vector<8xf32>
// AVX512-COUNT-2: arith.maximumf {{.*}} : vector<16xf32>
// CHECK: vector.maskedload
// CHECK: arith.maximumf
// CHECK: vector.maskedstore
// CHECK-NOT: scf.for
// CHECK: return
func.func @chain(%x: tensor<4x100xf32>, %b: tensor<100xf32>) -> tensor<4x100xf32> {
  %0 = calque.add %x, %b : (tensor<4x100xf32>, tensor<100xf32>) -> tensor<4x100xf32>
  %1 = calque.relu %0 : (tensor<4x100xf32>) -> tensor<4x100xf32>
  %2 = calque.mul %1, %x : (tensor<4x100xf32>, tensor<4x100xf32>) -> tensor<4x100xf32>
  return %2 : tensor<4x100xf32>
}

// -----

// Loops that all operands pass in the same way are one, which threads share.
// CHECK-LABEL: func.func @large(
// CHECK-NOT: scf.for
// CHECK: scf.parallel
// AVX2: vector.load {{.*}} : memref<4000000xf32>, vector<8xf32>
// AVX512: vector.load {{.*}} : memref<4000000xf32>, vector<16xf32>
// CHECK: {calque.grain = {{[0-9]+}} : i64}
// CHECK-NOT: scf.for
// CHECK: return
func.func @large(%a: tensor<1000x4000xf32>, %b: tensor<1000x4000xf32>) -> tensor<1000x4000xf32> {
  %0 = calque.mul %a, %b : (tensor<1000x4000xf32>, tensor<1000x4000xf32>) -> tensor<1000x4000xf32>
  return %0 : tensor<1000x4000xf32>
}

// -----

// Vectors run over the channels, the window is unrolled.
// CHECK-LABEL: func.func @pool(
// CHECK-SAME: memref<0xi8>)
// AVX2-COUNT-6: arith.maximumf {{.*}} : vector<8xf32>
// AVX512-COUNT-3: arith.maximumf {{.*}} : vector<16xf32>
// CHECK-NOT: arith.maximumf
// CHECK: return
func.func @pool(%a: tensor<2x8x8x16xf32>) -> tensor<2x4x4x16xf32> {
  %0 = calque.max_pool %a {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<2x8x8x16xf32>) -> tensor<2x4x4x16xf32>
  return %0 : tensor<2x4x4x16xf32>
}
