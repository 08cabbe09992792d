// A derivative of a derivative applies the rule of what rules have emitted twice only once.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// The cosine of the inner gradient is the user's: one rule, for the sum of what comes to both.
// CHECK-LABEL: func.func @with_the_users(
// CHECK-SAME: %[[X:.*]]: tensor<f64>, %[[G:.*]]: tensor<f64>)
// CHECK: %[[USERS:.*]] = calque.cos %[[X]]
// CHECK: %[[EMITTED:.*]] = calque.cos %[[X]]
// CHECK-NEXT: %[[D:.*]] = calque.mul %[[G]], %[[EMITTED]]
// CHECK-NEXT: calque.mul %[[D]], %[[USERS]]
// CHECK-NEXT: %[[V0:.*]] = calque.mul %[[G]], %[[USERS]]
// CHECK-NEXT: %[[TO_USERS:.*]] = calque.mul %[[G]], %[[D]]
// CHECK-NEXT: %[[TO_EMITTED:.*]] = calque.mul %[[V0]], %[[G]]
// CHECK-NEXT: %[[SUM:.*]] = calque.add %[[TO_USERS]], %[[TO_EMITTED]]
// CHECK-NEXT: %[[SIN:.*]] = calque.sin %[[X]]
// CHECK-NEXT: %[[NEG:.*]] = calque.neg %[[SIN]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[SUM]], %[[NEG]]
// CHECK-NEXT: return %[[V1]]
func.func @with_the_users(%x: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %c = calque.cos %x : (tensor<f64>) -> tensor<f64>
  %y = calque.sin %x : (tensor<f64>) -> tensor<f64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  %z = calque.mul %d, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %dd = calque.gradient %z, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %dd : tensor<f64>
}

// x * g is g * x.
// CHECK-LABEL: func.func @in_any_order(
// CHECK-SAME: %[[X:.*]]: tensor<f64>, %[[G:.*]]: tensor<f64>)
// CHECK-NEXT: %[[P:.*]] = calque.mul %[[G]], %[[X]]
// CHECK-NEXT: %[[D:.*]] = calque.mul %[[X]], %[[G]]
// CHECK-NEXT: calque.mul %[[D]], %[[P]]
// CHECK-NEXT: %[[V0:.*]] = calque.mul %[[G]], %[[P]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[G]], %[[D]]
// CHECK-NEXT: %[[SUM:.*]] = calque.add %[[V0]], %[[V1]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[SUM]], %[[G]]
// CHECK-NEXT: return %[[V2]]
func.func @in_any_order(%x: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %p = calque.mul %g, %x : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %d = calque.gradient %p, %x, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  %e = calque.mul %d, %p : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %dd = calque.gradient %e, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %dd : tensor<f64>
}

// Both exponentials have their own rule, as where there is no inner gradient, so that rounding is the same.
// CHECK-LABEL: func.func @not_what_users_have_written(
// CHECK-SAME: %[[X:.*]]: tensor<f64>, %[[G:.*]]: tensor<f64>)
// CHECK-NEXT: %[[A:.*]] = calque.exp %[[X]]
// CHECK-NEXT: %[[B:.*]] = calque.exp %[[X]]
// CHECK: %[[D:.*]] = calque.mul %[[G]], %{{.*}}
// CHECK: %[[V:.*]] = calque.mul %[[G]], %[[D]]
// CHECK-NEXT: %[[TO_A:.*]] = calque.mul %[[V]], %[[B]]
// CHECK-NEXT: %[[TO_B:.*]] = calque.mul %[[V]], %[[A]]
// CHECK: calque.mul %[[TO_B]], %[[B]]
// CHECK: calque.mul %[[TO_A]], %[[A]]
func.func @not_what_users_have_written(%x: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %a = calque.exp %x : (tensor<f64>) -> tensor<f64>
  %b = calque.exp %x : (tensor<f64>) -> tensor<f64>
  %y = calque.sin %x : (tensor<f64>) -> tensor<f64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  %p = calque.mul %a, %b : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %z = calque.mul %d, %p : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %dd = calque.gradient %z, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %dd : tensor<f64>
}

// The derivative with respect to the user's cosine ignores the inner gradient's, which is computed from x.
// CHECK-LABEL: func.func @not_sources(
// CHECK-SAME: %[[X:.*]]: tensor<f64>, %[[G:.*]]: tensor<f64>)
// CHECK: %[[D:.*]] = calque.mul %[[G]], %{{.*}}
// CHECK-NEXT: calque.mul %[[D]], %{{.*}}
// CHECK-NEXT: %[[V:.*]] = calque.mul %[[G]], %[[D]]
// CHECK-NEXT: return %[[V]]
func.func @not_sources(%x: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %c = calque.cos %x : (tensor<f64>) -> tensor<f64>
  %y = calque.sin %x : (tensor<f64>) -> tensor<f64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  %z = calque.mul %d, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %dd = calque.gradient %z, %g, %c {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %dd : tensor<f64>
}

// What an eager tape does not see changes nothing: the cotangent that comes through the cosine is added first, because
// the inner gradient's cosine stands behind the exponential, while the printed one stands before it.
// CHECK-LABEL: func.func @not_with_what_no_target_needs(
// CHECK: %[[EXP:.*]] = calque.exp
// CHECK: %[[NEG:.*]] = calque.neg
// CHECK-NEXT: %[[BY_COS:.*]] = calque.mul %{{.*}}, %[[NEG]]
// CHECK-NEXT: %[[BY_EXP:.*]] = calque.mul %{{.*}}, %[[EXP]]
// CHECK-NEXT: calque.add %[[BY_COS]], %[[BY_EXP]]
func.func @not_with_what_no_target_needs(%x: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %c = calque.cos %x : (tensor<f64>) -> tensor<f64>
  calque.print %c {label = "c"} : (tensor<f64>) -> ()
  %e = calque.exp %x : (tensor<f64>) -> tensor<f64>
  %y = calque.sin %x : (tensor<f64>) -> tensor<f64>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  %z = calque.mul %d, %e : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %dd = calque.gradient %z, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %dd : tensor<f64>
}

// A fresh SSA value is the same number, unless it is a source. A function that is called in a trace has such values, and
// none where an eager tape sees the call.
// CHECK-LABEL: func.func @through_identities(
// CHECK-SAME: %[[X:.*]]: tensor<f64>, %[[G:.*]]: tensor<f64>)
// CHECK: %[[USERS:.*]] = calque.cos %[[X]]
// CHECK: %[[EMITTED:.*]] = calque.cos %{{.*}}
// CHECK-NEXT: %[[D:.*]] = calque.mul %[[G]], %[[EMITTED]]
// CHECK-NEXT: calque.mul %[[D]], %[[USERS]]
// CHECK-NEXT: %[[V0:.*]] = calque.mul %[[G]], %[[USERS]]
// CHECK-NEXT: %[[TO_USERS:.*]] = calque.mul %[[G]], %[[D]]
// CHECK-NEXT: %[[TO_EMITTED:.*]] = calque.mul %[[V0]], %[[G]]
// CHECK-NEXT: calque.add %[[TO_USERS]], %[[TO_EMITTED]]
func.func @through_identities(%x: tensor<f64>, %g: tensor<f64>) -> tensor<f64> {
  %c = calque.cos %x : (tensor<f64>) -> tensor<f64>
  %i = calque.identity %x : (tensor<f64>) -> tensor<f64>
  %y = calque.sin %i : (tensor<f64>) -> tensor<f64>
  %d = calque.gradient %y, %g, %i {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  %z = calque.mul %d, %c : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %dd = calque.gradient %z, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
  return %dd : tensor<f64>
}
