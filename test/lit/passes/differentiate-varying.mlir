// Loops whose variables change their sizes, and the stacks of entries that know theirs.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// The cotangent of a stack is the stack of its entries' cotangents, which may be none.
// CHECK-LABEL: func.func @sized_push(
// CHECK-SAME: %[[A0:.*]]: tensor<f64>, %[[A1:.*]]: tensor<?xf32>, %[[A2:.*]]: tensor<f64>)
// CHECK-NEXT: %[[V0:.*]] = calque.sized_push %[[A0]], %[[A1]]
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.sized_pop %[[A2]], %[[A1]] {optional = true}
// CHECK-NEXT: return %[[BELOW]], %[[ENTRY]]
func.func @sized_push(%s: tensor<f64>, %x: tensor<?xf32>, %seed: tensor<f64>) -> (tensor<f64>, tensor<?xf32>) {
  %r = calque.sized_push %s, %x : (tensor<f64>, tensor<?xf32>) -> tensor<f64>
  %g:2 = calque.gradient %r, %seed, %s, %x {counts = array<i64: 1, 2, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>, tensor<?xf32>) -> (tensor<f64>, tensor<?xf32>)
  return %g#0, %g#1 : tensor<f64>, tensor<?xf32>
}

// An entry of integers has no cotangent.
// CHECK-LABEL: func.func @sized_push_integers(
// CHECK-SAME: %[[A0:.*]]: tensor<f64>, %[[A1:.*]]: tensor<?xi64>, %[[A2:.*]]: tensor<f64>)
// CHECK-NEXT: %[[V0:.*]] = calque.sized_push %[[A0]], %[[A1]]
// CHECK-NEXT: return %[[A2]]
func.func @sized_push_integers(%s: tensor<f64>, %x: tensor<?xi64>, %seed: tensor<f64>) -> tensor<f64> {
  %r = calque.sized_push %s, %x : (tensor<f64>, tensor<?xi64>) -> tensor<f64>
  %g = calque.gradient %r, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %g : tensor<f64>
}

// CHECK-LABEL: func.func @sized_push_forward(
// CHECK-SAME: %[[A0:.*]]: tensor<f64>, %[[A1:.*]]: tensor<?xf32>, %[[A2:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.sized_push %[[A0]], %[[A1]]
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[A0]]
// CHECK-NEXT: %[[V3:.*]] = calque.sized_push %[[V2]], %[[A2]]
// CHECK-NEXT: return %[[V3]]
func.func @sized_push_forward(%s: tensor<f64>, %x: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<f64> {
  %r = calque.sized_push %s, %x : (tensor<f64>, tensor<?xf32>) -> tensor<f64>
  %d = calque.jvp %r, %x, %t {counts = array<i64: 1, 1>} : (tensor<f64>, tensor<?xf32>, tensor<?xf32>) -> tensor<f64>
  return %d : tensor<f64>
}

// Each example has a stack of its own: entries of different sizes can't be joined.
// CHECK-LABEL: func.func @sized_push_examples(
// CHECK-SAME: %[[A0:.*]]: tensor<f64>, %[[A1:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.slice %[[A1]] {limits = array<i64: 1, 3>, starts = array<i64: 0, 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64: 3>}
// CHECK-NEXT: %[[V2:.*]] = calque.sized_push %[[A0]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.slice %[[A1]] {limits = array<i64: 2, 3>, starts = array<i64: 1, 0>}
// CHECK-NEXT: %[[V5:.*]] = calque.reshape %[[V4]] {shape = array<i64: 3>}
// CHECK-NEXT: %[[V6:.*]] = calque.sized_push %[[A0]], %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = calque.expand_dims %[[V6]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V8:.*]] = calque.concat %[[V3]], %[[V7]]
// CHECK-NEXT: return %[[V8]]
func.func @sized_push_examples(%s: tensor<f64>, %x: tensor<2x3xf32>) -> tensor<2xf64> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  %r = calque.sized_push %s, %e : (tensor<f64>, tensor<3xf32>) -> tensor<f64>
  %u = calque.unbatch %r, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f64>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2xf64>
  return %u : tensor<2xf64>
}

// CHECK-LABEL: func.func @sized_pop(
// CHECK-SAME: %[[A0:.*]]: tensor<f64>, %[[A1:.*]]: tensor<?xf32>, %[[A2:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.sized_pop %[[A0]], %[[A1]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[V0]], %[[A0]]
// CHECK-NEXT: %[[V2:.*]] = calque.sized_push %[[V1]], %[[A2]]
// CHECK-NEXT: return %[[V2]]
func.func @sized_pop(%s: tensor<f64>, %like: tensor<?xf32>, %seed: tensor<?xf32>) -> tensor<f64> {
  %below, %entry = calque.sized_pop %s, %like : (tensor<f64>, tensor<?xf32>) -> (tensor<f64>, tensor<?xf32>)
  %g = calque.gradient %entry, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<f64>) -> tensor<f64>
  return %g : tensor<f64>
}

// CHECK-LABEL: func.func @sized_pop_integers(
// CHECK-SAME: %[[A0:.*]]: tensor<f64>, %[[A1:.*]]: tensor<?xi64>, %[[A2:.*]]: tensor<f64>)
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.sized_pop %[[A0]], %[[A1]]
// CHECK-NEXT: return %[[A2]]
func.func @sized_pop_integers(%s: tensor<f64>, %like: tensor<?xi64>, %seed: tensor<f64>) -> tensor<f64> {
  %below, %entry = calque.sized_pop %s, %like : (tensor<f64>, tensor<?xi64>) -> (tensor<f64>, tensor<?xi64>)
  %g = calque.gradient %below, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %g : tensor<f64>
}

