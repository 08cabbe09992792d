// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// The partial of exp is its result.
// CHECK-LABEL: func.func @exp(
// CHECK-SAME: %[[X:.*]]: tensor<2x?xf32>, %[[SEED:.*]]: tensor<2x?xf32>)
// CHECK: %[[Y:.*]] = calque.exp %[[X]]
// CHECK: %[[P:.*]] = calque.mul %[[SEED]], %[[Y]]
// CHECK: %[[G:.*]] = calque.sum_like %[[P]], %[[X]]
// CHECK: return %[[G]]
func.func @exp(%x: tensor<2x?xf32>, %seed: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %y = calque.exp %x : (tensor<2x?xf32>) -> tensor<2x?xf32>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  return %g : tensor<2x?xf32>
}

// A broadcast operand's cotangent is summed; that of an operand which no source reaches is not made.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[X:.*]]: tensor<3x2xf64>, %[[B:.*]]: tensor<2xf64>, %[[SEED:.*]]: tensor<3x2xf64>)
// CHECK: %[[G:.*]] = calque.sum_like %[[SEED]], %[[B]]
// CHECK-NOT: calque.sum_like
// CHECK: return %[[G]]
func.func @broadcast(%x: tensor<3x2xf64>, %b: tensor<2xf64>, %seed: tensor<3x2xf64>) -> tensor<2xf64> {
  %y = calque.add %x, %b : (tensor<3x2xf64>, tensor<2xf64>) -> tensor<3x2xf64>
  %g = calque.gradient %y, %seed, %b {counts = array<i64: 1, 1, 0>} : (tensor<3x2xf64>, tensor<3x2xf64>, tensor<2xf64>) -> tensor<2xf64>
  return %g : tensor<2xf64>
}

// Nothing passes a stop: the tape did not see how %y was made.
// CHECK-LABEL: func.func @stop(
// CHECK: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK: %[[G:.*]] = calque.broadcast_like %[[ZERO]]
// CHECK: return %[[G]]
func.func @stop(%x: tensor<2xf32>, %seed: tensor<2xf32>) -> tensor<2xf32> {
  %y = calque.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %z = calque.sin %y : (tensor<2xf32>) -> tensor<2xf32>
  %g = calque.gradient %z, %seed, %x, %y {counts = array<i64: 1, 1, 1>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %g : tensor<2xf32>
}

// The outer gradient differentiates what the inner one became: d2/dx2 x*x*x.
// CHECK-LABEL: func.func @second_order(
// CHECK-NOT: calque.gradient
// CHECK: return
func.func @second_order(%x: tensor<f64>, %one: tensor<f64>) -> tensor<f64> {
  %xx = calque.mul %x, %x : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %xxx = calque.mul %xx, %x : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %g = calque.gradient %xxx, %one, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  %h = calque.gradient %g, %one, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %h : tensor<f64>
}
