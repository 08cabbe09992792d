// Every operation that a pass emits is at the line of the user's program that it is for.
// DEFINE: %{pass} =
// DEFINE: %{run} = calque-opt --pass-pipeline='builtin.module(func.func(%{pass}))' --mlir-print-debuginfo --mlir-print-local-scope

// REDEFINE: %{pass} = calque-differentiate
// RUN: %{run} %s | FileCheck %s --check-prefix=DIFFERENTIATED
// REDEFINE: %{pass} = calque-state-to-values
// RUN: %{run} %s | FileCheck %s --check-prefix=VALUES
// REDEFINE: %{pass} = calque-differentiate,calque-state-to-values,calque-expand-composites
// RUN: %{run} %s | FileCheck %s --check-prefix=EXPANDED --implicit-check-not='loc(unknown)'

// What the reverse rule of any operation emits is at that operation's line, zeros for sources that nothing reaches are at
// the gradient's.
// REDEFINE: %{pass} = calque-differentiate
// RUN: cat %S/differentiate-elementwise.mlir %S/differentiate-reduction.mlir %S/differentiate-structured.mlir %S/differentiate-movement.mlir | sed -e 's/^  %y.* = .*/& loc("user.cpp":12:3)/' -e 's/^  %d.* = .*/& loc("tape.cpp":7:1)/' -e 's/^}/&\n\/\/ -----/' > %t
// RUN: %{run} --split-input-file %t | grep 'calque\.' > %t.emitted
// RUN: grep -c 'user.cpp' %t.emitted
// RUN: not grep -Ev 'loc\("user.cpp":12:3\)$|calque.(constant|broadcast_like) .*loc\("tape.cpp":7:1\)$' %t.emitted

// What composite operations of any sizes stand for is at their line.
// REDEFINE: %{pass} = calque-expand-composites
// RUN: sed -e 's/ = calque.*/& loc("user.cpp":12:3)/' %S/expand-composites.mlir | %{run} | grep 'calque\.' | not grep -v 'loc("user.cpp":12:3)$'

// DIFFERENTIATED-LABEL: func.func @step(
// DIFFERENTIATED: calque.variable_read {{.*}} loc("user.cpp":11:3)
// DIFFERENTIATED: calque.mul {{.*}} loc("user.cpp":12:3)
// DIFFERENTIATED: calque.reduce_mean {{.*}} loc("user.cpp":13:3)
// DIFFERENTIATED-NEXT: calque.constant {{.*}} loc("user.cpp":14:3)
// The mean's rule, then the product's, whose two cotangents of w are added; %unused is reached by nothing.
// DIFFERENTIATED-NEXT: calque.axis_size {{.*}} loc("user.cpp":13:3)
// DIFFERENTIATED-NEXT: calque.div {{.*}} loc("user.cpp":13:3)
// DIFFERENTIATED-NEXT: calque.expand_dims {{.*}} loc("user.cpp":13:3)
// DIFFERENTIATED-NEXT: calque.broadcast_like {{.*}} loc("user.cpp":13:3)
// DIFFERENTIATED-NEXT: calque.mul {{.*}} loc("user.cpp":12:3)
// DIFFERENTIATED-NEXT: calque.sum_like {{.*}} loc("user.cpp":12:3)
// DIFFERENTIATED-NEXT: calque.mul {{.*}} loc("user.cpp":12:3)
// DIFFERENTIATED-NEXT: calque.sum_like {{.*}} loc("user.cpp":12:3)
// DIFFERENTIATED-NEXT: calque.add {{.*}} loc("user.cpp":12:3)
// DIFFERENTIATED-NEXT: calque.constant {{.*}} loc("user.cpp":15:3)
// DIFFERENTIATED-NEXT: calque.broadcast_like {{.*}} loc("user.cpp":15:3)
// DIFFERENTIATED-NEXT: calque.sub {{.*}} loc("user.cpp":16:3)

// The variable as an argument is at the function's line.
// VALUES: func.func @step({{.*}}tensor<?xf32> loc("user.cpp":10:1)) ->
// VALUES-NEXT: calque.mul {{.*}} loc("user.cpp":12:3)
// VALUES-NEXT: calque.reduce_mean {{.*}} loc("user.cpp":13:3)
// VALUES-NEXT: calque.constant {{.*}} loc("user.cpp":14:3)
// VALUES-NEXT: calque.gradient {{.*}} loc("user.cpp":15:3)
// VALUES-NEXT: calque.sub {{.*}} loc("user.cpp":16:3)
// VALUES-NEXT: return {{.*}} loc("user.cpp":18:3)

// EXPANDED-LABEL: func.func @step(
// EXPANDED: calque.reduce_sum {{.*}} loc("user.cpp":13:3)
// EXPANDED-NEXT: calque.axis_size {{.*}} loc("user.cpp":13:3)
// EXPANDED-NEXT: calque.div {{.*}} loc("user.cpp":13:3)
// EXPANDED: return {{.*}} loc("user.cpp":18:3)
func.func @step(%unused: tensor<f32> loc("user.cpp":10:1)) -> tensor<f32> attributes {calque.variables = [{name = "w", type = tensor<?xf32>}]} {
  %w = calque.variable_read {variable = 0 : i64, shape = array<i64: -9223372036854775808>, dtype = f32} : () -> tensor<?xf32> loc("user.cpp":11:3)
  %y = calque.mul %w, %w : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> loc("user.cpp":12:3)
  %loss = calque.reduce_mean %y : (tensor<?xf32>) -> tensor<f32> loc("user.cpp":13:3)
  %one = calque.constant {value = dense<1.0> : tensor<f32>} : () -> tensor<f32> loc("user.cpp":14:3)
  %g:2 = calque.gradient %loss, %one, %w, %unused {counts = array<i64: 1, 2, 0>} : (tensor<f32>, tensor<f32>, tensor<?xf32>, tensor<f32>) -> (tensor<?xf32>, tensor<f32>) loc("user.cpp":15:3)
  %new = calque.sub %w, %g#0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32> loc("user.cpp":16:3)
  calque.variable_assign %new {variable = 0 : i64} : (tensor<?xf32>) -> () loc("user.cpp":17:3)
  return %g#1 : tensor<f32> loc("user.cpp":18:3)
} loc("user.cpp":10:1)
