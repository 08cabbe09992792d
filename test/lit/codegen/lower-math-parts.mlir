// A part of a program is a module of its own, which its functions are found in. A function that hides constants is of one
// type, even if types have one width.
// RUN: calque-opt --calque-lower-math %s | FileCheck %s

// CHECK: module @part_0
// CHECK-DAG: func.func private @[[OPAQUE:calque_rt_opaque_f32]](f32) -> f32
// CHECK-DAG: func.func private @[[INTEGERS:calque_rt_opaque_i32x4]](vector<4xi32>) -> vector<4xi32>
// CHECK-DAG: func.func private @[[FLOATS:calque_rt_opaque_f32x4]](vector<4xf32>) -> vector<4xf32>
// CHECK: func.func @inner
// CHECK: call @[[OPAQUE]]
// CHECK: call @[[INTEGERS]]
// CHECK: call @[[FLOATS]]
module attributes {calque.target = "avx2"} {
  module @part_0 {
    func.func @inner(%x: f32, %i: vector<4xi32>, %v: vector<4xf32>) -> (f32, vector<4xi32>, vector<4xf32>) {
      %0 = llvm.freeze %x : f32
      %1 = llvm.freeze %i : vector<4xi32>
      %2 = llvm.freeze %v : vector<4xf32>
      return %0, %1, %2 : f32, vector<4xi32>, vector<4xf32>
    }
  }
}
