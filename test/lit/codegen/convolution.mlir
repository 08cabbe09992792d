// A convolution is a contraction whose operands overlap: the largest buffer is the padded image, and nothing is unfolded.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx512 --split-input-file %s | FileCheck %s --check-prefixes=CHECK,AVX512

// 8 * 16 * 16 * 16 elements of four bytes.
// CHECK-LABEL: func.func @conv(
// CHECK-SAME: memref<131072xi8>)
// CHECK: memref.view {{.*}} to memref<8x16x16x16xf32>
// All panels of the filters are packed, once for all images.
// CHECK: memref.view {{.*}} to memref<4608xf32>
// CHECK-NOT: memref.view
// CHECK: scf.parallel
// CHECK: memref.prefetch {{.*}}, write, locality<3>, data : memref<50176xf32>
// AVX2-COUNT-28: vector.fma {{.*}} : vector<8xf32>
// AVX512-COUNT-28: vector.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma
// CHECK: {calque.grain = {{[0-9]+}} : i64}
func.func @conv(%a: tensor<8x14x14x16xf32>, %b: tensor<3x3x16x32xf32>) -> tensor<8x14x14x32xf32> {
  %0 = calque.conv %a, %b {padding = "same", strides = array<i64: 1, 1>} : (tensor<8x14x14x16xf32>, tensor<3x3x16x32xf32>) -> tensor<8x14x14x32xf32>
  return %0 : tensor<8x14x14x32xf32>
}

// -----

// Without a border there is no copy of the images, only the panel of the filters.
// CHECK-LABEL: func.func @no_border(
// CHECK-SAME: memref<0xi8>)
// CHECK: func.func private @calque.kernel_0(
// CHECK: memref.view %{{.*}} to memref<{{1152|4608}}xf32>
// CHECK-NOT: memref.view
// CHECK: return
func.func @no_border(%a: tensor<2x9x9x16xf32>, %b: tensor<3x3x16x32xf32>) -> tensor<2x7x7x32xf32> {
  %0 = calque.conv %a, %b {padding = "valid", strides = array<i64: 1, 1>} : (tensor<2x9x9x16xf32>, tensor<3x3x16x32xf32>) -> tensor<2x7x7x32xf32>
  return %0 : tensor<2x7x7x32xf32>
}
