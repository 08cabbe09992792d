// What is simplified, and beside it what looks alike and is not, because it differs for one value: each identity is exact.
// RUN: calque-opt --calque-stage=name=simplified --split-input-file %s | FileCheck %s

// x + -0 is x. -0 + 0 is 0.
// CHECK-LABEL: func.func @add_neutral(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>)
// CHECK: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00>
// CHECK-NEXT: %[[KEPT:.*]] = calque.add %[[X]], %[[ZERO]]
// CHECK-NEXT: return %[[X]], %[[KEPT]], %[[I]]
func.func @add_neutral(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %minusZero = calque.constant {value = dense<-0.0> : tensor<f32>} : () -> tensor<f32>
  %zero = calque.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %none = calque.constant {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = calque.add %minusZero, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = calque.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = calque.add %i, %none : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

// -----

// x - 0 is x. -0 - -0 is 0, 0 - x is not -x at 0, and NaN - NaN and inf - inf are not 0.
// CHECK-LABEL: func.func @sub_neutral(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-DAG: %[[MINUS_ZERO:.*]] = calque.constant {value = dense<-0.000000e+00>
// CHECK-DAG: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00>
// CHECK: %[[A:.*]] = calque.sub %[[X]], %[[MINUS_ZERO]]
// CHECK-NEXT: %[[B:.*]] = calque.sub %[[ZERO]], %[[X]]
// CHECK-NEXT: %[[C:.*]] = calque.sub %[[X]], %[[X]]
// CHECK-NEXT: return %[[X]], %[[A]], %[[B]], %[[C]]
func.func @sub_neutral(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %minusZero = calque.constant {value = dense<-0.0> : tensor<f32>} : () -> tensor<f32>
  %zero = calque.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = calque.sub %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = calque.sub %x, %minusZero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = calque.sub %zero, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = calque.sub %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// 1 * x, x * 1 and x / 1 are x. 0 * x is -0 below zero and NaN at inf, x / x is NaN at 0, and 1 / x is not x.
// CHECK-LABEL: func.func @mul_neutral(
// CHECK-SAME: %[[X:.*]]: tensor<4xf64>)
// CHECK-DAG: %[[ONE:.*]] = calque.constant {value = dense<1.000000e+00>
// CHECK-DAG: %[[ZERO:.*]] = calque.constant {value = dense<0.000000e+00>
// CHECK: %[[A:.*]] = calque.mul %[[X]], %[[ZERO]]
// CHECK-NEXT: %[[B:.*]] = calque.div %[[X]], %[[X]]
// CHECK-NEXT: %[[C:.*]] = calque.div %[[ONE]], %[[X]]
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[A]], %[[B]], %[[C]]
func.func @mul_neutral(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
  %one = calque.constant {value = dense<1.0> : tensor<f64>} : () -> tensor<f64>
  %zero = calque.constant {value = dense<0.0> : tensor<f64>} : () -> tensor<f64>
  %0 = calque.mul %one, %x : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  %1 = calque.mul %x, %one : (tensor<4xf64>, tensor<f64>) -> tensor<4xf64>
  %2 = calque.div %x, %one : (tensor<4xf64>, tensor<f64>) -> tensor<4xf64>
  %3 = calque.mul %zero, %x : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  %4 = calque.div %x, %x : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %5 = calque.div %one, %x : (tensor<f64>, tensor<4xf64>) -> tensor<4xf64>
  return %0, %1, %2, %3, %4, %5 : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}

// -----

// A seed is a constant in some shape.
// CHECK-LABEL: func.func @seeds(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: return %[[X]]
func.func @seeds(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %one = calque.constant {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = calque.expand_dims %one {axes = array<i64: 0, 1>} : (tensor<f32>) -> tensor<1x1xf32>
  %1 = calque.broadcast_like %0, %x : (tensor<1x1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = calque.mul %1, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----

// What an operand does to the shape stays, and so does the comparison of unknown sizes.
// CHECK-LABEL: func.func @shapes(
// CHECK: %[[A:.*]] = calque.mul
// CHECK: %[[B:.*]] = calque.mul
// CHECK: return %[[A]], %[[B]]
func.func @shapes(%x: tensor<3xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> (tensor<2x3xf32>, tensor<?xf32>) {
  %ones = calque.constant {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %one = calque.constant {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = calque.mul %x, %ones : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = calque.broadcast_like %one, %z : (tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  %2 = calque.mul %y, %1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0, %2 : tensor<2x3xf32>, tensor<?xf32>
}

// -----

// -(-x) and !!b are x and b.
// CHECK-LABEL: func.func @involution(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>, %[[B:.*]]: tensor<4xi1>)
// CHECK-NEXT: return %[[X]], %[[I]], %[[B]]
func.func @involution(%x: tensor<4xf32>, %i: tensor<4xi32>, %b: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xi1>) {
  %0 = calque.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = calque.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = calque.neg %i : (tensor<4xi32>) -> tensor<4xi32>
  %3 = calque.neg %2 : (tensor<4xi32>) -> tensor<4xi32>
  %4 = calque.logical_not %b : (tensor<4xi1>) -> tensor<4xi1>
  %5 = calque.logical_not %4 : (tensor<4xi1>) -> tensor<4xi1>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xi32>, tensor<4xi1>
}

// -----

// Twice is once, for these and not for others.
// CHECK-LABEL: func.func @idempotent(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xi1>)
// CHECK-NEXT: %[[ABS:.*]] = calque.abs %[[X]]
// CHECK-NEXT: %[[SIGN:.*]] = calque.sign %[[X]]
// CHECK-NEXT: %[[RELU:.*]] = calque.relu %[[X]]
// CHECK-NEXT: %[[FLOOR:.*]] = calque.floor %[[X]]
// CHECK-NEXT: %[[TWICE:.*]] = calque.add %[[X]], %[[X]]
// CHECK-NEXT: return %[[ABS]], %[[SIGN]], %[[RELU]], %[[FLOOR]], %[[X]], %[[X]], %[[B]], %[[B]], %[[TWICE]]
func.func @idempotent(%x: tensor<4xf32>, %b: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>) {
  %0 = calque.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = calque.abs %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = calque.sign %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = calque.sign %2 : (tensor<4xf32>) -> tensor<4xf32>
  %4 = calque.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = calque.relu %4 : (tensor<4xf32>) -> tensor<4xf32>
  %6 = calque.floor %x : (tensor<4xf32>) -> tensor<4xf32>
  %7 = calque.floor %6 : (tensor<4xf32>) -> tensor<4xf32>
  %8 = calque.maximum %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %9 = calque.minimum %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %10 = calque.logical_and %b, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %11 = calque.logical_or %b, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %12 = calque.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %3, %5, %7, %8, %9, %10, %11, %12 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>
}

// -----

// Constants of bool.
// CHECK-LABEL: func.func @logical_neutral(
// CHECK-SAME: %[[B:.*]]: tensor<4xi1>)
// CHECK: %[[FALSE:.*]] = calque.constant {value = dense<false>
// CHECK-NEXT: %[[KEPT:.*]] = calque.logical_and %[[B]], %[[FALSE]]
// CHECK-NEXT: return %[[B]], %[[B]], %[[B]], %[[KEPT]]
func.func @logical_neutral(%b: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %true = calque.constant {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %false = calque.constant {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %0 = calque.logical_and %true, %b : (tensor<i1>, tensor<4xi1>) -> tensor<4xi1>
  %1 = calque.logical_or %b, %false : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  %2 = calque.logical_xor %b, %false : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  %3 = calque.logical_and %b, %false : (tensor<4xi1>, tensor<i1>) -> tensor<4xi1>
  return %0, %1, %2, %3 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// -----

// |-x| and (-x)² need no sign; cos(-x) is computed as it is written.
// CHECK-LABEL: func.func @even(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[N:.*]] = calque.neg %[[X]]
// CHECK-NEXT: %[[A:.*]] = calque.abs %[[X]]
// CHECK-NEXT: %[[B:.*]] = calque.square %[[X]]
// CHECK-NEXT: %[[C:.*]] = calque.cos %[[N]]
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
func.func @even(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %n = calque.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = calque.abs %n : (tensor<4xf32>) -> tensor<4xf32>
  %1 = calque.square %n : (tensor<4xf32>) -> tensor<4xf32>
  %2 = calque.cos %n : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Signs of factors go to sums. (-x) * (-y) is x * y.
// CHECK-LABEL: func.func @signs(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>, %[[Z:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[P:.*]] = calque.mul %[[X]], %[[Y]]
// CHECK-NEXT: %[[A:.*]] = calque.sub %[[Z]], %[[P]]
// CHECK-NEXT: %[[B:.*]] = calque.add %[[Z]], %[[P]]
// CHECK-NEXT: %[[Q:.*]] = calque.div %[[X]], %[[Y]]
// CHECK-NEXT: %[[C:.*]] = calque.sub %[[Z]], %[[Q]]
// CHECK-NEXT: return %[[A]], %[[A]], %[[B]], %[[C]], %[[P]]
func.func @signs(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %nx = calque.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %ny = calque.neg %y : (tensor<4xf32>) -> tensor<4xf32>
  %0 = calque.mul %nx, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = calque.mul %y, %nx : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = calque.add %z, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = calque.add %1, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = calque.sub %z, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = calque.div %x, %ny : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = calque.add %z, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = calque.mul %nx, %ny : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %3, %4, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// -x + -y is not -(x + y), and -(x - y) is not y - x: the signs of zeros differ. The smallest integer divided by 2 is
// not -(-it / 2). The sign of one row is not worth moving to many.
// CHECK-LABEL: func.func @signs_kept(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>, %[[J:.*]]: tensor<4xi32>, %[[M:.*]]: tensor<9x4xf32>)
// CHECK-DAG: %[[NX:.*]] = calque.neg %[[X]]
// CHECK-DAG: %[[NI:.*]] = calque.neg %[[I]]
// CHECK-DAG: %[[A:.*]] = calque.sub %[[NX]], %[[Y]]
// CHECK-DAG: %[[D:.*]] = calque.sub %[[X]], %[[Y]]
// CHECK-DAG: %[[B:.*]] = calque.neg %[[D]]
// CHECK-DAG: %[[C:.*]] = calque.div %[[NI]], %[[J]]
// CHECK-DAG: %[[E:.*]] = calque.mul %[[M]], %[[NX]]
// CHECK: return %[[A]], %[[B]], %[[C]], %[[E]]
func.func @signs_kept(%x: tensor<4xf32>, %y: tensor<4xf32>, %i: tensor<4xi32>, %j: tensor<4xi32>, %m: tensor<9x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<9x4xf32>) {
  %nx = calque.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %ny = calque.neg %y : (tensor<4xf32>) -> tensor<4xf32>
  %ni = calque.neg %i : (tensor<4xi32>) -> tensor<4xi32>
  %0 = calque.add %nx, %ny : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = calque.sub %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = calque.neg %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = calque.div %ni, %j : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %4 = calque.mul %nx, %m : (tensor<4xf32>, tensor<9x4xf32>) -> tensor<9x4xf32>
  return %0, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<9x4xf32>
}

// -----

// a * b is b * a, and one of them is enough. (a * b) * c is rounded otherwise than a * (b * c).
// CHECK-LABEL: func.func @order(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>, %[[C:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[AB:.*]] = calque.mul %[[A]], %[[B]]
// CHECK-NEXT: %[[L:.*]] = calque.mul %[[C]], %[[AB]]
// CHECK-NEXT: %[[BC:.*]] = calque.mul %[[B]], %[[C]]
// CHECK-NEXT: %[[R:.*]] = calque.mul %[[A]], %[[BC]]
// CHECK-NEXT: return %[[AB]], %[[AB]], %[[L]], %[[R]]
func.func @order(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = calque.mul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = calque.mul %b, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = calque.mul %0, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = calque.mul %b, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = calque.mul %a, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// So it is of results, which are found to be equal first; and differences are not.
// CHECK-LABEL: func.func @order_of_results(
// CHECK-NEXT: %[[A:.*]] = calque.tanh
// CHECK-NEXT: %[[B:.*]] = calque.exp
// CHECK-NEXT: %[[AB:.*]] = calque.mul %[[A]], %[[B]]
// CHECK-NEXT: %[[L:.*]] = calque.sub %[[A]], %[[B]]
// CHECK-NEXT: %[[R:.*]] = calque.sub %[[B]], %[[A]]
// CHECK-NEXT: return %[[AB]], %[[AB]], %[[L]], %[[R]]
func.func @order_of_results(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = calque.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = calque.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %2 = calque.mul %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = calque.exp %y : (tensor<4xf32>) -> tensor<4xf32>
  %4 = calque.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = calque.mul %3, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = calque.sub %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = calque.sub %3, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %5, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Unknown sizes that disagree are reported in the order in which the operands are written.
// CHECK-LABEL: func.func @order_of_open_sizes(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[P:.*]] = calque.mul %[[Y]], %[[X]]
// CHECK-NEXT: %[[N:.*]] = calque.neg %[[Y]]
// CHECK-NEXT: %[[S:.*]] = calque.add %[[N]], %[[X]]
// CHECK-NEXT: return %[[P]], %[[S]]
func.func @order_of_open_sizes(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = calque.mul %y, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = calque.neg %y : (tensor<?xf32>) -> tensor<?xf32>
  %2 = calque.add %1, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0, %2 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Equal branches, known conditions, and a negated one.
// CHECK-LABEL: func.func @where(
// CHECK-SAME: %[[B:.*]]: tensor<4xi1>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[W:.*]] = calque.where %[[B]], %[[Y]], %[[X]]
// CHECK-NEXT: return %[[X]], %[[X]], %[[Y]], %[[W]]
func.func @where(%b: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %true = calque.constant {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %false = calque.constant {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %0 = calque.where %b, %x, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = calque.where %true, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = calque.where %false, %x, %y : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = calque.logical_not %b : (tensor<4xi1>) -> tensor<4xi1>
  %3 = calque.where %n, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// There and back, where the type between holds every element. float32 does not hold every int32, nor int64 every float32.
// CHECK-LABEL: func.func @cast(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi32>, %[[B:.*]]: tensor<4xi1>)
// CHECK-NEXT: %[[V0:.*]] = calque.cast %[[I]] {dtype = f32}
// CHECK-NEXT: %[[V1:.*]] = calque.cast %[[V0]] {dtype = i32}
// CHECK-NEXT: %[[V2:.*]] = calque.cast %[[X]] {dtype = i64}
// CHECK-NEXT: %[[V3:.*]] = calque.cast %[[V2]] {dtype = f32}
// CHECK-NEXT: return %[[X]], %[[X]], %[[I]], %[[B]], %[[V1]], %[[V3]]
func.func @cast(%x: tensor<4xf32>, %i: tensor<4xi32>, %b: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi32>, tensor<4xf32>) {
  %0 = calque.cast %x {dtype = f32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = calque.cast %x {dtype = f64} : (tensor<4xf32>) -> tensor<4xf64>
  %2 = calque.cast %1 {dtype = f32} : (tensor<4xf64>) -> tensor<4xf32>
  %3 = calque.cast %i {dtype = f64} : (tensor<4xi32>) -> tensor<4xf64>
  %4 = calque.cast %3 {dtype = i32} : (tensor<4xf64>) -> tensor<4xi32>
  %5 = calque.cast %b {dtype = f32} : (tensor<4xi1>) -> tensor<4xf32>
  %6 = calque.cast %5 {dtype = i1} : (tensor<4xf32>) -> tensor<4xi1>
  %7 = calque.cast %i {dtype = f32} : (tensor<4xi32>) -> tensor<4xf32>
  %8 = calque.cast %7 {dtype = i32} : (tensor<4xf32>) -> tensor<4xi32>
  %9 = calque.cast %x {dtype = i64} : (tensor<4xf32>) -> tensor<4xi64>
  %10 = calque.cast %9 {dtype = f32} : (tensor<4xi64>) -> tensor<4xf32>
  return %0, %2, %4, %6, %8, %10 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi32>, tensor<4xf32>
}

// -----

// A fresh SSA value is nothing of its own once the derivatives are expanded, so what it stands between is seen.
// CHECK-LABEL: func.func @identity(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = calque.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = calque.identity %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = calque.neg %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
