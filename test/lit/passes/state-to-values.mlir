// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-state-to-values))' %s | FileCheck %s

// A read after an assignment sees it; only the assigned variable becomes a result.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>, %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-SAME: calque.assigned = array<i64: 1>
// CHECK: %[[NEW:.*]] = calque.add %[[B]], %[[X]]
// CHECK: %[[OUT:.*]] = calque.mul %[[NEW]], %[[A]]
// CHECK: return %[[OUT]], %[[NEW]]
func.func @step(%x: tensor<2xf32>) -> tensor<2xf32> attributes {calque.variables = [{name = "a", type = tensor<2xf32>}, {name = "b", type = tensor<2xf32>}]} {
  %b = calque.variable_read {variable = 1 : i64, shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  %new = calque.add %b, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  calque.variable_assign %new {variable = 1 : i64} : (tensor<2xf32>) -> ()
  %again = calque.variable_read {variable = 1 : i64, shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  %a = calque.variable_read {variable = 0 : i64, shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  %out = calque.mul %again, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %out : tensor<2xf32>
}
