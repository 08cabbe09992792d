// Derivatives of branches, loops, stacks and slices that are set, on unknown sizes, and the same for many examples.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// The branch that was taken goes backwards. What it needs it computes again, without the effects.
// CHECK-LABEL: func.func @cond(
// CHECK-SAME: %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.cond %[[P]], %[[X]], %[[Y]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<?xf32>, %[[B1:.*]]: tensor<?xf32>):
// CHECK-NEXT: calque.print %[[B0]] {label = "a"}
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[B0]], %[[B1]]
// CHECK-NEXT: vector.yield %[[V2]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<?xf32>, %[[B1:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V2:.*]] = calque.exp %[[B0]]
// CHECK-NEXT: vector.yield %[[V2]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.*]]:2 = calque.cond %[[P]], %[[X]], %[[Y]], %[[SEED]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<?xf32>, %[[B1:.*]]: tensor<?xf32>, %[[B2:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[B0]], %[[B1]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[B2]], %[[B1]]
// CHECK-NEXT: %[[V4:.*]] = calque.sum_like %[[V3]], %[[B0]]
// CHECK-NEXT: %[[V5:.*]] = calque.mul %[[B2]], %[[B0]]
// CHECK-NEXT: %[[V6:.*]] = calque.sum_like %[[V5]], %[[B1]]
// CHECK-NEXT: vector.yield %[[V4]], %[[V6]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<?xf32>, %[[B1:.*]]: tensor<?xf32>, %[[B2:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V2:.*]] = calque.exp %[[B0]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[B2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.sum_like %[[V3]], %[[B0]]
// CHECK-NEXT: %[[V5:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V6:.*]] = calque.broadcast_like %[[V5]], %[[B1]]
// CHECK-NEXT: vector.yield %[[V4]], %[[V6]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]]#0, %[[V1]]#1
func.func @cond(%p: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>, %seed: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r = calque.cond %p, %x, %y : (tensor<i1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>):
    calque.print %a {label = "a"} : (tensor<?xf32>) -> ()
    %0 = calque.mul %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    vector.yield %0 : tensor<?xf32>
  } {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>):
    %0 = calque.exp %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %0 : tensor<?xf32>
  }
  %g:2 = calque.gradient %r, %seed, %x, %y {counts = array<i64: 1, 2, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %g#0, %g#1 : tensor<?xf32>, tensor<?xf32>
}

// Nothing passes through an effect in a branch of a branch, and none is done again.
// CHECK-LABEL: func.func @effect_in_inner_branch(
// CHECK-SAME: %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.cond %[[P]], %[[P]], %[[X]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i1>, %[[B1:.*]]: tensor<?xf32>):
// CHECK-NEXT: calque.cond %[[B0]], %[[B1]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[C0:.*]]: tensor<?xf32>):
// CHECK-NEXT: calque.print %[[C0]] {label = "b"}
// CHECK-NEXT: vector.yield
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[C0:.*]]: tensor<?xf32>):
// CHECK-NEXT: vector.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.*]] = calque.neg %[[B1]]
// CHECK-NEXT: vector.yield %[[V2]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i1>, %[[B1:.*]]: tensor<?xf32>):
// CHECK-NEXT: vector.yield %[[B1]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.*]] = calque.cond %[[P]], %[[P]], %[[X]], %[[SEED]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i1>, %[[B1:.*]]: tensor<?xf32>, %[[B2:.*]]: tensor<?xf32>):
// CHECK-NEXT: calque.cond %[[B0]], %[[B1]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[C0:.*]]: tensor<?xf32>):
// CHECK-NEXT: vector.yield
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[C0:.*]]: tensor<?xf32>):
// CHECK-NEXT: vector.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[V2:.*]] = calque.neg %[[B1]]
// CHECK-NEXT: %[[V3:.*]] = calque.neg %[[B2]]
// CHECK-NEXT: %[[V4:.*]] = calque.sum_like %[[V3]], %[[B1]]
// CHECK-NEXT: vector.yield %[[V4]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i1>, %[[B1:.*]]: tensor<?xf32>, %[[B2:.*]]: tensor<?xf32>):
// CHECK-NEXT: vector.yield %[[B2]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]]
func.func @effect_in_inner_branch(%p: tensor<i1>, %x: tensor<?xf32>, %seed: tensor<?xf32>) -> tensor<?xf32> {
  %r = calque.cond %p, %p, %x : (tensor<i1>, tensor<i1>, tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%q: tensor<i1>, %a: tensor<?xf32>):
    calque.cond %q, %a : (tensor<i1>, tensor<?xf32>) -> () {
    ^bb0(%b: tensor<?xf32>):
      calque.print %b {label = "b"} : (tensor<?xf32>) -> ()
      vector.yield
    } {
    ^bb0(%b: tensor<?xf32>):
      vector.yield
    }
    %0 = calque.neg %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %0 : tensor<?xf32>
  } {
  ^bb0(%q: tensor<i1>, %a: tensor<?xf32>):
    vector.yield %a : tensor<?xf32>
  }
  %g = calque.gradient %r, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %g : tensor<?xf32>
}

// Integers among the results have no tangents.
// CHECK-LABEL: func.func @cond_forward(
// CHECK-SAME: %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<?xf32>, %[[I:.*]]: tensor<?xi64>, %[[T:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]]:2 = calque.cond %[[P]], %[[X]], %[[I]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<?xf32>, %[[B1:.*]]: tensor<?xi64>):
// CHECK-NEXT: %[[V2:.*]] = calque.neg %[[B0]]
// CHECK-NEXT: vector.yield %[[B1]], %[[V2]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<?xf32>, %[[B1:.*]]: tensor<?xi64>):
// CHECK-NEXT: %[[V2:.*]] = calque.exp %[[B0]]
// CHECK-NEXT: vector.yield %[[B1]], %[[V2]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.*]] = calque.cond %[[P]], %[[X]], %[[I]], %[[T]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<?xf32>, %[[B1:.*]]: tensor<?xi64>, %[[B2:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V2:.*]] = calque.neg %[[B0]]
// CHECK-NEXT: %[[V3:.*]] = calque.neg %[[B2]]
// CHECK-NEXT: vector.yield %[[V3]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<?xf32>, %[[B1:.*]]: tensor<?xi64>, %[[B2:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V2:.*]] = calque.exp %[[B0]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[B2]], %[[V2]]
// CHECK-NEXT: vector.yield %[[V3]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]]
func.func @cond_forward(%p: tensor<i1>, %x: tensor<?xf32>, %i: tensor<?xi64>, %t: tensor<?xf32>) -> tensor<?xf32> {
  %r:2 = calque.cond %p, %x, %i : (tensor<i1>, tensor<?xf32>, tensor<?xi64>) -> (tensor<?xi64>, tensor<?xf32>) {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xi64>):
    %0 = calque.neg %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %b, %0 : tensor<?xi64>, tensor<?xf32>
  } {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xi64>):
    %0 = calque.exp %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %b, %0 : tensor<?xi64>, tensor<?xf32>
  }
  %d = calque.jvp %r#1, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// One decision for all examples: one branch is done for all.
