// What the calls take and follows from unknown sizes is computed by a function, once each: numbers, then a place in the
// workspace.
// RUN: calque-opt --calque-make-numbers %s | FileCheck %s

// CHECK-LABEL: func.func @calque.numbers(
// CHECK-SAME: %[[WORDS:.*]]: memref<2xi64>, %[[WORKSPACE:.*]]: i64, %[[N:.*]]: index) attributes {calque.kernel}
// CHECK: %[[TWICE:.*]] = arith.addi %[[N]], %[[N]]
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[TWICE]] : index to i64
// CHECK: memref.store %[[WIDE]], %[[WORDS]][%c0{{.*}}]
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[WORKSPACE]]
// CHECK: memref.store %[[PLACE]], %[[WORDS]][%c1{{.*}}]
func.func private @calque.kernel_0(memref<1xf32>, index, memref<1xf32>) attributes {calque.kernel}
func.func @f(%frame: !llvm.ptr, %x: memref<1xf32>, %n: index, %workspace: memref<64xi8>) attributes {calque.inputs = 1 : i64, calque.unknown_inputs = array<i64: 0, 0>} {
  %0 = arith.addi %n, %n : index
  %t = memref.view %workspace[%0][%n] : memref<64xi8> to memref<?xf32>
  %1 = memref.reinterpret_cast %t to offset: [0], sizes: [1], strides: [1] : memref<?xf32> to memref<1xf32>
  call @calque.kernel_0(%x, %0, %1) : (memref<1xf32>, index, memref<1xf32>) -> ()
  call @calque.kernel_0(%x, %0, %1) : (memref<1xf32>, index, memref<1xf32>) -> ()
  return
}
