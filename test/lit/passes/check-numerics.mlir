// An assertion stands behind each operation on floats, with its name and line.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-check-numerics))' %s | FileCheck %s

// CHECK-LABEL: func.func @body(
// CHECK: %[[Y:.*]] = calque.log %arg0 : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[G:.*]] = calque.isfinite %arg0
// CHECK-NEXT: %[[O:.*]] = calque.reduce_all %[[G]]
// CHECK-NEXT: %[[N:.*]] = calque.logical_not %[[O]]
// CHECK-NEXT: %[[F:.*]] = calque.isfinite %[[Y]]
// CHECK-NEXT: %[[H:.*]] = calque.logical_or %[[F]], %[[N]]
// CHECK-NEXT: calque.assert %[[H]], %[[Y]] {calque.checks_numerics
// What has no floats among its operands or results makes none of finite numbers.
// CHECK-NEXT: calque.less
// CHECK-NEXT: calque.cast
// CHECK-NEXT: return
func.func @body(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = calque.log %x : (tensor<3xf32>) -> tensor<3xf32>
  %less = calque.less %x, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  %z = calque.cast %less {dtype = f32} : (tensor<3xi1>) -> tensor<3xf32>
  return %y, %z : tensor<3xf32>, tensor<3xf32>
}
