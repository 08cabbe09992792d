// Powers with common exponents are products, inverses and roots. Of exponents that are not known a branch asks whether all in a
// vector are common; only then there is no logarithm, which is computed in float64.
// RUN: calque-opt --calque-stage=name=llvm --calque-target=avx2 --split-input-file %s | FileCheck %s

// CHECK-LABEL: llvm.func @calque.kernel_0(
// CHECK-NOT: vector<8xf64>
// CHECK: %[[SUM:.*]] = llvm.fadd %{{.*}} : vector<8xf32>
// CHECK: llvm.intr.sqrt(%{{.*}}) : (vector<8xf32>)
// CHECK: llvm.fmul %{{.*}} : vector<8xf32>
// CHECK-NOT: vector<8xf64>
// CHECK: llvm.return
func.func @constants(%x: tensor<64xf32>) -> tensor<64xf32> {
  %half = calque.constant {value = dense<5.0e-01> : tensor<f32>} : () -> tensor<f32>
  %three = calque.constant {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %0 = calque.pow %x, %half : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = calque.pow %0, %three : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// CHECK-LABEL: llvm.func @calque.kernel_0(
// CHECK: %[[ALL:.*]] = "llvm.intr.vector.reduce.and"(%{{.*}}) : (vector<8xi1>) -> i1
// CHECK: llvm.cond_br %[[ALL]]
// CHECK: llvm.fdiv %{{.*}} : vector<8xf64>
// CHECK: llvm.return
func.func @unknown(%x: tensor<64xf32>, %e: tensor<f32>) -> tensor<64xf32> {
  %0 = calque.pow %x, %e : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
