// Pairs whose parts were just taken of pairs are these pairs, and parts of pairs that were just made are what they were made of.
// RUN: calque-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: func.func @same(
// CHECK-SAME: %[[X:.*]]: tensor<?x2xf32>)
// CHECK-NEXT: return %[[X]]
func.func @same(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %re = calque.part_of_pairs %x {imaginary = false} : (tensor<?x2xf32>) -> tensor<?xf32>
  %im = calque.part_of_pairs %x {imaginary = true} : (tensor<?x2xf32>) -> tensor<?xf32>
  %y = calque.pairs %re, %im : (tensor<?xf32>, tensor<?xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// The parts are exchanged.
// CHECK-LABEL: func.func @exchanged(
// CHECK: %[[Y:.*]] = calque.pairs
// CHECK: return %[[Y]]
func.func @exchanged(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %re = calque.part_of_pairs %x {imaginary = false} : (tensor<3x2xf32>) -> tensor<3xf32>
  %im = calque.part_of_pairs %x {imaginary = true} : (tensor<3x2xf32>) -> tensor<3xf32>
  %y = calque.pairs %im, %re : (tensor<3xf32>, tensor<3xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @parts(
// CHECK-SAME: %[[A:.*]]: tensor<3xf64>, %[[B:.*]]: tensor<3xf64>)
// CHECK-NEXT: return %[[B]], %[[A]]
func.func @parts(%a: tensor<3xf64>, %b: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>) {
  %x = calque.pairs %a, %b : (tensor<3xf64>, tensor<3xf64>) -> tensor<3x2xf64>
  %im = calque.part_of_pairs %x {imaginary = true} : (tensor<3x2xf64>) -> tensor<3xf64>
  %re = calque.part_of_pairs %x {imaginary = false} : (tensor<3x2xf64>) -> tensor<3xf64>
  return %im, %re : tensor<3xf64>, tensor<3xf64>
}

// Parts that were both put into another shape are the pairs in that shape.
// CHECK-LABEL: func.func @merged(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x5x2xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.reshape %[[X]] {shape = array<i64: 6, 5, 2>}
// CHECK-NEXT: return %[[Y]]
func.func @merged(%x: tensor<2x3x5x2xf32>) -> tensor<6x5x2xf32> {
  %re = calque.part_of_pairs %x {imaginary = false} : (tensor<2x3x5x2xf32>) -> tensor<2x3x5xf32>
  %im = calque.part_of_pairs %x {imaginary = true} : (tensor<2x3x5x2xf32>) -> tensor<2x3x5xf32>
  %a = calque.merge_dims %re {axis = 0 : i64} : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
  %b = calque.merge_dims %im {axis = 0 : i64} : (tensor<2x3x5xf32>) -> tensor<6x5xf32>
  %y = calque.pairs %a, %b : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5x2xf32>
  return %y : tensor<6x5x2xf32>
}

// Sizes that are not known are those of a part.
// CHECK-LABEL: func.func @open(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x2xf32>, %[[LIKE:.*]]: tensor<?xf32>)
// CHECK: %[[A:.*]] = calque.reshape_like
// CHECK-NEXT: %[[Y:.*]] = calque.reshape_open %[[X]], %[[A]] {shape = array<i64: -9223372036854775808, 2>, sizes = array<i64: 1, 0>}
// CHECK-NEXT: return %[[Y]]
func.func @open(%x: tensor<?x?x2xf32>, %like: tensor<?xf32>) -> tensor<?x2xf32> {
  %re = calque.part_of_pairs %x {imaginary = false} : (tensor<?x?x2xf32>) -> tensor<?x?xf32>
  %im = calque.part_of_pairs %x {imaginary = true} : (tensor<?x?x2xf32>) -> tensor<?x?xf32>
  %a = calque.reshape_like %re, %like : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %b = calque.reshape_like %im, %like : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %y = calque.pairs %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// Parts of other shapes, and elements in another order, are pairs of their own.
// CHECK-LABEL: func.func @transposed(
// CHECK: %[[Y:.*]] = calque.pairs
// CHECK: return %[[Y]]
func.func @transposed(%x: tensor<2x3x2xf32>) -> tensor<3x2x2xf32> {
  %re = calque.part_of_pairs %x {imaginary = false} : (tensor<2x3x2xf32>) -> tensor<2x3xf32>
  %im = calque.part_of_pairs %x {imaginary = true} : (tensor<2x3x2xf32>) -> tensor<2x3xf32>
  %a = calque.transpose %re {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %b = calque.reshape %im {shape = array<i64: 3, 2>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %y = calque.pairs %a, %b : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2x2xf32>
  return %y : tensor<3x2x2xf32>
}
