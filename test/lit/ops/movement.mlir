// Operations that move and pick elements are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

// Of a tensor of unknown size a size of -1 stays unknown; -9223372036854775808 is an unknown size in an attribute.
func.func @reshape(%arg0: tensor<f32>, %arg1: tensor<3x5xi1>, %arg2: tensor<0x3xi32>, %arg3: tensor<?x3xf64>, %arg4: tensor<2x3x1x5x1xi64>) {
  %0 = calque.reshape %arg0 {shape = array<i64: 1, 1>} : (tensor<f32>) -> tensor<1x1xf32>
  %1 = calque.reshape %arg1 {shape = array<i64: -1>} : (tensor<3x5xi1>) -> tensor<15xi1>
  %2 = calque.reshape %arg2 {shape = array<i64: 7, 0>} : (tensor<0x3xi32>) -> tensor<7x0xi32>
  %3 = calque.reshape %arg3 {shape = array<i64: 3, -1>} : (tensor<?x3xf64>) -> tensor<3x?xf64>
  %4 = calque.reshape %arg3 {shape = array<i64: 9>} : (tensor<?x3xf64>) -> tensor<9xf64>
  %5 = calque.reshape %arg1 {shape = array<i64: -9223372036854775808, 5>} : (tensor<3x5xi1>) -> tensor<?x5xi1>
  %6 = calque.reshape %arg4 {shape = array<i64: 6, -1>} : (tensor<2x3x1x5x1xi64>) -> tensor<6x5xi64>
  return
}

// -----

func.func @reshape_like(%arg0: tensor<3x5xi1>, %arg1: tensor<15xf32>, %arg2: tensor<?x3xf64>, %arg3: tensor<3x?xi32>, %arg4: tensor<0x3xf32>, %arg5: tensor<7x0xf32>) {
  %0 = calque.reshape_like %arg0, %arg1 : (tensor<3x5xi1>, tensor<15xf32>) -> tensor<15xi1>
  %1 = calque.reshape_like %arg2, %arg3 : (tensor<?x3xf64>, tensor<3x?xi32>) -> tensor<3x?xf64>
  %2 = calque.reshape_like %arg4, %arg5 : (tensor<0x3xf32>, tensor<7x0xf32>) -> tensor<7x0xf32>
  return
}

// -----

func.func @merge_dims(%arg0: tensor<3x5xi1>, %arg1: tensor<2x?x3xf64>, %arg2: tensor<4x0x?xi32>, %arg3: tensor<?x?x7xf32>) {
  %0 = calque.merge_dims %arg0 {axis = 0 : i64} : (tensor<3x5xi1>) -> tensor<15xi1>
  %1 = calque.merge_dims %arg1 {axis = -2 : i64} : (tensor<2x?x3xf64>) -> tensor<2x?xf64>
  %2 = calque.merge_dims %arg2 {axis = 1 : i64} : (tensor<4x0x?xi32>) -> tensor<4x0xi32>
  %3 = calque.merge_dims %arg3 {axis = 0 : i64} : (tensor<?x?x7xf32>) -> tensor<?x7xf32>
  return
}

// -----

func.func @split_dim(%arg0: tensor<4x15xi1>, %arg1: tensor<5x2x3xf64>, %arg2: tensor<?x7xf32>, %arg3: tensor<?x3xi32>, %arg4: tensor<0xi64>, %arg5: tensor<?x0xf32>) {
  %0 = calque.split_dim %arg0, %arg1 {axis = -1 : i64, first = 0 : i64, second = -1 : i64} : (tensor<4x15xi1>, tensor<5x2x3xf64>) -> tensor<4x5x3xi1>
  %1 = calque.split_dim %arg2, %arg3 {axis = 0 : i64, first = 0 : i64, second = 1 : i64} : (tensor<?x7xf32>, tensor<?x3xi32>) -> tensor<?x3x7xf32>
  %2 = calque.split_dim %arg4, %arg5 {axis = 0 : i64, first = 1 : i64, second = 0 : i64} : (tensor<0xi64>, tensor<?x0xf32>) -> tensor<0x?xi64>
  return
}

// -----

func.func @expand_dims(%arg0: tensor<i64>, %arg1: tensor<0x3xi1>, %arg2: tensor<?x3xf32>) {
  %0 = calque.expand_dims %arg0 {axes = array<i64: 0>} : (tensor<i64>) -> tensor<1xi64>
  %1 = calque.expand_dims %arg1 {axes = array<i64>} : (tensor<0x3xi1>) -> tensor<0x3xi1>
  %2 = calque.expand_dims %arg2 {axes = array<i64: -1, 0, 2>} : (tensor<?x3xf32>) -> tensor<1x?x1x3x1xf32>
  return
}

