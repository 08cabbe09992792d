// Fourier transforms are printed as they are read, by name and in generic form.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

func.func @fourier(%arg0: tensor<3x4xcomplex<f32>>, %arg1: tensor<?xcomplex<f64>>) {
  %0 = calque.fourier %arg0 {columns = true, divisor = 0 : i64, inverse = false} : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xcomplex<f32>>
  %1 = calque.fourier %arg1 {columns = false, divisor = 2 : i64, inverse = true} : (tensor<?xcomplex<f64>>) -> tensor<?xcomplex<f64>>
  return
}

// -----

func.func @fourier_parts(%arg0: tensor<3x?xf32>, %arg1: tensor<?x4xf32>, %arg2: tensor<?x?x2xf64>) {
  %ofRe, %ofIm = calque.fourier_parts %arg0, %arg1 {columns = true, divisor = 1 : i64, inverse = false} : (tensor<3x?xf32>, tensor<?x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
  %0 = calque.fourier_pairs %arg2 {divisor = 0 : i64, inverse = true} : (tensor<?x?x2xf64>) -> tensor<?x?x2xf64>
  return
}

// -----

func.func @real_fourier(%arg0: tensor<?x5xf32>, %arg1: tensor<6xf64>) {
  %0 = calque.real_fourier %arg0 {divisor = 0 : i64, inner = 1.000000e+00 : f64} : (tensor<?x5xf32>) -> tensor<?x3xcomplex<f32>>
  %re, %im = calque.real_fourier_parts %arg1 {divisor = 0 : i64, inner = 2.000000e+00 : f64} : (tensor<6xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  %re_0, %im_1 = calque.real_fourier_parts %arg0 {divisor = 0 : i64, inner = 2.000000e+00 : f64} : (tensor<?x5xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  %1 = calque.real_fourier_pairs %arg0 {divisor = 0 : i64, inner = 2.000000e+00 : f64} : (tensor<?x5xf32>) -> tensor<?x3x2xf32>
  %2 = calque.real_fourier_pairs %arg1 {divisor = 0 : i64, inner = 2.000000e+00 : f64} : (tensor<6xf64>) -> tensor<4x2xf64>
  return
}

// -----

func.func @fourier_to_real(%arg0: tensor<?x3xcomplex<f32>>, %arg1: tensor<4xf64>, %arg2: tensor<?x2xf64>, %arg3: tensor<?xf64>) {
  %0 = calque.fourier_to_real %arg0 {divisor = 2 : i64, inner = 2.000000e+00 : f64, length = 5 : i64} : (tensor<?x3xcomplex<f32>>) -> tensor<?x5xf32>
  %1 = calque.fourier_to_real_parts %arg1, %arg1 {divisor = 0 : i64, inner = 1.000000e+00 : f64, length = 6 : i64} : (tensor<4xf64>, tensor<4xf64>) -> tensor<6xf64>
  %2 = calque.fourier_to_real_parts %arg1, %arg3 {divisor = 0 : i64, inner = 1.000000e+00 : f64, length = 6 : i64} : (tensor<4xf64>, tensor<?xf64>) -> tensor<6xf64>
  %3 = calque.fourier_to_real_pairs %arg2 {divisor = 0 : i64, inner = 1.000000e+00 : f64, length = 7 : i64} : (tensor<?x2xf64>) -> tensor<7xf64>
  return
}
