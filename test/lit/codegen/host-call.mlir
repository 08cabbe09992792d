// A host call is handed the addresses of its operands and results and the sizes of its operands, between the prints around it. Its buffers
// are all made before it, so that none of them shares memory with another.
// RUN: calque-opt --calque-stage=name=bufferized --split-input-file %s | FileCheck %s
// RUN: calque-opt --calque-stage=name=outlined --split-input-file %s | FileCheck %s --check-prefix=PLACED

// CHECK-DAG: func.func private @[[PRINT:[^(]*]](!llvm.ptr, i64, i64, i64, memref<1xf32>, index) attributes {calque.runtime = "calque_rt_print"}
// CHECK-DAG: func.func private @[[CALL:[^(]*]](!llvm.ptr, i64, i64, memref<1xf32>, memref<4xf32>, index) attributes {calque.runtime = "calque_rt_host_call"}
// CHECK-LABEL: func.func @host(
// CHECK: %[[IN:.*]] = memref.alloc()
// CHECK: %[[INPUT:.*]] = memref.reinterpret_cast %[[IN]]
// CHECK: call @[[PRINT]](%arg0, %c0_i64, %c3_i64, %c1_i64, %[[INPUT]], %c4)
// CHECK: %[[OUT:.*]] = memref.alloc()
// CHECK: call @[[CALL]](%arg0, %c1_i64, %c2_i64, %[[INPUT]], %[[OUT]], %c4)
// CHECK: %[[RESULT:.*]] = memref.reinterpret_cast %[[OUT]]
// CHECK: call @[[PRINT]](%arg0, %c2_i64, %c3_i64, %c1_i64, %[[RESULT]], %c4)
// PLACED-DAG: memref.view %arg3[%c64]
// PLACED-DAG: memref.view %arg3[%c0]
func.func @host(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = calque.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  calque.print %0 {label = "before"} : (tensor<4xf32>) -> ()
  %1 = calque.host_call %0 {callee = 0 : i64, types = array<i64: 3, 1, 4>} : (tensor<4xf32>) -> tensor<4xf32>
  calque.print %1 {label = "after"} : (tensor<4xf32>) -> ()
  %2 = calque.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// What is handed over stands row behind row; a slice of unknown sizes does not, and is copied.
// CHECK-LABEL: func.func @part(
// CHECK: memref.subview
// CHECK: %[[COPY:.*]] = memref.alloc(%{{.*}}) : memref<2x?xf32>
// CHECK: linalg.generic {{.*}} outs(%[[COPY]] : memref<2x?xf32>)
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %[[COPY]]
// CHECK: %[[BARE:.*]] = memref.reinterpret_cast %[[FLAT]]
// CHECK: call @{{.*}}(%arg0, %{{.*}}, %[[BARE]],
// CHECK: call @{{.*}}(%arg0, %{{.*}}, %[[BARE]],
func.func @part(%g: tensor<2x?xf32>, %a: tensor<2x?xf32>) {
  %0 = calque.concat_part %g, %a, %a {axis = -1 : i64, index = 0 : i64} : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  calque.print %0 {label = "part"} : (tensor<2x?xf32>) -> ()
  calque.host_call %0 {callee = 0 : i64, types = array<i64>} : (tensor<2x?xf32>) -> ()
  return
}