// -----

func.func @broadcast_to(%arg0: tensor<i1>, %arg1: tensor<5x1xf32>, %arg2: tensor<?x3xf64>) {
  %0 = calque.broadcast_to %arg0 {shape = array<i64: 0, 7>} : (tensor<i1>) -> tensor<0x7xi1>
  %1 = calque.broadcast_to %arg1 {shape = array<i64: 2, 5, 3>} : (tensor<5x1xf32>) -> tensor<2x5x3xf32>
  %2 = calque.broadcast_to %arg2 {shape = array<i64: 2, 4, 3>} : (tensor<?x3xf64>) -> tensor<2x4x3xf64>
  %3 = calque.broadcast_to %arg1 {shape = array<i64: 5, -9223372036854775808>} : (tensor<5x1xf32>) -> tensor<5x?xf32>
  return
}

// -----

func.func @broadcast_like(%arg0: tensor<i1>, %arg1: tensor<0x7xf32>, %arg2: tensor<?x1xf64>, %arg3: tensor<2x?x3xi32>) {
  %0 = calque.broadcast_like %arg0, %arg1 : (tensor<i1>, tensor<0x7xf32>) -> tensor<0x7xi1>
  %1 = calque.broadcast_like %arg2, %arg3 : (tensor<?x1xf64>, tensor<2x?x3xi32>) -> tensor<2x?x3xf64>
  return
}

// -----

func.func @transpose(%arg0: tensor<f32>, %arg1: tensor<0x3xi1>, %arg2: tensor<?x3x2x?x7xf64>) {
  %0 = calque.transpose %arg0 : (tensor<f32>) -> tensor<f32>
  %1 = calque.transpose %arg1 : (tensor<0x3xi1>) -> tensor<3x0xi1>
  %2 = calque.transpose %arg2 {permutation = array<i64: 1, 0, -1, 2, 3>} : (tensor<?x3x2x?x7xf64>) -> tensor<3x?x7x2x?xf64>
  return
}

// -----

