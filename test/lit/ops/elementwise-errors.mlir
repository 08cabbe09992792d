// RUN: calque-opt %s --split-input-file --verify-diagnostics

func.func @broadcast(%a: tensor<2x3xf32>, %b: tensor<4xf32>) {
  // expected-error @+2 {{add: the shapes [2,3] and [4] don't broadcast: sizes 3 and 4 meet in dimension 1; they must be equal, or one of them 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = calque.add %a, %b : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @mixed(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  // expected-error @+2 {{mul: the operands' types differ: float32[2] and int32[2]; there is no implicit conversion, use cast}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = calque.mul %a, %b : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----

func.func @integer(%a: tensor<2xi64>) {
  // expected-error @+2 {{exp: takes float32 and float64, not int64[2]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = calque.exp %a : (tensor<2xi64>) -> tensor<2xi64>
  return
}

// -----

// An unknown dimension is not broadcast: against 3 it is 3.
func.func @unknown(%a: tensor<?xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = calque.add %a, %b : (tensor<?xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @condition(%c: tensor<2xi32>, %a: tensor<2xf32>) {
  // expected-error @+2 {{where: the condition must be bool, not int32[2]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = calque.where %c, %a, %a : (tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
