// Loops whose variables change their sizes, and the stacks of entries that know theirs.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// The cotangent of a stack is the stack of its entries' cotangents, which may be none.
// CHECK-LABEL: func.func @sized_push(
// CHECK-SAME: %[[A0:.*]]: tensor<!calque.stack>, %[[A1:.*]]: tensor<?xf32>, %[[A2:.*]]: tensor<!calque.stack>)
// CHECK-NEXT: %[[V0:.*]] = calque.sized_push %[[A0]], %[[A1]]
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.sized_pop %[[A2]], %[[A1]] {optional = true}
// CHECK-NEXT: return %[[BELOW]], %[[ENTRY]]
func.func @sized_push(%s: tensor<!calque.stack>, %x: tensor<?xf32>, %seed: tensor<!calque.stack>) -> (tensor<!calque.stack>, tensor<?xf32>) {
  %r = calque.sized_push %s, %x : (tensor<!calque.stack>, tensor<?xf32>) -> tensor<!calque.stack>
  %g:2 = calque.gradient %r, %seed, %s, %x {counts = array<i64: 1, 2, 0>} : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<!calque.stack>, tensor<?xf32>) -> (tensor<!calque.stack>, tensor<?xf32>)
  return %g#0, %g#1 : tensor<!calque.stack>, tensor<?xf32>
}

// An entry of integers has no cotangent.
// CHECK-LABEL: func.func @sized_push_integers(
// CHECK-SAME: %[[A0:.*]]: tensor<!calque.stack>, %[[A1:.*]]: tensor<?xi64>, %[[A2:.*]]: tensor<!calque.stack>)
// CHECK-NEXT: %[[V0:.*]] = calque.sized_push %[[A0]], %[[A1]]
// CHECK-NEXT: return %[[A2]]
func.func @sized_push_integers(%s: tensor<!calque.stack>, %x: tensor<?xi64>, %seed: tensor<!calque.stack>) -> tensor<!calque.stack> {
  %r = calque.sized_push %s, %x : (tensor<!calque.stack>, tensor<?xi64>) -> tensor<!calque.stack>
  %g = calque.gradient %r, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  return %g : tensor<!calque.stack>
}

// CHECK-LABEL: func.func @sized_push_forward(
// CHECK-SAME: %[[A0:.*]]: tensor<!calque.stack>, %[[A1:.*]]: tensor<?xf32>, %[[A2:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.sized_push %[[A0]], %[[A1]]
// CHECK-NEXT: %[[NONE:.*]] = calque.constant {value = dense<false> : tensor<i1>}
// CHECK-NEXT: %[[V2:.*]] = calque.stack_empty %[[NONE]]
// CHECK-NEXT: %[[V3:.*]] = calque.sized_push %[[V2]], %[[A2]]
// CHECK-NEXT: return %[[V3]]
func.func @sized_push_forward(%s: tensor<!calque.stack>, %x: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<!calque.stack> {
  %r = calque.sized_push %s, %x : (tensor<!calque.stack>, tensor<?xf32>) -> tensor<!calque.stack>
  %d = calque.jvp %r, %x, %t {counts = array<i64: 1, 1>} : (tensor<!calque.stack>, tensor<?xf32>, tensor<?xf32>) -> tensor<!calque.stack>
  return %d : tensor<!calque.stack>
}

// CHECK-LABEL: func.func @sized_pop(
// CHECK-SAME: %[[A0:.*]]: tensor<!calque.stack>, %[[A1:.*]]: tensor<?xf32>, %[[A2:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.sized_pop %[[A0]], %[[A1]]
// CHECK-NEXT: %[[NONE:.*]] = calque.constant {value = dense<false> : tensor<i1>}
// CHECK-NEXT: %[[V1:.*]] = calque.stack_empty %[[NONE]]
// CHECK-NEXT: %[[V2:.*]] = calque.sized_push %[[V1]], %[[A2]]
// CHECK-NEXT: return %[[V2]]
func.func @sized_pop(%s: tensor<!calque.stack>, %like: tensor<?xf32>, %seed: tensor<?xf32>) -> tensor<!calque.stack> {
  %below, %entry = calque.sized_pop %s, %like : (tensor<!calque.stack>, tensor<?xf32>) -> (tensor<!calque.stack>, tensor<?xf32>)
  %g = calque.gradient %entry, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<!calque.stack>) -> tensor<!calque.stack>
  return %g : tensor<!calque.stack>
}

// CHECK-LABEL: func.func @sized_pop_integers(
// CHECK-SAME: %[[A0:.*]]: tensor<!calque.stack>, %[[A1:.*]]: tensor<?xi64>, %[[A2:.*]]: tensor<!calque.stack>)
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.sized_pop %[[A0]], %[[A1]]
// CHECK-NEXT: return %[[A2]]
func.func @sized_pop_integers(%s: tensor<!calque.stack>, %like: tensor<?xi64>, %seed: tensor<!calque.stack>) -> tensor<!calque.stack> {
  %below, %entry = calque.sized_pop %s, %like : (tensor<!calque.stack>, tensor<?xi64>) -> (tensor<!calque.stack>, tensor<?xi64>)
  %g = calque.gradient %below, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  return %g : tensor<!calque.stack>
}

