// A reshape is a view: what reads it finds its place without divisions, for known sizes and for others.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s --implicit-check-not=delinearize_index
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx512 --split-input-file %s | FileCheck %s --implicit-check-not=delinearize_index
// RUN: calque-opt --calque-stage=name=llvm --split-input-file %s | FileCheck %s --check-prefix=LLVM

// CHECK-LABEL: func.func @flat(
// CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %arg1 to offset: [0], sizes: [1600], strides: [1]
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %c{{.*}} step
// CHECK: %[[AT:.*]] = arith.muli %[[I]], %c{{.*}}
// CHECK: vector.load %[[FLAT]][%[[AT]]] : memref<1600xf32>
// LLVM-LABEL: llvm.func @calque.kernel_0(
func.func @flat(%x: tensor<40x40xf32>, %y: tensor<1600xf32>) -> tensor<1600xf32> {
  %0 = calque.reshape %x {shape = array<i64: 1600>} : (tensor<40x40xf32>) -> tensor<1600xf32>
  %1 = calque.add %0, %y : (tensor<1600xf32>, tensor<1600xf32>) -> tensor<1600xf32>
  return %1 : tensor<1600xf32>
}

// -----

// The sizes are open, but what is added says that there are 16 elements.
// CHECK-LABEL: func.func @open(
// CHECK: call @calque.kernel_0(%arg1, %arg3, %arg4,
// CHECK: func.func private @calque.kernel_0(
// CHECK: %[[SIZE:.*]] = arith.muli %arg1, %arg2
// CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %arg0 to offset: [0], sizes: [%[[SIZE]]], strides: [1]
// CHECK: vector.load %[[FLAT]][%c0] : memref<?xf32>
// LLVM-LABEL: llvm.func @calque.kernel_0(
func.func @open(%x: tensor<?x?xf32>, %y: tensor<16xf32>) -> (tensor<?xf32>, tensor<16xf32>) {
  %0 = calque.merge_dims %x {axis = 0 : i64} : (tensor<?x?xf32>) -> tensor<?xf32>
  %1 = calque.add %0, %y : (tensor<?xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %0, %1 : tensor<?xf32>, tensor<16xf32>
}
