// Sizes of tensors become those of arguments, also through what computes the tensors. Where a check has found a size equal
// to another or to a constant, that one is taken.
// RUN: calque-opt --calque-resolve-sizes --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @unknown(
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %{{.*}}: index, %{{.*}}: index)
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : index
// CHECK-NOT: tensor.dim
// CHECK: return %[[N]], %[[THREE]], %[[N]] :
func.func @unknown(%frame: !llvm.ptr, %x: tensor<?x?xf32>, %y: tensor<?xf32>, %a: index, %b: index, %c: index) -> (index, index, index)
    attributes {calque.inputs = 2 : i64, calque.unknown_inputs = array<i64: 0, 0, 0, 1, 1, 0>, calque.equal_sizes = array<i64: 2, 0>, calque.known_sizes = array<i64: 1, 3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.empty(%a, %b) : tensor<?x?xf32>
  %made = linalg.exp ins(%x : tensor<?x?xf32>) outs(%0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = tensor.dim %x, %c0 : tensor<?x?xf32>
  %2 = tensor.dim %made, %c1 : tensor<?x?xf32>
  %3 = tensor.dim %y, %c0 : tensor<?xf32>
  return %1, %2, %3 : index, index, index
}

// -----

// Without unknown sizes nothing is looked at.
// CHECK-LABEL: func.func @known(
// CHECK: tensor.dim
func.func @known(%frame: !llvm.ptr, %x: tensor<4xf32>, %i: tensor<?xf32>) -> index attributes {calque.inputs = 2 : i64} {
  %c0 = arith.constant 0 : index
  %0 = tensor.dim %i, %c0 : tensor<?xf32>
  return %0 : index
}
