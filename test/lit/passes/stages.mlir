// An elementwise chain through the stages of the compiler.
// RUN: calque-opt --calque-stage=name=linalg %s | FileCheck %s --check-prefix=LINALG
// RUN: calque-opt --calque-stage=name=bufferized %s | FileCheck %s --check-prefix=BUFFERIZED
// RUN: calque-opt --calque-stage=name=llvm %s | FileCheck %s --check-prefix=LLVM

// A chain of elementwise operations is one loop, and writes into its destination without a buffer between.
// LINALG-LABEL: func.func @chain(
// LINALG-COUNT-1: linalg.generic
// LINALG-NOT: linalg.generic
// BUFFERIZED-LABEL: func.func @chain(
// BUFFERIZED-SAME: memref<0xi8>)
// BUFFERIZED-NOT: memref.alloc
// BUFFERIZED: scf.for
// LLVM-LABEL: llvm.func @calque_chain(
// LLVM-NOT: math.
func.func @chain(%x: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<4x5xf32> {
  %0 = calque.add %x, %b : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  %1 = calque.tanh %0 : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = calque.mul %1, %x : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return %2 : tensor<4x5xf32>
}
