// A sum of slices in zeros has no tensor of zeros for each.
// RUN: calque-opt --calque-stage=name=linalg --split-input-file %s | FileCheck %s

// Slices that lie apart and leave out nothing: each goes where it belongs. With 0 added, no element is -0.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: linalg.fill
// CHECK: arith.addf %{{.*}}, %cst
// CHECK: tensor.insert_slice
// CHECK: arith.addf %{{.*}}, %cst
// CHECK: tensor.insert_slice
// CHECK-NOT: linalg
// CHECK: return
func.func @apart(%x: tensor<10x3xf32>, %a: tensor<4x3xf32>, %b: tensor<6x3xf32>) -> tensor<10x3xf32> {
  %0 = calque.slice_put %a, %x {starts = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<4x3xf32>, tensor<10x3xf32>) -> tensor<10x3xf32>
  %1 = calque.slice_put %b, %x {starts = array<i64: 4, 0>, strides = array<i64: 1, 1>} : (tensor<6x3xf32>, tensor<10x3xf32>) -> tensor<10x3xf32>
  %2 = calque.add %0, %1 : (tensor<10x3xf32>, tensor<10x3xf32>) -> tensor<10x3xf32>
  return %2 : tensor<10x3xf32>
}

// -----

// Of three that overlap in pairs, the last two are added to what is there.
// CHECK-LABEL: func.func @overlapping
// CHECK-COUNT-1: linalg.fill
// CHECK: tensor.insert_slice
// CHECK: tensor.extract_slice {{.*}} to tensor<6xf32>
// CHECK: tensor.insert_slice {{.*}} tensor<6xf32> into tensor<10xf32>
// CHECK: tensor.extract_slice {{.*}} to tensor<3xf32>
// CHECK: tensor.insert_slice {{.*}} tensor<3xf32> into tensor<10xf32>
func.func @overlapping(%x: tensor<10xf32>, %a: tensor<4xf32>, %b: tensor<6xf32>, %c: tensor<3xf32>) -> tensor<10xf32> {
  %0 = calque.slice_put %a, %x {starts = array<i64: 0>, strides = array<i64: 1>} : (tensor<4xf32>, tensor<10xf32>) -> tensor<10xf32>
  %1 = calque.slice_put %b, %x {starts = array<i64: 3>, strides = array<i64: 1>} : (tensor<6xf32>, tensor<10xf32>) -> tensor<10xf32>
  %2 = calque.add %0, %1 : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  %3 = calque.slice_put %c, %x {starts = array<i64: 7>, strides = array<i64: 1>} : (tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32>
  %4 = calque.add %2, %3 : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %4 : tensor<10xf32>
}

// -----

// An element that is in all of them may be -0, so that these are added whole.
// CHECK-LABEL: func.func @common
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: tensor.insert_slice %{{.*}} into %[[ZEROS]]
// CHECK: tensor.insert_slice %{{.*}} into %[[ZEROS]]
// CHECK-NOT: tensor.extract_slice
// CHECK: return
func.func @common(%x: tensor<10xf32>, %a: tensor<4xf32>, %b: tensor<6xf32>) -> tensor<10xf32> {
  %0 = calque.slice_put %a, %x {starts = array<i64: 0>, strides = array<i64: 1>} : (tensor<4xf32>, tensor<10xf32>) -> tensor<10xf32>
  %1 = calque.slice_put %b, %x {starts = array<i64: 3>, strides = array<i64: 1>} : (tensor<6xf32>, tensor<10xf32>) -> tensor<10xf32>
  %2 = calque.add %0, %1 : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %2 : tensor<10xf32>
}
