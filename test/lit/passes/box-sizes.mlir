// Loop variables whose sizes vary become stacks of one entry, and what uses them a region on entries.
// RUN: calque-opt --calque-box-sizes --split-input-file --verify-each %s | FileCheck %s

// The result of late size is given as its stack; the sum comes from a region.
// CHECK-LABEL: func.func @grown(
// CHECK-SAME: -> (tensor<!calque.stack>, tensor<f32>, tensor<?x2xf32>) attributes {calque.late = array<i64: 0>}
// CHECK: %[[BOX:.*]] = calque.sized_push %{{.*}}, %arg0 : (tensor<!calque.stack>, tensor<?x2xf32>) -> tensor<!calque.stack>
// CHECK: %[[LOOP:.*]]:2 = calque.while %{{.*}}, %[[BOX]] {calque.boxes = array<i64: 1>}
// CHECK-SAME: (tensor<i64>, tensor<!calque.stack>) -> (tensor<i64>, tensor<!calque.stack>)
// The condition asks for no entry.
// CHECK-NOT: calque.on_entries
// CHECK: calque.less
// CHECK: } {
// CHECK: calque.on_entries %{{.*}}, %{{.*}} {calque.likes = array<i64: -1, -1>, entries = 1 : i64}
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<?x2xf32>, %{{.*}}: tensor<i64>):
// CHECK: %[[NEXT:.*]] = calque.concat %[[X]], %{{.*}} : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<?x2xf32>
// CHECK: calque.sized_push %{{.*}}, %[[NEXT]]
// CHECK: %[[SUM:.*]] = calque.on_entries %[[LOOP]]#1 {calque.likes = array<i64: -1>, entries = 1 : i64} : (tensor<!calque.stack>) -> tensor<f32>
// CHECK: calque.reduce_sum
// CHECK: return %[[LOOP]]#1, %[[SUM]], %arg0
func.func @grown(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<f32>, tensor<?x2xf32>) {
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:2 = calque.while %zero, %x {varying = array<i64: 1, 0>} : (tensor<i64>, tensor<?x2xf32>) -> (tensor<i64>, tensor<?x2xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<?x2xf32>):
    %four = calque.constant {value = dense<4> : tensor<i64>} : () -> tensor<i64>
    %c = calque.less %i, %four : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<?x2xf32>):
    %s = calque.reduce_sum %y {axes = array<i64: 0>, keepdims = true} : (tensor<?x2xf32>) -> tensor<1x2xf32>
    %z = calque.concat %y, %s : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<?x2xf32>
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %n = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %n, %z : tensor<i64>, tensor<?x2xf32>
  }
  %total = calque.reduce_sum %r#1 : (tensor<?x2xf32>) -> tensor<f32>
  return %r#1, %total, %x : tensor<?x2xf32>, tensor<f32>, tensor<?x2xf32>
}

// -----

// Entries that are taken together; a loop variable of unknown size keeps it, which the runtime checks.
// CHECK-LABEL: func.func @popped(
// CHECK-NOT: calque.late
// CHECK: calque.while %arg0, %arg1, %arg2
// CHECK: ^bb0(%[[S:.*]]: tensor<!calque.stack>, %[[T:.*]]: tensor<!calque.stack>, %[[SUM:.*]]: tensor<?xf32>):
// CHECK: } {
// CHECK: ^bb0(%[[S:.*]]: tensor<!calque.stack>, %[[T:.*]]: tensor<!calque.stack>, %[[SUM:.*]]: tensor<?xf32>):
// CHECK: %[[BELOWS:.*]] = calque.stack_below %[[S]]
// CHECK: %[[BELOWT:.*]] = calque.stack_below %[[T]]
// CHECK: %[[NEXT:.*]] = calque.on_entries %[[S]], %[[T]], %[[SUM]] {calque.likes = array<i64: 2>, entries = 2 : i64}
// CHECK-SAME: -> tensor<?xf32>
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<?xf32>, %[[C:.*]]: tensor<?xf32>):
// CHECK: vector.yield %[[BELOWS]], %[[BELOWT]], %[[NEXT]]
func.func @popped(%s: tensor<!calque.stack>, %t: tensor<!calque.stack>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %r:3 = calque.while %s, %t, %x : (tensor<!calque.stack>, tensor<!calque.stack>, tensor<?xf32>) -> (tensor<!calque.stack>, tensor<!calque.stack>, tensor<?xf32>) {
  ^bb0(%a: tensor<!calque.stack>, %b: tensor<!calque.stack>, %y: tensor<?xf32>):
    %none = calque.stack_is_empty %a : (tensor<!calque.stack>) -> tensor<i1>
    %c = calque.logical_not %none : (tensor<i1>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%a: tensor<!calque.stack>, %b: tensor<!calque.stack>, %y: tensor<?xf32>):
    %belowA, %entryA = calque.sized_pop %a, %y : (tensor<!calque.stack>, tensor<?xf32>) -> (tensor<!calque.stack>, tensor<?xf32>)
    %sum = calque.add %entryA, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %belowB, %entryB = calque.sized_pop %b, %y : (tensor<!calque.stack>, tensor<?xf32>) -> (tensor<!calque.stack>, tensor<?xf32>)
    %next = calque.add %entryB, %sum : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    vector.yield %belowA, %belowB, %next : tensor<!calque.stack>, tensor<!calque.stack>, tensor<?xf32>
  }
  return %r#2 : tensor<?xf32>
}

// -----

