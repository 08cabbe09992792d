// Operations through which no gradient passes, on unknown sizes: the source's cotangent is zeros of its size.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @sign(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[SEED:.*]]: tensor<?x3xf64>)
// CHECK-NEXT: calque.sign %[[X]]
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[G:.*]] = calque.broadcast_like %[[ZERO]], %[[X]]
// CHECK-NEXT: return %[[G]]
func.func @sign(%x: tensor<?x3xf64>, %seed: tensor<?x3xf64>) -> tensor<?x3xf64> {
  %y = calque.sign %x : (tensor<?x3xf64>) -> tensor<?x3xf64>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %g : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @floor(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[SEED:.*]]: tensor<?x3xf64>)
// CHECK-NEXT: calque.floor %[[X]]
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[G:.*]] = calque.broadcast_like %[[ZERO]], %[[X]]
// CHECK-NEXT: return %[[G]]
func.func @floor(%x: tensor<?x3xf64>, %seed: tensor<?x3xf64>) -> tensor<?x3xf64> {
  %y = calque.floor %x : (tensor<?x3xf64>) -> tensor<?x3xf64>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %g : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @stop_gradient(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[SEED:.*]]: tensor<?x3xf64>)
// CHECK-NEXT: calque.stop_gradient %[[X]]
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[G:.*]] = calque.broadcast_like %[[ZERO]], %[[X]]
// CHECK-NEXT: return %[[G]]
func.func @stop_gradient(%x: tensor<?x3xf64>, %seed: tensor<?x3xf64>) -> tensor<?x3xf64> {
  %y = calque.stop_gradient %x : (tensor<?x3xf64>) -> tensor<?x3xf64>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %g : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @axis_size(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[SEED:.*]]: tensor<f64>)
// CHECK-NEXT: calque.axis_size %[[X]]
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[G:.*]] = calque.broadcast_like %[[ZERO]], %[[X]]
// CHECK-NEXT: return %[[G]]
func.func @axis_size(%x: tensor<?x3xf64>, %seed: tensor<f64>) -> tensor<?x3xf64> {
  %y = calque.axis_size %x {axes = array<i64: 0>} : (tensor<?x3xf64>) -> tensor<f64>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f64>, tensor<f64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %g : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @comparison(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[SEED:.*]]: tensor<?x3xf64>)
// CHECK-NEXT: calque.less
// CHECK-NEXT: calque.cast
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[G:.*]] = calque.broadcast_like %[[ZERO]], %[[X]]
// CHECK-NEXT: return %[[G]]
func.func @comparison(%x: tensor<?x3xf64>, %seed: tensor<?x3xf64>) -> tensor<?x3xf64> {
  %c = calque.less %x, %x : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xi1>
  %y = calque.cast %c {dtype = f64} : (tensor<?x3xi1>) -> tensor<?x3xf64>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %g : tensor<?x3xf64>
}

// CHECK-LABEL: func.func @argmax(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[SEED:.*]]: tensor<?x3xf64>)
// CHECK-NEXT: calque.argmax
// CHECK-NEXT: calque.one_hot
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[G:.*]] = calque.broadcast_like %[[ZERO]], %[[X]]
// CHECK-NEXT: return %[[G]]
func.func @argmax(%x: tensor<?x3xf64>, %seed: tensor<?x3xf64>) -> tensor<?x3xf64> {
  %i = calque.argmax %x : (tensor<?x3xf64>) -> tensor<?xi64>
  %y = calque.one_hot %i {depth = 3 : i64, dtype = f64} : (tensor<?xi64>) -> tensor<?x3xf64>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %g : tensor<?x3xf64>
}

// Of an operation with several operands, those that only say where or how large have none.
// CHECK-LABEL: func.func @like(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf64>, %[[SEED:.*]]: tensor<?x3xf64>)
// CHECK-NEXT: %[[ONE:.*]] = calque.constant
// CHECK-NEXT: calque.broadcast_like %[[ONE]], %[[X]]
// CHECK-NEXT: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f64>}
// CHECK-NEXT: %[[G:.*]] = calque.broadcast_like %[[ZERO]], %[[X]]
// CHECK-NEXT: return %[[G]]
func.func @like(%x: tensor<?x3xf64>, %seed: tensor<?x3xf64>) -> tensor<?x3xf64> {
  %one = calque.constant {value = dense<1.0> : tensor<f64>} : () -> tensor<f64>
  %y = calque.broadcast_like %one, %x : (tensor<f64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x3xf64>, tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  return %g : tensor<?x3xf64>
}

// Effects stay where they are.
// CHECK-LABEL: func.func @effects(
// CHECK-SAME: %[[X:.*]]: tensor<?xf64>, %[[SEED:.*]]: tensor<?xf64>)
// CHECK-NEXT: %[[W:.*]] = calque.variable_read
// CHECK-NEXT: %[[Y:.*]] = calque.mul %[[X]], %[[W]]
// CHECK-NEXT: calque.print %[[Y]]
// CHECK-NEXT: calque.variable_assign %[[Y]]
// CHECK-NEXT: %[[P:.*]] = calque.mul %[[SEED]], %[[X]]
// CHECK-NEXT: %[[G:.*]] = calque.sum_like %[[P]], %[[W]]
// CHECK-NEXT: return %[[G]]
func.func @effects(%x: tensor<?xf64>, %seed: tensor<?xf64>) -> tensor<?xf64> {
  %w = calque.variable_read {variable = 0 : i64, shape = array<i64: -9223372036854775808>, dtype = f64} : () -> tensor<?xf64>
  %y = calque.mul %x, %w : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  calque.print %y {label = "y"} : (tensor<?xf64>) -> ()
  calque.variable_assign %y {variable = 0 : i64} : (tensor<?xf64>) -> ()
  %g = calque.gradient %y, %seed, %w {counts = array<i64: 1, 1, 0>} : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %g : tensor<?xf64>
}
