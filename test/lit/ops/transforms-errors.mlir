// What the type rules of recorded transformations refuse; those of gradients are in effects-errors.mlir.
// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @jvp_two_counts(%a: tensor<f32>) {
  // expected-error @below {{jvp: the counts [1,1,1] don't describe 3 values}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.jvp %a, %a, %a {counts = array<i64: 1, 1, 1>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @jvp_no_target(%a: tensor<f32>) {
  // expected-error @below {{jvp: the counts [0,1] don't describe 2 values}}
  // expected-error @below {{failed to infer returned types}}
  calque.jvp %a, %a {counts = array<i64: 0, 1>} : (tensor<f32>, tensor<f32>) -> ()
  return
}

// -----

func.func @jvp_no_source(%a: tensor<f32>) {
  // expected-error @below {{jvp: the counts [1,0] don't describe 1 value}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.jvp %a {counts = array<i64: 1, 0>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @jvp_no_tangent(%a: tensor<f32>) {
  // expected-error @below {{jvp: the counts [1,2] don't describe 4 values}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.jvp %a, %a, %a, %a {counts = array<i64: 1, 2>} : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @jvp_integer(%a: tensor<2xi64>, %b: tensor<2xf32>) {
  // expected-error @below {{jvp: takes floating-point numbers, not int64[2]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.jvp %a, %b, %b {counts = array<i64: 1, 1>} : (tensor<2xi64>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @jvp_shape(%a: tensor<f32>, %b: tensor<2x?xf32>, %c: tensor<2x3xf32>) {
  // expected-error @below {{jvp: the source is float32[2,?] and its tangent is float32[2,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.jvp %a, %b, %c {counts = array<i64: 1, 1>} : (tensor<f32>, tensor<2x?xf32>, tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @jvp_second_type(%a: tensor<f32>, %b: tensor<2xf32>, %c: tensor<2xf64>) {
  // expected-error @below {{jvp: the source is float32[2] and its tangent is float64[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.jvp %a, %a, %b, %a, %c {counts = array<i64: 1, 2>} : (tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<f32>, tensor<2xf64>) -> tensor<f32>
  return
}

// -----

func.func @batch_none() {
  // expected-error @below {{batch: the list has 0 axes for 0 tensors}}
  // expected-error @below {{failed to infer returned types}}
  calque.batch {axes = array<i64>} : () -> ()
  return
}

// -----

func.func @batch_axes(%a: tensor<2xf32>) {
  // expected-error @below {{batch: the list has 2 axes for 1 tensor}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.batch %a {axes = array<i64: 0, 0>} : (tensor<2xf32>) -> tensor<f32>
  return
}

// -----

func.func @batch_axis(%a: tensor<2xf32>) {
  // expected-error @below {{batch: axis 1 is out of range for a tensor of rank 1; it must be within [-1, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.batch %a {axes = array<i64: 1>} : (tensor<2xf32>) -> tensor<f32>
  return
}

// -----

func.func @batch_examples(%a: tensor<?xf32>, %b: tensor<3xf32>, %c: tensor<7x2xf32>) {
  // expected-error @below {{batch: the tensors have different numbers of examples: 3, and 2 along axis 1 of float32[7,2]}}
  // expected-error @below {{failed to infer returned types}}
  %0:3 = calque.batch %a, %b, %c {axes = array<i64: 0, 0, 1>} : (tensor<?xf32>, tensor<3xf32>, tensor<7x2xf32>) -> (tensor<f32>, tensor<f32>, tensor<7xf32>)
  return
}

// -----

func.func @unbatch_axes(%a: tensor<f32>, %b: tensor<2xf32>) {
  // expected-error @below {{unbatch: the list has 2 axes for 3 values, the last two of which are an example and what it was taken from}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.unbatch %a, %a, %b {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<f32>, tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @unbatch_none(%a: tensor<f32>, %b: tensor<2xf32>) {
  // expected-error @below {{unbatch: the list has 0 axes for 2 values, the last two of which are an example and what it was taken from}}
  // expected-error @below {{failed to infer returned types}}
  calque.unbatch %a, %b {axes = array<i64>, batch_axis = 0 : i64} : (tensor<f32>, tensor<2xf32>) -> ()
  return
}

// -----

func.func @unbatch_axis(%a: tensor<3xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{unbatch: axis 2 is out of range for a tensor of rank 2; it must be within [-2, 2)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.unbatch %a, %a, %b {axes = array<i64: 2>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @unbatch_batch_axis(%a: tensor<3xf32>, %b: tensor<2xf32>) {
  // expected-error @below {{unbatch: axis 1 is out of range for a tensor of rank 1; it must be within [-1, 1)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.unbatch %a, %a, %b {axes = array<i64: 0>, batch_axis = 1 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}