// CHECK-LABEL: func.func @cond_examples(
// CHECK-SAME: %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<5x?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.cond %[[P]], %[[X]], %[[Y]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<5x?xf32>, %[[B1:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V1:.*]] = calque.exp %[[B0]]
// CHECK-NEXT: vector.yield %[[V1]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<5x?xf32>, %[[B1:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V2:.*]] = calque.equal %[[B0]], %[[B0]]
// CHECK-NEXT: %[[V3:.*]] = calque.cast %[[V2]] {dtype = i32}
// CHECK-NEXT: %[[V4:.*]] = calque.reduce_sum %[[V3]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.equal %[[V4]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.where %[[V6]], %[[B1]], %[[B1]]
// CHECK-NEXT: vector.yield %[[V7]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]
func.func @cond_examples(%p: tensor<i1>, %x: tensor<5x?xf32>, %y: tensor<?xf32>) -> tensor<5x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<5x?xf32>) -> tensor<?xf32>
  %r = calque.cond %p, %e, %y : (tensor<i1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>):
    %0 = calque.exp %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %0 : tensor<?xf32>
  } {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>):
    vector.yield %b : tensor<?xf32>
  }
  %s = calque.unbatch %r, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>, tensor<5x?xf32>) -> tensor<5x?xf32>
  return %s : tensor<5x?xf32>
}

// A decision for each: both branches, of which each example takes one.
// CHECK-LABEL: func.func @cond_each(
// CHECK-SAME: %[[P:.*]]: tensor<5xi1>, %[[X:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.exp %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.equal %[[P]], %[[P]]
// CHECK-NEXT: %[[V2:.*]] = calque.cast %[[V1]] {dtype = i32}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[V0]], %[[V0]]
// CHECK-NEXT: %[[V6:.*]] = calque.equal %[[P]], %[[P]]
// CHECK-NEXT: %[[V7:.*]] = calque.cast %[[V6]] {dtype = i32}
// CHECK-NEXT: %[[V8:.*]] = calque.equal %[[V7]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = calque.expand_dims %[[V8]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V10:.*]] = calque.where %[[V9]], %[[X]], %[[X]]
// CHECK-NEXT: %[[V11:.*]] = calque.expand_dims %[[P]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V12:.*]] = calque.where %[[V11]], %[[V5]], %[[V10]]
// CHECK-NEXT: return %[[V12]]
func.func @cond_each(%p: tensor<5xi1>, %x: tensor<?xf32>) -> tensor<5x?xf32> {
  %e = calque.batch %p {axes = array<i64: 0>} : (tensor<5xi1>) -> tensor<i1>
  %r = calque.cond %e, %x : (tensor<i1>, tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: tensor<?xf32>):
    %0 = calque.exp %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %0 : tensor<?xf32>
  } {
  ^bb0(%a: tensor<?xf32>):
    vector.yield %a : tensor<?xf32>
  }
  %s = calque.unbatch %r, %e, %p {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<i1>, tensor<5xi1>) -> tensor<5x?xf32>
  return %s : tensor<5x?xf32>
}

// What both sides give on is no value of each example, nor is what is computed from it.
// CHECK-LABEL: func.func @cond_alike(
// CHECK-SAME: %[[P:.*]]: tensor<5xi1>, %[[X:.*]]: tensor<5xf32>, %[[N:.*]]: tensor<i64>)
// CHECK-NOT: calque.where
// CHECK: %[[Y:.*]] = calque.exp %[[X]]
// CHECK: calque.where %[[P]], %[[Y]], %[[X]]
// CHECK-NOT: calque.where
// CHECK: calque.neg %[[N]] : (tensor<i64>) -> tensor<i64>
func.func @cond_alike(%p: tensor<5xi1>, %x: tensor<5xf32>, %n: tensor<i64>) -> (tensor<5xf32>, tensor<5xi64>) {
  %e:2 = calque.batch %p, %x {axes = array<i64: 0, 0>} : (tensor<5xi1>, tensor<5xf32>) -> (tensor<i1>, tensor<f32>)
  %r:2 = calque.cond %e#0, %e#1, %n : (tensor<i1>, tensor<f32>, tensor<i64>) -> (tensor<f32>, tensor<i64>) {
  ^bb0(%a: tensor<f32>, %b: tensor<i64>):
    %0 = calque.exp %a : (tensor<f32>) -> tensor<f32>
    vector.yield %0, %b : tensor<f32>, tensor<i64>
  } {
  ^bb0(%a: tensor<f32>, %b: tensor<i64>):
    vector.yield %a, %b : tensor<f32>, tensor<i64>
  }
  %m = calque.neg %r#1 : (tensor<i64>) -> tensor<i64>
  %s:2 = calque.unbatch %r#0, %m, %e#0, %p {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<i64>, tensor<i1>, tensor<5xi1>) -> (tensor<5xf32>, tensor<5xi64>)
  return %s#0, %s#1 : tensor<5xf32>, tensor<5xi64>
}

// A loop that counts to a number of all examples ends for all of them at once, whatever branches they take in it: the
// number is not counted for each, and nothing holds the variables of examples that are through.
// CHECK-LABEL: func.func @while_branches(
// CHECK: calque.while {{.*}} -> (tensor<i64>, tensor<5xf32>) {
// CHECK: calque.less {{.*}} -> tensor<i1>
// CHECK: calque.where
// CHECK-NOT: calque.where
// CHECK: return
func.func @while_branches(%i: tensor<i64>, %n: tensor<i64>, %x: tensor<5xf32>) -> tensor<5xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<5xf32>) -> tensor<f32>
  %r:2 = calque.while %i, %e, %n : (tensor<i64>, tensor<f32>, tensor<i64>) -> (tensor<i64>, tensor<f32>) {
  ^bb0(%a: tensor<i64>, %b: tensor<f32>, %c: tensor<i64>):
    %0 = calque.less %a, %c : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%a: tensor<i64>, %b: tensor<f32>, %c: tensor<i64>):
    %y = calque.sin %b : (tensor<f32>) -> tensor<f32>
    %p = calque.greater %y, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %s:2 = calque.cond %p, %y, %a : (tensor<i1>, tensor<f32>, tensor<i64>) -> (tensor<f32>, tensor<i64>) {
    ^bb0(%u: tensor<f32>, %v: tensor<i64>):
      %0 = calque.exp %u : (tensor<f32>) -> tensor<f32>
      vector.yield %0, %v : tensor<f32>, tensor<i64>
    } {
    ^bb0(%u: tensor<f32>, %v: tensor<i64>):
      vector.yield %u, %v : tensor<f32>, tensor<i64>
    }
    %0 = calque.add %s#1, %s#1 : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %0, %s#0 : tensor<i64>, tensor<f32>
  }
  %t = calque.unbatch %r#1, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<5xf32>) -> tensor<5xf32>
  return %t : tensor<5xf32>
}

// Each example ends by itself. What no iteration changes is not held for those that are through: %z.
// CHECK-LABEL: func.func @while_gives_on(
// CHECK: calque.while
// CHECK: calque.where {{.*}} -> tensor<5xf32>
// CHECK-NOT: calque.where
// CHECK: return
func.func @while_gives_on(%x: tensor<5xf32>, %z: tensor<5x3xf32>) -> tensor<5xf32> {
  %e:2 = calque.batch %x, %z {axes = array<i64: 0, 0>} : (tensor<5xf32>, tensor<5x3xf32>) -> (tensor<f32>, tensor<3xf32>)
  %r:2 = calque.while %e#0, %e#1 : (tensor<f32>, tensor<3xf32>) -> (tensor<f32>, tensor<3xf32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<3xf32>):
    %c = calque.neg %a : (tensor<f32>) -> tensor<f32>
    %0 = calque.less %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%a: tensor<f32>, %b: tensor<3xf32>):
    %0 = calque.reduce_sum %b {axes = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
    %1 = calque.add %a, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    vector.yield %1, %b : tensor<f32>, tensor<3xf32>
  }
  %s = calque.unbatch %r#0, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<5xf32>) -> tensor<5xf32>
  return %s : tensor<5xf32>
}

