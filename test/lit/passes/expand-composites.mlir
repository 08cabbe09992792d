// Composite operations become the expressions that they stand for.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-expand-composites))' %s | FileCheck %s

// CHECK-LABEL: func.func @reduce_mean(
// CHECK-SAME: %[[X:.*]]: tensor<3x5xf32>)
// CHECK-NEXT: %[[SUM:.*]] = calque.reduce_sum %[[X]] {axes = array<i64: 1>, keepdims = true}
// CHECK-NEXT: %[[COUNT:.*]] = calque.axis_size %[[X]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[MEAN:.*]] = calque.div %[[SUM]], %[[COUNT]]
// CHECK-NEXT: return %[[MEAN]]
func.func @reduce_mean(%x: tensor<3x5xf32>) -> tensor<3x1xf32> {
  %m = calque.reduce_mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  return %m : tensor<3x1xf32>
}

// The largest element is taken away before the exponential, also where it is infinite: then all are NaN.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:.*]]: tensor<3x5xf64>)
// CHECK: %[[MAX:.*]] = calque.reduce_max %[[X]] {axes = array<i64: -2>, keepdims = true} : (tensor<3x5xf64>) -> tensor<1x5xf64>
// CHECK-NEXT: %[[SHIFTED:.*]] = calque.sub %[[X]], %[[MAX]]
// CHECK-NEXT: %[[EXP:.*]] = calque.exp %[[SHIFTED]]
// CHECK-NEXT: %[[SUM:.*]] = calque.reduce_sum %[[EXP]] {axes = array<i64: -2>, keepdims = true}
// CHECK-NEXT: %[[RESULT:.*]] = calque.div %[[EXP]], %[[SUM]]
// CHECK-NEXT: return %[[RESULT]]
func.func @softmax(%x: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %s = calque.softmax %x {axis = -2 : i64} : (tensor<3x5xf64>) -> tensor<3x5xf64>
  return %s : tensor<3x5xf64>
}

// The logarithm is that of the sum alone, and nothing is divided.
// CHECK-LABEL: func.func @log_softmax(
// CHECK-SAME: %[[X:.*]]: tensor<3x?xf32>)
// CHECK: %[[MAX:.*]] = calque.reduce_max %[[X]] {axes = array<i64: -1>, keepdims = true} : (tensor<3x?xf32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[SHIFTED:.*]] = calque.sub %[[X]], %[[MAX]]
// CHECK-NEXT: %[[EXP:.*]] = calque.exp %[[SHIFTED]]
// CHECK-NEXT: %[[SUM:.*]] = calque.reduce_sum %[[EXP]] {axes = array<i64: -1>, keepdims = true}
// CHECK-NEXT: %[[LOG:.*]] = calque.log %[[SUM]]
// CHECK-NEXT: %[[RESULT:.*]] = calque.sub %[[SHIFTED]], %[[LOG]]
// CHECK-NEXT: return %[[RESULT]]
func.func @log_softmax(%x: tensor<3x?xf32>) -> tensor<3x?xf32> {
  %s = calque.log_softmax %x : (tensor<3x?xf32>) -> tensor<3x?xf32>
  return %s : tensor<3x?xf32>
}

// The shift is 0 where the largest element is infinite; the reduced dimensions leave at the end.
// CHECK-LABEL: func.func @logsumexp(
// CHECK-SAME: %[[X:.*]]: tensor<3x5xf32>)
// CHECK: %[[MAX:.*]] = calque.reduce_max %[[X]] {axes = array<i64: 1>, keepdims = true}
// CHECK-NEXT: %[[INFINITY:.*]] = calque.constant {value = dense<0x7F800000> : tensor<f32>}
// CHECK-NEXT: %[[ABS:.*]] = calque.abs %[[MAX]]
// CHECK-NEXT: %[[INFINITE:.*]] = calque.equal %[[ABS]], %[[INFINITY]]
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[SHIFT:.*]] = calque.where %[[INFINITE]], %[[ZERO]], %[[MAX]]
// CHECK: %[[SHIFTED:.*]] = calque.sub %[[X]], %[[SHIFT]]
// CHECK: %[[EXP:.*]] = calque.exp %[[SHIFTED]]
// CHECK: %[[SUM:.*]] = calque.reduce_sum %[[EXP]] {axes = array<i64: 1>, keepdims = true}
// CHECK: %[[LOG:.*]] = calque.log %[[SUM]]
// CHECK: %[[KEPT:.*]] = calque.add %[[LOG]], %[[SHIFT]]
// CHECK: %[[RESULT:.*]] = calque.reshape_like %[[KEPT]], {{.*}} -> tensor<3xf32>
// CHECK: return %[[RESULT]]
func.func @logsumexp(%x: tensor<3x5xf32>) -> tensor<3xf32> {
  %s = calque.logsumexp %x {axes = array<i64: -1>} : (tensor<3x5xf32>) -> tensor<3xf32>
  return %s : tensor<3xf32>
}

