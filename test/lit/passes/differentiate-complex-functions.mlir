// The rules of functions of complex matrices, of equations and of bands, on their parts, in reverse and forward mode, for sizes that are not
// known and for many examples. Their values are tested elsewhere.
// RUN: calque-opt --calque-differentiate --split-input-file %s | FileCheck %s --implicit-check-not='calque.{{gradient|jvp|batch|unbatch}}'

// CHECK-LABEL: func.func @expm_parts(
// CHECK: calque.expm_parts
// CHECK: calque.transpose
// CHECK: calque.expm_parts
// CHECK: calque.concat_part
func.func @expm_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.expm_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1 {counts = array<i64: 2, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_expm_parts(
// CHECK: calque.expm_parts
// CHECK: calque.concat
// CHECK: calque.expm_parts
func.func @tangent_of_expm_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.expm_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %t0, %t1 {counts = array<i64: 2, 2>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_expm_parts(
// CHECK: calque.expm_parts
func.func @examples_of_expm_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.expm_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @sylvester_parts(
// CHECK: calque.sylvester_parts
// CHECK: calque.transpose
// CHECK: calque.sylvester_parts
// CHECK: calque.contract
// CHECK: calque.neg
func.func @sylvester_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %x3: tensor<?x?x?xf64>, %x4: tensor<?x?x?xf64>, %x5: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.sylvester_parts %x0, %x1, %x2, %x3, %x4, %x5 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:6 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1, %x2, %x3, %x4, %x5 {counts = array<i64: 2, 6, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2, %d#3, %d#4, %d#5 : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_sylvester_parts(
// CHECK: calque.sylvester_parts
// CHECK: calque.contract
// CHECK: calque.sylvester_parts
func.func @tangent_of_sylvester_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %x3: tensor<?x?x?xf64>, %x4: tensor<?x?x?xf64>, %x5: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>, %t2: tensor<?x?x?xf64>, %t3: tensor<?x?x?xf64>, %t4: tensor<?x?x?xf64>, %t5: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.sylvester_parts %x0, %x1, %x2, %x3, %x4, %x5 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %x2, %x3, %x4, %x5, %t0, %t1, %t2, %t3, %t4, %t5 {counts = array<i64: 2, 6>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_sylvester_parts(
// CHECK: calque.sylvester_parts
func.func @examples_of_sylvester_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>, %x2: tensor<?x?x?x?xf64>, %x3: tensor<?x?x?x?xf64>, %x4: tensor<?x?x?x?xf64>, %x5: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:6 = calque.batch %x0, %x1, %x2, %x3, %x4, %x5 {axes = array<i64: 0, 0, 0, 0, 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.sylvester_parts %e#0, %e#1, %e#2, %e#3, %e#4, %e#5 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @sqrtm_parts(
// CHECK: calque.sqrtm_parts
// CHECK: calque.transpose
// CHECK: calque.sylvester_parts
func.func @sqrtm_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.sqrtm_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1 {counts = array<i64: 2, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_sqrtm_parts(
// CHECK: calque.sqrtm_parts
// CHECK: calque.sylvester_parts
func.func @tangent_of_sqrtm_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.sqrtm_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %t0, %t1 {counts = array<i64: 2, 2>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_sqrtm_parts(
// CHECK: calque.sqrtm_parts
func.func @examples_of_sqrtm_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.sqrtm_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @logm_parts(
// CHECK: calque.logm_parts
// CHECK: calque.transpose
// CHECK: calque.logm_parts
// CHECK: calque.concat_part
func.func @logm_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.logm_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1 {counts = array<i64: 2, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_logm_parts(
// CHECK: calque.logm_parts
// CHECK: calque.concat
// CHECK: calque.logm_parts
func.func @tangent_of_logm_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.logm_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %t0, %t1 {counts = array<i64: 2, 2>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_logm_parts(
// CHECK: calque.logm_parts
func.func @examples_of_logm_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.logm_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @banded_solve_parts(
// CHECK: calque.banded_solve_parts %{{.*}} {lower = 1 : i64, transposed = true
// CHECK: calque.banded_solve_parts %{{.*}} {lower = 1 : i64, transposed = false
// CHECK: calque.band_of_product
// CHECK: calque.neg
func.func @banded_solve_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %x3: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.banded_solve_parts %x0, %x1, %x2, %x3 {lower = 1 : i64, transposed = true, upper = 1 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:4 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1, %x2, %x3 {counts = array<i64: 2, 4, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2, %d#3 : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_banded_solve_parts(
// CHECK: calque.banded_solve_parts
// CHECK: calque.banded_product
// CHECK: calque.banded_solve_parts
func.func @tangent_of_banded_solve_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %x3: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>, %t2: tensor<?x?x?xf64>, %t3: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.banded_solve_parts %x0, %x1, %x2, %x3 {lower = 1 : i64, transposed = true, upper = 1 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %x2, %x3, %t0, %t1, %t2, %t3 {counts = array<i64: 2, 4>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_banded_solve_parts(
// CHECK: calque.banded_solve_parts
func.func @examples_of_banded_solve_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>, %x2: tensor<?x?x?x?xf64>, %x3: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:4 = calque.batch %x0, %x1, %x2, %x3 {axes = array<i64: 0, 0, 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.banded_solve_parts %e#0, %e#1, %e#2, %e#3 {lower = 1 : i64, transposed = true, upper = 1 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @positive_banded_solve_parts(
// CHECK: calque.positive_banded_solve_parts
// CHECK: calque.positive_banded_solve_parts
// CHECK: calque.band_of_product
// CHECK: calque.not_equal
// CHECK: calque.neg
func.func @positive_banded_solve_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %x3: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.positive_banded_solve_parts %x0, %x1, %x2, %x3 {lower = 2 : i64, upper = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:4 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1, %x2, %x3 {counts = array<i64: 2, 4, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2, %d#3 : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @tangent_of_positive_banded_solve_parts(
// CHECK: calque.positive_banded_solve_parts
// CHECK: calque.banded_product
// CHECK: calque.positive_banded_solve_parts
func.func @tangent_of_positive_banded_solve_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %x3: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>, %t2: tensor<?x?x?xf64>, %t3: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.positive_banded_solve_parts %x0, %x1, %x2, %x3 {lower = 2 : i64, upper = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %x2, %x3, %t0, %t1, %t2, %t3 {counts = array<i64: 2, 4>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// -----

// CHECK-LABEL: func.func @examples_of_positive_banded_solve_parts(
// CHECK: calque.positive_banded_solve_parts
func.func @examples_of_positive_banded_solve_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>, %x2: tensor<?x?x?x?xf64>, %x3: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:4 = calque.batch %x0, %x1, %x2, %x3 {axes = array<i64: 0, 0, 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.positive_banded_solve_parts %e#0, %e#1, %e#2, %e#3 {lower = 2 : i64, upper = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}
