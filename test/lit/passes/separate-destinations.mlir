// CSE merges equal destinations; they are taken apart again before bufferization.
// RUN: calque-opt --calque-stage=name=bufferized --split-input-file %s | FileCheck %s

// Two sums that start from equal zeros: each is computed in its own destination, with nothing copied between them.
// CHECK-LABEL: func.func @two_sums(
// CHECK-SAME: %[[FIRST:[^:]*]]: memref<4xf64>, %[[SECOND:[^:]*]]: memref<4xf64>) attributes
// CHECK-NOT: memref.{{alloc|copy}}
// CHECK-DAG: linalg.generic {{.*}} outs(%[[FIRST]] :
// CHECK-DAG: linalg.generic {{.*}} outs(%[[SECOND]] :
// CHECK-NOT: memref.{{alloc|copy}}
// CHECK: return
func.func @two_sums(%c: tensor<3x1xi1>, %g: tensor<3x4xf64>, %like: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %zero = calque.constant {value = dense<0.0> : tensor<f64>} : () -> tensor<f64>
  %a = calque.where %c, %g, %zero : (tensor<3x1xi1>, tensor<3x4xf64>, tensor<f64>) -> tensor<3x4xf64>
  %b = calque.where %c, %zero, %g : (tensor<3x1xi1>, tensor<f64>, tensor<3x4xf64>) -> tensor<3x4xf64>
  %sa = calque.sum_like %a, %like : (tensor<3x4xf64>, tensor<4xf64>) -> tensor<4xf64>
  %sb = calque.sum_like %b, %like : (tensor<3x4xf64>, tensor<4xf64>) -> tensor<4xf64>
  return %sa, %sb : tensor<4xf64>, tensor<4xf64>
}

// -----

// Two concatenations that begin alike.
// CHECK-LABEL: func.func @two_concats(
// CHECK-SAME: %[[A:[^:]*]]: memref<2xf64>, %[[B:[^:]*]]: memref<3xf64>, %[[C:[^:]*]]: memref<3xf64>, %[[FIRST:[^:]*]]: memref<5xf64>, %[[SECOND:[^:]*]]: memref<5xf64>)
// CHECK-NOT: memref.{{alloc|copy}}
// CHECK-DAG: memref.subview %[[FIRST]][0] [2] [1]
// CHECK-DAG: memref.subview %[[FIRST]][2] [3] [1]
// CHECK-DAG: memref.subview %[[SECOND]][0] [2] [1]
// CHECK-DAG: memref.subview %[[SECOND]][2] [3] [1]
// CHECK: return
func.func @two_concats(%a: tensor<2xf64>, %b: tensor<3xf64>, %c: tensor<3xf64>) -> (tensor<5xf64>, tensor<5xf64>) {
  %x = calque.concat %a, %b : (tensor<2xf64>, tensor<3xf64>) -> tensor<5xf64>
  %y = calque.concat %a, %c : (tensor<2xf64>, tensor<3xf64>) -> tensor<5xf64>
  return %x, %y : tensor<5xf64>, tensor<5xf64>
}
