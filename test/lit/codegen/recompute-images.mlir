// What pooling and its gradient read is computed again for each, if an image stays in the second cache.
// RUN: calque-opt --calque-stage=name=linalg --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @images(
// CHECK-COUNT-2: arith.subf
// CHECK-NOT: arith.subf
func.func @images(%x: tensor<64x28x28x1xf32>, %k: tensor<3x3x1x16xf32>, %g: tensor<64x14x14x16xf32>, %m: tensor<16xf32>, %d: tensor<16xf32>) -> (tensor<64x14x14x16xf32>, tensor<64x28x28x16xf32>) {
  %y = calque.conv %x, %k {padding = "same"} : (tensor<64x28x28x1xf32>, tensor<3x3x1x16xf32>) -> tensor<64x28x28x16xf32>
  %z = calque.sub %y, %m : (tensor<64x28x28x16xf32>, tensor<16xf32>) -> tensor<64x28x28x16xf32>
  %q = calque.mul %z, %d : (tensor<64x28x28x16xf32>, tensor<16xf32>) -> tensor<64x28x28x16xf32>
  %o = calque.max_pool %q {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<64x28x28x16xf32>) -> tensor<64x14x14x16xf32>
  %h = calque.max_pool_grad %q, %g {padding = "valid", strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<64x28x28x16xf32>, tensor<64x14x14x16xf32>) -> tensor<64x28x28x16xf32>
  return %o, %h : tensor<64x14x14x16xf32>, tensor<64x28x28x16xf32>
}

// -----

// An image of 2 MiB would go to memory again.
// CHECK-LABEL: func.func @large(
// CHECK-COUNT-1: arith.subf
// CHECK-NOT: arith.subf
func.func @large(%x: tensor<8x128x128x1xf32>, %k: tensor<3x3x1x32xf32>, %g: tensor<8x64x64x32xf32>, %m: tensor<32xf32>, %d: tensor<32xf32>) -> (tensor<8x64x64x32xf32>, tensor<8x128x128x32xf32>) {
  %y = calque.conv %x, %k {padding = "same"} : (tensor<8x128x128x1xf32>, tensor<3x3x1x32xf32>) -> tensor<8x128x128x32xf32>
  %z = calque.sub %y, %m : (tensor<8x128x128x32xf32>, tensor<32xf32>) -> tensor<8x128x128x32xf32>
  %q = calque.mul %z, %d : (tensor<8x128x128x32xf32>, tensor<32xf32>) -> tensor<8x128x128x32xf32>
  %o = calque.max_pool %q {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<8x128x128x32xf32>) -> tensor<8x64x64x32xf32>
  %h = calque.max_pool_grad %q, %g {padding = "valid", strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<8x128x128x32xf32>, tensor<8x64x64x32xf32>) -> tensor<8x128x128x32xf32>
  return %o, %h : tensor<8x64x64x32xf32>, tensor<8x128x128x32xf32>
}

// -----

// One image alone is no group.
// CHECK-LABEL: func.func @one(
// CHECK-COUNT-1: arith.subf
// CHECK-NOT: arith.subf
func.func @one(%x: tensor<1x28x28x1xf32>, %k: tensor<3x3x1x16xf32>, %g: tensor<1x14x14x16xf32>, %m: tensor<16xf32>, %d: tensor<16xf32>) -> (tensor<1x14x14x16xf32>, tensor<1x28x28x16xf32>) {
  %y = calque.conv %x, %k {padding = "same"} : (tensor<1x28x28x1xf32>, tensor<3x3x1x16xf32>) -> tensor<1x28x28x16xf32>
  %z = calque.sub %y, %m : (tensor<1x28x28x16xf32>, tensor<16xf32>) -> tensor<1x28x28x16xf32>
  %q = calque.mul %z, %d : (tensor<1x28x28x16xf32>, tensor<16xf32>) -> tensor<1x28x28x16xf32>
  %o = calque.max_pool %q {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x28x28x16xf32>) -> tensor<1x14x14x16xf32>
  %h = calque.max_pool_grad %q, %g {padding = "valid", strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<1x28x28x16xf32>, tensor<1x14x14x16xf32>) -> tensor<1x28x28x16xf32>
  return %o, %h : tensor<1x14x14x16xf32>, tensor<1x28x28x16xf32>
}