// CHECK-LABEL: func.func @sized_pop_forward(
// CHECK-SAME: %[[A0:.*]]: tensor<f64>, %[[A1:.*]]: tensor<?xf32>, %[[A2:.*]]: tensor<f64>)
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.sized_pop %[[A0]], %[[A1]]
// CHECK-NEXT: %[[BELOW_0:.*]], %[[ENTRY_1:.*]] = calque.sized_pop %[[A2]], %[[ENTRY]] {optional = true}
// CHECK-NEXT: return %[[BELOW_0]], %[[ENTRY_1]]
func.func @sized_pop_forward(%s: tensor<f64>, %like: tensor<?xf32>, %t: tensor<f64>) -> (tensor<f64>, tensor<?xf32>) {
  %below, %entry = calque.sized_pop %s, %like : (tensor<f64>, tensor<?xf32>) -> (tensor<f64>, tensor<?xf32>)
  %d:2 = calque.jvp %below, %entry, %s, %t {counts = array<i64: 2, 1>} : (tensor<f64>, tensor<?xf32>, tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<f64>, tensor<?xf32>
}

// CHECK-LABEL: func.func @sized_pop_examples(
// CHECK-SAME: %[[A0:.*]]: tensor<2xf64>, %[[A1:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.slice %[[A0]] {limits = array<i64: 1>, starts = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64>}
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.sized_pop %[[V1]], %[[A1]]
// CHECK-NEXT: %[[V2:.*]] = calque.expand_dims %[[BELOW]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[ENTRY]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.slice %[[A0]] {limits = array<i64: 2>, starts = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.reshape %[[V4]] {shape = array<i64>}
// CHECK-NEXT: %[[BELOW_0:.*]], %[[ENTRY_1:.*]] = calque.sized_pop %[[V5]], %[[A1]]
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[BELOW_0]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V7:.*]] = calque.expand_dims %[[ENTRY_1]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V8:.*]] = calque.concat %[[V2]], %[[V6]]
// CHECK-NEXT: %[[V9:.*]] = calque.concat %[[V3]], %[[V7]]
// CHECK-NEXT: return %[[V9]]
func.func @sized_pop_examples(%s: tensor<2xf64>, %like: tensor<3xf32>) -> tensor<2x3xf32> {
  %e = calque.batch %s {axes = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
  %below, %entry = calque.sized_pop %e, %like : (tensor<f64>, tensor<3xf32>) -> (tensor<f64>, tensor<3xf32>)
  %u = calque.unbatch %entry, %e, %s {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<f64>, tensor<2xf64>) -> tensor<2x3xf32>
  return %u : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @stack_below_examples(
// CHECK-SAME: %[[S:.*]]: tensor<2xf64>)
// CHECK-NEXT: %[[B:.*]] = calque.stack_below %[[S]] : (tensor<2xf64>) -> tensor<2xf64>
// CHECK-NEXT: return %[[B]]
func.func @stack_below_examples(%s: tensor<2xf64>) -> tensor<2xf64> {
  %e = calque.batch %s {axes = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
  %below = calque.stack_below %e : (tensor<f64>) -> tensor<f64>
  %u = calque.unbatch %below, %e, %s {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f64>, tensor<f64>, tensor<2xf64>) -> tensor<2xf64>
  return %u : tensor<2xf64>
}

// The forward loop keeps each value with its sizes. The cotangent varies as the variable does.
// CHECK-LABEL: func.func @varying(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK: %[[LOOP:.*]]:3 = calque.while %[[X]], %{{.*}}, %{{.*}} {varying = array<i64: 0, 0>}
// CHECK-SAME: -> (tensor<?xf32>, tensor<i64>, tensor<f64>)
// CHECK: calque.sized_push %{{.*}}, %[[Y:.*]] : (tensor<f64>, tensor<?xf32>)
// CHECK-NEXT: calque.exp %[[Y]]
// CHECK: calque.while %[[LOOP]]#1, %[[LOOP]]#2, %[[SEED]], %[[LOOP]]#0 {varying = array<i64: 2, 0>}
// CHECK-SAME: -> (tensor<i64>, tensor<f64>, tensor<?xf32>)
// CHECK: %{{.*}}, %[[ENTRY:.*]] = calque.sized_pop %{{.*}}, %{{.*}} : (tensor<f64>, tensor<?xf32>)
// CHECK: calque.exp %[[ENTRY]]
// CHECK: calque.reshape_like %{{.*}}#2, %[[X]]
func.func @varying(%x: tensor<3xf32>, %seed: tensor<?xf32>) -> tensor<3xf32> {
  %r = calque.while %x {varying = array<i64: 0, 0>} : (tensor<3xf32>) -> tensor<?xf32> {
  ^bb0(%y: tensor<?xf32>):
    %sum = calque.reduce_sum %y : (tensor<?xf32>) -> tensor<f32>
    %c = calque.less %sum, %sum : (tensor<f32>, tensor<f32>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%y: tensor<?xf32>):
    %z = calque.exp %y : (tensor<?xf32>) -> tensor<?xf32>
    %t = calque.concat %z, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    vector.yield %t : tensor<?xf32>
  }
  %g = calque.gradient %r, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}
