// Derivatives and examples of products of complex numbers, which are recurrences of their parts.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// The way back is another recurrence, by the conjugate factors.
// CHECK-LABEL: func.func @gradient(
// CHECK-SAME: %[[A0:.*]]: tensor<?x3xf32>, %[[A1:.*]]: tensor<?x3xf32>, %[[A2:.*]]: tensor<?x3xf32>, %[[A3:.*]]: tensor<?x3xf32>, %[[A4:.*]]: tensor<?x3xf32>, %[[A5:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.linear_recurrence_parts %[[A0]], %[[A1]], %[[A2]], %[[A3]] {axis = 0 : i64, reverse = false}
// CHECK-NEXT: %[[V2:.*]] = calque.pad %[[A0]] {high = array<i64: 1, 0>, low = array<i64: 0, 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V3:.*]] = calque.slice_like %[[V2]], %[[A0]] {starts = array<i64: 1, 0>, strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V4:.*]] = calque.pad %[[A1]] {high = array<i64: 1, 0>, low = array<i64: 0, 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V5:.*]] = calque.slice_like %[[V4]], %[[A1]] {starts = array<i64: 1, 0>, strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V6:.*]] = calque.neg %[[V5]]
// CHECK-NEXT: %[[V7:.*]], %[[V8:.*]] = calque.linear_recurrence_parts %[[V3]], %[[V6]], %[[A4]], %[[A5]] {axis = 0 : i64, reverse = true}
// CHECK-NEXT: %[[V9:.*]] = calque.pad %[[V0]] {high = array<i64: 0, 0>, low = array<i64: 1, 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V10:.*]] = calque.slice_like %[[V9]], %[[V0]] {starts = array<i64: 0, 0>, strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V11:.*]] = calque.pad %[[V1]] {high = array<i64: 0, 0>, low = array<i64: 1, 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V12:.*]] = calque.slice_like %[[V11]], %[[V1]] {starts = array<i64: 0, 0>, strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V13:.*]] = calque.neg %[[V12]]
// CHECK-NEXT: %[[V14:.*]] = calque.mul %[[V7]], %[[V10]]
// CHECK-NEXT: %[[V15:.*]] = calque.mul %[[V8]], %[[V13]]
// CHECK-NEXT: %[[V16:.*]] = calque.mul %[[V7]], %[[V13]]
// CHECK-NEXT: %[[V17:.*]] = calque.mul %[[V8]], %[[V10]]
// CHECK-NEXT: %[[V18:.*]] = calque.sub %[[V14]], %[[V15]]
// CHECK-NEXT: %[[V19:.*]] = calque.add %[[V16]], %[[V17]]
// CHECK-NEXT: return %[[V18]], %[[V19]], %[[V7]], %[[V8]]
func.func @gradient(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %c: tensor<?x3xf32>, %d: tensor<?x3xf32>, %g: tensor<?x3xf32>, %h: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) {
  %y:2 = calque.linear_recurrence_parts %a, %b, %c, %d {axis = 0 : i64, reverse = false} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  %r:4 = calque.gradient %y#0, %y#1, %g, %h, %a, %b, %c, %d {counts = array<i64: 2, 4, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
}

