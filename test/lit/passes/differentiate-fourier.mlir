// The rules of Fourier transforms of parts, reverse, forward and of many examples. They are tested on numbers in
// test/operations/.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @fourier_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?xf64>, %[[A1:.*]]: tensor<?x?xf64>, %[[A2:.*]]: tensor<?x?xf64>, %[[A3:.*]]: tensor<?x?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.fourier_parts %[[A0]], %[[A1]] {columns = true, divisor = 1 : i64, inverse = false}
// CHECK-NEXT: %[[V2:.*]], %[[V3:.*]] = calque.fourier_parts %[[A2]], %[[A3]] {columns = true, divisor = 1 : i64, inverse = true}
// CHECK-NEXT: return %[[V2]], %[[V3]]
func.func @fourier_parts(%x0: tensor<?x?xf64>, %x1: tensor<?x?xf64>, %g0: tensor<?x?xf64>, %g1: tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %y:2 = calque.fourier_parts %x0, %x1 {columns = true, divisor = 1 : i64, inverse = false} : (tensor<?x?xf64>, tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>)
  %d:2 = calque.gradient %y#0, %y#1, %g0, %g1, %x0, %x1 {counts = array<i64: 2, 2, 0>} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) -> (tensor<?x?xf64>, tensor<?x?xf64>)
  return %d#0, %d#1 : tensor<?x?xf64>, tensor<?x?xf64>
}

// CHECK-LABEL: func.func @tangent_of_fourier_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?xf64>, %[[A1:.*]]: tensor<?xf64>, %[[A2:.*]]: tensor<?xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.fourier_parts %[[A0]], %[[A1]] {columns = false, divisor = 0 : i64, inverse = true}
// CHECK-NEXT: %[[V2:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V3:.*]] = calque.broadcast_like %[[V2]], %[[A1]]
// CHECK-NEXT: %[[V4:.*]], %[[V5:.*]] = calque.fourier_parts %[[A2]], %[[V3]] {columns = false, divisor = 0 : i64, inverse = true}
// CHECK-NEXT: return %[[V5]]
func.func @tangent_of_fourier_parts(%x0: tensor<?xf64>, %x1: tensor<?xf64>, %t0: tensor<?xf64>) -> tensor<?xf64> {
  %y:2 = calque.fourier_parts %x0, %x1 {columns = false, divisor = 0 : i64, inverse = true} : (tensor<?xf64>, tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %d = calque.jvp %y#1, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %d : tensor<?xf64>
}

// CHECK-LABEL: func.func @examples_of_fourier_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x?xf64>, %[[A1:.*]]: tensor<?xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[A0]], %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[A1]], %[[A1]]
// CHECK-NEXT: %[[V6:.*]], %[[V7:.*]] = calque.fourier_parts %[[A0]], %[[V5]] {columns = false, divisor = 0 : i64, inverse = false}
// CHECK-NEXT: return %[[V6]]
func.func @examples_of_fourier_parts(%x0: tensor<?x?xf64>, %x1: tensor<?xf64>) -> tensor<?x?xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x?xf64>) -> tensor<?xf64>
  %y:2 = calque.fourier_parts %e, %x1 {columns = false, divisor = 0 : i64, inverse = false} : (tensor<?xf64>, tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>)
  %r = calque.unbatch %y#0, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?xf64>, tensor<?xf64>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @real_fourier_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x6xf64>, %[[A1:.*]]: tensor<?x4xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.real_fourier_parts %[[A0]] {divisor = 2 : i64, inner = 1.000000e+00 : f64}
// CHECK-NEXT: %[[V2:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V3:.*]] = calque.broadcast_like %[[V2]], %[[A1]]
// CHECK-NEXT: %[[V4:.*]] = calque.fourier_to_real_parts %[[V3]], %[[A1]] {divisor = 2 : i64, inner = 1.000000e+00 : f64, length = 6 : i64}
// CHECK-NEXT: return %[[V4]]
func.func @real_fourier_parts(%x0: tensor<?x6xf64>, %g0: tensor<?x4xf64>) -> tensor<?x6xf64> {
  %y:2 = calque.real_fourier_parts %x0 {divisor = 2 : i64, inner = 1.0 : f64} : (tensor<?x6xf64>) -> (tensor<?x4xf64>, tensor<?x4xf64>)
  %d = calque.gradient %y#1, %g0, %x0 {counts = array<i64: 1, 1, 0>} : (tensor<?x4xf64>, tensor<?x4xf64>, tensor<?x6xf64>) -> tensor<?x6xf64>
  return %d : tensor<?x6xf64>
}

