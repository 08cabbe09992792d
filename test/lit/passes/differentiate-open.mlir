// The rules of operations whose sizes are those of tensors, on unknown sizes.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// Reverse and forward mode: sizes give no gradient.
// CHECK-LABEL: func.func @reshape_open(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[LIKE:.*]]: tensor<?xi32>, %[[G:.*]]: tensor<?x?xf32>, %[[T:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reshape_open %[[X]], %[[LIKE]] {shape = array<i64: -9223372036854775808, -1>, sizes = array<i64: 1, 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape_like %[[G]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.reshape_open %[[T]], %[[LIKE]] {shape = array<i64: -9223372036854775808, -1>, sizes = array<i64: 1, 0>}
// CHECK-NEXT: return %[[V1]], %[[V2]]
func.func @reshape_open(%x: tensor<?x3xf32>, %like: tensor<?xi32>, %g: tensor<?x?xf32>, %t: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x?xf32>) {
  %y = calque.reshape_open %x, %like {shape = array<i64: -9223372036854775808, -1>, sizes = array<i64: 1, 0>} : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %f = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x?xf32>
  return %d, %f : tensor<?x3xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @broadcast_to_open(
// CHECK-SAME: %[[X:.*]]: tensor<?x1xf32>, %[[LIKE:.*]]: tensor<?xi32>, %[[G:.*]]: tensor<5x?x?xf32>, %[[T:.*]]: tensor<?x1xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_to_open %[[X]], %[[LIKE]] {shape = array<i64: 5, -9223372036854775808, -9223372036854775808>, sizes = array<i64: 0, 0, 1, 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.sum_like %[[G]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_to_open %[[T]], %[[LIKE]] {shape = array<i64: 5, -9223372036854775808, -9223372036854775808>, sizes = array<i64: 0, 0, 1, 0>}
// CHECK-NEXT: return %[[V1]], %[[V2]]
func.func @broadcast_to_open(%x: tensor<?x1xf32>, %like: tensor<?xi32>, %g: tensor<5x?x?xf32>, %t: tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<5x?x?xf32>) {
  %y = calque.broadcast_to_open %x, %like {shape = array<i64: 5, -9223372036854775808, -9223372036854775808>, sizes = array<i64: 0, 0, 1, 0>} : (tensor<?x1xf32>, tensor<?xi32>) -> tensor<5x?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<5x?x?xf32>, tensor<5x?x?xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %f = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<5x?x?xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<5x?x?xf32>
  return %d, %f : tensor<?x1xf32>, tensor<5x?x?xf32>
}

// Many examples: their number goes before the sizes, and a dimension of an operand that has examples is one further on.
// CHECK-LABEL: func.func @reshape_open_examples(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[LIKE:.*]]: tensor<?xi32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reshape_open %[[X]], %[[LIKE]] {shape = array<i64: -9223372036854775808, -9223372036854775808, -9223372036854775808>, sizes = array<i64: 0, 0, 1, 0, 0, 1>}
// CHECK-NEXT: return %[[V0]]
func.func @reshape_open_examples(%x: tensor<?x?x3xf32>, %like: tensor<?xi32>) -> tensor<?x?x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x3xf32>) -> tensor<?x3xf32>
  %y = calque.reshape_open %e, %like {shape = array<i64: -9223372036854775808, -9223372036854775808>, sizes = array<i64: 1, 0, 0, 0>} : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf32>, tensor<?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @broadcast_to_open_examples(
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf32>, %[[LIKE:.*]]: tensor<2xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_to_open %[[LIKE]], %[[X]] {shape = array<i64: 4, 3, -9223372036854775808, 2>, sizes = array<i64: 1, 1>}
// CHECK-NEXT: return %[[V0]]
func.func @broadcast_to_open_examples(%x: tensor<4x?xf32>, %like: tensor<2xf32>) -> tensor<4x3x?x2xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<4x?xf32>) -> tensor<?xf32>
  %y = calque.broadcast_to_open %like, %e {shape = array<i64: 3, -9223372036854775808, 2>, sizes = array<i64: 1, 0>} : (tensor<2xf32>, tensor<?xf32>) -> tensor<3x?x2xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3x?x2xf32>, tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x3x?x2xf32>
  return %r : tensor<4x3x?x2xf32>
}

// CHECK-LABEL: func.func @iota_open(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.iota_open %[[X]] {axis = 2 : i64, dtype = i32, shape = array<i64: -9223372036854775808, 3, -9223372036854775808>, sizes = array<i64: 0, 0, 0, 1>}
// CHECK-NEXT: return %[[V0]]
func.func @iota_open(%x: tensor<?x?xf32>) -> tensor<?x3x?xi32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?xf32>) -> tensor<?xf32>
  %y = calque.iota_open %e {axis = -1 : i64, dtype = i32, shape = array<i64: 3, -9223372036854775808>, sizes = array<i64: 0, 0>} : (tensor<?xf32>) -> tensor<3x?xi32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3x?xi32>, tensor<?xf32>, tensor<?x?xf32>) -> tensor<?x3x?xi32>
  return %r : tensor<?x3x?xi32>
}

