// Four numbers come from one block of Philox, so that the blocks of 16 lanes are those of four.
//
// RUN: calque-opt --split-input-file --calque-stage=name=scheduled --calque-target=avx512 %s | FileCheck %s
// RUN: calque-opt --split-input-file --calque-stage=name=scheduled --calque-target=avx2 %s | FileCheck %s --check-prefix=AVX2

// CHECK-LABEL: func.func @numbers
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 4, 8, 12] : vector<16xi64>, vector<16xi64>
// CHECK-COUNT-20: arith.muli %{{.*}} : vector<4xi64>
// CHECK-NOT: arith.muli %{{.*}} : vector<16xi64>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3] : vector<4xi32>, vector<4xi32>
// AVX2-LABEL: func.func @numbers
// AVX2-COUNT-20: arith.muli %{{.*}} : vector<2xi64>
// AVX2-NOT: arith.muli %{{.*}} : vector<8xi64>
func.func @numbers(%state: tensor<2xi64>) -> tensor<5x1024xf32> {
  %0 = calque.random_uniform %state {dtype = f32, shape = array<i64: 5, 1024>} : (tensor<2xi64>) -> tensor<5x1024xf32>
  return %0 : tensor<5x1024xf32>
}

// -----

// The first number of a row may be any of its block.
// AVX2-LABEL: func.func @odd_rows
// CHECK-LABEL: func.func @odd_rows
// CHECK: arith.muli %{{.*}} : vector<16xi64>
// CHECK-NOT: arith.muli %{{.*}} : vector<4xi64>
func.func @odd_rows(%state: tensor<2xi64>) -> tensor<5x1025xf32> {
  %0 = calque.random_uniform %state {dtype = f32, shape = array<i64: 5, 1025>} : (tensor<2xi64>) -> tensor<5x1025xf32>
  return %0 : tensor<5x1025xf32>
}
