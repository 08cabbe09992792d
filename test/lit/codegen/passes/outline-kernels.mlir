// Equal operations become one kernel, unless told otherwise. A number that differs between the calls is an argument.
// RUN: calque-opt --calque-outline-kernels %s | FileCheck %s
// RUN: calque-opt --calque-outline-kernels="merge=false" %s | FileCheck %s --check-prefix=EACH

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4xf32>, %[[Y:[a-z0-9]+]]: memref<4xf32>)
// CHECK: call @calque.kernel_0(%[[X]], %[[T:[a-z0-9]+]])
// CHECK: call @calque.kernel_0(%[[T]], %[[Y]])
// CHECK: func.func private @calque.kernel_0(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32> {llvm.noalias}) attributes {calque.kernel}
// CHECK: linalg.exp
// CHECK-NOT: calque.kernel_1
// EACH: call @calque.kernel_0
// EACH: call @calque.kernel_1
func.func @f(%frame: !llvm.ptr, %x: memref<4xf32>, %y: memref<4xf32>) attributes {calque.inputs = 1 : i64} {
  %t = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%t : memref<4xf32>)
  linalg.exp ins(%t : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}
