// Equal operations are one; those whose bodies differ in what they take from outside are not.
// RUN: calque-opt --calque-share-equal %s | FileCheck %s

#map = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @bodies(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: return %[[A:.*]], %[[B:.*]], %[[A]] :
func.func @bodies(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %a = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %one : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %two : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %one : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// What is not used goes; what writes stays, however often.
// CHECK-LABEL: func.func @effects(
// CHECK-NEXT: memref.store
// CHECK-NEXT: memref.store
// CHECK-NEXT: return
func.func @effects(%buffer: memref<f32>, %x: f32) {
  %unused = arith.addf %x, %x : f32
  memref.store %x, %buffer[] : memref<f32>
  memref.store %x, %buffer[] : memref<f32>
  return
}

func.func private @declared()
