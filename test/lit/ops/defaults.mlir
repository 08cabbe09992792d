// An attribute that is left out has its default value, and a default value is not printed.
// RUN: calque-opt %s | FileCheck %s
// RUN: calque-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @given(
func.func @given(%x: tensor<1x2x3x4xf32>, %filter: tensor<2x3x4x1xf32>, %indices: tensor<2xi64>) {
  // CHECK-NEXT: calque.reduce_sum %{{[a-z0-9]+}} :
  %sum = calque.reduce_sum %x {axes = array<i64>, keepdims = false} : (tensor<1x2x3x4xf32>) -> tensor<f32>
  // CHECK-NEXT: calque.softmax %{{[a-z0-9]+}} :
  %softmax = calque.softmax %x {axis = -1 : i64} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  // CHECK-NEXT: calque.argmax %{{[a-z0-9]+}} :
  %argmax = calque.argmax %x {axis = -1 : i64} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3xi64>
  // CHECK-NEXT: calque.cumsum %{{[a-z0-9]+}} :
  %cumsum = calque.cumsum %x {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  // CHECK-NEXT: calque.axis_size %{{[a-z0-9]+}} :
  %size = calque.axis_size %x {axes = array<i64>} : (tensor<1x2x3x4xf32>) -> tensor<f32>
  // CHECK-NEXT: calque.conv %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
  %conv = calque.conv %x, %filter {dilations = array<i64>, groups = 1 : i64, padding = "valid", pads = array<i64>, strides = array<i64: 1, 1>} : (tensor<1x2x3x4xf32>, tensor<2x3x4x1xf32>) -> tensor<1x1x1x1xf32>
  // CHECK-NEXT: calque.max_pool %{{[a-z0-9]+}} {strides = array<i64: 2, 3>, window = array<i64: 2, 3>} :
  %pool = calque.max_pool %x {padding = "valid", pads = array<i64>, strides = array<i64: 2, 3>, window = array<i64: 2, 3>} : (tensor<1x2x3x4xf32>) -> tensor<1x1x1x4xf32>
  // CHECK-NEXT: calque.transpose %{{[a-z0-9]+}} :
  %transpose = calque.transpose %x {permutation = array<i64>} : (tensor<1x2x3x4xf32>) -> tensor<4x3x2x1xf32>
  // CHECK-NEXT: calque.concat %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
  %concat = calque.concat %x, %x {axis = 0 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  // CHECK-NEXT: calque.slice %{{[a-z0-9]+}} {limits = array<i64: 1>, starts = array<i64: 0>} :
  %slice = calque.slice %indices {limits = array<i64: 1>, starts = array<i64: 0>, strides = array<i64>} : (tensor<2xi64>) -> tensor<1xi64>
  // CHECK-NEXT: calque.pad %{{[a-z0-9]+}} {high = array<i64: 1>, low = array<i64: 0>} :
  %pad = calque.pad %indices {high = array<i64: 1>, low = array<i64: 0>, value = 0} : (tensor<2xi64>) -> tensor<3xi64>
  // CHECK-NEXT: calque.gather %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
  %gather = calque.gather %x, %indices {axis = 0 : i64} : (tensor<1x2x3x4xf32>, tensor<2xi64>) -> tensor<2x2x3x4xf32>
  // CHECK-NEXT: calque.iota {dtype = i32, shape = array<i64: 3>} :
  %iota = calque.iota {axis = 0 : i64, dtype = i32, shape = array<i64: 3>} : () -> tensor<3xi32>
  return
}

// GENERIC-LABEL: sym_name = "left_out"
func.func @left_out(%x: tensor<1x2x3x4xf32>, %filter: tensor<2x3x4x1xf32>, %indices: tensor<2xi64>) {
  // GENERIC: "calque.reduce_sum"(%{{.*}}) <{axes = array<i64>, keepdims = false}>
  %sum = calque.reduce_sum %x : (tensor<1x2x3x4xf32>) -> tensor<f32>
  // GENERIC-NEXT: "calque.softmax"(%{{.*}}) <{axis = -1 : i64}>
  %softmax = calque.softmax %x : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  // GENERIC-NEXT: "calque.argmax"(%{{.*}}) <{axis = -1 : i64}>
  %argmax = calque.argmax %x : (tensor<1x2x3x4xf32>) -> tensor<1x2x3xi64>
  // GENERIC-NEXT: "calque.cumsum"(%{{.*}}) <{axis = 0 : i64, exclusive = false, reverse = false}>
  %cumsum = calque.cumsum %x : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  // GENERIC-NEXT: "calque.axis_size"(%{{.*}}) <{axes = array<i64>}>
  %size = calque.axis_size %x : (tensor<1x2x3x4xf32>) -> tensor<f32>
  // GENERIC-NEXT: "calque.conv"(%{{.*}}) <{dilations = array<i64>, groups = 1 : i64, padding = "valid", pads = array<i64>, strides = array<i64: 1, 1>}>
  %conv = calque.conv %x, %filter : (tensor<1x2x3x4xf32>, tensor<2x3x4x1xf32>) -> tensor<1x1x1x1xf32>
  // GENERIC-NEXT: "calque.max_pool"(%{{.*}}) <{padding = "valid", pads = array<i64>, strides = array<i64: 2, 3>, window = array<i64: 2, 3>}>
  %pool = calque.max_pool %x {strides = array<i64: 2, 3>, window = array<i64: 2, 3>} : (tensor<1x2x3x4xf32>) -> tensor<1x1x1x4xf32>
  // GENERIC-NEXT: "calque.transpose"(%{{.*}}) <{permutation = array<i64>}>
  %transpose = calque.transpose %x : (tensor<1x2x3x4xf32>) -> tensor<4x3x2x1xf32>
  // GENERIC-NEXT: "calque.concat"(%{{.*}}) <{axis = 0 : i64}>
  %concat = calque.concat %x, %x : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<2x2x3x4xf32>
  // GENERIC-NEXT: "calque.slice"(%{{.*}}) <{limits = array<i64: 1>, starts = array<i64: 0>, strides = array<i64>}>
  %slice = calque.slice %indices {limits = array<i64: 1>, starts = array<i64: 0>} : (tensor<2xi64>) -> tensor<1xi64>
  // GENERIC-NEXT: "calque.pad"(%{{.*}}) <{high = array<i64: 1>, low = array<i64: 0>, value = 0 : i64}>
  %pad = calque.pad %indices {high = array<i64: 1>, low = array<i64: 0>} : (tensor<2xi64>) -> tensor<3xi64>
  // GENERIC-NEXT: "calque.gather"(%{{.*}}) <{axis = 0 : i64}>
  %gather = calque.gather %x, %indices : (tensor<1x2x3x4xf32>, tensor<2xi64>) -> tensor<2x2x3x4xf32>
  // GENERIC-NEXT: "calque.iota"() <{axis = 0 : i64, dtype = i32, shape = array<i64: 3>}>
  %iota = calque.iota {dtype = i32, shape = array<i64: 3>} : () -> tensor<3xi32>
  return
}
