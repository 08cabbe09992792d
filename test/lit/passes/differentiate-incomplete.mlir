// The rules of the incomplete beta function, in reverse and forward mode, for sizes that are not known and for many examples. Their
// values are tested elsewhere.
// RUN: calque-opt --calque-differentiate --split-input-file %s | FileCheck %s --implicit-check-not='calque.{{gradient|jvp|batch|unbatch}}'

// CHECK-LABEL: func.func @betainc(
// CHECK: calque.beta_density
func.func @betainc(%x0: tensor<?x?xf64>, %x1: tensor<?x?xf64>, %x2: tensor<?x?xf64>, %g0: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %y = calque.betainc %x0, %x1, %x2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %d:3 = calque.gradient %y, %g0, %x0, %x1, %x2 {counts = array<i64: 1, 3, 0>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
  return %d#0, %d#1, %d#2 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_betainc(
// CHECK: return
func.func @tangent_of_betainc(%x0: tensor<?x?xf64>, %x1: tensor<?x?xf64>, %x2: tensor<?x?xf64>, %t0: tensor<?x?xf64>, %t1: tensor<?x?xf64>, %t2: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = calque.betainc %x0, %x1, %x2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %d = calque.jvp %y, %x0, %x1, %x2, %t0, %t1, %t2 {counts = array<i64: 1, 3>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %d : tensor<?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_betainc(
// CHECK: calque.betainc
func.func @examples_of_betainc(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %e:3 = calque.batch %x0, %x1, %x2 {axes = array<i64: 0, 0, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
  %y = calque.betainc %e#0, %e#1, %e#2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = calque.unbatch %y, %e#0, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @betainc_slope_a(
// CHECK: return
func.func @betainc_slope_a(%x0: tensor<?x?xf64>, %x1: tensor<?x?xf64>, %x2: tensor<?x?xf64>, %g0: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %y = calque.betainc_slope_a %x0, %x1, %x2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %d:3 = calque.gradient %y, %g0, %x0, %x1, %x2 {counts = array<i64: 1, 3, 0>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
  return %d#0, %d#1, %d#2 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_betainc_slope_a(
// CHECK: return
func.func @tangent_of_betainc_slope_a(%x0: tensor<?x?xf64>, %x1: tensor<?x?xf64>, %x2: tensor<?x?xf64>, %t0: tensor<?x?xf64>, %t1: tensor<?x?xf64>, %t2: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = calque.betainc_slope_a %x0, %x1, %x2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %d = calque.jvp %y, %x0, %x1, %x2, %t0, %t1, %t2 {counts = array<i64: 1, 3>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %d : tensor<?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_betainc_slope_a(
// CHECK: calque.betainc_slope_a
func.func @examples_of_betainc_slope_a(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %e:3 = calque.batch %x0, %x1, %x2 {axes = array<i64: 0, 0, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
  %y = calque.betainc_slope_a %e#0, %e#1, %e#2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = calque.unbatch %y, %e#0, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @betainc_slope_b(
// CHECK: return
func.func @betainc_slope_b(%x0: tensor<?x?xf64>, %x1: tensor<?x?xf64>, %x2: tensor<?x?xf64>, %g0: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %y = calque.betainc_slope_b %x0, %x1, %x2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %d:3 = calque.gradient %y, %g0, %x0, %x1, %x2 {counts = array<i64: 1, 3, 0>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
  return %d#0, %d#1, %d#2 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_betainc_slope_b(
// CHECK: return
func.func @tangent_of_betainc_slope_b(%x0: tensor<?x?xf64>, %x1: tensor<?x?xf64>, %x2: tensor<?x?xf64>, %t0: tensor<?x?xf64>, %t1: tensor<?x?xf64>, %t2: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = calque.betainc_slope_b %x0, %x1, %x2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %d = calque.jvp %y, %x0, %x1, %x2, %t0, %t1, %t2 {counts = array<i64: 1, 3>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %d : tensor<?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_betainc_slope_b(
// CHECK: calque.betainc_slope_b
func.func @examples_of_betainc_slope_b(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %e:3 = calque.batch %x0, %x1, %x2 {axes = array<i64: 0, 0, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
  %y = calque.betainc_slope_b %e#0, %e#1, %e#2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = calque.unbatch %y, %e#0, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @beta_density(
// CHECK: return
func.func @beta_density(%x0: tensor<?x?xf64>, %x1: tensor<?x?xf64>, %x2: tensor<?x?xf64>, %g0: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %y = calque.beta_density %x0, %x1, %x2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %d:3 = calque.gradient %y, %g0, %x0, %x1, %x2 {counts = array<i64: 1, 3, 0>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
  return %d#0, %d#1, %d#2 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_beta_density(
// CHECK: return
func.func @tangent_of_beta_density(%x0: tensor<?x?xf64>, %x1: tensor<?x?xf64>, %x2: tensor<?x?xf64>, %t0: tensor<?x?xf64>, %t1: tensor<?x?xf64>, %t2: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = calque.beta_density %x0, %x1, %x2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %d = calque.jvp %y, %x0, %x1, %x2, %t0, %t1, %t2 {counts = array<i64: 1, 3>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %d : tensor<?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_beta_density(
// CHECK: calque.beta_density
func.func @examples_of_beta_density(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %e:3 = calque.batch %x0, %x1, %x2 {axes = array<i64: 0, 0, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
  %y = calque.beta_density %e#0, %e#1, %e#2 : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  %r = calque.unbatch %y, %e#0, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}
