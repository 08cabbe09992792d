// Buffers of unknown sizes are addresses with sizes from the index arguments; a result's size may follow from them.
// RUN: calque-opt --calque-pass-pointers --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @unknown(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<1xf32>, %[[N:[a-z0-9]+]]: index, %[[R:[a-z0-9]+]]: memref<1xf32>)
// CHECK-DAG: %[[XS:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%[[N]], 3], strides: [3, 1]
// CHECK-DAG: %[[TWICE:.*]] = arith.addi %[[N]], %[[N]] : index
// CHECK-DAG: %[[RS:.*]] = memref.reinterpret_cast %[[R]] to offset: [0], sizes: [%[[TWICE]]], strides: [1]
// CHECK: call @use(%[[XS]], %[[RS]])
// CHECK: return{{$}}
func.func private @use(memref<?x3xf32>, memref<?xf32>)
func.func @unknown(%frame: !llvm.ptr, %x: memref<?x3xf32>, %n: index, %result: memref<?xf32>) -> index
    attributes {calque.inputs = 1 : i64, calque.unknown_inputs = array<i64: 0, 0>, calque.unknown_outputs = array<i64: 0, 0>} {
  %0 = arith.addi %n, %n : index
  call @use(%x, %result) : (memref<?x3xf32>, memref<?xf32>) -> ()
  return %0 : index
}

// -----

// CHECK-LABEL: func.func @empty(
// CHECK-SAME: %{{.*}}: memref<0xf32>, %[[R:.*]]: memref<0xf32>)
// CHECK: %[[ANY:.*]] = memref.alloc() : memref<2x0xf32>
// CHECK: call @use(%[[ANY]], %[[R]])
func.func private @use(memref<2x0xf32>, memref<0xf32>)
func.func @empty(%frame: !llvm.ptr, %x: memref<2x0xf32>, %result: memref<0xf32>) attributes {calque.inputs = 1 : i64} {
  call @use(%x, %result) : (memref<2x0xf32>, memref<0xf32>) -> ()
  return
}
