// Operations that do the same on buffers of the same sizes and strides are calls of one kernel.
// RUN: calque-opt --calque-stage=name=outlined --split-input-file %s | FileCheck %s --implicit-check-not='func.func private @calque.kernel'
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s --check-prefix=SCHEDULED

// Three rounds, whose sums and whose products are equal.
// CHECK-LABEL: func.func @rounds(
// CHECK-COUNT-3: call @calque.kernel_0(%{{.*}}, %{{.*}}, %{{.*}}) :
// CHECK-NEXT: return
// CHECK: func.func private @calque.kernel_0(
// CHECK: linalg.generic
func.func @rounds(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = calque.contract %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = calque.contract %0, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = calque.contract %1, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Places and numbers that differ are arguments.
// CHECK-LABEL: func.func @places(
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.0
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.0
// CHECK-DAG: call @calque.kernel_0(%arg1, %{{.*}}, %c0, %[[ONE]]) :
// CHECK-DAG: call @calque.kernel_0(%arg1, %{{.*}}, %c8, %[[TWO]]) :
// CHECK: return
// CHECK: func.func private @calque.kernel_0(%arg0: memref<8xf32>, %arg1: memref<1xf32> {llvm.noalias}, %arg2: index, %arg3: f32)
func.func @places(%x: tensor<8xf32>) -> tensor<16xf32> {
  %one = calque.constant {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %two = calque.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = calque.add %x, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = calque.add %x, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = calque.concat %0, %1 {axis = 0 : i64} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// -----

// A number that all calls have is a constant of the kernel.
// CHECK-LABEL: func.func @constant(
// CHECK: call @calque.kernel_0(%arg1, %arg3) :
// CHECK: call @calque.kernel_0(%arg2, %arg4) :
// CHECK: func.func private @calque.kernel_0(%arg0: memref<8xf32>, %arg1: memref<8xf32> {llvm.noalias})
// CHECK: arith.constant 2.0
func.func @constant(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %two = calque.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = calque.add %x, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = calque.add %y, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Another type, another size or another operation is another kernel, and so is another order of operands.
// CHECK-LABEL: func.func @others(
// CHECK: call @calque.kernel_0(
// CHECK: call @calque.kernel_1(
// CHECK: call @calque.kernel_2(
// CHECK: call @calque.kernel_3(
// CHECK: return
// CHECK: func.func private @calque.kernel_0(
// CHECK: func.func private @calque.kernel_1(
// CHECK: func.func private @calque.kernel_2(
// CHECK: func.func private @calque.kernel_3(
func.func @others(%x: tensor<8xf32>, %y: tensor<9xf32>, %z: tensor<8xf64>) -> (tensor<8xf32>, tensor<9xf32>, tensor<8xf64>, tensor<8xf32>) {
  %0 = calque.sub %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = calque.neg %y : (tensor<9xf32>) -> tensor<9xf32>
  %2 = calque.neg %z : (tensor<8xf64>) -> tensor<8xf64>
  %3 = calque.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<9xf32>, tensor<8xf64>, tensor<8xf32>
}

// -----

// With unknown sizes, these are arguments: two products of one kernel.
// CHECK-LABEL: func.func @open(
// CHECK-SAME: %[[N:[^ ]*]]: index, %[[M:[^ ]*]]: index,
// CHECK-DAG: call @calque.kernel_0(%arg1, %[[N]], %{{.*}}) {
// CHECK-DAG: call @calque.kernel_0(%arg2, %[[M]], %{{.*}}) {
// CHECK: return
// CHECK: func.func private @calque.kernel_0(
func.func @open(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %0 = calque.exp %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = calque.exp %y : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}

// -----

// A check that is known to fail is a kernel too.
// CHECK-LABEL: func.func @fails(
// CHECK: call @calque.kernel_0(%arg0
// CHECK: call @calque.kernel_1(
// CHECK: func.func private @calque.kernel_0(
// CHECK: call @calque_rt_fail(
// CHECK: func.func private @calque.kernel_1(
func.func @fails(%x: tensor<3xf32>) -> tensor<1xf32> {
  %i = calque.constant {value = dense<7> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = calque.gather %x, %i {axis = 0 : i64} : (tensor<3xf32>, tensor<1xi32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

// What one kernel makes for another passes through a cell: here the words of a random state.
// CHECK-LABEL: func.func @cells(
// CHECK-COUNT-2: memref.view {{.*}} to memref<i64>
// CHECK: call @calque.kernel_0(%arg1, %c0{{.*}}, %[[FIRST:.*]]) :
// CHECK: call @calque.kernel_0(%arg1, %c1, %[[SECOND:.*]]) :
// CHECK: call @calque.kernel_1(%arg2, %[[SECOND]], %[[FIRST]]) :
// CHECK: func.func private @calque.kernel_0(
// CHECK: memref.store
// CHECK: func.func private @calque.kernel_1(
func.func @cells(%state: tensor<2xi64>) -> tensor<5xf32> {
  %0 = calque.random_uniform %state {shape = array<i64: 5>, dtype = f32} : (tensor<2xi64>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// A buffer that is there for its sizes alone, with views of it that nothing reads either, goes before kernels are given memory.
// CHECK-LABEL: func.func @window(
// CHECK: func.func private @calque.kernel_0(
// CHECK: func.func private @calque.kernel_1(
// SCHEDULED-LABEL: func.func @window(
// SCHEDULED-NOT: memref.alloc
func.func @window() -> tensor<3x2x2x1x2xf32> {
  %c = calque.constant {value = dense<1.0> : tensor<2x3x2x2xf32>} : () -> tensor<2x3x2x2xf32>
  %0 = calque.max_pool %c {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, padding = "valid"} : (tensor<2x3x2x2xf32>) -> tensor<2x2x1x2xf32>
  %1 = calque.broadcast_to %0 {shape = array<i64: 3, 2, 2, 1, 2>} : (tensor<2x2x1x2xf32>) -> tensor<3x2x2x1x2xf32>
  return %1 : tensor<3x2x2x1x2xf32>
}
