// The reverse rules of reductions, on unknown sizes:
// each emits what its formula says, shaped like the operands, whatever their sizes will be.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @reduce_sum(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[G:.*]]: tensor<3xf64>)
// CHECK-NEXT: calque.reduce_sum %[[X]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[G]] {axes = array<i64: 0>}
// CHECK-NEXT: %[[V1:.*]] = calque.broadcast_like %[[V0]], %[[X]]
// CHECK-NEXT: return %[[V1]]
func.func @reduce_sum(%x: tensor<?x3xf64>, %g: tensor<3xf64>) -> tensor<?x3xf64> {
  %y = calque.reduce_sum %x {axes = array<i64: 0>} : (tensor<?x3xf64>) -> tensor<3xf64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<3xf64>, tensor<3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @reduce_max(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[G:.*]]: tensor<?x1xf64>)
// CHECK-NEXT: %[[Y:.*]] = calque.reduce_max %[[X]] {axes = array<i64: 1>, keepdims = true}
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[X]], %[[Y]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = f64}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1>, keepdims = true}
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[NAN:.*]] = calque.constant {value = dense<0x7FF8000000000000> : tensor<f64>}
// CHECK-NEXT: %[[V3:.*]] = calque.greater %[[V2]], %[[ZERO]]
// CHECK-NEXT: %[[V4:.*]] = calque.where %[[V3]], %[[ZERO]], %[[NAN]]
// CHECK-NEXT: %[[V5:.*]] = calque.div %[[G]], %[[V2]]
// CHECK-NEXT: %[[V6:.*]] = calque.where %[[V0]], %[[V5]], %[[V4]]
// CHECK-NEXT: return %[[V6]]
func.func @reduce_max(%x: tensor<?x3xf64>, %g: tensor<?x1xf64>) -> tensor<?x3xf64> {
  %y = calque.reduce_max %x {axes = array<i64: 1>, keepdims = true} : (tensor<?x3xf64>) -> tensor<?x1xf64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x1xf64>, tensor<?x1xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @reduce_min(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[G:.*]]: tensor<?xf64>)
// CHECK-NEXT: %[[Y:.*]] = calque.reduce_min %[[X]] {axes = array<i64: -1>}
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[Y]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.expand_dims %[[G]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.equal %[[X]], %[[V0]]
// CHECK-NEXT: %[[V3:.*]] = calque.cast %[[V2]] {dtype = f64}
// CHECK-NEXT: %[[V4:.*]] = calque.reduce_sum %[[V3]] {axes = array<i64: 1>, keepdims = true}
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[NAN:.*]] = calque.constant {value = dense<0x7FF8000000000000> : tensor<f64>}
// CHECK-NEXT: %[[V5:.*]] = calque.greater %[[V4]], %[[ZERO]]
// CHECK-NEXT: %[[V6:.*]] = calque.where %[[V5]], %[[ZERO]], %[[NAN]]
// CHECK-NEXT: %[[V7:.*]] = calque.div %[[V1]], %[[V4]]
// CHECK-NEXT: %[[V8:.*]] = calque.where %[[V2]], %[[V7]], %[[V6]]
// CHECK-NEXT: return %[[V8]]
func.func @reduce_min(%x: tensor<?x3xf64>, %g: tensor<?xf64>) -> tensor<?x3xf64> {
  %y = calque.reduce_min %x {axes = array<i64: -1>} : (tensor<?x3xf64>) -> tensor<?xf64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf64>, tensor<?xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @reduce_mean(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[G:.*]]: tensor<f64>)
// CHECK-NEXT: calque.reduce_mean %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.axis_size %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.div %[[G]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.expand_dims %[[V1]] {axes = array<i64: 0, 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.broadcast_like %[[V2]], %[[X]]
// CHECK-NEXT: return %[[V3]]
func.func @reduce_mean(%x: tensor<?x3xf64>, %g: tensor<f64>) -> tensor<?x3xf64> {
  %y = calque.reduce_mean %x : (tensor<?x3xf64>) -> tensor<f64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @logsumexp(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[G:.*]]: tensor<?xf64>)
