// What the type rules of elementwise operations refuse.
// RUN: %{expand} %s > %t
// RUN: calque-opt %t --split-input-file --verify-diagnostics

// EACH 1 elementwiseNumeric elementwiseMagnitude
func.func @OP(%a: tensor<2xi1>) {
  // expected-error @below {{OP: takes numbers, not bool[2]; use cast(x, DType::Int32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

// EACH 1 elementwiseFloat elementwiseTest
func.func @OP(%a: tensor<2x?xi64>) {
  // expected-error @below {{OP: takes floating-point numbers, not int64[2,?]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2x?xi64>) -> tensor<2x?xi64>
  return
}

// -----

// EACH 1 elementwiseBool
func.func @OP(%a: tensor<f32>) {
  // expected-error @below {{OP: takes bool, not float32[]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<f32>) -> tensor<i1>
  return
}

// -----

// EACH 2 elementwiseNumeric
func.func @OP(%a: tensor<2xi1>) {
  // expected-error @below {{OP: takes numbers, not bool[2]; use cast(x, DType::Int32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a, %a : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

// EACH 1 elementwiseBits
func.func @OP(%a: tensor<2xf32>) {
  // expected-error @below {{OP: takes bool and integers, not float32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// EACH 2 elementwiseBits
func.func @OP(%a: tensor<2xf32>) {
  // expected-error @below {{OP: takes bool and integers, not float32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// EACH 1 elementwiseInteger
func.func @OP(%a: tensor<2xi1>) {
  // expected-error @below {{OP: takes integers, not bool[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

// EACH 2 elementwiseInteger
func.func @OP(%a: tensor<2xi1>) {
  // expected-error @below {{OP: takes integers, not bool[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a, %a : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

// EACH 2 elementwiseFloat
func.func @OP(%a: tensor<2xi32>) {
  // expected-error @below {{OP: takes floating-point numbers, not int32[2]; use cast(x, DType::Float32)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a, %a : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

// EACH 2 elementwiseBool
func.func @OP(%a: tensor<2xi32>) {
  // expected-error @below {{OP: takes bool, not int32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a, %a : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

// EACH 2 elementwiseNumeric elementwiseFloat elementwiseComparison
func.func @OP(%a: tensor<2xf32>, %b: tensor<f64>) {
  // expected-error @below {{OP: the operands' types differ: float32[2] and float64[]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a, %b : (tensor<2xf32>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

// EACH 2 elementwiseBool
func.func @OP(%a: tensor<2xi1>, %b: tensor<i32>) {
  // expected-error @below {{OP: the operands' types differ: bool[2] and int32[]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a, %b : (tensor<2xi1>, tensor<i32>) -> tensor<2xi1>
  return
}

// -----

// EACH 2 elementwiseNumeric elementwiseFloat elementwiseComparison
func.func @OP(%a: tensor<5x2x3xf32>, %b: tensor<?x4xf32>) {
  // expected-error @below {{OP: the shapes [5,2,3] and [?,4] don't broadcast: sizes 3 and 4 meet in dimension 2; they must be equal, or one of them 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a, %b : (tensor<5x2x3xf32>, tensor<?x4xf32>) -> tensor<5x2x3xf32>
  return
}

// -----

// EACH 2 elementwiseBool
func.func @OP(%a: tensor<0xi1>, %b: tensor<2xi1>) {
  // expected-error @below {{OP: the shapes [0] and [2] don't broadcast: sizes 0 and 2 meet in dimension 0; they must be equal, or one of them 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a, %b : (tensor<0xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}

// -----

func.func @condition(%c: tensor<2xi32>, %a: tensor<2xf32>) {
  // expected-error @below {{where: the condition must be bool, not int32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.where %c, %a, %a : (tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @branches(%c: tensor<2xi1>, %a: tensor<2xf32>, %b: tensor<2xf64>) {
  // expected-error @below {{where: the branches' types differ: float32[2] and float64[2]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.where %c, %a, %b : (tensor<2xi1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

func.func @where(%c: tensor<4xi1>, %a: tensor<3xf32>, %b: tensor<f32>) {
  // expected-error @below {{where: the shapes [4] and [3] and [] don't broadcast: sizes 4 and 3 meet in dimension 0; they must be equal, or one of them 1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.where %c, %a, %b : (tensor<4xi1>, tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @cast(%a: tensor<2xf32>) {
  // expected-error @below {{cast: attribute 'dtype' is missing or of a type that the dialect does not have}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.cast %a {dtype = f80} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// EACH 2 elementwiseNumeric elementwiseFloat elementwiseBool elementwiseComparison
func.func @OP(%a: tensor<i1>, %b: tensor<f32>) {
  // expected-error @below {{OP: the operands' types differ: bool[] and float32[]; there is no implicit conversion, use cast}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a, %b : (tensor<i1>, tensor<f32>) -> tensor<i1>
  return
}