// A branch gives sizes that nothing around it has.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME: -> tensor<!calque.stack> attributes {calque.late = array<i64: 0>}
// CHECK: %[[R:.*]] = calque.cond %arg0, %arg1 : (tensor<i1>, tensor<?x2xf32>) -> tensor<!calque.stack> {
// CHECK: calque.reshape
// CHECK: calque.sized_push
// CHECK: } {
// CHECK: calque.concat
// CHECK: calque.sized_push
// CHECK: }
// CHECK-NEXT: return %[[R]]
func.func @branch(%p: tensor<i1>, %x: tensor<?x2xf32>) -> tensor<?xf32> {
  %r = calque.cond %p, %x : (tensor<i1>, tensor<?x2xf32>) -> tensor<?xf32> {
  ^bb0(%y: tensor<?x2xf32>):
    %flat = calque.reshape %y {shape = array<i64: -1>} : (tensor<?x2xf32>) -> tensor<?xf32>
    vector.yield %flat : tensor<?xf32>
  } {
  ^bb0(%y: tensor<?x2xf32>):
    %flat = calque.reshape %y {shape = array<i64: -1>} : (tensor<?x2xf32>) -> tensor<?xf32>
    %twice = calque.concat %flat, %flat : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    vector.yield %twice : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// What is made of a late value and has the sizes of an argument is given as it is.
// CHECK-LABEL: func.func @like(
// CHECK-SAME: -> tensor<?x2xf32> {
// CHECK-NOT: calque.late
// CHECK: %[[LOOP:.*]]:2 = calque.while
// CHECK: %[[R:.*]] = calque.on_entries %[[LOOP]]#1, %arg0 {calque.likes = array<i64: 1>, entries = 1 : i64}
// CHECK: calque.reshape_like
// CHECK: calque.add
// CHECK: return %[[R]] : tensor<?x2xf32>
func.func @like(%x: tensor<?x2xf32>, %n: tensor<i64>) -> tensor<?x2xf32> {
  %r:2 = calque.while %n, %x {varying = array<i64: 1, 0>} : (tensor<i64>, tensor<?x2xf32>) -> (tensor<i64>, tensor<?x2xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<?x2xf32>):
    %four = calque.constant {value = dense<4> : tensor<i64>} : () -> tensor<i64>
    %c = calque.less %i, %four : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<?x2xf32>):
    %z = calque.concat %y, %y : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
    %n1 = calque.add %i, %i : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %n1, %z : tensor<i64>, tensor<?x2xf32>
  }
  %like = calque.reshape_like %r#1, %x : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %sum = calque.add %like, %x : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %sum : tensor<?x2xf32>
}

// -----

// What a loop demands of sizes says nothing of them, as it may have no iterations: here %x and %z may differ.
// CHECK-LABEL: func.func @demanded(
// CHECK-SAME: calque.late = array<i64: 0>
func.func @demanded(%x: tensor<?xf32>, %z: tensor<?xf32>, %n: tensor<i64>) -> tensor<?xf32> {
  %r:2 = calque.while %n, %x {varying = array<i64: 1, 0>} : (tensor<i64>, tensor<?xf32>) -> (tensor<i64>, tensor<?xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<?xf32>):
    %four = calque.constant {value = dense<4> : tensor<i64>} : () -> tensor<i64>
    %c = calque.less %i, %four : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<?xf32>):
    %w = calque.concat %y, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %n1 = calque.add %i, %i : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %n1, %w : tensor<i64>, tensor<?xf32>
  }
  %s:3 = calque.while %n, %x, %z : (tensor<i64>, tensor<?xf32>, tensor<?xf32>) -> (tensor<i64>, tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%i: tensor<i64>, %y: tensor<?xf32>, %v: tensor<?xf32>):
    %four = calque.constant {value = dense<4> : tensor<i64>} : () -> tensor<i64>
    %c = calque.less %i, %four : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %c : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %y: tensor<?xf32>, %v: tensor<?xf32>):
    %n1 = calque.add %i, %i : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %n1, %v, %y : tensor<i64>, tensor<?xf32>, tensor<?xf32>
  }
  %like = calque.reshape_like %r#1, %s#1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %like : tensor<?xf32>
}

// -----

// Nothing of late size: nothing changes.
// CHECK-LABEL: func.func @none(
// CHECK-NEXT: calque.exp
// CHECK-NEXT: return
func.func @none(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = calque.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// What forgets its sizes is a box, and those who do so together are opened together.
// CHECK-LABEL: func.func @forgotten(
// CHECK: %[[A:.*]] = calque.sized_push %{{.*}}, %arg0
// CHECK: %[[B:.*]] = calque.sized_push %{{.*}}, %arg1
// CHECK: %[[R:.*]] = calque.on_entries %[[A]], %[[B]], %arg2 {calque.likes = array<i64: 2>, entries = 2 : i64}
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>, %{{.*}}: tensor<?xf32>):
// CHECK: calque.add %[[X]], %[[Y]]
// CHECK-NOT: calque.open_sizes
// CHECK: return %[[R]]
func.func @forgotten(%x: tensor<3xf32>, %y: tensor<3xf32>, %like: tensor<?xf32>) -> tensor<?xf32> {
  %a = calque.open_sizes %x, %like : (tensor<3xf32>, tensor<?xf32>) -> tensor<?xf32>
  %b = calque.open_sizes %y, %like : (tensor<3xf32>, tensor<?xf32>) -> tensor<?xf32>
  %sum = calque.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %r = calque.reshape_like %sum, %like : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
