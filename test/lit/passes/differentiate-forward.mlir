// The forward rules, on unknown sizes: each emits the tangent of its result from those of its operands. The rules themselves are
// tested on numbers elsewhere.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

//===-- What the pass does whatever the operations are --------------------------------------------===//

// Nothing is emitted off the path from a source to a target, nor for what comes later.
// CHECK-LABEL: func.func @off_the_path(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<?xf32>)
// CHECK-NEXT: calque.exp %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.exp %[[T]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[X]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: calque.exp %[[V1]]
// CHECK-NEXT: return %[[V2]]
func.func @off_the_path(%x: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<?xf32> {
  %aside = calque.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  %factor = calque.exp %t : (tensor<?xf32>) -> tensor<?xf32>
  %y = calque.mul %x, %factor : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %later = calque.exp %y : (tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// Two targets, one on the way to the other, and two sources.
// CHECK-LABEL: func.func @several(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Z:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<?xf32>, %[[U:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.sin %[[X]]
// CHECK-NEXT: calque.mul %[[V0]], %[[Z]]
// CHECK-NEXT: %[[V1:.*]] = calque.cos %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[T]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[V2]], %[[Z]]
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[U]], %[[V0]]
// CHECK-NEXT: %[[V5:.*]] = calque.add %[[V3]], %[[V4]]
// CHECK-NEXT: return %[[V5]], %[[V2]]
func.func @several(%x: tensor<?xf32>, %z: tensor<?xf32>, %t: tensor<?xf32>, %u: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %y = calque.sin %x : (tensor<?xf32>) -> tensor<?xf32>
  %w = calque.mul %y, %z : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %d:2 = calque.jvp %w, %y, %x, %z, %t, %u {counts = array<i64: 2, 2>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<?xf32>, tensor<?xf32>
}

// A target that is a source moves as its tangent says; a source on the way to a target replaces what comes from before it.
// CHECK-LABEL: func.func @sources(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[T:.*]]: tensor<3xf32>, %[[U:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.exp %[[X]]
// CHECK-NEXT: calque.neg %[[V0]]
// CHECK-NEXT: %[[V1:.*]] = calque.neg %[[U]]
// CHECK-NEXT: return %[[T]], %[[V1]]
func.func @sources(%x: tensor<3xf32>, %t: tensor<3xf32>, %u: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %z = calque.neg %y : (tensor<3xf32>) -> tensor<3xf32>
  %d:2 = calque.jvp %x, %z, %x, %y, %t, %u {counts = array<i64: 2, 2>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %d#0, %d#1 : tensor<3xf32>, tensor<3xf32>
}

// What no source moves has zeros; integers pass nothing on, nor does what has no derivative.
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[OTHER:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.cast %[[X]] {dtype = i32}
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = f32}
// CHECK-NEXT: %[[V2:.*]] = calque.stop_gradient %[[X]]
// CHECK-NEXT: %[[V3:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V4:.*]] = calque.broadcast_like %[[V3]], %[[OTHER]]
// CHECK-NEXT: %[[V5:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V6:.*]] = calque.broadcast_like %[[V5]], %[[V1]]
// CHECK-NEXT: %[[V7:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V8:.*]] = calque.broadcast_like %[[V7]], %[[V2]]
// CHECK-NEXT: return %[[V4]], %[[V6]], %[[V8]]
func.func @nothing(%x: tensor<?xf32>, %other: tensor<?x3xf32>, %t: tensor<?xf32>) -> (tensor<?x3xf32>, tensor<?xf32>, tensor<?xf32>) {
  %i = calque.cast %x {dtype = i32} : (tensor<?xf32>) -> tensor<?xi32>
  %y = calque.cast %i {dtype = f32} : (tensor<?xi32>) -> tensor<?xf32>
  %z = calque.stop_gradient %x : (tensor<?xf32>) -> tensor<?xf32>
  %d:3 = calque.jvp %other, %y, %z, %x, %t {counts = array<i64: 3, 1>} : (tensor<?x3xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x3xf32>, tensor<?xf32>, tensor<?xf32>)
  return %d#0, %d#1, %d#2 : tensor<?x3xf32>, tensor<?xf32>, tensor<?xf32>
}

// A tangent has its value's type, whatever the rule knows.
// CHECK-LABEL: func.func @type(
// CHECK-SAME: %[[A:.*]]: tensor<?x3xf32>, %[[B:.*]]: tensor<4x?xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.add %[[A]], %[[B]]
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[T]], %[[V0]]
// CHECK-NEXT: return %[[V1]]
func.func @type(%a: tensor<?x3xf32>, %b: tensor<4x?xf32>, %t: tensor<?x3xf32>) -> tensor<4x3xf32> {
  %y = calque.add %a, %b : (tensor<?x3xf32>, tensor<4x?xf32>) -> tensor<4x3xf32>
  %d = calque.jvp %y, %a, %t {counts = array<i64: 1, 1>} : (tensor<4x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<4x3xf32>
  return %d : tensor<4x3xf32>
}

// In a region, the path is followed through the blocks around it.
// CHECK-LABEL: func.func @path_outside(
// CHECK-SAME: %[[C:.*]]: i1, %[[X:.*]]: tensor<f32>, %[[T:.*]]: tensor<f32>)
// CHECK-NEXT: %[[V0:.*]] = calque.exp %[[X]]
// CHECK-NEXT: %[[V1:.*]] = scf.if %[[C]] -> (tensor<f32>) {
// CHECK-NEXT: calque.neg %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: %[[V3:.*]] = calque.neg %[[V2]]
// CHECK-NEXT: scf.yield %[[V3]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[X]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[V1]]
func.func @path_outside(%c: i1, %x: tensor<f32>, %t: tensor<f32>) -> tensor<f32> {
  %y = calque.exp %x : (tensor<f32>) -> tensor<f32>
  %r = scf.if %c -> tensor<f32> {
    %z = calque.neg %y : (tensor<f32>) -> tensor<f32>
    %d = calque.jvp %z, %x, %t {counts = array<i64: 1, 1>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %d : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %r : tensor<f32>
}

//===-- Transformations of transformations --------------------------------------------------------===//

// The tangent of a tangent.
// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:.*]]: tensor<?xf64>, %[[T:.*]]: tensor<?xf64>, %[[U:.*]]: tensor<?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.exp %[[X]]
// CHECK-NEXT: calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[U]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[V1]], %[[T]]
// CHECK-NEXT: return %[[V2]]
func.func @jvp(%x: tensor<?xf64>, %t: tensor<?xf64>, %u: tensor<?xf64>) -> tensor<?xf64> {
  %y = calque.exp %x : (tensor<?xf64>) -> tensor<?xf64>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %dd = calque.jvp %d, %x, %u {counts = array<i64: 1, 1>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %dd : tensor<?xf64>
}

// The gradient of a tangent.
// CHECK-LABEL: func.func @reverse_over_forward(
// CHECK-SAME: %[[X:.*]]: tensor<3xf64>, %[[T:.*]]: tensor<3xf64>, %[[G:.*]]: tensor<3xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.exp %[[X]]
// CHECK-NEXT: calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[G]], %[[T]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[V1]], %[[V0]]
// CHECK-NEXT: return %[[V2]]
func.func @reverse_over_forward(%x: tensor<3xf64>, %t: tensor<3xf64>, %g: tensor<3xf64>) -> tensor<3xf64> {
  %y = calque.exp %x : (tensor<3xf64>) -> tensor<3xf64>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %dd = calque.gradient %d, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  return %dd : tensor<3xf64>
}

// The tangent of a gradient.
// CHECK-LABEL: func.func @gradient(
// CHECK-SAME: %[[X:.*]]: tensor<?xf64>, %[[G:.*]]: tensor<?xf64>, %[[T:.*]]: tensor<?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.exp %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[G]], %[[V0]]
// CHECK-NEXT: calque.sum_like %[[V1]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[V2]], %[[G]]
// CHECK-NEXT: %[[V4:.*]] = calque.sum_like %[[V3]], %[[X]]
// CHECK-NEXT: return %[[V4]]
func.func @gradient(%x: tensor<?xf64>, %g: tensor<?xf64>, %t: tensor<?xf64>) -> tensor<?xf64> {
  %y = calque.exp %x : (tensor<?xf64>) -> tensor<?xf64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %dd = calque.jvp %d, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %dd : tensor<?xf64>
}

// The tangent of what is done for many examples.
// CHECK-LABEL: func.func @batch(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[T:.*]]: tensor<?x3xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.identity %[[X]]
// CHECK-NEXT: calque.square %[[V0]]
// CHECK-NEXT: %[[V1:.*]] = calque.identity %[[T]]
// CHECK-NEXT: %[[V2:.*]] = calque.constant {value = dense<2.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[V2]], %[[V0]]
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[V1]], %[[V3]]
// CHECK-NEXT: return %[[V4]]
func.func @batch(%x: tensor<?x3xf64>, %t: tensor<?x3xf64>) -> tensor<?x3xf64> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x3xf64>) -> tensor<3xf64>
  %s = calque.square %e : (tensor<3xf64>) -> tensor<3xf64>
  %y = calque.unbatch %s, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf64>, tensor<3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}

// Derivatives with respect to another value see nothing that was computed from the first.
// CHECK-LABEL: func.func @identity(
// CHECK-SAME: %[[X:.*]]: tensor<?xf64>, %[[T:.*]]: tensor<?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.identity %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[X]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[T]], %[[X]]
// CHECK-NEXT: calque.identity %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.identity %[[T]]
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: %[[V5:.*]] = calque.mul %[[V3]], %[[X]]
// CHECK-NEXT: %[[V6:.*]] = calque.add %[[V4]], %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = calque.identity %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.add %[[V2]], %[[V7]]
// CHECK-NEXT: return %[[V8]]
func.func @identity(%x: tensor<?xf64>, %t: tensor<?xf64>) -> tensor<?xf64> {
  %z = calque.identity %x : (tensor<?xf64>) -> tensor<?xf64>
  %y = calque.mul %x, %z : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %d = calque.jvp %y, %z, %t {counts = array<i64: 1, 1>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %w = calque.identity %y : (tensor<?xf64>) -> tensor<?xf64>
  %dd = calque.jvp %w, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %s = calque.add %d, %dd : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %s : tensor<?xf64>
}

//===-- Elementwise -------------------------------------------------------------------------------===//
// All others are in differentiate-each.mlir.

// CHECK-LABEL: func.func @cast(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<?xf32>)
// CHECK-NEXT: calque.cast %[[X]] {dtype = f64}
// CHECK-NEXT: %[[V0:.*]] = calque.cast %[[T]] {dtype = f64}
// CHECK-NEXT: return %[[V0]]
func.func @cast(%x: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<?xf64> {
  %y = calque.cast %x {dtype = f64} : (tensor<?xf32>) -> tensor<?xf64>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf64>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf64>
  return %d : tensor<?xf64>
}

// A broadcast operand's tangent is broadcast, alone and with the others'.
// CHECK-LABEL: func.func @add(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[B:.*]]: tensor<3xf32>, %[[T:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.add %[[X]], %[[B]]
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[T]], %[[V0]]
// CHECK-NEXT: return %[[V1]]
func.func @add(%x: tensor<?x3xf32>, %b: tensor<3xf32>, %t: tensor<3xf32>) -> tensor<?x3xf32> {
  %y = calque.add %x, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %b, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @where(
// CHECK-SAME: %[[C:.*]]: tensor<?x1xi1>, %[[X:.*]]: tensor<3xf32>, %[[Z:.*]]: tensor<f32>, %[[T:.*]]: tensor<3xf32>, %[[U:.*]]: tensor<f32>)
// CHECK-NEXT: calque.where %[[C]], %[[X]], %[[Z]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.where %[[C]], %[[T]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.logical_not %[[C]]
// CHECK-NEXT: %[[V3:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V4:.*]] = calque.where %[[V2]], %[[U]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.add %[[V1]], %[[V4]]
// CHECK-NEXT: return %[[V5]]
func.func @where(%c: tensor<?x1xi1>, %x: tensor<3xf32>, %z: tensor<f32>, %t: tensor<3xf32>, %u: tensor<f32>) -> tensor<?x3xf32> {
  %y = calque.where %c, %x, %z : (tensor<?x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %x, %z, %t, %u {counts = array<i64: 1, 2>} : (tensor<?x3xf32>, tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

//===-- Reductions --------------------------------------------------------------------------------===//

// CHECK-LABEL: func.func @reduce_sum(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.reduce_sum %[[X]] {axes = array<i64: -1>}
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_sum %[[T]] {axes = array<i64: -1>}
// CHECK-NEXT: return %[[V0]]
func.func @reduce_sum(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?xf32> {
  %y = calque.reduce_sum %x {axes = array<i64: -1>} : (tensor<?x3xf32>) -> tensor<?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// CHECK-LABEL: func.func @reduce_max(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_max %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.expand_dims %[[V0]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V2:.*]] = calque.equal %[[X]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.cast %[[V2]] {dtype = f32}
// CHECK-NEXT: %[[V4:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V2]], %[[T]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.reduce_sum %[[V5]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V7:.*]] = calque.reduce_sum %[[V3]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V8:.*]] = calque.div %[[V6]], %[[V7]]
// CHECK-NEXT: return %[[V8]]
func.func @reduce_max(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<3xf32> {
  %y = calque.reduce_max %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// CHECK-LABEL: func.func @reduce_prod(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.reduce_prod %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V0:.*]] = calque.cumprod %[[X]] {exclusive = true}
// CHECK-NEXT: %[[V1:.*]] = calque.cumprod %[[X]] {exclusive = true, reverse = true}
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[V0]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[T]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.reduce_sum %[[V3]] {axes = array<i64: 0>}
// CHECK-NEXT: return %[[V4]]
func.func @reduce_prod(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<3xf32> {
  %y = calque.reduce_prod %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// CHECK-LABEL: func.func @cumsum(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.cumsum %[[X]] {axis = 1 : i64, reverse = true}
// CHECK-NEXT: %[[V0:.*]] = calque.cumsum %[[T]] {axis = 1 : i64, reverse = true}
// CHECK-NEXT: return %[[V0]]
func.func @cumsum(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.cumsum %x {axis = 1 : i64, reverse = true} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @cumprod(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.cumprod %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.cumprod %[[X]] {exclusive = true}
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.linear_recurrence %[[X]], %[[V1]] {axis = 0 : i64, reverse = false}
// CHECK-NEXT: return %[[V2]]
func.func @cumprod(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.cumprod %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @cumprod_of_others(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.cumprod %[[X]] {exclusive = true}
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.linear_recurrence %[[X]], %[[V1]] {axis = 0 : i64, reverse = false}
// CHECK-NEXT: %[[V3:.*]] = calque.pad %[[V2]] {high = array<i64: 0>, low = array<i64: 1>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V4:.*]] = calque.slice_like %[[V3]], %[[V2]] {starts = array<i64: 0>, strides = array<i64: 1>}
// CHECK-NEXT: return %[[V4]]
func.func @cumprod_of_others(%x: tensor<?xf32>, %t: tensor<?xf32>) -> tensor<?xf32> {
  %y = calque.cumprod %x {exclusive = true} : (tensor<?xf32>) -> tensor<?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// CHECK-LABEL: func.func @linear_recurrence(
// CHECK-SAME: %[[F:.*]]: tensor<?xf32>, %[[T:.*]]: tensor<?xf32>, %[[DF:.*]]: tensor<?xf32>, %[[DT:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.linear_recurrence %[[F]], %[[T]] {axis = 0 : i64, reverse = true}
// CHECK-NEXT: %[[V1:.*]] = calque.pad %[[V0]] {high = array<i64: 1>, low = array<i64: 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V2:.*]] = calque.slice_like %[[V1]], %[[V0]] {starts = array<i64: 1>, strides = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[DF]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.add %[[DT]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.linear_recurrence %[[F]], %[[V4]] {axis = 0 : i64, reverse = true}
// CHECK-NEXT: return %[[V5]]
func.func @linear_recurrence(%f: tensor<?xf32>, %t: tensor<?xf32>, %df: tensor<?xf32>, %dt: tensor<?xf32>) -> tensor<?xf32> {
  %y = calque.linear_recurrence %f, %t {axis = 0 : i64, reverse = true} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %d = calque.jvp %y, %f, %t, %df, %dt {counts = array<i64: 1, 2>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// CHECK-LABEL: func.func @reduce_min(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_min %[[X]] {keepdims = true}
// CHECK-NEXT: %[[V1:.*]] = calque.equal %[[X]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.cast %[[V1]] {dtype = f32}
// CHECK-NEXT: %[[V3:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V4:.*]] = calque.where %[[V1]], %[[T]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.reduce_sum %[[V4]] {axes = array<i64: 0, 1>, keepdims = true}
// CHECK-NEXT: %[[V6:.*]] = calque.reduce_sum %[[V2]] {axes = array<i64: 0, 1>, keepdims = true}
// CHECK-NEXT: %[[V7:.*]] = calque.div %[[V5]], %[[V6]]
// CHECK-NEXT: return %[[V7]]
func.func @reduce_min(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<1x1xf32> {
  %y = calque.reduce_min %x {keepdims = true} : (tensor<?x3xf32>) -> tensor<1x1xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<1x1xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<1x1xf32>
  return %d : tensor<1x1xf32>
}

// A scalar is its own extreme.
// CHECK-LABEL: func.func @reduce_min_scalar(
// CHECK-SAME: %[[X:.*]]: tensor<f32>, %[[T:.*]]: tensor<f32>)
// CHECK-NEXT: calque.reduce_min %[[X]]
// CHECK-NEXT: return %[[T]]
func.func @reduce_min_scalar(%x: tensor<f32>, %t: tensor<f32>) -> tensor<f32> {
  %y = calque.reduce_min %x : (tensor<f32>) -> tensor<f32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %d : tensor<f32>
}

// CHECK-LABEL: func.func @reduce_mean(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.reduce_mean %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_mean %[[T]]
// CHECK-NEXT: return %[[V0]]
func.func @reduce_mean(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<f32> {
  %y = calque.reduce_mean %x : (tensor<?x3xf32>) -> tensor<f32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<f32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<f32>
  return %d : tensor<f32>
}

// CHECK-LABEL: func.func @logsumexp(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.logsumexp %[[X]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.softmax %[[X]] {axis = 1 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: return %[[V2]]
func.func @logsumexp(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?xf32> {
  %y = calque.logsumexp %x {axes = array<i64: 1>} : (tensor<?x3xf32>) -> tensor<?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.softmax %[[X]] {axis = 0 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 0>, keepdims = true}
// CHECK-NEXT: %[[V3:.*]] = calque.sub %[[T]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[V0]], %[[V3]]
// CHECK-NEXT: return %[[V4]]
func.func @softmax(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.softmax %x {axis = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @log_softmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.log_softmax %[[X]] {axis = 0 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.softmax %[[X]] {axis = 0 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 0>, keepdims = true}
// CHECK-NEXT: %[[V3:.*]] = calque.sub %[[T]], %[[V2]]
// CHECK-NEXT: return %[[V3]]
func.func @log_softmax(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.log_softmax %x {axis = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @sum_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[LIKE:.*]]: tensor<3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.sum_like %[[X]], %[[LIKE]]
// CHECK-NEXT: %[[V0:.*]] = calque.sum_like %[[T]], %[[LIKE]]
// CHECK-NEXT: return %[[V0]]
func.func @sum_like(%x: tensor<?x3xf32>, %like: tensor<3xf32>, %t: tensor<?x3xf32>) -> tensor<3xf32> {
  %y = calque.sum_like %x, %like : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

//===-- Contractions, convolutions and pooling: linear in each operand ----------------------------===//

// CHECK-LABEL: func.func @contract(
// CHECK-SAME: %[[A:.*]]: tensor<?x3xf32>, %[[B:.*]]: tensor<3x?xf32>, %[[T:.*]]: tensor<?x3xf32>, %[[U:.*]]: tensor<3x?xf32>)
// CHECK-NEXT: calque.contract %[[A]], %[[B]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>}
// CHECK-NEXT: %[[V0:.*]] = calque.contract %[[T]], %[[B]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.contract %[[A]], %[[U]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>}
// CHECK-NEXT: %[[V2:.*]] = calque.add %[[V0]], %[[V1]]
// CHECK-NEXT: return %[[V2]]
func.func @contract(%a: tensor<?x3xf32>, %b: tensor<3x?xf32>, %t: tensor<?x3xf32>, %u: tensor<3x?xf32>) -> tensor<?x?xf32> {
  %y = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<?x3xf32>, tensor<3x?xf32>) -> tensor<?x?xf32>
  %d = calque.jvp %y, %a, %b, %t, %u {counts = array<i64: 1, 2>} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<3x?xf32>, tensor<?x3xf32>, tensor<3x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @conv(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[W:.*]]: tensor<3x2x3x?xf32>, %[[T:.*]]: tensor<?x?x?x3xf32>, %[[U:.*]]: tensor<3x2x3x?xf32>)
// CHECK-NEXT: calque.conv %[[X]], %[[W]] {strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.conv %[[T]], %[[W]] {strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.conv %[[X]], %[[U]] {strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.add %[[V0]], %[[V1]]
// CHECK-NEXT: return %[[V2]]
func.func @conv(%x: tensor<?x?x?x3xf32>, %w: tensor<3x2x3x?xf32>, %t: tensor<?x?x?x3xf32>, %u: tensor<3x2x3x?xf32>) -> tensor<?x?x?x?xf32> {
  %y = calque.conv %x, %w {strides = array<i64: 2, 1>} : (tensor<?x?x?x3xf32>, tensor<3x2x3x?xf32>) -> tensor<?x?x?x?xf32>
  %d = calque.jvp %y, %x, %w, %t, %u {counts = array<i64: 1, 2>} : (tensor<?x?x?x?xf32>, tensor<?x?x?x3xf32>, tensor<3x2x3x?xf32>, tensor<?x?x?x3xf32>, tensor<3x2x3x?xf32>) -> tensor<?x?x?x?xf32>
  return %d : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: func.func @conv_input_grad(
// CHECK-SAME: %[[O:.*]]: tensor<?x?x?x?xf32>, %[[W:.*]]: tensor<3x2x3x?xf32>, %[[X:.*]]: tensor<?x?x?x3xf32>, %[[T:.*]]: tensor<?x?x?x?xf32>, %[[U:.*]]: tensor<3x2x3x?xf32>)
// CHECK-NEXT: calque.conv_input_grad %[[O]], %[[W]], %[[X]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.conv_input_grad %[[T]], %[[W]], %[[X]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.conv_input_grad %[[O]], %[[U]], %[[X]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.add %[[V0]], %[[V1]]
// CHECK-NEXT: return %[[V2]]
func.func @conv_input_grad(%o: tensor<?x?x?x?xf32>, %w: tensor<3x2x3x?xf32>, %x: tensor<?x?x?x3xf32>, %t: tensor<?x?x?x?xf32>, %u: tensor<3x2x3x?xf32>) -> tensor<?x?x?x3xf32> {
  %y = calque.conv_input_grad %o, %w, %x {padding = "valid", strides = array<i64: 2, 1>} : (tensor<?x?x?x?xf32>, tensor<3x2x3x?xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %d = calque.jvp %y, %o, %w, %t, %u {counts = array<i64: 1, 2>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x?xf32>, tensor<3x2x3x?xf32>, tensor<?x?x?x?xf32>, tensor<3x2x3x?xf32>) -> tensor<?x?x?x3xf32>
  return %d : tensor<?x?x?x3xf32>
}

// CHECK-LABEL: func.func @conv_filter_grad(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[O:.*]]: tensor<?x?x?x?xf32>, %[[W:.*]]: tensor<3x2x3x?xf32>, %[[T:.*]]: tensor<?x?x?x3xf32>, %[[U:.*]]: tensor<?x?x?x?xf32>)
// CHECK-NEXT: calque.conv_filter_grad %[[X]], %[[O]], %[[W]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.conv_filter_grad %[[T]], %[[O]], %[[W]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.conv_filter_grad %[[X]], %[[U]], %[[W]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.add %[[V0]], %[[V1]]
// CHECK-NEXT: return %[[V2]]
func.func @conv_filter_grad(%x: tensor<?x?x?x3xf32>, %o: tensor<?x?x?x?xf32>, %w: tensor<3x2x3x?xf32>, %t: tensor<?x?x?x3xf32>, %u: tensor<?x?x?x?xf32>) -> tensor<3x2x3x?xf32> {
  %y = calque.conv_filter_grad %x, %o, %w {padding = "valid", strides = array<i64: 2, 1>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x?xf32>, tensor<3x2x3x?xf32>) -> tensor<3x2x3x?xf32>
  %d = calque.jvp %y, %x, %o, %t, %u {counts = array<i64: 1, 2>} : (tensor<3x2x3x?xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x?xf32>) -> tensor<3x2x3x?xf32>
  return %d : tensor<3x2x3x?xf32>
}

// CHECK-LABEL: func.func @max_pool(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[T:.*]]: tensor<?x?x?x3xf32>)
// CHECK-NEXT: calque.max_pool %[[X]] {padding = "same", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: %[[V0:.*]] = calque.max_pool_pick %[[X]], %[[T]] {padding = "same", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: return %[[V0]]
func.func @max_pool(%x: tensor<?x?x?x3xf32>, %t: tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32> {
  %y = calque.max_pool %x {padding = "same", strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  return %d : tensor<?x?x?x3xf32>
}

// Where the images' largest elements are does not move.
// CHECK-LABEL: func.func @max_pool_grad(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[O:.*]]: tensor<?x?x?x3xf32>, %[[T:.*]]: tensor<?x?x?x3xf32>, %[[U:.*]]: tensor<?x?x?x3xf32>)
// CHECK-NEXT: calque.max_pool_grad %[[X]], %[[O]] {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: %[[V0:.*]] = calque.max_pool_grad %[[X]], %[[U]] {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: return %[[V0]]
func.func @max_pool_grad(%x: tensor<?x?x?x3xf32>, %o: tensor<?x?x?x3xf32>, %t: tensor<?x?x?x3xf32>, %u: tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32> {
  %y = calque.max_pool_grad %x, %o {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %d = calque.jvp %y, %x, %o, %t, %u {counts = array<i64: 1, 2>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  return %d : tensor<?x?x?x3xf32>
}

// CHECK-LABEL: func.func @max_pool_pick(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[V:.*]]: tensor<?x?x?x3xf32>, %[[T:.*]]: tensor<?x?x?x3xf32>, %[[U:.*]]: tensor<?x?x?x3xf32>)
// CHECK-NEXT: calque.max_pool_pick %[[X]], %[[V]] {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: %[[V0:.*]] = calque.max_pool_pick %[[X]], %[[U]] {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: return %[[V0]]
func.func @max_pool_pick(%x: tensor<?x?x?x3xf32>, %v: tensor<?x?x?x3xf32>, %t: tensor<?x?x?x3xf32>, %u: tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32> {
  %y = calque.max_pool_pick %x, %v {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %d = calque.jvp %y, %x, %v, %t, %u {counts = array<i64: 1, 2>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  return %d : tensor<?x?x?x3xf32>
}

//===-- Movement ----------------------------------------------------------------------------------===//

// CHECK-LABEL: func.func @reshape(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.reshape %[[X]] {shape = array<i64: 3, -1>}
// CHECK-NEXT: %[[V0:.*]] = calque.reshape %[[T]] {shape = array<i64: 3, -1>}
// CHECK-NEXT: return %[[V0]]
func.func @reshape(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<3x?xf32> {
  %y = calque.reshape %x {shape = array<i64: 3, -1>} : (tensor<?x3xf32>) -> tensor<3x?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<3x?xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<3x?xf32>
  return %d : tensor<3x?xf32>
}

// CHECK-LABEL: func.func @reshape_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[LIKE:.*]]: tensor<3x?xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.reshape_like %[[X]], %[[LIKE]]
// CHECK-NEXT: %[[V0:.*]] = calque.reshape_like %[[T]], %[[LIKE]]
// CHECK-NEXT: return %[[V0]]
func.func @reshape_like(%x: tensor<?x3xf32>, %like: tensor<3x?xf32>, %t: tensor<?x3xf32>) -> tensor<3x?xf32> {
  %y = calque.reshape_like %x, %like : (tensor<?x3xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<3x?xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<3x?xf32>
  return %d : tensor<3x?xf32>
}

// CHECK-LABEL: func.func @merge_dims(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[T:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: calque.merge_dims %[[X]] {axis = 0 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.merge_dims %[[T]] {axis = 0 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @merge_dims(%x: tensor<?x?x3xf32>, %t: tensor<?x?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.merge_dims %x {axis = 0 : i64} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @split_dim(
// CHECK-SAME: %[[X:.*]]: tensor<3x?xf32>, %[[LIKE:.*]]: tensor<?x?xf32>, %[[T:.*]]: tensor<3x?xf32>)
// CHECK-NEXT: calque.split_dim %[[X]], %[[LIKE]] {axis = 1 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.split_dim %[[T]], %[[LIKE]] {axis = 1 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @split_dim(%x: tensor<3x?xf32>, %like: tensor<?x?xf32>, %t: tensor<3x?xf32>) -> tensor<3x?x?xf32> {
  %y = calque.split_dim %x, %like {axis = 1 : i64, first = 0 : i64, second = 1 : i64} : (tensor<3x?xf32>, tensor<?x?xf32>) -> tensor<3x?x?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<3x?x?xf32>, tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<3x?x?xf32>
  return %d : tensor<3x?x?xf32>
}

// CHECK-LABEL: func.func @expand_dims(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[T]] {axes = array<i64: 0>}
// CHECK-NEXT: return %[[V0]]
func.func @expand_dims(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<1x?x3xf32> {
  %y = calque.expand_dims %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<1x?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<1x?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<1x?x3xf32>
  return %d : tensor<1x?x3xf32>
}

// CHECK-LABEL: func.func @broadcast_to(
// CHECK-SAME: %[[X:.*]]: tensor<?x1xf32>, %[[T:.*]]: tensor<?x1xf32>)
// CHECK-NEXT: calque.broadcast_to %[[X]] {shape = array<i64: 2, 5, 3>}
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_to %[[T]] {shape = array<i64: 2, 5, 3>}
// CHECK-NEXT: return %[[V0]]
func.func @broadcast_to(%x: tensor<?x1xf32>, %t: tensor<?x1xf32>) -> tensor<2x5x3xf32> {
  %y = calque.broadcast_to %x {shape = array<i64: 2, 5, 3>} : (tensor<?x1xf32>) -> tensor<2x5x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<2x5x3xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<2x5x3xf32>
  return %d : tensor<2x5x3xf32>
}

// CHECK-LABEL: func.func @broadcast_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x1xf32>, %[[LIKE:.*]]: tensor<2x?x3xf32>, %[[T:.*]]: tensor<?x1xf32>)
// CHECK-NEXT: calque.broadcast_like %[[X]], %[[LIKE]]
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_like %[[T]], %[[LIKE]]
// CHECK-NEXT: return %[[V0]]
func.func @broadcast_like(%x: tensor<?x1xf32>, %like: tensor<2x?x3xf32>, %t: tensor<?x1xf32>) -> tensor<2x?x3xf32> {
  %y = calque.broadcast_like %x, %like : (tensor<?x1xf32>, tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<2x?x3xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<2x?x3xf32>
  return %d : tensor<2x?x3xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[T:.*]]: tensor<?x3x?xf32>)
// CHECK-NEXT: calque.transpose %[[X]] {permutation = array<i64: 2, 0, -2>}
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[T]] {permutation = array<i64: 2, 0, -2>}
// CHECK-NEXT: return %[[V0]]
func.func @transpose(%x: tensor<?x3x?xf32>, %t: tensor<?x3x?xf32>) -> tensor<?x?x3xf32> {
  %y = calque.transpose %x {permutation = array<i64: 2, 0, -2>} : (tensor<?x3x?xf32>) -> tensor<?x?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x?x3xf32>, tensor<?x3x?xf32>, tensor<?x3x?xf32>) -> tensor<?x?x3xf32>
  return %d : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @reverse(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.reverse %[[X]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.reverse %[[T]] {axes = array<i64: 1>}
// CHECK-NEXT: return %[[V0]]
func.func @reverse(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.reverse %x {axes = array<i64: 1>} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @take_along_axis(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<?x?xi64>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.take_along_axis %[[X]], %[[I]]
// CHECK-NEXT: %[[V0:.*]] = calque.take_along_axis %[[T]], %[[I]]
// CHECK-NEXT: return %[[V0]]
func.func @take_along_axis(%x: tensor<?x3xf32>, %i: tensor<?x?xi64>, %t: tensor<?x3xf32>) -> tensor<?x?xf32> {
  %y = calque.take_along_axis %x, %i : (tensor<?x3xf32>, tensor<?x?xi64>) -> tensor<?x?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @put_along_axis(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[LIKE:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<?x?xi64>, %[[T:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.put_along_axis %[[X]], %[[LIKE]], %[[I]] {axis = -1 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.put_along_axis %[[T]], %[[LIKE]], %[[I]] {axis = -1 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @put_along_axis(%x: tensor<?x?xf32>, %like: tensor<?x3xf32>, %i: tensor<?x?xi64>, %t: tensor<?x?xf32>) -> tensor<?x3xf32> {
  %y = calque.put_along_axis %x, %like, %i {axis = -1 : i64} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?x?xi64>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// Parts that do not move have zeros.
// CHECK-LABEL: func.func @concat(
// CHECK-SAME: %[[A:.*]]: tensor<?x3xf32>, %[[B:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.concat %[[A]], %[[B]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[V0]], %[[A]]
// CHECK-NEXT: %[[V2:.*]] = calque.concat %[[V1]], %[[T]]
// CHECK-NEXT: return %[[V2]]
func.func @concat(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.concat %a, %b : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %b, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @split(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.split %[[X]] {sizes = array<i64: -1, 2>}
// CHECK-NEXT: %[[V0:.*]]:2 = calque.split %[[T]] {sizes = array<i64: -1, 2>}
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1
func.func @split(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<2x3xf32>) {
  %y:2 = calque.split %x {sizes = array<i64: -1, 2>} : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<2x3xf32>)
  %d:2 = calque.jvp %y#0, %y#1, %x, %t {counts = array<i64: 2, 1>} : (tensor<?x3xf32>, tensor<2x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<2x3xf32>)
  return %d#0, %d#1 : tensor<?x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @concat_part(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[A:.*]]: tensor<?x3xf32>, %[[B:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.concat_part %[[X]], %[[A]], %[[B]] {axis = 0 : i64, index = 1 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.concat_part %[[T]], %[[A]], %[[B]] {axis = 0 : i64, index = 1 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @concat_part(%x: tensor<?x3xf32>, %a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.concat_part %x, %a, %b {axis = 0 : i64, index = 1 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.slice %[[X]] {limits = array<i64: 7, 3>, starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.slice %[[T]] {limits = array<i64: 7, 3>, starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: return %[[V0]]
func.func @slice(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<3x3xf32> {
  %y = calque.slice %x {limits = array<i64: 7, 3>, starts = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<?x3xf32>) -> tensor<3x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<3x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<3x3xf32>
  return %d : tensor<3x3xf32>
}

// CHECK-LABEL: func.func @slice_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[LIKE:.*]]: tensor<?x2xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.slice_like %[[X]], %[[LIKE]] {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.slice_like %[[T]], %[[LIKE]] {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: return %[[V0]]
func.func @slice_like(%x: tensor<?x3xf32>, %like: tensor<?x2xf32>, %t: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %y = calque.slice_like %x, %like {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<?x3xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x2xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x2xf32>
  return %d : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @slice_put(
// CHECK-SAME: %[[X:.*]]: tensor<?x2xf32>, %[[LIKE:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x2xf32>)
// CHECK-NEXT: calque.slice_put %[[X]], %[[LIKE]] {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.slice_put %[[T]], %[[LIKE]] {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: return %[[V0]]
func.func @slice_put(%x: tensor<?x2xf32>, %like: tensor<?x3xf32>, %t: tensor<?x2xf32>) -> tensor<?x3xf32> {
  %y = calque.slice_put %x, %like {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// The padding does not move.
// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.pad %[[X]] {high = array<i64: 1, 0>, low = array<i64: 2, 0>, value = 1.000000e+00 : f64}
// CHECK-NEXT: %[[V0:.*]] = calque.pad %[[T]] {high = array<i64: 1, 0>, low = array<i64: 2, 0>}
// CHECK-NEXT: return %[[V0]]
func.func @pad(%x: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.pad %x {high = array<i64: 1, 0>, low = array<i64: 2, 0>, value = 1.0} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<?xi64>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.gather %[[X]], %[[I]] {axis = -1 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.gather %[[T]], %[[I]] {axis = -1 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @gather(%x: tensor<?x3xf32>, %i: tensor<?xi64>, %t: tensor<?x3xf32>) -> tensor<?x?xf32> {
  %y = calque.gather %x, %i {axis = -1 : i64} : (tensor<?x3xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @gather_put(
// CHECK-SAME: %[[S:.*]]: tensor<?x?xf32>, %[[LIKE:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<?xi64>, %[[T:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.gather_put %[[S]], %[[LIKE]], %[[I]] {axis = -1 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.gather_put %[[T]], %[[LIKE]], %[[I]] {axis = -1 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @gather_put(%s: tensor<?x?xf32>, %like: tensor<?x3xf32>, %i: tensor<?xi64>, %t: tensor<?x?xf32>) -> tensor<?x3xf32> {
  %y = calque.gather_put %s, %like, %i {axis = -1 : i64} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?xi64>) -> tensor<?x3xf32>
  %d = calque.jvp %y, %s, %t {counts = array<i64: 1, 1>} : (tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}