// CHECK-LABEL: func.func @tangent_of_real_fourier_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x6xf64>, %[[A1:.*]]: tensor<?x6xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.real_fourier_parts %[[A0]] {divisor = 0 : i64, inner = 1.000000e+00 : f64}
// CHECK-NEXT: %[[V2:.*]], %[[V3:.*]] = calque.real_fourier_parts %[[A1]] {divisor = 0 : i64, inner = 1.000000e+00 : f64}
// CHECK-NEXT: return %[[V2]]
func.func @tangent_of_real_fourier_parts(%x0: tensor<?x6xf64>, %t0: tensor<?x6xf64>) -> tensor<?x4xf64> {
  %y:2 = calque.real_fourier_parts %x0 {divisor = 0 : i64, inner = 1.0 : f64} : (tensor<?x6xf64>) -> (tensor<?x4xf64>, tensor<?x4xf64>)
  %d = calque.jvp %y#0, %x0, %t0 {counts = array<i64: 1, 1>} : (tensor<?x4xf64>, tensor<?x6xf64>, tensor<?x6xf64>) -> tensor<?x4xf64>
  return %d : tensor<?x4xf64>
}

// CHECK-LABEL: func.func @examples_of_real_fourier_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x6xf64>)
// CHECK-NEXT: %[[V0:.*]], %[[V1:.*]] = calque.real_fourier_parts %[[A0]] {divisor = 0 : i64, inner = 1.000000e+00 : f64}
// CHECK-NEXT: return %[[V0]]
func.func @examples_of_real_fourier_parts(%x0: tensor<?x6xf64>) -> tensor<?x4xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x6xf64>) -> tensor<6xf64>
  %y:2 = calque.real_fourier_parts %e {divisor = 0 : i64, inner = 1.0 : f64} : (tensor<6xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  %r = calque.unbatch %y#0, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<4xf64>, tensor<6xf64>, tensor<?x6xf64>) -> tensor<?x4xf64>
  return %r : tensor<?x4xf64>
}

// CHECK-LABEL: func.func @fourier_to_real_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x4xf64>, %[[A1:.*]]: tensor<?x4xf64>, %[[A2:.*]]: tensor<?x7xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.fourier_to_real_parts %[[A0]], %[[A1]] {divisor = 2 : i64, inner = 2.000000e+00 : f64, length = 7 : i64}
// CHECK-NEXT: %[[V1:.*]], %[[V2:.*]] = calque.real_fourier_parts %[[A2]] {divisor = 2 : i64, inner = 2.000000e+00 : f64}
// CHECK-NEXT: return %[[V1]], %[[V2]]
func.func @fourier_to_real_parts(%x0: tensor<?x4xf64>, %x1: tensor<?x4xf64>, %g0: tensor<?x7xf64>) -> (tensor<?x4xf64>, tensor<?x4xf64>) {
  %y = calque.fourier_to_real_parts %x0, %x1 {divisor = 2 : i64, inner = 2.0 : f64, length = 7 : i64} : (tensor<?x4xf64>, tensor<?x4xf64>) -> tensor<?x7xf64>
  %d:2 = calque.gradient %y, %g0, %x0, %x1 {counts = array<i64: 1, 2, 0>} : (tensor<?x7xf64>, tensor<?x7xf64>, tensor<?x4xf64>, tensor<?x4xf64>) -> (tensor<?x4xf64>, tensor<?x4xf64>)
  return %d#0, %d#1 : tensor<?x4xf64>, tensor<?x4xf64>
}

// CHECK-LABEL: func.func @tangent_of_fourier_to_real_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x4xf64>, %[[A1:.*]]: tensor<?x4xf64>, %[[A2:.*]]: tensor<?x4xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.fourier_to_real_parts %[[A0]], %[[A1]] {divisor = 2 : i64, inner = 2.000000e+00 : f64, length = 7 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.constant  {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[V2:.*]] = calque.broadcast_like %[[V1]], %[[A0]]
// CHECK-NEXT: %[[V3:.*]] = calque.fourier_to_real_parts %[[V2]], %[[A2]] {divisor = 2 : i64, inner = 2.000000e+00 : f64, length = 7 : i64}
// CHECK-NEXT: return %[[V3]]
func.func @tangent_of_fourier_to_real_parts(%x0: tensor<?x4xf64>, %x1: tensor<?x4xf64>, %t0: tensor<?x4xf64>) -> tensor<?x7xf64> {
  %y = calque.fourier_to_real_parts %x0, %x1 {divisor = 2 : i64, inner = 2.0 : f64, length = 7 : i64} : (tensor<?x4xf64>, tensor<?x4xf64>) -> tensor<?x7xf64>
  %d = calque.jvp %y, %x1, %t0 {counts = array<i64: 1, 1>} : (tensor<?x7xf64>, tensor<?x4xf64>, tensor<?x4xf64>) -> tensor<?x7xf64>
  return %d : tensor<?x7xf64>
}

