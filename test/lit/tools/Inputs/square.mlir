func.func @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = calque.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("model.cpp":12:0)
  // What has no line of a program
  // is named by its line
  // and column
  // in this file.
  %1 = calque.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

func.func @twice(%x: tensor<2xi32>) -> tensor<2xi32> {
  %0 = calque.add %x, %x : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