// Sizes may be unknown, the reduced ones as well.
// CHECK-LABEL: func.func @unknown(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>)
// CHECK-NOT: calque.{{reduce_mean|softmax|logsumexp}}
// CHECK: calque.axis_size %[[X]] : (tensor<?x?xf32>) -> tensor<f32>
// CHECK: calque.div {{.*}} -> tensor<f32>
// CHECK: calque.div {{.*}} -> tensor<?x?xf32>
// CHECK: calque.reshape_like {{.*}} : (tensor<1x?xf32>, tensor<?xf32>) -> tensor<?xf32>
// CHECK-NOT: calque.{{reduce_mean|softmax|logsumexp}}
// CHECK: return
func.func @unknown(%x: tensor<?x?xf32>) -> (tensor<f32>, tensor<?x?xf32>, tensor<?xf32>) {
  %m = calque.reduce_mean %x : (tensor<?x?xf32>) -> tensor<f32>
  %s = calque.softmax %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %l = calque.logsumexp %x {axes = array<i64: 0>} : (tensor<?x?xf32>) -> tensor<?xf32>
  return %m, %s, %l : tensor<f32>, tensor<?x?xf32>, tensor<?xf32>
}

// What is inside of another operation's region is expanded there; what is not composite stays.
// CHECK-LABEL: func.func @region(
// CHECK: scf.if
// CHECK: calque.floor
// CHECK: calque.axis_size
// CHECK: scf.yield
func.func @region(%c: i1, %x: tensor<3xf32>) -> tensor<f32> {
  %r = scf.if %c -> tensor<f32> {
    %f = calque.floor %x : (tensor<3xf32>) -> tensor<3xf32>
    %m = calque.reduce_mean %f : (tensor<3xf32>) -> tensor<f32>
    scf.yield %m : tensor<f32>
  } else {
    %s = calque.reduce_sum %x : (tensor<3xf32>) -> tensor<f32>
    scf.yield %s : tensor<f32>
  }
  return %r : tensor<f32>
}

// Another value is the same one, once derivatives are there.
// CHECK-LABEL: func.func @identity(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>)
// CHECK-NEXT: return %[[X]]
func.func @identity(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = calque.identity %x : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// A transform of parts is one of pairs. Along the last dimension, each sequence is a column of its own.
// CHECK-LABEL: func.func @fourier_parts(
// CHECK-SAME: %[[RE:.*]]: tensor<3x?xf64>, %[[IM:.*]]: tensor<3x?xf64>)
// CHECK-NEXT: %[[PAIRS:.*]] = calque.pairs %[[RE]], %[[IM]]
// CHECK-NEXT: %[[COLUMNS:.*]] = calque.expand_dims %[[PAIRS]] {axes = array<i64: 2>}
// CHECK-NEXT: %[[TRANSFORM:.*]] = calque.fourier_pairs %[[COLUMNS]] {divisor = 1 : i64, inverse = true}
// CHECK-NEXT: %[[RESULT:.*]] = calque.reshape_like %[[TRANSFORM]], %[[PAIRS]]
// CHECK-NEXT: %[[OF_RE:.*]] = calque.part_of_pairs %[[RESULT]] {imaginary = false}
// CHECK-NEXT: %[[OF_IM:.*]] = calque.part_of_pairs %[[RESULT]] {imaginary = true}
// CHECK-NEXT: return %[[OF_RE]], %[[OF_IM]]
func.func @fourier_parts(%re: tensor<3x?xf64>, %im: tensor<3x?xf64>) -> (tensor<3x?xf64>, tensor<3x?xf64>) {
  %y:2 = calque.fourier_parts %re, %im {columns = false, divisor = 1 : i64, inverse = true} : (tensor<3x?xf64>, tensor<3x?xf64>) -> (tensor<3x?xf64>, tensor<3x?xf64>)
  return %y#0, %y#1 : tensor<3x?xf64>, tensor<3x?xf64>
}

// CHECK-LABEL: func.func @real_fourier_parts(
// CHECK-SAME: %[[X:.*]]: tensor<?x6xf64>)
// CHECK-NEXT: %[[RESULT:.*]] = calque.real_fourier_pairs %[[X]] {divisor = 2 : i64, inner = 1.000000e+00 : f64}
// CHECK-NEXT: %[[RE:.*]] = calque.part_of_pairs %[[RESULT]] {imaginary = false}
// CHECK-NEXT: %[[IM:.*]] = calque.part_of_pairs %[[RESULT]] {imaginary = true}
// CHECK-NEXT: return %[[RE]], %[[IM]]
func.func @real_fourier_parts(%x: tensor<?x6xf64>) -> (tensor<?x4xf64>, tensor<?x4xf64>) {
  %y:2 = calque.real_fourier_parts %x {divisor = 2 : i64, inner = 1.0 : f64} : (tensor<?x6xf64>) -> (tensor<?x4xf64>, tensor<?x4xf64>)
  return %y#0, %y#1 : tensor<?x4xf64>, tensor<?x4xf64>
}

// CHECK-LABEL: func.func @fourier_to_real_parts(
// CHECK-SAME: %[[RE:.*]]: tensor<?x4xf64>, %[[IM:.*]]: tensor<?x4xf64>)
// CHECK-NEXT: %[[PAIRS:.*]] = calque.pairs %[[RE]], %[[IM]]
// CHECK-NEXT: %[[RESULT:.*]] = calque.fourier_to_real_pairs %[[PAIRS]] {divisor = 2 : i64, inner = 2.000000e+00 : f64, length = 7 : i64}
// CHECK-NEXT: return %[[RESULT]]
func.func @fourier_to_real_parts(%re: tensor<?x4xf64>, %im: tensor<?x4xf64>) -> tensor<?x7xf64> {
  %y = calque.fourier_to_real_parts %re, %im {divisor = 2 : i64, inner = 2.0 : f64, length = 7 : i64} : (tensor<?x4xf64>, tensor<?x4xf64>) -> tensor<?x7xf64>
  return %y : tensor<?x7xf64>
}
