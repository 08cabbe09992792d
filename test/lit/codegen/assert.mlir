// An assertion is one step of the plan, a kernel of the runtime, however many elements it looks at.
// RUN: calque-opt --calque-stage=name=outlined --split-input-file %s | FileCheck %s

// CHECK: func.func private @[[KERNEL:.*]](!llvm.ptr, i64, i64, memref<1xi1>) attributes {calque.runtime = "calque_rt_assert"}
// CHECK-LABEL: func.func @scalar(
// CHECK: call @[[KERNEL]](%arg0, %c0_i64, %c1_i64, %{{.*}})
// CHECK-NOT: scf.if
func.func @scalar(%a: tensor<i1>) {
  calque.assert %a {message = "holds"} : (tensor<i1>) -> ()
  return
}

// -----

// CHECK: func.func private @[[KERNEL:.*]]({{.*}}) attributes {calque.runtime = "calque_rt_assert_elements"}
// CHECK-LABEL: func.func @matrix(
// The frame, the site, the rank, no tensors to show, the bools and their sizes.
// CHECK: call @[[KERNEL]](%arg0, %c0_i64, %c2_i64, %{{.*}}, %{{.*}}, %c3, %c5)
// CHECK-NOT: scf.
func.func @matrix(%a: tensor<3x5xi1>) {
  calque.assert %a {message = "holds"} : (tensor<3x5xi1>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @open(
// CHECK: call @{{.*}}(%arg0, %{{.*}}, %c2_i64, %{{.*}}, %{{.*}}, %arg2, %c5)
// CHECK-NOT: scf.
// CHECK: return
func.func @open(%a: tensor<?x5xi1>) {
  calque.assert %a {message = "holds"} : (tensor<?x5xi1>) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @shown(
// CHECK: call @{{.*}}(%arg0, %{{.*}}, %c2_i64, %c1_i64, %{{.*}}, %c2, %c3, %{{.*}}, %{{.*}}, %c1, %c3)
func.func @shown(%a: tensor<2x3xi1>, %x: tensor<1x3xf32>) {
  calque.assert %a, %x {message = "holds"} : (tensor<2x3xi1>, tensor<1x3xf32>) -> ()
  return
}
