// What the type rules of operations whose indices name several dimensions refuse.
// RUN: %{expand} %s > %t
// RUN: calque-opt %t --split-input-file --verify-diagnostics

// EACH 2 gatherNd
func.func @indices_type(%x: tensor<4x3xf32>, %i: tensor<5x2xf32>) {
  // expected-error @below {{OP: indices must be integers, not float32[5,2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %x, %i : (tensor<4x3xf32>, tensor<5x2xf32>) -> tensor<5xf32>
  return
}

// -----

// EACH 2 gatherNd
func.func @indices_scalar(%x: tensor<4x3xf32>, %i: tensor<i64>) {
  // expected-error @below {{OP: the last dimension of the indices has one for each dimension that they name, and its size must be known; they are int64[]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %x, %i : (tensor<4x3xf32>, tensor<i64>) -> tensor<5xf32>
  return
}

// -----

// EACH 2 gatherNd
func.func @indices_unknown(%x: tensor<4x3xf32>, %i: tensor<5x?xi64>) {
  // expected-error @below {{OP: the last dimension of the indices has one for each dimension that they name, and its size must be known; they are int64[5,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %x, %i : (tensor<4x3xf32>, tensor<5x?xi64>) -> tensor<5xf32>
  return
}

// -----

// EACH 2 gatherNd
func.func @indices_count(%x: tensor<4x?xf32>, %i: tensor<?x3xi64>) {
  // expected-error @below {{OP: the indices int64[?,3] name 3 dimensions, and float32[4,?] has 2}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %x, %i : (tensor<4x?xf32>, tensor<?x3xi64>) -> tensor<5xf32>
  return
}

// -----

// EACH 3 scatterNd scatterNdNumeric
func.func @indices_count(%x: tensor<4x?xf32>, %i: tensor<?x3xi64>, %u: tensor<5xf32>) {
  // expected-error @below {{OP: the indices int64[?,3] name 3 dimensions, and float32[4,?] has 2}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %x, %i, %u : (tensor<4x?xf32>, tensor<?x3xi64>, tensor<5xf32>) -> tensor<4x?xf32>
  return
}

// -----

// EACH 3 scatterNd scatterNdNumeric
func.func @updates_shape(%x: tensor<4x?xf32>, %i: tensor<?x2x1xi64>, %u: tensor<5x3x2xf32>) {
  // expected-error @below {{OP: the updates must be float32[?,2,?], not float32[5,3,2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %x, %i, %u : (tensor<4x?xf32>, tensor<?x2x1xi64>, tensor<5x3x2xf32>) -> tensor<4x?xf32>
  return
}

// -----

// EACH 3 scatterNd scatterNdNumeric
func.func @updates_type(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf64>) {
  // expected-error @below {{OP: the updates are float64[2] and the tensor is float32[4]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %x, %i, %u : (tensor<4xf32>, tensor<2x1xi64>, tensor<2xf64>) -> tensor<4xf32>
  return
}

// -----

// EACH 3 scatterNdNumeric
func.func @bool(%x: tensor<4xi1>, %i: tensor<2x1xi64>, %u: tensor<2xi1>) {
  // expected-error @below {{OP: takes numbers, not bool[4]; use cast(x, DType::Int32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %x, %i, %u : (tensor<4xi1>, tensor<2x1xi64>, tensor<2xi1>) -> tensor<4xi1>
  return
}
