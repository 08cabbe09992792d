// A part of a program is a module of its own, which its functions are found in.
// RUN: calque-opt --calque-lower-math %s | FileCheck %s

// CHECK: module @part_0
// CHECK: func.func private @[[OPAQUE:calque_rt_opaque_32]](f32) -> f32
// CHECK: func.func @inner
// CHECK: call @[[OPAQUE]]
module attributes {calque.target = "avx2"} {
  module @part_0 {
    func.func @inner(%x: f32) -> f32 {
      %0 = llvm.freeze %x : f32
      return %0 : f32
    }
  }
}
