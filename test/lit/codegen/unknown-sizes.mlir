// Unknown dimensions: one body for all sizes, and a function that checks them and says those of results and the workspace.
// RUN: calque-opt --calque-stage=name=linalg --split-input-file %s | FileCheck %s --check-prefix=LINALG
// RUN: calque-opt --calque-stage=name=bufferized --split-input-file %s | FileCheck %s --check-prefix=BUFFERS
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s --check-prefix=KERNEL
// RUN: calque-opt --calque-stage=name=llvm --calque-target=avx2 --split-input-file %s | FileCheck %s --check-prefix=LLVM

// Each unknown size is an argument. Two that must be equal are one from there on.
// LINALG-LABEL: func.func @add(
// LINALG-SAME: %{{.*}}: !llvm.ptr, %[[X:.*]]: tensor<?x3xf32>, %[[Y:.*]]: tensor<?x3xf32>, %[[N:.*]]: index, %{{.*}}: index)
// LINALG: tensor.empty(%[[N]]) : tensor<?x3xf32>
// LINALG: return %{{.*}}, %[[N]] : tensor<?x3xf32>, index
// The checks come first, then the sizes of results, and whether their bytes can be addressed.
// LINALG-LABEL: func.func @calque.shapes(
// LINALG-SAME: %[[FRAME:.*]]: !llvm.ptr, %[[RESULTS:.*]]: memref<1xi64>, %{{.*}}: memref<1xi64>, %[[M:.*]]: index, %[[K:.*]]: index)
// LINALG: %[[DIFFER:.*]] = arith.cmpi ne, %[[M]], %[[K]]
// LINALG: scf.if %[[DIFFER]]
// LINALG: func.call @calque_rt_fail(%[[FRAME]]
// LINALG: memref.store %{{.*}}, %[[RESULTS]]
// LINALG: arith.mulsi_extended
// LINALG: func.call @calque_rt_fail

// Buffers are bare pointers.
// BUFFERS-LABEL: func.func @add(
// BUFFERS-SAME: memref<1xf32>, %{{.*}}: memref<1xf32>, %[[N:.*]]: index, %{{.*}}: index, %{{.*}}: memref<1xf32>)
// BUFFERS-COUNT-3: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[N]], 3], strides: [3, 1]

// The loops of an elementwise operation are one whatever the sizes, in vectors with a masked one at the end.
// KERNEL-LABEL: func.func @add(
// KERNEL: %[[COUNT:.*]] = arith.muli %{{.*}}, %c3
// KERNEL: scf.parallel
// KERNEL: vector<8xf32>
// KERNEL: vector.create_mask
// KERNEL: vector.maskedstore
// KERNEL-NOT: memref.load
// KERNEL: return

// LLVM: llvm.func @calque.kernel_0(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr {llvm.noalias})
// LLVM: llvm.func @calque.shapes(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
func.func @add(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = calque.add %x, %y : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

// Tiles in registers, blocks of terms that are bounded by what is known, and remainders of 4, 2 and 1 rows.
// KERNEL-LABEL: func.func @product(
// KERNEL: scf.parallel
// KERNEL: memref.alloca() {{.*}} : memref<{{[0-9]+}}xf32>
// KERNEL: vector.fma
// KERNEL: vector.maskedload
func.func @product(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = calque.contract %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// Intermediate values stand one after the other behind those of known size. Two of the same sizes that are never alive at
// once share a place; the bytes of all are stored for the caller.
// KERNEL-LABEL: func.func @places(
// KERNEL-COUNT-2: memref.view %[[WORKSPACE:.*]][%{{.*}}][%{{.*}}] : memref<{{[0-9]+}}xi8> to memref<?x?xf32>
// KERNEL-LABEL: func.func @calque.shapes(
// KERNEL-SAME: memref<2xi64>, %[[BYTES:.*]]: memref<1xi64>
// KERNEL: arith.minui
// KERNEL: memref.store %{{.*}}, %[[BYTES]]
func.func @places(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = calque.contract %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = calque.contract %0, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = calque.contract %1, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// -----

// What prints is given the sizes.
// BUFFERS-LABEL: func.func @print(
// BUFFERS-SAME: %[[N:[^ ]*]]: index
// BUFFERS: call @calque.runtime_0(%{{.*}}, %[[N]], %c2) : (!llvm.ptr, i64, i64, i64, memref<1xf32>, index, index) -> ()
func.func @print(%x: tensor<?x2xf32>) {
  calque.print %x {label = "x"} : (tensor<?x2xf32>) -> ()
  return
}

// -----

// The cotangent says how many elements there are, while the width of the images is open.
// LINALG-LABEL: func.func @known_elements(
// LINALG: tensor.cast %{{.*}} : tensor<2x1x2x2xf32> to tensor<2x1x2x?xf32>
func.func @known_elements(%c: tensor<2x1x2x2xf32>, %like: tensor<2x1x2x?xf32>) -> tensor<2x1x2x?xf32> {
  %0 = calque.sum_pool_grad %c, %like {padding = "valid", strides = array<i64: 1, 1>, window = array<i64: 1, 1>} : (tensor<2x1x2x2xf32>, tensor<2x1x2x?xf32>) -> tensor<2x1x2x?xf32>
  return %0 : tensor<2x1x2x?xf32>
}

// -----

// A transpose goes by squares whose number is counted at run time. Behind them are what is left of each direction.
// KERNEL-LABEL: func.func @transpose(
// KERNEL: scf.parallel
// KERNEL-COUNT-8: vector.load {{.*}} vector<8xf32>
// KERNEL: vector.shuffle
// KERNEL-COUNT-8: vector.store {{.*}} vector<8xf32>
func.func @transpose(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = calque.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
