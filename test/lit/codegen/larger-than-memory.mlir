// Nests of more iterations than 64 bits count are planned like others; such programs come from dumps and unknown sizes.
// RUN: calque-opt --calque-stage=name=scheduled --calque-target=avx2 --split-input-file %s | FileCheck %s
// RUN: calque-opt --calque-stage=name=outlined --calque-target=avx512 --split-input-file %s > /dev/null

// CHECK-LABEL: func.func @product
func.func @product(%a: tensor<1073741824x1073741824xf32>, %b: tensor<1073741824x1073741824xf32>) -> tensor<1073741824x1073741824xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<1073741824x1073741824xf32>, tensor<1073741824x1073741824xf32>) -> tensor<1073741824x1073741824xf32>
  return %0 : tensor<1073741824x1073741824xf32>
}

// -----

// CHECK-LABEL: func.func @chain
func.func @chain(%a: tensor<268435456x536870912xf32>, %b: tensor<536870912x536870912xf32>) -> tensor<268435456xf32> {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<268435456x536870912xf32>, tensor<536870912x536870912xf32>) -> tensor<268435456x536870912xf32>
  %1 = calque.tanh %0 : (tensor<268435456x536870912xf32>) -> tensor<268435456x536870912xf32>
  %2 = calque.mul %1, %0 : (tensor<268435456x536870912xf32>, tensor<268435456x536870912xf32>) -> tensor<268435456x536870912xf32>
  %3 = calque.reduce_sum %2 {axes = array<i64: 1>} : (tensor<268435456x536870912xf32>) -> tensor<268435456xf32>
  return %3 : tensor<268435456xf32>
}

// -----

// CHECK-LABEL: func.func @rows
func.func @rows(%a: tensor<1152921504606846976xf32>, %b: tensor<1073741824x1073741824xf32>) -> (tensor<f32>, tensor<1073741824xf32>) {
  %0 = calque.reduce_max %a {axes = array<i64: 0>} : (tensor<1152921504606846976xf32>) -> tensor<f32>
  %1 = calque.exp %b : (tensor<1073741824x1073741824xf32>) -> tensor<1073741824x1073741824xf32>
  %2 = calque.reduce_sum %1 {axes = array<i64: 0>} : (tensor<1073741824x1073741824xf32>) -> tensor<1073741824xf32>
  return %0, %2 : tensor<f32>, tensor<1073741824xf32>
}

// -----

// CHECK-LABEL: func.func @thin
func.func @thin(%a: tensor<1073741824x1073741824xf32>, %b: tensor<1073741824x2xf32>, %c: tensor<2x64xf32>) -> (tensor<1073741824x2xf32>, tensor<1073741824x2xf32>) {
  %0 = calque.contract %a, %b {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<1073741824x1073741824xf32>, tensor<1073741824x2xf32>) -> tensor<1073741824x2xf32>
  %1 = calque.slice %a {starts = array<i64: 0, 0>, limits = array<i64: 1073741824, 64>, strides = array<i64: 1, 1>} : (tensor<1073741824x1073741824xf32>) -> tensor<1073741824x64xf32>
  %2 = calque.contract %1, %c {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<1073741824x64xf32>, tensor<2x64xf32>) -> tensor<1073741824x2xf32>
  return %0, %2 : tensor<1073741824x2xf32>, tensor<1073741824x2xf32>
}

// -----

// CHECK-LABEL: func.func @padded
func.func @padded(%a: tensor<1073741824x536870912xf32>) -> tensor<1073741826x536870914xf32> {
  %0 = calque.pad %a {low = array<i64: 1, 1>, high = array<i64: 1, 1>, value = 0.0 : f64} : (tensor<1073741824x536870912xf32>) -> tensor<1073741826x536870914xf32>
  return %0 : tensor<1073741826x536870914xf32>
}
