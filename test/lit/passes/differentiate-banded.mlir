// The rules of banded systems, reverse, forward and of many examples, on unknown sizes. They are tested on numbers in
// test/operations/.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @banded_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x4x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]] = calque.banded_solve %[[A0]], %[[A1]] {lower = 1 : i64, transposed = false, upper = 2 : i64}
// CHECK: %[[V1:.*]] = calque.banded_solve %[[A0]], %[[A2]] {lower = 1 : i64, transposed = true, upper = 2 : i64}
// CHECK: %[[V2:.*]] = calque.band_of_product %[[V1]], %[[V0]] {lower = 1 : i64, upper = 2 : i64}
func.func @banded_solve(%x0: tensor<?x4x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> (tensor<?x4x?xf64>, tensor<?x?x?xf64>) {
  %y = calque.banded_solve %x0, %x1 {lower = 1 : i64, transposed = false, upper = 2 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d:2 = calque.gradient %y, %g0, %x0, %x1 {counts = array<i64: 1, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x4x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x4x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_banded_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x4x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x4x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]] = calque.banded_solve %[[A0]], %[[A1]] {lower = 1 : i64, transposed = false, upper = 2 : i64}
// CHECK: %[[V1:.*]] = calque.banded_product %[[A2]], %[[V0]] {lower = 1 : i64, transposed = false, upper = 2 : i64}
// CHECK: %[[V4:.*]] = calque.banded_solve %[[A0]], %{{.*}} {lower = 1 : i64, transposed = false, upper = 2 : i64}
func.func @tangent_of_banded_solve(%x0: tensor<?x4x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x4x?xf64>, %t1: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.banded_solve %x0, %x1 {lower = 1 : i64, transposed = false, upper = 2 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %x1, %t0, %t1 {counts = array<i64: 1, 2>} : (tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_banded_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x4x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]] = calque.banded_solve %{{.*}}, %{{.*}} {lower = 1 : i64, transposed = false, upper = 2 : i64}
func.func @examples_of_banded_solve(%x0: tensor<?x?x4x?xf64>, %x1: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x4x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x4x?xf64>, tensor<?x?x?xf64>)
  %y = calque.banded_solve %e#0, %e#1 {lower = 1 : i64, transposed = false, upper = 2 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e#0, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x4x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @positive_banded_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x4x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]] = calque.positive_banded_solve %[[A0]], %[[A1]] {lower = 3 : i64, upper = 0 : i64}
// CHECK: %[[V1:.*]] = calque.positive_banded_solve %[[A0]], %[[A2]] {lower = 3 : i64, upper = 0 : i64}
// CHECK: %[[V2:.*]] = calque.band_of_product %[[V1]], %[[V0]] {lower = 3 : i64, upper = 0 : i64}
// CHECK: %[[V3:.*]] = calque.band_of_product %[[V0]], %[[V1]] {lower = 3 : i64, upper = 0 : i64}
func.func @positive_banded_solve(%x0: tensor<?x4x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> (tensor<?x4x?xf64>, tensor<?x?x?xf64>) {
  %y = calque.positive_banded_solve %x0, %x1 {lower = 3 : i64, upper = 0 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d:2 = calque.gradient %y, %g0, %x0, %x1 {counts = array<i64: 1, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x4x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x4x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_positive_banded_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x4x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x4x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]] = calque.positive_banded_solve %[[A0]], %[[A1]] {lower = 3 : i64, upper = 0 : i64}
// CHECK: %[[V1:.*]] = calque.banded_product %[[A2]], %[[V0]] {lower = 3 : i64, transposed = false, upper = 0 : i64}
// CHECK: %[[V7:.*]] = calque.banded_product %{{.*}}, %[[V0]] {lower = 3 : i64, transposed = true, upper = 0 : i64}
// CHECK: %[[V11:.*]] = calque.positive_banded_solve %[[A0]], %{{.*}} {lower = 3 : i64, upper = 0 : i64}
func.func @tangent_of_positive_banded_solve(%x0: tensor<?x4x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x4x?xf64>, %t1: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.positive_banded_solve %x0, %x1 {lower = 3 : i64, upper = 0 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %x1, %t0, %t1 {counts = array<i64: 1, 2>} : (tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_positive_banded_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x4x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]] = calque.positive_banded_solve %{{.*}}, %{{.*}} {lower = 3 : i64, upper = 0 : i64}
func.func @examples_of_positive_banded_solve(%x0: tensor<?x?x4x?xf64>, %x1: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x4x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x4x?xf64>, tensor<?x?x?xf64>)
  %y = calque.positive_banded_solve %e#0, %e#1 {lower = 3 : i64, upper = 0 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e#0, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x4x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @banded_product(
// CHECK-SAME: %[[A0:.*]]: tensor<?x4x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]] = calque.banded_product %[[A0]], %[[A1]] {lower = 1 : i64, transposed = true, upper = 2 : i64}
// CHECK: %[[V1:.*]] = calque.band_of_product %[[A1]], %[[A2]] {lower = 1 : i64, upper = 2 : i64}
// CHECK: %[[V2:.*]] = calque.banded_product %[[A0]], %[[A2]] {lower = 1 : i64, transposed = false, upper = 2 : i64}
func.func @banded_product(%x0: tensor<?x4x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> (tensor<?x4x?xf64>, tensor<?x?x?xf64>) {
  %y = calque.banded_product %x0, %x1 {lower = 1 : i64, transposed = true, upper = 2 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d:2 = calque.gradient %y, %g0, %x0, %x1 {counts = array<i64: 1, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x4x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x4x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_banded_product(
// CHECK-SAME: %[[A0:.*]]: tensor<?x4x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x4x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]] = calque.banded_product %[[A0]], %[[A1]] {lower = 1 : i64, transposed = true, upper = 2 : i64}
// CHECK: %[[V1:.*]] = calque.banded_product %[[A2]], %[[A1]] {lower = 1 : i64, transposed = true, upper = 2 : i64}
// CHECK: %[[V2:.*]] = calque.banded_product %[[A0]], %[[A3]] {lower = 1 : i64, transposed = true, upper = 2 : i64}
func.func @tangent_of_banded_product(%x0: tensor<?x4x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x4x?xf64>, %t1: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.banded_product %x0, %x1 {lower = 1 : i64, transposed = true, upper = 2 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %x1, %t0, %t1 {counts = array<i64: 1, 2>} : (tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_banded_product(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x4x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]] = calque.banded_product %{{.*}}, %{{.*}} {lower = 1 : i64, transposed = true, upper = 2 : i64}
func.func @examples_of_banded_product(%x0: tensor<?x?x4x?xf64>, %x1: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x4x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x4x?xf64>, tensor<?x?x?xf64>)
  %y = calque.banded_product %e#0, %e#1 {lower = 1 : i64, transposed = true, upper = 2 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e#0, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x4x?xf64>, tensor<?x?x4x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @band_of_product(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x4x?xf64>)
// CHECK: %[[V0:.*]] = calque.band_of_product %[[A0]], %[[A1]] {lower = 1 : i64, upper = 2 : i64}
// CHECK: %[[V1:.*]] = calque.banded_product %[[A2]], %[[A1]] {lower = 1 : i64, transposed = false, upper = 2 : i64}
// CHECK: %[[V2:.*]] = calque.banded_product %[[A2]], %[[A0]] {lower = 1 : i64, transposed = true, upper = 2 : i64}
func.func @band_of_product(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x4x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y = calque.band_of_product %x0, %x1 {lower = 1 : i64, upper = 2 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x4x?xf64>
  %d:2 = calque.gradient %y, %g0, %x0, %x1 {counts = array<i64: 1, 2, 0>} : (tensor<?x4x?xf64>, tensor<?x4x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_band_of_product(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]] = calque.band_of_product %[[A0]], %[[A1]] {lower = 1 : i64, upper = 2 : i64}
// CHECK: %[[V1:.*]] = calque.band_of_product %[[A2]], %[[A1]] {lower = 1 : i64, upper = 2 : i64}
// CHECK: %[[V2:.*]] = calque.band_of_product %[[A0]], %[[A3]] {lower = 1 : i64, upper = 2 : i64}
func.func @tangent_of_band_of_product(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> tensor<?x4x?xf64> {
  %y = calque.band_of_product %x0, %x1 {lower = 1 : i64, upper = 2 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x4x?xf64>
  %d = calque.jvp %y, %x0, %x1, %t0, %t1 {counts = array<i64: 1, 2>} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x4x?xf64>
  return %d : tensor<?x4x?xf64>
}

// CHECK-LABEL: func.func @examples_of_band_of_product(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]] = calque.band_of_product %{{.*}}, %{{.*}} {lower = 1 : i64, upper = 2 : i64}
func.func @examples_of_band_of_product(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> tensor<?x?x4x?xf64> {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y = calque.band_of_product %e#0, %e#1 {lower = 1 : i64, upper = 2 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x4x?xf64>
  %r = calque.unbatch %y, %e#0, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x4x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x4x?xf64>
  return %r : tensor<?x?x4x?xf64>
}