// The loop counts, and puts on stacks what its body looks at: not %s, which the body only sets,
// and whose cotangents nothing needs. The reverse takes as many
// iterations back, and sums up what the invariant %w gets in each.
// CHECK-LABEL: func.func @while(
// CHECK-SAME: %[[I:.*]]: tensor<i64>, %[[X:.*]]: tensor<?xf32>, %[[S:.*]]: tensor<?xf32>, %[[N:.*]]: tensor<i64>, %[[W:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0> : tensor<i64>}
// CHECK-NEXT: %[[LIKE:.*]] = calque.constant {value = dense<false> : tensor<i1>}
// CHECK-NEXT: %[[V1:.*]] = calque.stack_empty %[[LIKE]]
// CHECK-NEXT: %[[V2:.*]]:6 = calque.while %[[I]], %[[X]], %[[S]], %[[V0]], %[[V1]], %[[V1]], %[[N]], %[[W]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i64>, %[[B1:.*]]: tensor<?xf32>, %[[B2:.*]]: tensor<?xf32>, %[[B3:.*]]: tensor<i64>, %[[B4:.*]]: tensor<!calque.stack>, %[[B5:.*]]: tensor<!calque.stack>, %[[B6:.*]]: tensor<i64>, %[[B7:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V6:.*]] = calque.less %[[B0]], %[[B6]]
// CHECK-NEXT: vector.yield %[[V6]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i64>, %[[B1:.*]]: tensor<?xf32>, %[[B2:.*]]: tensor<?xf32>, %[[B3:.*]]: tensor<i64>, %[[B4:.*]]: tensor<!calque.stack>, %[[B5:.*]]: tensor<!calque.stack>, %[[B6:.*]]: tensor<i64>, %[[B7:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V6:.*]] = calque.stack_push %[[B4]], %[[B0]]
// CHECK-NEXT: %[[V7:.*]] = calque.stack_push %[[B5]], %[[B1]]
// CHECK-NEXT: calque.print %[[B1]] {label = "a"}
// CHECK-NEXT: %[[V8:.*]] = calque.add %[[B0]], %[[B0]]
// CHECK-NEXT: %[[V9:.*]] = calque.mul %[[B1]], %[[B7]]
// CHECK-NEXT: %[[V10:.*]] = calque.constant {value = dense<1> : tensor<i64>}
// CHECK-NEXT: %[[V11:.*]] = calque.add %[[B3]], %[[V10]]
// CHECK-NEXT: vector.yield %[[V8]], %[[V9]], %[[B1]], %[[V11]], %[[V6]], %[[V7]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V3:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V4:.*]] = calque.broadcast_like %[[V3]], %[[W]]
// CHECK-NEXT: %[[V5:.*]]:5 = calque.while %[[V2]]#3, %[[V2]]#4, %[[V2]]#5, %[[SEED]], %[[V4]], %[[N]], %[[W]], %[[I]], %[[X]], %[[S]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i64>, %[[B1:.*]]: tensor<!calque.stack>, %[[B2:.*]]: tensor<!calque.stack>, %[[B3:.*]]: tensor<?xf32>, %[[B4:.*]]: tensor<?xf32>, %[[B5:.*]]: tensor<i64>, %[[B6:.*]]: tensor<?xf32>, %[[B7:.*]]: tensor<i64>, %[[B8:.*]]: tensor<?xf32>, %[[B9:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V6:.*]] = calque.constant {value = dense<0> : tensor<i64>}
// CHECK-NEXT: %[[V7:.*]] = calque.greater %[[B0]], %[[V6]]
// CHECK-NEXT: vector.yield %[[V7]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i64>, %[[B1:.*]]: tensor<!calque.stack>, %[[B2:.*]]: tensor<!calque.stack>, %[[B3:.*]]: tensor<?xf32>, %[[B4:.*]]: tensor<?xf32>, %[[B5:.*]]: tensor<i64>, %[[B6:.*]]: tensor<?xf32>, %[[B7:.*]]: tensor<i64>, %[[B8:.*]]: tensor<?xf32>, %[[B9:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V6:.*]] = calque.constant {value = dense<1> : tensor<i64>}
// CHECK-NEXT: %[[V7:.*]] = calque.sub %[[B0]], %[[V6]]
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.stack_pop %[[B1]], %[[B7]]
// CHECK-NEXT: %[[BELOW_0:.*]], %[[ENTRY_1:.*]] = calque.stack_pop %[[B2]], %[[B8]]
// CHECK-NEXT: %[[V8:.*]] = calque.identity %[[B9]]
// CHECK-NEXT: %[[V9:.*]] = calque.stack_push %[[B1]], %[[ENTRY]]
// CHECK-NEXT: %[[V10:.*]] = calque.stack_push %[[B2]], %[[ENTRY_1]]
// CHECK-NEXT: %[[V11:.*]] = calque.add %[[ENTRY]], %[[ENTRY]]
// CHECK-NEXT: %[[V12:.*]] = calque.mul %[[ENTRY_1]], %[[B6]]
// CHECK-NEXT: %[[V13:.*]] = calque.constant {value = dense<1> : tensor<i64>}
// CHECK-NEXT: %[[V14:.*]] = calque.add %[[B0]], %[[V13]]
// CHECK-NEXT: %[[V15:.*]] = calque.mul %[[B3]], %[[B6]]
// CHECK-NEXT: %[[V16:.*]] = calque.sum_like %[[V15]], %[[ENTRY_1]]
// CHECK-NEXT: %[[V17:.*]] = calque.mul %[[B3]], %[[ENTRY_1]]
// CHECK-NEXT: %[[V18:.*]] = calque.sum_like %[[V17]], %[[B6]]
// CHECK-NEXT: %[[V19:.*]] = calque.add %[[B4]], %[[V18]]
// CHECK-NEXT: vector.yield %[[V7]], %[[BELOW]], %[[BELOW_0]], %[[V16]], %[[V19]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V5]]#3, %[[V5]]#4
func.func @while(%i: tensor<i64>, %x: tensor<?xf32>, %s: tensor<?xf32>, %n: tensor<i64>, %w: tensor<?xf32>, %seed: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r:3 = calque.while %i, %x, %s, %n, %w : (tensor<i64>, tensor<?xf32>, tensor<?xf32>, tensor<i64>, tensor<?xf32>) -> (tensor<i64>, tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%j: tensor<i64>, %a: tensor<?xf32>, %b: tensor<?xf32>, %m: tensor<i64>, %v: tensor<?xf32>):
    %0 = calque.less %j, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%j: tensor<i64>, %a: tensor<?xf32>, %b: tensor<?xf32>, %m: tensor<i64>, %v: tensor<?xf32>):
    calque.print %a {label = "a"} : (tensor<?xf32>) -> ()
    %0 = calque.add %j, %j : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.mul %a, %v : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    vector.yield %0, %1, %a : tensor<i64>, tensor<?xf32>, tensor<?xf32>
  }
  %g:2 = calque.gradient %r#1, %seed, %x, %w {counts = array<i64: 1, 2, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %g#0, %g#1 : tensor<?xf32>, tensor<?xf32>
}