// CHECK-LABEL: func.func @one_hot_open(
// CHECK-SAME: %[[I:.*]]: tensor<4x?xi32>, %[[X:.*]]: tensor<4x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.one_hot_open %[[I]], %[[X]] {dtype = f32, shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 1>}
// CHECK-NEXT: return %[[V0]]
func.func @one_hot_open(%i: tensor<4x?xi32>, %x: tensor<4x?xf32>) -> tensor<4x?x?xf32> {
  %j, %e = calque.batch %i, %x {axes = array<i64: 0, 0>} : (tensor<4x?xi32>, tensor<4x?xf32>) -> (tensor<?xi32>, tensor<?xf32>)
  %y = calque.one_hot_open %j, %e {dtype = f32, shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 0>} : (tensor<?xi32>, tensor<?xf32>) -> tensor<?x?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf32>, tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?x?xf32>
  return %r : tensor<4x?x?xf32>
}

// CHECK-LABEL: func.func @size_of(
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.size_of %[[X]] {axis = 1 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_to %[[V0]] {shape = array<i64: 4>}
// CHECK-NEXT: return %[[V1]]
func.func @size_of(%x: tensor<4x?xf32>) -> tensor<4xi64> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<4x?xf32>) -> tensor<?xf32>
  %y = calque.size_of %e {axis = -1 : i64} : (tensor<?xf32>) -> tensor<i64>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<i64>, tensor<?xf32>, tensor<4x?xf32>) -> tensor<4xi64>
  return %r : tensor<4xi64>
}

// One state gives every example the same numbers.
// CHECK-LABEL: func.func @random_uniform_open(
// CHECK-SAME: %[[X:.*]]: tensor<4x?xf32>, %[[STATE:.*]]: tensor<2xi64>)
// CHECK-NEXT: %[[V0:.*]] = calque.random_uniform_open %[[STATE]], %[[X]] {dtype = f32, shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.equal %[[X]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.cast %[[V1]] {dtype = i32}
// CHECK-NEXT: %[[V3:.*]] = calque.reduce_sum %[[V2]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V4:.*]] = calque.equal %[[V3]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.expand_dims %[[V4]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V6:.*]] = calque.where %[[V5]], %[[V0]], %[[V0]]
// CHECK-NEXT: return %[[V6]]
func.func @random_uniform_open(%x: tensor<4x?xf32>, %state: tensor<2xi64>) -> tensor<4x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<4x?xf32>) -> tensor<?xf32>
  %y = calque.random_uniform_open %state, %e {dtype = f32, shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 0>} : (tensor<2xi64>, tensor<?xf32>) -> tensor<?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @random_uniform_open_states(
// CHECK-SAME: %[[STATES:.*]]: tensor<2x2xi64>, %[[X:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.slice %[[STATES]] {limits = array<i64: 1, 2>, starts = array<i64: 0, 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.reshape %[[V0]] {shape = array<i64: 2>}
// CHECK-NEXT: %[[V2:.*]] = calque.random_uniform_open %[[V1]], %[[X]] {dtype = f32, shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 0>}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.slice %[[STATES]] {limits = array<i64: 2, 2>, starts = array<i64: 1, 0>}
// CHECK-NEXT: %[[V5:.*]] = calque.reshape %[[V4]] {shape = array<i64: 2>}
// CHECK-NEXT: %[[V6:.*]] = calque.random_uniform_open %[[V5]], %[[X]] {dtype = f32, shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 0>}
// CHECK-NEXT: %[[V7:.*]] = calque.expand_dims %[[V6]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V8:.*]] = calque.concat %[[V3]], %[[V7]]
// CHECK-NEXT: return %[[V8]]
func.func @random_uniform_open_states(%states: tensor<2x2xi64>, %x: tensor<?xf32>) -> tensor<2x?xf32> {
  %e = calque.batch %states {axes = array<i64: 0>} : (tensor<2x2xi64>) -> tensor<2xi64>
  %y = calque.random_uniform_open %e, %x {dtype = f32, shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 0>} : (tensor<2xi64>, tensor<?xf32>) -> tensor<?xf32>
  %r = calque.unbatch %y, %e, %states {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<2xi64>, tensor<2x2xi64>) -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}

// A reshape that leaves a size open takes the number of examples from x.
// CHECK-LABEL: func.func @reshape_examples(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.reshape_open %[[X]] {shape = array<i64: -9223372036854775808, -1, 3>, sizes = array<i64: 0, 0>}
// CHECK-NEXT: return %[[V0]]
func.func @reshape_examples(%x: tensor<?x?xf32>) -> tensor<?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?xf32>) -> tensor<?xf32>
  %y = calque.reshape %e {shape = array<i64: -1, 3>} : (tensor<?xf32>) -> tensor<?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x3xf32>, tensor<?xf32>, tensor<?x?xf32>) -> tensor<?x?x3xf32>
  return %r : tensor<?x?x3xf32>
}
