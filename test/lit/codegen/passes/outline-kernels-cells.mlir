// A number in a buffer that nothing writes any more is read by each kernel that needs it. A kernel of its own copies one
// that is overwritten later.
// RUN: calque-opt --calque-outline-kernels --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @last(
// CHECK: call @calque.kernel_0(%{{.*}}, %[[T:[a-z0-9]+]])
// CHECK-NEXT: call @calque.kernel_1(%[[T]], %{{.*}})
// CHECK-NEXT: return
// CHECK: func.func private @calque.kernel_1(%[[CELL:[a-z0-9]+]]: memref<f32>, %{{.*}}: memref<4xf32> {llvm.noalias})
// CHECK: %[[NUMBER:.*]] = memref.load %[[CELL]][] : memref<f32>
// CHECK: linalg.fill ins(%[[NUMBER]] : f32)
func.func @last(%frame: !llvm.ptr, %x: memref<f32>, %y: memref<4xf32>) attributes {calque.inputs = 1 : i64} {
  %t = memref.alloc() : memref<f32>
  linalg.exp ins(%x : memref<f32>) outs(%t : memref<f32>)
  %n = memref.load %t[] : memref<f32>
  linalg.fill ins(%n : f32) outs(%y : memref<4xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @overwritten(
// CHECK: call @calque.kernel_0(%{{.*}}, %[[T:[a-z0-9_]+]])
// CHECK: call @calque.kernel_1(%[[T]], %[[CELL:[a-z0-9_]+]])
// CHECK: call @calque.kernel_2(%[[T]])
// CHECK: call @calque.kernel_3(%[[CELL]], %{{.*}})
// CHECK: func.func private @calque.kernel_1(%[[FROM:[a-z0-9]+]]: memref<f32>, %[[TO:[a-z0-9]+]]: memref<f32>)
// CHECK: %[[NUMBER:.*]] = memref.load %[[FROM]][] : memref<f32>
// CHECK: memref.store %[[NUMBER]], %[[TO]][] : memref<f32>
func.func @overwritten(%frame: !llvm.ptr, %x: memref<f32>, %y: memref<4xf32>) attributes {calque.inputs = 1 : i64} {
  %t = memref.alloc() : memref<f32>
  linalg.exp ins(%x : memref<f32>) outs(%t : memref<f32>)
  %n = memref.load %t[] : memref<f32>
  linalg.exp ins(%t : memref<f32>) outs(%t : memref<f32>)
  linalg.fill ins(%n : f32) outs(%y : memref<4xf32>)
  return
}
