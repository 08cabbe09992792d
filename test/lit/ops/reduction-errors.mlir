// What the type rules of reductions refuse.
// RUN: %{expand} %s > %t
// RUN: calque-opt %t --split-input-file --verify-diagnostics

// EACH 1 reduceNumeric reduceNumericNonEmpty
func.func @OP(%a: tensor<2xi1>) {
  // expected-error @below {{OP: takes numbers, not bool[2]; use cast(x, DType::Int32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2xi1>) -> tensor<i1>
  return
}

// -----

// EACH 1 reduceFloat reduceFloatNonEmpty
func.func @OP(%a: tensor<2xi64>) {
  // expected-error @below {{OP: takes operands of float32 and float64, not int64[2]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2xi64>) -> tensor<i64>
  return
}

// -----

// EACH 1 reduceNumeric reduceNumericNonEmpty reduceFloat reduceFloatNonEmpty
func.func @OP(%a: tensor<2x?xf32>) {
  // expected-error @below {{OP: axis -3 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a {axes = array<i64: 1, -3>} : (tensor<2x?xf32>) -> tensor<f32>
  return
}

// -----

// EACH 1 reduceNumeric reduceNumericNonEmpty reduceFloat reduceFloatNonEmpty
func.func @OP(%a: tensor<f32>) {
  // expected-error @below {{OP: axis 0 is out of range for a tensor of rank 0, which has none}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a {axes = array<i64: 0>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// EACH 1 reduceNumeric reduceNumericNonEmpty reduceFloat reduceFloatNonEmpty
func.func @OP(%a: tensor<2x?xf32>) {
  // expected-error @below {{OP: axis -1 is given twice}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a {axes = array<i64: 1, -1>} : (tensor<2x?xf32>) -> tensor<2xf32>
  return
}

// -----

// EACH 1 reduceNumericNonEmpty reduceFloatNonEmpty
func.func @OP(%a: tensor<?x0xf64>) {
  // expected-error @below {{OP: axis 1 of float64[?,0] is empty, and an empty set has no result}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<?x0xf64>) -> tensor<f64>
  return
}

// -----

// EACH 1 softmax
func.func @OP(%a: tensor<2xi32>) {
  // expected-error @below {{OP: takes operands of float32 and float64, not int32[2]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

// EACH 1 argmax
func.func @OP(%a: tensor<2xi1>) {
  // expected-error @below {{OP: takes numbers, not bool[2]; use cast(x, DType::Int32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2xi1>) -> tensor<i64>
  return
}

// -----

// EACH 1 softmax argmax
func.func @OP(%a: tensor<2x?xf32>) {
  // expected-error @below {{OP: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a {axis = 2 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

// The default, -1, counts as given.
// EACH 1 softmax argmax
func.func @OP(%a: tensor<f32>) {
  // expected-error @below {{OP: axis -1 is out of range for a tensor of rank 0, which has none}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// EACH 1 softmax argmax
func.func @OP(%a: tensor<?x0xf32>) {
  // expected-error @below {{OP: axis 1 of float32[?,0] is empty, and an empty set has no result}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<?x0xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @axis_size(%a: tensor<2x?xi1>) {
  // expected-error @below {{axis_size: takes numbers, not bool[2,?]; use cast(x, DType::Int32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.axis_size %a : (tensor<2x?xi1>) -> tensor<i1>
  return
}

// -----

func.func @axis_size(%a: tensor<2x?xf32>) {
  // expected-error @below {{axis_size: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.axis_size %a {axes = array<i64: 2>} : (tensor<2x?xf32>) -> tensor<f32>
  return
}

// -----

func.func @axis_size(%a: tensor<2x?xf32>) {
  // expected-error @below {{axis_size: axis 0 is given twice}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.axis_size %a {axes = array<i64: -2, 0>} : (tensor<2x?xf32>) -> tensor<f32>
  return
}

// -----

func.func @sum_like(%a: tensor<2x3xf32>, %b: tensor<4x?xf32>) {
  // expected-error @below {{sum_like: float32[4,?] is not broadcast to float32[2,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.sum_like %a, %b : (tensor<2x3xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  return
}

// -----

func.func @sum_like(%a: tensor<3xf32>, %b: tensor<?x3xf32>) {
  // expected-error @below {{sum_like: float32[?,3] is not broadcast to float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.sum_like %a, %b : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @sum_like_larger(%a: tensor<1xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{sum_like: float32[3] is not broadcast to float32[1]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.sum_like %a, %b : (tensor<1xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @sum_like_bool(%a: tensor<3xi1>, %b: tensor<i1>) {
  // expected-error @below {{sum_like: takes numbers, not bool[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.sum_like %a, %b : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
  return
}
