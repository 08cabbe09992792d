// Branches and loops: those of small values are one kernel, any other is a call of the runtime, which runs parts of the program.
// RUN: calque-opt --calque-stage=name=outlined --split-input-file %s | FileCheck %s

// A branch in a loop, both in registers.
// CHECK-NOT: calque_rt_while
// CHECK-LABEL: func.func @scalars(
// CHECK: call @calque.kernel_0(
// CHECK-NEXT: return
// CHECK: func.func private @calque.kernel_0(
// CHECK: linalg.generic
// CHECK: %{{.*}}:2 = scf.while
// CHECK: arith.cmpi slt
// CHECK: scf.condition
// CHECK: scf.if
// CHECK: arith.mulf
// CHECK: arith.negf
// CHECK: linalg.yield
// CHECK-NOT: module @part
// CHECK-LABEL: func.func @division(
func.func @scalars(%n: tensor<i64>, %x: tensor<f32>) -> (tensor<i64>, tensor<f32>) {
  %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x, %n, %one : (tensor<i64>, tensor<f32>, tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<f32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<f32>, %m: tensor<i64>, %k: tensor<i64>):
    %0 = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %a: tensor<f32>, %m: tensor<i64>, %k: tensor<i64>):
    %0 = calque.add %i, %k : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.less %i, %k : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = calque.cond %1, %a : (tensor<i1>, tensor<f32>) -> tensor<f32> {
    ^bb0(%b: tensor<f32>):
      %3 = calque.mul %b, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
      vector.yield %3 : tensor<f32>
    } {
    ^bb0(%b: tensor<f32>):
      %3 = calque.neg %b : (tensor<f32>) -> tensor<f32>
      vector.yield %3 : tensor<f32>
    }
    vector.yield %0, %2 : tensor<i64>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<i64>, tensor<f32>
}

// -----

// A division of integers may fail, and the loop ends then: its condition reads the frame.
// CHECK: call @calque.kernel_0(
// CHECK: func.func private @calque.kernel_0({{.*}}%[[FRAME:[a-z0-9]+]]: !llvm.ptr
// CHECK: scf.execute_region no_inline
// CHECK: scf.while
// CHECK: %[[ERROR:.*]] = llvm.getelementptr %[[FRAME]][32]
// CHECK: %[[FAILED:.*]] = llvm.load %[[ERROR]] : !llvm.ptr -> i32
// CHECK: arith.cmpi eq, %[[FAILED]]
// CHECK: scf.condition
// CHECK: func.call @calque_rt_fail(
// CHECK-NOT: calque.part
func.func @division(%n: tensor<i64>, %d: tensor<i64>) -> tensor<i64> {
  %r = calque.while %n, %d : (tensor<i64>, tensor<i64>) -> tensor<i64> {
  ^bb0(%i: tensor<i64>, %m: tensor<i64>):
    %0 = calque.less %m, %i : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %m: tensor<i64>):
    %0 = calque.div %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %0 : tensor<i64>
  }
  return %r : tensor<i64>
}

// -----

// The body assigns its first inputs, the loop variables.
// CHECK: func.func private @[[WHILE:[^(]*]]({{.*}}) attributes {calque.runtime = "calque_rt_while"}
// CHECK-LABEL: func.func @tensors(
// CHECK: call @[[WHILE]](
// CHECK: return
// CHECK: module @part_0 attributes {calque.part = 0 : i64} {
// CHECK: func.func @part({{.*}}) -> tensor<i1> {
// CHECK-NEXT: calque.less
// CHECK-NEXT: return
// CHECK: module @part_1 attributes {calque.part = 1 : i64} {
// CHECK: func.func @part({{.*}}) -> (tensor<i64>, tensor<100xf32>) attributes {calque.assigned = array<i64: 0, 1>} {
// CHECK: calque.add
// CHECK: calque.mul
// CHECK: return
func.func @tensors(%n: tensor<i64>, %x: tensor<100xf32>, %w: tensor<100xf32>) -> tensor<100xf32> {
  %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x, %n, %one, %w : (tensor<i64>, tensor<100xf32>, tensor<i64>, tensor<i64>, tensor<100xf32>) -> (tensor<i64>, tensor<100xf32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<100xf32>, %m: tensor<i64>, %k: tensor<i64>, %v: tensor<100xf32>):
    %0 = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %a: tensor<100xf32>, %m: tensor<i64>, %k: tensor<i64>, %v: tensor<100xf32>):
    %0 = calque.add %i, %k : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.mul %a, %v : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xf32>
    vector.yield %0, %1 : tensor<i64>, tensor<100xf32>
  }
  return %r#1 : tensor<100xf32>
}

// -----

