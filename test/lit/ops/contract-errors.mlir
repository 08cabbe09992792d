// What the type rule of contractions refuses.
// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @bool(%a: tensor<2xi1>, %b: tensor<2xi1>) {
  // expected-error @below {{contract: takes numbers, not bool[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2xi1>, tensor<2xi1>) -> tensor<i1>
  return
}

// -----

func.func @mixed(%a: tensor<2xi32>, %b: tensor<2xi64>) {
  // expected-error @below {{contract: the operands' types differ: int32[2] and int64[2]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<2xi32>, tensor<2xi64>) -> tensor<i32>
  return
}

// -----

func.func @lhs_batch(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @below {{contract: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64: 2>, lhs_contracting = array<i64>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @rhs_batch(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{contract: axis 1 is out of range for a tensor of rank 1; it must be within [-1, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64: 1>, lhs_contracting = array<i64>, rhs_batch = array<i64: 1>, rhs_contracting = array<i64>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<f32>
  return
}

// -----

func.func @lhs_contracting(%a: tensor<f32>, %b: tensor<2xf32>) {
  // expected-error @below {{contract: axis 0 is out of range for a tensor of rank 0, which has none}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<f32>, tensor<2xf32>) -> tensor<f32>
  return
}

// -----

func.func @rhs_contracting(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @below {{contract: axis -3 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: -3>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @twice(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) {
  // expected-error @below {{contract: axis -2 is given twice}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 0, -2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0, 1>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<f32>
  return
}

// -----

func.func @batch_count(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @below {{contract: the lists pair 1 dimension of lhs with 2 of rhs}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64: 0>, lhs_contracting = array<i64>, rhs_batch = array<i64: 0, 1>, rhs_contracting = array<i64>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @contracting_count(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @below {{contract: the lists pair 2 dimensions of lhs with 0 of rhs}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 0, 1>, rhs_batch = array<i64>, rhs_contracting = array<i64>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @batch_size(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @below {{contract: dimension 0 of float32[2,3] has size 2 and dimension 0 of float32[4,3] has size 4; they must be equal}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64: 0>, lhs_contracting = array<i64>, rhs_batch = array<i64: -2>, rhs_contracting = array<i64>} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x3x3xf32>
  return
}

// -----

func.func @contracting_size(%a: tensor<?x3xf32>, %b: tensor<4x?xf32>) {
  // expected-error @below {{contract: dimension 1 of float32[?,3] has size 3 and dimension 0 of float32[4,?] has size 4; they must be equal}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<?x3xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @both_lhs(%a: tensor<2x3xf32>, %b: tensor<2x3x2xf32>) {
  // expected-error @below {{contract: dimension 0 of float32[2,3] is both batch and contracting}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: -2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>} : (tensor<2x3xf32>, tensor<2x3x2xf32>) -> tensor<f32>
  return
}

// -----

func.func @both_rhs(%a: tensor<2x3x2xf32>, %b: tensor<2x3xf32>) {
  // expected-error @below {{contract: dimension 0 of float32[2,3] is both batch and contracting}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.contract %a, %b {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 0>} : (tensor<2x3x2xf32>, tensor<2x3xf32>) -> tensor<f32>
  return
}
