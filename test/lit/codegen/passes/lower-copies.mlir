// RUN: calque-opt --calque-lower-copies %s | FileCheck %s --implicit-check-not=memref.copy

// CHECK-LABEL: func.func @f(
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : memref<4xf32, strided<[2]>>) outs(%{{.*}} : memref<4xf32>)
func.func @f(%x: memref<4xf32, strided<[2]>>, %y: memref<4xf32>) {
  memref.copy %x, %y : memref<4xf32, strided<[2]>> to memref<4xf32>
  return
}