// Only one branch runs. Its result has the size of an input; that it has is checked when it runs.
// CHECK: func.func private @[[COND:[^(]*]]({{.*}}) attributes {calque.runtime = "calque_rt_cond"}
// CHECK-LABEL: func.func @open(
// CHECK-SAME: kind = "sizes_differ", {{.*}}operation = "cond"
// CHECK: call @[[COND]](
// CHECK: module @part_0
// CHECK: calque.exp
// CHECK: module @part_1
// CHECK-NOT: calque.exp
// CHECK: return
func.func @open(%p: tensor<i1>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r = calque.cond %p, %x : (tensor<i1>, tensor<?xf32>) -> tensor<?xf32> {
  ^bb0(%a: tensor<?xf32>):
    %0 = calque.exp %a : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %0 : tensor<?xf32>
  } {
  ^bb0(%a: tensor<?xf32>):
    vector.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// A constant decides at once.
// CHECK-LABEL: func.func @known(
// CHECK-NOT: calque_rt_cond
// CHECK: math.exp
// CHECK-NOT: arith.negf
// CHECK-NOT: module @part
// CHECK-LABEL: func.func @unneeded(
func.func @known(%x: tensor<4xf32>) -> tensor<4xf32> {
  %p = calque.constant {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %r = calque.cond %p, %x : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %0 = calque.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    vector.yield %0 : tensor<4xf32>
  } {
  ^bb0(%a: tensor<4xf32>):
    %0 = calque.neg %a : (tensor<4xf32>) -> tensor<4xf32>
    vector.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A loop variable that nothing needs goes, and one that stays as it is becomes an invariant.
// CHECK: module @part_1
// CHECK: func.func @part({{[^,]*}}: tensor<48xf32>, {{[^,]*}}: tensor<48xf32>) -> tensor<48xf32> attributes {calque.assigned = array<i64: 0>}
// CHECK-NOT: calque.exp
// CHECK: calque.mul
// CHECK-NOT: calque.exp
func.func @unneeded(%x: tensor<48xf32>, %y: tensor<48xf32>, %same: tensor<48xf32>) -> tensor<48xf32> {
  %r:3 = calque.while %x, %y, %same : (tensor<48xf32>, tensor<48xf32>, tensor<48xf32>) -> (tensor<48xf32>, tensor<48xf32>, tensor<48xf32>) {
  ^bb0(%a: tensor<48xf32>, %b: tensor<48xf32>, %c: tensor<48xf32>):
    %0 = calque.reduce_sum %a {axes = array<i64: 0>} : (tensor<48xf32>) -> tensor<f32>
    %1 = calque.cast %0 {dtype = i1} : (tensor<f32>) -> tensor<i1>
    vector.yield %1 : tensor<i1>
  } {
  ^bb0(%a: tensor<48xf32>, %b: tensor<48xf32>, %c: tensor<48xf32>):
    %0 = calque.mul %a, %c : (tensor<48xf32>, tensor<48xf32>) -> tensor<48xf32>
    %1 = calque.exp %b : (tensor<48xf32>) -> tensor<48xf32>
    vector.yield %0, %1, %c : tensor<48xf32>, tensor<48xf32>, tensor<48xf32>
  }
  return %r#0 : tensor<48xf32>
}

// -----

// One stack, and a stack for each row: the runtime is given their number and the bytes of an entry.
// CHECK-DAG: func.func private @[[ONE:[^(]*]](!llvm.ptr, i64, index, {{.*}}, memref<f64>, i64) attributes {calque.runtime = "calque_rt_stack_push"}
// CHECK-DAG: func.func private @[[EACH:[^(]*]](!llvm.ptr, i64, index, {{.*}}, memref<4xf64>, i64) attributes {calque.runtime = "calque_rt_stack_push"}
// CHECK-DAG: func.func private @[[POP:[^(]*]]({{.*}}, memref<4x?xf32>, i64) attributes {calque.runtime = "calque_rt_stack_pop"}
// CHECK-LABEL: func.func @stacks(
// CHECK-DAG: %[[ROW:.*]] = arith.muli %[[N:.*]], %c4 : index
// CHECK-DAG: %[[ALL:.*]] = arith.muli %[[N]], %c16 : index
// CHECK: call @[[ONE]](%arg0, %c1_i64{{[_0-9]*}}, %[[ALL]],
// CHECK: call @[[EACH]](%arg0, %c4_i64{{[_0-9]*}}, %[[ROW]],
// CHECK: call @[[POP]](%arg0, %c4_i64{{[_0-9]*}}, %[[ROW]],
module attributes {calque.part = 0 : i64} {
func.func @stacks(%s: tensor<!calque.stack>, %x: tensor<4x?xf32>, %each: tensor<4x!calque.stack>) -> (tensor<!calque.stack>, tensor<4x!calque.stack>, tensor<4x!calque.stack>, tensor<4x?xf32>) {
  %0 = calque.stack_push %s, %x : (tensor<!calque.stack>, tensor<4x?xf32>) -> tensor<!calque.stack>
  %1 = calque.stack_push %each, %x : (tensor<4x!calque.stack>, tensor<4x?xf32>) -> tensor<4x!calque.stack>
  %below, %entry = calque.stack_pop %1, %x : (tensor<4x!calque.stack>, tensor<4x?xf32>) -> (tensor<4x!calque.stack>, tensor<4x?xf32>)
  return %0, %1, %below, %entry : tensor<!calque.stack>, tensor<4x!calque.stack>, tensor<4x!calque.stack>, tensor<4x?xf32>
}
}

// -----

// A slice is written into the buffer that is there, at an index that is checked before.
// CHECK-LABEL: func.func @slice(
// CHECK-SAME: kind = "index_out_of_range", {{.*}}operation = "update_at"
// CHECK: call @calque.kernel_0(%arg1, %arg4)
// CHECK: call @[[WRITE:.*]](%arg2, %arg3, %arg4)
// CHECK-NEXT: return
// CHECK: call @calque_rt_fail
// CHECK: func.func private @[[WRITE]](
// CHECK: scf.for %{{.*}} to %c3
// CHECK: memref.store
func.func @slice(%x: tensor<5x3xf32>, %i: tensor<i64>, %y: tensor<3xf32>) -> tensor<5x3xf32> {
  %0 = calque.exp %x : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %1 = calque.update_at %0, %i, %y {axis = 0 : i64} : (tensor<5x3xf32>, tensor<i64>, tensor<3xf32>) -> tensor<5x3xf32>
  return %1 : tensor<5x3xf32>
}

// -----

// Small tensors are in registers: one scalar for each element.
// CHECK-LABEL: func.func @small(
// CHECK-NOT: calque_rt_while
// CHECK: func.func private @calque.kernel_0(
// CHECK: scf.execute_region no_inline
// CHECK: %{{.*}}:4 = scf.while ({{.*}}) : (i64, f32, f32, f32) -> (i64, f32, f32, f32)
// CHECK: math.fma
// CHECK: scf.yield {{.*}} : i64, f32, f32, f32
// CHECK-COUNT-3: memref.store
// CHECK-NOT: module @part
func.func @small(%n: tensor<i64>, %x: tensor<3xf32>, %w: tensor<3x3xf32>) -> tensor<3xf32> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x, %n, %w : (tensor<i64>, tensor<3xf32>, tensor<i64>, tensor<3x3xf32>) -> (tensor<i64>, tensor<3xf32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<3xf32>, %m: tensor<i64>, %b: tensor<3x3xf32>):
    %0 = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %a: tensor<3xf32>, %m: tensor<i64>, %b: tensor<3x3xf32>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %0 = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.contract %b, %a {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
    vector.yield %0, %1 : tensor<i64>, tensor<3xf32>
  }
  return %r#1 : tensor<3xf32>
}

// -----

// An array of which elements are read and written is one buffer, which is copied before the loop.
// CHECK-LABEL: func.func @in_place(
// CHECK-NOT: calque_rt_while
// CHECK: func.func private @calque.kernel_0(
// CHECK: scf.execute_region no_inline
// CHECK: scf.for
// CHECK: memref.store
// CHECK: %{{.*}} = scf.while ({{.*}}) : (i64) -> i64
// CHECK: %[[OLD:.*]] = memref.load
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]]
// CHECK: memref.store %[[NEW]]
func.func @in_place(%n: tensor<i64>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x, %n : (tensor<i64>, tensor<?xf32>, tensor<i64>) -> (tensor<i64>, tensor<?xf32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32>, %m: tensor<i64>):
    %0 = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32>, %m: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %0 = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.gather %a, %i {axis = 0 : i64} : (tensor<?xf32>, tensor<i64>) -> tensor<f32>
    %2 = calque.add %1, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %3 = calque.update_at %a, %0, %2 {axis = 0 : i64} : (tensor<?xf32>, tensor<i64>, tensor<f32>) -> tensor<?xf32>
    vector.yield %0, %3 : tensor<i64>, tensor<?xf32>
  }
  return %r#1 : tensor<?xf32>
}

