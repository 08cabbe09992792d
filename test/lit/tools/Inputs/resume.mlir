// Programs of all that the stages leave for each other.

// Variables, one of which is assigned; a gradient, a composite and a print.
func.func @step(%x: tensor<4x3xf32>) -> tensor<f32> attributes {calque.variables = [{name = "w", type = tensor<3xf32>}, {name = "scale", type = tensor<f32>}]} {
  %w = calque.variable_read {variable = 0 : i64, shape = array<i64: 3>, dtype = f32} : () -> tensor<3xf32> loc("user.cpp":11:3)
  %scale = calque.variable_read {variable = 1 : i64, shape = array<i64>, dtype = f32} : () -> tensor<f32> loc("user.cpp":11:9)
  %y = calque.mul %x, %w : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("user.cpp":12:3)
  %loss = calque.reduce_mean %y : (tensor<4x3xf32>) -> tensor<f32> loc("user.cpp":13:3)
  %one = calque.constant {value = dense<1.0> : tensor<f32>} : () -> tensor<f32> loc("user.cpp":14:3)
  %g = calque.gradient %loss, %one, %w {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>, tensor<3xf32>) -> tensor<3xf32> loc("user.cpp":15:3)
  %scaled = calque.mul %g, %scale : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32> loc("user.cpp":16:3)
  %new = calque.sub %w, %scaled : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32> loc("user.cpp":16:9)
  calque.variable_assign %new {variable = 0 : i64} : (tensor<3xf32>) -> () loc("user.cpp":17:3)
  calque.print %y {label = "a \22label\22"} : (tensor<4x3xf32>) -> () loc("user.cpp":18:3)
  return %loss : tensor<f32> loc("user.cpp":19:3)
} loc("user.cpp":10:1)

// Unknown sizes: equal by a check, known by one, of a result, and of intermediate values in the workspace.
func.func @open(%x: tensor<?x?xf32>, %y: tensor<?x3xf32>, %z: tensor<?xf32>) -> (tensor<?x3xf32>, tensor<f32>) {
  %0 = calque.add %x, %y : (tensor<?x?xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = calque.contract %0, %z {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<?x3xf32>, tensor<?xf32>) -> tensor<?xf32>
  %2 = calque.contract %1, %0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 0>, rhs_contracting = array<i64: 0>} : (tensor<?xf32>, tensor<?x3xf32>) -> tensor<3xf32>
  %3 = calque.reduce_sum %2 : (tensor<3xf32>) -> tensor<f32>
  calque.print %1 {label = "between"} : (tensor<?xf32>) -> ()
  return %0, %3 : tensor<?x3xf32>, tensor<f32>
}

// Checks: of indices, divisors and a condition. An empty tensor and a constant.
func.func @checks(%x: tensor<5x2xf32>, %i: tensor<3xi64>, %d: tensor<3xi64>, %empty: tensor<2x0xf32>) -> (tensor<3x2xf32>, tensor<3xi64>, tensor<2x0xf32>) {
  %c = calque.constant {value = dense<[7, 8, 9]> : tensor<3xi64>} : () -> tensor<3xi64> loc("model.cpp":3:0)
  %0 = calque.gather %x, %i {axis = 0 : i64} : (tensor<5x2xf32>, tensor<3xi64>) -> tensor<3x2xf32> loc("model.cpp":4:0)
  %1 = calque.div %c, %d : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64> loc("model.cpp":5:0)
  %2 = calque.less %i, %d : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1> loc("model.cpp":6:0)
  calque.assert %2 {message = "i < d"} : (tensor<3xi1>) -> () loc("model.cpp":7:0)
  %3 = calque.exp %empty : (tensor<2x0xf32>) -> tensor<2x0xf32> loc("model.cpp":8:0)
  return %0, %1, %3 : tensor<3x2xf32>, tensor<3xi64>, tensor<2x0xf32>
}

// C++ that the program calls.
func.func @host(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %0 = calque.host_call %x {callee = 1 : i64, types = array<i64: 3, 1, 2>} : (tensor<2x3xf32>) -> tensor<2xf32> loc("host.cpp":1:0)
  return %0 : tensor<2xf32>
}
