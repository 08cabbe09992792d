// Sizes that don't fit into 64 bits are refused; a size that wrapped around would be a small tensor, written beyond its end.
// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @broadcast_to(%a: tensor<f32>) {
  // expected-error @below {{broadcast_to: result 0, float32[4294967296,4294967296], has more bytes than can be addressed}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_to %a {shape = array<i64: 4294967296, 4294967296>} : (tensor<f32>) -> tensor<4294967296x4294967296xf32>
  return
}

// -----

// What is known is too much already.
func.func @unknown(%a: tensor<?xf32>) {
  // expected-error @below {{broadcast_to: result 0, float32[?,4294967296,4294967296], has more bytes than can be addressed}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.broadcast_to %a {shape = array<i64: -9223372036854775808, 4294967296, 4294967296>} : (tensor<?xf32>) -> tensor<?x4294967296x4294967296xf32>
  return
}

// -----

// The element type counts: as many bools would fit.
func.func @iota() {
  // expected-error @below {{iota: result 0, int64[2305843009213693952], has more bytes than can be addressed}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.iota {shape = array<i64: 2305843009213693952>, dtype = i64} : () -> tensor<2305843009213693952xi64>
  return
}

// -----

func.func @cast(%a: tensor<2305843009213693952xi1>) {
  // expected-error @below {{cast: result 0, float64[2305843009213693952], has more bytes than can be addressed}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.cast %a {dtype = f64} : (tensor<2305843009213693952xi1>) -> tensor<2305843009213693952xf64>
  return
}

// -----

func.func @operand(%a: tensor<f32>, %b: tensor<4294967296x4294967296xf32>) {
  // expected-error @below {{add: operand 1, float32[4294967296,4294967296], has more bytes than can be addressed}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.add %a, %b : (tensor<f32>, tensor<4294967296x4294967296xf32>) -> tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @variable_read() {
  // expected-error @below {{variable_read: result 0, float32[4294967296,4294967296], has more bytes than can be addressed}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.variable_read {dtype = f32, shape = array<i64: 4294967296, 4294967296>, variable = 0 : i64} : () -> tensor<4294967296x4294967296xf32>
  return
}

// -----

// The product is 0 when it wraps.
func.func @reshape(%a: tensor<0xf32>) {
  // expected-error @below {{reshape: float32[0] has 0 elements, which can't fill [4294967296,4294967296]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reshape %a {shape = array<i64: 4294967296, 4294967296>} : (tensor<0xf32>) -> tensor<4294967296x4294967296xf32>
  return
}

// -----

func.func @reshape_inferred(%a: tensor<0xf32>) {
  // expected-error @below {{reshape: float32[0] has 0 elements, which can't fill [4294967296,-1,4294967296]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.reshape %a {shape = array<i64: 4294967296, -1, 4294967296>} : (tensor<0xf32>) -> tensor<4294967296x0x4294967296xf32>
  return
}

// -----

func.func @split(%a: tensor<?xi1>) {
  // expected-error @below {{split: the sizes 9223372036854775807 and 1 add up to more than a dimension can have}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.split %a {sizes = array<i64: 9223372036854775807, 1>} : (tensor<?xi1>) -> (tensor<?xi1>, tensor<1xi1>)
  return
}

// -----

func.func @concat(%a: tensor<9223372036854775807xi1>) {
  // expected-error @below {{concat: the sizes 9223372036854775807 and 9223372036854775807 add up to more than a dimension can have}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.concat %a, %a {axis = 0 : i64} : (tensor<9223372036854775807xi1>, tensor<9223372036854775807xi1>) -> tensor<?xi1>
  return
}

// -----

func.func @pad(%a: tensor<3xf32>) {
  // expected-error @below {{pad: the sizes 3 and 9223372036854775807 add up to more than a dimension can have}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.pad %a {low = array<i64: 9223372036854775807>, high = array<i64: 0>} : (tensor<3xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @slice_like(%a: tensor<3xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{slice_like: float32[3] from [0] does not lie within float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_like %a, %b {starts = array<i64: 0>, strides = array<i64: 9223372036854775807>} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice_like_empty(%a: tensor<3xf32>, %b: tensor<0xf32>) {
  // expected-error @below {{slice_like: float32[0] from [4] does not lie within float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_like %a, %b {starts = array<i64: 4>, strides = array<i64: 1>} : (tensor<3xf32>, tensor<0xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @slice_put(%a: tensor<?xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{slice_put: float32[?] from [4] does not lie within float32[3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.slice_put %a, %b {starts = array<i64: 4>, strides = array<i64: 1>} : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

// The result is small, what code generation reads it from is not.
func.func @padded(%a: tensor<1x1x1x1xf32>) {
  // expected-error @below {{max_pool: the padded images float32[1,4611686018427387904,4611686018427387904,1] have more bytes than can be addressed}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.max_pool %a {padding = "same", strides = array<i64: 1, 1>, window = array<i64: 4611686018427387904, 4611686018427387904>} : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return
}