// Values and tangents in one loop.
// CHECK-LABEL: func.func @while_forward(
// CHECK-SAME: %[[I:.*]]: tensor<i64>, %[[X:.*]]: tensor<?xf32>, %[[N:.*]]: tensor<i64>, %[[W:.*]]: tensor<?xf32>, %[[TX:.*]]: tensor<?xf32>, %[[TW:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]]:2 = calque.while %[[I]], %[[X]], %[[N]], %[[W]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i64>, %[[B1:.*]]: tensor<?xf32>, %[[B2:.*]]: tensor<i64>, %[[B3:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V2:.*]] = calque.less %[[B0]], %[[B2]]
// CHECK-NEXT: vector.yield %[[V2]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i64>, %[[B1:.*]]: tensor<?xf32>, %[[B2:.*]]: tensor<i64>, %[[B3:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V2:.*]] = calque.add %[[B0]], %[[B0]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[B1]], %[[B3]]
// CHECK-NEXT: vector.yield %[[V2]], %[[V3]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[V1:.*]]:3 = calque.while %[[I]], %[[X]], %[[TX]], %[[N]], %[[W]], %[[TW]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i64>, %[[B1:.*]]: tensor<?xf32>, %[[B2:.*]]: tensor<?xf32>, %[[B3:.*]]: tensor<i64>, %[[B4:.*]]: tensor<?xf32>, %[[B5:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V2:.*]] = calque.less %[[B0]], %[[B3]]
// CHECK-NEXT: vector.yield %[[V2]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i64>, %[[B1:.*]]: tensor<?xf32>, %[[B2:.*]]: tensor<?xf32>, %[[B3:.*]]: tensor<i64>, %[[B4:.*]]: tensor<?xf32>, %[[B5:.*]]: tensor<?xf32>):
// CHECK-NEXT: %[[V2:.*]] = calque.add %[[B0]], %[[B0]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[B1]], %[[B4]]
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[B2]], %[[B4]]
// CHECK-NEXT: %[[V5:.*]] = calque.mul %[[B5]], %[[B1]]
// CHECK-NEXT: %[[V6:.*]] = calque.add %[[V4]], %[[V5]]
// CHECK-NEXT: vector.yield %[[V2]], %[[V3]], %[[V6]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]]#2
func.func @while_forward(%i: tensor<i64>, %x: tensor<?xf32>, %n: tensor<i64>, %w: tensor<?xf32>, %tx: tensor<?xf32>, %tw: tensor<?xf32>) -> tensor<?xf32> {
  %r:2 = calque.while %i, %x, %n, %w : (tensor<i64>, tensor<?xf32>, tensor<i64>, tensor<?xf32>) -> (tensor<i64>, tensor<?xf32>) {
  ^bb0(%j: tensor<i64>, %a: tensor<?xf32>, %m: tensor<i64>, %v: tensor<?xf32>):
    %0 = calque.less %j, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%j: tensor<i64>, %a: tensor<?xf32>, %m: tensor<i64>, %v: tensor<?xf32>):
    %0 = calque.add %j, %j : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.mul %a, %v : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    vector.yield %0, %1 : tensor<i64>, tensor<?xf32>
  }
  %d = calque.jvp %r#1, %x, %w, %tx, %tw {counts = array<i64: 1, 2>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// All examples take as many iterations: the index stays one for all.
// CHECK-LABEL: func.func @while_examples(
// CHECK-SAME: %[[I:.*]]: tensor<i64>, %[[X:.*]]: tensor<5x?xf32>, %[[N:.*]]: tensor<i64>)
// CHECK-NEXT: %[[V0:.*]]:2 = calque.while %[[I]], %[[X]], %[[N]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i64>, %[[B1:.*]]: tensor<5x?xf32>, %[[B2:.*]]: tensor<i64>):
// CHECK-NEXT: %[[V2:.*]] = calque.less %[[B0]], %[[B2]]
// CHECK-NEXT: vector.yield %[[V2]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<i64>, %[[B1:.*]]: tensor<5x?xf32>, %[[B2:.*]]: tensor<i64>):
// CHECK-NEXT: %[[V2:.*]] = calque.add %[[B0]], %[[B0]]
// CHECK-NEXT: %[[V3:.*]] = calque.exp %[[B1]]
// CHECK-NEXT: vector.yield %[[V2]], %[[V3]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V0]]#1
func.func @while_examples(%i: tensor<i64>, %x: tensor<5x?xf32>, %n: tensor<i64>) -> tensor<5x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<5x?xf32>) -> tensor<?xf32>
  %r:2 = calque.while %i, %e, %n : (tensor<i64>, tensor<?xf32>, tensor<i64>) -> (tensor<i64>, tensor<?xf32>) {
  ^bb0(%j: tensor<i64>, %a: tensor<?xf32>, %m: tensor<i64>):
    %0 = calque.less %j, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%j: tensor<i64>, %a: tensor<?xf32>, %m: tensor<i64>):
    %0 = calque.add %j, %j : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.exp %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %0, %1 : tensor<i64>, tensor<?xf32>
  }
  %s = calque.unbatch %r#1, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>, tensor<5x?xf32>) -> tensor<5x?xf32>
  return %s : tensor<5x?xf32>
}

// Each example ends on its own: those that still run take the new values, the others keep theirs.
// CHECK-LABEL: func.func @while_each(
// CHECK-SAME: %[[I:.*]]: tensor<i64>, %[[X:.*]]: tensor<?xf32>, %[[N:.*]]: tensor<5xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_to %[[I]] {shape = array<i64: 5>}
// CHECK-NEXT: %[[V1:.*]] = calque.equal %[[N]], %[[N]]
// CHECK-NEXT: %[[V2:.*]] = calque.cast %[[V1]] {dtype = i32}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[X]], %[[X]]
// CHECK-NEXT: %[[V6:.*]] = calque.less %[[V0]], %[[N]]
// CHECK-NEXT: %[[V7:.*]]:3 = calque.while %[[V0]], %[[V5]], %[[V6]], %[[N]] : {{.*}} {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<5xi64>, %[[B1:.*]]: tensor<5x?xf32>, %[[B2:.*]]: tensor<5xi1>, %[[B3:.*]]: tensor<5xi64>):
// CHECK-NEXT: %[[V8:.*]] = calque.cast %[[B2]] {dtype = i64}
// CHECK-NEXT: %[[V9:.*]] = calque.reduce_sum %[[V8]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V10:.*]] = calque.constant {value = dense<0> : tensor<i64>}
// CHECK-NEXT: %[[V11:.*]] = calque.greater %[[V9]], %[[V10]]
// CHECK-NEXT: vector.yield %[[V11]]
// CHECK-NEXT: } {
// CHECK-NEXT: ^bb0(%[[B0:.*]]: tensor<5xi64>, %[[B1:.*]]: tensor<5x?xf32>, %[[B2:.*]]: tensor<5xi1>, %[[B3:.*]]: tensor<5xi64>):
// CHECK-NEXT: %[[V8:.*]] = calque.add %[[B0]], %[[B0]]
// CHECK-NEXT: %[[V9:.*]] = calque.exp %[[B1]]
// CHECK-NEXT: %[[V10:.*]] = calque.where %[[B2]], %[[V8]], %[[B0]]
// CHECK-NEXT: %[[V11:.*]] = calque.expand_dims %[[B2]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V12:.*]] = calque.where %[[V11]], %[[V9]], %[[B1]]
// CHECK-NEXT: %[[V13:.*]] = calque.less %[[V10]], %[[B3]]
// CHECK-NEXT: %[[V14:.*]] = calque.logical_and %[[B2]], %[[V13]]
// CHECK-NEXT: vector.yield %[[V10]], %[[V12]], %[[V14]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V7]]#1
func.func @while_each(%i: tensor<i64>, %x: tensor<?xf32>, %n: tensor<5xi64>) -> tensor<5x?xf32> {
  %e = calque.batch %n {axes = array<i64: 0>} : (tensor<5xi64>) -> tensor<i64>
  %r:2 = calque.while %i, %x, %e : (tensor<i64>, tensor<?xf32>, tensor<i64>) -> (tensor<i64>, tensor<?xf32>) {
  ^bb0(%j: tensor<i64>, %a: tensor<?xf32>, %m: tensor<i64>):
    %0 = calque.less %j, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%j: tensor<i64>, %a: tensor<?xf32>, %m: tensor<i64>):
    %0 = calque.add %j, %j : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.exp %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %0, %1 : tensor<i64>, tensor<?xf32>
  }
  %s = calque.unbatch %r#1, %e, %n {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<i64>, tensor<5xi64>) -> tensor<5x?xf32>
  return %s : tensor<5x?xf32>
}