// -----

// An older version of the array is read behind the update: the runtime runs the loop, whose body copies.
// CHECK: calque.runtime = "calque_rt_while"
// CHECK-LABEL: func.func @older(
// CHECK: module @part_1
func.func @older(%n: tensor<i64>, %x: tensor<99xf32>) -> tensor<99xf32> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x, %n : (tensor<i64>, tensor<99xf32>, tensor<i64>) -> (tensor<i64>, tensor<99xf32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<99xf32>, %m: tensor<i64>):
    %0 = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %a: tensor<99xf32>, %m: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %two = calque.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
    %0 = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.update_at %a, %i, %two {axis = 0 : i64} : (tensor<99xf32>, tensor<i64>, tensor<f32>) -> tensor<99xf32>
    %2 = calque.gather %a, %i {axis = 0 : i64} : (tensor<99xf32>, tensor<i64>) -> tensor<f32>
    %3 = calque.update_at %1, %0, %2 {axis = 0 : i64} : (tensor<99xf32>, tensor<i64>, tensor<f32>) -> tensor<99xf32>
    vector.yield %0, %3 : tensor<i64>, tensor<99xf32>
  }
  return %r#1 : tensor<99xf32>
}

// -----

// Two arrays that change places are not written in place.
// CHECK: calque.runtime = "calque_rt_while"
// CHECK-LABEL: func.func @swapped(
func.func @swapped(%n: tensor<i64>, %x: tensor<99xf32>, %y: tensor<99xf32>) -> tensor<99xf32> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:3 = calque.while %zero, %x, %y, %n : (tensor<i64>, tensor<99xf32>, tensor<99xf32>, tensor<i64>) -> (tensor<i64>, tensor<99xf32>, tensor<99xf32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<99xf32>, %b: tensor<99xf32>, %m: tensor<i64>):
    %0 = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %a: tensor<99xf32>, %b: tensor<99xf32>, %m: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %two = calque.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
    %0 = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.update_at %a, %i, %two {axis = 0 : i64} : (tensor<99xf32>, tensor<i64>, tensor<f32>) -> tensor<99xf32>
    vector.yield %0, %b, %1 : tensor<i64>, tensor<99xf32>, tensor<99xf32>
  }
  return %r#1 : tensor<99xf32>
}

