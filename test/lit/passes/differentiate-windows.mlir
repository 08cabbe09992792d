// The derivatives of convolutions and pooling along other numbers of dimensions than two, dilated, in groups and with given
// padding, and what is done for many examples, on unknown sizes.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @conv(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x4xf32>, %[[W:.*]]: tensor<3x2x6xf32>, %[[G:.*]]: tensor<?x?x6xf32>)
// CHECK-NEXT: calque.conv %[[X]], %[[W]] {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>}
// CHECK-NEXT: %[[V0:.*]] = calque.conv_input_grad %[[G]], %[[W]], %[[X]] {dilations = array<i64: 2>, groups = 2 : i64, padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 3>}
// CHECK-NEXT: %[[V1:.*]] = calque.conv_filter_grad %[[X]], %[[G]], %[[W]] {dilations = array<i64: 2>, groups = 2 : i64, padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 3>}
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @conv(%x: tensor<?x?x4xf32>, %w: tensor<3x2x6xf32>, %g: tensor<?x?x6xf32>) -> (tensor<?x?x4xf32>, tensor<3x2x6xf32>) {
  %y = calque.conv %x, %w {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>} : (tensor<?x?x4xf32>, tensor<3x2x6xf32>) -> tensor<?x?x6xf32>
  %d:2 = calque.gradient %y, %g, %x, %w {counts = array<i64: 1, 2, 0>} : (tensor<?x?x6xf32>, tensor<?x?x6xf32>, tensor<?x?x4xf32>, tensor<3x2x6xf32>) -> (tensor<?x?x4xf32>, tensor<3x2x6xf32>)
  return %d#0, %d#1 : tensor<?x?x4xf32>, tensor<3x2x6xf32>
}

// CHECK-LABEL: func.func @conv_tangent(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x4xf32>, %[[W:.*]]: tensor<3x2x6xf32>, %[[TX:.*]]: tensor<?x?x4xf32>, %[[TW:.*]]: tensor<3x2x6xf32>)
// CHECK-NEXT: calque.conv %[[X]], %[[W]] {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>}
// CHECK-NEXT: %[[V0:.*]] = calque.conv %[[TX]], %[[W]] {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>}
// CHECK-NEXT: %[[V1:.*]] = calque.conv %[[X]], %[[TW]] {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>}
// CHECK-NEXT: %[[V2:.*]] = calque.add %[[V0]], %[[V1]]
// CHECK-NEXT: return %[[V2]]
func.func @conv_tangent(%x: tensor<?x?x4xf32>, %w: tensor<3x2x6xf32>, %tx: tensor<?x?x4xf32>, %tw: tensor<3x2x6xf32>) -> tensor<?x?x6xf32> {
  %y = calque.conv %x, %w {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>} : (tensor<?x?x4xf32>, tensor<3x2x6xf32>) -> tensor<?x?x6xf32>
  %d = calque.jvp %y, %x, %w, %tx, %tw {counts = array<i64: 1, 2>} : (tensor<?x?x6xf32>, tensor<?x?x4xf32>, tensor<3x2x6xf32>, tensor<?x?x4xf32>, tensor<3x2x6xf32>) -> tensor<?x?x6xf32>
  return %d : tensor<?x?x6xf32>
}

// CHECK-LABEL: func.func @conv_images(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x4xf32>, %[[W:.*]]: tensor<3x2x6xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.merge_dims %[[X]] {axis = 0 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.conv %[[V0]], %[[W]] {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>}
// CHECK-NEXT: %[[V2:.*]] = calque.split_dim %[[V1]], %[[X]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: return %[[V2]]
func.func @conv_images(%x: tensor<?x?x?x4xf32>, %w: tensor<3x2x6xf32>) -> tensor<?x?x?x6xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x?x4xf32>) -> tensor<?x?x4xf32>
  %y = calque.conv %e, %w {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>} : (tensor<?x?x4xf32>, tensor<3x2x6xf32>) -> tensor<?x?x6xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x6xf32>, tensor<?x?x4xf32>, tensor<?x?x?x4xf32>) -> tensor<?x?x?x6xf32>
  return %r : tensor<?x?x?x6xf32>
}

