// The reverse rules of contractions, convolutions and pooling, on unknown sizes:
// each emits what its formula says, shaped like the operands, whatever their sizes will be.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @contract(
// CHECK-SAME: %[[A:.*]]: tensor<4x?x?xf32>, %[[B:.*]]: tensor<?x?x4xf32>, %[[G:.*]]: tensor<4x?x?xf32>)
// CHECK-NEXT: calque.contract %[[A]], %[[B]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: -1>, rhs_contracting = array<i64: 0>}
// CHECK-NEXT: %[[V0:.*]] = calque.contract %[[B]], %[[G]] {lhs_batch = array<i64: 2>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V1:.*]] = calque.contract %[[G]], %[[A]] {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 2>}
// CHECK-NEXT: %[[V2:.*]] = calque.transpose %[[V1]] {permutation = array<i64: 2, 1, 0>}
// CHECK-NEXT: return %[[V0]], %[[V2]]
func.func @contract(%a: tensor<4x?x?xf32>, %b: tensor<?x?x4xf32>, %g: tensor<4x?x?xf32>) -> (tensor<4x?x?xf32>, tensor<?x?x4xf32>) {
  %y = calque.contract %a, %b {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: -1>, rhs_contracting = array<i64: 0>} : (tensor<4x?x?xf32>, tensor<?x?x4xf32>) -> tensor<4x?x?xf32>
  %d:2 = calque.gradient %y, %g, %a, %b {counts = array<i64: 1, 2, 0>} : (tensor<4x?x?xf32>, tensor<4x?x?xf32>, tensor<4x?x?xf32>, tensor<?x?x4xf32>) -> (tensor<4x?x?xf32>, tensor<?x?x4xf32>)
  return %d#0, %d#1 : tensor<4x?x?xf32>, tensor<?x?x4xf32>
}

// CHECK-LABEL: func.func @two_pairs(
// CHECK-SAME: %[[A:.*]]: tensor<?x3x?xf32>, %[[B:.*]]: tensor<3x?xf32>, %[[G:.*]]: tensor<?xf32>)
// CHECK-NEXT: calque.contract %[[A]], %[[B]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 2, 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1, 0>}
// CHECK-NEXT: %[[V0:.*]] = calque.contract %[[G]], %[[B]] {lhs_batch = array<i64>, lhs_contracting = array<i64>, rhs_batch = array<i64>, rhs_contracting = array<i64>}
// CHECK-NEXT: %[[V1:.*]] = calque.contract %[[G]], %[[A]] {lhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>}
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @two_pairs(%a: tensor<?x3x?xf32>, %b: tensor<3x?xf32>, %g: tensor<?xf32>) -> (tensor<?x3x?xf32>, tensor<3x?xf32>) {
  %y = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 2, 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1, 0>} : (tensor<?x3x?xf32>, tensor<3x?xf32>) -> tensor<?xf32>
  %d:2 = calque.gradient %y, %g, %a, %b {counts = array<i64: 1, 2, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?x3x?xf32>, tensor<3x?xf32>) -> (tensor<?x3x?xf32>, tensor<3x?xf32>)
  return %d#0, %d#1 : tensor<?x3x?xf32>, tensor<3x?xf32>
}

// CHECK-LABEL: func.func @conv(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[W:.*]]: tensor<3x2x3x?xf32>, %[[G:.*]]: tensor<?x?x?x?xf32>)
// CHECK-NEXT: calque.conv %[[X]], %[[W]] {strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.conv_input_grad %[[G]], %[[W]], %[[X]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.conv_filter_grad %[[X]], %[[G]], %[[W]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @conv(%x: tensor<?x?x?x3xf32>, %w: tensor<3x2x3x?xf32>, %g: tensor<?x?x?x?xf32>) -> (tensor<?x?x?x3xf32>, tensor<3x2x3x?xf32>) {
  %y = calque.conv %x, %w {padding = "valid", strides = array<i64: 2, 1>} : (tensor<?x?x?x3xf32>, tensor<3x2x3x?xf32>) -> tensor<?x?x?x?xf32>
  %d:2 = calque.gradient %y, %g, %x, %w {counts = array<i64: 1, 2, 0>} : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x3xf32>, tensor<3x2x3x?xf32>) -> (tensor<?x?x?x3xf32>, tensor<3x2x3x?xf32>)
  return %d#0, %d#1 : tensor<?x?x?x3xf32>, tensor<3x2x3x?xf32>
}

