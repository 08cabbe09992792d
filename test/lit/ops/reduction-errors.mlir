// What the type rules of reductions refuse.
// RUN: %{expand} %s > %t
// RUN: calque-opt %t --split-input-file --verify-diagnostics

func.func @largest(%a: tensor<2x?xf32>) {
  // expected-error @below {{reduce_max: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2). This is a reduction over axes: the larger of two values is maximum, the smaller minimum}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reduce_max %a {axes = array<i64: 2>} : (tensor<2x?xf32>) -> tensor<2xf32>
  return
}

// -----

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
  // expected-error @below {{OP: takes floating-point numbers, not int64[2]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2xi64>) -> tensor<i64>
  return
}

// -----

// EACH 1 reduceBool
func.func @OP(%a: tensor<2x?xf32>) {
  // expected-error @below {{OP: takes bool, not float32[2,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2x?xf32>) -> tensor<i1>
  return
}

// -----

// EACH 1 reduceBool
func.func @OP(%a: tensor<2x?xi1>) {
  // expected-error @below {{OP: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a {axes = array<i64: 2>} : (tensor<2x?xi1>) -> tensor<2xi1>
  return
}

// -----

// EACH 1 reduceBool
func.func @OP(%a: tensor<2x?xi1>) {
  // expected-error @below {{OP: axis -2 is given twice}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a {axes = array<i64: 0, -2>} : (tensor<2x?xi1>) -> tensor<?xi1>
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
  // expected-error @below {{OP: takes floating-point numbers, not int32[2]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

// EACH 1 argExtreme
func.func @OP(%a: tensor<2xi1>) {
  // expected-error @below {{OP: takes numbers, not bool[2]; use cast(x, DType::Int32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2xi1>) -> tensor<i64>
  return
}

// -----

// EACH 1 softmax argExtreme
func.func @OP(%a: tensor<2x?xf32>) {
  // expected-error @below {{OP: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a {axis = 2 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

// The default, -1, counts as given.
// EACH 1 softmax argExtreme
func.func @OP(%a: tensor<f32>) {
  // expected-error @below {{OP: axis -1 is out of range for a tensor of rank 0, which has none}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// EACH 1 softmax argExtreme
func.func @OP(%a: tensor<?x0xf32>) {
  // expected-error @below {{OP: axis 1 of float32[?,0] is empty, and an empty set has no result}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<?x0xf32>) -> tensor<?xf32>
  return
}

// -----

// EACH 1 cumulative
func.func @OP(%a: tensor<2x?xi1>) {
  // expected-error @below {{OP: takes numbers, not bool[2,?]; use cast(x, DType::Int32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2x?xi1>) -> tensor<2x?xi1>
  return
}

// -----

// EACH 1 cumulative
func.func @OP(%a: tensor<2x?xf32>) {
  // expected-error @below {{OP: axis -3 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a {axis = -3 : i64} : (tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

// The default, 0, counts as given.
// EACH 1 cumulative
func.func @OP(%a: tensor<f32>) {
  // expected-error @below {{OP: axis 0 is out of range for a tensor of rank 0, which has none}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @linear_recurrence_bool(%a: tensor<2xi1>) {
  // expected-error @below {{linear_recurrence: takes numbers, not bool[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.linear_recurrence %a, %a {axis = 0 : i64, reverse = false} : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @linear_recurrence_types(%a: tensor<2xf32>, %b: tensor<2xf64>) {
  // expected-error @below {{linear_recurrence: the operands' types differ: float32[2] and float64[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.linear_recurrence %a, %b {axis = 0 : i64, reverse = false} : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @linear_recurrence_shapes(%a: tensor<2x?xf32>, %b: tensor<3x?xf32>) {
  // expected-error @below {{linear_recurrence: factors float32[2,?] and terms float32[3,?] must be of one shape}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.linear_recurrence %a, %b {axis = 0 : i64, reverse = false} : (tensor<2x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  return
}

// -----

func.func @linear_recurrence_axis(%a: tensor<2x?xf32>) {
  // expected-error @below {{linear_recurrence: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.linear_recurrence %a, %a {axis = 2 : i64, reverse = true} : (tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @linear_recurrence_parts_integers(%a: tensor<2xi32>) {
  // expected-error @below {{linear_recurrence_parts: takes floating-point numbers, not int32[2]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %re, %im = calque.linear_recurrence_parts %a, %a, %a, %a {axis = 0 : i64, reverse = false} : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  return
}

// -----

func.func @linear_recurrence_parts_types(%a: tensor<2xf32>, %b: tensor<2xf64>) {
  // expected-error @below {{linear_recurrence_parts: the operands' types differ: float32[2] and float64[2]}}
  // expected-error @below {{failed to infer returned types}}
  %re, %im = calque.linear_recurrence_parts %a, %a, %a, %b {axis = 0 : i64, reverse = false} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf64>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @linear_recurrence_parts_shapes(%a: tensor<2x?xf32>, %b: tensor<3x?xf32>) {
  // expected-error @below {{linear_recurrence_parts: parts float32[2,?] and float32[3,?] must be of one shape}}
  // expected-error @below {{failed to infer returned types}}
  %re, %im = calque.linear_recurrence_parts %a, %a, %b, %a {axis = 0 : i64, reverse = false} : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<3x?xf32>, tensor<2x?xf32>) -> (tensor<3x?xf32>, tensor<3x?xf32>)
  return
}

// -----

func.func @linear_recurrence_parts_axis(%a: tensor<2x?xf32>) {
  // expected-error @below {{linear_recurrence_parts: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %re, %im = calque.linear_recurrence_parts %a, %a, %a, %a {axis = 2 : i64, reverse = true} : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> (tensor<2x?xf32>, tensor<2x?xf32>)
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
