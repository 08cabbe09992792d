// What the type rules of operations whose sizes are those of tensors refuse.
// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @iota_more(%a: tensor<?xf32>) {
  // expected-error @below {{iota_open: the shape [?,?] has more unknown sizes than [0,0] gives}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.iota_open %a {axis = 0 : i64, dtype = i32, shape = array<i64: -9223372036854775808, -9223372036854775808>, sizes = array<i64: 0, 0>} : (tensor<?xf32>) -> tensor<?x?xi32>
  return
}

// -----

func.func @iota_axis(%a: tensor<?xf32>) {
  // expected-error @below {{iota_open: axis 1 is out of range for a tensor of rank 1; it must be within [-1, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.iota_open %a {axis = 0 : i64, dtype = i32, shape = array<i64: -9223372036854775808>, sizes = array<i64: 0, 1>} : (tensor<?xf32>) -> tensor<?xi32>
  return
}

// -----

func.func @one_hot_shape(%a: tensor<?xi32>) {
  // expected-error @below {{one_hot_open: the shape must be the depth alone, not [3,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.one_hot_open %a {dtype = f32, shape = array<i64: 3, -9223372036854775808>, sizes = array<i64: 0, 0>} : (tensor<?xi32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @one_hot_depth(%a: tensor<?xi32>) {
  // expected-error @below {{one_hot_open: the depth must not be negative: -2}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.one_hot_open %a {dtype = f32, shape = array<i64: -2>, sizes = array<i64>} : (tensor<?xi32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @size_of(%a: tensor<?xf32>) {
  // expected-error @below {{size_of: axis 1 is out of range for a tensor of rank 1; it must be within [-1, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.size_of %a {axis = 1 : i64} : (tensor<?xf32>) -> tensor<i64>
  return
}

// -----

func.func @reshape_operand(%a: tensor<?xf32>) {
  // expected-error @below {{reshape_open: there is no operand 1 to take a size from}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reshape_open %a {shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 0>} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @reshape_count(%a: tensor<6xf32>, %b: tensor<4x?xf32>) {
  // expected-error @below {{reshape_open: float32[6] has 6 elements, which can't fill [4,-1]; the number must be divisible by 4}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reshape_open %a, %b {shape = array<i64: -9223372036854775808, -1>, sizes = array<i64: 1, 0>} : (tensor<6xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return
}

// -----

func.func @broadcast_fewer(%a: tensor<?xf32>) {
  // expected-error @below {{broadcast_to_open: the shape [3] has fewer unknown sizes than [0,0] gives}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_to_open %a {shape = array<i64: 3>, sizes = array<i64: 0, 0>} : (tensor<?xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @broadcast_sizes(%a: tensor<2xf32>, %b: tensor<3x?xf32>) {
  // expected-error @below {{broadcast_to_open: the shapes [2] and [3] don't broadcast: sizes 2 and 3 meet in dimension 0; they must be equal, or one of them 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_to_open %a, %b {shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 0>} : (tensor<2xf32>, tensor<3x?xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @random_uniform(%a: tensor<3xi64>, %b: tensor<?xf32>) {
  // expected-error @below {{random_uniform_open: the state must be int64[2], key and counter, not int64[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.random_uniform_open %a, %b {dtype = f32, shape = array<i64: -9223372036854775808>, sizes = array<i64: 1, 0>} : (tensor<3xi64>, tensor<?xf32>) -> tensor<?xf32>
  return
}