// Of one part, with respect to the terms alone.
// CHECK-LABEL: func.func @gradient_of_terms(
// CHECK-SAME: %[[A0:.*]]: tensor<?x3xf32>, %[[A1:.*]]: tensor<?x3xf32>, %[[A2:.*]]: tensor<?x3xf32>, %[[A3:.*]]: tensor<?x3xf32>, %[[A4:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.linear_recurrence_parts %[[A0]], %[[A1]], %[[A2]], %[[A3]] {axis = 0 : i64, reverse = true}
// CHECK-NEXT: %[[V2:.*]] = calque.constant {{.*}}dense<0.000000e+00>
// CHECK-NEXT: %[[V3:.*]] = calque.broadcast_like %[[V2]], %[[V0]]
// CHECK-NEXT: %[[V4:.*]] = calque.pad %[[A0]] {high = array<i64: 0, 0>, low = array<i64: 1, 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V5:.*]] = calque.slice_like %[[V4]], %[[A0]] {starts = array<i64: 0, 0>, strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V6:.*]] = calque.pad %[[A1]] {high = array<i64: 0, 0>, low = array<i64: 1, 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V7:.*]] = calque.slice_like %[[V6]], %[[A1]] {starts = array<i64: 0, 0>, strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V8:.*]] = calque.neg %[[V7]]
// CHECK-NEXT: %[[V9:.*]], %[[V10:.*]] = calque.linear_recurrence_parts %[[V5]], %[[V8]], %[[V3]], %[[A4]] {axis = 0 : i64, reverse = false}
// CHECK-NEXT: return %[[V9]], %[[V10]]
func.func @gradient_of_terms(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %c: tensor<?x3xf32>, %d: tensor<?x3xf32>, %h: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %y:2 = calque.linear_recurrence_parts %a, %b, %c, %d {axis = 0 : i64, reverse = true} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  %r:2 = calque.gradient %y#1, %h, %c, %d {counts = array<i64: 1, 2, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  return %r#0, %r#1 : tensor<?x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @tangents(
// CHECK-SAME: %[[A0:.*]]: tensor<?x3xf32>, %[[A1:.*]]: tensor<?x3xf32>, %[[A2:.*]]: tensor<?x3xf32>, %[[A3:.*]]: tensor<?x3xf32>, %[[A4:.*]]: tensor<?x3xf32>, %[[A5:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.linear_recurrence_parts %[[A0]], %[[A1]], %[[A2]], %[[A3]] {axis = 0 : i64, reverse = false}
// CHECK-NEXT: %[[V2:.*]] = calque.constant {{.*}}dense<0.000000e+00>
// CHECK-NEXT: %[[V3:.*]] = calque.broadcast_like %[[V2]], %[[V0]]
// CHECK-NEXT: %[[V4:.*]] = calque.pad %[[V0]] {high = array<i64: 0, 0>, low = array<i64: 1, 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V5:.*]] = calque.slice_like %[[V4]], %[[V0]] {starts = array<i64: 0, 0>, strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V6:.*]] = calque.pad %[[V1]] {high = array<i64: 0, 0>, low = array<i64: 1, 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V7:.*]] = calque.slice_like %[[V6]], %[[V1]] {starts = array<i64: 0, 0>, strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V8:.*]] = calque.constant {{.*}}dense<0.000000e+00>
// CHECK-NEXT: %[[V9:.*]] = calque.broadcast_like %[[V8]], %[[V0]]
// CHECK-NEXT: %[[V10:.*]] = calque.mul %[[A4]], %[[V5]]
// CHECK-NEXT: %[[V11:.*]] = calque.mul %[[V9]], %[[V7]]
// CHECK-NEXT: %[[V12:.*]] = calque.mul %[[A4]], %[[V7]]
// CHECK-NEXT: %[[V13:.*]] = calque.mul %[[V9]], %[[V5]]
// CHECK-NEXT: %[[V14:.*]] = calque.sub %[[V10]], %[[V11]]
// CHECK-NEXT: %[[V15:.*]] = calque.add %[[V12]], %[[V13]]
// CHECK-NEXT: %[[V16:.*]] = calque.add %[[V3]], %[[V14]]
// CHECK-NEXT: %[[V17:.*]] = calque.add %[[A5]], %[[V15]]
// CHECK-NEXT: %[[V18:.*]], %[[V19:.*]] = calque.linear_recurrence_parts %[[A0]], %[[A1]], %[[V16]], %[[V17]] {axis = 0 : i64, reverse = false}
// CHECK-NEXT: return %[[V18]], %[[V19]]
func.func @tangents(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>, %c: tensor<?x3xf32>, %d: tensor<?x3xf32>, %s: tensor<?x3xf32>, %t: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %y:2 = calque.linear_recurrence_parts %a, %b, %c, %d {axis = 0 : i64, reverse = false} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  %r:2 = calque.jvp %y#0, %y#1, %a, %d, %s, %t {counts = array<i64: 2, 2>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  return %r#0, %r#1 : tensor<?x3xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @examples(
// CHECK-SAME: %[[A0:.*]]: tensor<?x3xf32>, %[[A1:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[A0]], %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[A1]], %[[A1]]
// CHECK-NEXT: %[[V6:.*]], %[[V7:.*]] = calque.linear_recurrence_parts %[[A0]], %[[A0]], %[[V5]], %[[A0]] {axis = 1 : i64, reverse = true}
// CHECK-NEXT: return %[[V7]]
func.func @examples(%a: tensor<?x3xf32>, %b: tensor<3xf32>) -> (tensor<?x3xf32>) {
  %e = calque.batch %a {axes = array<i64: 0>} : (tensor<?x3xf32>) -> tensor<3xf32>
  %y:2 = calque.linear_recurrence_parts %e, %e, %b, %e {axis = -1 : i64, reverse = true} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  %r = calque.unbatch %y#1, %e, %a {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
