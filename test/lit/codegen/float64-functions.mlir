// Functions of float64 and powers are vector code, not calls of the C library, which is called for the sines of large arguments alone.
// RUN: calque-opt --calque-stage=name=llvm --calque-target=avx512 --split-input-file %s | FileCheck %s --implicit-check-not="llvm.call @{{(exp|expm1|log|log1p|tanh|erf|pow|atan|asin|acos|sinh|cosh|asinh|acosh|atanh|log2|log10|exp2|cbrt|atan2|hypot|erfc|lgamma|lgamma_r)}}("

// CHECK-LABEL: llvm.func @calque.kernel_0(
// CHECK: llvm.intr.fma{{.*}} vector<8xf64>
// CHECK: llvm.return
func.func @functions(%x: tensor<64xf64>) -> tensor<64xf64> {
  %0 = calque.exp %x : (tensor<64xf64>) -> tensor<64xf64>
  %1 = calque.expm1 %0 : (tensor<64xf64>) -> tensor<64xf64>
  %2 = calque.log %1 : (tensor<64xf64>) -> tensor<64xf64>
  %3 = calque.log1p %2 : (tensor<64xf64>) -> tensor<64xf64>
  %4 = calque.tanh %3 : (tensor<64xf64>) -> tensor<64xf64>
  %5 = calque.erf %4 : (tensor<64xf64>) -> tensor<64xf64>
  %6 = calque.pow %5, %x : (tensor<64xf64>, tensor<64xf64>) -> tensor<64xf64>
  return %6 : tensor<64xf64>
}

// -----

// CHECK-LABEL: llvm.func @calque.kernel_0(
// CHECK: %[[ANY:.*]] = "llvm.intr.vector.reduce.or"(%{{.*}}) : (vector<8xi1>) -> i1
// CHECK: llvm.cond_br %[[ANY]]
// CHECK-COUNT-8: llvm.call @sin(
// CHECK: llvm.return
func.func @sine(%x: tensor<64xf64>) -> tensor<64xf64> {
  %0 = calque.sin %x : (tensor<64xf64>) -> tensor<64xf64>
  return %0 : tensor<64xf64>
}

// -----

// Where there is no instruction that rounds a product and a sum once, a call does it: all processors have the same bits.
// RUN: calque-opt --calque-stage=name=llvm --calque-target=baseline %s --split-input-file | FileCheck %s --check-prefix=BASELINE
// BASELINE-LABEL: llvm.func @calque.kernel_0(
// BASELINE-LABEL: llvm.func @calque.kernel_0(
// BASELINE-LABEL: llvm.func @calque.kernel_0(
// BASELINE: llvm.intr.fma
func.func @power(%x: tensor<64xf64>, %y: tensor<64xf64>) -> tensor<64xf64> {
  %0 = calque.pow %x, %y : (tensor<64xf64>, tensor<64xf64>) -> tensor<64xf64>
  return %0 : tensor<64xf64>
}

// -----

// CHECK-LABEL: llvm.func @calque.kernel_0(
// CHECK: llvm.intr.fma{{.*}} vector<8xf64>
// CHECK: llvm.return
func.func @elementary(%x: tensor<64xf64>) -> tensor<64xf64> {
  %0 = calque.atan %x : (tensor<64xf64>) -> tensor<64xf64>
  %1 = calque.asin %0 : (tensor<64xf64>) -> tensor<64xf64>
  %2 = calque.acos %1 : (tensor<64xf64>) -> tensor<64xf64>
  %3 = calque.sinh %2 : (tensor<64xf64>) -> tensor<64xf64>
  %4 = calque.cosh %3 : (tensor<64xf64>) -> tensor<64xf64>
  %5 = calque.asinh %4 : (tensor<64xf64>) -> tensor<64xf64>
  %6 = calque.acosh %5 : (tensor<64xf64>) -> tensor<64xf64>
  %7 = calque.atanh %6 : (tensor<64xf64>) -> tensor<64xf64>
  %8 = calque.log2 %7 : (tensor<64xf64>) -> tensor<64xf64>
  %9 = calque.log10 %8 : (tensor<64xf64>) -> tensor<64xf64>
  %10 = calque.exp2 %9 : (tensor<64xf64>) -> tensor<64xf64>
  %11 = calque.cbrt %10 : (tensor<64xf64>) -> tensor<64xf64>
  %12 = calque.atan2 %11, %x : (tensor<64xf64>, tensor<64xf64>) -> tensor<64xf64>
  %13 = calque.hypot %12, %x : (tensor<64xf64>, tensor<64xf64>) -> tensor<64xf64>
  return %13 : tensor<64xf64>
}

// -----

// CHECK-LABEL: llvm.func @calque.kernel_0(
// CHECK: llvm.intr.fma{{.*}} vector<8xf64>
// CHECK: llvm.return
func.func @special(%x: tensor<64xf64>) -> tensor<64xf64> {
  %0 = calque.erfc %x : (tensor<64xf64>) -> tensor<64xf64>
  %1 = calque.erfcx %0 : (tensor<64xf64>) -> tensor<64xf64>
  %2 = calque.ndtr %1 : (tensor<64xf64>) -> tensor<64xf64>
  %3 = calque.log_ndtr %2 : (tensor<64xf64>) -> tensor<64xf64>
  %4 = calque.ndtri %3 : (tensor<64xf64>) -> tensor<64xf64>
  %5 = calque.erfinv %4 : (tensor<64xf64>) -> tensor<64xf64>
  %6 = calque.i0 %5 : (tensor<64xf64>) -> tensor<64xf64>
  %7 = calque.i1 %6 : (tensor<64xf64>) -> tensor<64xf64>
  %8 = calque.i0e %7 : (tensor<64xf64>) -> tensor<64xf64>
  %9 = calque.i1e %8 : (tensor<64xf64>) -> tensor<64xf64>
  %10 = calque.lgamma %9 : (tensor<64xf64>) -> tensor<64xf64>
  %11 = calque.digamma %10 : (tensor<64xf64>) -> tensor<64xf64>
  %12 = calque.trigamma %11 : (tensor<64xf64>) -> tensor<64xf64>
  %13 = calque.sinc %12 : (tensor<64xf64>) -> tensor<64xf64>
  return %13 : tensor<64xf64>
}
