// A single known index names a slice. One that is outside still fails when the program runs, and what has unknown sizes stays.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(canonicalize))' --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[X:.*]]: tensor<3x5x2xf32>, %[[OPEN:.*]]: tensor<?x5xf32>)
// CHECK: %[[A:.*]] = calque.slice %[[X]] {limits = array<i64: 3, 5, 2>, starts = array<i64: 0, 4, 0>} : (tensor<3x5x2xf32>) -> tensor<3x1x2xf32>
// CHECK: %[[B:.*]] = calque.reshape %[[A]] {shape = array<i64: 3, 2>}
// CHECK: %[[C:.*]] = calque.gather %[[X]], %{{.*}} {axis = 1 : i64}
// CHECK: %[[D:.*]] = calque.gather %[[X]], %{{.*}} {axis = 1 : i64}
// CHECK: %[[E:.*]] = calque.gather %[[OPEN]]
// CHECK: %[[F:.*]] = calque.gather %[[X]], %{{.*}} : (tensor<3x5x2xf32>, tensor<1xi64>)
// CHECK: return %[[B]], %[[C]], %[[D]], %[[E]], %[[F]]
func.func @gather(%x: tensor<3x5x2xf32>, %open: tensor<?x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<?xf32>, tensor<1x5x2xf32>) {
  %four = calque.constant {value = dense<4> : tensor<i32>} : () -> tensor<i32>
  %five = calque.constant {value = dense<5> : tensor<i64>} : () -> tensor<i64>
  %minus = calque.constant {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %some = calque.constant {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %a = calque.gather %x, %four {axis = -2 : i64} : (tensor<3x5x2xf32>, tensor<i32>) -> tensor<3x2xf32>
  %b = calque.gather %x, %five {axis = 1 : i64} : (tensor<3x5x2xf32>, tensor<i64>) -> tensor<3x2xf32>
  %c = calque.gather %x, %minus {axis = 1 : i64} : (tensor<3x5x2xf32>, tensor<i64>) -> tensor<3x2xf32>
  %d = calque.gather %open, %four {axis = 1 : i64} : (tensor<?x5xf32>, tensor<i32>) -> tensor<?xf32>
  %e = calque.gather %x, %some : (tensor<3x5x2xf32>, tensor<1xi64>) -> tensor<1x5x2xf32>
  return %a, %b, %c, %d, %e : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<?xf32>, tensor<1x5x2xf32>
}

// -----

// What it names is added to zeros: -0 becomes 0.
// CHECK-LABEL: func.func @gather_put(
// CHECK-SAME: %[[G:.*]]: tensor<3x2xf32>, %[[X:.*]]: tensor<3x5x2xf32>)
// CHECK: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK: %[[SUM:.*]] = calque.add %[[G]], %[[ZERO]]
// CHECK: %[[A:.*]] = calque.reshape %[[SUM]] {shape = array<i64: 3, 1, 2>}
// CHECK: %[[B:.*]] = calque.slice_put %[[A]], %[[X]] {starts = array<i64: 0, 2, 0>, strides = array<i64: 1, 1, 1>}
// CHECK: %[[C:.*]] = calque.gather_put %[[G]]
// CHECK: return %[[B]], %[[C]]
func.func @gather_put(%g: tensor<3x2xf32>, %x: tensor<3x5x2xf32>) -> (tensor<3x5x2xf32>, tensor<3x5x2xf32>) {
  %two = calque.constant {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %nine = calque.constant {value = dense<9> : tensor<i64>} : () -> tensor<i64>
  %a = calque.gather_put %g, %x, %two {axis = 1 : i64} : (tensor<3x2xf32>, tensor<3x5x2xf32>, tensor<i64>) -> tensor<3x5x2xf32>
  %b = calque.gather_put %g, %x, %nine {axis = 1 : i64} : (tensor<3x2xf32>, tensor<3x5x2xf32>, tensor<i64>) -> tensor<3x5x2xf32>
  return %a, %b : tensor<3x5x2xf32>, tensor<3x5x2xf32>
}

// -----

// In a loop a sum of slices grows in place, known index or not.
// CHECK-LABEL: func.func @in_a_loop(
// CHECK-NOT: calque.slice_put
// CHECK: calque.update_at
// CHECK-NOT: calque.slice_put
func.func @in_a_loop(%g: tensor<2xf32>, %x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %r = calque.while %x, %g : (tensor<5x2xf32>, tensor<2xf32>) -> (tensor<5x2xf32>) {
  ^bb0(%s: tensor<5x2xf32>, %h: tensor<2xf32>):
    %all = calque.reduce_sum %s {axes = array<i64: 0, 1>} : (tensor<5x2xf32>) -> tensor<f32>
    %limit = calque.constant {value = dense<9.0> : tensor<f32>} : () -> tensor<f32>
    %p = calque.less %all, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    vector.yield %p : tensor<i1>
  } {
  ^bb0(%s: tensor<5x2xf32>, %h: tensor<2xf32>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %put = calque.gather_put %h, %s, %one {axis = 0 : i64} : (tensor<2xf32>, tensor<5x2xf32>, tensor<i64>) -> tensor<5x2xf32>
    %t = calque.add %s, %put : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
    vector.yield %t : tensor<5x2xf32>
  }
  return %r : tensor<5x2xf32>
}
