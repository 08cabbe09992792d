// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-expand-composites))' %s | FileCheck %s

// CHECK-LABEL: func.func @mean(
// CHECK-SAME: %[[X:.*]]: tensor<3x5xf32>)
// CHECK-DAG: %[[SUM:.*]] = calque.reduce_sum %[[X]] {axes = array<i64: 1>, keepdims = true}
// CHECK-DAG: %[[COUNT:.*]] = calque.axis_size %[[X]] {axes = array<i64: 1>}
// CHECK: %[[MEAN:.*]] = calque.div %[[SUM]], %[[COUNT]]
// CHECK: return %[[MEAN]]
func.func @mean(%x: tensor<3x5xf32>) -> tensor<3x1xf32> {
  %m = calque.reduce_mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  return %m : tensor<3x1xf32>
}
