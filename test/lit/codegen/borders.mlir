// Zeros around images are not multiplied: lowering says where they are, and a plan bounds its loops over terms by them.
// RUN: calque-opt --calque-stage=name=linalg --split-input-file %s | FileCheck %s
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx512 --split-input-file %s | FileCheck %s --check-prefix=KERNEL

// Loops n, y, x, f, ky, kx, c: y and ky, and x and kx.
// CHECK-LABEL: func.func @same(
// CHECK: linalg.generic
// CHECK-SAME: calque.borders = array<i64: 1, 4, 1, 1, 2, 5, 2, 2>
// At y = 0 the first row is zero, at y = 6 the last one.
// KERNEL-LABEL: func.func private @calque.kernel_2(
// KERNEL-DAG: %[[ONE:.*]] = arith.constant 1 : index
// KERNEL-DAG: %[[EIGHT:.*]] = arith.constant 8 : index
// KERNEL: scf.parallel
// KERNEL: scf.for %[[Y:[a-z0-9]*]] = %c0 to %c7
// KERNEL: %[[BEFORE:.*]] = arith.subi %[[ONE]], %[[Y]]
// KERNEL: %[[FIRST:.*]] = arith.maxsi %[[BEFORE]], %{{.*}}
// KERNEL: %[[BEHIND:.*]] = arith.subi %[[EIGHT]], %[[Y]]
// KERNEL: %[[LAST:.*]] = arith.minsi %[[BEHIND]], %{{.*}}
// KERNEL: %[[END:.*]] = arith.maxsi %[[FIRST]], %[[LAST]]
// KERNEL: scf.for %{{.*}} = %[[FIRST]] to %[[END]]
func.func @same(%a: tensor<8x7x9x16xf32>, %b: tensor<3x5x16x32xf32>) -> tensor<8x7x9x32xf32> {
  %0 = calque.conv %a, %b {padding = "same", strides = array<i64: 1, 1>} : (tensor<8x7x9x16xf32>, tensor<3x5x16x32xf32>) -> tensor<8x7x9x32xf32>
  return %0 : tensor<8x7x9x32xf32>
}

// -----

// The first of the seven rows of a tile has zeros alone at kx = 0, the last one at kx = 2: 2 times 6, 7 and 6 of them are
// multiplied with two vectors, for two terms each.
// KERNEL-LABEL: func.func @beside(
// KERNEL-LABEL: func.func private @calque.kernel_2(
// KERNEL: scf.for %{{.*}} = %c0 to %c64 step %c32
// KERNEL-COUNT-24: vector.fma
// KERNEL-NOT: vector.fma
// KERNEL: scf.for %{{.*}} = %c64 to %c128 step %c32
// KERNEL-COUNT-28: vector.fma
// KERNEL-NOT: vector.fma
// KERNEL: scf.for %{{.*}} = %c128 to %c192 step %c32
// KERNEL-COUNT-24: vector.fma
// KERNEL-NOT: vector.fma
// CHECK-LABEL: func.func @beside(
func.func @beside(%a: tensor<8x7x7x64xf32>, %b: tensor<3x3x64x64xf32>) -> tensor<8x7x7x64xf32> {
  %0 = calque.conv %a, %b {padding = "same", strides = array<i64: 1, 1>} : (tensor<8x7x7x64xf32>, tensor<3x3x64x64xf32>) -> tensor<8x7x7x64xf32>
  return %0 : tensor<8x7x7x64xf32>
}

// -----

// As wide as the filter is less the border of the images.
// KERNEL-LABEL: func.func @of_images(
// CHECK-LABEL: func.func @of_images(
// CHECK: linalg.generic
// CHECK: calque.borders = array<i64: 1, 4, 2, 0, 2, 5, 2, 2>
func.func @of_images(%g: tensor<8x8x9x32xf32>, %w: tensor<3x3x16x32xf32>, %x: tensor<8x8x11x16xf32>) -> tensor<8x8x11x16xf32> {
  %0 = calque.conv_input_grad %g, %w, %x {padding = "valid", pads = array<i64: 0, 2, 0, 0>, strides = array<i64: 1, 1>} : (tensor<8x8x9x32xf32>, tensor<3x3x16x32xf32>, tensor<8x8x11x16xf32>) -> tensor<8x8x11x16xf32>
  return %0 : tensor<8x8x11x16xf32>
}

// -----

// Loops ky, kx, c, f, n, y, x. The elements of a tile of 6 are of one kx or two, and have 6 or 7 terms of a row that are
// not zeros: 6 times 12 products, and one more term. Each run of rows asks for lines of the next images.
// KERNEL-LABEL: func.func @of_filters(
// KERNEL-LABEL: func.func private @calque.kernel_2(
// KERNEL: scf.for %[[ROW:[a-z0-9]*]] = %c0 to %c48 step %c6
// KERNEL-COUNT-13: memref.prefetch {{.*}}, read, locality<3>
// KERNEL-NOT: memref.prefetch
// KERNEL-COUNT-72: vector.fma
// KERNEL-NOT: vector.fma
// KERNEL: scf.for
// KERNEL-COUNT-12: vector.fma
// KERNEL-NOT: vector.fma
// KERNEL: scf.yield
// CHECK-LABEL: func.func @of_filters(
// CHECK: linalg.generic
// CHECK: calque.borders = array<i64: 0, 5, 1, 1, 1, 6, 1, 1>
func.func @of_filters(%x: tensor<8x7x7x16xf32>, %g: tensor<8x7x7x32xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<3x3x16x32xf32> {
  %0 = calque.conv_filter_grad %x, %g, %w {padding = "same", strides = array<i64: 1, 1>} : (tensor<8x7x7x16xf32>, tensor<8x7x7x32xf32>, tensor<3x3x16x32xf32>) -> tensor<3x3x16x32xf32>
  return %0 : tensor<3x3x16x32xf32>
}

// -----

// Rows that a stride skips would have to be counted; there are no zeros along x.
// CHECK-LABEL: func.func @strided(
// CHECK-NOT: calque.borders
func.func @strided(%a: tensor<8x8x7x16xf32>, %b: tensor<3x1x16x32xf32>) -> tensor<8x4x7x32xf32> {
  %0 = calque.conv %a, %b {padding = "same", strides = array<i64: 2, 1>} : (tensor<8x8x7x16xf32>, tensor<3x1x16x32xf32>) -> tensor<8x4x7x32xf32>
  return %0 : tensor<8x4x7x32xf32>
}