// CHECK-LABEL: func.func @examples_of_fourier_to_real_parts(
// CHECK-SAME: %[[A0:.*]]: tensor<?x4xf64>, %[[A1:.*]]: tensor<4xf64>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[A0]], %[[A0]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[A1]], %[[A1]]
// CHECK-NEXT: %[[V6:.*]] = calque.fourier_to_real_parts %[[A0]], %[[V5]] {divisor = 2 : i64, inner = 2.000000e+00 : f64, length = 7 : i64}
// CHECK-NEXT: return %[[V6]]
func.func @examples_of_fourier_to_real_parts(%x0: tensor<?x4xf64>, %x1: tensor<4xf64>) -> tensor<?x7xf64> {
  %e = calque.batch %x0 {axes = array<i64: 0>} : (tensor<?x4xf64>) -> tensor<4xf64>
  %y = calque.fourier_to_real_parts %e, %x1 {divisor = 2 : i64, inner = 2.0 : f64, length = 7 : i64} : (tensor<4xf64>, tensor<4xf64>) -> tensor<7xf64>
  %r = calque.unbatch %y, %e, %x0 {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<7xf64>, tensor<4xf64>, tensor<?x4xf64>) -> tensor<?x7xf64>
  return %r : tensor<?x7xf64>
}

// CHECK-LABEL: func.func @examples_of_pairs(
// CHECK-COUNT-3: calque.merge_dims
// CHECK: %[[V0:.*]] = calque.fourier_pairs {{.*}} : (tensor<?x3x4x2xf64>) -> tensor<?x3x4x2xf64>
// CHECK-NEXT: %[[V1:.*]] = calque.real_fourier_pairs {{.*}} : (tensor<?x6xf64>) -> tensor<?x4x2xf64>
// CHECK-NEXT: %[[V2:.*]] = calque.fourier_to_real_pairs {{.*}} : (tensor<?x4x2xf64>) -> tensor<?x7xf64>
// CHECK-NEXT: return %[[V0]], %[[V1]], %[[V2]]
func.func @examples_of_pairs(%x0: tensor<?x3x4x2xf64>, %x1: tensor<?x6xf64>, %x2: tensor<?x4x2xf64>) -> (tensor<?x3x4x2xf64>, tensor<?x4x2xf64>, tensor<?x7xf64>) {
  %e:3 = calque.batch %x0, %x1, %x2 {axes = array<i64: 0, 0, 0>} : (tensor<?x3x4x2xf64>, tensor<?x6xf64>, tensor<?x4x2xf64>) -> (tensor<3x4x2xf64>, tensor<6xf64>, tensor<4x2xf64>)
  %y0 = calque.fourier_pairs %e#0 {divisor = 0 : i64, inverse = true} : (tensor<3x4x2xf64>) -> tensor<3x4x2xf64>
  %y1 = calque.real_fourier_pairs %e#1 {divisor = 0 : i64, inner = 1.0 : f64} : (tensor<6xf64>) -> tensor<4x2xf64>
  %y2 = calque.fourier_to_real_pairs %e#2 {divisor = 0 : i64, inner = 1.0 : f64, length = 7 : i64} : (tensor<4x2xf64>) -> tensor<7xf64>
  %r:3 = calque.unbatch %y0, %y1, %y2, %e#0, %x0 {axes = array<i64: 0, 0, 0>, batch_axis = 0 : i64} : (tensor<3x4x2xf64>, tensor<4x2xf64>, tensor<7xf64>, tensor<3x4x2xf64>, tensor<?x3x4x2xf64>) -> (tensor<?x3x4x2xf64>, tensor<?x4x2xf64>, tensor<?x7xf64>)
  return %r#0, %r#1, %r#2 : tensor<?x3x4x2xf64>, tensor<?x4x2xf64>, tensor<?x7xf64>
}
