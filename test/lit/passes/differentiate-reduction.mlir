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

// CHECK-LABEL: func.func @reduce_prod(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[G:.*]]: tensor<?xf64>)
// CHECK-NEXT: calque.reduce_prod %[[X]] {axes = array<i64: -1>}
// CHECK-NEXT: %[[V0:.*]] = calque.expand_dims %[[G]] {axes = array<i64: 1>}
// CHECK-NEXT: %[[V1:.*]] = calque.cumprod %[[X]] {axis = 1 : i64, exclusive = true}
// CHECK-NEXT: %[[V2:.*]] = calque.cumprod %[[X]] {axis = 1 : i64, exclusive = true, reverse = true}
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[V1]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[V0]], %[[V3]]
// CHECK-NEXT: return %[[V4]]
func.func @reduce_prod(%x: tensor<?x3xf64>, %g: tensor<?xf64>) -> tensor<?x3xf64> {
  %y = calque.reduce_prod %x {axes = array<i64: -1>} : (tensor<?x3xf64>) -> tensor<?xf64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf64>, tensor<?xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @reduce_prod_of_two(
// CHECK-SAME: %[[X:.*]]: tensor<?x5x?xf32>, %[[G:.*]]: tensor<1x5x1xf32>)
// CHECK-NEXT: calque.reduce_prod %[[X]] {axes = array<i64: -1, 0>, keepdims = true}
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[X]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: %[[V1:.*]] = calque.merge_dims %[[V0]] {axis = 1 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.cumprod %[[V1]] {axis = 1 : i64, exclusive = true}
// CHECK-NEXT: %[[V3:.*]] = calque.cumprod %[[V1]] {axis = 1 : i64, exclusive = true, reverse = true}
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[V2]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.reshape_like %[[V4]], %[[V0]]
// CHECK-NEXT: %[[V6:.*]] = calque.transpose %[[V5]] {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT: %[[V7:.*]] = calque.mul %[[G]], %[[V6]]
// CHECK-NEXT: return %[[V7]]
func.func @reduce_prod_of_two(%x: tensor<?x5x?xf32>, %g: tensor<1x5x1xf32>) -> tensor<?x5x?xf32> {
  %y = calque.reduce_prod %x {axes = array<i64: -1, 0>, keepdims = true} : (tensor<?x5x?xf32>) -> tensor<1x5x1xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<1x5x1xf32>, tensor<1x5x1xf32>, tensor<?x5x?xf32>) -> tensor<?x5x?xf32>
  return %d : tensor<?x5x?xf32>
}

// CHECK-LABEL: func.func @cumsum(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[G:.*]]: tensor<?x3xf64>)
// CHECK-NEXT: calque.cumsum %[[X]] {exclusive = true}
// CHECK-NEXT: %[[V0:.*]] = calque.cumsum %[[G]] {exclusive = true, reverse = true}
// CHECK-NEXT: return %[[V0]]
func.func @cumsum(%x: tensor<?x3xf64>, %g: tensor<?x3xf64>) -> tensor<?x3xf64> {
  %y = calque.cumsum %x {exclusive = true} : (tensor<?x3xf64>) -> tensor<?x3xf64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %d : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @cumprod(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.cumprod %[[X]] {axis = -1 : i64}
// CHECK-NEXT: %[[V0:.*]] = calque.pad %[[X]] {high = array<i64: 0, 1>, low = array<i64: 0, 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V1:.*]] = calque.slice_like %[[V0]], %[[X]] {starts = array<i64: 0, 1>, strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V2:.*]] = calque.linear_recurrence %[[V1]], %[[G]] {axis = -1 : i64, reverse = true}
// CHECK-NEXT: %[[V3:.*]] = calque.cumprod %[[X]] {axis = -1 : i64, exclusive = true}
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[V2]], %[[V3]]
// CHECK-NEXT: return %[[V4]]
func.func @cumprod(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.cumprod %x {axis = -1 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @cumprod_of_others(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.cumprod %[[X]] {exclusive = true, reverse = true}
// CHECK-NEXT: %[[V1:.*]] = calque.pad %[[G]] {high = array<i64: 0>, low = array<i64: 1>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V2:.*]] = calque.slice_like %[[V1]], %[[G]] {starts = array<i64: 0>, strides = array<i64: 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.pad %[[X]] {high = array<i64: 0>, low = array<i64: 1>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V4:.*]] = calque.slice_like %[[V3]], %[[X]] {starts = array<i64: 0>, strides = array<i64: 1>}
// CHECK-NEXT: %[[V5:.*]] = calque.linear_recurrence %[[V4]], %[[V2]] {axis = 0 : i64, reverse = false}
// CHECK-NEXT: %[[V6:.*]] = calque.mul %[[V5]], %[[V0]]
// CHECK-NEXT: return %[[V6]]
func.func @cumprod_of_others(%x: tensor<?xf32>, %g: tensor<?xf32>) -> tensor<?xf32> {
  %y = calque.cumprod %x {exclusive = true, reverse = true} : (tensor<?xf32>) -> tensor<?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %d : tensor<?xf32>
}

// CHECK-LABEL: func.func @linear_recurrence(
// CHECK-SAME: %[[F:.*]]: tensor<?x3xf32>, %[[T:.*]]: tensor<?x3xf32>, %[[G:.*]]: tensor<?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.linear_recurrence %[[F]], %[[T]] {axis = 0 : i64, reverse = false}
// CHECK-NEXT: %[[V1:.*]] = calque.pad %[[F]] {high = array<i64: 1, 0>, low = array<i64: 0, 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V2:.*]] = calque.slice_like %[[V1]], %[[F]] {starts = array<i64: 1, 0>, strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V3:.*]] = calque.linear_recurrence %[[V2]], %[[G]] {axis = 0 : i64, reverse = true}
// CHECK-NEXT: %[[V4:.*]] = calque.pad %[[V0]] {high = array<i64: 0, 0>, low = array<i64: 1, 0>, value = 0.000000e+00 : f64}
// CHECK-NEXT: %[[V5:.*]] = calque.slice_like %[[V4]], %[[V0]] {starts = array<i64: 0, 0>, strides = array<i64: 1, 1>}
// CHECK-NEXT: %[[V6:.*]] = calque.mul %[[V3]], %[[V5]]
// CHECK-NEXT: return %[[V6]], %[[V3]]
func.func @linear_recurrence(%f: tensor<?x3xf32>, %t: tensor<?x3xf32>, %g: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %y = calque.linear_recurrence %f, %t {axis = 0 : i64, reverse = false} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %d:2 = calque.gradient %y, %g, %f, %t {counts = array<i64: 1, 2, 0>} : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  return %d#0, %d#1 : tensor<?x3xf32>, tensor<?x3xf32>
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
// CHECK-NEXT: %[[SHIFTED:.*]] = calque.sub %[[X]], %[[STOPPED]]
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
