// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-widen-elements))' %s | FileCheck %s

// Arithmetic is done in float32, and each result is rounded.
// CHECK-LABEL: func @chain
// CHECK-NEXT: %[[A:.*]] = calque.cast %arg0 {dtype = f32}
// CHECK-NEXT: %[[B:.*]] = calque.cast %arg1 {dtype = f32}
// CHECK-NEXT: %[[SUM:.*]] = calque.add %[[A]], %[[B]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[HALF:.*]] = calque.cast %[[SUM]] {dtype = f16}
// CHECK-NEXT: %[[AGAIN:.*]] = calque.cast %[[HALF]] {dtype = f32}
// CHECK-NEXT: %[[EXP:.*]] = calque.exp %[[AGAIN]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: calque.cast %[[EXP]] {dtype = f16}
func.func @chain(%a: tensor<4xf16>, %b: tensor<4xf16>) -> tensor<4xf16> {
  %0 = calque.add %a, %b : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %1 = calque.exp %0 : (tensor<4xf16>) -> tensor<4xf16>
  return %1 : tensor<4xf16>
}

// What moves elements is left as it is, and what chooses among them.
// CHECK-LABEL: func @moved
// CHECK-NOT: calque.cast
// CHECK: return
func.func @moved(%a: tensor<2x3xbf16>, %c: tensor<i1>) -> tensor<3x2xbf16> {
  %0 = calque.transpose %a {permutation = array<i64: 1, 0>} : (tensor<2x3xbf16>) -> tensor<3x2xbf16>
  %1 = calque.where %c, %0, %0 : (tensor<i1>, tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<3x2xbf16>
  return %1 : tensor<3x2xbf16>
}

// What makes elements of nothing makes float32.
// CHECK-LABEL: func @numbers
// CHECK-NEXT: %[[WIDE:.*]] = calque.iota {{.*}}dtype = f32{{.*}} -> tensor<3xf32>
// CHECK-NEXT: calque.cast %[[WIDE]] {dtype = bf16}
func.func @numbers() -> tensor<3xbf16> {
  %0 = calque.iota {axis = 0 : i64, dtype = bf16, shape = array<i64: 3>} : () -> tensor<3xbf16>
  return %0 : tensor<3xbf16>
}

// Small integers are summed in the result's type.
// CHECK-LABEL: func @sums
// CHECK-NEXT: %[[WIDE:.*]] = calque.cast %arg0 {dtype = ui64} : (tensor<4xui8>) -> tensor<4xui64>
// CHECK-NEXT: calque.reduce_sum %[[WIDE]] {{.*}} (tensor<4xui64>) -> tensor<ui64>
func.func @sums(%a: tensor<4xui8>) -> tensor<ui64> {
  %0 = calque.reduce_sum %a {axes = array<i64: 0>, keepdims = false} : (tensor<4xui8>) -> tensor<ui64>
  return %0 : tensor<ui64>
}
