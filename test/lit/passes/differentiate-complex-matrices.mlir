// The rules of complex matrices, on their parts: reverse, forward and of many examples, on unknown sizes. They are
// tested on numbers in test/operations/.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @cholesky_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.cholesky_parts %[[A0]], %[[A1]]
// CHECK: %[[V44:.*]], %[[V45:.*]] = calque.triangular_solve_parts %[[V0]], %[[V1]], %{{.*}}, %{{.*}} {lower = true, transposed = true, unit_diagonal = false}
// CHECK: %[[V49:.*]], %[[V50:.*]] = calque.triangular_solve_parts %[[V0]], %[[V1]], %{{.*}}, %{{.*}} {lower = true, transposed = true, unit_diagonal = false}
func.func @cholesky_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.cholesky_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1 {counts = array<i64: 2, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_cholesky_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.cholesky_parts %[[A0]], %[[A1]]
// CHECK: %[[V11:.*]], %[[V12:.*]] = calque.triangular_solve_parts %[[V0]], %[[V1]], %{{.*}}, %{{.*}} {lower = true, transposed = false, unit_diagonal = false}
// CHECK: %[[V16:.*]], %[[V17:.*]] = calque.triangular_solve_parts %[[V0]], %[[V1]], %{{.*}}, %{{.*}} {lower = true, transposed = false, unit_diagonal = false}
func.func @tangent_of_cholesky_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.cholesky_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %t0, %t1 {counts = array<i64: 2, 2>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_cholesky_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]] = calque.cholesky_parts %{{.*}}, %{{.*}}
func.func @examples_of_cholesky_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.cholesky_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @triangular_solve_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>, %[[A4:.*]]: tensor<?x?x?xf64>, %[[A5:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.triangular_solve_parts %[[A0]], %[[A1]], %[[A2]], %[[A3]] {lower = true, transposed = false, unit_diagonal = true}
// CHECK: %[[V2:.*]], %[[V3:.*]] = calque.triangular_solve_parts %[[A0]], %[[A1]], %[[A4]], %[[A5]] {lower = true, transposed = true, unit_diagonal = true}
func.func @triangular_solve_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %x3: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.triangular_solve_parts %x0, %x1, %x2, %x3 {lower = true, transposed = false, unit_diagonal = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:4 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1, %x2, %x3 {counts = array<i64: 2, 4, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2, %d#3 : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_triangular_solve_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>, %[[A4:.*]]: tensor<?x?x?xf64>, %[[A5:.*]]: tensor<?x?x?xf64>, %[[A6:.*]]: tensor<?x?x?xf64>, %[[A7:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.triangular_solve_parts %[[A0]], %[[A1]], %[[A2]], %[[A3]] {lower = true, transposed = false, unit_diagonal = true}
// CHECK: %[[V20:.*]], %[[V21:.*]] = calque.triangular_solve_parts %[[A0]], %[[A1]], %{{.*}}, %{{.*}} {lower = true, transposed = false, unit_diagonal = true}
func.func @tangent_of_triangular_solve_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %x3: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>, %t2: tensor<?x?x?xf64>, %t3: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.triangular_solve_parts %x0, %x1, %x2, %x3 {lower = true, transposed = false, unit_diagonal = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %x2, %x3, %t0, %t1, %t2, %t3 {counts = array<i64: 2, 4>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_triangular_solve_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V18:.*]], %[[V19:.*]] = calque.triangular_solve_parts %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {lower = true, transposed = false, unit_diagonal = true}
func.func @examples_of_triangular_solve_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>, %x2: tensor<?x?x?x?xf64>, %x3: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:4 = calque.batch %x0, %x1, %x2, %x3 {axes = array<i64: 0, 0, 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.triangular_solve_parts %e#0, %e#1, %e#2, %e#3 {lower = true, transposed = false, unit_diagonal = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @lu_factor_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]] = calque.lu_factor_parts %[[A0]], %[[A1]]
// CHECK: %[[V82:.*]], %[[V83:.*]] = calque.triangular_solve_parts %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {lower = true, transposed = true, unit_diagonal = true}
// CHECK: %[[V87:.*]], %[[V88:.*]] = calque.triangular_solve_parts %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {lower = false, transposed = false, unit_diagonal = false}
func.func @lu_factor_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:3 = calque.lu_factor_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>)
  %d:2 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1 {counts = array<i64: 2, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_lu_factor_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]] = calque.lu_factor_parts %[[A0]], %[[A1]]
// CHECK: %[[V34:.*]], %[[V35:.*]] = calque.triangular_solve_parts %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {lower = true, transposed = false, unit_diagonal = true}
// CHECK: %[[V39:.*]], %[[V40:.*]] = calque.triangular_solve_parts %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {lower = false, transposed = true, unit_diagonal = false}
func.func @tangent_of_lu_factor_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:3 = calque.lu_factor_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %t0, %t1 {counts = array<i64: 2, 2>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_lu_factor_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]], %[[V8:.*]] = calque.lu_factor_parts %{{.*}}, %{{.*}}
func.func @examples_of_lu_factor_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xi64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:3 = calque.lu_factor_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>)
  %r:3 = calque.unbatch %y#0, %y#1, %y#2, %e#0, %x0 {axes = array<i64: 0, 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xi64>)
  return %r#0, %r#1, %r#2 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xi64>
}

