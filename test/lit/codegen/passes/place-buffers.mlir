// Buffers that are never alive at once share memory of the workspace, the last argument.
// RUN: calque-opt --calque-place-buffers %s | FileCheck %s --implicit-check-not=memref.alloc

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[WORKSPACE:[a-z0-9]+]]: memref<128xi8>)
// CHECK-DAG: %[[FIRST:.*]] = memref.view %[[WORKSPACE]][%c0{{.*}}][] : memref<128xi8> to memref<4xf32>
// CHECK-DAG: %[[SECOND:.*]] = memref.view %[[WORKSPACE]][%c64{{.*}}][]
// CHECK: call @use(%{{.*}}, %[[FIRST]])
// CHECK: call @use(%[[FIRST]], %[[SECOND]])
// CHECK: call @use(%[[SECOND]], %[[FIRST]])
// CHECK: call @use(%[[FIRST]], %{{.*}})
func.func private @use(memref<4xf32>, memref<4xf32>)
func.func @f(%frame: !llvm.ptr, %x: memref<4xf32>, %y: memref<4xf32>) attributes {calque.inputs = 1 : i64} {
  %a = memref.alloc() : memref<4xf32>
  call @use(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
  %b = memref.alloc() : memref<4xf32>
  call @use(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  %c = memref.alloc() : memref<4xf32>
  call @use(%b, %c) : (memref<4xf32>, memref<4xf32>) -> ()
  call @use(%c, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}
