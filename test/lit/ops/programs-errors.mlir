// What the type rules of operations with a program inside, and of the user's, refuse.
// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @counts(%a: tensor<f32>) {
  // expected-error @below {{custom_gradient: the counts [1,1,1] don't describe 2 values}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.custom_gradient"(%a, %a) ({
  ^bb0(%g: tensor<f32>):
    vector.yield %g : tensor<f32>
  }) {counts = array<i64: 1, 1, 1>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @integer(%a: tensor<i32>, %b: tensor<f32>) {
  // expected-error @below {{custom_gradient: takes floating-point numbers, not int32[]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.custom_gradient"(%a, %b) ({
  ^bb0(%g: tensor<f32>):
    vector.yield %g : tensor<f32>
  }) {counts = array<i64: 1, 1, 0>} : (tensor<i32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @no_program(%a: tensor<f32>) {
  // expected-error @below {{custom_gradient: its pullback is no program}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.custom_gradient"(%a, %a) ({
  ^bb0(%g: f32):
    vector.yield %g : f32
  }) {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @takes_another_number(%a: tensor<f32>) {
  // expected-error @below {{custom_gradient: its pullback takes 2 values and is given 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.custom_gradient"(%a, %a) ({
  ^bb0(%g: tensor<f32>, %h: tensor<f32>):
    vector.yield %g : tensor<f32>
  }) {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @takes_another_type(%a: tensor<2xf32>) {
  // expected-error @below {{custom_gradient: its pullback takes float32[3] as value 0, not float32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.custom_gradient"(%a, %a) ({
  ^bb0(%g: tensor<3xf32>):
    vector.yield %g : tensor<3xf32>
  }) {counts = array<i64: 1, 1, 0>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @gives_another_number(%a: tensor<f32>) {
  // expected-error @below {{custom_gradient: its pullback gives 2 gradients for 1 input}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.custom_gradient"(%a, %a) ({
  ^bb0(%g: tensor<f32>):
    vector.yield %g, %g : tensor<f32>, tensor<f32>
  }) {counts = array<i64: 1, 1, 0>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @gives_another_type(%a: tensor<2xf32>, %b: tensor<f32>) {
  // expected-error @below {{custom_gradient: gradient 0 is float32[], and the input is float32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.custom_gradient"(%a, %b) ({
  ^bb0(%g: tensor<f32>):
    vector.yield %g : tensor<f32>
  }) {counts = array<i64: 1, 1, 0>} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @checkpoint(%a: tensor<f32>) {
  // expected-error @below {{checkpoint: its body takes 0 values and is given 1}}
  // expected-error @below {{failed to infer returned types}}
  "calque.checkpoint"(%a) ({
    vector.yield
  }) : (tensor<f32>) -> ()
  return
}

// -----

func.func @ordered_extern(%a: tensor<f32>) {
  // expected-error @below {{ordered_extern: the types [3] don't describe results}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.ordered_extern %a {repeats = 0 : i64, symbol = "mine", transpose = "", types = array<i64: 3>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @extern(%a: tensor<f32>) {
  // expected-error @below {{extern: the types [3] don't describe results}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.extern %a {symbol = "mine", types = array<i64: 3>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @known_of_another_type(%a: tensor<f32>, %b: tensor<2xf32>) {
  // expected-error @below {{known: what is known of float32[] is float32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "calque.known"(%a, %b) : (tensor<f32>, tensor<2xf32>) -> tensor<f32>
  return
}
