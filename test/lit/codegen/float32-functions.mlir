// Functions of float32 are vector code, not calls of the C library. Only the reduction of large arguments is behind a branch, which
// is taken if any lane needs it.
// RUN: calque-opt --calque-stage=name=llvm --calque-target=avx2 --split-input-file %s | FileCheck %s --implicit-check-not="llvm.call @{{[a-z0-9]+}}f("

// CHECK-LABEL: llvm.func @calque.kernel_0(
// CHECK: llvm.intr.fma{{.*}} vector<8xf32>
// CHECK: llvm.return
func.func @functions(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = calque.exp %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = calque.expm1 %0 : (tensor<64xf32>) -> tensor<64xf32>
  %2 = calque.log %1 : (tensor<64xf32>) -> tensor<64xf32>
  %3 = calque.log1p %2 : (tensor<64xf32>) -> tensor<64xf32>
  %4 = calque.tanh %3 : (tensor<64xf32>) -> tensor<64xf32>
  %5 = calque.erf %4 : (tensor<64xf32>) -> tensor<64xf32>
  %6 = calque.sigmoid %5 : (tensor<64xf32>) -> tensor<64xf32>
  %7 = calque.tan %6 : (tensor<64xf32>) -> tensor<64xf32>
  return %7 : tensor<64xf32>
}

// -----

// CHECK-LABEL: llvm.func @calque.kernel_0(
// CHECK: %[[ANY:.*]] = "llvm.intr.vector.reduce.or"(%{{.*}}) : (vector<8xi1>) -> i1
// CHECK: llvm.cond_br %[[ANY]]
// CHECK: llvm.fmul {{.*}} : vector<8xf64>
// CHECK: llvm.return
func.func @sine(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = calque.sin %x : (tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// What is left of a row repeats its first element in the other lanes, which raises no exception that the row doesn't raise.
// CHECK-LABEL: llvm.func @calque.kernel_0(
// CHECK: %[[FIRST:.*]] = llvm.load %{{.*}} -> f32
// CHECK: llvm.insertelement %[[FIRST]]
// CHECK: %[[OTHERS:.*]] = llvm.shufflevector
// CHECK: llvm.intr.masked.load {{.*}}, %[[OTHERS]]
// CHECK: llvm.return
func.func @rest(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = calque.rsqrt %x : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// CHECK-LABEL: llvm.func @calque.kernel_0(
// CHECK: llvm.intr.fma{{.*}} vector<8xf32>
// CHECK: llvm.return
func.func @elementary(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = calque.atan %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = calque.asin %0 : (tensor<64xf32>) -> tensor<64xf32>
  %2 = calque.acos %1 : (tensor<64xf32>) -> tensor<64xf32>
  %3 = calque.sinh %2 : (tensor<64xf32>) -> tensor<64xf32>
  %4 = calque.cosh %3 : (tensor<64xf32>) -> tensor<64xf32>
  %5 = calque.asinh %4 : (tensor<64xf32>) -> tensor<64xf32>
  %6 = calque.acosh %5 : (tensor<64xf32>) -> tensor<64xf32>
  %7 = calque.atanh %6 : (tensor<64xf32>) -> tensor<64xf32>
  %8 = calque.log2 %7 : (tensor<64xf32>) -> tensor<64xf32>
  %9 = calque.log10 %8 : (tensor<64xf32>) -> tensor<64xf32>
  %10 = calque.exp2 %9 : (tensor<64xf32>) -> tensor<64xf32>
  %11 = calque.cbrt %10 : (tensor<64xf32>) -> tensor<64xf32>
  %12 = calque.atan2 %11, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %13 = calque.hypot %12, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %13 : tensor<64xf32>
}

// -----

// CHECK-LABEL: llvm.func @calque.kernel_0(
// CHECK: llvm.intr.fma{{.*}} vector<8xf64>
// CHECK: llvm.return
func.func @special(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = calque.erfc %x : (tensor<64xf32>) -> tensor<64xf32>
  %1 = calque.erfcx %0 : (tensor<64xf32>) -> tensor<64xf32>
  %2 = calque.ndtr %1 : (tensor<64xf32>) -> tensor<64xf32>
  %3 = calque.log_ndtr %2 : (tensor<64xf32>) -> tensor<64xf32>
  %4 = calque.ndtri %3 : (tensor<64xf32>) -> tensor<64xf32>
  %5 = calque.erfinv %4 : (tensor<64xf32>) -> tensor<64xf32>
  %6 = calque.i0 %5 : (tensor<64xf32>) -> tensor<64xf32>
  %7 = calque.i1 %6 : (tensor<64xf32>) -> tensor<64xf32>
  %8 = calque.i0e %7 : (tensor<64xf32>) -> tensor<64xf32>
  %9 = calque.i1e %8 : (tensor<64xf32>) -> tensor<64xf32>
  %10 = calque.lgamma %9 : (tensor<64xf32>) -> tensor<64xf32>
  %11 = calque.digamma %10 : (tensor<64xf32>) -> tensor<64xf32>
  %12 = calque.trigamma %11 : (tensor<64xf32>) -> tensor<64xf32>
  %13 = calque.sinc %12 : (tensor<64xf32>) -> tensor<64xf32>
  return %13 : tensor<64xf32>
}
