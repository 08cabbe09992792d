// A host call is handed the addresses of its operands and results and the sizes of its operands, between the prints around it. Its buffers
// are all made before the first address is taken, so that none of them shares memory with another.
// RUN: calque-opt --calque-stage=name=bufferized --split-input-file %s | FileCheck %s
// RUN: calque-opt --calque-stage=name=scheduled --split-input-file %s | FileCheck %s --check-prefix=PLACED

// CHECK-LABEL: func.func @host(
// CHECK: %[[IN:.*]] = memref.alloc()
// CHECK: call @calque_print_0(%arg0, %[[IN]])
// CHECK: %[[OUT:.*]] = memref.alloc()
// CHECK-NOT: memref.alloc
// CHECK: %[[A:.*]] = memref.extract_aligned_pointer_as_index %[[IN]]
// CHECK: %[[B:.*]] = arith.index_cast %[[A]]
// CHECK: call @calque_rt_host_address(%arg0, %[[B]])
// CHECK: %[[C:.*]] = memref.extract_aligned_pointer_as_index %[[OUT]]
// CHECK: %[[D:.*]] = arith.index_cast %[[C]]
// CHECK: call @calque_rt_host_address(%arg0, %[[D]])
// CHECK: call @calque_rt_host_size(%arg0, %c4_i64)
// CHECK: call @calque_rt_host_call(%arg0, %c1_i32)
// CHECK: call @calque_print_2(%arg0, %[[OUT]])
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

// What is handed over stands row behind row; a slice of open sizes does not, and is copied.
// CHECK-LABEL: func.func @part(
// CHECK: memref.subview
// CHECK: %[[COPY:.*]] = memref.alloc(%{{.*}}) : memref<2x?xf32>
// CHECK: linalg.generic {{.*}} outs(%[[COPY]] : memref<2x?xf32>)
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %[[COPY]]
// CHECK: %[[BARE:.*]] = memref.reinterpret_cast %[[FLAT]]
// CHECK: call @calque_print_{{.*}}(%arg0, %[[BARE]],
// CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[FLAT]]
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[ADDRESS]]
// CHECK: call @calque_rt_host_address(%arg0, %[[NUMBER]])
func.func @part(%g: tensor<2x?xf32>, %a: tensor<2x?xf32>) {
  %0 = calque.concat_part %g, %a, %a {axis = -1 : i64, index = 0 : i64} : (tensor<2x?xf32>, tensor<2x?xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  calque.print %0 {label = "part"} : (tensor<2x?xf32>) -> ()
  calque.host_call %0 {callee = 0 : i64, types = array<i64>} : (tensor<2x?xf32>) -> ()
  return
}
