// The reverse rules of operations that move and pick elements, on unknown sizes:
// each emits what its formula says, shaped like the operands, whatever their sizes will be.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @reshape(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[G:.*]]: tensor<3x?xf32>)
// CHECK-NEXT: calque.reshape %[[X]] {shape = array<i64: 3, -1>}
// CHECK-NEXT: %[[V0:.*]] = calque.reshape_like %[[G]], %[[X]]
// CHECK-NEXT: return %[[V0]]
func.func @reshape(%x: tensor<?x3xf32>, %g: tensor<3x?xf32>) -> tensor<?x3xf32> {
  %y = calque.reshape %x {shape = array<i64: 3, -1>} : (tensor<?x3xf32>) -> tensor<3x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<3x?xf32>, tensor<3x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @reshape_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[LIKE:.*]]: tensor<3x?xf32>, %[[G:.*]]: tensor<3x?xf32>)
// CHECK-NEXT: calque.reshape_like %[[X]], %[[LIKE]]
// CHECK-NEXT: %[[V0:.*]] = calque.reshape_like %[[G]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[LIKE]]
// CHECK-NEXT: return %[[V0]], %[[V2]]
func.func @reshape_like(%x: tensor<?x3xf32>, %like: tensor<3x?xf32>, %g: tensor<3x?xf32>) -> (tensor<?x3xf32>, tensor<3x?xf32>) {
  %y = calque.reshape_like %x, %like : (tensor<?x3xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  %d:2 = calque.gradient %y, %g, %x, %like {counts = array<i64: 1, 2, 0>} : (tensor<3x?xf32>, tensor<3x?xf32>, tensor<?x3xf32>, tensor<3x?xf32>) -> (tensor<?x3xf32>, tensor<3x?xf32>)
  return %d#0, %d#1 : tensor<?x3xf32>, tensor<3x?xf32>
}

// CHECK-LABEL: func.func @merge_dims(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[G:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.merge_dims %[[X]] {axis = 0 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.reshape_like %[[G]], %[[X]]
// CHECK-NEXT: return %[[V0]]
func.func @merge_dims(%x: tensor<?x?x3xf32>, %g: tensor<?x3xf32>) -> tensor<?x?x3xf32> {
  %y = calque.merge_dims %x {axis = 0 : i64} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %d : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @split_dim(
// CHECK-SAME: %[[X:.*]]: tensor<3x?xf32>, %[[LIKE:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<3x?x?xf32>)
// CHECK-NEXT: calque.split_dim %[[X]], %[[LIKE]] {axis = 1 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.reshape_like %[[G]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[LIKE]]
// CHECK-NEXT: return %[[V0]], %[[V2]]
func.func @split_dim(%x: tensor<3x?xf32>, %like: tensor<?x?xf32>, %g: tensor<3x?x?xf32>) -> (tensor<3x?xf32>, tensor<?x?xf32>) {
  %y = calque.split_dim %x, %like {axis = 1 : i64, first = 0 : i64, second = 1 : i64} : (tensor<3x?xf32>, tensor<?x?xf32>) -> tensor<3x?x?xf32>
  %d:2 = calque.gradient %y, %g, %x, %like {counts = array<i64: 1, 2, 0>} : (tensor<3x?x?xf32>, tensor<3x?x?xf32>, tensor<3x?xf32>, tensor<?x?xf32>) -> (tensor<3x?xf32>, tensor<?x?xf32>)
  return %d#0, %d#1 : tensor<3x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @expand_dims(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[G:.*]]: tensor<1x?x3xf32>)
// CHECK-NEXT: calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V0:.*]] = calque.reshape_like %[[G]], %[[X]]
// CHECK-NEXT: return %[[V0]]
func.func @expand_dims(%x: tensor<?x3xf32>, %g: tensor<1x?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.expand_dims %x {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<1x?x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<1x?x3xf32>, tensor<1x?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @broadcast_to(
// CHECK-SAME: %[[X:.*]]: tensor<?x1xf32>, %[[G:.*]]: tensor<2x5x3xf32>)
// CHECK-NEXT: calque.broadcast_to %[[X]] {shape = array<i64: 2, 5, 3>}
// CHECK-NEXT: %[[V0:.*]] = calque.sum_like %[[G]], %[[X]]
// CHECK-NEXT: return %[[V0]]
func.func @broadcast_to(%x: tensor<?x1xf32>, %g: tensor<2x5x3xf32>) -> tensor<?x1xf32> {
  %y = calque.broadcast_to %x {shape = array<i64: 2, 5, 3>} : (tensor<?x1xf32>) -> tensor<2x5x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<2x5x3xf32>, tensor<2x5x3xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  return %d : tensor<?x1xf32>
}

// CHECK-LABEL: func.func @broadcast_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x1xf32>, %[[LIKE:.*]]: tensor<2x?x3xf32>, %[[G:.*]]: tensor<2x?x3xf32>)
// CHECK-NEXT: calque.broadcast_like %[[X]], %[[LIKE]]
// CHECK-NEXT: %[[V0:.*]] = calque.sum_like %[[G]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[LIKE]]
// CHECK-NEXT: return %[[V0]], %[[V2]]
func.func @broadcast_like(%x: tensor<?x1xf32>, %like: tensor<2x?x3xf32>, %g: tensor<2x?x3xf32>) -> (tensor<?x1xf32>, tensor<2x?x3xf32>) {
  %y = calque.broadcast_like %x, %like : (tensor<?x1xf32>, tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
  %d:2 = calque.gradient %y, %g, %x, %like {counts = array<i64: 1, 2, 0>} : (tensor<2x?x3xf32>, tensor<2x?x3xf32>, tensor<?x1xf32>, tensor<2x?x3xf32>) -> (tensor<?x1xf32>, tensor<2x?x3xf32>)
  return %d#0, %d#1 : tensor<?x1xf32>, tensor<2x?x3xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[G:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: calque.transpose %[[X]] {permutation = array<i64: 2, 0, -2>}
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[G]] {permutation = array<i64: 1, 2, 0>}
// CHECK-NEXT: return %[[V0]]
func.func @transpose(%x: tensor<?x3x?xf32>, %g: tensor<?x?x3xf32>) -> tensor<?x3x?xf32> {
  %y = calque.transpose %x {permutation = array<i64: 2, 0, -2>} : (tensor<?x3x?xf32>) -> tensor<?x?x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?x3xf32>, tensor<?x?x3xf32>, tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @reverse_along(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[G:.*]]: tensor<?x3x?xf32>)
// CHECK-NEXT: calque.reverse %[[X]] {axes = array<i64: 0, -1>}
// CHECK-NEXT: %[[V0:.*]] = calque.reverse %[[G]] {axes = array<i64: 0, -1>}
// CHECK-NEXT: return %[[V0]]
func.func @reverse_along(%x: tensor<?x3x?xf32>, %g: tensor<?x3x?xf32>) -> tensor<?x3x?xf32> {
  %y = calque.reverse %x {axes = array<i64: 0, -1>} : (tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @take_along_axis(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<?x?xi64>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.take_along_axis %[[X]], %[[I]]
// CHECK-NEXT: %[[V0:.*]] = calque.put_along_axis %[[G]], %[[X]], %[[I]] {axis = -1 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @take_along_axis(%x: tensor<?x3xf32>, %i: tensor<?x?xi64>, %g: tensor<?x?xf32>) -> tensor<?x3xf32> {
  %y = calque.take_along_axis %x, %i : (tensor<?x3xf32>, tensor<?x?xi64>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @put_along_axis(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[LIKE:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<?x?xi64>, %[[G:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.put_along_axis %[[X]], %[[LIKE]], %[[I]] {axis = 1 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.take_along_axis %[[G]], %[[I]] {axis = 1 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @put_along_axis(%x: tensor<?x?xf32>, %like: tensor<?x3xf32>, %i: tensor<?x?xi64>, %g: tensor<?x3xf32>) -> tensor<?x?xf32> {
  %y = calque.put_along_axis %x, %like, %i {axis = 1 : i64} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?x?xi64>) -> tensor<?x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @reverse(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[G:.*]]: tensor<?x3x?xf32>)
// CHECK-NEXT: calque.transpose %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[G]]
// CHECK-NEXT: return %[[V0]]
func.func @reverse(%x: tensor<?x3x?xf32>, %g: tensor<?x3x?xf32>) -> tensor<?x3x?xf32> {
  %y = calque.transpose %x : (tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @concat(
// CHECK-SAME: %[[A:.*]]: tensor<?x3xf32>, %[[B:.*]]: tensor<?x3xf32>, %[[G:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.concat %[[A]], %[[B]]
// CHECK-NEXT: %[[V0:.*]] = calque.concat_part %[[G]], %[[A]], %[[B]] {axis = 0 : i64, index = 0 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.concat_part %[[G]], %[[A]], %[[B]] {axis = 0 : i64, index = 1 : i64}
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @concat(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %g: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %y = calque.concat %a, %b : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %d:2 = calque.gradient %y, %g, %a, %b {counts = array<i64: 1, 2, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  return %d#0, %d#1 : tensor<?x3xf32>, tensor<?x3xf32>
}

// A part that is not used has the cotangent zero.
// CHECK-LABEL: func.func @split(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[G:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: %[[P:.*]]:2 = calque.split %[[X]] {sizes = array<i64: -1, 2>}
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[V0]], %[[P]]#0
// CHECK-NEXT: %[[V2:.*]] = calque.concat %[[V1]], %[[G]]
// CHECK-NEXT: return %[[V2]]
func.func @split(%x: tensor<?x3xf32>, %g: tensor<2x3xf32>) -> tensor<?x3xf32> {
  %y:2 = calque.split %x {sizes = array<i64: -1, 2>} : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<2x3xf32>)
  %d = calque.gradient %y#1, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @concat_part(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[A:.*]]: tensor<?x3xf32>, %[[B:.*]]: tensor<?x3xf32>, %[[G:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.concat_part %[[X]], %[[A]], %[[B]] {axis = 0 : i64, index = 1 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[V0]], %[[A]]
// CHECK-NEXT: %[[V2:.*]] = calque.concat %[[V1]], %[[G]]
// CHECK-NEXT: %[[V3:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V4:.*]] = calque.broadcast_like %[[V3]], %[[A]]
// CHECK-NEXT: %[[V5:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V6:.*]] = calque.broadcast_like %[[V5]], %[[B]]
// CHECK-NEXT: return %[[V2]], %[[V4]], %[[V6]]
func.func @concat_part(%x: tensor<?x3xf32>, %a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %g: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) {
  %y = calque.concat_part %x, %a, %b {axis = 0 : i64, index = 1 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %d:3 = calque.gradient %y, %g, %x, %a, %b {counts = array<i64: 1, 3, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
  return %d#0, %d#1, %d#2 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[G:.*]]: tensor<3x3xf32>)
// CHECK-NEXT: calque.slice %[[X]] {limits = array<i64: 7, 3>, starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.slice_put %[[G]], %[[X]] {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: return %[[V0]]
func.func @slice(%x: tensor<?x3xf32>, %g: tensor<3x3xf32>) -> tensor<?x3xf32> {
  %y = calque.slice %x {limits = array<i64: 7, 3>, starts = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<?x3xf32>) -> tensor<3x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<3x3xf32>, tensor<3x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @slice_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[LIKE:.*]]: tensor<?x2xf32>, %[[G:.*]]: tensor<?x2xf32>)
// CHECK-NEXT: calque.slice_like %[[X]], %[[LIKE]] {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.slice_put %[[G]], %[[X]] {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[LIKE]]
// CHECK-NEXT: return %[[V0]], %[[V2]]
func.func @slice_like(%x: tensor<?x3xf32>, %like: tensor<?x2xf32>, %g: tensor<?x2xf32>) -> (tensor<?x3xf32>, tensor<?x2xf32>) {
  %y = calque.slice_like %x, %like {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<?x3xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %d:2 = calque.gradient %y, %g, %x, %like {counts = array<i64: 1, 2, 0>} : (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x3xf32>, tensor<?x2xf32>) -> (tensor<?x3xf32>, tensor<?x2xf32>)
  return %d#0, %d#1 : tensor<?x3xf32>, tensor<?x2xf32>
}

// CHECK-LABEL: func.func @slice_put(
// CHECK-SAME: %[[X:.*]]: tensor<?x2xf32>, %[[LIKE:.*]]: tensor<?x3xf32>, %[[G:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.slice_put %[[X]], %[[LIKE]] {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.slice_like %[[G]], %[[X]] {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[LIKE]]
// CHECK-NEXT: return %[[V0]], %[[V2]]
func.func @slice_put(%x: tensor<?x2xf32>, %like: tensor<?x3xf32>, %g: tensor<?x3xf32>) -> (tensor<?x2xf32>, tensor<?x3xf32>) {
  %y = calque.slice_put %x, %like {starts = array<i64: 1, 0>, strides = array<i64: 2, 1>} : (tensor<?x2xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %d:2 = calque.gradient %y, %g, %x, %like {counts = array<i64: 1, 2, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x2xf32>, tensor<?x3xf32>) -> (tensor<?x2xf32>, tensor<?x3xf32>)
  return %d#0, %d#1 : tensor<?x2xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[G:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.pad %[[X]] {high = array<i64: 1, 0>, low = array<i64: 2, 0>, value = 1.000000e+00 : f64}
// CHECK-NEXT: %[[V0:.*]] = calque.slice_like %[[G]], %[[X]] {starts = array<i64: 2, 0>, strides = array<i64: 1, 1>}
// CHECK-NEXT: return %[[V0]]
func.func @pad(%x: tensor<?x3xf32>, %g: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.pad %x {high = array<i64: 1, 0>, low = array<i64: 2, 0>, value = 1.0} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<?xi64>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.gather %[[X]], %[[I]] {axis = -1 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.gather_put %[[G]], %[[X]], %[[I]] {axis = -1 : i64}
// CHECK-NEXT: return %[[V0]]
func.func @gather(%x: tensor<?x3xf32>, %i: tensor<?xi64>, %g: tensor<?x?xf32>) -> tensor<?x3xf32> {
  %y = calque.gather %x, %i {axis = -1 : i64} : (tensor<?x3xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @gather_put(
// CHECK-SAME: %[[S:.*]]: tensor<?x?xf32>, %[[LIKE:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<?xi64>, %[[G:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.gather_put %[[S]], %[[LIKE]], %[[I]] {axis = -1 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.gather %[[G]], %[[I]] {axis = -1 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[LIKE]]
// CHECK-NEXT: return %[[V0]], %[[V2]]
func.func @gather_put(%s: tensor<?x?xf32>, %like: tensor<?x3xf32>, %i: tensor<?xi64>, %g: tensor<?x3xf32>) -> (tensor<?x?xf32>, tensor<?x3xf32>) {
  %y = calque.gather_put %s, %like, %i {axis = -1 : i64} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?xi64>) -> tensor<?x3xf32>
  %d:2 = calque.gradient %y, %g, %s, %like {counts = array<i64: 1, 2, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x3xf32>) -> (tensor<?x?xf32>, tensor<?x3xf32>)
  return %d#0, %d#1 : tensor<?x?xf32>, tensor<?x3xf32>
}
