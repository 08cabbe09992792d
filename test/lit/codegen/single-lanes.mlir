// The last column of nine is one lane of a vector. LLVM would store all of the wider number that it was truncated from:
// eight bytes in the place of four.
//
// RUN: env CALQUE_TARGET=avx512 calque-dump --stage=object %s | FileCheck %s

// CHECK: vpmovqd %zmm{{[0-9]+}}, (%rcx
// CHECK-NOT: movq %r{{.*}}, 32(%rcx
// CHECK: movl %{{.*}}, 32(%rcx
func.func @narrow(%x: tensor<3x3x9xi64>) -> tensor<3x3x9xi32> {
  %0 = calque.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<3x3x9xi64>) -> tensor<3x3x9xi64>
  %1 = calque.cast %0 {dtype = i32} : (tensor<3x3x9xi64>) -> tensor<3x3x9xi32>
  return %1 : tensor<3x3x9xi32>
}
