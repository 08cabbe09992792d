// Of two loop variables that hold the same array one is left, and an element of a slice is read where it is.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-simplify-loops))' %s | FileCheck %s

// A loop as C++ code is learnt: a state says whether it goes on, %last is the array after the loop and %row that of the
// next iteration. Where the loop ends the one is %row as it was, else what the next iteration begins with.
// CHECK-LABEL: func.func @merged(
// CHECK-SAME: %[[ROW:.*]]: tensor<40xf32>, %[[NONE:.*]]: tensor<40xf32>)
// CHECK: %[[R:.*]]:3 = calque.while %{{.*}}, %[[ROW]], %{{[^,]*}} : (tensor<i32>, tensor<40xf32>, tensor<i64>)
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[OWN:[^:]*]]: tensor<40xf32>, %[[I:[^:]*]]: tensor<i64>):
// CHECK: %[[P:.*]] = calque.less
// CHECK: %[[C:.*]]:2 = calque.cond %[[P]], {{.*}}%[[OWN]]{{.*}} -> (tensor<i32>, tensor<40xf32>)
// CHECK: %[[SET:.*]] = calque.scatter_nd_set
// CHECK: vector.yield %{{.*}}, %[[SET]]
// CHECK: vector.yield %[[C]]#0, %[[C]]#1, %{{.*}} : tensor<i32>, tensor<40xf32>, tensor<i64>
// CHECK: return %[[R]]#1
func.func @merged(%row: tensor<40xf32>, %none: tensor<40xf32>) -> tensor<40xf32> {
  %start = calque.constant {value = dense<4> : tensor<i32>} : () -> tensor<i32>
  %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %r:4 = calque.while %start, %none, %row, %zero, %none : (tensor<i32>, tensor<40xf32>, tensor<40xf32>, tensor<i64>, tensor<40xf32>) -> (tensor<i32>, tensor<40xf32>, tensor<40xf32>, tensor<i64>) {
  ^bb0(%state: tensor<i32>, %last: tensor<40xf32>, %own: tensor<40xf32>, %i: tensor<i64>, %unused: tensor<40xf32>):
    %four = calque.constant {value = dense<4> : tensor<i32>} : () -> tensor<i32>
    %goes = calque.equal %state, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
    vector.yield %goes : tensor<i1>
  } {
  ^bb0(%state: tensor<i32>, %last: tensor<40xf32>, %own: tensor<40xf32>, %i: tensor<i64>, %unused: tensor<40xf32>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %limit = calque.constant {value = dense<40> : tensor<i64>} : () -> tensor<i64>
    %four = calque.constant {value = dense<4> : tensor<i32>} : () -> tensor<i32>
    %three = calque.constant {value = dense<3> : tensor<i32>} : () -> tensor<i32>
    %next = calque.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %p = calque.less %next, %limit : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c:2 = calque.cond %p, %four, %three, %own, %i, %unused : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<40xf32>, tensor<i64>, tensor<40xf32>) -> (tensor<i32>, tensor<40xf32>) {
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %x: tensor<40xf32>, %j: tensor<i64>, %u: tensor<40xf32>):
      %at = calque.reshape %j {shape = array<i64: 1>} : (tensor<i64>) -> tensor<1xi64>
      %v = calque.constant {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
      %set = calque.scatter_nd_set %x, %at, %v : (tensor<40xf32>, tensor<1xi64>, tensor<f32>) -> tensor<40xf32>
      vector.yield %a, %set : tensor<i32>, tensor<40xf32>
    } {
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %x: tensor<40xf32>, %j: tensor<i64>, %u: tensor<40xf32>):
      vector.yield %b, %u : tensor<i32>, tensor<40xf32>
    }
    vector.yield %c#0, %own, %c#1, %next : tensor<i32>, tensor<40xf32>, tensor<40xf32>, tensor<i64>
  }
  return %r#1 : tensor<40xf32>
}