// The result's sizes are what any tensor knows of them.
func.func @concat(%arg0: tensor<7xi1>, %arg1: tensor<2x3xf32>, %arg2: tensor<0x3xf32>, %arg3: tensor<?x?xf32>) {
  %0 = calque.concat %arg0 : (tensor<7xi1>) -> tensor<7xi1>
  %1 = calque.concat %arg1, %arg2, %arg1 : (tensor<2x3xf32>, tensor<0x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %2 = calque.concat %arg3, %arg1 {axis = -1 : i64} : (tensor<?x?xf32>, tensor<2x3xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @split(%arg0: tensor<5x3xf32>, %arg1: tensor<?x3xi1>, %arg2: tensor<2x?xf64>, %arg3: tensor<0xi32>) {
  %0:3 = calque.split %arg0 {sizes = array<i64: 1, 0, 4>} : (tensor<5x3xf32>) -> (tensor<1x3xf32>, tensor<0x3xf32>, tensor<4x3xf32>)
  %1:2 = calque.split %arg0 {axis = -1 : i64, sizes = array<i64: -1, 1>} : (tensor<5x3xf32>) -> (tensor<5x2xf32>, tensor<5x1xf32>)
  %2:2 = calque.split %arg1 {sizes = array<i64: 2, -1>} : (tensor<?x3xi1>) -> (tensor<2x3xi1>, tensor<?x3xi1>)
  %3:2 = calque.split %arg2 {axis = 1 : i64, sizes = array<i64: 2, 1>} : (tensor<2x?xf64>) -> (tensor<2x2xf64>, tensor<2x1xf64>)
  %4 = calque.split %arg3 {sizes = array<i64: -1>} : (tensor<0xi32>) -> tensor<0xi32>
  return
}

// -----

func.func @concat_part(%arg0: tensor<4x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<?x?xf64>, %arg3: tensor<2x?xf64>) {
  %0 = calque.concat_part %arg0, %arg1, %arg1 {axis = 0 : i64, index = 1 : i64} : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = calque.concat_part %arg2, %arg2, %arg3 {axis = -1 : i64, index = 0 : i64} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<2x?xf64>) -> tensor<?x?xf64>
  return
}

// -----

func.func @slice(%arg0: tensor<f32>, %arg1: tensor<7x5xi1>, %arg2: tensor<?x5xf64>) {
  %0 = calque.slice %arg0 {limits = array<i64>, starts = array<i64>} : (tensor<f32>) -> tensor<f32>
  %1 = calque.slice %arg1 {limits = array<i64: 7, 2>, starts = array<i64: 1, 2>, strides = array<i64: 4, 1>} : (tensor<7x5xi1>) -> tensor<2x0xi1>
  %2 = calque.slice %arg2 {limits = array<i64: 9, 5>, starts = array<i64: 0, 1>} : (tensor<?x5xf64>) -> tensor<9x4xf64>
  return
}

// -----

func.func @slice_like(%arg0: tensor<7x5xi32>, %arg1: tensor<2x0xf32>, %arg2: tensor<?x5xf64>, %arg3: tensor<3x?xf64>) {
  %0 = calque.slice_like %arg0, %arg1 {starts = array<i64: 1, 2>, strides = array<i64: 5, 1>} : (tensor<7x5xi32>, tensor<2x0xf32>) -> tensor<2x0xi32>
  %1 = calque.slice_like %arg2, %arg3 {starts = array<i64: 1, 2>, strides = array<i64: 2, 1>} : (tensor<?x5xf64>, tensor<3x?xf64>) -> tensor<3x?xf64>
  return
}

// -----

func.func @slice_put(%arg0: tensor<2x0xi32>, %arg1: tensor<7x5xf32>, %arg2: tensor<3x?xf64>, %arg3: tensor<?x5xf64>) {
  %0 = calque.slice_put %arg0, %arg1 {starts = array<i64: 1, 2>, strides = array<i64: 5, 1>} : (tensor<2x0xi32>, tensor<7x5xf32>) -> tensor<7x5xi32>
  %1 = calque.slice_put %arg2, %arg3 {starts = array<i64: 1, 2>, strides = array<i64: 2, 1>} : (tensor<3x?xf64>, tensor<?x5xf64>) -> tensor<?x5xf64>
  return
}

// -----

func.func @pad(%arg0: tensor<f32>, %arg1: tensor<0x3xi1>, %arg2: tensor<?x3xf64>) {
  %0 = calque.pad %arg0 {high = array<i64>, low = array<i64>} : (tensor<f32>) -> tensor<f32>
  %1 = calque.pad %arg1 {high = array<i64: 1, 0>, low = array<i64: 2, 0>, value = 1.000000e+00 : f64} : (tensor<0x3xi1>) -> tensor<3x3xi1>
  %2 = calque.pad %arg2 {high = array<i64: 0, 4>, low = array<i64: 7, 1>, value = -5.000000e-01 : f64} : (tensor<?x3xf64>) -> tensor<?x8xf64>
  return
}

// -----

// The indices' dimensions stand where the axis stood.
func.func @reverse(%arg0: tensor<f32>, %arg1: tensor<0x3xi1>, %arg2: tensor<?x3x2xf64>) {
  %0 = calque.reverse %arg0 : (tensor<f32>) -> tensor<f32>
  %1 = calque.reverse %arg1 : (tensor<0x3xi1>) -> tensor<0x3xi1>
  %2 = calque.reverse %arg2 {axes = array<i64: -1, 0>} : (tensor<?x3x2xf64>) -> tensor<?x3x2xf64>
  return
}

// -----

// Along the axis the indices have a size of their own.
func.func @take_along_axis(%arg0: tensor<7xi1>, %arg1: tensor<4xi32>, %arg2: tensor<?x5xf32>, %arg3: tensor<3x?xi64>) {
  %0 = calque.take_along_axis %arg0, %arg1 : (tensor<7xi1>, tensor<4xi32>) -> tensor<4xi1>
  %1 = calque.take_along_axis %arg2, %arg3 {axis = 1 : i64} : (tensor<?x5xf32>, tensor<3x?xi64>) -> tensor<3x?xf32>
  %2 = calque.take_along_axis %arg2, %arg3 {axis = -2 : i64} : (tensor<?x5xf32>, tensor<3x?xi64>) -> tensor<3x5xf32>
  return
}

// -----

func.func @put_along_axis(%arg0: tensor<4xi32>, %arg1: tensor<7xi32>, %arg2: tensor<3x?xf64>, %arg3: tensor<?x5xf64>, %arg4: tensor<3x?xi64>) {
  %0 = calque.put_along_axis %arg0, %arg1, %arg0 {axis = 0 : i64} : (tensor<4xi32>, tensor<7xi32>, tensor<4xi32>) -> tensor<7xi32>
  %1 = calque.put_along_axis %arg2, %arg3, %arg4 {axis = -1 : i64} : (tensor<3x?xf64>, tensor<?x5xf64>, tensor<3x?xi64>) -> tensor<?x5xf64>
  return
}

// -----

func.func @argsort(%arg0: tensor<7xi1>, %arg1: tensor<0x3xf64>, %arg2: tensor<?x3xf32>) {
  %0 = calque.argsort %arg0 : (tensor<7xi1>) -> tensor<7xi64>
  %1 = calque.argsort %arg1 {axis = 0 : i64} : (tensor<0x3xf64>) -> tensor<0x3xi64>
  %2 = calque.argsort %arg2 {axis = -2 : i64, descending = true} : (tensor<?x3xf32>) -> tensor<?x3xi64>
  return
}

// -----

func.func @top_indices(%arg0: tensor<7xi1>, %arg1: tensor<0x3xf64>, %arg2: tensor<?x3xf32>) {
  %0 = calque.top_indices %arg0 {count = 7 : i64} : (tensor<7xi1>) -> tensor<7xi64>
  %1 = calque.top_indices %arg1 {axis = 0 : i64, count = 0 : i64} : (tensor<0x3xf64>) -> tensor<0x3xi64>
  %2 = calque.top_indices %arg2 {count = 2 : i64, descending = true} : (tensor<?x3xf32>) -> tensor<?x2xi64>
  return
}

// -----

func.func @gather(%arg0: tensor<7xi1>, %arg1: tensor<i32>, %arg2: tensor<3x5x2xf32>, %arg3: tensor<4x0xi64>, %arg4: tensor<?x3xf64>, %arg5: tensor<?xi32>) {
  %0 = calque.gather %arg0, %arg1 : (tensor<7xi1>, tensor<i32>) -> tensor<i1>
  %1 = calque.gather %arg2, %arg3 {axis = -2 : i64} : (tensor<3x5x2xf32>, tensor<4x0xi64>) -> tensor<3x4x0x2xf32>
  %2 = calque.gather %arg4, %arg5 {axis = 1 : i64} : (tensor<?x3xf64>, tensor<?xi32>) -> tensor<?x?xf64>
  return
}

// -----

func.func @gather_put(%arg0: tensor<f32>, %arg1: tensor<7xf32>, %arg2: tensor<i32>, %arg3: tensor<3x4x0x2xi64>, %arg4: tensor<3x5x2xi64>, %arg5: tensor<4x0xi64>, %arg6: tensor<?x?xf64>, %arg7: tensor<?xi32>) {
  %0 = calque.gather_put %arg0, %arg1, %arg2 {axis = 0 : i64} : (tensor<f32>, tensor<7xf32>, tensor<i32>) -> tensor<7xf32>
  %1 = calque.gather_put %arg3, %arg4, %arg5 {axis = -2 : i64} : (tensor<3x4x0x2xi64>, tensor<3x5x2xi64>, tensor<4x0xi64>) -> tensor<3x5x2xi64>
  %2 = calque.gather_put %arg6, %arg6, %arg7 {axis = 1 : i64} : (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?xi32>) -> tensor<?x?xf64>
  return
}

// -----

func.func @update_at(%arg0: tensor<3xf32>, %arg1: tensor<i32>, %arg2: tensor<f32>, %arg3: tensor<3x?x2xi1>, %arg4: tensor<i64>, %arg5: tensor<3x2xi1>, %arg6: tensor<?x?xf64>, %arg7: tensor<?xf64>) {
  %0 = calque.update_at %arg0, %arg1, %arg2 {axis = 0 : i64} : (tensor<3xf32>, tensor<i32>, tensor<f32>) -> tensor<3xf32>
  %1 = calque.update_at %arg3, %arg4, %arg5 {axis = -2 : i64} : (tensor<3x?x2xi1>, tensor<i64>, tensor<3x2xi1>) -> tensor<3x?x2xi1>
  %2 = calque.update_at %arg6, %arg4, %arg7 {axis = 0 : i64} : (tensor<?x?xf64>, tensor<i64>, tensor<?xf64>) -> tensor<?x?xf64>
  return
}

// -----

func.func @one_hot(%arg0: tensor<i32>, %arg1: tensor<0x3xi64>, %arg2: tensor<?x3xi32>) {
  %0 = calque.one_hot %arg0 {depth = 7 : i64, dtype = i1} : (tensor<i32>) -> tensor<7xi1>
  %1 = calque.one_hot %arg1 {depth = 5 : i64, dtype = f64} : (tensor<0x3xi64>) -> tensor<0x3x5xf64>
  %2 = calque.one_hot %arg2 {depth = 0 : i64, dtype = i64} : (tensor<?x3xi32>) -> tensor<?x3x0xi64>
  return
}