// The cotangent of a stack is the stack of its entries' cotangents: pushing becomes popping, and the other way round.
// CHECK-LABEL: func.func @stack_push(
// CHECK-SAME: %[[S:.*]]: tensor<!calque.stack>, %[[X:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<!calque.stack>)
// CHECK-NEXT: %[[V0:.*]] = calque.stack_push %[[S]], %[[X]]
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.stack_pop %[[SEED]], %[[X]]
// CHECK-NEXT: return %[[BELOW]], %[[ENTRY]]
func.func @stack_push(%s: tensor<!calque.stack>, %x: tensor<?xf32>, %seed: tensor<!calque.stack>) -> (tensor<!calque.stack>, tensor<?xf32>) {
  %r = calque.stack_push %s, %x : (tensor<!calque.stack>, tensor<?xf32>) -> tensor<!calque.stack>
  %g:2 = calque.gradient %r, %seed, %s, %x {counts = array<i64: 1, 2, 0>} : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<!calque.stack>, tensor<?xf32>) -> (tensor<!calque.stack>, tensor<?xf32>)
  return %g#0, %g#1 : tensor<!calque.stack>, tensor<?xf32>
}

// An entry of integers has no cotangent, and no place among them.
// CHECK-LABEL: func.func @stack_push_integers(
// CHECK-SAME: %[[S:.*]]: tensor<!calque.stack>, %[[X:.*]]: tensor<?xi64>, %[[SEED:.*]]: tensor<!calque.stack>)
// CHECK-NEXT: %[[V0:.*]] = calque.stack_push %[[S]], %[[X]]
// CHECK-NEXT: return %[[SEED]]
func.func @stack_push_integers(%s: tensor<!calque.stack>, %x: tensor<?xi64>, %seed: tensor<!calque.stack>) -> tensor<!calque.stack> {
  %r = calque.stack_push %s, %x : (tensor<!calque.stack>, tensor<?xi64>) -> tensor<!calque.stack>
  %g = calque.gradient %r, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  return %g : tensor<!calque.stack>
}

// CHECK-LABEL: func.func @stack_push_forward(
// CHECK-SAME: %[[S:.*]]: tensor<!calque.stack>, %[[X:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.stack_push %[[S]], %[[X]]
// CHECK-NEXT: %[[NONE:.*]] = calque.constant {value = dense<false> : tensor<i1>}
// CHECK-NEXT: %[[V2:.*]] = calque.stack_empty %[[NONE]]
// CHECK-NEXT: %[[V3:.*]] = calque.stack_push %[[V2]], %[[T]]
// CHECK-NEXT: return %[[V3]]
func.func @stack_push_forward(%s: tensor<!calque.stack>, %x: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<!calque.stack> {
  %r = calque.stack_push %s, %x : (tensor<!calque.stack>, tensor<?xf32>) -> tensor<!calque.stack>
  %d = calque.jvp %r, %x, %t {counts = array<i64: 1, 1>} : (tensor<!calque.stack>, tensor<?xf32>, tensor<?xf32>) -> tensor<!calque.stack>
  return %d : tensor<!calque.stack>
}

// A stack for each example.
// CHECK-LABEL: func.func @stack_push_examples(
// CHECK-SAME: %[[S:.*]]: tensor<!calque.stack>, %[[X:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.where %[[V3]], %[[S]], %[[S]]
// CHECK-NEXT: %[[V5:.*]] = calque.stack_push %[[V4]], %[[X]]
// CHECK-NEXT: return %[[V5]]
func.func @stack_push_examples(%s: tensor<!calque.stack>, %x: tensor<?x3xf32>) -> tensor<?x!calque.stack> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %r = calque.stack_push %s, %e : (tensor<!calque.stack>, tensor<3xf32>) -> tensor<!calque.stack>
  %u = calque.unbatch %r, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<!calque.stack>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x!calque.stack>
  return %u : tensor<?x!calque.stack>
}

// CHECK-LABEL: func.func @stack_pop(
// CHECK-SAME: %[[S:.*]]: tensor<!calque.stack>, %[[LIKE:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.stack_pop %[[S]], %[[LIKE]]
// CHECK-NEXT: %[[NONE:.*]] = calque.constant {value = dense<false> : tensor<i1>}
// CHECK-NEXT: %[[V1:.*]] = calque.stack_empty %[[NONE]]
// CHECK-NEXT: %[[V2:.*]] = calque.stack_push %[[V1]], %[[SEED]]
// CHECK-NEXT: return %[[V2]]
func.func @stack_pop(%s: tensor<!calque.stack>, %like: tensor<?xf32>, %seed: tensor<?xf32>) -> tensor<!calque.stack> {
  %below, %entry = calque.stack_pop %s, %like : (tensor<!calque.stack>, tensor<?xf32>) -> (tensor<!calque.stack>, tensor<?xf32>)
  %g = calque.gradient %entry, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<!calque.stack>) -> tensor<!calque.stack>
  return %g : tensor<!calque.stack>
}

// CHECK-LABEL: func.func @stack_pop_below(
// CHECK-SAME: %[[S:.*]]: tensor<!calque.stack>, %[[LIKE:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<!calque.stack>)
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.stack_pop %[[S]], %[[LIKE]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[V0]], %[[ENTRY]]
// CHECK-NEXT: %[[V2:.*]] = calque.stack_push %[[SEED]], %[[V1]]
// CHECK-NEXT: return %[[V2]]
func.func @stack_pop_below(%s: tensor<!calque.stack>, %like: tensor<?xf32>, %seed: tensor<!calque.stack>) -> tensor<!calque.stack> {
  %below, %entry = calque.stack_pop %s, %like : (tensor<!calque.stack>, tensor<?xf32>) -> (tensor<!calque.stack>, tensor<?xf32>)
  %g = calque.gradient %below, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  return %g : tensor<!calque.stack>
}

// CHECK-LABEL: func.func @stack_pop_integers(
// CHECK-SAME: %[[S:.*]]: tensor<!calque.stack>, %[[LIKE:.*]]: tensor<?xi64>, %[[SEED:.*]]: tensor<!calque.stack>)
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.stack_pop %[[S]], %[[LIKE]]
// CHECK-NEXT: return %[[SEED]]
func.func @stack_pop_integers(%s: tensor<!calque.stack>, %like: tensor<?xi64>, %seed: tensor<!calque.stack>) -> tensor<!calque.stack> {
  %below, %entry = calque.stack_pop %s, %like : (tensor<!calque.stack>, tensor<?xi64>) -> (tensor<!calque.stack>, tensor<?xi64>)
  %g = calque.gradient %below, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  return %g : tensor<!calque.stack>
}

