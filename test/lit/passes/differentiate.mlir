// What the pass does whatever the operations are: which of them it reverses, and how cotangents meet. The reverse rules
// themselves are in differentiate-<family>.mlir.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// A broadcast operand's cotangent is summed; that of an operand which no source reaches is not made.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[X:.*]]: tensor<3x2xf64>, %[[B:.*]]: tensor<2xf64>, %[[SEED:.*]]: tensor<3x2xf64>)
// CHECK-NEXT: calque.add
// CHECK-NEXT: %[[G:.*]] = calque.sum_like %[[SEED]], %[[B]]
// CHECK-NEXT: return %[[G]]
func.func @broadcast(%x: tensor<3x2xf64>, %b: tensor<2xf64>, %seed: tensor<3x2xf64>) -> tensor<2xf64> {
  %y = calque.add %x, %b : (tensor<3x2xf64>, tensor<2xf64>) -> tensor<3x2xf64>
  %g = calque.gradient %y, %seed, %b {counts = array<i64: 1, 1, 0>} : (tensor<3x2xf64>, tensor<3x2xf64>, tensor<2xf64>) -> tensor<2xf64>
  return %g : tensor<2xf64>
}

// Nothing is summed where all sizes are known and equal.
// CHECK-LABEL: func.func @known(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[SEED:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.exp %[[X]]
// CHECK-NEXT: %[[G:.*]] = calque.mul %[[SEED]], %[[Y]]
// CHECK-NEXT: return %[[G]]
func.func @known(%x: tensor<3xf32>, %seed: tensor<3xf32>) -> tensor<3xf32> {
  %y = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}

// Two uses of a value give it two cotangents, which are added.
// CHECK-LABEL: func.func @used_twice(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[SEED:.*]]: tensor<3xf32>)
// CHECK-NEXT: calque.mul %[[X]], %[[X]]
// CHECK-NEXT: %[[L:.*]] = calque.mul %[[SEED]], %[[X]]
// CHECK-NEXT: %[[R:.*]] = calque.mul %[[SEED]], %[[X]]
// CHECK-NEXT: %[[G:.*]] = calque.add %[[L]], %[[R]]
// CHECK-NEXT: return %[[G]]
func.func @used_twice(%x: tensor<3xf32>, %seed: tensor<3xf32>) -> tensor<3xf32> {
  %y = calque.mul %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}

