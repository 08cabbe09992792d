// What is returned is written to an argument. A tensor that is used again later is copied before it is updated.
// RUN: calque-opt --calque-bufferize %s | FileCheck %s --implicit-check-not='tensor<'

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[X:[a-z0-9]+]]: memref<4xf32>, %[[ROOT:[a-z0-9]+]]: memref<4xf32>, %[[SUM:[a-z0-9]+]]: memref<4xf32>) attributes {calque.inputs = 1 : i64}
// CHECK: linalg.sqrt ins(%[[X]] : memref<4xf32>) outs(%[[ROOT]] : memref<4xf32>)
// CHECK: memref.copy %[[ROOT]], %[[SUM]]
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<4xf32>) outs(%[[SUM]] : memref<4xf32>)
// CHECK: return
#map = affine_map<(i) -> (i)>
func.func @f(%frame: !llvm.ptr, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {calque.inputs = 1 : i64} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.sqrt ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%1 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = arith.addf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
