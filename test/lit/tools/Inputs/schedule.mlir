func.func @known(%x: tensor<256x256xf32>, %w: tensor<256x32xf32>) -> tensor<256x32xf32> {
  %0 = calque.add %x, %x : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %1 = calque.tanh %0 : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %2 = calque.contract %1, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<256x256xf32>, tensor<256x32xf32>) -> tensor<256x32xf32>
  return %2 : tensor<256x32xf32>
}

func.func @alone(%x: tensor<256x256xf32>, %w: tensor<256x32xf32>) -> tensor<256x32xf32> {
  %0 = calque.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<256x256xf32>, tensor<256x32xf32>) -> tensor<256x32xf32>
  return %0 : tensor<256x32xf32>
}

func.func @open(%x: tensor<?x100xf32>) -> tensor<?x100xf32> {
  %0 = calque.softmax %x {axis = 1 : i64} : (tensor<?x100xf32>) -> tensor<?x100xf32>
  return %0 : tensor<?x100xf32>
}
