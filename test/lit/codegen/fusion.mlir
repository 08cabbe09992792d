// What is fused, and what would be computed more than once and is not.
// RUN: calque-opt --calque-stage=name=linalg --split-input-file %s | FileCheck %s
// By itself, on a file that has nothing to fuse yet.
// RUN: calque-opt --calque-fuse-elementwise --split-input-file %s -o /dev/null
// RUN: calque-opt --help | FileCheck %s --check-prefix=HELP
// HELP: --calque-fuse-elementwise

// An element that fifty rows read is computed once, by itself.
// CHECK-LABEL: func.func @broadcast(
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: llvm.freeze
// CHECK-NEXT: math.exp
// CHECK-NEXT: linalg.yield
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.mulf
// CHECK: return
func.func @broadcast(%x: tensor<100xf32>, %y: tensor<50x100xf32>) -> tensor<50x100xf32> {
  %0 = calque.exp %x : (tensor<100xf32>) -> tensor<100xf32>
  %1 = calque.mul %y, %0 : (tensor<50x100xf32>, tensor<100xf32>) -> tensor<50x100xf32>
  return %1 : tensor<50x100xf32>
}

// -----

// The operand of a product is read once for each column.
// CHECK-LABEL: func.func @operand(
// CHECK: math.exp
// CHECK: linalg.yield
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK: return
func.func @operand(%x: tensor<12x9xf32>, %y: tensor<9x16xf32>) -> tensor<12x16xf32> {
  %0 = calque.exp %x : (tensor<12x9xf32>) -> tensor<12x9xf32>
  %1 = calque.contract %0, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<12x9xf32>, tensor<9x16xf32>) -> tensor<12x16xf32>
  return %1 : tensor<12x16xf32>
}

// -----

// What two operations read is computed once.
// CHECK-LABEL: func.func @twice(
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// CHECK: return
func.func @twice(%x: tensor<12x9xf32>) -> (tensor<12x9xf32>, tensor<12x9xf32>) {
  %0 = calque.exp %x : (tensor<12x9xf32>) -> tensor<12x9xf32>
  %1 = calque.add %0, %x : (tensor<12x9xf32>, tensor<12x9xf32>) -> tensor<12x9xf32>
  %2 = calque.mul %0, %x : (tensor<12x9xf32>, tensor<12x9xf32>) -> tensor<12x9xf32>
  return %1, %2 : tensor<12x9xf32>, tensor<12x9xf32>
}

// -----

// A sum reads each of its terms once: they are computed within it.
// CHECK-LABEL: func.func @term(
// CHECK-COUNT-1: linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: llvm.freeze
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @term(%x: tensor<12x9xf32>) -> tensor<12xf32> {
  %0 = calque.exp %x : (tensor<12x9xf32>) -> tensor<12x9xf32>
  %1 = calque.reduce_sum %0 {axes = array<i64: 1>} : (tensor<12x9xf32>) -> tensor<12xf32>
  return %1 : tensor<12xf32>
}

// -----

// Transposes become the order in which a product reads its operands.
// CHECK-LABEL: func.func @fold(
// CHECK-SAME: %[[X:[^:]*]]: tensor<9x12xf32>, %[[Y:[^:]*]]: tensor<16x9xf32>)
// CHECK-COUNT-1: linalg.generic
// CHECK-SAME: ins(%[[X]], %[[Y]] :
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @fold(%x: tensor<9x12xf32>, %y: tensor<16x9xf32>) -> tensor<12x16xf32> {
  %0 = calque.transpose %x : (tensor<9x12xf32>) -> tensor<12x9xf32>
  %1 = calque.transpose %y : (tensor<16x9xf32>) -> tensor<9x16xf32>
  %2 = calque.contract %0, %1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<12x9xf32>, tensor<9x16xf32>) -> tensor<12x16xf32>
  return %2 : tensor<12x16xf32>
}

// -----

// A tree of operations is one, in the order of its root: what is transposed is read transposed, each tensor once in each
// order, and constants are in the body.
// CHECK: #[[SAME:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: #[[OTHER:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @tree(
// CHECK-SAME: %[[X:[^:]*]]: tensor<3x4xf32>, %[[Y:[^:]*]]: tensor<4x3xf32>)
// CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: linalg.generic {indexing_maps = [#[[SAME]], #[[OTHER]], #[[SAME]]]
// CHECK-SAME: ins(%[[Y]], %[[X]] :
// CHECK-NEXT: ^bb0(%[[OF_Y:.*]]: f32, %[[OF_X:.*]]: f32, %{{.*}}: f32):
// CHECK: math.exp
// CHECK-NEXT: %[[SQUARE:.*]] = arith.mulf %[[EXP:.*]], %[[EXP]]
// CHECK-NEXT: %[[TWICE:.*]] = arith.mulf %[[SQUARE]], %[[TWO]]
// CHECK-NEXT: %[[DIVISOR:.*]] = arith.subf %[[TWICE]], %[[OF_X]]
// CHECK-NEXT: llvm.freeze %[[OF_Y]]
// CHECK-NEXT: %[[TANH:.*]] = math.tanh
// CHECK-NEXT: arith.divf %[[TANH]], %[[DIVISOR]]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @tree(%x: tensor<3x4xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = calque.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %1 = calque.exp %x : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = calque.mul %1, %1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = calque.mul %2, %0 : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %4 = calque.sub %3, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %5 = calque.transpose %4 {permutation = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %6 = calque.tanh %y : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %7 = calque.div %6, %5 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %7 : tensor<4x3xf32>
}

