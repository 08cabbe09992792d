// The function's attributes say what its IR does not: inputs, unknown sizes and what they equal, and the sites.
// RUN: calque-opt --calque-lower-to-linalg --split-input-file %s | FileCheck %s

// CHECK: func.func private @calque.runtime_0(!llvm.ptr, {{.*}}) attributes {calque.runtime = "calque_rt_print"}
// CHECK: func.func @effects(%{{.*}}: !llvm.ptr, %{{.*}}: tensor<2xi64>, %{{.*}}: tensor<2xi64>)
// CHECK-SAME: calque.assigned = array<i64: 1>
// CHECK-SAME: calque.inputs = 2 : i64
// CHECK-SAME: calque.sites = [{kind = "division_by_zero", line = "model.cpp:3", operation = "div"}, {kind = "print", line = "model.cpp:4", operation = "print", text = "a \22label\22"}]
// CHECK: call @calque_rt_fail(%{{.*}}, %c0_i32,
// CHECK: call @calque.runtime_0(%{{.*}}, %c1_i64,
func.func @effects(%x: tensor<2xi64>, %w: tensor<2xi64>) -> tensor<2xi64> attributes {calque.assigned = array<i64: 1>} {
  %0 = calque.div %x, %w : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64> loc("model.cpp":3:0)
  calque.print %0 {label = "a \22label\22"} : (tensor<2xi64>) -> () loc("model.cpp":4:0)
  return %0 : tensor<2xi64>
}

// -----

// CHECK: func.func @sizes(%{{.*}}: !llvm.ptr, %{{.*}}: tensor<?x?xf32>, %{{.*}}: tensor<?x3xf32>, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index) -> (tensor<?x3xf32>, index)
// CHECK-SAME: calque.equal_sizes = array<i64: 2, 0>
// CHECK-SAME: calque.inputs = 2 : i64
// CHECK-SAME: calque.known_sizes = array<i64: 1, 3>
// CHECK-SAME: {expected = array<i64: 1, -1, 0>, found = array<i64: 0, -1, 0>, kind = "sizes_differ", line = "model.cpp:5", operation = "add"}
// CHECK-SAME: calque.unknown_inputs = array<i64: 0, 0, 0, 1, 1, 0>
// CHECK-SAME: calque.unknown_outputs = array<i64: 0, 0>
// CHECK: func.func @calque.shapes(
func.func @sizes(%x: tensor<?x?xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = calque.add %x, %y : (tensor<?x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32> loc("model.cpp":5:0)
  return %0 : tensor<?x3xf32>
}