// CHECK-LABEL: func.func @stack_pop_forward(
// CHECK-SAME: %[[S:.*]]: tensor<!calque.stack>, %[[LIKE:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<!calque.stack>)
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.stack_pop %[[S]], %[[LIKE]]
// CHECK-NEXT: %[[BELOW_0:.*]], %[[ENTRY_1:.*]] = calque.stack_pop %[[T]], %[[LIKE]]
// CHECK-NEXT: return %[[BELOW_0]], %[[ENTRY_1]]
func.func @stack_pop_forward(%s: tensor<!calque.stack>, %like: tensor<?xf32>, %t: tensor<!calque.stack>) -> (tensor<!calque.stack>, tensor<?xf32>) {
  %below, %entry = calque.stack_pop %s, %like : (tensor<!calque.stack>, tensor<?xf32>) -> (tensor<!calque.stack>, tensor<?xf32>)
  %d:2 = calque.jvp %below, %entry, %s, %t {counts = array<i64: 2, 1>} : (tensor<!calque.stack>, tensor<?xf32>, tensor<!calque.stack>, tensor<!calque.stack>) -> (tensor<!calque.stack>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<!calque.stack>, tensor<?xf32>
}

// CHECK-LABEL: func.func @stack_pop_examples(
// CHECK-SAME: %[[S:.*]]: tensor<?x!calque.stack>, %[[LIKE:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.stack_is_empty %[[S]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.equal %[[V1]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V4:.*]] = calque.where %[[V3]], %[[LIKE]], %[[LIKE]]
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.stack_pop %[[S]], %[[V4]]
// CHECK-NEXT: return %[[ENTRY]]
func.func @stack_pop_examples(%s: tensor<?x!calque.stack>, %like: tensor<3xf32>) -> tensor<?x3xf32> {
  %e = calque.batch %s {axes = array<i64: 0>} : (tensor<?x!calque.stack>) -> tensor<!calque.stack>
  %below, %entry = calque.stack_pop %e, %like : (tensor<!calque.stack>, tensor<3xf32>) -> (tensor<!calque.stack>, tensor<3xf32>)
  %u = calque.unbatch %entry, %e, %s {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x3xf32>
  return %u : tensor<?x3xf32>
}

// What is pushed may be a stack itself, and its cotangent is one.
// CHECK-LABEL: func.func @stacks_on_stacks(
// CHECK-SAME: %[[S:.*]]: tensor<!calque.stack>, %[[X:.*]]: tensor<!calque.stack>, %[[SEED:.*]]: tensor<!calque.stack>)
// CHECK-NEXT: %[[V0:.*]] = calque.stack_push %[[S]], %[[X]]
// CHECK-NEXT: %[[BELOW:.*]], %[[ENTRY:.*]] = calque.stack_pop %[[SEED]], %[[X]]
// CHECK-NEXT: return %[[BELOW]], %[[ENTRY]]
func.func @stacks_on_stacks(%s: tensor<!calque.stack>, %x: tensor<!calque.stack>, %seed: tensor<!calque.stack>) -> (tensor<!calque.stack>, tensor<!calque.stack>) {
  %r = calque.stack_push %s, %x : (tensor<!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  %g:2 = calque.gradient %r, %seed, %s, %x {counts = array<i64: 1, 2, 0>} : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<!calque.stack>, tensor<!calque.stack>) -> (tensor<!calque.stack>, tensor<!calque.stack>)
  return %g#0, %g#1 : tensor<!calque.stack>, tensor<!calque.stack>
}

// The cotangents of a stack that is used twice are added as stacks, and none is zero, but empty.
// CHECK-LABEL: func.func @stack_used_twice(
// CHECK-SAME: %[[P:.*]]: tensor<?xi1>, %[[S:.*]]: tensor<?x!calque.stack>, %[[T:.*]]: tensor<?x!calque.stack>, %[[SEED:.*]]: tensor<?x!calque.stack>)
// CHECK: %[[EMPTY:.*]] = calque.stack_empty
// CHECK: %[[FIRST:.*]] = calque.where %[[P]], %[[SEED]], %[[EMPTY]]
// CHECK: %[[NOT:.*]] = calque.logical_not %[[P]]
// CHECK: %[[SECOND:.*]] = calque.where %[[NOT]], %[[SEED]], %{{.*}}
// CHECK: %[[SUM:.*]] = calque.stack_add %{{.*}}, %{{.*}}
// CHECK: return %[[SUM]]
func.func @stack_used_twice(%p: tensor<?xi1>, %s: tensor<?x!calque.stack>, %t: tensor<?x!calque.stack>, %seed: tensor<?x!calque.stack>) -> tensor<?x!calque.stack> {
  %u = calque.stack_add %s, %t : (tensor<?x!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
  %r = calque.where %p, %u, %s : (tensor<?xi1>, tensor<?x!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
  %g = calque.gradient %r, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<?x!calque.stack>, tensor<?x!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
  return %g : tensor<?x!calque.stack>
}

// CHECK-LABEL: func.func @stack_add_forward(
// CHECK-SAME: %[[S:.*]]: tensor<?x!calque.stack>, %[[T:.*]]: tensor<?x!calque.stack>, %[[D:.*]]: tensor<?x!calque.stack>)
// CHECK: %[[EMPTY:.*]] = calque.stack_empty %[[T]]
// CHECK-NEXT: %[[SUM:.*]] = calque.stack_add %[[D]], %[[EMPTY]]
// CHECK-NEXT: return %[[SUM]]
func.func @stack_add_forward(%s: tensor<?x!calque.stack>, %t: tensor<?x!calque.stack>, %d: tensor<?x!calque.stack>) -> tensor<?x!calque.stack> {
  %u = calque.stack_add %s, %t : (tensor<?x!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
  %r = calque.jvp %u, %s, %d {counts = array<i64: 1, 1>} : (tensor<?x!calque.stack>, tensor<?x!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
  return %r : tensor<?x!calque.stack>
}

// CHECK-LABEL: func.func @stack_add_examples(
// CHECK: calque.stack_add %{{.*}}, %{{.*}} : (tensor<?x!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
func.func @stack_add_examples(%s: tensor<?x!calque.stack>, %t: tensor<!calque.stack>) -> tensor<?x!calque.stack> {
  %e = calque.batch %s {axes = array<i64: 0>} : (tensor<?x!calque.stack>) -> tensor<!calque.stack>
  %r = calque.stack_add %e, %t : (tensor<!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  %u = calque.unbatch %r, %e, %s {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
  return %u : tensor<?x!calque.stack>
}

// A stack for each example is a stack that is used as often: its cotangent is the sum.
// CHECK-LABEL: func.func @repeated_stack(
// CHECK-SAME: %[[S:.*]]: tensor<!calque.stack>, %[[X:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?x!calque.stack>)
// CHECK: %[[SUM:.*]] = calque.stack_sum_like %[[SEED]], %[[S]] : (tensor<?x!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
// CHECK: return %[[SUM]]
func.func @repeated_stack(%s: tensor<!calque.stack>, %x: tensor<?xf32>, %seed: tensor<?x!calque.stack>) -> tensor<!calque.stack> {
  %r = calque.broadcast_like %s, %x : (tensor<!calque.stack>, tensor<?xf32>) -> tensor<?x!calque.stack>
  %g = calque.gradient %r, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<?x!calque.stack>, tensor<?x!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  return %g : tensor<!calque.stack>
}

// CHECK-LABEL: func.func @stack_sum_like(
// CHECK-SAME: %[[S:.*]]: tensor<?x!calque.stack>, %[[T:.*]]: tensor<!calque.stack>, %[[SEED:.*]]: tensor<!calque.stack>)
// CHECK: %[[G:.*]] = calque.broadcast_like %[[SEED]], %[[S]] : (tensor<!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
// CHECK: return %[[G]]
func.func @stack_sum_like(%s: tensor<?x!calque.stack>, %t: tensor<!calque.stack>, %seed: tensor<!calque.stack>) -> tensor<?x!calque.stack> {
  %r = calque.stack_sum_like %s, %t : (tensor<?x!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  %g = calque.gradient %r, %seed, %s {counts = array<i64: 1, 1, 0>} : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<?x!calque.stack>) -> tensor<?x!calque.stack>
  return %g : tensor<?x!calque.stack>
}

// CHECK-LABEL: func.func @stack_sum_like_forward(
// CHECK-SAME: %[[S:.*]]: tensor<?x!calque.stack>, %[[T:.*]]: tensor<!calque.stack>, %[[D:.*]]: tensor<?x!calque.stack>)
// CHECK: %[[R:.*]] = calque.stack_sum_like %[[D]], %[[T]]
// CHECK: return %[[R]]
func.func @stack_sum_like_forward(%s: tensor<?x!calque.stack>, %t: tensor<!calque.stack>, %d: tensor<?x!calque.stack>) -> tensor<!calque.stack> {
  %u = calque.stack_sum_like %s, %t : (tensor<?x!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  %r = calque.jvp %u, %s, %d {counts = array<i64: 1, 1>} : (tensor<!calque.stack>, tensor<?x!calque.stack>, tensor<?x!calque.stack>) -> tensor<!calque.stack>
  return %r : tensor<!calque.stack>
}

// CHECK-LABEL: func.func @stack_sum_like_examples(
// CHECK: calque.stack_sum_like %{{.*}}, %{{.*}} : (tensor<?x3x!calque.stack>, tensor<?x1x!calque.stack>) -> tensor<?x1x!calque.stack>
func.func @stack_sum_like_examples(%s: tensor<?x3x!calque.stack>, %t: tensor<!calque.stack>) -> tensor<?x!calque.stack> {
  %e = calque.batch %s {axes = array<i64: 0>} : (tensor<?x3x!calque.stack>) -> tensor<3x!calque.stack>
  %r = calque.stack_sum_like %e, %t : (tensor<3x!calque.stack>, tensor<!calque.stack>) -> tensor<!calque.stack>
  %u = calque.unbatch %r, %e, %s {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<!calque.stack>, tensor<3x!calque.stack>, tensor<?x3x!calque.stack>) -> tensor<?x!calque.stack>
  return %u : tensor<?x!calque.stack>
}

// CHECK-LABEL: func.func @empty_stack_examples(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[S:.*]] = calque.stack_empty %[[X]] : (tensor<?xf32>) -> tensor<?x!calque.stack>
// CHECK-NEXT: %[[R:.*]] = calque.stack_is_empty %[[S]] : (tensor<?x!calque.stack>) -> tensor<?xi1>
// CHECK-NEXT: return %[[R]]
func.func @empty_stack_examples(%x: tensor<?xf32>) -> tensor<?xi1> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %s = calque.stack_empty %e : (tensor<f32>) -> tensor<!calque.stack>
  %r = calque.stack_is_empty %s : (tensor<!calque.stack>) -> tensor<i1>
  %u = calque.unbatch %r, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<i1>, tensor<f32>, tensor<?xf32>) -> tensor<?xi1>
  return %u : tensor<?xi1>
}

// The slice's cotangent is that at the index; that of the tensor is 0 there.
// CHECK-LABEL: func.func @update_at(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<i64>, %[[Y:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.update_at %[[X]], %[[I]], %[[Y]] {axis = 1 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.gather %[[SEED]], %[[I]] {axis = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V3:.*]] = calque.broadcast_like %[[V2]], %[[Y]]
// CHECK-NEXT: %[[V4:.*]] = calque.update_at %[[SEED]], %[[I]], %[[V3]] {axis = 1 : i64}
// CHECK-NEXT: return %[[V4]], %[[V1]]
func.func @update_at(%x: tensor<?x3xf32>, %i: tensor<i64>, %y: tensor<?xf32>, %seed: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?xf32>) {
  %r = calque.update_at %x, %i, %y {axis = 1 : i64} : (tensor<?x3xf32>, tensor<i64>, tensor<?xf32>) -> tensor<?x3xf32>
  %g:2 = calque.gradient %r, %seed, %x, %y {counts = array<i64: 1, 2, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?xf32>) -> (tensor<?x3xf32>, tensor<?xf32>)
  return %g#0, %g#1 : tensor<?x3xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @update_at_slice(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<i64>, %[[Y:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.update_at %[[X]], %[[I]], %[[Y]] {axis = 1 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.gather %[[SEED]], %[[I]] {axis = 1 : i64}
// CHECK-NEXT: return %[[V1]]
func.func @update_at_slice(%x: tensor<?x3xf32>, %i: tensor<i64>, %y: tensor<?xf32>, %seed: tensor<?x3xf32>) -> tensor<?xf32> {
  %r = calque.update_at %x, %i, %y {axis = 1 : i64} : (tensor<?x3xf32>, tensor<i64>, tensor<?xf32>) -> tensor<?x3xf32>
  %g = calque.gradient %r, %seed, %y {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %g : tensor<?xf32>
}

// CHECK-LABEL: func.func @update_at_forward(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<i64>, %[[Y:.*]]: tensor<?xf32>, %[[TX:.*]]: tensor<?x3xf32>, %[[TY:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.update_at %[[X]], %[[I]], %[[Y]] {axis = -1 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.update_at %[[TX]], %[[I]], %[[TY]] {axis = -1 : i64}
// CHECK-NEXT: return %[[V1]]
func.func @update_at_forward(%x: tensor<?x3xf32>, %i: tensor<i64>, %y: tensor<?xf32>, %tx: tensor<?x3xf32>, %ty: tensor<?xf32>) -> tensor<?x3xf32> {
  %r = calque.update_at %x, %i, %y {axis = -1 : i64} : (tensor<?x3xf32>, tensor<i64>, tensor<?xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %r, %x, %y, %tx, %ty {counts = array<i64: 1, 2>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @update_at_forward_of_slice(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<i64>, %[[Y:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.update_at %[[X]], %[[I]], %[[Y]] {axis = 1 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[X]]
// CHECK-NEXT: %[[V3:.*]] = calque.update_at %[[V2]], %[[I]], %[[T]] {axis = 1 : i64}
// CHECK-NEXT: return %[[V3]]
func.func @update_at_forward_of_slice(%x: tensor<?x3xf32>, %i: tensor<i64>, %y: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<?x3xf32> {
  %r = calque.update_at %x, %i, %y {axis = 1 : i64} : (tensor<?x3xf32>, tensor<i64>, tensor<?xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %r, %y, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @update_at_examples(
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32>, %[[I:.*]]: tensor<i64>, %[[Y:.*]]: tensor<?x4xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[Y]], %[[Y]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[X]], %[[X]]
// CHECK-NEXT: %[[V6:.*]] = calque.update_at %[[V5]], %[[I]], %[[Y]] {axis = 2 : i64}
// CHECK-NEXT: return %[[V6]]
func.func @update_at_examples(%x: tensor<4x3xf32>, %i: tensor<i64>, %y: tensor<?x4xf32>) -> tensor<?x4x3xf32> {
  %e = calque.batch %y {axes = array<i64: 0>} : (tensor<?x4xf32>) -> tensor<4xf32>
  %r = calque.update_at %x, %i, %e {axis = -1 : i64} : (tensor<4x3xf32>, tensor<i64>, tensor<4xf32>) -> tensor<4x3xf32>
  %u = calque.unbatch %r, %e, %y {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<4x3xf32>, tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x4x3xf32>
  return %u : tensor<?x4x3xf32>
}

// An index for each example: one after the other.
// CHECK-LABEL: func.func @update_at_each(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[I:.*]]: tensor<2xi64>, %[[Y:.*]]: tensor<f32>)
// CHECK-NEXT: %[[V0:.*]] = calque.slice %[[I]] {limits = array<i64: 1>, starts = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64>}
// CHECK-NEXT: %[[V2:.*]] = calque.update_at %[[X]], %[[V1]], %[[Y]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.slice %[[I]] {limits = array<i64: 2>, starts = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.reshape %[[V4]] {shape = array<i64>}
// CHECK-NEXT: %[[V6:.*]] = calque.update_at %[[X]], %[[V5]], %[[Y]] {axis = 0 : i64}
// CHECK-NEXT: %[[V7:.*]] = calque.expand_dims %[[V6]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V8:.*]] = calque.concat %[[V3]], %[[V7]]
// CHECK-NEXT: return %[[V8]]
func.func @update_at_each(%x: tensor<3xf32>, %i: tensor<2xi64>, %y: tensor<f32>) -> tensor<2x3xf32> {
  %e = calque.batch %i {axes = array<i64: 0>} : (tensor<2xi64>) -> tensor<i64>
  %r = calque.update_at %x, %e, %y {axis = 0 : i64} : (tensor<3xf32>, tensor<i64>, tensor<f32>) -> tensor<3xf32>
  %u = calque.unbatch %r, %e, %i {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<i64>, tensor<2xi64>) -> tensor<2x3xf32>
  return %u : tensor<2x3xf32>
}

// Of a loop variable that is updated and read by slices alone, the slices are kept. What passes to one is added there.
// CHECK-LABEL: func.func @reads(
// CHECK: calque.while
// CHECK: ^bb0(%{{.*}}: tensor<i64>, %[[A:.*]]: tensor<9x?xf32>, %{{.*}}: tensor<i64>, %{{.*}}: tensor<!calque.stack>, %[[STACK:.*]]: tensor<!calque.stack>, %{{.*}}: tensor<?xf32>, %{{.*}}: tensor<i64>):
// CHECK: %[[S:.*]] = calque.gather %[[A]],
// CHECK-NEXT: %[[PUSHED:.*]] = calque.stack_push %[[STACK]], %[[S]] : (tensor<!calque.stack>, tensor<?xf32>)
// CHECK-NOT: calque.stack_push
// CHECK: vector.yield {{.*}}, %[[PUSHED]] :
// CHECK: calque.while
// CHECK: %{{.*}}, %[[I:.*]] = calque.stack_pop %{{.*}} : (tensor<!calque.stack>, tensor<i64>)
// CHECK: %{{.*}}, %[[READ:.*]] = calque.stack_pop %{{.*}} : (tensor<!calque.stack>, tensor<?xf32>)
// CHECK: %[[BEFORE:.*]] = calque.sub %[[I]],
// CHECK: %[[G:.*]] = calque.gather %[[COTANGENT:.*]], %[[I]]
// CHECK: %[[ZERO:.*]] = calque.update_at %[[COTANGENT]], %[[I]],
// CHECK: calque.mul %[[G]], %[[READ]]
// CHECK: %[[PUT:.*]] = calque.gather_put %{{.*}}, %{{.*}}, %[[BEFORE]]
// CHECK: %[[SUM:.*]] = calque.add %[[ZERO]], %[[PUT]]
// CHECK: vector.yield {{.*}}, %[[SUM]], %{{.*}} :
func.func @reads(%x: tensor<9x?xf32>, %y: tensor<?xf32>, %n: tensor<i64>, %seed: tensor<9x?xf32>) -> (tensor<9x?xf32>, tensor<?xf32>) {
  %first = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %first, %x, %y, %n : (tensor<i64>, tensor<9x?xf32>, tensor<?xf32>, tensor<i64>) -> (tensor<i64>, tensor<9x?xf32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<9x?xf32>, %b: tensor<?xf32>, %m: tensor<i64>):
    %c = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %a: tensor<9x?xf32>, %b: tensor<?xf32>, %m: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %before = calque.sub %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %s = calque.gather %a, %before {axis = 0 : i64} : (tensor<9x?xf32>, tensor<i64>) -> tensor<?xf32>
    %t = calque.mul %s, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %u = calque.update_at %a, %i, %t {axis = 0 : i64} : (tensor<9x?xf32>, tensor<i64>, tensor<?xf32>) -> tensor<9x?xf32>
    %next = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %next, %u : tensor<i64>, tensor<9x?xf32>
  }
  %g:2 = calque.gradient %r#1, %seed, %x, %y {counts = array<i64: 1, 2, 0>} : (tensor<9x?xf32>, tensor<9x?xf32>, tensor<9x?xf32>, tensor<?xf32>) -> (tensor<9x?xf32>, tensor<?xf32>)
  return %g#0, %g#1 : tensor<9x?xf32>, tensor<?xf32>
}

// A slice of what was updated in the iteration is computed again from the whole, which is kept.
// CHECK-LABEL: func.func @reads_updated(
// CHECK: calque.while
// CHECK: calque.stack_push %{{.*}}, %{{.*}} : (tensor<!calque.stack>, tensor<9xf32>)
// CHECK: calque.gather
// CHECK-NOT: calque.stack_push
// CHECK: calque.while
func.func @reads_updated(%x: tensor<9xf32>, %n: tensor<i64>, %seed: tensor<9xf32>) -> tensor<9xf32> {
  %first = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %first, %x, %n : (tensor<i64>, tensor<9xf32>, tensor<i64>) -> (tensor<i64>, tensor<9xf32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<9xf32>, %m: tensor<i64>):
    %c = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %a: tensor<9xf32>, %m: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %s = calque.gather %a, %i {axis = 0 : i64} : (tensor<9xf32>, tensor<i64>) -> tensor<f32>
    %t = calque.exp %s : (tensor<f32>) -> tensor<f32>
    %u = calque.update_at %a, %i, %t {axis = 0 : i64} : (tensor<9xf32>, tensor<i64>, tensor<f32>) -> tensor<9xf32>
    %v = calque.gather %u, %one {axis = 0 : i64} : (tensor<9xf32>, tensor<i64>) -> tensor<f32>
    %w = calque.exp %v : (tensor<f32>) -> tensor<f32>
    %y = calque.update_at %u, %one, %w {axis = 0 : i64} : (tensor<9xf32>, tensor<i64>, tensor<f32>) -> tensor<9xf32>
    %next = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %next, %y : tensor<i64>, tensor<9xf32>
  }
  %g = calque.gradient %r#1, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  return %g : tensor<9xf32>
}

// What the host gives is kept, so that the reverse does not ask again.
// CHECK-LABEL: func.func @host_call_in_loop(
// CHECK: calque.while
// CHECK: %[[GIVEN:.*]] = calque.host_call
// CHECK-NEXT: calque.stack_push %{{.*}}, %[[GIVEN]] : (tensor<!calque.stack>, tensor<2xf64>)
// CHECK: calque.while
// CHECK: %{{.*}}, %[[ENTRY:.*]] = calque.stack_pop %{{.*}} : (tensor<!calque.stack>, tensor<2xf64>)
// CHECK-NOT: calque.host_call
// CHECK: calque.mul %{{.*}}, %[[ENTRY]]
// CHECK-NOT: calque.host_call
// CHECK: return
func.func @host_call_in_loop(%x: tensor<f64>, %seed: tensor<f64>) -> tensor<f64> {
  %z = calque.constant {value = dense<0.0> : tensor<f64>} : () -> tensor<f64>
  %r:2 = calque.while %x, %z, %x : (tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  ^bb0(%a: tensor<f64>, %s: tensor<f64>, %w: tensor<f64>):
    %0 = calque.less %a, %w : (tensor<f64>, tensor<f64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%a: tensor<f64>, %s: tensor<f64>, %w: tensor<f64>):
    %h = calque.host_call %a {callee = 0 : i64, types = array<i64: 4, 1, 2>} : (tensor<f64>) -> tensor<2xf64>
    %m = calque.mul %w, %h : (tensor<f64>, tensor<2xf64>) -> tensor<2xf64>
    %t = calque.reduce_sum %m {axes = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
    %u = calque.add %s, %t : (tensor<f64>, tensor<f64>) -> tensor<f64>
    vector.yield %a, %u : tensor<f64>, tensor<f64>
  }
  %g = calque.gradient %r#1, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %g : tensor<f64>
}
