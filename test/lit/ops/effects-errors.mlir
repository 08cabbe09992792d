// What the type rules of operations with effects and of gradients refuse. A variable's index and type are not theirs: see
// passes/state-to-values-errors.mlir.
// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @read_dtype() {
  // expected-error @below {{variable_read: attribute 'dtype' is missing or of a type that the dialect does not have}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.variable_read {dtype = f80, shape = array<i64: 3>, variable = 0 : i64} : () -> tensor<3xf32>
  return
}

// -----

func.func @assert(%a: tensor<2x?xf32>) {
  // expected-error @below {{assert: the condition must be bool, not float32[2,?]}}
  // expected-error @below {{failed to infer returned types}}
  calque.assert %a {message = ""} : (tensor<2x?xf32>) -> ()
  return
}

// -----

func.func @assert_shown_shape(%a: tensor<2x3xi1>, %b: tensor<1x3xf32>, %c: tensor<2x4xf32>) {
  // expected-error @below {{assert: a shown value, float32[2,4], must broadcast to bool[2,3] with its rank}}
  // expected-error @below {{failed to infer returned types}}
  calque.assert %a, %b, %c {message = ""} : (tensor<2x3xi1>, tensor<1x3xf32>, tensor<2x4xf32>) -> ()
  return
}

// -----

func.func @assert_shown_rank(%a: tensor<2x3xi1>, %b: tensor<3xf32>) {
  // expected-error @below {{assert: a shown value, float32[3], must broadcast to bool[2,3] with its rank}}
  // expected-error @below {{failed to infer returned types}}
  calque.assert %a, %b {message = ""} : (tensor<2x3xi1>, tensor<3xf32>) -> ()
  return
}

// -----

func.func @counts_two(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>) {
  // expected-error @below {{gradient: the counts [1,1] don't describe 3 values}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gradient %a, %b, %c {counts = array<i64: 1, 1>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @counts_none(%a: tensor<f32>) {
  // expected-error @below {{gradient: the counts [0,1,0] don't describe 1 value}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gradient %a {counts = array<i64: 0, 1, 0>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @counts_sources(%a: tensor<f32>, %b: tensor<f32>) {
  // expected-error @below {{gradient: the counts [1,-1,1] don't describe 2 values}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gradient %a, %b {counts = array<i64: 1, -1, 1>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @counts_stops(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>) {
  // expected-error @below {{gradient: the counts [1,2,-1] don't describe 3 values}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.gradient %a, %b, %c {counts = array<i64: 1, 2, -1>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @counts_total(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>) {
  // expected-error @below {{gradient: the counts [1,1,1] don't describe 3 values}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gradient %a, %b, %c {counts = array<i64: 1, 1, 1>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @seed_shape(%a: tensor<2x?xf32>, %b: tensor<2x3xf32>, %c: tensor<2x?xf32>) {
  // expected-error @below {{gradient: the target is float32[2,?] and its seed is float32[2,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gradient %a, %b, %c {counts = array<i64: 1, 1, 0>} : (tensor<2x?xf32>, tensor<2x3xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @second_seed(%a: tensor<f64>, %b: tensor<f32>, %c: tensor<f64>, %d: tensor<f64>, %e: tensor<f32>) {
  // expected-error @below {{gradient: the target is float32[] and its seed is float64[]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gradient %a, %b, %c, %d, %e {counts = array<i64: 2, 1, 0>} : (tensor<f64>, tensor<f32>, tensor<f64>, tensor<f64>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @integer_target(%a: tensor<2xi32>, %b: tensor<2xi32>, %c: tensor<2xf32>) {
  // expected-error @below {{gradient: takes floating-point numbers, not int32[2]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gradient %a, %b, %c {counts = array<i64: 1, 1, 0>} : (tensor<2xi32>, tensor<2xi32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @integer_source(%a: tensor<2xf32>, %b: tensor<2xf32>, %c: tensor<2xi64>) {
  // expected-error @below {{gradient: takes floating-point numbers, not int64[2]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.gradient %a, %b, %c {counts = array<i64: 1, 1, 0>} : (tensor<2xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<2xi64>
  return
}

// -----

func.func @host_types_0() {
  // expected-error @below {{host_call: the types [77,0] don't describe results}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.host_call {callee = 0 : i64, types = array<i64: 77, 0>} : () -> tensor<f32>
  return
}

// -----

func.func @host_types_1() {
  // expected-error @below {{host_call: the types [-1,0] don't describe results}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.host_call {callee = 0 : i64, types = array<i64: -1, 0>} : () -> tensor<f32>
  return
}

// -----

func.func @host_types_2() {
  // expected-error @below {{host_call: the types [3] don't describe results}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.host_call {callee = 0 : i64, types = array<i64: 3>} : () -> tensor<f32>
  return
}

// -----

func.func @host_types_3() {
  // expected-error @below {{host_call: the types [3,-1] don't describe results}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.host_call {callee = 0 : i64, types = array<i64: 3, -1>} : () -> tensor<f32>
  return
}

// -----

func.func @host_types_4() {
  // expected-error @below {{host_call: the types [3,2,4] don't describe results}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.host_call {callee = 0 : i64, types = array<i64: 3, 2, 4>} : () -> tensor<f32>
  return
}

// -----

func.func @host_types_5() {
  // expected-error @below {{host_call: the types [3,0,3] don't describe results}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.host_call {callee = 0 : i64, types = array<i64: 3, 0, 3>} : () -> tensor<f32>
  return
}

// -----

func.func @host_sizes() {
  // expected-error @below {{host_call: the sizes of a result must be known; one is float32[4,?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.host_call {callee = 0 : i64, types = array<i64: 3, 2, 4, -9223372036854775808>} : () -> tensor<f32>
  return
}

// -----

func.func @read_negative() {
  // expected-error @below {{variable_read: a size must not be negative: [-3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.variable_read {dtype = f32, shape = array<i64: -3>, variable = 0 : i64} : () -> tensor<3xf32>
  return
}

// -----

// expected-error @below {{attribute 'calque.variables' must be an array of {name, type}, not "a"}}
func.func @variables_text() attributes {calque.variables = "a"} {
  return
}

// -----

// expected-error @below {{attribute 'calque.variables' must hold {name = "...", type = tensor<...>}, not 1 : i32}}
func.func @variables_number() attributes {calque.variables = [1 : i32]} {
  return
}

// -----

// expected-error @below {{attribute 'calque.variables' must hold {name = "...", type = tensor<...>}, not {name = "a"}}}
func.func @variables_no_type() attributes {calque.variables = [{name = "a"}]} {
  return
}

// -----

// expected-error @below {{attribute 'calque.variables' must hold {name = "...", type = tensor<...>}, not {type = tensor<f32>}}}
func.func @variables_no_name() attributes {calque.variables = [{type = tensor<f32>}]} {
  return
}

// -----

// expected-error @below {{attribute 'calque.variables' names a type that is not a tensor of the dialect: i32}}
func.func @variables_no_tensor() attributes {calque.variables = [{name = "a", type = tensor<f32>}, {name = "b", type = i32}]} {
  return
}
