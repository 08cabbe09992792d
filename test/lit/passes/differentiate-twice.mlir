// Gradients of gradients: the outer one differentiates what the inner one became.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// x * x * x: both uses of x in the inner gradient count.
// CHECK-LABEL: func.func @cube(
// CHECK-SAME: %[[X:.*]]: tensor<f64>, %[[G:.*]]: tensor<f64>)
// CHECK-NEXT: %[[Y:.*]] = calque.square %[[X]]
// CHECK-NEXT: calque.mul %[[Y]], %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[G]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[G]], %[[Y]]
// CHECK-NEXT: %[[V3:.*]] = calque.constant {value = dense<2.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[V3]], %[[X]]
// CHECK-NEXT: %[[V5:.*]] = calque.mul %[[V1]], %[[V4]]
// CHECK-NEXT: calque.add %[[V2]], %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = calque.mul %[[G]], %[[V4]]
// CHECK-NEXT: %[[V8:.*]] = calque.mul %[[G]], %[[V1]]
// CHECK-NEXT: %[[V9:.*]] = calque.mul %[[V8]], %[[V3]]
// CHECK-NEXT: %[[V10:.*]] = calque.mul %[[G]], %[[G]]
// CHECK-NEXT: %[[V11:.*]] = calque.mul %[[V7]], %[[G]]
// CHECK-NEXT: %[[V12:.*]] = calque.add %[[V9]], %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = calque.constant {value = dense<2.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V14:.*]] = calque.mul %[[V13]], %[[X]]
// CHECK-NEXT: %[[V15:.*]] = calque.mul %[[V10]], %[[V14]]
// CHECK-NEXT: %[[V16:.*]] = calque.add %[[V12]], %[[V15]]
// CHECK-NEXT: return %[[V16]]
func.func @cube(%x: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %s = calque.square %x : (tensor<f64>) -> tensor<f64>
  %y = calque.mul %s, %x : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  %dd = calque.gradient %d, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %dd : tensor<f64>
}

// -sin(x).
// CHECK-LABEL: func.func @sin(
// CHECK-SAME: %[[X:.*]]: tensor<?xf64>, %[[G:.*]]: tensor<?xf64>, %[[H:.*]]: tensor<?xf64>)
// CHECK-NEXT: calque.sin %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.cos %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[G]], %[[V0]]
// CHECK-NEXT: calque.sum_like %[[V1]], %[[X]]
// CHECK-NEXT: %[[V3:.*]] = calque.broadcast_like %[[H]], %[[V1]]
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[V3]], %[[G]]
// CHECK-NEXT: %[[V5:.*]] = calque.sum_like %[[V4]], %[[V0]]
// CHECK-NEXT: %[[V6:.*]] = calque.sin %[[X]]
// CHECK-NEXT: %[[V7:.*]] = calque.neg %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.mul %[[V5]], %[[V7]]
// CHECK-NEXT: %[[V9:.*]] = calque.sum_like %[[V8]], %[[X]]
// CHECK-NEXT: return %[[V9]]
func.func @sin(%x: tensor<?xf64>, %g: tensor<?xf64>, %h: tensor<?xf64>) -> tensor<?xf64> {
  %y = calque.sin %x : (tensor<?xf64>) -> tensor<?xf64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %dd = calque.gradient %d, %h, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %dd : tensor<?xf64>
}

// The images' cotangent depends on the filters.
// CHECK-LABEL: func.func @conv(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[W:.*]]: tensor<3x2x3x?xf32>, %[[G:.*]]: tensor<?x?x?x?xf32>, %[[H:.*]]: tensor<?x?x?x3xf32>)
// CHECK-NEXT: calque.conv %[[X]], %[[W]]
// CHECK-NEXT: calque.conv_input_grad %[[G]], %[[W]], %[[X]] {padding = "valid", strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.conv_filter_grad %[[H]], %[[G]], %[[W]] {padding = "valid", strides = array<i64: 1, 1>}
// CHECK-NEXT: return %[[V1]]
func.func @conv(%x: tensor<?x?x?x3xf32>, %w: tensor<3x2x3x?xf32>, %g: tensor<?x?x?x?xf32>, %h: tensor<?x?x?x3xf32>) -> tensor<3x2x3x?xf32> {
  %y = calque.conv %x, %w : (tensor<?x?x?x3xf32>, tensor<3x2x3x?xf32>) -> tensor<?x?x?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %dd = calque.gradient %d, %h, %w {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<3x2x3x?xf32>) -> tensor<3x2x3x?xf32>
  return %dd : tensor<3x2x3x?xf32>
}

