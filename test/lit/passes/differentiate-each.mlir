// Each elementwise operation of floats is differentiated at sizes that are not known; its values are tested elsewhere.
// RUN: %{expand} %s > %t
// RUN: calque-opt --calque-differentiate --split-input-file %t | FileCheck %s --implicit-check-not=calque.gradient
// CHECK: calque.sum_like {{.*}} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>

// -----

// EACH 1 elementwiseFloat
func.func @OP(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.OP %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}
