// Sizes of buffers, through views, become arithmetic on those of arguments.
// RUN: calque-opt --calque-resolve-buffer-sizes %s | FileCheck %s --implicit-check-not=memref.dim --implicit-check-not=affine.

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK: %[[MORE:.*]] = arith.addi %[[N]],
// CHECK: call @use(%[[N]], %[[MORE]])
func.func private @use(index, index)
func.func @f(%frame: !llvm.ptr, %x: memref<1xf32>, %n: index) attributes {calque.inputs = 1 : i64, calque.unknown_inputs = array<i64: 0, 0>} {
  %c0 = arith.constant 0 : index
  %0 = memref.reinterpret_cast %x to offset: [0], sizes: [%n, 3], strides: [3, 1] : memref<1xf32> to memref<?x3xf32>
  %1 = memref.cast %0 : memref<?x3xf32> to memref<?x?xf32>
  %2 = memref.dim %1, %c0 : memref<?x?xf32>
  %3 = affine.apply affine_map<(d0) -> (d0 + 2)>(%2)
  call @use(%2, %3) : (index, index) -> ()
  return
}