// In groups, filters of each example are groups of their own.
// CHECK-LABEL: func.func @conv_filters(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x4xf32>, %[[W:.*]]: tensor<5x3x2x6xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[W]], %[[W]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1, 2, 3>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2, 3>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[X]], %[[X]]
// CHECK-NEXT: %[[V6:.*]] = calque.transpose %[[V5]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V7:.*]] = calque.merge_dims %[[V6]] {axis = 2 : i64}
// CHECK-NEXT: %[[V8:.*]] = calque.transpose %[[W]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V9:.*]] = calque.reshape %[[V8]] {shape = array<i64: 3, 2, 30>}
// CHECK-NEXT: %[[V10:.*]] = calque.conv %[[V7]], %[[V9]] {dilations = array<i64: 2>, groups = 10 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>}
// CHECK-NEXT: %[[V11:.*]] = calque.split_dim %[[V10]], %[[W]] {axis = 2 : i64, first = 0 : i64, second = 3 : i64}
// CHECK-NEXT: %[[V12:.*]] = calque.transpose %[[V11]] {permutation = array<i64: 2, 0, 1, 3>}
// CHECK-NEXT: return %[[V12]]
func.func @conv_filters(%x: tensor<?x?x4xf32>, %w: tensor<5x3x2x6xf32>) -> tensor<5x?x?x6xf32> {
  %e = calque.batch %w {axes = array<i64: 0>} : (tensor<5x3x2x6xf32>) -> tensor<3x2x6xf32>
  %y = calque.conv %x, %e {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>} : (tensor<?x?x4xf32>, tensor<3x2x6xf32>) -> tensor<?x?x6xf32>
  %r = calque.unbatch %y, %e, %w {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x6xf32>, tensor<3x2x6xf32>, tensor<5x3x2x6xf32>) -> tensor<5x?x?x6xf32>
  return %r : tensor<5x?x?x6xf32>
}

// CHECK-LABEL: func.func @conv_both(
// CHECK-SAME: %[[X:.*]]: tensor<5x?x?x4xf32>, %[[W:.*]]: tensor<5x3x2x6xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.transpose %[[X]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V1:.*]] = calque.merge_dims %[[V0]] {axis = 2 : i64}
// CHECK-NEXT: %[[V2:.*]] = calque.transpose %[[W]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V3:.*]] = calque.reshape %[[V2]] {shape = array<i64: 3, 2, 30>}
// CHECK-NEXT: %[[V4:.*]] = calque.conv %[[V1]], %[[V3]] {dilations = array<i64: 2>, groups = 10 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>}
// CHECK-NEXT: %[[V5:.*]] = calque.split_dim %[[V4]], %[[W]] {axis = 2 : i64, first = 0 : i64, second = 3 : i64}
// CHECK-NEXT: %[[V6:.*]] = calque.transpose %[[V5]] {permutation = array<i64: 2, 0, 1, 3>}
// CHECK-NEXT: return %[[V6]]
func.func @conv_both(%x: tensor<5x?x?x4xf32>, %w: tensor<5x3x2x6xf32>) -> tensor<5x?x?x6xf32> {
  %e:2 = calque.batch %x, %w {axes = array<i64: 0, 0>} : (tensor<5x?x?x4xf32>, tensor<5x3x2x6xf32>) -> (tensor<?x?x4xf32>, tensor<3x2x6xf32>)
  %y = calque.conv %e#0, %e#1 {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 2>, strides = array<i64: 3>} : (tensor<?x?x4xf32>, tensor<3x2x6xf32>) -> tensor<?x?x6xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x6xf32>, tensor<?x?x4xf32>, tensor<5x?x?x4xf32>) -> tensor<5x?x?x6xf32>
  return %r : tensor<5x?x?x6xf32>
}

// CHECK-LABEL: func.func @conv_input_grad_both(
// CHECK-SAME: %[[C:.*]]: tensor<5x?x?x6xf32>, %[[W:.*]]: tensor<5x3x2x6xf32>, %[[LIKE:.*]]: tensor<?x?x4xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[C]], %[[C]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1, 2, 3>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2, 3>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[LIKE]], %[[LIKE]]
// CHECK-NEXT: %[[V6:.*]] = calque.transpose %[[C]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V7:.*]] = calque.merge_dims %[[V6]] {axis = 2 : i64}
// CHECK-NEXT: %[[V8:.*]] = calque.transpose %[[W]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V9:.*]] = calque.reshape %[[V8]] {shape = array<i64: 3, 2, 30>}
// CHECK-NEXT: %[[V10:.*]] = calque.transpose %[[V5]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V11:.*]] = calque.merge_dims %[[V10]] {axis = 2 : i64}
// CHECK-NEXT: %[[V12:.*]] = calque.conv_input_grad %[[V7]], %[[V9]], %[[V11]] {dilations = array<i64: 2>, groups = 10 : i64, padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 3>}
// CHECK-NEXT: %[[V13:.*]] = calque.split_dim %[[V12]], %[[V5]] {axis = 2 : i64, first = 0 : i64, second = 3 : i64}
// CHECK-NEXT: %[[V14:.*]] = calque.transpose %[[V13]] {permutation = array<i64: 2, 0, 1, 3>}
// CHECK-NEXT: return %[[V14]]
func.func @conv_input_grad_both(%c: tensor<5x?x?x6xf32>, %w: tensor<5x3x2x6xf32>, %like: tensor<?x?x4xf32>) -> tensor<5x?x?x4xf32> {
  %e:2 = calque.batch %c, %w {axes = array<i64: 0, 0>} : (tensor<5x?x?x6xf32>, tensor<5x3x2x6xf32>) -> (tensor<?x?x6xf32>, tensor<3x2x6xf32>)
  %y = calque.conv_input_grad %e#0, %e#1, %like {dilations = array<i64: 2>, groups = 2 : i64, padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 3>} : (tensor<?x?x6xf32>, tensor<3x2x6xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  %r = calque.unbatch %y, %e#0, %c {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x4xf32>, tensor<?x?x6xf32>, tensor<5x?x?x6xf32>) -> tensor<5x?x?x4xf32>
  return %r : tensor<5x?x?x4xf32>
}

