// A gradient in a region follows its path through the blocks around it; regions beside the path don't disturb it.
// RUN: calque-opt --pass-pipeline='builtin.module(func.func(calque-differentiate))' %s | FileCheck %s

// CHECK-LABEL: func.func @path_outside(
// CHECK-SAME: %{{[^:]*}}: i1, %[[X:[^:]*]]: tensor<f32>, %[[SEED:[^:]*]]: tensor<f32>
// CHECK-NEXT: %[[Y:.*]] = calque.exp %[[X]]
// CHECK-NEXT: scf.if
// CHECK-NEXT: %[[Z:.*]] = calque.neg %[[Y]]
// CHECK-NEXT: %[[DY:.*]] = calque.neg %[[SEED]]
// CHECK-NEXT: %[[DX:.*]] = calque.mul %[[DY]], %[[Y]]
// CHECK-NEXT: scf.yield %[[DX]]
func.func @path_outside(%c: i1, %x: tensor<f32>, %seed: tensor<f32>) -> tensor<f32> {
  %y = calque.exp %x : (tensor<f32>) -> tensor<f32>
  %r = scf.if %c -> tensor<f32> {
    %z = calque.neg %y : (tensor<f32>) -> tensor<f32>
    %g = calque.gradient %z, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %g : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  return %r : tensor<f32>
}

// CHECK-LABEL: func.func @beside(
// CHECK-NOT: calque.gradient
// CHECK: calque.mul %arg2, %{{.*}}
// CHECK-NEXT: return
func.func @beside(%c: i1, %x: tensor<f32>, %seed: tensor<f32>) -> tensor<f32> {
  %y = calque.exp %x : (tensor<f32>) -> tensor<f32>
  scf.if %c {
    calque.print %y {label = ""} : (tensor<f32>) -> ()
  }
  %other = scf.if %c -> tensor<f32> {
    scf.yield %y : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  calque.print %other {label = ""} : (tensor<f32>) -> ()
  %g = calque.gradient %y, %seed, %x {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}