// CHECK-LABEL: func.func @lu_solve_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>, %[[A4:.*]]: tensor<?x?xi64>, %[[A5:.*]]: tensor<?x?x?xf64>, %[[A6:.*]]: tensor<?x?x?xf64>, %[[A7:.*]]: tensor<?x?x?xf64>, %[[A8:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.lu_solve_parts %[[A0]], %[[A1]], %[[A2]], %[[A3]], %[[A4]], %[[A5]], %[[A6]] {transposed = true}
// CHECK: %[[V2:.*]], %[[V3:.*]] = calque.lu_solve_parts %[[A0]], %[[A1]], %[[A2]], %[[A3]], %[[A4]], %[[A7]], %[[A8]] {transposed = false}
func.func @lu_solve_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %x3: tensor<?x?x?xf64>, %x4: tensor<?x?xi64>, %x5: tensor<?x?x?xf64>, %x6: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.lu_solve_parts %x0, %x1, %x2, %x3, %x4, %x5, %x6 {transposed = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:4 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1, %x5, %x6 {counts = array<i64: 2, 4, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2, %d#3 : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_lu_solve_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>, %[[A4:.*]]: tensor<?x?xi64>, %[[A5:.*]]: tensor<?x?x?xf64>, %[[A6:.*]]: tensor<?x?x?xf64>, %[[A7:.*]]: tensor<?x?x?xf64>, %[[A8:.*]]: tensor<?x?x?xf64>, %[[A9:.*]]: tensor<?x?x?xf64>, %[[A10:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.lu_solve_parts %[[A0]], %[[A1]], %[[A2]], %[[A3]], %[[A4]], %[[A5]], %[[A6]] {transposed = true}
// CHECK: %[[V10:.*]], %[[V11:.*]] = calque.lu_solve_parts %[[A0]], %[[A1]], %[[A2]], %[[A3]], %[[A4]], %{{.*}}, %{{.*}} {transposed = true}
func.func @tangent_of_lu_solve_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?x?xf64>, %x3: tensor<?x?x?xf64>, %x4: tensor<?x?xi64>, %x5: tensor<?x?x?xf64>, %x6: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>, %t5: tensor<?x?x?xf64>, %t6: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.lu_solve_parts %x0, %x1, %x2, %x3, %x4, %x5, %x6 {transposed = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %x5, %x6, %t0, %t1, %t5, %t6 {counts = array<i64: 2, 4>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_lu_solve_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?x?xf64>, %[[A4:.*]]: tensor<?x?x?xi64>, %[[A5:.*]]: tensor<?x?x?x?xf64>, %[[A6:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V36:.*]], %[[V37:.*]] = calque.lu_solve_parts %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {transposed = true}
func.func @examples_of_lu_solve_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>, %x2: tensor<?x?x?x?xf64>, %x3: tensor<?x?x?x?xf64>, %x4: tensor<?x?x?xi64>, %x5: tensor<?x?x?x?xf64>, %x6: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:7 = calque.batch %x0, %x1, %x2, %x3, %x4, %x5, %x6 {axes = array<i64: 0, 0, 0, 0, 0, 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xi64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.lu_solve_parts %e#0, %e#1, %e#2, %e#3, %e#4, %e#5, %e#6 {transposed = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @determinant_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?xf64>, %[[A3:.*]]: tensor<?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.determinant_parts %[[A0]], %[[A1]]
// CHECK: %[[V2:.*]], %[[V3:.*]] = calque.adjugate_parts %[[A0]], %[[A1]]
func.func @determinant_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?xf64>, %g1: tensor<?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.determinant_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1 {counts = array<i64: 2, 2, 0>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_determinant_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.determinant_parts %[[A0]], %[[A1]]
// CHECK: %[[V2:.*]], %[[V3:.*]] = calque.adjugate_parts %[[A0]], %[[A1]]
func.func @tangent_of_determinant_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %y:2 = calque.determinant_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %t0, %t1 {counts = array<i64: 2, 2>} : (tensor<?xf64>, tensor<?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  return %d#0, %d#1 : tensor<?xf64>, tensor<?xf64>
}

// CHECK-LABEL: func.func @examples_of_determinant_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]] = calque.determinant_parts %{{.*}}, %{{.*}}
func.func @examples_of_determinant_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.determinant_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?xf64>, tensor<?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>)
  return %r#0, %r#1 : tensor<?x?xf64>, tensor<?x?xf64>
}

// CHECK-LABEL: func.func @adjugate_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.adjugate_parts %[[A0]], %[[A1]]
// CHECK: %[[V36:.*]], %[[V37:.*]] = calque.determinant_parts %[[A0]], %[[A1]]
func.func @adjugate_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.adjugate_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1 {counts = array<i64: 2, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_adjugate_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.adjugate_parts %[[A0]], %[[A1]]
// CHECK: %[[V34:.*]], %[[V35:.*]] = calque.determinant_parts %[[A0]], %[[A1]]
func.func @tangent_of_adjugate_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.adjugate_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %t0, %t1 {counts = array<i64: 2, 2>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_adjugate_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]] = calque.adjugate_parts %{{.*}}, %{{.*}}
func.func @examples_of_adjugate_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.adjugate_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @slogdet_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?xf64>, %[[A3:.*]]: tensor<?xf64>, %[[A4:.*]]: tensor<?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]] = calque.slogdet_parts %[[A0]], %[[A1]]
// CHECK: %[[V10:.*]], %[[V11:.*]], %[[V12:.*]] = calque.lu_factor_parts %[[A0]], %[[A1]]
// CHECK: %[[V20:.*]], %[[V21:.*]] = calque.lu_solve_parts %[[A0]], %[[A1]], %[[V10]], %[[V11]], %[[V12]], %{{.*}}, %{{.*}} {transposed = false}
func.func @slogdet_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?xf64>, %g1: tensor<?xf64>, %g2: tensor<?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:3 = calque.slogdet_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %y#2, %g0, %g1, %g2, %x0, %x1 {counts = array<i64: 3, 2, 0>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_slogdet_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]] = calque.slogdet_parts %[[A0]], %[[A1]]
// CHECK: %[[V3:.*]], %[[V4:.*]], %[[V5:.*]] = calque.lu_factor_parts %[[A0]], %[[A1]]
// CHECK: %[[V13:.*]], %[[V14:.*]] = calque.lu_solve_parts %[[A0]], %[[A1]], %[[V3]], %[[V4]], %[[V5]], %{{.*}}, %{{.*}} {transposed = false}
func.func @tangent_of_slogdet_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) {
  %y:3 = calque.slogdet_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  %d:3 = calque.jvp %y#0, %y#1, %y#2, %x0, %x1, %t0, %t1 {counts = array<i64: 3, 2>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  return %d#0, %d#1, %d#2 : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
}

// CHECK-LABEL: func.func @examples_of_slogdet_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]], %[[V8:.*]] = calque.slogdet_parts %{{.*}}, %{{.*}}
func.func @examples_of_slogdet_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:3 = calque.slogdet_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>)
  %r:3 = calque.unbatch %y#0, %y#1, %y#2, %e#0, %x0 {axes = array<i64: 0, 0, 0>, batch_axis = 0 : i64} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
  return %r#0, %r#1, %r#2 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}

