// Which tensors share a buffer, and where the buffers lie.
// RUN: calque-opt --calque-stage=name=bufferized --split-input-file %s | FileCheck %s

// The parts of a concatenation are computed in their places in the result.
// CHECK-LABEL: func.func @concat(
// CHECK-SAME: %[[RESULT:[^:]*]]: memref<6xf32>)
// CHECK-NOT: memref.alloc
// CHECK: %[[FIRST:.*]] = memref.subview %[[RESULT]][0] [3]
// CHECK: linalg.generic {{.*}} outs(%[[FIRST]] :
// CHECK: math.exp
// CHECK: %[[SECOND:.*]] = memref.subview %[[RESULT]][3] [3]
// CHECK: linalg.generic {{.*}} outs(%[[SECOND]] :
// CHECK: math.tanh
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @concat(%x: tensor<3xf32>) -> tensor<6xf32> {
  %0 = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = calque.tanh %x : (tensor<3xf32>) -> tensor<3xf32>
  %2 = calque.concat %0, %1 {axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  return %2 : tensor<6xf32>
}

// -----

// So is a concatenation within another one.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[RESULT:[^:]*]]: memref<6xf32>)
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @nested(%x: tensor<2xf32>) -> tensor<6xf32> {
  %0 = calque.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = calque.tanh %x : (tensor<2xf32>) -> tensor<2xf32>
  %2 = calque.concat %0, %1 {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %3 = calque.log %x : (tensor<2xf32>) -> tensor<2xf32>
  %4 = calque.concat %3, %2 {axis = 0 : i64} : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
  return %4 : tensor<6xf32>
}

// -----

// A part that is returned as well lies in its own result, and is copied into the other one.
// CHECK-LABEL: func.func @returned_part(
// CHECK-SAME: %[[PART:[^:]*]]: memref<3xf32>, %[[WHOLE:[^:]*]]: memref<6xf32>)
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} outs(%[[PART]] :
// CHECK: math.exp
// CHECK: %[[PLACE:.*]] = memref.subview %[[WHOLE]][0] [3]
// CHECK: linalg.generic {{.*}} ins(%[[PART]] : {{.*}} outs(%[[PLACE]] :
func.func @returned_part(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<6xf32>) {
  %0 = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = calque.concat %0, %x {axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  return %0, %1 : tensor<3xf32>, tensor<6xf32>
}

// -----

// One part twice: it has one place, and the other is a copy.
// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[RESULT:[^:]*]]: memref<6xf32>)
// CHECK-NOT: memref.alloc
// CHECK: math.exp
// CHECK-NOT: math.exp
// CHECK: return
func.func @twice(%x: tensor<3xf32>) -> tensor<6xf32> {
  %0 = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = calque.concat %0, %0 {axis = 0 : i64} : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// What is padded is computed between its borders, which are filled before.
// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[RESULT:[^:]*]]: memref<5xf32>)
// CHECK: linalg.fill {{.*}} outs(%[[RESULT]] :
// CHECK: %[[INNER:.*]] = memref.subview %[[RESULT]][1] [3]
// CHECK: linalg.generic {{.*}} outs(%[[INNER]] :
// CHECK: math.exp
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @pad(%x: tensor<3xf32>) -> tensor<5xf32> {
  %0 = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %1 = calque.pad %0 {high = array<i64: 1>, low = array<i64: 1>, value = 2.0 : f64} : (tensor<3xf32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// -----

// A result that is a reshape is written where the caller wants it.
// CHECK-LABEL: func.func @reshaped(
// CHECK-SAME: %[[RESULT:[^:]*]]: memref<10xf32>)
// CHECK-NOT: memref.alloc
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[RESULT]]
// CHECK: linalg.generic {{.*}} outs(%[[VIEW]] :
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @reshaped(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) -> tensor<10xf32> {
  %0 = calque.contract %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %1 = calque.reshape %0 {shape = array<i64: 10>} : (tensor<2x5xf32>) -> tensor<10xf32>
  return %1 : tensor<10xf32>
}

// -----

// So is what a kernel of a library computes, of sizes that are known or not. Of a value that is returned twice, the
// second result is a copy.
// CHECK-LABEL: func.func @library(
// CHECK-SAME: %[[FIRST:[^:]*]]: memref<6x5x2xf32>, %[[SECOND:[^:]*]]: memref<2x3x5x2xf32>)
// CHECK-NOT: memref.alloc
// CHECK: %[[VIEW:.*]] = memref.reinterpret_cast %[[FIRST]] to offset: [0], sizes: [60]
// CHECK: call @{{.*}} %[[VIEW]],
// CHECK: linalg.generic {{.*}} outs(%[[SECOND]] :
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @library(%x: tensor<2x3x5x2xf32>) -> (tensor<6x5x2xf32>, tensor<2x3x5x2xf32>) {
  %0 = calque.fourier_pairs %x {divisor = 0 : i64, inverse = false} : (tensor<2x3x5x2xf32>) -> tensor<2x3x5x2xf32>
  %1 = calque.reshape %0 {shape = array<i64: 6, 5, 2>} : (tensor<2x3x5x2xf32>) -> tensor<6x5x2xf32>
  return %1, %0 : tensor<6x5x2xf32>, tensor<2x3x5x2xf32>
}

// -----

// CHECK-LABEL: func.func @open_library(
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @open_library(%x: tensor<?x5x2xf32>) -> tensor<?x5x2xf32> {
  %0 = calque.fourier_pairs %x {divisor = 0 : i64, inverse = false} : (tensor<?x5x2xf32>) -> tensor<?x5x2xf32>
  return %0 : tensor<?x5x2xf32>
}

// -----

// An argument that is returned is copied, and so is a value that is returned twice.
// CHECK-LABEL: func.func @copies(
// CHECK-SAME: %[[X:[^:]*]]: memref<3xf32>, %[[A:[^:]*]]: memref<3xf32>, %[[B:[^:]*]]: memref<3xf32>, %[[C:[^:]*]]: memref<3xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[B]] :
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[A]] :
// CHECK: linalg.generic {{.*}} ins(%[[B]] : {{.*}} outs(%[[C]] :
func.func @copies(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = calque.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  return %x, %0, %0 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// Two sums that start from equal zeros: each is computed in its own destination, with nothing copied between them.
// CHECK-LABEL: func.func @two_sums(
// CHECK-SAME: %[[FIRST:[^:]*]]: memref<4xf64>, %[[SECOND:[^:]*]]: memref<4xf64>) attributes
// CHECK-NOT: memref.{{alloc|copy}}
// CHECK-DAG: linalg.generic {{.*}} outs(%[[FIRST]] :
// CHECK-DAG: linalg.generic {{.*}} outs(%[[SECOND]] :
// CHECK-NOT: memref.{{alloc|copy}}
// CHECK: return
func.func @two_sums(%c: tensor<3x1xi1>, %g: tensor<3x4xf64>, %like: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %zero = calque.constant {value = dense<0.0> : tensor<f64>} : () -> tensor<f64>
  %a = calque.where %c, %g, %zero : (tensor<3x1xi1>, tensor<3x4xf64>, tensor<f64>) -> tensor<3x4xf64>
  %b = calque.where %c, %zero, %g : (tensor<3x1xi1>, tensor<f64>, tensor<3x4xf64>) -> tensor<3x4xf64>
  %sa = calque.sum_like %a, %like : (tensor<3x4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %sb = calque.sum_like %b, %like : (tensor<3x4xf64>, tensor<4xf64>) -> tensor<4xf64>
  return %sa, %sb : tensor<4xf64>, tensor<4xf64>
}

// -----

// Two concatenations that begin alike.
// CHECK-LABEL: func.func @two_concats(
// CHECK-SAME: %[[A:[^:]*]]: memref<2xf64>, %[[B:[^:]*]]: memref<3xf64>, %[[C:[^:]*]]: memref<3xf64>, %[[FIRST:[^:]*]]: memref<5xf64>, %[[SECOND:[^:]*]]: memref<5xf64>)
// CHECK-NOT: memref.{{alloc|copy}}
// CHECK-DAG: memref.subview %[[FIRST]][0] [2] [1]
// CHECK-DAG: memref.subview %[[FIRST]][2] [3] [1]
// CHECK-DAG: memref.subview %[[SECOND]][0] [2] [1]
// CHECK-DAG: memref.subview %[[SECOND]][2] [3] [1]
// CHECK: return
func.func @two_concats(%a: tensor<2xf64>, %b: tensor<3xf64>, %c: tensor<3xf64>) -> (tensor<5xf64>, tensor<5xf64>) {
  %x = calque.concat %a, %b : (tensor<2xf64>, tensor<3xf64>) -> tensor<5xf64>
  %y = calque.concat %a, %c : (tensor<2xf64>, tensor<3xf64>) -> tensor<5xf64>
  return %x, %y : tensor<5xf64>, tensor<5xf64>
}

// -----

// A read that is fused with what is behind an update: the update is moved behind it, and needs no copy.
// CHECK-LABEL: func.func @read_behind_update(
// CHECK-SAME: %[[UPDATED:[^:]*]]: memref<5x3xf32>, %[[READ:[^:]*]]: memref<3xf32>)
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} outs(%[[UPDATED]] :
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} outs(%[[READ]] :
// CHECK: memref.load %[[UPDATED]]
// CHECK: arith.mulf
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[UPDATED]]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @read_behind_update(%x: tensor<5x3xf32>, %i: tensor<i64>, %y: tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>) {
  %0 = calque.exp %x : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %1 = calque.gather %0, %i : (tensor<5x3xf32>, tensor<i64>) -> tensor<3xf32>
  %2 = calque.update_at %0, %i, %y {axis = 0 : i64} : (tensor<5x3xf32>, tensor<i64>, tensor<3xf32>) -> tensor<5x3xf32>
  %3 = calque.mul %1, %y : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %2, %3 : tensor<5x3xf32>, tensor<3xf32>
}

// -----

// So is the insertion of a single element.
// CHECK-LABEL: func.func @element_behind_update(
// CHECK-SAME: %[[UPDATED:[^:]*]]: memref<1000xf32>, %[[READ:[^:]*]]: memref<f32>)
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} outs(%[[UPDATED]] :
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} outs(%[[READ]] :
// CHECK: memref.load %[[UPDATED]]
// CHECK: memref.store %{{.*}}, %[[UPDATED]]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @element_behind_update(%x: tensor<1000xf32>, %i: tensor<i64>, %y: tensor<f32>) -> (tensor<1000xf32>, tensor<f32>) {
  %0 = calque.exp %x : (tensor<1000xf32>) -> tensor<1000xf32>
  %1 = calque.gather %0, %i : (tensor<1000xf32>, tensor<i64>) -> tensor<f32>
  %2 = calque.update_at %0, %i, %y {axis = 0 : i64} : (tensor<1000xf32>, tensor<i64>, tensor<f32>) -> tensor<1000xf32>
  %3 = calque.mul %1, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %2, %3 : tensor<1000xf32>, tensor<f32>
}

// -----

// Not behind an update of what it reads itself, nor behind what needs its result.
// CHECK-LABEL: func.func @update_stays(
// CHECK-SAME: %[[FIRST:[^:]*]]: memref<5x3xf32>, %[[SECOND:[^:]*]]: memref<3xf32>, %[[READ:[^:]*]]: memref<3xf32>)
// CHECK: %[[EXP:.*]] = memref.alloc() : memref<5x3xf32>
// CHECK: linalg.generic {{.*}} ins(%[[EXP]] : memref<5x3xf32>) outs(%[[FIRST]] : memref<5x3xf32>)
// CHECK: memref.store %{{.*}}, %[[FIRST]]
// CHECK: memref.store %{{.*}}, %[[SECOND]]
// CHECK: memref.load %[[EXP]]
// CHECK: return
func.func @update_stays(%x: tensor<5x3xf32>, %i: tensor<i64>, %y: tensor<3xf32>, %z: tensor<f32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = calque.exp %x : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %1 = calque.tanh %y : (tensor<3xf32>) -> tensor<3xf32>
  %2 = calque.gather %0, %i : (tensor<5x3xf32>, tensor<i64>) -> tensor<3xf32>
  %3 = calque.update_at %0, %i, %1 {axis = 0 : i64} : (tensor<5x3xf32>, tensor<i64>, tensor<3xf32>) -> tensor<5x3xf32>
  %4 = calque.update_at %1, %i, %z {axis = 0 : i64} : (tensor<3xf32>, tensor<i64>, tensor<f32>) -> tensor<3xf32>
  %5 = calque.mul %2, %4 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %3, %4, %5 : tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>
}
