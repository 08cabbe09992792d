// A training step through the stages of the compiler: what each leaves behind, and that lines of the user's program stay.
// DEFINE: %{stage} =
// DEFINE: %{run} = calque-opt --calque-stage=name=%{stage} --mlir-print-debuginfo --mlir-print-local-scope %s

// REDEFINE: %{stage} = traced
// RUN: %{run} | FileCheck %s --check-prefix=TRACED --implicit-check-not='loc(unknown)'
// REDEFINE: %{stage} = differentiated
// RUN: %{run} | FileCheck %s --check-prefix=DIFFERENTIATED --implicit-check-not='loc(unknown)' --implicit-check-not=calque.gradient
// REDEFINE: %{stage} = simplified
// RUN: %{run} | FileCheck %s --check-prefix=SIMPLIFIED --implicit-check-not='loc(unknown)' --implicit-check-not=calque.variable --implicit-check-not=calque.reduce_mean
// REDEFINE: %{stage} = linalg
// RUN: %{run} | FileCheck %s --check-prefix=LINALG --implicit-check-not='= calque.' --implicit-check-not='"calque.'
// REDEFINE: %{stage} = bufferized
// RUN: %{run} | FileCheck %s --check-prefix=BUFFERIZED --implicit-check-not='tensor<' --implicit-check-not=xi8
// REDEFINE: %{stage} = outlined
// RUN: %{run} | FileCheck %s --check-prefix=OUTLINED --implicit-check-not=memref.alloc
// REDEFINE: %{stage} = scheduled
// RUN: %{run} | FileCheck %s --check-prefix=SCHEDULED --implicit-check-not=linalg. --implicit-check-not=memref.alloc
// REDEFINE: %{stage} = llvm
// RUN: %{run} | FileCheck %s --check-prefix=LLVM --implicit-check-not=memref --implicit-check-not=func.func --implicit-check-not=unrealized
// MLIR takes the location of constants and of poison, which is one; only theirs.
// RUN: %{run} | grep 'loc(unknown)' | not grep -Ev 'constant|poison'

// TRACED-LABEL: func.func @step(
// TRACED-SAME: calque.variables
// TRACED: calque.variable_read {{.*}} loc("user.cpp":11:3)
// TRACED: calque.gradient {{.*}} loc("user.cpp":15:3)
// TRACED: calque.variable_assign {{.*}} loc("user.cpp":17:3)

// DIFFERENTIATED-LABEL: func.func @step(
// DIFFERENTIATED: calque.variable_read {{.*}} loc("user.cpp":11:3)
// DIFFERENTIATED: calque.reduce_mean {{.*}} loc("user.cpp":13:3)
// DIFFERENTIATED: calque.sum_like {{.*}} loc("user.cpp":12:3)
// DIFFERENTIATED: calque.variable_assign {{.*}} loc("user.cpp":17:3)

// SIMPLIFIED-LABEL: func.func @step(
// SIMPLIFIED-SAME: tensor<4x3xf32> {{[^)]*}}), %{{.*}}: tensor<3xf32> {{[^)]*}})) -> (tensor<f32>, tensor<3xf32>)
// SIMPLIFIED-SAME: calque.assigned = array<i64: 1>
// SIMPLIFIED: calque.div {{.*}} loc("user.cpp":13:3)
// SIMPLIFIED: calque.print {{.*}} loc("user.cpp":18:3)
// SIMPLIFIED: return %{{.*}}, %{{.*}} loc("user.cpp":19:3)

// LINALG-LABEL: func.func @step(
// LINALG: linalg.generic
// LINALG: arith.mulf {{.*}}"user.cpp":12:3
// LINALG: return %{{.*}}, %{{.*}} loc("user.cpp":19:3)

// The results are written to arguments after the inputs.
// BUFFERIZED-LABEL: func.func @step(
// BUFFERIZED-SAME: memref<4x3xf32> {{[^)]*}}), %{{.*}}: memref<3xf32> {{[^)]*}}), %{{.*}}: memref<f32> {{[^)]*}}), %{{.*}}: memref<3xf32>
// BUFFERIZED: arith.mulf {{.*}}"user.cpp":12:3

// What is between them is in one workspace, the last argument. Each operation is the call of a kernel.
// OUTLINED-LABEL: func.func @step(
// OUTLINED-SAME: %[[WORKSPACE:[^ ]*]]: memref<{{[1-9][0-9]*}}xi8> {{[^)]*}}))
// OUTLINED: %[[PRODUCT:.*]] = memref.view %[[WORKSPACE]]{{.*}} to memref<4x3xf32>
// OUTLINED: call @calque.kernel_0({{.*}}%[[PRODUCT]]
// OUTLINED: return loc("user.cpp":19:3)
// OUTLINED: func.func private @calque.kernel_0(
// OUTLINED: linalg.generic
// SCHEDULED: func.func private @calque.kernel_0(
// SCHEDULED: arith.mulf {{.*}} : vector<{{.*}}"user.cpp":12:3

// The program itself is data by then.
// LLVM-NOT: @step
// LLVM-LABEL: llvm.func @calque.kernel_0(
// LLVM: llvm.fmul {{.*}}"user.cpp":12:3
func.func @step(%x: tensor<4x3xf32>) -> tensor<f32> attributes {calque.variables = [{name = "w", type = tensor<3xf32>}]} {
  %w = calque.variable_read {variable = 0 : i64, shape = array<i64: 3>, dtype = f32} : () -> tensor<3xf32> loc("user.cpp":11:3)
  %y = calque.mul %x, %w : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("user.cpp":12:3)
  %loss = calque.reduce_mean %y : (tensor<4x3xf32>) -> tensor<f32> loc("user.cpp":13:3)
  %one = calque.constant {value = dense<1.0> : tensor<f32>} : () -> tensor<f32> loc("user.cpp":14:3)
  %g = calque.gradient %loss, %one, %w {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> tensor<3xf32> loc("user.cpp":15:3)
  %new = calque.sub %w, %g : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("user.cpp":16:3)
  calque.variable_assign %new {variable = 0 : i64} : (tensor<3xf32>) -> () loc("user.cpp":17:3)
  calque.print %y {label = "y"} : (tensor<4x3xf32>) -> () loc("user.cpp":18:3)
  return %loss : tensor<f32> loc("user.cpp":19:3)
} loc("user.cpp":10:1)
