// Convolutions and pooling are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

// A "valid" window larger than the image has no place in it.
func.func @conv(%arg0: tensor<2x7x5x3xf32>, %arg1: tensor<3x2x3x4xf32>, %arg2: tensor<0x7x5x3xf64>, %arg3: tensor<3x3x3x1xf64>, %arg4: tensor<?x?x5x?xf32>, %arg5: tensor<3x2x?x?xf32>, %arg6: tensor<1x2x2x3xf64>) {
  %0 = calque.conv %arg0, %arg1 : (tensor<2x7x5x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x5x4x4xf32>
  %1 = calque.conv %arg0, %arg1 {padding = "same", strides = array<i64: 2, 3>} : (tensor<2x7x5x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x4x2x4xf32>
  %2 = calque.conv %arg2, %arg3 {strides = array<i64: 2, 1>} : (tensor<0x7x5x3xf64>, tensor<3x3x3x1xf64>) -> tensor<0x3x3x1xf64>
  %3 = calque.conv %arg4, %arg1 : (tensor<?x?x5x?xf32>, tensor<3x2x3x4xf32>) -> tensor<?x?x4x4xf32>
  %4 = calque.conv %arg0, %arg5 : (tensor<2x7x5x3xf32>, tensor<3x2x?x?xf32>) -> tensor<2x5x4x?xf32>
  %5 = calque.conv %arg6, %arg3 : (tensor<1x2x2x3xf64>, tensor<3x3x3x1xf64>) -> tensor<1x0x0x1xf64>
  return
}

// -----

func.func @conv_input_grad(%arg0: tensor<2x4x2x4xf32>, %arg1: tensor<3x2x3x4xf32>, %arg2: tensor<2x7x5x3xf32>, %arg3: tensor<?x?x?x?xf32>, %arg4: tensor<3x2x?x?xf32>) {
  %0 = calque.conv_input_grad %arg0, %arg1, %arg2 {padding = "same", strides = array<i64: 2, 3>} : (tensor<2x4x2x4xf32>, tensor<3x2x3x4xf32>, tensor<2x7x5x3xf32>) -> tensor<2x7x5x3xf32>
  %1 = calque.conv_input_grad %arg3, %arg4, %arg3 {padding = "valid", strides = array<i64: 1, 1>} : (tensor<?x?x?x?xf32>, tensor<3x2x?x?xf32>, tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

func.func @conv_filter_grad(%arg0: tensor<2x7x5x3xf64>, %arg1: tensor<2x4x2x4xf64>, %arg2: tensor<3x2x3x4xf64>, %arg3: tensor<?x?x?x?xf64>, %arg4: tensor<3x2x?x?xf64>) {
  %0 = calque.conv_filter_grad %arg0, %arg1, %arg2 {padding = "same", strides = array<i64: 2, 3>} : (tensor<2x7x5x3xf64>, tensor<2x4x2x4xf64>, tensor<3x2x3x4xf64>) -> tensor<3x2x3x4xf64>
  %1 = calque.conv_filter_grad %arg3, %arg3, %arg4 {padding = "valid", strides = array<i64: 1, 1>} : (tensor<?x?x?x?xf64>, tensor<?x?x?x?xf64>, tensor<3x2x?x?xf64>) -> tensor<3x2x?x?xf64>
  return
}

// -----

func.func @max_pool(%arg0: tensor<2x7x5x3xf32>, %arg1: tensor<2x7x5x0xf64>, %arg2: tensor<?x?x5x?xf32>) {
  %0 = calque.max_pool %arg0 {strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  %1 = calque.max_pool %arg1 {padding = "same", strides = array<i64: 2, 3>, window = array<i64: 3, 2>} : (tensor<2x7x5x0xf64>) -> tensor<2x4x2x0xf64>
  %2 = calque.max_pool %arg2 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x?x5x?xf32>) -> tensor<?x?x2x?xf32>
  return
}

// -----

func.func @max_pool_grad(%arg0: tensor<2x7x5x3xf32>, %arg1: tensor<2x5x4x3xf32>, %arg2: tensor<?x?x5x?xf64>, %arg3: tensor<?x?x?x?xf64>) {
  %0 = calque.max_pool_grad %arg0, %arg1 {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x5x4x3xf32>) -> tensor<2x7x5x3xf32>
  %1 = calque.max_pool_grad %arg2, %arg3 {padding = "same", strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x?x5x?xf64>, tensor<?x?x?x?xf64>) -> tensor<?x?x5x?xf64>
  return
}

// -----

func.func @max_pool_pick(%arg0: tensor<2x7x5x3xf32>, %arg1: tensor<?x?x5x?xf64>) {
  %0 = calque.max_pool_pick %arg0, %arg0 {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 3, 2>} : (tensor<2x7x5x3xf32>, tensor<2x7x5x3xf32>) -> tensor<2x5x4x3xf32>
  %1 = calque.max_pool_pick %arg1, %arg1 {padding = "same", strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x?x5x?xf64>, tensor<?x?x5x?xf64>) -> tensor<?x?x3x?xf64>
  return
}

// -----

// Along one dimension and along three, dilated, in groups, with given padding.
func.func @conv_of_other_ranks(%arg0: tensor<2x7x4xf32>, %arg1: tensor<3x2x6xf32>, %arg2: tensor<?x?x4x5x2xf64>, %arg3: tensor<2x2x3x2x?xf64>) {
  %0 = calque.conv %arg0, %arg1 {dilations = array<i64: 2>, groups = 2 : i64, pads = array<i64: 1, 0>, strides = array<i64: 2>} : (tensor<2x7x4xf32>, tensor<3x2x6xf32>) -> tensor<2x2x6xf32>
  %1 = calque.conv %arg2, %arg3 {padding = "same", strides = array<i64: 1, 2, 3>} : (tensor<?x?x4x5x2xf64>, tensor<2x2x3x2x?xf64>) -> tensor<?x?x2x2x?xf64>
  return
}

// -----

func.func @sum_pool(%arg0: tensor<2x7x3xf32>, %arg1: tensor<?x?x5x4x?xf64>) {
  %0 = calque.sum_pool %arg0 {pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>} : (tensor<2x7x3xf32>) -> tensor<2x4x3xf32>
  %1 = calque.sum_pool %arg1 {padding = "same", strides = array<i64: 1, 2, 3>, window = array<i64: 2, 2, 2>} : (tensor<?x?x5x4x?xf64>) -> tensor<?x?x3x2x?xf64>
  return
}

// -----

func.func @sum_pool_grad(%arg0: tensor<2x4x3xf32>, %arg1: tensor<2x7x3xf32>, %arg2: tensor<?x?x?x?xf64>, %arg3: tensor<?x?x5x?xf64>) {
  %0 = calque.sum_pool_grad %arg0, %arg1 {padding = "valid", pads = array<i64: 1, 2>, strides = array<i64: 2>, window = array<i64: 3>} : (tensor<2x4x3xf32>, tensor<2x7x3xf32>) -> tensor<2x7x3xf32>
  %1 = calque.sum_pool_grad %arg2, %arg3 {padding = "same", strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x?x?x?xf64>, tensor<?x?x5x?xf64>) -> tensor<?x?x5x?xf64>
  return
}
