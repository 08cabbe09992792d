// Loops that store where an index says, or one element after the other, take vectors and threads where some of them are
// independent of each other.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s

// The pieces own rows, and each does those of the indices that name its own.
// CHECK-LABEL: func.func @gather_gradient(
// CHECK: "(4096) x 64: loops that store addf; vectors of 8, 8 owners of rows"
// CHECK: scf.parallel (%[[PIECE:.*]]) =
// CHECK: %[[OWNER:.*]] = arith.andi %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi eq, %[[OWNER]], %[[PIECE]] : index
// CHECK: arith.addf {{.*}} : vector<8xf32>
func.func @gather_gradient(%x: tensor<1000x64xf32>, %i: tensor<4096xi64>, %s: tensor<4096x64xf32>) -> tensor<1000x64xf32> {
  %0 = calque.gather_put %s, %x, %i {axis = 0 : i64} : (tensor<4096x64xf32>, tensor<1000x64xf32>, tensor<4096xi64>) -> tensor<1000x64xf32>
  return %0 : tensor<1000x64xf32>
}

// -----

// Where another loop is independent, the threads share it.
// CHECK-LABEL: func.func @along(
// CHECK: "64 x (500) x 32: loops that store addf; vectors of 8"
// CHECK: scf.parallel
// CHECK-NOT: arith.andi
// CHECK: arith.addf {{.*}} : vector<8xf32>
func.func @along(%x: tensor<64x200x32xf32>, %i: tensor<500xi64>, %s: tensor<64x500x32xf32>) -> tensor<64x200x32xf32> {
  %0 = calque.gather_put %s, %x, %i {axis = 1 : i64} : (tensor<64x500x32xf32>, tensor<64x200x32xf32>, tensor<500xi64>) -> tensor<64x200x32xf32>
  return %0 : tensor<64x200x32xf32>
}

// -----

// A cumulative sum down the columns: pieces of columns, in float64.
// CHECK-LABEL: func.func @down(
// CHECK: "(1000) x 1000: loops that store addf; vectors of 4, pieces of columns"
// CHECK: scf.parallel
// CHECK: arith.addf {{.*}} : vector<4xf64>
func.func @down(%x: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %0 = calque.cumsum %x {axis = 0 : i64} : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  return %0 : tensor<1000x1000xf32>
}

// -----

// Along the rows: each lane has a row.
// CHECK-LABEL: func.func @rows(
// CHECK: "1000 x (1000): loops that store addf; vectors of 4 rows, transposed in registers"
// CHECK: scf.parallel
// CHECK: scf.for {{.*}} -> (vector<4xf64>)
// CHECK: vector.shuffle
// CHECK: arith.addf {{.*}} : vector<4xf64>
// CHECK: vector.store
func.func @rows(%x: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %0 = calque.cumsum %x {axis = 1 : i64, reverse = true} : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  return %0 : tensor<1000x1000xf32>
}

// -----

// Too little work for threads, and nothing to share.
// CHECK-LABEL: func.func @few(
// CHECK-NOT: scf.parallel
func.func @few(%x: tensor<10x4xf32>, %i: tensor<3x1xi64>, %s: tensor<3x4xf32>) -> tensor<10x4xf32> {
  %0 = calque.scatter_nd_add %x, %i, %s : (tensor<10x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}

// -----

// Bools are bytes in memory, also those of vectors.
// CHECK-LABEL: func.func @bools(
// CHECK: vector.load {{.*}} : memref<1000xi8>, vector<32xi8>
// CHECK: arith.andi {{.*}} : vector<32xi1>
// CHECK: vector.store {{.*}} : memref<1000xi8>, vector<32xi8>
func.func @bools(%x: tensor<1000xi1>, %y: tensor<1000xi1>) -> tensor<1000xi1> {
  %0 = calque.logical_and %x, %y : (tensor<1000xi1>, tensor<1000xi1>) -> tensor<1000xi1>
  return %0 : tensor<1000xi1>
}

// -----

// Windows that overlap: the numbers of the largest elements, and then the cotangents of the windows that name an element.
// CHECK-LABEL: func.func @overlapping(
// CHECK: arith.maximumf {{.*}} : vector<8xf32>
// CHECK: arith.minsi {{.*}} : vector<8xi32>
// CHECK: arith.cmpi eq, {{.*}} : vector<8xi32>
// CHECK-NOT: memref.store
// CHECK: return
func.func @overlapping(%a: tensor<2x9x9x16xf32>, %b: tensor<2x4x4x16xf32>) -> tensor<2x9x9x16xf32> {
  %0 = calque.max_pool_grad %a, %b {padding = "valid", strides = array<i64: 2, 2>, window = array<i64: 3, 3>} : (tensor<2x9x9x16xf32>, tensor<2x4x4x16xf32>) -> tensor<2x9x9x16xf32>
  return %0 : tensor<2x9x9x16xf32>
}
