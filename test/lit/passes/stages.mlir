// An elementwise chain through the stages of the compiler.
// RUN: calque-opt --calque-stage=name=linalg %s | FileCheck %s --check-prefix=LINALG
// RUN: calque-opt --calque-stage=name=bufferized %s | FileCheck %s --check-prefix=BUFFERIZED
// RUN: calque-opt --calque-stage=name=scheduled %s | FileCheck %s --check-prefix=SCHEDULED --implicit-check-not=linalg. --implicit-check-not=memref.alloc
// RUN: calque-opt --calque-stage=name=llvm %s | FileCheck %s --check-prefix=LLVM

// A chain of elementwise operations is one loop, and writes into its destination without a buffer between.
// LINALG-LABEL: func.func @chain(
// LINALG-COUNT-1: linalg.generic
// LINALG-NOT: linalg.generic
// BUFFERIZED-LABEL: func.func @chain(
// BUFFERIZED-SAME: memref<5xf32>, %[[RESULT:[^:]*]]: memref<4x5xf32>)
// BUFFERIZED-NOT: memref.alloc
// BUFFERIZED: linalg.generic {{.*}} outs(%[[RESULT]] :
// BUFFERIZED-NOT: linalg.generic
// The workspace has no bytes. How wide the vectors are is up to the processor.
// SCHEDULED-LABEL: func.func @chain(
// SCHEDULED-SAME: memref<4x5xf32>, %{{[^:]*}}: memref<0xi8>)
// SCHEDULED: math.tanh {{.*}} : vector<
// LLVM-LABEL: llvm.func @calque.kernel_0(
// LLVM-NOT: math.
func.func @chain(%x: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<4x5xf32> {
  %0 = calque.add %x, %b : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  %1 = calque.tanh %0 : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = calque.mul %1, %x : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return %2 : tensor<4x5xf32>
}
