// Each elementwise operation is differentiated, in reverse and forward mode, and done for many examples at sizes that are not known;
// its values are tested elsewhere.
// RUN: %{expand} %s > %t
// RUN: calque-opt --calque-differentiate --split-input-file %t | FileCheck %s --implicit-check-not='calque.{{gradient|jvp|batch|unbatch}}'
// CHECK: calque.sum_like {{.*}} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>

// -----

// EACH 1 elementwiseFloat
func.func @OP(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.OP %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// -----

// EACH 2 elementwiseFloat
func.func @OP(%x: tensor<?x?xf64>, %z: tensor<?x1xf64>, %g: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x1xf64>) {
  %y = calque.OP %x, %z : (tensor<?x?xf64>, tensor<?x1xf64>) -> tensor<?x?xf64>
  %d:2 = calque.gradient %y, %g, %x, %z {counts = array<i64: 1, 2, 0>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x1xf64>) -> (tensor<?x?xf64>, tensor<?x1xf64>)
  return %d#0, %d#1 : tensor<?x?xf64>, tensor<?x1xf64>
}

// -----

// EACH 1 elementwiseFloat elementwiseNumeric elementwiseMagnitude
func.func @OP(%x: tensor<?x?xf32>, %t: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.OP %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.jvp %y, %x, %t {counts = array<i64: 1, 1>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// -----

// Operands broadcast, and so do their tangents.
// EACH 2 elementwiseFloat elementwiseNumeric
func.func @OP(%x: tensor<?x?xf64>, %z: tensor<?x1xf64>, %t: tensor<?x?xf64>, %u: tensor<?x1xf64>) -> tensor<?x?xf64> {
  %y = calque.OP %x, %z : (tensor<?x?xf64>, tensor<?x1xf64>) -> tensor<?x?xf64>
  %d = calque.jvp %y, %x, %z, %t, %u {counts = array<i64: 1, 2>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x1xf64>, tensor<?x?xf64>, tensor<?x1xf64>) -> tensor<?x?xf64>
  return %d : tensor<?x?xf64>
}

// -----

// EACH 1 elementwiseFloat elementwiseNumeric elementwiseMagnitude
func.func @OP(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?xf32>) -> tensor<?xf32>
  %y = calque.OP %e : (tensor<?xf32>) -> tensor<?xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// EACH 1 elementwiseBits elementwiseInteger
func.func @OP(%x: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?xi32>) -> tensor<?xi32>
  %y = calque.OP %e : (tensor<?xi32>) -> tensor<?xi32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// -----

// EACH 2 elementwiseBits elementwiseInteger
func.func @OP(%x: tensor<?x?xi32>, %z: tensor<?xi32>) -> tensor<?x?xi32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?xi32>) -> tensor<?xi32>
  %y = calque.OP %e, %z : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xi32>, tensor<?xi32>, tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// -----

// EACH 1 elementwiseTest
func.func @OP(%x: tensor<?x?xf32>) -> tensor<?x?xi1> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?xf32>) -> tensor<?xf32>
  %y = calque.OP %e : (tensor<?xf32>) -> tensor<?xi1>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xi1>, tensor<?xf32>, tensor<?x?xf32>) -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}

// -----

// EACH 1 elementwiseBool
func.func @OP(%x: tensor<?x?xi1>) -> tensor<?x?xi1> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?xi1>) -> tensor<?xi1>
  %y = calque.OP %e : (tensor<?xi1>) -> tensor<?xi1>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xi1>, tensor<?xi1>, tensor<?x?xi1>) -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}

// -----

// Examples of a smaller rank broadcast to those of a larger one.
// EACH 2 elementwiseFloat elementwiseNumeric
func.func @OP(%x: tensor<?xf64>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %e:2 = calque.batch %x, %z {axes = array<i64: 0, 0>} : (tensor<?xf64>, tensor<?x?xf64>) -> (tensor<f64>, tensor<?xf64>)
  %y = calque.OP %e#0, %e#1 : (tensor<f64>, tensor<?xf64>) -> tensor<?xf64>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf64>, tensor<f64>, tensor<?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// -----

// EACH 2 elementwiseComparison
func.func @OP(%x: tensor<?xi64>, %z: tensor<?xi64>) -> tensor<?x?xi1> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?xi64>) -> tensor<i64>
  %y = calque.OP %e, %z : (tensor<i64>, tensor<?xi64>) -> tensor<?xi1>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xi1>, tensor<i64>, tensor<?xi64>) -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}

// -----

// EACH 2 elementwiseBool
func.func @OP(%x: tensor<?xi1>, %z: tensor<?xi1>) -> tensor<?x?xi1> {
  %e = calque.batch %z {axes = array<i64: 0>} : (tensor<?xi1>) -> tensor<i1>
  %y = calque.OP %x, %e : (tensor<?xi1>, tensor<i1>) -> tensor<?xi1>
  %r = calque.unbatch %y, %e, %z {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xi1>, tensor<i1>, tensor<?xi1>) -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}

// -----

func.func @pairs(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x2xf32>) -> tensor<2xf32>
  %a = calque.part_of_pairs %e {imaginary = false} : (tensor<2xf32>) -> tensor<f32>
  %b = calque.part_of_pairs %e {imaginary = true} : (tensor<2xf32>) -> tensor<f32>
  %y = calque.pairs %b, %a : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}
