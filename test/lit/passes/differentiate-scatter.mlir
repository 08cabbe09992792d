// The derivatives of operations whose indices name several dimensions, and what is done for many examples, on unknown sizes.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @gather_nd(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.gather_nd %[[X]], %[[I]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[V0]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.scatter_nd_add %[[V1]], %[[I]], %[[G]]
// CHECK-NEXT: return %[[V2]]
func.func @gather_nd(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %g: tensor<?x?xf32>) -> tensor<?x3x?xf32> {
  %y = calque.gather_nd %x, %i : (tensor<?x3x?xf32>, tensor<?x2xi64>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @gather_nd_tangent(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[TX:.*]]: tensor<?x3x?xf32>)
// CHECK-NEXT: calque.gather_nd %[[X]], %[[I]]
// CHECK-NEXT: %[[V0:.*]] = calque.gather_nd %[[TX]], %[[I]]
// CHECK-NEXT: return %[[V0]]
func.func @gather_nd_tangent(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %tx: tensor<?x3x?xf32>) -> tensor<?x?xf32> {
  %y = calque.gather_nd %x, %i : (tensor<?x3x?xf32>, tensor<?x2xi64>) -> tensor<?x?xf32>
  %d = calque.jvp %y, %x, %tx {counts = array<i64: 1, 1>} : (tensor<?x?xf32>, tensor<?x3x?xf32>, tensor<?x3x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @gather_nd_examples(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[X]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V1:.*]] = calque.gather_nd %[[V0]], %[[I]]
// CHECK-NEXT: %[[V2:.*]] = calque.transpose %[[V1]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: return %[[V2]]
func.func @gather_nd_examples(%x: tensor<?x?x3x?xf32>, %i: tensor<?x2xi64>) -> tensor<?x?x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3x?xf32>) -> tensor<?x3x?xf32>
  %y = calque.gather_nd %e, %i : (tensor<?x3x?xf32>, tensor<?x2xi64>) -> tensor<?x?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @gather_nd_indices(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3x?xf32>, %[[I:.*]]: tensor<?x?x2xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[I]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[X]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.iota_open %[[V2]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1, 1>, sizes = array<i64: 0, 0>}
// CHECK-NEXT: %[[V7:.*]] = calque.constant {value = dense<0> : tensor<i64>}
// CHECK-NEXT: %[[V8:.*]] = calque.reduce_sum %[[V2]] {axes = array<i64: 2>, keepdims = true}
// CHECK-NEXT: %[[V9:.*]] = calque.mul %[[V8]], %[[V7]]
// CHECK-NEXT: %[[V10:.*]] = calque.add %[[V9]], %[[V6]]
// CHECK-NEXT: %[[V11:.*]] = calque.concat %[[V10]], %[[V2]] {axis = 2 : i64}
// CHECK-NEXT: %[[V12:.*]] = calque.gather_nd %[[V5]], %[[V11]]
// CHECK-NEXT: return %[[V12]]
func.func @gather_nd_indices(%x: tensor<?x?x3x?xf32>, %i: tensor<?x?x2xi64>) -> tensor<?x?x?xf32> {
  %e:2 = calque.batch %x, %i {axes = array<i64: 0, 0>} : (tensor<?x?x3x?xf32>, tensor<?x?x2xi64>) -> (tensor<?x3x?xf32>, tensor<?x2xi64>)
  %y = calque.gather_nd %e#0, %e#1 : (tensor<?x3x?xf32>, tensor<?x2xi64>) -> tensor<?x?xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @gather_nd_last(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.gather_nd_last %[[X]], %[[I]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[V0]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.scatter_nd_set %[[V1]], %[[I]], %[[G]]
// CHECK-NEXT: return %[[V2]]
func.func @gather_nd_last(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %g: tensor<?x?xf32>) -> tensor<?x3x?xf32> {
  %y = calque.gather_nd_last %x, %i : (tensor<?x3x?xf32>, tensor<?x2xi64>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @gather_nd_last_tangent(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[TX:.*]]: tensor<?x3x?xf32>)
// CHECK-NEXT: calque.gather_nd_last %[[X]], %[[I]]
// CHECK-NEXT: %[[V0:.*]] = calque.gather_nd_last %[[TX]], %[[I]]
// CHECK-NEXT: return %[[V0]]
func.func @gather_nd_last_tangent(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %tx: tensor<?x3x?xf32>) -> tensor<?x?xf32> {
  %y = calque.gather_nd_last %x, %i : (tensor<?x3x?xf32>, tensor<?x2xi64>) -> tensor<?x?xf32>
  %d = calque.jvp %y, %x, %tx {counts = array<i64: 1, 1>} : (tensor<?x?xf32>, tensor<?x3x?xf32>, tensor<?x3x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @gather_nd_last_examples(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[X]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V1:.*]] = calque.gather_nd_last %[[V0]], %[[I]]
// CHECK-NEXT: %[[V2:.*]] = calque.transpose %[[V1]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: return %[[V2]]
func.func @gather_nd_last_examples(%x: tensor<?x?x3x?xf32>, %i: tensor<?x2xi64>) -> tensor<?x?x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3x?xf32>) -> tensor<?x3x?xf32>
  %y = calque.gather_nd_last %e, %i : (tensor<?x3x?xf32>, tensor<?x2xi64>) -> tensor<?x?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @gather_nd_last_indices(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3x?xf32>, %[[I:.*]]: tensor<?x?x2xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[I]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[X]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.iota_open %[[V2]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1, 1>, sizes = array<i64: 0, 0>}
// CHECK-NEXT: %[[V7:.*]] = calque.constant {value = dense<0> : tensor<i64>}
// CHECK-NEXT: %[[V8:.*]] = calque.reduce_sum %[[V2]] {axes = array<i64: 2>, keepdims = true}
// CHECK-NEXT: %[[V9:.*]] = calque.mul %[[V8]], %[[V7]]
// CHECK-NEXT: %[[V10:.*]] = calque.add %[[V9]], %[[V6]]
// CHECK-NEXT: %[[V11:.*]] = calque.concat %[[V10]], %[[V2]] {axis = 2 : i64}
// CHECK-NEXT: %[[V12:.*]] = calque.gather_nd_last %[[V5]], %[[V11]]
// CHECK-NEXT: return %[[V12]]
func.func @gather_nd_last_indices(%x: tensor<?x?x3x?xf32>, %i: tensor<?x?x2xi64>) -> tensor<?x?x?xf32> {
  %e:2 = calque.batch %x, %i {axes = array<i64: 0, 0>} : (tensor<?x?x3x?xf32>, tensor<?x?x2xi64>) -> (tensor<?x3x?xf32>, tensor<?x2xi64>)
  %y = calque.gather_nd_last %e#0, %e#1 : (tensor<?x3x?xf32>, tensor<?x2xi64>) -> tensor<?x?xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_set(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x3x?xf32>)
// CHECK-NEXT: calque.scatter_nd_set %[[X]], %[[I]], %[[U]]
// CHECK-NEXT: %[[V0:.*]] = calque.gather_nd_last %[[G]], %[[I]]
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[U]]
// CHECK-NEXT: %[[V3:.*]] = calque.scatter_nd_set %[[G]], %[[I]], %[[V2]]
// CHECK-NEXT: return %[[V3]], %[[V0]]
func.func @scatter_nd_set(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?xf32>, %g: tensor<?x3x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x?xf32>) {
  %y = calque.scatter_nd_set %x, %i, %u : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %d:2 = calque.gradient %y, %g, %x, %u {counts = array<i64: 1, 2, 0>} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x?xf32>)
  return %d#0, %d#1 : tensor<?x3x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_set_tangent(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?xf32>, %[[TX:.*]]: tensor<?x3x?xf32>, %[[TU:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.scatter_nd_set %[[X]], %[[I]], %[[U]]
// CHECK-NEXT: %[[V0:.*]] = calque.scatter_nd_set %[[TX]], %[[I]], %[[TU]]
// CHECK-NEXT: return %[[V0]]
func.func @scatter_nd_set_tangent(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?xf32>, %tx: tensor<?x3x?xf32>, %tu: tensor<?x?xf32>) -> tensor<?x3x?xf32> {
  %y = calque.scatter_nd_set %x, %i, %u : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %d = calque.jvp %y, %x, %u, %tx, %tu {counts = array<i64: 1, 2>} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?xf32>, tensor<?x3x?xf32>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_set_of_updates(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?xf32>, %[[TU:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.scatter_nd_set %[[X]], %[[I]], %[[U]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[V0]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.scatter_nd_set %[[V1]], %[[I]], %[[TU]]
// CHECK-NEXT: return %[[V2]]
func.func @scatter_nd_set_of_updates(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?xf32>, %tu: tensor<?x?xf32>) -> tensor<?x3x?xf32> {
  %y = calque.scatter_nd_set %x, %i, %u : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %d = calque.jvp %y, %u, %tu {counts = array<i64: 1, 1>} : (tensor<?x3x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_set_examples(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[U]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[X]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.transpose %[[V5]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V7:.*]] = calque.transpose %[[V2]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: %[[V8:.*]] = calque.scatter_nd_set %[[V6]], %[[I]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = calque.transpose %[[V8]] {permutation = array<i64: 2, 0, 1, 3>}
// CHECK-NEXT: return %[[V9]]
func.func @scatter_nd_set_examples(%x: tensor<?x?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?x?xf32>) -> tensor<?x?x3x?xf32> {
  %e:2 = calque.batch %x, %u {axes = array<i64: 0, 0>} : (tensor<?x?x3x?xf32>, tensor<?x?x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x?xf32>)
  %y = calque.scatter_nd_set %e#0, %i, %e#1 : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x3x?xf32>
  return %r : tensor<?x?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_set_indices(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3x?xf32>, %[[I:.*]]: tensor<?x?x2xi64>, %[[U:.*]]: tensor<?x?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[I]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[U]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V7:.*]] = calque.split_dim %[[X]], %[[V6]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V8:.*]] = calque.merge_dims %[[V7]] {axis = 0 : i64}
// CHECK-NEXT: %[[V9:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V10:.*]] = calque.split_dim %[[I]], %[[V9]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V11:.*]] = calque.merge_dims %[[V10]] {axis = 0 : i64}
// CHECK-NEXT: %[[V12:.*]] = calque.iota_open %[[V11]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1, 1>, sizes = array<i64: 0, 0>}
// CHECK-NEXT: %[[V13:.*]] = calque.constant {value = dense<0> : tensor<i64>}
// CHECK-NEXT: %[[V14:.*]] = calque.reduce_sum %[[V11]] {axes = array<i64: 2>, keepdims = true}
// CHECK-NEXT: %[[V15:.*]] = calque.mul %[[V14]], %[[V13]]
// CHECK-NEXT: %[[V16:.*]] = calque.add %[[V15]], %[[V12]]
// CHECK-NEXT: %[[V17:.*]] = calque.concat %[[V16]], %[[V11]] {axis = 2 : i64}
// CHECK-NEXT: %[[V18:.*]] = calque.scatter_nd_set %[[V8]], %[[V17]], %[[V5]]
// CHECK-NEXT: return %[[V18]]
func.func @scatter_nd_set_indices(%x: tensor<?x?x3x?xf32>, %i: tensor<?x?x2xi64>, %u: tensor<?x?x?xf32>) -> tensor<?x?x3x?xf32> {
  %e:3 = calque.batch %x, %i, %u {axes = array<i64: 0, 0, 0>} : (tensor<?x?x3x?xf32>, tensor<?x?x2xi64>, tensor<?x?x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>)
  %y = calque.scatter_nd_set %e#0, %e#1, %e#2 : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x3x?xf32>
  return %r : tensor<?x?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_add(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x3x?xf32>)
// CHECK-NEXT: calque.scatter_nd_add %[[X]], %[[I]], %[[U]]
// CHECK-NEXT: %[[V0:.*]] = calque.gather_nd %[[G]], %[[I]]
// CHECK-NEXT: return %[[G]], %[[V0]]
func.func @scatter_nd_add(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?xf32>, %g: tensor<?x3x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x?xf32>) {
  %y = calque.scatter_nd_add %x, %i, %u : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %d:2 = calque.gradient %y, %g, %x, %u {counts = array<i64: 1, 2, 0>} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x?xf32>)
  return %d#0, %d#1 : tensor<?x3x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_add_tangent(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?xf32>, %[[TX:.*]]: tensor<?x3x?xf32>, %[[TU:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.scatter_nd_add %[[X]], %[[I]], %[[U]]
// CHECK-NEXT: %[[V0:.*]] = calque.scatter_nd_add %[[TX]], %[[I]], %[[TU]]
// CHECK-NEXT: return %[[V0]]
func.func @scatter_nd_add_tangent(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?xf32>, %tx: tensor<?x3x?xf32>, %tu: tensor<?x?xf32>) -> tensor<?x3x?xf32> {
  %y = calque.scatter_nd_add %x, %i, %u : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %d = calque.jvp %y, %x, %u, %tx, %tu {counts = array<i64: 1, 2>} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?xf32>, tensor<?x3x?xf32>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_add_of_updates(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?xf32>, %[[TU:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.scatter_nd_add %[[X]], %[[I]], %[[U]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[V0]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.scatter_nd_add %[[V1]], %[[I]], %[[TU]]
// CHECK-NEXT: return %[[V2]]
func.func @scatter_nd_add_of_updates(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?xf32>, %tu: tensor<?x?xf32>) -> tensor<?x3x?xf32> {
  %y = calque.scatter_nd_add %x, %i, %u : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %d = calque.jvp %y, %u, %tu {counts = array<i64: 1, 1>} : (tensor<?x3x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_add_examples(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[U]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[X]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.transpose %[[V5]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V7:.*]] = calque.transpose %[[V2]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: %[[V8:.*]] = calque.scatter_nd_add %[[V6]], %[[I]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = calque.transpose %[[V8]] {permutation = array<i64: 2, 0, 1, 3>}
// CHECK-NEXT: return %[[V9]]
func.func @scatter_nd_add_examples(%x: tensor<?x?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?x?xf32>) -> tensor<?x?x3x?xf32> {
  %e:2 = calque.batch %x, %u {axes = array<i64: 0, 0>} : (tensor<?x?x3x?xf32>, tensor<?x?x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x?xf32>)
  %y = calque.scatter_nd_add %e#0, %i, %e#1 : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x3x?xf32>
  return %r : tensor<?x?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_add_indices(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3x?xf32>, %[[I:.*]]: tensor<?x?x2xi64>, %[[U:.*]]: tensor<?x?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[I]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[U]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V7:.*]] = calque.split_dim %[[X]], %[[V6]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V8:.*]] = calque.merge_dims %[[V7]] {axis = 0 : i64}
// CHECK-NEXT: %[[V9:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V10:.*]] = calque.split_dim %[[I]], %[[V9]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V11:.*]] = calque.merge_dims %[[V10]] {axis = 0 : i64}
// CHECK-NEXT: %[[V12:.*]] = calque.iota_open %[[V11]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1, 1>, sizes = array<i64: 0, 0>}
// CHECK-NEXT: %[[V13:.*]] = calque.constant {value = dense<0> : tensor<i64>}
// CHECK-NEXT: %[[V14:.*]] = calque.reduce_sum %[[V11]] {axes = array<i64: 2>, keepdims = true}
// CHECK-NEXT: %[[V15:.*]] = calque.mul %[[V14]], %[[V13]]
// CHECK-NEXT: %[[V16:.*]] = calque.add %[[V15]], %[[V12]]
// CHECK-NEXT: %[[V17:.*]] = calque.concat %[[V16]], %[[V11]] {axis = 2 : i64}
// CHECK-NEXT: %[[V18:.*]] = calque.scatter_nd_add %[[V8]], %[[V17]], %[[V5]]
// CHECK-NEXT: return %[[V18]]
func.func @scatter_nd_add_indices(%x: tensor<?x?x3x?xf32>, %i: tensor<?x?x2xi64>, %u: tensor<?x?x?xf32>) -> tensor<?x?x3x?xf32> {
  %e:3 = calque.batch %x, %i, %u {axes = array<i64: 0, 0, 0>} : (tensor<?x?x3x?xf32>, tensor<?x?x2xi64>, tensor<?x?x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>)
  %y = calque.scatter_nd_add %e#0, %e#1, %e#2 : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x3x?xf32>
  return %r : tensor<?x?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_max(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x3x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.scatter_nd_max %[[X]], %[[I]], %[[U]]
// CHECK-NEXT: %[[V1:.*]] = calque.equal %[[X]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.gather_nd %[[V0]], %[[I]]
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[U]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.cast %[[V3]] {dtype = f32}
// CHECK-NEXT: %[[V5:.*]] = calque.cast %[[V1]] {dtype = f32}
// CHECK-NEXT: %[[V6:.*]] = calque.scatter_nd_add %[[V5]], %[[I]], %[[V4]]
// CHECK-NEXT: %[[V7:.*]] = calque.constant {value = dense<0x7FC00000> : tensor<f32>}
// CHECK-NEXT: %[[V8:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V9:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V10:.*]] = calque.greater %[[V6]], %[[V9]]
// CHECK-NEXT: %[[V11:.*]] = calque.where %[[V10]], %[[V8]], %[[V7]]
// CHECK-NEXT: %[[V12:.*]] = calque.div %[[G]], %[[V6]]
// CHECK-NEXT: %[[V13:.*]] = calque.where %[[V1]], %[[V12]], %[[V11]]
// CHECK-NEXT: %[[V14:.*]] = calque.gather_nd %[[V11]], %[[I]]
// CHECK-NEXT: %[[V15:.*]] = calque.gather_nd %[[V12]], %[[I]]
// CHECK-NEXT: %[[V16:.*]] = calque.where %[[V3]], %[[V15]], %[[V14]]
// CHECK-NEXT: return %[[V13]], %[[V16]]
func.func @scatter_nd_max(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?xf32>, %g: tensor<?x3x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x?xf32>) {
  %y = calque.scatter_nd_max %x, %i, %u : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %d:2 = calque.gradient %y, %g, %x, %u {counts = array<i64: 1, 2, 0>} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x?xf32>)
  return %d#0, %d#1 : tensor<?x3x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_max_tangent(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?xf32>, %[[TX:.*]]: tensor<?x3x?xf32>, %[[TU:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.scatter_nd_max %[[X]], %[[I]], %[[U]]
// CHECK-NEXT: %[[V1:.*]] = calque.equal %[[X]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.gather_nd %[[V0]], %[[I]]
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[U]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.cast %[[V3]] {dtype = f32}
// CHECK-NEXT: %[[V5:.*]] = calque.cast %[[V1]] {dtype = f32}
// CHECK-NEXT: %[[V6:.*]] = calque.scatter_nd_add %[[V5]], %[[I]], %[[V4]]
// CHECK-NEXT: %[[V7:.*]] = calque.constant {value = dense<0x7FC00000> : tensor<f32>}
// CHECK-NEXT: %[[V8:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V9:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V10:.*]] = calque.greater %[[V6]], %[[V9]]
// CHECK-NEXT: calque.where %[[V10]], %[[V8]], %[[V7]]
// CHECK-NEXT: %[[V11:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V12:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: calque.broadcast_like %[[V12]], %[[X]]
// CHECK-NEXT: %[[V13:.*]] = calque.where %[[V1]], %[[TX]], %[[V11]]
// CHECK-NEXT: %[[V14:.*]] = calque.where %[[V3]], %[[TU]], %[[V11]]
// CHECK-NEXT: %[[V15:.*]] = calque.scatter_nd_add %[[V13]], %[[I]], %[[V14]]
// CHECK-NEXT: %[[V16:.*]] = calque.div %[[V15]], %[[V6]]
// CHECK-NEXT: return %[[V16]]
func.func @scatter_nd_max_tangent(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?xf32>, %tx: tensor<?x3x?xf32>, %tu: tensor<?x?xf32>) -> tensor<?x3x?xf32> {
  %y = calque.scatter_nd_max %x, %i, %u : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %d = calque.jvp %y, %x, %u, %tx, %tu {counts = array<i64: 1, 2>} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?xf32>, tensor<?x3x?xf32>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_max_of_updates(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?xf32>, %[[TU:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.scatter_nd_max %[[X]], %[[I]], %[[U]]
// CHECK-NEXT: %[[V1:.*]] = calque.equal %[[X]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.gather_nd %[[V0]], %[[I]]
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[U]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.cast %[[V3]] {dtype = f32}
// CHECK-NEXT: %[[V5:.*]] = calque.cast %[[V1]] {dtype = f32}
// CHECK-NEXT: %[[V6:.*]] = calque.scatter_nd_add %[[V5]], %[[I]], %[[V4]]
// CHECK-NEXT: %[[V7:.*]] = calque.constant {value = dense<0x7FC00000> : tensor<f32>}
// CHECK-NEXT: %[[V8:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V9:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V10:.*]] = calque.greater %[[V6]], %[[V9]]
// CHECK-NEXT: calque.where %[[V10]], %[[V8]], %[[V7]]
// CHECK-NEXT: %[[V11:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V12:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V13:.*]] = calque.broadcast_like %[[V12]], %[[X]]
// CHECK-NEXT: %[[V14:.*]] = calque.where %[[V3]], %[[TU]], %[[V11]]
// CHECK-NEXT: %[[V15:.*]] = calque.scatter_nd_add %[[V13]], %[[I]], %[[V14]]
// CHECK-NEXT: %[[V16:.*]] = calque.div %[[V15]], %[[V6]]
// CHECK-NEXT: return %[[V16]]
func.func @scatter_nd_max_of_updates(%x: tensor<?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?xf32>, %tu: tensor<?x?xf32>) -> tensor<?x3x?xf32> {
  %y = calque.scatter_nd_max %x, %i, %u : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %d = calque.jvp %y, %u, %tu {counts = array<i64: 1, 1>} : (tensor<?x3x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_max_examples(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3x?xf32>, %[[I:.*]]: tensor<?x2xi64>, %[[U:.*]]: tensor<?x?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[U]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[X]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.transpose %[[V5]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V7:.*]] = calque.transpose %[[V2]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: %[[V8:.*]] = calque.scatter_nd_max %[[V6]], %[[I]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = calque.transpose %[[V8]] {permutation = array<i64: 2, 0, 1, 3>}
// CHECK-NEXT: return %[[V9]]
func.func @scatter_nd_max_examples(%x: tensor<?x?x3x?xf32>, %i: tensor<?x2xi64>, %u: tensor<?x?x?xf32>) -> tensor<?x?x3x?xf32> {
  %e:2 = calque.batch %x, %u {axes = array<i64: 0, 0>} : (tensor<?x?x3x?xf32>, tensor<?x?x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x?xf32>)
  %y = calque.scatter_nd_max %e#0, %i, %e#1 : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x3x?xf32>
  return %r : tensor<?x?x3x?xf32>
}

// CHECK-LABEL: func.func @scatter_nd_max_indices(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3x?xf32>, %[[I:.*]]: tensor<?x?x2xi64>, %[[U:.*]]: tensor<?x?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[I]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[U]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V7:.*]] = calque.split_dim %[[X]], %[[V6]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V8:.*]] = calque.merge_dims %[[V7]] {axis = 0 : i64}
// CHECK-NEXT: %[[V9:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V10:.*]] = calque.split_dim %[[I]], %[[V9]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V11:.*]] = calque.merge_dims %[[V10]] {axis = 0 : i64}
// CHECK-NEXT: %[[V12:.*]] = calque.iota_open %[[V11]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1, 1>, sizes = array<i64: 0, 0>}
// CHECK-NEXT: %[[V13:.*]] = calque.constant {value = dense<0> : tensor<i64>}
// CHECK-NEXT: %[[V14:.*]] = calque.reduce_sum %[[V11]] {axes = array<i64: 2>, keepdims = true}
// CHECK-NEXT: %[[V15:.*]] = calque.mul %[[V14]], %[[V13]]
// CHECK-NEXT: %[[V16:.*]] = calque.add %[[V15]], %[[V12]]
// CHECK-NEXT: %[[V17:.*]] = calque.concat %[[V16]], %[[V11]] {axis = 2 : i64}
// CHECK-NEXT: %[[V18:.*]] = calque.scatter_nd_max %[[V8]], %[[V17]], %[[V5]]
// CHECK-NEXT: return %[[V18]]
func.func @scatter_nd_max_indices(%x: tensor<?x?x3x?xf32>, %i: tensor<?x?x2xi64>, %u: tensor<?x?x?xf32>) -> tensor<?x?x3x?xf32> {
  %e:3 = calque.batch %x, %i, %u {axes = array<i64: 0, 0, 0>} : (tensor<?x?x3x?xf32>, tensor<?x?x2xi64>, tensor<?x?x?xf32>) -> (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>)
  %y = calque.scatter_nd_max %e#0, %e#1, %e#2 : (tensor<?x3x?xf32>, tensor<?x2xi64>, tensor<?x?xf32>) -> tensor<?x3x?xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3x?xf32>, tensor<?x3x?xf32>, tensor<?x?x3x?xf32>) -> tensor<?x?x3x?xf32>
  return %r : tensor<?x?x3x?xf32>
}
