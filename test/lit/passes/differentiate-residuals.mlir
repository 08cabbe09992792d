// The reverse of a loop takes products from where the loop has kept them, and what it does not need is not kept.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate,canonicalize))' %s | FileCheck %s

// Of tanh the result is enough. Without the product, what it was computed from is needed for the cotangents alone.
// CHECK-LABEL: func.func @last(
// CHECK: calque.while
// CHECK: %[[ENTRY:.*]] = calque.stack_push %{{.*}}, %[[Y:arg.*]] :
// CHECK: %[[C:.*]] = calque.contract %[[Y]], %{{.*}} {{.*}}lhs_contracting = array<i64: 1>{{.*}}rhs_contracting = array<i64: 0>
// CHECK: %[[S:.*]] = calque.add %[[Y]], %[[C]]
// CHECK: %[[T:.*]] = calque.tanh %[[S]]
// CHECK: %[[KEPT:.*]] = calque.stack_push %{{.*}}, %[[T]]
// CHECK: vector.yield %{{.*}}, %[[T]], %{{.*}}, %[[ENTRY]], %[[KEPT]]
// CHECK: calque.while
// CHECK-NOT: rhs_contracting = array<i64: 0>
// CHECK-NOT: calque.tanh
// CHECK: %{{.*}}, %[[AGAIN:.*]] = calque.stack_pop %{{.*}}, %{{.*}} : (tensor<!calque.stack>, tensor<2x4xf32>)
// CHECK: calque.mul
// CHECK-NOT: calque.tanh
// CHECK: return
func.func @last(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %g: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %n = calque.constant {value = dense<5> : tensor<i64>} : () -> tensor<i64>
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x, %w, %n : (tensor<i64>, tensor<2x4xf32>, tensor<4x4xf32>, tensor<i64>) -> (tensor<i64>, tensor<2x4xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<2x4xf32>, %v: tensor<4x4xf32>, %m: tensor<i64>):
    %p = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %p : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<2x4xf32>, %v: tensor<4x4xf32>, %m: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %c = calque.contract %y, %v {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %s = calque.add %c, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %t = calque.tanh %s : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %j = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %j, %t : tensor<i64>, tensor<2x4xf32>
  }
  %d = calque.gradient %r#1, %g, %w {counts = array<i64: 1, 1, 0>} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// Of sin it is the operand.
// CHECK-LABEL: func.func @first(
// CHECK: calque.while
// CHECK: %[[C:.*]] = calque.contract
// CHECK: calque.stack_push %{{.*}}, %[[C]]
// CHECK-NOT: calque.stack_push
// CHECK: vector.yield
// CHECK: calque.while
// CHECK: calque.stack_pop
// CHECK: calque.stack_pop
// CHECK-NOT: rhs_contracting = array<i64: 0>
// CHECK: calque.contract {{.*}}rhs_contracting = array<i64: 1>
func.func @first(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %g: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %n = calque.constant {value = dense<5> : tensor<i64>} : () -> tensor<i64>
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x, %w, %n : (tensor<i64>, tensor<2x4xf32>, tensor<4x4xf32>, tensor<i64>) -> (tensor<i64>, tensor<2x4xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<2x4xf32>, %v: tensor<4x4xf32>, %m: tensor<i64>):
    %p = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %p : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<2x4xf32>, %v: tensor<4x4xf32>, %m: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %c = calque.contract %y, %v {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %t = calque.sin %c : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %j = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %j, %t : tensor<i64>, tensor<2x4xf32>
  }
  %d = calque.gradient %r#1, %g, %w {counts = array<i64: 1, 1, 0>} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// Where sizes are unknown, they are those of the product, which gives nothing else.
// CHECK-LABEL: func.func @open(
// CHECK: calque.while
// CHECK: %[[C:.*]] = calque.contract
// CHECK: calque.stack_push %{{.*}}, %[[C]]
// CHECK: calque.while
// CHECK: %[[SIZES:.*]] = calque.contract
// CHECK-NEXT: %{{.*}}, %[[KEPT:.*]] = calque.stack_pop %{{.*}}, %[[SIZES]]
// CHECK-NOT: %[[SIZES]]
// CHECK: return
func.func @open(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>, %g: tensor<?x4xf32>) -> tensor<4x4xf32> {
  %n = calque.constant {value = dense<5> : tensor<i64>} : () -> tensor<i64>
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x, %w, %n : (tensor<i64>, tensor<?x4xf32>, tensor<4x4xf32>, tensor<i64>) -> (tensor<i64>, tensor<?x4xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<?x4xf32>, %v: tensor<4x4xf32>, %m: tensor<i64>):
    %p = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %p : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<?x4xf32>, %v: tensor<4x4xf32>, %m: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %c = calque.contract %y, %v {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
    %t = calque.tanh %c : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %j = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %j, %t : tensor<i64>, tensor<?x4xf32>
  }
  %d = calque.gradient %r#1, %g, %w {counts = array<i64: 1, 1, 0>} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// Of what an iteration only takes the sizes of, nothing is kept: it is linear.
// CHECK-LABEL: func.func @linear(
// CHECK-NOT: calque.stack
// CHECK: return
func.func @linear(%x: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {
  %n = calque.constant {value = dense<50> : tensor<i64>} : () -> tensor<i64>
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x, %n : (tensor<i64>, tensor<8xf32>, tensor<i64>) -> (tensor<i64>, tensor<8xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<8xf32>, %m: tensor<i64>):
    %p = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %p : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<8xf32>, %m: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %a = calque.slice %y {starts = array<i64: 2>, limits = array<i64: 8>} : (tensor<8xf32>) -> tensor<6xf32>
    %b = calque.pad %a {low = array<i64: 1>, high = array<i64: 1>} : (tensor<6xf32>) -> tensor<8xf32>
    %t = calque.add %b, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %j = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %j, %t : tensor<i64>, tensor<8xf32>
  }
  %d = calque.gradient %r#1, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %d : tensor<8xf32>
}
