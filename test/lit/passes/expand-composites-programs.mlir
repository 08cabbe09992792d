// Composite operations with a program inside.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-expand-composites))' %s | FileCheck %s

// A gradient of the user's has served once derivatives are there: what is left are the values.
// CHECK-LABEL: func.func @custom_gradient(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @custom_gradient(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = calque.custom_gradient %x, %y {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%g: tensor<?xf32>):
    vector.yield %g : tensor<?xf32>
  }
  return %z : tensor<?xf32>
}

// And of a checkpoint, its body.
// CHECK-LABEL: func.func @checkpoint(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[E:.*]] = calque.exp %[[X]]
// CHECK-NEXT: return %[[E]]
func.func @checkpoint(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = calque.checkpoint %x : (tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: tensor<?xf32>):
    %e = calque.exp %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %e : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
