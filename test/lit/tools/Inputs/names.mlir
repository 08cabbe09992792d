func.func @entry(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = calque.neg %x : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @shapes(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = calque.neg %x : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @piece_0(%x: tensor<1000000xf32>) -> tensor<1000000xf32> {
  %0 = calque.neg %x : (tensor<1000000xf32>) -> tensor<1000000xf32>
  return %0 : tensor<1000000xf32>
}
func.func @rt_fail(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = calque.div %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func @exp(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = calque.exp %x : (tensor<4xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
