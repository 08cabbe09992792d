// A kernel that is one parallel loop becomes the function of a piece, and returns how many iterations there are. Other
// loops are called.
// RUN: calque-opt --calque-outline-parallel-loops %s | FileCheck %s

// What stands behind the loop of an elementwise kernel is done by the last piece, of which there is one at least.
// CHECK-LABEL: func.func private @rest(
// CHECK-SAME: memref<?xf32>, %[[N:.*]]: index) -> index attributes {
// CHECK-SAME: calque.parallel = {grain = 1 : i64, piece = "calque_piece_0"}
// CHECK: %[[BLOCKS:.*]] = arith.divui %[[N]], %{{.*}}
// CHECK: %[[ALL:.*]] = arith.maxsi %[[BLOCKS]], %{{.*}}
// CHECK-NEXT: return %[[ALL]] : index
func.func private @rest(%x: memref<?xf32>, %n: index) attributes {calque.kernel, calque.elementwise} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %blocks = arith.divui %n, %c8 : index
  %begin = arith.muli %blocks, %c8 : index
  scf.parallel (%i) = (%c0) to (%blocks) step (%c1) {
    %from = arith.muli %i, %c8 : index
    %v = vector.load %x[%from] : memref<?xf32>, vector<8xf32>
    vector.store %v, %x[%from] : memref<?xf32>, vector<8xf32>
    scf.reduce
  } {calque.grain = 1 : i64}
  scf.for %i = %begin to %n step %c1 {
    memref.store %zero, %x[%i] : memref<?xf32>
  }
  return
}

// The same without the attribute: what stands behind the loop may need it.
// CHECK-LABEL: func.func private @combine(%{{.*}}: memref<?xf32>, %{{.*}}: index) attributes {
// CHECK: call @calque_parallel_
// CHECK: scf.for
func.func private @combine(%x: memref<?xf32>, %n: index) attributes {calque.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %zero, %x[%i] : memref<?xf32>
    scf.reduce
  } {calque.grain = 7 : i64}
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %x[%i] : memref<?xf32>
  }
  return
}

// A number that another kernel has made is read by each piece; an element that this one may write is not.
// CHECK-LABEL: func.func private @number({{.*}}) -> index
// CHECK-LABEL: func.func private @element(
// CHECK: memref.load
// CHECK: call @calque_parallel_
func.func private @number(%x: memref<100xf32>, %cell: memref<f32>) attributes {calque.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %number = memref.load %cell[] : memref<f32>
  scf.parallel (%i) = (%c0) to (%c100) step (%c1) {
    memref.store %number, %x[%i] : memref<100xf32>
    scf.reduce
  } {calque.grain = 7 : i64}
  return
}
func.func private @element(%x: memref<100xf32>) attributes {calque.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %number = memref.load %x[%c0] : memref<100xf32>
  scf.parallel (%i) = (%c0) to (%c100) step (%c1) {
    memref.store %number, %x[%i] : memref<100xf32>
    scf.reduce
  } {calque.grain = 7 : i64}
  return
}

// CHECK-LABEL: func.func private @calque_piece_0(
// CHECK-SAME: %[[BEGIN:.*]]: index, %[[END:.*]]: index, %{{.*}}: memref<?xf32>, %[[N:.*]]: index)
// CHECK: %[[BLOCKS:.*]] = arith.divui %[[N]]
// CHECK: %[[ALL:.*]] = arith.maxsi %[[BLOCKS]],
// CHECK: %[[LAST:.*]] = arith.minsi %[[END]], %[[BLOCKS]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[LAST]]
// CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[END]], %[[ALL]]
// CHECK-NEXT: scf.if %[[IS_LAST]] {
// CHECK-NEXT: scf.for
// CHECK: memref.store
