func.func @softmax(%x: tensor<4096x256xf32>) -> tensor<4096x256xf32> {
  %0 = calque.softmax %x {axis = 1 : i64} : (tensor<4096x256xf32>) -> tensor<4096x256xf32>
  return %0 : tensor<4096x256xf32>
}
