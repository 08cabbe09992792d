func.func @broken(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = calque.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
