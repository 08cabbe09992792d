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
