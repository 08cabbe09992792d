// Operations that make complex numbers of real ones, and real ones of them, are printed as they are read.
// RUN: %{expand} --printed %s > %t
// RUN: calque-opt %t | calque-opt | diff -b %t -
// RUN: calque-opt %t --mlir-print-op-generic | calque-opt | diff -b %t -

func.func @complex(%arg0: tensor<?x2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<f64>) {
  %0 = calque.complex %arg0, %arg1 : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xcomplex<f32>>
  %1 = calque.complex %arg2, %arg2 : (tensor<f64>, tensor<f64>) -> tensor<complex<f64>>
  return
}

// -----

// EACH 1 partOfComplex
func.func @OP(%arg0: tensor<?x3xcomplex<f32>>, %arg1: tensor<complex<f64>>) {
  %0 = calque.OP %arg0 : (tensor<?x3xcomplex<f32>>) -> tensor<?x3xf32>
  %1 = calque.OP %arg1 : (tensor<complex<f64>>) -> tensor<f64>
  return
}

// -----

func.func @conj(%arg0: tensor<?x3xcomplex<f32>>) -> tensor<?x3xcomplex<f32>> {
  %0 = calque.conj %arg0 : (tensor<?x3xcomplex<f32>>) -> tensor<?x3xcomplex<f32>>
  return %0 : tensor<?x3xcomplex<f32>>
}

// -----

func.func @pairs(%arg0: tensor<?x3xf32>, %arg1: tensor<4x?xf32>, %arg2: tensor<?x2xf64>) {
  %0 = calque.pairs %arg0, %arg1 : (tensor<?x3xf32>, tensor<4x?xf32>) -> tensor<4x3x2xf32>
  %1 = calque.part_of_pairs %arg2 {imaginary = true} : (tensor<?x2xf64>) -> tensor<?xf64>
  return
}