// CHECK-LABEL: func.func @qr_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>, %[[A4:.*]]: tensor<?x?x?xf64>, %[[A5:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]], %[[V3:.*]] = calque.qr_parts %[[A0]], %[[A1]]
// CHECK: %[[V71:.*]], %[[V72:.*]] = calque.triangular_solve_parts %[[V2]], %[[V3]], %{{.*}}, %{{.*}} {lower = false, transposed = false, unit_diagonal = false}
func.func @qr_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>, %g2: tensor<?x?x?xf64>, %g3: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:4 = calque.qr_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %y#2, %y#3, %g0, %g1, %g2, %g3, %x0, %x1 {counts = array<i64: 4, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_qr_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]], %[[V3:.*]] = calque.qr_parts %[[A0]], %[[A1]]
// CHECK: %[[V7:.*]], %[[V8:.*]] = calque.triangular_solve_parts %[[V2]], %[[V3]], %{{.*}}, %{{.*}} {lower = false, transposed = true, unit_diagonal = false}
func.func @tangent_of_qr_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:4 = calque.qr_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:4 = calque.jvp %y#0, %y#1, %y#2, %y#3, %x0, %x1, %t0, %t1 {counts = array<i64: 4, 2>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2, %d#3 : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_qr_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]], %[[V8:.*]], %[[V9:.*]] = calque.qr_parts %{{.*}}, %{{.*}}
func.func @examples_of_qr_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:4 = calque.qr_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:4 = calque.unbatch %y#0, %y#1, %y#2, %y#3, %e#0, %x0 {axes = array<i64: 0, 0, 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_qr_complete_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]], %[[V8:.*]], %[[V9:.*]] = calque.qr_complete_parts %{{.*}}, %{{.*}}
func.func @examples_of_qr_complete_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:4 = calque.qr_complete_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:4 = calque.unbatch %y#0, %y#1, %y#2, %y#3, %e#0, %x0 {axes = array<i64: 0, 0, 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @eigh_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>, %[[A4:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]] = calque.eigh_parts %[[A0]], %[[A1]]
func.func @eigh_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?xf64>, %g1: tensor<?x?x?xf64>, %g2: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:3 = calque.eigh_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %y#2, %g0, %g1, %g2, %x0, %x1 {counts = array<i64: 3, 2, 0>} : (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_eigh_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]] = calque.eigh_parts %[[A0]], %[[A1]]
func.func @tangent_of_eigh_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:3 = calque.eigh_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:3 = calque.jvp %y#0, %y#1, %y#2, %x0, %x1, %t0, %t1 {counts = array<i64: 3, 2>} : (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2 : tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_eigh_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]], %[[V8:.*]] = calque.eigh_parts %{{.*}}, %{{.*}}
func.func @examples_of_eigh_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:3 = calque.eigh_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:3 = calque.unbatch %y#0, %y#1, %y#2, %e#0, %x0 {axes = array<i64: 0, 0, 0>, batch_axis = 0 : i64} : (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1, %r#2 : tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @svd_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>, %[[A4:.*]]: tensor<?x?xf64>, %[[A5:.*]]: tensor<?x?x?xf64>, %[[A6:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]], %[[V3:.*]], %[[V4:.*]] = calque.svd_parts %[[A0]], %[[A1]]
func.func @svd_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>, %g2: tensor<?x?xf64>, %g3: tensor<?x?x?xf64>, %g4: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:5 = calque.svd_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %y#2, %y#3, %y#4, %g0, %g1, %g2, %g3, %g4, %x0, %x1 {counts = array<i64: 5, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_svd_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]], %[[V3:.*]], %[[V4:.*]] = calque.svd_parts %[[A0]], %[[A1]]
func.func @tangent_of_svd_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:5 = calque.svd_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:5 = calque.jvp %y#0, %y#1, %y#2, %y#3, %y#4, %x0, %x1, %t0, %t1 {counts = array<i64: 5, 2>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2, %d#3, %d#4 : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_svd_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]], %[[V8:.*]], %[[V9:.*]], %[[V10:.*]] = calque.svd_parts %{{.*}}, %{{.*}}
func.func @examples_of_svd_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:5 = calque.svd_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:5 = calque.unbatch %y#0, %y#1, %y#2, %y#3, %y#4, %e#0, %x0 {axes = array<i64: 0, 0, 0, 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_svd_full_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]], %[[V8:.*]], %[[V9:.*]], %[[V10:.*]] = calque.svd_full_parts %{{.*}}, %{{.*}}
func.func @examples_of_svd_full_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:5 = calque.svd_full_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:5 = calque.unbatch %y#0, %y#1, %y#2, %y#3, %y#4, %e#0, %x0 {axes = array<i64: 0, 0, 0, 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @pseudo_inverse_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.pseudo_inverse_parts %[[A0]], %[[A1]] {tolerance = -1.000000e+00 : f64}
func.func @pseudo_inverse_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.pseudo_inverse_parts %x0, %x1 {tolerance = -1.000000e+00 : f64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1 {counts = array<i64: 2, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_pseudo_inverse_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]] = calque.pseudo_inverse_parts %[[A0]], %[[A1]] {tolerance = -1.000000e+00 : f64}
func.func @tangent_of_pseudo_inverse_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.pseudo_inverse_parts %x0, %x1 {tolerance = -1.000000e+00 : f64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %x1, %t0, %t1 {counts = array<i64: 2, 2>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_pseudo_inverse_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]] = calque.pseudo_inverse_parts %{{.*}}, %{{.*}} {tolerance = -1.000000e+00 : f64}
func.func @examples_of_pseudo_inverse_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:2 = calque.pseudo_inverse_parts %e#0, %e#1 {tolerance = -1.000000e+00 : f64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e#0, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @eig_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?xf64>, %[[A3:.*]]: tensor<?x?xf64>, %[[A4:.*]]: tensor<?x?x?xf64>, %[[A5:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]], %[[V3:.*]] = calque.eig_parts %[[A0]], %[[A1]]
func.func @eig_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?xf64>, %g1: tensor<?x?xf64>, %g2: tensor<?x?x?xf64>, %g3: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:4 = calque.eig_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %y#2, %y#3, %g0, %g1, %g2, %g3, %x0, %x1 {counts = array<i64: 4, 2, 0>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_eig_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]], %[[V3:.*]] = calque.eig_parts %[[A0]], %[[A1]]
func.func @tangent_of_eig_parts(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:4 = calque.eig_parts %x0, %x1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:4 = calque.jvp %y#0, %y#1, %y#2, %y#3, %x0, %x1, %t0, %t1 {counts = array<i64: 4, 2>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2, %d#3 : tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_eig_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]], %[[V8:.*]], %[[V9:.*]] = calque.eig_parts %{{.*}}, %{{.*}}
func.func @examples_of_eig_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:4 = calque.eig_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:4 = calque.unbatch %y#0, %y#1, %y#2, %y#3, %e#0, %x0 {axes = array<i64: 0, 0, 0, 0>, batch_axis = 0 : i64} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_schur_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK: %[[V6:.*]], %[[V7:.*]], %[[V8:.*]], %[[V9:.*]] = calque.schur_parts %{{.*}}, %{{.*}}
func.func @examples_of_schur_parts(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y:4 = calque.schur_parts %e#0, %e#1 : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:4 = calque.unbatch %y#0, %y#1, %y#2, %y#3, %e#0, %x0 {axes = array<i64: 0, 0, 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}
