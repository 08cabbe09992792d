// The rules for many examples, on unknown sizes wherever there is such a program: what is computed of one example becomes what is
// computed of all, along axis 0. That it is right is tested on numbers elsewhere.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

//===-- What the pass does whatever the operations are --------------------------------------------===//

// Examples come along any axis and leave along any; what depends on none is repeated, or done once. How many there are is checked
// where it is not known: a split_dim takes one tensor's apart as 1 and the other's.
// CHECK-LABEL: func.func @axes(
// CHECK-SAME: %[[X:.*]]: tensor<2x?x3xf32>, %[[Z:.*]]: tensor<?x3xf32>, %[[W:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[X]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: %[[V1:.*]] = calque.expand_dims %[[V0]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V2:.*]] = calque.split_dim %[[Z]], %[[V1]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.merge_dims %[[V2]] {axis = 0 : i64}
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V5:.*]] = calque.split_dim %[[V0]], %[[V4]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.merge_dims %[[V5]] {axis = 0 : i64}
// CHECK-NEXT: %[[V7:.*]] = calque.exp %[[W]]
// CHECK-NEXT: %[[V8:.*]] = calque.mul %[[V3]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = calque.transpose %[[V6]] {permutation = array<i64: 1, 2, 0>}
// CHECK-NEXT: %[[V10:.*]] = calque.transpose %[[V8]] {permutation = array<i64: 1, 0>}
// CHECK-NEXT: %[[V11:.*]] = calque.equal %[[V6]], %[[V6]]
// CHECK-NEXT: %[[V12:.*]] = calque.cast %[[V11]] {dtype = i32}
// CHECK-NEXT: %[[V13:.*]] = calque.reduce_sum %[[V12]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V14:.*]] = calque.equal %[[V13]], %[[V13]]
// CHECK-NEXT: %[[V15:.*]] = calque.expand_dims %[[V14]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V16:.*]] = calque.where %[[V15]], %[[V7]], %[[V7]]
// CHECK-NEXT: return %[[V9]], %[[V10]], %[[V16]]
func.func @axes(%x: tensor<2x?x3xf32>, %z: tensor<?x3xf32>, %w: tensor<3xf32>) -> (tensor<2x3x?xf32>, tensor<3x?xf32>, tensor<?x3xf32>) {
  %e:2 = calque.batch %x, %z {axes = array<i64: -2, 0>} : (tensor<2x?x3xf32>, tensor<?x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  %c = calque.exp %w : (tensor<3xf32>) -> tensor<3xf32>
  %y = calque.mul %e#1, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %r:3 = calque.unbatch %e#0, %y, %c, %e#0, %x {axes = array<i64: 2, -1, 0>, batch_axis = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<2x?x3xf32>) -> (tensor<2x3x?xf32>, tensor<3x?xf32>, tensor<?x3xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x3x?xf32>, tensor<3x?xf32>, tensor<?x3xf32>
}

// A known number of examples repeats by its shape, and is that of all tensors.
// CHECK-LABEL: func.func @known(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Z:.*]]: tensor<5xf32>, %[[W:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[Z]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[X]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[Z]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.neg %[[V2]]
// CHECK-NEXT: %[[V7:.*]] = calque.broadcast_to %[[W]] {shape = array<i64: 5, 3>}
// CHECK-NEXT: return %[[V7]], %[[V6]]
func.func @known(%x: tensor<?xf32>, %z: tensor<5xf32>, %w: tensor<3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>) {
  %e:2 = calque.batch %z, %x {axes = array<i64: 0, 0>} : (tensor<5xf32>, tensor<?xf32>) -> (tensor<f32>, tensor<f32>)
  %y = calque.neg %e#1 : (tensor<f32>) -> tensor<f32>
  %r:2 = calque.unbatch %w, %y, %e#0, %z {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<5xf32>) -> (tensor<5x3xf32>, tensor<5xf32>)
  return %r#0, %r#1 : tensor<5x3xf32>, tensor<5xf32>
}

// What is printed for each example stays, in their order; an assertion holds of all.
// CHECK-LABEL: func.func @effects(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[C:.*]]: tensor<2x?xi1>)
// CHECK-NEXT: %[[V0:.*]] = calque.slice %[[X]] {limits = array<i64: 1, 3>, starts = array<i64: 0, 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64: 3>}
// CHECK-NEXT: calque.print %[[V1]] {label = "x"}
// CHECK-NEXT: %[[V2:.*]] = calque.slice %[[X]] {limits = array<i64: 2, 3>, starts = array<i64: 1, 0>}
// CHECK-NEXT: %[[V3:.*]] = calque.reshape %[[V2]] {shape = array<i64: 3>}
// CHECK-NEXT: calque.print %[[V3]] {label = "x"}
// CHECK-NEXT: calque.assert %[[C]] {message = "all"}
// CHECK-NEXT: %[[V4:.*]] = calque.identity %[[X]]
// CHECK-NEXT: return %[[V4]]
func.func @effects(%x: tensor<2x3xf32>, %c: tensor<2x?xi1>) -> tensor<2x3xf32> {
  %e:2 = calque.batch %x, %c {axes = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<2x?xi1>) -> (tensor<3xf32>, tensor<?xi1>)
  calque.print %e#0 {label = "x"} : (tensor<3xf32>) -> ()
  calque.assert %e#1 {message = "all"} : (tensor<?xi1>) -> ()
  %r = calque.unbatch %e#0, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// The host is called for each example.
// CHECK-LABEL: func.func @host_call(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.slice %[[X]] {limits = array<i64: 1, 3>, starts = array<i64: 0, 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64: 3>}
// CHECK-NEXT: %[[V2:.*]] = calque.host_call %[[V1]] {callee = 1 : i64, types = array<i64: 3, 0>}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.slice %[[X]] {limits = array<i64: 2, 3>, starts = array<i64: 1, 0>}
// CHECK-NEXT: %[[V5:.*]] = calque.reshape %[[V4]] {shape = array<i64: 3>}
// CHECK-NEXT: %[[V6:.*]] = calque.host_call %[[V5]] {callee = 1 : i64, types = array<i64: 3, 0>}
// CHECK-NEXT: %[[V7:.*]] = calque.expand_dims %[[V6]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V8:.*]] = calque.concat %[[V3]], %[[V7]]
// CHECK-NEXT: return %[[V8]]
func.func @host_call(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<3xf32>
  %y = calque.host_call %e {callee = 1 : i64, types = array<i64: 3, 0>} : (tensor<3xf32>) -> tensor<f32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}

//===-- Transformations of transformations --------------------------------------------------------===//

// All pairs: the outer examples are in the inner ones' second dimension.
// CHECK-LABEL: func.func @batch(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Z:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[V0]], %[[Z]]
// CHECK-NEXT: return %[[V1]]
func.func @batch(%x: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %f = calque.batch %z {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %y = calque.mul %e, %f : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = calque.unbatch %y, %f, %z {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  %s = calque.unbatch %r, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<f32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}

// The examples of examples.
// CHECK-LABEL: func.func @unbatch(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[X]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: %[[V1:.*]] = calque.neg %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.transpose %[[V1]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: return %[[V2]]
func.func @unbatch(%x: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 1>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %f = calque.batch %e {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %y = calque.neg %f : (tensor<3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %y, %f, %e {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %s = calque.unbatch %r, %e, %x {axes = array<i64: 1>, batch_axis = 1 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %s : tensor<?x?x3xf32>
}

// A gradient for each example: its stop stands for the stops of all.
// CHECK-LABEL: func.func @gradient(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[W:.*]]: tensor<3xf32>, %[[G:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.sin %[[X]]
// CHECK-NEXT: calque.mul %[[V0]], %[[W]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[G]], %[[V0]]
// CHECK-NEXT: return %[[V1]]
func.func @gradient(%x: tensor<?x3xf32>, %w: tensor<3xf32>, %g: tensor<3xf32>) -> tensor<?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %z = calque.sin %e : (tensor<3xf32>) -> tensor<3xf32>
  %y = calque.mul %z, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %d = calque.gradient %y, %g, %w, %z {counts = array<i64: 1, 1, 1>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %d, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// A later gradient's stop at an example is one at all examples.
// CHECK-LABEL: func.func @stop(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[W:.*]]: tensor<3xf32>, %[[G:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.mul %[[X]], %[[W]]
// CHECK-NEXT: calque.mul %[[V0]], %[[W]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[G]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.sum_like %[[V1]], %[[W]]
// CHECK-NEXT: return %[[V2]]
func.func @stop(%x: tensor<?x3xf32>, %w: tensor<3xf32>, %g: tensor<?x3xf32>) -> tensor<3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %z = calque.mul %e, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %y = calque.mul %z, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.gradient %r, %g, %w, %z {counts = array<i64: 1, 1, 1>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// The gradient of what is done for many examples reaches what they share.
// CHECK-LABEL: func.func @gradient_of_batch(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[W:.*]]: tensor<3xf32>, %[[G:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.mul %[[X]], %[[W]]
// CHECK-NEXT: %[[V0:.*]] = calque.mul %[[G]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.sum_like %[[V0]], %[[W]]
// CHECK-NEXT: return %[[V1]]
func.func @gradient_of_batch(%x: tensor<?x3xf32>, %w: tensor<3xf32>, %g: tensor<?x3xf32>) -> tensor<3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %y = calque.mul %e, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.gradient %r, %g, %w {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %d : tensor<3xf32>
}

// CHECK-LABEL: func.func @jvp(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.exp %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[T]], %[[V0]]
// CHECK-NEXT: return %[[V1]]
func.func @jvp(%x: tensor<?x3xf32>, %t: tensor<3xf32>) -> tensor<?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %y = calque.exp %e : (tensor<3xf32>) -> tensor<3xf32>
  %d = calque.jvp %y, %e, %t {counts = array<i64: 1, 1>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %d, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @identity(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.identity %[[X]]
// CHECK-NEXT: return %[[V0]]
func.func @identity(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %y = calque.identity %e : (tensor<3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @stop_gradient(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.stop_gradient %[[X]]
// CHECK-NEXT: return %[[V0]]
func.func @stop_gradient(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %y = calque.stop_gradient %e : (tensor<3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

//===-- Elementwise -------------------------------------------------------------------------------===//
// All others are in differentiate-each.mlir.

// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[B:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.add %[[X]], %[[B]]
// CHECK-NEXT: return %[[V0]]
func.func @shared(%x: tensor<?x?x3xf32>, %b: tensor<3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.add %e, %b : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// An example of a smaller rank broadcasts as it did, behind the axis of examples.
// CHECK-LABEL: func.func @ranks(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[B:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[B]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[X]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.add %[[V6]], %[[V2]]
// CHECK-NEXT: return %[[V7]]
func.func @ranks(%x: tensor<?x3xf32>, %b: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %e:2 = calque.batch %x, %b {axes = array<i64: 0, 0>} : (tensor<?x3xf32>, tensor<?x?x3xf32>) -> (tensor<3xf32>, tensor<?x3xf32>)
  %y = calque.add %e#0, %e#1 : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @lower(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V1:.*]] = calque.add %[[V0]], %[[B]]
// CHECK-NEXT: return %[[V1]]
func.func @lower(%x: tensor<?xf32>, %b: tensor<?x3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %y = calque.add %e, %b : (tensor<f32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<f32>, tensor<?xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @where(
// CHECK-SAME: %[[C:.*]]: tensor<?x?x1xi1>, %[[X:.*]]: tensor<?x3xf32>, %[[Z:.*]]: tensor<f32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[C]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[X]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[C]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.where %[[V5]], %[[V6]], %[[Z]]
// CHECK-NEXT: return %[[V7]]
func.func @where(%c: tensor<?x?x1xi1>, %x: tensor<?x3xf32>, %z: tensor<f32>) -> tensor<?x?x3xf32> {
  %e:2 = calque.batch %c, %x {axes = array<i64: 0, 0>} : (tensor<?x?x1xi1>, tensor<?x3xf32>) -> (tensor<?x1xi1>, tensor<3xf32>)
  %y = calque.where %e#0, %e#1, %z : (tensor<?x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e#0, %c {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x1xi1>, tensor<?x?x1xi1>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @cast(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.cast %[[X]] {dtype = i64}
// CHECK-NEXT: return %[[V0]]
func.func @cast(%x: tensor<?x3xf32>) -> tensor<?x3xi64> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %y = calque.cast %e {dtype = i64} : (tensor<3xf32>) -> tensor<3xi64>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xi64>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xi64>
  return %r : tensor<?x3xi64>
}

//===-- Reductions --------------------------------------------------------------------------------===//
// No axes mean all of one example.

// CHECK-LABEL: func.func @reduce_sum(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_sum %[[X]] {axes = array<i64: 2>}
// CHECK-NEXT: return %[[V0]]
func.func @reduce_sum(%x: tensor<?x?x3xf32>) -> tensor<?x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.reduce_sum %e {axes = array<i64: -1>} : (tensor<?x3xf32>) -> tensor<?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @reduce_sum_all(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_sum %[[X]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: return %[[V0]]
func.func @reduce_sum_all(%x: tensor<?x?x3xf32>) -> tensor<?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.reduce_sum %e : (tensor<?x3xf32>) -> tensor<f32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A scalar is its own sum.
// CHECK-LABEL: func.func @reduce_sum_scalar(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.identity %[[X]]
// CHECK-NEXT: return %[[V0]]
func.func @reduce_sum_scalar(%x: tensor<?xf32>) -> tensor<?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %y = calque.reduce_sum %e : (tensor<f32>) -> tensor<f32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @reduce_max(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_max %[[X]] {axes = array<i64: 1>}
// CHECK-NEXT: return %[[V0]]
func.func @reduce_max(%x: tensor<?x?x3xf32>) -> tensor<?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.reduce_max %e {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @reduce_min(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_min %[[X]] {axes = array<i64: 1, 2>, keepdims = true}
// CHECK-NEXT: return %[[V0]]
func.func @reduce_min(%x: tensor<?x?x3xf32>) -> tensor<?x1x1xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.reduce_min %e {keepdims = true} : (tensor<?x3xf32>) -> tensor<1x1xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<1x1xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x1x1xf32>
  return %r : tensor<?x1x1xf32>
}

// CHECK-LABEL: func.func @reduce_mean(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_mean %[[X]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: return %[[V0]]
func.func @reduce_mean(%x: tensor<?x?x3xf32>) -> tensor<?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.reduce_mean %e : (tensor<?x3xf32>) -> tensor<f32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @logsumexp(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.logsumexp %[[X]] {axes = array<i64: 2>}
// CHECK-NEXT: return %[[V0]]
func.func @logsumexp(%x: tensor<?x?x3xf32>) -> tensor<?x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.logsumexp %e {axes = array<i64: 1>} : (tensor<?x3xf32>) -> tensor<?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.softmax %[[X]] {axis = 1 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @softmax(%x: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.softmax %e {axis = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @log_softmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.log_softmax %[[X]] {axis = 1 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @log_softmax(%x: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.log_softmax %e {axis = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @argmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.argmax %[[X]] {axis = 2 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @argmax(%x: tensor<?x?x3xf32>) -> tensor<?x?xi64> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.argmax %e : (tensor<?x3xf32>) -> tensor<?xi64>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xi64>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?xi64>
  return %r : tensor<?x?xi64>
}

// CHECK-LABEL: func.func @reduce_prod(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_prod %[[X]] {axes = array<i64: 1>}
// CHECK-NEXT: return %[[V0]]
func.func @reduce_prod(%x: tensor<?x?x3xf32>) -> tensor<?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.reduce_prod %e {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @reduce_any(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xi1>)
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_any %[[X]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: return %[[V0]]
func.func @reduce_any(%x: tensor<?x?x3xi1>) -> tensor<?xi1> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xi1>) -> tensor<?x3xi1>
  %y = calque.reduce_any %e : (tensor<?x3xi1>) -> tensor<i1>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<i1>, tensor<?x3xi1>, tensor<?x?x3xi1>) -> tensor<?xi1>
  return %r : tensor<?xi1>
}

// CHECK-LABEL: func.func @reduce_all(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xi1>)
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_all %[[X]] {axes = array<i64: 2>, keepdims = true}
// CHECK-NEXT: return %[[V0]]
func.func @reduce_all(%x: tensor<?x?x3xi1>) -> tensor<?x?x1xi1> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xi1>) -> tensor<?x3xi1>
  %y = calque.reduce_all %e {axes = array<i64: -1>, keepdims = true} : (tensor<?x3xi1>) -> tensor<?x1xi1>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x1xi1>, tensor<?x3xi1>, tensor<?x?x3xi1>) -> tensor<?x?x1xi1>
  return %r : tensor<?x?x1xi1>
}

// CHECK-LABEL: func.func @argmin(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.argmin %[[X]] {axis = 2 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @argmin(%x: tensor<?x?x3xf32>) -> tensor<?x?xi64> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.argmin %e : (tensor<?x3xf32>) -> tensor<?xi64>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xi64>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?xi64>
  return %r : tensor<?x?xi64>
}

// CHECK-LABEL: func.func @cumsum(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xi32>)
// CHECK-NEXT: %[[V0:.*]] = calque.cumsum %[[X]] {axis = 1 : i64, exclusive = true}
// CHECK-NEXT: return %[[V0]]
func.func @cumsum(%x: tensor<?x?x3xi32>) -> tensor<?x?x3xi32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xi32>) -> tensor<?x3xi32>
  %y = calque.cumsum %e {exclusive = true} : (tensor<?x3xi32>) -> tensor<?x3xi32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xi32>, tensor<?x3xi32>, tensor<?x?x3xi32>) -> tensor<?x?x3xi32>
  return %r : tensor<?x?x3xi32>
}

// CHECK-LABEL: func.func @cumprod(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.cumprod %[[X]] {axis = 2 : i64, reverse = true}
// CHECK-NEXT: return %[[V0]]
func.func @cumprod(%x: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.cumprod %e {axis = -1 : i64, reverse = true} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @linear_recurrence(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[T]], %[[T]]
// CHECK-NEXT: %[[V6:.*]] = calque.linear_recurrence %[[X]], %[[V5]] {axis = 1 : i64, reverse = false}
// CHECK-NEXT: return %[[V6]]
func.func @linear_recurrence(%x: tensor<?x3xf32>, %t: tensor<3xf32>) -> tensor<?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %y = calque.linear_recurrence %e, %t {axis = 0 : i64, reverse = false} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @axis_size(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.axis_size %[[X]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.cast %[[V1]] {dtype = i32}
// CHECK-NEXT: %[[V3:.*]] = calque.reduce_sum %[[V2]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V4:.*]] = calque.equal %[[V3]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[V0]], %[[V0]]
// CHECK-NEXT: return %[[V5]]
func.func @axis_size(%x: tensor<?x?x3xf32>) -> tensor<?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.axis_size %e {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<f32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @axis_size_scalar(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.cast %[[V1]] {dtype = i32}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.where %[[V3]], %[[V0]], %[[V0]]
// CHECK-NEXT: return %[[V4]]
func.func @axis_size_scalar(%x: tensor<?xf32>) -> tensor<?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %y = calque.axis_size %e {axes = array<i64>} : (tensor<f32>) -> tensor<f32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @sum_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[LIKE:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[LIKE]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[X]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.sum_like %[[V5]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.reshape_like %[[V7]], %[[V2]]
// CHECK-NEXT: return %[[V8]]
func.func @sum_like(%x: tensor<?x?x3xf32>, %like: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %e:2 = calque.batch %x, %like {axes = array<i64: 0, 0>} : (tensor<?x?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>)
  %y = calque.sum_like %e#0, %e#1 : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @sum_like_shared(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[LIKE:.*]]: tensor<?x?x1xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[LIKE]], %[[LIKE]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[X]], %[[X]]
// CHECK-NEXT: %[[V6:.*]] = calque.sum_like %[[V5]], %[[LIKE]]
// CHECK-NEXT: return %[[V6]]
func.func @sum_like_shared(%x: tensor<?x3xf32>, %like: tensor<?x?x1xf32>) -> tensor<?x?x1xf32> {
  %e = calque.batch %like {axes = array<i64: 0>} : (tensor<?x?x1xf32>) -> tensor<?x1xf32>
  %y = calque.sum_like %x, %e : (tensor<?x3xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %r = calque.unbatch %y, %e, %like {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  return %r : tensor<?x?x1xf32>
}

//===-- Contractions, convolutions and pooling ----------------------------------------------------===//

// Examples of both are a batch dimension, those of one a free dimension.
// CHECK-LABEL: func.func @contract(
// CHECK-SAME: %[[A:.*]]: tensor<?x?x3x?xf32>, %[[B:.*]]: tensor<?x3x?x7xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[A]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[B]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[A]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.contract %[[V5]], %[[V2]] {lhs_batch = array<i64: 0, 1>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0, 2>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: return %[[V6]]
func.func @contract(%a: tensor<?x?x3x?xf32>, %b: tensor<?x3x?x7xf32>) -> tensor<?x?x?x7xf32> {
  %e:2 = calque.batch %a, %b {axes = array<i64: 0, 0>} : (tensor<?x?x3x?xf32>, tensor<?x3x?x7xf32>) -> (tensor<?x3x?xf32>, tensor<3x?x7xf32>)
  %y = calque.contract %e#0, %e#1 {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<?x3x?xf32>, tensor<3x?x7xf32>) -> tensor<?x?x7xf32>
  %r = calque.unbatch %y, %e#0, %a {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x7xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x?x7xf32>
  return %r : tensor<?x?x?x7xf32>
}

// CHECK-LABEL: func.func @contract_lhs(
// CHECK-SAME: %[[A:.*]]: tensor<?x?x3x?xf32>, %[[B:.*]]: tensor<3x?x7xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.contract %[[A]], %[[B]] {lhs_batch = array<i64: 1>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.transpose %[[V0]] {permutation = array<i64: 1, 0, 2, 3>}
// CHECK-NEXT: return %[[V1]]
func.func @contract_lhs(%a: tensor<?x?x3x?xf32>, %b: tensor<3x?x7xf32>) -> tensor<?x?x?x7xf32> {
  %e = calque.batch %a {axes = array<i64: 0>} : (tensor<?x?x3x?xf32>) -> tensor<?x3x?xf32>
  %y = calque.contract %e, %b {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<?x3x?xf32>, tensor<3x?x7xf32>) -> tensor<?x?x7xf32>
  %r = calque.unbatch %y, %e, %a {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x7xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x?x7xf32>
  return %r : tensor<?x?x?x7xf32>
}

// CHECK-LABEL: func.func @contract_rhs(
// CHECK-SAME: %[[A:.*]]: tensor<?x3x?xf32>, %[[B:.*]]: tensor<?x3x?x7xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.contract %[[A]], %[[B]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 2>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.transpose %[[V0]] {permutation = array<i64: 2, 0, 1, 3>}
// CHECK-NEXT: return %[[V1]]
func.func @contract_rhs(%a: tensor<?x3x?xf32>, %b: tensor<?x3x?x7xf32>) -> tensor<?x?x?x7xf32> {
  %e = calque.batch %b {axes = array<i64: 0>} : (tensor<?x3x?x7xf32>) -> tensor<3x?x7xf32>
  %y = calque.contract %a, %e {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<?x3x?xf32>, tensor<3x?x7xf32>) -> tensor<?x?x7xf32>
  %r = calque.unbatch %y, %e, %b {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x7xf32>, tensor<3x?x7xf32>, tensor<?x3x?x7xf32>) -> tensor<?x?x?x7xf32>
  return %r : tensor<?x?x?x7xf32>
}

// Examples of images join the batch, those of filters the channels.
// CHECK-LABEL: func.func @conv(
// CHECK-SAME: %[[X:.*]]: tensor<6x2x5x7x3xf32>, %[[W:.*]]: tensor<3x2x3x4xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reshape %[[X]] {shape = array<i64: 12, 5, 7, 3>}
// CHECK-NEXT: %[[V1:.*]] = calque.conv %[[V0]], %[[W]] {strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.reshape %[[V1]] {shape = array<i64: 6, 2, 2, 6, 4>}
// CHECK-NEXT: return %[[V2]]
func.func @conv(%x: tensor<6x2x5x7x3xf32>, %w: tensor<3x2x3x4xf32>) -> tensor<6x2x2x6x4xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<6x2x5x7x3xf32>) -> tensor<2x5x7x3xf32>
  %y = calque.conv %e, %w {strides = array<i64: 2, 1>} : (tensor<2x5x7x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x2x6x4xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x2x6x4xf32>, tensor<2x5x7x3xf32>, tensor<6x2x5x7x3xf32>) -> tensor<6x2x2x6x4xf32>
  return %r : tensor<6x2x2x6x4xf32>
}

// CHECK-LABEL: func.func @conv_filters(
// CHECK-SAME: %[[X:.*]]: tensor<2x5x7x3xf32>, %[[W:.*]]: tensor<6x3x2x3x4xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[W]] {permutation = array<i64: 1, 2, 3, 0, 4>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64: 3, 2, 3, 24>}
// CHECK-NEXT: %[[V2:.*]] = calque.conv %[[X]], %[[V1]] {strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.reshape %[[V2]] {shape = array<i64: 2, 2, 6, 6, 4>}
// CHECK-NEXT: %[[V4:.*]] = calque.transpose %[[V3]] {permutation = array<i64: 3, 0, 1, 2, 4>}
// CHECK-NEXT: return %[[V4]]
func.func @conv_filters(%x: tensor<2x5x7x3xf32>, %w: tensor<6x3x2x3x4xf32>) -> tensor<6x2x2x6x4xf32> {
  %e = calque.batch %w {axes = array<i64: 0>} : (tensor<6x3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  %y = calque.conv %x, %e {strides = array<i64: 2, 1>} : (tensor<2x5x7x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x2x6x4xf32>
  %r = calque.unbatch %y, %e, %w {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x2x6x4xf32>, tensor<3x2x3x4xf32>, tensor<6x3x2x3x4xf32>) -> tensor<6x2x2x6x4xf32>
  return %r : tensor<6x2x2x6x4xf32>
}

// Where both differ, the examples are groups.
// CHECK-LABEL: func.func @conv_both(
// CHECK-SAME: %[[X:.*]]: tensor<2x2x5x7x3xf32>, %[[W:.*]]: tensor<2x3x2x3x4xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[X]] {permutation = array<i64: 1, 2, 3, 0, 4>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64: 2, 5, 7, 6>}
// CHECK-NEXT: %[[V2:.*]] = calque.transpose %[[W]] {permutation = array<i64: 1, 2, 3, 0, 4>}
// CHECK-NEXT: %[[V3:.*]] = calque.reshape %[[V2]] {shape = array<i64: 3, 2, 3, 8>}
// CHECK-NEXT: %[[V4:.*]] = calque.conv %[[V1]], %[[V3]] {groups = 2 : i64, strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.reshape %[[V4]] {shape = array<i64: 2, 2, 6, 2, 4>}
// CHECK-NEXT: %[[V6:.*]] = calque.transpose %[[V5]] {permutation = array<i64: 3, 0, 1, 2, 4>}
// CHECK-NEXT: return %[[V6]]
func.func @conv_both(%x: tensor<2x2x5x7x3xf32>, %w: tensor<2x3x2x3x4xf32>) -> tensor<2x2x2x6x4xf32> {
  %e:2 = calque.batch %x, %w {axes = array<i64: 0, 0>} : (tensor<2x2x5x7x3xf32>, tensor<2x3x2x3x4xf32>) -> (tensor<2x5x7x3xf32>, tensor<3x2x3x4xf32>)
  %y = calque.conv %e#0, %e#1 {strides = array<i64: 2, 1>} : (tensor<2x5x7x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x2x6x4xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x2x6x4xf32>, tensor<2x5x7x3xf32>, tensor<2x2x5x7x3xf32>) -> tensor<2x2x2x6x4xf32>
  return %r : tensor<2x2x2x6x4xf32>
}

// CHECK-LABEL: func.func @conv_input_grad(
// CHECK-SAME: %[[O:.*]]: tensor<6x2x2x6x4xf32>, %[[W:.*]]: tensor<3x2x3x4xf32>, %[[X:.*]]: tensor<6x2x5x7x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reshape %[[O]] {shape = array<i64: 12, 2, 6, 4>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[X]] {shape = array<i64: 12, 5, 7, 3>}
// CHECK-NEXT: %[[V2:.*]] = calque.conv_input_grad %[[V0]], %[[W]], %[[V1]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.reshape %[[V2]] {shape = array<i64: 6, 2, 5, 7, 3>}
// CHECK-NEXT: return %[[V3]]
func.func @conv_input_grad(%o: tensor<6x2x2x6x4xf32>, %w: tensor<3x2x3x4xf32>, %x: tensor<6x2x5x7x3xf32>) -> tensor<6x2x5x7x3xf32> {
  %e:2 = calque.batch %o, %x {axes = array<i64: 0, 0>} : (tensor<6x2x2x6x4xf32>, tensor<6x2x5x7x3xf32>) -> (tensor<2x2x6x4xf32>, tensor<2x5x7x3xf32>)
  %y = calque.conv_input_grad %e#0, %w, %e#1 {padding = "valid", strides = array<i64: 2, 1>} : (tensor<2x2x6x4xf32>, tensor<3x2x3x4xf32>, tensor<2x5x7x3xf32>) -> tensor<2x5x7x3xf32>
  %r = calque.unbatch %y, %e#0, %o {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x5x7x3xf32>, tensor<2x2x6x4xf32>, tensor<6x2x2x6x4xf32>) -> tensor<6x2x5x7x3xf32>
  return %r : tensor<6x2x5x7x3xf32>
}

// CHECK-LABEL: func.func @conv_input_grad_filters(
// CHECK-SAME: %[[O:.*]]: tensor<2x2x6x4xf32>, %[[W:.*]]: tensor<6x3x2x3x4xf32>, %[[X:.*]]: tensor<2x5x7x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[W]] {permutation = array<i64: 1, 2, 0, 3, 4>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64: 3, 2, 18, 4>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_to %[[X]] {shape = array<i64: 6, 2, 5, 7, 3>}
// CHECK-NEXT: %[[V3:.*]] = calque.transpose %[[V2]] {permutation = array<i64: 1, 2, 3, 0, 4>}
// CHECK-NEXT: %[[V4:.*]] = calque.reshape %[[V3]] {shape = array<i64: 2, 5, 7, 18>}
// CHECK-NEXT: %[[V5:.*]] = calque.conv_input_grad %[[O]], %[[V1]], %[[V4]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V6:.*]] = calque.reshape %[[V5]] {shape = array<i64: 2, 5, 7, 6, 3>}
// CHECK-NEXT: %[[V7:.*]] = calque.transpose %[[V6]] {permutation = array<i64: 3, 0, 1, 2, 4>}
// CHECK-NEXT: return %[[V7]]
func.func @conv_input_grad_filters(%o: tensor<2x2x6x4xf32>, %w: tensor<6x3x2x3x4xf32>, %x: tensor<2x5x7x3xf32>) -> tensor<6x2x5x7x3xf32> {
  %e = calque.batch %w {axes = array<i64: 0>} : (tensor<6x3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  %y = calque.conv_input_grad %o, %e, %x {padding = "valid", strides = array<i64: 2, 1>} : (tensor<2x2x6x4xf32>, tensor<3x2x3x4xf32>, tensor<2x5x7x3xf32>) -> tensor<2x5x7x3xf32>
  %r = calque.unbatch %y, %e, %w {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x5x7x3xf32>, tensor<3x2x3x4xf32>, tensor<6x3x2x3x4xf32>) -> tensor<6x2x5x7x3xf32>
  return %r : tensor<6x2x5x7x3xf32>
}

// CHECK-LABEL: func.func @conv_filter_grad(
// CHECK-SAME: %[[X:.*]]: tensor<2x5x7x3xf32>, %[[O:.*]]: tensor<6x2x2x6x4xf32>, %[[W:.*]]: tensor<3x2x3x4xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_to %[[W]] {shape = array<i64: 6, 3, 2, 3, 4>}
// CHECK-NEXT: %[[V1:.*]] = calque.transpose %[[O]] {permutation = array<i64: 1, 2, 3, 0, 4>}
// CHECK-NEXT: %[[V2:.*]] = calque.reshape %[[V1]] {shape = array<i64: 2, 2, 6, 24>}
// CHECK-NEXT: %[[V3:.*]] = calque.transpose %[[V0]] {permutation = array<i64: 1, 2, 3, 0, 4>}
// CHECK-NEXT: %[[V4:.*]] = calque.reshape %[[V3]] {shape = array<i64: 3, 2, 3, 24>}
// CHECK-NEXT: %[[V5:.*]] = calque.conv_filter_grad %[[X]], %[[V2]], %[[V4]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V6:.*]] = calque.reshape %[[V5]] {shape = array<i64: 3, 2, 3, 6, 4>}
// CHECK-NEXT: %[[V7:.*]] = calque.transpose %[[V6]] {permutation = array<i64: 3, 0, 1, 2, 4>}
// CHECK-NEXT: return %[[V7]]
func.func @conv_filter_grad(%x: tensor<2x5x7x3xf32>, %o: tensor<6x2x2x6x4xf32>, %w: tensor<3x2x3x4xf32>) -> tensor<6x3x2x3x4xf32> {
  %e = calque.batch %o {axes = array<i64: 0>} : (tensor<6x2x2x6x4xf32>) -> tensor<2x2x6x4xf32>
  %y = calque.conv_filter_grad %x, %e, %w {padding = "valid", strides = array<i64: 2, 1>} : (tensor<2x5x7x3xf32>, tensor<2x2x6x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  %r = calque.unbatch %y, %e, %o {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3x2x3x4xf32>, tensor<2x2x6x4xf32>, tensor<6x2x2x6x4xf32>) -> tensor<6x3x2x3x4xf32>
  return %r : tensor<6x3x2x3x4xf32>
}

// CHECK-LABEL: func.func @conv_filter_grad_images(
// CHECK-SAME: %[[X:.*]]: tensor<6x2x5x7x3xf32>, %[[O:.*]]: tensor<2x2x6x4xf32>, %[[W:.*]]: tensor<3x2x3x4xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_to %[[W]] {shape = array<i64: 6, 3, 2, 3, 4>}
// CHECK-NEXT: %[[V1:.*]] = calque.transpose %[[X]] {permutation = array<i64: 1, 2, 3, 0, 4>}
// CHECK-NEXT: %[[V2:.*]] = calque.reshape %[[V1]] {shape = array<i64: 2, 5, 7, 18>}
// CHECK-NEXT: %[[V3:.*]] = calque.transpose %[[V0]] {permutation = array<i64: 1, 2, 0, 3, 4>}
// CHECK-NEXT: %[[V4:.*]] = calque.reshape %[[V3]] {shape = array<i64: 3, 2, 18, 4>}
// CHECK-NEXT: %[[V5:.*]] = calque.conv_filter_grad %[[V2]], %[[O]], %[[V4]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V6:.*]] = calque.reshape %[[V5]] {shape = array<i64: 3, 2, 6, 3, 4>}
// CHECK-NEXT: %[[V7:.*]] = calque.transpose %[[V6]] {permutation = array<i64: 2, 0, 1, 3, 4>}
// CHECK-NEXT: return %[[V7]]
func.func @conv_filter_grad_images(%x: tensor<6x2x5x7x3xf32>, %o: tensor<2x2x6x4xf32>, %w: tensor<3x2x3x4xf32>) -> tensor<6x3x2x3x4xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<6x2x5x7x3xf32>) -> tensor<2x5x7x3xf32>
  %y = calque.conv_filter_grad %e, %o, %w {padding = "valid", strides = array<i64: 2, 1>} : (tensor<2x5x7x3xf32>, tensor<2x2x6x4xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3x2x3x4xf32>, tensor<2x5x7x3xf32>, tensor<6x2x5x7x3xf32>) -> tensor<6x3x2x3x4xf32>
  return %r : tensor<6x3x2x3x4xf32>
}

// CHECK-LABEL: func.func @max_pool(
// CHECK-SAME: %[[X:.*]]: tensor<6x2x5x7x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reshape %[[X]] {shape = array<i64: 12, 5, 7, 3>}
// CHECK-NEXT: %[[V1:.*]] = calque.max_pool %[[V0]] {strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: %[[V2:.*]] = calque.reshape %[[V1]] {shape = array<i64: 6, 2, 2, 6, 3>}
// CHECK-NEXT: return %[[V2]]
func.func @max_pool(%x: tensor<6x2x5x7x3xf32>) -> tensor<6x2x2x6x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<6x2x5x7x3xf32>) -> tensor<2x5x7x3xf32>
  %y = calque.max_pool %e {strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<2x5x7x3xf32>) -> tensor<2x2x6x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x2x6x3xf32>, tensor<2x5x7x3xf32>, tensor<6x2x5x7x3xf32>) -> tensor<6x2x2x6x3xf32>
  return %r : tensor<6x2x2x6x3xf32>
}

// CHECK-LABEL: func.func @max_pool_grad(
// CHECK-SAME: %[[X:.*]]: tensor<2x5x7x3xf32>, %[[O:.*]]: tensor<6x2x2x6x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_to %[[X]] {shape = array<i64: 6, 2, 5, 7, 3>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64: 12, 5, 7, 3>}
// CHECK-NEXT: %[[V2:.*]] = calque.reshape %[[O]] {shape = array<i64: 12, 2, 6, 3>}
// CHECK-NEXT: %[[V3:.*]] = calque.max_pool_grad %[[V1]], %[[V2]] {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: %[[V4:.*]] = calque.reshape %[[V3]] {shape = array<i64: 6, 2, 5, 7, 3>}
// CHECK-NEXT: return %[[V4]]
func.func @max_pool_grad(%x: tensor<2x5x7x3xf32>, %o: tensor<6x2x2x6x3xf32>) -> tensor<6x2x5x7x3xf32> {
  %e = calque.batch %o {axes = array<i64: 0>} : (tensor<6x2x2x6x3xf32>) -> tensor<2x2x6x3xf32>
  %y = calque.max_pool_grad %x, %e {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<2x5x7x3xf32>, tensor<2x2x6x3xf32>) -> tensor<2x5x7x3xf32>
  %r = calque.unbatch %y, %e, %o {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x5x7x3xf32>, tensor<2x2x6x3xf32>, tensor<6x2x2x6x3xf32>) -> tensor<6x2x5x7x3xf32>
  return %r : tensor<6x2x5x7x3xf32>
}

// CHECK-LABEL: func.func @max_pool_pick(
// CHECK-SAME: %[[X:.*]]: tensor<6x2x5x7x3xf32>, %[[V:.*]]: tensor<2x5x7x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_to %[[V]] {shape = array<i64: 6, 2, 5, 7, 3>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[X]] {shape = array<i64: 12, 5, 7, 3>}
// CHECK-NEXT: %[[V2:.*]] = calque.reshape %[[V0]] {shape = array<i64: 12, 5, 7, 3>}
// CHECK-NEXT: %[[V3:.*]] = calque.max_pool_pick %[[V1]], %[[V2]] {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: %[[V4:.*]] = calque.reshape %[[V3]] {shape = array<i64: 6, 2, 2, 6, 3>}
// CHECK-NEXT: return %[[V4]]
func.func @max_pool_pick(%x: tensor<6x2x5x7x3xf32>, %v: tensor<2x5x7x3xf32>) -> tensor<6x2x2x6x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<6x2x5x7x3xf32>) -> tensor<2x5x7x3xf32>
  %y = calque.max_pool_pick %e, %v {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<2x5x7x3xf32>, tensor<2x5x7x3xf32>) -> tensor<2x2x6x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x2x6x3xf32>, tensor<2x5x7x3xf32>, tensor<6x2x5x7x3xf32>) -> tensor<6x2x2x6x3xf32>
  return %r : tensor<6x2x2x6x3xf32>
}

// Of unknown sizes the joined dimension takes its parts' sizes from a tensor of all examples.
// CHECK-LABEL: func.func @open_images(
// CHECK-SAME: %[[X:.*]]: tensor<?x2x?x?x3xf32>, %[[W:.*]]: tensor<3x2x3x4xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.merge_dims %[[X]] {axis = 0 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.conv %[[V0]], %[[W]]
// CHECK-NEXT: %[[V2:.*]] = calque.split_dim %[[V1]], %[[X]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: return %[[V2]]
func.func @open_images(%x: tensor<?x2x?x?x3xf32>, %w: tensor<3x2x3x4xf32>) -> tensor<?x2x?x?x4xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x2x?x?x3xf32>) -> tensor<2x?x?x3xf32>
  %y = calque.conv %e, %w : (tensor<2x?x?x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x?x?x4xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x?x?x4xf32>, tensor<2x?x?x3xf32>, tensor<?x2x?x?x3xf32>) -> tensor<?x2x?x?x4xf32>
  return %r : tensor<?x2x?x?x4xf32>
}

// Groups of unknown sizes.
// CHECK-LABEL: func.func @open_both(
// CHECK-SAME: %[[X:.*]]: tensor<1x2x?x7x3xf32>, %[[W:.*]]: tensor<1x3x2x3x4xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[X]] {permutation = array<i64: 1, 2, 3, 0, 4>}
// CHECK-NEXT: %[[V1:.*]] = calque.merge_dims %[[V0]] {axis = 3 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.transpose %[[W]] {permutation = array<i64: 1, 2, 3, 0, 4>}
// CHECK-NEXT: %[[V3:.*]] = calque.reshape %[[V2]] {shape = array<i64: 3, 2, 3, 4>}
// CHECK-NEXT: %[[V4:.*]] = calque.conv %[[V1]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.split_dim %[[V4]], %[[W]] {axis = 3 : i64, first = 0 : i64, second = 4 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.transpose %[[V5]] {permutation = array<i64: 3, 0, 1, 2, 4>}
// CHECK-NEXT: return %[[V6]]
func.func @open_both(%x: tensor<1x2x?x7x3xf32>, %w: tensor<1x3x2x3x4xf32>) -> tensor<1x2x?x6x4xf32> {
  %e:2 = calque.batch %x, %w {axes = array<i64: 0, 0>} : (tensor<1x2x?x7x3xf32>, tensor<1x3x2x3x4xf32>) -> (tensor<2x?x7x3xf32>, tensor<3x2x3x4xf32>)
  %y = calque.conv %e#0, %e#1 : (tensor<2x?x7x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x?x6x4xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x?x6x4xf32>, tensor<2x?x7x3xf32>, tensor<1x2x?x7x3xf32>) -> tensor<1x2x?x6x4xf32>
  return %r : tensor<1x2x?x6x4xf32>
}

//===-- Movement ----------------------------------------------------------------------------------===//

// CHECK-LABEL: func.func @reshape(
// CHECK-SAME: %[[X:.*]]: tensor<?x2x6xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reshape %[[X]] {shape = array<i64: -1, 3, 4>}
// CHECK-NEXT: return %[[V0]]
func.func @reshape(%x: tensor<?x2x6xf32>) -> tensor<?x3x4xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x2x6xf32>) -> tensor<2x6xf32>
  %y = calque.reshape %e {shape = array<i64: 3, -1>} : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3x4xf32>, tensor<2x6xf32>, tensor<?x2x6xf32>) -> tensor<?x3x4xf32>
  return %r : tensor<?x3x4xf32>
}

// One size may follow from the others.
// CHECK-LABEL: func.func @reshape_unknown(
// CHECK-SAME: %[[X:.*]]: tensor<5x?x6xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reshape %[[X]] {shape = array<i64: 5, 3, -1>}
// CHECK-NEXT: return %[[V0]]
func.func @reshape_unknown(%x: tensor<5x?x6xf32>) -> tensor<5x3x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<5x?x6xf32>) -> tensor<?x6xf32>
  %y = calque.reshape %e {shape = array<i64: 3, -1>} : (tensor<?x6xf32>) -> tensor<3x?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3x?xf32>, tensor<?x6xf32>, tensor<5x?x6xf32>) -> tensor<5x3x?xf32>
  return %r : tensor<5x3x?xf32>
}

// CHECK-LABEL: func.func @reshape_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[LIKE:.*]]: tensor<3x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[LIKE]], %[[LIKE]]
// CHECK-NEXT: %[[V6:.*]] = calque.reshape_like %[[X]], %[[V5]]
// CHECK-NEXT: return %[[V6]]
func.func @reshape_like(%x: tensor<?x?x3xf32>, %like: tensor<3x?xf32>) -> tensor<?x3x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.reshape_like %e, %like : (tensor<?x3xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3x?xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x3x?xf32>
  return %r : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @merge_dims(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.merge_dims %[[X]] {axis = 2 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @merge_dims(%x: tensor<?x?x?x3xf32>) -> tensor<?x?x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x?x3xf32>) -> tensor<?x?x3xf32>
  %y = calque.merge_dims %e {axis = -2 : i64} : (tensor<?x?x3xf32>) -> tensor<?x?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf32>, tensor<?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @split_dim(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[LIKE:.*]]: tensor<2x?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.split_dim %[[X]], %[[LIKE]] {axis = 1 : i64, first = 1 : i64, second = 2 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @split_dim(%x: tensor<?x?x3xf32>, %like: tensor<2x?x?xf32>) -> tensor<?x?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.split_dim %e, %like {axis = 0 : i64, first = 1 : i64, second = 2 : i64} : (tensor<?x3xf32>, tensor<2x?x?xf32>) -> tensor<?x?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x?x3xf32>
  return %r : tensor<?x?x?x3xf32>
}

// CHECK-LABEL: func.func @split_dim_both(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[LIKE:.*]]: tensor<?x2x?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[LIKE]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[X]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.split_dim %[[V5]], %[[V2]] {axis = 1 : i64, first = 2 : i64, second = 3 : i64}
// CHECK-NEXT: return %[[V6]]
func.func @split_dim_both(%x: tensor<?x?x3xf32>, %like: tensor<?x2x?x?xf32>) -> tensor<?x?x?x3xf32> {
  %e:2 = calque.batch %x, %like {axes = array<i64: 0, 0>} : (tensor<?x?x3xf32>, tensor<?x2x?x?xf32>) -> (tensor<?x3xf32>, tensor<2x?x?xf32>)
  %y = calque.split_dim %e#0, %e#1 {axis = 0 : i64, first = 1 : i64, second = 2 : i64} : (tensor<?x3xf32>, tensor<2x?x?xf32>) -> tensor<?x?x3xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x?x3xf32>
  return %r : tensor<?x?x?x3xf32>
}

// CHECK-LABEL: func.func @expand_dims(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 1, 4>}
// CHECK-NEXT: return %[[V0]]
func.func @expand_dims(%x: tensor<?x?x3xf32>) -> tensor<?x1x?x3x1xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.expand_dims %e {axes = array<i64: 0, -1>} : (tensor<?x3xf32>) -> tensor<1x?x3x1xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<1x?x3x1xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x1x?x3x1xf32>
  return %r : tensor<?x1x?x3x1xf32>
}

// CHECK-LABEL: func.func @broadcast_to(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x1xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_to %[[V1]] {shape = array<i64: 2, 5, 3>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V4:.*]] = calque.cast %[[V3]] {dtype = i32}
// CHECK-NEXT: %[[V5:.*]] = calque.reduce_sum %[[V4]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V6:.*]] = calque.equal %[[V5]], %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = calque.expand_dims %[[V6]] {axes = array<i64: 1, 2, 3>}
// CHECK-NEXT: %[[V8:.*]] = calque.where %[[V7]], %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V9:.*]] = calque.broadcast_like %[[V0]], %[[V8]]
// CHECK-NEXT: return %[[V9]]
func.func @broadcast_to(%x: tensor<?x?x1xf32>) -> tensor<?x2x5x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x1xf32>) -> tensor<?x1xf32>
  %y = calque.broadcast_to %e {shape = array<i64: 2, 5, 3>} : (tensor<?x1xf32>) -> tensor<2x5x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x5x3xf32>, tensor<?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x2x5x3xf32>
  return %r : tensor<?x2x5x3xf32>
}

// CHECK-LABEL: func.func @broadcast_to_known(
// CHECK-SAME: %[[X:.*]]: tensor<4x?x1xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_to %[[V0]] {shape = array<i64: 4, 2, 5, 3>}
// CHECK-NEXT: return %[[V1]]
func.func @broadcast_to_known(%x: tensor<4x?x1xf32>) -> tensor<4x2x5x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<4x?x1xf32>) -> tensor<?x1xf32>
  %y = calque.broadcast_to %e {shape = array<i64: 2, 5, 3>} : (tensor<?x1xf32>) -> tensor<2x5x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x5x3xf32>, tensor<?x1xf32>, tensor<4x?x1xf32>) -> tensor<4x2x5x3xf32>
  return %r : tensor<4x2x5x3xf32>
}

// CHECK-LABEL: func.func @broadcast_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x1xf32>, %[[LIKE:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[LIKE]], %[[LIKE]]
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.broadcast_like %[[V6]], %[[V5]]
// CHECK-NEXT: return %[[V7]]
func.func @broadcast_like(%x: tensor<?x1xf32>, %like: tensor<?x3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x1xf32>) -> tensor<1xf32>
  %y = calque.broadcast_like %e, %like : (tensor<1xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @broadcast_like_shared(
// CHECK-SAME: %[[X:.*]]: tensor<1xf32>, %[[LIKE:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_like %[[X]], %[[LIKE]]
// CHECK-NEXT: return %[[V0]]
func.func @broadcast_like_shared(%x: tensor<1xf32>, %like: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %like {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.broadcast_like %x, %e : (tensor<1xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %like {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[X]] {permutation = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT: return %[[V0]]
func.func @transpose(%x: tensor<?x?x3x?xf32>) -> tensor<?x?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3x?xf32>) -> tensor<?x3x?xf32>
  %y = calque.transpose %e {permutation = array<i64: 2, 0, -2>} : (tensor<?x3x?xf32>) -> tensor<?x?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x3xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x?x3xf32>
  return %r : tensor<?x?x?x3xf32>
}

// CHECK-LABEL: func.func @transpose_reverse(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[X]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: return %[[V0]]
func.func @transpose_reverse(%x: tensor<?x?x3xf32>) -> tensor<?x3x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.transpose %e : (tensor<?x3xf32>) -> tensor<3x?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3x?xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x3x?xf32>
  return %r : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @concat(
// CHECK-SAME: %[[A:.*]]: tensor<?x?x3xf32>, %[[B:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[A]], %[[A]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[B]], %[[B]]
// CHECK-NEXT: %[[V6:.*]] = calque.concat %[[A]], %[[V5]] {axis = 1 : i64}
// CHECK-NEXT: return %[[V6]]
func.func @concat(%a: tensor<?x?x3xf32>, %b: tensor<?x3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %a {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.concat %e, %b : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %a {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @split(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]]:2 = calque.split %[[X]] {axis = 2 : i64, sizes = array<i64: 1, 2>}
// CHECK-NEXT: return %[[V0]]#0, %[[V0]]#1
func.func @split(%x: tensor<?x?x3xf32>) -> (tensor<?x?x1xf32>, tensor<?x?x2xf32>) {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y:2 = calque.split %e {axis = -1 : i64, sizes = array<i64: 1, 2>} : (tensor<?x3xf32>) -> (tensor<?x1xf32>, tensor<?x2xf32>)
  %r:2 = calque.unbatch %y#0, %y#1, %e, %x {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> (tensor<?x?x1xf32>, tensor<?x?x2xf32>)
  return %r#0, %r#1 : tensor<?x?x1xf32>, tensor<?x?x2xf32>
}

// CHECK-LABEL: func.func @concat_part(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[A:.*]]: tensor<?x3xf32>, %[[B:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[A]], %[[A]]
// CHECK-NEXT: %[[V6:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V7:.*]] = calque.cast %[[V6]] {dtype = i32}
// CHECK-NEXT: %[[V8:.*]] = calque.reduce_sum %[[V7]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V9:.*]] = calque.equal %[[V8]], %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = calque.expand_dims %[[V9]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V11:.*]] = calque.where %[[V10]], %[[B]], %[[B]]
// CHECK-NEXT: %[[V12:.*]] = calque.concat_part %[[X]], %[[V5]], %[[V11]] {axis = 1 : i64, index = 1 : i64}
// CHECK-NEXT: return %[[V12]]
func.func @concat_part(%x: tensor<?x?x3xf32>, %a: tensor<?x3xf32>, %b: tensor<?x3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.concat_part %e, %a, %b {axis = -2 : i64, index = 1 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_to %[[V0]] {shape = array<i64: 6, 3>}
// CHECK-NEXT: %[[V2:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V3:.*]] = calque.cast %[[V2]] {dtype = i32}
// CHECK-NEXT: %[[V4:.*]] = calque.reduce_sum %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.equal %[[V4]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V7:.*]] = calque.where %[[V6]], %[[V1]], %[[V1]]
// CHECK-NEXT: %[[V8:.*]] = calque.slice_like %[[X]], %[[V7]] {starts = array<i64: 0, 1, 0>, strides = array<i64: 1, 1, 1>}
// CHECK-NEXT: return %[[V8]]
func.func @slice(%x: tensor<?x?x3xf32>) -> tensor<?x6x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.slice %e {limits = array<i64: 7, 3>, starts = array<i64: 1, 0>} : (tensor<?x3xf32>) -> tensor<6x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<6x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x6x3xf32>
  return %r : tensor<?x6x3xf32>
}

// CHECK-LABEL: func.func @slice_known(
// CHECK-SAME: %[[X:.*]]: tensor<4x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.slice %[[X]] {limits = array<i64: 4, 7, 3>, starts = array<i64: 0, 1, 0>, strides = array<i64: 1, 2, 1>}
// CHECK-NEXT: return %[[V0]]
func.func @slice_known(%x: tensor<4x?x3xf32>) -> tensor<4x3x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<4x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.slice %e {limits = array<i64: 7, 3>, starts = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<?x3xf32>) -> tensor<3x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3x3xf32>, tensor<?x3xf32>, tensor<4x?x3xf32>) -> tensor<4x3x3xf32>
  return %r : tensor<4x3x3xf32>
}

// CHECK-LABEL: func.func @slice_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[LIKE:.*]]: tensor<?x2xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[LIKE]], %[[LIKE]]
// CHECK-NEXT: %[[V6:.*]] = calque.slice_like %[[X]], %[[V5]] {starts = array<i64: 0, 1, 0>, strides = array<i64: 1, 2, 1>}
// CHECK-NEXT: return %[[V6]]
func.func @slice_like(%x: tensor<?x?x3xf32>, %like: tensor<?x2xf32>) -> tensor<?x?x2xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.slice_like %e, %like {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<?x3xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x2xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x2xf32>
  return %r : tensor<?x?x2xf32>
}

// CHECK-LABEL: func.func @slice_put(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x2xf32>, %[[LIKE:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[LIKE]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[X]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.slice_put %[[V5]], %[[V2]] {starts = array<i64: 0, 1, 0>, strides = array<i64: 1, 2, 1>}
// CHECK-NEXT: return %[[V6]]
func.func @slice_put(%x: tensor<?x?x2xf32>, %like: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %e:2 = calque.batch %x, %like {axes = array<i64: 0, 0>} : (tensor<?x?x2xf32>, tensor<?x?x3xf32>) -> (tensor<?x2xf32>, tensor<?x3xf32>)
  %y = calque.slice_put %e#0, %e#1 {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x2xf32>, tensor<?x?x2xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.pad %[[X]] {high = array<i64: 0, 1, 0>, low = array<i64: 0, 2, 0>, value = 1.000000e+00 : f64}
// CHECK-NEXT: return %[[V0]]
func.func @pad(%x: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.pad %e {high = array<i64: 1, 0>, low = array<i64: 2, 0>, value = 1.0 : f64} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @reverse_along(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reverse %[[X]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: return %[[V0]]
func.func @reverse_along(%x: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.reverse %e : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @reverse_scalar(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.identity %[[X]]
// CHECK-NEXT: return %[[V0]]
func.func @reverse_scalar(%x: tensor<?xf32>) -> tensor<?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %y = calque.reverse %e : (tensor<f32>) -> tensor<f32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @argsort(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.argsort %[[X]] {axis = 2 : i64, descending = true}
// CHECK-NEXT: return %[[V0]]
func.func @argsort(%x: tensor<?x?x3xf32>) -> tensor<?x?x3xi64> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.argsort %e {descending = true} : (tensor<?x3xf32>) -> tensor<?x3xi64>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xi64>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xi64>
  return %r : tensor<?x?x3xi64>
}

// CHECK-LABEL: func.func @top_indices(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.top_indices %[[X]] {axis = 2 : i64, count = 2 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @top_indices(%x: tensor<?x?x3xf32>) -> tensor<?x?x2xi64> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.top_indices %e {count = 2 : i64} : (tensor<?x3xf32>) -> tensor<?x2xi64>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x2xi64>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x2xi64>
  return %r : tensor<?x?x2xi64>
}

// CHECK-LABEL: func.func @take_along_axis(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[I:.*]]: tensor<?x?x?xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[I]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[X]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.take_along_axis %[[V5]], %[[V2]] {axis = 2 : i64}
// CHECK-NEXT: return %[[V6]]
func.func @take_along_axis(%x: tensor<?x?x3xf32>, %i: tensor<?x?x?xi64>) -> tensor<?x?x?xf32> {
  %e:2 = calque.batch %x, %i {axes = array<i64: 0, 0>} : (tensor<?x?x3xf32>, tensor<?x?x?xi64>) -> (tensor<?x3xf32>, tensor<?x?xi64>)
  %y = calque.take_along_axis %e#0, %e#1 : (tensor<?x3xf32>, tensor<?x?xi64>) -> tensor<?x?xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @put_along_axis(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?xf32>, %[[LIKE:.*]]: tensor<?x?x3xf32>, %[[I:.*]]: tensor<?x?x?xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[LIKE]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[I]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V7:.*]] = calque.split_dim %[[X]], %[[V6]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V8:.*]] = calque.merge_dims %[[V7]] {axis = 0 : i64}
// CHECK-NEXT: %[[V9:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V10:.*]] = calque.split_dim %[[LIKE]], %[[V9]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V11:.*]] = calque.merge_dims %[[V10]] {axis = 0 : i64}
// CHECK-NEXT: %[[V12:.*]] = calque.put_along_axis %[[V8]], %[[V11]], %[[V5]] {axis = 1 : i64}
// CHECK-NEXT: return %[[V12]]
func.func @put_along_axis(%x: tensor<?x?x?xf32>, %like: tensor<?x?x3xf32>, %i: tensor<?x?x?xi64>) -> tensor<?x?x3xf32> {
  %e:3 = calque.batch %x, %like, %i {axes = array<i64: 0, 0, 0>} : (tensor<?x?x?xf32>, tensor<?x?x3xf32>, tensor<?x?x?xi64>) -> (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?x?xi64>)
  %y = calque.put_along_axis %e#0, %e#1, %e#2 {axis = 0 : i64} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?x?xi64>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[I:.*]]: tensor<?xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.gather %[[X]], %[[I]] {axis = 2 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @gather(%x: tensor<?x?x3xf32>, %i: tensor<?xi64>) -> tensor<?x?x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.gather %e, %i {axis = -1 : i64} : (tensor<?x3xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @gather_indices(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<?x?xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.gather %[[X]], %[[I]] {axis = 1 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.transpose %[[V0]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: return %[[V1]]
func.func @gather_indices(%x: tensor<?x3xf32>, %i: tensor<?x?xi64>) -> tensor<?x?x?xf32> {
  %e = calque.batch %i {axes = array<i64: 0>} : (tensor<?x?xi64>) -> tensor<?xi64>
  %y = calque.gather %x, %e {axis = -1 : i64} : (tensor<?x3xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  %r = calque.unbatch %y, %e, %i {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf32>, tensor<?xi64>, tensor<?x?xi64>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// Indices of each example into the slices of all; one out of range stays so. The number of examples is what an error
// needs to name the index of one of them.
// CHECK-LABEL: func.func @gather_both(
// CHECK-SAME: %[[X:.*]]: tensor<5x2x3xf32>, %[[I:.*]]: tensor<5x7xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[X]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64: 15, 2>}
// CHECK-NEXT: %[[V2:.*]] = calque.constant {value = dense<3> : tensor<i64>}
// CHECK-NEXT: %[[V3:.*]] = calque.iota {dtype = i64, shape = array<i64: 5>}
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.mul %[[V4]], %[[V2]]
// CHECK-NEXT: %[[V6:.*]] = calque.constant {value = dense<0> : tensor<i64>}
// CHECK-NEXT: %[[V7:.*]] = calque.less %[[I]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.constant {value = dense<3> : tensor<i64>}
// CHECK-NEXT: %[[V9:.*]] = calque.greater_equal %[[I]], %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = calque.constant {value = dense<15> : tensor<i64>}
// CHECK-NEXT: %[[V11:.*]] = calque.add %[[I]], %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = calque.where %[[V7]], %[[I]], %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = calque.add %[[I]], %[[V5]]
// CHECK-NEXT: %[[V14:.*]] = calque.logical_or %[[V7]], %[[V9]]
// CHECK-NEXT: %[[V15:.*]] = calque.where %[[V14]], %[[V12]], %[[V13]]
// CHECK-NEXT: %[[V16:.*]] = calque.gather %[[V1]], %[[V15]] {{.*}}calque.examples = array<i64: 5>}
// CHECK-NEXT: %[[V17:.*]] = calque.transpose %[[V16]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: return %[[V17]]
func.func @gather_both(%x: tensor<5x2x3xf32>, %i: tensor<5x7xi64>) -> tensor<5x2x7xf32> {
  %e:2 = calque.batch %x, %i {axes = array<i64: 0, 0>} : (tensor<5x2x3xf32>, tensor<5x7xi64>) -> (tensor<2x3xf32>, tensor<7xi64>)
  %y = calque.gather %e#0, %e#1 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<7xi64>) -> tensor<2x7xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x7xf32>, tensor<2x3xf32>, tensor<5x2x3xf32>) -> tensor<5x2x7xf32>
  return %r : tensor<5x2x7xf32>
}

// CHECK-LABEL: func.func @gather_put(
// CHECK-SAME: %[[S:.*]]: tensor<?x?x?xf32>, %[[LIKE:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<?xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[S]], %[[S]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[LIKE]], %[[LIKE]]
// CHECK-NEXT: %[[V6:.*]] = calque.gather_put %[[S]], %[[V5]], %[[I]] {axis = 2 : i64}
// CHECK-NEXT: return %[[V6]]
func.func @gather_put(%s: tensor<?x?x?xf32>, %like: tensor<?x3xf32>, %i: tensor<?xi64>) -> tensor<?x?x3xf32> {
  %e = calque.batch %s {axes = array<i64: 0>} : (tensor<?x?x?xf32>) -> tensor<?x?xf32>
  %y = calque.gather_put %e, %like, %i {axis = -1 : i64} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?xi64>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %s {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @gather_put_indices(
// CHECK-SAME: %[[S:.*]]: tensor<2x7xf32>, %[[LIKE:.*]]: tensor<2x3xf32>, %[[I:.*]]: tensor<5x7xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_to %[[S]] {shape = array<i64: 5, 2, 7>}
// CHECK-NEXT: %[[V1:.*]] = calque.transpose %[[V0]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_to %[[LIKE]] {shape = array<i64: 5, 2, 3>}
// CHECK-NEXT: %[[V3:.*]] = calque.transpose %[[V2]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V4:.*]] = calque.constant {value = dense<3> : tensor<i64>}
// CHECK-NEXT: %[[V5:.*]] = calque.iota {dtype = i64, shape = array<i64: 5>}
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.mul %[[V6]], %[[V4]]
// CHECK-NEXT: %[[V8:.*]] = calque.constant {value = dense<0> : tensor<i64>}
// CHECK-NEXT: %[[V9:.*]] = calque.less %[[I]], %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = calque.constant {value = dense<3> : tensor<i64>}
// CHECK-NEXT: %[[V11:.*]] = calque.greater_equal %[[I]], %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = calque.constant {value = dense<15> : tensor<i64>}
// CHECK-NEXT: %[[V13:.*]] = calque.add %[[I]], %[[V12]]
// CHECK-NEXT: %[[V14:.*]] = calque.where %[[V9]], %[[I]], %[[V13]]
// CHECK-NEXT: %[[V15:.*]] = calque.add %[[I]], %[[V7]]
// CHECK-NEXT: %[[V16:.*]] = calque.logical_or %[[V9]], %[[V11]]
// CHECK-NEXT: %[[V17:.*]] = calque.where %[[V16]], %[[V14]], %[[V15]]
// CHECK-NEXT: %[[V18:.*]] = calque.reshape %[[V3]] {shape = array<i64: 15, 2>}
// CHECK-NEXT: %[[V19:.*]] = calque.gather_put %[[V1]], %[[V18]], %[[V17]] {axis = 0 : i64, calque.examples = array<i64: 5>}
// CHECK-NEXT: %[[V20:.*]] = calque.reshape %[[V19]] {shape = array<i64: 5, 3, 2>}
// CHECK-NEXT: %[[V21:.*]] = calque.transpose %[[V20]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: return %[[V21]]
func.func @gather_put_indices(%s: tensor<2x7xf32>, %like: tensor<2x3xf32>, %i: tensor<5x7xi64>) -> tensor<5x2x3xf32> {
  %e = calque.batch %i {axes = array<i64: 0>} : (tensor<5x7xi64>) -> tensor<7xi64>
  %y = calque.gather_put %s, %like, %e {axis = -1 : i64} : (tensor<2x7xf32>, tensor<2x3xf32>, tensor<7xi64>) -> tensor<2x3xf32>
  %r = calque.unbatch %y, %e, %i {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2x3xf32>, tensor<7xi64>, tensor<5x7xi64>) -> tensor<5x2x3xf32>
  return %r : tensor<5x2x3xf32>
}

// CHECK-LABEL: func.func @one_hot(
// CHECK-SAME: %[[I:.*]]: tensor<?x?xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.one_hot %[[I]] {depth = 3 : i64, dtype = f32}
// CHECK-NEXT: return %[[V0]]
func.func @one_hot(%i: tensor<?x?xi64>) -> tensor<?x?x3xf32> {
  %e = calque.batch %i {axes = array<i64: 0>} : (tensor<?x?xi64>) -> tensor<?xi64>
  %y = calque.one_hot %e {depth = 3 : i64, dtype = f32} : (tensor<?xi64>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %i {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?xi64>, tensor<?x?xi64>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}

//===-- Random numbers ----------------------------------------------------------------------------===//

// CHECK-LABEL: func.func @random_uniform(
// CHECK-SAME: %[[STATE:.*]]: tensor<2x2xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.slice %[[STATE]] {limits = array<i64: 1, 2>, starts = array<i64: 0, 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64: 2>}
// CHECK-NEXT: %[[V2:.*]] = calque.random_uniform %[[V1]] {dtype = f32, shape = array<i64: 3>}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.slice %[[STATE]] {limits = array<i64: 2, 2>, starts = array<i64: 1, 0>}
// CHECK-NEXT: %[[V5:.*]] = calque.reshape %[[V4]] {shape = array<i64: 2>}
// CHECK-NEXT: %[[V6:.*]] = calque.random_uniform %[[V5]] {dtype = f32, shape = array<i64: 3>}
// CHECK-NEXT: %[[V7:.*]] = calque.expand_dims %[[V6]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V8:.*]] = calque.concat %[[V3]], %[[V7]]
// CHECK-NEXT: return %[[V8]]
func.func @random_uniform(%state: tensor<2x2xi64>) -> tensor<2x3xf32> {
  %e = calque.batch %state {axes = array<i64: 0>} : (tensor<2x2xi64>) -> tensor<2xi64>
  %y = calque.random_uniform %e {dtype = f32, shape = array<i64: 3>} : (tensor<2xi64>) -> tensor<3xf32>
  %r = calque.unbatch %y, %e, %state {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<2xi64>, tensor<2x2xi64>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
