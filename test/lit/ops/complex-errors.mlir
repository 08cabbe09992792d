// What the type rules of complex numbers refuse.
// RUN: %{expand} %s > %t
// RUN: calque-opt %t --split-input-file --verify-diagnostics

// EACH 1 partOfComplex complexNumber
func.func @OP(%a: tensor<2xf32>) {
  // expected-error @below {{OP: takes complex numbers, not float32[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.OP %a : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @complex_of_halves(%a: tensor<2xf16>) {
  // expected-error @below {{complex: the parts must be float32 or float64, not float16[2]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.complex %a, %a : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xcomplex<f32>>
  return
}

// -----

func.func @cast(%a: tensor<2xcomplex<f32>>) {
  // expected-error @below {{cast: a complex number does not become float64; take real(x), imag(x) or abs(x)}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.cast %a {dtype = f64} : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @less(%a: tensor<2xcomplex<f32>>) {
  // expected-error @below {{less: takes no complex numbers, as complex64[2] has them}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.less %a, %a : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  return
}

// -----

func.func @iota() {
  // expected-error @below {{iota: makes no complex numbers, as complex128[3] has them}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.iota {axis = 0 : i64, dtype = complex<f64>, shape = array<i64: 3>} : () -> tensor<3xcomplex<f64>>
  return
}

// -----

func.func @pairs(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{pairs: the parts have the shapes [2] and [3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.pairs %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @part_of_pairs(%a: tensor<2x3xf32>) {
  // expected-error @below {{part_of_pairs: the last dimension must have the size 2, in float32[2,3]}}
  // expected-error @below {{failed to infer returned types}}
  %0 = calque.part_of_pairs %a {imaginary = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}
