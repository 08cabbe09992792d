// Operands of one operation may know different sizes: a cotangent has the type of the operand that it is for.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @batch(
// CHECK: %[[D:.*]] = calque.reshape_like %{{.*}} -> tensor<?x3x?xf32>
// CHECK-NEXT: return %[[D]] : tensor<?x3x?xf32>
func.func @batch(%a: tensor<?x3x?xf32>, %b: tensor<4x?x5xf32>, %g: tensor<4x3x5xf32>) -> tensor<?x3x?xf32> {
  %y = calque.contract %a, %b {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>} : (tensor<?x3x?xf32>, tensor<4x?x5xf32>) -> tensor<4x3x5xf32>
  %d = calque.gradient %y, %g, %a {counts = array<i64: 1, 1, 0>} : (tensor<4x3x5xf32>, tensor<4x3x5xf32>, tensor<?x3x?xf32>) -> tensor<?x3x?xf32>
  return %d : tensor<?x3x?xf32>
}

// -----

// CHECK-LABEL: func.func @contracting(
// CHECK: %[[D:.*]] = calque.reshape_like %{{.*}} -> tensor<3x?xf32>
// CHECK-NEXT: return %[[D]] : tensor<3x?xf32>
func.func @contracting(%a: tensor<3x?xf32>, %b: tensor<7x5xf32>, %g: tensor<3x5xf32>) -> tensor<3x?xf32> {
  %y = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<3x?xf32>, tensor<7x5xf32>) -> tensor<3x5xf32>
  %d = calque.gradient %y, %g, %a {counts = array<i64: 1, 1, 0>} : (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  return %d : tensor<3x?xf32>
}

// -----

// CHECK-LABEL: func.func @concat_part(
// CHECK: %[[D:.*]] = calque.reshape_like %{{.*}} -> tensor<?x3xf32>
// CHECK-NEXT: return %[[D]] : tensor<?x3xf32>
func.func @concat_part(%x: tensor<?x3xf32>, %a: tensor<2x3xf32>, %g: tensor<2x3xf32>) -> tensor<?x3xf32> {
  %y = calque.concat_part %x, %a, %a {axis = 0 : i64, index = 0 : i64} : (tensor<?x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// -----

// CHECK-LABEL: func.func @conv_input_grad(
// CHECK: %[[D:.*]] = calque.reshape_like %{{.*}} -> tensor<?x?x?x?xf32>
// CHECK-NEXT: return %[[D]] : tensor<?x?x?x?xf32>
func.func @conv_input_grad(%o: tensor<?x?x?x?xf32>, %w: tensor<3x2x3x4xf32>, %x: tensor<2x7x5x3xf32>, %g: tensor<2x7x5x3xf32>) -> tensor<?x?x?x?xf32> {
  %y = calque.conv_input_grad %o, %w, %x {padding = "valid", strides = array<i64: 1, 1>} : (tensor<?x?x?x?xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %d = calque.gradient %y, %g, %o {counts = array<i64: 1, 1, 0>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %d : tensor<?x?x?x?xf32>
}

// -----

// CHECK-LABEL: func.func @conv_filter_grad(
// CHECK: %[[D:.*]] = calque.reshape_like %{{.*}} -> tensor<?x?x?x?xf32>
// CHECK-NEXT: return %[[D]] : tensor<?x?x?x?xf32>
func.func @conv_filter_grad(%x: tensor<2x7x5x3xf32>, %o: tensor<?x?x?x?xf32>, %w: tensor<3x2x3x4xf32>, %g: tensor<3x2x3x4xf32>) -> tensor<?x?x?x?xf32> {
  %y = calque.conv_filter_grad %x, %o, %w {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x7x5x3xf32>, tensor<?x?x?x?xf32>, tensor<3x2x3x4xf32>) -> tensor<3x2x3x4xf32>
  %d = calque.gradient %y, %g, %o {counts = array<i64: 1, 1, 0>} : (tensor<3x2x3x4xf32>, tensor<3x2x3x4xf32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %d : tensor<?x?x?x?xf32>
}

// -----

// CHECK-LABEL: func.func @pool_grad(
// CHECK: %[[D:.*]] = calque.reshape_like %{{.*}} -> tensor<?x?x?x?xf32>
// CHECK-NEXT: return %[[D]] : tensor<?x?x?x?xf32>
func.func @pool_grad(%x: tensor<2x7x5x3xf32>, %o: tensor<?x?x?x?xf32>, %g: tensor<2x7x5x3xf32>) -> tensor<?x?x?x?xf32> {
  %y = calque.max_pool_grad %x, %o {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<?x?x?x?xf32>) -> tensor<2x7x5x3xf32>
  %d = calque.gradient %y, %g, %o {counts = array<i64: 1, 1, 0>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return %d : tensor<?x?x?x?xf32>
}

// -----

// CHECK-LABEL: func.func @pool_pick(
// CHECK: %[[D:.*]] = calque.reshape_like %{{.*}} -> tensor<2x7x5x3xf32>
// CHECK-NEXT: return %[[D]] : tensor<2x7x5x3xf32>
func.func @pool_pick(%x: tensor<?x?x?x?xf32>, %v: tensor<2x7x5x3xf32>, %g: tensor<?x?x?x?xf32>) -> tensor<2x7x5x3xf32> {
  %y = calque.max_pool_pick %x, %v {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<?x?x?x?xf32>, tensor<2x7x5x3xf32>) -> tensor<?x?x?x?xf32>
  %d = calque.gradient %y, %g, %v {counts = array<i64: 1, 1, 0>} : (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  return %d : tensor<2x7x5x3xf32>
}

// -----

// CHECK-LABEL: func.func @gather_put(
// CHECK: %[[D:.*]] = calque.reshape_like %{{.*}} -> tensor<?x3xf32>
// CHECK-NEXT: return %[[D]] : tensor<?x3xf32>
func.func @gather_put(%s: tensor<?x3xf32>, %like: tensor<7x3xf32>, %i: tensor<4xi64>, %g: tensor<7x3xf32>) -> tensor<?x3xf32> {
  %y = calque.gather_put %s, %like, %i {axis = 0 : i64} : (tensor<?x3xf32>, tensor<7x3xf32>, tensor<4xi64>) -> tensor<7x3xf32>
  %d = calque.gradient %y, %g, %s {counts = array<i64: 1, 1, 0>} : (tensor<7x3xf32>, tensor<7x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %d : tensor<?x3xf32>
}

// -----

// Also where it is added to another.
// CHECK-LABEL: func.func @sum(
// CHECK: %[[A:.*]] = calque.reshape_like %{{.*}}, %arg0 : (tensor<3x7xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
// CHECK: calque.add %{{.*}}, %{{.*}} : (tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
func.func @sum(%a: tensor<3x?xf32>, %b: tensor<7x5xf32>, %g: tensor<3x5xf32>, %h: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %y = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<3x?xf32>, tensor<7x5xf32>) -> tensor<3x5xf32>
  %z = calque.exp %a : (tensor<3x?xf32>) -> tensor<3x?xf32>
  %d = calque.gradient %y, %z, %g, %h, %a {counts = array<i64: 2, 1, 0>} : (tensor<3x5xf32>, tensor<3x?xf32>, tensor<3x5xf32>, tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
  return %d : tensor<3x?xf32>
}