// -----

// The slice must have the columns of the array, which only the call knows: the runtime's loop checks it.
// CHECK: calque.runtime = "calque_rt_while"
// CHECK-LABEL: func.func @columns(
// CHECK: sizes_differ
func.func @columns(%n: tensor<i64>, %x: tensor<99x?xf32>, %y: tensor<3xf32>) -> tensor<99x?xf32> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x, %n, %y : (tensor<i64>, tensor<99x?xf32>, tensor<i64>, tensor<3xf32>) -> (tensor<i64>, tensor<99x?xf32>) {
  ^bb0(%i: tensor<i64>, %a: tensor<99x?xf32>, %m: tensor<i64>, %b: tensor<3xf32>):
    %0 = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %a: tensor<99x?xf32>, %m: tensor<i64>, %b: tensor<3xf32>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %0 = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.update_at %a, %i, %b {axis = 0 : i64} : (tensor<99x?xf32>, tensor<i64>, tensor<3xf32>) -> tensor<99x?xf32>
    vector.yield %0, %1 : tensor<i64>, tensor<99x?xf32>
  }
  return %r#1 : tensor<99x?xf32>
}

// -----

// What is put on a stack, and taken from it, is memory of the call's stacks.
// CHECK-LABEL: func.func @kept(
// CHECK-NOT: calque_rt_stack_push
// CHECK: scf.while
// CHECK: %[[ENTRY:.*]] = func.call @calque_rt_stack_entry({{.*}}) : (!llvm.ptr, i64, i64, i32) -> i64
// CHECK: llvm.inttoptr %[[ENTRY]]
// CHECK-COUNT-3: llvm.store
// CHECK: arith.uitofp %[[ENTRY]]
func.func @kept(%n: tensor<i64>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %none = calque.stack_empty %zero : (tensor<i64>) -> tensor<!calque.stack>
  %r:3 = calque.while %zero, %x, %none, %n : (tensor<i64>, tensor<2xf32>, tensor<!calque.stack>, tensor<i64>) -> (tensor<i64>, tensor<2xf32>, tensor<!calque.stack>) {
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>, %s: tensor<!calque.stack>, %m: tensor<i64>):
    %0 = calque.less %i, %m : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %0 : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %a: tensor<2xf32>, %s: tensor<!calque.stack>, %m: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %0 = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %1 = calque.stack_push %s, %a : (tensor<!calque.stack>, tensor<2xf32>) -> tensor<!calque.stack>
    %2 = calque.mul %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    vector.yield %0, %2, %1 : tensor<i64>, tensor<2xf32>, tensor<!calque.stack>
  }
  %below, %last = calque.stack_pop %r#2, %x : (tensor<!calque.stack>, tensor<2xf32>) -> (tensor<!calque.stack>, tensor<2xf32>)
  return %last : tensor<2xf32>
}