// CHECK-LABEL: func.func @conv_input_grad(
// CHECK-SAME: %[[O:.*]]: tensor<?x?x?x?xf32>, %[[W:.*]]: tensor<3x2x3x?xf32>, %[[X:.*]]: tensor<?x?x?x3xf32>, %[[G:.*]]: tensor<?x?x?x3xf32>)
// CHECK-NEXT: calque.conv_input_grad %[[O]], %[[W]], %[[X]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.conv %[[G]], %[[W]] {strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.conv_filter_grad %[[G]], %[[O]], %[[W]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @conv_input_grad(%o: tensor<?x?x?x?xf32>, %w: tensor<3x2x3x?xf32>, %x: tensor<?x?x?x3xf32>, %g: tensor<?x?x?x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<3x2x3x?xf32>) {
  %y = calque.conv_input_grad %o, %w, %x {padding = "valid", strides = array<i64: 2, 1>} : (tensor<?x?x?x?xf32>, tensor<3x2x3x?xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %d:2 = calque.gradient %y, %g, %o, %w {counts = array<i64: 1, 2, 0>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x?xf32>, tensor<3x2x3x?xf32>) -> (tensor<?x?x?x?xf32>, tensor<3x2x3x?xf32>)
  return %d#0, %d#1 : tensor<?x?x?x?xf32>, tensor<3x2x3x?xf32>
}

// CHECK-LABEL: func.func @conv_filter_grad(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[O:.*]]: tensor<?x?x?x?xf32>, %[[W:.*]]: tensor<3x2x3x?xf32>, %[[G:.*]]: tensor<3x2x3x?xf32>)
// CHECK-NEXT: calque.conv_filter_grad %[[X]], %[[O]], %[[W]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.conv_input_grad %[[O]], %[[G]], %[[X]] {padding = "valid", strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.conv %[[X]], %[[G]] {strides = array<i64: 2, 1>}
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @conv_filter_grad(%x: tensor<?x?x?x3xf32>, %o: tensor<?x?x?x?xf32>, %w: tensor<3x2x3x?xf32>, %g: tensor<3x2x3x?xf32>) -> (tensor<?x?x?x3xf32>, tensor<?x?x?x?xf32>) {
  %y = calque.conv_filter_grad %x, %o, %w {padding = "valid", strides = array<i64: 2, 1>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x?xf32>, tensor<3x2x3x?xf32>) -> tensor<3x2x3x?xf32>
  %d:2 = calque.gradient %y, %g, %x, %o {counts = array<i64: 1, 2, 0>} : (tensor<3x2x3x?xf32>, tensor<3x2x3x?xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x?xf32>) -> (tensor<?x?x?x3xf32>, tensor<?x?x?x?xf32>)
  return %d#0, %d#1 : tensor<?x?x?x3xf32>, tensor<?x?x?x?xf32>
}

// CHECK-LABEL: func.func @max_pool(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[G:.*]]: tensor<?x?x?x3xf32>)
// CHECK-NEXT: calque.max_pool %[[X]] {strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: %[[V0:.*]] = calque.max_pool_grad %[[X]], %[[G]] {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: return %[[V0]]
func.func @max_pool(%x: tensor<?x?x?x3xf32>, %g: tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32> {
  %y = calque.max_pool %x {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  return %d : tensor<?x?x?x3xf32>
}

// CHECK-LABEL: func.func @max_pool_grad(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[O:.*]]: tensor<?x?x?x3xf32>, %[[G:.*]]: tensor<?x?x?x3xf32>)
// CHECK-NEXT: calque.max_pool_grad %[[X]], %[[O]] {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: %[[V0:.*]] = calque.max_pool_pick %[[X]], %[[G]] {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[X]]
// CHECK-NEXT: return %[[V2]], %[[V0]]
func.func @max_pool_grad(%x: tensor<?x?x?x3xf32>, %o: tensor<?x?x?x3xf32>, %g: tensor<?x?x?x3xf32>) -> (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) {
  %y = calque.max_pool_grad %x, %o {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %d:2 = calque.gradient %y, %g, %x, %o {counts = array<i64: 1, 2, 0>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>)
  return %d#0, %d#1 : tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>
}

// CHECK-LABEL: func.func @max_pool_pick(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>, %[[V:.*]]: tensor<?x?x?x3xf32>, %[[G:.*]]: tensor<?x?x?x3xf32>)
// CHECK-NEXT: calque.max_pool_pick %[[X]], %[[V]] {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: %[[V0:.*]] = calque.max_pool_grad %[[X]], %[[G]] {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>}
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[X]]
// CHECK-NEXT: return %[[V2]], %[[V0]]
func.func @max_pool_pick(%x: tensor<?x?x?x3xf32>, %v: tensor<?x?x?x3xf32>, %g: tensor<?x?x?x3xf32>) -> (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) {
  %y = calque.max_pool_pick %x, %v {padding = "valid", strides = array<i64: 2, 1>, window = array<i64: 3, 2>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  %d:2 = calque.gradient %y, %g, %x, %v {counts = array<i64: 1, 2, 0>} : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>)
  return %d#0, %d#1 : tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>
}
