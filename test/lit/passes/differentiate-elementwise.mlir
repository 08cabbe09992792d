// The reverse rules of elementwise operations, on unknown sizes:
// each emits what its formula says, shaped like the operands, whatever their sizes will be.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @neg(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.neg %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.neg %[[G]]
// CHECK-NEXT: %[[V1:.*]] = calque.sum_like %[[V0]], %[[X]]
// CHECK-NEXT: return %[[V1]]
func.func @neg(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.neg %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @abs(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.abs %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.sign %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[G]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.sum_like %[[V1]], %[[X]]
// CHECK-NEXT: return %[[V2]]
func.func @abs(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.abs %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @square(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.square %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<2.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[V0]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[G]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.sum_like %[[V2]], %[[X]]
// CHECK-NEXT: return %[[V3]]
func.func @square(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.square %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @exp(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.exp %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.mul %[[G]], %[[Y]]
// CHECK-NEXT: %[[V1:.*]] = calque.sum_like %[[V0]], %[[X]]
// CHECK-NEXT: return %[[V1]]
func.func @exp(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.exp %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @expm1(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.expm1 %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.add %[[Y]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[G]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.sum_like %[[V2]], %[[X]]
// CHECK-NEXT: return %[[V3]]
func.func @expm1(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.expm1 %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @log(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.log %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.div %[[V0]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[G]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.sum_like %[[V2]], %[[X]]
// CHECK-NEXT: return %[[V3]]
func.func @log(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.log %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @log1p(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.log1p %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.add %[[X]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.div %[[V0]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[G]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.sum_like %[[V4]], %[[X]]
// CHECK-NEXT: return %[[V5]]
func.func @log1p(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.log1p %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @sqrt(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.sqrt %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<5.000000e-01> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.div %[[V0]], %[[Y]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[G]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.sum_like %[[V2]], %[[X]]
// CHECK-NEXT: return %[[V3]]
func.func @sqrt(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.sqrt %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @rsqrt(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.rsqrt %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<-5.000000e-01> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.div %[[Y]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[V0]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[G]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.sum_like %[[V3]], %[[X]]
// CHECK-NEXT: return %[[V4]]
func.func @rsqrt(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.rsqrt %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @tanh(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.tanh %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[Y]], %[[Y]]
// CHECK-NEXT: %[[V2:.*]] = calque.sub %[[V0]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[G]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.sum_like %[[V3]], %[[X]]
// CHECK-NEXT: return %[[V4]]
func.func @tanh(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.tanh %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.sigmoid %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.sub %[[V0]], %[[Y]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[Y]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[G]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.sum_like %[[V3]], %[[X]]
// CHECK-NEXT: return %[[V4]]
func.func @sigmoid(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.sigmoid %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @relu(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.relu %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.greater %[[Y]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V3:.*]] = calque.where %[[V1]], %[[G]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.sum_like %[[V3]], %[[X]]
// CHECK-NEXT: return %[[V4]]
func.func @relu(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.relu %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @erf(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.erf %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<1.12837923> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[X]], %[[X]]
// CHECK-NEXT: %[[V2:.*]] = calque.neg %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.exp %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[V0]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.mul %[[G]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.sum_like %[[V5]], %[[X]]
// CHECK-NEXT: return %[[V6]]
func.func @erf(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.erf %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @sin(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.sin %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.cos %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.mul %[[G]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.sum_like %[[V1]], %[[X]]
// CHECK-NEXT: return %[[V2]]
func.func @sin(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.sin %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @cos(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.cos %[[X]]
// CHECK-NEXT: %[[V0:.*]] = calque.sin %[[X]]
// CHECK-NEXT: %[[V1:.*]] = calque.neg %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[G]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.sum_like %[[V2]], %[[X]]
// CHECK-NEXT: return %[[V3]]
func.func @cos(%x: tensor<?x?xf32>, %g: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = calque.cos %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %d : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @add(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.add %[[A]], %[[B]]
// CHECK-NEXT: %[[V0:.*]] = calque.sum_like %[[G]], %[[A]]
// CHECK-NEXT: %[[V1:.*]] = calque.sum_like %[[G]], %[[B]]
// CHECK-NEXT: return %[[V0]], %[[V1]]
func.func @add(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %g: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %y = calque.add %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %d:2 = calque.gradient %y, %g, %a, %b {counts = array<i64: 1, 2, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<?x?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @sub(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.sub %[[A]], %[[B]]
// CHECK-NEXT: %[[V0:.*]] = calque.sum_like %[[G]], %[[A]]
// CHECK-NEXT: %[[V1:.*]] = calque.neg %[[G]]
// CHECK-NEXT: %[[V2:.*]] = calque.sum_like %[[V1]], %[[B]]
// CHECK-NEXT: return %[[V0]], %[[V2]]
func.func @sub(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %g: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %y = calque.sub %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %d:2 = calque.gradient %y, %g, %a, %b {counts = array<i64: 1, 2, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<?x?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @mul(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.mul %[[A]], %[[B]]
// CHECK-NEXT: %[[V0:.*]] = calque.mul %[[G]], %[[B]]
// CHECK-NEXT: %[[V1:.*]] = calque.sum_like %[[V0]], %[[A]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[G]], %[[A]]
// CHECK-NEXT: %[[V3:.*]] = calque.sum_like %[[V2]], %[[B]]
// CHECK-NEXT: return %[[V1]], %[[V3]]
func.func @mul(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %g: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %y = calque.mul %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %d:2 = calque.gradient %y, %g, %a, %b {counts = array<i64: 1, 2, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<?x?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @div(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.div %[[A]], %[[B]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.div %[[V0]], %[[B]]
// CHECK-NEXT: %[[V2:.*]] = calque.mul %[[G]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.sum_like %[[V2]], %[[A]]
// CHECK-NEXT: %[[V4:.*]] = calque.div %[[Y]], %[[B]]
// CHECK-NEXT: %[[V5:.*]] = calque.neg %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.mul %[[G]], %[[V5]]
// CHECK-NEXT: %[[V7:.*]] = calque.sum_like %[[V6]], %[[B]]
// CHECK-NEXT: return %[[V3]], %[[V7]]
func.func @div(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %g: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %y = calque.div %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %d:2 = calque.gradient %y, %g, %a, %b {counts = array<i64: 1, 2, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<?x?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @pow(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: %[[Y:.*]] = calque.pow %[[A]], %[[B]]
// CHECK-NEXT: %[[ZERO0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[NOT0:.*]] = calque.not_equal %[[A]], %[[ZERO0]]
// CHECK-NEXT: %[[ZERO1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[NOT1:.*]] = calque.not_equal %[[B]], %[[ZERO1]]
// CHECK-NEXT: %[[ANY:.*]] = calque.logical_or %[[NOT0]], %[[NOT1]]
// CHECK-NEXT: %[[ONE:.*]] = calque.constant {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[BASE:.*]] = calque.where %[[ANY]], %[[A]], %[[ONE]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.sub %[[B]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.pow %[[BASE]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.mul %[[B]], %[[V2]]
// CHECK-NEXT: %[[V4:.*]] = calque.mul %[[G]], %[[V3]]
// CHECK-NEXT: %[[V5:.*]] = calque.sum_like %[[V4]], %[[A]]
// CHECK-NEXT: %[[V6:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V7:.*]] = calque.greater %[[A]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.constant {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V9:.*]] = calque.where %[[V7]], %[[A]], %[[V8]]
// CHECK-NEXT: %[[V10:.*]] = calque.log %[[V9]]
// CHECK-NEXT: %[[V11:.*]] = calque.mul %[[Y]], %[[V10]]
// CHECK-NEXT: %[[V12:.*]] = calque.mul %[[G]], %[[V11]]
// CHECK-NEXT: %[[V13:.*]] = calque.sum_like %[[V12]], %[[B]]
// CHECK-NEXT: return %[[V5]], %[[V13]]
func.func @pow(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %g: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %y = calque.pow %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %d:2 = calque.gradient %y, %g, %a, %b {counts = array<i64: 1, 2, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<?x?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @maximum(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.maximum %[[A]], %[[B]]
// CHECK-NEXT: %[[V0:.*]] = calque.greater_equal %[[A]], %[[B]]
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.where %[[V0]], %[[G]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.sum_like %[[V2]], %[[A]]
// CHECK-NEXT: %[[V4:.*]] = calque.greater_equal %[[A]], %[[B]]
// CHECK-NEXT: %[[V5:.*]] = calque.logical_not %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V7:.*]] = calque.where %[[V5]], %[[G]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.sum_like %[[V7]], %[[B]]
// CHECK-NEXT: return %[[V3]], %[[V8]]
func.func @maximum(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %g: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %y = calque.maximum %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %d:2 = calque.gradient %y, %g, %a, %b {counts = array<i64: 1, 2, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<?x?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @minimum(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.minimum %[[A]], %[[B]]
// CHECK-NEXT: %[[V0:.*]] = calque.less_equal %[[A]], %[[B]]
// CHECK-NEXT: %[[V1:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V2:.*]] = calque.where %[[V0]], %[[G]], %[[V1]]
// CHECK-NEXT: %[[V3:.*]] = calque.sum_like %[[V2]], %[[A]]
// CHECK-NEXT: %[[V4:.*]] = calque.less_equal %[[A]], %[[B]]
// CHECK-NEXT: %[[V5:.*]] = calque.logical_not %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V7:.*]] = calque.where %[[V5]], %[[G]], %[[V6]]
// CHECK-NEXT: %[[V8:.*]] = calque.sum_like %[[V7]], %[[B]]
// CHECK-NEXT: return %[[V3]], %[[V8]]
func.func @minimum(%a: tensor<?x?xf32>, %b: tensor<?xf32>, %g: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %y = calque.minimum %a, %b : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %d:2 = calque.gradient %y, %g, %a, %b {counts = array<i64: 1, 2, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<?x?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @where(
// CHECK-SAME: %[[C:.*]]: tensor<?x1xi1>, %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?xf32>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.where %[[C]], %[[A]], %[[B]]
// CHECK-NEXT: %[[V0:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V1:.*]] = calque.where %[[C]], %[[G]], %[[V0]]
// CHECK-NEXT: %[[V2:.*]] = calque.sum_like %[[V1]], %[[A]]
// CHECK-NEXT: %[[V3:.*]] = calque.logical_not %[[C]]
// CHECK-NEXT: %[[V4:.*]] = calque.constant {value = dense<0.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[V5:.*]] = calque.where %[[V3]], %[[G]], %[[V4]]
// CHECK-NEXT: %[[V6:.*]] = calque.sum_like %[[V5]], %[[B]]
// CHECK-NEXT: return %[[V2]], %[[V6]]
func.func @where(%c: tensor<?x1xi1>, %a: tensor<?x?xf32>, %b: tensor<?xf32>, %g: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %y = calque.where %c, %a, %b : (tensor<?x1xi1>, tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  %d:2 = calque.gradient %y, %g, %a, %b {counts = array<i64: 1, 2, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %d#0, %d#1 : tensor<?x?xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @cast(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf64>, %[[G:.*]]: tensor<?x?xf32>)
// CHECK-NEXT: calque.cast %[[X]] {dtype = f32}
// CHECK-NEXT: %[[V0:.*]] = calque.cast %[[G]] {dtype = f64}
// CHECK-NEXT: return %[[V0]]
func.func @cast(%x: tensor<?x?xf64>, %g: tensor<?x?xf32>) -> tensor<?x?xf64> {
  %y = calque.cast %x {dtype = f32} : (tensor<?x?xf64>) -> tensor<?x?xf32>
  %d = calque.gradient %y, %g, %x {counts = array<i64: 1, 1, 0>} : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf64>) -> tensor<?x?xf64>
  return %d : tensor<?x?xf64>
}