// CHECK-NEXT: calque.logsumexp %[[X]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[G]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.softmax %[[X]] {axis = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[V0]], %[[V1]]
// CHECK-NEXT: return %[[V2]]
func.func @logsumexp(%x: tensor<?x3xf64>, %g: tensor<?xf64>) -> tensor<?x3xf64> {
  %y = calque.logsumexp %x {axes = array<i64: 1>} : (tensor<?x3xf64>) -> tensor<?xf64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf64>, tensor<?xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}

// Over several axes the largest element is a constant to further derivatives.
// CHECK-LABEL: func.func @logsumexp_of_all(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[G:.*]]: tensor<f64>)
// CHECK: %[[MAX:.*]] = calque.reduce_max %[[X]] {axes = array<i64: 0, 1>, keepdims = true}
// CHECK-NEXT: %[[STOPPED:.*]] = calque.stop_gradient %[[MAX]]
// CHECK: %[[SHIFT:.*]] = calque.where %{{.*}}, %{{.*}}, %[[STOPPED]]
// CHECK-NEXT: %[[SHIFTED:.*]] = calque.sub %[[X]], %[[SHIFT]]
// CHECK-NEXT: %[[EXP:.*]] = calque.exp %[[SHIFTED]]
// CHECK-NEXT: %[[SUM:.*]] = calque.reduce_sum %[[EXP]] {axes = array<i64: 0, 1>, keepdims = true}
// CHECK-NEXT: %[[SOFTMAX:.*]] = calque.div %[[EXP]], %[[SUM]]
// CHECK-NEXT: %[[RESULT:.*]] = calque.mul %{{.*}}, %[[SOFTMAX]]
// CHECK-NEXT: return %[[RESULT]]
func.func @logsumexp_of_all(%x: tensor<?x3xf64>, %g: tensor<f64>) -> tensor<?x3xf64> {
  %y = calque.logsumexp %x : (tensor<?x3xf64>) -> tensor<f64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[G:.*]]: tensor<?x3xf64>)
// CHECK-NEXT: %[[Y:.*]] = calque.softmax %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.mul %[[G]], %[[Y]]
// CHECK-NEXT: %[[V1:.*]] = calque.reduce_sum %[[V0]] {axes = array<i64: -1>, keepdims = true}
// CHECK-NEXT: %[[V2:.*]] = calque.sub %[[G]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[Y]], %[[V2]]
// CHECK-NEXT: return %[[V3]]
func.func @softmax(%x: tensor<?x3xf64>, %g: tensor<?x3xf64>) -> tensor<?x3xf64> {
  %y = calque.softmax %x : (tensor<?x3xf64>) -> tensor<?x3xf64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @log_softmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[G:.*]]: tensor<?x3xf64>)
// CHECK-NEXT: calque.log_softmax %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.reduce_sum %[[G]] {axes = array<i64: -1>, keepdims = true}
// CHECK-NEXT: %[[V1:.*]] = calque.softmax %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[V1]], %[[V0]]
// CHECK-NEXT: %[[V3:.*]] = calque.sub %[[G]], %[[V2]]
// CHECK-NEXT: return %[[V3]]
func.func @log_softmax(%x: tensor<?x3xf64>, %g: tensor<?x3xf64>) -> tensor<?x3xf64> {
  %y = calque.log_softmax %x : (tensor<?x3xf64>) -> tensor<?x3xf64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @sum_like(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[LIKE:.*]]: tensor<?x1xf64>, %[[G:.*]]: tensor<?x1xf64>)
// CHECK-NEXT: calque.sum_like %[[X]], %[[LIKE]]
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_like %[[G]], %[[X]]
// CHECK-NEXT: return %[[V0]]
func.func @sum_like(%x: tensor<?x3xf64>, %like: tensor<?x1xf64>, %g: tensor<?x1xf64>) -> tensor<?x3xf64> {
  %y = calque.sum_like %x, %like : (tensor<?x3xf64>, tensor<?x1xf64>) -> tensor<?x1xf64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x1xf64>, tensor<?x1xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}