// CHECK-LABEL: func.func @conv_filter_grad_both(
// CHECK-SAME: %[[X:.*]]: tensor<5x?x?x4xf32>, %[[C:.*]]: tensor<5x?x?x6xf32>, %[[LIKE:.*]]: tensor<3x2x6xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.broadcast_to %[[LIKE]] {shape = array<i64: 5, 3, 2, 6>}
// CHECK-NEXT: %[[V1:.*]] = calque.transpose %[[X]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V2:.*]] = calque.merge_dims %[[V1]] {axis = 2 : i64}
// CHECK-NEXT: %[[V3:.*]] = calque.transpose %[[C]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V4:.*]] = calque.merge_dims %[[V3]] {axis = 2 : i64}
// CHECK-NEXT: %[[V5:.*]] = calque.transpose %[[V0]] {permutation = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[V6:.*]] = calque.reshape %[[V5]] {shape = array<i64: 3, 2, 30>}
// CHECK-NEXT: %[[V7:.*]] = calque.conv_filter_grad %[[V2]], %[[V4]], %[[V6]] {dilations = array<i64: 2>, groups = 10 : i64, padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 3>}
// CHECK-NEXT: %[[V8:.*]] = calque.reshape %[[V7]] {shape = array<i64: 3, 2, 5, 6>}
// CHECK-NEXT: %[[V9:.*]] = calque.transpose %[[V8]] {permutation = array<i64: 2, 0, 1, 3>}
// CHECK-NEXT: return %[[V9]]
func.func @conv_filter_grad_both(%x: tensor<5x?x?x4xf32>, %c: tensor<5x?x?x6xf32>, %like: tensor<3x2x6xf32>) -> tensor<5x3x2x6xf32> {
  %e:2 = calque.batch %x, %c {axes = array<i64: 0, 0>} : (tensor<5x?x?x4xf32>, tensor<5x?x?x6xf32>) -> (tensor<?x?x4xf32>, tensor<?x?x6xf32>)
  %y = calque.conv_filter_grad %e#0, %e#1, %like {dilations = array<i64: 2>, groups = 2 : i64, padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 3>} : (tensor<?x?x4xf32>, tensor<?x?x6xf32>, tensor<3x2x6xf32>) -> tensor<3x2x6xf32>
  %r = calque.unbatch %y, %e#0, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<3x2x6xf32>, tensor<?x?x4xf32>, tensor<5x?x?x4xf32>) -> tensor<5x3x2x6xf32>
  return %r : tensor<5x3x2x6xf32>
}

