// The gradient of a loop with `checkpoint`: a loop of segments, each of which has one iteration more than the one before.
// It keeps what the loop variables are at the beginning of each segment, and the reverse runs a segment again, keeping
// those of its iterations.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate,canonicalize))' %s | FileCheck %s

// CHECK-LABEL: func.func @segments(
// CHECK: %[[GOES:.*]] = calque.less
// CHECK: %[[ONE:.*]] = calque.constant {{.*}}dense<1>
// The loop of segments: of %n, which stays as it is, nothing is kept.
// CHECK: calque.while %{{.*}}, %{{.*}}, %[[GOES]], %[[ONE]],
// CHECK: ^bb0({{.*}}, %[[AGAIN:.*]]: tensor<i1>, %{{.*}}: tensor<i64>, %{{.*}}: tensor<i64>, %{{.*}}: tensor<!calque.stack>, {{.*}}):
// CHECK-NEXT: vector.yield %[[AGAIN]]
// CHECK-COUNT-4: calque.stack_push
// CHECK-NOT: calque.stack_push
// A segment: as long as the condition holds, and iterations are left.
// CHECK: calque.while
// CHECK: %[[LEFT:.*]] = calque.greater
// CHECK-NEXT: calque.logical_and %{{.*}}, %[[LEFT]]
// CHECK: calque.sin
// CHECK-NEXT: calque.add
// CHECK-NEXT: calque.less
// CHECK: calque.sub
// CHECK: calque.add
// The reverse: the segments, the last first.
// CHECK: calque.while
// CHECK-COUNT-4: calque.stack_pop
// CHECK-NOT: calque.stack_pop
// The segment once more, keeping what its iterations take.
// CHECK: calque.while
// CHECK: calque.stack_push
// CHECK-NOT: calque.stack_push
// CHECK: calque.sin
// And backwards.
// CHECK: calque.while
// CHECK: calque.stack_pop
// CHECK-NOT: calque.stack_pop
// CHECK: calque.cos
// CHECK: return
func.func @segments(%x: tensor<3xf64>, %n: tensor<i64>, %g: tensor<3xf64>) -> tensor<3xf64> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x, %n {checkpoint = true} : (tensor<i64>, tensor<3xf64>, tensor<i64>) -> (tensor<i64>, tensor<3xf64>) {
  ^bb0(%i: tensor<i64>, %y: tensor<3xf64>, %m: tensor<i64>):
    %p = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %p : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<3xf64>, %m: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %t = calque.sin %y : (tensor<3xf64>) -> tensor<3xf64>
    %j = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %j, %t : tensor<i64>, tensor<3xf64>
  }
  %d = calque.gradient %r#1, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  return %d : tensor<3xf64>
}
