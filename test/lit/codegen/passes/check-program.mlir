// What a trace can be passes; which variables are assigned is for the compiler to say, from the stage simplified on.
// RUN: calque-opt --calque-check-program="simplified" %s | FileCheck %s
// RUN: not calque-opt --calque-check-program %s 2>&1 | FileCheck %s --check-prefix=TRACED

// CHECK: calque.assigned
// TRACED: error: function 'f' has attribute 'calque.assigned', which only the compiler sets
func.func @f(%x: tensor<2xf32>, %w: tensor<2xf32>) -> tensor<2xf32> attributes {calque.assigned = array<i64: 1>} {
  %0 = calque.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
