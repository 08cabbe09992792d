// Variables become arguments and results, reads and assignments values.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-state-to-values))' %s | FileCheck %s

// A read after an assignment sees it; only the assigned variable becomes a result.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:.*]]: tensor<2xf32>, %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-SAME: attributes {calque.assigned = array<i64: 2>}
// CHECK-NEXT: %[[NEW:.*]] = calque.add %[[B]], %[[X]]
// CHECK-NEXT: %[[OUT:.*]] = calque.mul %[[NEW]], %[[A]]
// CHECK-NEXT: return %[[OUT]], %[[NEW]]
func.func @step(%x: tensor<2xf32>) -> tensor<2xf32> attributes {calque.variables = [{name = "a", type = tensor<2xf32>}, {name = "b", type = tensor<2xf32>}]} {
  %b = calque.variable_read {variable = 1 : i64, shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  %new = calque.add %b, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  calque.variable_assign %new {variable = 1 : i64} : (tensor<2xf32>) -> ()
  %again = calque.variable_read {variable = 1 : i64, shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  %a = calque.variable_read {variable = 0 : i64, shape = array<i64: 2>, dtype = f32} : () -> tensor<2xf32>
  %out = calque.mul %again, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %out : tensor<2xf32>
}

// A read before an assignment keeps the old value; of two assignments the last one counts.
// CHECK-LABEL: func.func @order(
// CHECK-SAME: %[[X:.*]]: tensor<i64>, %[[OLD:.*]]: tensor<i64>) -> (tensor<i64>, tensor<i64>)
// CHECK-SAME: attributes {calque.assigned = array<i64: 1>}
// CHECK-NEXT: %[[FIRST:.*]] = calque.neg %[[X]]
// CHECK-NEXT: %[[LAST:.*]] = calque.add %[[FIRST]], %[[OLD]]
// CHECK-NEXT: return %[[OLD]], %[[LAST]]
func.func @order(%x: tensor<i64>) -> tensor<i64> attributes {calque.variables = [{name = "", type = tensor<i64>}]} {
  %old = calque.variable_read {variable = 0 : i64, shape = array<i64>, dtype = i64} : () -> tensor<i64>
  %first = calque.neg %x : (tensor<i64>) -> tensor<i64>
  calque.variable_assign %first {variable = 0 : i64} : (tensor<i64>) -> ()
  %seen = calque.variable_read {variable = 0 : i64, shape = array<i64>, dtype = i64} : () -> tensor<i64>
  %last = calque.add %seen, %old : (tensor<i64>, tensor<i64>) -> tensor<i64>
  calque.variable_assign %last {variable = 0 : i64} : (tensor<i64>) -> ()
  return %old : tensor<i64>
}

// A declaration has no body to change.
// CHECK-LABEL: func.func private @declared(tensor<f32>)
func.func private @declared(tensor<f32>)

// The new value is a result of every return.
// CHECK-LABEL: func.func @returns(
// CHECK-SAME: %[[C:.*]]: i1, %[[X:.*]]: tensor<f32>, %{{.*}}: tensor<f32>) -> tensor<f32>
// CHECK: cf.cond_br %[[C]]
// CHECK: return %[[X]]
// CHECK: return %[[X]]
func.func @returns(%c: i1, %x: tensor<f32>) attributes {calque.variables = [{name = "a", type = tensor<f32>}]} {
  calque.variable_assign %x {variable = 0 : i64} : (tensor<f32>) -> ()
  cf.cond_br %c, ^one, ^other
^one:
  return
^other:
  return
}

// Two variables change places. A variable that nothing touches is an argument all the same: arguments are counted.
// CHECK-LABEL: func.func @swap(
// CHECK-SAME: %[[A:.*]]: tensor<?xf32>, %[[IDLE:.*]]: tensor<i1>, %[[B:.*]]: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
// CHECK-SAME: attributes {calque.assigned = array<i64: 0, 2>}
// CHECK-NEXT: return %[[B]], %[[A]]
func.func @swap() attributes {calque.variables = [{name = "a", type = tensor<?xf32>}, {name = "idle", type = tensor<i1>}, {name = "b", type = tensor<?xf32>}]} {
  %a = calque.variable_read {variable = 0 : i64, shape = array<i64: -9223372036854775808>, dtype = f32} : () -> tensor<?xf32>
  %b = calque.variable_read {variable = 2 : i64, shape = array<i64: -9223372036854775808>, dtype = f32} : () -> tensor<?xf32>
  calque.variable_assign %a {variable = 2 : i64} : (tensor<?xf32>) -> ()
  calque.variable_assign %b {variable = 0 : i64} : (tensor<?xf32>) -> ()
  return
}

// The other effects stay, in their order.
// CHECK-LABEL: func.func @stateless(
// CHECK-SAME: %[[X:.*]]: tensor<i1>) -> tensor<i1>
// CHECK-SAME: attributes {calque.assigned = array<i64>}
// CHECK-NEXT: calque.print %[[X]]
// CHECK-NEXT: calque.assert %[[X]]
// CHECK-NEXT: return %[[X]]
func.func @stateless(%x: tensor<i1>) -> tensor<i1> {
  calque.print %x {label = "x"} : (tensor<i1>) -> ()
  calque.assert %x {message = "x"} : (tensor<i1>) -> ()
  return %x : tensor<i1>
}
