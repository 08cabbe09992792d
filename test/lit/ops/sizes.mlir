// The largest sizes that are legal have the right results.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

func.func @slice_stride(%arg0: tensor<5xf32>) -> tensor<1xf32> {
  %0 = calque.slice %arg0 {limits = array<i64: 5>, starts = array<i64: 2>, strides = array<i64: 9223372036854775807>} : (tensor<5xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
func.func @pool_stride(%arg0: tensor<1x5x7x2xf32>) -> tensor<1x1x1x2xf32> {
  %0 = calque.max_pool %arg0 {padding = "same", strides = array<i64: 9223372036854775807, 9223372036854775807>, window = array<i64: 2, 2>} : (tensor<1x5x7x2xf32>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
// Without elements the other sizes need not fit.
func.func @empty(%arg0: tensor<0xf32>) -> tensor<0x4294967296x4294967296xf32> {
  %0 = calque.reshape %arg0 {shape = array<i64: 0, 4294967296, 4294967296>} : (tensor<0xf32>) -> tensor<0x4294967296x4294967296xf32>
  return %0 : tensor<0x4294967296x4294967296xf32>
}
func.func @bytes(%arg0: tensor<i1>) -> tensor<9223372036854775807xi1> {
  %0 = calque.broadcast_to %arg0 {shape = array<i64: 9223372036854775807>} : (tensor<i1>) -> tensor<9223372036854775807xi1>
  return %0 : tensor<9223372036854775807xi1>
}
