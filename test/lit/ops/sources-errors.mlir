// What the type rules of operations that make tensors of nothing refuse.
// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @constant() {
  // expected-error @below {{constant: attribute 'value' is missing or of a type that the dialect does not have}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.constant {value = dense<1.0> : tensor<2xf80>} : () -> tensor<2xf32>
  return
}

// -----

func.func @vector() {
  // expected-error @below {{constant: attribute 'value' is missing or of a type that the dialect does not have}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.constant {value = dense<1.0> : vector<2xf32>} : () -> tensor<2xf32>
  return
}

// -----

func.func @iota_bool() {
  // expected-error @below {{iota: makes numbers, not bool}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.iota {dtype = i1, shape = array<i64: 3>} : () -> tensor<3xi1>
  return
}

// -----

func.func @iota_dtype() {
  // expected-error @below {{iota: attribute 'dtype' is missing or of a type that the dialect does not have}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.iota {dtype = i128, shape = array<i64: 3>} : () -> tensor<3xi32>
  return
}

// -----

func.func @iota_negative() {
  // expected-error @below {{iota: a size must not be negative: [3,-1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.iota {dtype = i32, shape = array<i64: 3, -1>} : () -> tensor<3xi32>
  return
}

// -----

func.func @iota_range() {
  // expected-error @below {{iota: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.iota {axis = 2 : i64, dtype = i32, shape = array<i64: 3, 5>} : () -> tensor<3x5xi32>
  return
}

// -----

func.func @iota_scalar() {
  // expected-error @below {{iota: axis 0 is out of range for a tensor of rank 0, which has none}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.iota {dtype = i32, shape = array<i64>} : () -> tensor<i32>
  return
}

// -----

func.func @random_state_type(%a: tensor<2xi32>) {
  // expected-error @below {{random_uniform: the state must be int64[2], key and counter, not int32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.random_uniform %a {dtype = f32, shape = array<i64: 3>} : (tensor<2xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @random_state_size(%a: tensor<3xi64>) {
  // expected-error @below {{random_uniform: the state must be int64[2], key and counter, not int64[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.random_uniform %a {dtype = f32, shape = array<i64: 3>} : (tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @random_state_unknown(%a: tensor<?xi64>) {
  // expected-error @below {{random_uniform: the state must be int64[2], key and counter, not int64[?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.random_uniform %a {dtype = f32, shape = array<i64: 3>} : (tensor<?xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @random_integer(%a: tensor<2xi64>) {
  // expected-error @below {{random_uniform: makes floating-point numbers, not int32}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.random_uniform %a {dtype = i32, shape = array<i64: 3>} : (tensor<2xi64>) -> tensor<3xi32>
  return
}

// -----

func.func @random_dtype(%a: tensor<2xi64>) {
  // expected-error @below {{random_uniform: attribute 'dtype' is missing or of a type that the dialect does not have}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.random_uniform %a {dtype = f80, shape = array<i64: 3>} : (tensor<2xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @random_negative(%a: tensor<2xi64>) {
  // expected-error @below {{random_uniform: a size must not be negative: [-1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.random_uniform %a {dtype = f32, shape = array<i64: -1>} : (tensor<2xi64>) -> tensor<3xf32>
  return
}