// -----

// A sum of what reads nothing would not say how many terms it has.
// CHECK-LABEL: func.func @count(
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]
// CHECK: return
func.func @count() -> tensor<f32> {
  %0 = calque.constant {value = dense<2.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %1 = calque.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = calque.reduce_sum %1 {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// A loop of which two results are read, each by one operation, runs once.
// CHECK-LABEL: func.func @results(
// CHECK: scf.while
// CHECK-NOT: scf.while
// CHECK: return
func.func @results(%x: tensor<f32>, %n: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0:2 = calque.while %x, %x, %n : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%i: tensor<f32>, %y: tensor<f32>, %end: tensor<f32>):
    %4 = calque.less %i, %end : (tensor<f32>, tensor<f32>) -> tensor<i1>
    vector.yield %4 : tensor<i1>
  } {
  ^bb0(%i: tensor<f32>, %y: tensor<f32>, %end: tensor<f32>):
    %4 = calque.add %i, %i : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %5 = calque.mul %y, %i : (tensor<f32>, tensor<f32>) -> tensor<f32>
    vector.yield %4, %5 : tensor<f32>, tensor<f32>
  }
  %1 = calque.mul %0#0, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %2 = calque.add %0#1, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %1, %2 : tensor<f32>, tensor<f32>
}

// -----

// A constant whose elements are equal is part of the body, and no input any more, so that no pattern makes the operation
// anew without it.
// CHECK-LABEL: func.func @constant(
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<3x5xf32>) outs(
// CHECK-NEXT: ^bb0(%{{[^,]*}}: f32, %{{[^,]*}}: f32):
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: linalg.yield
func.func @constant(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = calque.constant {value = dense<1.5> : tensor<5xf32>} : () -> tensor<5xf32>
  %1 = calque.mul %x, %0 : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}

// -----

// The result says how often the loops run, even where the constant alone did so among the inputs.
// CHECK-LABEL: func.func @onlyConstant(
// CHECK: linalg.generic {{.*}}ins(%{{[^:]*}} : tensor<f32>)
func.func @onlyConstant(%x: tensor<f32>) -> tensor<7xf32> {
  %0 = calque.constant {value = dense<2.0> : tensor<7xf32>} : () -> tensor<7xf32>
  %1 = calque.mul %x, %0 : (tensor<f32>, tensor<7xf32>) -> tensor<7xf32>
  return %1 : tensor<7xf32>
}

// -----

// A product writes its results where its transpose has them.
// CHECK-LABEL: func.func @movedResult(
// CHECK: linalg.fill {{.*}} -> tensor<4x?x2x3xf32>
// CHECK-NEXT: linalg.generic {{.*}}"reduction"]{{.*}} outs(%{{[^:]*}} : tensor<4x?x2x3xf32>)
// CHECK-NOT: linalg.generic
func.func @movedResult(%x: tensor<?x2x5xf32>, %y: tensor<5x3x4xf32>) -> tensor<4x?x2x3xf32> {
  %0 = calque.contract %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 0>} : (tensor<?x2x5xf32>, tensor<5x3x4xf32>) -> tensor<?x2x3x4xf32>
  %1 = calque.transpose %0 {permutation = array<i64: 3, 0, 1, 2>} : (tensor<?x2x3x4xf32>) -> tensor<4x?x2x3xf32>
  return %1 : tensor<4x?x2x3xf32>
}

// -----

// One that is read twice is not computed twice.
// CHECK-LABEL: func.func @movedAndRead(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
func.func @movedAndRead(%x: tensor<2x5xf32>, %y: tensor<5x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = calque.contract %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2x5xf32>, tensor<5x3xf32>) -> tensor<2x3xf32>
  %1 = calque.transpose %0 : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %1, %0 : tensor<3x2xf32>, tensor<2x3xf32>
}

// -----

// With the batches innermost the product would have no loop for its vectors: it keeps its order, and is moved.
// CHECK-LABEL: func.func @movedBatches(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
func.func @movedBatches(%x: tensor<4x2x5xf32>, %y: tensor<4x5x3xf32>) -> tensor<2x3x4xf32> {
  %0 = calque.contract %x, %y {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 1>} : (tensor<4x2x5xf32>, tensor<4x5x3xf32>) -> tensor<4x2x3xf32>
  %1 = calque.transpose %0 {permutation = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}