// Both stay where the loop may run no iteration, after which each has its initial value.
// CHECK-LABEL: func.func @apart(
// CHECK: calque.while {{.*}} -> (tensor<40xf32>, tensor<40xf32>, tensor<i64>)
func.func @apart(%x: tensor<40xf32>, %y: tensor<40xf32>, %n: tensor<i64>) -> (tensor<40xf32>, tensor<40xf32>) {
  %r:3 = calque.while %x, %y, %n : (tensor<40xf32>, tensor<40xf32>, tensor<i64>) -> (tensor<40xf32>, tensor<40xf32>, tensor<i64>) {
  ^bb0(%a: tensor<40xf32>, %b: tensor<40xf32>, %i: tensor<i64>):
    %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %goes = calque.greater %i, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %goes : tensor<i1>
  } {
  ^bb0(%a: tensor<40xf32>, %b: tensor<40xf32>, %i: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %next = calque.sub %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %e = calque.exp %b : (tensor<40xf32>) -> tensor<40xf32>
    vector.yield %e, %e, %next : tensor<40xf32>, tensor<40xf32>, tensor<i64>
  }
  return %r#0, %r#1 : tensor<40xf32>, tensor<40xf32>
}

// CHECK-LABEL: func.func @element(
// CHECK: ^bb0(%[[I:[^:]*]]: tensor<i64>, %{{.*}}: tensor<f32>, %[[X:[^:]*]]: tensor<6x7xf32>):
// CHECK: %[[A:.*]] = calque.reshape %[[I]]
// CHECK: %[[AT:.*]] = calque.concat %[[A]], %{{.*}} : (tensor<1xi64>, tensor<1xi64>)
// CHECK: calque.gather_nd %[[X]], %[[AT]] : (tensor<6x7xf32>, tensor<2xi64>) -> tensor<f32>
func.func @element(%n: tensor<i64>, %s: tensor<f32>, %x: tensor<6x7xf32>) -> tensor<f32> {
  %r:2 = calque.while %n, %s, %x : (tensor<i64>, tensor<f32>, tensor<6x7xf32>) -> (tensor<i64>, tensor<f32>) {
  ^bb0(%i: tensor<i64>, %sum: tensor<f32>, %y: tensor<6x7xf32>):
    %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %goes = calque.greater %i, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %goes : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %sum: tensor<f32>, %y: tensor<6x7xf32>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %next = calque.sub %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %row = calque.gather %y, %i : (tensor<6x7xf32>, tensor<i64>) -> tensor<7xf32>
    %e = calque.gather %row, %next : (tensor<7xf32>, tensor<i64>) -> tensor<f32>
    %more = calque.add %sum, %e : (tensor<f32>, tensor<f32>) -> tensor<f32>
    vector.yield %next, %more : tensor<i64>, tensor<f32>
  }
  return %r#1 : tensor<f32>
}

// A tape that did not see the loop ends its paths there, though the value is x again.
// CHECK-LABEL: func.func @boundary(
// CHECK: %[[R:.*]]:2 = calque.while
// CHECK: calque.gradient %{{.*}}, %{{.*}}, %arg0, %[[R]]#0 {counts = array<i64: 1, 1, 1>}
func.func @boundary(%x: tensor<4xf32>, %n: tensor<i64>, %seed: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = calque.while %x, %n : (tensor<4xf32>, tensor<i64>) -> (tensor<4xf32>, tensor<i64>) {
  ^bb0(%a: tensor<4xf32>, %i: tensor<i64>):
    %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %goes = calque.greater %i, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %goes : tensor<i1>
  } {
  ^bb0(%a: tensor<4xf32>, %i: tensor<i64>):
    %one = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %next = calque.sub %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    vector.yield %a, %next : tensor<4xf32>, tensor<i64>
  }
  %y = calque.sin %r#0 : (tensor<4xf32>) -> tensor<4xf32>
  %g = calque.gradient %y, %seed, %x, %r#0 {counts = array<i64: 1, 1, 1>} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// The derivative is taken by the row.
// CHECK-LABEL: func.func @row(
// CHECK: %[[ROW:.*]] = calque.gather %{{.*}} : (tensor<6x7xf32>, tensor<i64>) -> tensor<7xf32>
// CHECK: calque.gather %[[ROW]], %{{.*}} : (tensor<7xf32>, tensor<i64>) -> tensor<f32>
func.func @row(%n: tensor<i64>, %s: tensor<7xf32>, %x: tensor<6x7xf32>, %seed: tensor<f32>) -> tensor<7xf32> {
  %r:2 = calque.while %n, %s, %x, %seed : (tensor<i64>, tensor<7xf32>, tensor<6x7xf32>, tensor<f32>) -> (tensor<i64>, tensor<7xf32>) {
  ^bb0(%i: tensor<i64>, %sum: tensor<7xf32>, %y: tensor<6x7xf32>, %one: tensor<f32>):
    %zero = calque.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
    %goes = calque.greater %i, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
    vector.yield %goes : tensor<i1>
  } {
  ^bb0(%i: tensor<i64>, %sum: tensor<7xf32>, %y: tensor<6x7xf32>, %one: tensor<f32>):
    %step = calque.constant {value = dense<1> : tensor<i64>} : () -> tensor<i64>
    %next = calque.sub %i, %step : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %row = calque.gather %y, %i : (tensor<6x7xf32>, tensor<i64>) -> tensor<7xf32>
    %e = calque.gather %row, %next : (tensor<7xf32>, tensor<i64>) -> tensor<f32>
    %g = calque.gradient %e, %one, %row {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<7xf32>) -> tensor<7xf32>
    %more = calque.add %sum, %g : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
    vector.yield %next, %more : tensor<i64>, tensor<7xf32>
  }
  return %r#1 : tensor<7xf32>
}
