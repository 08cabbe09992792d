// The rules of linear algebra, reverse, forward and of many examples, on unknown sizes. They are tested on numbers in
// test/operations/.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @cholesky(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.cholesky %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.iota_open %[[A1]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.iota_open %[[A1]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V3:.*]] = calque.greater_equal %[[V1]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V3]], %[[A1]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.contract %[[V0]], %[[V5]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.iota_open %[[V6]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V8:.*]] = calque.iota_open %[[V6]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V9:.*]] = calque.greater %[[V7]], %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V11:.*]] = calque.where %[[V9]], %[[V6]], %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = calque.iota_open %[[V6]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V13:.*]] = calque.iota_open %[[V6]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V14:.*]] = calque.greater_equal %[[V12]], %[[V13]]
// CHECK-NEXT: %[[V15:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V16:.*]] = calque.where %[[V14]], %[[V6]], %[[V15]]
// CHECK-NEXT: %[[V17:.*]] = calque.add %[[V16]], %[[V11]]
// CHECK-NEXT: %[[V18:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V19:.*]] = calque.mul %[[V17]], %[[V18]]
// CHECK-NEXT: %[[V20:.*]] = calque.triangular_solve %[[V0]], %[[V19]] {lower = true, transposed = true, unit_diagonal = false}
// CHECK-NEXT: %[[V21:.*]] = calque.transpose %[[V20]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V22:.*]] = calque.triangular_solve %[[V0]], %[[V21]] {lower = true, transposed = true, unit_diagonal = false}
// CHECK-NEXT: %[[V23:.*]] = calque.transpose %[[V22]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V24:.*]] = calque.transpose %[[V23]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V25:.*]] = calque.add %[[V23]], %[[V24]]
// CHECK-NEXT: %[[V26:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V27:.*]] = calque.mul %[[V25]], %[[V26]]
// CHECK-NEXT: return %[[V27]]
func.func @cholesky(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.cholesky %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.gradient %y, %g0, %x0 {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_cholesky(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.cholesky %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.transpose %[[A1]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.add %[[A1]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[V2]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.triangular_solve %[[V0]], %[[V4]] {lower = true, transposed = false, unit_diagonal = false}
// CHECK-NEXT: %[[V6:.*]] = calque.transpose %[[V5]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.triangular_solve %[[V0]], %[[V6]] {lower = true, transposed = false, unit_diagonal = false}
// CHECK-NEXT: %[[V8:.*]] = calque.transpose %[[V7]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V9:.*]] = calque.iota_open %[[V8]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V10:.*]] = calque.iota_open %[[V8]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V11:.*]] = calque.greater %[[V9]], %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V13:.*]] = calque.where %[[V11]], %[[V8]], %[[V12]]
// CHECK-NEXT: %[[V14:.*]] = calque.iota_open %[[V8]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V15:.*]] = calque.iota_open %[[V8]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V16:.*]] = calque.greater_equal %[[V14]], %[[V15]]
// CHECK-NEXT: %[[V17:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V18:.*]] = calque.where %[[V16]], %[[V8]], %[[V17]]
// CHECK-NEXT: %[[V19:.*]] = calque.add %[[V18]], %[[V13]]
// CHECK-NEXT: %[[V20:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V21:.*]] = calque.mul %[[V19]], %[[V20]]
// CHECK-NEXT: %[[V22:.*]] = calque.contract %[[V0]], %[[V21]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: return %[[V22]]
func.func @tangent_of_cholesky(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.cholesky %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_cholesky(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.cholesky %[[A0]]
// CHECK-NEXT: return %[[V0]]
func.func @examples_of_cholesky(%x0: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y = calque.cholesky %e : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @triangular_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.triangular_solve %[[A0]], %[[A1]] {lower = true, transposed = false, unit_diagonal = true}
// CHECK-NEXT: %[[V1:.*]] = calque.triangular_solve %[[A0]], %[[A2]] {lower = true, transposed = true, unit_diagonal = true}
// CHECK-NEXT: %[[V2:.*]] = calque.contract %[[V1]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V3:.*]] = calque.iota_open %[[V2]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V4:.*]] = calque.iota_open %[[V2]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.greater %[[V3]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V7:.*]] = calque.where %[[V5]], %[[V2]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.neg %[[V7]]
// CHECK-NEXT: return %[[V8]], %[[V1]]
func.func @triangular_solve(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y = calque.triangular_solve %x0, %x1 {lower = true, transposed = false, unit_diagonal = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d:2 = calque.gradient %y, %g0, %x0, %x1 {counts = array<i64: 1, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_triangular_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.triangular_solve %[[A0]], %[[A1]] {lower = true, transposed = false, unit_diagonal = true}
// CHECK-NEXT: %[[V1:.*]] = calque.iota_open %[[A2]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.iota_open %[[A2]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V3:.*]] = calque.greater %[[V1]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V3]], %[[A2]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.contract %[[V5]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.sub %[[A3]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.triangular_solve %[[A0]], %[[V7]] {lower = true, transposed = false, unit_diagonal = true}
// CHECK-NEXT: return %[[V8]]
func.func @tangent_of_triangular_solve(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t1: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.triangular_solve %x0, %x1 {lower = true, transposed = false, unit_diagonal = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %x1, %t0, %t1 {counts = array<i64: 1, 2>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_triangular_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[A0]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[A1]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[A0]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.triangular_solve %[[V5]], %[[V2]] {lower = true, transposed = false, unit_diagonal = true}
// CHECK-NEXT: return %[[V6]]
func.func @examples_of_triangular_solve(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e:2 = calque.batch %x0, %x1 {axes = array<i64: 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %y = calque.triangular_solve %e#0, %e#1 {lower = true, transposed = false, unit_diagonal = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e#0, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @lu_factor(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.lu_factor %[[A0]]
// CHECK-NEXT: %[[V2:.*]] = calque.iota_open %[[V0]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.iota_open %[[V0]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V4:.*]] = calque.greater %[[V2]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V6:.*]] = calque.where %[[V4]], %[[V0]], %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = calque.constant  {value = dense<1.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V8:.*]] = calque.iota_open %[[V0]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V9:.*]] = calque.iota_open %[[V0]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V10:.*]] = calque.equal %[[V9]], %[[V8]]
// CHECK-NEXT: %[[V11:.*]] = calque.where %[[V10]], %[[V7]], %[[V6]]
// CHECK-NEXT: %[[V12:.*]] = calque.iota_open %[[V0]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V13:.*]] = calque.iota_open %[[V0]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V14:.*]] = calque.greater_equal %[[V13]], %[[V12]]
// CHECK-NEXT: %[[V15:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V16:.*]] = calque.where %[[V14]], %[[V0]], %[[V15]]
// CHECK-NEXT: %[[V17:.*]] = calque.iota_open %[[A1]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V18:.*]] = calque.iota_open %[[A1]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V19:.*]] = calque.greater %[[V17]], %[[V18]]
// CHECK-NEXT: %[[V20:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V21:.*]] = calque.where %[[V19]], %[[A1]], %[[V20]]
// CHECK-NEXT: %[[V22:.*]] = calque.contract %[[V11]], %[[V21]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V23:.*]] = calque.iota_open %[[V22]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V24:.*]] = calque.iota_open %[[V22]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V25:.*]] = calque.greater %[[V23]], %[[V24]]
// CHECK-NEXT: %[[V26:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V27:.*]] = calque.where %[[V25]], %[[V22]], %[[V26]]
// CHECK-NEXT: %[[V28:.*]] = calque.iota_open %[[A1]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V29:.*]] = calque.iota_open %[[A1]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V30:.*]] = calque.greater_equal %[[V29]], %[[V28]]
// CHECK-NEXT: %[[V31:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V32:.*]] = calque.where %[[V30]], %[[A1]], %[[V31]]
// CHECK-NEXT: %[[V33:.*]] = calque.contract %[[V32]], %[[V16]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V34:.*]] = calque.iota_open %[[V33]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V35:.*]] = calque.iota_open %[[V33]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V36:.*]] = calque.greater_equal %[[V35]], %[[V34]]
// CHECK-NEXT: %[[V37:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V38:.*]] = calque.where %[[V36]], %[[V33]], %[[V37]]
// CHECK-NEXT: %[[V39:.*]] = calque.add %[[V27]], %[[V38]]
// CHECK-NEXT: %[[V40:.*]] = calque.triangular_solve %[[V11]], %[[V39]] {lower = true, transposed = true, unit_diagonal = true}
// CHECK-NEXT: %[[V41:.*]] = calque.transpose %[[V40]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V42:.*]] = calque.triangular_solve %[[V16]], %[[V41]] {lower = false, transposed = false, unit_diagonal = false}
// CHECK-NEXT: %[[V43:.*]] = calque.transpose %[[V42]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V44:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V45:.*]] = calque.broadcast_like %[[V44]], %[[V43]]
// CHECK-NEXT: %[[V46:.*]] = calque.put_along_axis %[[V43]], %[[V43]], %[[V45]] {axis = 1 : i64}
// CHECK-NEXT: return %[[V46]]
func.func @lu_factor(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y:2 = calque.lu_factor %x0 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xi64>)
  %d = calque.gradient %y#0, %g0, %x0 {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_lu_factor(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.lu_factor %[[A0]]
// CHECK-NEXT: %[[V2:.*]] = calque.iota_open %[[V0]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.iota_open %[[V0]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V4:.*]] = calque.greater %[[V2]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V6:.*]] = calque.where %[[V4]], %[[V0]], %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = calque.constant  {value = dense<1.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V8:.*]] = calque.iota_open %[[V0]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V9:.*]] = calque.iota_open %[[V0]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V10:.*]] = calque.equal %[[V9]], %[[V8]]
// CHECK-NEXT: %[[V11:.*]] = calque.where %[[V10]], %[[V7]], %[[V6]]
// CHECK-NEXT: %[[V12:.*]] = calque.iota_open %[[V0]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V13:.*]] = calque.iota_open %[[V0]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V14:.*]] = calque.greater_equal %[[V13]], %[[V12]]
// CHECK-NEXT: %[[V15:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V16:.*]] = calque.where %[[V14]], %[[V0]], %[[V15]]
// CHECK-NEXT: %[[V17:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V18:.*]] = calque.broadcast_like %[[V17]], %[[A1]]
// CHECK-NEXT: %[[V19:.*]] = calque.take_along_axis %[[A1]], %[[V18]] {axis = 1 : i64}
// CHECK-NEXT: %[[V20:.*]] = calque.triangular_solve %[[V11]], %[[V19]] {lower = true, transposed = false, unit_diagonal = true}
// CHECK-NEXT: %[[V21:.*]] = calque.transpose %[[V20]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V22:.*]] = calque.triangular_solve %[[V16]], %[[V21]] {lower = false, transposed = true, unit_diagonal = false}
// CHECK-NEXT: %[[V23:.*]] = calque.transpose %[[V22]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V24:.*]] = calque.iota_open %[[V23]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V25:.*]] = calque.iota_open %[[V23]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V26:.*]] = calque.greater %[[V24]], %[[V25]]
// CHECK-NEXT: %[[V27:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V28:.*]] = calque.where %[[V26]], %[[V23]], %[[V27]]
// CHECK-NEXT: %[[V29:.*]] = calque.contract %[[V11]], %[[V28]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V30:.*]] = calque.iota_open %[[V23]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V31:.*]] = calque.iota_open %[[V23]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V32:.*]] = calque.greater_equal %[[V31]], %[[V30]]
// CHECK-NEXT: %[[V33:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V34:.*]] = calque.where %[[V32]], %[[V23]], %[[V33]]
// CHECK-NEXT: %[[V35:.*]] = calque.contract %[[V34]], %[[V16]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V36:.*]] = calque.add %[[V29]], %[[V35]]
// CHECK-NEXT: return %[[V36]]
func.func @tangent_of_lu_factor(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y:2 = calque.lu_factor %x0 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xi64>)
  %d = calque.jvp %y#0, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_lu_factor(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.lu_factor %[[A0]]
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @examples_of_lu_factor(%x0: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?xi64>) {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y:2 = calque.lu_factor %e : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xi64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?xi64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?xi64>
}

// CHECK-LABEL: func.func @lu_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?xi64>, %[[A3:.*]]: tensor<?x?x?xf64>, %[[A4:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.lu_solve %[[A0]], %[[A1]], %[[A2]], %[[A3]] {transposed = true}
// CHECK-NEXT: %[[V1:.*]] = calque.lu_solve %[[A0]], %[[A1]], %[[A2]], %[[A4]] {transposed = false}
// CHECK-NEXT: %[[V2:.*]] = calque.contract %[[V0]], %[[V1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V3:.*]] = calque.neg %[[V2]]
// CHECK-NEXT: return %[[V3]], %[[V1]]
func.func @lu_solve(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?xi64>, %x3: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y = calque.lu_solve %x0, %x1, %x2, %x3 {transposed = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d:2 = calque.gradient %y, %g0, %x0, %x3 {counts = array<i64: 1, 2, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_lu_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?xi64>, %[[A3:.*]]: tensor<?x?x?xf64>, %[[A4:.*]]: tensor<?x?x?xf64>, %[[A5:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.lu_solve %[[A0]], %[[A1]], %[[A2]], %[[A3]] {transposed = true}
// CHECK-NEXT: %[[V1:.*]] = calque.contract %[[A4]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.sub %[[A5]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.lu_solve %[[A0]], %[[A1]], %[[A2]], %[[V2]] {transposed = true}
// CHECK-NEXT: return %[[V3]]
func.func @tangent_of_lu_solve(%x0: tensor<?x?x?xf64>, %x1: tensor<?x?x?xf64>, %x2: tensor<?x?xi64>, %x3: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>, %t3: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.lu_solve %x0, %x1, %x2, %x3 {transposed = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %x3, %t0, %t3 {counts = array<i64: 1, 2>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_lu_solve(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xi64>, %[[A3:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[A0]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.split_dim %[[A1]], %[[V0]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 0 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[V2]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V4:.*]] = calque.split_dim %[[A2]], %[[V3]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.merge_dims %[[V4]] {axis = 0 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.expand_dims %[[V5]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V7:.*]] = calque.split_dim %[[A3]], %[[V6]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V8:.*]] = calque.merge_dims %[[V7]] {axis = 0 : i64}
// CHECK-NEXT: %[[V9:.*]] = calque.expand_dims %[[V8]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V10:.*]] = calque.split_dim %[[A0]], %[[V9]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V11:.*]] = calque.merge_dims %[[V10]] {axis = 0 : i64}
// CHECK-NEXT: %[[V12:.*]] = calque.expand_dims %[[V8]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V13:.*]] = calque.split_dim %[[A1]], %[[V12]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V14:.*]] = calque.merge_dims %[[V13]] {axis = 0 : i64}
// CHECK-NEXT: %[[V15:.*]] = calque.expand_dims %[[V8]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V16:.*]] = calque.split_dim %[[A2]], %[[V15]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: %[[V17:.*]] = calque.merge_dims %[[V16]] {axis = 0 : i64}
// CHECK-NEXT: %[[V18:.*]] = calque.lu_solve %[[V11]], %[[V14]], %[[V17]], %[[V8]] {transposed = true}
// CHECK-NEXT: return %[[V18]]
func.func @examples_of_lu_solve(%x0: tensor<?x?x?x?xf64>, %x1: tensor<?x?x?x?xf64>, %x2: tensor<?x?x?xi64>, %x3: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e:4 = calque.batch %x0, %x1, %x2, %x3 {axes = array<i64: 0, 0, 0, 0>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<?x?x?xi64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>)
  %y = calque.lu_solve %e#0, %e#1, %e#2, %e#3 {transposed = true} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xi64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e#0, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @matrix_inverse(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.matrix_inverse %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.contract %[[A1]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V2:.*]] = calque.contract %[[V0]], %[[V1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.neg %[[V2]]
// CHECK-NEXT: return %[[V3]]
func.func @matrix_inverse(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.matrix_inverse %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.gradient %y, %g0, %x0 {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_matrix_inverse(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.matrix_inverse %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.contract %[[A1]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.contract %[[V0]], %[[V1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.neg %[[V2]]
// CHECK-NEXT: return %[[V3]]
func.func @tangent_of_matrix_inverse(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.matrix_inverse %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_matrix_inverse(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.matrix_inverse %[[A0]]
// CHECK-NEXT: return %[[V0]]
func.func @examples_of_matrix_inverse(%x0: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y = calque.matrix_inverse %e : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @determinant(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.determinant %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.adjugate %[[A0]]
// CHECK-NEXT: %[[V2:.*]] = calque.transpose %[[V1]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.expand_dims %[[A1]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[V3]], %[[V2]]
// CHECK-NEXT: return %[[V4]]
func.func @determinant(%x0: tensor<?x?x?xf64>, %g0: tensor<?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.determinant %x0 : (tensor<?x?x?xf64>) -> tensor<?xf64>
  %d = calque.gradient %y, %g0, %x0 {counts = array<i64: 1, 1, 0>} : (tensor<?xf64>, tensor<?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_determinant(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.determinant %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.adjugate %[[A0]]
// CHECK-NEXT: %[[V2:.*]] = calque.transpose %[[V1]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[V2]], %[[A1]]
// CHECK-NEXT: %[[V4:.*]] = calque.reduce_sum %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: return %[[V4]]
func.func @tangent_of_determinant(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> tensor<?xf64> {
  %y = calque.determinant %x0 : (tensor<?x?x?xf64>) -> tensor<?xf64>
  %d = calque.jvp %y, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?xf64>
  return %d : tensor<?xf64>
}

// CHECK-LABEL: func.func @examples_of_determinant(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.determinant %[[A0]]
// CHECK-NEXT: return %[[V0]]
func.func @examples_of_determinant(%x0: tensor<?x?x?x?xf64>) -> tensor<?x?xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y = calque.determinant %e : (tensor<?x?x?xf64>) -> tensor<?xf64>
  %r = calque.unbatch %y, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @adjugate(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.adjugate %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.transpose %[[V0]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[A1]], %[[V0]]
// CHECK-NEXT: %[[V3:.*]] = calque.reduce_sum %[[V2]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.mul %[[V4]], %[[V1]]
// CHECK-NEXT: %[[V6:.*]] = calque.contract %[[A1]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V7:.*]] = calque.contract %[[V0]], %[[V6]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V8:.*]] = calque.determinant %[[A0]]
// CHECK-NEXT: %[[V9:.*]] = calque.expand_dims %[[V8]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V10:.*]] = calque.sub %[[V5]], %[[V7]]
// CHECK-NEXT: %[[V11:.*]] = calque.div %[[V10]], %[[V9]]
// CHECK-NEXT: return %[[V11]]
func.func @adjugate(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.adjugate %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.gradient %y, %g0, %x0 {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_adjugate(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.adjugate %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.transpose %[[V0]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[V1]], %[[A1]]
// CHECK-NEXT: %[[V3:.*]] = calque.reduce_sum %[[V2]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.mul %[[V4]], %[[V0]]
// CHECK-NEXT: %[[V6:.*]] = calque.contract %[[A1]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.contract %[[V0]], %[[V6]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V8:.*]] = calque.determinant %[[A0]]
// CHECK-NEXT: %[[V9:.*]] = calque.expand_dims %[[V8]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V10:.*]] = calque.sub %[[V5]], %[[V7]]
// CHECK-NEXT: %[[V11:.*]] = calque.div %[[V10]], %[[V9]]
// CHECK-NEXT: return %[[V11]]
func.func @tangent_of_adjugate(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.adjugate %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_adjugate(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.adjugate %[[A0]]
// CHECK-NEXT: return %[[V0]]
func.func @examples_of_adjugate(%x0: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y = calque.adjugate %e : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @slogdet(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.slogdet %[[A0]]
// CHECK-NEXT: %[[V2:.*]] = calque.matrix_inverse %[[A0]]
// CHECK-NEXT: %[[V3:.*]] = calque.transpose %[[V2]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[A1]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.mul %[[V4]], %[[V3]]
// CHECK-NEXT: return %[[V5]]
func.func @slogdet(%x0: tensor<?x?x?xf64>, %g1: tensor<?xf64>) -> tensor<?x?x?xf64> {
  %y:2 = calque.slogdet %x0 : (tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %d = calque.gradient %y#1, %g1, %x0 {counts = array<i64: 1, 1, 0>} : (tensor<?xf64>, tensor<?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_slogdet(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.slogdet %[[A0]]
// CHECK-NEXT: %[[V2:.*]] = calque.matrix_inverse %[[A0]]
// CHECK-NEXT: %[[V3:.*]] = calque.transpose %[[V2]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[V3]], %[[A1]]
// CHECK-NEXT: %[[V5:.*]] = calque.reduce_sum %[[V4]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: return %[[V5]]
func.func @tangent_of_slogdet(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> tensor<?xf64> {
  %y:2 = calque.slogdet %x0 : (tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %d = calque.jvp %y#1, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?xf64>
  return %d : tensor<?xf64>
}

// CHECK-LABEL: func.func @examples_of_slogdet(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.slogdet %[[A0]]
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @examples_of_slogdet(%x0: tensor<?x?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y:2 = calque.slogdet %e : (tensor<?x?x?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?xf64>, tensor<?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>)
  return %r#0, %r#1 : tensor<?x?xf64>, tensor<?x?xf64>
}

// CHECK-LABEL: func.func @qr(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.qr %[[A0]]
// CHECK-NEXT: %[[V2:.*]] = calque.iota_open %[[A2]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.iota_open %[[A2]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V4:.*]] = calque.greater_equal %[[V3]], %[[V2]]
// CHECK-NEXT: %[[V5:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V6:.*]] = calque.where %[[V4]], %[[A2]], %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = calque.contract %[[V1]], %[[V6]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V8:.*]] = calque.contract %[[A1]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V9:.*]] = calque.neg %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = calque.add %[[V7]], %[[V9]]
// CHECK-NEXT: %[[V11:.*]] = calque.iota_open %[[V10]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V12:.*]] = calque.iota_open %[[V10]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V13:.*]] = calque.greater %[[V11]], %[[V12]]
// CHECK-NEXT: %[[V14:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V15:.*]] = calque.where %[[V13]], %[[V10]], %[[V14]]
// CHECK-NEXT: %[[V16:.*]] = calque.transpose %[[V15]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V17:.*]] = calque.iota_open %[[V10]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V18:.*]] = calque.iota_open %[[V10]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V19:.*]] = calque.greater_equal %[[V17]], %[[V18]]
// CHECK-NEXT: %[[V20:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V21:.*]] = calque.where %[[V19]], %[[V10]], %[[V20]]
// CHECK-NEXT: %[[V22:.*]] = calque.add %[[V21]], %[[V16]]
// CHECK-NEXT: %[[V23:.*]] = calque.contract %[[V0]], %[[V22]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V24:.*]] = calque.add %[[A1]], %[[V23]]
// CHECK-NEXT: %[[V25:.*]] = calque.transpose %[[V24]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V26:.*]] = calque.triangular_solve %[[V1]], %[[V25]] {lower = false, transposed = false, unit_diagonal = false}
// CHECK-NEXT: %[[V27:.*]] = calque.transpose %[[V26]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: return %[[V27]]
func.func @qr(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y:2 = calque.qr %x0 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d = calque.gradient %y#0, %y#1, %g0, %g1, %x0 {counts = array<i64: 2, 1, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_qr(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.qr %[[A0]]
// CHECK-NEXT: %[[V2:.*]] = calque.transpose %[[A1]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.triangular_solve %[[V1]], %[[V2]] {lower = false, transposed = true, unit_diagonal = false}
// CHECK-NEXT: %[[V4:.*]] = calque.transpose %[[V3]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.contract %[[V0]], %[[V4]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V6:.*]] = calque.iota_open %[[V5]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.iota_open %[[V5]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V8:.*]] = calque.greater %[[V6]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V10:.*]] = calque.where %[[V8]], %[[V5]], %[[V9]]
// CHECK-NEXT: %[[V11:.*]] = calque.transpose %[[V10]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V12:.*]] = calque.sub %[[V10]], %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = calque.sub %[[V5]], %[[V12]]
// CHECK-NEXT: %[[V14:.*]] = calque.contract %[[V13]], %[[V1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V15:.*]] = calque.iota_open %[[V14]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V16:.*]] = calque.iota_open %[[V14]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V17:.*]] = calque.greater_equal %[[V16]], %[[V15]]
// CHECK-NEXT: %[[V18:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V19:.*]] = calque.where %[[V17]], %[[V14]], %[[V18]]
// CHECK-NEXT: %[[V20:.*]] = calque.sub %[[V12]], %[[V5]]
// CHECK-NEXT: %[[V21:.*]] = calque.contract %[[V0]], %[[V20]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V22:.*]] = calque.add %[[V21]], %[[V4]]
// CHECK-NEXT: return %[[V22]], %[[V19]]
func.func @tangent_of_qr(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.qr %x0 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %t0 {counts = array<i64: 2, 1>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_qr(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.qr %[[A0]]
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @examples_of_qr(%x0: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y:2 = calque.qr %e : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_qr_complete(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.qr_complete %[[A0]]
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @examples_of_qr_complete(%x0: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y:2 = calque.qr_complete %e : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @eigh(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?xf64>, %[[A2:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.eigh %[[A0]]
// CHECK-NEXT: %[[V2:.*]] = calque.contract %[[V1]], %[[A2]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.transpose %[[V2]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V4:.*]] = calque.sub %[[V2]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V6:.*]] = calque.mul %[[V4]], %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = calque.abs %[[V0]]
// CHECK-NEXT: %[[V8:.*]] = calque.reduce_sum %[[V7]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V9:.*]] = calque.expand_dims %[[V8]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V10:.*]] = calque.expand_dims %[[V0]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V11:.*]] = calque.expand_dims %[[V0]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V12:.*]] = calque.sub %[[V11]], %[[V10]]
// CHECK-NEXT: %[[V13:.*]] = calque.transpose %[[V2]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V14:.*]] = calque.add %[[V2]], %[[V13]]
// CHECK-NEXT: %[[V15:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V16:.*]] = calque.mul %[[V14]], %[[V15]]
// CHECK-NEXT: %[[V17:.*]] = calque.abs %[[V16]]
// CHECK-NEXT: %[[V18:.*]] = calque.abs %[[V2]]
// CHECK-NEXT: %[[V19:.*]] = calque.reduce_sum %[[V18]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V20:.*]] = calque.iota_open %[[V12]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V21:.*]] = calque.iota_open %[[V12]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V22:.*]] = calque.equal %[[V21]], %[[V20]]
// CHECK-NEXT: %[[V23:.*]] = calque.abs %[[V12]]
// CHECK-NEXT: %[[V24:.*]] = calque.constant  {value = dense<8.8817841970012523E-16> : tensor<f64>}
// CHECK-NEXT: %[[V25:.*]] = calque.mul %[[V9]], %[[V24]]
// CHECK-NEXT: %[[V26:.*]] = calque.less_equal %[[V23]], %[[V25]]
// CHECK-NEXT: %[[V27:.*]] = calque.expand_dims %[[V19]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V28:.*]] = calque.expand_dims %[[V19]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V29:.*]] = calque.add %[[V28]], %[[V27]]
// CHECK-NEXT: %[[V30:.*]] = calque.abs %[[V6]]
// CHECK-NEXT: %[[V31:.*]] = calque.add %[[V30]], %[[V17]]
// CHECK-NEXT: %[[V32:.*]] = calque.constant  {value = dense<3.5527136788005009E-15> : tensor<f64>}
// CHECK-NEXT: %[[V33:.*]] = calque.mul %[[V29]], %[[V32]]
// CHECK-NEXT: %[[V34:.*]] = calque.less_equal %[[V31]], %[[V33]]
// CHECK-NEXT: %[[V35:.*]] = calque.logical_and %[[V26]], %[[V34]]
// CHECK-NEXT: %[[V36:.*]] = calque.logical_or %[[V22]], %[[V35]]
// CHECK-NEXT: %[[V37:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V38:.*]] = calque.where %[[V26]], %[[V37]], %[[V12]]
// CHECK-NEXT: %[[V39:.*]] = calque.constant  {value = dense<1.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V40:.*]] = calque.where %[[V36]], %[[V39]], %[[V38]]
// CHECK-NEXT: %[[V41:.*]] = calque.div %[[V6]], %[[V40]]
// CHECK-NEXT: %[[V42:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V43:.*]] = calque.where %[[V36]], %[[V42]], %[[V41]]
// CHECK-NEXT: %[[V44:.*]] = calque.contract %[[V1]], %[[V43]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V45:.*]] = calque.expand_dims %[[A1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V46:.*]] = calque.mul %[[V1]], %[[V45]]
// CHECK-NEXT: %[[V47:.*]] = calque.add %[[V44]], %[[V46]]
// CHECK-NEXT: %[[V48:.*]] = calque.contract %[[V47]], %[[V1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V49:.*]] = calque.transpose %[[V48]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V50:.*]] = calque.add %[[V48]], %[[V49]]
// CHECK-NEXT: %[[V51:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V52:.*]] = calque.mul %[[V50]], %[[V51]]
// CHECK-NEXT: return %[[V52]]
func.func @eigh(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?xf64>, %g1: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y:2 = calque.eigh %x0 : (tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>)
  %d = calque.gradient %y#0, %y#1, %g0, %g1, %x0 {counts = array<i64: 2, 1, 0>} : (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_eigh(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.eigh %[[A0]]
// CHECK-NEXT: %[[V2:.*]] = calque.transpose %[[A1]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.add %[[A1]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V5:.*]] = calque.mul %[[V3]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.contract %[[V5]], %[[V1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.contract %[[V1]], %[[V6]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V8:.*]] = calque.mul %[[V1]], %[[V6]]
// CHECK-NEXT: %[[V9:.*]] = calque.reduce_sum %[[V8]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V10:.*]] = calque.abs %[[V0]]
// CHECK-NEXT: %[[V11:.*]] = calque.reduce_sum %[[V10]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V12:.*]] = calque.expand_dims %[[V11]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V13:.*]] = calque.expand_dims %[[V0]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V14:.*]] = calque.expand_dims %[[V0]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V15:.*]] = calque.sub %[[V14]], %[[V13]]
// CHECK-NEXT: %[[V16:.*]] = calque.abs %[[V7]]
// CHECK-NEXT: %[[V17:.*]] = calque.reduce_sum %[[V16]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V18:.*]] = calque.iota_open %[[V15]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V19:.*]] = calque.iota_open %[[V15]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V20:.*]] = calque.equal %[[V19]], %[[V18]]
// CHECK-NEXT: %[[V21:.*]] = calque.abs %[[V15]]
// CHECK-NEXT: %[[V22:.*]] = calque.constant  {value = dense<8.8817841970012523E-16> : tensor<f64>}
// CHECK-NEXT: %[[V23:.*]] = calque.mul %[[V12]], %[[V22]]
// CHECK-NEXT: %[[V24:.*]] = calque.less_equal %[[V21]], %[[V23]]
// CHECK-NEXT: %[[V25:.*]] = calque.expand_dims %[[V17]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V26:.*]] = calque.expand_dims %[[V17]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V27:.*]] = calque.add %[[V26]], %[[V25]]
// CHECK-NEXT: %[[V28:.*]] = calque.abs %[[V7]]
// CHECK-NEXT: %[[V29:.*]] = calque.constant  {value = dense<3.5527136788005009E-15> : tensor<f64>}
// CHECK-NEXT: %[[V30:.*]] = calque.mul %[[V27]], %[[V29]]
// CHECK-NEXT: %[[V31:.*]] = calque.less_equal %[[V28]], %[[V30]]
// CHECK-NEXT: %[[V32:.*]] = calque.logical_and %[[V24]], %[[V31]]
// CHECK-NEXT: %[[V33:.*]] = calque.logical_or %[[V20]], %[[V32]]
// CHECK-NEXT: %[[V34:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V35:.*]] = calque.where %[[V24]], %[[V34]], %[[V15]]
// CHECK-NEXT: %[[V36:.*]] = calque.constant  {value = dense<1.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V37:.*]] = calque.where %[[V33]], %[[V36]], %[[V35]]
// CHECK-NEXT: %[[V38:.*]] = calque.div %[[V7]], %[[V37]]
// CHECK-NEXT: %[[V39:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V40:.*]] = calque.where %[[V33]], %[[V39]], %[[V38]]
// CHECK-NEXT: %[[V41:.*]] = calque.contract %[[V1]], %[[V40]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: return %[[V9]], %[[V41]]
func.func @tangent_of_eigh(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>) {
  %y:2 = calque.eigh %x0 : (tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>)
  %d:2 = calque.jvp %y#0, %y#1, %x0, %t0 {counts = array<i64: 2, 1>} : (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1 : tensor<?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_eigh(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.eigh %[[A0]]
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @examples_of_eigh(%x0: tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y:2 = calque.eigh %e : (tensor<?x?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?x?xf64>)
  %r:2 = calque.unbatch %y#0, %y#1, %e, %x0 {axes = array<i64: 0, 0>, batch_axis = 0 : i64} : (tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1 : tensor<?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @svd(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>, %[[A2:.*]]: tensor<?x?xf64>, %[[A3:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]] = calque.svd %[[A0]]
// CHECK-NEXT: %[[V3:.*]] = calque.abs %[[V1]]
// CHECK-NEXT: %[[V4:.*]] = calque.reduce_sum %[[V3]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.expand_dims %[[V4]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V6:.*]] = calque.contract %[[V0]], %[[A1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.abs %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.reduce_sum %[[V7]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V9:.*]] = calque.transpose %[[V6]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V10:.*]] = calque.add %[[V6]], %[[V9]]
// CHECK-NEXT: %[[V11:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V12:.*]] = calque.mul %[[V10]], %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = calque.abs %[[V12]]
// CHECK-NEXT: %[[V14:.*]] = calque.transpose %[[V6]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V15:.*]] = calque.sub %[[V6]], %[[V14]]
// CHECK-NEXT: %[[V16:.*]] = calque.contract %[[V2]], %[[A3]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V17:.*]] = calque.abs %[[V16]]
// CHECK-NEXT: %[[V18:.*]] = calque.reduce_sum %[[V17]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V19:.*]] = calque.add %[[V8]], %[[V18]]
// CHECK-NEXT: %[[V20:.*]] = calque.transpose %[[V16]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V21:.*]] = calque.add %[[V16]], %[[V20]]
// CHECK-NEXT: %[[V22:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V23:.*]] = calque.mul %[[V21]], %[[V22]]
// CHECK-NEXT: %[[V24:.*]] = calque.abs %[[V23]]
// CHECK-NEXT: %[[V25:.*]] = calque.add %[[V13]], %[[V24]]
// CHECK-NEXT: %[[V26:.*]] = calque.transpose %[[V16]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V27:.*]] = calque.sub %[[V16]], %[[V26]]
// CHECK-NEXT: %[[V28:.*]] = calque.add %[[V15]], %[[V27]]
// CHECK-NEXT: %[[V29:.*]] = calque.neg %[[V27]]
// CHECK-NEXT: %[[V30:.*]] = calque.add %[[V15]], %[[V29]]
// CHECK-NEXT: %[[V31:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V32:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V33:.*]] = calque.add %[[V32]], %[[V31]]
// CHECK-NEXT: %[[V34:.*]] = calque.iota_open %[[V33]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V35:.*]] = calque.iota_open %[[V33]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V36:.*]] = calque.equal %[[V35]], %[[V34]]
// CHECK-NEXT: %[[V37:.*]] = calque.abs %[[V33]]
// CHECK-NEXT: %[[V38:.*]] = calque.constant  {value = dense<8.8817841970012523E-16> : tensor<f64>}
// CHECK-NEXT: %[[V39:.*]] = calque.mul %[[V5]], %[[V38]]
// CHECK-NEXT: %[[V40:.*]] = calque.less_equal %[[V37]], %[[V39]]
// CHECK-NEXT: %[[V41:.*]] = calque.expand_dims %[[V19]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V42:.*]] = calque.expand_dims %[[V19]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V43:.*]] = calque.add %[[V42]], %[[V41]]
// CHECK-NEXT: %[[V44:.*]] = calque.abs %[[V30]]
// CHECK-NEXT: %[[V45:.*]] = calque.constant  {value = dense<3.5527136788005009E-15> : tensor<f64>}
// CHECK-NEXT: %[[V46:.*]] = calque.mul %[[V43]], %[[V45]]
// CHECK-NEXT: %[[V47:.*]] = calque.less_equal %[[V44]], %[[V46]]
// CHECK-NEXT: %[[V48:.*]] = calque.logical_and %[[V40]], %[[V47]]
// CHECK-NEXT: %[[V49:.*]] = calque.logical_or %[[V36]], %[[V48]]
// CHECK-NEXT: %[[V50:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V51:.*]] = calque.where %[[V40]], %[[V50]], %[[V33]]
// CHECK-NEXT: %[[V52:.*]] = calque.constant  {value = dense<1.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V53:.*]] = calque.where %[[V49]], %[[V52]], %[[V51]]
// CHECK-NEXT: %[[V54:.*]] = calque.div %[[V30]], %[[V53]]
// CHECK-NEXT: %[[V55:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V56:.*]] = calque.where %[[V49]], %[[V55]], %[[V54]]
// CHECK-NEXT: %[[V57:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V58:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V59:.*]] = calque.sub %[[V58]], %[[V57]]
// CHECK-NEXT: %[[V60:.*]] = calque.iota_open %[[V59]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V61:.*]] = calque.iota_open %[[V59]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V62:.*]] = calque.equal %[[V61]], %[[V60]]
// CHECK-NEXT: %[[V63:.*]] = calque.abs %[[V59]]
// CHECK-NEXT: %[[V64:.*]] = calque.constant  {value = dense<8.8817841970012523E-16> : tensor<f64>}
// CHECK-NEXT: %[[V65:.*]] = calque.mul %[[V5]], %[[V64]]
// CHECK-NEXT: %[[V66:.*]] = calque.less_equal %[[V63]], %[[V65]]
// CHECK-NEXT: %[[V67:.*]] = calque.expand_dims %[[V19]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V68:.*]] = calque.expand_dims %[[V19]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V69:.*]] = calque.add %[[V68]], %[[V67]]
// CHECK-NEXT: %[[V70:.*]] = calque.abs %[[V28]]
// CHECK-NEXT: %[[V71:.*]] = calque.add %[[V70]], %[[V25]]
// CHECK-NEXT: %[[V72:.*]] = calque.constant  {value = dense<3.5527136788005009E-15> : tensor<f64>}
// CHECK-NEXT: %[[V73:.*]] = calque.mul %[[V69]], %[[V72]]
// CHECK-NEXT: %[[V74:.*]] = calque.less_equal %[[V71]], %[[V73]]
// CHECK-NEXT: %[[V75:.*]] = calque.logical_and %[[V66]], %[[V74]]
// CHECK-NEXT: %[[V76:.*]] = calque.logical_or %[[V62]], %[[V75]]
// CHECK-NEXT: %[[V77:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V78:.*]] = calque.where %[[V66]], %[[V77]], %[[V59]]
// CHECK-NEXT: %[[V79:.*]] = calque.constant  {value = dense<1.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V80:.*]] = calque.where %[[V76]], %[[V79]], %[[V78]]
// CHECK-NEXT: %[[V81:.*]] = calque.div %[[V28]], %[[V80]]
// CHECK-NEXT: %[[V82:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V83:.*]] = calque.where %[[V76]], %[[V82]], %[[V81]]
// CHECK-NEXT: %[[V84:.*]] = calque.add %[[V83]], %[[V56]]
// CHECK-NEXT: %[[V85:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V86:.*]] = calque.mul %[[V84]], %[[V85]]
// CHECK-NEXT: %[[V87:.*]] = calque.contract %[[V0]], %[[V86]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V88:.*]] = calque.expand_dims %[[A2]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V89:.*]] = calque.mul %[[V0]], %[[V88]]
// CHECK-NEXT: %[[V90:.*]] = calque.add %[[V87]], %[[V89]]
// CHECK-NEXT: %[[V91:.*]] = calque.contract %[[V0]], %[[A1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V92:.*]] = calque.contract %[[V0]], %[[V91]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V93:.*]] = calque.sub %[[A1]], %[[V92]]
// CHECK-NEXT: %[[V94:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V95:.*]] = calque.div %[[V93]], %[[V94]]
// CHECK-NEXT: %[[V96:.*]] = calque.add %[[V90]], %[[V95]]
// CHECK-NEXT: %[[V97:.*]] = calque.contract %[[V96]], %[[V2]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V98:.*]] = calque.transpose %[[A3]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V99:.*]] = calque.contract %[[V2]], %[[V98]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V100:.*]] = calque.contract %[[V2]], %[[V99]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V101:.*]] = calque.sub %[[V98]], %[[V100]]
// CHECK-NEXT: %[[V102:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V103:.*]] = calque.div %[[V101]], %[[V102]]
// CHECK-NEXT: %[[V104:.*]] = calque.contract %[[V0]], %[[V103]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V105:.*]] = calque.add %[[V97]], %[[V104]]
// CHECK-NEXT: return %[[V105]]
func.func @svd(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>, %g1: tensor<?x?xf64>, %g2: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y:3 = calque.svd %x0 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>)
  %d = calque.gradient %y#0, %y#1, %y#2, %g0, %g1, %g2, %x0 {counts = array<i64: 3, 1, 0>} : (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_svd(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]] = calque.svd %[[A0]]
// CHECK-NEXT: %[[V3:.*]] = calque.contract %[[A1]], %[[V2]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V4:.*]] = calque.contract %[[V0]], %[[V3]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.mul %[[V0]], %[[V3]]
// CHECK-NEXT: %[[V6:.*]] = calque.reduce_sum %[[V5]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.abs %[[V1]]
// CHECK-NEXT: %[[V8:.*]] = calque.reduce_sum %[[V7]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V9:.*]] = calque.expand_dims %[[V8]] {axes = array<i64: 1, 2>}
// CHECK-NEXT: %[[V10:.*]] = calque.abs %[[V4]]
// CHECK-NEXT: %[[V11:.*]] = calque.reduce_sum %[[V10]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V12:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V13:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V14:.*]] = calque.sub %[[V13]], %[[V12]]
// CHECK-NEXT: %[[V15:.*]] = calque.transpose %[[V4]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V16:.*]] = calque.add %[[V4]], %[[V15]]
// CHECK-NEXT: %[[V17:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V18:.*]] = calque.mul %[[V16]], %[[V17]]
// CHECK-NEXT: %[[V19:.*]] = calque.iota_open %[[V14]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V20:.*]] = calque.iota_open %[[V14]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V21:.*]] = calque.equal %[[V20]], %[[V19]]
// CHECK-NEXT: %[[V22:.*]] = calque.abs %[[V14]]
// CHECK-NEXT: %[[V23:.*]] = calque.constant  {value = dense<8.8817841970012523E-16> : tensor<f64>}
// CHECK-NEXT: %[[V24:.*]] = calque.mul %[[V9]], %[[V23]]
// CHECK-NEXT: %[[V25:.*]] = calque.less_equal %[[V22]], %[[V24]]
// CHECK-NEXT: %[[V26:.*]] = calque.expand_dims %[[V11]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V27:.*]] = calque.expand_dims %[[V11]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V28:.*]] = calque.add %[[V27]], %[[V26]]
// CHECK-NEXT: %[[V29:.*]] = calque.abs %[[V18]]
// CHECK-NEXT: %[[V30:.*]] = calque.constant  {value = dense<3.5527136788005009E-15> : tensor<f64>}
// CHECK-NEXT: %[[V31:.*]] = calque.mul %[[V28]], %[[V30]]
// CHECK-NEXT: %[[V32:.*]] = calque.less_equal %[[V29]], %[[V31]]
// CHECK-NEXT: %[[V33:.*]] = calque.logical_and %[[V25]], %[[V32]]
// CHECK-NEXT: %[[V34:.*]] = calque.logical_or %[[V21]], %[[V33]]
// CHECK-NEXT: %[[V35:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V36:.*]] = calque.where %[[V25]], %[[V35]], %[[V14]]
// CHECK-NEXT: %[[V37:.*]] = calque.constant  {value = dense<1.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V38:.*]] = calque.where %[[V34]], %[[V37]], %[[V36]]
// CHECK-NEXT: %[[V39:.*]] = calque.div %[[V18]], %[[V38]]
// CHECK-NEXT: %[[V40:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V41:.*]] = calque.where %[[V34]], %[[V40]], %[[V39]]
// CHECK-NEXT: %[[V42:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V43:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V44:.*]] = calque.add %[[V43]], %[[V42]]
// CHECK-NEXT: %[[V45:.*]] = calque.transpose %[[V4]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V46:.*]] = calque.sub %[[V4]], %[[V45]]
// CHECK-NEXT: %[[V47:.*]] = calque.constant  {value = dense<5.000000e-01> : tensor<f64>}
// CHECK-NEXT: %[[V48:.*]] = calque.mul %[[V46]], %[[V47]]
// CHECK-NEXT: %[[V49:.*]] = calque.iota_open %[[V44]] {axis = 1 : i64, dtype = i64, shape = array<i64: 1, -9223372036854775808>, sizes = array<i64: 0, 2>}
// CHECK-NEXT: %[[V50:.*]] = calque.iota_open %[[V44]] {axis = 0 : i64, dtype = i64, shape = array<i64: -9223372036854775808, 1>, sizes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V51:.*]] = calque.equal %[[V50]], %[[V49]]
// CHECK-NEXT: %[[V52:.*]] = calque.abs %[[V44]]
// CHECK-NEXT: %[[V53:.*]] = calque.constant  {value = dense<8.8817841970012523E-16> : tensor<f64>}
// CHECK-NEXT: %[[V54:.*]] = calque.mul %[[V9]], %[[V53]]
// CHECK-NEXT: %[[V55:.*]] = calque.less_equal %[[V52]], %[[V54]]
// CHECK-NEXT: %[[V56:.*]] = calque.expand_dims %[[V11]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[V57:.*]] = calque.expand_dims %[[V11]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V58:.*]] = calque.add %[[V57]], %[[V56]]
// CHECK-NEXT: %[[V59:.*]] = calque.abs %[[V48]]
// CHECK-NEXT: %[[V60:.*]] = calque.constant  {value = dense<3.5527136788005009E-15> : tensor<f64>}
// CHECK-NEXT: %[[V61:.*]] = calque.mul %[[V58]], %[[V60]]
// CHECK-NEXT: %[[V62:.*]] = calque.less_equal %[[V59]], %[[V61]]
// CHECK-NEXT: %[[V63:.*]] = calque.logical_and %[[V55]], %[[V62]]
// CHECK-NEXT: %[[V64:.*]] = calque.logical_or %[[V51]], %[[V63]]
// CHECK-NEXT: %[[V65:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V66:.*]] = calque.where %[[V55]], %[[V65]], %[[V44]]
// CHECK-NEXT: %[[V67:.*]] = calque.constant  {value = dense<1.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V68:.*]] = calque.where %[[V64]], %[[V67]], %[[V66]]
// CHECK-NEXT: %[[V69:.*]] = calque.div %[[V48]], %[[V68]]
// CHECK-NEXT: %[[V70:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V71:.*]] = calque.where %[[V64]], %[[V70]], %[[V69]]
// CHECK-NEXT: %[[V72:.*]] = calque.add %[[V41]], %[[V71]]
// CHECK-NEXT: %[[V73:.*]] = calque.sub %[[V41]], %[[V71]]
// CHECK-NEXT: %[[V74:.*]] = calque.contract %[[V0]], %[[V72]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V75:.*]] = calque.contract %[[V2]], %[[V73]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V76:.*]] = calque.contract %[[V0]], %[[V3]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V77:.*]] = calque.contract %[[V0]], %[[V76]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V78:.*]] = calque.sub %[[V3]], %[[V77]]
// CHECK-NEXT: %[[V79:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V80:.*]] = calque.div %[[V78]], %[[V79]]
// CHECK-NEXT: %[[V81:.*]] = calque.add %[[V74]], %[[V80]]
// CHECK-NEXT: %[[V82:.*]] = calque.contract %[[A1]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V83:.*]] = calque.contract %[[V2]], %[[V82]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V84:.*]] = calque.contract %[[V2]], %[[V83]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V85:.*]] = calque.sub %[[V82]], %[[V84]]
// CHECK-NEXT: %[[V86:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V87:.*]] = calque.div %[[V85]], %[[V86]]
// CHECK-NEXT: %[[V88:.*]] = calque.add %[[V75]], %[[V87]]
// CHECK-NEXT: %[[V89:.*]] = calque.transpose %[[V88]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: return %[[V81]], %[[V6]], %[[V89]]
func.func @tangent_of_svd(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>) {
  %y:3 = calque.svd %x0 : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>)
  %d:3 = calque.jvp %y#0, %y#1, %y#2, %x0, %t0 {counts = array<i64: 3, 1>} : (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>)
  return %d#0, %d#1, %d#2 : tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_svd(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]] = calque.svd %[[A0]]
// CHECK-NEXT: return %[[V0]], %[[V1]], %[[V2]]
func.func @examples_of_svd(%x0: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y:3 = calque.svd %e : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>)
  %r:3 = calque.unbatch %y#0, %y#1, %y#2, %e, %x0 {axes = array<i64: 0, 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1, %r#2 : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_svd_full(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]], %[[V2:.*]] = calque.svd_full %[[A0]]
// CHECK-NEXT: return %[[V0]], %[[V1]], %[[V2]]
func.func @examples_of_svd_full(%x0: tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y:3 = calque.svd_full %e : (tensor<?x?x?xf64>) -> (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>)
  %r:3 = calque.unbatch %y#0, %y#1, %y#2, %e, %x0 {axes = array<i64: 0, 0, 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> (tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>)
  return %r#0, %r#1, %r#2 : tensor<?x?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @pseudo_inverse(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.pseudo_inverse %[[A0]] {tolerance = 1.000000e-02 : f64}
// CHECK-NEXT: %[[V1:.*]] = calque.contract %[[A1]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V2:.*]] = calque.contract %[[V0]], %[[V1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.contract %[[A1]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V4:.*]] = calque.contract %[[V3]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V5:.*]] = calque.contract %[[V0]], %[[V4]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V6:.*]] = calque.contract %[[A0]], %[[V5]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.sub %[[V4]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.contract %[[V0]], %[[A1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V9:.*]] = calque.contract %[[V0]], %[[V8]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V10:.*]] = calque.contract %[[V9]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V11:.*]] = calque.contract %[[V10]], %[[A0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V12:.*]] = calque.sub %[[V9]], %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = calque.add %[[V7]], %[[V12]]
// CHECK-NEXT: %[[V14:.*]] = calque.sub %[[V13]], %[[V2]]
// CHECK-NEXT: return %[[V14]]
func.func @pseudo_inverse(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.pseudo_inverse %x0 {tolerance = 1.000000e-02 : f64} : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.gradient %y, %g0, %x0 {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_pseudo_inverse(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.pseudo_inverse %[[A0]] {tolerance = 1.000000e-02 : f64}
// CHECK-NEXT: %[[V1:.*]] = calque.contract %[[A1]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.contract %[[V0]], %[[V1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.contract %[[V0]], %[[A1]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V4:.*]] = calque.contract %[[V0]], %[[V3]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.contract %[[V4]], %[[A0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V6:.*]] = calque.contract %[[V5]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V7:.*]] = calque.sub %[[V4]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.contract %[[A1]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V9:.*]] = calque.contract %[[V8]], %[[V0]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V10:.*]] = calque.contract %[[A0]], %[[V9]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V11:.*]] = calque.contract %[[V0]], %[[V10]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V12:.*]] = calque.sub %[[V9]], %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = calque.add %[[V7]], %[[V12]]
// CHECK-NEXT: %[[V14:.*]] = calque.sub %[[V13]], %[[V2]]
// CHECK-NEXT: return %[[V14]]
func.func @tangent_of_pseudo_inverse(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.pseudo_inverse %x0 {tolerance = 1.000000e-02 : f64} : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_pseudo_inverse(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.pseudo_inverse %[[A0]] {tolerance = 1.000000e-02 : f64}
// CHECK-NEXT: return %[[V0]]
func.func @examples_of_pseudo_inverse(%x0: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y = calque.pseudo_inverse %e {tolerance = 1.000000e-02 : f64} : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}

// CHECK-LABEL: func.func @expm(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.expm %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.transpose %[[A0]] {permutation = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V3:.*]] = calque.broadcast_like %[[V2]], %[[V1]]
// CHECK-NEXT: %[[V4:.*]] = calque.concat %[[V1]], %[[A1]] {axis = 2 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.concat %[[V3]], %[[V1]] {axis = 2 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.concat %[[V4]], %[[V5]] {axis = 1 : i64}
// CHECK-NEXT: %[[V7:.*]] = calque.expm %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.concat_part %[[V7]], %[[V4]], %[[V5]] {axis = 1 : i64, index = 0 : i64}
// CHECK-NEXT: %[[V9:.*]] = calque.concat_part %[[V8]], %[[V1]], %[[A1]] {axis = 2 : i64, index = 1 : i64}
// CHECK-NEXT: return %[[V9]]
func.func @expm(%x0: tensor<?x?x?xf64>, %g0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.expm %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.gradient %y, %g0, %x0 {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_expm(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?xf64>, %[[A1:.*]]: tensor<?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.expm %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[A0]]
// CHECK-NEXT: %[[V3:.*]] = calque.concat %[[A0]], %[[A1]] {axis = 2 : i64}
// CHECK-NEXT: %[[V4:.*]] = calque.concat %[[V2]], %[[A0]] {axis = 2 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.concat %[[V3]], %[[V4]] {axis = 1 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.expm %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = calque.concat_part %[[V6]], %[[V3]], %[[V4]] {axis = 1 : i64, index = 0 : i64}
// CHECK-NEXT: %[[V8:.*]] = calque.concat_part %[[V7]], %[[A0]], %[[A1]] {axis = 2 : i64, index = 1 : i64}
// CHECK-NEXT: return %[[V8]]
func.func @tangent_of_expm(%x0: tensor<?x?x?xf64>, %t0: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %y = calque.expm %x0 : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %d = calque.jvp %y, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %d : tensor<?x?x?xf64>
}

// CHECK-LABEL: func.func @examples_of_expm(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?x?x?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.expm %[[A0]]
// CHECK-NEXT: return %[[V0]]
func.func @examples_of_expm(%x0: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?x?x?xf64>) -> tensor<?x?x?xf64>
  %y = calque.expm %e : (tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  %r = calque.unbatch %y, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x?xf64>, tensor<?x?x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64>
  return %r : tensor<?x?x?x?xf64>
}