// Each of two targets adds its part.
// CHECK-LABEL: func.func @two_targets(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[SEED1:.*]]: tensor<3xf32>, %[[SEED2:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.exp %[[X]]
// CHECK-NEXT: calque.sin %[[X]]
// CHECK-NEXT: %[[COS:.*]] = calque.cos %[[X]]
// CHECK-NEXT: %[[G2:.*]] = calque.mul %[[SEED2]], %[[COS]]
// CHECK-NEXT: %[[G1:.*]] = calque.mul %[[SEED1]], %[[Y]]
// CHECK-NEXT: %[[G:.*]] = calque.add %[[G2]], %[[G1]]
// CHECK-NEXT: return %[[G]]
func.func @two_targets(%x: tensor<3xf32>, %seed1: tensor<3xf32>, %seed2: tensor<3xf32>) -> tensor<3xf32> {
  %y = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %z = calque.sin %x : (tensor<3xf32>) -> tensor<3xf32>
  %g = calque.gradient %y, %z, %seed1, %seed2, %x {counts = array<i64: 2, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}

// A target on the way to another: its seed joins what comes from there. A value on the way may be a source, too.
// CHECK-LABEL: func.func @on_the_way(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[SEED1:.*]]: tensor<3xf32>, %[[SEED2:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.exp %[[X]]
// CHECK-NEXT: calque.neg %[[Y]]
// CHECK-NEXT: %[[G2:.*]] = calque.neg %[[SEED2]]
// CHECK-NEXT: %[[GY:.*]] = calque.add %[[SEED1]], %[[G2]]
// CHECK-NEXT: %[[GX:.*]] = calque.mul %[[GY]], %[[Y]]
// CHECK-NEXT: return %[[GX]], %[[GY]]
func.func @on_the_way(%x: tensor<3xf32>, %seed1: tensor<3xf32>, %seed2: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %z = calque.neg %y : (tensor<3xf32>) -> tensor<3xf32>
  %g:2 = calque.gradient %y, %z, %seed1, %seed2, %x, %y {counts = array<i64: 2, 2, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %g#0, %g#1 : tensor<3xf32>, tensor<3xf32>
}

// A target that is the source gives its seed.
// CHECK-LABEL: func.func @itself(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK-NEXT: return %[[SEED]], %[[SEED]]
func.func @itself(%x: tensor<?xf32>, %seed: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %g:2 = calque.gradient %x, %seed, %x, %x {counts = array<i64: 1, 2, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %g#0, %g#1 : tensor<?xf32>, tensor<?xf32>
}

// Without sources nothing is left.
// CHECK-LABEL: func.func @no_source(
// CHECK-NEXT: calque.exp
// CHECK-NEXT: return
func.func @no_source(%x: tensor<3xf32>, %seed: tensor<3xf32>) {
  %y = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  calque.gradient %y, %seed {counts = array<i64: 1, 0, 0>} : (tensor<3xf32>, tensor<3xf32>) -> ()
  return
}

// Operations that don't lie between source and target, or that come later, emit nothing.
// CHECK-LABEL: func.func @off_the_path(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[SEED:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[FACTOR:.*]] = calque.exp %[[SEED]]
// CHECK-NEXT: calque.exp %[[X]]
// CHECK-NEXT: %[[Y:.*]] = calque.mul %[[X]], %[[FACTOR]]
// CHECK-NEXT: %[[G:.*]] = calque.mul %[[SEED]], %[[FACTOR]]
// CHECK-NEXT: calque.exp %[[Y]]
// CHECK-NEXT: return %[[G]]
func.func @off_the_path(%x: tensor<3xf32>, %seed: tensor<3xf32>) -> tensor<3xf32> {
  %factor = calque.exp %seed : (tensor<3xf32>) -> tensor<3xf32>
  %aside = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %y = calque.mul %x, %factor : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %later = calque.exp %y : (tensor<3xf32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}

// Nothing passes a stop: the tape did not see how %y was made.
// CHECK-LABEL: func.func @stop(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK-NEXT: calque.exp
// CHECK-NEXT: calque.sin
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[G:.*]] = calque.broadcast_like %[[ZERO]], %[[X]]
// CHECK-NEXT: return %[[G]]
func.func @stop(%x: tensor<?xf32>, %seed: tensor<?xf32>) -> tensor<?xf32> {
  %y = calque.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %z = calque.sin %y : (tensor<?xf32>) -> tensor<?xf32>
  %g = calque.gradient %z, %seed, %x, %y {counts = array<i64: 1, 1, 1>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %g : tensor<?xf32>
}

// A source that is a stop has its own cotangent and passes nothing on.
// CHECK-LABEL: func.func @stopped_source(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[SEED:.*]]: tensor<3xf32>)
// CHECK-NEXT: calque.exp
// CHECK-NEXT: calque.neg
// CHECK-NEXT: %[[GY:.*]] = calque.neg %[[SEED]]
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[GX:.*]] = calque.broadcast_like %[[ZERO]], %[[X]]
// CHECK-NEXT: return %[[GX]], %[[GY]]
func.func @stopped_source(%x: tensor<3xf32>, %seed: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %z = calque.neg %y : (tensor<3xf32>) -> tensor<3xf32>
  %g:2 = calque.gradient %z, %seed, %x, %y, %y {counts = array<i64: 1, 2, 1>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %g#0, %g#1 : tensor<3xf32>, tensor<3xf32>
}

// Nor does it pass anything on beside a result of the same operation that the tape would have followed.
// CHECK-LABEL: func.func @stopped_beside_another(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[SEED:.*]]: tensor<3xf32>)
// CHECK: vector.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[GX:.*]] = calque.broadcast_like %[[ZERO]], %[[X]]
// CHECK-NEXT: return %[[GX]], %[[SEED]]
func.func @stopped_beside_another(%x: tensor<3xf32>, %seed: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %a = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %y:2 = calque.custom_gradient %x, %a, %x {counts = array<i64: 1, 2, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  ^bb0(%g: tensor<3xf32>, %h: tensor<3xf32>):
    %sum = calque.add %g, %h : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    vector.yield %sum : tensor<3xf32>
  }
  %g:2 = calque.gradient %y#0, %seed, %x, %y#0, %y#0 {counts = array<i64: 1, 2, 1>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %g#0, %g#1 : tensor<3xf32>, tensor<3xf32>
}

// Nothing passes an integer, though casts on both sides of it have rules.
// CHECK-LABEL: func.func @through_integers(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[SEED:.*]]: tensor<?xf32>)
// CHECK-NEXT: calque.cast
// CHECK-NEXT: calque.cast
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant
// CHECK-NEXT: %[[G:.*]] = calque.broadcast_like %[[ZERO]], %[[X]]
// CHECK-NEXT: return %[[G]]
func.func @through_integers(%x: tensor<?xf32>, %seed: tensor<?xf32>) -> tensor<?xf32> {
  %i = calque.cast %x {dtype = i64} : (tensor<?xf32>) -> tensor<?xi64>
  %y = calque.cast %i {dtype = f32} : (tensor<?xi64>) -> tensor<?xf32>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %g : tensor<?xf32>
}

// Two gradients of one function are expanded each in its place.
// CHECK-LABEL: func.func @two_gradients(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[SEED:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.exp %[[X]]
// CHECK-NEXT: %[[G:.*]] = calque.mul %[[SEED]], %[[Y]]
// CHECK-NEXT: calque.sin %[[X]]
// CHECK-NEXT: %[[COS:.*]] = calque.cos %[[X]]
// CHECK-NEXT: %[[H:.*]] = calque.mul %[[SEED]], %[[COS]]
// CHECK-NEXT: return %[[G]], %[[H]]
func.func @two_gradients(%x: tensor<3xf32>, %seed: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %z = calque.sin %x : (tensor<3xf32>) -> tensor<3xf32>
  %h = calque.gradient %z, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %g, %h : tensor<3xf32>, tensor<3xf32>
}
