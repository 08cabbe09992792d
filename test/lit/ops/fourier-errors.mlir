// What the type rules of Fourier transforms refuse.
// RUN: %{expand} %s > %t
// RUN: calque-opt %t --split-input-file --verify-diagnostics

func.func @fourier_rank(%a: tensor<4xcomplex<f32>>) {
  // expected-error @below {{fourier: takes tensors of rank 2 or more, not complex64[4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.fourier %a {columns = true, divisor = 0 : i64, inverse = false} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @fourier_real(%a: tensor<4xf32>) {
  // expected-error @below {{fourier: takes complex64 or complex128, not float32[4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.fourier %a {columns = false, divisor = 0 : i64, inverse = false} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fourier_divisor(%a: tensor<4xcomplex<f32>>) {
  // expected-error @below {{fourier: no divisor has the number 3}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.fourier %a {columns = false, divisor = 3 : i64, inverse = false} : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @parts_shapes(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @below {{fourier_parts: the parts have the shapes [4] and [5]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.fourier_parts %a, %b {columns = false, divisor = 0 : i64, inverse = false} : (tensor<4xf32>, tensor<5xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @parts_type(%a: tensor<4xi32>) {
  // expected-error @below {{fourier_parts: takes float32 or float64, not int32[4]}}
  // expected-error @below {{failed to infer returned types}}
  %0:2 = calque.fourier_parts %a, %a {columns = false, divisor = 0 : i64, inverse = false} : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  return
}

// -----

func.func @pairs_last(%a: tensor<4x1x3xf32>) {
  // expected-error @below {{fourier_pairs: the last dimension must have the size 2, in float32[4,1,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.fourier_pairs %a {divisor = 0 : i64, inverse = false} : (tensor<4x1x3xf32>) -> tensor<4x1x3xf32>
  return
}

// -----

func.func @pairs_rank(%a: tensor<4x2xf32>) {
  // expected-error @below {{fourier_pairs: takes tensors of rank 3 or more, not float32[4,2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.fourier_pairs %a {divisor = 0 : i64, inverse = false} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @real_length(%a: tensor<?xf32>) {
  // expected-error @below {{real_fourier: the length of the transform must be known while tracing, in float32[?]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.real_fourier %a {divisor = 0 : i64, inner = 1.0 : f64} : (tensor<?xf32>) -> tensor<?xcomplex<f32>>
  return
}

// -----

func.func @real_empty(%a: tensor<0xf32>) {
  // expected-error @below {{real_fourier: there is no transform of no numbers, in float32[0]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.real_fourier %a {divisor = 0 : i64, inner = 1.0 : f64} : (tensor<0xf32>) -> tensor<1xcomplex<f32>>
  return
}

// -----

func.func @real_pairs_type(%a: tensor<4xf16>) {
  // expected-error @below {{real_fourier_pairs: takes float32 or float64, not float16[4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.real_fourier_pairs %a {divisor = 0 : i64, inner = 1.0 : f64} : (tensor<4xf16>) -> tensor<3x2xf16>
  return
}

// -----

func.func @to_real_size(%a: tensor<4xcomplex<f32>>) {
  // expected-error @below {{fourier_to_real: 8 real numbers have 5 frequencies, not float32[4]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.fourier_to_real %a {divisor = 0 : i64, inner = 1.0 : f64, length = 8 : i64} : (tensor<4xcomplex<f32>>) -> tensor<8xf32>
  return
}

// -----

func.func @to_real_length(%a: tensor<4xcomplex<f32>>) {
  // expected-error @below {{fourier_to_real: the length must be 1 or more, not 0}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.fourier_to_real %a {divisor = 0 : i64, inner = 1.0 : f64, length = 0 : i64} : (tensor<4xcomplex<f32>>) -> tensor<0xf32>
  return
}

// -----

func.func @to_real_parts(%a: tensor<4xf32>) {
  // expected-error @below {{fourier_to_real_parts: no divisor has the number -1}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.fourier_to_real_parts %a, %a {divisor = -1 : i64, inner = 1.0 : f64, length = 6 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @to_real_pairs(%a: tensor<4x3xf32>) {
  // expected-error @below {{fourier_to_real_pairs: the last dimension must have the size 2, in float32[4,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.fourier_to_real_pairs %a {divisor = 0 : i64, inner = 1.0 : f64, length = 6 : i64} : (tensor<4x3xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @real_fourier_parts_half(%a: tensor<4xf16>) {
  // expected-error @below {{real_fourier_parts: takes float32 or float64, not float16[4]}}
  // expected-error @below {{failed to infer returned types}}
  %re, %im = calque.real_fourier_parts %a {divisor = 0 : i64, inner = 1.0 : f64} : (tensor<4xf16>) -> (tensor<3xf16>, tensor<3xf16>)
  return
}
