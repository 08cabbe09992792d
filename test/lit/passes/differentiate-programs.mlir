// Gradients of the user's, checkpoints and the user's operations in every transformation, on unknown sizes where there are rules
// for them.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// The pullback stands in for the operations that the value is made of.
// CHECK-LABEL: func.func @pullback(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK: %[[E:.*]] = calque.exp %[[X]]
// CHECK: calque.custom_gradient
// CHECK: %[[G:.*]] = calque.mul %[[SEED]], %[[E]]
// CHECK: return %[[G]]
func.func @pullback(%x: tensor<?xf32>, %seed: tensor<?xf32>) -> tensor<?xf32> {
  %e = calque.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %y = calque.log %e : (tensor<?xf32>) -> tensor<?xf32>
  %z = calque.custom_gradient %x, %y, %e {counts = array<i64: 1, 1, 1>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%g: tensor<?xf32>, %c: tensor<?xf32>):
    %p = calque.mul %g, %c : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    vector.yield %p : tensor<?xf32>
  }
  %d = calque.gradient %z, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// Forward mode transposes the pullback: the derivative of g * c by g, weighed by the tangent, is the tangent times c.
// CHECK-LABEL: func.func @push(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[C:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<?xf32>)
// CHECK: %[[P:.*]] = calque.mul %{{.*}}, %[[C]]
// CHECK: %[[D:.*]] = calque.mul %[[T]], %[[C]]
// CHECK: %[[S:.*]] = calque.sum_like %[[D]]
// CHECK: return %[[S]]
func.func @push(%x: tensor<?xf32>, %c: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<?xf32> {
  %z = calque.custom_gradient %x, %x, %c {counts = array<i64: 1, 1, 1>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%g: tensor<?xf32>, %k: tensor<?xf32>):
    %p = calque.mul %g, %k : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    vector.yield %p : tensor<?xf32>
  }
  %d = calque.jvp %z, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// For many examples the pullback is one for all of them.
// CHECK-LABEL: func.func @examples(
// CHECK-SAME: %[[X:.*]]: tensor<5x3xf32>)
// CHECK: %[[Z:.*]] = calque.custom_gradient %[[X]], %[[X]] {{.*}} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32> {
// CHECK-NEXT: ^bb0(%[[G:.*]]: tensor<5x3xf32>):
// CHECK-NEXT: %[[P:.*]] = calque.neg %[[G]] : (tensor<5x3xf32>)
// CHECK-NEXT: vector.yield %[[P]]
// CHECK: return %[[Z]]
func.func @examples(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %i = calque.batch %x {axes = array<i64: 0>} : (tensor<5x3xf32>) -> tensor<3xf32>
  %z = calque.custom_gradient %i, %i {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%g: tensor<3xf32>):
    %p = calque.neg %g : (tensor<3xf32>) -> tensor<3xf32>
    vector.yield %p : tensor<3xf32>
  }
  %r = calque.unbatch %z, %i, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

// The body once more, behind a barrier.
// CHECK-LABEL: func.func @recompute(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK: calque.checkpoint %[[X]]
// CHECK: %[[B:.*]] = calque.barrier %[[X]]
// CHECK: %[[E:.*]] = calque.exp %[[B]]
// CHECK: %[[G:.*]] = calque.mul %[[SEED]], %[[E]]
func.func @recompute(%x: tensor<?xf32>, %seed: tensor<?xf32>) -> tensor<?xf32> {
  %y = calque.checkpoint %x : (tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: tensor<?xf32>):
    %e = calque.exp %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %e : tensor<?xf32>
  }
  %d = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// Nothing passes to an input that no result which is asked for depends on: the second one is the square root's.
// CHECK-LABEL: func.func @recompute_part(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[SEED:.*]]: tensor<3xf32>)
// CHECK: calque.checkpoint
// CHECK: %[[B:.*]] = calque.barrier %[[X]]
// CHECK: %[[E:.*]] = calque.exp %[[B]]
// CHECK: %[[G:.*]] = calque.mul %[[SEED]], %[[E]]
// CHECK-NEXT: return %[[G]]
func.func @recompute_part(%x: tensor<3xf32>, %seed: tensor<3xf32>) -> tensor<3xf32> {
  %r = calque.sqrt %x : (tensor<3xf32>) -> tensor<3xf32>
  %y:2 = calque.checkpoint %x, %r : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %e = calque.exp %a : (tensor<3xf32>) -> tensor<3xf32>
    %n = calque.neg %b : (tensor<3xf32>) -> tensor<3xf32>
    vector.yield %e, %n : tensor<3xf32>, tensor<3xf32>
  }
  %d = calque.gradient %y#0, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// CHECK-LABEL: func.func @checkpoint_forward(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<?xf32>)
// CHECK: %[[I:.*]] = calque.identity %[[X]]
// CHECK: %[[E:.*]] = calque.exp %[[I]]
// CHECK: %[[D:.*]] = calque.mul %[[T]], %[[E]]
// CHECK: return %[[D]]
func.func @checkpoint_forward(%x: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<?xf32> {
  %y = calque.checkpoint %x : (tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: tensor<?xf32>):
    %e = calque.exp %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %e : tensor<?xf32>
  }
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// CHECK-LABEL: func.func @checkpoint_examples(
// CHECK: calque.checkpoint %{{.*}} : (tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK: calque.exp %{{.*}} : (tensor<5x3xf32>)
func.func @checkpoint_examples(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %i = calque.batch %x {axes = array<i64: 0>} : (tensor<5x3xf32>) -> tensor<3xf32>
  %y = calque.checkpoint %i : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %e = calque.exp %a : (tensor<3xf32>) -> tensor<3xf32>
    vector.yield %e : tensor<3xf32>
  }
  %r = calque.unbatch %y, %i, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @barrier(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK: calque.barrier %[[X]]
// CHECK: return %[[SEED]]
func.func @barrier(%x: tensor<?xf32>, %seed: tensor<?xf32>) -> tensor<?xf32> {
  %y = calque.barrier %x : (tensor<?xf32>) -> tensor<?xf32>
  %d = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// CHECK-LABEL: func.func @barrier_forward(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<?xf32>)
// CHECK: %[[D:.*]] = calque.barrier %[[T]]
// CHECK: return %[[D]]
func.func @barrier_forward(%x: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<?xf32> {
  %y = calque.barrier %x : (tensor<?xf32>) -> tensor<?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// The derivative takes the exponential from what is known, and not from x. The pass itself erases what only led to it: the
// elements of x may not be there.
// CHECK-LABEL: func.func @known(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[KEPT:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[M:.*]] = calque.mul %[[SEED]], %[[KEPT]]
// CHECK-NEXT: %[[D:.*]] = calque.sum_like %[[M]], %[[X]]
// CHECK-NEXT: return %[[D]]
func.func @known(%x: tensor<?xf32>, %kept: tensor<?xf32>, %seed: tensor<?xf32>) -> tensor<?xf32> {
  %e = calque.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %y = calque.known %e, %kept : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %d = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// The second derivative passes through the operation to x, too, and takes its elements from there.
// CHECK-LABEL: func.func @known_twice(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[KEPT:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK: calque.broadcast_like %[[SEED]]
// CHECK: %[[C:.*]] = calque.sum_like
// CHECK: %[[M:.*]] = calque.mul %[[C]], %[[KEPT]]
// CHECK: %[[D:.*]] = calque.sum_like %[[M]], %[[X]]
// CHECK: return %[[D]]
func.func @known_twice(%x: tensor<?xf32>, %kept: tensor<?xf32>, %seed: tensor<?xf32>) -> tensor<?xf32> {
  %e = calque.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %y = calque.known %e, %kept : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %d = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %dd = calque.gradient %d, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %dd : tensor<?xf32>
}

// CHECK-LABEL: func.func @known_forward(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<?xf32>)
// CHECK: return %[[X]], %[[T]]
func.func @known_forward(%x: tensor<?xf32>, %t: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %y = calque.known %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %y, %d : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @known_examples(
// CHECK-SAME: %[[X:.*]]: tensor<5x3xf32>, %[[Y:.*]]: tensor<5x3xf32>)
// CHECK: return %[[Y]]
func.func @known_examples(%x: tensor<5x3xf32>, %y: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %i:2 = calque.batch %x, %y {axes = array<i64: 0, 0>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %k = calque.known %i#0, %i#1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %k, %i#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

// The user's operation has no rule here: one example after the other.
// CHECK-LABEL: func.func @extern_examples(
// CHECK-COUNT-2: calque.extern %{{.*}} {symbol = "mine", types = array<i64: 3, 1, 3>} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: calque.concat
func.func @extern_examples(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %i = calque.batch %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  %y = calque.extern %i {symbol = "mine", types = array<i64: 3, 1, 3>} : (tensor<3xf32>) -> tensor<3xf32>
  %b = calque.barrier %i : (tensor<3xf32>) -> tensor<3xf32>
  %r:2 = calque.unbatch %y, %b, %i, %x {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// An ordered operation of the user's is linear in its floats: the transpose takes the cotangent, and the second gradient has the
// operation itself again. What a derivative emits is an effect if something needs it, and gone if nothing does.
// CHECK-LABEL: func.func @ordered(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[I:.*]]: tensor<?xi32>, %[[SEED:.*]]: tensor<2xf32>, %[[S:.*]]: tensor<3xf32>)
// CHECK: calque.ordered_extern %[[X]], %[[I]] {repeats = 1 : i64, symbol = "mine"
// CHECK: %[[D:.*]] = calque.ordered_extern %[[SEED]] {repeats = 1 : i64, symbol = "back", transpose = "mine", types = array<i64: 3, 1, 3>} : (tensor<2xf32>) -> tensor<3xf32>
// CHECK: %[[DD:.*]] = calque.ordered_extern %[[S]] {repeats = 1 : i64, symbol = "mine", transpose = "back", types = array<i64: 3, 1, 2>} : (tensor<3xf32>) -> tensor<2xf32>
// CHECK-NOT: calque.ordered_extern
// CHECK: return %[[D]], %[[DD]]
func.func @ordered(%x: tensor<3xf32>, %i: tensor<?xi32>, %seed: tensor<2xf32>, %s: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %y = calque.ordered_extern %x, %i {repeats = 1 : i64, symbol = "mine", transpose = "back", types = array<i64: 3, 1, 2>} : (tensor<3xf32>, tensor<?xi32>) -> tensor<2xf32>
  %d = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  %dd = calque.gradient %d, %s, %seed {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2xf32>
  %unused = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %d, %dd : tensor<3xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @ordered_forward(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[I:.*]]: tensor<?xi32>, %[[T:.*]]: tensor<3xf32>)
// CHECK: calque.ordered_extern %[[X]], %[[I]]
// CHECK: %[[D:.*]] = calque.ordered_extern %[[T]], %[[I]] {repeats = 1 : i64
// CHECK: return %[[D]]
func.func @ordered_forward(%x: tensor<3xf32>, %i: tensor<?xi32>, %t: tensor<3xf32>) -> tensor<2xf32> {
  %y = calque.ordered_extern %x, %i {repeats = 1 : i64, symbol = "mine", transpose = "back", types = array<i64: 3, 1, 2>} : (tensor<3xf32>, tensor<?xi32>) -> tensor<2xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<2xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}

// The reverse of a branch needs the value once more, and does the operation again; it does not where only the cotangent passes.
// CHECK-LABEL: func.func @ordered_branch(
// CHECK: calque.cond
// CHECK-COUNT-1: symbol = "mine"
// CHECK: calque.cond
// CHECK: symbol = "mine"
// CHECK: symbol = "back"
func.func @ordered_branch(%p: tensor<i1>, %x: tensor<3xf32>, %seed: tensor<3xf32>) -> tensor<3xf32> {
  %y = calque.cond %p, %x : (tensor<i1>, tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %m = calque.ordered_extern %a {repeats = 1 : i64, symbol = "mine", transpose = "back", types = array<i64: 3, 1, 3>} : (tensor<3xf32>) -> tensor<3xf32>
    %e = calque.exp %m : (tensor<3xf32>) -> tensor<3xf32>
    vector.yield %e : tensor<3xf32>
  } {
  ^bb0(%a: tensor<3xf32>):
    vector.yield %a : tensor<3xf32>
  }
  %d = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// CHECK-LABEL: func.func @ordered_examples(
// CHECK-COUNT-2: calque.ordered_extern %{{.*}} {repeats = 0 : i64, symbol = "mine", transpose = "", types = array<i64: 3, 1, 3>} : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: calque.concat
func.func @ordered_examples(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %i = calque.batch %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  %y = calque.ordered_extern %i {repeats = 0 : i64, symbol = "mine", transpose = "", types = array<i64: 3, 1, 3>} : (tensor<3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %y, %i, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
