// What is the same in all iterations is computed before the loop, where that can't fail and is worth it.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-hoist-invariants))' %s | FileCheck %s

// The sum of %d goes, and with it what it is made of. What is elementwise stays where it is used, as do the broadcast,
// scalars and what may fail.
// CHECK-LABEL: func.func @body(
// CHECK-SAME: %[[X:.*]]: tensor<8x8xf32>, %[[W:.*]]: tensor<8x8xf32>, %[[V:.*]]: tensor<8xf32>, %[[I:.*]]: tensor<i64>, %[[S:.*]]: tensor<f32>)
// CHECK-DAG: %[[T:.*]] = calque.transpose %[[W]]
// CHECK-DAG: %[[C:.*]] = calque.constant {{.*}}dense<2.0
// CHECK: %[[D:.*]] = calque.div %[[T]], %[[C]]
// CHECK-NEXT: %[[SUM:.*]] = calque.reduce_sum %[[D]]
// CHECK-NEXT: calque.while %[[X]], %[[W]], %[[V]], %[[I]], %[[S]], %[[SUM]] :
// CHECK: vector.yield
// CHECK: ^bb0(%[[Y:[^:]*]]: tensor<8x8xf32>, {{.*}}, %[[ARG:[^:]*]]: tensor<8xf32>):
// CHECK: calque.exp
// CHECK: calque.broadcast_to
// CHECK: calque.gather
// CHECK: calque.sin %{{.*}} : (tensor<f32>)
// CHECK: calque.div %{{.*}} : (tensor<8x8xi64>, tensor<8x8xi64>)
// CHECK: calque.print
// CHECK: calque.add %[[Y]], %[[ARG]]
func.func @body(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8xf32>, %i: tensor<i64>, %s: tensor<f32>) -> tensor<8x8xf32> {
  %r = calque.while %x, %w, %v, %i, %s : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<i64>, tensor<f32>) -> tensor<8x8xf32> {
  ^bb0(%y: tensor<8x8xf32>, %a: tensor<8x8xf32>, %b: tensor<8xf32>, %j: tensor<i64>, %e: tensor<f32>):
    %zero = calque.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %p = calque.greater %e, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    vector.yield %p : tensor<i1>
  } {
  ^bb0(%y: tensor<8x8xf32>, %a: tensor<8x8xf32>, %b: tensor<8xf32>, %j: tensor<i64>, %e: tensor<f32>):
    %c = calque.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
    %t = calque.transpose %a : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %d = calque.div %t, %c : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    %sum = calque.reduce_sum %d {axes = array<i64: 0>} : (tensor<8x8xf32>) -> tensor<8xf32>
    %e8 = calque.exp %a : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %wide = calque.broadcast_to %b {shape = array<i64: 8, 8>} : (tensor<8xf32>) -> tensor<8x8xf32>
    %g = calque.gather %a, %j : (tensor<8x8xf32>, tensor<i64>) -> tensor<8xf32>
    %few = calque.sin %e : (tensor<f32>) -> tensor<f32>
    %n = calque.iota {dtype = i64, shape = array<i64: 8, 8>} : () -> tensor<8x8xi64>
    %q = calque.div %n, %n : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi64>
    calque.print %a {label = "a"} : (tensor<8x8xf32>) -> ()
    calque.print %q {label = "q"} : (tensor<8x8xi64>) -> ()
    %0 = calque.add %y, %sum : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %1 = calque.mul %0, %e8 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = calque.add %1, %wide : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = calque.mul %2, %g : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
    %4 = calque.mul %3, %few : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
    vector.yield %4 : tensor<8x8xf32>
  }
  return %r : tensor<8x8xf32>
}

// Out of a condition, and out of two loops.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[X:.*]]: tensor<f32>, %[[W:.*]]: tensor<64xf32>)
// CHECK-NEXT: %[[SUM:.*]] = calque.reduce_sum %[[W]]
// CHECK-NEXT: %[[SQUARE:.*]] = calque.mul %[[W]], %[[W]]
// CHECK-NEXT: %[[NORM:.*]] = calque.reduce_sum %[[SQUARE]]
// CHECK-NEXT: calque.while
// CHECK-NOT: calque.reduce_sum
// CHECK: return
func.func @nested(%x: tensor<f32>, %w: tensor<64xf32>) -> tensor<f32> {
  %r = calque.while %x, %w : (tensor<f32>, tensor<64xf32>) -> tensor<f32> {
  ^bb0(%y: tensor<f32>, %v: tensor<64xf32>):
    %s = calque.reduce_sum %v : (tensor<64xf32>) -> tensor<f32>
    %p = calque.less %y, %s : (tensor<f32>, tensor<f32>) -> tensor<i1>
    vector.yield %p : tensor<i1>
  } {
  ^bb0(%y: tensor<f32>, %v: tensor<64xf32>):
    %inner = calque.while %y, %v : (tensor<f32>, tensor<64xf32>) -> tensor<f32> {
    ^bb0(%z: tensor<f32>, %u: tensor<64xf32>):
      %c = calque.constant {value = dense<9.0> : tensor<f32>} : () -> tensor<f32>
      %p = calque.less %z, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
      vector.yield %p : tensor<i1>
    } {
    ^bb0(%z: tensor<f32>, %u: tensor<64xf32>):
      %m = calque.mul %u, %u : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      %s = calque.reduce_sum %m : (tensor<64xf32>) -> tensor<f32>
      %n = calque.add %z, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
      vector.yield %n : tensor<f32>
    }
    vector.yield %inner : tensor<f32>
  }
  return %r : tensor<f32>
}

// Of unknown sizes nothing is moved.
// CHECK-LABEL: func.func @open(
// CHECK-NEXT: calque.while
// CHECK: calque.transpose
func.func @open(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %p: tensor<i1>) -> tensor<?x?xf32> {
  %r = calque.while %x, %w, %p : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<i1>) -> tensor<?x?xf32> {
  ^bb0(%y: tensor<?x?xf32>, %v: tensor<?x?xf32>, %q: tensor<i1>):
    vector.yield %q : tensor<i1>
  } {
  ^bb0(%y: tensor<?x?xf32>, %v: tensor<?x?xf32>, %q: tensor<i1>):
    %t = calque.transpose %v : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %z = calque.add %y, %t : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    vector.yield %z : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}