// CHECK-LABEL: func.func @sized_pop_forward(
// CHECK-SAME: %[[A0:.*]]: tensor<!calque.stack>, %[[A1:.*]]: tensor<?xf32>, %[[A2:.*]]: tensor<!calque.stack>)
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.sized_pop %[[A0]], %[[A1]]
// CHECK-NEXT: %[[BELOW_0:.*]], %[[ENTRY_1:.*]] = calque.sized_pop %[[A2]], %[[ENTRY]] {optional = true}
// CHECK-NEXT: return %[[BELOW_0]], %[[ENTRY_1]]
func.func @sized_pop_forward(%s: tensor<!calque.stack>, %like: tensor<?xf32>, %t: tensor<!calque.stack>) -> (tensor<!calque.stack>, tensor<?xf32>) {
  %below, %entry = calque.sized_pop %s, %like : (tensor<!calque.stack>, tensor<?xf32>) -> (tensor<!calque.stack>, tensor<?xf32>)
  %d:2 = calque.jvp %below, %entry, %s, %t {counts = array<i64: 2, 1>} : (tensor<!calque.stack>, tensor<?xf32>, tensor<!calque.stack>, tensor<!calque.stack>) -> (tensor<!calque.stack>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<!calque.stack>, tensor<?xf32>
}

// CHECK-LABEL: func.func @stack_below_examples(
// CHECK-SAME: %[[S:.*]]: tensor<2x!calque.stack>)
// CHECK-NEXT: %[[B:.*]] = calque.stack_below %[[S]] : (tensor<2x!calque.stack>) -> tensor<2x!calque.stack>
// CHECK-NEXT: return %[[B]]
func.func @stack_below_examples(%s: tensor<2x!calque.stack>) -> tensor<2x!calque.stack> {
  %e = calque.batch %s {axes = array<i64: 0>} : (tensor<2x!calque.stack>) -> tensor<!calque.stack>
  %below = calque.stack_below %e : (tensor<!calque.stack>) -> tensor<!calque.stack>
  %u = calque.unbatch %below, %e, %s {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<2x!calque.stack>) -> tensor<2x!calque.stack>
  return %u : tensor<2x!calque.stack>
}

// What has more sizes open has the cotangent of what knows them.
// CHECK-LABEL: func.func @open_sizes(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[LIKE:.*]]: tensor<?x?xf32>, %[[SEED:.*]]: tensor<?x?xf32>)
// CHECK: %[[G:.*]] = calque.reshape_like %[[SEED]], %[[X]] : (tensor<?x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
// CHECK-NEXT: return %[[G]]
func.func @open_sizes(%x: tensor<?x3xf32>, %like: tensor<?x?xf32>, %seed: tensor<?x?xf32>) -> tensor<?x3xf32> {
  %y = calque.open_sizes %x, %like : (tensor<?x3xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %g : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @open_sizes_forward(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[LIKE:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<3xf32>)
// CHECK: %[[D:.*]] = calque.open_sizes %[[T]], %[[LIKE]]
// CHECK-NEXT: return %[[D]]
func.func @open_sizes_forward(%x: tensor<3xf32>, %like: tensor<?xf32>, %t: tensor<3xf32>) -> tensor<?xf32> {
  %y = calque.open_sizes %x, %like : (tensor<3xf32>, tensor<?xf32>) -> tensor<?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// CHECK-LABEL: func.func @open_sizes_examples(
// CHECK: calque.open_sizes %{{.*}}, %{{.*}} : (tensor<2x3xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
func.func @open_sizes_examples(%x: tensor<2x3xf32>, %like: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %e:2 = calque.batch %x, %like {axes = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<2x?xf32>) -> (tensor<3xf32>, tensor<?xf32>)
  %y = calque.open_sizes %e#0, %e#1 : (tensor<3xf32>, tensor<?xf32>) -> tensor<?xf32>
  %u = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x?xf32>
  return %u : tensor<2x?xf32>
}

// The forward loop keeps each value with its sizes. The cotangent varies as the variable does.
// CHECK-LABEL: func.func @varying(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK: %[[LOOP:.*]]:3 = calque.while %[[X]], %{{.*}}, %{{.*}} {varying = array<i64: 0, 0>}
// CHECK-SAME: -> (tensor<?xf32>, tensor<i64>, tensor<!calque.stack>)
// CHECK: calque.sized_push %{{.*}}, %[[Y:.*]] : (tensor<!calque.stack>, tensor<?xf32>)
// CHECK-NEXT: calque.exp %[[Y]]
// CHECK: calque.while %[[LOOP]]#1, %[[LOOP]]#2, %[[SEED]], %[[LOOP]]#0 {varying = array<i64: 2, 0>}
// CHECK-SAME: -> (tensor<i64>, tensor<!calque.stack>, tensor<?xf32>)
// CHECK: %{{.*}}, %[[ENTRY:.*]] = calque.sized_pop %{{.*}}, %{{.*}} : (tensor<!calque.stack>, tensor<?xf32>)
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
