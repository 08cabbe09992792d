// The rules of general eigenvalues, of equations, roots and logarithms, in reverse and forward mode, for sizes that are not known and for
// many examples. Their values are tested elsewhere.
// RUN: calque-opt --calque-differentiate --split-input-file %s | FileCheck %s --implicit-check-not='calque.{{gradient|jvp|batch|unbatch}}'

// CHECK-LABEL: func.func @eig(
// CHECK: calque.lu_factor
// CHECK: calque.lu_solve
func.func @eig(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?xf64>, %g1: tensor<?x?xf64>, %g2: tensor<?x?x?xf64>, %g3: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y:4 = calque.eig %x0 : (tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d = calque.gradient %y#0, %y#1, %y#2, %y#3, %g0, %g1, %g2, %g3, %x0 {counts = array<i64: 4, 1, 0>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_eig(
// CHECK: calque.lu_solve
func.func @tangent_of_eig(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:4 = calque.eig %x0 : (tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:4 = calque.jvp %y#0, %y#1, %y#2, %y#3, %x0, %t0 {counts = array<i64: 4, 1>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2, %d#3 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_eig(
// CHECK: calque.eig
func.func @examples_of_eig(%x0: tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y:4 = calque.eig %e : (tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r = calque.unbatch %y#0, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @sylvester(
// CHECK: calque.sylvester
// CHECK: calque.transpose
// CHECK: calque.transpose
// CHECK: calque.sylvester
// CHECK: calque.contract
// CHECK: calque.neg
// CHECK: calque.contract
// CHECK: calque.neg
func.func @sylvester(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y = calque.sylvester %x0, %x1, %x2 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d:3 = calque.gradient %y, %g0, %x0, %x1, %x2 {counts = array<i64: 1, 3, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2 : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_sylvester(
// CHECK: calque.sylvester
func.func @tangent_of_sylvester(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>, %t2: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.sylvester %x0, %x1, %x2 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %x1, %x2, %t0, %t1, %t2 {counts = array<i64: 1, 3>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_sylvester(
// CHECK: calque.sylvester
func.func @examples_of_sylvester(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>, %x2: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e:3 = calque.batch %x0, %x1, %x2 {axes = array<i64: 0, 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y = calque.sylvester %e#0, %e#1, %e#2 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e#0, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @sqrtm(
// CHECK: calque.sqrtm
// CHECK: calque.transpose
// CHECK: calque.sylvester
func.func @sqrtm(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.sqrtm %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.gradient %y, %g0, %x0 {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_sqrtm(
// CHECK: calque.sylvester
func.func @tangent_of_sqrtm(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.sqrtm %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_sqrtm(
// CHECK: calque.sqrtm
func.func @examples_of_sqrtm(%x0: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y = calque.sqrtm %e : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @logm(
// CHECK: calque.logm
// CHECK: calque.transpose
// CHECK: calque.concat
// CHECK: calque.concat
// CHECK: calque.concat
// CHECK: calque.logm
// CHECK: calque.concat_part
func.func @logm(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.logm %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.gradient %y, %g0, %x0 {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_logm(
// CHECK: calque.concat_part
func.func @tangent_of_logm(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.logm %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_logm(
// CHECK: calque.logm
func.func @examples_of_logm(%x0: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y = calque.logm %e : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_schur(
// CHECK: calque.schur
func.func @examples_of_schur(%x0: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y:2 = calque.schur %e : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r = calque.unbatch %y#0, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}
