// What a body reads at indices that it computes takes vectors: neighbours as one, others lane by lane. Checks of indices and divisors do,
// too; the loop that finds the first bad element has no iterations where none is bad.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func private @calque.kernel_0(
// CHECK: arith.ori {{.*}} : vector<8xi32>
// CHECK-LABEL: func.func private @calque.kernel_1(
// CHECK: %[[ROWS:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK: scf.for %{{.*}} to %[[ROWS]]
// CHECK: call @calque_rt_fail
// CHECK-LABEL: func.func private @calque.kernel_2(
// CHECK: vector.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<900x1024xf32>, vector<8xf32>
func.func @rows(%x: tensor<900x1024xf32>, %i: tensor<1000xi32>) -> tensor<1000x1024xf32> {
  %0 = calque.gather %x, %i {axis = 0 : i64} : (tensor<900x1024xf32>, tensor<1000xi32>) -> tensor<1000x1024xf32>
  return %0 : tensor<1000x1024xf32>
}

// -----

// CHECK-LABEL: func.func private @calque.kernel_2(
// CHECK: vector.gather %{{.*}} : memref<900xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32> into vector<8xf32>
func.func @elements(%x: tensor<900xf32>, %i: tensor<1000xi32>) -> tensor<1000xf32> {
  %0 = calque.gather %x, %i {axis = 0 : i64} : (tensor<900xf32>, tensor<1000xi32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// -----

// Few indices are looked at one by one.
// CHECK-LABEL: func.func private @calque.kernel_0(
// CHECK-NOT: arith.ori
// CHECK: scf.for
// CHECK: call @calque_rt_fail
func.func @few(%x: tensor<900xf32>, %i: tensor<5xi32>) -> tensor<5xf32> {
  %0 = calque.gather %x, %i {axis = 0 : i64} : (tensor<900xf32>, tensor<5xi32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// The largest element, and then the first place that has it.
// CHECK-LABEL: func.func @largest(
// CHECK-DAG: arith.maximumf {{.*}} : vector<8xf32>
// CHECK-DAG: arith.minsi {{.*}} : vector<4xi64>
func.func @largest(%x: tensor<1000xf32>) -> tensor<i64> {
  %0 = calque.argmax %x {axis = 0 : i64} : (tensor<1000xf32>) -> tensor<i64>
  return %0 : tensor<i64>
}

// -----

// Quotients of integers go through float64; a constant divisor is LLVM's.
// RUN: calque-opt --calque-stage=name=llvm --calque-target=avx2 --split-input-file %s | FileCheck %s --check-prefix=LLVM
// LLVM-LABEL: llvm.func @calque.kernel_0(
// LLVM-LABEL: llvm.func @calque.kernel_0(
// LLVM-LABEL: llvm.func @calque.kernel_0(
// LLVM-LABEL: llvm.func @calque.kernel_0(
// LLVM-LABEL: llvm.func @calque.kernel_0(
// LLVM-LABEL: llvm.func @calque.kernel_1(
// LLVM: llvm.fdiv {{.*}} : vector<8xf64>
// LLVM: llvm.fptosi {{.*}} : vector<8xf64> to vector<8xi32>
// LLVM-LABEL: llvm.func @calque.kernel_2(
// LLVM: llvm.srem {{.*}} : vector<8xi32>
func.func @quotients(%x: tensor<40xi32>, %y: tensor<40xi32>) -> (tensor<40xi32>, tensor<40xi32>) {
  %c = calque.constant {value = dense<7> : tensor<i32>} : () -> tensor<i32>
  %0 = calque.div %x, %y : (tensor<40xi32>, tensor<40xi32>) -> tensor<40xi32>
  %1 = calque.fmod %0, %c : (tensor<40xi32>, tensor<i32>) -> tensor<40xi32>
  return %0, %1 : tensor<40xi32>, tensor<40xi32>
}