// So does the left matrix's on the right one.
// CHECK-LABEL: func.func @contract(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>, %[[H:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.contract %[[A]], %[[B]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>}
// CHECK-NEXT: calque.contract %[[G]], %[[B]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.contract %[[H]], %[[G]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>}
// CHECK-NEXT: return %[[V1]]
func.func @contract(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %g: tensor<?x?xf32>, %h: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %a {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %dd = calque.gradient %d, %h, %b {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %dd : tensor<?x?xf32>
}

// By the seed: what the inner gradient spreads, the outer one picks.
// CHECK-LABEL: func.func @max_pool(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[G:.*]]: tensor<?x?x?x3xf32>, %[[H:.*]]: tensor<?x?x?x3xf32>)
// CHECK-NEXT: calque.max_pool %[[X]] {strides = array<i64: 2, 2>, window = array<i64: 2, 2>}
// CHECK-NEXT: calque.max_pool_grad %[[X]], %[[G]] {padding = "valid", strides = array<i64: 2, 2>, window = array<i64: 2, 2>}
// CHECK-NEXT: %[[V1:.*]] = calque.max_pool_pick %[[X]], %[[H]] {padding = "valid", strides = array<i64: 2, 2>, window = array<i64: 2, 2>}
// CHECK-NEXT: return %[[V1]]
func.func @max_pool(%x: tensor<?x?x?x3xf32>, %g: tensor<?x?x?x3xf32>, %h: tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32> {
  %y = calque.max_pool %x {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %dd = calque.gradient %d, %h, %g {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  return %dd : tensor<?x?x?x3xf32>
}

// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32>, %[[I:.*]]: tensor<?xi32>, %[[G:.*]]: tensor<?x3xf32>, %[[H:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: calque.gather %[[X]], %[[I]]
// CHECK-NEXT: calque.gather_put %[[G]], %[[X]], %[[I]] {axis = 0 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.gather %[[H]], %[[I]]
// CHECK-NEXT: return %[[V1]]
func.func @gather(%x: tensor<?x3xf32>, %i: tensor<?xi32>, %g: tensor<?x3xf32>, %h: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = calque.gather %x, %i : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %dd = calque.gradient %d, %h, %g {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %dd : tensor<?x3xf32>
}

// Both results of the inner gradient are the seed. The outer one is with respect to one of them, of which neither the other nor the seed
// is a part: g * g times the seed g, not three times that.
// CHECK-LABEL: func.func @results_are_apart(
// CHECK-SAME: %[[X:.*]]: tensor<f64>, %[[Y:.*]]: tensor<f64>, %[[G:.*]]: tensor<f64>)
// CHECK-NEXT: calque.add %[[X]], %[[Y]]
// CHECK-NEXT: %[[D:.*]] = calque.identity %[[G]]
// CHECK-NEXT: %[[P:.*]] = calque.mul %[[D]], %[[G]]
// CHECK-NEXT: calque.mul %[[P]], %[[G]]
// CHECK-NEXT: %[[V0:.*]] = calque.mul %[[G]], %[[G]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[V0]], %[[G]]
// CHECK-NEXT: return %[[V1]]
func.func @results_are_apart(%x: tensor<f64>, %y: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %s = calque.add %x, %y : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %d:2 = calque.gradient %s, %g, %x, %y {counts = array<i64: 1, 2, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
  %p = calque.mul %d#0, %d#1 : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %z = calque.mul %p, %g : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %dd = calque.gradient %z, %g, %d#0 {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %dd : tensor<f64>
}
