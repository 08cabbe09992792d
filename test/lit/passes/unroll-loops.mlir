// Loops of a few iterations that are known become these.
// RUN: calque-opt --calque-unroll-loops --canonicalize --split-input-file %s | FileCheck %s
// RUN: calque-opt --calque-stage=name=simplified --split-input-file %s | FileCheck %s --check-prefix=STAGE

// CHECK-LABEL: func.func @two(
// CHECK-NEXT: %[[Y:.*]] = calque.tanh %arg0
// CHECK-NEXT: %[[Z:.*]] = calque.tanh %[[Y]]
// CHECK-NEXT: return %[[Z]]
// STAGE-LABEL: func.func @two(
// STAGE-COUNT-2: calque.tanh
// STAGE-NOT: calque.while
// STAGE: return
func.func @two(%x: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x : (tensor<i64>, tensor<3x5xf64>) -> (tensor<i64>, tensor<3x5xf64>) {
  ^bb0(%i: tensor<i64>, %y: tensor<3x5xf64>):
    %two = calque.constant {value = dense<2> : tensor<i64>} : () -> tensor<i64>
    %c = calque.less %i, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<3x5xf64>):
    %z = calque.tanh %y : (tensor<3x5xf64>) -> tensor<3x5xf64>
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %n = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %n, %z : tensor<i64>, tensor<3x5xf64>
  }
  return %r#1 : tensor<3x5xf64>
}

// -----

// No iteration: the loop variables are what they are before. The bound is an invariant, and the type one that wraps.
// CHECK-LABEL: func.func @none(
// CHECK-NEXT: return %arg0
func.func @none(%x: tensor<?xf32>) -> tensor<?xf32> {
  %first = calque.constant {value = dense<2147483647> : tensor<i32>} : () -> tensor<i32>
  %last = calque.constant {value = dense<-2147483648> : tensor<i32>} : () -> tensor<i32>
  %r:2 = calque.while %first, %x, %last : (tensor<i32>, tensor<?xf32>, tensor<i32>) -> (tensor<i32>, tensor<?xf32>) {
  ^bb0(%i: tensor<i32>, %y: tensor<?xf32>, %end: tensor<i32>):
    %one = calque.constant {value = dense<1> : tensor<i32>} : () -> tensor<i32>
    %n = calque.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %c = calque.not_equal %n, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i32>, %y: tensor<?xf32>, %end: tensor<i32>):
    %z = calque.tanh %y : (tensor<?xf32>) -> tensor<?xf32>
    vector.yield %i, %z : tensor<i32>, tensor<?xf32>
  }
  return %r#1 : tensor<?xf32>
}

// -----

// Nine iterations stay a loop, and so do those whose number a tensor says.
// CHECK-LABEL: func.func @nine(
// CHECK: calque.while
// CHECK: calque.while
func.func @nine(%x: tensor<4xf32>, %n: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<4xf32>):
    %nine = calque.constant {value = dense<9> : tensor<i64>} : () -> tensor<i64>
    %c = calque.less %i, %nine : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<4xf32>):
    %z = calque.tanh %y : (tensor<4xf32>) -> tensor<4xf32>
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %m = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %m, %z : tensor<i64>, tensor<4xf32>
  }
  %s:2 = calque.while %zero, %x, %n : (tensor<i64>, tensor<4xf32>, tensor<i64>) -> (tensor<i64>, tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<4xf32>, %end: tensor<i64>):
    %c = calque.less %i, %end : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<4xf32>, %end: tensor<i64>):
    %z = calque.tanh %y : (tensor<4xf32>) -> tensor<4xf32>
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %m = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %m, %z : tensor<i64>, tensor<4xf32>
  }
  return %r#1, %s#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A condition with effects, and one that a division might fail in, stay.
// CHECK-LABEL: func.func @effects(
// CHECK: calque.while
// CHECK: calque.while
func.func @effects(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>) {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<4xf32>):
    %two = calque.constant {value = dense<2> : tensor<i64>} : () -> tensor<i64>
    calque.print %i {label = "i"} : (tensor<i64>) -> ()
    %c = calque.less %i, %two : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<4xf32>):
    %z = calque.tanh %y : (tensor<4xf32>) -> tensor<4xf32>
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %n = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %n, %z : tensor<i64>, tensor<4xf32>
  }
  %s = calque.while %zero : (tensor<i64>) -> tensor<i64> {
  ^bb0(%i: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %q = calque.div %one, %i : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %c = calque.less %q, %i : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %n = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %n : tensor<i64>
  }
  return %r#1, %s : tensor<4xf32>, tensor<i64>
}

// -----

// The gradient of such a loop takes nothing from stacks.
// CHECK-LABEL: func.func @back(
// STAGE-LABEL: func.func @back(
// STAGE-NOT: calque.stack
// STAGE-NOT: calque.while
// STAGE: return
func.func @back(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x : (tensor<i64>, tensor<2x3xf32>) -> (tensor<i64>, tensor<2x3xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<2x3xf32>):
    %three = calque.constant {value = dense<3> : tensor<i64>} : () -> tensor<i64>
    %c = calque.less %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<2x3xf32>):
    %z = calque.tanh %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %n = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %n, %z : tensor<i64>, tensor<2x3xf32>
  }
  %seed = calque.constant {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %g = calque.gradient %r#1, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %g : tensor<2x3xf32>
}
