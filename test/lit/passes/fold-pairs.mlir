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
