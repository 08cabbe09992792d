// RUN: calque-opt --calque-keep-kernels %s | FileCheck %s --implicit-check-not=@f --implicit-check-not=runtime --implicit-check-not=memref.global

// CHECK: func.func private @calque_rt_fail
// CHECK: func.func private @calque.kernel_0
memref.global "private" constant @constant : memref<2xf32> = dense<1.0>
func.func private @calque.runtime_0(!llvm.ptr) attributes {calque.runtime = "calque_rt_print"}
func.func private @calque_rt_fail(!llvm.ptr)
func.func @f(%frame: !llvm.ptr) attributes {calque.inputs = 0 : i64} {
  %0 = memref.get_global @constant : memref<2xf32>
  call @calque.runtime_0(%frame) : (!llvm.ptr) -> ()
  call @calque.kernel_0(%frame, %0) : (!llvm.ptr, memref<2xf32>) -> ()
  return
}
func.func private @calque.kernel_0(%frame: !llvm.ptr, %x: memref<2xf32>) attributes {calque.kernel} {
  call @calque_rt_fail(%frame) : (!llvm.ptr) -> ()
  return
}