// CHECK-LABEL: func.func @max_pool(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[G:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: calque.max_pool %[[X]] {pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: %[[V0:.*]] = calque.max_pool_grad %[[X]], %[[G]] {padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: return %[[V0]]
func.func @max_pool(%x: tensor<?x?x3xf32>, %g: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %y = calque.max_pool %x {pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>} : (tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?x3xf32>, tensor<?x?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %d : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @sum_pool(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[G:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: calque.sum_pool %[[X]] {pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: %[[V0:.*]] = calque.sum_pool_grad %[[G]], %[[X]] {padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: return %[[V0]]
func.func @sum_pool(%x: tensor<?x?x3xf32>, %g: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %y = calque.sum_pool %x {pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>} : (tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?x3xf32>, tensor<?x?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %d : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @sum_pool_tangent(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[TX:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: calque.sum_pool %[[X]] {pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: %[[V0:.*]] = calque.sum_pool %[[TX]] {pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: return %[[V0]]
func.func @sum_pool_tangent(%x: tensor<?x?x3xf32>, %tx: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %y = calque.sum_pool %x {pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>} : (tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %d = calque.jvp %y, %x, %tx {counts = array<i64: 1, 1>} : (tensor<?x?x3xf32>, tensor<?x?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %d : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @sum_pool_examples(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.merge_dims %[[X]] {axis = 0 : i64}
// CHECK-NEXT: %[[V1:.*]] = calque.sum_pool %[[V0]] {pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: %[[V2:.*]] = calque.split_dim %[[V1]], %[[X]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: return %[[V2]]
func.func @sum_pool_examples(%x: tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32> {
  %e = calque.batch %x {axes = array<i64: 0>} : (tensor<?x?x?x3xf32>) -> tensor<?x?x3xf32>
  %y = calque.sum_pool %e {pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>} : (tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %r = calque.unbatch %y, %e, %x {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x3xf32>, tensor<?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  return %r : tensor<?x?x?x3xf32>
}

// CHECK-LABEL: func.func @sum_pool_grad(
// CHECK-SAME: %[[C:.*]]: tensor<?x?x3xf32>, %[[LIKE:.*]]: tensor<?x?x3xf32>, %[[G:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: calque.sum_pool_grad %[[C]], %[[LIKE]] {padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: %[[V0:.*]] = calque.sum_pool %[[G]] {pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: return %[[V0]]
func.func @sum_pool_grad(%c: tensor<?x?x3xf32>, %like: tensor<?x?x3xf32>, %g: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %y = calque.sum_pool_grad %c, %like {padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>} : (tensor<?x?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %d = calque.gradient %y, %g, %c {counts = array<i64: 1, 1, 0>} : (tensor<?x?x3xf32>, tensor<?x?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %d : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @sum_pool_grad_tangent(
// CHECK-SAME: %[[C:.*]]: tensor<?x?x3xf32>, %[[LIKE:.*]]: tensor<?x?x3xf32>, %[[TC:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: calque.sum_pool_grad %[[C]], %[[LIKE]] {padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: %[[V0:.*]] = calque.sum_pool_grad %[[TC]], %[[LIKE]] {padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: return %[[V0]]
func.func @sum_pool_grad_tangent(%c: tensor<?x?x3xf32>, %like: tensor<?x?x3xf32>, %tc: tensor<?x?x3xf32>) -> tensor<?x?x3xf32> {
  %y = calque.sum_pool_grad %c, %like {padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>} : (tensor<?x?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %d = calque.jvp %y, %c, %tc {counts = array<i64: 1, 1>} : (tensor<?x?x3xf32>, tensor<?x?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  return %d : tensor<?x?x3xf32>
}

// CHECK-LABEL: func.func @sum_pool_grad_examples(
// CHECK-SAME: %[[C:.*]]: tensor<?x?x?x3xf32>, %[[LIKE:.*]]: tensor<?x?x3xf32>)
// CHECK-NEXT: %[[V0:.*]] = calque.equal %[[C]], %[[C]]
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.reduce_sum %[[V1]] {axes = array<i64: 1, 2, 3>}
// CHECK-NEXT: %[[V3:.*]] = calque.equal %[[V2]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.expand_dims %[[V3]] {axes = array<i64: 1, 2, 3>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V4]], %[[LIKE]], %[[LIKE]]
// CHECK-NEXT: %[[V6:.*]] = calque.merge_dims %[[C]] {axis = 0 : i64}
// CHECK-NEXT: %[[V7:.*]] = calque.merge_dims %[[V5]] {axis = 0 : i64}
// CHECK-NEXT: %[[V8:.*]] = calque.sum_pool_grad %[[V6]], %[[V7]] {padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>}
// CHECK-NEXT: %[[V9:.*]] = calque.split_dim %[[V8]], %[[C]] {axis = 0 : i64, first = 0 : i64, second = 1 : i64}
// CHECK-NEXT: return %[[V9]]
func.func @sum_pool_grad_examples(%c: tensor<?x?x?x3xf32>, %like: tensor<?x?x3xf32>) -> tensor<?x?x?x3xf32> {
  %e = calque.batch %c {axes = array<i64: 0>} : (tensor<?x?x?x3xf32>) -> tensor<?x?x3xf32>
  %y = calque.sum_pool_grad %e, %like {padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>} : (tensor<?x?x3xf32>, tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %r = calque.unbatch %y, %e, %c {axes = array<i64: 0>, batch_axis = 0 : i64} : (tensor<?x?x3xf32>, tensor<?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
  return %r : tensor<?x?x?x3xf32>
}
