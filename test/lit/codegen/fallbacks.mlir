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

// One row in which each element follows from the one before.
// CHECK-LABEL: func.func @cumsum(
// CHECK: memref.load
// CHECK: arith.addf {{.*}} : f64
// CHECK: memref.store
// CHECK: return
func.func @cumsum(%a: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = calque.cumsum %a {axis = 0 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}
